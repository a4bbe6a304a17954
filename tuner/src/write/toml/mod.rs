//! Writing tuned weights back: into the text they were read from, so that all a person wrote there survives.
//!
//! Only the digits of numbers that changed are replaced, at the places the strict reader of the engine found them.
//! Comments, order and layout of the file stay byte for byte, but for the blanks that align the columns of a table
//! whose numbers changed. A provenance block at the top says how the numbers came about; it replaces the block of an
//! earlier run.

mod provenance;

use std::ops::Range;

use engine::eval::params::{Axis, Field, Kind, ParamSet, Weights, fields_of};
use engine::eval::toml_file::{Cell, ParamsError, cells_of};
use thiserror::Error;

pub use provenance::{Provenance, provenance_of};

/// Why no text could be made.
#[derive(Debug, Error)]
pub enum RenderError {
    /// The input text has a fault.
    #[error("{0}")]
    Input(ParamsError),
    /// A provenance block of the input text has no end.
    #[error("line {line}: the provenance block that begins here has no end")]
    OpenProvenance {
        /// Line of its first marker, from 1.
        line: usize,
    },
    /// The new weights are none that a reader would accept.
    #[error("the weights cannot be stored: {0}")]
    Weights(ParamsError),
}

/// The input text with the new weights in it, and with `provenance`, if any, in place of the block it may have had.
///
/// The result reads back as exactly `weights`. Without provenance, a block that is there is left there; rendering the
/// weights a text already holds then gives the same bytes.
///
/// # Errors
///
/// If the input text is not a sound parameter file, or the weights break the rules for one (out of range, no phase).
pub fn render(input: &str, weights: &Weights, provenance: Option<&Provenance>) -> Result<String, RenderError> {
    Weights::from_toml(input).map_err(RenderError::Input)?;
    let numbers: Vec<i32> = weights.to_vector().into_iter().map(|number| number as i32).collect();
    let text = replace_numbers::<Weights>(input, &numbers).map_err(RenderError::Input)?;
    Weights::from_toml(&text).map_err(RenderError::Weights)?;
    match provenance {
        Some(provenance) => provenance::replace(&text, &provenance.to_string()),
        None => Ok(text),
    }
}

/// Puts `numbers`, in the order of the flat vector, where the numbers of a parameter file stand.
///
/// A column with no number that changes is left as it is; the others are aligned anew.
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

/// How a number is written: as before if it is the same, as plain decimal digits if not.
fn token(text: &str, cell: &Cell, number: i32) -> String {
    if cell.value == number { text[cell.span.clone()].to_owned() } else { number.to_string() }
}

/// For each number of the flat vector, the column it is drawn in.
///
/// A column is one half of the pairs of an innermost array level, such as the midgame halves of `[material]`, or all
/// the numbers of one drawn board. A single number that is in neither has a column of its own.
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

/// How many leaves of a field share their columns.
fn innermost(field: &Field) -> usize {
    match (field.axes.last(), field.kind) {
        (Some(Axis::Board), _) => 64,
        (_, Kind::Pair) => field.dims.last().copied().unwrap_or(1),
        (_, Kind::Scalar) => 1,
    }
}

/// The edit that puts `token` in place of a number and, inside an array, aligns it to the right of its column.
fn aligned(text: &str, span: &Range<usize>, token: &str, width: usize) -> (Range<usize>, String) {
    let before = text[..span.start].trim_end_matches([' ', '\t']);
    let gap = match before.chars().next_back() {
        Some('[') => "",
        Some(',') => " ",
        _ => return (span.clone(), token.to_owned()),
    };
    (before.len()..span.end, format!("{gap}{token:>width$}"))
}

/// The text with each span replaced; the spans are in order and do not overlap.
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
