//! How long a fit will go on: a guess from how fast its loss falls.

use std::time::{Duration, Instant};

/// What is left to gain, as a share of the loss, where a fit is taken to be over.
const NEARLY_THERE: f64 = 1e-7;

/// Steps before there is a guess.
const FEWEST_STEPS: usize = 4;

/// Guesses beyond this are none.
const LONGEST: f64 = 24.0 * 3600.0;

/// The steps of a fit so far, with the time each was told.
#[derive(Default)]
pub(crate) struct TimeLeft {
    steps: Vec<(Instant, f64)>,
}

impl TimeLeft {
    /// Takes a step into account that was made now; what is left then, if that can be told.
    pub(crate) fn after(&mut self, loss: f64) -> Option<Duration> {
        self.steps.push((Instant::now(), loss));
        let losses: Vec<f64> = self.steps.iter().map(|&(_, loss)| loss).collect();
        let steps = steps_left(&losses)?;
        // Steps take their time: the later half says how much.
        let half = self.steps.len() / 2;
        let (begin, end) = (self.steps[half - 1].0, self.steps[self.steps.len() - 1].0);
        let seconds = steps * (end - begin).as_secs_f64() / (self.steps.len() - half) as f64;
        (seconds < LONGEST).then(|| Duration::from_secs_f64(seconds))
    }
}

/// How many more steps it takes to the minimum, if the loss goes on to fall towards it by a constant factor a step, as
/// it did in the later half of the steps.
fn steps_left(losses: &[f64]) -> Option<f64> {
    if losses.len() < FEWEST_STEPS {
        return None;
    }
    let last = losses.len() - 1;
    let stretch = (last / 4).max(1);
    let [first, middle, end] = [2, 1, 0].map(|back| losses[last - back * stretch]);
    let (before, now) = (first - middle, middle - end);
    if now <= 0.0 {
        return Some(0.0);
    }
    if before <= now {
        return None;
    }
    let factor = now / before;
    let to_gain = now * factor / (1.0 - factor);
    let stretches = (NEARLY_THERE * end.abs() / to_gain).ln() / factor.ln();
    Some(stretches.max(0.0) * stretch as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_falls_by_a_constant_factor_is_foreseen() {
        for factor in [0.2, 0.9, 0.99_f64] {
            let loss = |step: usize| 0.06 + 0.02 * factor.powi(step as i32);
            let whole = (NEARLY_THERE * 0.06 / 0.02).ln() / factor.ln();
            for made in [5, 20, 50] {
                let losses: Vec<f64> = (0..=made).map(loss).collect();
                let found = steps_left(&losses).unwrap();
                let expected = (whole - made as f64).max(0.0);
                assert!((found - expected).abs() < 0.02 * whole + 0.1, "{factor} {made}: {found} for {expected}");
            }
        }
    }

    #[test]
    fn nothing_is_guessed_from_too_little_or_from_what_speeds_up() {
        assert_eq!(steps_left(&[3.0, 2.0, 1.5]), None);
        assert_eq!(steps_left(&[3.0, 2.9, 2.7, 2.3, 1.5]), None);
        assert_eq!(steps_left(&[3.0, 2.0, 1.5, 1.5, 1.5]), Some(0.0));
    }
}
