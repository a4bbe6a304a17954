//! Tests that read problems from text, check and fit them.

mod scores;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use ::engine::random::Random;

use super::*;
use crate::data::io::Storage;
use crate::objective::{PriorScale, SampleLoss, scores};
use crate::optimize::Method;
use crate::run::{Hooks, Outcome, Seconds, Settings, run};
use crate::source::constraints::Constraints;
use crate::write::{Language, emit};

fn read_all(texts: &[&[u8]]) -> Result<Problem> {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |(number, text): (usize, &&[u8])| {
        let path = folder.path().join(format!("rows{number}"));
        fs::write(&path, text).expect("room on the disk");
        path
    };
    let paths: Vec<PathBuf> = texts.iter().enumerate().map(write).collect();
    Problem::read_rows(&paths, &Storage::default(), |_| Ok(()), &())
}

/// Fits without reference sets.
fn fit(problem: &Problem, settings: &Settings) -> Result<Outcome> {
    run(problem.clone(), Vec::new(), settings, Seconds::default(), Hooks::new(&()))
}

fn read(text: impl AsRef<[u8]>) -> Result<Problem> {
    read_all(&[text.as_ref()])
}

/// Returns the error, without the folders of paths.
fn fault_of(problem: Result<Problem>) -> String {
    let fault = problem.expect_err("a fault").to_string();
    let folders = fault.split(' ').map(|word| word.rsplit_once('/').map_or(word, |(_, name)| name));
    folders.collect::<Vec<_>>().join(" ")
}

/// The number of pairs of the evaluation [`danger`].
const PAIRS: usize = 12;
/// The number of singles of its danger sum.
const POWERS: usize = 8;

/// Writes rows of an evaluation with a quadratic danger curve, as in Ethereal. All results are draws.
fn danger(start: &[f64], rows: usize) -> String {
    let mut text =
        "merino-rows 2\nsum main pair\nsum danger single sided\nsum tempo single\nfact phase 0 1\n".to_owned();
    text += "let curve(s) = max(0, s)^2 / 400\n";
    text += "score = taper(main.mg + curve(danger.white) - curve(danger.black), main.eg, phase) + tempo\n";
    for pair in 0..PAIRS {
        _ = writeln!(text, "pair main pair[{pair}] {} {}", start[2 * pair], start[2 * pair + 1]);
    }
    for power in 0..POWERS {
        _ = writeln!(text, "single danger power[{power}] {}", start[2 * PAIRS + power]);
    }
    _ = writeln!(text, "single tempo tempo {}", start[2 * PAIRS + POWERS]);
    text += "rows result group phase\n";
    let mut random = Random::seeded(3);
    for row in 0..rows {
        _ = write!(text, "0.5 {row} {:.3}", random.unit());
        for pair in 0..PAIRS {
            _ = write!(text, " {pair}:{}", random.below(7) as i32 - 3);
        }
        _ = write!(text, " {}:{}", PAIRS + POWERS, if row % 2 == 0 { 1 } else { -1 });
        for side in ["w", "b"] {
            _ = write!(text, " {side}");
            (0..POWERS).for_each(|power| _ = write!(text, " {}:{}", PAIRS + power, random.below(4)));
        }
        text.push('\n');
    }
    text
}

fn truth() -> Vec<f64> {
    let mut random = Random::seeded(5);
    let mut truth: Vec<f64> = (0..2 * PAIRS).map(|_| (80.0 * random.unit() - 40.0).round()).collect();
    truth.extend((0..POWERS).map(|_| (10.0 + 25.0 * random.unit()).round()));
    truth.push(18.0);
    truth
}

