//! The reader of an engine's answers: rows of positions.
//!
//! The engine reads one FEN per line. It writes, in the format of [`super`], its declarations up to the line `rows`,
//! without the columns `result`, `group` and `search`, which the data provide. Then it writes for each FEN a row
//! without these columns, or `skip REASON`. Parameters of sums may also be declared behind the line `rows`, before
//! their first use. They get the next indices.
//!
//! Several processes of an engine may declare late parameters in different orders. [`Joint`] numbers them by name,
//! independently of that order.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::BufRead;

use anyhow::Result;

use super::Parameter;
use super::gather::Gather;
use super::header::Header;
use super::lines::LineReader;
use crate::data::io::Storage;
use crate::model::formula::brief;

/// The beginnings of declarations of parameters.
const PARAMETERS: [&str; 3] = ["pair ", "single ", "param "];

/// A reader of the output of one process of an engine.
pub(crate) struct Answers<'t> {
    lines: LineReader<'t>,
    header: Header,
    /// Rows of the current positions, which are parsed for validation; none after a new parameter was declared.
    gather: Option<Gather>,
}

/// The answer to a position.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    /// A row, with its score if the engine has a column for it.
    Row(Option<f32>),
    /// No row, with the reason.
    Skip(String),
}

impl<'t> Answers<'t> {
    /// Reads the declarations of an engine up to the line `rows`; messages call the engine `file`.
    pub(crate) fn open(file: &'t str, text: &'t mut dyn BufRead) -> Result<Self> {
        let mut lines = LineReader::new(file, text);
        let mut header = Header::default();
        header.is_of_engine = true;
        header.open(&mut lines)?;
        Ok(Answers { lines, header, gather: None })
    }

    /// Reads the answer to a position. A row is validated and appended to `rows` as a line of the text format, with the
    /// result, group and search score in `labels`, and with the position as a comment. Its entries have the indices of
    /// this process.
    pub(crate) fn answer(&mut self, labels: &str, fen: &str, rows: &mut String) -> Result<Answer> {
        let header = &mut self.header;
        loop {
            if !self.lines.advance()? {
                return Err(self.lines.fault("the engine has ended"));
            }
            let (line, place) = self.lines.text()?;
            if line.starts_with("pair ") || line.starts_with("single ") {
                header.declare((line, place)).map_err(|error| self.lines.fault_in_header(error))?;
                self.gather = None;
            } else if let Some(reason) =
                line.strip_prefix("skip").filter(|rest| rest.is_empty() || rest.starts_with(' '))
            {
                return Ok(Answer::Skip(brief(reason.trim_ascii()).escape_debug().to_string()));
            } else {
                let gather = match &mut self.gather {
                    Some(gather) => gather,
                    None => {
                        let model = header.model(place).map_err(|error| self.lines.fault_in_header(error))?;
                        self.gather.insert(Gather::new(header, model, &Storage::default()))
                    }
                };
                let row = format!("{labels} {line}");
                gather.read(header, &row, &self.lines)?;
                _ = writeln!(rows, "{row} # {fen}");
                return Ok(Answer::Row(gather.last_score()));
            }
        }
    }

    /// Returns the parameters declared so far.
    pub(crate) fn parameters(&self) -> &[Parameter] {
        &self.header.parameters
    }

    /// Returns the lines of the declarations, those of late parameters behind the line `rows`.
    pub(crate) fn into_declarations(self) -> Vec<String> {
        self.header.lines
    }

    /// Drops the validated rows.
    pub(crate) fn forget(&mut self) {
        self.gather = None;
    }

    /// Returns true if the output of the engine has ended.
    pub(crate) fn is_over(&mut self) -> Result<bool> {
        Ok(!self.lines.advance()?)
    }
}

/// The merged declarations of all processes.
#[derive(Debug, PartialEq)]
pub(crate) struct Joint {
    /// The text of the declarations up to the line `rows`, without the first line.
    pub(crate) head: String,
    /// Indices in that text of each process's parameters.
    pub(crate) numbers: Vec<Vec<usize>>,
}

impl Joint {
    /// Merges the lines of the declarations of processes of one engine.
    ///
    /// # Errors
    /// The first two lines that contradict each other.
    ///
    /// # Panics
    /// If there is no process.
    pub(crate) fn of(processes: &[Vec<String>]) -> Result<Self, String> {
        let (head, _) = divided(&processes[0]);
        let is_parameter = |line: &&String| PARAMETERS.iter().any(|keyword| line.starts_with(keyword));
        let opening = head.iter().filter(is_parameter).count();
        let mut late: BTreeMap<NaturalKey, &String> = BTreeMap::new();
        for (own, own_late) in processes.iter().map(|lines| divided(lines)) {
            if own.len() != head.len() {
                return Err("declare more and less before the line `rows`".to_owned());
            }
            let known = own_late.iter().map(|line| (*late.entry(natural_key(line)).or_insert(line), line));
            if let Some((one, other)) = head.iter().zip(own).chain(known).find(|(one, other)| one != other) {
                return Err(format!("declare `{}` and `{}`", brief(one), brief(other)));
            }
        }
        let places: BTreeMap<&NaturalKey, usize> = late.keys().zip(opening..).collect();
        let numbers = processes.iter().map(|lines| {
            let late = divided(lines).1.iter().map(|line| places[&natural_key(line)]);
            (0..opening).chain(late).collect()
        });
        let numbers = numbers.collect();
        let (columns, declared) = head.split_last().expect("a line `rows`");
        let columns = columns.replacen("rows", "rows result group search", 1);
        let lines = declared.iter().chain(late.into_values()).chain([&columns]);
        Ok(Joint { numbers, head: lines.flat_map(|line| [line, "\n"]).collect() })
    }
}

