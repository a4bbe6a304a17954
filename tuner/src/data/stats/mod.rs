//! What is in data, before anything is tuned to them: counts, duplicates, and whether labels can be right.
//!
//! All of it comes of one pass, divided by the data alone and added up in whole numbers: the same for any number of
//! threads. Beside the data set itself, eight bytes a position are kept, to find duplicates.

mod show;
mod sums;

use std::ops::Range;

use engine::chess::Position;
use engine::eval::Evaluator;
use engine::search::{Pruning, Quiescence};

use super::judge::Correlation;
use crate::data::{Dataset, DatasetError, Label, Outcome, ReadOptions, Source, material_balance};
use crate::progress::Progress;
use sums::{LABELS, SCORES, Sums};

/// A quiescence score further than this from the evaluation, in centipawns, is not that of a quiet position.
const QUIET_MARGIN: i32 = 50;

/// A score beyond this, in centipawns, says that the game is decided.
const DECIDED: u16 = 1500;

/// White's material less Black's beyond this, in pawns, says so too.
const MUCH_MATERIAL: i32 = 9;

/// What speaks against the result of a position, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Suspicion {
    /// The side that is mated has not lost.
    Mate,
    /// Somebody has won where nobody can.
    Draw,
    /// The side that the score sees winning has lost.
    Score,
    /// The side with much more material has lost.
    Material,
}

impl Suspicion {
    const ALL: [Self; 4] = [Suspicion::Mate, Suspicion::Draw, Suspicion::Score, Suspicion::Material];

    fn name(self) -> &'static str {
        match self {
            Suspicion::Mate => "mated, but not lost",
            Suspicion::Draw => "won, but a draw by the rules",
            Suspicion::Score => "lost against the score",
            Suspicion::Material => "lost against the material",
        }
    }

    /// What speaks against a label, if anything does.
    fn of(position: &Position, label: Label) -> Option<Self> {
        let (points, mover) = (won(label.outcome), position.side_to_move().sign());
        let against = |sign: i32| points != 0 && points == -sign.signum();
        if position.is_check() && points != -mover && !position.has_legal_move() {
            Some(Suspicion::Mate)
        } else if points != 0 && (position.is_insufficient_material() || is_stalemate(position)) {
            Some(Suspicion::Draw)
        } else if label.score.is_some_and(|score| score.unsigned_abs() >= DECIDED && against(score.into())) {
            Some(Suspicion::Score)
        } else if material_balance(position).abs() >= MUCH_MATERIAL && against(material_balance(position)) {
            Some(Suspicion::Material)
        } else {
            None
        }
    }
}

/// 1 if White won, -1 if Black did; 0 if nobody has, as far as is known.
fn won(outcome: Outcome) -> i32 {
    match outcome {
        Outcome::Win => 1,
        Outcome::Loss => -1,
        Outcome::Draw | Outcome::Share(_) => 0,
    }
}

fn is_stalemate(position: &Position) -> bool {
    !position.is_check() && !position.has_legal_move()
}

/// A position whose label is hard to believe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Suspect {
    suspicion: Suspicion,
    /// The number of the position in the data.
    sample: usize,
}

/// Positions that are there more than once, clocks aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Duplicates {
    /// Positions that have been there before.
    again: u64,
    /// Different positions that come with more than one result.
    disputed: u64,
}

impl Duplicates {
    /// Of keys with the outcome in their two lowest bits.
    fn of(mut keys: Vec<u64>) -> Self {
        keys.sort_unstable();
        let mut found = Duplicates::default();
        for same in keys.chunk_by(|a, b| a >> 2 == b >> 2) {
            found.again += same.len() as u64 - 1;
            found.disputed += u64::from(same.first() != same.last());
        }
        found
    }
}

/// How many games there are, where they can be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Games {
    count: u64,
    /// Positions of the game with the fewest, and of that with the most.
    positions: (u64, u64),
}

impl Games {
    fn of(groups: &[u32]) -> Self {
        let mut groups = groups.to_vec();
        groups.sort_unstable();
        let lengths = groups.chunk_by(|a, b| a == b).map(|game| game.len() as u64);
        let mut games = Games { count: 0, positions: (u64::MAX, 0) };
        for length in lengths {
            games.count += 1;
            games.positions = (games.positions.0.min(length), games.positions.1.max(length));
        }
        games
    }
}

