//! A writer of tuned weights into the text of a parameter file, which keeps all that a person wrote there.
//!
//! Only the digits of changed numbers are replaced, at the positions that the strict reader of the engine reports.
//! Comments, order and layout stay byte for byte, except for the spaces that align the columns of a table with changed
//! numbers. A provenance block at the top records the origin of the numbers; it replaces the block of an earlier run.

mod provenance;

use std::ops::Range;

use engine::eval::params::{Axis, Field, Kind, ParamSet, Weights, fields_of};
use engine::eval::toml_file::{Cell, ParamsError, cells_of};
use thiserror::Error;

pub use provenance::{provenance, provenance_of};

/// A reason why no text could be made.
#[derive(Debug, Error)]
pub enum RenderError {
    /// The input text is not a valid parameter file.
    #[error("{0}")]
    Input(ParamsError),
    /// A provenance block of the input text has no end.
    #[error("line {line}: the provenance block that begins here has no end")]
    OpenProvenance {
        /// The line of its first marker, from 1.
        line: usize,
    },
    /// A reader would reject the new weights.
    #[error("the weights cannot be stored: {0}")]
    Weights(ParamsError),
}

/// Returns the input text with the new weights. `provenance`, if given, replaces the provenance block of the input.
///
/// The result reads back as exactly `weights`. Without `provenance`, an existing block stays; rendering the weights
/// that a text already holds then returns the same bytes.
///
/// # Errors
///
/// If the input text is not a valid parameter file, or the weights break its rules (out of range, no phase).
pub fn render(input: &str, weights: &Weights, provenance: Option<&str>) -> Result<String, RenderError> {
    Weights::from_toml(input).map_err(RenderError::Input)?;
    let numbers: Vec<i32> = weights.to_vector().into_iter().map(|number| number as i32).collect();
    let text = replace_numbers::<Weights>(input, &numbers).map_err(RenderError::Input)?;
    Weights::from_toml(&text).map_err(RenderError::Weights)?;
    match provenance {
        Some(block) => provenance::replace(&text, block),
        None => Ok(text),
    }
}

/// Replaces the numbers of a parameter file by `numbers`, in the order of the flat vector.
///
/// A column without a changed number stays; the others are aligned again.
fn replace_numbers<P: ParamSet>(text: &str, numbers: &[i32]) -> Result<String, ParamsError> {
    let cells = cells_of::<P>(text)?;
    let columns = columns_of::<P>();
    let tokens: Vec<String> =
        std::iter::zip(&cells, numbers).map(|(cell, &number)| token(text, cell, number)).collect();
    let mut widths = vec![None; cells.len()];
    for ((cell, &number), &column) in cells.iter().zip(numbers).zip(&columns) {
        if cell.value != number {
            widths[column] = Some(0);
        }
    }
    for (token, &column) in std::iter::zip(&tokens, &columns) {
        widths[column] = widths[column].map(|width: usize| width.max(token.len()));
    }
    let mut edits: Vec<(Range<usize>, String)> = cells
        .iter()
        .zip(&tokens)
        .zip(&columns)
        .filter_map(|((cell, token), &column)| widths[column].map(|width| aligned(text, &cell.span, token, width)))
        .collect();
    edits.sort_by_key(|(span, _)| span.start);
    Ok(apply(text, &edits))
}

/// Formats a number: as in the text if it is unchanged, else in plain decimal digits.
fn token(text: &str, cell: &Cell, number: i32) -> String {
    if cell.value == number { text[cell.span.clone()].to_owned() } else { number.to_string() }
}

/// Returns the column of each number of the flat vector.
///
/// A column holds the midgame or the endgame halves of an innermost array, such as the midgame halves of `[material]`,
/// or all numbers of one board. Any other number has a column of its own.
fn columns_of<P: ParamSet>() -> Vec<usize> {
    let mut columns = Vec::new();
    for field in fields_of::<P>() {
        let first = columns.len();
        let per_group = innermost(field);
        for leaf in 0..field.leaves() {
            let group = leaf / per_group;
            match field.kind {
                Kind::Pair => columns.extend([first + 2 * group, first + 2 * group + 1]),
                Kind::Scalar => columns.push(first + group),
            }
        }
    }
    columns
}

/// Returns the number of leaves of a field that share their columns.
fn innermost(field: &Field) -> usize {
    match (field.axes.last(), field.kind) {
        (Some(Axis::Board), _) => 64,
        (_, Kind::Pair) => field.dims.last().copied().unwrap_or(1),
        (_, Kind::Scalar) => 1,
    }
}

/// Returns the edit that replaces a number by `token`. Inside an array, the token is aligned to the right of its
/// column.
fn aligned(text: &str, span: &Range<usize>, token: &str, width: usize) -> (Range<usize>, String) {
    let before = text[..span.start].trim_end_matches([' ', '\t']);
    let gap = match before.chars().next_back() {
        Some('[') => "",
        Some(',') => " ",
        _ => return (span.clone(), token.to_owned()),
    };
    (before.len()..span.end, format!("{gap}{token:>width$}"))
}

/// Replaces each span of the text; the spans are in order and do not overlap.
fn apply(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for (span, with) in edits {
        result.push_str(&text[done..span.start]);
        result.push_str(with);
        done = span.end;
    }
    result.push_str(&text[done..]);
    result
}

#[cfg(test)]
mod tests;
