//! Text from outside, made safe to show.
//!
//! A terminal obeys control characters, and bidirectional marks reorder what a person reads. Text that comes from a file
//! or from an engine is therefore escaped before it is shown.

use std::borrow::Cow;
use std::fmt::Write;

/// Returns true if a character changes how the text around it is shown instead of showing itself.
///
/// Control characters (C0, DEL, C1), the bidirectional controls of <https://www.unicode.org/reports/tr9/>, separators of
/// lines and paragraphs, and the byte-order mark.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{061C}'
                | '\u{200E}'
                | '\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2066}'..='\u{2069}'
                | '\u{FEFF}'
        )
}

/// Splits at spaces outside single or double quotation marks, which are taken off; `None` if a mark has no partner.
pub fn split_words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for char in text.chars() {
        match (quote, char) {
            (Some(mark), _) if char == mark => quote = None,
            (None, '"' | '\'') => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            (None, _) if char.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// The text on one line, every unsafe character escaped as JSON writes it: `\n`, `\u001b`, `\u202e`. JSON stays the same
/// JSON.
pub fn escape(text: &str) -> Cow<'_, str> {
    escape_if(text, is_unsafe)
}

/// As [`escape`], but line ends and tabs stay.
pub fn escape_lines(text: &str) -> Cow<'_, str> {
    escape_if(text, |c| is_unsafe(c) && c != '\n' && c != '\t')
}

/// At most `limit` characters of the text, escaped; `…` stands for what is left out.
pub fn excerpt(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", escape(&text[..end])),
        None => escape(text).into_owned(),
    }
}

fn escape_if(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' if is_escaped(c) => escaped.push_str("\\n"),
            '\r' if is_escaped(c) => escaped.push_str("\\r"),
            '\t' if is_escaped(c) => escaped.push_str("\\t"),
            c if is_escaped(c) => _ = write!(escaped, "\\u{:04x}", u32::from(c)),
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_a_terminal_that_it_would_obey() {
        assert_eq!(escape("\x1b[2J\x07 \u{202E}exe\u{2066}.\u{9b}31m"), r"\u001b[2J\u0007 \u202eexe\u2066.\u009b31m");
        assert_eq!(escape("a\r\n\tb"), r"a\r\n\tb");
        assert_eq!(escape_lines("a\tb\n\x1b[2J\u{feff}"), "a\tb\n\\u001b[2J\\ufeff");
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        for text in ["", "Kg1 ½ – λ = 1e-9", "Пешка 兵 🐑"] {
            assert!(matches!(escape(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn excerpts_are_short() {
        assert_eq!(excerpt("λλλ", 3), "λλλ");
        assert_eq!(excerpt("λλ\nλ", 3), "λλ\\n…");
    }
}
