//! Tuned parameters in the language of an engine.

mod reserved;

use std::collections::HashSet;
use std::fmt::Write;

use clap::ValueEnum;
use common::files::{JSON, Kind, TOML};
use thiserror::Error;

use super::{Declared, Fitted, Parameter, Start};

/// Elements of an array on a line.
const PER_LINE: usize = 8;

/// Dimensions of an array at most, those of pairs aside: piece, square, and whatever else engines have buckets for.
const MOST_DIMENSIONS: usize = 16;

/// What parameters are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum)]
pub enum Language {
    /// A TOML file.
    #[default]
    Toml,
    /// A JSON object.
    Json,
    /// C arrays.
    C,
    /// C++ arrays.
    Cpp,
    /// Rust arrays.
    Rust,
    /// C# arrays, in a class.
    Csharp,
}

/// Why parameters cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct EmitError(String);

impl Fitted {
    /// The parameters, in a language: names are those of arrays, by their indices; pairs are arrays of two, midgame
    /// first. What cannot be part of a name of the language becomes an underscore; a word that means something there
    /// gets one at its end.
    ///
    /// # Errors
    /// If the names do not describe arrays, or the language cannot tell them apart.
    pub fn emit(&self, language: Language) -> Result<String, EmitError> {
        let (tables, names) = language.tables(&self.parameters)?;
        Ok(language.document(&tables, &names))
    }
}

impl Declared<'_> {
    /// Looks whether what is fitted can be written in a language, before anything is fitted.
    ///
    /// # Errors
    /// As for [`Fitted::emit`].
    pub fn check_names(&self, language: Language) -> Result<(), EmitError> {
        language.tables(self.parameters).map(|_| ())
    }
}

/// An array of numbers, or one number.
#[derive(Debug, PartialEq)]
struct Table {
    name: String,
    /// By dimension, the outermost first; none for one number.
    lengths: Vec<usize>,
    values: Vec<f64>,
    /// Digits behind the decimal point.
    decimals: usize,
}

/// The arrays that parameters make up, in their order.
fn tables(parameters: &[Parameter]) -> Result<Vec<Table>, EmitError> {
    let split: Vec<(&str, Vec<usize>)> =
        parameters.iter().map(|parameter| indexed(&parameter.name)).collect::<Result<_, _>>()?;
    let mut tables = Vec::new();
    let mut start = 0;
    for run in split.chunk_by(|a, b| a.0 == b.0) {
        let members = &parameters[start..start + run.len()];
        start += run.len();
        let (name, last) = &run[run.len() - 1];
        let mut lengths: Vec<usize> = last.iter().map(|index| index + 1).collect();
        for (place, ((_, indices), parameter)) in run.iter().zip(members).enumerate() {
            let expected = indices_of(place, &lengths);
            if *indices != expected {
                let brackets: String = expected.iter().map(|index| format!("[{index}]")).collect();
                return Err(EmitError(format!(
                    "`{}`: expected `{name}{brackets}`; arrays are listed in full, in the order of their indices",
                    parameter.name
                )));
            }
        }
        let is_single = |parameter: &Parameter| matches!(parameter.start, Start::Single(_));
        if let Some(other) = members.iter().find(|member| is_single(member) != is_single(&members[0])) {
            return Err(EmitError(format!("`{}`: single values and pairs are in one array", other.name)));
        }
        if !is_single(&members[0]) {
            lengths.push(2);
        }
        let values = members.iter().flat_map(|member| member.start.numbers()).copied().collect();
        let decimals = members.iter().map(|member| member.decimals).max().unwrap_or(0);
        tables.push(Table { name: (*name).to_owned(), lengths, values, decimals });
    }
    Ok(tables)
}

/// A name without its indices, and these.
fn indexed(name: &str) -> Result<(&str, Vec<usize>), EmitError> {
    let fault = || EmitError(format!("`{name}`: expected a name and indices, such as psqt[3][27]"));
    let Some(start) = name.find('[') else { return Ok((name, Vec::new())) };
    let (base, brackets) = name.split_at(start);
    let inner = brackets.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).ok_or_else(fault)?;
    let found = inner.split("][").count();
    if found > MOST_DIMENSIONS {
        let name: String = name.chars().take(40).collect();
        let message = format!("`{name}…`: has {found} indices, at most {MOST_DIMENSIONS} make an array");
        return Err(EmitError(message));
    }
    let indices = inner.split("][").map(|index| index.parse::<u16>().map(usize::from).map_err(|_| fault()));
    let indices = indices.collect::<Result<_, _>>()?;
    if base.is_empty() { Err(fault()) } else { Ok((base, indices)) }
}

