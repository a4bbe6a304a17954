//! The fit of a problem.

use std::ops::ControlFlow;
use std::time::Instant;

use super::{FitError, Fitted, Grouping, Problem, Seconds, Start};
use crate::constraints::{Constraints, Resolved};
use crate::io::Storage;
use crate::model::centre::{Centring, homogeneity, shifts};
use crate::model::rows::Rows;
use crate::numbers::Numbers;
use crate::objective::{Objective, OneResult, PriorScale, SampleLoss, fit_k_at};
use crate::optimize::{Limits, Method};
use crate::run::{Divided, Found, Hooks, MIN_SEEN, PRIOR_PER_POSITION, PriorTask, Search, choose_prior, freeze_rare};
use crate::uncertainty::standard_errors;
use crate::validation::Split;

/// How a problem is fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Which parameters are tuned, and what they keep to.
    pub constraints: Constraints,
    /// Rows in which a parameter, with those that it is tied to, must occur to be tuned.
    pub min_seen: u32,
    /// What a wrong prediction costs.
    pub loss: SampleLoss,
    /// The scale from centipawns to expected results; `None` to fit it to the start.
    pub k: Option<f64>,
    /// λ, the strength of the pull to the start; `None` to choose it by cross-validation.
    pub prior: Option<f64>,
    /// Whether the scale of the start is pulled to.
    pub prior_scale: PriorScale,
    /// The share of the rows that is not fitted but decides which parameters are kept; `None` to fit all.
    pub validation: Option<f64>,
    /// How the objective is minimised.
    pub method: Method,
    /// Rows a step of Adam looks at; `None` for all.
    pub batch: Option<usize>,
    /// What decides everything that is left to chance: what is held out, folds, the choices of a method.
    pub seed: u64,
    /// Whether tables are centred on what they are bonuses of.
    pub centre: bool,
    /// Whether the tuned parameters are scaled so that K is 1.
    pub normalize: bool,
    /// Whether standard errors are computed.
    pub errors: bool,
    /// Whether rows are fitted that are not what the engine computes.
    pub trust_rows: bool,
    /// How much is kept in memory.
    pub storage: Storage,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            constraints: Constraints::default(),
            min_seen: MIN_SEEN,
            loss: SampleLoss::default(),
            k: None,
            prior: None,
            prior_scale: PriorScale::default(),
            validation: None,
            method: Method::Lbfgs,
            batch: None,
            seed: 0,
            centre: true,
            normalize: false,
            errors: true,
            trust_rows: false,
            storage: Storage::default(),
        }
    }
}

