//! The outcome of a run as a text table.

use std::fmt::{self, Write};

use crate::data::together;
use crate::objective::SampleLoss;
use crate::run::{Change, FOLDS, Losses, Outcome, SetLoss};

/// The number of changed parameters shown.
const CHANGES_SHOWN: usize = 10;

/// The number of names of rare parameters shown.
const MOST_NAMES: usize = 8;

impl Outcome {
    /// Formats the run as a table. `output` is the path of the written parameters.
    pub fn to_table(&self, output: &str) -> String {
        let mut table = String::new();
        self.write_table(&mut table, output).expect("a String takes all");
        table
    }

    fn write_table(&self, to: &mut String, output: &str) -> fmt::Result {
        let summary = self.data_summary.lines().filter(|line| !line.starts_with("warning "));
        summary.into_iter().try_for_each(|line| writeln!(to, "{line}"))?;
        if let Some(check) = &self.check {
            writeln!(to, "check        {check}")?;
        }
        self.warnings.iter().try_for_each(|warning| writeln!(to, "warning      {warning}"))?;
        writeln!(to, "grouped      {}", together(self.grouping))?;
        if self.held_out > 0 {
            let share = 100.0 * self.held_out as f64 / (self.fitted + self.held_out) as f64;
            writeln!(to, "held out     {} positions ({share:.1} %), fitted {}", self.held_out, self.fitted)?;
        }
        writeln!(to, "target       {}", self.settings.target)?;
        writeln!(to, "K            {:.4}", self.k)?;
        writeln!(to, "prior        {}", self.prior_words())?;
        if let Some(choice) = &self.prior_choice {
            writeln!(
                to,
                "             in {} of {FOLDS} folds: {:.6} on what was not fitted; {:.6} at the start",
                choice.folds, choice.loss, choice.start
            )?;
        }
        let (method, iterations, ratio) = (self.settings.method.name(), self.iterations, self.gradient_ratio);
        let rounds = self.rounds;
        writeln!(
            to,
            "minimised    by {method}, {rounds} rounds, {iterations} iterations, gradient down to {ratio:.1e} of the start"
        )?;
        if self.interrupted {
            writeln!(to, "interrupted  this is the best so far")?;
        } else if !self.converged {
            writeln!(to, "not finished the largest number of steps was taken; run again from the output")?;
        }
        self.write_kept(to)?;
        self.write_losses(to)?;
        to.push_str(&SetLoss::table(&self.sets));
        self.write_changes(to)?;
        if let Some(errors) = &self.errors {
            let groups = together(self.grouping).split(':').next_back().unwrap_or_default().trim();
            writeln!(
                to,
                "\n± is one standard error of the centred parameter, from {} groups: {groups}",
                errors.clusters
            )?;
        }
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
        if self.references.is_empty() && self.files.is_empty() && self.data_summary.is_empty() {
            writeln!(to, "reference    not asked: rows of a file say nothing about other positions; --engine does")?;
        }
        self.references.iter().for_each(|reference| to.push_str(&reference.to_table()));
        if !output.is_empty() {
            write!(to, "wrote        {output}")?;
        }
        to.truncate(to.trim_end().len());
        Ok(())
    }

    /// Writes the lines on frozen, tied, rare and bounded parameters.
    fn write_kept(&self, to: &mut String) -> fmt::Result {
        if self.frozen > 0 {
            let kept = if self.frozen == 1 { "number kept its" } else { "numbers kept their" };
            writeln!(to, "frozen       {} {kept} start", self.frozen)?;
        }
        if self.tied > 0 {
            writeln!(to, "tied         {} numbers follow others; {} began at a mean", self.tied, self.averaged)?;
        }
        for (title, names, why) in [
            ("unseen", &self.unseen, "occur in no position and keep their start"),
            ("rare", &self.rare, "occur in too few positions (--min-seen) and keep their start"),
        ] {
            let shown = names.iter().take(MOST_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if names.len() > MOST_NAMES { ", …" } else { "" };
            if !names.is_empty() {
                writeln!(to, "{title:<12} {} parameters {why}: {shown}{more}", names.len())?;
            }
        }
        match self.at_bound {
            0 => Ok(()),
            count => writeln!(to, "at bound     {count} numbers reached the end of their range"),
        }
    }

    fn write_losses(&self, to: &mut String) -> fmt::Result {
        let title = match self.settings.loss {
            SampleLoss::SquaredError => "mean squared error",
            SampleLoss::CrossEntropy => "mean cross-entropy",
        };
        writeln!(to, "\n{title:<18} {:>12}{:>12} {:>11}", "before", "after", "change")?;
        for (name, losses) in [("fitted", Some(self.loss)), ("held out", self.held_loss)] {
            let Some(Losses { before, after }) = losses else { continue };
            // Avoids 0 / 0 at a loss of 0.
            let change = if before == after { 0.0 } else { 100.0 * (after / before - 1.0) };
            writeln!(to, "{name:<18} {before:>12.7}{after:>12.7} {change:>+9.2} %")?;
        }
        Ok(())
    }

    fn write_changes(&self, to: &mut String) -> fmt::Result {
        let mut changes: Vec<&Change> = self.parameters.iter().filter(|change| change.before != change.after).collect();
        changes.sort_by(|a, b| (b.after - b.before).abs().total_cmp(&(a.after - a.before).abs()));
        if changes.is_empty() {
            let why = self.nothing_tuned.clone().unwrap_or_else(|| "no parameter changed".to_owned());
            return writeln!(to, "\n{why}");
        }
        let shown = &changes[..changes.len().min(CHANGES_SHOWN)];
        let width = shown.iter().map(|change| change.name.chars().count()).max().unwrap_or(0).max(18);
        writeln!(to, "\n{:<width$} {:>12}{:>12} {:>11}", "largest changes", "before", "after", "change")?;
        for Change { name, before, after, error } in shown {
            let error = error.map_or_else(String::new, |error| format!(" ± {error:.1}"));
            let change = self.numbers.iter().find(|number| number.name == *name).map_or(0, |number| number.decimals);
            writeln!(to, "{name:<width$} {before:>12}{after:>12} {:>+11.change$}{error}", after - before)?;
        }
        if changes.len() > shown.len() {
            writeln!(to, "and {} more: --report draws them, --json lists them", changes.len() - shown.len())?;
        }
        Ok(())
    }
}
