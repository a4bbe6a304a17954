//! Explanations, compared with a direct computation position by position.

use std::fs;
use std::sync::Arc;

use crate::data::{Dataset, ReadOptions, Source};
use crate::data::{MOST_PAWNS, material_balance, phase};
use crate::objective::{SampleLoss, expectation};
use crate::run::explain::{Bin, Case, EXPECTATIONS, Explanation, FAR_OFF, explain, explained};
use crate::source::{Own, Problem, Resolve};
use engine::chess::Position;
use engine::eval::Evaluator;
use engine::eval::params::Weights;
use engine::search::{Pruning, Quiescence};
use tempfile::TempDir;

const K: f64 = 1.3;

/// Returns every sixtieth embedded position with its result alone, so that each is a group of its own: more than two
/// chunks.
fn lines() -> Vec<String> {
    let packed = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../data/quiet.epd.zst")).unwrap();
    let text = String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap();
    let plain = |line: &str| {
        let (fen, _) = line.split_once(" c0 ").unwrap();
        let (_, result) = line.split_once("c9 ").unwrap();
        format!("{fen} c9 {};", result.split_once(';').unwrap().0)
    };
    text.lines().step_by(60).map(plain).collect()
}

fn weights(name: &str) -> Weights {
    Weights::load(format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../params/{}.toml"), name)).unwrap()
}

/// Makes the problem of files with the given lines.
fn read(folder: &TempDir, files: &[(&str, &[String])], resolve: Resolve) -> Problem {
    let sources = files.iter().map(|(name, lines)| {
        let path = folder.path().join(name);
        fs::write(&path, lines.join("\n")).unwrap();
        Source::open(&path).unwrap()
    });
    let dataset = Dataset::read(sources.collect(), &ReadOptions::default(), &()).unwrap();
    Own { start: weights("baseline"), resolve }.problem(Arc::new(dataset), &()).unwrap()
}

/// Returns all rows with the results as targets.
fn case<'a>(problem: &'a Problem, scores: &'a [f32]) -> Case<'a> {
    Case { problem, k: K, scores, targets: problem.text.rows.targets(), weights: &[], counted: None }
}

fn of(problem: &Problem, count: usize) -> Explanation {
    explain(&case(problem, &problem.scores()), (count, 1), &())
}

/// Expectations and targets of the positions of a bin.
type Predictions = Vec<(f64, f64)>;

fn assert_bin(bin: &Bin, group: &Predictions) {
    let count = group.len() as f64;
    assert_eq!(bin.count(), group.len() as u64);
    if group.is_empty() {
        return;
    }
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| group.iter().map(of).sum::<f64>() / count;
    let close = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-9, "{found} for {wanted}");
    close(bin.expected(), mean(&|(expected, _)| *expected));
    close(bin.actual(), mean(&|(_, target)| *target));
    close(bin.loss(), mean(&|(expected, target)| (target - expected).powi(2)));
    let residual = mean(&|(expected, target)| target - expected);
    close(bin.residual(), residual);
    let spread = mean(&|(expected, target)| (target - expected - residual).powi(2));
    close(bin.error(), (spread / (count - 1.0).max(1.0)).sqrt());
}

#[test]
fn bins_agree_with_direct_sums() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines();
    let evaluator = Evaluator::new(weights("baseline"));
    for resolve in [Resolve::Static, Resolve::Qsearch] {
        let problem = read(&folder, &[("a.epd", &lines[..1000]), ("b.epd", &lines[1000..])], resolve);
        let (found, scores, dataset) = (of(&problem, 10), problem.scores(), problem.dataset().unwrap());
        let mut quiescence = Quiescence::new(&evaluator, Pruning::Exact);
        let mut samples = Vec::new();
        for ((position, label), &score) in dataset.samples(0..dataset.len()).zip(&scores) {
            let own = match resolve {
                Resolve::Static => evaluator.evaluate_for_white(&position),
                Resolve::Qsearch => quiescence.score_for_white(&position),
            };
            // The engine rounds integer divisions.
            assert!((f64::from(score) - f64::from(own)).abs() < 3.0, "{score} for {own}");
            samples.push((position, (expectation(K, score.into()), f64::from(label.outcome.points()))));
        }
        let group = |wanted: &dyn Fn(&Position, f64) -> bool| -> Predictions {
            let fitting = samples.iter().filter(|(position, (expected, _))| wanted(position, *expected));
            fitting.map(|(_, pair)| *pair).collect()
        };
        assert_bin(&found.all, &group(&|_, _| true));
        let in_bin = |bin: usize, expected: f64| (expected * EXPECTATIONS as f64).floor() == bin as f64;
        for (bin, sums) in found.calibration.iter().enumerate() {
            assert_bin(sums, &group(&|_, expected| in_bin(bin, expected)));
        }
        for (balance, sums) in (-MOST_PAWNS..).zip(&found.by_material) {
            assert_bin(sums, &group(&|position, _| material_balance(position) == balance));
        }
        for (left, sums) in found.by_phase.iter().enumerate() {
            assert_bin(sums, &group(&|position, _| phase(position) == left));
        }
        assert!(found.calibration.iter().filter(|bin| bin.count() > 0).count() > 10);

        let off = |pair: &(f64, f64)| (pair.1 - pair.0).abs();
        let far = |range: std::ops::Range<usize>| samples[range].iter().filter(|(_, pair)| off(pair) > FAR_OFF).count();
        let counts: Vec<(u64, u64)> = found.files.iter().map(|file| (file.positions, file.far_off)).collect();
        assert_eq!(
            counts,
            [(1000, far(0..1000) as u64), (samples.len() as u64 - 1000, far(1000..samples.len()) as u64)]
        );

        let mut order: Vec<usize> = (0..samples.len()).collect();
        order.sort_by(|&a, &b| off(&samples[b].1).total_cmp(&off(&samples[a].1)).then(a.cmp(&b)));
        let worst: Vec<usize> = found.worst.iter().map(|worst| worst.row).collect();
        assert_eq!(worst, order[..10]);
        for worst in &found.worst {
            let (position, pair) = &samples[worst.row];
            let (known, _) = worst.position.as_ref().unwrap();
            assert_eq!((known, worst.expected, worst.target), (position, pair.0, pair.1));
            let (name, first) = if worst.row < 1000 { ("a.epd", 0) } else { ("b.epd", 1000) };
            assert!(worst.place.ends_with(&format!("{name}:{}", worst.row - first + 1)), "{}", worst.place);
            assert!(lines[worst.row].starts_with(&position.to_epd_fields()));
        }
    }
}

