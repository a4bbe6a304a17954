//! Words and tag pairs.

use std::borrow::Cow;

/// A word without the number of its move: `12.Nf3` and `12...Nf3` are `Nf3`, and `12.` is nothing. `0-0` stays.
pub(super) fn without_number(word: &str) -> &str {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.starts_with('-') { word } else { rest.trim_start_matches('.') }
}

/// Whether a word is a move, not an annotation such as `!?`, `$1`, `+-` or `e.p.`. Castling may be written with zeros, a
/// null move as `--`.
pub(super) fn is_move_like(word: &str) -> bool {
    let is_without_letters = word.starts_with("0-0") || word == "--" || word == "}";
    word != "e.p." && (is_without_letters || word.bytes().any(|byte| byte.is_ascii_alphabetic()))
}

/// The name and value of the tag pair at the start of a line, and the rest of the line.
pub(super) fn tag_pair(line: &[u8]) -> Option<(String, String, &[u8])> {
    let rest = line.strip_prefix(b"[")?.trim_ascii_start();
    let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')?;
    let (name, rest) = rest.split_at(end);
    let quoted = rest.trim_ascii_start().strip_prefix(b"\"")?;
    let mut value = Vec::new();
    let mut bytes = quoted.iter().copied().enumerate();
    let end = loop {
        match bytes.next()? {
            (end, b'"') => break end,
            (_, b'\\') => value.push(bytes.next()?.1),
            (_, byte) => value.push(byte),
        }
    };
    let rest = quoted[end + 1..].trim_ascii_start().strip_prefix(b"]")?;
    (!name.is_empty()).then(|| (decoded(name).into_owned(), decoded(value.trim_ascii()).into_owned(), rest))
}

/// Decodes UTF-8, or ISO 8859-1, the encoding of the standard, if it is not valid UTF-8.
pub(super) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// Whether a byte ends the word before it.
pub(super) fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'{' | b'}' | b'(' | b')' | b';' | b'!' | b'?' | b'$' | b'*')
}

#[cfg(test)]
mod tests {
    use super::super::games;

    #[test]
    fn names_are_read_in_either_encoding() {
        assert_eq!(games("[White \"é\"]".as_bytes(), 0)[0].tag("White"), Some("é"));
        assert_eq!(games(b"[White \"\xE9\"]", 0)[0].tag("White"), Some("é"));
    }

    #[test]
    fn numbers_and_annotations_are_no_moves() {
        for (word, mv) in [("12.Nf3", "Nf3"), ("12...Nf3", "Nf3"), ("12.", ""), ("0-0", "0-0"), ("0-0-0", "0-0-0")] {
            assert_eq!(super::without_number(word), mv);
        }
        assert!(["e4", "O-O", "0-0", "--", "}"].into_iter().all(super::is_move_like));
        assert!(!["", "e.p.", "+-", "!?"].into_iter().any(super::is_move_like));
    }
}
