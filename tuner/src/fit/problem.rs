//! Rows of an evaluation, and their fit.

use std::collections::HashSet;

use engine::chess::Position;
use serde_json::{Value as Json, json};

use super::{Evaluation, FitError, Parameter, Row, RowError, Value};
use crate::dataset::{Dataset, Label, ReadOptions, Source, Visitor};
use crate::objective::{
    Entry, Objective, OneResult, PHASE_PIECES, PriorScale, Rows, RowsBuilder, RowsWriter, SampleLoss, fit_k_at,
    parameters,
};
use crate::optimize::{Limits, Newton, Optimizer, Stop};
use crate::progress::{Progress, Unit};
use crate::tune::{MIN_SEEN, PRIOR_PER_POSITION};
use crate::validation::{PriorSearch, ValidationError};

/// Parameters of an evaluation, where they start, and the rows they are to be fitted to.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub(super) parameters: Vec<Parameter>,
    pub(super) phase: [f64; PHASE_PIECES],
    pub(super) rows: Rows,
    /// By row: what it must not be parted from when rows are divided, such as its game.
    pub(super) groups: Vec<u32>,
}

/// How a problem is fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What a wrong prediction costs.
    pub loss: SampleLoss,
    /// The scale from centipawns to expected results; `None` to fit it to the start.
    pub k: Option<f64>,
    /// λ, the strength of the pull to the start; `None` to choose it by cross-validation.
    pub prior: Option<f64>,
    /// Whether the scale of the start is pulled to.
    pub prior_scale: PriorScale,
    /// Rows in which a parameter must occur to be tuned.
    pub min_seen: u32,
    /// Whether the phase weights are tuned, too.
    pub tune_phase: bool,
    /// What decides the folds of the cross-validation.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            loss: SampleLoss::default(),
            k: None,
            prior: None,
            prior_scale: PriorScale::default(),
            min_seen: MIN_SEEN,
            tune_phase: false,
            seed: 0,
        }
    }
}

/// What a fit has found.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The parameters, rounded to centipawns.
    pub parameters: Vec<Parameter>,
    /// The phase weights, rounded, if they were tuned.
    pub phase: Option<[f64; PHASE_PIECES]>,
    /// Rows.
    pub rows: usize,
    /// Parameters that occur too rarely to be tuned.
    pub rare: usize,
    /// The scale.
    pub k: f64,
    /// λ.
    pub prior: f64,
    /// Mean losses of the rows, before and after rounding what was found.
    pub loss: [f64; 2],
    /// Steps taken.
    pub steps: usize,
    /// Whether a minimum was found.
    pub converged: bool,
}

