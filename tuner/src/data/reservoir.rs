//! Random sampling of data while they are read: positions that are not sampled take no memory.

use clap::builder::TypedValueParser;
use clap::{Args, value_parser};
use engine::random::Random;

use super::FileSummary;
use super::left_out::LeftOut;
use super::material::{FULL_PHASE, phase};
use super::packed::position_of;
use super::store::{StoreWriter, StoredRow};
use crate::data::io::StorageError;

/// The settings of a random sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
#[command(next_help_heading = "Data")]
pub struct Subsample {
    /// Use N positions of the data, drawn at random, each as likely as any other; the others take no memory. Positions
    /// are drawn one by one, not by games: a game is in the sample with some of its positions.
    #[arg(id = "sample", long, value_name = "N", required = false)]
    #[arg(value_parser = value_parser!(u32).range(1..).map(|size| size as usize))]
    pub size: usize,

    /// The seed of the sample.
    #[arg(id = "sample_seed", long = "sample-seed", value_name = "SEED", default_value_t = 0, requires = "sample")]
    pub seed: u64,

    /// Draw as many positions of every phase as of any other, as far as the data have them: knights and bishops count
    /// 1, rooks 2, queens 4.
    #[arg(long, requires = "sample")]
    pub flatten: bool,
}

/// A sampler of a stream of positions. Within a stratum, all positions are equally likely, independently of one
/// another.
///
/// Every position of the stream gets a random number. The sample consists of the smallest numbers of each stratum.
pub(super) struct Reservoir {
    size: usize,
    random: Random,
    offered: u64,
    kept: usize,
    /// The strata, by phase, or one stratum of all positions.
    strata: Vec<Stratum>,
}

/// A set of positions that are sampled with equal probability.
#[derive(Clone)]
struct Stratum {
    /// The number of positions in the stream so far.
    offered: usize,
    /// The exclusive upper bound of the numbers that can be among the smallest.
    bound: u64,
    candidates: Vec<Candidate>,
}

#[derive(Clone)]
struct Candidate {
    number: u64,
    /// Index of the position in the stream.
    place: u64,
    row: StoredRow,
}

impl Reservoir {
    pub(super) fn new(subsample: Subsample) -> Self {
        let stratum = Stratum { offered: 0, bound: u64::MAX, candidates: Vec::new() };
        Reservoir {
            size: subsample.size,
            random: Random::seeded(subsample.seed),
            offered: 0,
            kept: 0,
            strata: vec![stratum; if subsample.flatten { FULL_PHASE + 1 } else { 1 }],
        }
    }

    /// Offers the next position of the stream.
    pub(super) fn offer(&mut self, row: StoredRow) {
        let (number, place) = (self.random.below(u64::MAX), self.offered);
        self.offered += 1;
        let flatten = self.strata.len() > 1;
        let stratum = &mut self.strata[if flatten { phase(&position_of(&row.packed)) } else { 0 }];
        stratum.offered += 1;
        if number >= stratum.bound {
            return;
        }
        stratum.candidates.push(Candidate { number, place, row });
        self.kept += 1;
        if self.kept >= 2 * self.size.max(1 << 16) {
            // The quota of a stratum never grows as more is offered, except by one position of the remainder.
            let most = self.level().saturating_add(1);
            self.strata.iter_mut().for_each(|stratum| stratum.keep_smallest(most));
            self.kept = self.strata.iter().map(|stratum| stratum.candidates.len()).sum();
        }
    }

    /// Returns the largest equal quota of the strata that does not exceed the size of the sample.
    fn level(&self) -> usize {
        let mut offered: Vec<usize> = self.strata.iter().map(|stratum| stratum.offered).collect();
        offered.sort_unstable();
        let (mut left, mut strata) = (self.size, offered.len());
        for count in offered {
            if count > left / strata {
                return left / strata;
            }
            (left, strata) = (left - count, strata - 1);
            if strata == 0 {
                break;
            }
        }
        usize::MAX
    }

    /// Stores the sample in the order of the data, and counts the positions of each file that were not sampled. The
    /// stream consisted of the positions of these files.
    pub(super) fn finish(mut self, store: &mut StoreWriter, files: &mut [FileSummary]) -> Result<(), StorageError> {
        let level = self.level();
        let even: usize = self.strata.iter().map(|stratum| stratum.offered.min(level)).sum();
        let mut rest = self.size.saturating_sub(even);
        for stratum in &mut self.strata {
            let more = usize::from(stratum.offered > level && rest > 0);
            rest -= more;
            stratum.keep_smallest(level.saturating_add(more));
        }
        let mut sample: Vec<Candidate> = self.strata.into_iter().flat_map(|stratum| stratum.candidates).collect();
        sample.sort_unstable_by_key(|candidate| candidate.place);
        let (mut sample, mut end) = (sample.iter().peekable(), 0);
        for file in files {
            end += file.positions;
            let mut sampled = 0;
            while let Some(candidate) = sample.next_if(|candidate| candidate.place < end) {
                store.push(&candidate.row)?;
                sampled += 1;
            }
            file.left_out.add(LeftOut::NotSampled, file.positions - sampled);
            file.positions = sampled;
        }
        Ok(())
    }
}

