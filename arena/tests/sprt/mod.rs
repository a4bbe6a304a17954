//! Sequential tests keep what they promise: error rates, and estimates after they have stopped. Drawn with fixed seeds.

mod simulation;

use arena::stats::{Model, Sprt};
use engine::random::Random;
use simulation::{play, results, simulate, simulate_verdicts};

const NEVER: u64 = u64::MAX;

fn sprt(model: Model, bounds: &str) -> Sprt {
    Sprt { model, bounds: bounds.parse().unwrap(), alpha: 0.05, beta: 0.05 }
}

#[test]
fn errors_are_as_rare_as_asked_for() {
    for model in [Model::Normalized, Model::Logistic] {
        let test = sprt(model, "0,20");
        for elo in test.bounds.as_array() {
            let figures = simulate_verdicts(&test, elo, 1000, NEVER, 1);
            assert_eq!(figures.passed + figures.failed, figures.runs);
            let errors = figures.share(if elo > 0.0 { figures.failed } else { figures.passed });
            assert!((errors - 0.05).abs() <= figures.tolerance(0.05), "{model:?} {elo}: {errors}");
        }
    }
}

#[test]
fn the_errors_may_differ() {
    let test = Sprt { alpha: 0.02, beta: 0.2, ..sprt(Model::Normalized, "-10,15") };
    let [null, alternative] = test.bounds.as_array().map(|elo| simulate_verdicts(&test, elo, 1000, NEVER, 2));
    let (alpha, beta) = (null.share(null.passed), alternative.share(alternative.failed));
    assert!((alpha - 0.02).abs() <= null.tolerance(0.02), "α {alpha}");
    assert!((beta - 0.2).abs() <= alternative.tolerance(0.2), "β {beta}");
}

#[test]
fn tests_take_as_many_games_as_planned() {
    let test = sprt(Model::Normalized, "0,20");
    for elo in [-10.0, 0.0, 10.0, 20.0] {
        let figures = simulate_verdicts(&test, elo, 400, NEVER, 3);
        let prospect = test.prospect(0.0, elo);
        let games = figures.games as f64 / figures.runs as f64;
        assert!((games / prospect.games - 1.0).abs() < 0.1, "{elo}: {games}, planned {prospect:?}");
        let passed = figures.share(figures.passed);
        assert!((passed - prospect.pass).abs() <= figures.tolerance(0.5), "{elo}: {passed}, planned {prospect:?}");
    }
}

/// As often too high as too low, and in its interval as often as it says, wherever the truth is: that of the counts alone
/// is not.
#[test]
fn estimates_allow_for_the_stop() {
    for model in [Model::Normalized, Model::Logistic] {
        let test = sprt(model, "0,20");
        for (elo, most) in [(-10.0, NEVER), (10.0, NEVER), (20.0, NEVER), (35.0, NEVER), (5.0, 400)] {
            let figures = simulate(&test, elo, 400, most, 4);
            let (high, covered) = (figures.share(figures.unbiased_high), figures.share(figures.covered));
            assert!((high - 0.5).abs() <= figures.tolerance(0.5), "{model:?} {elo}: too high {high}");
            assert!((covered - 0.95).abs() <= figures.tolerance(0.95), "{model:?} {elo}: covered {covered}");
            if elo == 20.0 {
                let naive = figures.share(figures.naive_high);
                assert!(naive > 0.5 + figures.tolerance(0.5), "{model:?}: the naive estimate is too high {naive}");
            }
        }
    }
}

#[test]
fn looking_at_the_ratio_only_when_need_be_changes_nothing() {
    for model in [Model::Normalized, Model::Logistic] {
        let (test, results) = (sprt(model, "0,20"), results(model, 12.0));
        for seed in 0..10 {
            let [every, some] =
                [false, true].map(|skips| play(&test, &results, NEVER, skips, &mut Random::seeded(seed)));
            assert_eq!(every, some, "{model:?} {seed}");
        }
    }
}
