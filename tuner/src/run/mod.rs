//! What every run goes through, whosever evaluation is fitted: what is held out, K, how strong the prior is, the fit and how
//! it is watched and kept, parameters that are too rare, how sure all of it is.

mod error;
pub mod explain;
mod outcome;
mod pipeline;
mod prior;
pub mod reference;
mod search;
mod settings;
mod state;
pub mod uncertainty;
mod validation;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::io::Storage;
use crate::model::rows::{Rows, RowsError};
use crate::processes;
use crate::progress::Progress;
pub use error::RunError;
pub use outcome::{CurvePoint, Losses, Outcome, Seconds, SetLoss, Sides};
pub(crate) use pipeline::{Run, Subject, timed};
pub use prior::PriorChoice;
pub(crate) use prior::PriorSearch;
pub use reference::{Reference, ReferenceSet, Verdict};
pub(crate) use search::Search;
pub use settings::Settings;
pub use uncertainty::{Errors, standard_errors};
pub use validation::ValidationError;
pub(crate) use validation::{FOLDS, Split};

/// Rows in which a parameter must occur to be tuned, unless the user says otherwise.
pub const MIN_SEEN: u32 = 10;

/// The strength of the prior per row that its choice begins with: λ = this / number of rows.
pub const PRIOR_PER_POSITION: f64 = 5e-4;

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
    pub(crate) fn is_interrupted(&self) -> bool {
        processes::any(self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)))
    }
}

/// Rows to fit, and rows held out.
pub(crate) struct Divided<'r> {
    pub(crate) fitted: Cow<'r, Rows>,
    /// If there are any.
    pub(crate) held: Option<Rows>,
}

impl<'r> Divided<'r> {
    /// Divides rows; without a split, all are fitted.
    pub(crate) fn new(rows: Cow<'r, Rows>, split: Option<&Split>, storage: &Storage) -> Result<Self, RowsError> {
        let Some(split) = split else { return Ok(Divided { fitted: rows, held: None }) };
        let (fitted, held) = split.stored_rows(&rows, storage)?;
        Ok(Divided { fitted: Cow::Owned(fitted), held: Some(held).filter(|held| !held.is_empty()) })
    }
}