#[test]
fn recovers_a_danger_curve_with_standard_errors() {
    let truth = truth();
    let start: Vec<f64> = truth.iter().map(|value| (0.6 * value + 5.0).round()).collect();
    let mut problem = read(danger(&start, 300 * truth.len())).expect("sound rows");
    let mut random = Random::seeded(7);
    let expected = scores(&problem.text.rows, &problem.text.model, &truth);
    let result = |score: &f64| if random.unit() < 1.0 / (1.0 + 10_f64.powf(-score / 400.0)) { 1.0 } else { 0.0 };
    let targets: Vec<f32> = expected.iter().map(result).collect();
    problem.text.rows = problem.text.rows.with_targets(&targets).expect("results");
    let settings = Settings { k: Some(1.0), prior: Some(0.0), loss: SampleLoss::CrossEntropy, ..Settings::default() };
    let fitted = fit(&problem, &settings).expect("a fit");
    assert!(fitted.converged, "{}", fitted.to_table());
    let errors = &fitted.errors.as_ref().expect("errors").by_parameter;
    let inside = (0..truth.len()).filter(|&j| {
        let error = errors[j].expect("a free number");
        assert!(error > 0.1 && error < 60.0, "{} ± {error}", fitted.numbers[j].name);
        (fitted.theta[j] - truth[j]).abs() <= 1.96 * error + 0.5
    });
    let inside = inside.count();
    assert!(inside >= truth.len() - 4, "{inside} of {}\n{}", truth.len(), fitted.to_table());
    let distance = |theta: &[f64]| {
        let found = scores(&problem.text.rows, &problem.text.model, theta);
        let squares = found.iter().zip(&expected).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        (squares / expected.len() as f64).sqrt()
    };
    let (before, after) = (distance(&start), distance(&fitted.theta));
    assert!(after < 0.4 * before, "from {before:.0} to {after:.0} centipawns from the truth");
}

/// Writes rows whose scores are those of the formula, changed by `change` and rounded. `change` gets the row, the score
/// and the fact `endgame`.
fn scored(change: impl Fn(usize, f64, f64) -> f64) -> String {
    let mut text = "merino-rows 2\nsum main pair\nfact phase 0 1\nfact endgame\n".to_owned();
    text += "score = taper(main.mg, main.eg, phase) + endgame\npair main a 100 120\npair main b 7 -10\n";
    text += "rows result score phase endgame\n";
    let mut random = Random::seeded(11);
    for row in 0..200 {
        let (a, b) = (random.below(5) as f64 - 2.0, random.below(9) as f64 - 4.0);
        let (phase, endgame) = (random.below(5) as f64 / 4.0, random.below(300) as f64 - 150.0);
        let score = phase * (100.0 * a + 7.0 * b) + (1.0 - phase) * (120.0 * a - 10.0 * b) + endgame;
        let result = if score + 200.0 * (random.unit() - 0.5) > 0.0 { 1 } else { 0 };
        _ = writeln!(text, "{result} {:.0} {phase} {endgame} 0:{a} 1:{b}", change(row, score, endgame));
    }
    text
}

#[test]
fn warns_if_rounding_loses_much_of_the_improvement() {
    // Counts in the hundreds require coefficients of about a centipawn.
    let rows = |start: &str| {
        let mut text = format!("merino-rows 2\nsum main single\nscore = main\nsingle main a {start}\nrows result\n");
        let mut random = Random::seeded(17);
        for _ in 0..2000 {
            let count = 100 * (random.below(9) as i32 - 4);
            let is_won = random.unit() < 1.0 / (1.0 + 10_f64.powf(-1.45 * f64::from(count) / 400.0));
            _ = writeln!(text, "{} 0:{count}", u8::from(is_won));
        }
        text
    };
    let fit = |start: &str| {
        let settings = Settings { k: Some(1.0), ..Settings::default() };
        fit(&read(rows(start)).expect("sound rows"), &settings).expect("a fit")
    };
    let whole = fit("4");
    let fine = fit("4.00");
    assert!(whole.warnings.iter().any(|warning| warning.starts_with("rounding loses ")), "{:?}", whole.warnings);
    assert!(
        whole.rounding_lost > 0.02 && fine.rounding_lost.abs() < 1e-3,
        "{} {}",
        whole.rounding_lost,
        fine.rounding_lost
    );
    assert!(fine.warnings.is_empty(), "{:?}", fine.warnings);
}