#[test]
fn explanations_do_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let problem = read(&folder, &[("a.epd", &lines())], Resolve::Qsearch);
    let explain = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| of(&problem, 7))
    };
    let alone = explain(1);
    assert_eq!(alone.worst.len(), 7);
    assert!([2, 5].map(explain).iter().all(|found| *found == alone));
    assert_eq!(of(&problem, usize::MAX).worst.len(), problem.groups.len());
    assert!(of(&problem, 0).worst.is_empty());
}

#[test]
fn worst_positions_keep_the_requested_distance() {
    let folder = tempfile::tempdir().unwrap();
    let problem = read(&folder, &[("a.epd", &lines())], Resolve::Static);
    let scores = problem.scores();
    let worst = |count, apart| -> Vec<usize> {
        explain(&case(&problem, &scores), (count, apart), &()).worst.iter().map(|worst| worst.row).collect()
    };
    let mut wanted: Vec<usize> = Vec::new();
    for row in worst(200, 1) {
        if wanted.len() < 10 && wanted.iter().all(|other| row.abs_diff(*other) >= 300) {
            wanted.push(row);
        }
    }
    assert_eq!(worst(10, 300), wanted);
    assert_ne!(worst(10, 1), wanted);
}

#[test]
fn loss_change_is_the_mean_of_its_terms() {
    let folder = tempfile::tempdir().unwrap();
    let problem = read(&folder, &[("a.epd", &lines())], Resolve::Static);
    let (before, targets) = (problem.scores(), problem.text.rows.targets());
    let after = crate::objective::scores(&problem.text.rows, &problem.text.model, &weights("tuned").to_vector());
    let after: Vec<f32> = after.into_iter().map(|score| score as f32).collect();
    let counted: Vec<u32> = (0..before.len() as u32).filter(|index| index % 3 == 1).collect();
    for counted in [None, Some(&counted[..])] {
        let both = [(K, &before[..]), (1.6, &after[..])];
        let (found, change) = explained(&problem, both, (targets, &[]), counted, SampleLoss::SquaredError, &());
        let rows = (0..before.len()).filter(|row| counted.is_none_or(|counted| counted.contains(&(*row as u32))));
        let error = |(k, scores): (f64, &[f32]), row: usize| {
            (expectation(k, scores[row].into()) - f64::from(targets[row])).powi(2)
        };
        let terms: Vec<f64> = rows.map(|row| error(both[1], row) - error(both[0], row)).collect();
        let count = terms.len() as f64;
        let mean = terms.iter().sum::<f64>() / count;
        let spread = terms.iter().map(|term| (term - mean).powi(2)).sum::<f64>();
        assert!((change.mean - mean).abs() < 1e-12);
        assert!((change.error / (spread / (count - 1.0) / count).sqrt() - 1.0).abs() < 1e-3);
        assert!((change.mean - (found[1].all.loss() - found[0].all.loss())).abs() < 1e-12);
    }
}

#[test]
fn bins_cover_the_counted_rows_only() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines();
    let problem = read(&folder, &[("a.epd", &lines)], Resolve::Static);
    let counted: Vec<u32> = (0..lines.len() as u32).filter(|index| index % 5 == 2).collect();
    let picked: Vec<String> = counted.iter().map(|&index| lines[index as usize].clone()).collect();
    let alone = read(&folder, &[("b.epd", &picked)], Resolve::Static);
    let (scores, worst) = (problem.scores(), (3, 1));
    let all = case(&problem, &scores);
    let (found, whole) = (explain(&Case { counted: Some(&counted), ..all }, worst, &()), explain(&all, worst, &()));
    let alone = of(&alone, 3);
    let counts = |bins: &[Bin]| bins.iter().map(Bin::count).collect::<Vec<u64>>();
    assert_eq!((found.all.count(), whole.all.count()), (counted.len() as u64, lines.len() as u64));
    assert_eq!(counts(&found.calibration), counts(&alone.calibration));
    assert_eq!(counts(&found.by_material), counts(&alone.by_material));
    assert!((found.all.loss() - alone.all.loss()).abs() < 1e-12);
    assert_eq!((found.worst, found.files), (whole.worst, whole.files));
}
