//! Decimal literals of source files.

use std::ops::Range;

use super::lexer::{SourceToken, TokenKind};

/// A decimal literal of a source file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Literal {
    /// Byte range of its sign, if it has one, and its digits; a type suffix follows them.
    pub(super) range: Range<usize>,
    /// Offset of its first digit.
    pub(super) digits: usize,
    pub(super) value: f64,
    /// The number of digits after its decimal point, if it has one.
    pub(super) decimals: Option<usize>,
    /// True if a minus before surrounding brackets negates it, as the 4 of `-S(4, 5)`.
    pub(super) is_negated: bool,
}

impl Literal {
    /// Returns the text of another number in its place. The text between sign and digits stays.
    pub(super) fn replaced(&self, number: &str, text: &[u8]) -> Vec<u8> {
        let (is_negative, digits) = number.strip_prefix('-').map_or((false, number), |digits| (true, digits));
        let is_zero = digits.bytes().all(|byte| matches!(byte, b'0' | b'.'));
        let is_negative = !is_zero && is_negative != self.is_negated;
        // In some languages `7.f` is a number and `7f` is not.
        let point = if self.decimals == Some(0) && !digits.contains('.') { "." } else { "" };
        let (old_sign, gap) = text[self.range.start..self.digits].split_at_checked(1).unwrap_or_default();
        let sign = if is_negative { b"-" } else { old_sign.strip_prefix(b"-").unwrap_or(old_sign) };
        [sign, gap, digits.as_bytes(), point.as_bytes()].concat()
    }
}

/// Parses a number with its sign; `None` if it is not decimal.
pub(super) fn number(tokens: &[SourceToken]) -> Option<Literal> {
    let (sign, number) = match tokens {
        [number] => (None, number),
        [sign, number] if sign.is_any(&["-", "+"]) => (Some(sign), number),
        _ => return None,
    };
    if number.kind != TokenKind::Number {
        return None;
    }
    let is_digit = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b'\'');
    let length = number.text.iter().position(|byte| !is_digit(byte)).unwrap_or(number.text.len());
    let suffix = number.text.get(length).copied().unwrap_or(0);
    let text = number.text[..length].strip_suffix(b"_").unwrap_or(&number.text[..length]);
    let plain: String = text.iter().filter(|byte| !matches!(byte, b'_' | b'\'')).map(|&byte| byte as char).collect();
    let decimals = plain.split_once('.').map(|(_, decimals)| decimals.len());
    // A leading zero makes a number octal in most languages. These letters mark hexadecimal, binary, octal or an
    // exponent.
    let is_octal = plain.len() > 1 && plain.starts_with('0') && decimals.is_none();
    let is_other = is_octal || matches!(suffix.to_ascii_lowercase(), b'x' | b'b' | b'o' | b'e' | b'p');
    let value: f64 = plain.parse().ok().filter(|_| !is_other)?;
    let value = if sign.is_some_and(|sign| sign.is("-")) { -value } else { value };
    let range = sign.unwrap_or(number).start..number.start + text.len();
    Some(Literal { range, digits: number.start, value, decimals, is_negated: false })
}
