//! The evaluation: what a position is worth without looking ahead.
//!
//! There is one evaluation function, [`accumulate`]. It does not know what it adds: with [`Weights`] it adds up scores
//! and is what the engine plays with; with [`Features`](params::Features) it records how often each parameter occurs
//! and is what the tuner differentiates and `merino eval` explains. The numbers are declared in [`params`], read from
//! TOML by [`toml_file`], and blended from midgame and endgame by [`taper`].

pub mod params;
pub mod score;
pub mod taper;
pub mod toml_file;

mod breakdown;
mod trace;

pub use breakdown::{Breakdown, Term};
pub use trace::Trace;

use crate::chess::{Color, PieceType, Position};
use params::{EvalParams, Weights};
use score::Score;
use taper::{PHASE_PIECES, PhaseCounts, Taper};

/// No evaluation leaves ±this many centipawns, so that none can be taken for a mate.
pub const EVAL_LIMIT: i32 = 30_000;

/// Takes the terms of an evaluation, in White's view.
pub trait Accumulate<S> {
    /// Adds a parameter `count` times; a term of Black's comes with a negative count.
    fn add(&mut self, param: S, count: i32);
}

impl Accumulate<Score> for Score {
    #[inline(always)]
    fn add(&mut self, param: Score, count: i32) {
        *self += param * count;
    }
}

/// Adds up every term of a position's evaluation that is linear in the parameters, in White's view.
#[inline(always)]
pub fn accumulate<S: Copy, W>(position: &Position, params: &EvalParams<S, W>, sink: &mut impl Accumulate<S>) {
    for color in Color::ALL {
        for piece in PieceType::ALL {
            for square in position.colored(color, piece) {
                let seen = square.relative_to(color);
                sink.add(params.psqt[piece.index()][seen.rank().index()][seen.file().index()], color.sign());
            }
        }
    }
    for (piece, &worth) in PieceType::ALL.into_iter().zip(&params.material) {
        let count = |color| position.colored(color, piece).count() as i32;
        sink.add(worth, count(Color::White) - count(Color::Black));
    }
    sink.add(params.tempo, position.side_to_move().sign());
}

/// How many pieces of each kind with a phase weight stand on the board.
#[inline(always)]
pub fn phase_counts(position: &Position) -> PhaseCounts {
    let mut counts = [0; PHASE_PIECES];
    for (count, piece) in counts.iter_mut().zip(PieceType::ALL) {
        *count = position.pieces(piece).count() as u8;
    }
    counts
}

/// Parameters made ready for play.
#[derive(Clone, Debug)]
pub struct Evaluator {
    weights: Weights,
    taper: Taper,
    scale: f64,
}

/// K where nothing is known of it: the usual odds of 10 to 1 for 400 centipawns.
pub const DEFAULT_SCALE: f64 = 1.0;

impl Evaluator {
    /// Takes the parameters that positions are to be judged by.
    pub fn new(weights: Weights) -> Self {
        let taper = Taper::new(weights.phase);
        Evaluator { weights, taper, scale: DEFAULT_SCALE }
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
        let mut sum = Score::ZERO;
        accumulate(position, &self.weights, &mut sum);
        self.blend(position, sum)
    }

    /// The worth of a position in centipawns, in the view of the side to move, within ±[`EVAL_LIMIT`].
    #[inline]
    pub fn evaluate(&self, position: &Position) -> i32 {
        self.evaluate_for_white(position) * position.side_to_move().sign()
    }

    #[inline(always)]
    fn blend(&self, position: &Position, sum: Score) -> i32 {
        self.taper.blend(&phase_counts(position), sum.mg(), sum.eg()).clamp(-EVAL_LIMIT, EVAL_LIMIT)
    }
}
