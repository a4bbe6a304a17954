//! Tuned parameters in the language of an engine.

mod reserved;
mod tables;

use std::collections::HashSet;
use std::fmt::Write;

use clap::ValueEnum;
use common::files::{JSON, Kind, PARAMETERS};
use thiserror::Error;

use super::{Declared, Fitted, Pair, Parameter, Start};
use tables::{Table, Value, tables};

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
    /// first, or written as `pair` says, but in TOML and JSON. What cannot be part of a name of the language becomes an underscore; a word that means something there
    /// gets one at its end.
    ///
    /// # Errors
    /// If the names do not describe arrays, or the language cannot tell them apart.
    pub fn emit(&self, language: Language, pair: Option<&Pair>) -> Result<String, EmitError> {
        let (tables, names) = language.tables(&self.parameters)?;
        Ok(language.document(&tables, &names, pair))
    }
}

impl Declared<'_> {
    /// Looks whether what is fitted can be written in a language, before anything is fitted.
    ///
    /// # Errors
    /// As for [`Fitted::emit`].
    pub fn check_names(&self, language: Language) -> Result<(), EmitError> {
        language.check_names(self.parameters)
    }
}

impl Language {
    /// Whether parameters, or the first of them, can be written so by their names.
    ///
    /// # Errors
    /// As for [`Fitted::emit`].
    pub fn check_names(self, parameters: &[Parameter]) -> Result<(), EmitError> {
        self.tables(parameters).map(|_| ())
    }

    /// What is written, as a kind of file.
    pub fn kind(self) -> Kind {
        match self {
            Language::Toml => PARAMETERS,
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

    /// The type of pairs that are written so, where they are no arrays: the capitalised word that they begin with, what a
    /// function returns, or a number that both are packed into.
    fn type_of(self, pair: &Pair, number: &str) -> Option<String> {
        let text = pair.text().trim_start();
        let text = text.strip_prefix("new ").unwrap_or(text).trim_start();
        let word: &str =
            text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default();
        let is_array = text.starts_with(if self == Language::Rust { '[' } else { '{' });
        match self {
            _ if is_array => None,
            Language::Cpp if !word.is_empty() => Some(format!("decltype({})", pair.written(["0", "0"]))),
            Language::Rust if word.starts_with(char::is_uppercase) => Some(word.to_owned()),
            Language::Csharp if pair.text().starts_with("new ") => Some(word.to_owned()),
            Language::Rust | Language::Csharp if text.starts_with('(') && !text.contains("<<") => {
                Some(format!("({number}, {number})"))
            }
            _ => Some(number.to_owned()),
        }
    }

    fn document(self, tables: &[Table], names: &[String], pair: Option<&Pair>) -> String {
        let (head, foot, indent) = match self {
            Language::Json => ("{\n", "}\n", 4),
            Language::Csharp => ("public static class Parameters\n{\n", "}\n", 4),
            Language::Cpp => ("#pragma once\n\n", "", 0),
            _ => ("", "", 0),
        };
        let pair = pair.filter(|_| !matches!(self, Language::Toml | Language::Json));
        let mut text = head.to_owned();
        for (place, (table, name)) in tables.iter().zip(names).enumerate() {
            let style = Style::new(self, table, pair);
            let value = style.value(&table.value, indent);
            let blank = " ".repeat(indent);
            let statement = match self {
                Language::Toml => format!("{} = {value}", toml_edit::Key::new(name).display_repr()),
                Language::Json => {
                    let comma = if place + 1 < tables.len() { "," } else { "" };
                    format!("{}: {value}{comma}", serde_json::Value::from(name.as_str()))
                }
                _ => style.declaration(name, &value),
            };
            _ = writeln!(text, "{blank}{statement}");
        }
        text + foot
    }
}

/// How a table is written.
struct Style<'t> {
    language: Language,
    table: &'t Table,
    /// How its pairs are, if they are no arrays.
    pair: Option<&'t Pair>,
    /// The type of its elements: numbers, or such pairs.
    element: String,
    /// Dimensions, those of pairs that are arrays among them.
    lengths: Vec<usize>,
    brackets: (&'static str, &'static str),
}

impl<'t> Style<'t> {
    fn new(language: Language, table: &'t Table, pair: Option<&'t Pair>) -> Self {
        let pair = pair.filter(|_| table.is_pair);
        let number = match (language, table.decimals) {
            (Language::Rust, 0) => "i32",
            (Language::Rust, _) => "f64",
            (_, 0) => "int",
            _ => "double",
        };
        let named = pair.and_then(|pair| language.type_of(pair, number));
        let is_array = table.is_pair && named.is_none();
        let brackets = match language {
            Language::Rust if table.is_ragged => ("&[", "]"),
            Language::Toml | Language::Json | Language::Rust => ("[", "]"),
            // Arrays of arrays have no braces.
            Language::Csharp if table.is_ragged => ("[", "]"),
            Language::C | Language::Cpp | Language::Csharp => ("{", "}"),
        };
        Style {
            language,
            table,
            pair,
            element: named.unwrap_or_else(|| number.to_owned()),
            lengths: table.lengths.iter().copied().chain(is_array.then_some(2)).collect(),
            brackets,
        }
    }

