//! Names of the numbers of the parameter vector, and patterns that match them.
//!
//! The name of a number is the path of its parameter in the file (`phase.queen`), followed by `:mg` or `:eg` if the
//! parameter is a pair (`psqt.knight.e4:mg`). A pattern is such a name, or the path of a table or a group of parameters
//! (`psqt.knight`, `phase`). `*` matches any characters, and a pattern without `:mg` or `:eg` matches both.

use std::ops::Deref;

use anyhow::{Result, bail};
use engine::eval::params::{Axis, Field, Kind, leaves};

/// Number of characters of a pattern that are compared with names to find the nearest.
const LONGEST_COMPARED: usize = 100;

/// The ends of the names of a pair's numbers, midgame and endgame.
pub const STAGES: [&str; 2] = [":mg", ":eg"];

/// A number of the parameter vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// The name: `psqt.knight.e4:mg`, `phase.queen`.
    pub name: String,
    /// The path of the table that contains it: `psqt.knight`, `phase`; its own path without a table.
    pub table: String,
    /// The field that declares it, if Merino's engine does.
    pub field: Option<&'static Field>,
    /// The one of [`STAGES`] of a number of a pair; empty for a single number.
    pub stage: &'static str,
    /// Index of the number on the mirrored square (file a for file h), if its table is a board.
    pub mirror: Option<usize>,
    /// The smallest and the largest allowed value.
    pub range: [f64; 2],
    /// Number of digits behind the decimal point in written files.
    pub decimals: usize,
}

impl Number {
    /// Returns the path of its parameter: the name without a stage.
    pub fn path(&self) -> &str {
        stage_of(&self.name).0
    }

    /// Returns a value as written to files: rounded, clamped to a range, and 0 without a sign.
    pub fn round(&self, value: f64, (lower, upper): (f64, f64)) -> f64 {
        let parts = 10_f64.powi(self.decimals as i32);
        ((value * parts).round() / parts).clamp(lower, upper) + 0.0
    }
}

/// The list of all numbers in the order of the parameter vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers(Vec<Number>);

impl Numbers {
    /// Returns the numbers that Merino's engine declares.
    pub fn declared() -> Self {
        let leaves = leaves();
        let mut numbers = Self::of(leaves.iter().map(|leaf| (&leaf.path[..], leaf.kind == Kind::Pair, 0)));
        let mut start = 0;
        for leaves in leaves.chunk_by(|a, b| a.field == b.field) {
            let field = leaves[0].field;
            let width = if field.kind == Kind::Pair { 2 } else { 1 };
            for place in 0..width * leaves.len() {
                let number = &mut numbers.0[start + place];
                number.field = Some(field);
                number.range = [*field.range.start(), *field.range.end()].map(f64::from);
                // Squares are numbered 8 rank + file, and boards follow one another.
                number.mirror = (field.axes.last() == Some(&Axis::Board)).then_some(start + (place ^ (7 * width)));
            }
            start += width * leaves.len();
        }
        numbers
    }

