//! The values under way: which are tried, and how far results move them. Nothing here plays.

use engine::random::Random;

use super::SpsaOption;

/// The share of a run, one of so many parts, in which drifts are not noted yet: a few pairs may go anywhere.
const EARLY: u32 = 25;

/// Drifts beyond this are more than chance: options that do nothing come as far in one run of fifty or less.
pub const TELLING: f64 = 3.5;

/// The decay of steps and rates over a run, to 1 at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// Pairs of the whole run.
    pub pairs: u32,
    /// Spall's α, the exponent of the rates.
    pub alpha: f64,
    /// Spall's γ, the exponent of the steps.
    pub gamma: f64,
    /// Spall's A, the constant that keeps the first rates small, as a share of all pairs.
    pub stability: f64,
}

impl Gains {
    /// Creates the gains that Spall advises for few trials.
    pub const fn new(pairs: u32) -> Self {
        Gains { pairs, alpha: 0.602, gamma: 0.101, stability: 0.1 }
    }

    /// Returns the factor by which pair `pair`, counted from 0, moves the values to either side farther than the last
    /// pair does.
    pub fn reach(self, pair: u32) -> f64 {
        (f64::from(self.pairs) / (f64::from(pair) + 1.0)).powf(self.gamma)
    }

    /// Returns the factor by which a point of pair `pair` moves the values more than a point at the end does.
    pub fn rate(self, pair: u32) -> f64 {
        let constant = self.stability * f64::from(self.pairs);
        ((constant + f64::from(self.pairs)) / (constant + f64::from(pair) + 1.0)).powf(self.alpha) / self.reach(pair)
    }

    /// The rate of an option at the end.
    fn rate_of(self, option: &SpsaOption) -> f64 {
        if option.rate > 0.0 { option.rate } else { self.usual_rate() }
    }

    /// The rate at the end for options that have none: so that over the whole run, an option whose step costs two Elo comes
    /// from wherever it stands to within a fraction of a step of its optimum. OpenBench's 0.002 is meant for 30,000 pairs.
    pub fn usual_rate(self) -> f64 {
        (60.0 / f64::from(self.pairs)).min(0.05)
    }
}

/// The values with which the two engines of a pair play.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// By option: whether the first engine has the larger value.
    signs: Vec<bool>,
    /// The values of either engine.
    pub values: [Vec<f64>; 2],
}

/// Options and their present values.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    options: Vec<SpsaOption>,
    gains: Gains,
    seed: u64,
    values: Vec<f64>,
    /// Their sums over the pairs of the second half.
    sums: Vec<f64>,
    /// The sum of the squares of all moves, for an option with a step and a rate of 1.
    squares: f64,
    drifts: Vec<f64>,
    /// Pairs whose results are known.
    done: u32,
}

impl Tuning {
    /// At the start.
    pub fn new(options: Vec<SpsaOption>, gains: Gains, seed: u64) -> Self {
        let values = options.iter().map(|option| option.start).collect();
        let [sums, drifts] = [0, 1].map(|_| vec![0.0; options.len()]);
        Tuning { options, gains, seed, values, sums, squares: 0.0, drifts, done: 0 }
    }

    /// The options.
    pub fn options(&self) -> &[SpsaOption] {
        &self.options
    }

    /// Their present values, not rounded.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the result: the mean of the values over the second half of the run, and the present values before that
    /// half. Chance scatters the mean less than the last values. See Polyak and Juditsky, Acceleration of Stochastic
    /// Approximation by Averaging (1992).
    pub fn found(&self) -> Vec<f64> {
        let summed = f64::from(self.done.saturating_sub(self.gains.pairs / 2));
        if summed == 0.0 { self.values.clone() } else { self.sums.iter().map(|sum| sum / summed).collect() }
    }

    /// By option: how far it has moved, in steps.
    pub fn steps(&self) -> Vec<f64> {
        let found = self.found();
        self.options.iter().zip(&found).map(|(option, value)| (value - option.start) / option.step).collect()
    }

    /// By option: the farthest that it has been from its start, in standard deviations of where results by chance alone would
    /// have moved it until then. [`TELLING`] of them are more than chance.
    pub fn drifts(&self) -> &[f64] {
        &self.drifts
    }

