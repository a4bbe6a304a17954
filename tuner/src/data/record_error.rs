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
    /// The record, shortened if it is long; empty if it is not text.
    pub excerpt: String,
}

impl RecordError {
    pub(in crate::data) fn new(reason: &'static str, message: impl Into<String>) -> Self {
        RecordError { reason, message: message.into(), excerpt: String::new() }
    }

    /// Returns the error with the line that it is about.
    pub(in crate::data) fn about(self, line: &[u8]) -> Self {
        /// The number of characters of a line that are shown.
        const LENGTH: usize = 120;
        RecordError { excerpt: common::text::excerpt(&String::from_utf8_lossy(line.trim_ascii()), LENGTH), ..self }
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
