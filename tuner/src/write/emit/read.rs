//! A reader of the files that [`super::emit`] writes.

use std::collections::HashMap;

use anyhow::{Context, Result};
use serde_json::Value as Json;
use toml_edit::{DocumentMut, Value};

use crate::source::{Parameter, with_values};

/// Returns parameters with the values of a TOML or JSON file.
///
/// # Errors
/// If the text is neither TOML nor JSON, or lacks a parameter.
pub fn values_of(text: &str, parameters: &[Parameter]) -> Result<Vec<Parameter>> {
    let numbers: HashMap<String, f64> = numbers_in(text)?.into_iter().map(|(_, name, number)| (name, number)).collect();
    let mut values = Vec::new();
    for parameter in parameters {
        let name = &parameter.name;
        let number = |name: &str| numbers.get(name).copied();
        let [midgame, endgame, third] = [0, 1, 2].map(|index| number(&format!("{name}[{index}]")));
        let found = match parameter.is_pair() {
            false => number(name).map(|number| vec![number]),
            true => midgame.zip(endgame).filter(|_| third.is_none()).map(|pair| vec![pair.0, pair.1]),
        };
        values.extend(found.with_context(|| format!("gives no value to `{name}`"))?);
    }
    Ok(with_values(parameters, &values))
}

/// Returns all numbers of a TOML or JSON file in order: their table, their name with indices and their value.
///
/// # Errors
/// If the text is neither TOML nor JSON.
pub fn numbers_in(text: &str) -> Result<Vec<(String, String, f64)>> {
    fn add(table: &str, name: String, value: &Json, to: &mut Vec<(String, String, f64)>) {
        match value {
            Json::Array(values) => {
                for (index, value) in values.iter().enumerate() {
                    add(table, format!("{name}[{index}]"), value, to);
                }
            }
            value => to.extend(value.as_f64().map(|number| (table.to_owned(), name, number))),
        }
    }
    let tables: serde_json::Map<String, Json> = if text.trim_start().starts_with('{') {
        serde_json::from_str(text)?
    } else {
        let document: DocumentMut = text.parse()?;
        document.iter().filter_map(|(name, item)| Some((name.to_owned(), json_of(item.as_value()?)))).collect()
    };
    let mut numbers = Vec::new();
    tables.iter().for_each(|(table, value)| add(table, table.clone(), value, &mut numbers));
    Ok(numbers)
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::Integer(number) => (*number.value()).into(),
        Value::Float(number) => (*number.value()).into(),
        Value::Array(values) => values.iter().map(json_of).collect(),
        _ => Json::Null,
    }
}
