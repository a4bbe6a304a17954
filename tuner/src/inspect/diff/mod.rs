//! What changed between two sets of parameters.
//!
//! A bonus that all squares of a table share may as well stand in the material of its piece: no evaluation tells the
//! difference. So beside the plain numbers, what a piece is worth (its material and the mean of its table) and how its
//! table bends (less that mean) are compared.

mod show;

use engine::eval::params::Weights;

use crate::model::merino::merino;
use crate::numbers::{Number, Numbers, Stage};

/// What changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff {
    /// Every table or field, in the order of the parameters.
    tables: Vec<TableChange>,
    worths: Vec<WorthChange>,
    /// The numbers that changed, the largest change first.
    numbers: Vec<NumberChange>,
    /// The boards on which something changed.
    boards: Vec<BoardChange>,
    /// K of both, where they give it.
    scales: [Option<f64>; 2],
    /// Whether both give every position the same score, to within rounding.
    is_same_evaluation: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct TableChange {
    /// Its path.
    table: String,
    /// How many numbers it has, and how many of them changed.
    size: usize,
    changed: usize,
    /// The changes of its midgame and endgame numbers, or of its single ones.
    changes: Vec<(Option<Stage>, Changes)>,
}

/// Changes of several numbers, in their unit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Changes {
    /// Over all numbers, those that did not change included.
    mean: f64,
    /// Up or down.
    largest: f64,
}

/// What a piece is worth, in centipawns: its material and the mean of the squares it can stand on.
#[derive(Clone, Debug, PartialEq)]
struct WorthChange {
    piece: String,
    stage: Stage,
    before: f64,
    after: f64,
}

#[derive(Clone, Debug, PartialEq)]
struct NumberChange {
    name: String,
    before: f64,
    after: f64,
}

#[derive(Clone, Debug, PartialEq)]
struct BoardChange {
    /// The path of its table.
    table: String,
    /// If it has both.
    stage: Option<Stage>,
    /// By `[rank][file]`, rank 1 and file a first.
    changes: [[f64; 8]; 8],
    /// The mean of the changes of all squares where the piece can stand, if that is part of its worth; 0 if not.
    shift: f64,
    /// The changes less that mean, rounded, of the squares where the piece can stand; the plain changes of the others.
    centred: [[f64; 8]; 8],
}

/// A set of parameters, and K if it has one.
#[derive(Clone, Copy, Debug)]
pub struct Parameters<'w> {
    /// The parameters.
    pub weights: &'w Weights,
    /// The scale from centipawns to expected results.
    pub scale: Option<f64>,
}

impl Diff {
    /// Compares two sets of parameters.
    pub fn new(before: Parameters<'_>, after: Parameters<'_>) -> Self {
        let numbers = Numbers::declared();
        let both = Both { numbers: &numbers, before: before.weights.to_vector(), after: after.weights.to_vector() };
        let mut changed: Vec<usize> = (0..numbers.len()).filter(|&index| both.change(index) != 0.0).collect();
        changed.sort_by(|&a, &b| both.change(b).abs().total_cmp(&both.change(a).abs()));
        let change = |&index: &usize| NumberChange {
            name: numbers.name(index).to_owned(),
            before: both.before[index],
            after: both.after[index],
        };
        Diff {
            tables: both.tables(),
            worths: both.worths(),
            numbers: changed.iter().map(change).collect(),
            boards: both.boards(),
            scales: [before.scale, after.scale],
            is_same_evaluation: both.is_same_evaluation(),
        }
    }

    /// Whether all numbers are the same, K too.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty() && self.scales[0] == self.scales[1]
    }
}

/// Two vectors of parameters.
struct Both<'n> {
    numbers: &'n Numbers,
    before: Vec<f64>,
    after: Vec<f64>,
}

