//! Rows as text, for engines in any language.
//!
//! ```text
//! merino-rows 1
//! single tempo 10
//! pair psqt[0][0] -5 12.5
//! phase 0 1 1 2 4
//! rows
//! 0.5 0 16 4 4 4 2 17 0:1 1:-2
//! ```
//!
//! The first line says what follows. Then comes a line a parameter, in the order of their indices from 0 on: whether it
//! is a `single` value or a `pair`, its name, and where it starts, in centipawns, midgame first. `phase` has the phase
//! weights of pawn, knight, bishop, rook and queen; without it they are 0 1 1 2 4. After `rows` there is a line a row:
//! the result White got or is expected to get (0 to 1), what does not depend on any parameter (centipawns, White's
//! view), pawns, knights, bishops, rooks and queens on the board (both colours together), the number of a group of rows
//! that belong together, such as a game (0 to 4294967295), and index and count of every parameter that counts, positive
//! for White. Blank lines and lines that begin with `#` mean nothing.

use std::io::{self, BufRead, Read, Write};
use std::path::Path;

use common::files::write_whole_with;
use thiserror::Error;

use super::gather::Gather;
use super::{FitError, PHASE_WEIGHTS, Parameter, Problem, RowError, Value};
use crate::objective::{PHASE_PIECES, RowsBuilder, RowsError};
use crate::storage::Storage;

/// The first line.
const HEADER: &str = "merino-rows 1";

/// Longest line in bytes; a row with all 65536 parameters fits.
const LONGEST: u64 = 1 << 20;

/// Why a text of rows is not one.
#[derive(Debug, Error)]
pub enum TextError {
    /// The system refused.
    #[error("{file}: cannot be read: {error}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system said.
        error: io::Error,
    },
    /// A line has a fault.
    #[error("{file}:{line}: {fault}")]
    Line {
        /// The file.
        file: String,
        /// The line, 1 for the first.
        line: u64,
        /// What is wrong with it.
        fault: Fault,
    },
    /// There is no row.
    #[error("{0}: no rows")]
    Empty(String),
}

/// What is wrong with a line.
#[derive(Debug, Error)]
pub enum Fault {
    /// The file is of another kind.
    #[error("expected `{HEADER}`: not a file of rows")]
    Header,
    /// Something else was expected.
    #[error("expected {expected}, found `{found}`")]
    Expected {
        /// What was expected.
        expected: &'static str,
        /// What stands there; empty at the end of the line.
        found: String,
    },
    /// The line is longer than any row.
    #[error("longer than {LONGEST} bytes")]
    Long,
    /// It is not text.
    #[error("is not text")]
    Binary,
    /// The row.
    #[error(transparent)]
    Row(#[from] RowError),
    /// The row, too.
    #[error(transparent)]
    Rows(#[from] RowsError),
}

/// Reads the rows of a text.
pub(super) fn read(file: &str, text: &mut dyn BufRead, storage: &Storage) -> Result<Problem, FitError> {
    let mut reader = Reader { file, text, number: 0, line: Vec::new() };
    let mut rows = Gather::new(reader.parameters()?, storage)?;
    while let Some(line) = reader.next()? {
        if let Err(fault) = row(line, &mut rows) {
            return Err(reader.fault(fault).into());
        }
        rows.settle()?;
    }
    rows.finish(file)
}

impl Problem {
    /// Writes the rows as text, whole or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_rows(&self, path: &Path) -> Result<(), FitError> {
        Ok(write_whole_with(path, |mut text| self.write_to(&mut text))?)
    }

    fn write_to(&self, text: &mut impl Write) -> io::Result<()> {
        writeln!(text, "{HEADER}")?;
        for Parameter { name, value } in &self.parameters {
            match value {
                Value::Single(value) => writeln!(text, "single {name} {value}")?,
                Value::Pair([midgame, endgame]) => writeln!(text, "pair {name} {midgame} {endgame}")?,
            }
        }
        write!(text, "phase")?;
        self.phase.iter().try_for_each(|weight| write!(text, " {weight}"))?;
        writeln!(text, "\nrows")?;
        let mut constants = self.rows.constants(0..self.rows.len()).peekable();
        for row in 0..self.rows.len() {
            let constant = constants.next_if(|&(at, _)| at as usize == row).map_or(0.0, |(_, constant)| constant);
            write!(text, "{} {constant}", self.rows.targets()[row])?;
            self.rows.phases()[row].iter().try_for_each(|count| write!(text, " {count}"))?;
            write!(text, " {}", self.groups[row])?;
            let (index, count) = self.rows.row(row);
            index.iter().zip(count).try_for_each(|(index, count)| write!(text, " {index}:{count}"))?;
            writeln!(text)?;
        }
        Ok(())
    }
}

/// Reads a text line by line.
struct Reader<'n> {
    file: &'n str,
    text: &'n mut dyn BufRead,
    /// Of the present line, 1 for the first.
    number: u64,
    line: Vec<u8>,
}

