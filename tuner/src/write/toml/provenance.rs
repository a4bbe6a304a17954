//! The provenance block of a parameter file: comments on the origin of its numbers, and K for the engine to read.

use anyhow::{Context, Result};
use common::text::escape;
use engine::eval::toml_file::{SCALE, scale_of};

use crate::name_of;
use crate::run::{Losses, Outcome};
use crate::source::Resolve;

/// First line of the block.
const BEGIN: &str = "# --- provenance: written by the tuner, replaced by its next run ---";

/// Last line of the block.
const END: &str = "# --- end of provenance ---";

/// Name and version of this program.
const PROGRAM: &str = concat!("merino-tuner ", env!("CARGO_PKG_VERSION"));

/// Returns the provenance block of the parameters of a run, with its markers. It has no date, so the same run gives the
/// same bytes. `resolve` is the resolution of the positions.
pub fn provenance(outcome: &Outcome, resolve: Resolve) -> String {
    let Outcome { settings, files, k, prior, iterations, .. } = outcome;
    let mut block = format!("{BEGIN}\n# program     {PROGRAM}\n");
    for (i, file) in files.iter().enumerate() {
        let title = if i == 0 { "data" } else { "" };
        let (records, weight) = (file.record.count(file.records), file.weight.suffix());
        block += &format!("# {title:<10}  {}: {records}{weight}\n", escape(&file.name));
        block += &format!("#             sha256 {}\n", escape(&file.sha256));
    }
    let loss = |Losses { before, after }: Losses| format!("{before:.8} -> {after:.8}");
    block += &format!("# positions   {}\n", outcome.fitted + outcome.held_out);
    block += &format!("# resolve     {}\n", name_of(&resolve));
    block += &format!("# objective   {} of the {}\n", name_of(&settings.loss), settings.target);
    block += &format!("# method      {}\n", name_of(&settings.method));
    block += &format!("{SCALE} = {k:.6}  # scale from centipawns to expected results\n");
    block += &format!("# lambda      {prior:?} {}\n", escape(&outcome.prior_origin()));
    block += &format!("# loss        {}\n", loss(outcome.loss));
    if let Some(held) = outcome.held_loss {
        block += &format!("# held out    {} positions {}\n", outcome.held_out, loss(held));
    }
    block + &format!("# iterations  {iterations}\n{END}\n")
}

/// Returns the provenance block of a parameter file without its markers and comment signs; `None` if there is none.
pub fn provenance_of(text: &str) -> Option<String> {
    let (block, _) = text.split_once(BEGIN)?.1.split_once(END)?;
    let lines = block.lines().map(|line| line.strip_prefix("# ").unwrap_or(line)).filter(|line| !line.is_empty());
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// Puts `block` at the top of `text`. Removes earlier blocks, each with the blank lines after it, and any other entry of
/// the scale: the entry in `block` replaces it.
pub(super) fn replace(text: &str, block: &str) -> Result<String> {
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
    while let Some((before, block)) = rest.split_once(BEGIN) {
        let line = 1 + before.matches('\n').count();
        let (_, after) = block
            .split_once(END)
            .with_context(|| format!("line {line}: the provenance block that begins here has no end"))?;
        rest = before.to_owned() + after.trim_start_matches(['\r', '\n']);
    }
    if let Some((_, span)) = scale_of(&rest)? {
        let start = rest[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
        let end = rest[span.end..].find('\n').map_or(rest.len(), |newline| span.end + newline + 1);
        rest.replace_range(start..end, "");
    }
    Ok(format!("{block}\n{rest}"))
}
