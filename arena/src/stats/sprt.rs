//! The sequential probability ratio test of two hypotheses about Elo, for counts of pairs or of games.
//! See <https://www.cantate.be/Fishtest/GSPRT_approximation.pdf>.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::Counts;
use super::brownian::Motion;
use super::counts::mean_and_variance;
use super::elo::NELO_PER_SIGMA;
use super::likelihood::{likeliest, log_likelihood};
use super::normalized::best_log_likelihood;

/// Results that never occurred count this much: without, a likelihood ratio may be infinite.
const FLOOR: f64 = 1e-3;
/// The largest bound, in Elo.
pub const FURTHEST: f64 = 3000.0;

/// The unit of the bounds of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Elo in units of the spread of results: tests take as long whatever the draws.
    Normalized,
    /// Elo of the mean score.
    Logistic,
    /// Elo of a model in which draws have their own parameter, taken from the sample. For games only.
    Bayesian,
}

/// The hypotheses of a test, in Elo of its model: H0, at most `elo0`, and H1, at least `elo1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    elo0: f64,
    elo1: f64,
}

/// Why a text is no pair of bounds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected ELO0,ELO1 with −{FURTHEST} ≤ ELO0 < ELO1 ≤ {FURTHEST}, found `{0}`")]
pub struct BoundsError(String);

/// A model that does not apply to such counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the Bayesian model judges games, not pairs")]
pub struct ModelError;

impl Model {
    /// Every model.
    pub const ALL: [Self; 3] = [Model::Normalized, Model::Logistic, Model::Bayesian];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Model::Normalized => "normalized",
            Model::Logistic => "logistic",
            Model::Bayesian => "bayesian",
        }
    }
}

impl FromStr for Bounds {
    type Err = BoundsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|elo| elo.abs() <= FURTHEST);
        let parse = || {
            let (elo0, elo1) = text.split_once(',')?;
            Some(Bounds { elo0: number(elo0)?, elo1: number(elo1)? }).filter(|bounds| bounds.elo0 < bounds.elo1)
        };
        parse().ok_or_else(|| BoundsError(text.to_owned()))
    }
}

impl Bounds {
    /// Both, the lower one first.
    pub fn as_array(self) -> [f64; 2] {
        [self.elo0, self.elo1]
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.elo0, self.elo1)
    }
}

/// A sequential test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    /// The unit of the bounds.
    pub model: Model,
    /// The hypotheses.
    pub bounds: Bounds,
    /// The chance to accept H1 where H0 holds, type I error, between 0 and ½.
    pub alpha: f64,
    /// The chance to accept H0 where H1 holds, type II error, between 0 and ½.
    pub beta: f64,
}

/// The decision of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// At least `elo1`.
    H1,
    /// At most `elo0`.
    H0,
    /// Neither yet.
    Undecided,
}

/// The expected course of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prospect {
    /// The chance that H1 is accepted.
    pub pass: f64,
    /// Games until the end, on average.
    pub games: f64,
}

