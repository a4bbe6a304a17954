//! From sums to a score: the one place where an evaluation is not linear in its parameters.
//!
//! [`combine`] is written once, generic over its [`Number`]: 32-bit integers play; floating point and the tuner's
//! recorded expressions go through the very same lines.

use std::ops::{Add, Mul, Neg, Sub};
use std::sync::LazyLock;

use super::endings::WHOLE;
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

    /// `self · factor / unit`, for a unit above 0. Play rounds to the nearest, halves away from 0.
    fn times(self, factor: Self, unit: Self) -> Self;

    /// Makes a taper ready for this phase of the starting position.
    fn full(phase: Self) -> Self::Full;

    /// `f · mg + (1 − f) · eg`, with the midgame fraction `f = phase / full` taken into 0..=1, and `f = 1` where `full`
    /// is not above 0.
    fn taper(scores: Pair<Self>, phase: Self, full: &Self::Full) -> Self;
}

/// Products of play are kept within this: four of them can be added, and no sane position comes near.
const TIMES_LIMIT: i64 = 1 << 28;

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
    fn times(self, factor: Self, unit: Self) -> Self {
        let (product, unit) = (i64::from(self) * i64::from(factor), i64::from(unit));
        let half = if product < 0 { -unit / 2 } else { unit / 2 };
        ((product + half) / unit).clamp(-TIMES_LIMIT, TIMES_LIMIT) as i32
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

    fn times(self, factor: Self, unit: Self) -> Self {
        self * factor / unit
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

    /// Returns the terms of the constant, which is Σ count · leaf. Each leaf is a single number.
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

/// The danger at which its curve is as steep as a straight line of one centipawn to four.
const DANGER_BEND: i32 = 128;

/// The scale that changes nothing: a number of 128ths, counted as often as there are [parts](super::endings::WHOLE) of an
/// advantage.
pub(super) const SCALE_UNIT: i32 = 128 * WHOLE;

/// The endgame score at which half of a complexity counts, in centipawns. With a smaller one a fit to results may turn the
/// endgame into little more than its sign: tiny values, and all the rest complexity.
const COMPLEXITY_KNEE: i32 = 256;

/// The endgame score at which the side ahead has three quarters of the say in the scale, in centipawns.
const SCALE_KNEE: i32 = 16;

/// The score of a position in White's view, in centipawns.
///
/// ```text
/// d(x)  = x · (128 + max(x, 0)) / 1024                       danger, of each half: never flat, so that no number is stuck
/// mg    = main.mg + d(danger[white].mg) − d(danger[black].mg)
/// e     = main.eg + d(danger[white].eg) − d(danger[black].eg)
/// e′    = e + complexity · e / (|e| + 256)
/// eg    = (e′ · (scale[white] + scale[black]) + |e′| · (scale[white] − scale[black]) · |e′| / (|e′| + 16)) / 4096
/// score = taper(mg, eg)
/// ```
///
/// Far from 0, a complexity counts in full, and so does the scale of the side ahead. Nothing jumps at 0, nor does a slope:
/// solvers are no friends of kinks.
#[inline(always)]
pub fn combine<N: Number>(sums: Sums<Pair<N>, N>, constants: &Constants<N>) -> N {
    let fine = |number: N| number * N::constant(FINE);
    let [white, black] = sums.danger.map(|side| Pair { mg: danger(side.mg), eg: danger(side.eg) });
    let mg = fine(sums.main.mg) + white.mg - black.mg;
    let eg = fine(sums.main.eg) + white.eg - black.eg;
    let eg = eg.clone() + saturated(eg, COMPLEXITY_KNEE, fine(sums.complexity));
    let ([white, black], unit) = (sums.scale, N::constant(2 * SCALE_UNIT));
    let part = saturated(eg.clone().abs(), SCALE_KNEE, eg.clone().abs());
    let eg = eg.times(white.clone() + black.clone(), unit.clone()) + part.times(white - black, unit);
    N::taper(Pair { mg, eg }, sums.phase, &constants.full_phase).times(N::constant(1), N::constant(FINE))
}

/// Between its joints a score is counted in such parts of a centipawn, so that play rounds once.
const FINE: i32 = 256;

/// The curve of danger, in fine parts of a centipawn.
#[inline(always)]
fn danger<N: Number>(sum: N) -> N {
    let bend = sum.clone().max(N::constant(0)) + N::constant(DANGER_BEND);
    sum.times(bend, N::constant(8 * DANGER_BEND / FINE))
}

/// `most · score / (|score| + knee)`: a number times the sign of a score, smoothed; the knee in centipawns, all else fine.
#[inline(always)]
fn saturated<N: Number>(score: N, knee: i32, most: N) -> N {
    let unit = score.clone().abs() + N::constant(FINE * knee);
    score.times(most, unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn within(random: &mut Random, limit: i64) -> i32 {
        (random.below(2 * limit as u64 + 1) as i64 - limit) as i32
    }

    /// Sums within a limit, of a phase up to one and a half times the full one.
    fn random_sums(random: &mut Random, limit: i64, full: i64) -> Sums<Pair<i32>, i32> {
        let phase = within(random, 3 * full / 2);
        let complexity = within(random, 256);
        let scale = [(); 2].map(|()| SCALE_UNIT + within(random, SCALE_UNIT.into()));
        let mut half = || Pair { mg: within(random, limit), eg: within(random, limit) };
        Sums { phase, main: half(), danger: [half(), half()], complexity, scale }
    }

    #[test]
    fn integers_are_the_rounded_floats() {
        let mut random = Random::seeded(7);
        for limit in [3, 300, 3000] {
            for full in [1, 24, 300, 30_000] {
                let integers = Constants::from_fn(|_| full);
                let floats = Constants::from_fn(|_| f64::from(full));
                for _ in 0..2000 {
                    let sums = random_sums(&mut random, limit, full.into());
                    let exact = sums.map(|pair| Pair { mg: pair.mg.into(), eg: pair.eg.into() }, f64::from);
                    let (integer, float) = (combine(sums, &integers), combine(exact, &floats));
                    assert!((f64::from(integer) - float).abs() < 0.51, "{sums:?} of {full}: {integer} for {float}");
                }
            }
        }
    }

    #[test]
    fn colours_exchanged_change_the_sign_alone() {
        let mut random = Random::seeded(8);
        let constants = Constants::from_fn(|_| 24);
        for _ in 0..2000 {
            let sums = random_sums(&mut random, 3000, 24);
            let Pair { mg, eg } = sums.main;
            let mirrored = Sums {
                main: Pair { mg: -mg, eg: -eg },
                danger: [sums.danger[1], sums.danger[0]],
                scale: [sums.scale[1], sums.scale[0]],
                ..sums
            };
            assert_eq!(combine(mirrored, &constants), -combine(sums, &constants), "{sums:?}");
        }
    }

    #[test]
    fn joints_have_the_documented_form() {
        let constants = Constants::from_fn(|_| 24.0);
        let pair = |mg: f64, eg: f64| Pair { mg, eg };
        let whole = f64::from(SCALE_UNIT);
        let none = Sums { danger: [pair(0.0, 0.0); 2], scale: [whole; 2], ..Sums::default() };
        let score = |sums| combine(sums, &constants);
        let ending = |eg, complexity, scale| score(Sums { main: pair(1e6, eg), complexity, scale, ..none });
        assert_eq!(ending(100.0, 0.0, [whole; 2]), 100.0);
        // The side ahead has the say.
        assert!((ending(1000.0, 0.0, [whole / 2.0, whole]) - 500.0).abs() < 10.0);
        assert!((ending(-1000.0, 0.0, [whole / 2.0, whole]) + 1000.0).abs() < 10.0);
        assert_eq!(ending(256.0, 20.0, [whole; 2]), 266.0);
        assert_eq!(ending(-256.0, 20.0, [whole; 2]), -266.0);
        assert!(ending(5.0, -256.0, [whole; 2]) > 0.0);
        let danger =
            |white: f64, black: f64| score(Sums { phase: 24.0, danger: [pair(white, 1e6), pair(black, 1e6)], ..none });
        assert_eq!(danger(128.0, 0.0), 32.0);
        assert_eq!(danger(0.0, -128.0), 16.0);
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
                n(-4).times(n(6), n(3)),
                N::taper(Pair { mg: n(40), eg: n(-40) }, n(1), &N::full(n(4))),
                N::taper(Pair { mg: n(40), eg: n(-40) }, n(5), &N::full(n(4))),
                N::taper(Pair { mg: n(40), eg: n(-40) }, n(-5), &N::full(n(4))),
                N::taper(Pair { mg: n(40), eg: n(-40) }, n(0), &N::full(n(0))),
            ];
            results.map(of).to_vec()
        }
        let expected = [7.0, -1.0, -12.0, -3.0, -4.0, 3.0, 4.0, -8.0, -20.0, 40.0, -40.0, 40.0];
        assert_eq!(all::<f64>(|number| number), expected);
        assert_eq!(all::<i32>(f64::from), expected);
    }
}