    /// Creates the numbers of parameters, without ranges. A parameter is given by its path, true if it is a pair, and the
    /// number of digits behind the decimal point.
    pub(crate) fn of<'p>(parameters: impl Iterator<Item = (&'p str, bool, usize)>) -> Self {
        let numbers = parameters.flat_map(|(path, is_pair, decimals)| {
            let stages = if is_pair { &STAGES[..] } else { &[""] };
            stages.iter().map(move |stage| Number {
                name: format!("{path}{stage}"),
                table: table_of(path).to_owned(),
                field: None,
                stage,
                mirror: None,
                range: [f64::NEG_INFINITY, f64::INFINITY],
                decimals,
            })
        });
        Numbers(numbers.collect())
    }

    /// Returns the values of all numbers as written to files: rounded, and clamped to their ranges.
    pub fn round(&self, values: &[f64]) -> Vec<f64> {
        self.iter().zip(values).map(|(number, &value)| number.round(value, number.range.into())).collect()
    }

    /// Returns the indices of the numbers that a pattern matches, ascending. Each comes with the rest of its name
    /// behind the pattern: `.e4:mg` of `psqt.knight.e4:mg` for `psqt.knight`.
    ///
    /// # Errors
    /// If the pattern matches no number.
    pub fn matching(&self, pattern: &str) -> Result<Vec<(usize, &str)>> {
        let rest = |(index, number): (usize, &Number)| Some((index, rest_of(pattern, &number.name)?));
        let found: Vec<(usize, usize)> = self.0.iter().enumerate().filter_map(rest).collect();
        if found.is_empty() {
            bail!("no parameter is called {pattern}; the nearest is {}", self.nearest(pattern));
        }
        // A stage in the pattern is not part of the rest.
        let stage = stage_of(pattern).1.len();
        let text = |(index, start): (usize, usize)| {
            let name = &self.0[index].name;
            (index, &name[start..name.len() - stage])
        };
        Ok(found.into_iter().map(text).collect())
    }

    /// Returns a flag per number, true if one of the patterns matches it.
    ///
    /// # Errors
    /// If a pattern matches no number.
    pub fn matching_any(&self, patterns: &[String]) -> Result<Vec<bool>> {
        let mut matched = vec![false; self.len()];
        for pattern in patterns {
            for (index, _) in self.matching(pattern)? {
                matched[index] = true;
            }
        }
        Ok(matched)
    }

    /// Returns the path, or beginning of a path, with the smallest edit distance from a pattern.
    fn nearest(&self, pattern: &str) -> String {
        // The time is proportional to the product of both lengths, and no name is longer.
        let pattern: String = stage_of(pattern).0.chars().take(LONGEST_COMPARED).collect();
        let paths = self.0.iter().map(|number| stage_of(&number.name).0);
        let beginnings = paths.flat_map(|path| ends(path).map(|end| &path[..end]));
        beginnings.min_by_key(|path| strsim::damerau_levenshtein(&pattern, path)).unwrap_or_default().to_owned()
    }
}

impl Deref for Numbers {
    type Target = [Number];

    fn deref(&self) -> &[Number] {
        &self.0
    }
}

/// Returns the path of the table that contains a parameter; its own path without a table.
fn table_of(path: &str) -> &str {
    path.rfind(['.', '[']).map_or(path, |end| &path[..end])
}

/// Returns the length of the shortest beginning of a name that a pattern matches: a whole path, or one up to a dot or
/// bracket.
fn rest_of(pattern: &str, name: &str) -> Option<usize> {
    let (path, stage) = stage_of(name);
    let (wanted, wanted_stage) = stage_of(pattern);
    let stage_fits = wanted_stage.is_empty() || wanted_stage == stage;
    ends(path).find(|&end| stage_fits && glob(wanted, &path[..end]))
}

/// Returns the lengths of the beginnings of a path that name a group of parameters, and the length of the path.
fn ends(path: &str) -> impl Iterator<Item = usize> {
    path.match_indices(['.', '[']).map(|(at, _)| at).chain([path.len()])
}

/// Splits a name into its path and the stage behind it, which may be empty.
fn stage_of(name: &str) -> (&str, &str) {
    let stage = STAGES.into_iter().find(|stage| name.ends_with(stage)).unwrap_or_default();
    name.split_at(name.len() - stage.len())
}

