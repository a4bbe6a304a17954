//! What is known of a position beside the position itself.

use engine::chess::Position;

/// How a game ended, in White's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    /// Black won.
    Loss,
    /// Nobody won.
    Draw,
    /// White won.
    Win,
}

impl Outcome {
    pub(super) const ALL: [Self; 3] = [Outcome::Loss, Outcome::Draw, Outcome::Win];

    /// White's points: 0, ½ or 1.
    pub fn points(self) -> f32 {
        f32::from(self as u8) / 2.0
    }

    /// As games are written: `1-0`, `1/2-1/2` or `0-1`.
    pub fn result(self) -> &'static str {
        ["0-1", "1/2-1/2", "1-0"][self as usize]
    }
}

/// What a line says of its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// How the game ended.
    pub outcome: Outcome,
    /// What a search gave the position, centipawns, White's view.
    pub score: Option<i16>,
    /// What the position must not be parted from when data are divided; see [`Grouping`].
    pub group: u32,
}

impl Label {
    /// A label without a score.
    pub(super) fn new(outcome: Outcome, group: u32) -> Self {
        Label { outcome, score: None, group }
    }
}

/// What positions stay together by when data are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Their game, which every line names.
    Games,
    /// Stretches of lines that end where the result changes, and so at the end of a game: games have no names, but
    /// neighbours share results far more often than by chance.
    Stretches,
    /// Nothing but being the same position, clocks aside.
    Positions,
}

/// The bit that tells games from positions.
const GAME: u32 = 1 << 31;

/// Neighbours that share results so much more often than by chance, as a share of all, are of one game.
const FELLOWSHIP: f64 = 0.1;

/// A stretch is at least so many times as long as results last on average.
const STRETCH: f64 = 4.0;

/// With fewer stretches than this, nothing could be divided well.
const FEWEST_STRETCHES: u32 = 50;

/// The group of a position whose game has no name.
pub(super) fn group_of_position(position: &Position) -> u32 {
    fold(position.key()) & !GAME
}

/// The group of a game by its name.
pub(super) fn group_of_game(name: &str) -> u32 {
    // FNV-1a: the same on every machine. See <http://www.isthe.com/chongo/tech/comp/fnv/>.
    let hash = name
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3));
    fold(hash)
}