/// Writes rows of 600 games with 20 positions each. `groups` gives the group of each row.
fn games(groups: impl Fn(usize) -> String) -> String {
    let mut text = "merino-rows 2\nsum main single\nscore = main\nsingle main a 100\nrows result group\n".to_owned();
    let mut random = Random::seeded(13);
    for game in 0..600 {
        let result = random.below(2);
        for row in 0..20 {
            let count = random.below(5) as i32 - if result == 1 { 1 } else { 3 };
            _ = writeln!(text, "{result} {} 0:{count}", groups(20 * game + row));
        }
    }
    text
}

#[test]
fn divides_rows_without_groups_by_runs_of_results() {
    let problem = read(games(|_| "-".to_owned())).expect("sound rows");
    assert_eq!((problem.grouping, problem.warnings.len()), (Grouping::ResultRuns, 0));
    let changes = problem.groups.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!((49..80).contains(&changes), "{changes}");
    let results = problem.text.rows.targets();
    let at_a_change = |row: usize| problem.groups[row - 1] == problem.groups[row] || results[row - 1] != results[row];
    assert!((1..12_000).all(at_a_change));
}

#[test]
fn warns_about_implausible_groups() {
    let known = read(games(|row| (row / 20).to_string())).expect("sound rows");
    assert_eq!(
        (known.grouping, &known.warnings[..], known.groups[19..22].to_vec()),
        (Grouping::Games, &[][..], vec![0, 1, 1])
    );
    let alike = read(games(|_| "7".to_owned())).expect("sound rows");
    assert_eq!(alike.grouping, Grouping::ResultRuns);
    assert!(alike.warnings[0].starts_with("all rows have the same group"), "{:?}", alike.warnings);
    let alone = read(games(|row| row.to_string())).expect("sound rows");
    assert_eq!(alone.grouping, Grouping::Games);
    assert!(alone.warnings[0].starts_with("every row is a group of its own"), "{:?}", alone.warnings);
    let some = read(games(|row| if row % 2 == 0 { "3".to_owned() } else { "-".to_owned() })).expect("sound rows");
    assert_eq!((some.grouping, some.warnings.len(), some.groups[2]), (Grouping::Mixed, 0, 3));
    // Results of neighbouring rows are independent: only equal rows stay together.
    let text = scored(|_, score, _| score);
    let alone = read(text).expect("sound rows");
    assert_eq!(alone.grouping, Grouping::Positions);
}

#[test]
fn reads_several_files_as_one_text() {
    let text = games(|row| (row / 20).to_string());
    let (first, second) = text.split_at(text.match_indices('\n').nth(2004).expect("lines").0 + 1);
    let head: String = text.lines().take(5).flat_map(|line| [line, "\n"]).collect();
    let second = format!("{head}{second}");
    let whole = read(&text).expect("sound rows");
    let packed = zstd::encode_all(second.as_bytes(), 1).expect("memory");
    let both = read_all(&[first.as_bytes(), &packed]).expect("sound rows");
    assert_eq!(both.text.rows, whole.text.rows);
    assert_eq!((both.text.place(0), both.text.lines[11_999]), (both.text.files[0].0.clone() + ":6", 10_005));
    assert!(both.text.place(2000).ends_with("rows1:6"), "{}", both.text.place(2000));
    // Equal group numbers in different files are different games.
    let twice = read_all(&[first.as_bytes(), first.as_bytes()]).expect("sound rows");
    assert!(twice.groups[2000] != twice.groups[0] && twice.groups[2000] == twice.groups[2019]);
    for (before, after, message) in [
        (
            "main a 100",
            "main a 101",
            "rows1: declares `single main a 101`, but rows0 declares `single main a 100`: rows that",
        ),
        (
            "sum main single",
            "sum main single\nfact f",
            "rows1: declares `fact f`, but rows0 declares `score = main`: rows that",
        ),
        (
            "rows result group",
            "rows result group score",
            "rows1: has a column `score`, but rows0 has no column `score`: rows",
        ),
        ("merino-rows 2", "merino-rows 3", "rows1:1: expected `merino-rows 2`: not a file of rows"),
    ] {
        let other = second.replacen(before, after, 1).replacen(
            "group\n",
            if after.contains("fact") { "group f\n" } else { "group\n" },
            1,
        );
        let found = fault_of(read_all(&[first.as_bytes(), other.as_bytes()]));
        assert!(found.starts_with(message), "{found}");
    }
    assert_eq!(fault_of(read_all(&[first.as_bytes(), head.as_bytes()])), "rows1: no rows");
    assert!(read(&packed[..packed.len() - 9]).is_err());
}