impl Reader<'_> {
    /// What stands before the rows.
    fn parameters(&mut self) -> Result<Problem, FitError> {
        match self.next()? {
            Some(HEADER) => {}
            _ => return Err(self.fault(Fault::Header).into()),
        }
        let mut parameters = Vec::new();
        let mut phase = PHASE_WEIGHTS;
        loop {
            match self.next()?.map(|line| declaration(line, &mut phase)) {
                Some(Ok(Declared::Parameter(parameter))) => {
                    parameters.push(parameter);
                    RowsBuilder::new(parameters.len()).map_err(|error| self.fault(error.into()))?;
                }
                Some(Ok(Declared::Phase)) => {}
                Some(Ok(Declared::Rows)) => return Problem::empty(parameters, phase),
                Some(Err(fault)) => return Err(self.fault(fault).into()),
                None => return Err(self.fault(expected("a line `rows`", None)).into()),
            }
        }
    }

    /// The next line that means something, without blanks around it; `None` at the end.
    fn next(&mut self) -> Result<Option<&str>, TextError> {
        loop {
            self.line.clear();
            let read = (&mut *self.text).take(LONGEST + 1).read_until(b'\n', &mut self.line);
            let read = read.map_err(|error| TextError::Unreadable { file: self.file.to_owned(), error })?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.line.len() as u64 > LONGEST {
                return Err(self.fault(Fault::Long));
            }
            let line = self.line.trim_ascii();
            if !line.is_empty() && line[0] != b'#' {
                break;
            }
        }
        match std::str::from_utf8(self.line.trim_ascii()) {
            Ok(line) => Ok(Some(line)),
            Err(_) => Err(self.fault(Fault::Binary)),
        }
    }

    fn fault(&self, fault: Fault) -> TextError {
        TextError::Line { file: self.file.to_owned(), line: self.number, fault }
    }
}

/// What a line before the rows says.
enum Declared {
    Parameter(Parameter),
    Phase,
    Rows,
}

fn declaration(line: &str, phase: &mut [f64; PHASE_PIECES]) -> Result<Declared, Fault> {
    let mut words = line.split_ascii_whitespace();
    let kind = words.next();
    let declared = match kind {
        Some("rows") => Declared::Rows,
        Some("phase") => {
            for weight in phase {
                *weight = number("a phase weight", words.next())?;
            }
            Declared::Phase
        }
        Some("single" | "pair") => {
            let name = words.next().ok_or_else(|| expected("a name", None))?;
            let mut value = || number("a number of centipawns", words.next());
            Declared::Parameter(match kind {
                Some("single") => Parameter::single(name, value()?),
                _ => Parameter::pair(name, value()?, value()?),
            })
        }
        other => return Err(expected("single, pair, phase or rows", other)),
    };
    match words.next() {
        None => Ok(declared),
        more => Err(expected("the end of the line", more)),
    }
}

/// Adds the row of a line.
fn row(line: &str, rows: &mut Gather) -> Result<(), Fault> {
    let mut words = line.split_ascii_whitespace();
    let target = number("a result from 0 to 1", words.next())?;
    let row = rows.row();
    row.constant = number("a constant", words.next())?;
    for count in &mut row.pieces {
        *count = number("a count of pieces", words.next())?;
    }
    let group = number("the number of a group", words.next())?;
    for word in words {
        let entry = || expected("index:count", Some(word));
        let (index, count) = word.split_once(':').ok_or_else(entry)?;
        row.add(index.parse().map_err(|_| entry())?, count.parse().map_err(|_| entry())?);
    }
    rows.push(target, group)
}

fn number<T: std::str::FromStr>(what: &'static str, word: Option<&str>) -> Result<T, Fault> {
    word.and_then(|word| word.parse().ok()).ok_or_else(|| expected(what, word))
}

