//! What a run tells: a table for people, an object for machines.

use std::fmt::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};

use crate::data::{Grouping, LeftOutCounts, skipped_by_reason, together, write_files, write_skipped};
use crate::numbers::{Number, Numbers};
use crate::objective::SampleLoss;
use crate::params_file::{LossChange, Provenance};
use crate::run::{FOLDS, Losses, SetLoss};
use crate::tune::Report;

/// How many changed parameters are shown.
const CHANGES_SHOWN: usize = 10;

/// A number of a parameter file before and after.
#[derive(Serialize)]
struct Change {
    path: String,
    before: f64,
    after: f64,
    /// Standard error, if it is known.
    error: Option<f64>,
}

impl Report {
    /// Where the tuned parameters come from, for the head of their file.
    pub fn provenance(&self) -> Provenance {
        let (before, after) = (self.loss.before, self.loss.after);
        Provenance {
            data: self.files.clone(),
            positions: self.positions,
            resolve: self.resolve.name(),
            objective: format!("{} of the {}", self.settings.loss.name(), self.settings.target),
            method: self.settings.method.name(),
            k: self.k,
            lambda: self.prior,
            prior: self.prior_origin(),
            static_loss: Some(LossChange { before: before.still, after: after.still }),
            quiescence_loss: before.qsearch.zip(after.qsearch).map(|(before, after)| LossChange { before, after }),
            held_out: self.held_loss.map(|Losses { before, after }| {
                (self.held_out as u64, LossChange { before: before.minimised(), after: after.minimised() })
            }),
            iterations: self.iterations,
        }
    }

