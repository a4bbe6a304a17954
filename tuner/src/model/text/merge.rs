//! Rows of several processes of an engine, merged in the order of the data.
//!
//! The processes may declare late parameters in different orders. [`Joint`] numbers them by name, independently of that
//! order.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow};

use super::gather::{Counted, Gather, RowLabels};
use super::header::Header;
use super::lines::LineReader;
use super::{TextRows, VERSION};
use crate::data::io::Storage;
use crate::model::Model;
use crate::model::formula::brief;
use crate::model::rows::Block;

/// The beginnings of declarations of parameters.
const PARAMETERS: [&str; 3] = ["pair ", "single ", "param "];

/// The rows of one process, with its own numbers of parameters.
pub(crate) struct ProcessRows {
    /// The lines of its declarations, those of late parameters behind the line `rows`.
    declarations: Vec<String>,
    counted: Vec<Option<Counted>>,
    text: TextRows,
}

/// Consecutive rows of a process, of positions in one data file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portion {
    /// The index of the process.
    pub(crate) process: usize,
    /// The index of the data file.
    pub(crate) file: usize,
    /// The number of rows.
    pub(crate) rows: usize,
}

impl ProcessRows {
    pub(super) fn new(declarations: Vec<String>, gather: Gather) -> Result<Self> {
        Ok(ProcessRows { declarations, counted: gather.counted().to_vec(), text: gather.finish()? })
    }

    /// Returns, by segment, the leaf among `all` of each leaf of this process, whose parameters have these joint numbers.
    fn leaves(&self, numbers: &[usize], all: &Gather) -> Vec<Vec<usize>> {
        let mut leaves = vec![Vec::new(); all.text.model.layout.segments.len()];
        // Parameters that were declared behind the last row have no place. No row counts them.
        for (own, &number) in self.counted.iter().zip(numbers) {
            if let (Some(own), Some(joint)) = (own, all.counted()[number]) {
                for side in 0..=usize::from(own.is_sided) {
                    leaves[own.segment + side].push(joint.leaf);
                }
            }
        }
        leaves
    }
}

/// The merged declarations of all processes.
pub(crate) struct Joint {
    header: Header,
    model: Model,
    /// Indices in these declarations of each process's parameters.
    numbers: Vec<Vec<usize>>,
}

impl Joint {
    /// Merges the declarations of processes of one engine, which messages call `name`.
    ///
    /// # Errors
    /// If two declarations contradict each other, or a sum has no parameters.
    ///
    /// # Panics
    /// If there is no process.
    pub(crate) fn of(name: &str, processes: &[ProcessRows]) -> Result<Self> {
        let declarations: Vec<&[String]> = processes.iter().map(|process| &process.declarations[..]).collect();
        let (text, numbers) = merged(&declarations).map_err(|what| {
            anyhow!("{name}: two processes of the engine {what}: what a name stands for must not depend on positions")
        })?;
        let mut text = text.as_bytes();
        let mut header = Header::default();
        let name = format!("{name}: the declarations of all processes");
        let model = header.open(&mut LineReader::new(&name, &mut text))?;
        Ok(Joint { header, model, numbers })
    }

    /// Returns the declarations, without rows.
    pub(crate) fn declared(&self) -> TextRows {
        TextRows { parameters: self.header.parameters.clone(), model: self.model.clone(), ..TextRows::default() }
    }

    /// Returns the lines of the declarations, without the version and the columns.
    pub(crate) fn lines(&self) -> &[String] {
        self.header.lines.split_last().map_or(&[], |lines| lines.1)
    }

    /// Merges the rows of the processes in the order of the portions. Returns them and the data file of each set of them.
    ///
    /// # Errors
    /// If the rows cannot be stored.
    ///
    /// # Panics
    /// If a process has fewer rows.
    pub(crate) fn merge(
        &self,
        name: &str,
        processes: &[ProcessRows],
        portions: impl IntoIterator<Item = Portion>,
        storage: &Storage,
    ) -> Result<(TextRows, Vec<usize>)> {
        let mut all = Gather::undivided(&self.header, self.model.clone(), storage);
        let leaves: Vec<_> =
            processes.iter().zip(&self.numbers).map(|(process, numbers)| process.leaves(numbers, &all)).collect();
        let mut rows: Vec<_> =
            processes.iter().map(|process| process.text.rows.blocks().flat_map(Block::rows)).collect();
        all.begin_text(name);
        let mut files = Vec::new();
        for Portion { process, file, rows: count } in portions {
            if files.last() != Some(&file) {
                files.push(file);
                all.begin_set();
            }
            let text = &processes[process].text;
            for row in rows[process].by_ref().take(count) {
                let (number, result) = (row.first, row.target[0]);
                let search = text.searches.get(number).copied().flatten();
                let labels = RowLabels { result, group: text.groups[number], search };
                all.copy(row, &leaves[process], labels, text.scores.as_ref().map(|scores| scores[number]))?;
            }
        }
        Ok((all.finish()?, files))
    }
}

