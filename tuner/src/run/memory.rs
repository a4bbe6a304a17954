//! The memory that the matrices of a run need. A run that exceeds the limit is refused before the work begins.

use anyhow::{Result, bail};

use super::Settings;
use crate::data::io::Storage;
use crate::optimize::Method;

/// Bytes per squared number of parameters: one triangle of the Hessian.
const CURVATURE: u64 = 4;

/// Bytes per squared number of free parameters: the metric of the minimiser.
const METRIC: u64 = 8;

/// Bytes per squared number of free parameters: additional matrices of the standard errors, as measured.
const ERRORS: u64 = 28;

/// Matrices of up to so many bytes are never refused: a small `--memory` keeps data on disk.
const NEVER_REFUSED: u64 = 256 << 20;

/// Returns an error if the matrices exceed the memory limit, or if local search runs over rows that are not in memory.
pub(super) fn check(
    settings: &Settings,
    parameters: usize,
    free: usize,
    are_mapped: bool,
    storage: &Storage,
) -> Result<()> {
    if are_mapped && settings.method == Method::LocalSearch {
        bail!(
            "--method local-search keeps every row in memory, but there are too many for that; raise --memory, or do \
             without"
        );
    }
    let square = |count: usize| (count as u64).saturating_mul(count as u64);
    // The search for the prior always minimises with L-BFGS.
    let minimises = settings.method == Method::Lbfgs || settings.prior.is_none();
    // The largest matrices that exist at the same time.
    let matrices = |errors: bool| {
        let curvature = if minimises || errors { CURVATURE } else { 0 };
        let others = if minimises { METRIC } else { 0 } + if errors { ERRORS } else { 0 };
        square(parameters).saturating_mul(curvature).saturating_add(square(free).saturating_mul(others))
    };
    let needed = matrices(settings.errors);
    if needed <= storage.memory.max(NEVER_REFUSED) {
        return Ok(());
    }
    let (needed, memory) = (size(needed), size(storage.memory));
    let less = match settings.errors {
        true => format!(", leave the errors out (--no-errors: {})", size(matrices(false))),
        false => String::new(),
    };
    bail!(
        "{free} numbers need matrices of {needed}, but --memory is {memory}: tune fewer numbers (--only), raise --memory \
         to {needed}{less}, or take --method adam --prior 0 --no-errors, which needs no matrix"
    );
}

/// Formats a size as `--memory` reads it, rounded up.
fn size(bytes: u64) -> String {
    match bytes.div_ceil(1 << 30) {
        gigabytes if gigabytes >= 10 || bytes.is_multiple_of(1 << 30) => format!("{gigabytes}GiB"),
        _ => format!("{}MiB", bytes.div_ceil(1 << 20)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_larger_than_the_memory_are_refused() {
        let storage = Storage { memory: 4 << 30, ..Storage::default() };
        let settings = Settings::default();
        let refusal = |settings: &Settings, count| check(settings, count, count, false, &storage).err();
        assert!(refusal(&settings, 2_000).is_none());
        let message = refusal(&settings, 60_000).unwrap().to_string();
        assert!(message.starts_with("60000 numbers need matrices of 135GiB, but --memory is 4GiB"), "{message}");
        assert!(message.contains("--no-errors: 41GiB"), "{message}");
        let without = Settings { method: Method::Adam, prior: Some(0.0), errors: false, ..settings };
        assert!(refusal(&without, 60_000).is_none());
        // The search for the prior needs the metric.
        assert!(refusal(&Settings { prior: None, ..without }, 60_000).is_some());
    }

    #[test]
    fn local_search_refuses_rows_on_disk() {
        let settings = Settings { method: Method::LocalSearch, errors: false, prior: Some(0.0), ..Settings::default() };
        assert!(check(&settings, 100, 100, false, &Storage::default()).is_ok());
        assert!(check(&settings, 100, 100, true, &Storage::default()).is_err());
    }
}
