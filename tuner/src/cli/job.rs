//! Job files: the flags of a command in a file, for a run that can be repeated.
//!
//! A key is the long name of a flag, whatever flags the command has; the flags of the group [`TABLE`] stand in a table
//! of that name. The file becomes arguments in front of those of the command line, which win: a flag that is given
//! there, or that excludes one of the file, replaces all that the file says of it. Paths are relative to the file.

use std::any::TypeId;
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, CommandFactory};
use common::files::Kind;
use common::input;
use toml_edit::{Array, Document, DocumentMut, Item, Table, TableLike, Value};

use crate::cli::input::Input;
use crate::cli::interrupt;

/// The group of flags that has a table of its own.
pub(super) const TABLE: &str = "tuning";

/// The flags of that table that Merino's own evaluation has alone.
pub(super) const OWN_TABLE: &str = "tuning-own";

/// The group of flags that are about job files, and cannot stand in one.
const NOT_IN_FILES: &str = "job-file";

/// Job files, as a kind of file.
pub(super) const JOB: Kind = Kind { name: "a job file", is_own: is_job };

/// Whether the first line that tells anything gives a flag a value, or begins the table.
fn is_job(head: &[u8]) -> bool {
    let command = super::Cli::command();
    let is_flag = |key: &str| Flags(&command).get(key.trim()).is_some();
    let text = String::from_utf8_lossy(head);
    let telling = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    telling
        .is_some_and(|line| line == format!("[{TABLE}]") || line.split_once('=').is_some_and(|(key, _)| is_flag(key)))
}

/// A run from a file, or into one.
#[derive(Args)]
#[group(id = NOT_IN_FILES)]
pub(super) struct JobArgs {
    /// Take the flags that are not given here from this file: TOML, a key a flag, with a table [tuning] for --only,
    /// --freeze, --tie, --bound and --symmetric. Paths in it are relative to it.
    #[arg(long, value_name = "FILE")]
    pub(super) job: Option<PathBuf>,

    /// Write the flags of this run to a job file.
    #[arg(long, value_name = "FILE")]
    pub(super) save_job: Option<PathBuf>,
}

/// What a flag takes.
#[derive(Clone, Copy, PartialEq)]
enum Takes {
    Nothing,
    Number,
    Text,
    Path,
    /// What only the flag itself can tell.
    Other,
}

impl Takes {
    fn of(arg: &Arg) -> Self {
        const NUMBERS: [fn() -> TypeId; 8] = [
            TypeId::of::<u16>,
            TypeId::of::<u32>,
            TypeId::of::<u64>,
            TypeId::of::<usize>,
            TypeId::of::<i32>,
            TypeId::of::<i64>,
            TypeId::of::<f32>,
            TypeId::of::<f64>,
        ];
        let is = |id: TypeId| arg.get_value_parser().type_id() == id;
        match arg.get_action() {
            ArgAction::SetTrue => Takes::Nothing,
            _ if NUMBERS.iter().any(|id| is(id())) => Takes::Number,
            _ if is(TypeId::of::<String>()) => Takes::Text,
            _ if is(TypeId::of::<PathBuf>()) || is(TypeId::of::<Input>()) => Takes::Path,
            _ => Takes::Other,
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Takes::Nothing => "true or false",
            Takes::Number => "a number",
            Takes::Text => "a string",
            Takes::Path => "a path, as a string",
            Takes::Other => "a string or a number",
        }
    }
}

/// The flags of a command that may stand in a job file.
struct Flags<'c>(&'c Command);

impl<'c> Flags<'c> {
    fn iter(&self) -> impl Iterator<Item = (&'c str, &'c Arg)> {
        let is_built_in = |arg: &Arg| {
            matches!(
                arg.get_action(),
                ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
            )
        };
        self.0
            .get_arguments()
            .filter(move |arg| !is_built_in(arg) && !is_in(self.0, NOT_IN_FILES, arg))
            .filter_map(|arg| Some((arg.get_long()?, arg)))
    }

    fn get(&self, key: &str) -> Option<&'c Arg> {
        let is_called = |arg: &Arg| arg.get_visible_aliases().is_some_and(|aliases| aliases.contains(&key));
        self.iter().find(|&(name, arg)| name == key || is_called(arg)).map(|(_, arg)| arg)
    }

    /// Whether a flag stands in the table of its own.
    fn is_in_table(&self, arg: &Arg) -> bool {
        [TABLE, OWN_TABLE].into_iter().any(|group| is_in(self.0, group, arg))
    }

    /// The key, or name of the table, most like a word that is neither.
    fn nearest(&self, word: &str) -> &'c str {
        let keys = self.iter().map(|(name, _)| name).chain([TABLE]);
        keys.min_by_key(|key| strsim::damerau_levenshtein(word, key)).unwrap_or_default()
    }
}

