//! Arrays of parameters, built from the names of their elements.

use anyhow::{Result, anyhow, bail, ensure};

use super::{MOST_DIMENSIONS, format_number};
use crate::source::Parameter;

/// The elements of an array in order: their indices, and their numbers as text.
type Elements = Vec<(Vec<usize>, String)>;

/// Groups parameters into arrays with their names, in their order.
pub(super) fn tables(parameters: &[Parameter]) -> Result<Vec<(String, Elements)>> {
    let names = parameters.iter().map(|parameter| indexed(&parameter.name)).collect::<Result<Vec<_>>>()?;
    let named: Vec<_> = names.into_iter().zip(parameters).collect();
    named.chunk_by(|a, b| a.0.0 == b.0.0).map(table).collect()
}

/// Returns the array of parameters of one name, each with its name and indices.
fn table(members: &[((&str, Vec<usize>), &Parameter)]) -> Result<(String, Elements)> {
    let decimals = members.iter().map(|(_, parameter)| parameter.decimals).max().unwrap_or(0);
    let mut elements = Vec::new();
    for (place, ((name, indices), parameter)) in members.iter().enumerate() {
        let expected = following(place.checked_sub(1).map(|before| &members[before].0.1[..]), indices.len());
        if !expected.contains(indices) {
            let brackets = |indices: &Vec<usize>| indices.iter().map(|index| format!("[{index}]")).collect::<String>();
            let names = expected.iter().map(|indices| format!("`{name}{}`", brackets(indices)));
            bail!(
                "`{}`: expected {}; arrays are listed in full, in the order of their indices",
                parameter.name,
                names.collect::<Vec<_>>().join(" or ")
            );
        }
        let is_alike = parameter.is_pair() == members[0].1.is_pair();
        ensure!(is_alike, "`{}`: single values and pairs are in one array", parameter.name);
        let numbers: Vec<String> = parameter.start.iter().map(|&value| format_number(value, decimals)).collect();
        let numbers = numbers.join(", ");
        elements.push((indices.clone(), if parameter.is_pair() { format!("[{numbers}]") } else { numbers }));
    }
    Ok((members[0].0.0.to_owned(), elements))
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

/// Splits a name into its base and its indices.
fn indexed(name: &str) -> Result<(&str, Vec<usize>)> {
    let fault = || anyhow!("`{name}`: expected a name and indices, such as psqt[3][27]");
    let Some(start) = name.find('[') else { return Ok((name, Vec::new())) };
    let (base, brackets) = name.split_at(start);
    let inner = brackets.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).ok_or_else(fault)?;
    let found = inner.split("][").count();
    if found > MOST_DIMENSIONS {
        let name: String = name.chars().take(40).collect();
        bail!("`{name}…`: has {found} indices, at most {MOST_DIMENSIONS} make an array");
    }
    let indices = inner.split("][").map(|index| index.parse::<u16>().map(usize::from).map_err(|_| fault()));
    let indices = indices.collect::<Result<_>>()?;
    if base.is_empty() { Err(fault()) } else { Ok((base, indices)) }
}