impl Problem {
    /// Parameters without any row.
    ///
    /// # Errors
    /// If a name is not one, a start is not finite, or there are more than 65536 parameters.
    pub(super) fn empty(parameters: Vec<Parameter>, phase: [f64; PHASE_PIECES]) -> Result<Self, FitError> {
        let mut names = HashSet::new();
        for (index, Parameter { name, value }) in parameters.iter().enumerate() {
            if name.is_empty() || name.contains(char::is_whitespace) || !names.insert(name) {
                return Err(FitError::Name { index, name: name.clone() });
            }
            if let Some(&value) = value.numbers().iter().find(|value| !value.is_finite()) {
                return Err(FitError::Start { name: name.clone(), value });
            }
        }
        if let Some(&value) = phase.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            return Err(FitError::Start { name: "phase".to_owned(), value });
        }
        let rows = RowsBuilder::new(parameters.len())?.finish();
        Ok(Problem { parameters, phase, rows, groups: Vec::new() })
    }

    /// Reads labelled positions and takes each apart by an evaluation.
    ///
    /// # Errors
    /// The first fault of the data, of the parameters, or of a row.
    pub fn read(
        sources: Vec<Source>,
        options: &ReadOptions,
        evaluation: &impl Evaluation,
        progress: &dyn Progress,
    ) -> Result<Self, FitError> {
        let mut problem = Problem::empty(evaluation.parameters(), evaluation.phase_weights())?;
        let mut whole = RowsWriter::new(problem.parameters.len(), &options.storage);
        let mut fault = None;
        let tracer = || Tracer::new(evaluation, problem.parameters.len());
        let collect = |part: Tracer<'_, _>| {
            if fault.is_none() {
                fault = part.rows.and_then(|rows| Ok(whole.append(&rows.finish())?)).err();
            }
        };
        let dataset = Dataset::read(sources, options, tracer, collect, progress)?;
        if let Some(fault) = fault {
            return Err(fault);
        }
        problem.rows = whole.finish()?;
        problem.groups = dataset.groups().to_vec();
        Ok(problem)
    }

    /// The parameters, where they start.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The rows; their pair features are the parameters, single or not.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Fits the parameters to the targets of the rows.
    ///
    /// # Errors
    /// If there is no row, if all have the same target, or K cannot be found.
    pub fn fit(&self, settings: &Settings, progress: &dyn Progress) -> Result<Fitted, FitError> {
        OneResult::refuse(self.rows.targets())?;
        let start = self.vector();
        let k = match settings.k {
            Some(k) => k,
            None => fit_k_at(settings.loss, &self.rows, &start)?.k,
        };
        let objective = Objective::new(&self.rows, k)?.with_loss(settings.loss);
        let limits = self.limits(settings)?;
        let prior = match settings.prior {
            Some(prior) => prior,
            None => self.choose_prior(settings, &objective, &start, &limits, progress)? / self.rows.len() as f64,
        };
        let objective = objective.with_prior(prior, &start)?.with_prior_scale(settings.prior_scale);
        progress.begin("minimising", 0, Unit::Iterations);
        let fit = Newton::default().minimize(&objective, &start, &limits, None, &mut ())?;
        progress.end();
        let theta: Vec<f64> = fit.theta.iter().map(|value| value.round()).collect();
        let with_value = |(index, parameter): (usize, &Parameter)| {
            let value = match parameter.value {
                Value::Single(_) => Value::Single(theta[2 * index]),
                Value::Pair(_) => Value::Pair([theta[2 * index], theta[2 * index + 1]]),
            };
            Parameter { name: parameter.name.clone(), value }
        };
        let phase = std::array::from_fn(|piece| theta[2 * self.parameters.len() + piece]);
        // Fixed phase weights are used as they are; they may be fractions.
        let judged = [&theta[..2 * self.parameters.len()], if settings.tune_phase { &phase } else { &self.phase }];
        Ok(Fitted {
            parameters: self.parameters.iter().enumerate().map(with_value).collect(),
            phase: settings.tune_phase.then_some(phase),
            rows: self.rows.len(),
            rare: (0..self.parameters.len()).filter(|&index| limits.is_frozen(2 * index)).count(),
            k,
            prior,
            loss: [objective.data_loss(&start), objective.data_loss(&judged.concat())],
            steps: fit.history.len().saturating_sub(1),
            converged: !matches!(fit.stop, Stop::StepLimit | Stop::Cancelled),
        })
    }

    /// The vector of an objective where the parameters start.
    fn vector(&self) -> Vec<f64> {
        let pairs = self.parameters.iter().flat_map(|parameter| match parameter.value {
            Value::Single(value) => [value; 2],
            Value::Pair(pair) => pair,
        });
        pairs.chain(self.phase).collect()
    }

    /// Both numbers of a single value are tied, which is what makes it one; what is rare is frozen.
    fn limits(&self, settings: &Settings) -> Result<Limits, FitError> {
        let pairs = self.parameters.len();
        let size = parameters(pairs);
        let mut lower = vec![f64::NEG_INFINITY; size];
        lower[2 * pairs..].fill(0.0);
        let mut limits = Limits::new(lower, vec![f64::INFINITY; size])?;
        for (index, seen) in self.rows.occurrences().into_iter().enumerate() {
            if matches!(self.parameters[index].value, Value::Single(_)) {
                limits.tie(&[2 * index, 2 * index + 1])?;
            }
            if seen < settings.min_seen {
                limits.freeze(2 * index)?;
                limits.freeze(2 * index + 1)?;
            }
        }
        if !settings.tune_phase {
            (2 * pairs..size).try_for_each(|weight| limits.freeze(weight))?;
        }
        Ok(limits)
    }

    /// The strength of the prior per row with which rows that are not fitted lose least.
    fn choose_prior(
        &self,
        settings: &Settings,
        objective: &Objective<'_>,
        start: &[f64],
        limits: &Limits,
        progress: &dyn Progress,
    ) -> Result<f64, FitError> {
        progress.begin("prior", 0, Unit::Iterations);
        let search = PriorSearch {
            objective,
            groups: &self.groups,
            start,
            limits,
            scale: settings.prior_scale,
            first: PRIOR_PER_POSITION,
            seed: settings.seed,
        };
        let choice = search.run(|trial| {
            progress.advance(1);
            progress.message(format!("{:.1e} a row, held out {:.7}", trial.per_position, trial.loss));
        });
        progress.end();
        match choice {
            Ok(choice) => Ok(choice.per_position),
            // Too little to tell: the first guess has to do.
            Err(ValidationError::FewGroups { .. }) => Ok(PRIOR_PER_POSITION),
            Err(error) => Err(error.into()),
        }
    }
}