/// The indices of an element by its place; those of a place beyond the end run over.
fn indices_of(place: usize, lengths: &[usize]) -> Vec<usize> {
    let mut rest = place;
    let mut indices: Vec<usize> = lengths
        .iter()
        .enumerate()
        .rev()
        .map(|(dimension, &length)| {
            let index = if dimension == 0 { rest } else { rest % length };
            rest /= length;
            index
        })
        .collect();
    indices.reverse();
    indices
}

impl Language {
    /// What is written, as a kind of file.
    pub fn kind(self) -> Kind {
        match self {
            Language::Toml => TOML,
            Language::Json => JSON,
            Language::C => Kind { name: "arrays of C", is_own: |head| head.starts_with(b"static const ") },
            Language::Cpp => {
                Kind { name: "arrays of C++", is_own: |head| head.starts_with(b"#pragma once\n\ninline ") }
            }
            Language::Rust => Kind { name: "arrays of Rust", is_own: |head| head.starts_with(b"pub const ") },
            Language::Csharp => {
                Kind { name: "a class of C#", is_own: |head| head.starts_with(b"public static class ") }
            }
        }
    }

    /// The arrays that parameters make up, and what each is called.
    fn tables(self, parameters: &[Parameter]) -> Result<(Vec<Table>, Vec<String>), EmitError> {
        let tables = tables(parameters)?;
        let names: Vec<String> = tables.iter().map(|table| self.name(&table.name)).collect();
        let mut known = HashSet::new();
        match names.iter().find(|name| !known.insert(*name)) {
            Some(name) => Err(EmitError(format!("`{name}`: is called like another in this language"))),
            None => Ok((tables, names)),
        }
    }

    /// What a table is called in the language: dots and the like become underscores.
    fn name(self, name: &str) -> String {
        if matches!(self, Language::Toml | Language::Json) {
            return name.to_owned();
        }
        let mut called: String =
            name.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '_' }).collect();
        if self == Language::Rust {
            called.make_ascii_uppercase();
        }
        if called.starts_with(|first: char| first.is_ascii_digit()) {
            called.insert(0, '_');
        }
        if reserved::is_reserved(self, &called) {
            called.push('_');
        }
        called
    }

    fn document(self, tables: &[Table], names: &[String]) -> String {
        let (head, foot, indent) = match self {
            Language::Json => ("{\n", "}\n", 4),
            Language::Csharp => ("public static class Parameters\n{\n", "}\n", 4),
            Language::Cpp => ("#pragma once\n\n", "", 0),
            _ => ("", "", 0),
        };
        let mut text = head.to_owned();
        for (place, (table, name)) in tables.iter().zip(names).enumerate() {
            let value = self.value(&table.lengths, &table.values, table.decimals, indent);
            let number = self.number(table.decimals);
            let dims = || table.lengths.iter().map(|length| format!("[{length}]")).collect::<String>();
            let blank = " ".repeat(indent);
            let statement = match self {
                Language::Toml => format!("{} = {value}", toml_edit::Key::new(name).display_repr()),
                Language::Json => {
                    let comma = if place + 1 < tables.len() { "," } else { "" };
                    format!("{}: {value}{comma}", serde_json::Value::from(name.as_str()))
                }
                Language::C => format!("static const {number} {name}{} = {value};", dims()),
                Language::Cpp => format!("inline constexpr {number} {name}{} = {value};", dims()),
                Language::Rust => {
                    let whole =
                        table.lengths.iter().rev().fold(number.to_owned(), |of, length| format!("[{of}; {length}]"));
                    format!("pub const {name}: {whole} = {value};")
                }
                Language::Csharp if table.lengths.is_empty() => format!("public const {number} {name} = {value};"),
                Language::Csharp => {
                    let commas = ",".repeat(table.lengths.len() - 1);
                    format!("public static readonly {number}[{commas}] {name} = {value};")
                }
            };
            _ = writeln!(text, "{blank}{statement}");
        }
        text + foot
    }

    /// The type of numbers with so many digits behind the decimal point.
    fn number(self, decimals: usize) -> &'static str {
        match (self, decimals) {
            (Language::Rust, 0) => "i32",
            (Language::Rust, _) => "f64",
            (_, 0) => "int",
            _ => "double",
        }
    }

    /// A number, or nested brackets of them; all languages agree but for the kind of brackets.
    fn value(self, lengths: &[usize], values: &[f64], decimals: usize, indent: usize) -> String {
        let (open, close) = match self {
            Language::Toml | Language::Json | Language::Rust => ('[', ']'),
            Language::C | Language::Cpp | Language::Csharp => ('{', '}'),
        };
        let Some((&length, inner)) = lengths.split_first() else { return written(values[0], decimals) };
        let is_flat = inner.is_empty() || inner == [2];
        let size = values.len() / length;
        let elements: Vec<String> =
            values.chunks(size).map(|part| self.value(inner, part, decimals, indent + 4)).collect();
        if is_flat && length <= PER_LINE {
            return format!("{open}{}{close}", elements.join(", "));
        }
        let lines: Vec<String> =
            elements.chunks(if is_flat { PER_LINE } else { 1 }).map(|line| line.join(", ")).collect();
        let (blank, end) = (" ".repeat(indent + 4), " ".repeat(indent));
        format!("{open}\n{blank}{}\n{end}{close}", lines.join(&format!(",\n{blank}")))
    }
}