#[test]
fn refuses_rows_whose_scores_are_not_finite_at_the_start() {
    let text = "merino-rows 2\nsum main single\nfact f\nscore = main + exp(100 * f)\nsingle main a 1\nrows result f\n";
    let found = fault_of(read(format!("{text}1 1\n\n0 10\n")));
    assert!(found.starts_with("rows0:9: the score of this row is inf where the parameters start: the form"), "{found}");
}

#[test]
fn settings_apply_to_external_evaluations() {
    let problem = read(scored(|_, score, _| score)).expect("sound rows");
    let fit = |settings: Settings| fit(&problem, &Settings { prior: Some(0.0), ..settings });
    let plain = fit(Settings::default()).expect("a fit");
    let names = plain.numbers.iter().map(|number| &number.name[..]);
    assert!(names.eq(["a:mg", "a:eg", "b:mg", "b:eg"]));
    let say = |text: &str| vec![text.to_owned()];
    let held = fit(Settings {
        constraints: Constraints { freeze: say("b:mg"), ..Constraints::default() },
        ..Settings::default()
    });
    let held = held.expect("a fit");
    assert!(
        held.theta[2] == 7.0 && held.errors.as_ref().expect("errors").by_parameter[2].is_none() && held.frozen == 1
    );
    let tied = fit(Settings {
        constraints: Constraints { ties: say("a:mg=a:eg"), ..Constraints::default() },
        ..Settings::default()
    });
    let tied = tied.expect("a fit");
    assert!(tied.theta[0] == tied.theta[1] && tied.start[0] == 110.0 && tied.tied == 1);
    let bounds = Constraints { bounds: say("b=-10..10"), ..Constraints::default() };
    let bounded = fit(Settings { constraints: bounds, ..Settings::default() }).expect("a fit");
    assert!(bounded.theta[2..].iter().all(|value| (-10.0..=10.0).contains(value)));
    for (bound, message) in [
        ("c=0..1", "no parameter is called c; the nearest is"),
        ("b=0.5..9", "bound b=0.5..9: b:mg is written with 0 digits behind the decimal point, so are its bounds"),
        ("b=0..9", "bound b=0..9: excludes the start: b:eg is -10"),
    ] {
        let constraints = Constraints { bounds: say(bound), ..Constraints::default() };
        let error = fit(Settings { constraints, ..Settings::default() }).expect_err(bound).to_string();
        assert!(error.starts_with(message), "{error}");
    }
    let validated = fit(Settings { validation: Some(0.25), ..Settings::default() }).expect("a fit");
    assert!(validated.held_out > 20 && validated.fitted + validated.held_out == 200 && validated.held_loss.is_some());
    let adam = fit(Settings { method: Method::Adam, ..Settings::default() }).expect("a fit");
    assert!((adam.loss.after - plain.loss.after).abs() < 1e-5, "{:?} {:?}", adam.loss, plain.loss);
    let quick = fit(Settings { errors: false, ..Settings::default() }).expect("a fit");
    assert!(quick.errors.is_none() && quick.theta == plain.theta && !quick.to_table().contains('±'));
    let table = plain.to_table();
    assert!(table.contains("check        score − row: 100.0 % within 1 cp") && table.contains("\na:mg "), "{table}");
}

