//! The outcome of a run as a text table.

use std::fmt::{self, Write};

use crate::name_of;
use crate::objective::SampleLoss;
use crate::run::{Change, FOLDS, Losses, Outcome, PriorChoice, SetLoss};

/// The number of changed parameters shown.
const CHANGES_SHOWN: usize = 10;

/// The number of names shown of rare parameters and of numbers at their bounds.
const MOST_NAMES: usize = 8;

impl Outcome {
    /// Formats the run as a table.
    pub fn to_table(&self) -> String {
        let mut table = String::new();
        self.write_table(&mut table).expect("a String takes all");
        table.truncate(table.trim_end().len());
        table
    }

    /// Returns title and text of the reason why the run is not at its end, if it is not.
    pub(super) fn unfinished(&self) -> Option<(&'static str, &'static str)> {
        match (self.interrupted, self.converged) {
            (true, _) => Some(("interrupted", "this is the best so far")),
            (false, true) => None,
            (false, false) => {
                Some(("not finished", "the largest number of steps was taken; run again from the output"))
            }
        }
    }

    /// Returns the findings of the run as titles and texts.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("grouped", self.grouping.to_string())];
        if self.held_out > 0 {
            let share = 100.0 * self.held_out as f64 / (self.fitted + self.held_out) as f64;
            facts.push(("held out", format!("{} positions ({share:.1} %), fitted {}", self.held_out, self.fitted)));
        }
        let mut prior = self.prior_words();
        if let Some(PriorChoice { folds, loss, start, .. }) = &self.prior_choice {
            prior += &format!(
                "\n             in {folds} of {FOLDS} folds: {loss:.6} on what was not fitted; {start:.6} at the start"
            );
        }
        let (method, rounds, iterations) = (name_of(&self.settings.method), self.rounds, self.iterations);
        let ratio = self.gradient_ratio;
        let course =
            format!("by {method}, {rounds} rounds, {iterations} iterations, gradient down to {ratio:.1e} of the start");
        facts.extend([
            ("target", self.settings.target.to_string()),
            ("K", format!("{:.4}", self.k)),
            ("prior", prior),
            ("minimised", course),
        ]);
        facts.extend(self.unfinished().map(|(title, text)| (title, text.to_owned())));
        self.add_kept(&mut facts);
        facts
    }

    /// Adds the facts about frozen, tied, rare and bounded parameters.
    fn add_kept(&self, facts: &mut Vec<(&'static str, String)>) {
        if self.frozen > 0 {
            let kept = if self.frozen == 1 { "number kept its" } else { "numbers kept their" };
            facts.push(("frozen", format!("{} {kept} start", self.frozen)));
        }
        if self.tied > 0 {
            facts.push(("tied", format!("{} numbers follow others; {} began at a mean", self.tied, self.averaged)));
        }
        let at_bound: Vec<String> = self.at_bounds().map(|j| self.numbers[j].name.to_owned()).collect();
        for (title, names, why) in [
            ("unseen", &self.unseen, "parameters occur in no position and keep their start"),
            ("rare", &self.rare, "parameters occur in too few positions (--min-seen) and keep their start"),
            ("at bound", &at_bound, "numbers reached the end of their range"),
        ] {
            let shown = names.iter().take(MOST_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if names.len() > MOST_NAMES { ", …" } else { "" };
            if !names.is_empty() {
                facts.push((title, format!("{} {why}: {shown}{more}", names.len())));
            }
        }
    }

    fn write_table(&self, to: &mut String) -> fmt::Result {
        let summary = self.data_summary.lines().filter(|line| !line.starts_with("warning "));
        summary.into_iter().try_for_each(|line| writeln!(to, "{line}"))?;
        if let Some(check) = &self.check {
            writeln!(to, "check        {check}")?;
        }
        self.warnings.iter().try_for_each(|warning| writeln!(to, "warning      {warning}"))?;
        self.facts().iter().try_for_each(|(title, text)| writeln!(to, "{title:<12} {text}"))?;
        self.write_losses(to)?;
        to.push_str(&SetLoss::table(&self.sets));
        self.write_changes(to)?;
        if let Some(errors) = &self.errors {
            let groups = self.grouping.to_string();
            let groups = groups.split(':').next_back().unwrap_or_default().trim();
            let clusters = errors.clusters;
            writeln!(to, "\n± is one standard error of the centred parameter, from {clusters} groups: {groups}")?;
        }
        writeln!(to, "\nseconds      {}", self.seconds)?;
        if self.references.is_empty() && self.files.is_empty() && self.data_summary.is_empty() {
            writeln!(to, "reference    not asked: rows of a file say nothing about other positions; --engine does")?;
        }
        self.references.iter().for_each(|reference| to.push_str(&reference.to_table()));
        Ok(())
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
        changes.sort_by(|a, b| b.change().abs().total_cmp(&a.change().abs()));
        if changes.is_empty() {
            let why = self.nothing_tuned.clone().unwrap_or_else(|| "no parameter changed".to_owned());
            return writeln!(to, "\n{why}");
        }
        let shown = &changes[..changes.len().min(CHANGES_SHOWN)];
        let width = shown.iter().map(|change| change.name.chars().count()).max().unwrap_or(0).max(18);
        writeln!(to, "\n{:<width$} {:>12}{:>12} {:>11}", "largest changes", "before", "after", "change")?;
        for Change { name, before, after, error, decimals, .. } in shown {
            let error = error.map_or_else(String::new, |error| format!(" ± {error:.1}"));
            writeln!(to, "{name:<width$} {before:>12}{after:>12} {:>+11.decimals$}{error}", after - before)?;
        }
        if changes.len() > shown.len() {
            writeln!(to, "and {} more: --report draws them, --json lists them", changes.len() - shown.len())?;
        }
        Ok(())
    }
}
