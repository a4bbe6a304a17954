//! The parameters of a page, table by table, as they are declared.

use engine::eval::params::{Axis, Field, Kind, Leaf, PAIRS, Weights, leaves, ranges_of};

use super::Page;
use crate::model::merino::numbers_of_leaf;
use crate::numbers::Numbers;

/// What the numbers of a pair are called.
pub(super) const STAGES: [&str; 2] = ["midgame", "endgame"];

/// One number of the parameters, before and after.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number {
    pub(super) before: f64,
    pub(super) after: f64,
    /// Its standard error, if it is known.
    pub(super) error: Option<f64>,
    /// How far it has moved beside what its whole table shares: errors are those of centred tables.
    pub(super) moved: f64,
}

impl Number {
    pub(super) fn change(&self) -> f64 {
        self.after - self.before
    }

    /// How far it has moved in standard errors, if they are known.
    pub(super) fn significance(&self) -> Option<f64> {
        self.error.filter(|error| *error > 0.0).map(|error| self.moved.abs() / error)
    }
}

/// A leaf with its numbers: two of a pair, one of a scalar.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) path: String,
    /// The last part of its path: `e4`, `queen`, `[3]`.
    pub(super) name: String,
    pub(super) numbers: Vec<Number>,
    /// In how many positions it occurs, if that is known.
    pub(super) seen: Option<u32>,
}

/// The leaves of an innermost array of a field, such as a board; a field without arrays is one of its own.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) field: &'static Field,
    /// Its path: `psqt.knight`.
    pub(super) name: String,
    pub(super) entries: Vec<Entry>,
}

impl Table {
    pub(super) fn is_board(&self) -> bool {
        self.field.axes.last() == Some(&Axis::Board)
    }

    /// The numbers of one stage.
    pub(super) fn stage(&self, stage: usize) -> impl Iterator<Item = Number> + Clone {
        self.entries.iter().map(move |entry| entry.numbers[stage])
    }

    /// The mean change of a stage over the entries that occur, or all where that is not known.
    pub(super) fn mean_change(&self, stage: usize) -> f64 {
        let seen = self.entries.iter().filter(|entry| entry.seen != Some(0));
        let changes: Vec<f64> = seen.map(|entry| entry.numbers[stage].change()).collect();
        changes.iter().sum::<f64>() / changes.len().max(1) as f64
    }

    /// How many numbers each entry has.
    pub(super) fn stages(&self) -> usize {
        self.entries.first().map_or(0, |entry| entry.numbers.len())
    }
}

/// Every number of the parameters, in the order of their vector.
pub(super) fn numbers(page: &Page) -> Vec<Number> {
    let (before, after) = (page.start.to_vector(), page.tuned.to_vector());
    let moved = moved(page, &before, &after);
    let number = |index: usize| {
        let error = page.errors.as_ref().and_then(|errors| errors[index]);
        Number { before: before[index], after: after[index], error, moved: moved[index] }
    };
    (0..before.len()).map(number).collect()
}

/// The same by table, in the same order.
pub(super) fn tables(page: &Page) -> Vec<Table> {
    let all = numbers(page);
    let mut tables: Vec<Table> = Vec::new();
    for (index, leaf) in leaves().iter().enumerate() {
        let cut = cut(leaf);
        let (name, rest) = leaf.path.split_at(cut);
        let last = if rest.is_empty() { name } else { rest.trim_start_matches('.') };
        let numbers = match leaf.kind {
            Kind::Pair => all[2 * index..2 * index + 2].to_vec(),
            Kind::Scalar => vec![all[PAIRS + index]],
        };
        let seen = page.occurrences.as_ref().map(|seen| seen[numbers_of_leaf(index).start]);
        let entry = Entry { path: leaf.path.clone(), name: last.to_owned(), numbers, seen };
        match tables.last_mut().filter(|table| table.name == name && table.field == leaf.field) {
            Some(table) => table.entries.push(entry),
            None => tables.push(Table { field: leaf.field, name: name.to_owned(), entries: vec![entry] }),
        }
    }
    tables
}

/// By number, the change of the centred parameters.
fn moved(page: &Page, before: &[f64], after: &[f64]) -> Vec<f64> {
    let mut moved: Vec<f64> = before.iter().zip(after).map(|(before, after)| after - before).collect();
    page.centring.shift(&mut moved);
    moved
}

/// Where the last part of the path of a leaf begins.
fn cut(leaf: &Leaf) -> usize {
    let path = &leaf.path;
    if leaf.field.dims.is_empty() { path.len() } else { path.rfind(['.', '[']).unwrap_or(path.len()) }
}

/// The names of the numbers that stand at an end of what they may be, with that end.
pub(super) fn at_bounds(page: &Page) -> Vec<(String, f64)> {
    let declared: Vec<(f64, f64)> =
        ranges_of::<Weights>().map(|range| (f64::from(*range.start()), f64::from(*range.end()))).collect();
    let bounds = page.bounds.as_ref().unwrap_or(&declared);
    let after = page.tuned.to_vector();
    let names = Numbers::declared();
    let is_end = |index: usize| {
        let (low, high) = bounds[index];
        // A weight of nothing is no accident where nothing is the least.
        let is_natural = low == 0.0 && after[index] == 0.0;
        low < high && !is_natural && (after[index] == low || after[index] == high)
    };
    (0..after.len()).filter(|&index| is_end(index)).map(|index| (names.name(index).to_owned(), after[index])).collect()
}
