//! Whole runs: held-out data, the choice of the prior, interruptions.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::own::{fit, problem};
use crate::optimize::Method;
use crate::progress::{Progress, Unit};
use crate::run::{Hooks, Settings};
use crate::source::constraints::Constraints;
use crate::source::{Problem, Resolve};
use engine::eval::params::Weights;

const DATA: &[u8] = include_bytes!("../../../data/quiet.epd.zst");
const BASELINE: &str = include_str!("../../../params/baseline.toml");

/// Returns every `stride`-th position of the project's data with at least `pieces` pieces.
fn positions_of(stride: usize, pieces: usize) -> &'static [u8] {
    let text = String::from_utf8(zstd::decode_all(DATA).unwrap()).unwrap();
    let count = |line: &str| line.split(' ').next().unwrap().chars().filter(char::is_ascii_alphabetic).count();
    let lines: Vec<&str> = text.lines().step_by(stride).filter(|line| count(line) >= pieces).collect();
    lines.join("\n").into_bytes().leak()
}

/// Returns every `stride`-th position of the project's data.
fn positions(stride: usize) -> &'static [u8] {
    positions_of(stride, 0)
}

/// Returns settings with few parameters, for speed, and without standard errors.
fn quick() -> Settings {
    let only = ["material", "psqt", "tempo", "phase"].map(str::to_owned).to_vec();
    let constraints = Constraints { only, ..Constraints::default() };
    Settings { errors: false, constraints, ..Settings::default() }
}

fn of(data: &'static [u8]) -> Problem {
    problem(data, Weights::from_toml(BASELINE).unwrap(), Resolve::Qsearch)
}

/// A progress receiver that sets the stop flag after a number of steps.
struct StopAfter {
    steps: AtomicU32,
    stop: AtomicBool,
}

impl StopAfter {
    fn new(steps: u32) -> Self {
        StopAfter { steps: AtomicU32::new(steps), stop: AtomicBool::new(false) }
    }
}

impl Progress for StopAfter {
    fn begin(&self, _step: &'static str, _total: u64, _unit: Unit) {}
    fn advance(&self, _by: u64) {}
    fn message(&self, text: String) {
        let is_step = text.starts_with("loss");
        if is_step && self.steps.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
    fn end(&self) {}
}

#[test]
fn an_interrupted_run_keeps_the_best_so_far() {
    let data = positions(120);
    for method in [Method::Lbfgs, Method::Adam] {
        for validation in [None, Some(0.2)] {
            // With a prior this weak, no fit ends within two steps.
            let settings = Settings { method, validation, prior: Some(1e-8), ..quick() };
            let watch = StopAfter::new(2);
            let hooks = Hooks { stop: Some(&watch.stop), ..Hooks::new(&watch) };
            let outcome = fit(of(data), &settings, hooks).unwrap();
            assert!(outcome.interrupted);
            let decides = outcome.held_loss.unwrap_or(outcome.loss);
            assert!(decides.after <= decides.before, "{decides:?}");
        }
    }
}

#[test]
fn chosen_prior_lowers_the_held_out_loss() {
    let data = positions(20);
    for seed in [1, 2] {
        let with = |prior| {
            let settings = Settings { prior, seed, validation: Some(0.2), ..quick() };
            fit(of(data), &settings, Hooks::new(&())).unwrap()
        };
        let (auto, free) = (with(None), with(Some(1e-13)));
        let choice = auto.prior_choice.clone().expect("chosen");
        assert!(choice.loss < choice.start && choice.per_position > choice.trials[0].per_position, "{choice:?}");
        assert!(choice.trials.is_sorted_by_key(|trial| trial.per_position));
        // The fit continues from the fit to the first fold.
        assert!(auto.history[0].objective < free.history[0].objective);
        let (auto, free) = (auto.held_loss.unwrap(), free.held_loss.unwrap());
        assert!(auto.after < auto.before);
        assert!(auto.after < free.after, "{auto:?} {free:?}");
    }
}

#[test]
fn held_out_rows_are_not_fitted() {
    let data = positions(25);
    let with = |validation, seed| {
        let constraints = Constraints { only: vec!["material".to_owned()], ..Constraints::default() };
        let settings = Settings { validation: Some(validation), seed, prior: Some(1e-8), constraints, ..quick() };
        fit(of(data), &settings, Hooks::new(&()))
    };
    let report = with(0.25, 0).unwrap();
    let share = report.held_out as f64 / (report.fitted + report.held_out) as f64;
    assert!((0.2..0.3).contains(&share), "{share}");
    assert!(report.history.iter().all(|point| point.held.is_some()));
    // The seed changes the held-out positions.
    let held = |seed| with(0.25, seed).unwrap().held_loss;
    assert_ne!(held(1), held(2));
    for share in [1e-9, 1.0 - 1e-9] {
        let error = with(share, 0).unwrap_err();
        assert!(error.to_string().starts_with("validation: a share of"), "{error}");
    }
}

#[test]
fn normalised_fit_has_k_of_one_and_about_the_same_loss() {
    // Excludes endings that are scored by rule: no parameter scales their scores.
    let data = positions_of(25, 9);
    let plain = fit(of(data), &quick(), Hooks::new(&())).unwrap();
    let report = fit(of(data), &Settings { normalize: true, ..quick() }, Hooks::new(&())).unwrap();
    assert!(plain.k > 1.1 && report.k == 1.0);
    let (plain, scaled) = (plain.loss.after, report.loss.after);
    assert!((plain - scaled).abs() < 5e-5 && plain != scaled, "{plain} {scaled}");
}

#[test]
fn a_run_ends_at_a_loss_of_zero() {
    let line = |n: usize| {
        let (pawns, result) = [("PPP5", "1-0"), ("PP6", "1/2-1/2"), ("P7", "0-1")][n % 3];
        format!("4k3/pp6/8/8/8/8/{pawns}/4K3 w - - 0 {n} c9 \"{result}\";\n")
    };
    let data = (1..300).map(line).collect::<String>().into_bytes().leak();
    let constraints = Constraints { only: vec!["material.pawn".to_owned()], ..Constraints::default() };
    let settings = Settings { prior: Some(1e-6), constraints, ..quick() };
    let report = fit(of(data), &settings, Hooks::new(&())).unwrap();
    assert!(report.converged && report.rounds <= 2, "{} rounds", report.rounds);
    assert_eq!((report.loss.before, report.loss.after), (0.0, 0.0));
}
