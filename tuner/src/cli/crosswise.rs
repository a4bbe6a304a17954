//! `tuner crosswise`.

use anyhow::{Result, bail};
use clap::Args;
use tuner::run::Hooks;
use tuner::tune::{Job, crosswise};

use super::input::Input;
use super::parameters::ParamsFile;
use super::settings::SettingsArgs;
use super::tune::{PositionArgs, StartArgs};
use super::{InputArgs, MachineArgs, PrintArgs};
use crate::cli::bars::Bars;

const EXAMPLE: &str = "\
Example:
  tuner crosswise quiet.epd engine-games.epd.zst --resolve static

A line a set that was tuned on, a column a set that judges, by the games that were held out of it. Where a set's own \
line is no better than `all together` in its column, the others do it no harm. Where it is clearly better, the others \
pull away from it: weigh them less (FILE=0.5 counts in `all together`), or drop them. A lower loss is not always more \
Elo: have games decide.";

/// The arguments of `tuner crosswise`.
#[derive(Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct CrosswiseArgs {
    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    start: StartArgs,

    #[command(flatten)]
    objective: PositionArgs,

    #[command(flatten)]
    settings: SettingsArgs,

    #[command(flatten)]
    print: PrintArgs,
}

impl CrosswiseArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<String> {
        let sources = self.input.files.iter().chain(&self.input.data.epd).map(Input::sources);
        let sources: Vec<_> = sources.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        if sources.len() < 2 {
            bail!("crosswise: name two sets or more, as in `tuner crosswise a.epd b.epd`");
        }
        let start = ParamsFile::open(&self.start.params)?.weights;
        let settings = self.settings.settings(self.start.constraints.constraints())?;
        let job = Job {
            resolve: self.objective.resolve,
            reading: self.input.options(),
            ..Job::new(sources, start, settings)
        };
        self.machine.use_threads()?;
        let found = crosswise(job, Hooks::new(bars))?;
        Ok(if self.print.json { serde_json::to_string_pretty(&found)? } else { found.to_table() })
    }
}
