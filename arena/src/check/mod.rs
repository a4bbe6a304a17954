//! A test of how an engine speaks UCI: what graphical interfaces and match runners rely on, point by point.
//!
//! Every check has an engine of its own, started for it, so that none suffers from what another did. A check says that
//! the engine passed, why it failed, or why it does not apply.

mod answers;
mod life;
mod lines;
mod talk;

use serde_json::{Value, json};

use crate::uci_client::{EngineSpec, shortened};
use talk::Talk;

/// Why a check was not passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    /// The engine did something else.
    Failed(String),
    /// The engine does not have what would be checked.
    Skipped(String),
}

/// What a check came to.
pub type CheckResult = Result<(), Miss>;

/// One check.
pub struct Check {
    /// What is checked, in words.
    pub name: &'static str,
    /// Does it.
    run: fn(&mut Talk) -> CheckResult,
}

/// A check that was done.
pub struct Report {
    /// What was checked.
    pub name: &'static str,
    /// What it came to.
    pub outcome: CheckResult,
}

/// Every check, in the order they are done.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    life::CHECKS.iter().chain(answers::CHECKS).chain(lines::CHECKS)
}

/// Does one check on an engine, its options set.
///
/// # Errors
/// If the engine's program cannot be started.
pub fn check(spec: &EngineSpec, check: &Check) -> std::io::Result<Report> {
    let mut talk = Talk::start(spec)?;
    let outcome = (check.run)(&mut talk).map_err(|miss| match miss {
        Miss::Failed(reason) => Miss::Failed(shortened(&reason)),
        Miss::Skipped(reason) => Miss::Skipped(reason),
    });
    Ok(Report { name: check.name, outcome })
}

/// The reports as a table.
pub fn to_table(reports: &[Report]) -> String {
    let mut text = String::new();
    let width = reports.iter().map(|report| report.name.chars().count()).max().unwrap_or(0);
    for report in reports {
        let (word, reason) = words(&report.outcome);
        let line = format!("{word:7}  {:width$}  {reason}", report.name);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let count = |wanted: &str| reports.iter().filter(|report| words(&report.outcome).0 == wanted).count();
    let [passed, failed, skipped] = [PASSED, FAILED, SKIPPED].map(count);
    text.push_str(&format!("{passed} passed, {failed} failed, {skipped} skipped"));
    text
}

/// The reports as JSON.
pub fn to_json(reports: &[Report]) -> Value {
    let checks: Vec<Value> = reports
        .iter()
        .map(|report| {
            let (word, reason) = words(&report.outcome);
            json!({ "check": report.name, "result": word, "reason": reason })
        })
        .collect();
    json!({ "passed": reports.iter().all(|report| !matches!(report.outcome, Err(Miss::Failed(_)))), "checks": checks })
}

const PASSED: &str = "passed";
const FAILED: &str = "FAILED";
const SKIPPED: &str = "skipped";

fn words(outcome: &CheckResult) -> (&'static str, &str) {
    match outcome {
        Ok(()) => (PASSED, ""),
        Err(Miss::Failed(reason)) => (FAILED, reason),
        Err(Miss::Skipped(reason)) => (SKIPPED, reason),
    }
}

/// The failure of a check.
fn fail<T>(reason: impl Into<String>) -> Result<T, Miss> {
    Err(Miss::Failed(reason.into()))
}

/// Fails unless something holds.
fn require(holds: bool, reason: impl FnOnce() -> String) -> CheckResult {
    if holds { Ok(()) } else { fail(reason()) }
}
