//! Held-out data: a hold-out set and the folds of a cross-validation.
//!
//! Positions of one game share its result, so they are never divided between fitted and held-out data. If games have no
//! names, copies of one position are never divided.

use thiserror::Error;

use crate::io::Storage;
use crate::model::rows::{Rows, RowsError};
use crate::optimize::OptimizeError;

/// A pseudorandom draw of groups, by a hash of the group and the seed. It does not depend on the order of the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Draw {
    seed: u64,
}

/// The purpose of a draw. Draws for different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DrawPurpose {
    /// The hold-out set of a run.
    HoldOut,
    /// The folds of a cross-validation.
    Folds,
    /// The sample of the data that a cross-validation uses.
    Sample,
}

impl Draw {
    pub(crate) fn new(seed: u64, purpose: DrawPurpose) -> Self {
        Draw { seed: seed.rotate_left(1) ^ (purpose as u64).rotate_right(1) }
    }

    /// Returns the hash of a group as a number in 0..1.
    pub(crate) fn place(self, group: u32) -> f64 {
        // Two rounds of Stafford's mix 13. See
        // <https://zimbry.blogspot.com/2011/09/better-bit-mixing-improving-on.html>.
        let mix = |x: u64| {
            let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            x ^ (x >> 31)
        };
        let hash = mix(mix(self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15)) ^ u64::from(group));
        (hash >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns the fold of a group, below `folds`.
    pub(crate) fn fold(self, group: u32, folds: usize) -> usize {
        ((self.place(group) * folds as f64) as usize).min(folds.saturating_sub(1))
    }
}

/// A reason why data cannot be divided.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ValidationError {
    /// The fitted or the held-out part is empty.
    #[error("validation: a share of {share} leaves {fitted} positions to fit and {held} to validate; both need some")]
    EmptySide {
        /// The requested share.
        share: f64,
        /// The number of positions to fit.
        fitted: usize,
        /// The number of positions held out.
        held: usize,
    },
    /// There are too few groups for the folds.
    #[error(
        "prior: cross-validation needs at least {folds} games or positions that differ; give the strength with --prior"
    )]
    FewGroups {
        /// The number of folds.
        folds: usize,
    },
    /// A fit failed.
    #[error(transparent)]
    Optimize(#[from] OptimizeError),
}

/// A division of rows into rows to fit and rows held out.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    /// Indices of the rows to fit.
    pub(crate) fitted: Vec<u32>,
    /// Indices of the rows held out.
    pub(crate) held: Vec<u32>,
}

impl Split {
    /// Holds out about `share` of the rows, in whole groups.
    pub(crate) fn hold_out(groups: &[u32], share: f64, seed: u64) -> Result<Self, ValidationError> {
        let draw = Draw::new(seed, DrawPurpose::HoldOut);
        let is_held = |&row: &u32| draw.place(groups[row as usize]) < share;
        let (held, fitted): (Vec<u32>, Vec<u32>) = (0..groups.len() as u32).partition(is_held);
        if fitted.is_empty() || held.is_empty() {
            return Err(ValidationError::EmptySide { share, fitted: fitted.len(), held: held.len() });
        }
        Ok(Split { fitted, held })
    }

    /// Holds out fold `number` of [`FOLDS`] folds, made of a share of the groups.
    pub(super) fn fold_of(groups: &[u32], number: usize, seed: u64, share: f64) -> Result<Self, ValidationError> {
        let (draw, sample) = (Draw::new(seed, DrawPurpose::Folds), Draw::new(seed, DrawPurpose::Sample));
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

    /// Returns the groups of the rows to fit.
    pub(crate) fn fitted_groups(&self, groups: &[u32]) -> Vec<u32> {
        self.fitted.iter().map(|&row| groups[row as usize]).collect()
    }

    /// Copies the rows to fit and the rows held out into memory.
    pub(crate) fn rows(&self, rows: &Rows) -> (Rows, Rows) {
        let pick = |numbers: &[u32]| rows.pick(numbers.iter().map(|&row| row as usize));
        (pick(&self.fitted), pick(&self.held))
    }

    /// Copies the rows to fit and the rows held out, into files if memory cannot hold them.
    pub(crate) fn stored_rows(&self, rows: &Rows, storage: &Storage) -> Result<(Rows, Rows), RowsError> {
        let pick = |numbers: &[u32]| rows.pick_to(storage, numbers.iter().map(|&row| row as usize));
        Ok((pick(&self.fitted)?, pick(&self.held)?))
    }
}

/// The number of folds of a cross-validation.
pub(crate) const FOLDS: usize = 5;
