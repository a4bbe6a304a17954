//! The words of a game's main line, with their lines.
//!
//! pgn-reader passes over what it cannot read as a move, without a word. A game would go on from a wrong position then:
//! so every word is looked at once more.

use pgn_reader::SanPlus;

/// What stands for a variation without an end.
pub(super) const OPEN: &[u8] = b"(";

/// A word that is meant as a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'t> {
    /// Its line within the text, 0 for the first.
    pub(super) line: u64,
    /// Its letters and signs.
    pub(super) text: &'t [u8],
}

impl Word<'_> {
    /// Whether it has the form of a move.
    pub(super) fn is_move(&self) -> bool {
        SanPlus::from_ascii(self.text).is_ok()
    }
}

/// The words that are meant as moves; numbers, results, comments, variations and annotations are passed over.
pub(super) struct Words<'t> {
    text: &'t [u8],
    at: usize,
    line: u64,
}

impl<'t> Words<'t> {
    /// Of a text that begins with tags.
    pub(super) fn new(text: &'t [u8]) -> Self {
        let mut words = Words { text, at: 0, line: 0 };
        while words.text[words.at..].trim_ascii_start().starts_with(b"[") {
            words.skip_blanks();
            words.skip_after(b'\n');
        }
        words
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The next byte is passed.
    fn step(&mut self) {
        self.line += u64::from(self.peek() == Some(b'\n'));
        self.at += 1;
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.step();
        }
    }

    fn skip_after(&mut self, end: u8) {
        while let Some(byte) = self.peek() {
            self.step();
            if byte == end {
                break;
            }
        }
    }

    /// Passes a variation and those within it; whether it has an end.
    fn skip_variation(&mut self) -> bool {
        let mut depth = 0_u64;
        while let Some(byte) = self.peek() {
            match byte {
                b'{' => self.skip_after(b'}'),
                b';' => self.skip_after(b'\n'),
                _ => {
                    self.step();
                    depth += u64::from(byte == b'(');
                    depth -= u64::from(byte == b')');
                }
            }
            if depth == 0 {
                return true;
            }
        }
        false
    }

    /// The bytes up to the end of the word.
    fn take_word(&mut self) -> &'t [u8] {
        let rest = &self.text[self.at..];
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"{}()!?$;.*".contains(byte);
        let word = &rest[..rest.iter().position(is_end).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }
}

impl<'t> Iterator for Words<'t> {
    type Item = Word<'t>;

    fn next(&mut self) -> Option<Word<'t>> {
        loop {
            let is_line_start = self.at == 0 || self.text[self.at - 1] == b'\n';
            match self.peek()? {
                b'{' => self.skip_after(b'}'),
                b';' => self.skip_after(b'\n'),
                b'%' if is_line_start => self.skip_after(b'\n'),
                b'(' => {
                    let line = self.line;
                    if !self.skip_variation() {
                        return Some(Word { line, text: OPEN });
                    }
                }
                b'}' => {
                    self.step();
                    return Some(Word { line: self.line, text: b"}" });
                }
                b'$' => {
                    self.step();
                    self.take_word();
                }
                byte if byte.is_ascii_whitespace() || b")!?.*".contains(&byte) => self.step(),
                _ => {
                    let text = self.take_word();
                    let text = if text.starts_with(b"0") { text } else { without_number(text) };
                    if is_meant_as_move(text) {
                        return Some(Word { line: self.line, text });
                    }
                }
            }
        }
    }
}

/// Numbers, results and marks such as `+-` have no letters; castling may be written with zeros.
fn is_meant_as_move(word: &[u8]) -> bool {
    let is_castling = word.starts_with(b"0-0") || word == b"--";
    is_castling || word.iter().any(|byte| byte.is_ascii_alphabetic())
}

/// A move without the number that may stand before it.
fn without_number(word: &[u8]) -> &[u8] {
    &word[word.iter().take_while(|byte| byte.is_ascii_digit()).count()..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_meant_as_a_move_is_a_word() {
        let text = "[Event \"e4\"]\n[Site \"d4\"]\n\n{e5\n} 1. e4! $3 (1. d4 {)} (c4) d5 ; )\n) 1... e5?! +- \n%Nf3\n2.Nf3 +/=\n\
                    Nc6 3.O-O 0-0+ --\nx} 1/2-1/2 ½-½ *\n";
        let words: Vec<(u64, &str)> =
            Words::new(text.as_bytes()).map(|word| (word.line, std::str::from_utf8(word.text).unwrap())).collect();
        let expected =
            [(4, "e4"), (5, "e5"), (7, "Nf3"), (8, "Nc6"), (8, "O-O"), (8, "0-0+"), (8, "--"), (9, "x"), (9, "}")];
        assert_eq!(words, expected);
        assert_eq!(Words::new(b"").next(), None);
        assert_eq!(Words::new(b"[Event").next(), None);
        assert_eq!(Words::new(b"\n(((e4)\n\n").collect::<Vec<_>>(), [Word { line: 1, text: OPEN }]);
        for (word, is_move) in [("Nf3", true), ("e8=Q#", true), ("Nf3Nf6", false), ("x", false), ("e9", false)] {
            assert_eq!(Word { line: 0, text: word.as_bytes() }.is_move(), is_move, "{word}");
        }
    }
}