/// What was found.
pub struct Stats {
    dataset: Dataset,
    sums: Sums,
    duplicates: Duplicates,
    /// If every position is of a game that has a name.
    games: Option<Games>,
    /// By [`Suspicion`]: how many positions there are.
    suspicions: [u64; Suspicion::ALL.len()],
    /// The first of them, those with most against them before.
    suspects: Vec<Suspect>,
}

/// Reads data and looks at every position; tells at most `count` suspects.
///
/// # Errors
/// The first fault of the data.
pub fn collect(
    sources: Vec<Source>,
    options: &ReadOptions,
    count: usize,
    progress: &dyn Progress,
) -> Result<Stats, DatasetError> {
    let evaluator = Evaluator::default();
    let dataset = Dataset::read(sources, options, progress)?;
    let mut whole = Whole::default();
    let look = |chunk: Range<usize>| {
        let mut collector = Collector::new(&evaluator, count);
        dataset.samples(chunk).for_each(|(position, label)| collector.add(&position, label));
        collector
    };
    dataset.each_chunk("measuring", look, |part| whole.add(part, count), progress);
    let is_of_games = dataset.grouping() == crate::data::Grouping::Games;
    let games = is_of_games.then(|| Games::of(dataset.groups()));
    let Whole { sums, keys, suspicions, mut suspects } = whole;
    suspects.sort_unstable();
    suspects.truncate(count);
    Ok(Stats { dataset, sums, duplicates: Duplicates::of(keys), games, suspicions, suspects })
}

/// Looks at the positions of one part.
struct Collector<'e> {
    quiescence: Quiescence<'e>,
    most: usize,
    sums: Sums,
    keys: Vec<u64>,
    suspicions: [u64; Suspicion::ALL.len()],
    suspects: Vec<Suspect>,
}

impl<'e> Collector<'e> {
    fn new(evaluator: &'e Evaluator, most: usize) -> Self {
        Collector {
            quiescence: Quiescence::new(evaluator, Pruning::Exact),
            most,
            sums: Sums::default(),
            keys: Vec::new(),
            suspicions: Default::default(),
            suspects: Vec::new(),
        }
    }

    fn add(&mut self, position: &Position, label: Label) {
        let is_quiet = self.quiescence.is_quiet(position, QUIET_MARGIN);
        self.sums.add(position, label, is_quiet);
        if let Some(suspicion) = Suspicion::of(position, label) {
            let count = &mut self.suspicions[suspicion as usize];
            *count += 1;
            if *count <= self.most as u64 {
                self.suspects.push(Suspect { suspicion, sample: self.keys.len() });
            }
        }
        self.keys.push(position.key() & !3 | label.outcome.kind() as u64);
    }
}

/// What the parts add up to.
#[derive(Default)]
struct Whole {
    sums: Sums,
    keys: Vec<u64>,
    suspicions: [u64; Suspicion::ALL.len()],
    suspects: Vec<Suspect>,
}

impl Whole {
    fn add(&mut self, part: Collector<'_>, most: usize) {
        let before = self.keys.len();
        for mut suspect in part.suspects {
            suspect.sample += before;
            self.suspects.push(suspect);
        }
        if self.suspects.len() > 1000.max(16 * most) {
            self.suspects.sort_unstable();
            self.suspects.truncate(most);
        }
        self.suspicions.iter_mut().zip(part.suspicions).for_each(|(count, more)| *count += more);
        self.keys.extend_from_slice(&part.keys);
        self.sums.merge(&part.sums);
    }
}

/// Results with the side to move or another circumstance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Outcomes {
    /// How many of each outcome: lost to won for White, and shares.
    counts: [u64; 4],
    /// White's points, in units of a share.
    units: u64,
}

impl Outcomes {
    fn add(&mut self, outcome: Outcome) {
        self.counts[outcome.kind()] += 1;
        self.units += u64::from(outcome.units());
    }

    fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        self.units += other.units;
    }

    fn positions(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// White's points, on average.
    fn points(&self) -> f64 {
        self.units as f64 / f64::from(Outcome::Win.units()) / self.positions().max(1) as f64
    }
}

#[cfg(test)]
mod tests;
