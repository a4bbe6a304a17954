//! The arguments that say who searches positions, and how long: of `arena datagen` and `arena relabel`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use arena::game::Variant;
use arena::player::{Effort, UciEngine};
use arena::uci_client::EngineSpec;
use clap::Args;
use engine::eval::Evaluator;

use super::{add_options, engine, option};

/// Who searches.
#[derive(Args)]
pub(crate) struct EngineArgs {
    /// Any UCI engine, described as `cmd=PROGRAM [name=…] [args=…] [dir=…] [restart=on] [option.NAME=…] …`; without it, Merino
    /// within this program.
    #[arg(long, value_name = "WORDS", value_parser = engine)]
    pub(crate) engine: Option<EngineSpec>,

    /// An option for the engine, unless its description sets it.
    #[arg(long, value_name = "NAME=VALUE", value_parser = option, requires = "engine")]
    option: Vec<(String, String)>,

    /// Time after which an engine at fixed nodes or depth counts as stalled, in seconds.
    #[arg(long, value_name = "S", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..))]
    stall_timeout: u32,

    /// Merino's parameters; those embedded in the program if not given.
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
}

/// The limit of a search.
#[derive(Args)]
pub(crate) struct EffortArgs {
    /// The most nodes of a search.
    #[arg(long, value_name = "N", conflicts_with_all = ["depth", "movetime"], value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,

    /// Plies of every search, instead of nodes.
    #[arg(long, value_name = "PLIES", conflicts_with = "movetime", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,

    /// Milliseconds of every search, instead of nodes: the output is then another one each time.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(1..))]
    movetime: Option<u32>,
}

impl EngineArgs {
    /// The files that are read, with the argument of each.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        self.params.as_deref().map(|path| ("--params", path)).into_iter()
    }

    /// The engine, unless it is Merino within this program.
    pub(crate) fn uci(&self, variant: Variant, tells_chances: bool) -> Result<Option<UciEngine>> {
        let Some(spec) = &self.engine else { return Ok(None) };
        ensure!(spec.limit.is_none(), "--engine: the limit is given by --nodes, --depth or --movetime");
        let mut spec = spec.clone();
        add_options(&mut spec, &self.option);
        let stall_timeout = Duration::from_secs(self.stall_timeout.into());
        Ok(Some(UciEngine { variant, tells_chances, stall_timeout, ..UciEngine::new(spec) }))
    }

    /// Merino's evaluator.
    pub(crate) fn evaluator(&self) -> Result<Arc<Evaluator>> {
        Ok(Arc::new(match &self.params {
            Some(path) => Evaluator::load(path)?,
            None => Evaluator::default(),
        }))
    }
}

impl EffortArgs {
    /// The limit, if one is given.
    pub(crate) fn effort(&self) -> Option<Effort> {
        let depth = self.depth.map(Effort::Depth);
        let time = self.movetime.map(|millis| Effort::MoveTime(Duration::from_millis(millis.into())));
        self.nodes.map(Effort::nodes).or(depth).or(time)
    }
}
