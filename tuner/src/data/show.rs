//! Summaries of the data read, as text and as JSON.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use serde_json::Value;

use super::{FileSummary, Grouping, Skipped};

/// Writes a summary of each file, and of the records left out of it.
pub(crate) fn write_files(to: &mut String, files: &[FileSummary]) -> fmt::Result {
    for FileSummary { name, record, records, positions, weight, .. } in files {
        writeln!(to, "data         {name}: {}, {positions} positions{}", record.count(*records), weight.suffix())?;
    }
    for file in files.iter().filter(|file| file.left_out.iter().next().is_some()) {
        writeln!(to, "left out     {} of {}", file.left_out, file.name)?;
    }
    Ok(())
}

/// Writes the records that could not be read, by reason.
pub(crate) fn write_skipped(to: &mut String, skipped: &BTreeMap<&'static str, Skipped>) -> fmt::Result {
    for (reason, skipped) in skipped {
        writeln!(to, "skipped      {} {reason}, first {}", skipped.count, skipped.first)?;
    }
    Ok(())
}

/// Describes the grouping of positions.
pub(crate) fn together(grouping: Grouping) -> &'static str {
    match grouping {
        Grouping::Games => "positions of a game stay together",
        Grouping::ResultRuns => "no game has a name, but neighbours share results: runs of lines stay together",
        Grouping::Positions => "no game has a name: a position stays together with itself only",
        Grouping::Mixed => "positions of a game stay together where games have names",
    }
}

/// Returns the number of skipped records, by reason.
pub(crate) fn skipped_by_reason(skipped: &BTreeMap<&'static str, Skipped>) -> Value {
    let reasons = skipped.iter().map(|(reason, skipped)| ((*reason).to_owned(), skipped.count.into()));
    Value::Object(reasons.collect())
}
