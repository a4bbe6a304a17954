//! The parameters of a page, grouped by table.

use engine::eval::params::Axis;
use tools::page::words::{grouped, plain, signed};

use crate::run::Outcome;
use crate::source::numbers::{Number, Stage};

/// The heading of all parameters outside of tables.
const SINGLE: &str = "Parameters";

/// The names of the numbers of a pair.
pub(super) const STAGES: [&str; 2] = ["midgame", "endgame"];

/// A number of a parameter, before and after.
#[derive(Clone, Debug)]
pub(super) struct ReportNumber {
    /// Full name: `psqt.knight.e4:mg`.
    pub(super) name: String,
    pub(super) before: f64,
    pub(super) after: f64,
    /// The number of digits after the decimal point.
    pub(super) decimals: usize,
    /// Standard error, if known.
    pub(super) error: Option<f64>,
    /// Change of the centred parameter, to which the standard error belongs.
    pub(super) moved: f64,
}

impl ReportNumber {
    pub(super) fn change(&self) -> f64 {
        self.after - self.before
    }

    /// Returns the change in standard errors, if they are known.
    pub(super) fn significance(&self) -> Option<f64> {
        self.error.filter(|error| *error > 0.0).map(|error| self.moved.abs() / error)
    }

    /// Formats the number with its standard error and its change.
    pub(super) fn describe(&self) -> String {
        let [before, after] = [self.before, self.after].map(|value| plain(value, self.decimals));
        let error = self.error.map(|error| format!(" ± {}", plain(error, 1))).unwrap_or_default();
        let significance = self.significance().map(|errors| format!(", {} standard errors", plain(errors, 1)));
        let change = signed(self.change(), self.decimals);
        format!("{after}{error}, {change} from {before}{}", significance.unwrap_or_default())
    }
}

/// A parameter with its numbers: two of a pair, one of a single.
#[derive(Clone, Debug)]
pub(super) struct ReportEntry {
    pub(super) path: String,
    /// Last component of its path: `e4`, `queen`, `[3]`.
    pub(super) name: String,
    pub(super) numbers: Vec<ReportNumber>,
    /// The number of positions in which it occurs, if known.
    pub(super) seen: Option<u32>,
}

impl ReportEntry {
    /// Formats the number of positions in which the parameter occurs, as the end of a sentence.
    pub(super) fn seen_words(&self) -> String {
        match self.seen {
            None => String::new(),
            Some(0) => ", in no position".to_owned(),
            Some(seen) => format!(", in {} positions", grouped(seen.into())),
        }
    }
}

/// The parameters of an innermost array, such as a board. A parameter outside of arrays is a table of one entry.
#[derive(Clone, Debug)]
pub(super) struct ReportTable {
    /// Family of tables shown together: its field, or all arrays of its name.
    pub(super) family: String,
    /// Description of the field, if known.
    pub(super) summary: String,
    pub(super) is_board: bool,
    /// Path: `psqt.knight`.
    pub(super) name: String,
    pub(super) entries: Vec<ReportEntry>,
}

impl ReportTable {
    /// Returns the numbers of one stage.
    pub(super) fn stage(&self, stage: usize) -> impl Iterator<Item = &ReportNumber> + Clone {
        self.entries.iter().map(move |entry| &entry.numbers[stage])
    }

    /// Returns the first component of its name, which the tables of a family share: `psqt`.
    pub(super) fn group(&self) -> &str {
        if self.family == SINGLE { SINGLE } else { self.name.split(['.', '[']).next().unwrap_or_default() }
    }

    /// Returns the count of numbers of each entry.
    pub(super) fn stages(&self) -> usize {
        self.entries.first().map_or(0, |entry| entry.numbers.len())
    }
}

/// Returns all numbers of the parameters, in the order of their vector.
pub(super) fn numbers(outcome: &Outcome) -> Vec<ReportNumber> {
    let mut moved: Vec<f64> = outcome.start.iter().zip(&outcome.theta).map(|(before, after)| after - before).collect();
    outcome.centring.shift(&mut moved);
    let number = |(index, number): (usize, &Number)| ReportNumber {
        name: number.name.clone(),
        before: outcome.start[index],
        after: outcome.theta[index],
        decimals: number.decimals,
        error: outcome.errors.as_ref().and_then(|errors| errors.by_parameter[index]),
        moved: moved[index],
    };
    outcome.numbers.iter().enumerate().map(number).collect()
}

/// Groups the numbers by table in the same order, but with parameters outside of tables first: they are shown together.
pub(super) fn tables(outcome: &Outcome) -> Vec<ReportTable> {
    let mut tables: Vec<ReportTable> = Vec::new();
    for ((index, declared), number) in outcome.numbers.iter().enumerate().zip(numbers(outcome)) {
        if declared.stage == Some(Stage::Endgame) {
            // Follows the midgame number of the same parameter.
            if let Some(pair) = tables.last_mut().and_then(|table| table.entries.last_mut()) {
                pair.numbers.push(number);
            }
            continue;
        }
        let (path, is_alone) = (declared.path(), declared.field.is_some_and(|field| field.dims.is_empty()));
        let name = if is_alone { path } else { &declared.table };
        let last = if name == path { path } else { path[name.len()..].trim_start_matches('.') };
        let seen = outcome.occurrences.get(index).copied();
        let entry = ReportEntry { path: path.to_owned(), name: last.to_owned(), numbers: vec![number], seen };
        let family = match declared.field {
            Some(field) => field.name,
            None if name == path => SINGLE,
            None => name.split(['.', '[']).next().unwrap_or_default(),
        };
        match tables.last_mut().filter(|table| table.name == name && table.family == family) {
            Some(table) => table.entries.push(entry),
            None => tables.push(ReportTable {
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
