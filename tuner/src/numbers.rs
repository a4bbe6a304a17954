//! The numbers of the parameter vector by name, and patterns that mean some of them.
//!
//! The name of a number is the path of its parameter in the file (`phase.queen`), with `:mg` or `:eg` behind it where
//! the parameter is a pair (`psqt.knight.e4:mg`). A pattern is such a name, the path of a table or of all that belongs
//! together (`psqt.knight`, `phase`); `*` stands for any characters, and a pattern without `:mg` or `:eg` means both.

use engine::eval::params::{Axis, Field, Kind, Weights, leaves, ranges_of};
use thiserror::Error;

/// Characters of a pattern that are compared with names to find the nearest.
const LONGEST_COMPARED: usize = 100;

/// One of the two numbers of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The first.
    Midgame,
    /// The second.
    Endgame,
}

impl Stage {
    /// Both, in their order.
    pub const ALL: [Self; 2] = [Stage::Midgame, Stage::Endgame];

    /// What it is called: `mg` or `eg`.
    pub fn name(self) -> &'static str {
        &self.suffix()[1..]
    }

    /// What stands behind the path of a pair to mean this number.
    fn suffix(self) -> &'static str {
        match self {
            Stage::Midgame => ":mg",
            Stage::Endgame => ":eg",
        }
    }
}

/// A pattern that no number fits.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no parameter is called {pattern}; the nearest is {nearest}")]
pub struct UnknownName {
    /// The pattern as given.
    pub pattern: String,
    /// The path of a parameter that looks like it.
    pub nearest: String,
}

/// A number of the parameter vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// Its name: `psqt.knight.e4:mg`, `phase.queen`.
    pub name: String,
    /// The path of what it is an element of: `psqt.knight`, `phase`; its own if of nothing.
    pub table: String,
    /// The field that declares it, of the engine's own.
    pub field: Option<&'static Field>,
    /// Which half of a pair it is; none if it stands by itself.
    pub stage: Option<Stage>,
    /// The square it is about, 8 rank + file, if it stands on a board.
    pub square: Option<usize>,
    /// Index of the number on the mirrored square of its board (file a for file h), if it stands on a board.
    pub mirror: Option<usize>,
    /// The least and the greatest value it may have.
    pub range: [f64; 2],
    /// Digits behind the decimal point that it is written with.
    pub decimals: usize,
}

impl Number {
    /// A number of a parameter by its path, within no range.
    pub fn new(path: &str, stage: Option<Stage>, decimals: usize) -> Self {
        Number {
            name: format!("{path}{}", stage.map_or("", Stage::suffix)),
            table: table_of(path).to_owned(),
            field: None,
            stage,
            square: None,
            mirror: None,
            range: [f64::NEG_INFINITY, f64::INFINITY],
            decimals,
        }
    }

    /// The path of its parameter: its name without a stage.
    pub fn path(&self) -> &str {
        stage_of(&self.name).0
    }

    /// A value as it is written: rounded, within a range, and 0 without a sign.
    pub fn round(&self, value: f64, (lower, upper): (f64, f64)) -> f64 {
        let parts = 10_f64.powi(self.decimals as i32);
        ((value * parts).round() / parts).clamp(lower, upper) + 0.0
    }
}

/// All numbers, in the order of the parameter vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers(Vec<Number>);

impl Numbers {
    /// Those that the engine declares.
    pub fn declared() -> Self {
        let leaves = leaves();
        let mut numbers: Vec<Number> = Vec::new();
        let mut field_start = 0;
        for (index, leaf) in leaves.iter().enumerate() {
            if index > 0 && leaves[index - 1].field != leaf.field {
                field_start = numbers.len();
            }
            let stages = stages_of(leaf.kind);
            // The squares of a board are counted 8 rank + file, and boards follow one another.
            let is_on_board = leaf.field.axes.last() == Some(&Axis::Board);
            let place = (numbers.len() - field_start) / stages.len();
            let square = is_on_board.then_some(place % 64);
            let mirror = is_on_board.then_some(field_start + (place ^ 7) * stages.len());
            numbers.extend(stages.iter().enumerate().map(|(half, &stage)| Number {
                field: Some(leaf.field),
                square,
                mirror: mirror.map(|first| first + half),
                ..Number::new(&leaf.path, stage, 0)
            }));
        }
        for (number, range) in numbers.iter_mut().zip(ranges_of::<Weights>()) {
            number.range = [*range.start(), *range.end()].map(f64::from);
        }
        Numbers(numbers)
    }