fn is_in(command: &Command, group: &str, arg: &Arg) -> bool {
    let mut groups = command.get_groups().filter(|candidate| candidate.get_id() == group);
    groups.any(|group| group.get_args().any(|id| id == arg.get_id()))
}

/// The arguments with those of the job file that they name, if they name one, in front.
///
/// # Errors
/// The first fault of the file, with its line.
pub(super) fn expand(command: &Command, arguments: Vec<OsString>) -> Result<Vec<OsString>> {
    // What is wrong with the arguments themselves is told when they are read in earnest; so are --help and --version.
    let Ok(given) = command.clone().ignore_errors(true).try_get_matches_from(&arguments) else {
        return Ok(arguments);
    };
    let file = given.get_one::<PathBuf>("job").filter(|_| given.subcommand_name().is_none());
    let Some(file) = file else {
        return Ok(arguments);
    };
    let text =
        input::read_text(file, input::SETTINGS).with_context(|| format!("{}: cannot be read", file.display()))?;
    let entries = Reader { file, text: &text, flags: Flags(command) }.read()?;

    let is_given = |arg: &Arg| given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    let excludes = |one: &Arg, other: &Arg| {
        command.get_arg_conflicts_with(one).iter().any(|excluded| excluded.get_id() == other.get_id())
    };
    let is_replaced = |arg: &Arg| {
        let mut on_line = command.get_arguments().filter(|other| is_given(other));
        on_line.any(|other| other.get_id() == arg.get_id() || excludes(other, arg) || excludes(arg, other))
    };
    let mut arguments = arguments.into_iter();
    let mut expanded: Vec<OsString> = arguments.next().into_iter().collect();
    for (arg, values) in entries {
        if !is_replaced(arg) {
            expanded.extend(values);
        }
    }
    expanded.extend(arguments);
    Ok(expanded)
}

/// Reads a job file.
struct Reader<'f> {
    file: &'f Path,
    text: &'f str,
    flags: Flags<'f>,
}

impl<'f> Reader<'f> {
    /// What the file says: flags, and the arguments that say the same.
    fn read(&self) -> Result<Vec<(&'f Arg, Vec<OsString>)>> {
        let document = Document::parse(self.text).map_err(|error| {
            let line = self.line(error.span().map_or(0, |span| span.start));
            let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
            anyhow::anyhow!("{}:{line}: {message}", self.file.display())
        })?;
        let mut entries = Vec::new();
        self.read_table(document.as_table(), false, &mut entries)?;
        Ok(entries)
    }

