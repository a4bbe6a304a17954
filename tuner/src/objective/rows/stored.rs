//! Rows as other processes and later runs get them.

use engine::eval::taper::{PhaseCounts, START_COUNTS};
use rayon::prelude::*;

use super::{Grown, Rows, SPAN};
use crate::cache::{Damage, Loader, Saver};
use crate::processes::{Shared, pack_records};
use crate::storage::StorageError;

/// Whether there may be so many pieces: no more than at the start of a game.
fn are_pieces(counts: &PhaseCounts) -> bool {
    let sum = |counts: &PhaseCounts| counts.iter().copied().map(u32::from).sum::<u32>();
    sum(counts) <= sum(&START_COUNTS)
}

impl Shared for Rows {
    fn pack(&self, bytes: &mut Vec<u8>) {
        pack_records(&[self.features], bytes);
        pack_records(&self.index, bytes);
        pack_records(&self.count, bytes);
        pack_records(&self.end, bytes);
        pack_records(&self.span, bytes);
        pack_records(&self.phase, bytes);
        pack_records(&self.target, bytes);
        pack_records(&self.constant_row, bytes);
        pack_records(&self.constant, bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Self {
        Rows {
            features: Vec::unpack(bytes)[0],
            index: Vec::unpack(bytes).into(),
            count: Vec::unpack(bytes).into(),
            end: Vec::unpack(bytes).into(),
            span: Vec::unpack(bytes).into(),
            phase: Vec::unpack(bytes).into(),
            target: Vec::unpack(bytes).into(),
            constant_row: Vec::unpack(bytes).into(),
            constant: Vec::unpack(bytes).into(),
            forest: Grown::default(),
        }
    }
}

impl Rows {
    /// Writes the rows to an entry of a cache.
    pub(crate) fn save(&self, saver: &mut Saver<'_>) -> Result<(), StorageError> {
        saver.column("index", &self.index)?;
        saver.column("count", &self.count)?;
        saver.column("end", &self.end)?;
        saver.column("span", &self.span)?;
        saver.column("phase", &self.phase)?;
        saver.column("target", &self.target)?;
        saver.column("constant_row", &self.constant_row)?;
        saver.column("constant", &self.constant)?;
        self.release(0..self.len());
        Ok(())
    }

    /// Reads the rows of an entry of a cache, and looks whether they are rows.
    pub(crate) fn load(loader: &mut Loader<'_>, features: usize) -> Result<Self, Damage> {
        let rows = Rows {
            features,
            index: loader.column("index")?,
            count: loader.column("count")?,
            end: loader.column("end")?,
            span: loader.column("span")?,
            phase: loader.column("phase")?,
            target: loader.column("target")?,
            constant_row: loader.column("constant_row")?,
            constant: loader.column("constant")?,
            forest: Grown::default(),
        };
        match rows.fault() {
            Some(fault) => Err(loader.damage(fault)),
            None => Ok(rows),
        }
    }

    /// What cannot be so: all that a [`RowsBuilder`](super::RowsBuilder) sees to, and where rows begin and end.
    fn fault(&self) -> Option<String> {
        let rows = self.len();
        let lengths = [self.phase.len(), self.target.len(), self.index.len(), self.span.len(), self.constant.len()];
        if lengths != [rows, rows, self.count.len(), rows.div_ceil(SPAN), self.constant_row.len()] {
            return Some("columns of rows differ in length".to_owned());
        }
        let is_row = self.constant_row.last().is_none_or(|&last| (last as usize) < rows);
        if !is_row || !self.constant_row.is_sorted_by(|a, b| a < b) {
            return Some("constant_row has rows that are none".to_owned());
        }
        if let Some(constant) = self.constant.iter().find(|constant| !constant.is_finite() || **constant == 0.0) {
            return Some(format!("constant has {constant}"));
        }
        (0..self.span.len()).into_par_iter().find_map_first(|span| self.fault_of_span(span))
    }

    fn fault_of_span(&self, span: usize) -> Option<String> {
        let rows = span * SPAN..((span + 1) * SPAN).min(self.len());
        let place = |span: usize| self.span.get(span).map_or(self.entries() as u64, |&start| start);
        let (start, end) = (place(span), place(span + 1));
        if (span == 0 && start != 0) || start > end || end > self.entries() as u64 {
            return Some(format!("span {span} is from {start} to {end}"));
        }
        let entries = start as usize..end as usize;
        let mut index = &self.index[entries.clone()];
        let mut last = start as u32;
        for row in rows.clone() {
            let length = self.end[row].wrapping_sub(last) as usize;
            last = self.end[row];
            let Some((features, rest)) = index.split_at_checked(length) else {
                return Some(format!("end of row {row} is beyond its span"));
            };
            let is_known = features.last().is_none_or(|&feature| usize::from(feature) < self.features);
            if !is_known || !features.is_sorted_by(|a, b| a < b) {
                return Some(format!("index of row {row} is out of order or range"));
            }
            index = rest;
        }
        let fault = if !index.is_empty() {
            Some("end")
        } else if self.count[entries].contains(&0) {
            Some("count")
        } else if !self.target[rows.clone()].iter().all(|target| (0.0..=1.0).contains(target)) {
            Some("target")
        } else if !self.phase[rows.clone()].iter().all(are_pieces) {
            Some("phase")
        } else {
            None
        };
        self.release(rows.clone());
        fault.map(|column| format!("{column} of rows {rows:?} is out of range"))
    }
}
