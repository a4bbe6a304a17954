//! Kinds of files, recognised by their beginning: a file is replaced by its own kind only.

use std::fs::File;
use std::io::{self, Read};

use super::target::Target;

/// The bytes read to recognise a file.
const HEAD: u64 = 1 << 14;

/// A kind of file.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name with article: `a page`.
    pub name: &'static str,
    /// Whether a file that begins like this is of the kind.
    pub is_own: fn(&[u8]) -> bool,
}

/// A page for a browser.
pub const HTML: Kind = Kind { name: "a page in HTML", is_own: |head| starts_with(head, "<!doctype html") };

/// An object or a list in JSON.
pub const JSON: Kind = Kind { name: "JSON", is_own: |head| starts_with(head, "{") || starts_with(head, "[") };

/// Games.
pub const PGN: Kind = Kind { name: "PGN", is_own: |head| starts_with(head, "[event ") };

/// Parameters or settings.
pub const TOML: Kind = Kind { name: "TOML", is_own: is_toml };

impl Kind {
    /// Any content: the output cannot be recognised, and replaces whatever is there.
    pub const ANY: Kind = Kind { name: "a file", is_own: |_| true };

    /// Whether such a file may be written there: there is none, or an empty one, or one of this kind.
    pub(super) fn may_replace(&self, target: &Target) -> io::Result<bool> {
        let Target::File { path, .. } = target else { return Ok(true) };
        let mut head = Vec::new();
        match File::open(path) {
            Ok(file) => file.take(HEAD).read_to_end(&mut head)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(error),
        };
        Ok(head.is_empty() || (self.is_own)(&head))
    }
}

/// Whether the first word of a file, in small letters, is this one.
fn starts_with(head: &[u8], word: &str) -> bool {
    let head = head.trim_ascii_start();
    head.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether the first line that is not blank is the header of a table or a key with a value.
fn is_toml(head: &[u8]) -> bool {
    let lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let mut telling = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.\"' ".contains(byte);
    telling.next().is_none_or(|line| match line.strip_prefix(b"[") {
        Some(table) => {
            let name = table.split(|&byte| byte == b']').next().unwrap_or_default();
            // A tag of PGN has a name, a space and a value there.
            table.contains(&b']')
                && !name.contains(&b' ')
                && name.trim_ascii_start().iter().all(|byte| is_key(byte) || *byte == b'[')
        }
        None => {
            let (key, rest) = line.split_at(line.iter().position(|&byte| byte == b'=').unwrap_or(line.len()));
            !rest.is_empty() && !key.is_empty() && key.iter().all(is_key)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLES: [(&str, &[u8]); 6] = [
        ("html", b"<!DOCTYPE html><html>"),
        ("json", b"{\n  \"a\": 1}"),
        ("pgn", b"[Event \"x\"]\n[Site \"?\"]\n\n1. e4 *\n"),
        ("toml", b"# comment\n\n[psqt.pawn]\nmg = [\n"),
        ("epd", b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - c9 \"1-0\";\n"),
        ("program", b"\x7FELF\x02\x01\x01\0\0\0\0"),
    ];

    #[test]
    fn kinds_know_their_own_from_others() {
        for (kind, own) in [(HTML, "html"), (JSON, "json"), (PGN, "pgn"), (TOML, "toml")] {
            for (name, head) in SAMPLES {
                // A tag of PGN begins as a list of JSON does.
                let expected = name == own || (own == "json" && name == "pgn");
                assert_eq!((kind.is_own)(head), expected, "{own} and {name}");
            }
        }
    }

    #[test]
    fn toml_begins_with_keys_tables_or_comments() {
        for text in ["a = 1", "\"a b\".c=1", "[a]", "[[a.b]]  # more", "# nothing else", "\n\n"] {
            assert!(is_toml(text.as_bytes()), "{text}");
        }
        for text in ["8/8/8/8/8/8/8/8 w - - 0 1 [0.5]", "= 1", "a", "notes: x = 1", "[Event \"x\"]", "{}"] {
            assert!(!is_toml(text.as_bytes()), "{text}");
        }
    }
}