    fn read_table(
        &self,
        table: &dyn TableLike,
        is_inner: bool,
        entries: &mut Vec<(&'f Arg, Vec<OsString>)>,
    ) -> Result<()> {
        for (key, item) in table.iter() {
            let line = table.get_key_value(key).and_then(|(key, _)| key.span()).map_or(0, |span| self.line(span.start));
            let place = format!("{}:{line}", self.file.display());
            if key == TABLE && !is_inner {
                let Some(inner) = item.as_table_like() else {
                    bail!("{place}: {TABLE}: expected a table");
                };
                self.read_table(inner, true, entries)?;
                continue;
            }
            let Some(arg) = self.flags.get(key) else {
                bail!("{place}: unknown key `{key}`; the nearest is `{}`", self.flags.nearest(key));
            };
            match (self.flags.is_in_table(arg), is_inner) {
                (true, false) => bail!("{place}: `{key}` belongs into the table [{TABLE}]"),
                (false, true) => bail!("{place}: `{key}` does not belong into the table [{TABLE}], but above it"),
                _ => entries.push((arg, self.arguments(arg, key, item).with_context(|| format!("{place}: {key}"))?)),
            }
        }
        Ok(())
    }

    /// The line, from 1, of a byte of the text.
    fn line(&self, offset: usize) -> usize {
        1 + self.text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
    }

    /// The arguments that say what a value of the file says.
    fn arguments(&self, arg: &Arg, key: &str, item: &Item) -> Result<Vec<OsString>> {
        let takes = Takes::of(arg);
        let unexpected = |found: &dyn std::fmt::Display| {
            let several = if matches!(arg.get_action(), ArgAction::Append) { ", or several in an array" } else { "" };
            anyhow::anyhow!("expected {}{several}, found {}", takes.expected(), found.to_string().trim())
        };
        let value = item.as_value().ok_or_else(|| unexpected(&"a table"))?;
        if takes == Takes::Nothing {
            let is_set = value.as_bool().ok_or_else(|| unexpected(value))?;
            return Ok(if is_set { vec![format!("--{key}").into()] } else { Vec::new() });
        }
        let values: Vec<&Value> = match (value, arg.get_action()) {
            (Value::Array(array), ArgAction::Append) => array.iter().collect(),
            _ => vec![value],
        };
        let argument = |value: &Value| {
            let text = match (value, takes) {
                (Value::Integer(number), Takes::Number | Takes::Other) => number.value().to_string(),
                (Value::Float(number), Takes::Number | Takes::Other) => format!("{:?}", number.value()),
                (Value::String(text), Takes::Text | Takes::Other) => text.value().clone(),
                (Value::String(path), Takes::Path) => {
                    let is_relative = !Input::is_standard_input(OsStr::new(path.value()));
                    let folder = self.file.parent().filter(|_| is_relative).unwrap_or(Path::new(""));
                    let mut argument = OsString::from(format!("--{key}="));
                    argument.push(folder.join(path.value()));
                    return Ok(argument);
                }
                _ => return Err(unexpected(value)),
            };
            check(arg, &text)?;
            Ok(format!("--{key}={text}").into())
        };
        values.into_iter().map(argument).collect()
    }
}

/// Whether a flag, looked at alone, takes a value.
fn check(arg: &Arg, text: &str) -> Result<()> {
    let alone = Arg::new("value")
        .long("value")
        .action(arg.get_action().clone())
        .value_parser(arg.get_value_parser().clone())
        .value_delimiter(arg.get_value_delimiter());
    let command = Command::new("job").no_binary_name(true).arg(alone);
    let Err(error) = command.try_get_matches_from([format!("--value={text}")]) else {
        return Ok(());
    };
    match (error.source(), error.get(ContextKind::ValidValue)) {
        (Some(source), _) => bail!("{source}, found {text}"),
        (None, Some(ContextValue::Strings(known))) => bail!("expected one of {}, found {text}", known.join(", ")),
        _ => bail!("cannot be {text}"),
    }
}

/// Writes the flags that were given, on the command line or in a job file, to a job file.
///
/// # Errors
/// If the file cannot be written, or a value is none that TOML knows.
pub(super) fn save(command: &Command, matches: &ArgMatches, file: &Path) -> Result<()> {
    let flags = Flags(command);
    let mut document = DocumentMut::new();
    let mut inner = Table::new();
    for (key, arg) in flags.iter() {
        let id = arg.get_id().as_str();
        if matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        let item = item(arg, matches.get_raw(id).into_iter().flatten(), file).with_context(|| format!("--{key}"))?;
        if flags.is_in_table(arg) { &mut inner } else { document.as_table_mut() }.insert(key, item);
    }
    if !inner.is_empty() {
        document.insert(TABLE, Item::Table(inner));
    }
    Ok(interrupt::write(file, document.to_string())?)
}

/// The values of a flag as a job file has them.
fn item<'v>(arg: &Arg, values: impl Iterator<Item = &'v OsStr>, file: &Path) -> Result<Item> {
    let takes = Takes::of(arg);
    if takes == Takes::Nothing {
        return Ok(Item::Value(true.into()));
    }
    let values = values.map(|value| to_toml(takes, value, file)).collect::<Result<Vec<Value>>>()?;
    match (arg.get_action(), values.as_slice()) {
        (ArgAction::Append, _) => Ok(Item::Value(values.into_iter().collect::<Array>().into())),
        (_, [.., last]) => Ok(Item::Value(last.clone())),
        _ => Ok(Item::None),
    }
}

fn to_toml(takes: Takes, value: &OsStr, file: &Path) -> Result<Value> {
    if takes == Takes::Path && !Input::is_standard_input(value) {
        return Ok(text(relative(Path::new(value), file)?.as_os_str())?.into());
    }
    let text = text(value)?;
    if !matches!(takes, Takes::Number | Takes::Other) {
        return Ok(text.into());
    }
    // As it was written, where TOML writes numbers so, too.
    match (text.parse::<Value>(), text.parse::<f64>()) {
        (Ok(number @ (Value::Integer(_) | Value::Float(_))), _) => Ok(number),
        (_, Ok(number)) if text.contains(['.', 'e', 'E']) => Ok(number.into()),
        (_, Ok(_)) => bail!("{text} is more than a job file can hold"),
        (_, Err(_)) => Ok(text.into()),
    }
}

fn text(value: &OsStr) -> Result<&str> {
    value.to_str().with_context(|| format!("{} cannot be written to a job file: not UTF-8", value.display()))
}

/// A path as a job file names it: relative if it is below the folder of the file.
fn relative(path: &Path, file: &Path) -> Result<PathBuf> {
    let (path, file) = (std::path::absolute(path)?, std::path::absolute(file)?);
    let below = file.parent().and_then(|folder| path.strip_prefix(folder).ok());
    Ok(below.map_or_else(|| path.clone(), Path::to_owned))
}
