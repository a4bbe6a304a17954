//! Where positions are kept once they have been read: packed, in columns that may lie in mapped files.

use std::ops::Range;

use engine::chess::Position;
use serde::{Deserialize, Serialize};

use super::label::{GAME, Label, Outcome};
use super::packed::{Packed, outcome_of, pack, position_of, score_of};
use crate::cache::{Damage, Loader, Saver};
use crate::processes::Shared;
use crate::storage::{Column, ColumnWriter, Storage, StorageError};

/// What positions stay together by when data are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Grouping {
    /// Their game, which every line names, or which the format keeps together.
    Games,
    /// Stretches of lines that end where the result changes, and so at the end of a game: games have no names, but
    /// neighbours share results far more often than by chance.
    Stretches,
    /// Nothing but being the same position, clocks aside.
    Positions,
    /// Their game where it has a name; elsewhere stretches or nothing, as the positions without a game would by
    /// themselves.
    Mixed,
}

/// Positions that are looked at before what a mapped file had to be read for is given back.
const SLAB: usize = 1 << 16;

/// Neighbours that share results so much more often than by chance, as a share of all, are of one game.
const FELLOWSHIP: f64 = 0.1;

/// A stretch is at least so many times as long as results last on average.
const STRETCH: f64 = 4.0;

/// With fewer stretches than this, nothing could be divided well.
const FEWEST_STRETCHES: u32 = 50;

/// The positions of one part of a file, before they join the others.
#[derive(Default)]
pub(super) struct PartStore {
    packed: Vec<Packed>,
    groups: Vec<u32>,
    /// Records of the part, the first being 0.
    records: Vec<u32>,
}

impl PartStore {
    pub(super) fn push(&mut self, record: u32, position: &Position, label: &Label) {
        self.packed.push(pack(position, label));
        self.groups.push(label.group);
        self.records.push(record);
    }

    pub(super) fn len(&self) -> usize {
        self.packed.len()
    }

    pub(super) fn samples(&self) -> impl Iterator<Item = (Position, Label)> {
        let label = |(packed, group)| (position_of(packed), label_of(packed, group));
        self.packed.iter().zip(self.groups.iter().copied()).map(label)
    }

    /// Packed position, group and record of each.
    pub(super) fn rows(&self) -> impl Iterator<Item = (Packed, u32, u32)> {
        let rows = self.packed.iter().zip(&self.groups).zip(&self.records);
        rows.map(|((&packed, &group), &record)| (packed, group, record))
    }

    /// Keeps the positions for which the next of `is_kept` is set.
    pub(super) fn retain(&mut self, is_kept: &[bool]) {
        fn keep<T>(column: &mut Vec<T>, is_kept: &[bool]) {
            let mut next = is_kept.iter();
            column.retain(|_| next.next().is_none_or(|is_kept| *is_kept));
        }
        keep(&mut self.packed, is_kept);
        keep(&mut self.groups, is_kept);
        keep(&mut self.records, is_kept);
    }
}