impl Sprt {
    /// The log-likelihood ratios at which H0 and H1 are accepted.
    pub fn limits(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// The log-likelihood ratio of H1 to H0; finite for all counts.
    ///
    /// # Errors
    /// If the model does not apply to such counts.
    pub fn llr(&self, counts: &Counts) -> Result<f64, ModelError> {
        if self.model == Model::Bayesian && matches!(counts, Counts::Pairs(_)) {
            return Err(ModelError);
        }
        if counts.total() == 0 {
            return Ok(0.0);
        }
        let frequencies = counts.frequencies(FLOOR);
        let total: f64 = counts.as_slice().iter().map(|&count| (count as f64).max(FLOOR)).sum();
        let Bounds { elo0, elo1 } = self.bounds;
        let [null, alternative] = [elo0, elo1].map(|elo| match self.model {
            Model::Normalized => {
                // A pair's deviation is that of a game divided by √2.
                let t = elo / NELO_PER_SIGMA * (counts.games_each() as f64).sqrt();
                best_log_likelihood(&frequencies, t)
            }
            Model::Logistic => with_mean(&frequencies, score_of(elo)),
            Model::Bayesian => with_mean(&frequencies, bayesian_score(&frequencies, elo)),
        });
        Ok(total * (alternative - null))
    }

    /// The decision at a log-likelihood ratio.
    pub fn verdict(&self, llr: f64) -> Verdict {
        let (lower, upper) = self.limits();
        if llr >= upper {
            Verdict::H1
        } else if llr <= lower {
            Verdict::H0
        } else {
            Verdict::Undecided
        }
    }

    /// The expectation from a log-likelihood ratio between the limits if the true difference is `nelo`,
    /// normalized, and the bounds are too.
    // Per pair of games, whose deviation is that of a game divided by √2.
    pub fn prospect(&self, llr: f64, nelo: f64) -> Prospect {
        let Bounds { elo0, elo1 } = self.bounds;
        let [t, t0, t1] = [nelo, elo0, elo1].map(|elo| elo / NELO_PER_SIGMA * 2_f64.sqrt());
        self.prospect_at(llr, t, [t0, t1], 2.0)
    }

    /// The expectation if the rest of the test resembles these counts; `None` without any.
    ///
    /// # Errors
    /// If the model does not apply to such counts.
    pub fn outlook(&self, counts: &Counts) -> Result<Option<Prospect>, ModelError> {
        let llr = self.llr(counts)?;
        let prospect = || {
            let [t0, t1] = self.deviations(counts);
            // The mean growth of the ratio per result. Lopsided results let it grow much less than their mean promises.
            let drift = llr / counts.total() as f64;
            self.prospect_at(llr, f64::midpoint(t0, t1) + drift / (t1 - t0), [t0, t1], counts.games_each() as f64)
        };
        Ok((counts.total() > 0).then(prospect))
    }

    /// The log-likelihood ratio as a Brownian motion: with a mean of the results `t` deviations above ½, and bounds at
    /// `t0` and `t1`, its drift at every result is (t1 − t0) (t − (t0 + t1) / 2), its variance (t1 − t0)².
    fn prospect_at(&self, llr: f64, t: f64, [t0, t1]: [f64; 2], games_each: f64) -> Prospect {
        let (lower, upper) = self.limits();
        let motion = Motion {
            tilt: (t - f64::midpoint(t0, t1)) / (t1 - t0),
            lower: (lower - llr).min(0.0),
            upper: (upper - llr).max(0.0),
        };
        let games = games_each * motion.lifetime() / (t1 - t0).powi(2);
        // The sums turn −0, at a limit, into 0.
        Prospect { pass: motion.ends_above() + 0.0, games: games + 0.0 }
    }

    /// Returns the distances of the bounds above ½, in standard deviations of a result. The spread is that of these
    /// counts.
    pub(super) fn deviations(&self, counts: &Counts) -> [f64; 2] {
        let frequencies = counts.frequencies(FLOOR);
        let sigma = mean_and_variance(&frequencies).1.sqrt();
        self.bounds.as_array().map(|elo| match self.model {
            // A pair's deviation is that of a game divided by √2.
            Model::Normalized => elo / NELO_PER_SIGMA * (counts.games_each() as f64).sqrt(),
            Model::Logistic => (score_of(elo) - 0.5) / sigma,
            Model::Bayesian => (bayesian_score(&frequencies, elo) - 0.5) / sigma,
        })
    }
}

/// The best log-likelihood, for a single result, with a mean.
fn with_mean(frequencies: &[(f64, f64)], mean: f64) -> f64 {
    likeliest(frequencies, |value| value - mean).map_or(f64::MIN, |p| log_likelihood(frequencies, &p))
}

/// Expected score at an Elo difference.
fn score_of(elo: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf(-elo / 400.0))
}

/// Expected score at a BayesElo difference, with the draws of the sample.
fn bayesian_score(frequencies: &[(f64, f64)], elo: f64) -> f64 {
    let (losses, wins) = (frequencies[0].1, frequencies[frequencies.len() - 1].1);
    let draw_elo = 200.0 * ((1.0 - losses) / losses * (1.0 - wins) / wins).log10();
    let [win, loss] = [elo, -elo].map(|elo| score_of(elo - draw_elo));
    f64::midpoint(1.0, win - loss)
}

#[cfg(test)]
mod tests {
    use engine::random::Random;

    use super::*;
    use crate::stats::Interval;

