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
    /// True if a file that begins like this is of the kind.
    pub is_own: fn(&[u8]) -> bool,
}

/// A page for a browser.
pub const HTML: Kind = Kind { name: "a page in HTML", is_own: |head| starts_with(head, "<!doctype html") };

/// An object or a list in JSON.
pub const JSON: Kind = Kind { name: "JSON", is_own: |head| starts_with(head, "{") || starts_with(head, "[") };

/// Games.
pub const PGN: Kind = Kind { name: "PGN", is_own: |head| starts_with(head, "[event ") };

/// Settings.
pub const TOML: Kind = Kind { name: "TOML", is_own: is_toml };

/// Numbers by name, as an evaluation has them.
pub const PARAMETERS: Kind = Kind { name: "a file of parameters", is_own: has_numbers_only };

impl Kind {
    /// Any content: the output cannot be recognised, and replaces whatever is there.
    pub const ANY: Kind = Kind { name: "a file", is_own: |_| true };

    /// Returns true if such a file may be written there: there is none, or an empty one, or one of this kind.
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

/// Returns true if the first word of a file, in small letters, is this one.
fn starts_with(head: &[u8], word: &str) -> bool {
    let head = head.trim_ascii_start();
    head.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
}

/// The lines of a file that are neither blank nor comments. A line that the head cuts off is none.
fn content_lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_cut = head.len() as u64 >= HEAD;
    let end = if is_cut { head.iter().rposition(|&byte| byte == b'\n').unwrap_or(0) } else { head.len() };
    let lines = head[..end].split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"))
}

/// Returns true if the first line with content is the header of a table or a key with a value. Comments alone may be of
/// a script.
fn is_toml(head: &[u8]) -> bool {
    content_lines(head).next().is_some_and(|line| is_header(line) || value_of(line).is_some())
}

/// Returns true if all lines are headers of tables, keys with numbers, or numbers of a list.
fn has_numbers_only(head: &[u8]) -> bool {
    let is_numeric = |text: &[u8]| text.iter().all(|byte| byte.is_ascii_digit() || b"+-.,_[]eE \t".contains(byte));
    let is_own = |line: &[u8]| {
        let line = line.split(|&byte| byte == b'#').next().unwrap_or_default().trim_ascii();
        is_header(line) || is_numeric(line) || value_of(line).is_some_and(is_numeric)
    };
    is_toml(head) && content_lines(head).all(is_own)
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.\"' ".contains(&byte)
}

/// Returns true if a line is the header of a table.
fn is_header(line: &[u8]) -> bool {
    let Some(table) = line.strip_prefix(b"[") else { return false };
    let name = table.split(|&byte| byte == b']').next().unwrap_or_default();
    // A tag of PGN has a name, a space and a value there.
    table.contains(&b']')
        && !name.contains(&b' ')
        && name.trim_ascii_start().iter().all(|&byte| is_key(byte) || byte == b'[')
}

/// The value that a line gives a key; none if it is no such line. A bare key is one word: `export A=1` is of a shell.
fn value_of(line: &[u8]) -> Option<&[u8]> {
    let (key, value) = line.split_at(line.iter().position(|&byte| byte == b'=')?);
    let key = key.trim_ascii_end();
    let is_word = key.iter().any(|byte| b"\"'".contains(byte)) || !key.contains(&b' ');
    (!key.is_empty() && is_word && key.iter().all(|&byte| is_key(byte))).then(|| &value[1..])
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
    fn toml_begins_with_keys_or_tables() {
        for text in ["a = 1", "\"a b\".c=1", "[a]", "[[a.b]]  # more", "# first\n\na = 1"] {
            assert!(is_toml(text.as_bytes()), "{text}");
        }
        for text in [
            "8/8/8/8/8/8/8/8 w - - 0 1 [0.5]",
            "= 1",
            "a",
            "notes: x = 1",
            "[Event \"x\"]",
            "{}",
            "# only\n",
            "export A=1",
        ] {
            assert!(!is_toml(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn files_of_parameters_have_numbers_only() {
        let long = format!("[a]\n{}", "name = [1, -2] # why\n".repeat(1000));
        for text in
            ["a = 1", "# x\n[psqt]\npawn = [\n  1, -2.5,\n]\n", "\"a b\" = [[1, 2], [3, 4]]", &long[..HEAD as usize]]
        {
            assert!(has_numbers_only(text.as_bytes()), "{text}");
        }
        for text in [
            "# Notes\n\nSome text.\n",
            "# build\nCC = gcc\nall:\n\t$(CC) a.c\n",
            "N = 4\nall:\n\techo $(N)\n",
            "# .bashrc\nexport A=1\nalias ll='ls -l'\n",
            "[package]\nname = \"x\"\nversion = \"1\"\n",
            "[workspace]\nmembers = [\"a\"]\n",
            "#!/bin/sh\nA=1\nexec run\n",
            "epd = [\"a.epd\"]\n",
            "# nothing else\n",
        ] {
            assert!(!has_numbers_only(text.as_bytes()), "{text}");
        }
    }
}
