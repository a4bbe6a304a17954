//! SPSA finds what is to be found, through the noise of games. Drawn with fixed seeds.

mod simulation;

use engine::random::Random;
use simulation::{Engine, Engines, METHODS, STEP, remaining};

#[test]
fn optima_are_found_through_the_noise_of_games() {
    // The last option does nothing.
    let starts: Vec<f64> = [3.0, -2.0, 0.0, 0.0].iter().map(|steps| 100.0 + steps * STEP).collect();
    let ends = |seed: u64| -> Vec<f64> {
        let random = Random::seeded(seed + 1000);
        let optima = vec![Some(100.0), Some(100.0), Some(100.0), None];
        let found = Engine { cost: 2.0, starts: starts.clone(), optima, random }.spsa(80_000, seed);
        found.iter().map(|value| (value - 100.0) / STEP).collect()
    };
    let found: Vec<Vec<f64>> = (0..100).map(ends).collect();
    for number in 0..3 {
        let near = found.iter().filter(|values| values[number].abs() < 1.0 / 3.0).count();
        assert!(near >= 95, "{number}: {near} of 100");
    }
    // Where nothing is to be found, nothing drifts: the mean is the start, within its error.
    let drift: Vec<f64> = found.iter().map(|values| values[3]).collect();
    let mean = drift.iter().sum::<f64>() / 100.0;
    let spread = (drift.iter().map(|value| value * value).sum::<f64>() / 100.0).sqrt();
    assert!(mean.abs() < 3.0 * spread / 10.0, "{mean} of {spread}");
}

#[test]
fn it_leaves_less_than_what_is_tried_without_it() {
    for options in [5, 20] {
        let engines = Engines { options, reach: 3.0, cost: 2.0 };
        let [start, spsa, others @ ..] = METHODS.map(|(_, method)| remaining(method, engines, 10_000, 30)[0]);
        assert!(spsa < start / 4.0 && others.iter().all(|other| spsa < other / 2.0), "{spsa} of {start}, {others:?}");
    }
}
