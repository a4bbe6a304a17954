//! Estimates of strength after a sequential test has stopped.
//!
//! A test stops when its counts look good enough, or bad enough: the Elo of the counts alone is too far from the middle
//! of the bounds. Taking the test for a Brownian motion between two walls, its outcomes have an order, and how likely an
//! outcome no higher than the observed one is falls as the true difference grows. Where that is one half lies an estimate
//! that is too high as often as it is too low; where it is 97.5 % and 2.5 %, a 95 % interval.
//! See <https://www.cantate.be/Fishtest/brownian_approximation.pdf>.

use super::Counts;
use super::brownian::Motion;
use super::counts::mean_and_variance;
use super::elo::{NELO_PER_SIGMA, elo_of};
use super::sprt::{ModelError, Sprt, Verdict};

/// Quantiles of the order of outcomes: the ends of a 95 % interval and its median, lowest difference first.
const QUANTILES: [f64; 3] = [0.975, 0.5, 0.025];

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The estimate: as often too high as too low.
    pub median: f64,
    /// The upper end.
    pub high: f64,
}

/// The difference of two strengths from the first side's view, corrected for the stopping rule of the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unbiased {
    /// Elo; infinite where the mean score would be 0 or 1.
    pub elo: Interval,
    /// Elo in units of the spread of results.
    pub nelo: Interval,
}

impl Interval {
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Interval { low: f(self.low), median: f(self.median), high: f(self.high) }
    }
}

impl Sprt {
    /// The estimate from counts at which the test has stopped, or stands; `None` if there are none, or all are alike.
    ///
    /// # Errors
    /// If the model does not apply to such counts.
    pub fn unbiased(&self, counts: &Counts) -> Result<Option<Unbiased>, ModelError> {
        let llr = self.llr(counts)?;
        let (mean, variance) = mean_and_variance(&counts.frequencies(0.0));
        if counts.total() == 0 || variance <= 0.0 {
            return Ok(None);
        }
        let sigma = variance.sqrt();
        let [t0, t1] = self.deviations(counts);
        let (width, middle) = (t1 - t0, f64::midpoint(t0, t1));
        let place = counts.total() as f64 * width * ((mean - 0.5) / sigma - middle);
        let spent = counts.total() as f64 * width * width;
        let Some(tilts) = self.tilts(self.verdict(llr), place, spent) else { return Ok(None) };
        let t = tilts.map(|tilt| middle + tilt * width);
        let elo = t.map(|t| elo_of((0.5 + t * sigma).clamp(0.0, 1.0)));
        Ok(Some(Unbiased { elo, nelo: t.map(|t| NELO_PER_SIGMA * t / (counts.games_each() as f64).sqrt()) }))
    }

    /// The tilts that agree with a motion which has come to `place` when so much variance was spent.
    fn tilts(&self, verdict: Verdict, place: f64, spent: f64) -> Option<Interval> {
        let (lower, upper) = self.limits();
        let wall = match verdict {
            Verdict::H1 => upper,
            Verdict::H0 => lower,
            Verdict::Undecided => place.clamp(lower, upper),
        };
        // The last pair leads past the wall: it was met a little earlier, where the straight way to the end meets it.
        let (place, spent) = if place == wall { (place, spent) } else { (wall, spent * wall / place) };
        let is_real = spent.is_finite() && spent > 0.0;
        let [low, median, high] = QUANTILES.map(|chance| tilt_at(chance, place, spent, [lower, upper]));
        is_real.then_some(Interval { low, median, high })
    }
}

