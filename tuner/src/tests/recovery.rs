//! Whole runs, from text to parameters, on results drawn with known parameters.

use super::own::{fit, problem, tuned};
use crate::objective::PriorScale;
use crate::run::{Hooks, Outcome, Settings};
use crate::source::Resolve;
use crate::source::constraints::Constraints;
use engine::chess::Position;
use engine::eval::Evaluator;
use engine::eval::params::Weights;
use engine::random::Random;

const DATA: &[u8] = include_bytes!("../../../data/quiet.epd.zst");
const BASELINE: &str = include_str!("../../../params/baseline.toml");

/// Returns every `step`-th position of the project's data.
fn positions(step: usize) -> Vec<Position> {
    let text = String::from_utf8(zstd::decode_all(DATA).unwrap()).unwrap();
    text.lines().step_by(step).map(|line| Position::from_fen_prefix(line).unwrap().0).collect()
}

/// The number of parameters of material and piece-square tables.
const SQUARES: usize = 2 * (5 + 6 * 64);

/// Returns parameters far from the baseline.
fn truth() -> Weights {
    let mut random = Random::seeded(7);
    let vector = Weights::from_toml(BASELINE).unwrap().to_vector();
    let moved = vector.iter().map(|value| 1.3 * value + 160.0 * (random.unit() - 0.5));
    let moved: Vec<f64> = moved.take(SQUARES).chain(vector[SQUARES..].iter().copied()).collect();
    let (mut truth, _) = Weights::from_vector(&moved);
    truth.phase = [0, 12, 8, 26, 36];
    truth
}

/// Returns positions with results drawn from their expectations.
fn drawn(positions: &[Position], truth: &Evaluator) -> String {
    let mut random = Random::seeded(11);
    let line = |position: &Position| {
        let expected = 1.0 / (1.0 + 10f64.powf(-f64::from(truth.evaluate_for_white(position)) / 400.0));
        let draws = expected.min(1.0 - expected) * 0.5;
        let drawn = random.unit();
        let points = if drawn < expected - draws / 2.0 {
            "1.0"
        } else if drawn < expected + draws / 2.0 {
            "0.5"
        } else {
            "0.0"
        };
        format!("{} [{points}]\n", position.to_fen())
    };
    positions.iter().map(line).collect()
}

fn tune(text: String, prior: Option<f64>) -> Outcome {
    let start = Weights::from_toml(BASELINE).unwrap();
    // The fixed scale keeps a strong prior at the start; tables stay uncentred, as fitted.
    let only = ["material", "psqt", "tempo", "phase"].map(str::to_owned).to_vec();
    let settings = Settings {
        constraints: Constraints { only, ..Constraints::default() },
        prior,
        prior_scale: PriorScale::Fixed,
        k: Some(1.0),
        centre: false,
        min_seen: 0,
        ..Settings::default()
    };
    let problem = problem(text.into_bytes().leak(), start, Resolve::Static);
    fit(problem, &settings, Hooks::new(&())).unwrap()
}

/// Returns the root mean square difference of two evaluations, in centipawns.
fn distance(positions: &[Position], a: &Evaluator, b: &Evaluator) -> f64 {
    let square = |p: &Position| f64::from(a.evaluate_for_white(p) - b.evaluate_for_white(p)).powi(2);
    (positions.iter().map(square).sum::<f64>() / positions.len() as f64).sqrt()
}

#[test]
fn recovers_the_parameters_that_produced_the_results() {
    let positions = positions(2);
    let truth = Evaluator::new(truth());
    let report = tune(drawn(&positions, &truth), None);
    assert!(report.gradient_ratio <= 1e-8, "{}", report.gradient_ratio);
    let start = distance(&positions, &Evaluator::new(Weights::from_vector(&report.start).0), &truth);
    let found = distance(&positions, &Evaluator::new(tuned(&report)), &truth);
    assert!(found < 0.3 * start, "from {start:.0} to {found:.0} centipawns from the truth");
}

#[test]
fn a_stronger_prior_stays_nearer_to_the_start() {
    let positions = positions(10);
    let text = drawn(&positions, &Evaluator::new(truth()));
    let moved = |prior| {
        let report = tune(text.clone(), Some(prior));
        let pairs = tuned(&report).to_vector().into_iter().zip(report.start.clone());
        pairs.map(|(new, old)| (new - old).powi(2)).sum::<f64>()
    };
    let moves: Vec<f64> = [1e-12, 1e-9, 1e-7, 1e-5, 1e3].map(moved).to_vec();
    assert!(moves.is_sorted_by(|a, b| a > b), "{moves:?}");
    assert_eq!(moves[4], 0.0);
}

#[test]
fn phase_weights_can_move_entirely_to_pawns() {
    let positions = positions(2);
    let mut truth = truth();
    truth.phase = [20, 0, 0, 0, 0];
    let truth = Evaluator::new(truth);
    let report = tune(drawn(&positions, &truth), Some(1e-9));
    // The phase weight of pawns is 0 at the start, so the phases of the start and of the truth share no piece.
    let [pawn, others @ ..] = tuned(&report).phase;
    assert!(pawn > 0 && others.iter().all(|&other| other < pawn), "{:?}", tuned(&report).phase);
    let start = Evaluator::new(Weights::from_vector(&report.start).0);
    let start = distance(&positions, &start, &truth);
    let found = distance(&positions, &Evaluator::new(tuned(&report)), &truth);
    assert!(found < 0.3 * start, "from {start:.0} to {found:.0} centipawns from the truth");
}
