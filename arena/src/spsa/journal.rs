//! The journal of a run: what run it is, then a line for each batch.

use std::path::Path;

use serde_json::{Value, json};

use super::{Batch, Gains, Trial, Tuning};
use crate::schedule::{JournalError, JournalFile, Match, identity};

/// The key of the first line under which it says what run it is.
const RUN: &str = "spsa";

/// The journal of a run that is written to.
#[derive(Debug)]
pub struct SpsaJournal(JournalFile);

/// Returns the identity of a run: that of its match, with the options, the gains and the size of a batch.
pub fn spsa_identity(plan: &Match, tuning: &Tuning, size: u32) -> Value {
    let mut identity = identity(plan, None);
    identity["options"] = tuning.options().iter().map(|option| option.line(option.start)).collect();
    let Gains { pairs, alpha, gamma, stability } = tuning.gains();
    identity["pairs"] = pairs.into();
    // Journals that are older than the choice of gains do not mention them.
    if tuning.gains() != Gains::new(pairs) {
        identity["gains"] = format!("alpha {alpha}, gamma {gamma}, stability {stability}").into();
    }
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

    /// Continues a journal: applies its batches to `tuning`, which is at its start, and calls `watch` with each. Also
    /// returns the number of failed pairs.
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

/// The present values, with as many digits as can be read again exactly.
fn values(tuning: &Tuning) -> Value {
    let rounded = |value: &f64| (value * 1e6).round() / 1e6;
    tuning.values().iter().map(rounded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spsa::SpsaOption;

    #[test]
    fn whatever_values_there_are_a_journal_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spsa.jsonl");
        let lines: String = (1..40).map(|i| format!("o{i}, float, {i}.{i}, 0, 900, {}.7, 0.0{i}7\n", i % 3)).collect();
        let start = Tuning::new(SpsaOption::parse_all(&lines).unwrap(), Gains::new(4000), 9);
        let identity = json!({ "seed": 9 });
        let mut journal = SpsaJournal::create(&path, &identity).unwrap();
        let mut tuning = start.clone();
        for batch in 0..200 {
            let points: Vec<i32> = (0..5).map(|pair| (batch * 7 + pair * pair) % 5 - 2).collect();
            let trials: Vec<(Trial, i32)> =
                (tuning.done()..).zip(&points).map(|(pair, points)| (tuning.trial(pair), *points)).collect();
            tuning.learn(&trials);
            journal
                .add(&Batch { points, failures: vec![(0, "crash".to_owned()); batch as usize % 2] }, &tuning)
                .unwrap();
        }
        drop(journal);
        let (mut again, mut batches) = (start.clone(), 0);
        let (_, failed) = SpsaJournal::resume(&path, &identity, &mut again, |_| batches += 1).unwrap();
        assert_eq!((again, batches, failed), (tuning, 200, 100));
        // A changed result is an error, even with a new checksum.
        let text = std::fs::read_to_string(&path).unwrap();
        let line = text.lines().nth(1).unwrap();
        let mut value: Value = serde_json::from_str(line).unwrap();
        value.as_object_mut().unwrap().remove("crc");
        value["points"][0] = 2.into();
        let forged = folder.path().join("forged.jsonl");
        let mut journal = JournalFile::create(&forged, &json!({ RUN: identity })).unwrap();
        journal.append(&value).unwrap();
        drop(journal);
        let error = SpsaJournal::resume(&forged, &identity, &mut start.clone(), |_| {}).unwrap_err().to_string();
        assert!(error.ends_with(":2: its values do not follow from its results"), "{error}");
    }
}
