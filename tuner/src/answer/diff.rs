//! The difference of two parameter files of one evaluation.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write};

use serde::Serialize;

/// A number: the name of its table (`psqt.knight`, `Mobility`), its own name (`psqt.knight.e4:mg`, `Mobility[0][3]`), and
/// its value.
pub type NamedValue = (String, String, f64);

/// The name of a file, its numbers, and its scale K if it has one.
pub type FileNumbers = (String, Vec<NamedValue>, Option<f64>);

/// The changes of the numbers of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableChange {
    /// Name.
    pub table: String,
    /// The count of numbers that both files have.
    pub numbers: usize,
    /// The count of changed numbers.
    pub changed: usize,
    /// Mean change of the common numbers.
    pub mean: f64,
    /// The change of largest absolute value.
    pub largest: f64,
}

/// A changed number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NumberChange {
    /// Name.
    pub name: String,
    /// Value before.
    pub before: f64,
    /// Value after.
    pub after: f64,
}

/// The difference of two files. `--json` prints it as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diff {
    /// The names of the files.
    pub files: [String; 2],
    /// True if all numbers are equal.
    pub identical: bool,
    /// K of each file, if the file has it: the scale from centipawns to expected results.
    pub k: [Option<f64>; 2],
    /// The count of changed numbers.
    pub changed: usize,
    /// All tables, in the order of the first file.
    pub tables: Vec<TableChange>,
    /// The largest changes.
    pub largest: Vec<NumberChange>,
    /// Names that only one file has.
    pub missing: Vec<String>,
}

impl Diff {
    /// Compares two files. Lists the `count` largest changes.
    pub fn new((before, old, old_k): FileNumbers, (after, new, new_k): FileNumbers, count: usize) -> Self {
        let values: HashMap<&str, f64> = new.iter().map(|(_, name, value)| (&name[..], *value)).collect();
        let mut largest = Vec::new();
        let mut tables: Vec<TableChange> = Vec::new();
        let mut missing = Vec::new();
        for (table, name, value) in &old {
            let Some(&after) = values.get(&name[..]) else {
                missing.push(name.clone());
                continue;
            };
            if tables.last().is_none_or(|last| last.table != *table) {
                tables.push(TableChange { table: table.clone(), numbers: 0, changed: 0, mean: 0.0, largest: 0.0 });
            }
            let (of_table, change) = (tables.last_mut().expect("just pushed"), after - value);
            of_table.numbers += 1;
            of_table.mean += change;
            if change != 0.0 {
                of_table.changed += 1;
                largest.push(NumberChange { name: name.clone(), before: *value, after });
            }
            if change.abs() > of_table.largest.abs() {
                of_table.largest = change;
            }
        }
        let known: HashSet<&str> = old.iter().map(|(_, name, _)| &name[..]).collect();
        missing.extend(new.iter().filter(|entry| !known.contains(&entry.1[..])).map(|entry| entry.1.clone()));
        tables.iter_mut().for_each(|table| table.mean /= table.numbers as f64);
        let size = |change: &NumberChange| (change.after - change.before).abs();
        largest.sort_by(|a, b| size(b).total_cmp(&size(a)));
        let changed = largest.len();
        largest.truncate(count);
        let identical = changed == 0 && missing.is_empty() && old_k == new_k;
        Diff { files: [before, after], identical, k: [old_k, new_k], changed, tables, largest, missing }
    }

    /// Formats the difference as a table.
    pub fn to_table(&self) -> String {
        let mut text = String::new();
        self.write(&mut text).expect("a String takes all");
        text.trim_end().to_owned()
    }

    fn write(&self, to: &mut String) -> fmt::Result {
        let [before, after] = &self.files;
        if self.identical {
            return writeln!(to, "{before} and {after} hold the same numbers");
        }
        writeln!(to, "{before} -> {after}")?;
        if self.k[0] != self.k[1] {
            let [before, after] = self.k.map(|k| k.map_or("none".to_owned(), |k| format!("{k:.4}")));
            writeln!(to, "K {before} -> {after}")?;
        }
        let width = self.tables.iter().map(|table| table.table.chars().count()).max().unwrap_or(0).max(16);
        writeln!(to, "\n{:<width$}{:>14}{:>14}{:>9}", "table", "changed", "mean change", "largest")?;
        for TableChange { table, numbers, changed, mean, largest } in &self.tables {
            write!(to, "{table:<width$}{:>14}", format!("{changed} of {numbers}"))?;
            match changed {
                0 => writeln!(to)?,
                _ => writeln!(to, "{mean:>+14.1}{largest:>+9}")?,
            }
        }
        let width = self.largest.iter().map(|change| change.name.chars().count()).max().unwrap_or(0).max(20);
        if !self.largest.is_empty() {
            writeln!(to, "\n{:<width$}{:>10}{:>10}{:>10}", "largest changes", "before", "after", "change")?;
        }
        for NumberChange { name, before, after } in &self.largest {
            writeln!(to, "{name:<width$}{before:>10}{after:>10}{:>+10}", after - before)?;
        }
        match &self.missing[..] {
            [] => Ok(()),
            [first, ..] => writeln!(to, "\n{} numbers such as {first} stand in one file only", self.missing.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(values: &[(&str, &str, f64)]) -> Vec<NamedValue> {
        values.iter().map(|&(table, name, value)| (table.to_owned(), name.to_owned(), value)).collect()
    }

    #[test]
    fn changes_are_summed_by_table_and_the_largest_come_first() {
        let old = entries(&[("a", "a[0]", 1.0), ("a", "a[1]", 2.0), ("b", "b", 7.0), ("c", "c", 1.0)]);
        let new = entries(&[("a", "a[0]", 4.0), ("a", "a[1]", 1.0), ("b", "b", 7.0), ("d", "d", 1.0)]);
        let diff = Diff::new(("x".to_owned(), old.clone(), None), ("y".to_owned(), new, Some(1.2)), 1);
        assert_eq!(
            (diff.changed, diff.identical, &diff.missing[..]),
            (2, false, &["c".to_owned(), "d".to_owned()][..])
        );
        let [a, b] = [&diff.tables[0], &diff.tables[1]];
        assert_eq!((a.numbers, a.changed, a.mean, a.largest), (2, 2, 1.0, 3.0));
        assert_eq!((b.numbers, b.changed), (1, 0));
        assert_eq!(diff.largest, [NumberChange { name: "a[0]".to_owned(), before: 1.0, after: 4.0 }]);
        let table = diff.to_table();
        assert!(table.contains("K none -> 1.2000") && table.contains("2 numbers such as c"), "{table}");
        let same = Diff::new(("x".to_owned(), old.clone(), None), ("x".to_owned(), old, None), 9);
        assert!(same.identical && same.to_table() == "x and x hold the same numbers");
    }
}
