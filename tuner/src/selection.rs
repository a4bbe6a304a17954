//! Which parameters a run may move, by patterns of their paths.

use engine::eval::params::{Kind, Leaf, leaves};
use thiserror::Error;

/// What stands behind the path of a pair to mean one of its two numbers.
const STAGES: [&str; 2] = [":mg", ":eg"];

/// Why parameters cannot be selected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelectionError {
    /// A pattern that no parameter fits.
    #[error("no parameter is called {pattern}; the nearest is {nearest}")]
    Unknown {
        /// The pattern as given.
        pattern: String,
        /// The path of a parameter that looks like it.
        nearest: String,
    },
    /// All parameters are frozen.
    #[error("nothing is left to be tuned")]
    Nothing,
}

/// The parameters that a run may move: those that are named, or all if none is; without those that are frozen.
///
/// A pattern is the path of a parameter in its file (`material.queen`, `psqt.knight.f6`), of a table or of all that
/// belongs together (`psqt.knight`, `phase`); `*` stands for any characters, and `:mg` or `:eg` behind it for one number
/// of each pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Patterns of what is tuned; empty for everything.
    pub only: Vec<String>,
    /// Patterns of what keeps its start.
    pub freeze: Vec<String>,
}

impl Selection {
    /// By number of the parameter vector: whether it keeps its start.
    ///
    /// # Errors
    /// If a pattern fits no parameter, or if no parameter is left.
    pub fn frozen(&self) -> Result<Vec<bool>, SelectionError> {
        let numbers: Vec<String> = leaves().iter().flat_map(numbers).collect();
        let only = fitting(&self.only, &numbers)?;
        let freeze = fitting(&self.freeze, &numbers)?;
        let is_wanted = |index: usize| self.only.is_empty() || only[index];
        let frozen: Vec<bool> = (0..numbers.len()).map(|index| freeze[index] || !is_wanted(index)).collect();
        if frozen.iter().all(|&frozen| frozen) { Err(SelectionError::Nothing) } else { Ok(frozen) }
    }
}

/// The numbers of a leaf, by path and stage.
fn numbers(leaf: &Leaf) -> Vec<String> {
    match leaf.kind {
        Kind::Pair => STAGES.map(|stage| format!("{}{stage}", leaf.path)).to_vec(),
        Kind::Scalar => vec![leaf.path.clone()],
    }
}

/// By number: whether one of the patterns fits it.
fn fitting(patterns: &[String], numbers: &[String]) -> Result<Vec<bool>, SelectionError> {
    let mut found = vec![false; numbers.len()];
    for pattern in patterns {
        let mut fits_any = false;
        for (number, found) in numbers.iter().zip(&mut found) {
            if fits(pattern, number) {
                (*found, fits_any) = (true, true);
            }
        }
        if !fits_any {
            return Err(SelectionError::Unknown { pattern: pattern.clone(), nearest: nearest(pattern, numbers) });
        }
    }
    Ok(found)
}

/// Whether a pattern means a number: as a whole, by its path, or by the beginning of its path up to a dot.
fn fits(pattern: &str, number: &str) -> bool {
    let (path, stage) = stage_of(number);
    let (wanted, wanted_stage) = stage_of(pattern);
    let is_beginning = |end: usize| glob(wanted.as_bytes(), &path.as_bytes()[..end]);
    let ends = path.match_indices('.').map(|(dot, _)| dot).chain([path.len()]);
    (wanted_stage.is_empty() || wanted_stage == stage) && ends.into_iter().any(is_beginning)
}

/// A path and the stage behind it, if there is one.
fn stage_of(number: &str) -> (&str, &str) {
    let stage = STAGES.into_iter().find(|stage| number.ends_with(stage)).unwrap_or_default();
    number.split_at(number.len() - stage.len())
}

/// Whether a text is what a pattern with `*` describes.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => (0..=text.len()).any(|skipped| glob(rest, &text[skipped..])),
        Some((first, rest)) => text.first() == Some(first) && glob(rest, &text[1..]),
    }
}

/// The path, or beginning of a path, that takes the fewest edits to get from a pattern.
fn nearest(pattern: &str, numbers: &[String]) -> String {
    let pattern = stage_of(pattern).0;
    let paths = numbers.iter().map(|number| stage_of(number).0);
    let beginnings = paths.flat_map(|path| path.match_indices('.').map(|(dot, _)| &path[..dot]).chain([path]));
    beginnings.min_by_key(|path| strsim::damerau_levenshtein(pattern, path)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(only: &[&str], freeze: &[&str]) -> Selection {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Selection { only: texts(only), freeze: texts(freeze) }
    }

    /// The numbers that stay free.
    fn free(only: &[&str], freeze: &[&str]) -> Vec<String> {
        let frozen = selection(only, freeze).frozen().unwrap();
        let numbers: Vec<String> = leaves().iter().flat_map(numbers).collect();
        numbers.into_iter().zip(frozen).filter(|(_, frozen)| !frozen).map(|(number, _)| number).collect()
    }

    #[test]
    fn patterns_name_numbers_tables_and_families() {
        let all = free(&[], &[]).len();
        assert_eq!(all, engine::eval::params::Weights::DIMENSIONS);
        assert_eq!(free(&["psqt.knight"], &[]).len(), 128);
        assert_eq!(free(&["psqt.knight:mg"], &[]).len(), 64);
        assert_eq!(free(&["psqt.*.e4:eg"], &[]).len(), 6);
        assert_eq!(free(&["material.queen"], &[]), ["material.queen:mg", "material.queen:eg"]);
        assert_eq!(free(&["phase.queen"], &[]), ["phase.queen"]);
        assert_eq!(free(&["phase", "material.queen:eg"], &["phase.pawn"]).len(), 5);
        assert_eq!(free(&[], &["psqt", "material"]).len(), all - 2 * 6 * 64 - free(&["material"], &[]).len());
        assert_eq!(free(&["*"], &[]).len(), all);
    }

    #[test]
    fn a_pattern_without_a_parameter_is_told_what_it_might_mean() {
        for (pattern, near) in [
            ("psqt.kngiht", "psqt.knight"),
            ("matreial", "material"),
            ("material.quen", "material.queen"),
            ("psqt.pawn.e9", "psqt.pawn.e2"),
            ("psq", "psqt"),
        ] {
            let error = selection(&[pattern], &[]).frozen().unwrap_err();
            let SelectionError::Unknown { nearest, .. } = &error else { panic!("{error}") };
            let same = |a: &str, b: &str| a.len() == b.len() && a[..a.len() - 1] == b[..b.len() - 1];
            assert!(nearest == near || same(nearest, near), "{error}");
        }
        assert_eq!(selection(&["phase"], &["phase"]).frozen(), Err(SelectionError::Nothing));
    }
}
