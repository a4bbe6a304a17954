//! The column of scores: the check of the formula, constants and targets.

use super::*;
use crate::model::text::written;

#[test]
fn sets_constants_to_the_differences_between_scores_and_formula() {
    let text = scored(|row, score, _| score + if row == 17 { 300.0 } else { 0.0 });
    let problem = read(&text).expect("sound rows");
    let check = problem.check.as_ref().expect("a check");
    assert_eq!((check.rows, check.differing, check.worst.len(), check.has_failed(1.0)), (200, 1, 1, false));
    assert!(check.worst[0].place.ends_with("rows0:26"), "{check}");
    let constants: Vec<f32> = (0..200).map(|row| problem.text.rows.facts(row)[0]).collect();
    assert!(constants.iter().enumerate().all(|(row, &constant)| (constant > 299.0) == (row == 17)));
    assert!(constants.iter().any(|&constant| (0.2..=0.5).contains(&constant.abs())), "{constants:?}");
    assert!(check.to_string().starts_with("score − row: 99.5 % within 1 cp, rms 21."), "{check}");
    let own = scores(&problem.text.rows, &problem.text.model, &problem.text.start());
    let given = problem.text.scores.as_ref().expect("scores");
    assert!(own.iter().zip(given).all(|(a, &b)| (a - f64::from(b)).abs() < 1e-3));
    assert!(fit(&problem, &Settings::default()).is_ok());
    // Rows are the same after they are written and read.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows");
    fs::write(&path, written(&problem.text, &text)).expect("room on the disk");
    let again = Problem::read_rows(&[path], &Storage::default(), |_| Ok(()), &()).expect("sound rows");
    assert_eq!((again.text.rows, again.groups), (problem.text.rows, problem.groups));
}

#[test]
fn refuses_scores_that_differ_from_the_formula() {
    let fit = |text: &str, tolerance| {
        let problem = read(text).expect("sound rows");
        fit(&problem, &Settings { tolerance, ..Settings::default() })
    };
    // The fact `endgame` has the wrong sign in the rows.
    let wrong = scored(|_, score, endgame| score - 2.0 * endgame);
    let error = fit(&wrong, 1.0).expect_err("rows that are not the engine's").to_string();
    assert!(error.starts_with("the formula is not the engine's evaluation: score − row: "), "{error}");
    let worst = read(&wrong).expect("sound rows").check.as_ref().expect("a check").worst[0].clone();
    let line = worst.place.rsplit(':').next().and_then(|line| line.parse::<usize>().ok()).expect("a line");
    let words: Vec<&str> = wrong.lines().nth(line - 1).expect("a row").split(' ').collect();
    assert!(error.contains(&format!("rows0:{line} (score {}, row ", words[1])), "{error}");
    let endgame: f64 = words[3].parse().expect("a number");
    assert!((worst.formula - worst.score - 2.0 * endgame).abs() < 1.0 && endgame.abs() > 140.0, "{worst:?}");
    assert!(
        error.contains("goes along with endgame (-1.00)") && error.ends_with("--trust-rows fits all the same"),
        "{error}"
    );
    assert!(fit(&wrong, f64::INFINITY).is_ok());
    let other_view = scored(|row, score, _| if row % 2 == 0 { score } else { -score });
    let error = fit(&other_view, 1.0).expect_err("the mover's view").to_string();
    assert!(error.contains("the score with the other sign agrees: White's view is wanted"), "{error}");
}

/// Writes the rows of [`scored`] with a column of search scores, which `search` makes of row and score.
fn searched(search: impl Fn(usize, f64) -> String) -> String {
    let text = scored(|_, score, _| score).replace("rows result", "rows result search");
    let (mut searched, mut row, mut is_row) = (String::new(), 0, false);
    for line in text.lines() {
        match line.split_once(' ').filter(|_| is_row) {
            Some((result, rest)) => {
                let score = rest.split(' ').next().and_then(|score| score.parse().ok()).expect("a score");
                _ = writeln!(searched, "{result} {} {rest}", search(row, score));
                row += 1;
            }
            None => _ = writeln!(searched, "{line}"),
        }
        is_row |= line.starts_with("rows ");
    }
    searched
}

#[test]
fn fits_rows_to_results_or_to_search_scores() {
    let all = read(searched(|row, score| format!("{:.0}", 1.5 * score + (row % 7) as f64))).expect("sound rows");
    let fit = |problem: &Problem, target: &str| {
        let target = target.parse().expect("a target");
        fit(problem, &Settings { target, prior: Some(1e-9), ..Settings::default() })
    };
    let of_scores = fit(&all, "score").expect("a fit");
    let of_results = fit(&all, "result").expect("a fit");
    assert_eq!(fit(&all, "auto").expect("a fit").theta, of_scores.theta);
    // The evaluation predicts these scores far better than results, at another K.
    assert!(of_scores.loss.before < 0.2 * of_results.loss.before && of_scores.k != of_results.k);
    assert!(of_scores.to_table().contains("\ntarget       score\n"), "{}", of_scores.to_table());
    assert_eq!(serde_json::to_value(&of_results).unwrap()["settings"]["target"], "result");
    // A fit to the same values in the column of results is equal.
    let targets = all.targeted("score".parse().expect("a target")).expect("targets").1.targets().to_vec();
    let mut other = all.clone();
    other.text.rows = other.text.rows.with_targets(&targets).expect("targets");
    assert_eq!(fit(&other, "result").expect("a fit").theta, of_scores.theta);

    let some = read(searched(|row, _| if row == 3 { "-".to_owned() } else { "10".to_owned() })).expect("sound rows");
    assert_eq!(fit(&some, "auto").expect("a fit").theta, of_results.theta);
    let error = fit(&some, "mix:0.5").expect_err("a missing score").to_string();
    assert!(error.starts_with("target: 1 of 200 positions have no score of a search"), "{error}");
}

#[test]
fn tolerates_differences_in_a_tenth_of_the_rows() {
    // Three centipawns, as after several integer divisions, in the first `count` of 200 rows.
    let off = |count: usize| scored(move |row, score, _| score + if row < count { 3.0 } else { 0.0 });
    let fit = |text: &str, tolerance| {
        let problem = read(text).expect("sound rows");
        fit(&problem, &Settings { tolerance, ..Settings::default() }).map(|_| ())
    };
    assert!(fit(&off(20), 1.0).is_ok());
    let error = fit(&off(21), 1.0).expect_err("more than a tenth").to_string();
    assert!(
        error.contains("score − row: 89.5 % within 1 cp, 90 % within ") && error.contains("--tolerance"),
        "{error}"
    );
    assert!(fit(&off(200), 2.0).is_err());
    assert!(fit(&off(200), 4.0).is_ok());
}
