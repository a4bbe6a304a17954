//! Positions as later runs get them.

use std::ops::Range;

use super::super::FileSummary;
use super::super::label::GAME;
use super::super::packed::{is_sound, outcome_of};
use super::{BLOCK, Grouping, Store};
use crate::io::{Column, Loader, Saver, StorageError};
use crate::parallel;

impl Store {
    /// Writes the positions to an entry of a cache, without moves.
    pub(in crate::data) fn save(&self, saver: &mut Saver<'_>) -> Result<(), StorageError> {
        saver.column("packed", &self.packed)?;
        saver.column("groups", &self.groups)?;
        saver.column("records", &self.records)?;
        self.release(0..self.len());
        Ok(())
    }

    /// Reads the positions of an entry of a cache, and looks whether they are positions, of such files and points.
    pub(in crate::data) fn load(
        loader: &mut Loader<'_>,
        grouping: Grouping,
        files: &[FileSummary],
        points: &[f32],
    ) -> Result<Self, StorageError> {
        let (packed, groups, records) = (loader.column("packed")?, loader.column("groups")?, loader.column("records")?);
        let store = Store { packed, groups, records, moves: Column::default() };
        match store.fault(grouping, files, points) {
            Some(fault) => Err(loader.damage(fault)),
            None => Ok(store),
        }
    }

    /// What cannot be so.
    fn fault(&self, grouping: Grouping, files: &[FileSummary], points: &[f32]) -> Option<String> {
        let positions = files.iter().map(|file| u128::from(file.positions)).sum::<u128>();
        if [self.groups.len(), self.records.len(), points.len()] != [self.len(); 3] || positions != self.len() as u128 {
            return Some("columns of positions differ in length".to_owned());
        }
        let faults = parallel::map((0..self.len()).step_by(BLOCK), |start| {
            let block = start..(start + BLOCK).min(self.len());
            let fault = self.fault_of_positions(block.clone(), points);
            self.release(block);
            fault
        });
        let fault = faults.into_iter().flatten().next();
        fault.or_else(|| self.fault_of_groups(grouping)).or_else(|| self.fault_of_records(files))
    }

    fn fault_of_positions(&self, mut range: Range<usize>, points: &[f32]) -> Option<String> {
        range.find_map(|index| {
            let packed = &self.packed[index];
            if !is_sound(packed) {
                return Some(format!("packed {index} is no position"));
            }
            let is_same = outcome_of(packed).points() == points[index];
            (!is_same).then(|| format!("packed {index} has another result than its row"))
        })
    }

    fn fault_of_groups(&self, grouping: Grouping) -> Option<String> {
        let named = self.groups.iter().filter(|&group| group & GAME != 0).count();
        self.groups.release(0..self.len());
        let is_so = match grouping {
            Grouping::Games => named == self.len(),
            Grouping::Mixed => (1..self.len()).contains(&named),
            Grouping::ResultRuns | Grouping::Positions => named == 0,
        };
        (!is_so).then(|| format!("groups are not {grouping:?}"))
    }

    /// The records of a file ascend; several positions may be of one.
    fn fault_of_records(&self, files: &[FileSummary]) -> Option<String> {
        let mut start = 0;
        let fault = files.iter().find_map(|file| {
            let records = &self.records[start..start + file.positions as usize];
            start += records.len();
            let is_in_file = records.is_sorted() && records.last().is_none_or(|&last| u64::from(last) < file.records);
            // What was left out was looked at, too.
            let left_out = file.left_out.iter().map(|(_, count)| u128::from(count)).sum::<u128>();
            let are_of_file = file.evidence.is_of(u128::from(file.positions) + left_out);
            (!is_in_file || !are_of_file).then(|| format!("records are not those of {}", file.name))
        });
        self.records.release(0..self.len());
        fault
    }
}