impl Stratum {
    fn keep_smallest(&mut self, most: usize) {
        if self.candidates.len() > most {
            let order = |candidate: &Candidate| (candidate.number, candidate.place);
            let (_, first_beyond, _) = self.candidates.select_nth_unstable_by_key(most, order);
            self.bound = first_beyond.number;
            self.candidates.truncate(most);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use engine::chess::{Move, Position};

    use super::super::label::Label;
    use super::super::outcome::ResultLabel;
    use super::super::packed::{pack, record_of};
    use super::super::{Dataset, LeftOutCounts};
    use super::*;
    use crate::data::io::Storage;

    const SIZE: usize = 100_000;

    fn file() -> FileSummary {
        FileSummary { records: SIZE as u64 / 2, positions: SIZE as u64 / 2, ..FileSummary::default() }
    }

    fn row(position: &Position, group: u32, best: Option<Move>, record: u32) -> StoredRow {
        StoredRow { packed: pack(position, &Label::new(ResultLabel::DRAW, group), best, record), group }
    }

    /// Samples two files; the groups of the positions are their indices.
    fn sampled(size: usize, seed: u64) -> Dataset {
        let position = Position::start();
        let mut reservoir = Reservoir::new(Subsample { size, seed, flatten: false });
        for i in 0..SIZE {
            reservoir.offer(row(&position, i as u32, Move::from_bits((i % 1000) as u16), (i % (SIZE / 2)) as u32));
        }
        let mut store = StoreWriter::new(&Storage::default());
        let mut files = vec![file(), file()];
        reservoir.finish(&mut store, &mut files).expect("room in memory");
        store.finish(files, BTreeMap::new()).expect("room in memory")
    }

    #[test]
    fn all_positions_are_equally_likely() {
        for size in [1000, 70_000] {
            let dataset = sampled(size, 3);
            let (groups, files) = (dataset.groups(), dataset.files());
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
                assert_eq!(record_of(&dataset.packed[index]), group % (SIZE as u32 / 2));
                assert_eq!(dataset.best(index), Move::from_bits((group % 1000) as u16));
            }
            assert_eq!(groups, sampled(size, 3).groups());
            assert_ne!(groups, sampled(size, 4).groups());
        }
    }

    #[test]
    fn a_sample_larger_than_the_data_is_all_of_them() {
        let dataset = sampled(SIZE + 1, 0);
        let (groups, files) = (dataset.groups(), dataset.files());
        assert!(groups.iter().copied().eq(0..SIZE as u32));
        assert!(files.iter().all(|file| file.left_out == LeftOutCounts::default() && file.positions == 50_000));
    }

    #[test]
    fn flattened_samples_have_equal_numbers_of_each_phase() {
        // Phases 0, 1, 2 and 24, with 1, 9, 30 and 60 positions in 100.
        let positions = ["k7/8/8/8/8/8/P7/K7", "k7/8/8/8/8/8/P7/KN6", "k7/8/8/8/8/8/P7/KR6"]
            .map(|board| Position::from_fen(&format!("{board} w - - 0 1")).unwrap());
        let start = Position::start();
        let of = |i: u32| match i % 100 {
            0 => &positions[0],
            1..=9 => &positions[1],
            10..=39 => &positions[2],
            _ => &start,
        };
        for (size, expected) in
            [(100, [25, 25, 25, 25]), (4002, [300, 1234, 1234, 1234]), (4, [1, 1, 1, 1]), (3, [1, 1, 1, 0])]
        {
            let mut reservoir = Reservoir::new(Subsample { size, seed: 1, flatten: true });
            for i in 0..30_000 {
                reservoir.offer(row(of(i), i, None, i));
            }
            let mut store = StoreWriter::new(&Storage::default());
            reservoir.finish(&mut store, &mut [FileSummary { positions: 30_000, ..file() }]).expect("room in memory");
            let dataset = store.finish(Vec::new(), BTreeMap::new()).expect("room in memory");
            let groups = dataset.groups();
            assert!(groups.windows(2).all(|pair| pair[0] < pair[1]), "in the order of the data, each once");
            let count = |position: &Position| groups.iter().filter(|&&i| phase(of(i)) == phase(position)).count();
            let counts = [&positions[0], &positions[1], &positions[2], &start].map(count);
            assert_eq!(counts, expected, "{size}");
        }
    }
}