fn expected(what: &'static str, found: Option<&str>) -> Fault {
    let found = found.unwrap_or_default().chars().take(40).collect();
    Fault::Expected { expected: what, found }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = "merino-rows 1\n# of a toy\nsingle tempo 10\npair p[0] 80 100.5\nphase 0 1 1 2 4\nrows\n\n\
                        0.5 0 16 4 4 4 2 17 0:1 1:-2\n1 -31.5 8 0 1 2 0 18 1:3 0:-1 0:1\n";

    fn read(text: impl AsRef<[u8]>) -> Result<Problem, FitError> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(&file, text).expect("room on the disk");
        Problem::read_rows(file.path(), &Storage::default(), &())
    }

    #[test]
    fn rows_are_read_as_they_are_written() {
        let problem = read(ROWS).expect("sound rows");
        assert_eq!(problem.parameters, [Parameter::single("tempo", 10.0), Parameter::pair("p[0]", 80.0, 100.5)]);
        assert_eq!((problem.rows.row(0), problem.rows.row(1)), ((&[0, 1][..], &[1, -2][..]), (&[1][..], &[3][..])));
        assert_eq!((problem.rows.targets(), &problem.groups[..]), (&[0.5, 1.0][..], &[17, 18][..]));
        assert_eq!(problem.rows.phases(), [[16, 4, 4, 4, 2], [8, 0, 1, 2, 0]]);
        assert!(problem.rows.constants(0..2).eq([(1, -31.5)]));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rows");
        problem.write_rows(&path).expect("room on the disk");
        assert_eq!(Problem::read_rows(&path, &Storage::default(), &()).expect("sound rows"), problem);
        let packed = zstd::encode_all(ROWS.as_bytes(), 1).expect("memory");
        assert_eq!(read(&packed).expect("sound rows"), problem);
        assert!(read(&packed[..packed.len() - 9]).is_err());
    }

    #[test]
    fn faults_are_told_with_their_line() {
        for (before, after, told) in [
            ("merino-rows 1", "merino-rows 2", ":1: expected `merino-rows 1`: not a file of rows"),
            ("single tempo 10", "single tempo", ":3: expected a number of centipawns, found ``"),
            ("pair p[0]", "pare p[0]", ":4: expected single, pair, phase or rows, found `pare`"),
            ("100.5", "100.5 3", ":4: expected the end of the line, found `3`"),
            ("p[0]", "tempo", "parameter 1 is called `tempo`"),
            ("100.5", "inf", "`p[0]` starts at inf"),
            ("2 4\nrows", "2 -4\nrows", "`phase` starts at -4"),
            ("0.5 0 16", "1/2 0 16", ":8: expected a result from 0 to 1, found `1/2`"),
            ("0.5 0 16", "1.5 0 16", ":8: rows: target 1.5 of row 0 is not in 0..=1"),
            ("0.5 0 16", "0.5 0 256", ":8: expected a count of pieces, found `256`"),
            ("1:-2", "2:-2", ":8: parameter 2 is not one of the 2 there are"),
            ("1:-2", "1:-200", ":8: parameter 1 counts -200 times, more than 127"),
            ("1:-2", "1-2", ":8: expected index:count, found `1-2`"),
            ("-31.5", "NaN", ":9: rows: constant NaN of row 1 is not finite"),
            ("rows\n\n", "", ":6: expected single, pair, phase or rows, found `0.5`"),
        ] {
            let error = read(ROWS.replacen(before, after, 1)).expect_err(told).to_string();
            assert!(error.contains(told), "{error}, not {told}");
        }
        // They go on for ever, for all that the reader knows.
        let many = (0..70_000).map(|index| format!("single p{index} 0\n")).collect::<String>();
        let many = format!("merino-rows 1\n{many}").into_bytes();
        for (text, told) in [
            (&b"merino-rows 1\nrows\n"[..], ": no rows"),
            (b"merino-rows 1\n", ":1: expected a line `rows`, found ``"),
            (b"", ":0: expected `merino-rows 1`"),
            (b"merino-rows 1\n\xff\xfe", ":2: is not text"),
            (&many, ":65538: rows: 65537 pair features, at most 65536 can be told apart"),
        ] {
            let error = read(text).expect_err(told).to_string();
            assert!(error.contains(told), "{error}, not {told}");
        }
        let long = format!("{ROWS}{}", "0 ".repeat(1 << 20));
        assert!(read(long).expect_err("too long").to_string().ends_with(":10: longer than 1048576 bytes"));
    }
}
