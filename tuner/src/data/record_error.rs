//! Errors of records.

use engine::chess::FenError;
use thiserror::Error;

/// An error of a record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct RecordError {
    /// The kind of error, for counting.
    pub reason: &'static str,
    /// The message to show.
    message: String,
}

impl RecordError {
    pub(in crate::data) fn new(reason: &'static str, message: impl Into<String>) -> Self {
        RecordError { reason, message: message.into() }
    }
}

impl From<FenError> for RecordError {
    fn from(error: FenError) -> Self {
        let reason = match error {
            FenError::Kings { .. }
            | FenError::TooManyPieces { .. }
            | FenError::PawnOnLastRank(_)
            | FenError::OpponentInCheck
            | FenError::Checkers(_)
            | FenError::CastlingWithoutRook(_)
            | FenError::EnPassantImpossible(_) => "illegal position",
            _ => "malformed FEN",
        };
        RecordError::new(reason, error.to_string())
    }
}
