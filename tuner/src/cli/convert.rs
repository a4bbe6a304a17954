//! `tuner convert`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use common::files::RunFiles;
use serde_json::json;
use tuner::data::convert::{OutputEncoding, OutputFormat, convert};
use tuner::data::{Dataset, LeftOutCounts, POSITIONS};

use super::{InputArgs, PrintArgs};
use crate::cli::bars::Bars;
use crate::cli::interrupt::written_once;

/// The arguments of `tuner convert`.
#[derive(Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    input: InputArgs,

    /// The file of the positions. Its ending chooses format and compression: .epd, .points, .wdl, .csv, .bullet, .viri (or
    /// .vf) or .binpack, and .gz, .zst, .xz or .bz2 behind it.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: PathBuf,

    /// The format, whatever the name says.
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Output")]
    to: Option<OutputFormat>,

    #[command(flatten)]
    print: PrintArgs,
}

impl ConvertArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<String> {
        let encoding = OutputEncoding::of(&self.output, self.to)?;
        let mut files = RunFiles::default();
        self.input.register(&mut files)?;
        files.writes("--output", &self.output, POSITIONS)?;
        self.input.machine.use_threads()?;
        let sources = self.input.sources()?;
        let dataset = Dataset::read(sources, &self.input.data.options, bars)?;
        written_once(|| convert(&dataset, &self.output, encoding, bars))?;
        let left_out: LeftOutCounts = dataset.files().iter().map(|file| file.left_out).sum();
        let (positions, skipped, output) = (dataset.len(), dataset.skipped_records(), self.output.display());
        let json = json!({
            "positions": positions,
            "skipped": skipped,
            "left_out": left_out,
            "output": output.to_string(),
        });
        let mut table = String::new();
        if left_out != LeftOutCounts::default() {
            table += &format!("left out     {left_out}\n");
        }
        if skipped > 0 {
            table += &format!("skipped      {skipped}\n");
        }
        table += &format!("wrote        {output}: {positions} positions, {encoding}");
        Ok(self.print.form(table, &json))
    }
}