impl Problem {
    /// Fits the parameters to the results of the rows.
    ///
    /// # Errors
    /// If rows are not what the engine computes, the constraints cannot be kept, all results are the same, or K cannot be
    /// found.
    pub fn fit(&self, settings: &Settings, hooks: Hooks<'_>) -> Result<Fitted, FitError> {
        let started = Instant::now();
        if let Some(check) = self.check.as_ref().filter(|check| check.has_failed() && !settings.trust_rows) {
            return Err(FitError::Untrusted(Box::new(check.clone())));
        }
        let model = &self.text.model;
        let powers = match settings.normalize {
            true => Some(homogeneity(model).ok_or(FitError::Normalize)?),
            false => None,
        };
        OneResult::refuse(self.text.rows.targets())?;
        let numbers = self.numbers();
        let constrained = self.constraints(settings).resolve_among(&numbers, &self.text.start())?;
        let start = &constrained.start[..];
        let split = settings.validation.map(|share| Split::hold_out(&self.groups, share, settings.seed)).transpose()?;
        let rows = Divided::new(&self.text.rows, &self.groups, split.as_ref(), &settings.storage)?;
        let k = match settings.k {
            Some(k) => k,
            None => fit_k_at(settings.loss, &rows.fitted, model, start)?.k,
        };
        let objective = Objective::new(&rows.fitted, model, k)?.with_loss(settings.loss);
        let occurrences = model.occurrences(&rows.fitted);
        let limits = freeze_rare(&constrained.limits, &occurrences, settings.min_seen)?;
        let mut seconds = Seconds { read: 0.0, prior: started.elapsed().as_secs_f64(), fit: 0.0, errors: 0.0 };
        let prior = match settings.prior {
            Some(prior) => prior,
            None => {
                let (scale, seed) = (settings.prior_scale, settings.seed);
                let task =
                    PriorTask { objective: &objective, groups: &rows.groups, start, limits: &limits, scale, seed };
                let choice = choose_prior(task, hooks.progress)?;
                choice.map_or(PRIOR_PER_POSITION, |choice| choice.per_position) / rows.fitted.len() as f64
            }
        };
        seconds.prior = started.elapsed().as_secs_f64();
        let objective = objective.with_prior(prior, start, settings.prior_scale)?;
        if let Some(fitting) = hooks.fitting {
            fitting();
        }
        let solver = settings.method.solver(settings.seed, settings.batch);
        let search =
            Search { objective: &objective, held: rows.held.as_ref(), solver: &*solver, start, limits: &limits, hooks };
        let found = search.run(None, &mut |_| ControlFlow::Continue(()))?;
        seconds.fit = started.elapsed().as_secs_f64() - seconds.prior;
        let centring = self.centring(&constrained, &rows.fitted, &occurrences, settings.min_seen);
        let games = (self.grouping != Grouping::Rows).then_some(&rows.groups[..]);
        let errors = settings.errors.then(|| standard_errors(&objective, &found.theta, &limits, &centring, games));
        seconds.errors = started.elapsed().as_secs_f64() - seconds.prior - seconds.fit;

        let centring = settings.centre.then_some(&centring);
        let normalize = powers.as_deref().map(|powers| (powers, k));
        let theta = self.finished(&found, &numbers, &limits, centring, normalize);
        let scale = if settings.normalize { 1.0 } else { k };
        let judge = |rows: &Rows, theta: &[f64], k: f64| -> Result<f64, FitError> {
            Ok(Objective::new(rows, model, k)?.with_loss(settings.loss).data_loss(theta))
        };
        let losses = |rows: &Rows| Ok::<_, FitError>([judge(rows, start, k)?, judge(rows, &theta, scale)?]);
        let by_parameter = errors.flatten().map(|errors| errors.by_parameter);
        let errors = by_parameter.map(|errors| match &powers {
            // Errors scale as their parameters do.
            Some(powers) => {
                let scaled = errors.iter().zip(powers).map(|(error, &power)| error.map(|error| error * k.powf(power)));
                scaled.collect()
            }
            None => errors,
        });
        Ok(Fitted {
            numbers: numbers.iter().map(|number| number.name.clone()).collect(),
            parameters: self.with_values(&theta, &limits),
            start: start.to_vec(),
            errors,
            rows: rows.fitted.len(),
            held: rows.held.as_ref().map_or(0, Rows::len),
            grouping: self.grouping,
            rare: self.rare(&constrained.limits, &limits),
            frozen: constrained.frozen,
            tied: constrained.tied,
            k: scale,
            prior,
            loss: losses(&rows.fitted)?,
            held_loss: rows.held.as_ref().map(losses).transpose()?,
            steps: found.steps(),
            gradient_ratio: found.fit.gradient_ratio,
            converged: found.has_converged(),
            interrupted: found.is_interrupted(),
            check: self.check.clone(),
            warnings: self.warnings.clone(),
            seconds,
            theta,
        })
    }

    /// What the parameters keep to: phase weights of version 1 keep their start, unless a pattern names them.
    fn constraints(&self, settings: &Settings) -> Constraints {
        let mut constraints = settings.constraints.clone();
        let patterns = [&constraints.only, &constraints.ties, &constraints.bounds].into_iter().flatten();
        let is_named = patterns.into_iter().any(|pattern| pattern.contains("phase"));
        if self.text.is_old && !is_named {
            let weights = &self.text.parameters[self.phase_weights()..];
            constraints.freeze.extend(weights.iter().map(|weight| weight.name.clone()));
        }
        constraints
    }

