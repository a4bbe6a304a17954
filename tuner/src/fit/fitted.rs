//! What a fit has found.

use std::fmt::Write;
use std::ops::Deref;

use serde_json::{Value as Json, json};

use super::{Check, Grouping, Parameter};
use crate::numbers::{Number, Numbers};
use crate::run::{Losses, Outcome, Seconds, SetLoss};

/// Names of rare parameters that a table has room for.
const MOST_NAMES: usize = 8;

/// What a fit has found.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// What any run has to say.
    pub outcome: Outcome<f64>,
    /// The parameters with what was found as their start, rounded: whole, or with the digits that their start had.
    pub parameters: Vec<Parameter>,
    /// All numbers of the parameters: `tempo`, `psqt[3][27]:mg`.
    pub numbers: Numbers,
    /// What rows stay together by when they are divided.
    pub grouping: Grouping,
    /// Names of the parameters that occur too rarely to be tuned.
    pub rare: Vec<String>,
    /// How well the formula agreed with the engine's scores.
    pub check: Option<Check>,
    /// What the user should know of the rows.
    pub warnings: Vec<String>,
}

impl Deref for Fitted {
    type Target = Outcome<f64>;

    fn deref(&self) -> &Outcome<f64> {
        &self.outcome
    }
}

impl Fitted {
    /// What is worth knowing of the fit, and every number with its standard error, as a table for a terminal.
    pub fn to_table(&self) -> String {
        let mut table = String::new();
        let mut line = |name: &str, text: String| _ = writeln!(table, "{name:<12} {text}");
        let held = if self.held_out > 0 { format!(", {} held out", self.held_out) } else { String::new() };
        line("rows", format!("{} fitted{held}, divided by {}", self.fitted, self.grouping.name()));
        if let Some(check) = &self.check {
            line("check", check.to_string());
        }
        self.warnings.iter().for_each(|warning| line("warning", warning.clone()));
        line(
            "parameters",
            format!("{} numbers, {} frozen, {} tied to others", self.theta.len(), self.frozen, self.tied),
        );
        if !self.rare.is_empty() {
            let names = self.rare.iter().take(MOST_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if self.rare.len() > MOST_NAMES { ", …" } else { "" };
            line("rare", format!("{} not tuned: {names}{more}", self.rare.len()));
        }
        line("target", self.settings.target.to_string());
        line("K", format!("{:.6}", self.k));
        line("prior", self.prior_words());
        let Losses { before, after } = self.loss;
        line("loss", format!("{before:.7} before, {after:.7} after"));
        if let Some(Losses { before, after }) = self.held_loss {
            line("held out", format!("{before:.7} before, {after:.7} after"));
        }
        if let Some(why) = self.nothing_tuned() {
            line("result", why);
        }
        let stop = match (self.interrupted, self.converged) {
            (true, _) => ", interrupted",
            (false, false) => ", not converged",
            (false, true) => "",
        };
        line("steps", format!("{}, gradient {:.1e} of its start{stop}", self.iterations, self.gradient_ratio));
        let Seconds { read, choose_prior, optimize, errors, .. } = self.seconds;
        line("seconds", format!("{read:.2} reading, {choose_prior:.2} prior, {optimize:.2} fit, {errors:.2} errors"));
        if !self.sets.is_empty() {
            table.push_str(&SetLoss::table(&self.sets));
            table.push('\n');
        }
        let width = self.numbers.iter().map(|number| number.name.chars().count()).max().unwrap_or(0);
        for (j, Number { name, .. }) in self.numbers.iter().enumerate() {
            let error = self.error(j).map_or_else(String::new, |error| format!(" ± {error:.2}"));
            _ = writeln!(table, "  {name:<width$} {} → {}{error}", self.start[j], self.theta[j]);
        }
        table.push('\n');
        if self.references.is_empty() {
            table.push_str("reference    not asked: rows of a file say nothing about other positions; --engine does\n");
        }
        self.references.iter().for_each(|reference| table.push_str(&reference.to_table()));
        table.truncate(table.trim_end().len());
        table
    }

    /// The same as one object.
    pub fn to_json(&self) -> Json {
        let number = |(j, number): (usize, &Number)| json!({ "name": number.name, "before": self.start[j], "after": self.theta[j], "error": self.error(j) });
        json!({
            "rows": self.fitted,
            "held_out": self.held_out,
            "divided_by": self.grouping.name(),
            "check": self.check.as_ref().map(Check::to_json),
            "warnings": self.warnings,
            "parameters": self.numbers.iter().enumerate().map(number).collect::<Vec<Json>>(),
            "frozen": self.frozen,
            "tied": self.tied,
            "rare": self.rare,
            "target": self.settings.target.to_string(),
            "k": self.k,
            "prior": self.prior,
            "loss": self.loss,
            "held_out_loss": self.held_loss,
            "sets": self.sets,
            "nothing_tuned": self.nothing_tuned(),
            "steps": self.iterations,
            "references": self.references,
            "gradient_ratio": self.gradient_ratio,
            "converged": self.converged,
            "interrupted": self.interrupted,
            "seconds": self.seconds,
        })
    }

    fn error(&self, number: usize) -> Option<f64> {
        self.errors.as_ref().and_then(|errors| errors.by_parameter[number])
    }
}
