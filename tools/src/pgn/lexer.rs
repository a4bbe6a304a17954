//! Words and tag pairs.

use std::borrow::Cow;

/// The words that programs write for a null move.
const NULL_MOVES: [&str; 6] = ["--", "Z0", "null", "@@@@", "0000", "pass"];

/// Returns true if a word is a null move, by any of its names.
pub(super) fn is_null_move(word: &str) -> bool {
    NULL_MOVES.iter().any(|name| word.eq_ignore_ascii_case(name))
}

/// A word without the number of its move: `12.Nf3` and `12...Nf3` are `Nf3`, and `12.` is nothing. `0-0` and `0000`
/// stay.
pub(super) fn without_number(word: &str) -> &str {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_move = rest.starts_with('-') || is_null_move(word);
    if is_move { word } else { rest.trim_start_matches('.') }
}

/// Returns true if a word is a move, not an annotation such as `!?`, `$1`, `+-` or `e.p.`. Castling may be written with
/// zeros.
pub(super) fn is_move_like(word: &str) -> bool {
    let is_without_letters = word.starts_with("0-0") || is_null_move(word) || word == "}";
    word != "e.p." && (is_without_letters || word.bytes().any(|byte| byte.is_ascii_alphabetic()))
}

/// The name of the tag that a line begins with, and what stands behind it.
pub(super) fn tag_name(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = line.strip_prefix(b"[")?.trim_ascii_start();
    let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')?;
    (end > 0).then(|| rest.split_at(end))
}

/// The name and value of the tag pair at the start of a line, and the rest of the line. A value may hold quotation marks
/// without a backslash: the last mark before a bracket that ends the pair ends it.
pub(super) fn tag_pair(line: &[u8]) -> Option<(String, String, &[u8])> {
    let (name, rest) = tag_name(line)?;
    let quoted = rest.trim_ascii_start().strip_prefix(b"\"")?;
    let mut value = Vec::new();
    let mut bytes = quoted.iter().copied().enumerate();
    let rest = loop {
        match bytes.next()? {
            (end, b'"') => match behind_pair(&quoted[end + 1..]) {
                Some(rest) => break rest,
                None => value.push(b'"'),
            },
            (_, b'\\') => value.push(bytes.next()?.1),
            (_, byte) => value.push(byte),
        }
    };
    Some((decoded(name).into_owned(), decoded(value.trim_ascii()).into_owned(), rest))
}

/// The text behind the bracket that ends a tag pair: nothing, another pair or a comment.
fn behind_pair(after_mark: &[u8]) -> Option<&[u8]> {
    let rest = after_mark.trim_ascii_start().strip_prefix(b"]")?;
    matches!(rest.trim_ascii_start(), [] | [b'[' | b';' | b'{', ..]).then_some(rest)
}

/// Decodes UTF-8, or ISO 8859-1, the encoding of the standard, if it is not valid UTF-8.
pub(super) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// Returns true if a byte ends the word before it.
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
    fn quotation_marks_may_stand_in_values() {
        for (line, value) in [
            (r#"[Event "Tournament "Championship" Finals"]"#, r#"Tournament "Championship" Finals"#),
            (r#"[Event "the "Finals""]"#, r#"the "Finals""#),
            (r#"[Event ""Finals" "]"#, r#""Finals""#),
            (r#"[Event "a \"b\" "c""] [Site "x"]"#, r#"a "b" "c""#),
            (r#"[Event "a "b"] c"]"#, r#"a "b"] c"#),
        ] {
            let game = &games(format!("{line}\n\n1. e4 *\n").as_bytes(), 9)[0];
            assert_eq!((game.tag("Event"), &game.fault), (Some(value), &None), "{line}");
        }
    }

    #[test]
    fn null_moves_have_many_names() {
        let text = "1. e4 -- 2.Z0 null 3. @@@@ 0000 4.0000 Null *";
        let game = &games(text.as_bytes(), 9)[0];
        let is_null: Vec<bool> = game.moves.iter().map(|played| played.is_null()).collect();
        assert_eq!(is_null, [false, true, true, true, true, true, true, true]);
    }

    #[test]
    fn numbers_and_annotations_are_no_moves() {
        for (word, mv) in [("12.Nf3", "Nf3"), ("12...Nf3", "Nf3"), ("12.", ""), ("0-0", "0-0"), ("0000", "0000")] {
            assert_eq!(super::without_number(word), mv);
        }
        assert!(["e4", "O-O", "0-0", "--", "}"].into_iter().all(super::is_move_like));
        assert!(!["", "e.p.", "+-", "!?"].into_iter().any(super::is_move_like));
    }
}
