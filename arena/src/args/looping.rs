//! The arguments of `arena loop`, and the file that says what the loop does.
//!
//! Its keys and those of its tables are names of flags, as in a file of `arena spsa`: `[games]` has those of `arena
//! datagen`, `[test]` those of `arena sprt`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use arena::spsa::SettingsFile;
use arena::uci_client::{EngineSpec, split_words};
use clap::{Args, Command};
use serde_json::{Map, Value, json};
use toml_edit::TableLike;

use super::settings::Reader;
use super::{DatagenArgs, SprtArgs, engine, find_program};

/// The arguments of `arena loop`.
#[derive(Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct LoopArgs {
    /// The description of the loop, in TOML; see below.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Check settings, files, engine and programs, print the commands of the next generation, and end.
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Print one JSON object about all generations, instead of their table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The keys of the file that stand in no table.
#[derive(Args)]
pub(crate) struct Keys {
    #[arg(long)]
    pub(crate) folder: PathBuf,
    /// One file, or several of different names.
    #[arg(long, required = true)]
    pub(crate) params: Vec<PathBuf>,
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    #[arg(long, value_parser = engine)]
    pub(crate) engine: Option<EngineSpec>,
    #[arg(long, default_value = "EvalFile", conflicts_with = "build")]
    pub(crate) eval_option: String,
    #[arg(long, value_parser = build)]
    pub(crate) build: Option<CommandLine>,
    #[arg(long)]
    pub(crate) adopt_into: Option<PathBuf>,
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) stop: u32,
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..1000))]
    pub(crate) generations: u32,
}

/// The keys of `[games]`, where another program plays them.
#[derive(Args)]
pub(crate) struct GamesKeys {
    #[arg(long, value_parser = |text: &str| {
        CommandLine::parse(text, &["params", "output", "seed", "generation", "engine"], &["output"])
    })]
    pub(crate) command: CommandLine,
    /// The name of the file that it writes.
    #[arg(long, default_value = "data")]
    data: String,
}

/// The keys of `[tune]`.
#[derive(Args)]
pub(crate) struct TuneKeys {
    #[arg(long, value_parser = tune)]
    pub(crate) command: CommandLine,
    /// The command that builds the program which the tuner gets as {engine}, if it is not the one that plays.
    #[arg(long, value_parser = build)]
    pub(crate) build: Option<CommandLine>,
    /// The number of generations whose data the tuner gets.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keep: u32,
}

/// A command that makes a program.
fn build(text: &str) -> Result<CommandLine, String> {
    CommandLine::parse(text, &["params", "engine"], &["params", "engine"])
}

/// A command that tunes.
fn tune(text: &str) -> Result<CommandLine, String> {
    let line = CommandLine::parse(text, &["data", "params", "output", REWRITTEN, "report", "engine"], &["data"])?;
    match (line.has("output"), line.has(REWRITTEN)) {
        (false, false) => Err("has neither {output}, which it writes, nor {rewritten}, which it changes".to_owned()),
        (true, true) => Err("has both {output}, which it writes, and {rewritten}, which it changes".to_owned()),
        _ => Ok(line),
    }
}

/// The name, in a command, of a copy of the present parameters in which the command changes numbers.
pub(crate) const REWRITTEN: &str = "rewritten";

/// The names in braces that belong to the tuner's own arguments, as in `--pair 'S({mg}, {eg})'`.
const OF_TUNER: [&str; 2] = ["mg", "eg"];

/// The source of the positions.
pub(crate) enum Games {
    /// `arena datagen` with these arguments.
    Datagen(Vec<OsString>),
    /// Another program.
    Command(GamesKeys),
}

/// The settings of a loop.
pub(crate) struct LoopSettings {
    pub(crate) file: PathBuf,
    pub(crate) keys: Keys,
    pub(crate) games: Games,
    pub(crate) tune: TuneKeys,
    /// Arguments of `arena sprt`.
    test: Vec<OsString>,
    /// The contents of the file, by table and key.
    said: Map<String, Value>,
}

/// The flags of `arena datagen` and `arena sprt` that the loop sets itself.
const OWN_OF_GAMES: [&str; 5] = ["output", "params", "resume", "force", "seed"];
const OWN_OF_TEST: [&str; 9] =
    ["engine", "params", "against", "merino", "seed", "journal", "resume", "report", "event"];

/// The tables of the file, but for that of the engine.
const TABLES: [&str; 3] = ["games", "tune", "test"];

/// The settings that may change while a loop goes on, by table and key.
pub(crate) const MAY_CHANGE: [(&str, &str); 6] = [
    ("", "stop"),
    ("", "generations"),
    ("", "adopt-into"),
    ("games", "concurrency"),
    ("test", "concurrency"),
    ("test", "games"),
];