impl Both<'_> {
    fn change(&self, index: usize) -> f64 {
        self.after[index] - self.before[index]
    }

    /// The numbers of each table, in order.
    fn by_table(&self) -> Vec<(&str, Vec<usize>)> {
        let mut tables: Vec<(&str, Vec<usize>)> = Vec::new();
        for (index, number) in self.numbers.iter().enumerate() {
            match tables.last_mut() {
                Some((table, members)) if *table == number.table => members.push(index),
                _ => tables.push((&number.table, vec![index])),
            }
        }
        tables
    }

    /// The numbers of each half of a table that has halves, else all of them.
    fn by_stage(&self, members: &[usize]) -> Vec<(Option<Stage>, Vec<usize>)> {
        let of = |stage: Option<Stage>| -> Vec<usize> {
            members.iter().copied().filter(|&index| self.numbers.get(index).stage == stage).collect()
        };
        let stages = [Some(Stage::Midgame), Some(Stage::Endgame), None].map(|stage| (stage, of(stage)));
        stages.into_iter().filter(|(_, members)| !members.is_empty()).collect()
    }

    fn tables(&self) -> Vec<TableChange> {
        let changes = |members: &[usize]| Changes {
            mean: members.iter().map(|&index| self.change(index)).sum::<f64>() / members.len() as f64,
            largest: members
                .iter()
                .map(|&index| self.change(index))
                .fold(0.0, |most: f64, change| if change.abs() > most.abs() { change } else { most }),
        };
        let table = |(table, members): (&str, Vec<usize>)| TableChange {
            table: table.to_owned(),
            size: members.len(),
            changed: members.iter().filter(|&&index| self.change(index) != 0.0).count(),
            changes: self.by_stage(&members).into_iter().map(|(stage, members)| (stage, changes(&members))).collect(),
        };
        self.by_table().into_iter().map(table).collect()
    }

    /// What a piece is worth wherever it stands: its material, and the means of all tables that share with it.
    fn worths(&self) -> Vec<WorthChange> {
        let shifts = merino().shifts();
        let mut counterparts: Vec<usize> = shifts.iter().filter_map(|gauge| gauge.counterpart).collect();
        counterparts.sort_unstable();
        counterparts.dedup();
        let worth = |values: &[f64], material: usize| {
            let tables = shifts.iter().filter(|gauge| gauge.counterpart == Some(material));
            values[material] + tables.map(|gauge| self.mean(values, &gauge.table)).sum::<f64>()
        };
        let of_piece = |material: usize| {
            let number = self.numbers.get(material);
            Some(WorthChange {
                piece: last_part(number.name.split(':').next().unwrap_or_default()).to_owned(),
                stage: number.stage?,
                before: worth(&self.before, material),
                after: worth(&self.after, material),
            })
        };
        counterparts.into_iter().filter_map(of_piece).collect()
    }

    /// The mean value of the squares of a table where its piece can stand.
    fn mean(&self, values: &[f64], table: &[usize]) -> f64 {
        let squares = table.iter().filter(|&&index| can_occur(self.numbers.get(index)));
        let (sum, count) = squares.fold((0.0, 0), |(sum, count), &index| (sum + values[index], count + 1));
        sum / f64::from(count)
    }

    fn boards(&self) -> Vec<BoardChange> {
        let shifts = merino().shifts();
        let mut boards = Vec::new();
        for (table, members) in self.by_table() {
            for (stage, members) in self.by_stage(&members) {
                let is_board = members.iter().all(|&index| self.numbers.get(index).square.is_some());
                if !is_board || members.iter().all(|&index| self.change(index) == 0.0) {
                    continue;
                }
                let has_worth = shifts.iter().any(|gauge| gauge.table == members);
                let shift =
                    if has_worth { self.mean(&self.after, &members) - self.mean(&self.before, &members) } else { 0.0 };
                let (mut changes, mut centred) = ([[0.0; 8]; 8], [[0.0; 8]; 8]);
                for &index in &members {
                    let number = self.numbers.get(index);
                    let square = number.square.unwrap_or_default();
                    let shared = if can_occur(number) { shift.round() } else { 0.0 };
                    changes[square / 8][square % 8] = self.change(index);
                    centred[square / 8][square % 8] = self.change(index) - shared;
                }
                boards.push(BoardChange { table: table.to_owned(), stage, changes, shift, centred });
            }
        }
        boards
    }

    /// Whether what changed is nothing but gauge: worth that moved between material and tables, kings' tables that
    /// were raised as a whole, squares that no piece can stand on, phase weights of other size and the same ratios.
    fn is_same_evaluation(&self) -> bool {
        let mut may_change = vec![false; self.numbers.len()];
        // What each number has to take over from the tables that it is the counterpart of.
        let mut owed = vec![0.0; self.numbers.len()];
        for gauge in merino().shifts() {
            let mut squares = gauge.table.iter().filter(|&&index| can_occur(self.numbers.get(index)));
            let shift = squares.next().map_or(0.0, |&index| self.change(index));
            if squares.any(|&index| self.change(index) != shift) {
                return false;
            }
            gauge.counterpart.iter().for_each(|&counterpart| owed[counterpart] -= shift);
            gauge.table.iter().chain(&gauge.counterpart).for_each(|&index| may_change[index] = true);
        }
        let counterparts = merino().shifts().iter().filter_map(|gauge| gauge.counterpart);
        if counterparts.into_iter().any(|counterpart| self.change(counterpart) != owed[counterpart]) {
            return false;
        }
        let weights: Vec<usize> = (0..may_change.len()).filter(|&j| self.numbers.get(j).table == "phase").collect();
        let is_one_ratio = weights
            .iter()
            .all(|&i| weights.iter().all(|&j| self.before[i] * self.after[j] == self.before[j] * self.after[i]));
        if is_one_ratio {
            weights.iter().for_each(|&index| may_change[index] = true);
        }
        (0..may_change.len()).all(|index| may_change[index] || self.change(index) == 0.0)
    }
}

/// Whether a position can have it: no pawn stands on the first or the last rank, and boards are drawn with the own king on
/// files e to h.
fn can_occur(number: &Number) -> bool {
    let is_at_end = number.square.is_some_and(|square| square / 8 == 0 || square / 8 == 7);
    let is_mirrored = number.square.is_some_and(|square| square % 8 < 4);
    !(is_at_end && last_part(&number.table) == "pawn" || is_mirrored && number.table == "psqt.king")
}

/// What stands behind the last dot of a path.
fn last_part(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

#[cfg(test)]
mod tests;
