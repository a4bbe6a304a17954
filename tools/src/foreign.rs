//! Files of formats that are not read, each with the program that converts it.

use std::fmt;

/// A format that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    name: &'static str,
    advice: &'static str,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "is {}, which is not read: {}", self.name, self.advice)
    }
}

/// Name, where its magic bytes stand, and the bytes.
const MAGIC: [(&str, usize, &[u8], &str); 21] = [
    ("a zip archive", 0, b"PK\x03\x04", "unzip it"),
    ("a 7-Zip archive", 0, b"7z\xBC\xAF\x27\x1C", "unpack it with 7z x"),
    ("a rar archive", 0, b"Rar!\x1A\x07", "unpack it with unrar x"),
    ("a tar archive", 257, b"ustar", "unpack it with tar -xf"),
    ("compressed with lz4", 0, b"\x04\x22\x4D\x18", "unpack it with lz4 -d"),
    ("compressed with lz4", 0, b"\x02\x21\x4C\x18", "unpack it with lz4 -d"),
    ("compressed with lzip", 0, b"LZIP", "unpack it with lzip -d"),
    ("compressed with lzop", 0, b"\x89LZO\0", "unpack it with lzop -d"),
    ("compressed with compress", 0, b"\x1F\x9D", "unpack it with gzip -d"),
    ("compressed with lzma", 0, b"\x5D\0\0", "unpack it with xz -d --format=lzma"),
    ("compressed with snappy", 0, b"\xFF\x06\0\0sNaPpY", "unpack it with snzip -d"),
    ("text in UTF-16", 0, b"\xFF\xFE", "convert it with iconv -f UTF-16 -t UTF-8"),
    ("text in UTF-16", 0, b"\xFE\xFF", "convert it with iconv -f UTF-16 -t UTF-8"),
    ("a Parquet file", 0, b"PAR1", "convert it to CSV, with DuckDB or pandas"),
    ("an array of NumPy", 0, b"\x93NUMPY", "convert it to CSV, with numpy.savetxt"),
    ("an HDF5 file", 0, b"\x89HDF", "convert it to CSV, with pandas"),
    ("an SQLite database", 0, b"SQLite format 3\0", "convert it with sqlite3 -csv -header FILE 'select ...'"),
    ("a PDF", 0, b"%PDF", "save its positions as text"),
    ("a page in HTML", 0, b"<!DOCTYPE", "download the file that it links to"),
    ("a page in HTML", 0, b"<html", "download the file that it links to"),
    ("a pointer of Git LFS", 0, b"version https://git-lfs", "fetch the file itself with git lfs pull"),
];

impl Foreign {
    /// The format of content that begins so, if it is one that is known and not read.
    pub fn of(head: &[u8]) -> Option<Self> {
        let begins = |at: usize, magic: &[u8]| head.get(at..).is_some_and(|rest| rest.starts_with(magic));
        let found = MAGIC.iter().find(|(_, at, magic, _)| begins(*at, magic));
        found.map(|&(name, _, _, advice)| Foreign { name, advice }).or_else(|| Self::of_text(head))
    }

    fn of_text(head: &[u8]) -> Option<Self> {
        let text = head.trim_ascii_start();
        let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
        if first.starts_with(b"{\"") || first == b"{" || first.starts_with(b"[{") || first == b"[" {
            let advice = "make lines of it, such as jq -r '\"\\(.fen) | \\(.score) | \\(.result)\"' FILE";
            return Some(Foreign { name: "JSON", advice });
        }
        let second = text.split(|&byte| byte == b'\n').nth(1).unwrap_or_default();
        let is_plain = first.starts_with(b"fen ") && second.starts_with(b"move ");
        let advice = "Stockfish's branch `tools` makes a binpack of it: convert FILE FILE.binpack";
        is_plain.then_some(Foreign { name: "Stockfish's format plain", advice })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_that_are_not_read_are_named_with_what_converts_them() {
        let told = |head: &[u8]| Foreign::of(head).map(|foreign| foreign.to_string()).unwrap_or_default();
        assert_eq!(told(b"PK\x03\x04.."), "is a zip archive, which is not read: unzip it");
        assert!(told(b"\x04\x22\x4D\x18..").contains("lz4 -d"));
        assert!(told(b"{\"fen\": \"8/8\"}\n").contains("jq -r"));
        assert!(told(b"fen 8/8/8/8/8/k7/7R/K7 w - - 0 1\nmove h2h3\nscore 3\n").contains("tools"));
        let mut tar = b"games.pgn".to_vec();
        tar.resize(257, 0);
        tar.extend(b"ustar\0");
        assert!(told(&tar).contains("tar -xf"));
        for text in [&b"8/8/8/8/8/k7/7R/K7 w - - [1.0]\n"[..], b"[Event \"x\"]\n", b"", b"fen,result\n"] {
            assert_eq!(Foreign::of(text), None);
        }
    }
}
