//! Arrays of parameters, built from the names of their elements.

use super::{EmitError, MOST_DIMENSIONS};
use crate::source::{Parameter, Start};

/// An array of numbers or pairs, or a single element.
#[derive(Debug, PartialEq)]
pub(super) struct ParameterArray {
    pub(super) name: String,
    pub(super) value: ArrayValue,
    /// The largest length of each dimension, outermost first; empty for a single element.
    pub(super) lengths: Vec<usize>,
    pub(super) is_pair: bool,
    /// True if arrays of one dimension differ in length.
    pub(super) is_ragged: bool,
    /// The number of digits after the decimal point.
    pub(super) decimals: usize,
}

/// An element, or a nested list of elements.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ArrayValue {
    Element(Start),
    List(Vec<ArrayValue>),
}

/// Groups parameters into arrays, in their order.
pub(super) fn tables(parameters: &[Parameter]) -> Result<Vec<ParameterArray>, EmitError> {
    let split: Vec<(&str, Vec<usize>)> =
        parameters.iter().map(|parameter| indexed(&parameter.name)).collect::<Result<_, _>>()?;
    let mut tables = Vec::new();
    let mut start = 0;
    for run in split.chunk_by(|a, b| a.0 == b.0) {
        let members = &parameters[start..start + run.len()];
        start += run.len();
        let mut table = ParameterArray {
            name: run[0].0.to_owned(),
            value: ArrayValue::List(Vec::new()),
            lengths: vec![0; run[0].1.len()],
            is_pair: matches!(members[0].start, Start::Pair(_)),
            is_ragged: false,
            decimals: members.iter().map(|member| member.decimals).max().unwrap_or(0),
        };
        for (place, ((name, indices), parameter)) in run.iter().zip(members).enumerate() {
            let expected = following(place.checked_sub(1).map(|before| &run[before].1[..]), indices.len());
            if !expected.contains(indices) {
                let brackets =
                    |indices: &Vec<usize>| indices.iter().map(|index| format!("[{index}]")).collect::<String>();
                let names = expected.iter().map(|indices| format!("`{name}{}`", brackets(indices)));
                return Err(EmitError(format!(
                    "`{}`: expected {}; arrays are listed in full, in the order of their indices",
                    parameter.name,
                    names.collect::<Vec<_>>().join(" or ")
                )));
            }
            if table.is_pair != matches!(parameter.start, Start::Pair(_)) {
                return Err(EmitError(format!("`{}`: single values and pairs are in one array", parameter.name)));
            }
            table.lengths.iter_mut().zip(indices).for_each(|(length, index)| *length = (*length).max(index + 1));
            table.value.insert(indices, parameter.start);
        }
        table.is_ragged = run.len() != table.lengths.iter().product::<usize>();
        tables.push(table);
    }
    Ok(tables)
}

/// Returns the index tuples that may follow: one dimension incremented, all later dimensions 0.
fn following(before: Option<&[usize]>, dimensions: usize) -> Vec<Vec<usize>> {
    let Some(before) = before else { return vec![vec![0; dimensions]] };
    let next = |dimension: usize| {
        let mut next = before.to_vec();
        next[dimension] += 1;
        next[dimension + 1..].fill(0);
        next
    };
    (0..before.len()).rev().map(next).collect()
}

impl ArrayValue {
    /// Appends an element at its indices.
    fn insert(&mut self, indices: &[usize], element: Start) {
        match (indices, &mut *self) {
            ([index, rest @ ..], ArrayValue::List(values)) => {
                if *index == values.len() {
                    values.push(ArrayValue::List(Vec::new()));
                }
                values[*index].insert(rest, element);
            }
            _ => *self = ArrayValue::Element(element),
        }
    }
}

/// Splits a name into its base and its indices.
pub(super) fn indexed(name: &str) -> Result<(&str, Vec<usize>), EmitError> {
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
