//! Error messages with their causes.

use std::error::Error;

/// An error and its chain of causes, in one line. A cause that is part of the message already is not repeated.
pub fn to_line(error: &(dyn Error + 'static)) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !line.contains(&more) {
            line = format!("{line}: {more}");
        }
        cause = error.source();
    }
    line
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
    fn a_cause_is_printed_once() {
        assert_eq!(to_line(&Outer::Silent(Cause)), "cannot write: the disk is full");
        assert_eq!(to_line(&Outer::Open(Cause)), "cannot write: the disk is full; make room");
    }
}