    fn sprt(model: Model, bounds: &str) -> Sprt {
        Sprt { model, bounds: bounds.parse().unwrap(), alpha: 0.05, beta: 0.05 }
    }

    fn llr(model: Model, bounds: &str, counts: Counts) -> f64 {
        sprt(model, bounds).llr(&counts).unwrap()
    }

    /// Expected values from the code of two match servers, which agree.
    #[test]
    fn ratios_are_those_of_the_field() {
        use Model::{Bayesian, Logistic, Normalized};
        for (model, bounds, counts, expected) in [
            (Normalized, "0.5,2.5", Counts::Pairs([39, 8843, 26675, 9240, 44]), 2.941_675),
            (Normalized, "-5,0", Counts::Pairs([10, 40, 60, 30, 5]), -0.400_752),
            (Normalized, "0,5", Counts::Pairs([0, 0, 0, 0, 10]), 0.201_447),
            (Normalized, "0.5,2.5", Counts::Games([22976, 44137, 22569]), -5.516_39),
            (Normalized, "0,5", Counts::Games([0, 20, 10]), 0.246_645),
            (Logistic, "0.2,0.9", Counts::Pairs([39, 2226, 31451, 2412, 40]), 2.162_543),
            (Logistic, "0,5", Counts::Pairs([0, 0, 20, 0, 0]), -0.283_681),
            (Logistic, "0,5", Counts::Games([100, 200, 150]), 1.212_646),
            (Bayesian, "0,6", Counts::Games([591, 2163, 716]), 2.986_174),
            (Bayesian, "0,5", Counts::Games([0, 20, 10]), 0.006_992),
        ] {
            let found = llr(model, bounds, counts);
            assert!((found - expected).abs() < 1e-6, "{model:?} {bounds} {counts:?}: {found}, expected {expected}");
        }
    }

    /// Expected values by direct optimisation under the condition; others give no number here.
    #[test]
    fn lopsided_counts_have_exact_ratios_too() {
        for (bounds, counts, expected) in [
            ("-1500,-500", [144, 3, 1, 0, 0], -6.721_26),
            ("-1500,-500", [20, 0, 0, 0, 0], -0.918_143),
            ("500,1500", [0, 0, 0, 0, 20], 0.918_143),
            ("400,500", [5, 10, 20, 10, 5], -14.601_331),
            ("100,200", [5, 10, 20, 10, 5], -11.013_503),
        ] {
            let found = llr(Model::Normalized, bounds, Counts::Pairs(counts));
            assert!((found - expected).abs() < 1e-5, "{bounds} {counts:?}: {found}, expected {expected}");
        }
    }

    #[test]
    fn every_count_has_a_finite_ratio() {
        let amounts = [0, 1, 50, 100_000];
        for code in 0..4_usize.pow(5) {
            let counts = [0, 1, 2, 3, 4].map(|digit| amounts[code / 4_usize.pow(digit) % 4]);
            for (model, bounds) in
                [(Model::Normalized, "0,5"), (Model::Normalized, "-900,3000"), (Model::Logistic, "0,3000")]
            {
                let found = llr(model, bounds, Counts::Pairs(counts));
                assert!(found.is_finite(), "{model:?} {bounds} {counts:?}: {found}");
            }
        }
    }

    #[test]
    fn limits_decide() {
        let test = sprt(Model::Normalized, "0,5");
        let (lower, upper) = test.limits();
        assert!((lower + 2.944_439).abs() < 1e-6 && (upper - 2.944_439).abs() < 1e-6);
        let verdicts = [lower, 0.0, upper].map(|llr| test.verdict(llr));
        assert_eq!(verdicts, [Verdict::H0, Verdict::Undecided, Verdict::H1]);
        assert_eq!(test.llr(&Counts::Pairs([0; 5])), Ok(0.0));
        assert_eq!(sprt(Model::Bayesian, "0,5").llr(&Counts::Pairs([1; 5])), Err(ModelError));
    }

    #[test]
    fn bounds_are_read_strictly() {
        for bad in ["", "5", "5,0", "0,0", "0,5,9", "a,5", "0,inf", "nan,5", "0,4000"] {
            let message = bad.parse::<Bounds>().unwrap_err().to_string();
            assert!(message.ends_with(&format!("found `{bad}`")), "{message}");
        }
        assert_eq!("-1.75, 0.25".parse::<Bounds>().unwrap().to_string(), "[-1.75, 0.25]");
    }

