//! The description of an engine on the command line: `cmd=./merino name=new option.Hash=16 tc=8+0.08`.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::bounds::LONGEST_TEXT;
use super::{Limit, LimitError};

/// An engine to be started.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineSpec {
    /// The program.
    pub command: PathBuf,
    /// Its name in tables and PGN.
    pub name: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The folder it runs in; that of the arena if not given.
    pub dir: Option<PathBuf>,
    /// Options to set, in order.
    pub options: Vec<(String, String)>,
    /// Its own limit, where it plays at odds.
    pub limit: Option<Limit>,
    /// True if it is started anew for every game.
    pub restart: bool,
}

/// Why a text describes no engine.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpecError {
    /// A word that is not of the form `key=value`.
    #[error("`{0}` is not of the form key=value")]
    NotAPair(String),
    /// A key that is not known.
    #[error("`{0}` is not one of cmd, name, args, dir, restart, tc, movetime, nodes, depth, option.NAME")]
    Key(String),
    /// A key is given twice.
    #[error("{0} is given twice")]
    Twice(String),
    /// There is no program.
    #[error("cmd=PROGRAM is missing")]
    NoCommand,
    /// A quotation mark without its partner.
    #[error("an open quotation mark")]
    OpenQuote,
    /// A value that is neither on nor off.
    #[error("restart is on or off, not `{0}`")]
    Restart(String),
    /// A limit that cannot be read.
    #[error(transparent)]
    Limit(#[from] LimitError),
}

/// Why a text cannot be the name of an engine or a match.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// Lines of PGN and tables would be broken by it.
    #[error("{0:?} has a control character, which no name may have")]
    Control(String),
    /// It is too long.
    #[error("a name has at most {LONGEST_TEXT} bytes, not {0}")]
    Long(usize),
}

/// A text as the name of an engine or a match: of one line, and not too long.
///
/// # Errors
/// If it is not such a text.
pub fn checked_name(text: &str) -> Result<&str, NameError> {
    if text.len() > LONGEST_TEXT {
        return Err(NameError::Long(text.len()));
    }
    if text.chars().any(char::is_control) {
        return Err(NameError::Control(text.to_owned()));
    }
    Ok(text)
}

impl EngineSpec {
    /// An engine that is started without arguments and plays under the limit of the match. Its name is that of the file.
    pub fn new(command: impl Into<PathBuf>) -> Self {
        let command = command.into();
        let name = command.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        EngineSpec { command, name, args: Vec::new(), dir: None, options: Vec::new(), limit: None, restart: false }
    }

    /// The same engine with further options, which are set last.
    pub fn with_options(mut self, more: &[(String, String)]) -> Self {
        self.options.retain(|(name, _)| !more.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
        self.options.extend_from_slice(more);
        self
    }

    /// Reads `key=value` words. A value with spaces is put in quotation marks: `args="-x y"`, `"option.Move Overhead=20"`.
    ///
    /// # Errors
    /// The first word that cannot be read, or what is missing.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let mut spec = EngineSpec::new("");
        let mut seen = Vec::new();
        for word in split_words(text)? {
            let (key, value) = word.split_once('=').ok_or_else(|| SpecError::NotAPair(word.clone()))?;
            if seen.iter().any(|earlier| earlier == key) {
                return Err(SpecError::Twice(key.to_owned()));
            }
            seen.push(key.to_owned());
            spec.set(key, value)?;
        }
        if spec.command.as_os_str().is_empty() {
            return Err(SpecError::NoCommand);
        }
        if spec.name.is_empty() {
            spec.name = EngineSpec::new(&spec.command).name;
        }
        Ok(spec)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        match key {
            "cmd" => self.command = PathBuf::from(value),
            "name" => value.clone_into(&mut self.name),
            "args" => self.args = split_words(value)?,
            "dir" => self.dir = Some(PathBuf::from(value)),
            "restart" => {
                self.restart = match value {
                    "on" => true,
                    "off" => false,
                    _ => return Err(SpecError::Restart(value.to_owned())),
                }
            }
            _ if Limit::KEYS.contains(&key) => {
                if self.limit.is_some() {
                    return Err(SpecError::Twice("the limit".to_owned()));
                }
                self.limit = Some(Limit::parse(key, value)?);
            }
            _ => match key.strip_prefix("option.") {
                Some(name) if !name.is_empty() => self.options.push((name.to_owned(), value.to_owned())),
                _ => return Err(SpecError::Key(key.to_owned())),
            },
        }
        Ok(())
    }