/// Divides the lines of declarations behind the line `rows`.
fn divided(lines: &[String]) -> (&[String], &[String]) {
    let rows = lines.iter().position(|line| line.starts_with("rows")).expect("a line `rows`");
    lines.split_at(rows + 1)
}

/// Replaces the parameter indices in the entries of a row.
pub(crate) fn renumber(row: &str, numbers: &[usize], to: &mut String) {
    let end = row.find(" #").unwrap_or(row.len());
    for word in row[..end].split_ascii_whitespace() {
        match word.split_once(':').and_then(|(index, count)| Some((index.parse::<usize>().ok()?, count))) {
            Some((index, count)) => _ = write!(to, "{}:{count} ", numbers[index]),
            None => _ = write!(to, "{word} "),
        }
    }
    to.push_str(row[end..].trim_start());
    to.push('\n');
}

/// The words and numbers of a name. Numbers compare by their lengths, then by their digits.
type NaturalKey = Vec<(usize, Vec<u8>)>;

/// Returns the key of a parameter's name in natural sort order, `a[2]` before `a[10]`, from its declaration.
fn natural_key(line: &str) -> NaturalKey {
    let name = line.split(' ').nth(2).unwrap_or_default();
    let parts = name.as_bytes().chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
    parts.map(|part| (if part[0].is_ascii_digit() { part.len() } else { usize::MAX }, part.to_vec())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::text::VERSION;

    const HEAD: &str = "merino-rows 2\nsum main pair\nsum side single sided\nfact f 0 1\nscore = main.mg + \
        f * (main.eg + side.white - side.black)\npair main z 1 2\nrows score f\n";

    /// Reads the declarations and rows of a process that answers a number of positions.
    fn said(text: &str, positions: usize) -> Result<(Vec<String>, String)> {
        let text = format!("{HEAD}{text}");
        let mut bytes = text.as_bytes();
        let mut answers = Answers::open("engine", &mut bytes)?;
        let mut rows = String::new();
        for _ in 0..positions {
            answers.answer("0.5 7 -3", "a fen", &mut rows)?;
        }
        Ok((answers.into_declarations(), rows))
    }

    #[test]
    fn numbers_late_parameters_alike_in_any_order() {
        let one =
            said("pair main a[10] 3 4\n1 1 0:1 1:-2 # why\nskip dull\nsingle side a[9] 5\n2 0 w 2:1\n", 3).unwrap();
        let other = said("single side a[9] 5\npair main a[10] 3 4\n2 0 w 1:1\n1 1 0:1 2:-2\n", 2).unwrap();
        let joint = Joint::of(&[one.0, other.0]).unwrap();
        assert_eq!(joint.numbers, [[0, 2, 1], [0, 1, 2]]);
        let mut rows = String::new();
        one.1.lines().for_each(|row| renumber(row, &joint.numbers[0], &mut rows));
        assert_eq!(rows, "0.5 7 -3 1 1 0:1 2:-2 # a fen\n0.5 7 -3 2 0 w 1:1 # a fen\n");
        let mut again = String::new();
        other.1.lines().rev().for_each(|row| renumber(row, &joint.numbers[1], &mut again));
        assert_eq!(again, rows);
        // The merged declarations and rows are a valid text.
        let text = super::super::parse(format!("{VERSION}\n{}{rows}", joint.head)).unwrap();
        let names: Vec<&str> = text.parameters.iter().map(|parameter| &parameter.name[..]).collect();
        assert_eq!((names, text.rows.len()), (vec!["z", "a[9]", "a[10]"], 2));
    }

    #[test]
    fn refuses_contradictory_declarations_and_invalid_rows() {
        let of = |text: &str| said(text, 0).unwrap().0;
        let late = |text: &str| said(&format!("{text}\nskip\n"), 1).unwrap().0;
        assert!(Joint::of(&[of(""), late("pair main a 1 2")]).is_ok());
        let message = Joint::of(&[late("pair main a 1 2"), late("pair main a 1 3")]).unwrap_err();
        assert_eq!(message, "declare `pair main a 1 2` and `pair main a 1 3`");
        for wrong in ["sum more pair", "1 2", "1 1 9:1", "1 1 w 0:1", "1 1 0:0.5", ""] {
            assert!(said(&format!("{wrong}\n"), 1).is_err(), "{wrong}");
        }
    }
}
