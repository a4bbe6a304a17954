//! Times as people read them.

use std::time::Duration;

use crate::calendar;
use crate::report::table::duration;

/// `2026-11-21 12:50 UTC`.
pub(super) fn moment(seconds: u64) -> String {
    let (year, month, day) = calendar::date(seconds / 86_400);
    let minutes = seconds % 86_400 / 60;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minutes / 60, minutes % 60)
}

/// A time as in tables for terminals.
pub(super) fn span(time: Duration) -> String {
    duration(time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_for_people() {
        assert_eq!(moment(951_782_460), "2000-02-29 00:01 UTC");
    }
}
