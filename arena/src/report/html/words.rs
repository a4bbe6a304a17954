//! Numbers and times as people read them.

use std::time::Duration;

use crate::calendar;
use crate::report::table::duration;

/// A whole number with its thousands apart: `12,345`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with a sign, a true minus among them, but 0 without.
pub(super) fn signed(number: f64, decimals: usize) -> String {
    let text = if number.is_infinite() { "∞".to_owned() } else { format!("{:.decimals$}", number.abs()) };
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    match number {
        _ if is_zero => text,
        _ if number < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// A share in per cent.
pub(super) fn percent(part: f64) -> String {
    // The space does not break lines.
    format!("{:.1}\u{a0}%", 100.0 * part)
}

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
    fn numbers_are_written_for_people() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.04, -0.04, 3.25, -12.0].map(|number| signed(number, 1)), ["0.0", "0.0", "+3.2", "−12.0"]);
        assert_eq!(moment(951_782_460), "2000-02-29 00:01 UTC");
    }
}
