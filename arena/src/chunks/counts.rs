//! Counts of a run, in JSON.

use std::time::Duration;

use serde_json::{Map, Value as Json, json};

/// The counts of a run in the form of its state file.
pub(crate) trait Counts: Clone + Default {
    /// The word for a task.
    const TASK: &'static str;

    /// The counts in JSON.
    fn to_json(&self) -> Json;

    /// Parses [`Counts::to_json`]; the error names what is missing.
    fn from_json(json: &Json) -> Result<Self, String>;

    /// The tasks that are counted.
    fn tasks(&self) -> u64;
}

/// Counts of the entries of a list, by their place in the list.
pub(crate) type List<const N: usize> = [u64; N];

/// Milliseconds, for JSON.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A count that sums and further games do not lead beyond its type.
pub(crate) fn count(json: &Json) -> Option<u64> {
    json.as_u64().filter(|&count| count < 1 << 56)
}

/// Counts in JSON by name, of all that occurred.
pub(crate) fn by_name<const N: usize>(names: [&'static str; N], counts: List<N>) -> Json {
    let occurred = names.into_iter().zip(counts).filter(|&(_, count)| count > 0);
    Map::from_iter(occurred.map(|(name, count)| (name.to_owned(), json!(count)))).into()
}

/// Parses [`by_name`]; the error names what is wrong.
pub(crate) fn from_names<const N: usize>(json: &Json, names: [&'static str; N]) -> Result<List<N>, String> {
    let object = json.as_object().ok_or_else(|| format!("{json} is not an object"))?;
    if let Some(unknown) = object.keys().find(|key| !names.contains(&key.as_str())) {
        return Err(format!("`{unknown}` is not known"));
    }
    let mut counts = [0; N];
    for (number, name) in counts.iter_mut().zip(names) {
        if let Some(value) = object.get(name) {
            *number = count(value).ok_or_else(|| format!("`{name}` is not a number"))?;
        }
    }
    Ok(counts)
}
