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

    /// Returns the error with the line that it is about, shortened if it is long.
    pub(in crate::data) fn about(self, line: &[u8]) -> Self {
        /// The number of characters of a line that are shown.
        const LENGTH: usize = 120;
        match common::text::excerpt(&String::from_utf8_lossy(line.trim_ascii()), LENGTH) {
            none if none.is_empty() => self,
            excerpt => RecordError { message: format!("{}, in `{excerpt}`", self.message), ..self },
        }
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
