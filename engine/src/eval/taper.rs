//! The taper of play: how a midgame and an endgame score become one number, in integers.
//!
//! Every piece except the king carries a *phase weight*. The phase of a position is the sum of the weights on the board,
//! both colours together, and
//!
//! ```text
//! f = min(1, phase / full phase)        q = f · mg + (1 − f) · eg
//! ```
//!
//! where the full phase is that of the starting position. Only the ratios of the weights matter. If all of them are 0,
//! every position is a midgame (`f = 1`).

/// Binary digits of the fixed-point midgame fraction.
const FRACTION_BITS: u32 = 24;

/// Further digits of the reciprocal, lost again when it has been multiplied by a phase.
const GUARD_BITS: u32 = 24;

/// The phase of the starting position, and its reciprocal: no division is left for when a position is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FullPhase {
    phase: i32,
    /// 2^48 / `phase`, rounded up; 0 if there is no phase.
    reciprocal: u64,
}

impl FullPhase {
    /// Prepares for this phase of the starting position; below 0 it is taken for 0.
    pub const fn new(phase: i32) -> Self {
        if phase <= 0 {
            // Every phase is then as full as it can be.
            return Self { phase: 0, reciprocal: 0 };
        }
        let reciprocal = (1_u64 << (FRACTION_BITS + GUARD_BITS)).div_ceil(phase as u64);
        Self { phase, reciprocal }
    }

    /// The phase of the starting position.
    pub const fn phase(self) -> i32 {
        self.phase
    }

    /// Interpolates between the midgame score `mg` and the endgame score `eg`, in their unit and point of view.
    ///
    /// Rounds to the nearest integer, halves away from zero, so `taper(p, -mg, -eg) == -taper(p, mg, eg)`, and
    /// `taper(p, x, x) == x`.
    #[inline]
    pub fn taper(self, phase: i32, mg: i32, eg: i32) -> i32 {
        const HALF: i64 = 1 << (FRACTION_BITS - 1);
        let fraction = self.fixed_fraction(phase);
        let value = (i64::from(eg) << FRACTION_BITS) + (i64::from(mg) - i64::from(eg)) * fraction;
        // The arithmetic shift rounds down; one less for negative values sends their halves away from zero.
        ((value + HALF + (value >> 63)) >> FRACTION_BITS) as i32
    }

    /// Midgame fraction in units of 2^−24.
    #[inline]
    fn fixed_fraction(self, phase: i32) -> i64 {
        if phase >= self.phase {
            return 1 << FRACTION_BITS;
        }
        ((phase.max(0) as u64 * self.reciprocal) >> GUARD_BITS) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: i32 = 16 * 3 + 4 * (10 + 12 + 21) + 2 * 40;

    #[test]
    fn rounds_to_the_nearest_and_keeps_the_sign() {
        for full in [FULL, 24, 1, 30_000, 3_000_000] {
            let taper = FullPhase::new(full);
            for phase in (0..=full + full / 3).step_by((full / 97).max(1) as usize) {
                for (mg, eg) in [(100, -300), (-7, 8), (1, 0), (30_000, -30_000)] {
                    let f = (f64::from(phase) / f64::from(full)).min(1.0);
                    let exact = f * f64::from(mg) + (1.0 - f) * f64::from(eg);
                    let blended = taper.taper(phase, mg, eg);
                    assert!((f64::from(blended) - exact).abs() <= 0.504, "{phase} of {full}: {blended} for {exact}");
                    assert_eq!(taper.taper(phase, -mg, -eg), -blended);
                }
            }
        }
    }

    #[test]
    fn blending_keeps_equal_scores_and_survives_extremes() {
        let taper = FullPhase::new(FULL);
        for phase in 0..=FULL + 9 {
            for score in [0, 1, -1, 77, i32::MAX, i32::MIN] {
                assert_eq!(taper.taper(phase, score, score), score);
            }
        }
        assert_eq!(taper.taper(FULL, i32::MAX, i32::MIN), i32::MAX);
        assert_eq!(taper.taper(0, i32::MAX, i32::MIN), i32::MIN);
    }

    #[test]
    fn beyond_its_ends_a_phase_counts_as_the_end() {
        let taper = FullPhase::new(FULL);
        assert_eq!((taper.taper(FULL, 100, 0), taper.taper(FULL + 120, 100, 0)), (100, 100));
        assert_eq!((taper.taper(-1, 100, 7), taper.taper(i32::MIN, 100, 7)), (7, 7));
    }

    #[test]
    fn without_weights_everything_is_a_midgame() {
        for full in [0, -5] {
            let taper = FullPhase::new(full);
            assert_eq!((taper.phase(), taper.taper(0, 100, 0), taper.taper(9, 100, 0)), (0, 100, 100));
        }
    }
}