    /// Those of another evaluation.
    pub fn new(numbers: Vec<Number>) -> Self {
        Numbers(numbers)
    }

    /// Values of all of them as they are written: rounded, within the range of each.
    pub fn round(&self, values: &[f64]) -> Vec<f64> {
        self.iter().zip(values).map(|(number, &value)| number.round(value, number.range.into())).collect()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The numbers, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Number> {
        self.0.iter()
    }

    /// A number by index.
    ///
    /// # Panics
    /// If there is no such number.
    pub fn get(&self, index: usize) -> &Number {
        &self.0[index]
    }

    /// The name of a number by index.
    ///
    /// # Panics
    /// If there is no such number.
    pub fn name(&self, index: usize) -> &str {
        &self.0[index].name
    }

    /// The numbers that a pattern means, ascending, each with the rest of its name behind the pattern: `.e4:mg` of
    /// `psqt.knight.e4:mg` for `psqt.knight`.
    ///
    /// # Errors
    /// If there is none.
    pub fn meant_by(&self, pattern: &str) -> Result<Vec<(usize, &str)>, UnknownName> {
        let rest = |(index, number): (usize, &Number)| Some((index, rest_of(pattern, &number.name)?));
        let found: Vec<(usize, usize)> = self.0.iter().enumerate().filter_map(rest).collect();
        if found.is_empty() {
            return Err(UnknownName { pattern: pattern.to_owned(), nearest: self.nearest(pattern) });
        }
        // A stage that the pattern names is not part of the rest.
        let stage = stage_of(pattern).1.len();
        let text = |(index, start): (usize, usize)| {
            let name = &self.0[index].name;
            (index, &name[start..name.len() - stage])
        };
        Ok(found.into_iter().map(text).collect())
    }

    /// By number: whether one of the patterns means it.
    ///
    /// # Errors
    /// If one of them means none.
    pub fn meant_by_any(&self, patterns: &[String]) -> Result<Vec<bool>, UnknownName> {
        let mut meant = vec![false; self.len()];
        for pattern in patterns {
            for (index, _) in self.meant_by(pattern)? {
                meant[index] = true;
            }
        }
        Ok(meant)
    }

    /// The path, or beginning of a path, that takes the fewest edits to get from a pattern.
    fn nearest(&self, pattern: &str) -> String {
        // The time grows with the product of both lengths; nobody mistypes a longer name.
        let pattern: String = stage_of(pattern).0.chars().take(LONGEST_COMPARED).collect();
        let paths = self.0.iter().map(|number| stage_of(&number.name).0);
        let beginnings = paths.flat_map(|path| ends(path).map(|end| &path[..end]));
        beginnings.min_by_key(|path| strsim::damerau_levenshtein(&pattern, path)).unwrap_or_default().to_owned()
    }
}

/// The path of what a parameter is an element of; its own if of nothing.
fn table_of(path: &str) -> &str {
    path.rfind(['.', '[']).map_or(path, |end| &path[..end])
}

/// The numbers that a leaf has.
fn stages_of(kind: Kind) -> &'static [Option<Stage>] {
    match kind {
        Kind::Pair => &[Some(Stage::Midgame), Some(Stage::Endgame)],
        Kind::Scalar => &[None],
    }
}

/// Where the shortest beginning of a name ends that a pattern describes: a whole path, or one up to a dot or bracket.
fn rest_of(pattern: &str, name: &str) -> Option<usize> {
    let (path, stage) = stage_of(name);
    let (wanted, wanted_stage) = stage_of(pattern);
    let stage_fits = wanted_stage.is_empty() || wanted_stage == stage;
    ends(path).find(|&end| stage_fits && glob(wanted.as_bytes(), &path.as_bytes()[..end]))
}

/// Where the beginnings of a path end that stand for all that begins so, and the path itself.
fn ends(path: &str) -> impl Iterator<Item = usize> {
    path.match_indices(['.', '[']).map(|(at, _)| at).chain([path.len()])
}

/// A path and the stage behind it, if there is one.
fn stage_of(name: &str) -> (&str, &str) {
    let stage = Stage::ALL.map(Stage::suffix).into_iter().find(|stage| name.ends_with(stage)).unwrap_or_default();
    name.split_at(name.len() - stage.len())
}

