//! A writer of tuned weights into the text of a parameter file, which keeps all that a person wrote there.
//!
//! Only the digits of changed numbers are replaced, at the positions that the strict reader of the engine reports.
//! Comments, order and layout stay byte for byte, except for the spaces that align the columns of a table with changed
//! numbers. A provenance block at the top records the origin of the numbers; it replaces the block of an earlier run.

mod provenance;

use std::ops::Range;

use anyhow::{Result, anyhow};
use engine::eval::params::{Axis, Kind, ParamSet, Weights, fields_of};
use engine::eval::toml_file::{Cell, ParamsError, cells_of};

pub use provenance::{provenance, provenance_of};

/// Returns the input text with the new weights. `provenance`, if given, replaces the provenance block of the input.
///
/// The result reads back as exactly `weights`. Without `provenance`, an existing block stays; rendering the weights
/// that a text already holds then returns the same bytes.
///
/// # Errors
///
/// If the input text is not a valid parameter file, or the weights break its rules (out of range, no phase).
pub fn render(input: &str, weights: &Weights, provenance: Option<&str>) -> Result<String> {
    Weights::from_toml(input)?;
    let numbers: Vec<i32> = weights.to_vector().into_iter().map(|number| number as i32).collect();
    let text = replace_numbers::<Weights>(input, &numbers)?;
    Weights::from_toml(&text).map_err(|error| anyhow!("the weights cannot be stored: {error}"))?;
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
    // A number that stays keeps its notation.
    let written = |cell: &Cell, number: i32| {
        if cell.value == number { text[cell.span.clone()].to_owned() } else { number.to_string() }
    };
    let tokens: Vec<String> = std::iter::zip(&cells, numbers).map(|(cell, &number)| written(cell, number)).collect();
    // By column: true if a number changes, and the width.
    let mut layout = vec![(false, 0); cells.len()];
    for (index, &column) in columns.iter().enumerate() {
        let (is_changed, width) = &mut layout[column];
        *is_changed |= cells[index].value != numbers[index];
        *width = (*width).max(tokens[index].len());
    }
    let edit = |index: usize| {
        let (is_changed, width) = layout[columns[index]];
        is_changed.then(|| aligned(text, &cells[index].span, &tokens[index], width))
    };
    let mut edits: Vec<_> = (0..cells.len()).filter_map(edit).collect();
    edits.sort_by_key(|(span, _)| span.start);
    let mut text = text.to_owned();
    edits.into_iter().rev().for_each(|(span, with)| text.replace_range(span, &with));
    Ok(text)
}

/// Returns the column of each number of the flat vector.
///
/// A column holds the midgame or the endgame halves of an innermost array, such as the midgame halves of `[material]`,
/// or all numbers of one board. Any other number has a column of its own.
fn columns_of<P: ParamSet>() -> Vec<usize> {
    let mut columns = Vec::new();
    for field in fields_of::<P>() {
        let first = columns.len();
        let width = if field.kind == Kind::Pair { 2 } else { 1 };
        // The number of leaves that share their columns.
        let per_group = match (field.axes.last(), field.kind) {
            (Some(Axis::Board), _) => 64,
            (_, Kind::Pair) => field.dims.last().copied().unwrap_or(1),
            (_, Kind::Scalar) => 1,
        };
        let column = |number: usize| first + width * (number / width / per_group) + number % width;
        columns.extend((0..field.leaves() * width).map(column));
    }
    columns
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

#[cfg(test)]
mod tests;