/// Returns true if a pattern with `*` matches a text. Each part between two `*` is found where it first occurs, which
/// leaves the most for the others.
fn glob(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let (parts, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(mut text) = text.strip_prefix(first) else { return false };
    for part in parts.split('*') {
        let Some((_, others)) = text.split_once(part) else { return false };
        text = others;
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::eval::params::Weights;

    #[test]
    fn names_follow_the_order_of_the_vector() {
        let numbers = Numbers::declared();
        assert_eq!(numbers.len(), Weights::DIMENSIONS);
        assert_eq!((&numbers[0].name[..], &numbers[1].name[..]), ("material.pawn:mg", "material.pawn:eg"));
        assert_eq!(numbers[Weights::DIMENSIONS - 1].name, "scale.pawns[8]");
    }

    #[test]
    fn squares_of_boards_have_mirror_images() {
        let numbers = Numbers::declared();
        let (mut on_boards, mut others) = (0, 0);
        for (index, number) in numbers.iter().enumerate() {
            let Some(mirror) = number.mirror else {
                others += 1;
                continue;
            };
            on_boards += 1;
            assert_eq!(numbers[mirror].mirror, Some(index));
            let flipped = |name: &str| -> String {
                let (table, square) = name.rsplit_once('.').unwrap();
                let file = char::from(b'a' + b'h' - square.as_bytes()[0]);
                format!("{table}.{file}{}", &square[1..])
            };
            assert_eq!(numbers[mirror].name, flipped(&number.name));
        }
        assert_eq!((on_boards, others), (2 * 6 * 64, Weights::DIMENSIONS - 2 * 6 * 64));
        let at = |name: &str| numbers.iter().find(|number| number.name == name).unwrap();
        let (square, tempo, phase) = (at("psqt.king.c2:eg"), at("tempo:mg"), at("phase.rook"));
        assert_eq!((&square.table[..], square.stage, square.mirror.is_some()), ("psqt.king", ":eg", true));
        assert_eq!((&tempo.table[..], tempo.stage, tempo.mirror), ("tempo", ":mg", None));
        assert_eq!((&phase.table[..], phase.stage, phase.mirror), ("phase", "", None));
    }

    #[test]
    fn patterns_match_numbers_tables_and_groups() {
        let numbers = Numbers::declared();
        let count = |pattern: &str| numbers.matching(pattern).unwrap().len();
        assert_eq!(count("*"), numbers.len());
        assert_eq!((count("psqt"), count("psqt.knight"), count("psqt.knight:mg")), (768, 128, 64));
        assert_eq!((count("psqt.*.e4:eg"), count("phase.queen"), count("material")), (6, 1, 10));
        let rests =
            |pattern: &str| numbers.matching(pattern).unwrap().iter().map(|&(_, rest)| rest).collect::<Vec<_>>();
        assert_eq!(rests("material.queen"), [":mg", ":eg"]);
        assert_eq!(rests("material.queen:eg"), [""]);
        assert_eq!(rests("psqt.knight:mg")[..2], [".a1", ".b1"]);
        assert_eq!(rests("psqt.knight")[..2], [".a1:mg", ".a1:eg"]);
        assert_eq!(rests("*")[..2], [".pawn:mg", ".pawn:eg"]);
    }

    #[test]
    fn a_star_matches_any_characters() {
        let long = "ab".repeat(40);
        for (pattern, text, fits) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("a*", "abc", true),
            ("*c", "abcc", true),
            ("*bc", "abbc", true),
            ("a*b*c", "axbybzc", true),
            ("a*b*c", "axbybz", false),
            ("ab", "abc", false),
            ("************z", &long, false),
            ("*a*a*a*a*a*a*a*a*a*a*a*a*b", &long, true),
        ] {
            assert_eq!(glob(pattern, text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn refuses_long_patterns_quickly() {
        let numbers = Numbers::declared();
        for pattern in ["*".repeat(40) + "z", "x".repeat(1 << 20), "a.".repeat(1 << 19)] {
            let begun = std::time::Instant::now();
            numbers.matching(&pattern).unwrap_err();
            assert!(begun.elapsed().as_secs() < 10, "{} bytes", pattern.len());
        }
    }

    #[test]
    fn an_unknown_pattern_names_the_nearest_parameter() {
        let numbers = Numbers::declared();
        for (pattern, near) in [
            ("psqt.kngiht", "psqt.knight"),
            ("matreial", "material"),
            ("material.quen:mg", "material.queen"),
            ("psqt.pawn.e9", "psqt.pawn.e2"),
            ("psq", "psqt"),
            ("phase.queen:mg", "phase.queen"),
        ] {
            let error = numbers.matching(pattern).unwrap_err().to_string();
            let (_, nearest) = error.rsplit_once("; the nearest is ").unwrap();
            let same = |a: &str, b: &str| a.len() == b.len() && a[..a.len() - 1] == b[..b.len() - 1];
            assert!(nearest == near || same(nearest, near), "{error}");
        }
    }
}
