//! The reader of an engine's answers: rows of positions.
//!
//! The engine reads one FEN per line. It writes, in the format of [`super`], its declarations up to the line `rows`,
//! without the columns `result`, `group` and `search`, which the data provide. Then it writes for each FEN a row
//! without these columns, or `skip REASON`. Parameters of sums may also be declared behind the line `rows`, before
//! their first use. They get the next indices.
//!
//! Several processes of an engine may declare late parameters in different orders. [`Joint`] numbers them by name,
//! independently of that order.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::BufRead;

use super::gather::Gather;
use super::header::{Header, RowColumn};
use super::lines::LineReader;
use super::row::RowFormat;
use super::write::sum_line;
use super::{Parameter, TextError};
use crate::io::Storage;
use crate::model::formula::{FormulaPosition, brief};

/// A reader of the output of one process of an engine.
pub(crate) struct Answers<'t> {
    lines: LineReader<'t>,
    header: Header,
    columns: Vec<RowColumn>,
    opening: usize,
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

/// A query for the row of a position, with its labels.
pub(crate) struct PositionQuery<'f> {
    pub(crate) fen: &'f str,
    pub(crate) result: f32,
    /// Score of a search, centipawns, White's view.
    pub(crate) search: Option<i16>,
    pub(crate) group: Option<u32>,
}

/// The declarations of a process.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Declarations {
    /// Lines of the sums.
    sums: Vec<String>,
    /// Name and line of each parameter by index.
    parameters: Vec<(String, String)>,
    /// Number of parameters that were declared before the line `rows`.
    opening: usize,
    formula: String,
    columns: String,
}

impl<'t> Answers<'t> {
    /// Reads the declarations of an engine up to the line `rows`; messages call the engine `file`.
    pub(crate) fn open(file: &'t str, text: &'t mut dyn BufRead) -> Result<Self, TextError> {
        let mut lines = LineReader::new(file, text);
        let mut header = Header::default();
        header.is_of_engine = true;
        let declared = header.open(&mut lines)?;
        let opening = header.parameters.len();
        Ok(Answers { lines, header, columns: declared.columns, opening, gather: None })
    }

    /// Reads the answer to a position. A row is validated and appended to `rows` as a line of the text format, with the
    /// position as a comment. Its entries have the indices of this process.
    pub(crate) fn answer(&mut self, asked: &PositionQuery<'_>, rows: &mut String) -> Result<Answer, TextError> {
        loop {
            if !self.lines.advance()? {
                return Err(self.lines.fault("the engine has ended".to_owned()));
            }
            let (line, place) = self.lines.text()?;
            let line = line.split(" #").next().unwrap_or_default().trim_ascii_end();
            if line.starts_with("pair ") || line.starts_with("single ") {
                self.header.declare(line, place).map_err(|error| self.lines.fault_in_header(error))?;
                self.gather = None;
            } else if let Some(reason) =
                line.strip_prefix("skip").filter(|rest| rest.is_empty() || rest.starts_with(' '))
            {
                return Ok(Answer::Skip(brief(reason.trim_ascii()).escape_debug().to_string()));
            } else {
                let start = rows.len();
                let group = asked.group.map_or("-".to_owned(), |group| group.to_string());
                let search = asked.search.map_or("-".to_owned(), |score| score.to_string());
                _ = write!(rows, "{} {group} {search} {line}", asked.result);
                let score =
                    Self::check(&self.header, &self.columns, &mut self.gather, &rows.as_bytes()[start..], &self.lines)?;
                _ = writeln!(rows, " # {}", asked.fen);
                return Ok(Answer::Row(score));
            }
        }
    }

    /// Returns the parameters declared so far.
    pub(crate) fn parameters(&self) -> &[Parameter] {
        &self.header.parameters
    }

    /// Drops the validated rows.
    pub(crate) fn forget(&mut self) {
        self.gather = None;
    }

    /// Returns true if the output of the engine has ended.
    pub(crate) fn is_over(&mut self) -> Result<bool, TextError> {
        Ok(!self.lines.advance()?)
    }

    /// Validates a row with the checks of the text reader, and returns its score, if there is one.
    fn check(
        header: &Header,
        columns: &[RowColumn],
        gather: &mut Option<Gather>,
        row: &[u8],
        lines: &LineReader,
    ) -> Result<Option<f32>, TextError> {
        let mut rows = match gather.take() {
            Some(rows) => rows,
            None => {
                let place = FormulaPosition { line: lines.number, column: 1 };
                let declared = header.finish(columns.to_vec(), place).map_err(|error| lines.fault_in_header(error))?;
                Gather::new(header, &declared, &Storage::default())
            }
        };
        let format = RowFormat { header, columns };
        let label = format.parse(row, &mut rows).map_err(|message| lines.fault(message))?;
        rows.push(label, lines)?;
        rows.check_scores(lines)?;
        Ok(gather.insert(rows).last_score())
    }

