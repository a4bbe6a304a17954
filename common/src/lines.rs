//! Texts line by line, of which none is longer than a bound: a file that is no text, or unpacks to gigabytes without an
//! end of a line, is refused before it fills the memory.

use std::io::{self, BufRead, Read};

/// The longest line of a text that people or programs write, in bytes.
pub const LONGEST: usize = 1 << 20;

/// Reads lines and counts them.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    longest: usize,
    number: u64,
    /// A line to be read again.
    again: Option<Vec<u8>>,
}

impl<R: BufRead> Lines<R> {
    /// The lines of a text, none longer than so many bytes, its end included.
    pub fn new(input: R, longest: usize) -> Self {
        Lines { input, longest, number: 0, again: None }
    }

    /// Reads the next line into `line`, with its end if it has one; `false` if there is none.
    ///
    /// # Errors
    /// If the text cannot be read, or the line is longer than the bound; then with its number.
    pub fn read(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        self.number += 1;
        if let Some(again) = self.again.take() {
            *line = again;
            return Ok(!line.is_empty());
        }
        line.clear();
        self.input.by_ref().take(self.longest as u64 + 1).read_until(b'\n', line)?;
        if line.len() > self.longest {
            let message = format!("line {} is longer than {} bytes", self.number, self.longest);
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(!line.is_empty())
    }

    /// Puts the last line back, to be read again.
    pub fn put_back(&mut self, line: Vec<u8>) {
        self.number -= 1;
        self.again = Some(line);
    }

    /// The number of the line that was read last, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, longest: usize) -> Result<Vec<String>, String> {
        let (mut lines, mut line, mut found) = (Lines::new(text.as_bytes(), longest), Vec::new(), Vec::new());
        while lines.read(&mut line).map_err(|error| error.to_string())? {
            found.push(String::from_utf8(line.clone()).unwrap());
            assert_eq!(lines.number(), found.len() as u64);
        }
        Ok(found)
    }

    #[test]
    fn lines_have_a_bound() {
        assert_eq!(lines("ab\n\nabc", 3).unwrap(), ["ab\n", "\n", "abc"]);
        assert_eq!(lines("", 3).unwrap(), [""; 0]);
        let (mut twice, mut line) = (Lines::new(&b"a\nb"[..], 3), Vec::new());
        for (number, expected) in [(1, "a\n"), (2, "b")] {
            assert!(twice.read(&mut line).unwrap());
            twice.put_back(std::mem::take(&mut line));
            assert!(twice.read(&mut line).unwrap());
            assert_eq!((line.as_slice(), twice.number()), (expected.as_bytes(), number));
        }
        for long in ["ab\nabc\n", "ab\nabcd"] {
            assert_eq!(lines(long, 3).unwrap_err(), "line 2 is longer than 3 bytes");
        }
    }

    #[test]
    fn an_endless_line_is_not_kept() {
        let mut lines = Lines::new(io::BufReader::new(io::repeat(0)), 1000);
        let mut line = Vec::new();
        assert!(lines.read(&mut line).is_err());
        assert!(line.capacity() < 1 << 16);
    }
}
