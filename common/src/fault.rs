//! What the programs say when they fail.

use std::error::Error;

/// An error and what caused it, in one line. A cause that an error has told already, as part of its own words, is not
/// told again.
pub fn in_words(error: &(dyn Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !words.contains(&more) {
            words = format!("{words}: {more}");
        }
        cause = error.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use thiserror::Error;

    #[derive(Debug, Error)]
    #[error("the disk is full")]
    struct Cause;

    #[derive(Debug, Error)]
    enum Outer {
        #[error("cannot write")]
        Silent(#[source] Cause),
        #[error("cannot write: {0}; make room")]
        Open(#[source] Cause),
    }

    #[test]
    fn a_cause_is_told_once() {
        assert_eq!(in_words(&Outer::Silent(Cause)), "cannot write: the disk is full");
        assert_eq!(in_words(&Outer::Open(Cause)), "cannot write: the disk is full; make room");
    }
}
