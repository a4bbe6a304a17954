//! What data that were not fitted say: a part held out, and folds that take turns.
//!
//! Positions of one game never stand on both sides: they share its result, and what is known of one is known of all.
//! Where games have no names, at least the same position always stands on the same side.

use thiserror::Error;

use crate::io::Storage;
use crate::model::rows::{Rows, RowsError};
use crate::optimize::OptimizeError;

/// The groups that fall below a share of all, by their hash under a seed: the same for the same data in any order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Draw {
    seed: u64,
}

/// What a draw is for: draws for different ends have nothing to do with one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// What is held out of a run.
    HoldOut,
    /// Folds of a cross-validation.
    Folds,
    /// The part of the data that is enough for one.
    Sample,
}

impl Draw {
    pub(crate) fn new(seed: u64, end: End) -> Self {
        Draw { seed: seed.rotate_left(1) ^ (end as u64).rotate_right(1) }
    }

    /// Where a group stands in 0..1.
    pub(crate) fn place(self, group: u32) -> f64 {
        // Two rounds of Stafford's mix 13. See <https://zimbry.blogspot.com/2011/09/better-bit-mixing-improving-on.html>.
        let mix = |x: u64| {
            let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            x ^ (x >> 31)
        };
        let hash = mix(mix(self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15)) ^ u64::from(group));
        (hash >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The fold of a group, below `folds`.
    pub(crate) fn fold(self, group: u32, folds: usize) -> usize {
        ((self.place(group) * folds as f64) as usize).min(folds.saturating_sub(1))
    }
}

/// Why data cannot be divided.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ValidationError {
    /// One of the sides has nothing.
    #[error("validation: a share of {share} leaves {fitted} positions to fit and {held} to validate; both need some")]
    EmptySide {
        /// The share asked for.
        share: f64,
        /// Positions left to fit.
        fitted: usize,
        /// Positions held out.
        held: usize,
    },
    /// Too few groups for folds.
    #[error(
        "prior: cross-validation needs at least {folds} games or positions that differ; give the strength with --prior"
    )]
    FewGroups {
        /// Folds wanted.
        folds: usize,
    },
    /// A fit.
    #[error(transparent)]
    Optimize(#[from] OptimizeError),
}

/// Rows to fit, and rows to judge the fit by.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    /// Numbers of the rows to fit.
    pub(crate) fitted: Vec<u32>,
    /// Numbers of the rows held out.
    pub(crate) held: Vec<u32>,
}

impl Split {
    /// Holds out about a share of the rows, by their groups.
    pub(crate) fn hold_out(groups: &[u32], share: f64, seed: u64) -> Result<Self, ValidationError> {
        let draw = Draw::new(seed, End::HoldOut);
        let is_held = |&row: &u32| draw.place(groups[row as usize]) < share;
        let (held, fitted): (Vec<u32>, Vec<u32>) = (0..groups.len() as u32).partition(is_held);
        if fitted.is_empty() || held.is_empty() {
            return Err(ValidationError::EmptySide { share, fitted: fitted.len(), held: held.len() });
        }
        Ok(Split { fitted, held })
    }

    /// Holds out one of [`FOLDS`] folds of a share of the groups.
    pub(super) fn fold_of(groups: &[u32], number: usize, seed: u64, share: f64) -> Result<Self, ValidationError> {
        let (draw, sample) = (Draw::new(seed, End::Folds), Draw::new(seed, End::Sample));
        let mut split = Split { fitted: Vec::new(), held: Vec::new() };
        for (row, &group) in groups.iter().enumerate() {
            if share >= 1.0 || sample.place(group) < share {
                let side = if draw.fold(group, FOLDS) == number { &mut split.held } else { &mut split.fitted };
                side.push(row as u32);
            }
        }
        if split.held.is_empty() || split.fitted.is_empty() {
            return Err(ValidationError::FewGroups { folds: FOLDS });
        }
        Ok(split)
    }

    /// The groups of the rows to fit.
    pub(crate) fn fitted_groups(&self, groups: &[u32]) -> Vec<u32> {
        self.fitted.iter().map(|&row| groups[row as usize]).collect()
    }

    /// Copies of the rows of both sides, in memory: to fit, and held out.
    pub(crate) fn rows(&self, rows: &Rows) -> (Rows, Rows) {
        let pick = |numbers: &[u32]| rows.pick(numbers.iter().map(|&row| row as usize));
        (pick(&self.fitted), pick(&self.held))
    }

    /// The same, in files if they are too many for memory.
    pub(crate) fn stored_rows(&self, rows: &Rows, storage: &Storage) -> Result<(Rows, Rows), RowsError> {
        let pick = |numbers: &[u32]| rows.pick_to(storage, numbers.iter().map(|&row| row as usize));
        Ok((pick(&self.fitted)?, pick(&self.held)?))
    }
}

/// Folds of a cross-validation.
pub(crate) const FOLDS: usize = 5;
