//! Names of cache entries: digests of everything that the rows of an engine depend on.

use anyhow::Result;
use engine::bench::POSITIONS;
use engine::chess::Position;
use engine::eval::Evaluator;
use engine::search::{Pruning, Quiescence};
use sha2::{Digest, Sha256};

use crate::data::{ReadOptions, Source};
use crate::io::Storage;
use crate::progress::{Progress, Unit};

/// Returns the name of the entry for data, reading options and other parts. `None` if the data can be read only once.
pub(super) fn name(
    sources: &[Source],
    options: &ReadOptions,
    parts: Vec<String>,
    progress: &dyn Progress,
) -> Result<Option<String>> {
    progress.begin("checking", sources.iter().map(Source::size).sum(), Unit::Bytes);
    let mut digest = Sha256::new();
    let mut add = |part: &str| digest.update(format!("{}:{part}", part.len()));
    parts.iter().for_each(|part| add(part));
    // Rows do not depend on the place where they are stored.
    add(&format!("{:?}", ReadOptions { storage: Storage::default(), ..options.clone() }));
    sources.iter().for_each(|source| add(&source.reading()));
    add(&engine_identity());
    for source in sources {
        let Some(sha256) = source.digest(progress)? else { return Ok(None) };
        add(&sha256);
    }
    progress.end();
    Ok(Some(digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()))
}

/// Returns static and quiescence scores of fixed positions. They identify the embedded evaluation, on which filters and
/// leaves depend.
fn engine_identity() -> String {
    let evaluator = Evaluator::default();
    let mut quiescence = Quiescence::new(&evaluator, Pruning::Exact);
    let positions = POSITIONS.iter().filter_map(|fen| Position::from_fen(fen).ok());
    positions
        .map(|position| {
            format!("{} {}\n", evaluator.evaluate_for_white(&position), quiescence.resolve(&position).score)
        })
        .collect()
}
