//! A run in a file of TOML: where its keys stand, and the options to tune in the tables of [`OPTIONS`].

use std::fmt::Display;
use std::path::{Path, PathBuf};

use common::input;
use thiserror::Error;
use toml_edit::{Document, DocumentMut, InlineTable, Item, Key, Table, TableLike, Value};

use super::SpsaOption;
use super::options::add;

/// The key of the options: tables, or the name of a file.
pub const OPTIONS: &str = "options";

/// The keys of an option.
const KEYS: [&str; 6] = ["type", "start", "min", "max", "step", "rate"];

/// A fault of a file of settings, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{}: {fault}", path.display(), line.map_or_else(String::new, |line| format!(":{line}")))]
pub struct SettingsError {
    path: PathBuf,
    line: Option<usize>,
    fault: String,
}

/// A file of settings.
#[derive(Debug)]
pub struct SettingsFile {
    path: PathBuf,
    document: Document<String>,
}

/// Returns true if a file has settings in TOML, as its name says.
pub fn is_settings(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

/// Recognises a file of options alone, as [`options_text`] writes it in TOML or in lines, by its beginning.
pub fn is_of_options(head: &[u8], is_toml: bool) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let first = lines.next().unwrap_or_default();
    if is_toml {
        first == format!("[{OPTIONS}]") && !lines.any(|line| line.starts_with('['))
    } else {
        SpsaOption::parse(first).is_ok()
    }
}

/// Reads options: lines as OpenBench has them or, from a file whose name ends in `.toml`, what its key [`OPTIONS`] has
/// or names. With the file in which they stand.
///
/// # Errors
/// If the file cannot be read, or its first fault.
pub fn load_options(path: &Path) -> Result<(Vec<SpsaOption>, PathBuf), SettingsError> {
    if !is_settings(path) {
        return Ok((load_lines(path)?, path.to_owned()));
    }
    let file = SettingsFile::read(path)?;
    let Some(named) = file.table().get(OPTIONS).and_then(Item::as_str) else {
        return Ok((file.options()?, path.to_owned()));
    };
    let named = file.relative(named);
    let options = if is_settings(&named) { SettingsFile::read(&named)?.options() } else { load_lines(&named) };
    Ok((options?, named))
}

/// Lets options begin with the values of a file; see [`SpsaOption::set_starts`].
///
/// # Errors
/// If the file cannot be read, or its first fault.
pub fn load_starts(path: &Path, options: &mut [SpsaOption]) -> Result<(), SettingsError> {
    SpsaOption::set_starts(options, &read(path)?).map_err(|error| SettingsError::new(path, None, error))
}

fn load_lines(path: &Path) -> Result<Vec<SpsaOption>, SettingsError> {
    let text = read(path)?;
    SpsaOption::parse_all(&text).map_err(|error| SettingsError::new(path, None, error))
}

fn read(path: &Path) -> Result<String, SettingsError> {
    let text = input::read_text(path, input::SETTINGS);
    text.map_err(|error| SettingsError::new(path, None, format!("cannot be read: {error}")))
}

impl SettingsError {
    fn new(path: &Path, line: Option<usize>, fault: impl Display) -> Self {
        SettingsError { path: path.to_owned(), line, fault: fault.to_string() }
    }
}

impl SettingsFile {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is no TOML.
    pub fn read(path: &Path) -> Result<Self, SettingsError> {
        let text = read(path)?;
        let document = Document::parse(text.clone()).map_err(|error| {
            let line = line(&text, error.span().map_or(0, |span| span.start));
            SettingsError::new(path, Some(line), error.message().split_whitespace().collect::<Vec<_>>().join(" "))
        })?;
        Ok(SettingsFile { path: path.to_owned(), document })
    }

    /// All keys.
    pub fn table(&self) -> &Table {
        self.document.as_table()
    }

