//! Positions as the engine itself judges them: by a quiescence search of its own for every trial.

use engine::chess::Position;
use engine::eval::params::{PAIRS, Weights};
use engine::eval::{Evaluator, Trace};
use engine::search::{Pruning, Quiescence};
use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::optimize::{BlackBox, words};

/// Positions that one task searches; does not depend on the number of threads.
const BATCH: usize = 256;

/// Some positions of a data set, as rows.
pub(super) struct Searched<'d> {
    pub(super) dataset: &'d Dataset,
    /// By row: the position; all if not given.
    pub(super) numbers: Option<&'d [u32]>,
}

impl Searched<'_> {
    /// What `look` makes of rows with the parameters `theta`, one after the other.
    fn each<T: Send>(
        &self,
        theta: &[f64],
        rows: &[u32],
        look: impl Fn(&mut Quiescence<'_>, &Position, &mut Vec<T>) + Sync,
    ) -> Vec<T> {
        let evaluator = Evaluator::new(Weights::from_vector(theta).0);
        let batch = |rows: &[u32]| {
            let mut search = Quiescence::new(&evaluator, Pruning::Exact);
            let mut found = Vec::with_capacity(rows.len());
            for &row in rows {
                let number = self.numbers.map_or(row, |numbers| numbers[row as usize]);
                look(&mut search, &self.dataset.position(number as usize), &mut found);
            }
            found
        };
        rows.par_chunks(BATCH).flat_map_iter(batch).collect()
    }

    /// The engine's scores of all rows with the parameters `theta`, centipawns, white's view.
    pub(super) fn all_scores(&self, theta: &[f64]) -> Vec<i16> {
        let rows = self.numbers.map_or(self.dataset.len(), <[u32]>::len) as u32;
        let rows: Vec<u32> = (0..rows).collect();
        self.each(theta, &rows, |search, position, scores| scores.push(search.score_for_white(position) as i16))
    }
}

impl BlackBox for Searched<'_> {
    fn scores(&self, theta: &[f64], rows: &[u32]) -> Vec<f64> {
        if !Weights::from_vector(theta).0.has_phase() {
            return vec![f64::NAN; rows.len()];
        }
        self.each(theta, rows, |search, position, scores| scores.push(f64::from(search.score_for_white(position))))
    }

    fn parts(&self, theta: &[f64], rows: &[u32]) -> Vec<u64> {
        self.each(theta, rows, |search, position, sets| {
            let start = sets.len();
            sets.resize(start + words(PAIRS), 0);
            let mut trace = Trace::default();
            search.show_evaluated(position, &mut |evaluated| {
                trace.for_each(evaluated, |pair, _| sets[start + usize::from(pair) / 64] |= 1 << (pair % 64));
            });
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{ReadOptions, Source};
    use engine::random::Random;

    const EMBEDDED: &[u8] = include_bytes!("../../../data/quiet.epd.zst");

    #[test]
    fn scores_change_with_the_parameters_that_have_a_part_in_them_only() {
        let source = Source::embedded("embedded", EMBEDDED).unwrap();
        let dataset = Dataset::read(vec![source], &ReadOptions::default(), || (), |()| {}, &()).unwrap();
        let numbers: Vec<u32> = (0..dataset.len() as u32).step_by(485).collect();
        let searched = Searched { dataset: &dataset, numbers: Some(&numbers) };
        let rows: Vec<u32> = (0..numbers.len() as u32).collect();
        let theta = Weights::from_toml(include_str!("../../../params/baseline.toml")).unwrap().to_vector();
        let (scores, parts) = (searched.scores(&theta, &rows), searched.parts(&theta, &rows));
        let mut random = Random::seeded(1);
        let (mut changed, mut alone) = (0, 0);
        for _ in 0..60 {
            let index = random.below(2 * PAIRS as u64) as usize;
            let mut theta = theta.clone();
            theta[index] += 150.0;
            for (row, score) in searched.scores(&theta, &rows).into_iter().enumerate() {
                let has_part = parts[row * words(PAIRS) + index / 128] & 1 << (index / 2 % 64) != 0;
                changed += u32::from(score != scores[row]);
                alone += u32::from(!has_part);
                assert!(has_part || score == scores[row], "row {row}, parameter {index}");
            }
        }
        assert!(changed > 100 && alone > 100, "{changed} {alone}");
        let all: Vec<f64> = searched.all_scores(&theta).into_iter().map(f64::from).collect();
        assert_eq!(all, scores);
    }
}
