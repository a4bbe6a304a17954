//! Integer sums over positions.

use engine::chess::Position;

use super::{Correlation, ResultCounts};
use crate::data::{Label, PHASE_PARTS, material_balance, phase, phase_part};

/// Index of the correlations of results with material.
pub(super) const LABELS: usize = 0;

/// Index of the correlations of scores with material.
pub(super) const SCORES: usize = 1;

/// Sums over positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StatsTotals {
    /// Results by side to move: White, Black.
    pub(super) by_side: [ResultCounts; 2],
    /// Results by phase, the endgame first.
    pub(super) by_phase: [ResultCounts; PHASE_PARTS],
    /// The number of positions by number of pieces, kings and pawns included; index 0 is one piece.
    pub(super) by_pieces: [u64; 32],
    pub(super) checks: u64,
    /// The number of positions that are not quiet.
    pub(super) noisy: u64,
    pub(super) scores: ScoreSums,
    /// Correlations of results ([`LABELS`]) and scores ([`SCORES`]) with material, by side to move.
    pub(super) with_material: [[Correlation; 2]; 2],
}

impl StatsTotals {
    pub(super) fn positions(&self) -> u64 {
        self.by_side.iter().map(ResultCounts::positions).sum()
    }

    pub(super) fn outcomes(&self) -> ResultCounts {
        let [mut all, black] = self.by_side;
        all.merge(&black);
        all
    }

    pub(super) fn add(&mut self, position: &Position, label: Label, is_quiet: bool) {
        let (side, outcome) = (position.side_to_move().index(), label.outcome);
        let material = i64::from(material_balance(position));
        self.by_side[side].add(outcome);
        self.by_phase[phase_part(phase(position))].add(outcome);
        self.by_pieces[position.occupied().count() as usize - 1] += 1;
        self.checks += u64::from(position.is_check());
        self.noisy += u64::from(!is_quiet);
        self.with_material[LABELS][side].add(material, outcome.units().into(), label.group);
        if let Some(score) = label.score {
            self.scores.add(score);
            self.with_material[SCORES][side].add(material, score.into(), label.group);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let counts = |sums: &mut [u64], more: &[u64]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        self.by_side.iter_mut().zip(&other.by_side).for_each(|(sum, more)| sum.merge(more));
        self.by_phase.iter_mut().zip(&other.by_phase).for_each(|(sum, more)| sum.merge(more));
        counts(&mut self.by_pieces, &other.by_pieces);
        self.checks += other.checks;
        self.noisy += other.noisy;
        self.scores.merge(&other.scores);
        let correlations = self.with_material.iter_mut().flatten().zip(other.with_material.iter().flatten());
        correlations.for_each(|(sum, more)| sum.merge(more));
    }
}

/// Sums over scores, centipawns, White's view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ScoreSums {
    pub(super) count: u64,
    /// The lowest and the highest score.
    pub(super) range: Option<(i16, i16)>,
    /// The sum of the absolute scores.
    sizes: u64,
}

impl ScoreSums {
    /// Returns the mean absolute score.
    pub(super) fn mean_size(&self) -> f64 {
        self.sizes as f64 / self.count.max(1) as f64
    }

    fn add(&mut self, score: i16) {
        self.merge(&ScoreSums { count: 1, range: Some((score, score)), sizes: score.unsigned_abs().into() });
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sizes += other.sizes;
        self.range = match (self.range, other.range) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
    }
}