impl LoopSettings {
    /// Reads a file.
    ///
    /// # Errors
    /// Its first fault.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let file = SettingsFile::read(path)?;
        let mut said = Map::new();
        let mut read = |name: &str, command: &Command, elsewhere: &[&str], own: &[&str]| -> Result<_> {
            let table: &dyn TableLike = if name.is_empty() { file.table() } else { table(&file, name)? };
            let arguments = Reader { file: &file, table, command, elsewhere, own }.arguments(None)?;
            said.insert(name.to_owned(), by_key(&arguments));
            Ok(arguments)
        };
        let keys = read("", &command::<Keys>(), &TABLES, &[])?;
        let is_command = table(&file, "games")?.contains_key("command");
        let games = if is_command {
            Games::Command(parsed("games", path, &read("games", &command::<GamesKeys>(), &[], &[])?)?)
        } else {
            Games::Datagen(read("games", &command::<DatagenArgs>(), &["command"], &OWN_OF_GAMES)?)
        };
        let tune = read("tune", &command::<TuneKeys>(), &[], &[])?;
        let test = read("test", &command::<SprtArgs>(), &[], &OWN_OF_TEST)?;
        let (keys, tune) = (parsed("", path, &keys)?, parsed("tune", path, &tune)?);
        let settings = LoopSettings { file: path.to_owned(), keys, games, tune, test, said };
        // Each can be said alone, but not all of it together.
        settings.sprt(1, path).and_then(|_| settings.datagen(1, path, path))?;
        let keys = &settings.keys;
        let mut names = BTreeSet::new();
        if let Some(twice) = keys.params.iter().find(|path| !names.insert(path.file_name())) {
            let fault = format!("two files have the name {}", twice.file_name().unwrap_or_default().display());
            return Err(file.fault(file.table(), "params", fault).into());
        }
        if let (Some(_), Some(spec)) = (&keys.build, &keys.engine)
            && !std::iter::once(spec.command.to_string_lossy())
                .chain(spec.args.iter().map(Into::into))
                .any(|word| word.contains("{engine}"))
        {
            return Err(file.fault(file.table(), "engine", "has no {engine}, the program that `build` makes").into());
        }
        Ok(settings)
    }

    /// Returns the contents of the file without the settings that may change while the loop goes on.
    pub(crate) fn identity(&self) -> Value {
        let mut said = self.said.clone();
        for (table, key) in MAY_CHANGE {
            said.get_mut(table).and_then(Value::as_object_mut).and_then(|keys| keys.remove(key));
        }
        json!(said)
    }

    /// The name of the data of a generation.
    pub(crate) fn data(&self) -> String {
        match &self.games {
            Games::Command(keys) => keys.data.clone(),
            Games::Datagen(arguments) => {
                let mut words = arguments.iter().map(|word| word.to_string_lossy());
                let format = words.find_map(|word| word.strip_prefix("--format=").map(str::to_owned));
                format!("data.{}", format.unwrap_or_else(|| "epd.zst".to_owned()))
            }
        }
    }

    /// The arguments of `arena datagen` in a generation, if it is to be run, and their words.
    pub(crate) fn datagen(
        &self,
        number: u32,
        params: &Path,
        folder: &Path,
    ) -> Result<Option<(DatagenArgs, Vec<OsString>)>> {
        let Games::Datagen(arguments) = &self.games else { return Ok(None) };
        let mut words = arguments.clone();
        words.extend([
            flag("output", folder.join(self.data())),
            flag("params", params),
            self.seed(number),
            "--resume".into(),
        ]);
        Ok(Some((parsed("games", &self.file, &words)?, words)))
    }

    /// The arguments of `arena sprt` in a generation, all but the engines, and their words.
    pub(crate) fn sprt(&self, number: u32, folder: &Path) -> Result<(SprtArgs, Vec<OsString>)> {
        let mut words = self.test.clone();
        let files = [flag("journal", folder.join("test.jsonl")), flag("report", folder.join("test.html"))];
        words.extend(files.into_iter().chain([self.seed(number), "--resume".into()]));
        Ok((parsed("test", &self.file, &words)?, words))
    }

    /// Other games and other openings in every generation.
    fn seed(&self, number: u32) -> OsString {
        flag("seed", self.generation_seed(number).to_string())
    }

    /// The seed of a generation.
    pub(crate) fn generation_seed(&self, number: u32) -> u64 {
        self.keys.seed.wrapping_add(u64::from(number) - 1)
    }
}

fn command<A: Args>() -> Command {
    A::augment_args(Command::new("loop").no_binary_name(true))
}

/// Parses the arguments of a table.
fn parsed<A: Args>(table: &str, path: &Path, arguments: &[OsString]) -> Result<A> {
    let matches = command::<A>().try_get_matches_from(arguments).and_then(|matches| A::from_arg_matches(&matches));
    matches.map_err(|error| {
        let text = error.to_string();
        let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
        let fault = lines.collect::<Vec<_>>().join(" ");
        let fault = fault.trim_start_matches("error: ");
        let table = if table.is_empty() { String::new() } else { format!("[{table}]: ") };
        anyhow!("{}: {table}{fault}", path.display())
    })
}