impl Shared for PartStore {
    fn pack(&self, bytes: &mut Vec<u8>) {
        self.packed.pack(bytes);
        self.groups.pack(bytes);
        self.records.pack(bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Self {
        PartStore { packed: Vec::unpack(bytes), groups: Vec::unpack(bytes), records: Vec::unpack(bytes) }
    }
}

/// Puts the positions of all parts together: in memory as long as they take no more than their share of it, then in
/// temporary files.
#[derive(Default)]
pub(super) struct StoreWriter {
    limit: Option<Storage>,
    packed: ColumnWriter<Packed>,
    groups: ColumnWriter<u32>,
    records: ColumnWriter<u32>,
    /// Whether there are positions of games that can be told from others.
    has_named: bool,
    /// Whether there are others.
    has_nameless: bool,
}

impl StoreWriter {
    pub(super) fn new(storage: &Storage) -> Self {
        StoreWriter { limit: Some(storage.clone()), ..StoreWriter::default() }
    }

    /// Adds a part that `records` records of its file come before.
    pub(super) fn append(&mut self, part: &PartStore, records: u64) -> Result<(), StorageError> {
        self.packed.extend(&part.packed)?;
        self.groups.extend(&part.groups)?;
        part.groups.iter().for_each(|&group| self.note(group));
        for &record in &part.records {
            // A place beyond what fits is told as the last that does.
            self.records.push(u32::try_from(records + u64::from(record)).unwrap_or(u32::MAX))?;
        }
        let bytes = self.packed.bytes_in_memory() + self.groups.bytes_in_memory() + self.records.bytes_in_memory();
        if let Some(storage) = self.limit.take_if(|limit| bytes > limit.share()) {
            self.packed.spill(&storage.folder)?;
            self.groups.spill(&storage.folder)?;
            self.records.spill(&storage.folder)?;
        }
        Ok(())
    }

    /// Adds a position; `record` counts from 0.
    pub(super) fn push(&mut self, packed: Packed, group: u32, record: u64) -> Result<(), StorageError> {
        self.packed.push(packed)?;
        self.groups.push(group)?;
        self.note(group);
        self.records.push(u32::try_from(record).unwrap_or(u32::MAX))
    }

    fn note(&mut self, group: u32) {
        let is_named = group & GAME != 0;
        self.has_named |= is_named;
        self.has_nameless |= !is_named;
    }

    /// The store, once everything is there, and what its positions stay together by.
    pub(super) fn finish(self) -> Result<(Store, Grouping), StorageError> {
        let mut store =
            Store { packed: self.packed.finish()?, groups: self.groups.finish()?, records: self.records.finish()? };
        let stretches = if self.has_nameless { store.stretches()? } else { None };
        let grouping = match (self.has_named, self.has_nameless) {
            (true, false) => Grouping::Games,
            (true, true) => Grouping::Mixed,
            _ if stretches.is_some() => Grouping::Stretches,
            _ => Grouping::Positions,
        };
        store.groups = stretches.unwrap_or(store.groups);
        Ok((store, grouping))
    }
}

/// Packed positions with their labels.
pub(super) struct Store {
    packed: Column<Packed>,
    groups: Column<u32>,
    records: Column<u32>,
}

impl Store {
    pub(super) fn len(&self) -> usize {
        self.packed.len()
    }

    pub(super) fn position(&self, index: usize) -> Position {
        position_of(&self.packed[index])
    }

    pub(super) fn label(&self, index: usize) -> Label {
        label_of(&self.packed[index], self.groups[index])
    }

    pub(super) fn samples(&self, range: Range<usize>) -> impl Iterator<Item = (Position, Label)> {
        range.map(|index| (self.position(index), self.label(index)))
    }

    /// Writes the positions to an entry of a cache.
    pub(super) fn save(&self, saver: &mut Saver<'_>) -> Result<(), StorageError> {
        saver.column("packed", &self.packed)?;
        saver.column("groups", &self.groups)?;
        saver.column("records", &self.records)?;
        self.release(0..self.len());
        Ok(())
    }

    /// Reads the positions of an entry of a cache.
    pub(super) fn load(loader: &mut Loader<'_>) -> Result<Self, Damage> {
        let packed = loader.column("packed")?;
        Ok(Store { packed, groups: loader.column("groups")?, records: loader.column("records")? })
    }

    /// Gives back what mapped files had to be read for.
    pub(super) fn release(&self, range: Range<usize>) {
        self.packed.release(range.clone());
        self.groups.release(range.clone());
        self.records.release(range);
    }

    /// The record a position came from, within its file, 0 for the first.
    pub(super) fn record(&self, index: usize) -> u32 {
        self.records[index]
    }

    pub(super) fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// Groups and outcomes.
    fn results(&self) -> impl Iterator<Item = (u32, Outcome)> {
        self.packed.chunks(SLAB).zip(self.groups.chunks(SLAB)).enumerate().flat_map(|(slab, (packed, groups))| {
            // The slab before this one has been looked at.
            let before = slab.saturating_sub(1) * SLAB..slab * SLAB;
            self.packed.release(before.clone());
            self.groups.release(before);
            groups.iter().copied().zip(packed.iter().map(outcome_of))
        })
    }

    /// By position: its game, or its stretch among the positions without a game; none if neighbours among these have
    /// little to do with one another.
    fn stretches(&self) -> Result<Option<Column<u32>>, StorageError> {
        let nameless = || self.results().filter(|(group, _)| group & GAME == 0).map(|(_, outcome)| outcome);
        let mut counts = [0.0; Outcome::ALL.len()];
        nameless().for_each(|outcome| counts[outcome as usize] += 1.0);
        let all: f64 = counts.iter().sum();
        let by_chance: f64 = counts.iter().map(|count| (count / all).powi(2)).sum();
        let changes = nameless().zip(nameless().skip(1)).filter(|(a, b)| a != b).count() as f64;
        if 1.0 - changes / all < by_chance + FELLOWSHIP {
            return Ok(None);
        }
        let shortest = (STRETCH * all / (changes + 1.0)) as usize;
        let (mut number, mut length, mut last) = (0, 0, None);
        let mut groups = ColumnWriter::new();
        groups.reserve(self.len());
        for (group, outcome) in self.results() {
            if group & GAME != 0 {
                groups.push(group)?;
                continue;
            }
            if length >= shortest && last != Some(outcome) {
                (number, length) = (number + 1, 0);
            }
            (length, last) = (length + 1, Some(outcome));
            groups.push(number)?;
        }
        Ok(if number >= FEWEST_STRETCHES { Some(groups.finish()?) } else { None })
    }
}

fn label_of(packed: &Packed, group: u32) -> Label {
    Label { outcome: outcome_of(packed), score: score_of(packed), group }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(labels: &[Label]) -> (Store, Grouping) {
        let position = Position::start();
        let mut writer = StoreWriter::default();
        for (number, part) in labels.chunks(1000).enumerate() {
            let mut store = PartStore::default();
            part.iter().enumerate().for_each(|(record, label)| store.push(record as u32, &position, label));
            writer.append(&store, 1000 * number as u64).expect("room in memory");
        }
        writer.finish().expect("room in memory")
    }

    #[test]
    fn labels_and_records_come_back() {
        let label = |outcome, score, group| Label { outcome, score, group };
        let some = [
            label(Outcome::Win, None, 1),
            label(Outcome::Loss, Some(-34), 2),
            label(Outcome::Draw, None, 2),
            label(Outcome::Draw, Some(0), GAME - 1),
        ];
        let all = some.repeat(700);
        let (store, grouping) = stored(&all);
        assert_eq!((store.len(), grouping), (all.len(), Grouping::Positions));
        for (index, label) in all.iter().enumerate() {
            assert_eq!((store.label(index), store.record(index)), (*label, index as u32));
        }
        assert!(store.samples(3..5).all(|(position, _)| position == Position::start()));
    }

    /// Games of a length without names, their results in a fixed muddle.
    fn games(count: usize, length: usize) -> Vec<Label> {
        let game = |game: usize| Outcome::ALL[game * game % 7 % 3];
        let group = |place: usize| (place as u32).wrapping_mul(0x9E37_79B9) & !GAME;
        (0..count * length).map(|place| Label::new(game(place / length), group(place))).collect()
    }

    #[test]
    fn games_without_names_are_not_torn() {
        for length in [5, 40] {
            let (store, grouping) = stored(&games(2000, length));
            assert_eq!(grouping, Grouping::Stretches);
            let groups = store.groups();
            assert!(groups.chunks(length).all(|game| game.iter().all(|group| *group == game[0])));
            let stretches = groups[groups.len() - 1] as usize + 1;
            assert!((100..1000).contains(&stretches), "{stretches}");
        }
        // One position a game, or too few games: nothing to be seen.
        assert_eq!(stored(&games(2000, 1)).1, Grouping::Positions);
        assert_eq!(stored(&games(40, 30)).1, Grouping::Positions);
    }

    #[test]
    fn games_with_names_stay_together_by_them() {
        let mut labels = games(2000, 5);
        labels.iter_mut().for_each(|label| label.group |= GAME);
        let (store, grouping) = stored(&labels);
        assert_eq!(grouping, Grouping::Games);
        assert!(store.groups().iter().zip(&labels).all(|(group, label)| *group == label.group));
        labels[7777].group &= !GAME;
        let (store, grouping) = stored(&labels);
        assert_eq!(grouping, Grouping::Mixed);
        assert!(store.groups().iter().zip(&labels).all(|(group, label)| *group == label.group));
    }

    #[test]
    fn games_with_names_keep_them_beside_others_without() {
        let (mut named, nameless) = (games(2000, 5), games(2000, 40));
        named.iter_mut().for_each(|label| label.group |= GAME);
        let alone = stored(&nameless).0;
        let (store, grouping) = stored(&[&named[..], &nameless].concat());
        assert_eq!(grouping, Grouping::Mixed);
        let (first, second) = store.groups().split_at(named.len());
        assert!(first.iter().zip(&named).all(|(group, label)| *group == label.group));
        assert_eq!(second, alone.groups());
    }
}
