//! Elo and its error bars.

use super::Counts;
use super::counts::mean_and_variance;
use super::special::normal_below;

/// The 97.5 % quantile of the normal distribution: 95 % lie within so many standard errors.
pub(super) const Z95: f64 = 1.959_963_984_540_054;
/// Normalized Elo of one standard deviation of a game's result.
pub(super) const NELO_PER_SIGMA: f64 = 800.0 / std::f64::consts::LN_10;

/// An estimate of the difference of two strengths, from the first side's view; `None` where the counts do not determine a value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Mean score, 0 to 1.
    pub score: Option<f64>,
    /// Elo; not there if one side won everything.
    pub elo: Option<f64>,
    /// Half the width of the 95 % interval; not there without a spread.
    pub elo_error: Option<f64>,
    /// Elo in units of the spread of results; not there without a spread.
    pub nelo: Option<f64>,
    /// Half the width of its 95 % interval.
    pub nelo_error: Option<f64>,
    /// Likelihood of superiority, 0 to 1; not there without a spread, from which alone it is known.
    pub los: Option<f64>,
}

/// Elo difference at an expected score; infinite at 0 and 1.
pub(super) fn elo_of(score: f64) -> f64 {
    // The sum turns −0 into 0.
    -400.0 * (1.0 / score - 1.0).log10() + 0.0
}

/// The estimate from the counts alone, whatever rule ended the match.
pub fn estimate(counts: &Counts) -> Estimate {
    let total = counts.total() as f64;
    if total == 0.0 {
        return Estimate::default();
    }
    let (mean, variance) = mean_and_variance(&counts.frequencies(0.0));
    let error = (variance / total).sqrt();
    let [low, high] = [mean - Z95 * error, mean + Z95 * error].map(|score| elo_of(score.clamp(0.0, 1.0)));
    let finite = |value: f64| Some(value).filter(|value| value.is_finite());
    let sigma = (variance * counts.games_each() as f64).sqrt();
    let games = total * counts.games_each() as f64;
    let has_spread = sigma > 0.0;
    Estimate {
        score: Some(mean),
        elo: finite(elo_of(mean)),
        elo_error: finite((high - low) / 2.0).filter(|_| has_spread),
        nelo: has_spread.then(|| NELO_PER_SIGMA * (mean - 0.5) / sigma),
        nelo_error: has_spread.then(|| Z95 * NELO_PER_SIGMA / games.sqrt()),
        los: has_spread.then(|| normal_below((mean - 0.5) / error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: Option<f64>, expected: f64) {
        assert!(found.is_some_and(|found| (found - expected).abs() < 1e-6), "{found:?}, expected {expected}");
    }

    /// Expected values as two widely used match servers and runners print them.
    #[test]
    fn pairs_and_games_are_judged_as_in_the_field() {
        let pairs = estimate(&Counts::Pairs([39, 8843, 26675, 9240, 44]));
        close(pairs.elo, 1.576_763);
        close(pairs.elo_error, 1.030_314);
        close(pairs.nelo, 3.479_956);
        close(pairs.nelo_error, 2.273_892);
        close(pairs.los, 0.998_648_4);
        let games = estimate(&Counts::Games([100, 200, 150]));
        close(games.elo, 38.764_005);
        close(games.elo_error, 23.994_422);
        close(games.nelo, 52.377_885);
        close(games.nelo_error, 32.100_82);
    }

    #[test]
    fn undetermined_estimates_are_none() {
        assert_eq!(estimate(&Counts::Games([0; 3])), Estimate::default());
        let won = estimate(&Counts::Pairs([0, 0, 0, 0, 10]));
        assert_eq!((won.elo, won.elo_error, won.nelo, won.los), (None, None, None, None));
        let level = estimate(&Counts::Pairs([0, 0, 20, 0, 0]));
        assert_eq!((level.elo, level.elo_error, level.nelo, level.los), (Some(0.0), None, None, None));
        let single = estimate(&Counts::Pairs([0, 1, 0, 0, 0]));
        assert!(single.elo.is_some_and(|elo| (elo + 190.848).abs() < 1e-3));
        assert_eq!((single.elo_error, single.nelo, single.nelo_error, single.los), (None, None, None, None));
    }
}
