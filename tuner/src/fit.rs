//! Tuning the evaluation of any engine.
//!
//! An [`Evaluation`] names its parameters, says where they start, and takes positions apart into sparse rows: how often
//! each parameter counts, and what does not depend on any. That is all a [`Problem`] needs, which is fitted to the
//! results of games to its exact optimum. Engines in other languages write the rows themselves: [`Problem::read_rows`]
//! reads them as text. What comes out is written as tables of the engine's language by [`Fitted::emit`].
//!
//! A score is `constant + Σ count · value`, in centipawns and White's view. A parameter is a single value or a pair of a
//! midgame and an endgame value, between which the pieces on the board decide: a pair is worth
//! `f · midgame + (1 − f) · endgame` with `f` the phase of the board (phase weights times piece counts) as a share of
//! that of the start of a game.

mod emit;
mod gather;
mod problem;
mod text;

use common::files::WriteError;
use engine::eval::taper::PhaseCounts;
use thiserror::Error;

use crate::dataset::DatasetError;
use crate::objective::{FitKError, ObjectiveError, OneResult, PHASE_PIECES, RowsError};
use crate::optimize::{LimitsError, OptimizeError};
use crate::validation::ValidationError;
pub use emit::{EmitError, Language};
pub use problem::{Fitted, Problem, Settings};
pub use text::TextError;

/// Phase weights of pawn, knight, bishop, rook and queen that most engines have.
pub const PHASE_WEIGHTS: [f64; PHASE_PIECES] = [0.0, 1.0, 1.0, 2.0, 4.0];

/// A parameter: its name, and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Unlike that of any other, without blanks; indices in brackets make arrays: `tempo`, `psqt[3][27]`.
    pub name: String,
    /// Its value, in centipawns.
    pub value: Value,
}

/// What a parameter is worth, in centipawns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// The same all through the game.
    Single(f64),
    /// In the midgame, and in the endgame.
    Pair([f64; 2]),
}

impl Parameter {
    /// A parameter that is worth the same all through the game.
    pub fn single(name: impl Into<String>, value: f64) -> Self {
        Parameter { name: name.into(), value: Value::Single(value) }
    }

    /// A parameter with a midgame and an endgame value.
    pub fn pair(name: impl Into<String>, midgame: f64, endgame: f64) -> Self {
        Parameter { name: name.into(), value: Value::Pair([midgame, endgame]) }
    }
}

/// An evaluation that can be tuned: linear in its parameters, but for the taper between midgame and endgame.
pub trait Evaluation: Sync {
    /// All parameters, where they start, in the order of their indices.
    fn parameters(&self) -> Vec<Parameter>;

    /// Phase weights of pawn, knight, bishop, rook and queen; only their ratios matter.
    fn phase_weights(&self) -> [f64; PHASE_PIECES] {
        PHASE_WEIGHTS
    }

    /// Takes a position apart. The row is empty before.
    ///
    /// # Errors
    /// In words, if the position cannot be evaluated.
    fn trace(&self, fen: &str, row: &mut Row) -> Result<(), String>;
}

/// A position taken apart: how often each parameter counts, in White's view.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Pawns, knights, bishops, rooks and queens on the board, of both colours together.
    pub pieces: PhaseCounts,
    /// What does not depend on any parameter, in centipawns and White's view.
    pub constant: f32,
    /// Index and count, in no order.
    counts: Vec<(usize, i32)>,
}

impl Row {
    /// Counts a parameter, by its index, so many times for White; negative for Black. May be said several times of one.
    pub fn add(&mut self, parameter: usize, count: i32) {
        self.counts.push((parameter, count));
    }

    /// Makes the row empty.
    fn clear(&mut self) {
        self.counts.clear();
        (self.pieces, self.constant) = (PhaseCounts::default(), 0.0);
    }

    /// The entries of the row, cancelled between the colours; the first parameter that counts more often than 127
    /// times for either side, or that does not exist, is refused.
    fn entries(&mut self, parameters: usize, entries: &mut Vec<(u16, i8)>) -> Result<(), RowError> {
        entries.clear();
        self.counts.sort_unstable_by_key(|&(parameter, _)| parameter);
        for same in self.counts.chunk_by(|a, b| a.0 == b.0) {
            let parameter = same[0].0;
            let count = same.iter().map(|&(_, count)| i64::from(count)).sum();
            let index = u16::try_from(parameter).ok().filter(|_| parameter < parameters);
            let index = index.ok_or(RowError::Unknown { parameter, parameters })?;
            let small = i8::try_from(count).ok().filter(|&count| count != i8::MIN);
            match small.ok_or(RowError::Count { parameter, count })? {
                0 => {}
                count => entries.push((index, count)),
            }
        }
        Ok(())
    }
}

/// What is wrong with a row.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RowError {
    /// An index that no parameter has.
    #[error("parameter {parameter} is not one of the {parameters} there are")]
    Unknown {
        /// The index.
        parameter: usize,
        /// Number of parameters.
        parameters: usize,
    },
    /// A count that is too large.
    #[error("parameter {parameter} counts {count} times, more than 127")]
    Count {
        /// The index.
        parameter: usize,
        /// How often it counts.
        count: i64,
    },
    /// The evaluation has nothing to say.
    #[error("{0}")]
    Evaluation(String),
}

/// Why there is nothing to fit, or no fit.
#[derive(Debug, Error)]
pub enum FitError {
    /// The data.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// A position that the evaluation does not take apart.
    #[error("{fen}: {error}")]
    Row {
        /// The position.
        fen: String,
        /// What is wrong.
        error: RowError,
    },
    /// The name of a parameter.
    #[error("parameter {index} is called `{name}`, but names are unlike one another and without blanks")]
    Name {
        /// Its index.
        index: usize,
        /// Its name.
        name: String,
    },
    /// A value or phase weight that is no finite number, or a phase weight below 0.
    #[error("`{name}` starts at {value}")]
    Start {
        /// The parameter, or `phase`.
        name: String,
        /// The value.
        value: f64,
    },
    /// The text of rows.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The rows.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// There is but one result.
    #[error(transparent)]
    OneResult(#[from] OneResult),
    /// The data do not determine K.
    #[error("{0}; check the results, or give the scale with --k")]
    K(#[from] FitKError),
    /// The objective.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// The limits of the parameters.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// The choice of the prior.
    #[error(transparent)]
    Validation(#[from] ValidationError),
    /// The optimiser.
    #[error(transparent)]
    Optimize(#[from] OptimizeError),
    /// What is written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_both_colours_cancel() {
        let mut row = Row::default();
        let mut entries = Vec::new();
        for (parameter, count) in [(7, 1), (2, 3), (7, -1), (2, -1), (0, -4)] {
            row.add(parameter, count);
        }
        row.entries(8, &mut entries).unwrap();
        assert_eq!(entries, [(0, -4), (2, 2)]);
        assert_eq!(row.entries(2, &mut entries), Err(RowError::Unknown { parameter: 2, parameters: 2 }));
        row.add(0, -124);
        assert_eq!(row.entries(8, &mut entries), Err(RowError::Count { parameter: 0, count: -128 }));
    }
}