/// The tilt at which an outcome no higher than this has a given chance: by secants in a bracket, halved where they are slow.
fn tilt_at(chance: f64, place: f64, spent: f64, [lower, upper]: [f64; 2]) -> f64 {
    let excess = |tilt: f64| Motion { tilt, lower, upper }.is_at_most(place, spent) - chance;
    let (free, mut reach) = (place / spent, 4.0 / spent.sqrt());
    let (mut low, mut high) = (free - reach, free + reach);
    for _ in 0..60 {
        let is_low = excess(low) > 0.0;
        let is_high = excess(high) < 0.0;
        if is_low && is_high {
            break;
        }
        reach *= 2.0;
        low -= if is_low { 0.0 } else { reach };
        high += if is_high { 0.0 } else { reach };
    }
    let (mut at_low, mut at_high) = (excess(low), excess(high));
    for step in 0..200 {
        if high - low <= 1e-10 * reach {
            break;
        }
        let secant = low + (high - low) * at_low / (at_low - at_high);
        let tilt = if step % 3 < 2 && secant > low && secant < high { secant } else { f64::midpoint(low, high) };
        let found = excess(tilt);
        if found > 0.0 {
            (low, at_low) = (tilt, found);
        } else {
            (high, at_high) = (tilt, found);
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Model, estimate};

    fn sprt(model: Model, bounds: &str, error: f64) -> Sprt {
        Sprt { model, bounds: bounds.parse().unwrap(), alpha: error, beta: error }
    }

    fn unbiased(test: &Sprt, counts: Counts) -> Unbiased {
        test.unbiased(&counts).unwrap().unwrap()
    }

    /// Walls so far away that they stop nothing: the number of games might as well have been fixed.
    #[test]
    fn estimates_without_stopping_equal_those_of_the_counts() {
        for counts in [Counts::Pairs([30, 200, 520, 230, 41]), Counts::Games([100, 200, 150])] {
            for model in [Model::Normalized, Model::Logistic] {
                let found = unbiased(&sprt(model, "0,5", 1e-200), counts);
                let naive = estimate(&counts);
                let (nelo, error) = (naive.nelo.unwrap(), naive.nelo_error.unwrap());
                for (found, expected) in
                    [(found.nelo.low, nelo - error), (found.nelo.median, nelo), (found.nelo.high, nelo + error)]
                {
                    assert!((found - expected).abs() < 1e-6, "{model:?} {counts:?}: {found}, expected {expected}");
                }
                let elo = found.elo;
                assert!((elo.median - naive.elo.unwrap()).abs() < 1e-6);
                assert!(((elo.high - elo.low) / 2.0 - naive.elo_error.unwrap()).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn estimates_of_decided_tests_move_towards_the_middle_of_the_bounds() {
        for model in [Model::Normalized, Model::Logistic] {
            let test = sprt(model, "0,20", 0.05);
            for (counts, verdict) in [([10, 85, 160, 120, 25], Verdict::H1), ([20, 110, 260, 95, 15], Verdict::H0)] {
                let counts = Counts::Pairs(counts);
                assert_eq!(test.verdict(test.llr(&counts).unwrap()), verdict, "{model:?}");
                let (naive, found) = (estimate(&counts).nelo.unwrap(), unbiased(&test, counts).nelo);
                match verdict {
                    Verdict::H1 => assert!(found.median < naive && found.median > 0.0, "{found:?} {naive}"),
                    _ => assert!(found.median > naive, "{found:?} {naive}"),
                }
                assert!(found.low < found.median && found.median < found.high);
            }
        }
    }

    #[test]
    fn seen_from_the_other_side_it_is_the_opposite() {
        let one = unbiased(&sprt(Model::Normalized, "-3,8", 0.05), Counts::Pairs([10, 80, 200, 110, 20]));
        let other = unbiased(&sprt(Model::Normalized, "-8,3", 0.05), Counts::Pairs([20, 110, 200, 80, 10]));
        let sums =
            [one.nelo.low + other.nelo.high, one.nelo.median + other.nelo.median, one.nelo.high + other.nelo.low];
        assert!(sums.iter().all(|sum| sum.abs() < 1e-6), "{sums:?}");
    }

    /// A few pairs, most of them won twice: everything above a difference agrees with them.
    #[test]
    fn an_end_may_be_without_bounds() {
        let Unbiased { elo, nelo } = unbiased(&sprt(Model::Normalized, "0,5", 0.05), Counts::Pairs([0, 0, 1, 1, 3]));
        assert!(elo.low.is_finite() && elo.median.is_finite() && elo.high == f64::INFINITY, "{elo:?}");
        assert!(nelo.high.is_finite(), "{nelo:?}");
    }

    #[test]
    fn counts_that_tell_nothing_give_nothing() {
        let test = sprt(Model::Normalized, "0,5", 0.05);
        for counts in [[0; 5], [0, 0, 9, 0, 0], [0, 0, 0, 0, 9]] {
            assert_eq!(test.unbiased(&Counts::Pairs(counts)), Ok(None), "{counts:?}");
        }
        assert_eq!(sprt(Model::Bayesian, "0,5", 0.05).unbiased(&Counts::Pairs([1; 5])), Err(ModelError));
        assert!(sprt(Model::Bayesian, "0,5", 0.05).unbiased(&Counts::Games([9, 20, 9])).unwrap().is_some());
    }
}
