//! The journal of a run: what run it is, then a line for each batch.

use std::path::Path;

use serde_json::{Value, json};

use super::{Batch, Trial, Tuning};
use crate::schedule::{JournalError, JournalFile, Match, identity};

/// The key of the first line under which it says what run it is.
const RUN: &str = "spsa";

/// The journal of a run that is written to.
#[derive(Debug)]
pub struct SpsaJournal(JournalFile);

/// What decides a run: that of a match, with options, gains and batches.
pub fn spsa_identity(plan: &Match, tuning: &Tuning, size: u32) -> Value {
    let mut identity = identity(plan, None);
    identity["options"] = tuning.options().iter().map(|option| option.line(option.start)).collect();
    identity["pairs"] = tuning.gains().pairs.into();
    identity["batch"] = size.into();
    identity["seed"] = tuning.seed().into();
    identity["openings_seed"] = json!(plan.book.seed());
    identity
}

impl SpsaJournal {
    /// Begins a journal.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn create(path: &Path, identity: &Value) -> Result<Self, JournalError> {
        JournalFile::create(path, &json!({ RUN: identity })).map(SpsaJournal)
    }

    /// Goes on with a journal: `tuning`, at its start, learns the batches, of each of which `watch` is told. Returns how many
    /// pairs failed, too.
    ///
    /// # Errors
    /// If the file cannot be read or written, is no journal, belongs to another run, or has a line that cannot be read or
    /// does not follow from those before it.
    pub fn resume(
        path: &Path,
        identity: &Value,
        tuning: &mut Tuning,
        mut watch: impl FnMut(&Tuning),
    ) -> Result<(Self, u32), JournalError> {
        let mut failed = 0;
        let take = &mut |line: &Value| -> Result<(), String> {
            let numbers = |key: &str| line[key].as_array().ok_or_else(|| format!("`{key}` is not a list"));
            let points =
                |value: &Value| value.as_i64().filter(|points| (-2..=2).contains(points)).map(|points| points as i32);
            let results: Option<Vec<i32>> = numbers("points")?.iter().map(points).collect();
            let results = results.ok_or("`points` are not all from −2 to 2")?;
            if results.len() as u64 + u64::from(tuning.done()) > u64::from(tuning.gains().pairs) {
                return Err("there are more pairs than the run has".to_owned());
            }
            let trials: Vec<(Trial, i32)> =
                (tuning.done()..).zip(results).map(|(pair, points)| (tuning.trial(pair), points)).collect();
            tuning.learn(&trials);
            if line["values"] != values(tuning) {
                return Err("its values do not follow from its results".to_owned());
            }
            failed +=
                line["failed"].as_u64().and_then(|count| u32::try_from(count).ok()).ok_or("`failed` is not a count")?;
            watch(tuning);
            Ok(())
        };
        let resumed = JournalFile::resume(path, RUN, &json!({ RUN: identity }), take)?;
        Ok((SpsaJournal(resumed.file), failed))
    }

    /// Adds a batch, and the values after it. It is on the disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written, as on a full disk.
    pub fn add(&mut self, batch: &Batch, tuning: &Tuning) -> Result<(), JournalError> {
        self.0.append(&json!({ "points": batch.points, "failed": batch.failed_pairs(), "values": values(tuning) }))
    }
}

fn values(tuning: &Tuning) -> Value {
    tuning.values().into()
}
