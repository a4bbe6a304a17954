//! The arguments of `sprt`, `plan` and `calc`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use arena::stats::{Bounds, Counts, FURTHEST, Model, Sprt};
use arena::uci_client::EngineSpec;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::{CommonArgs, even, find_program};

/// The arguments of `arena sprt`.
#[derive(Args)]
#[command(after_help = SPRT_EXAMPLES, mut_arg("model", |model| model.value_parser(models_of_pairs())))]
pub(crate) struct SprtArgs {
    /// Parameters of Merino to test.
    #[arg(long, value_name = "FILE", requires = "against", conflicts_with = "engine")]
    params: Option<PathBuf>,

    /// Parameters of the opponent.
    #[arg(long, value_name = "FILE", requires = "params", conflicts_with = "engine")]
    against: Option<PathBuf>,

    /// The program `merino`; by default the one beside the arena, or else the first one on PATH.
    #[arg(long, value_name = "PROGRAM", requires = "params")]
    merino: Option<PathBuf>,

    /// The hypotheses, in Elo of the model: H0, at most ELO0, and H1, at least ELO1.
    #[arg(long, value_name = "ELO0,ELO1", default_value = "0,5", allow_hyphen_values = true)]
    pub(crate) bounds: Bounds,

    #[command(flatten)]
    pub(crate) test: TestArgs,

    /// The most games to play, an even number.
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = even)]
    pub(crate) games: u32,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl SprtArgs {
    /// The engines to play: those described, or this project's with two files of parameters.
    pub(crate) fn engines(&self) -> Result<Vec<EngineSpec>> {
        let (Some(params), Some(against)) = (&self.params, &self.against) else {
            return self.common.play.two_engines();
        };
        let program = match &self.merino {
            Some(program) => program.clone(),
            None => find_merino()?,
        };
        let by_params = |path: &PathBuf| -> Result<EngineSpec> {
            let path = std::fs::canonicalize(path).with_context(|| path.display().to_string())?;
            let mut spec = EngineSpec::new(&program).resolved();
            spec.name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
            spec.options.push(("EvalFile".to_owned(), path.display().to_string()));
            Ok(spec)
        };
        let mut engines = vec![by_params(params)?, by_params(against)?];
        if engines[0].name == engines[1].name {
            for (spec, path) in engines.iter_mut().zip([params, against]) {
                spec.name = path.display().to_string();
            }
        }
        Ok(engines)
    }
}

/// This project's engine: beside the arena or on PATH.
fn find_merino() -> Result<PathBuf> {
    const NAME: &str = "merino";
    find_program(NAME).with_context(|| {
        let beside = std::env::current_exe().unwrap_or_default().with_file_name(NAME);
        format!("{}: is not there, nor is there a {NAME} on PATH; --merino PROGRAM names one", beside.display())
    })
}

/// The parameters of a sequential test except its bounds.
#[derive(Args)]
pub(crate) struct TestArgs {
    /// The unit of the bounds.
    #[arg(long, value_enum, default_value_t = ModelArg::Normalized)]
    model: ModelArg,

    /// The chance to accept H1 although H0 holds.
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = error_rate)]
    alpha: f64,

    /// The chance to accept H0 although H1 holds.
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = error_rate)]
    beta: f64,
}

impl TestArgs {
    /// The test with these bounds.
    pub(crate) fn sprt(&self, bounds: Bounds) -> Sprt {
        let model = match self.model {
            ModelArg::Normalized => Model::Normalized,
            ModelArg::Logistic => Model::Logistic,
            ModelArg::Bayesian => Model::Bayesian,
        };
        Sprt { model, bounds, alpha: self.alpha, beta: self.beta }
    }
}

/// The models that judge pairs of games, which is what a match plays.
fn models_of_pairs() -> impl TypedValueParser<Value = ModelArg> {
    let models = [ModelArg::Normalized, ModelArg::Logistic];
    PossibleValuesParser::new(models.iter().filter_map(ModelArg::to_possible_value))
        .try_map(|name| ModelArg::from_str(&name, false))
}

#[derive(Clone, Copy, ValueEnum)]
enum ModelArg {
    /// Elo in units of the spread of results.
    Normalized,
    /// Elo of the mean score.
    Logistic,
    /// BayesElo; for single games only.
    Bayesian,
}

fn difference(text: &str) -> Result<f64, String> {
    let elo = text.parse().ok().filter(|elo: &f64| elo.abs() <= FURTHEST);
    elo.ok_or_else(|| format!("expected a number from -{FURTHEST} to {FURTHEST}"))
}

fn error_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|&rate: &f64| rate > 0.0 && rate < 0.5);
    rate.ok_or_else(|| "expected a probability between 0 and 0.5".to_owned())
}

/// The arguments of `arena plan`.
#[derive(Args)]
pub(crate) struct PlanArgs {
    /// The hypotheses, in normalized Elo.
    #[arg(long, value_name = "ELO0,ELO1", default_value = "0,5", allow_hyphen_values = true)]
    bounds: Bounds,

    /// True differences to plan for, in normalized Elo; the bounds and some between and beyond if not given.
    #[arg(long, value_name = "ELO", allow_hyphen_values = true, value_parser = difference)]
    pub(crate) elo: Vec<f64>,

    /// The chance to accept H1 although H0 holds.
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = error_rate)]
    alpha: f64,

    /// The chance to accept H0 although H1 holds.
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = error_rate)]
    beta: f64,
}

impl PlanArgs {
    /// The test that is planned.
    pub(crate) fn sprt(&self) -> Sprt {
        Sprt { model: Model::Normalized, bounds: self.bounds, alpha: self.alpha, beta: self.beta }
    }
}

/// The arguments of `arena calc`.
#[derive(Args)]
pub(crate) struct CalcArgs {
    /// Pairs of games by their results.
    #[arg(long, value_name = "LL,LD,DD,WD,WW", value_parser = counts::<5>, required_unless_present = "wdl")]
    penta: Option<[u64; 5]>,

    /// Games by their results.
    #[arg(long, value_name = "WON,DRAWN,LOST", value_parser = counts::<3>, conflicts_with = "penta")]
    wdl: Option<[u64; 3]>,

    /// The hypotheses of a test, in Elo of its model.
    #[arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true)]
    pub(crate) bounds: Option<Bounds>,

    #[command(flatten)]
    pub(crate) test: TestArgs,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

impl CalcArgs {
    /// The counts to judge.
    pub(crate) fn counts(&self) -> Counts {
        match (self.penta, self.wdl) {
            (Some(pairs), _) => Counts::Pairs(pairs),
            (None, Some([won, drawn, lost])) => Counts::Games([lost, drawn, won]),
            (None, None) => Counts::Pairs([0; 5]),
        }
    }
}

fn counts<const N: usize>(text: &str) -> Result<[u64; N], String> {
    let count = |word: &str| word.trim().parse().ok().filter(|&count: &u64| count < 1 << 40);
    let counts: Option<Vec<u64>> = text.split(',').map(count).collect();
    counts.and_then(|counts| counts.try_into().ok()).ok_or_else(|| format!("expected {N} counts with commas between"))
}

const SPRT_EXAMPLES: &str = "\
Examples:
  arena sprt --params params/tuned.toml --against params/baseline.toml
  arena sprt --engine \"cmd=./merino name=new\" --engine \"cmd=./merino-old name=old\" \\
      --option Hash=16 --tc 8+0.08 --openings book.epd.zst --bounds 0,5 \\
      --draw 40,8,10 --resign 4,600";
