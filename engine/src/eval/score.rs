//! The pair of scores every term of the evaluation yields.
//!
//! A term is worth one thing while the board is full and another in the endgame. [`Score`] holds both in one integer,
//! so that the sums of an evaluation cost one addition each; the taper reads the two halves at the end.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A midgame and an endgame score, in centipawns, packed into one integer.
///
/// The endgame half stands in the upper 32 bits, the midgame half is *added* below it, so adding, subtracting and
/// scaling the packed integer does the same to both halves. Every operation is exact as long as both halves of its
/// result stay within ±2³⁰. Halves of 16 bits would do for sane weights, but a tune that runs away may hold values
/// whose sums leave 16 bits, and then one half would silently leak into the other.
///
/// ```
/// use engine::eval::score::Score;
///
/// let bonus = Score::new(10, -3) * 4 - Score::new(1, 1);
/// assert_eq!((bonus.mg(), bonus.eg()), (39, -13));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Score(i64);

impl Score {
    /// Nothing in either half.
    pub const ZERO: Self = Self::new(0, 0);

    /// The pair of these two halves, each within ±2³⁰.
    pub const fn new(mg: i32, eg: i32) -> Self {
        Self(((eg as i64) << 32) + mg as i64)
    }

    /// The midgame half.
    pub const fn mg(self) -> i32 {
        self.0 as i32
    }

    /// The endgame half.
    pub const fn eg(self) -> i32 {
        // A negative midgame half has borrowed one from the half above; half a unit added gives it back.
        ((self.0 + (1 << 31)) >> 32) as i32
    }
}

impl fmt::Debug for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Score({}, {})", self.mg(), self.eg())
    }
}

impl Add for Score {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Score {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Neg for Score {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Mul<i32> for Score {
    type Output = Self;

    fn mul(self, factor: i32) -> Self {
        Self(self.0 * i64::from(factor))
    }
}

impl AddAssign for Score {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Score {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for Score {
    fn sum<I: Iterator<Item = Self>>(scores: I) -> Self {
        scores.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMIT: i32 = (1 << 30) - 1;

    fn halves(score: Score) -> (i32, i32) {
        (score.mg(), score.eg())
    }

    #[test]
    fn extremes_survive_packing() {
        for mg in [-LIMIT, -1, 0, 1, LIMIT] {
            for eg in [-LIMIT, -1, 0, 1, LIMIT] {
                assert_eq!(halves(Score::new(mg, eg)), (mg, eg));
            }
        }
    }

    #[test]
    fn sum_of_nothing_is_zero() {
        assert_eq!(std::iter::empty().sum::<Score>(), Score::ZERO);
        assert_eq!(Score::ZERO, Score::default());
    }

    #[test]
    fn debug_shows_both_halves() {
        assert_eq!(format!("{:?}", Score::new(-7, 12)), "Score(-7, 12)");
    }

    proptest! {
        #[test]
        fn arithmetic_acts_on_each_half(
            a in -LIMIT / 2..=LIMIT / 2, b in -LIMIT / 2..=LIMIT / 2,
            c in -LIMIT / 2..=LIMIT / 2, d in -LIMIT / 2..=LIMIT / 2,
        ) {
            let (one, two) = (Score::new(a, b), Score::new(c, d));
            prop_assert_eq!(halves(one + two), (a + c, b + d));
            prop_assert_eq!(halves(one - two), (a - c, b - d));
            prop_assert_eq!(halves(-one), (-a, -b));
            let mut sum = one;
            sum += two;
            prop_assert_eq!(sum, [one, two].into_iter().sum());
            sum -= two;
            prop_assert_eq!(sum, one);
        }

        #[test]
        fn scaling_acts_on_each_half(mg in -20_000..=20_000, eg in -20_000..=20_000, factor in -50_000..=50_000) {
            let scaled = Score::new(mg, eg) * factor;
            prop_assert_eq!(halves(scaled), (mg * factor, eg * factor));
        }
    }
}