/// Merges the lines of the declarations of processes. Returns a text without rows, and the indices in it of each
/// process's parameters, or the first two lines that contradict each other.
fn merged(processes: &[&[String]]) -> Result<(String, Vec<Vec<usize>>), String> {
    let (head, _) = divided(processes[0]);
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
    // A text has labels.
    let columns = columns.replacen("rows", "rows result group search", 1);
    let lines = declared.iter().chain(late.into_values()).chain([&columns]);
    Ok((format!("{VERSION}\n") + &lines.flat_map(|line| [line, "\n"]).collect::<String>(), numbers))
}

/// Divides the lines of declarations behind the line `rows`.
fn divided(lines: &[String]) -> (&[String], &[String]) {
    let rows = lines.iter().position(|line| line.starts_with("rows")).expect("a line `rows`");
    lines.split_at(rows + 1)
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
    use super::super::answers::Answers;
    use super::super::parse;
    use super::*;

    const HEAD: &str = "sum main pair\nsum side single sided\nfact f 0 1\nscore = main.mg + \
        f * (main.eg + side.white - side.black)\npair main z 1 2\n";

    /// Reads the declarations and rows of a process that answers a number of positions.
    fn answered(text: &str, positions: usize) -> Result<ProcessRows> {
        let text = format!("{VERSION}\n{HEAD}rows score f\n{text}");
        let mut bytes = text.as_bytes();
        let mut answers = Answers::open("engine", &mut bytes, &Storage::default())?;
        for _ in 0..positions {
            answers.answer(Some(RowLabels { result: 0.5, group: Some(7), search: Some(-3) }))?;
        }
        answers.finish()
    }

    #[test]
    fn rows_depend_neither_on_the_order_of_late_parameters_nor_on_the_process() {
        let first = answered("pair main a[10] 3 4\n1 1 0:1 1:-2 # why\nskip dull\nsingle side a[9] 5\n2 0 w 2:1\n", 3);
        let second = answered("single side a[9] 5\npair main a[10] 3 4\n2 0 w 1:1\n1 1 0:1 2:-200\n", 2);
        let processes = [first.unwrap(), second.unwrap()];
        let joint = Joint::of("rows", &processes).unwrap();
        assert_eq!(joint.numbers, [[0, 2, 1], [0, 1, 2]]);
        let portion = |process, file| Portion { process, file, rows: 1 };
        let portions = [portion(0, 0), portion(1, 0), portion(0, 2), portion(1, 2)];
        let (rows, files) = joint.merge("rows", &processes, portions, &Storage::default()).unwrap();
        assert_eq!(files, [0, 2]);
        let mut text = Vec::new();
        let head = joint.lines().iter().map(String::as_str);
        rows.write(head, &["one", "three"], |rows| rows.map(|row| row.to_string()).collect(), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let expected = format!(
            "{VERSION}\n{HEAD}single side a[9] 5\npair main a[10] 3 4\nrows result group search score f\ndata one\n\
             0.5 7 -3 1 1 0:1 2:-2 # 0\n0.5 7 -3 2 0 w 1:1 # 1\ndata three\n0.5 7 -3 2 0 w 1:1 # 2\n\
             0.5 7 -3 1 1 0:1 2:-200 # 3\n"
        );
        assert_eq!(text, expected);
        let read = parse(&text).unwrap();
        assert_eq!(TextRows { lines: Vec::new(), ..read }, rows);
    }

    #[test]
    fn contradictory_declarations_and_invalid_rows_are_refused() {
        let of = |text: &str| answered(text, 0).unwrap();
        let late = |text: &str| answered(&format!("{text}\nskip\n"), 1).unwrap();
        let used = "single side b 1";
        assert!(Joint::of("engine", &[late(used), late("single side b 1\npair main a 1 2")]).is_ok());
        let message = |processes: &[ProcessRows]| Joint::of("engine", processes).err().unwrap().to_string();
        let two = message(&[late("pair main a 1 2"), late("pair main a 1 3")]);
        assert!(two.contains("declare `pair main a 1 2` and `pair main a 1 3`"), "{two}");
        let empty = message(&[of("")]);
        assert!(empty.contains("the sum `side` has no parameters"), "{empty}");
        for wrong in ["sum more pair", "1 2", "1 1 9:1", "1 1 w 0:1", "1 1 0:0.5", ""] {
            assert!(answered(&format!("{wrong}\n"), 1).is_err(), "{wrong}");
        }
    }
}
