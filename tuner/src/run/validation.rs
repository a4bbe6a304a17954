//! Held-out data: a hold-out set and the folds of a cross-validation.
//!
//! Positions of one game share its result, so they are never divided between fitted and held-out data. If games have no
//! names, copies of one position are never divided.

use anyhow::{Result, bail};

use crate::data::io::Storage;
use crate::model::Model;
use crate::model::rows::Rows;
use crate::objective::scores;

/// The number of folds of a cross-validation.
pub(crate) const FOLDS: usize = 5;

/// The purpose of a pseudorandom draw of groups. Draws for different purposes are independent.
#[derive(Clone, Copy)]
enum Draw {
    /// The hold-out set of a run.
    HoldOut,
    /// The folds of a cross-validation.
    Folds,
    /// The sample of the data that a cross-validation uses.
    Sample,
}

impl Draw {
    /// Returns the hash of a group and the seed as a number in 0..1. It does not depend on the order of the data.
    fn place(self, seed: u64, group: u32) -> f64 {
        // Two rounds of Stafford's mix 13. See
        // <https://zimbry.blogspot.com/2011/09/better-bit-mixing-improving-on.html>.
        let mix = |x: u64| {
            let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            x ^ (x >> 31)
        };
        let seed = seed.rotate_left(1) ^ (self as u64).rotate_right(1);
        let hash = mix(mix(seed.wrapping_add(0x9E37_79B9_7F4A_7C15)) ^ u64::from(group));
        (hash >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A division of rows into rows to fit and rows held out.
pub(crate) struct Split {
    /// Indices of the rows to fit.
    pub(crate) fitted: Vec<u32>,
    /// Indices of the rows held out.
    pub(crate) held: Vec<u32>,
}

impl Split {
    /// Holds out about `share` of the rows, in whole groups.
    pub(super) fn hold_out(groups: &[u32], share: f64, seed: u64) -> Result<Self> {
        let is_held = |&row: &u32| Draw::HoldOut.place(seed, groups[row as usize]) < share;
        let (held, fitted): (Vec<u32>, Vec<u32>) = (0..groups.len() as u32).partition(is_held);
        if fitted.is_empty() || held.is_empty() {
            let (fitted, held) = (fitted.len(), held.len());
            bail!(
                "validation: a share of {share} leaves {fitted} positions to fit and {held} to validate; both need some"
            );
        }
        Ok(Split { fitted, held })
    }

    /// Holds out fold `number` of [`FOLDS`] folds, made of a share of the groups; `None` if a side is empty.
    pub(super) fn fold_of(groups: &[u32], number: usize, seed: u64, share: f64) -> Option<Self> {
        let is_used = |&row: &u32| share >= 1.0 || Draw::Sample.place(seed, groups[row as usize]) < share;
        let is_held = |&row: &u32| {
            let place = Draw::Folds.place(seed, groups[row as usize]);
            ((place * FOLDS as f64) as usize).min(FOLDS - 1) == number
        };
        let (held, fitted): (Vec<u32>, Vec<u32>) = (0..groups.len() as u32).filter(is_used).partition(is_held);
        (!held.is_empty() && !fitted.is_empty()).then_some(Split { fitted, held })
    }
}

/// The rows to fit and the rows held out.
pub(super) struct Divided {
    pub(super) fitted: Rows,
    /// Rows held out; `None` if there are none.
    pub(super) held: Option<Rows>,
}

impl Divided {
    /// Divides rows by a split, into files if memory cannot hold them. Without a split, all rows are fitted.
    pub(super) fn new(rows: Rows, split: Option<&Split>, storage: &Storage) -> Result<Self> {
        let Some(split) = split else { return Ok(Divided { fitted: rows, held: None }) };
        let pick = |numbers: &[u32]| rows.pick_to(storage, numbers.iter().map(|&row| row as usize));
        Ok(Divided { fitted: pick(&split.fitted)?, held: Some(pick(&split.held)?) })
    }

    /// Returns the scores of all rows in the order before the division, in centipawns, White's view.
    pub(super) fn scores(&self, split: Option<&Split>, model: &Model, theta: &[f64]) -> Vec<f32> {
        let of = |rows: &Rows| scores(rows, model, theta).into_iter().map(|score| score as f32);
        let (Some(split), Some(held)) = (split, &self.held) else { return of(&self.fitted).collect() };
        let mut all = vec![0.0; split.fitted.len() + split.held.len()];
        split.fitted.iter().zip(of(&self.fitted)).for_each(|(&row, score)| all[row as usize] = score);
        split.held.iter().zip(of(held)).for_each(|(&row, score)| all[row as usize] = score);
        all
    }
}
