//! The choice of the prior's strength.

use super::PRIOR_PER_POSITION;
use crate::objective::{Objective, PriorScale};
use crate::optimize::Limits;
use crate::progress::{Progress, Unit};
use crate::validation::{PriorChoice, PriorSearch, ValidationError};

/// What the strength of the prior is chosen for.
#[derive(Clone, Copy)]
pub struct PriorTask<'a> {
    /// The objective, its prior aside.
    pub objective: &'a Objective<'a>,
    /// By row: what it must not be parted from.
    pub groups: &'a [u32],
    /// Where parameters start, and are pulled to.
    pub start: &'a [f64],
    /// Where they may go.
    pub limits: &'a Limits,
    /// Whether the scale of the start is pulled to.
    pub scale: PriorScale,
    /// Decides the folds.
    pub seed: u64,
}

/// The strength of the prior with which rows that are not fitted lose least; none if there are too few groups to tell:
/// then the first guess, [`PRIOR_PER_POSITION`], has to do.
///
/// # Errors
/// If a fit cannot begin.
pub fn choose_prior(task: PriorTask<'_>, progress: &dyn Progress) -> Result<Option<PriorChoice>, ValidationError> {
    let PriorTask { objective, groups, start, limits, scale, seed } = task;
    progress.begin("prior", 0, Unit::Iterations);
    let search = PriorSearch { objective, groups, start, limits, scale, first: PRIOR_PER_POSITION, seed };
    let choice = search.run(|trial| {
        progress.advance(1);
        progress.message(format!("{:.1e} a row, held out {:.7}", trial.per_position, trial.loss));
    });
    progress.end();
    match choice {
        Ok(choice) => Ok(Some(choice)),
        Err(ValidationError::FewGroups { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