impl Value {
    /// Its number or numbers.
    pub(super) fn numbers(&self) -> &[f64] {
        match self {
            Value::Single(value) => std::slice::from_ref(value),
            Value::Pair(pair) => pair,
        }
    }
}

impl Fitted {
    /// What is worth knowing of the fit, beside the parameters, as a table for a terminal.
    pub fn to_table(&self) -> String {
        let [before, after] = self.loss;
        let stop = if self.converged { "" } else { ", not converged" };
        format!(
            "rows         {}\nparameters   {}, {} too rare to be tuned\nK            {:.6}\nprior        {:.3e}\n\
             loss         {before:.7} before, {after:.7} after\nsteps        {}{stop}",
            self.rows,
            self.parameters.len(),
            self.rare,
            self.k,
            self.prior,
            self.steps,
        )
    }

    /// The same as one object.
    pub fn to_json(&self) -> Json {
        json!({
            "rows": self.rows,
            "parameters": self.parameters.len(),
            "rare": self.rare,
            "k": self.k,
            "prior": self.prior,
            "loss": { "before": self.loss[0], "after": self.loss[1] },
            "steps": self.steps,
            "converged": self.converged,
        })
    }
}

/// Takes the positions of one part of the data apart.
struct Tracer<'e, E> {
    evaluation: &'e E,
    parameters: usize,
    row: Row,
    entries: Vec<Entry>,
    rows: Result<RowsBuilder, FitError>,
}

impl<'e, E: Evaluation> Tracer<'e, E> {
    fn new(evaluation: &'e E, parameters: usize) -> Self {
        let rows = RowsBuilder::new(parameters).map_err(FitError::from);
        Tracer { evaluation, parameters, row: Row::default(), entries: Vec::new(), rows }
    }

    fn add(&mut self, fen: &str, label: Label) -> Result<(), FitError> {
        let Ok(rows) = &mut self.rows else { return Ok(()) };
        self.row.clear();
        let traced = self.evaluation.trace(fen, &mut self.row).map_err(RowError::Evaluation);
        traced
            .and_then(|()| self.row.entries(self.parameters, &mut self.entries))
            .map_err(|error| FitError::Row { fen: fen.to_owned(), error })?;
        Ok(rows.push(&self.entries, self.row.pieces, label.outcome.points(), self.row.constant)?)
    }
}

impl<E: Evaluation> Visitor for Tracer<'_, E> {
    fn visit(&mut self, position: &Position, label: Label) {
        if let Err(error) = self.add(&position.to_fen(), label) {
            self.rows = Err(error);
        }
    }
}
