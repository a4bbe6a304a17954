//! What a run has found out so far. It is data, and can be gone on with by another process.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Checkpoint, CurvePoint, Fingerprint, Hooks, Pick, PriorChoice, RunError, Sides};
use crate::optimize::State;

/// Rounds of resolving and minimising at most.
pub(super) const MAX_ROUNDS: u64 = 12;

/// The state of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunState<L> {
    /// SHA-256 of the data.
    pub(super) data: Vec<String>,
    /// K of the start.
    pub(super) start_k: f64,
    /// K of the fit.
    pub(super) k: f64,
    pub(super) prior: f64,
    pub(super) prior_choice: Option<PriorChoice>,
    /// Losses at the start.
    pub(super) before: Sides<L>,
    /// By number: rows to fit in which it occurred at the start.
    pub(super) occurrences: Vec<u32>,
    /// Where the first fit began, and what the prior pulls to.
    pub(super) start: Vec<f64>,
    /// Parameters that the present rows were resolved with.
    pub(crate) resolved_with: Vec<f64>,
    /// Where the present fit began.
    pub(super) theta: Vec<f64>,
    pub(super) rounds: u64,
    pub(super) iterations: u64,
    /// Norm of the gradient where the first fit began.
    pub(super) first_norm: Option<f64>,
    pub(crate) best: Best<L>,
    pub(super) history: Vec<CurvePoint>,
    /// The present fit.
    pub(super) fit: Option<State>,
    /// Of its steps, the one at which the rows held out lost least.
    pub(super) pick: Option<Pick>,
}

/// The best parameters so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Best<L> {
    /// As found.
    pub(super) theta: Vec<f64>,
    /// Rounded.
    pub(crate) vector: Vec<f64>,
    /// True losses of the rounded parameters, without the prior.
    pub(super) sides: Sides<L>,
    /// What is to become less from round to round.
    pub(super) measure: f64,
    pub(super) iterations: u64,
    pub(super) gradient_ratio: f64,
    pub(super) converged: bool,
}

impl<L: DeserializeOwned> RunState<L> {
    /// The state that a run goes on with, if it is to go on with one and there is one; `size` is the number of its
    /// parameters, and `is_sound` says of them whether they can be at all.
    ///
    /// # Errors
    /// If the checkpoint is of another job, or holds what cannot be.
    pub(crate) fn resumed(
        hooks: &Hooks<'_>,
        job: &Fingerprint,
        size: usize,
        is_sound: impl Fn(&[f64]) -> Result<(), RunError>,
    ) -> Result<Option<Self>, RunError> {
        let Some(path) = hooks.checkpoint.filter(|_| hooks.resume) else { return Ok(None) };
        let checkpoint = Checkpoint::new(path);
        let Some(state) = checkpoint.read::<Self>(job)? else { return Ok(None) };
        let unsound = |vector: &Vec<f64>| is_sound(vector).err().map(|error| error.to_string());
        let fault = state.fault(size).or_else(|| unsound(&state.resolved_with)).or_else(|| unsound(&state.best.vector));
        match fault {
            Some(fault) => Err(checkpoint.damaged(&fault).into()),
            None => Ok(Some(state)),
        }
    }

    /// Whether no strength of the prior is better than the start, so that nothing is fitted.
    pub(super) fn keeps_start(&self) -> bool {
        self.prior_choice.as_ref().is_some_and(|choice| choice.keeps_start)
    }

    /// What of it cannot be, whatever it is the state of: a run takes the rest as it is.
    fn fault(&self, size: usize) -> Option<String> {
        let pick = self.pick.as_ref().map(|pick| &pick.theta);
        let vectors = [&self.start, &self.resolved_with, &self.theta, &self.best.theta, &self.best.vector]
            .into_iter()
            .chain(pick);
        for vector in vectors {
            if vector.len() != size {
                return Some(format!("{} parameters where {size} are expected", vector.len()));
            }
            if let Some(value) = vector.iter().find(|value| !value.is_finite()) {
                return Some(format!("a parameter at {value}"));
            }
        }
        if self.occurrences.len() != size {
            return Some(format!("{} counts of parameters where {size} are expected", self.occurrences.len()));
        }
        if self.rounds > MAX_ROUNDS + 1 || self.iterations > u64::MAX / 2 {
            return Some(format!("{} rounds and {} iterations", self.rounds, self.iterations));
        }
        let is_scale = |k: f64| k.is_finite() && k > 0.0;
        let is_sound = is_scale(self.start_k) && is_scale(self.k) && self.prior.is_finite() && self.prior >= 0.0;
        (!is_sound).then(|| format!("K {}, before {}, and prior {}", self.k, self.start_k, self.prior))
    }
}
