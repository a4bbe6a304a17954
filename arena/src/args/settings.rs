//! A run in a file: a key is the name of a flag, whatever flags the command has.
//!
//! The file becomes arguments in front of those of the command line, which win: a flag that is given there, or that
//! excludes one of the file, replaces all that the file says of it. What has no flag is the table of the options to
//! tune, which the run reads itself.

use std::any::TypeId;
use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, bail};
use arena::spsa::{OPTIONS, SettingsError, SettingsFile, is_settings};
use arena::uci_client::{EngineSpec, quoted};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use toml_edit::{Item, TableLike, Value};

/// The command that takes a file of settings, in place of [`OPTIONS`].
const COMMAND: &str = "spsa";

/// The key of the engine.
const ENGINE: &str = "engine";

/// Reads the arguments of the program, with those of the file of settings that they name.
///
/// # Errors
/// The first fault of the file, or what neither it nor the command line says. Ends the program where clap would.
pub(crate) fn matches(command: Command, arguments: Vec<OsString>) -> Result<ArgMatches> {
    // The final parse reports faults of the arguments themselves and prints --help.
    let given = command.clone().ignore_errors(true).try_get_matches_from(&arguments).ok();
    let of_command = given.as_ref().and_then(|given| given.subcommand_matches(COMMAND));
    let file = of_command.and_then(|given| given.get_one::<PathBuf>(OPTIONS)).filter(|file| is_settings(file));
    let (Some(given), Some(path), Some(inner)) = (of_command, file, command.find_subcommand(COMMAND)) else {
        return Ok(command.get_matches_from(arguments));
    };
    let file = SettingsFile::read(path)?;
    let reader = Reader { file: &file, table: file.table(), command: inner, elsewhere: &[OPTIONS], own: &[] };
    let of_file = reader.arguments(Some(given))?;
    let place = arguments.iter().position(|word| word == COMMAND).map_or(arguments.len(), |index| index + 1);
    let expanded = arguments[..place].iter().chain(&of_file).chain(&arguments[place..]);
    match command.clone().try_get_matches_from(expanded) {
        Ok(matches) => Ok(matches),
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::Strings(missing)) => {
                bail!("{}: neither the file nor the command line has {}", path.display(), missing.join(", "))
            }
            _ => error.exit(),
        },
        Err(error) => error.exit(),
    }
}

/// The kind of value that a flag takes.
#[derive(Clone, Copy, PartialEq)]
enum Takes {
    Nothing,
    Number,
    Path,
    Paths,
    Engine,
    /// Any other value, which only the flag's own parser can judge.
    Other,
}

impl Takes {
    fn of(arg: &Arg) -> Self {
        let numbers = [TypeId::of::<u16>(), TypeId::of::<u32>(), TypeId::of::<u64>(), TypeId::of::<f64>()];
        let id = arg.get_value_parser().type_id();
        let is = |other: TypeId| id == other;
        match arg.get_action() {
            ArgAction::SetTrue => Takes::Nothing,
            _ if numbers.into_iter().any(is) => Takes::Number,
            _ if is(TypeId::of::<PathBuf>()) => Takes::Path,
            _ if is(TypeId::of::<OsString>()) => Takes::Paths,
            _ if is(TypeId::of::<EngineSpec>()) => Takes::Engine,
            _ => Takes::Other,
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Takes::Nothing => "true or false",
            Takes::Number => "a number",
            Takes::Path => "a path, as a string",
            Takes::Paths => "paths, as a string",
            Takes::Engine => "a table",
            Takes::Other => "a string or a number",
        }
    }
}

/// Reads what a table of a file says to a command.
pub(super) struct Reader<'f> {
    pub(super) file: &'f SettingsFile,
    pub(super) table: &'f dyn TableLike,
    pub(super) command: &'f Command,
    /// Keys that are read elsewhere.
    pub(super) elsewhere: &'f [&'f str],
    /// Flags that the run sets itself.
    pub(super) own: &'f [&'f str],
}

