//! Outer products of gradients, summed over groups of rows.

use super::curvature::Curvature;
use super::loss::SampleLoss;
use super::pass::Point;
use super::rows::Rows;
use crate::processes;
use engine::eval::taper::PHASE_PIECES;
use rayon::prelude::*;
use std::ops::Range;

/// Groups that one task adds up into a matrix of its own.
const TASKS: usize = 8;

/// Sums over groups of the outer products of their gradients, divided by the number of rows; and the number of groups.
pub(super) fn by_group(rows: &Rows, theta: &[f64], measure: (SampleLoss, f64), groups: &[u32]) -> (Curvature, usize) {
    assert_eq!(groups.len(), rows.len(), "a group a row");
    let runs = runs(groups);
    let point = Point::new(theta);
    let sum_task = |runs: &[Range<usize>]| {
        let mut sum = Curvature::zero(theta.len());
        let mut gradient = SparseGradient::new(theta.len());
        for run in runs {
            gradient.add_rows(rows, run.clone(), &point, measure);
            gradient.flush(&mut sum, 1.0 / rows.len() as f64);
            rows.passed(run.clone());
        }
        sum
    };
    let task = runs.len().div_ceil(TASKS).max(1);
    let tasks: Vec<&[Range<usize>]> = runs.chunks(task).collect();
    let own = processes::share(tasks.len());
    let sums = tasks[own].par_iter().copied().map(sum_task).collect();
    let total = processes::sum(tasks.len(), sums, Curvature::plus);
    let total = total.unwrap_or_else(|| Curvature::zero(theta.len()));
    (total, runs.len())
}

/// Consecutive rows of one group.
pub(super) fn runs(groups: &[u32]) -> Vec<Range<usize>> {
    let mut start = 0;
    let lengths = groups.chunk_by(|a, b| a == b).map(<[u32]>::len);
    lengths
        .map(|length| {
            start += length;
            start - length..start
        })
        .collect()
}

/// A gradient of which few components are not 0.
struct SparseGradient {
    values: Vec<f64>,
    touched: Vec<usize>,
    is_touched: Vec<bool>,
}

impl SparseGradient {
    fn new(size: usize) -> Self {
        Self { values: vec![0.0; size], touched: Vec::new(), is_touched: vec![false; size] }
    }

    fn add(&mut self, index: usize, by: f64) {
        if !self.is_touched[index] {
            self.is_touched[index] = true;
            self.touched.push(index);
        }
        self.values[index] += by;
    }

    fn add_rows(&mut self, rows: &Rows, range: Range<usize>, point: &Point<'_>, (loss, logit): (SampleLoss, f64)) {
        let mut constants = rows.constants(range.clone()).peekable();
        for row in range {
            let (index, count) = rows.row(row);
            let (mut mg, mut eg) = (0.0, 0.0);
            for (&index, &count) in index.iter().zip(count) {
                let [by_mg, by_eg] = point.pairs[usize::from(index)];
                mg += f64::from(count) * by_mg;
                eg += f64::from(count) * by_eg;
            }
            let constant = constants.next_if(|&(at, _)| at as usize == row).map_or(0.0, |(_, constant)| constant);
            let (fraction, by_weight) = point.taper.gradient(&rows.phases()[row]);
            let score = eg + fraction * (mg - eg) + f64::from(constant);
            let slope = logit * loss.cost(logit * score, f64::from(rows.targets()[row])).slope;
            for (&index, &count) in index.iter().zip(count) {
                let by = slope * f64::from(count);
                self.add(2 * usize::from(index), by * fraction);
                self.add(2 * usize::from(index) + 1, by * (1.0 - fraction));
            }
            if by_weight != [0.0; PHASE_PIECES] {
                let first = 2 * rows.features();
                by_weight.iter().enumerate().for_each(|(p, by)| self.add(first + p, slope * (mg - eg) * by));
            }
        }
    }

    /// Adds `factor · g gᵀ` to a matrix and begins anew.
    fn flush(&mut self, sum: &mut Curvature, factor: f64) {
        self.touched.sort_unstable();
        for (position, &j) in self.touched.iter().enumerate() {
            let by = factor * self.values[j];
            let column = sum.column_mut(j);
            for &i in &self.touched[position..] {
                column[i] += by * self.values[i];
            }
        }
        for j in self.touched.drain(..) {
            self.values[j] = 0.0;
            self.is_touched[j] = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_group_run_together() {
        assert_eq!(runs(&[4, 4, 1, 4, 7, 7, 7]), [0..2, 2..3, 3..4, 4..7]);
        assert!(runs(&[]).is_empty());
    }
}
