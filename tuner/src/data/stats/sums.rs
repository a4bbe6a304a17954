//! Sums over positions, in whole numbers.

use engine::chess::Position;

use super::{Correlation, Outcomes};
use crate::data::{Label, PHASE_PARTS, material_balance, phase, phase_part};

/// Which of the correlations with material are those of the results.
pub(super) const LABELS: usize = 0;

/// Which are those of the scores.
pub(super) const SCORES: usize = 1;

/// What positions sum up to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sums {
    /// Results with White to move, with Black to move.
    pub(super) by_side: [Outcomes; 2],
    /// Results by phase, the endgame first.
    pub(super) by_phase: [Outcomes; PHASE_PARTS],
    /// Positions by their number of pieces, kings and pawns among them; 1 first.
    pub(super) by_pieces: [u64; 32],
    pub(super) checks: u64,
    /// Positions whose quiescence score is not near their evaluation.
    pub(super) noisy: u64,
    pub(super) scores: ScoreSums,
    /// How results ([`LABELS`]) and scores ([`SCORES`]) go with material, with White and with Black to move.
    pub(super) with_material: [[Correlation; 2]; 2],
}

impl Sums {
    pub(super) fn positions(&self) -> u64 {
        self.by_side.iter().map(Outcomes::positions).sum()
    }

    pub(super) fn outcomes(&self) -> Outcomes {
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

/// Scores, centipawns, White's view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ScoreSums {
    pub(super) count: u64,
    /// The lowest and the highest.
    pub(super) range: Option<(i16, i16)>,
    /// How far they are from 0, summed up.
    sizes: u64,
}

impl ScoreSums {
    /// How far scores are from 0, on average.
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
