//! Words of a formula.

use super::{FormulaError, Place};

/// Words that a formula may have.
const MOST_TOKENS: usize = 4096;

/// A word of a formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind<'t> {
    Number(f64),
    Name(&'t str),
    /// One of `+ - * / ^ ( ) , . =`.
    Symbol(char),
    /// The end of the line.
    End,
}

/// A word and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    pub(super) place: Place,
    /// As it is written.
    pub(super) text: &'t str,
}

/// The words of a text that begins at a place; the last one is the end.
pub(super) fn tokens(text: &str, start: Place) -> Result<Vec<Token<'_>>, FormulaError> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut place = start;
    loop {
        let blank = rest.len() - rest.trim_start().len();
        place.column += rest[..blank].chars().count();
        rest = &rest[blank..];
        let Some(first) = rest.chars().next() else {
            tokens.push(Token { kind: Kind::End, place, text: "" });
            return Ok(tokens);
        };
        if tokens.len() == MOST_TOKENS {
            return Err(place.error(format!("the formula is too long: more than {MOST_TOKENS} words in a line")));
        }
        let length = match first {
            '0'..='9' => number_length(rest.as_bytes()),
            _ if is_name(first) => rest.find(|letter| !is_name(letter)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (text, after) = rest.split_at(length);
        let kind = match first {
            '0'..='9' => match text.parse() {
                Ok(number) if f64::is_finite(number) => Kind::Number(number),
                _ => return Err(place.error(format!("{} is too large a number", brief(text)))),
            },
            _ if is_name(first) => Kind::Name(text),
            '+' | '-' | '*' | '/' | '^' | '(' | ')' | ',' | '.' | '=' => Kind::Symbol(first),
            '−' => Kind::Symbol('-'),
            '×' => Kind::Symbol('*'),
            '÷' => Kind::Symbol('/'),
            _ => return Err(place.error(format!("`{}` means nothing in a formula", first.escape_debug()))),
        };
        tokens.push(Token { kind, place, text });
        place.column += text.chars().count();
        rest = after;
    }
}

/// Whether a name is made of letters, digits and `_`, and begins with none of the digits.
pub(super) fn is_identifier(name: &str) -> bool {
    name.chars().all(is_name) && !name.is_empty() && !name.starts_with(|first: char| first.is_ascii_digit())
}

/// The beginning of a word, for messages.
pub(in crate::model) fn brief(word: &str) -> String {
    let beginning: String = word.chars().take(40).collect();
    if beginning.len() < word.len() { beginning + "…" } else { beginning }
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Bytes of the number that a text begins with: digits, a fraction, an exponent.
fn number_length(text: &[u8]) -> usize {
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    if text.get(length) == Some(&b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    if matches!(text.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(length + 1), Some(b'+' | b'-')));
        let exponent = if length + 1 + sign <= text.len() { digits(length + 1 + sign) } else { 0 };
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}
