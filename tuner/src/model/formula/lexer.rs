//! The lexer of formulas.

use super::{FormulaError, FormulaPosition};

/// Maximum number of tokens of a line.
const MOST_TOKENS: usize = 4096;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FormulaTokenKind<'t> {
    Number(f64),
    Name(&'t str),
    /// One of `+ - * / ^ ( ) , . =`.
    Symbol(char),
    /// The end of the line.
    End,
}

/// A token with its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct FormulaToken<'t> {
    pub(super) kind: FormulaTokenKind<'t>,
    pub(super) place: FormulaPosition,
    /// Source text of the token.
    pub(super) text: &'t str,
}

/// Splits a text that begins at a position into tokens; the last one is the end.
pub(super) fn tokens(text: &str, start: FormulaPosition) -> Result<Vec<FormulaToken<'_>>, FormulaError> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut place = start;
    loop {
        let blank = rest.len() - rest.trim_start().len();
        place.column += rest[..blank].chars().count();
        rest = &rest[blank..];
        let Some(first) = rest.chars().next() else {
            tokens.push(FormulaToken { kind: FormulaTokenKind::End, place, text: "" });
            return Ok(tokens);
        };
        if tokens.len() == MOST_TOKENS {
            return Err(place.error(format!("the formula is too long: more than {MOST_TOKENS} words in a line")));
        }
        let length = match first {
            '0'..='9' => number_length(rest),
            _ if is_name(first) => rest.find(|letter| !is_name(letter)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (text, after) = rest.split_at(length);
        let kind = match first {
            '0'..='9' => match text.parse() {
                Ok(number) if f64::is_finite(number) => FormulaTokenKind::Number(number),
                _ => return Err(place.error(format!("{} is too large a number", brief(text)))),
            },
            _ if is_name(first) => FormulaTokenKind::Name(text),
            '+' | '-' | '*' | '/' | '^' | '(' | ')' | ',' | '.' | '=' => FormulaTokenKind::Symbol(first),
            '−' => FormulaTokenKind::Symbol('-'),
            '×' => FormulaTokenKind::Symbol('*'),
            '÷' => FormulaTokenKind::Symbol('/'),
            _ => return Err(place.error(format!("`{}` means nothing in a formula", first.escape_debug()))),
        };
        tokens.push(FormulaToken { kind, place, text });
        place.column += text.chars().count();
        rest = after;
    }
}

/// Returns true if a name consists of letters, digits and `_`, and does not begin with a digit.
pub(super) fn is_identifier(name: &str) -> bool {
    name.chars().all(is_name) && !name.is_empty() && !name.starts_with(|first: char| first.is_ascii_digit())
}

/// Shortens a word for messages.
pub(in crate::model) fn brief(word: &str) -> String {
    let beginning: String = word.chars().take(40).collect();
    if beginning.len() < word.len() { beginning + "…" } else { beginning }
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Returns the length in bytes of the number at the beginning of a text: digits, fraction, exponent.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut length = digits(0);
    for marks in [&["."][..], &["e+", "e-", "E+", "E-", "e", "E"]] {
        let mark = marks.iter().find(|mark| text[length..].starts_with(**mark));
        if let Some(from) = mark.map(|mark| length + mark.len())
            && digits(from) > 0
        {
            length = from + digits(from);
        }
    }
    length
}