    /// What declares a name.
    fn declaration(&self, name: &str, value: &str) -> String {
        let Style { language, element, lengths, table, .. } = self;
        let dims = || lengths.iter().map(|length| format!("[{length}]")).collect::<String>();
        match language {
            Language::Cpp => format!("inline constexpr {element} {name}{} = {value};", dims()),
            Language::Rust => {
                let array = |of: String, length: &usize| {
                    if table.is_ragged { format!("&[{of}]") } else { format!("[{of}; {length}]") }
                };
                let whole = lengths.iter().rev().fold(element.clone(), array);
                format!("pub const {name}: {whole} = {value};")
            }
            Language::Csharp if lengths.is_empty() && element != "int" && element != "double" => {
                format!("public static readonly {element} {name} = {value};")
            }
            Language::Csharp if lengths.is_empty() && self.pair.is_none() => {
                format!("public const {element} {name} = {value};")
            }
            Language::Csharp => {
                let dims = match lengths.len() {
                    0 => String::new(),
                    all if table.is_ragged => "[]".repeat(all),
                    all => format!("[{}]", ",".repeat(all - 1)),
                };
                format!("public static readonly {element}{dims} {name} = {value};")
            }
            _ => format!("static const {element} {name}{} = {value};", dims()),
        }
    }

    /// A number, or nested brackets of them; all languages agree but for the kind of brackets.
    fn value(&self, value: &Value, indent: usize) -> String {
        let (open, close) = self.brackets;
        let number = |value: &f64| written(*value, self.table.decimals);
        let values = match value {
            Value::Element(Start::Single(value)) => return number(value),
            Value::Element(Start::Pair(pair)) => {
                let [midgame, endgame] = pair.each_ref().map(number);
                return match self.pair {
                    Some(shape) => shape.written([&midgame, &endgame]),
                    None => format!("{open}{midgame}, {endgame}{close}"),
                };
            }
            Value::List(values) => values,
        };
        let is_flat = matches!(values.first(), Some(Value::Element(_)));
        let elements: Vec<String> = values.iter().map(|value| self.value(value, indent + 4)).collect();
        if is_flat && elements.len() <= PER_LINE {
            return format!("{open}{}{close}", elements.join(", "));
        }
        let lines: Vec<String> =
            elements.chunks(if is_flat { PER_LINE } else { 1 }).map(|line| line.join(", ")).collect();
        let (blank, end) = (" ".repeat(indent + 4), " ".repeat(indent));
        format!("{open}\n{blank}{}\n{end}{close}", lines.join(&format!(",\n{blank}")))
    }
}

/// A number with so many digits behind the decimal point.
pub(super) fn written(value: f64, decimals: usize) -> String {
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
        Ok(language.document(&tables, &names, None))
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
    fn pairs_and_ragged_arrays_are_written_as_engines_have_them() {
        let names = ["Doubled", "Mobility[0][0]", "Mobility[0][1]", "Mobility[1][0]"];
        let parameters = names.map(|name| parameter(name, Start::Pair([-3.0, 4.0])));
        let text = |language: Language, pair: Option<&str>| {
            let pair: Option<Pair> = pair.map(|pair| pair.parse().expect("a pair"));
            let (tables, names) = language.tables(&parameters).expect("arrays");
            language.document(&tables, &names, pair.as_ref())
        };
        let nested = "{\n    {S(-3,4), S(-3,4)},\n    {S(-3,4)}\n};\n";
        for (language, pair, expected) in [
            (
                Language::C,
                Some("S({mg},{eg})"),
                format!("static const int Doubled = S(-3,4);\nstatic const int Mobility[2][2] = {nested}"),
            ),
            (
                Language::Cpp,
                Some("S({mg},{eg})"),
                format!(
                    "#pragma once\n\ninline constexpr decltype(S(0,0)) Doubled = S(-3,4);\n\
                     inline constexpr decltype(S(0,0)) Mobility[2][2] = {nested}"
                ),
            ),
            (
                Language::Rust,
                Some("S::new({mg}, {eg})"),
                "pub const DOUBLED: S = S::new(-3, 4);\npub const MOBILITY: &[&[S]] = &[\n    \
                 &[S::new(-3, 4), S::new(-3, 4)],\n    &[S::new(-3, 4)]\n];\n"
                    .to_owned(),
            ),
            (
                Language::Csharp,
                Some("new Score({mg}, {eg})"),
                "public static class Parameters\n{\n    public static readonly Score Doubled = new Score(-3, 4);\n    \
                 public static readonly Score[][] Mobility = [\n        [new Score(-3, 4), new Score(-3, 4)],\n        \
                 [new Score(-3, 4)]\n    ];\n}\n"
                    .to_owned(),
            ),
            (
                Language::Toml,
                Some("S({mg},{eg})"),
                "Doubled = [-3, 4]\nMobility = [\n    [[-3, 4], [-3, 4]],\n    [[-3, 4]]\n]\n".to_owned(),
            ),
            (
                Language::C,
                Some("{ {mg}, {eg} }"),
                "static const int Doubled[2] = { -3, 4 };\nstatic const int Mobility[2][2][2] = {\n    \
                 {{ -3, 4 }, { -3, 4 }},\n    {{ -3, 4 }}\n};\n"
                    .to_owned(),
            ),
        ] {
            assert_eq!(text(language, pair), expected);
        }
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
        assert!(refused(&["a[0][0]", "a[0][2]"]).starts_with("`a[0][2]`: expected `a[0][1]` or `a[1][0]`;"));
        assert!(refused(&["a[0]", "a[1][0]"]).starts_with("`a[1][0]`: expected `a[1]`;"));
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