impl<'f> Reader<'f> {
    /// The arguments that say what the table says, but for those that `given` replaces.
    pub(super) fn arguments(&self, given: Option<&ArgMatches>) -> Result<Vec<OsString>, SettingsError> {
        let table = self.table;
        let mut arguments = Vec::new();
        let mut read: Vec<(&str, &Arg)> = Vec::new();
        let on_line = |arg: &&Arg| {
            given.is_some_and(|given| given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine))
        };
        for (key, item) in table.iter().filter(|(key, _)| !self.elsewhere.contains(key)) {
            let arg = self.flag(key).map_err(|fault| self.file.fault(table, key, fault))?;
            let values = self.values(arg, key, item)?;
            if let Some((other, _)) = read.iter().find(|(_, other)| self.excludes(arg, other)) {
                return Err(self.file.fault(table, key, format!("cannot be together with `{other}`")));
            }
            read.push((key, arg));
            let mut replacing = self.command.get_arguments().filter(on_line);
            if !replacing.any(|other| other.get_id() == arg.get_id() || self.excludes(arg, other)) {
                arguments.extend(values);
            }
        }
        Ok(arguments)
    }

    /// The flag of a key.
    fn flag(&self, key: &str) -> Result<&'f Arg, String> {
        if self.own.contains(&key) {
            return Err("is set by the run itself".to_owned());
        }
        let is_help = |arg: &&Arg| matches!(arg.get_action(), ArgAction::Help | ArgAction::Version);
        let flags = || self.command.get_arguments().filter(|arg| !is_help(arg) && arg.get_long().is_some());
        let is_name = |arg: &&Arg| arg.get_long_and_visible_aliases().is_some_and(|names| names.contains(&key));
        flags().find(is_name).ok_or_else(|| {
            let flags = flags().filter_map(Arg::get_long).filter(|known| !self.own.contains(known));
            let known = flags.chain(self.elsewhere.iter().copied());
            let nearest = known.min_by_key(|known| strsim::damerau_levenshtein(key, known));
            format!("is no key; the nearest is `{}`", nearest.unwrap_or_default())
        })
    }

    /// Returns true if two flags cannot be given together.
    fn excludes(&self, one: &Arg, other: &Arg) -> bool {
        let names = |from: &Arg, to: &Arg| {
            self.command.get_arg_conflicts_with(from).iter().any(|excluded| excluded.get_id() == to.get_id())
        };
        let mut choices = self.command.get_groups().filter(|group| !(*group).clone().is_multiple());
        let is_choice =
            choices.any(|group| [one, other].iter().all(|arg| group.get_args().any(|id| id == arg.get_id())));
        one.get_id() != other.get_id() && (is_choice || names(one, other) || names(other, one))
    }

    /// The arguments that say what the value of a key says.
    fn values(&self, arg: &Arg, key: &str, item: &Item) -> Result<Vec<OsString>, SettingsError> {
        let takes = Takes::of(arg);
        let is_list = matches!(arg.get_action(), ArgAction::Append) && takes != Takes::Engine;
        let fault = |fault: String| self.file.fault(self.table, key, fault);
        let unexpected = |found: &str| {
            let several = if is_list { ", or several in an array" } else { "" };
            fault(format!("expected {}{several}, found {}", takes.expected(), found.trim()))
        };
        if let (Takes::Engine, Some(table)) = (takes, item.as_table_like()) {
            return Ok(vec![format!("--{key}={}", self.engine(table)?).into()]);
        }
        let value = item.as_value().ok_or_else(|| unexpected("a table"))?;
        let may_be_alone = takes == Takes::Nothing || arg.get_num_args().is_some_and(|count| count.min_values() == 0);
        if let (Some(is_set), true) = (value.as_bool(), may_be_alone) {
            return Ok(is_set.then(|| format!("--{key}").into()).into_iter().collect());
        }
        let argument = |value: &Value| {
            let text = match (takes, scalar(value)) {
                (Takes::Path, Some(path)) if value.is_str() => self.file.relative(&path).into(),
                (Takes::Paths, Some(paths)) if value.is_str() => {
                    let paths = std::env::split_paths(&paths).map(|path| self.file.relative(path));
                    std::env::join_paths(paths).map_err(|error| fault(error.to_string()))?
                }
                (Takes::Number | Takes::Other, Some(text)) if takes == Takes::Other || !value.is_str() => {
                    check(arg, &text).map_err(fault)?;
                    text.into()
                }
                _ => return Err(unexpected(&value.to_string())),
            };
            let mut argument = OsString::from(format!("--{key}="));
            argument.push(text);
            Ok(argument)
        };
        match value {
            Value::Array(values) if is_list => values.iter().map(argument).collect(),
            value => Ok(vec![argument(value)?]),
        }
    }

    /// The words that describe an engine.
    fn engine(&self, table: &dyn TableLike) -> Result<String, SettingsError> {
        let home = self.file.home();
        let mut words = Vec::new();
        let mut add = |table: &dyn TableLike, key: &str, word: String| {
            let word = quoted(&word);
            let alone = if key == "cmd" { word.clone() } else { format!("cmd=x {word}") };
            words.push(word);
            EngineSpec::parse(&alone).map(drop).map_err(|error| self.file.fault(table, key, error))
        };
        for (key, item) in table.iter() {
            let fault = |expected: &str| self.file.fault(table, key, format!("expected {expected}"));
            if let Some(options) = item.as_table_like().filter(|_| key == "option") {
                for (name, item) in options.iter() {
                    let value = item
                        .as_value()
                        .and_then(|value| value.as_bool().map(|is_on| is_on.to_string()).or_else(|| scalar(value)));
                    let value = value
                        .ok_or_else(|| self.file.fault(options, name, "expected a string, a number, true or false"))?;
                    add(options, name, format!("option.{name}={value}"))?;
                }
                continue;
            }
            let value = match item.as_value() {
                Some(Value::Array(list)) if key == "args" => {
                    let words: Option<Vec<String>> = list.iter().map(|value| Some(quoted(&scalar(value)?))).collect();
                    words.ok_or_else(|| fault("strings"))?.join(" ")
                }
                Some(Value::Boolean(is_on)) if key == "restart" => if *is_on.value() { "on" } else { "off" }.to_owned(),
                value => value.and_then(scalar).ok_or_else(|| fault("a string or a number"))?,
            };
            let is_path = key == "dir" || (key == "cmd" && value.contains('/'));
            let value = if is_path { home.join(value).to_string_lossy().into_owned() } else { value };
            add(table, key, format!("{key}={value}"))?;
        }
        let words = words.join(" ");
        EngineSpec::parse(&words).map_err(|error| self.file.fault(self.file.table(), ENGINE, error))?;
        Ok(words)
    }
}

/// A string or a number, as a flag has it.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.value().clone()),
        Value::Integer(number) => Some(number.value().to_string()),
        Value::Float(number) => Some(format!("{:?}", number.value())),
        _ => None,
    }
}

/// Checks that a flag, looked at alone, takes a value.
fn check(arg: &Arg, text: &str) -> Result<(), String> {
    let alone = Arg::new("value").long("value").value_parser(arg.get_value_parser().clone());
    let command = Command::new(COMMAND).no_binary_name(true).arg(alone);
    let Err(error) = command.try_get_matches_from([format!("--value={text}")]) else {
        return Ok(());
    };
    Err(match (error.source().map(ToString::to_string), error.get(ContextKind::ValidValue)) {
        (Some(fault), _) if fault.contains(text) => fault,
        (Some(fault), _) => format!("{fault}, found {text}"),
        (None, Some(ContextValue::Strings(known))) => format!("expected one of {}, found {text}", known.join(", ")),
        _ => format!("cannot be {text}"),
    })
}
