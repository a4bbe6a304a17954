//! The identity of a match, which is everything that decides its games, and its circumstances, in JSON.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::{Format, Match};
use crate::game::Variant;
use crate::stats::Sprt;
use crate::uci_client::EngineSpec;

/// Engines with the hashes of their files, openings, limits, rules and test. Not the number of games or how many are
/// played at a time: these may change when a match goes on.
pub fn identity(plan: &Match, sprt: Option<&Sprt>) -> Value {
    let conditions = &plan.conditions;
    let rules = &conditions.adjudication;
    let engine = |index: usize| {
        let mut engine = engine_identity(&plan.engines[index]);
        engine["limit"] = plan.limit_of(index).to_string().into();
        engine
    };
    let engines: Vec<Value> = (0..plan.engines.len()).map(engine).collect();
    let mut identity = json!({
        "engines": engines,
        "round_robin": plan.format == Format::RoundRobin,
        "openings_sha256": plan.book.sha256(),
        "chess960": conditions.variant == Variant::Chess960,
        "draw": rules.draw.map(|rule| json!([rule.from_move, rule.moves, rule.score])),
        "resign": rules.resign.map(|rule| json!([rule.moves, rule.score, rule.both])),
        "max_plies": rules.max_plies,
        "time_margin_ms": u64::try_from(conditions.margin.as_millis()).ok(),
        // The key of older journals.
        "patience_ms": u64::try_from(conditions.stall_timeout.as_millis()).ok(),
        "sprt": sprt.map(|sprt| json!({
            "model": sprt.model.name(),
            "bounds": sprt.bounds.as_array(),
            "alpha": sprt.alpha,
            "beta": sprt.beta,
        })),
    });
    // Journals of before there were tables do not speak of them.
    if let Some(tablebase) = &conditions.tablebase {
        identity["tablebase_sha256"] = tablebase.sha256().into();
    }
    identity
}

/// An engine with the hashes of its program and of the files that its options and arguments name.
pub(crate) fn engine_identity(spec: &EngineSpec) -> Value {
    let options = spec.options.iter().map(|(name, value)| (name.clone(), Value::from(value.clone())));
    // Options that name files, usually of parameters, whose content decides the games.
    let files = spec
        .options
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), Value::from(file_sha256(Path::new(value))?))));
    let mut identity = json!({
        "name": spec.name,
        "command": spec.command.display().to_string(),
        "sha256": spec.file().and_then(|path| file_sha256(&path)),
        "args": spec.args,
        "dir": spec.dir.as_ref().map(|dir| dir.display().to_string()),
        "options": Map::from_iter(options),
        "option_files_sha256": Map::from_iter(files),
        "restart": spec.restart,
    });
    let folder = spec.dir.as_deref().unwrap_or(Path::new(""));
    let named = spec.args.iter().filter_map(|arg| Some((arg.clone(), Value::from(file_sha256(&folder.join(arg))?))));
    let named = Map::from_iter(named);
    // Journals of before there were such hashes do not speak of them.
    if !named.is_empty() {
        identity["arg_files_sha256"] = named.into();
    }
    identity
}

fn file_sha256(path: &Path) -> Option<String> {
    let bytes = path.is_file().then(|| fs::read(path).ok()).flatten()?;
    Some(Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Circumstances of a match that do not make it another one: where its openings come from, how many games were planned, on
/// what machine and when it began.
pub fn about(plan: &Match) -> Value {
    let began = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    json!({
        "arena": env!("CARGO_PKG_VERSION"),
        "began": began,
        "openings": plan.book.name(),
        "openings_count": plan.book.len(),
        "seed": plan.book.seed(),
        "games": plan.games,
        "concurrency": plan.concurrency,
        "pinned": plan.pinning.as_ref().map(|pinning| pinning.shares()),
        "cores": std::thread::available_parallelism().ok().map(usize::from),
        "processor": processor(),
    })
}

/// The name of the processor, if known.
fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'))?;
    Some(name.1.trim().to_owned())
}
