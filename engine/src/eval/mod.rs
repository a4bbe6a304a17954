//! The static evaluation.
//!
//! There is one evaluation function, [`accumulate`], generic over its sink. With [`Weights`] it adds up [`Sums`] for play;
//! with [`Indices`](params::Indices) it records the count of each parameter ([`Trace`]), which the tuner differentiates
//! and `merino eval` explains. [`combine`] computes the score from the sums.
//! The numbers and the sums are declared in [`params`] and read from TOML by [`toml_file`].

pub mod params;
pub mod score;
pub mod taper;
pub mod toml_file;

mod board;
mod breakdown;
mod cache;
mod combine;
mod context;
mod endings;
mod geometry;
mod pawn_table;
mod terms;
mod trace;

pub use breakdown::{Breakdown, Term};
pub use cache::EvalCache;
pub use combine::{Constant, Constants, Number, Pair, combine};
pub use pawn_table::PawnTable;
pub use trace::{Entry, Recorder, Trace};

use crate::chess::{Color, Position};
use context::{Context, PawnFacts};
use params::{Accumulate, EvalParams, PAIRS, Sums, Weights};
use score::Score;

/// Bound of the evaluation in centipawns, below every mate value.
pub const EVAL_LIMIT: i32 = 30_000;

/// Adds up every term of a position's evaluation, in White's view.
#[inline(always)]
pub fn accumulate<S: Copy, W: Copy>(position: &Position, params: &EvalParams<S, W>, sink: &mut impl Accumulate<S, W>) {
    let facts = PawnFacts::new(position);
    accumulate_pawns(position, &facts, params, sink);
    accumulate_others(position, facts, params, sink);
}

/// Adds up the terms of pawns and kings alone.
#[inline(always)]
fn accumulate_pawns<S: Copy, W: Copy>(
    position: &Position,
    facts: &PawnFacts,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    terms::material::pawns_and_kings(position, params, sink);
    for us in Color::ALL {
        terms::pawns::pawns(position, facts, us, params, sink);
        terms::shelter::shelter(position, us, params, sink);
    }
}

/// Adds up the other terms.
#[inline(always)]
fn accumulate_others<S: Copy, W: Copy>(
    position: &Position,
    facts: PawnFacts,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    terms::material::material(position, params, sink);
    let mut cx = Context::new(position, facts);
    // One call for each side rather than a loop: in the code of each, signs and directions are constants.
    terms::pieces::pieces(&mut cx, Color::White, params, sink);
    terms::pieces::pieces(&mut cx, Color::Black, params, sink);
    terms::pieces::closedness(&cx, params, sink);
    accumulate_attacks(&cx, Color::White, params, sink);
    accumulate_attacks(&cx, Color::Black, params, sink);
    terms::whole::whole(&cx, params, sink);
}

/// Adds up the terms of a side that need the attacks of all pieces.
#[inline(always)]
fn accumulate_attacks<S: Copy, W: Copy>(
    cx: &Context<'_>,
    us: Color,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    terms::king::king(cx, us, params, sink);
    terms::threats::threats(cx, us, params, sink);
    terms::passed::passed(cx, us, params, sink);
}

/// The score of an ending that is known by rule, whatever the parameters are, in centipawns, White's view.
pub fn known_ending(position: &Position) -> Option<i32> {
    endings::known(position).map(|ending| ending.score)
}

/// Parameters made ready for play.
#[derive(Clone, Debug)]
pub struct Evaluator {
    weights: Weights,
    constants: Constants<i32>,
    scale: f64,
}

/// The default of K: odds of 10 to 1 for 400 centipawns.
pub const DEFAULT_SCALE: f64 = 1.0;

impl Evaluator {
    /// An evaluator with these parameters.
    pub fn new(weights: Weights) -> Self {
        let vector = weights.to_vector();
        let constants = Constants::from_leaves(|leaf| vector[PAIRS + leaf.index()] as i32);
        Evaluator { weights, constants, scale: DEFAULT_SCALE }
    }

    /// The same with another [scale](Evaluator::scale).
    #[must_use]
    pub fn with_scale(self, scale: f64) -> Self {
        Evaluator { scale, ..self }
    }

    /// K, the scale from centipawns to expected results: x centipawns are worth 1 / (1 + 10^(−K x / 400)) points.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The parameters.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The worth of a position in centipawns, in White's view, within ±[`EVAL_LIMIT`].
    #[inline]
    pub fn evaluate_for_white(&self, position: &Position) -> i32 {
        if let Some(ending) = endings::known(position) {
            return ending.score;
        }
        let mut sums = Sums::default();
        accumulate(position, &self.weights, &mut sums);
        self.combine(sums)
    }

    /// The same as [`evaluate`](Evaluator::evaluate), faster: pawns and kings that the table knows are not looked at again.
    #[inline]
    pub fn evaluate_with(&self, position: &Position, pawns: &mut PawnTable) -> i32 {
        if let Some(ending) = endings::known(position) {
            return ending.score * position.side_to_move().sign();
        }
        let mut sums = Sums::default();
        let facts = pawns.add(position, &self.weights, &mut sums);
        accumulate_others(position, facts, &self.weights, &mut sums);
        self.combine(sums) * position.side_to_move().sign()
    }

    /// The worth of a position in centipawns, in the view of the side to move, within ±[`EVAL_LIMIT`].
    #[inline]
    pub fn evaluate(&self, position: &Position) -> i32 {
        self.evaluate_for_white(position) * position.side_to_move().sign()
    }

    /// The score of sums, in White's view, within ±[`EVAL_LIMIT`].
    #[inline(always)]
    fn combine(&self, sums: Sums<Score, i32>) -> i32 {
        combine(sums.map(Pair::from, |single| single), &self.constants).clamp(-EVAL_LIMIT, EVAL_LIMIT)
    }
}
