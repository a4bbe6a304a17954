//! The parameters of a page, table by table, as they are declared.

use engine::eval::params::Axis;

use super::Page;
use crate::numbers::{self, Stage};

/// What parameters are called together that are elements of nothing.
const SINGLE: &str = "Parameters";

/// What the numbers of a pair are called.
pub(super) const STAGES: [&str; 2] = ["midgame", "endgame"];

/// One number of the parameters, before and after.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number {
    pub(super) before: f64,
    pub(super) after: f64,
    /// Digits behind the decimal point that it is written with.
    pub(super) decimals: usize,
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

/// A parameter with its numbers: two of a pair, one of a single.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) path: String,
    /// The last part of its path: `e4`, `queen`, `[3]`.
    pub(super) name: String,
    pub(super) numbers: Vec<Number>,
    /// In how many positions it occurs, if that is known.
    pub(super) seen: Option<u32>,
}

/// The parameters of an innermost array, such as a board; one that is an element of nothing is a table of its own.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// What is shown together with it: its field, or all arrays of its name.
    pub(super) family: String,
    /// What it is for, if that is known.
    pub(super) summary: String,
    pub(super) is_board: bool,
    /// Its path: `psqt.knight`.
    pub(super) name: String,
    pub(super) entries: Vec<Entry>,
}

impl Table {
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

    /// The first part of its name, which it shares with the other tables of a family: `psqt`.
    pub(super) fn group(&self) -> &str {
        if self.family == SINGLE { SINGLE } else { self.name.split(['.', '[']).next().unwrap_or_default() }
    }

    /// How many numbers each entry has.
    pub(super) fn stages(&self) -> usize {
        self.entries.first().map_or(0, |entry| entry.numbers.len())
    }
}

/// Every number of the parameters, in the order of their vector.
pub(super) fn numbers(page: &Page) -> Vec<Number> {
    let moved = moved(page);
    let number = |(index, number): (usize, &numbers::Number)| {
        let error = page.errors.as_ref().and_then(|errors| errors[index]);
        let (before, after) = (page.start[index], page.tuned[index]);
        Number { before, after, decimals: number.decimals, error, moved: moved[index] }
    };
    page.numbers.iter().enumerate().map(number).collect()
}

/// The same by table, in the same order, but elements of nothing first: they are shown together.
pub(super) fn tables(page: &Page) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for ((index, declared), number) in page.numbers.iter().enumerate().zip(numbers(page)) {
        if declared.stage == Some(Stage::Endgame) {
            // Behind the midgame number of the same parameter.
            let pair = tables.last_mut().and_then(|table| table.entries.last_mut());
            pair.into_iter().for_each(|pair| pair.numbers.push(number));
            continue;
        }
        let (path, is_alone) = (declared.path(), declared.field.is_some_and(|field| field.dims.is_empty()));
        let name = if is_alone { path } else { &declared.table };
        let last = if name == path { path } else { path[name.len()..].trim_start_matches('.') };
        let seen = page.occurrences.as_ref().map(|seen| seen[index]);
        let entry = Entry { path: path.to_owned(), name: last.to_owned(), numbers: vec![number], seen };
        let family = match declared.field {
            Some(field) => field.name,
            None if name == path => SINGLE,
            None => name.split(['.', '[']).next().unwrap_or_default(),
        };
        match tables.last_mut().filter(|table| table.name == name && table.family == family) {
            Some(table) => table.entries.push(entry),
            None => tables.push(Table {
                family: family.to_owned(),
                summary: declared.field.map(|field| field.summary().to_string()).unwrap_or_default(),
                is_board: declared.field.is_some_and(|field| field.axes.last() == Some(&Axis::Board)),
                name: name.to_owned(),
                entries: vec![entry],
            }),
        }
    }
    tables.sort_by_key(|table| table.family != SINGLE);
    tables
}

/// By number, the change of the centred parameters.
fn moved(page: &Page) -> Vec<f64> {
    let mut moved: Vec<f64> = page.start.iter().zip(&page.tuned).map(|(before, after)| after - before).collect();
    page.centring.shift(&mut moved);
    moved
}

/// The names of the numbers that stand at an end of what they may be, with that end.
pub(super) fn at_bounds(page: &Page) -> Vec<(String, f64)> {
    let range = |(index, number): (usize, &numbers::Number)| {
        page.bounds.as_ref().map_or(number.range.into(), |bounds| bounds[index])
    };
    let ends = page.numbers.iter().enumerate().filter(|&(index, number)| {
        let ((low, high), after) = (range((index, number)), page.tuned[index]);
        // A weight of nothing is no accident where nothing is the least.
        let is_natural = low == 0.0 && after == 0.0;
        low < high && !is_natural && (after == low || after == high)
    });
    ends.map(|(index, number)| (number.name.clone(), page.tuned[index])).collect()
}
