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

mod breakdown;
mod combine;
mod trace;

pub use breakdown::{Breakdown, Term};
pub use combine::{Constant, Constants, Number, Pair, combine};
pub use trace::{Entry, Recorder, Trace};

use crate::chess::{Color, PieceType, Position};
use params::{Accumulate, EvalParams, PAIRS, Sums, Weights};
use score::Score;

/// Bound of the evaluation in centipawns, below every mate value.
pub const EVAL_LIMIT: i32 = 30_000;

/// Adds up every term of a position's evaluation, in White's view.
#[inline(always)]
pub fn accumulate<S: Copy, W: Copy>(position: &Position, params: &EvalParams<S, W>, sink: &mut impl Accumulate<S, W>) {
    for color in Color::ALL {
        for piece in PieceType::ALL {
            for square in position.colored(color, piece) {
                let seen = square.relative_to(color);
                sink.main(params.psqt[piece.index()][seen.rank().index()][seen.file().index()], color.sign());
            }
        }
    }
    for (piece, (&worth, &phase)) in PieceType::ALL.into_iter().zip(params.material.iter().zip(&params.phase)) {
        let [white, black] = Color::ALL.map(|color| position.colored(color, piece).count() as i32);
        sink.main(worth, white - black);
        sink.phase(phase, white + black);
    }
    sink.main(params.tempo, position.side_to_move().sign());
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
        let mut sums = Sums::default();
        accumulate(position, &self.weights, &mut sums);
        self.combine(sums)
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