    /// A path of the file, which is relative to the folder of the file.
    pub fn relative(&self, path: impl AsRef<Path>) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(path)
    }

    /// Its folder, the same from wherever it is named.
    pub fn home(&self) -> PathBuf {
        let home = self.relative("");
        let home = if home == Path::new("") { PathBuf::from(".") } else { home };
        home.canonicalize().unwrap_or(home)
    }

    /// A fault of a key, with its line.
    pub fn fault(&self, table: &dyn TableLike, key: &str, fault: impl Display) -> SettingsError {
        let span = table.get_key_value(key).and_then(|(key, _)| key.span());
        let line = span.map(|span| line(self.document.raw(), span.start));
        SettingsError::new(&self.path, line, format!("{key}: {fault}"))
    }

    /// A fault of the whole file.
    pub fn missing(&self, fault: &str) -> SettingsError {
        SettingsError::new(&self.path, None, fault)
    }

    /// The options to tune, in its tables.
    fn options(&self) -> Result<Vec<SpsaOption>, SettingsError> {
        let whole = self.table();
        let Some(item) = whole.get(OPTIONS) else {
            return Err(self.missing(&format!("has no table [{OPTIONS}], nor `{OPTIONS} = \"FILE\"`")));
        };
        let tables =
            item.as_table_like().ok_or_else(|| self.fault(whole, OPTIONS, "expected a table for each option"))?;
        let mut options = Vec::new();
        for (name, item) in tables.iter() {
            let fault = |fault: &dyn Display| self.fault(tables, name, fault);
            let table =
                item.as_table_like().ok_or_else(|| fault(&format!("expected a table of {}", KEYS.join(", "))))?;
            let option = self.option(name, table, &fault)?;
            add(&mut options, option).map_err(|error| fault(&error))?;
        }
        if options.is_empty() { Err(self.fault(whole, OPTIONS, "there is no option to tune")) } else { Ok(options) }
    }

    fn option(
        &self,
        name: &str,
        table: &dyn TableLike,
        fault: &dyn Fn(&dyn Display) -> SettingsError,
    ) -> Result<SpsaOption, SettingsError> {
        if let Some((key, _)) = table.iter().find(|(key, _)| !KEYS.contains(key)) {
            return Err(self.fault(table, key, format!("is not one of {}", KEYS.join(", "))));
        }
        let number = |key: &str, missing: Option<f64>| {
            let Some(item) = table.get(key) else {
                return missing.ok_or_else(|| fault(&format!("`{key}` is missing")));
            };
            let value = item.as_float().or_else(|| item.as_integer().map(|value| value as f64));
            value.filter(|value| value.is_finite()).ok_or_else(|| self.fault(table, key, "expected a number"))
        };
        let is_whole = match table.get("type").map(Item::as_str) {
            None | Some(Some("int")) => true,
            Some(Some("float")) => false,
            Some(_) => return Err(self.fault(table, "type", "expected \"int\" or \"float\"")),
        };
        Ok(SpsaOption {
            name: name.to_owned(),
            is_whole,
            start: number("start", None)?,
            min: number("min", None)?,
            max: number("max", None)?,
            step: number("step", None)?,
            rate: number("rate", Some(0.0))?,
        })
    }
}

/// The line, from 1, of a byte of a text.
fn line(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
}

/// Options with other starts, as [`load_options`] reads them from a file of this name.
pub fn options_text(path: &Path, options: &[SpsaOption], starts: &[f64]) -> String {
    let pairs = options.iter().zip(starts);
    if !is_settings(path) {
        return pairs.map(|(option, &start)| option.line(start) + "\n").collect();
    }
    let mut document = DocumentMut::new();
    let tables = pairs.map(|(option, &start)| (Key::new(&option.name), Value::from(table(option, start))));
    document.insert(OPTIONS, Item::Table(tables.collect()));
    document.to_string()
}

fn table(option: &SpsaOption, start: f64) -> InlineTable {
    let SpsaOption { is_whole, min, max, step, rate, .. } = option;
    let mut table = InlineTable::new();
    if !is_whole {
        table.insert("type", "float".into());
    }
    let start = option.text(start).parse().unwrap_or(start);
    for (key, number) in [("start", start), ("min", *min), ("max", *max), ("step", *step), ("rate", *rate)] {
        // Whole numbers without a point, where they are exact.
        let is_short = number.fract() == 0.0 && number.abs() < 1e15;
        table.insert(key, if is_short { (number as i64).into() } else { number.into() });
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_options_are_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let lines = "a, int, 1200, 0, 2048, 102.4, 0.002\nB \"c\".d, float, 0.123456789, -1e16, 1e16, .1, 0\n";
        let options = SpsaOption::parse_all(lines).unwrap();
        for name in ["options.txt", "options.toml"] {
            let path = folder.path().join(name);
            std::fs::write(&path, options_text(&path, &options, &[1234.4, 0.123456789])).unwrap();
            let (found, _) = load_options(&path).unwrap();
            assert_eq!([found[0].start, found[1].start], [1234.0, 0.123457], "{name}");
            let restarted = found.into_iter().zip(&options).map(|(new, old)| SpsaOption { start: old.start, ..new });
            assert_eq!(restarted.collect::<Vec<_>>(), options, "{name}");
        }
        let text = std::fs::read_to_string(folder.path().join("options.toml")).unwrap();
        let bounds = "min = -10000000000000000.0, max = 10000000000000000.0";
        let second = format!("'B \"c\".d' = {{ type = \"float\", start = 0.123457, {bounds}, step = 0.1, rate = 0 }}");
        let first = "a = { start = 1234, min = 0, max = 2048, step = 102.4, rate = 0.002 }";
        assert_eq!(text, format!("[options]\n{first}\n{second}\n"));
    }
}