#[test]
fn normalized_parameters_have_a_k_of_1() {
    let truth = truth();
    let mut text = danger(&truth, 400);
    let mut random = Random::seeded(19);
    let problem = read(&text).expect("sound rows");
    let expected = scores(&problem.text.rows, &problem.text.model, &truth);
    let results =
        expected.iter().map(|score| if random.unit() < 1.0 / (1.0 + 10_f64.powf(-score / 700.0)) { 1.0 } else { 0.0 });
    let mut problem = problem.clone();
    problem.text.rows = problem.text.rows.with_targets(&results.collect::<Vec<f32>>()).expect("results");
    let fit = |normalize| {
        let settings = Settings {
            normalize,
            prior: Some(1.0),
            prior_scale: PriorScale::Fixed,
            centre: false,
            ..Settings::default()
        };
        fit(&problem, &settings).expect("a fit")
    };
    let (plain, normal) = (fit(false), fit(true));
    let k = plain.k;
    assert!(normal.k == 1.0 && k < 0.9, "{k}");
    // The curve is quadratic: numbers of its sum scale by the square root of K.
    for (j, value) in normal.theta.iter().enumerate() {
        let power = if (2 * PAIRS..2 * PAIRS + POWERS).contains(&j) { 0.5 } else { 1.0 };
        assert_eq!(*value, (plain.theta[j] * k.powf(power)).round() + 0.0, "{}", plain.numbers[j].name);
    }
    assert!((normal.loss.after - plain.loss.after).abs() < 2e-3);
    text = text.replace("max(0, s)^2 / 400", "exp(min(5, s / 100))");
    let problem = read(text).expect("sound rows");
    let refused = super::tests::fit(&problem, &Settings { normalize: true, ..Settings::default() });
    assert!(refused.expect_err("no scale").to_string().starts_with("--normalize: no scale"));
}

#[test]
fn values_keep_the_decimals_of_their_starts() {
    let text = scored(|_, score, _| score).replace("100 120", "100.00 120");
    let problem = read(text).expect("sound rows");
    let fitted = fit(&problem, &Settings { prior: Some(0.0), ..Settings::default() }).expect("a fit");
    let hundredths = 100.0 * fitted.theta[0];
    assert!((hundredths - hundredths.round()).abs() < 1e-6 && fitted.theta[0].fract() != 0.0, "{:?}", fitted.theta);
    assert_eq!(fitted.theta[2].fract(), 0.0);
    let text = emit(&with_values(&problem.text.parameters, &fitted.theta), Language::Toml).expect("arrays");
    let [a, b] = ["a = [", "b = ["].map(|name| text.lines().find(|line| line.starts_with(name)).expect("an array"));
    assert!(a.contains('.') && !b.contains('.'), "{text}");
}

/// Writes rows of a table `t` and of the piece value it refines. `t[2]` occurs in no row, `t[3]` in five if `rare`,
/// otherwise in none.
fn padded(rare: bool) -> String {
    let mut text = "merino-rows 2\nsum main single\nscore = main\nsingle main worth 100\nsingle main t[0] 10\n\
                    single main t[1] 30\nsingle main t[2] 10\nsingle main t[3] 10\nrows result group\n"
        .to_owned();
    let mut random = Random::seeded(23);
    for row in 0..800 {
        let [a, b] = [0, 1].map(|_| random.below(3) as i32 - 1);
        let c = i32::from(rare && row < 5);
        let score = f64::from(150 * (a + b + c) + 40 * a);
        let result = u8::from(random.unit() < 1.0 / (1.0 + 10_f64.powf(-score / 400.0)));
        let counts = [(0, a + b + c), (1, a), (2, b), (4, c)].into_iter().filter(|&(_, count)| count != 0);
        let counts: String = counts.map(|(number, count)| format!(" {number}:{count}")).collect();
        _ = writeln!(text, "{result} {row}{counts}");
    }
    text
}

