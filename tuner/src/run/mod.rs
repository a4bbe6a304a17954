//! The steps of a run that do not ask whose evaluation is fitted: what is held out, how strong the prior is, the fit
//! itself and how it is watched, parameters that are too rare.

mod prior;
mod search;
mod time_left;

use std::sync::atomic::{AtomicBool, Ordering};

use crate::io::Storage;
use crate::model::rows::{Rows, RowsError};
use crate::optimize::{Limits, LimitsError};
use crate::processes;
use crate::progress::Progress;
use crate::validation::Split;
pub use prior::{PriorTask, choose_prior};
pub use search::{Found, Pick, Search, Seen};
pub(crate) use time_left::TimeLeft;

/// Rows in which a parameter must occur to be tuned, unless the user says otherwise.
pub const MIN_SEEN: u32 = 10;

/// The strength of the prior per row that its choice begins with: λ = this / number of rows.
///
/// README.md, "The prior", shows the hold-out losses it was chosen by.
pub const PRIOR_PER_POSITION: f64 = 5e-5;

/// Who watches a run, and who ends it early.
#[derive(Clone, Copy)]
pub struct Hooks<'h> {
    /// Is told how far the run has come.
    pub progress: &'h dyn Progress,
    /// Ends the run with the best so far, once it is set and a fit is under way.
    pub stop: Option<&'h AtomicBool>,
    /// Is called when the first fit begins: from here on there is a best so far.
    pub fitting: Option<&'h dyn Fn()>,
}

impl<'h> Hooks<'h> {
    /// Nothing but progress.
    pub fn new(progress: &'h dyn Progress) -> Self {
        Hooks { progress, stop: None, fitting: None }
    }

    /// Whether the run is to end; all processes agree on it.
    pub fn is_interrupted(&self) -> bool {
        processes::any(self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)))
    }
}

/// Rows to fit and their groups, and rows held out.
pub struct Divided {
    /// Rows to fit.
    pub fitted: Rows,
    /// By row to fit: what it must not be parted from.
    pub groups: Vec<u32>,
    /// Rows that judge the fit, if there are any.
    pub held: Option<Rows>,
}

impl Divided {
    /// Divides rows; without a split, all are fitted.
    ///
    /// # Errors
    /// If a file of rows cannot be written.
    pub fn new(rows: &Rows, groups: &[u32], split: Option<&Split>, storage: &Storage) -> Result<Self, RowsError> {
        let Some(split) = split else {
            return Ok(Divided { fitted: rows.clone(), groups: groups.to_vec(), held: None });
        };
        let (fitted, held) = split.stored_rows(rows, storage)?;
        Ok(Divided { fitted, groups: split.fitted_groups(groups), held: Some(held) })
    }
}

/// The limits, with all parameters frozen that occur in fewer rows than asked for; those that are tied count together.
///
/// # Errors
/// None, if there is a count for each parameter.
pub fn freeze_rare(limits: &Limits, occurrences: &[u32], min_seen: u32) -> Result<Limits, LimitsError> {
    let mut together = vec![0_u32; limits.size()];
    for (&leader, &seen) in limits.leaders().iter().zip(occurrences) {
        together[leader] = together[leader].saturating_add(seen);
    }
    let mut limits = limits.clone();
    for index in 0..limits.size() {
        if together[limits.leaders()[index]] < min_seen {
            limits.freeze(index)?;
        }
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_tied_is_rare_together() {
        let mut limits = Limits::none(4);
        limits.tie(&[1, 3]).unwrap();
        let limits = freeze_rare(&limits, &[9, 6, 10, 4], 10).unwrap();
        assert_eq!([0, 1, 2, 3].map(|index| limits.is_frozen(index)), [true, false, false, false]);
    }
}