    /// What errors are counted by.
    fn clusters(&self) -> &'static str {
        match self.grouping {
            Grouping::Games => "games",
            Grouping::ResultRuns => "runs of lines",
            Grouping::Positions => "positions",
            Grouping::Mixed => "games, runs of lines and positions",
        }
    }

    /// The run as one JSON object; `output` is where the parameters were written.
    pub fn to_json(&self, output: &str) -> Value {
        json!({
            "positions": self.positions,
            "skipped": self.skipped.values().map(|skipped| skipped.count).sum::<u64>(),
            "skipped_by_reason": skipped_by_reason(&self.skipped),
            "left_out": self.files.iter().map(|file| file.left_out).sum::<LeftOutCounts>(),
            "warnings": self.warnings(),
            "held_out": self.held_out,
            "target": self.settings.target.to_string(),
            "loss_function": self.settings.loss.name(),
            "resolve": self.resolve.name(),
            "method": self.settings.method.name(),
            "k": self.k,
            "prior": self.prior,
            "prior_scale": self.settings.prior_scale.name(),
            "prior_choice": self.prior_choice,
            "loss": self.loss,
            "held_loss": self.held_loss,
            "sets": self.sets,
            "nothing_tuned": self.nothing_tuned(),
            "iterations": self.iterations,
            "rounds": self.rounds,
            "gradient_ratio": self.gradient_ratio,
            "converged": self.converged,
            "interrupted": self.interrupted,
            "frozen": self.frozen,
            "tied": self.tied,
            "averaged": self.averaged,
            "unseen": self.unseen,
            "at_bound": self.at_bound,
            "rare": self.rare,
            "references": self.references,
            "parameters": self.changes(),
            "seconds": self.seconds,
            "output": output,
        })
    }

    /// What looks wrong with the data, or with what came of them.
    fn warnings(&self) -> Vec<String> {
        self.warnings_of_data.iter().cloned().chain(self.rounding_warning()).collect()
    }

    /// The run as a table; `output` is where the parameters were written.
    pub fn to_table(&self, output: &str) -> String {
        let mut table = String::new();
        self.write_table(&mut table, output).expect("a String takes all");
        table
    }

    fn write_table(&self, to: &mut String, output: &str) -> fmt::Result {
        write_files(to, &self.files)?;
        for warning in self.warnings() {
            writeln!(to, "warning      {warning}")?;
        }
        writeln!(to, "grouped      {}", together(self.grouping))?;
        if self.held_out > 0 {
            let share = 100.0 * self.held_out as f64 / self.positions as f64;
            writeln!(to, "held out     {} positions ({share:.1} %), fitted {}", self.held_out, self.fitted)?;
        }
        write_skipped(to, &self.skipped)?;
        writeln!(to, "target       {}", self.settings.target)?;
        writeln!(to, "K            {:.4}", self.k)?;
        self.write_prior(to)?;
        writeln!(to, "resolved by  {}, {} rounds", self.resolve.name(), self.rounds)?;
        let (method, iterations, ratio) = (self.settings.method.name(), self.iterations, self.gradient_ratio);
        writeln!(to, "minimised    by {method}, {iterations} iterations, gradient down to {ratio:.1e} of the start")?;
        if self.interrupted {
            writeln!(to, "interrupted  this is the best so far")?;
        } else if !self.converged {
            writeln!(to, "not finished the largest number of steps was taken; run again from the output")?;
        }
        if self.frozen > 0 {
            let kept = if self.frozen == 1 { "number kept its" } else { "numbers kept their" };
            writeln!(to, "frozen       {} {kept} start", self.frozen)?;
        }
        if self.tied > 0 {
            writeln!(to, "tied         {} numbers follow others; {} began at a mean", self.tied, self.averaged)?;
        }
        if self.unseen > 0 {
            writeln!(to, "unseen       {} pairs occur in no position and keep their start", self.unseen)?;
        }
        if self.rare > 0 {
            writeln!(
                to,
                "rare         {} pairs occur in too few positions (--min-seen) and keep their start",
                self.rare
            )?;
        }
        if self.at_bound > 0 {
            writeln!(to, "at bound     {} numbers reached the end of their range", self.at_bound)?;
        }
        self.write_losses(to)?;
        to.push_str(&SetLoss::table(&self.sets));
        self.write_changes(to)?;
        self.write_certainty(to)?;
        let seconds = &self.seconds;
        writeln!(
            to,
            "\nseconds      read {:.2}, fit K {:.2}, choose prior {:.2}, minimise {:.2}, resolve again {:.2}, errors {:.2}, total {:.2}",
            seconds.read,
            seconds.fit_k,
            seconds.choose_prior,
            seconds.optimize,
            seconds.resolve,
            seconds.errors,
            seconds.total
        )?;
        self.references.iter().for_each(|reference| to.push_str(&reference.to_table()));
        write!(to, "wrote        {output}")
    }

    /// What the parameters were pulled with, and why so.
    fn write_prior(&self, to: &mut String) -> fmt::Result {
        writeln!(to, "prior        {}", self.prior_words())?;
        if let Some(choice) = &self.prior_choice {
            writeln!(
                to,
                "             in {} of {FOLDS} folds: {:.6} on what was not fitted; {:.6} at the start",
                choice.folds, choice.loss, choice.start
            )?;
        }
        Ok(())
    }

    fn write_losses(&self, to: &mut String) -> fmt::Result {
        let title = match self.settings.loss {
            SampleLoss::SquaredError => "mean squared error",
            SampleLoss::CrossEntropy => "mean cross-entropy",
        };
        writeln!(to, "\n{title:<18} {:>12}{:>12} {:>11}", "before", "after", "change")?;
        let mut line = |what: &str, before: f64, after: f64| {
            // No loss stays none.
            let change = if before == after { 0.0 } else { 100.0 * (after / before - 1.0) };
            writeln!(to, "{what:<18} {before:>12.7}{after:>12.7} {change:>+9.2} %")
        };
        let sides =
            [(Some(self.loss), ["static", "quiescence"]), (self.held_loss, ["held out, static", "held out, quiesc."])];
        for (losses, [of_static, of_search]) in sides {
            let Some(Losses { before, after }) = losses else { continue };
            line(of_static, before.still, after.still)?;
            if let Some((before, after)) = before.qsearch.zip(after.qsearch) {
                line(of_search, before, after)?;
            }
        }
        Ok(())
    }

    fn write_certainty(&self, to: &mut String) -> fmt::Result {
        if let Some(errors) = &self.errors {
            writeln!(
                to,
                "\n± is one standard error of the centred parameter, from {} {}",
                errors.clusters,
                self.clusters()
            )?;
        }
        Ok(())
    }

    fn write_changes(&self, to: &mut String) -> fmt::Result {
        let mut changes = self.changes();
        changes.retain(|change| change.before != change.after);
        changes.sort_by(|a, b| (b.after - b.before).abs().total_cmp(&(a.after - a.before).abs()));
        if changes.is_empty() {
            let why = self.nothing_tuned().unwrap_or_else(|| "no parameter changed".to_owned());
            return writeln!(to, "\n{why}");
        }
        writeln!(to, "\n{:<18} {:>12}{:>12} {:>11}", "largest changes", "before", "after", "change")?;
        for Change { path, before, after, error } in changes.iter().take(CHANGES_SHOWN) {
            let error = error.map_or_else(String::new, |error| format!(" ± {error:.1}"));
            writeln!(to, "{path:<18} {before:>12}{after:>12} {:>+11}{error}", after - before)?;
        }
        Ok(())
    }

    /// Every number of the parameters, in the order of their vector.
    fn changes(&self) -> Vec<Change> {
        let error = |j: usize| self.errors.as_ref().and_then(|errors| errors.by_parameter[j]);
        let change = |(j, number): (usize, &Number)| Change {
            path: number.name.replace(':', " "),
            before: self.start[j],
            after: self.theta[j],
            error: error(j),
        };
        Numbers::declared().iter().enumerate().map(change).collect()
    }
}