    /// The tables that can be centred: those of which nothing is frozen, or tied to what is outside.
    fn centring(&self, constrained: &Resolved<Vec<f64>>, rows: &Rows, seen: &[u32], min_seen: u32) -> Centring {
        let shifts = shifts(&self.text.model, rows, &self.tables());
        Centring::new(shifts, |j| constrained.shiftable[j], |j| seen[j] >= min_seen.max(1))
    }

    /// Tables of parameters, by their names: of each its sum, and the places of its leaves there.
    fn tables(&self) -> Vec<(usize, Vec<usize>)> {
        let mut tables: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut leaves = vec![0; self.text.model.layout.sums().len()];
        let mut last = None;
        for parameter in &self.text.parameters {
            let Some(sum) = parameter.sum else { continue };
            let table = parameter.name.rfind(['.', '[']).map(|end| (sum, &parameter.name[..end]));
            match tables.last_mut() {
                Some(members) if table.is_some() && table == last => members.1.push(leaves[sum]),
                _ => tables.push((sum, vec![leaves[sum]])),
            }
            last = table;
            leaves[sum] += 1;
        }
        tables.retain(|table| table.1.len() > 1);
        tables
    }

    /// The parameters as they are written: scaled by powers of K if asked for, rounded, centred.
    fn finished(
        &self,
        found: &Found,
        numbers: &Numbers,
        limits: &Limits,
        centring: Option<&Centring>,
        normalize: Option<(&[f64], f64)>,
    ) -> Vec<f64> {
        let mut theta = found.theta.clone();
        if let Some((powers, k)) = normalize {
            theta.iter_mut().zip(powers).for_each(|(value, &power)| *value *= k.powf(power));
        }
        let anywhere = (f64::NEG_INFINITY, f64::INFINITY);
        for (j, value) in theta.iter_mut().enumerate() {
            let is_free = normalize.is_some() || limits.is_frozen(j);
            *value = numbers.get(j).round(*value, if is_free { anywhere } else { limits.bounds(j) });
        }
        if let Some(centring) = centring {
            let mut centred = theta.clone();
            centring.apply(&mut centred, |j| if normalize.is_some() { anywhere } else { limits.bounds(j) });
            // Tables that are tied in part only had better stay.
            if limits.leaders().iter().enumerate().all(|(j, &leader)| centred[j] == centred[leader]) {
                theta = centred;
            }
        }
        theta
    }

    /// The parameters with other values; without the phase weights of version 1, if they were not tuned.
    fn with_values(&self, theta: &[f64], limits: &Limits) -> Vec<super::Parameter> {
        let mut parameters = self.text.parameters.clone();
        let mut at = 0;
        let mut last_free = 0;
        for (index, parameter) in parameters.iter_mut().enumerate() {
            parameter.start = match parameter.start {
                Start::Single(_) => Start::Single(theta[at]),
                Start::Pair(_) => Start::Pair([theta[at], theta[at + 1]]),
            };
            if !limits.is_frozen(at) {
                last_free = index;
            }
            at += parameter.start.numbers().len();
        }
        if self.text.is_old && last_free < self.phase_weights() {
            parameters.truncate(self.phase_weights());
        }
        parameters
    }

    /// Names of the parameters that only their rarity freezes.
    fn rare(&self, before: &Limits, after: &Limits) -> Vec<String> {
        let mut at = 0;
        let rare = self.text.parameters.iter().filter(|parameter| {
            let own = at..at + parameter.start.numbers().len();
            at = own.end;
            own.into_iter().any(|j| after.is_frozen(j) && !before.is_frozen(j))
        });
        rare.map(|parameter| parameter.name.clone()).collect()
    }
}
