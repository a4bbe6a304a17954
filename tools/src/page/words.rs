//! Formatting of numbers for people.

/// A whole number with its thousands apart: `12,345`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with so many digits after the point, and a true minus.
pub fn plain(number: f64, decimals: usize) -> String {
    let text = if number.is_infinite() { "∞".to_owned() } else { format!("{:.decimals$}", number.abs()) };
    if number < 0.0 && !is_zero(&text) { format!("−{text}") } else { text }
}

/// A number with its sign, but 0 without.
pub fn signed(number: f64, decimals: usize) -> String {
    let text = plain(number, decimals);
    if number > 0.0 && !is_zero(&text) { format!("+{text}") } else { text }
}

fn is_zero(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0' | b'.'))
}

/// A share in per cent, with its sign.
pub fn signed_percent(part: f64) -> String {
    // The space does not break lines.
    format!("{}\u{a0}%", signed(100.0 * part, 2))
}

/// A share of a whole in per cent.
pub fn percent(part: f64, decimals: usize) -> String {
    format!("{}\u{a0}%", plain(100.0 * part, decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.04, -0.04, 3.25, -12.0].map(|number| signed(number, 1)), ["0.0", "0.0", "+3.2", "−12.0"]);
        assert_eq!([f64::INFINITY, f64::NEG_INFINITY].map(|number| signed(number, 1)), ["+∞", "−∞"]);
        assert_eq!([-0.0, -3.0, 3.0].map(|number| plain(number, 0)), ["0", "−3", "3"]);
        assert_eq!((signed_percent(-0.1409), percent(0.25, 1)), ("−14.09\u{a0}%".into(), "25.0\u{a0}%".into()));
    }
}
