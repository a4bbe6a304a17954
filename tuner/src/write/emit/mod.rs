//! Tuned parameters as a TOML or JSON file. Names of parameters become names of arrays; a pair is an array of two
//! numbers, midgame first.

mod read;
mod tables;

use anyhow::Result;
use clap::ValueEnum;
use common::files::{JSON, Kind, PARAMETERS};

use crate::source::Parameter;
pub use read::{numbers_in, values_of};
use tables::tables;

/// The number of array elements on a line.
const PER_LINE: usize = 8;

/// The largest number of dimensions of an array, pairs not counted: piece, square and the buckets of an engine.
const MOST_DIMENSIONS: usize = 16;

/// The format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum)]
pub enum Language {
    /// A TOML file.
    #[default]
    Toml,
    /// A JSON object.
    Json,
}

/// Formats parameters as text.
///
/// # Errors
/// If the names do not describe complete arrays.
pub fn emit(parameters: &[Parameter], language: Language) -> Result<String> {
    let tables = tables(parameters)?;
    let statements = tables.iter().map(|(name, elements)| match language {
        Language::Toml => format!("{} = {}\n", toml_edit::Key::new(name).display_repr(), value(elements, 0, 0)),
        Language::Json => format!("    {}: {}", serde_json::Value::from(&name[..]), value(elements, 0, 4)),
    });
    let statements: Vec<String> = statements.collect();
    Ok(match language {
        Language::Toml => statements.concat(),
        Language::Json => format!("{{\n{}\n}}\n", statements.join(",\n")),
    })
}

/// Checks that the names of parameters, or of the first of them, describe arrays.
///
/// # Errors
/// As for [`emit`].
pub fn check_names(parameters: &[Parameter]) -> Result<()> {
    tables(parameters).map(|_| ())
}

impl Language {
    /// Returns the kind of file.
    pub fn kind(self) -> Kind {
        match self {
            Language::Toml => PARAMETERS,
            Language::Json => JSON,
        }
    }
}

/// Formats elements with the same first `depth` indices, a number or nested arrays; TOML and JSON share this syntax.
fn value(elements: &[(Vec<usize>, String)], depth: usize, indent: usize) -> String {
    let (indices, text) = &elements[0];
    if indices.len() == depth {
        return text.clone();
    }
    let is_flat = indices.len() == depth + 1;
    let parts = elements.chunk_by(|a, b| a.0[depth] == b.0[depth]);
    let parts: Vec<String> = parts.map(|part| value(part, depth + 1, indent + 4)).collect();
    if is_flat && parts.len() <= PER_LINE {
        return format!("[{}]", parts.join(", "));
    }
    let lines: Vec<String> = parts.chunks(if is_flat { PER_LINE } else { 1 }).map(|line| line.join(", ")).collect();
    let (blank, end) = (" ".repeat(indent + 4), " ".repeat(indent));
    format!("[\n{blank}{}\n{end}]", lines.join(&format!(",\n{blank}")))
}

/// Formats a number with `decimals` digits after the decimal point.
pub(super) fn format_number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    // A value that rounds to 0 is written without a sign.
    let is_zero = !text.contains(|char| matches!(char, '1'..='9'));
    if is_zero { text.trim_start_matches('-').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: impl Into<String>, start: &[f64]) -> Parameter {
        Parameter { name: name.into(), sum: Some(0), start: start.to_vec(), unit: 1.0, decimals: 0 }
    }

    fn single(name: impl Into<String>, value: f64) -> Parameter {
        parameter(name, &[value])
    }

    fn toy() -> Vec<Parameter> {
        let mut parameters = vec![single("tempo", 12.0)];
        for piece in 0..2 {
            for rank in 0..3 {
                let pair = &[f64::from(rank), f64::from(-piece)];
                parameters.push(parameter(format!("psqt.all[{piece}][{rank}]"), pair));
            }
        }
        parameters.extend((0..9).map(|count| single(format!("mobility[{count}]"), f64::from(count))));
        parameters
    }

    #[test]
    fn toml_and_json_hold_the_arrays() {
        let text = |language| emit(&toy(), language).expect("arrays in full");
        let toml: toml_edit::DocumentMut = text(Language::Toml).parse().expect("sound TOML");
        assert_eq!(toml["psqt.all"][1][2][0].as_integer(), Some(2));
        let json: serde_json::Value = serde_json::from_str(&text(Language::Json)).expect("sound JSON");
        assert_eq!((&json["psqt.all"][1][2][1], &json["mobility"][8]), (&(-1).into(), &8.into()));
        let psqt = "[\n    [[0, 0], [1, 0], [2, 0]],\n    [[0, -1], [1, -1], [2, -1]]\n]\n";
        let mobility = "[\n    0, 1, 2, 3, 4, 5, 6, 7,\n    8\n]\n";
        assert_eq!(text(Language::Toml), format!("tempo = 12\n\"psqt.all\" = {psqt}mobility = {mobility}"));
    }

    #[test]
    fn rows_of_arrays_may_differ_in_length() {
        let names = ["Doubled", "Mobility[0][0]", "Mobility[0][1]", "Mobility[1][0]"];
        let parameters = names.map(|name| parameter(name, &[-3.0, 4.0]));
        let expected = "Doubled = [-3, 4]\nMobility = [\n    [[-3, 4], [-3, 4]],\n    [[-3, 4]]\n]\n";
        assert_eq!(emit(&parameters, Language::Toml).unwrap(), expected);
    }

    #[test]
    fn fractions_are_written_with_the_digits_of_their_start() {
        let fraction = |name: &str, value| Parameter { decimals: 3, ..single(name, value) };
        let parameters = [single("tempo", 12.0), fraction("curve[0]", 0.8754), fraction("curve[1]", -0.0001)];
        assert_eq!(emit(&parameters, Language::Toml).unwrap(), "tempo = 12\ncurve = [0.875, 0.000]\n");
    }

    #[test]
    fn names_of_incomplete_arrays_are_refused() {
        let refused = |names: &[&str]| {
            let parameters: Vec<Parameter> = names.iter().map(|&name| single(name, 0.0)).collect();
            emit(&parameters, Language::Toml).expect_err("no arrays").to_string()
        };
        assert!(refused(&["a[0]", "a[2]"]).starts_with("`a[2]`: expected `a[1]`;"));
        assert!(refused(&["a[0][0]", "a[0][2]"]).starts_with("`a[0][2]`: expected `a[0][1]` or `a[1][0]`;"));
        assert!(refused(&["a[0]", "a[1][0]"]).starts_with("`a[1][0]`: expected `a[1]`;"));
        assert!(refused(&["a[x]"]).starts_with("`a[x]`: expected a name and indices"));
        assert!(refused(&["a[0]b"]).starts_with("`a[0]b`: expected a name and indices"));
        assert!(refused(&["a[0]", "b", "a[1]"]).starts_with("`a[1]`: expected `a[0]"));
        let deep = format!("a{}", "[0]".repeat(300_000));
        assert!(refused(&[&deep]).ends_with("[0][0][0]…`: has 300000 indices, at most 16 make an array"));
        let mixed = [single("a[0]", 0.0), parameter("a[1]", &[0.0, 0.0])];
        let mixed = emit(&mixed, Language::Toml).unwrap_err().to_string();
        assert_eq!(mixed, "`a[1]`: single values and pairs are in one array");
    }
}