    /// Returns all declarations.
    pub(crate) fn declarations(self) -> Declarations {
        let Header { sums, parameters, text, facts, .. } = self.header;
        let names = self.columns.iter().map(|column| match column {
            RowColumn::Result => "result",
            RowColumn::Group => "group",
            RowColumn::Search => "search",
            RowColumn::Score => "score",
            RowColumn::Constant => "constant",
            RowColumn::Fact(fact) => &facts[fact - 1].0,
        });
        Declarations {
            columns: format!("rows {}", names.collect::<Vec<_>>().join(" ")),
            parameters: parameters.iter().map(|one| (one.name.clone(), one.line(&sums))).collect(),
            sums: sums.iter().map(sum_line).collect(),
            opening: self.opening,
            formula: text,
        }
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
    /// Merges the declarations of processes of one engine.
    ///
    /// # Errors
    /// The first two lines that contradict each other.
    ///
    /// # Panics
    /// If there is no process.
    pub(crate) fn of(processes: &[Declarations]) -> Result<Self, String> {
        let first = &processes[0];
        let mut late: BTreeMap<Natural, &str> = BTreeMap::new();
        for process in processes {
            let pairs = first.opening().zip(process.opening()).chain([(&first.columns[..], &process.columns[..])]);
            let of_names = process.parameters[process.opening..].iter().map(|(name, line)| {
                let known = *late.entry(Natural(name)).or_insert(line);
                (known, &line[..])
            });
            if first.opening().count() != process.opening().count() {
                return Err("declare more and less before the line `rows`".to_owned());
            }
            if let Some((one, other)) = pairs.chain(of_names.collect::<Vec<_>>()).find(|(one, other)| one != other) {
                return Err(format!("declare `{}` and `{}`", brief(one), brief(other)));
            }
        }
        let opening = first.opening;
        let mut head: String = first.sums.iter().flat_map(|line| [line, "\n"]).collect();
        let lines = first.parameters[..opening].iter().map(|parameter| &parameter.1[..]).chain(late.values().copied());
        lines.for_each(|line| _ = writeln!(head, "{line}"));
        _ = writeln!(head, "{}{}", first.formula, first.columns);
        let places: BTreeMap<Natural, usize> = late.keys().copied().zip(opening..).collect();
        let numbers = processes.iter().map(|process| {
            let late = process.parameters[opening..].iter().map(|(name, _)| places[&Natural(name)]);
            (0..opening).chain(late).collect()
        });
        Ok(Joint { numbers: numbers.collect(), head })
    }
}

impl Declarations {
    fn opening(&self) -> impl Iterator<Item = &str> {
        let parameters = self.parameters[..self.opening].iter().map(|parameter| &parameter.1[..]);
        self.sums.iter().map(|line| &line[..]).chain(parameters).chain(self.formula.lines())
    }
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

/// A name in natural sort order: `a[2]` before `a[10]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Natural<'n>(&'n str);

impl<'n> Natural<'n> {
    /// Splits the name into words and numbers; numbers compare by their lengths, then by their digits.
    fn parts(self) -> impl Iterator<Item = (usize, &'n str)> {
        let digit = |byte: &u8| byte.is_ascii_digit();
        let parts = self.0.as_bytes().chunk_by(move |a, b| digit(a) == digit(b));
        let mut start = 0;
        parts.map(move |part| {
            let text = &self.0[start..start + part.len()];
            start += part.len();
            if digit(&part[0]) { (text.len(), text) } else { (usize::MAX, text) }
        })
    }
}

impl Ord for Natural<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts().cmp(other.parts())
    }
}

impl PartialOrd for Natural<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::text::VERSION;

    const HEAD: &str = "merino-rows 2\nsum main pair\nsum side single sided\nfact f 0 1\nscore = main.mg + \
        f * (main.eg + side.white - side.black)\npair main z 1 2\nrows score f\n";

    /// Reads the declarations and rows of a process that answers a number of positions.
    fn said(text: &str, positions: usize) -> Result<(Declarations, String), TextError> {
        let text = format!("{HEAD}{text}");
        let mut bytes = text.as_bytes();
        let mut answers = Answers::open("engine", &mut bytes)?;
        let mut rows = String::new();
        for _ in 0..positions {
            answers
                .answer(&PositionQuery { fen: "a fen", result: 0.5, search: Some(-3), group: Some(7) }, &mut rows)?;
        }
        Ok((answers.declarations(), rows))
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