fn table<'f>(file: &'f SettingsFile, name: &str) -> Result<&'f dyn TableLike> {
    let item = file.table().get(name).ok_or_else(|| file.missing(&format!("has no table [{name}]")))?;
    Ok(item.as_table_like().ok_or_else(|| file.fault(file.table(), name, "expected a table"))?)
}

fn flag(name: &str, value: impl Into<OsString>) -> OsString {
    let mut word = OsString::from(format!("--{name}="));
    word.push(value.into());
    word
}

/// Arguments `--key=value` by key; those of one key together.
fn by_key(arguments: &[OsString]) -> Value {
    let mut by_key: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for word in arguments {
        let word = word.to_string_lossy();
        let (key, value) = word.split_once('=').unwrap_or((&word, "true"));
        by_key.entry(key.trim_start_matches('-').to_owned()).or_default().push(value.to_owned());
    }
    json!(by_key.into_iter().map(|(key, values)| (key, values.join(", "))).collect::<BTreeMap<_, _>>())
}

/// A command line with names in braces, which are filled in. No shell reads it.
#[derive(Clone, Debug)]
pub(crate) struct CommandLine(Vec<String>);

impl CommandLine {
    /// Splits a text into words; `known` are the names it may have, and `needed` those that it must.
    fn parse(text: &str, known: &[&str], needed: &[&str]) -> Result<Self, String> {
        let words = split_words(text).map_err(|error| error.to_string())?;
        let braces = |names: &[&str]| names.iter().map(|name| format!("{{{name}}}")).collect::<Vec<_>>().join(", ");
        if words.is_empty() {
            return Err("expected a command".to_owned());
        }
        for part in text.split('{').skip(1) {
            let name = part.split_once('}').map(|(name, _)| name);
            let is_name = |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
            if let Some(name) = name.filter(is_name).filter(|name| !known.contains(name) && !OF_TUNER.contains(name)) {
                return Err(format!("{{{name}}} is not one of {}", braces(known)));
            }
        }
        match needed.iter().find(|name| !text.contains(&format!("{{{name}}}"))) {
            Some(missing) => Err(format!("has no {}", braces(&[missing]))),
            None => Ok(CommandLine(words)),
        }
    }

    /// Returns true if it has a name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|word| word.contains(&format!("{{{name}}}")))
    }

    /// Its words with values for names. A word that has the name of several values is repeated for each, together with
    /// the flag before it.
    pub(crate) fn filled(&self, values: &[(&str, Vec<String>)]) -> Vec<String> {
        let mut filled: Vec<String> = Vec::new();
        for word in &self.0 {
            let named = |(name, _): &&(&str, Vec<String>)| word.contains(&format!("{{{name}}}"));
            let several = values.iter().find(|value| named(value) && value.1.len() > 1);
            let before = filled.last().filter(|before| before.starts_with('-') && !word.starts_with('-')).cloned();
            for index in 0..several.map_or(1, |(_, all)| all.len()) {
                if index > 0 {
                    filled.extend(before.clone());
                }
                filled.push(values.iter().filter(named).fold(word.clone(), |word, (name, all)| {
                    word.replace(&format!("{{{name}}}"), &all[index.min(all.len() - 1)])
                }));
            }
        }
        filled
    }

    /// The program: a bare name is that of one beside the arena, or on PATH.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn program(&self) -> Result<PathBuf> {
        let program = Path::new(&self.0[0]);
        if self.0[0].contains("{engine}") {
            return Ok(program.to_owned());
        }
        let found = if program.components().count() > 1 { Some(program.to_owned()) } else { find_program(&self.0[0]) };
        let found = found.filter(|found| found.is_file());
        found.with_context(|| format!("{}: there is no such program, neither beside the arena nor on PATH", self.0[0]))
    }
}

const EXAMPLE: &str = "\
Example:
  arena loop night.toml --dry-run
  arena loop night.toml

The file describes the loop. Keys of [games] are flags of `arena datagen`, those of [test] flags of `arena sprt`. Paths \
are relative to the file, where commands are run, too:
  folder = \"night\"
  params = \"params/baseline.toml\"
  [games]
  positions = 1000000
  nodes = 5000
  [tune]
  command = \"tuner --epd {data} --params {params} --output {output} --report {report} --json\"
  [test]
  tc = \"8+0.08\"
  bounds = \"0,5\"
  games = 20000

A generation plays games with the present parameters, tunes parameters to their positions, and tests these against the \
present ones. If H1 is accepted, they become the present ones, and FOLDER/best.toml. The loop ends after `stop` \
generations in a row without success, by default 2. The folder is all that the loop knows: the same command continues \
after any interruption. FOLDER/index.html shows it.

For other engines, [engine] describes one as --engine does, `eval-option` names its option for a file of parameters, or \
`build` is the command that makes a program {engine} of {params}; `command` in [games] makes the data, {output}. If \
parameters stand in sources, `params` names one or several, and the command of [tune] may change numbers in \
{rewritten}, a copy of the present ones; `build` in [tune] makes the program that it is given as {engine}. \
docs/your-engine.md has such a file.

Exit status: 0 if the loop came to its end, 3 if not, as after Ctrl-C, 2 if something went wrong.";
