//! The fit of a problem.

use std::borrow::Cow;
use std::time::Instant;

use super::{Fitted, Grouping, Problem, Start};
use crate::model::Model;
use crate::model::centre::{Shift, homogeneity, shifts};
use crate::model::rows::{Rows, Weighted};
use crate::numbers::Numbers;
use crate::objective::{Difference, FitKError, Objective, SampleLoss, fit_k_at, loss_difference, scores};
use crate::optimize::Limits;
use crate::run::explain::Explanation;
use crate::run::{Divided, Hooks, Outcome, Run, RunError, Seconds, SetLoss, Settings, Sides, Split, Subject};
use crate::target::{Target, Targets};

impl Problem {
    /// Fits the parameters to the results of the rows.
    ///
    /// # Errors
    /// If rows are not what the engine computes, the constraints cannot be kept, all results are the same, or K cannot be
    /// found.
    pub fn fit(&self, settings: &Settings, hooks: Hooks<'_>) -> Result<Fitted, RunError> {
        let started = Instant::now();
        if let Some(check) = self.check.as_ref().filter(|check| check.has_failed(settings.tolerance)) {
            return Err(RunError::Untrusted(check.to_string()));
        }
        let constrained = self.declared().check(settings)?;
        let (target, rows) = self.targeted(settings.target)?;
        let settings = &Settings { target, ..settings.clone() };
        let split = settings.validation.map(|share| Split::hold_out(&self.groups, share, settings.seed)).transpose()?;
        let groups: Cow<[u32]> = match &split {
            None => (&self.groups[..]).into(),
            Some(split) => split.fitted_groups(&self.groups).into(),
        };
        let divided = Divided::new(Cow::Borrowed(&*rows), split.as_ref(), &self.storage)?;
        let mut run = Run {
            subject: TextRows { problem: self, numbers: self.declared().numbers(), loss: settings.loss },
            settings,
            constrained: &constrained,
            groups: &groups,
            are_games: self.grouping != Grouping::Rows,
            hooks,
        };
        let mut outcome = run.run(divided, Seconds::default())?;
        let model = &self.text.model;
        let both = [(&outcome.start[..], outcome.start_k), (&outcome.theta[..], outcome.k)];
        let of = (settings.loss, rows.targets());
        outcome.sets = SetLoss::of(self.sets(), of, both, |theta| scores(&rows, model, theta));
        let explained = settings.explain.then(|| self.explained(&outcome, &rows, split.as_ref()));
        (outcome.explained, outcome.loss_change) = explained.unzip();
        outcome.seconds.total = started.elapsed().as_secs_f64();
        Ok(Fitted {
            parameters: self.with_values(&outcome.theta),
            numbers: run.subject.numbers,
            rare: self.rare(&constrained.limits, &outcome.limits),
            grouping: self.grouping,
            check: self.check.clone(),
            warnings: self.warnings.iter().cloned().chain(outcome.rounding_warning()).collect(),
            outcome,
        })
    }

    /// The rows with what positions are to predict as their targets, and what that is in the place of
    /// [`Target::Auto`].
    pub(super) fn targeted(&self, target: Target) -> Result<(Target, Cow<'_, Rows>), RunError> {
        let Targets { target, values } = target.of_labels(self.labels())?;
        let rows = match target {
            Target::Result => Cow::Borrowed(&self.text.rows),
            _ => Cow::Owned(self.text.rows.clone().with_targets(&values)?),
        };
        Ok((target, rows))
    }

    /// What the parameters get right and wrong, before and after, and the difference of their losses: on the rows held
    /// out, if there are any, else on all.
    fn explained(&self, outcome: &Outcome<f64>, rows: &Rows, split: Option<&Split>) -> ([Explanation; 2], Difference) {
        let told: Vec<usize> = match split {
            Some(split) => split.held.iter().map(|&row| row as usize).collect(),
            None => (0..rows.len()).collect(),
        };
        let of_all = rows.weighted();
        let targets: Vec<f32> = told.iter().map(|&row| of_all.targets[row]).collect();
        let weights: Vec<f32> = told.iter().filter_map(|&row| of_all.weights.get(row).copied()).collect();
        let weighted = Weighted { targets: &targets, weights: &weights };
        let groups: Vec<u32> = told.iter().map(|&row| self.groups[row]).collect();
        let explain = |(theta, k): (&Vec<f64>, f64)| {
            let all = scores(rows, &self.text.model, theta);
            Explanation::of_scores(k, told.iter().map(|&row| all[row]), weighted, &groups)
        };
        let [before, after] = [(&outcome.start, outcome.start_k), (&outcome.theta, outcome.k)].map(explain);
        let sides = ((before.k, &before.scores[..]), (after.k, &after.scores[..]));
        let change = loss_difference(outcome.settings.loss, sides.0, sides.1, weighted, &groups);
        ([before, after], change)
    }

    /// Tables of parameters, by their names: of each its sum, and the places of its leaves there.
    fn tables(&self) -> Vec<(usize, Vec<usize>)> {
        let mut tables: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut leaves = vec![0; self.text.model.layout.sums.len()];
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

    /// The parameters with other values.
    fn with_values(&self, theta: &[f64]) -> Vec<super::Parameter> {
        let mut parameters = self.text.parameters.clone();
        let mut at = 0;
        for parameter in &mut parameters {
            parameter.start = match parameter.start {
                Start::Single(_) => Start::Single(theta[at]),
                Start::Pair(_) => Start::Pair([theta[at], theta[at + 1]]),
            };
            at += parameter.start.numbers().len();
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

/// Rows of a text, as a run sees them.
struct TextRows<'p> {
    problem: &'p Problem,
    numbers: Numbers,
    loss: SampleLoss,
}

impl<'p> Subject<'p> for TextRows<'p> {
    type Loss = f64;

    fn model(&self) -> &Model {
        &self.problem.text.model
    }

    fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    fn shifts(&self, rows: &Rows) -> Vec<Shift> {
        shifts(self.model(), rows, &self.problem.tables())
    }

    fn powers(&self) -> Option<Vec<f64>> {
        homogeneity(self.model())
    }

    fn fit_k(&self, rows: &Rows, start: &[f64]) -> Result<f64, FitKError> {
        Ok(fit_k_at(self.loss, rows, self.model(), start)?.k)
    }

    fn losses(&mut self, rows: &Divided<'p>, vector: &[f64], k: f64) -> Result<Sides<f64>, RunError> {
        let loss = |rows: &Rows| -> Result<f64, RunError> {
            Ok(Objective::new(rows, self.model(), k)?.with_loss(self.loss).data_loss(vector))
        };
        Ok(Sides { fitted: loss(&rows.fitted)?, held: rows.held.as_ref().map(loss).transpose()? })
    }

    fn minimised(&self, loss: f64) -> f64 {
        loss
    }
}
