//! The parameters of a page, grouped by table.

use engine::eval::params::Axis;
use tools::page::words::{grouped, plain, signed};

use crate::run::{Change, Outcome};
use crate::source::numbers;

/// The heading of all parameters outside of tables.
const SINGLE: &str = "Parameters";

/// The names of the numbers of a pair.
pub(super) const STAGES: [&str; 2] = ["midgame", "endgame"];

/// Formats a number with its standard error and its change.
pub(super) fn describe(number: &Change) -> String {
    let [before, after] = [number.before, number.after].map(|value| plain(value, number.decimals));
    let error = number.error.map(|error| format!(" ± {}", plain(error, 1))).unwrap_or_default();
    let significance = number.significance().map(|errors| format!(", {} standard errors", plain(errors, 1)));
    let change = signed(number.change(), number.decimals);
    format!("{after}{error}, {change} from {before}{}", significance.unwrap_or_default())
}

/// A parameter with its numbers: two of a pair, one of a single.
#[derive(Clone, Debug)]
pub(super) struct ReportEntry {
    pub(super) path: String,
    /// Last component of its path: `e4`, `queen`, `[3]`.
    pub(super) name: String,
    pub(super) numbers: Vec<Change>,
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
    pub(super) fn stage(&self, stage: usize) -> impl Iterator<Item = &Change> + Clone {
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

/// Groups the numbers by table in the same order, but with parameters outside of tables first: they are shown together.
pub(super) fn tables(outcome: &Outcome) -> Vec<ReportTable> {
    let mut tables: Vec<ReportTable> = Vec::new();
    for ((index, declared), number) in outcome.numbers.iter().enumerate().zip(outcome.changes()) {
        if declared.stage == numbers::STAGES[1] {
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
