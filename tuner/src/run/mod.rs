//! A run, the same for every evaluation: targets, hold-out set, K, prior, rounds of fitting until the loss stops
//! falling, standard errors and the verdict. [`run`] performs these steps in order.

pub(crate) mod explain;
mod memory;
mod outcome;
mod pipeline;
mod prior;
pub mod reference;
pub mod settings;
pub(crate) mod uncertainty;
mod validation;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Result, bail};

use crate::data::{Source, Weight};
use crate::model::rows::Rows;
use crate::processes;
use crate::progress::Progress;
use crate::source::Problem;
use explain::explained;
pub use outcome::{Change, CurvePoint, Losses, Outcome, Seconds, SetLoss};
use pipeline::Run;
pub use prior::PriorChoice;
#[cfg(test)]
pub(crate) use prior::PriorSearch;
pub use reference::{Reference, Verdict, worst};
pub use settings::Settings;
pub use uncertainty::{Errors, standard_errors};
pub(crate) use validation::FOLDS;
use validation::{Divided, Split};

/// The strength of the prior per row at which the search for λ begins: λ = this / number of rows.
pub const PRIOR_PER_POSITION: f64 = 5e-4;

/// Fits the parameters of a problem and judges the result on reference sets. `seconds` holds the time that preparing
/// the problem took.
///
/// # Errors
/// If the rows disagree with the engine's scores, the constraints cannot be met, the data determine no target or no K,
/// or the rows cannot be stored.
pub fn run(
    mut problem: Problem,
    references: Vec<Source>,
    settings: &Settings,
    seconds: Seconds,
    hooks: Hooks<'_>,
) -> Result<Outcome> {
    let started = Instant::now();
    if let Some(check) = problem.check.as_ref().filter(|check| check.has_failed(settings.tolerance)) {
        bail!(
            "the formula is not the engine's evaluation: {check}; mend the rows or the formula; if integer divisions \
             explain it, allow for them with --tolerance; --trust-rows fits all the same"
        );
    }
    let constrained = problem.constrained(&settings.constraints, settings.normalize)?;
    let (target, rows) = problem.targeted(settings.target)?;
    let warnings = problem.warnings_of(target);
    warnings.iter().for_each(|warning| hooks.progress.warn(warning));
    let settings = &Settings { target, ..settings.clone() };
    let has_weights = problem.sets().any(|set| set.1 != Weight::default());
    let weights = rows.weighted().weights.to_vec();
    let wants_scores = settings.explain || has_weights;
    let targets = if problem.rows_move() || wants_scores { rows.targets().to_vec() } else { Vec::new() };
    // Frees these rows before a round makes new ones.
    problem.text.rows = Rows::default();

    let split = settings.validation.map(|share| Split::hold_out(&problem.groups, share, settings.seed)).transpose()?;
    let groups = match &split {
        Some(split) => split.fitted.iter().map(|&row| problem.groups[row as usize]).collect(),
        None => problem.groups.clone(),
    };
    let divided = Divided::new(rows, split.as_ref(), &problem.storage)?;
    let run = Run {
        problem: &problem,
        targets: &targets,
        split: split.as_ref(),
        settings,
        constrained: &constrained,
        groups: &groups,
        hooks,
    };
    let (mut outcome, scores) = run.run(divided, wants_scores, seconds)?;

    outcome.warnings = warnings.into_iter().chain(outcome.rounding_warning()).collect();
    if let Some(scores) = &scores {
        let both = [(outcome.start_k, &scores[0][..]), (outcome.k, &scores[1][..])];
        if has_weights {
            outcome.sets = SetLoss::of(problem.sets(), (settings.loss, &targets), both);
        }
        if settings.explain {
            let counted = split.as_ref().map(|split| &split.held[..]);
            let (sides, change) =
                explained(&problem, both, (&targets, &weights), counted, settings.loss, hooks.progress);
            (outcome.explained, outcome.loss_change) = (Some(sides), Some(change));
        }
    }
    outcome.references = reference::judge_on_sets(&problem, &outcome, references, hooks.progress);
    outcome.seconds.total += started.elapsed().as_secs_f64();
    Ok(outcome)
}

/// The observers of a run and its stop flag.
#[derive(Clone, Copy)]
pub struct Hooks<'h> {
    /// The receiver of progress reports.
    pub progress: &'h dyn Progress,
    /// Stop flag: once it is set and a fit is under way, the run ends with the best parameters so far.
    pub stop: Option<&'h AtomicBool>,
    /// Called when the first fit begins. From here on, an interrupted run has parameters to return.
    pub fitting: Option<&'h dyn Fn()>,
}

impl<'h> Hooks<'h> {
    /// Returns hooks that only report progress.
    pub fn new(progress: &'h dyn Progress) -> Self {
        Hooks { progress, stop: None, fitting: None }
    }

    /// Returns true if the run is to end. All processes agree on it.
    pub(crate) fn is_interrupted(&self) -> bool {
        processes::any(self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)))
    }
}