    /// The description that [`EngineSpec::parse`] reads, but for a limit of its own.
    pub fn words(&self) -> String {
        let arguments: Vec<String> = self.args.iter().map(|word| quoted(word)).collect();
        let mut words = vec![format!("cmd={}", self.command.display()), format!("name={}", self.name)];
        words.extend((!arguments.is_empty()).then(|| format!("args={}", arguments.join(" "))));
        words.extend(self.dir.as_ref().map(|dir| format!("dir={}", dir.display())));
        words.extend(self.restart.then(|| "restart=on".to_owned()));
        words.extend(self.options.iter().map(|(option, value)| format!("option.{option}={value}")));
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// The file of the program; a bare name is looked up as the system does. `None` if there is none of that name.
    pub fn file(&self) -> Option<PathBuf> {
        if self.command.parent() != Some(Path::new("")) {
            return Some(self.command.clone());
        }
        let folders = std::env::var_os("PATH")?;
        std::env::split_paths(&folders).map(|folder| folder.join(&self.command)).find(|path| path.is_file())
    }

    /// The files that it is made of: its program, and those that its options and arguments name.
    pub fn files(&self) -> Vec<PathBuf> {
        let folder = self.dir.as_deref().unwrap_or(Path::new(""));
        let words = self.options.iter().map(|(_, value)| value).chain(&self.args);
        let named = words.map(|word| folder.join(word)).filter(|path| path.is_file());
        self.file().into_iter().chain(named).collect()
    }

    /// Makes the program's path independent of the folder it runs in; a bare name is looked up by the system.
    #[must_use]
    pub fn resolved(mut self) -> Self {
        let is_bare = self.command.parent() == Some(Path::new(""));
        if !is_bare && let Ok(path) = std::path::absolute(&self.command) {
            self.command = path;
        }
        self
    }
}

/// A text as one word of a description, in quotation marks if it needs them.
pub fn quoted(text: &str) -> String {
    let is_plain = !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c == '"' || c == '\'');
    if is_plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"'\"'\"")) }
}

/// Splits at spaces outside quotation marks, which are taken off.
///
/// # Errors
/// If a quotation mark has no partner.
pub fn split_words(text: &str) -> Result<Vec<String>, SpecError> {
    common::text::split_words(text).ok_or(SpecError::OpenQuote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_quotes_are_read() {
        let text =
            "cmd=./bin/merino args=\"-a 'b c'\" \"option.Move Overhead=20\" option.EvalFile='my file.toml' nodes=5000";
        let spec = EngineSpec::parse(text).unwrap();
        assert_eq!(spec.command, Path::new("./bin/merino"));
        assert_eq!(spec.name, "merino");
        assert_eq!(spec.args, ["-a", "b c"]);
        let options = [("Move Overhead", "20"), ("EvalFile", "my file.toml")];
        assert_eq!(spec.options, options.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(spec.limit, Some(Limit::Nodes(5000)));
        let again = EngineSpec { limit: None, ..spec };
        assert_eq!(EngineSpec::parse(&again.words()).unwrap(), again);
        assert_eq!(EngineSpec::parse("name=x cmd=y").unwrap().name, "x");
        for text in ["", "a", "a b", "'", "\"", "a\"' 'b\tc"] {
            assert_eq!(split_words(&format!("{0} {0}", quoted(text))).unwrap(), [text; 2]);
        }
    }

    #[test]
    fn errors_name_the_word() {
        let error = |text: &str| EngineSpec::parse(text).unwrap_err();
        assert_eq!(error("cmd=a hash"), SpecError::NotAPair("hash".into()));
        assert_eq!(error("cmd=a hash=16"), SpecError::Key("hash".into()));
        assert_eq!(error("cmd=a option.=16"), SpecError::Key("option.".into()));
        assert_eq!(error("cmd=a cmd=b"), SpecError::Twice("cmd".into()));
        assert_eq!(error("name=a"), SpecError::NoCommand);
        assert_eq!(error("cmd='a"), SpecError::OpenQuote);
        assert_eq!(error("cmd=a restart=maybe"), SpecError::Restart("maybe".into()));
        assert_eq!(error("cmd=a nodes=1 depth=2"), SpecError::Twice("the limit".into()));
        assert!(matches!(error("cmd=a tc=x"), SpecError::Limit(_)));
    }
    #[test]
    fn names_have_one_line_and_an_end() {
        let long = "n".repeat(LONGEST_TEXT + 1);
        assert_eq!(checked_name(&long[1..]), Ok(&long[1..]));
        assert_eq!(checked_name("Ä \"B\" <c>"), Ok("Ä \"B\" <c>"));
        assert_eq!(checked_name(&long).unwrap_err().to_string(), "a name has at most 1024 bytes, not 1025");
        for bad in ["x\ny", "x\ty", "\u{1b}[2J", "\u{85}"] {
            assert!(checked_name(bad).is_err(), "{bad:?}");
        }
        assert_eq!(
            checked_name("x\ny").unwrap_err().to_string(),
            "\"x\\ny\" has a control character, which no name may have"
        );
    }
}