#[test]
fn numbers_with_too_few_occurrences_keep_their_start() {
    let settings = |prior| Settings { prior: Some(prior), k: Some(1.0), ..Settings::default() };
    for rare in [false, true] {
        let mut problem = read(padded(rare)).expect("sound rows");
        let fitted = fit(&problem, &settings(1e-9)).expect("a fit");
        assert_ne!(fitted.theta[..3], [100.0, 10.0, 30.0]);
        assert_eq!(fitted.theta[3..], [10.0, 10.0], "rare {rare}");
        // A table is centred only where that changes no score.
        let mean = (fitted.theta[1] + fitted.theta[2]) / 2.0;
        assert!((mean.abs() <= 0.5) != rare, "{:?}", fitted.theta);
        problem.start_from(with_values(&problem.text.parameters, &fitted.theta));
        let again = fit(&problem, &settings(1e9)).expect("a fit");
        assert!((again.loss.before - fitted.loss.after).abs() < 1e-12, "{} {}", again.loss.before, fitted.loss.after);
    }
}

#[test]
fn reports_a_fit_that_changes_no_number() {
    let problem = read(padded(false)).expect("sound rows");
    let fit = |settings: Settings| fit(&problem, &Settings { k: Some(1.0), ..settings }).expect("a fit");
    let stiff = fit(Settings { prior: Some(1e9), ..Settings::default() });
    // The table is not centred: its mean stays far from 0.
    assert_eq!(stiff.theta, stiff.start);
    assert!(stiff.to_table().contains("nothing was tuned: "), "{}", stiff.to_table());
    assert!(stiff.nothing_tuned.as_deref().expect("a reason").contains("--prior"));
    let rare = fit(Settings { min_seen: 10_000, ..Settings::default() });
    assert!(rare.nothing_tuned.clone().expect("a reason").contains("every number is frozen or occurs in too few"));
    let moved = fit(Settings { prior: Some(1e-9), ..Settings::default() });
    assert!(moved.nothing_tuned.is_none());
}

#[test]
fn keeps_a_start_that_no_prior_improves_on() {
    // Every row has a twin with the other result: folds contradict one another.
    let mut text =
        "merino-rows 2\nsum main single\nscore = main\nsingle main a 0\nsingle main b 0\nrows result group\n"
            .to_owned();
    (0..400).for_each(|row| _ = writeln!(text, "{} {row} {}:1", row % 2, row / 2 % 2));
    let settings = Settings { k: Some(1.0), ..Settings::default() };
    let fitted = fit(&read(text).expect("sound rows"), &settings).expect("a fit");
    let choice = fitted.prior_choice.as_ref().expect("a choice");
    assert!(choice.keeps_start && choice.trials.iter().all(|trial| trial.loss >= choice.start), "{choice:?}");
    assert_eq!((&fitted.theta, fitted.iterations, fitted.errors.is_none()), (&fitted.start, 0, true));
    let reason = "nothing was tuned: no strength of the prior predicts held-out games better than the start";
    assert!(fitted.to_table().contains(reason), "{}", fitted.to_table());
    assert_eq!(fitted.nothing_tuned.as_deref(), Some(reason));
}

#[test]
fn maps_rows_to_positions_if_some_positions_have_no_row() {
    let lines = "8/8/8/8/8/k7/7R/K7 w - - [0.5]\n".repeat(9).into_bytes();
    let source = crate::data::Source::in_memory("made up", lines).unwrap();
    let dataset = Arc::new(Dataset::read(vec![source], &crate::data::ReadOptions::default(), &()).unwrap());
    let of = |without: &[usize], rows: usize| {
        let positions = Positions::new(Arc::clone(&dataset), without);
        (0..rows).map(|row| positions.of(row)).collect::<Vec<_>>()
    };
    assert_eq!(of(&[0, 1, 3, 5, 6], 4), [2, 4, 7, 8]);
    assert_eq!(of(&[], 3), [0, 1, 2]);
    assert_eq!(of(&[1, 2], 3), [0, 3, 4]);
}
