//! Conformance checks of an engine's UCI: the behaviour that GUIs and match runners rely on.
//!
//! Every check has an engine of its own, started for it, so that none suffers from what another did. A check says that
//! the engine passed, why it failed, or why it does not apply. Some look at what the protocol requires, others at what is
//! good to have.

mod client;
mod info_lines;
mod lifecycle;
mod searches;

use serde_json::{Value, json};

use crate::uci_client::{EngineSpec, shortened};
use client::Client;

/// Why a check was not passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckError {
    /// The engine did something else.
    Failed(String),
    /// The engine lacks the feature.
    Skipped(String),
}

/// The result of a check.
pub type CheckResult = Result<(), CheckError>;

/// One check.
pub struct Check {
    /// Its name, the behaviour in words.
    pub name: &'static str,
    /// The protocol requires it.
    pub is_required: bool,
    /// Does it.
    run: fn(&mut Client) -> CheckResult,
}

impl Check {
    /// A check of what the protocol requires.
    const fn required(name: &'static str, run: fn(&mut Client) -> CheckResult) -> Self {
        Check { name, is_required: true, run }
    }

    /// A check of what is good to have: GUIs and match runners rely on it, or mistakes of theirs do less harm.
    const fn advised(name: &'static str, run: fn(&mut Client) -> CheckResult) -> Self {
        Check { name, is_required: false, run }
    }
}

/// A check that was done.
pub struct Report {
    /// The name of the check.
    pub name: &'static str,
    /// The protocol requires it.
    pub is_required: bool,
    /// Its result.
    pub outcome: CheckResult,
}

impl Report {
    /// The engine lacks something that the protocol requires.
    pub fn is_failure(&self) -> bool {
        self.is_required && matches!(self.outcome, Err(CheckError::Failed(_)))
    }

    /// The result in a word, and its reason.
    fn words(&self) -> (&'static str, &str) {
        match &self.outcome {
            Ok(()) => (PASSED, ""),
            Err(CheckError::Failed(reason)) => (if self.is_required { FAILED } else { WARNING }, reason),
            Err(CheckError::Skipped(reason)) => (SKIPPED, reason),
        }
    }
}

/// Every check, in the order they are done.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    lifecycle::CHECKS.iter().chain(searches::CHECKS).chain(info_lines::CHECKS)
}

/// Does one check on an engine, its options set.
///
/// # Errors
/// If the engine's program cannot be started.
pub fn check(spec: &EngineSpec, check: &Check) -> std::io::Result<Report> {
    let mut client = Client::start(spec)?;
    let outcome = (check.run)(&mut client).map_err(|miss| match miss {
        CheckError::Failed(reason) => CheckError::Failed(shortened(&reason)),
        CheckError::Skipped(reason) => CheckError::Skipped(reason),
    });
    Ok(Report { name: check.name, is_required: check.is_required, outcome })
}

/// The reports as a table.
pub fn to_table(reports: &[Report]) -> String {
    let mut text = String::new();
    let width = reports.iter().map(|report| report.name.chars().count()).max().unwrap_or(0);
    for report in reports {
        let (word, reason) = report.words();
        let line = format!("{word:7}  {:width$}  {reason}", report.name);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let count = |wanted: &str| reports.iter().filter(|report| report.words().0 == wanted).count();
    let [passed, failed, warned, skipped] = [PASSED, FAILED, WARNING, SKIPPED].map(count);
    text.push_str(&format!("{passed} passed, {failed} failed, {warned} warned, {skipped} skipped"));
    text
}

/// The reports as JSON.
pub fn to_json(reports: &[Report]) -> Value {
    let checks: Vec<Value> = reports
        .iter()
        .map(|report| {
            let (word, reason) = report.words();
            json!({ "check": report.name, "required": report.is_required, "result": word, "reason": reason })
        })
        .collect();
    json!({ "passed": !reports.iter().any(Report::is_failure), "checks": checks })
}

const PASSED: &str = "passed";
const FAILED: &str = "FAILED";
const WARNING: &str = "warning";
const SKIPPED: &str = "skipped";

/// The failure of a check.
fn fail<T>(reason: impl Into<String>) -> Result<T, CheckError> {
    Err(CheckError::Failed(reason.into()))
}

/// Fails unless something holds.
fn require(holds: bool, reason: impl FnOnce() -> String) -> CheckResult {
    if holds { Ok(()) } else { fail(reason()) }
}
