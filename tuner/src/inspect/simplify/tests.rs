use super::*;
use engine::chess::Position;
use engine::eval::score::Score;
use engine::random::Random;

const BASELINE: &str = include_str!("../../../../params/baseline.toml");

fn baseline() -> Weights {
    Weights::from_toml(BASELINE).unwrap()
}

/// Every fortieth of the project's own positions, with results drawn from parameters.
fn drawn(truth: Weights) -> Source {
    let evaluator = Evaluator::new(truth);
    let mut random = Random::seeded(3);
    let text =
        String::from_utf8(zstd::decode_all(&include_bytes!("../../../../data/quiet.epd.zst")[..]).unwrap()).unwrap();
    let line = |line: &str| {
        let position = Position::from_fen_prefix(line).unwrap().0;
        let expected = 1.0 / (1.0 + 10f64.powf(-f64::from(evaluator.evaluate_for_white(&position)) / 400.0));
        let won = (random.below(1 << 32) as f64) < expected * (1_u64 << 32) as f64;
        format!("{} [{}]\n", position.to_fen(), if won { "1.0" } else { "0.0" })
    };
    let text: String = text.lines().step_by(40).map(line).collect();
    Source::embedded("drawn", text.into_bytes().leak()).unwrap()
}

/// Parameters in which the tables of rooks and queens say nothing.
fn truth() -> Weights {
    let mut truth = baseline();
    truth.psqt[3] = [[Score::new(0, 0); 8]; 8];
    truth.psqt[4] = [[Score::new(0, 0); 8]; 8];
    for square in [0, 1, 2, 5].into_iter().flat_map(|piece| 64 * piece..64 * (piece + 1)) {
        let square = &mut truth.psqt.as_flattened_mut().as_flattened_mut()[square];
        *square += *square;
    }
    truth
}

/// A task of few parameters, and some of them frozen: the fewer are fitted, the sooner a test ends.
fn task(by: Grouping, freeze: &[&str]) -> Task {
    let names = |patterns: &[&str]| patterns.iter().map(|&text| text.to_owned()).collect();
    let only = names(&["material", "psqt", "tempo", "phase"]);
    let constraints = Constraints { only, freeze: names(freeze), ..Constraints::default() };
    Task {
        sources: vec![drawn(truth())],
        start: baseline(),
        constraints,
        min_seen: 10,
        by,
        resolve: Resolve::Static,
        target: Target::Result,
        loss: SampleLoss::default(),
        prior: Some(1e-9),
        k: Some(1.0),
        seed: 1,
        reading: ReadOptions::default(),
    }
}

#[test]
fn tables_that_say_nothing_are_found() {
    let found = simplify(Task { prior: None, ..task(Grouping::Table, &[]) }, &()).unwrap();
    let mut first: Vec<&str> = found.order.iter().take(3).map(|term| &term.name[..]).collect();
    first.sort_unstable();
    assert_eq!(first, ["psqt.queen", "psqt.rook", "tempo"], "the baseline has no tempo");
    let removed: Vec<&str> = found.removed_names().collect();
    assert!(removed.contains(&"psqt.queen") && removed.contains(&"psqt.rook"), "{removed:?}");
    assert!(!removed.contains(&"psqt.pawn") && !removed.contains(&"psqt.king"), "{removed:?}");
    assert!(found.weights.psqt[4].as_flattened().iter().all(|square| *square == Score::new(0, 0)));
    assert!(found.weights.psqt[0].as_flattened().iter().any(|square| *square != Score::new(0, 0)));
    assert!(found.loss[1] >= found.loss[0]);
    for trial in &found.trials {
        assert!(trial.fitted > -1e-9, "a fit without a term cannot be better: {trial:?}");
    }
    assert!(found.provenance().method.starts_with("lbfgs, "), "{}", found.provenance().method);
    let text = found.to_table();
    assert!(text.contains("can go:\n") && text.contains("psqt.queen"), "{text}");
    assert_eq!(found.to_json()["removed"].as_array().unwrap().len(), found.removed);
}

#[test]
fn what_is_frozen_is_not_taken_out() {
    let frozen = ["psqt.queen", "psqt.rook.a1:mg", "psqt.pawn", "psqt.knight", "psqt.king"];
    let found = simplify(task(Grouping::Table, &frozen), &()).unwrap();
    assert!(found.order.iter().all(|term| term.name != "psqt.queen" && term.name != "psqt.rook"));
    assert_eq!(found.weights.psqt[4], baseline().psqt[4]);
}

#[test]
fn single_numbers_go_in_the_order_of_their_cost() {
    let found = simplify(task(Grouping::Number, &["psqt.king", "psqt.pawn", "psqt.knight"]), &()).unwrap();
    let vector = found.weights.to_vector();
    for term in &found.order[..found.removed] {
        assert!(term.numbers.iter().all(|&index| vector[index] == 0.0), "{}", term.name);
    }
    assert!(found.removed > 64, "{}", found.removed);
    let predicted: Vec<f64> = found.trials.iter().map(|trial| trial.predicted).collect();
    assert!(predicted.is_sorted() && found.order.iter().all(|term| !term.name.starts_with("material")));
    assert!(found.trials.iter().any(|trial| !trial.is_free()));
}

#[test]
fn the_curvature_foretells_what_a_fit_finds() {
    let found = simplify(task(Grouping::Table, &["material", "psqt.king", "psqt.pawn", "psqt.knight"]), &()).unwrap();
    for trial in found.trials.iter().take(3) {
        let ratio = trial.predicted / trial.fitted;
        assert!((0.5..2.0).contains(&ratio), "{trial:?}");
    }
}

#[test]
fn changes_of_one_game_count_as_one() {
    let alone = paired((0..100).map(|i| (i, 1.0, f64::from(i % 2))).collect());
    assert!((alone.mean - 0.5).abs() < 1e-12 && (alone.error - 0.05).abs() < 1e-12);
    let together = paired((0..100).map(|i| (i / 10, 1.0, f64::from(i / 10 % 2))).collect());
    assert!((together.mean - 0.5).abs() < 1e-12 && together.error > 3.0 * alone.error);
}

#[test]
fn the_last_free_number_is_found_by_halving_too() {
    for (most, free) in [(0, 0), (1, 0), (1, 1), (7, 3), (24, 24), (100, 0), (100, 37), (700, 699), (700, 700)] {
        let (mut best, mut tried) = (0, 0);
        let mut attempt = |count: usize| {
            tried += 1;
            best = if count <= free { best.max(count) } else { best };
            Ok(count <= free)
        };
        last_free(most, &mut attempt).unwrap();
        assert_eq!(best, free);
        assert!(tried <= 25, "{tried} for {free} of {most}");
    }
}
