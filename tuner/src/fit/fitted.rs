//! What a fit has found.

use std::fmt::Write;

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::{Check, Grouping, Parameter};

/// Names of rare parameters that a table has room for.
const MOST_NAMES: usize = 8;

/// What a fit has found.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The parameters with what was found as their start, rounded: whole, or with the digits that their start had.
    pub parameters: Vec<Parameter>,
    /// Names of all numbers of the parameters: `tempo`, `psqt[3][27]:mg`.
    pub numbers: Vec<String>,
    /// By number: where it started.
    pub start: Vec<f64>,
    /// By number: what was found, rounded.
    pub theta: Vec<f64>,
    /// By number: the standard error; none where the number could not move. None at all if they were not asked for, or
    /// cannot be told.
    pub errors: Option<Vec<Option<f64>>>,
    /// Rows fitted.
    pub rows: usize,
    /// Rows held out.
    pub held: usize,
    /// What rows stay together by when they are divided.
    pub grouping: Grouping,
    /// Names of the parameters that occur too rarely to be tuned.
    pub rare: Vec<String>,
    /// Numbers that the constraints froze.
    pub frozen: usize,
    /// Numbers that follow another one.
    pub tied: usize,
    /// The scale.
    pub k: f64,
    /// λ.
    pub prior: f64,
    /// Mean losses of the rows fitted, before and after rounding what was found.
    pub loss: [f64; 2],
    /// The same of the rows held out.
    pub held_loss: Option<[f64; 2]>,
    /// Steps taken.
    pub steps: usize,
    /// Norm of the gradient at the end, relative to that of the start.
    pub gradient_ratio: f64,
    /// Whether a minimum was found.
    pub converged: bool,
    /// Whether somebody ended the fit.
    pub interrupted: bool,
    /// How well the formula agreed with the engine's scores.
    pub check: Option<Check>,
    /// What the user should know of the rows.
    pub warnings: Vec<String>,
    /// What it took.
    pub seconds: Seconds,
}

/// Wall-clock seconds of a fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Seconds {
    /// Of reading the rows, if the caller has told.
    pub read: f64,
    /// Of finding K and the strength of the prior.
    pub prior: f64,
    /// Of the fit.
    pub fit: f64,
    /// Of the standard errors.
    pub errors: f64,
}

impl Fitted {
    /// What is worth knowing of the fit, and every number with its standard error, as a table for a terminal.
    pub fn to_table(&self) -> String {
        let mut table = String::new();
        let mut line = |name: &str, text: String| _ = writeln!(table, "{name:<12} {text}");
        let held = if self.held > 0 { format!(", {} held out", self.held) } else { String::new() };
        line("rows", format!("{} fitted{held}, divided by {}", self.rows, self.grouping.name()));
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
        line("K", format!("{:.6}", self.k));
        line("prior", format!("{:.3e}", self.prior));
        let [before, after] = self.loss;
        line("loss", format!("{before:.7} before, {after:.7} after"));
        if let Some([before, after]) = self.held_loss {
            line("held out", format!("{before:.7} before, {after:.7} after"));
        }
        let stop = match (self.interrupted, self.converged) {
            (true, _) => ", interrupted",
            (false, false) => ", not converged",
            (false, true) => "",
        };
        line("steps", format!("{}, gradient {:.1e} of its start{stop}", self.steps, self.gradient_ratio));
        let Seconds { read, prior, fit, errors } = self.seconds;
        line("seconds", format!("{read:.2} reading, {prior:.2} prior, {fit:.2} fit, {errors:.2} errors"));
        let width = self.numbers.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for (j, name) in self.numbers.iter().enumerate() {
            let error = self.error(j).map_or_else(String::new, |error| format!(" ± {error:.2}"));
            _ = writeln!(table, "  {name:<width$} {} → {}{error}", self.start[j], self.theta[j]);
        }
        table.truncate(table.trim_end().len());
        table
    }

    /// The same as one object.
    pub fn to_json(&self) -> Json {
        let number = |(j, name): (usize, &String)| json!({ "name": name, "before": self.start[j], "after": self.theta[j], "error": self.error(j) });
        let change = |[before, after]: [f64; 2]| json!({ "before": before, "after": after });
        json!({
            "rows": self.rows,
            "held_out": self.held,
            "divided_by": self.grouping.name(),
            "check": self.check.as_ref().map(Check::to_json),
            "warnings": self.warnings,
            "parameters": self.numbers.iter().enumerate().map(number).collect::<Vec<Json>>(),
            "frozen": self.frozen,
            "tied": self.tied,
            "rare": self.rare,
            "k": self.k,
            "prior": self.prior,
            "loss": change(self.loss),
            "held_out_loss": self.held_loss.map(change),
            "steps": self.steps,
            "gradient_ratio": self.gradient_ratio,
            "converged": self.converged,
            "interrupted": self.interrupted,
            "seconds": self.seconds,
        })
    }

    fn error(&self, number: usize) -> Option<f64> {
        self.errors.as_ref().and_then(|errors| errors[number])
    }
}
