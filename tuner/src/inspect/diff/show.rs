//! A difference as text and as JSON.

use std::fmt::{self, Write};

use serde_json::{Map, Value, json};

use super::{BoardChange, Diff, TableChange, WorthChange};
use crate::numbers::Stage;

/// Files a to h.
const FILES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

impl Diff {
    /// What changed, for people; `names` are what the two sets are called, `most` how many single numbers are shown.
    pub fn to_table(&self, names: [&str; 2], most: usize) -> String {
        let mut text = String::new();
        self.write(&mut text, names, most).expect("a String takes all");
        text.trim_end().to_owned()
    }

    fn write(&self, to: &mut String, names: [&str; 2], most: usize) -> fmt::Result {
        let [before, after] = names;
        if self.is_empty() {
            return writeln!(to, "{before} and {after} hold the same numbers");
        }
        writeln!(to, "{before} -> {after}")?;
        if self.scales[0] != self.scales[1] {
            let [before, after] = self.scales.map(|k| k.map_or("none".to_owned(), |k| format!("{k:.4}")));
            writeln!(to, "K {before} -> {after}")?;
        }
        if self.is_same_evaluation {
            let what = if self.numbers.is_empty() { "no parameter changed" } else { "only what no position can tell" };
            writeln!(to, "the evaluation is the same: {what}")?;
        }
        if self.numbers.is_empty() {
            return Ok(());
        }
        self.write_tables(to)?;
        self.write_worths(to)?;
        self.write_largest(to, most)?;
        self.write_boards(to)
    }

    fn write_tables(&self, to: &mut String) -> fmt::Result {
        writeln!(to, "\n{:<16}{:>12}{:>14}{:>9}{:>14}", "", "", "midgame", "", "endgame")?;
        writeln!(
            to,
            "{:<16}{:>12}{:>14}{:>9}{:>14}{:>9}",
            "table", "changed", "mean change", "largest", "mean change", "largest"
        )?;
        for TableChange { table, size, changed, changes } in &self.tables {
            write!(to, "{table:<16}{:>12}", format!("{changed} of {size}"))?;
            for (_, changes) in changes.iter().filter(|_| *changed > 0) {
                write!(to, "{:>+14.1}{:>+9}", changes.mean, changes.largest)?;
            }
            writeln!(to)?;
        }
        Ok(())
    }

    fn write_worths(&self, to: &mut String) -> fmt::Result {
        writeln!(to, "\nworth of pieces: material and the mean of the table")?;
        writeln!(to, "{:<16}{:>8}{:>8}{:>8}{:>12}{:>8}{:>8}", "", "mg", "", "change", "eg", "", "change")?;
        let mut row = |mg: &WorthChange, eg: &WorthChange| {
            write!(to, "{:<16}{:>8.0}{:>8.0}{:>+8.0}", mg.piece, mg.before, mg.after, mg.after - mg.before)?;
            writeln!(to, "{:>12.0}{:>8.0}{:>+8.0}", eg.before, eg.after, eg.after - eg.before)
        };
        let of = |stage: Stage| self.worths.iter().filter(move |worth| worth.stage == stage);
        of(Stage::Midgame).zip(of(Stage::Endgame)).try_for_each(|(mg, eg)| row(mg, eg))
    }

    fn write_largest(&self, to: &mut String, most: usize) -> fmt::Result {
        if most == 0 {
            return Ok(());
        }
        writeln!(to, "\n{:<20}{:>8}{:>8}{:>8}", "largest changes", "before", "after", "change")?;
        for change in self.numbers.iter().take(most) {
            let (name, before, after) = (&change.name, change.before, change.after);
            writeln!(to, "{name:<20}{before:>8}{after:>8}{:>+8}", after - before)?;
        }
        Ok(())
    }

    /// The boards of one table side by side.
    fn write_boards(&self, to: &mut String) -> fmt::Result {
        for boards in self.boards.chunk_by(|a, b| a.table == b.table) {
            writeln!(to, "\n{}", boards[0].table)?;
            let titles: Vec<String> = boards.iter().map(|board| format!("  {:<44}", title(board))).collect();
            writeln!(to, "{}", titles.concat().trim_end())?;
            for rank in (0..8).rev() {
                let rows: Vec<String> = boards.iter().map(|board| row(board, rank)).collect();
                writeln!(to, "{}", rows.concat().trim_end())?;
            }
            let files = FILES.map(|file| format!("{file:>5}")).concat();
            let files: Vec<String> = boards.iter().map(|_| format!("  {files:<44}")).collect();
            writeln!(to, "{}", files.concat().trim_end())?;
        }
        Ok(())
    }

    /// The same for machines: numbers by their names, boards as `[rank][file]`, rank 1 and file a first.
    pub fn to_json(&self, names: [&str; 2], most: usize) -> Value {
        let tables = self.tables.iter().map(|table| {
            let mut value = json!({ "table": table.table, "numbers": table.size, "changed": table.changed });
            for (stage, changes) in &table.changes {
                let name = stage.map_or("single", Stage::name);
                value[name] = json!({ "mean": changes.mean, "largest": changes.largest });
            }
            value
        });
        let mut worth = Map::new();
        for change in &self.worths {
            let piece = worth.entry(change.piece.clone()).or_insert_with(|| json!({}));
            piece[change.stage.name()] = json!({ "before": change.before, "after": change.after });
        }
        let largest = self
            .numbers
            .iter()
            .take(most)
            .map(|change| json!({ "name": change.name, "before": change.before, "after": change.after }));
        let mut boards = Map::new();
        for board in &self.boards {
            let table = boards.entry(board.table.clone()).or_insert_with(|| json!({}));
            let name = board.stage.map_or("single", Stage::name);
            table[name] = json!({ "changes": board.changes, "shift": board.shift });
        }
        json!({
            "before": names[0],
            "after": names[1],
            "identical": self.is_empty(),
            "same_evaluation": self.is_same_evaluation,
            "k": { "before": self.scales[0], "after": self.scales[1] },
            "changed": self.numbers.len(),
            "tables": tables.collect::<Vec<Value>>(),
            "worth": worth,
            "largest": largest.collect::<Vec<Value>>(),
            "boards": boards,
        })
    }
}

/// What stands above a board.
fn title(board: &BoardChange) -> String {
    let stage = board.stage.map_or("", Stage::name);
    match board.shift.round() {
        shift if shift != 0.0 => format!("{stage}, beside {shift:+} of all squares"),
        _ => stage.to_owned(),
    }
}

/// A rank of a board, and the gap behind it.
fn row(board: &BoardChange, rank: usize) -> String {
    let square = |file: usize| match board.centred[rank][file] {
        0.0 => format!("{:>5}", "·"),
        change => format!("{change:>+5}"),
    };
    let squares: String = (0..8).map(square).collect();
    format!("{} {squares:<44}", rank + 1)
}
