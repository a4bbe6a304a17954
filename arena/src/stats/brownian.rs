//! A Brownian motion between two walls, which approximates the log-likelihood ratio of a sequential test.
//!
//! Time is measured in variance: a motion with drift μ and variance σ² a step has spent σ² t after t steps, and its tilt is
//! μ / σ². Without tilt, a motion that is killed at its walls is a sum of free ones from mirror images of its start; at
//! long times a sum of sines that die away needs fewer terms. A tilt m multiplies the density at x after the time v by
//! exp(m x − m² v / 2). See <https://www.cantate.be/Fishtest/brownian_approximation.pdf>.

use std::f64::consts::PI;

use super::special::{ln_normal_below, normal_below};

/// Mirror images on either side of the start: the next ones are more than nine deviations away.
const IMAGES: std::ops::RangeInclusive<i32> = -3..=3;
/// Sines: the next one has died away to e⁻⁶¹.
const SINES: std::ops::RangeInclusive<i32> = 1..=4;

/// A motion that begins at 0 and ends at either wall.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion {
    /// Drift a unit of variance.
    pub(super) tilt: f64,
    /// The wall below, at most 0.
    pub(super) lower: f64,
    /// The wall above, at least 0.
    pub(super) upper: f64,
}

impl Motion {
    /// The chance to end at the upper wall, 0 to 1.
    pub(super) fn ends_above(&self) -> f64 {
        let Motion { tilt, lower, upper } = *self;
        let span = 2.0 * tilt * (upper - lower);
        if span == 0.0 {
            -lower / (upper - lower)
        } else if tilt > 0.0 {
            (2.0 * tilt * lower).exp_m1() / (-span).exp_m1()
        } else {
            // The same without what may be beyond all numbers.
            (2.0 * tilt * upper).exp() * (-2.0 * tilt * lower).exp_m1() / span.exp_m1()
        }
    }

    /// The variance spent until the end, on average.
    pub(super) fn lifetime(&self) -> f64 {
        let Motion { tilt, lower, upper } = *self;
        // Nearer to 0 the quotient below is lost in rounding.
        if (tilt * (upper - lower)).abs() < 1e-7 {
            return -lower * upper;
        }
        let above = self.ends_above();
        (upper * above + lower * (1.0 - above)) / tilt
    }

    /// The chance to have come no higher than to a `place` between the walls when so much variance is spent, 0 to 1.
    ///
    /// Ends at the lower wall are the lowest, the earlier the lower; then come places between the walls at this time;
    /// ends at the upper wall are the highest. It falls as the tilt grows.
    pub(super) fn is_at_most(&self, place: f64, spent: f64) -> f64 {
        (self.ends_below_by(spent) + self.is_between(place, spent)).clamp(0.0, 1.0)
    }

    /// The chance to have ended at the lower wall when so much variance is spent.
    fn ends_below_by(&self, spent: f64) -> f64 {
        if self.is_long(spent) { self.ends_below_by_sines(spent) } else { self.ends_below_by_images(spent) }
    }

    /// The chance to be below `place`, and to have touched no wall, when so much variance is spent.
    fn is_between(&self, place: f64, spent: f64) -> f64 {
        if self.is_long(spent) {
            self.is_between_by_sines(place, spent)
        } else {
            self.is_between_by_images(place, spent)
        }
    }

    fn width(&self) -> f64 {
        self.upper - self.lower
    }

    fn is_long(&self, spent: f64) -> bool {
        spent > self.width().powi(2) / 2.0
    }

    /// Each image is met at a first time of which the distribution is that of a free motion.
    fn ends_below_by_images(&self, spent: f64) -> f64 {
        let deviation = spent.sqrt();
        let tilt = self.tilt.abs();
        let met = |image: i32| {
            let distance = -self.lower + 2.0 * f64::from(image) * self.width();
            let [near, far] = [tilt, -tilt].map(|tilt| {
                let weight = self.tilt * self.lower - tilt * distance.abs();
                (weight + ln_normal_below((tilt * spent - distance.abs()) / deviation)).exp()
            });
            distance.signum() * (near + far)
        };
        IMAGES.map(met).sum()
    }

    fn is_between_by_images(&self, place: f64, spent: f64) -> f64 {
        let deviation = spent.sqrt();
        let from = |start: f64| {
            let [low, high] = [self.lower, place].map(|x| (x - start - self.tilt * spent) / deviation);
            weighted_between(self.tilt * start, low, high)
        };
        let image = |image: i32| {
            let shift = 2.0 * f64::from(image) * self.width();
            from(shift) - from(shift + 2.0 * self.lower)
        };
        IMAGES.map(image).sum()
    }

    fn ends_below_by_sines(&self, spent: f64) -> f64 {
        let Motion { tilt, lower, .. } = *self;
        let later: f64 = self
            .sines(spent)
            .map(|sine| sine.wave * sine.amplitude * (tilt * lower - sine.decay).exp() / sine.square)
            .sum();
        1.0 - self.ends_above() - 2.0 / self.width() * later
    }

