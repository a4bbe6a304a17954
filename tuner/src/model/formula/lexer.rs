//! The lexer of formulas.

use anyhow::{Error, Result};

use super::FormulaPosition;

/// Maximum number of tokens of a line.
const MOST_TOKENS: usize = 4096;

/// A word of a line, empty at its end, with its position.
pub(in crate::model) type Word<'t> = (&'t str, FormulaPosition);

/// Splits a text into tokens: numbers, names and symbols. The last one is the end.
pub(super) fn tokens((text, start): Word<'_>) -> Result<Vec<Word<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut place = start;
    loop {
        let blank = rest.len() - rest.trim_start().len();
        place.column += rest[..blank].chars().count();
        rest = &rest[blank..];
        let Some(first) = rest.chars().next() else {
            tokens.push(("", place));
            return Ok(tokens);
        };
        if tokens.len() == MOST_TOKENS {
            return Err(place.error(format!("the formula is too long: more than {MOST_TOKENS} words in a line")));
        }
        let length = match first {
            '0'..='9' => number_length(rest),
            _ if is_name(first) => rest.find(|letter| !is_name(letter)).unwrap_or(rest.len()),
            '+' | '-' | '−' | '*' | '×' | '/' | '÷' | '^' | '(' | ')' | ',' | '.' | '=' => first.len_utf8(),
            _ => return Err(place.error(format!("`{}` means nothing in a formula", first.escape_debug()))),
        };
        let (token, after) = rest.split_at(length);
        let symbol = match token {
            "−" => "-",
            "×" => "*",
            "÷" => "/",
            _ => token,
        };
        tokens.push((symbol, place));
        place.column += token.chars().count();
        rest = after;
    }
}

/// Returns the error of an unexpected word.
pub(in crate::model) fn expected(what: &str, (word, place): Word) -> Error {
    place.error(match word {
        "" => format!("expected {what}, found the end of the line"),
        _ => format!("expected {what}, found `{}`", brief(word)),
    })
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