/// A number with so many digits behind the decimal point.
fn written(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    // What is rounded to 0 has no sign.
    let is_zero = !text.contains(|char| matches!(char, '1'..='9'));
    if is_zero { text.trim_start_matches('-').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: impl Into<String>, start: Start) -> Parameter {
        Parameter { name: name.into(), sum: Some(0), start, unit: 1.0, decimals: 0 }
    }

    fn single(name: impl Into<String>, value: f64) -> Parameter {
        parameter(name, Start::Single(value))
    }

    fn emit(parameters: &[Parameter], language: Language) -> Result<String, EmitError> {
        let (tables, names) = language.tables(parameters)?;
        Ok(language.document(&tables, &names))
    }

    fn toy() -> Vec<Parameter> {
        let mut parameters = vec![single("tempo", 12.0)];
        for piece in 0..2 {
            for rank in 0..3 {
                let pair = Start::Pair([f64::from(rank), f64::from(-piece)]);
                parameters.push(parameter(format!("psqt.all[{piece}][{rank}]"), pair));
            }
        }
        parameters.extend((0..9).map(|count| single(format!("mobility[{count}]"), f64::from(count))));
        parameters
    }

    #[test]
    fn arrays_are_written_in_every_language() {
        let text = |language| emit(&toy(), language).expect("arrays in full");
        let psqt = "{\n    {{0, 0}, {1, 0}, {2, 0}},\n    {{0, -1}, {1, -1}, {2, -1}}\n}";
        let mobility = "{\n    0, 1, 2, 3, 4, 5, 6, 7,\n    8\n}";
        let c = format!(
            "static const int tempo = 12;\nstatic const int psqt_all[2][3][2] = {psqt};\n\
             static const int mobility[9] = {mobility};\n"
        );
        assert_eq!(text(Language::C), c);
        assert_eq!(text(Language::Cpp), format!("#pragma once\n\n{}", c.replace("static const", "inline constexpr")));
        let brackets = |text: &str| text.replace('{', "[").replace('}', "]");
        let rust = format!(
            "pub const TEMPO: i32 = 12;\npub const PSQT_ALL: [[[i32; 2]; 3]; 2] = {};\n\
             pub const MOBILITY: [i32; 9] = {};\n",
            brackets(psqt),
            brackets(mobility)
        );
        assert_eq!(text(Language::Rust), rust);
        let csharp = text(Language::Csharp);
        assert!(csharp.starts_with("public static class Parameters\n{\n    public const int tempo = 12;\n"));
        assert!(
            csharp.contains("    public static readonly int[,,] psqt_all = {\n        {{0, 0}, {1, 0}, {2, 0}},\n")
        );
        let toml: toml_edit::DocumentMut = text(Language::Toml).parse().expect("sound TOML");
        assert_eq!(toml["psqt.all"][1][2][0].as_integer(), Some(2));
        let json: serde_json::Value = serde_json::from_str(&text(Language::Json)).expect("sound JSON");
        assert_eq!((&json["psqt.all"][1][2][1], &json["mobility"][8]), (&(-1).into(), &8.into()));
    }

    #[test]
    fn words_of_the_language_are_no_names() {
        let names = |language, names: &[&str]| {
            let parameters: Vec<Parameter> = names.iter().map(|&name| single(name, 1.0)).collect();
            emit(&parameters, language)
        };
        for (language, name, line) in [
            (Language::C, "int", "static const int int_ = 1;\n"),
            (Language::C, "main", "static const int main_ = 1;\n"),
            (Language::C, "class", "static const int class = 1;\n"),
            (Language::Cpp, "class", "#pragma once\n\ninline constexpr int class_ = 1;\n"),
            (Language::Cpp, "xor", "#pragma once\n\ninline constexpr int xor_ = 1;\n"),
            (Language::Rust, "int", "pub const INT: i32 = 1;\n"),
            (Language::Rust, ".", "pub const __: i32 = 1;\n"),
            (Language::Json, "int", "{\n    \"int\": 1\n}\n"),
        ] {
            assert_eq!(names(language, &[name]).as_deref(), Ok(line));
        }
        for name in ["decimal", "Parameters"] {
            assert!(names(Language::Csharp, &[name]).expect("a name").contains(&format!(" int {name}_ = 1;\n")));
        }
        let same = names(Language::C, &["int", "int_"]).unwrap_err().to_string();
        assert_eq!(same, "`int_`: is called like another in this language");
        assert!(names(Language::Cpp, &["Int", "int"]).is_ok());
    }

    #[test]
    fn fractions_are_written_with_the_digits_of_their_start() {
        let fraction = |name: &str, value| Parameter { decimals: 3, ..single(name, value) };
        let parameters = [single("tempo", 12.0), fraction("curve[0]", 0.8754), fraction("curve[1]", -0.0001)];
        let text = |language| emit(&parameters, language).expect("arrays");
        assert_eq!(text(Language::C), "static const int tempo = 12;\nstatic const double curve[2] = {0.875, 0.000};\n");
        assert!(text(Language::Rust).ends_with("pub const CURVE: [f64; 2] = [0.875, 0.000];\n"));
        assert!(text(Language::Csharp).contains("public static readonly double[] curve = {0.875, 0.000};\n"));
        assert!(text(Language::Toml).contains("curve = [0.875, 0.000]\n"));
    }

    #[test]
    fn names_that_make_no_arrays_are_refused() {
        let refused = |names: &[&str]| {
            let parameters: Vec<Parameter> = names.iter().map(|&name| single(name, 0.0)).collect();
            emit(&parameters, Language::C).expect_err("no arrays").to_string()
        };
        assert!(refused(&["a[0]", "a[2]"]).starts_with("`a[2]`: expected `a[1]`;"));
        assert!(refused(&["a[0][0]", "a[1][0]", "a[1][1]"]).starts_with("`a[1][0]`: expected `a[0][1]`;"));
        assert!(refused(&["a[x]"]).starts_with("`a[x]`: expected a name and indices"));
        assert!(refused(&["a[0]b"]).starts_with("`a[0]b`: expected a name and indices"));
        assert!(refused(&["a.b", "a_b"]).starts_with("`a_b`: is called like another"));
        assert!(refused(&["a[0]", "b", "a[1]"]).starts_with("`a[1]`: expected `a[0]"));
        let deep = format!("a{}", "[0]".repeat(300_000));
        assert!(refused(&[&deep]).ends_with("[0][0][0]…`: has 300000 indices, at most 16 make an array"));
        let mixed = [single("a[0]", 0.0), parameter("a[1]", Start::Pair([0.0, 0.0]))];
        let mixed = emit(&mixed, Language::C).unwrap_err().to_string();
        assert_eq!(mixed, "`a[1]`: single values and pairs are in one array");
    }
}
