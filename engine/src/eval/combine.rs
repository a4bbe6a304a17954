//! From sums to a score: the one place where an evaluation is not linear in its parameters.
//!
//! [`combine`] is written once, generic over its [`Number`]: 32-bit integers play; floating point and the tuner's
//! recorded expressions go through the very same lines.

use std::ops::{Add, Mul, Neg, Sub};
use std::sync::LazyLock;

use super::params::{LeafIndex, Sum, Sums};
use super::score::Score;
use super::taper::FullPhase;
use super::{Entry, Trace};
use crate::chess::Position;

/// The numbers that [`combine`] computes with: a closed set of operations.
///
/// There is no comparison, so that operations recorded for one position hold for all.
pub trait Number:
    Clone + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self> + Sized
{
    /// The phase of the starting position, with what a taper wants to know of it beforehand.
    type Full: Clone;

    /// A number that depends on nothing.
    fn constant(value: i32) -> Self;

    /// The lesser of the two.
    fn min(self, other: Self) -> Self;

    /// The greater of the two.
    fn max(self, other: Self) -> Self;

    /// The distance from 0.
    fn abs(self) -> Self;

    /// Makes a taper ready for this phase of the starting position.
    fn full(phase: Self) -> Self::Full;

    /// `f · mg + (1 − f) · eg`, with the midgame fraction `f = phase / full` taken into 0..=1, and `f = 1` where `full`
    /// is not above 0.
    fn taper(scores: Pair<Self>, phase: Self, full: &Self::Full) -> Self;
}

/// Play. The taper is exact to half a unit and symmetric: see [`FullPhase::taper`]. Sums stay within ±2³⁰.
impl Number for i32 {
    type Full = FullPhase;

    #[inline(always)]
    fn constant(value: i32) -> Self {
        value
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Ord::min(self, other)
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Ord::max(self, other)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        i32::abs(self)
    }

    #[inline(always)]
    fn full(phase: Self) -> FullPhase {
        FullPhase::new(phase)
    }

    #[inline(always)]
    fn taper(scores: Pair<Self>, phase: Self, full: &FullPhase) -> Self {
        full.taper(phase, scores.mg, scores.eg)
    }
}

/// The exact score, which play rounds.
impl Number for f64 {
    type Full = f64;

    fn constant(value: i32) -> Self {
        value.into()
    }

    fn min(self, other: Self) -> Self {
        f64::min(self, other)
    }

    fn max(self, other: Self) -> Self {
        f64::max(self, other)
    }

    fn abs(self) -> Self {
        f64::abs(self)
    }

    fn full(phase: Self) -> f64 {
        phase
    }

    fn taper(scores: Pair<Self>, phase: Self, full: &f64) -> Self {
        let fraction = if *full > 0.0 { (phase / full).clamp(0.0, 1.0) } else { 1.0 };
        fraction * scores.mg + (1.0 - fraction) * scores.eg
    }
}

/// A midgame and an endgame number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair<N> {
    /// The midgame half.
    pub mg: N,
    /// The endgame half.
    pub eg: N,
}

impl From<Score> for Pair<i32> {
    #[inline(always)]
    fn from(score: Score) -> Self {
        Pair { mg: score.mg(), eg: score.eg() }
    }
}

/// A constant of the score that follows from the parameters alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Constant {
    /// The phase of the starting position.
    FullPhase,
}

impl Constant {
    /// Every constant.
    pub const ALL: &'static [Self] = &[Constant::FullPhase];

    /// How the constant follows from the parameters: Σ count · leaf, each leaf a single number.
    pub fn terms(self) -> &'static [(LeafIndex, i32)] {
        static FULL_PHASE: LazyLock<Vec<(LeafIndex, i32)>> = LazyLock::new(|| {
            let mut terms = Vec::new();
            Trace::default().for_each(&Position::start(), |Entry { sum, leaf, count, .. }| {
                if sum == Sum::Phase {
                    terms.push((leaf, count));
                }
            });
            terms
        });
        match self {
            Constant::FullPhase => &FULL_PHASE,
        }
    }
}

/// The value of each [`Constant`], made ready for use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constants<N: Number> {
    /// [`Constant::FullPhase`].
    pub full_phase: N::Full,
}

impl<N: Number> Constants<N> {
    /// Asks for each constant.
    pub fn from_fn(value: impl Fn(Constant) -> N) -> Self {
        Constants { full_phase: N::full(value(Constant::FullPhase)) }
    }

    /// Adds up each constant from the single numbers of the parameters.
    pub fn from_leaves(leaf: impl Fn(LeafIndex) -> N) -> Self {
        let term = |&(index, count): &(LeafIndex, i32)| N::constant(count) * leaf(index);
        Self::from_fn(|constant| constant.terms().iter().map(term).fold(N::constant(0), N::add))
    }
}

/// The score of a position in White's view, in centipawns.
#[inline(always)]
pub fn combine<N: Number>(sums: Sums<Pair<N>, N>, constants: &Constants<N>) -> N {
    N::taper(sums.main, sums.phase, &constants.full_phase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn within(random: &mut Random, limit: i64) -> i32 {
        (random.below(2 * limit as u64 + 1) as i64 - limit) as i32
    }

    #[test]
    fn integers_are_the_rounded_floats_for_any_sums() {
        let mut random = Random::seeded(7);
        for limit in [3, 300, 30_000] {
            for full in [1, 24, 300, 30_000] {
                let integers = Constants::from_fn(|_| full);
                let floats = Constants::from_fn(|_| f64::from(full));
                for _ in 0..2000 {
                    let phase = within(&mut random, 3 * i64::from(full) / 2);
                    let mut half = || within(&mut random, limit);
                    let sums: Sums<Pair<i32>, i32> =
                        Sums::from_fn(|_, _| Pair { mg: half(), eg: half() }, |_, _| phase);
                    let exact = sums.map(|pair| Pair { mg: pair.mg.into(), eg: pair.eg.into() }, f64::from);
                    let (integer, float) = (combine(sums, &integers), combine(exact, &floats));
                    assert!((f64::from(integer) - float).abs() < 0.51, "{sums:?} of {full}: {integer} for {float}");
                }
            }
        }
    }

    #[test]
    fn operations_are_those_of_their_number() {
        fn all<N: Number>(of: impl Fn(N) -> f64) -> Vec<f64> {
            let n = N::constant;
            let results = [
                n(3) + n(4),
                n(3) - n(4),
                n(3) * n(-4),
                -n(3),
                n(3).min(n(-4)),
                n(3).max(n(-4)),
                n(-4).abs(),
                N::taper(Pair { mg: n(40), eg: n(-40) }, n(1), &N::full(n(4))),
                N::taper(Pair { mg: n(40), eg: n(-40) }, n(5), &N::full(n(4))),
                N::taper(Pair { mg: n(40), eg: n(-40) }, n(-5), &N::full(n(4))),
                N::taper(Pair { mg: n(40), eg: n(-40) }, n(0), &N::full(n(0))),
            ];
            results.map(of).to_vec()
        }
        let expected = [7.0, -1.0, -12.0, -3.0, -4.0, 3.0, 4.0, -20.0, 40.0, -40.0, 40.0];
        assert_eq!(all::<f64>(|number| number), expected);
        assert_eq!(all::<i32>(f64::from), expected);
    }
}
