//! Sums over positions that have something in common.

use engine::chess::{Color, PieceType, Position};
use engine::eval::phase_counts;
use engine::eval::taper::PhaseCounts;

/// What the pieces are worth where positions are sorted by material, in pawns: pawn to queen.
const PAWNS: [i32; 5] = [1, 3, 3, 5, 9];

/// Material differences beyond this many pawns are counted with it.
pub const MOST_PAWNS: i32 = 9;

/// What the pieces count where positions are sorted by phase: pawn to queen.
///
/// Neither these nor the worth in pawns are parameters: what is tuned must not move positions from one bin to another.
const PHASE: PhaseCounts = [0, 1, 1, 2, 4];

/// The phase of the starting position.
pub const FULL_PHASE: usize = 24;

/// How many parts the phases are divided into, from the endgame to the opening.
pub const PHASE_PARTS: usize = 3;

/// White's material less Black's, in pawns, at most [`MOST_PAWNS`] either way.
pub fn material_balance(position: &Position) -> i32 {
    let count = |color, piece| position.colored(color, piece).count() as i32;
    let worth = |(piece, pawns): (PieceType, i32)| pawns * (count(Color::White, piece) - count(Color::Black, piece));
    PieceType::ALL.into_iter().zip(PAWNS).map(worth).sum::<i32>().clamp(-MOST_PAWNS, MOST_PAWNS)
}

/// How much of the pieces is left, 0 to [`FULL_PHASE`]: knights and bishops count 1, rooks 2, queens 4.
pub fn phase(position: &Position) -> usize {
    let sum: usize = phase_counts(position).iter().zip(PHASE).map(|(&n, weight)| usize::from(n * weight)).sum();
    sum.min(FULL_PHASE)
}

/// Which part of the phases a phase belongs to, 0 for the endgame.
pub fn phase_part(phase: usize) -> usize {
    phase * PHASE_PARTS / (FULL_PHASE + 1)
}

/// Sums of a number over samples that come in groups, such as the positions of a game.
///
/// Samples of a group that follow one another are taken to say as much as one, those of different groups to be
/// independent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    count: u64,
    sum: f64,
    squares: f64,
    /// Over closed groups, with `S` the sum and `n` the count of each: their number, Σ S², Σ S n, Σ n².
    groups: u64,
    outer: [f64; 3],
    open: Option<Group>,
}

/// A group that may yet go on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Group {
    name: u32,
    sum: f64,
    count: f64,
}

impl Moments {
    /// Adds the number of one more sample.
    pub(super) fn add(&mut self, value: f64, group: u32) {
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
        match &mut self.open {
            Some(open) if open.name == group => {
                open.sum += value;
                open.count += 1.0;
            }
            _ => {
                self.close();
                self.open = Some(Group { name: group, sum: value, count: 1.0 });
            }
        }
    }

    fn close(&mut self) {
        if let Some(Group { sum, count, .. }) = self.open.take() {
            self.groups += 1;
            let more = [sum * sum, sum * count, count * count];
            self.outer.iter_mut().zip(more).for_each(|(total, more)| *total += more);
        }
    }

    /// Adds other samples, none of them of a group that is here.
    pub(super) fn merge(&mut self, mut other: Self) {
        self.close();
        other.close();
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
        self.groups += other.groups;
        self.outer.iter_mut().zip(other.outer).for_each(|(total, more)| *total += more);
    }

    /// How many samples there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; 0 if there is none.
    pub fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }

    /// The mean of their squares; 0 if there is none.
    pub fn mean_square(&self) -> f64 {
        self.squares / self.count.max(1) as f64
    }

    /// The standard error of the mean; 0 for fewer than two groups, which have none.
    pub fn error(&self) -> f64 {
        let mut all = *self;
        all.close();
        let (mean, [squares, products, counts]) = (self.mean(), all.outer);
        let groups = all.groups as f64;
        let spread = (squares - 2.0 * mean * products + mean * mean * counts).max(0.0);
        if all.groups < 2 { 0.0 } else { (spread * groups / (groups - 1.0)).sqrt() / self.count as f64 }
    }
}

/// Positions that have something in common: what was expected of them, and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    expected: f64,
    residuals: Moments,
}

impl Bin {
    pub(super) fn add(&mut self, expected: f64, actual: f64, group: u32) {
        self.expected += expected;
        self.residuals.add(actual - expected, group);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.expected += other.expected;
        self.residuals.merge(other.residuals);
    }

    /// How many positions there are.
    pub fn count(&self) -> u64 {
        self.residuals.count()
    }

    /// Mean of the expected points of White, 0..=1; 0 if there is no position.
    pub fn expected(&self) -> f64 {
        self.expected / self.count().max(1) as f64
    }

    /// Mean of the actual points of White, 0..=1.
    pub fn actual(&self) -> f64 {
        self.expected() + self.residual()
    }

    /// Mean of the actual less the expected points of White: above 0 where White does better than expected.
    pub fn residual(&self) -> f64 {
        self.residuals.mean()
    }

    /// Standard error of [`Bin::residual`]. Positions of one game count as one where the data name their games; else
    /// they are taken for independent, and the true error is larger.
    pub fn error(&self) -> f64 {
        self.residuals.error()
    }

    /// Mean squared error of the expectations.
    pub fn loss(&self) -> f64 {
        self.residuals.mean_square()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(fen: &str) -> Position {
        Position::from_fen(fen).unwrap()
    }

    #[test]
    fn positions_are_sorted_by_what_stands_on_the_board() {
        let of = |fen| (material_balance(&position(fen)), phase(&position(fen)));
        assert_eq!(of("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"), (0, 24));
        assert_eq!(of("4k3/8/8/8/8/8/8/RNBQKBNR b - - 0 1"), (MOST_PAWNS, 12));
        assert_eq!(of("4k2r/pp6/8/8/8/8/8/4KB2 w - - 0 1"), (3 - 5 - 2, 3));
        assert_eq!(of("QQQQk3/8/8/8/8/8/8/QQQQK3 b - - 0 1").1, FULL_PHASE);
        let parts: Vec<usize> = (0..=FULL_PHASE).map(phase_part).collect();
        assert!(parts.is_sorted() && [0, 1, 2].iter().all(|part| parts.iter().filter(|&p| p == part).count() >= 8));
        assert_eq!((parts[0], parts[FULL_PHASE]), (0, PHASE_PARTS - 1));
    }

    #[test]
    fn moments_are_those_of_the_samples() {
        let mut all = Moments::default();
        assert_eq!((all.mean(), all.error(), all.count()), (0.0, 0.0, 0));
        for (first, values) in [(0, &[1.0, 2.0][..]), (2, &[3.0, 6.0])] {
            let mut part = Moments::default();
            (first..).zip(values).for_each(|(group, &value)| part.add(value, group));
            all.merge(part);
        }
        // Squared distances from the mean: 4, 1, 0, 9.
        assert_eq!((all.mean(), all.mean_square()), (3.0, 12.5));
        assert!((all.error() - (14.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn samples_of_a_group_say_as_much_as_one() {
        let error = |copies: usize| {
            let mut moments = Moments::default();
            for (group, value) in [(7, 1.0), (3, 2.0), (9, 6.0)] {
                (0..copies).for_each(|_| moments.add(value, group));
            }
            moments.error()
        };
        assert!(error(1) > 1.0 && (error(5) - error(1)).abs() < 1e-12);
    }
}
