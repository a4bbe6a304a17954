//! The provenance block of a parameter file: comments on the origin of its numbers, and K for the engine to read.

use std::fmt;

use common::text::escape;
use engine::eval::toml_file::{SCALE, scale_of};

use super::RenderError;
use crate::data::FileSummary;
use crate::run::{Losses, Outcome};
use crate::source::Resolve;

/// First line of the block.
const BEGIN: &str = "# --- provenance: written by the tuner, replaced by its next run ---";

/// Last line of the block.
const END: &str = "# --- end of provenance ---";

/// Name and version of this program.
const PROGRAM: &str = concat!("merino-tuner ", env!("CARGO_PKG_VERSION"));

/// The origin of tuned numbers. It has no date, so the same run gives the same bytes.
///
/// Its `Display` form is the block with its markers.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// The data files, in the order they were read.
    pub data: Vec<FileSummary>,
    /// The number of positions that the run used.
    pub positions: usize,
    /// The resolved position: `qsearch` or `static`.
    pub resolve: String,
    /// The objective, such as `mse of the result`.
    pub objective: String,
    /// The optimiser, such as `lbfgs`.
    pub method: String,
    /// Scale from centipawns to the expected result.
    pub k: f64,
    /// λ, the strength of the prior.
    pub lambda: f64,
    /// The centre of the prior and the origin of its strength, such as `to the shape of the start, as given`.
    pub prior: String,
    /// Losses of the fitted positions.
    pub loss: Losses,
    /// The number of held-out positions and their losses, if there are any.
    pub held_out: Option<(usize, Losses)>,
    /// The number of steps of the optimiser.
    pub iterations: u64,
}

impl Provenance {
    /// Returns the provenance of a run with positions resolved by `resolve`.
    pub fn of(outcome: &Outcome, resolve: Resolve) -> Self {
        Provenance {
            data: outcome.files.clone(),
            positions: outcome.fitted + outcome.held_out,
            resolve: resolve.name(),
            objective: format!("{} of the {}", outcome.settings.loss.name(), outcome.settings.target),
            method: outcome.settings.method.name(),
            k: outcome.k,
            lambda: outcome.prior,
            prior: outcome.prior_origin(),
            loss: outcome.loss,
            held_out: outcome.held_loss.map(|loss| (outcome.held_out, loss)),
            iterations: outcome.iterations,
        }
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{BEGIN}")?;
        writeln!(f, "# program     {PROGRAM}")?;
        for (i, file) in self.data.iter().enumerate() {
            let title = if i == 0 { "data" } else { "" };
            let (records, weight) = (file.record.count(file.records), file.weight.suffix());
            writeln!(f, "# {title:<10}  {}: {records}{weight}", escape(&file.name))?;
            writeln!(f, "#             sha256 {}", escape(&file.sha256))?;
        }
        writeln!(f, "# positions   {}", self.positions)?;
        writeln!(f, "# resolve     {}", escape(&self.resolve))?;
        writeln!(f, "# objective   {}", escape(&self.objective))?;
        writeln!(f, "# method      {}", escape(&self.method))?;
        writeln!(f, "{SCALE} = {:.6}  # scale from centipawns to expected results", self.k)?;
        writeln!(f, "# lambda      {:?} {}", self.lambda, escape(&self.prior))?;
        let loss = |Losses { before, after }: Losses| format!("{before:.8} -> {after:.8}");
        writeln!(f, "# loss        {}", loss(self.loss))?;
        if let Some((positions, held)) = self.held_out {
            writeln!(f, "# held out    {positions} positions {}", loss(held))?;
        }
        writeln!(f, "# iterations  {}", self.iterations)?;
        writeln!(f, "{END}")
    }
}

/// Returns the provenance block of a parameter file without its markers and comment signs; `None` if there is none.
pub fn provenance_of(text: &str) -> Option<String> {
    let (_, block) = text.split_once(BEGIN)?;
    let (block, _) = block.split_once(END)?;
    let lines = block.lines().map(|line| line.strip_prefix("# ").unwrap_or(line)).filter(|line| !line.is_empty());
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// Puts `block` at the top of `text`. Removes earlier blocks, each with one blank line after it, and any other entry of
/// the scale: the entry in `block` replaces it.
pub(super) fn replace(text: &str, block: &str) -> Result<String, RenderError> {
    let mut rest = String::with_capacity(text.len());
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n').enumerate().peekable();
    while let Some((i, line)) = lines.next() {
        if line.trim_end() != BEGIN {
            rest.push_str(line);
            continue;
        }
        if !lines.any(|(_, line)| line.trim_end() == END) {
            return Err(RenderError::OpenProvenance { line: i + 1 });
        }
        lines.next_if(|(_, line)| line.trim_end().is_empty());
    }
    if let Some((_, span)) = scale_of(&rest).map_err(RenderError::Input)? {
        let start = rest[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
        let end = rest[span.end..].find('\n').map_or(rest.len(), |newline| span.end + newline + 1);
        rest.replace_range(start..end, "");
    }
    Ok(format!("{block}\n{rest}"))
}