    fn is_between_by_sines(&self, place: f64, spent: f64) -> f64 {
        let Motion { tilt, lower, .. } = *self;
        let part = |sine: Sine| {
            let (sin, cos) = (sine.wave * (place - lower)).sin_cos();
            let high = (tilt * place - sine.decay).exp() * (tilt * sin - sine.wave * cos);
            let low = (tilt * lower - sine.decay).exp() * sine.wave;
            sine.amplitude * (high + low) / sine.square
        };
        2.0 / self.width() * self.sines(spent).map(part).sum::<f64>()
    }

    fn sines(&self, spent: f64) -> impl Iterator<Item = Sine> {
        let Motion { tilt, lower, .. } = *self;
        let width = self.width();
        SINES.map(move |number| {
            let wave = f64::from(number) * PI / width;
            let square = wave * wave + tilt * tilt;
            Sine { wave, amplitude: (-wave * lower).sin(), square, decay: square * spent / 2.0 }
        })
    }
}

/// One of the waves that the density between two walls is made of.
struct Sine {
    wave: f64,
    /// Its value at the start.
    amplitude: f64,
    /// The squares of wave and tilt, added.
    square: f64,
    /// The logarithm of how much it has died away.
    decay: f64,
}

/// A weight, given by its logarithm, times the chance of a standard normal variable to be between `low` and `high`. The
/// weight may be beyond all numbers where the chance is next to nothing.
fn weighted_between(ln_weight: f64, low: f64, high: f64) -> f64 {
    if low < 0.0 && high > 0.0 {
        return ln_weight.exp() * (normal_below(high) - normal_below(low));
    }
    let (near, far) = if low >= 0.0 { (-low, -high) } else { (high, low) };
    (ln_weight + ln_normal_below(near)).exp() - (ln_weight + ln_normal_below(far)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motions() -> impl Iterator<Item = Motion> {
        [0.0, 1e-9, 0.3, -0.7, 4.0, -60.0].into_iter().flat_map(|tilt| {
            [(-2.9, 2.9), (-2.9, 0.01), (-0.5, 6.0)].map(|(lower, upper)| Motion { tilt, lower, upper })
        })
    }

    fn mirrored(motion: Motion) -> Motion {
        Motion { tilt: -motion.tilt, lower: -motion.upper, upper: -motion.lower }
    }

    #[test]
    fn it_is_somewhere_at_all_times() {
        for motion in motions() {
            for spent in [1e-6, 0.1, 1.0, 5.0, 12.0, 20.0, 30.0, 1e3, 1e9] {
                let between = motion.is_between(motion.upper, spent);
                let total = motion.ends_below_by(spent) + between + mirrored(motion).ends_below_by(spent);
                assert!((total - 1.0).abs() < 1e-9, "{motion:?} {spent}: {total}");
                assert!(between > -1e-12, "{motion:?} {spent}: {between}");
            }
            let end = motion.ends_below_by(1e6);
            assert!((end + motion.ends_above() - 1.0).abs() < 1e-9, "{motion:?}: {end}");
        }
    }

    #[test]
    fn images_and_sines_agree_where_both_hold() {
        for motion in motions() {
            for share in [0.4, 0.6, 1.0] {
                let spent = share * motion.width().powi(2);
                let ends = [motion.ends_below_by_images(spent), motion.ends_below_by_sines(spent)];
                assert!((ends[0] - ends[1]).abs() < 1e-8, "{motion:?} {share}: {ends:?}");
                for part in [0.1, 0.5, 0.9] {
                    let place = motion.lower + part * motion.width();
                    let between = [motion.is_between_by_images(place, spent), motion.is_between_by_sines(place, spent)];
                    assert!((between[0] - between[1]).abs() < 1e-8, "{motion:?} {share} {part}: {between:?}");
                }
            }
        }
    }

    /// Far from both walls it is a free motion; far from one, the other is met as often as twice a free one is beyond.
    #[test]
    fn walls_far_away_make_no_difference() {
        let far = Motion { tilt: 0.4, lower: -100.0, upper: 100.0 };
        assert!((far.is_at_most(1.0, 4.0) - normal_below((1.0 - 0.4 * 4.0) / 2.0)).abs() < 1e-12);
        let near = Motion { tilt: 0.0, lower: -1.5, upper: 100.0 };
        assert!((near.is_at_most(-1.5, 4.0) - 2.0 * normal_below(-0.75)).abs() < 1e-12);
    }

    #[test]
    fn the_mean_lifetime_is_that_of_the_times() {
        for motion in motions() {
            // ∫ P(not yet ended) dv, with v = u², since much may happen at once.
            let (steps, mut expected) = (4000, 0.0);
            let width = 2.0 * motion.width() / f64::from(steps);
            for step in 0..steps {
                let u = width * (f64::from(step) + 0.5);
                expected += 2.0 * u * width * motion.is_between(motion.upper, u * u);
            }
            let found = motion.lifetime();
            assert!((found / expected - 1.0).abs() < 1e-3, "{motion:?}: {found}, by times {expected}");
        }
    }
}
