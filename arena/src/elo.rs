//! Rating the players of games in files.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail};
use arena::pgn_results::{PgnResults, PgnResultsError};
use arena::report::PgnRatings;
use common::out;
use indicatif::{ProgressBar, ProgressStyle};
use tools::compression;

use crate::args::EloArgs;

/// Reads all files and prints the ratings.
pub(crate) fn rate(args: &EloArgs) -> Result<()> {
    let mut pgn = PgnResults::default();
    for path in &args.files {
        read(&mut pgn, path).with_context(|| path.display().to_string())?;
    }
    if pgn.games() == 0 {
        let names: Vec<String> = args.files.iter().map(|path| path.display().to_string()).collect();
        let found = pgn.left_out_text().map_or_else(String::new, |reasons| format!(" that count ({reasons})"));
        bail!("{}: no games{found}", names.join(", "));
    }
    let ratings = PgnRatings::new(&pgn, args.anchor.as_ref())?;
    let text = if args.json { format!("{:#}", ratings.to_json()) } else { ratings.to_table() };
    out!("{text}");
    Ok(())
}

/// Reads a file, with a bar of its bytes on a terminal.
fn read(pgn: &mut PgnResults, path: &Path) -> Result<()> {
    let file = File::open(path)?;
    let bar = ProgressBar::new(file.metadata().map_or(0, |data| data.len()));
    let style = ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {bytes_per_sec} (left {eta})");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let result =
        compression::decode_text(bar.wrap_read(file)).map_err(PgnResultsError::from).and_then(|text| pgn.read(text));
    bar.finish_and_clear();
    Ok(result?)
}