    /// Returns the number of pairs that have moved the values.
    pub fn done(&self) -> u32 {
        self.done
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The gains.
    pub fn gains(&self) -> Gains {
        self.gains
    }

    /// Returns the trial of pair `pair` from the present values.
    pub fn trial(&self, pair: u32) -> Trial {
        let first = Random::seeded(self.seed).below(u64::MAX);
        let mut random = Random::seeded(first.wrapping_add(u64::from(pair)));
        let reach = self.gains.reach(pair);
        let signs: Vec<bool> = self.options.iter().map(|_| random.below(2) == 1).collect();
        let mut side = |is_second: bool| -> Vec<f64> {
            let moved = |((option, &value), &sign): ((&SpsaOption, &f64), &bool)| {
                let by = if sign == is_second { -reach * option.step } else { reach * option.step };
                let value = (value + by).clamp(option.min, option.max);
                if option.is_whole { rounded(value, &mut random).min(option.max) } else { value }
            };
            self.options.iter().zip(&self.values).zip(&signs).map(moved).collect()
        };
        let values = [side(false), side(true)];
        Trial { signs, values }
    }

    fn note_drifts(&mut self) {
        for ((option, value), farthest) in self.options.iter().zip(&self.values).zip(&mut self.drifts) {
            let chance = self.gains.rate_of(option) * option.step * self.squares.sqrt();
            let drift = if chance > 0.0 { (value - option.start) / chance } else { 0.0 };
            if drift.abs() > farthest.abs() {
                *farthest = drift;
            }
        }
    }

    /// Moves the values by what the next pairs came to: trials and, of each, the points that its first engine won more than
    /// the second, −2 to 2. Pairs of a batch are tried from the same values.
    pub fn learn(&mut self, results: &[(Trial, i32)]) {
        for (trial, points) in results {
            let rate = self.gains.rate(self.done) * f64::from(*points);
            for ((value, option), sign) in self.values.iter_mut().zip(&self.options).zip(&trial.signs) {
                let by = rate * self.gains.rate_of(option) * option.step;
                *value = (*value + if *sign { by } else { -by }).clamp(option.min, option.max);
            }
            self.squares += rate * rate;
            self.done += 1;
            if self.done > self.gains.pairs / 2 {
                self.sums.iter_mut().zip(&self.values).for_each(|(sum, value)| *sum += value);
            }
            if self.done > self.gains.pairs / EARLY {
                self.note_drifts();
            }
        }
    }
}

/// One of the two whole numbers beside a value, the nearer one the more often, so that its mean is the value.
fn rounded(value: f64, random: &mut Random) -> f64 {
    value.floor() + f64::from(u8::from(random.unit() < value.fract().rem_euclid(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(name: &str, start: f64, step: f64) -> SpsaOption {
        SpsaOption { name: name.to_owned(), is_whole: true, start, min: 0.0, max: 200.0, step, rate: 0.0 }
    }

    #[test]
    fn gains_fall_to_one() {
        let gains = Gains::new(1000);
        assert!((gains.reach(999) - 1.0).abs() < 1e-12 && (gains.rate(999) - 1.0).abs() < 1e-12);
        assert!((gains.reach(0) - 1000_f64.powf(0.101)).abs() < 1e-12);
        // a₁ / a_N = (1.1 / 0.101)^0.602, over c₁ / c_N.
        assert!((gains.rate(0) - (1.1_f64 / 0.101).powf(0.602) / 1000_f64.powf(0.101)).abs() < 1e-9);
        assert!((1..1000).all(|pair| gains.reach(pair) <= gains.reach(pair - 1)));
        let flat = Gains { alpha: 1.0, gamma: 0.0, stability: 0.0, ..gains };
        assert_eq!((flat.reach(0), flat.rate(0), flat.rate(499)), (1.0, 1000.0, 2.0));
    }

    #[test]
    fn both_sides_lie_a_step_from_the_value_on_the_mean() {
        let options = vec![option("a", 100.0, 3.3), option("b", 100.0, 20.0)];
        let tuning = Tuning::new(options, Gains::new(4000), 3);
        let (mut sums, mut same) = ([0.0; 2], 0);
        for pair in 2000..4000 {
            let trial = tuning.trial(pair);
            assert_eq!(trial, tuning.trial(pair));
            for (number, sum) in sums.iter_mut().enumerate() {
                let [first, second] = [0, 1].map(|side: usize| trial.values[side][number]);
                assert!(first.fract() == 0.0 && second.fract() == 0.0);
                *sum += (first - second) * if trial.signs[number] { 0.5 } else { -0.5 } / tuning.gains.reach(pair);
            }
            same += u32::from(trial.signs[0] == trial.signs[1]);
        }
        assert!((sums[0] / 2000.0 - 3.3).abs() < 0.05 && (sums[1] / 2000.0 - 20.0).abs() < 0.05, "{sums:?}");
        assert!((900..1100).contains(&same));
    }

    #[test]
    fn values_move_to_the_side_that_won_and_stay_in_bounds() {
        let mut tuning = Tuning::new(vec![option("a", 199.0, 20.0), option("b", 100.0, 20.0)], Gains::new(50), 1);
        for pair in 0..50 {
            let trial = tuning.trial(pair);
            let points = if trial.values[0][0] > trial.values[1][0] { 2 } else { -2 };
            tuning.learn(&[(trial, points)]);
            assert!(tuning.values().iter().all(|value| (0.0..=200.0).contains(value)));
        }
        assert_eq!((tuning.values()[0], tuning.done()), (200.0, 50));
        assert!(tuning.found()[0] > 199.0 && tuning.found()[0] < 200.0 + 1e-9);
        let mut still = Tuning::new(vec![option("a", 100.0, 20.0)], Gains::new(2), 1);
        still.learn(&[(still.trial(0), 0), (still.trial(1), 0)]);
        assert_eq!(still.values(), [100.0]);
    }

    #[test]
    fn drifts_tell_what_is_more_than_chance() {
        let options = vec![option("a", 100.0, 1.0), option("b", 100.0, 1.0)];
        let mut random = Random::seeded(5);
        let mut telling = [0; 2];
        for seed in 0..400 {
            let mut tuning = Tuning::new(options.clone(), Gains::new(400), seed);
            assert_eq!(tuning.drifts(), [0.0, 0.0]);
            for pair in 0..400 {
                let trial = tuning.trial(pair);
                // The first option decides one pair of four, the second nothing.
                let decided = if trial.values[0][0] > trial.values[1][0] { 2 } else { -2 };
                let points = if random.below(4) == 0 { decided } else { random.below(5) as i32 - 2 };
                tuning.learn(&[(trial, points)]);
            }
            tuning
                .drifts()
                .iter()
                .zip(&mut telling)
                .for_each(|(drift, count)| *count += u32::from(drift.abs() > TELLING));
        }
        assert!(telling[0] > 360 && telling[1] <= 8, "{telling:?}");
    }
}