/// Both halves of a hash in one.
fn fold(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

/// Labels of many positions. Files without scores take no room for them.
#[derive(Default)]
pub(super) struct Labels {
    /// Where each position begins in the files, counted through all of them, and its outcome in the two lowest bits.
    places: Vec<u64>,
    groups: Vec<u32>,
    /// By position, as far as there are scores; none behind the end.
    scores: Vec<Option<i16>>,
}

impl Labels {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn push(&mut self, place: u64, label: Label) {
        self.places.push(place << 2 | label.outcome as u64);
        self.groups.push(label.group);
        if label.score.is_some() {
            self.scores.resize(self.places.len() - 1, None);
            self.scores.push(label.score);
        }
    }

    pub(super) fn append(&mut self, other: &Labels) {
        let before = self.len();
        self.places.extend_from_slice(&other.places);
        self.groups.extend_from_slice(&other.groups);
        if !other.scores.is_empty() {
            self.scores.resize(before, None);
            self.scores.extend_from_slice(&other.scores);
        }
    }

    pub(super) fn shrink(&mut self) {
        self.places.shrink_to_fit();
        self.groups.shrink_to_fit();
        self.scores.shrink_to_fit();
    }

    /// Where a position begins in the files.
    pub(super) fn place(&self, index: usize) -> u64 {
        self.places[index] >> 2
    }

    pub(super) fn get(&self, index: usize) -> Label {
        let outcome = Outcome::ALL[(self.places[index] & 3).min(2) as usize];
        Label { outcome, score: self.scores.get(index).copied().flatten(), group: self.groups[index] }
    }

    /// Settles what positions stay together by, once all are there.
    pub(super) fn settle(&mut self) -> Grouping {
        if self.groups.iter().all(|group| group & GAME != 0) {
            return Grouping::Games;
        }
        match self.stretches() {
            Some(groups) => {
                self.groups = groups;
                Grouping::Stretches
            }
            None => Grouping::Positions,
        }
    }

    /// By position: its stretch; none if neighbours have little to do with one another.
    fn stretches(&self) -> Option<Vec<u32>> {
        let outcome = |place: &u64| (place & 3) as usize;
        let mut counts = [0.0; 4];
        self.places.iter().for_each(|place| counts[outcome(place)] += 1.0);
        let all = self.len() as f64;
        let by_chance: f64 = counts.iter().map(|count| (count / all).powi(2)).sum();
        let changes = self.places.windows(2).filter(|pair| outcome(&pair[0]) != outcome(&pair[1])).count() as f64;
        if 1.0 - changes / all < by_chance + FELLOWSHIP {
            return None;
        }
        let shortest = (STRETCH * all / (changes + 1.0)) as usize;
        let (mut number, mut length, mut last) = (0, 0, None);
        let stretch = |place: &u64| {
            if length >= shortest && last != Some(outcome(place)) {
                (number, length) = (number + 1, 0);
            }
            (length, last) = (length + 1, Some(outcome(place)));
            number
        };
        let groups: Vec<u32> = self.places.iter().map(stretch).collect();
        (groups.last().is_some_and(|&last| last >= FEWEST_STRETCHES)).then_some(groups)
    }

    pub(super) fn groups(&self) -> &[u32] {
        &self.groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_come_back_wherever_scores_are() {
        let label = |outcome, score, group| Label { outcome, score, group };
        let all = [
            label(Outcome::Win, None, 1),
            label(Outcome::Loss, Some(-34), 2),
            label(Outcome::Draw, None, 2),
            label(Outcome::Draw, Some(0), u32::MAX),
            label(Outcome::Win, None, 3),
        ];
        for split in 0..=all.len() {
            let mut parts = [Labels::default(), Labels::default()];
            for (i, &label) in all.iter().enumerate() {
                parts[usize::from(i >= split)].push(1000 * i as u64, label);
            }
            let mut joined = Labels::default();
            parts.iter().for_each(|part| joined.append(part));
            assert_eq!(joined.len(), all.len());
            for (i, &label) in all.iter().enumerate() {
                assert_eq!((joined.place(i), joined.get(i)), (1000 * i as u64, label));
            }
        }
    }

    /// Games of a length, their results in a fixed muddle.
    fn games(count: usize, length: usize) -> Labels {
        let mut labels = Labels::default();
        for game in 0..count {
            let outcome = Outcome::ALL[game * game % 7 % 3];
            (0..length).for_each(|line| {
                let place = (game * length + line) as u64;
                labels.push(place, Label::new(outcome, (place as u32).wrapping_mul(0x9E37_79B9) & !GAME));
            });
        }
        labels
    }

    #[test]
    fn games_without_names_are_not_torn() {
        for length in [5, 40] {
            let mut labels = games(2000, length);
            assert_eq!(labels.settle(), Grouping::Stretches);
            let groups = labels.groups();
            assert!(groups.chunks(length).all(|game| game.iter().all(|group| *group == game[0])));
            let stretches = groups[groups.len() - 1] as usize + 1;
            assert!((100..1000).contains(&stretches), "{stretches}");
        }
        // One position a game, or too few games: nothing to be seen.
        assert_eq!(games(2000, 1).settle(), Grouping::Positions);
        assert_eq!(games(40, 30).settle(), Grouping::Positions);
    }

    #[test]
    fn games_and_positions_have_groups_of_their_own() {
        assert_ne!(group_of_game("1.17"), group_of_game("1.18"));
        let group = |fen: &str| group_of_position(&Position::from_fen(fen).unwrap());
        assert_eq!(group("8/8/8/8/8/k7/7R/K7 w - - 0 1"), group("8/8/8/8/8/k7/7R/K7 w - - 40 90"));
        assert_ne!(group("8/8/8/8/8/k7/7R/K7 w - - 0 1"), group("8/8/8/8/8/k7/7R/K7 b - - 0 1"));
    }
}