/// Whether a text is what a pattern with `*` describes.
///
/// Only the last `*` so far is ever extended: whatever an earlier one could skip, the last one can skip, too.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    let mut last_star = None;
    while read < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                last_star = Some((at + 1, read));
                at += 1;
            }
            Some(&byte) if byte == text[read] => {
                at += 1;
                read += 1;
            }
            _ => {
                let Some((behind, skipped)) = last_star else { return false };
                last_star = Some((behind, skipped + 1));
                (at, read) = (behind, skipped + 1);
            }
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_named_in_the_order_of_the_vector() {
        let numbers = Numbers::declared();
        assert_eq!(numbers.len(), Weights::DIMENSIONS);
        assert_eq!((numbers.name(0), numbers.name(1)), ("material.pawn:mg", "material.pawn:eg"));
        assert_eq!(numbers.name(Weights::DIMENSIONS - 1), "scale.pawns[8]");
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
            assert_eq!(numbers.get(mirror).mirror, Some(index));
            let flipped = |name: &str| -> String {
                let (table, square) = name.rsplit_once('.').unwrap();
                let file = char::from(b'a' + b'h' - square.as_bytes()[0]);
                format!("{table}.{file}{}", &square[1..])
            };
            assert_eq!(numbers.name(mirror), flipped(&number.name));
        }
        assert_eq!((on_boards, others), (2 * 6 * 64, Weights::DIMENSIONS - 2 * 6 * 64));
        let at = |name: &str| numbers.iter().find(|number| number.name == name).unwrap();
        let (square, tempo, phase) = (at("psqt.king.c2:eg"), at("tempo:mg"), at("phase.rook"));
        assert_eq!((&square.table[..], square.stage, square.square), ("psqt.king", Some(Stage::Endgame), Some(10)));
        assert_eq!((&tempo.table[..], tempo.stage, tempo.square), ("tempo", Some(Stage::Midgame), None));
        assert_eq!((&phase.table[..], phase.stage, phase.square), ("phase", None, None));
    }

    #[test]
    fn patterns_name_numbers_tables_and_families() {
        let numbers = Numbers::declared();
        let count = |pattern: &str| numbers.meant_by(pattern).unwrap().len();
        assert_eq!(count("*"), numbers.len());
        assert_eq!((count("psqt"), count("psqt.knight"), count("psqt.knight:mg")), (768, 128, 64));
        assert_eq!((count("psqt.*.e4:eg"), count("phase.queen"), count("material")), (6, 1, 10));
        let rests =
            |pattern: &str| numbers.meant_by(pattern).unwrap().iter().map(|&(_, rest)| rest).collect::<Vec<_>>();
        assert_eq!(rests("material.queen"), [":mg", ":eg"]);
        assert_eq!(rests("material.queen:eg"), [""]);
        assert_eq!(rests("psqt.knight:mg")[..2], [".a1", ".b1"]);
        assert_eq!(rests("psqt.knight")[..2], [".a1:mg", ".a1:eg"]);
        assert_eq!(rests("*")[..2], [".pawn:mg", ".pawn:eg"]);
    }

    #[test]
    fn stars_skip_what_lies_between() {
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
            assert_eq!(glob(pattern.as_bytes(), text.as_bytes()), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn a_long_pattern_is_refused_as_fast_as_a_short_one() {
        let numbers = Numbers::declared();
        for pattern in ["*".repeat(40) + "z", "x".repeat(1 << 20), "a.".repeat(1 << 19)] {
            let begun = std::time::Instant::now();
            numbers.meant_by(&pattern).unwrap_err();
            assert!(begun.elapsed().as_secs() < 10, "{} bytes", pattern.len());
        }
    }

    #[test]
    fn a_pattern_without_a_number_is_told_what_it_might_mean() {
        let numbers = Numbers::declared();
        for (pattern, near) in [
            ("psqt.kngiht", "psqt.knight"),
            ("matreial", "material"),
            ("material.quen:mg", "material.queen"),
            ("psqt.pawn.e9", "psqt.pawn.e2"),
            ("psq", "psqt"),
            ("phase.queen:mg", "phase.queen"),
        ] {
            let error = numbers.meant_by(pattern).unwrap_err();
            let same = |a: &str, b: &str| a.len() == b.len() && a[..a.len() - 1] == b[..b.len() - 1];
            assert!(error.nearest == near || same(&error.nearest, near), "{error}");
        }
    }
}
