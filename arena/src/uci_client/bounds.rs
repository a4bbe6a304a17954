//! Bounds on the stored output of an engine, so that no engine decides how much memory or disk is used.

/// The bytes of a line that are read; what is longer is not UCI.
pub(super) const LONGEST_LINE: usize = 1 << 16;
/// The lines of a search, or of waiting for a word, that are kept: the last ones.
pub(super) const MAX_LINES: usize = 4096;
/// The bytes that all these lines may have together.
pub(super) const MAX_LINE_BYTES: usize = 1 << 20;
/// The options of an engine that are known; no engine has as many.
pub(super) const MAX_OPTIONS: usize = 1000;
/// The bytes of a text that is stored: a name, an error, a line of standard error, the text of a note.
pub const LONGEST_TEXT: usize = 1024;
/// The notes of a game, and of an engine in a match, that keep their text; further ones are counted.
pub const MAX_NOTES: usize = 50;
/// The most nodes of a search that an engine is believed: a thousand processors take weeks for as many.
pub(super) const MAX_NODES: u64 = 1_000_000_000_000_000;
/// The deepest search that an engine is believed, plies.
pub(super) const DEEPEST: u32 = 10_000;

/// The text, or as much of its beginning as is kept, with an ellipsis.
pub fn shortened(text: &str) -> String {
    if text.len() <= LONGEST_TEXT {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(LONGEST_TEXT - '…'.len_utf8());
    format!("{}…", &text[..end])
}

/// The last lines of output; a flood loses its oldest half.
#[derive(Debug, Default)]
pub(super) struct LastLines {
    lines: Vec<String>,
    bytes: usize,
}

impl LastLines {
    /// Adds a line.
    pub(super) fn push(&mut self, line: String) {
        while !self.lines.is_empty() && (self.lines.len() == MAX_LINES || self.bytes + line.len() > MAX_LINE_BYTES) {
            let oldest = self.lines.drain(..self.lines.len().div_ceil(2));
            self.bytes -= oldest.map(|line| line.len()).sum::<usize>();
        }
        self.bytes += line.len();
        self.lines.push(line);
    }

    /// The lines, in order.
    pub(super) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The lines, in order.
    pub(super) fn into_lines(self) -> Vec<String> {
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(shortened("é"), "é");
        let longest = "x".repeat(LONGEST_TEXT);
        assert_eq!(shortened(&longest), longest);
        for start in ["", "x", "xx"] {
            let cut = shortened(&format!("{start}{}", "é".repeat(LONGEST_TEXT)));
            assert!(cut.len() <= LONGEST_TEXT && cut.len() > LONGEST_TEXT - 4 && cut.ends_with("é…"), "{}", cut.len());
        }
    }

    #[test]
    fn a_flood_loses_its_oldest_lines() {
        let (mut many, mut long) = (LastLines::default(), LastLines::default());
        for number in 0..3 * MAX_LINES {
            many.push(number.to_string());
            long.push(format!("{number}{}", "x".repeat(number % 7 * LONGEST_LINE / 7)));
            assert!(many.lines.len() <= MAX_LINES && long.bytes <= MAX_LINE_BYTES);
        }
        assert_eq!(long.bytes, long.lines.iter().map(String::len).sum::<usize>());
        let kept = many.into_lines();
        let last: Vec<String> = (3 * MAX_LINES - kept.len()..3 * MAX_LINES).map(|number| number.to_string()).collect();
        assert!(kept.len() >= MAX_LINES / 2 && kept == last);
    }
}