    /// Expected values: games that tests with these bounds take, as a match server's calculator has them.
    #[test]
    fn prospects_are_those_of_a_brownian_motion() {
        for (bounds, nelo, pass, games) in [
            ("0,3", 0.0, 0.05, 71_086.0),
            ("0,3", 1.500_000_01, 0.5, 116_282.0),
            ("0,3", 1.5, 0.5, 116_282.0),
            ("0,3", 3.0, 0.95, 71_086.0),
            ("0,3", 6.0, 0.9999, 26_320.0),
            ("0,5", 2.5, 0.5, 41_861.0),
            ("0,10", 10.0, 0.95, 6_398.0),
            ("0.5,2.5", 1.5, 0.5, 261_634.0),
        ] {
            let found = sprt(Model::Normalized, bounds).prospect(0.0, nelo);
            assert!((found.pass - pass).abs() < 1e-4, "{bounds} {nelo}: {found:?}");
            assert!((found.games / games - 1.0).abs() < 1e-4, "{bounds} {nelo}: {found:?}");
        }
    }

    /// Ten pairs of two wins each, and as many more as it takes.
    #[test]
    fn an_outlook_holds_if_one_side_wins_every_game() {
        for bounds in ["0,5", "0,20"] {
            let test = sprt(Model::Normalized, bounds);
            let won = |pairs| Counts::Pairs([0, 0, 0, 0, pairs]);
            let end = (10..).find(|&pairs| test.llr(&won(pairs)).unwrap() >= test.limits().1).expect("an end");
            let left = (2 * (end - 10)) as f64;
            let found = test.outlook(&won(10)).unwrap().expect("an outlook").games;
            assert!((found / left - 1.0).abs() < 0.1, "{bounds}: {found} games, {left} in truth");
        }
    }

    /// Lopsided, huge and tiny counts with any bounds: a number, and soon.
    #[test]
    fn every_count_has_an_outlook() {
        let mut random = Random::seeded(1);
        let mut elo = |least: f64| least + (FURTHEST - least) * random.below(1 << 20) as f64 / f64::from(1 << 20);
        let tests: Vec<Sprt> = (0..60)
            .map(|index| {
                let elo0 = elo(-FURTHEST);
                let bounds = Bounds { elo0, elo1: elo(elo0 + 1e-3) };
                let error = [0.05, 1e-9, 0.499][index % 3];
                let model = [Model::Normalized, Model::Logistic, Model::Bayesian][index / 3 % 3];
                Sprt { model, bounds, alpha: error, beta: [0.05, error][index % 2] }
            })
            .chain([sprt(Model::Normalized, "0,5"), sprt(Model::Logistic, "0,5")])
            .collect();
        for test in tests {
            for _ in 0..12 {
                let mut count = || {
                    let largest = 1 << random.below(24);
                    random.below(largest) * u64::from(random.below(3) > 0)
                };
                let games = Counts::Games([count(), count(), count()]);
                let pairs = Counts::Pairs([count(), count(), count(), count(), count()]);
                let all = [Some(games), Some(pairs).filter(|_| test.model != Model::Bayesian)];
                for counts in all.into_iter().flatten().filter(|counts| counts.total() > 0) {
                    let found = test.outlook(&counts).unwrap().unwrap();
                    assert!((0.0..=1.0).contains(&found.pass), "{test:?} {counts:?}: {found:?}");
                    assert!(found.games.is_finite() && found.games >= 0.0, "{test:?} {counts:?}: {found:?}");
                    assert!(found.pass.is_sign_positive() && found.games.is_sign_positive(), "{test:?} {counts:?}");
                    for value in test.unbiased(&counts).unwrap().iter().flat_map(|unbiased| {
                        let Interval { low, median, high } = unbiased.nelo;
                        [low, median - low, high - median]
                    }) {
                        assert!(value.is_finite(), "{test:?} {counts:?}: {value}");
                    }
                }
            }
        }
        assert_eq!(sprt(Model::Logistic, "0,5").outlook(&Counts::Pairs([0; 5])), Ok(None));
    }
}
