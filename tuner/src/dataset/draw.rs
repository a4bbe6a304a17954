//! A sample of data, drawn while they are read: what is not drawn takes no memory.

use engine::random::Random;

use super::FileSummary;
use super::filter::LeftOut;
use super::packed::Packed;
use super::store::{PartStore, StoreWriter, record_of_file};
use crate::storage::StorageError;

/// How much of the data is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// How many positions; all of them if there are fewer.
    pub size: usize,
    /// What decides which.
    pub seed: u64,
}

/// Draws positions from a stream, each as likely as any other and whatever the others are.
///
/// Every position of the stream gets a random number; those with the smallest are the sample.
pub(super) struct Urn {
    size: usize,
    random: Random,
    /// Numbers from here on are not among the smallest.
    bound: u64,
    offered: u64,
    drawn: Vec<Drawn>,
}

struct Drawn {
    number: u64,
    /// Its place in the stream.
    place: u64,
    packed: Packed,
    group: u32,
    file: u32,
    /// Of the file.
    record: u32,
    /// The bits of its move, if moves are kept.
    mv: Option<u16>,
}

impl Urn {
    pub(super) fn new(draw: Draw) -> Self {
        Urn { size: draw.size, random: Random::seeded(draw.seed), bound: u64::MAX, offered: 0, drawn: Vec::new() }
    }

    /// Goes on with a part of a file that `records` records come before.
    pub(super) fn offer(&mut self, part: &PartStore, file: usize, records: u64) {
        for (packed, group, record, mv) in part.rows() {
            let number = self.random.below(u64::MAX);
            let place = self.offered;
            self.offered += 1;
            if number < self.bound {
                let record = record_of_file(records, record);
                self.drawn.push(Drawn { number, place, packed, group, file: file as u32, record, mv });
            }
        }
        if self.drawn.len() >= 2 * self.size.max(1 << 16) {
            self.keep_smallest();
        }
    }

    fn keep_smallest(&mut self) {
        if self.drawn.len() > self.size {
            let order = |drawn: &Drawn| (drawn.number, drawn.place);
            let (_, first_beyond, _) = self.drawn.select_nth_unstable_by_key(self.size, order);
            self.bound = first_beyond.number;
            self.drawn.truncate(self.size);
        }
    }

    /// Stores the sample in the order of the data, and says of each file how much of it was not drawn.
    pub(super) fn finish(mut self, store: &mut StoreWriter, files: &mut [FileSummary]) -> Result<(), StorageError> {
        self.keep_smallest();
        self.drawn.sort_unstable_by_key(|drawn| drawn.place);
        let mut drawn_of = vec![0; files.len()];
        for drawn in &self.drawn {
            drawn_of[drawn.file as usize] += 1;
            store.push(drawn.packed, drawn.group, drawn.record, drawn.mv)?;
        }
        for (file, drawn) in files.iter_mut().zip(drawn_of) {
            file.left_out.add_several(LeftOut::NotDrawn, file.positions - drawn);
            file.positions = drawn;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use engine::chess::{Move, Position};

    use super::super::label::{Label, Outcome};
    use super::super::store::Store;
    use super::super::{Format, LeftOutCounts, Record, Views};
    use super::*;
    use crate::storage::Storage;

    const SIZE: usize = 100_000;

    fn file() -> FileSummary {
        FileSummary {
            name: String::new(),
            record: Record::Line,
            records: SIZE as u64 / 2,
            positions: SIZE as u64 / 2,
            left_out: LeftOutCounts::default(),
            views: Views::default(),
            sha256: String::new(),
            format: Format::Bullet,
        }
    }

    /// A sample of two files, whose groups number the positions.
    fn drawn(size: usize, seed: u64) -> (Store, Vec<FileSummary>) {
        let position = Position::start();
        let mut urn = Urn::new(Draw { size, seed });
        for start in (0..SIZE).step_by(1000) {
            let mut part = PartStore::default();
            for i in 0..1000 {
                part.push(i, &position, &Label::new(Outcome::Draw, (start as u32) + i));
                part.push_move(Move::from_bits(i as u16));
            }
            urn.offer(&part, start / (SIZE / 2), (start % (SIZE / 2)) as u64);
        }
        let mut store = StoreWriter::new(&Storage::default());
        let mut files = vec![file(), file()];
        urn.finish(&mut store, &mut files).expect("room in memory");
        (store.finish().expect("room in memory").0, files)
    }

    #[test]
    fn every_position_is_as_likely_as_any_other() {
        for size in [1000, 70_000] {
            let (store, files) = drawn(size, 3);
            let groups = store.groups();
            assert_eq!(groups.len(), size);
            assert!(groups.windows(2).all(|pair| pair[0] < pair[1]), "in the order of the data, each once");
            for tenth in 0..10 {
                let range = tenth * SIZE as u32 / 10..(tenth + 1) * SIZE as u32 / 10;
                let count = groups.iter().filter(|group| range.contains(group)).count() as f64;
                let share = size as f64 / SIZE as f64;
                // Five standard deviations.
                let margin = 5.0 * (0.1 * SIZE as f64 * share * (1.0 - share)).sqrt();
                assert!((count - 0.1 * size as f64).abs() < margin, "{count} of tenth {tenth}");
            }
            assert_eq!(files[0].positions + files[1].positions, size as u64);
            for (index, &group) in groups.iter().enumerate() {
                assert_eq!(store.record(index), group % (SIZE as u32 / 2));
                assert_eq!(store.best(index), Move::from_bits((group % 1000) as u16));
            }
            assert_eq!(groups, drawn(size, 3).0.groups());
            assert_ne!(groups, drawn(size, 4).0.groups());
        }
    }

    #[test]
    fn a_sample_of_everything_is_everything() {
        let (store, files) = drawn(SIZE + 1, 0);
        assert!(store.groups().iter().copied().eq(0..SIZE as u32));
        assert!(files.iter().all(|file| file.left_out == LeftOutCounts::default() && file.positions == 50_000));
    }
}
