//! Updates of files from before a field existed: inserts missing fields with their declared start.

use std::fmt::Write;
use std::ops::ControlFlow;

use toml_edit::{Document, Item, Table};

use super::super::params::{Axis, Field, Group, Kind, ParamSet};
use super::error::ParamsError;
use super::read::{Absent, cells_of, present_cells};

/// Lists whose line would be longer are broken into several.
const WIDTH: usize = 100;

/// The number of elements in each line of a broken list.
const PER_LINE: usize = 8;

/// A parameter file that gives every declared field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completed {
    /// The given text with the insertions.
    pub text: String,
    /// The paths of the fields that were missing, in the order of the flat vector.
    pub added: Vec<&'static str>,
}

/// Inserts every declared field that a parameter file does not give at all: its start, and its doc comment as a comment.
/// Everything else stays as it stands.
///
/// # Errors
///
/// As [`Weights::from_toml`](super::super::params::Weights::from_toml), but for what is missing; and if a field is
/// missing from a table that is written within a line, where nothing can be inserted.
pub fn with_starts<P: ParamSet>(text: &str) -> Result<Completed, ParamsError> {
    let mut absent = Vec::new();
    present_cells::<P>(text, |field| {
        absent.push(field);
        Ok(())
    })?;
    let mut completed = text.to_owned();
    for Absent { field, group, .. } in &absent {
        let Ok(document) = Document::parse(completed.clone()) else { break };
        insert(&mut completed, document.as_table(), field, *group);
    }
    let added = absent.iter().map(|absent| absent.field.name).collect();
    match absent.into_iter().next() {
        Some(first) if cells_of::<P>(&completed).is_err() => Err(first.fault),
        _ => Ok(Completed { text: completed, added }),
    }
}

/// Inserts one field into the text that `root` was read from.
fn insert(text: &mut String, root: &Table, field: &Field, group: Option<&Group>) {
    let own_words = group.is_none_or(|group| group.doc != field.doc);
    let words = if own_words { comment(field.description()) } else { String::new() };
    if !is_value(field, field.axes, field.dims) {
        let mut tables = String::new();
        sections(&mut tables, field, field.axes, field.dims, field.name);
        return append(text, &format!("{words}{tables}"));
    }
    let line = format!("{words}{} = {}\n", field.key(), value(field, field.axes, field.dims));
    let Some(group) = group else {
        return match last_value(root) {
            Some(end) => insert_line(text, end, &format!("\n{line}")),
            None => insert_before_tables(text, &line),
        };
    };
    match table_at(root, group.name).filter(|table| !table.is_implicit() && !table.is_dotted()) {
        Some(table) => {
            let end = last_value(table).or_else(|| Some(table.span()?.start));
            insert_line(text, end.unwrap_or(text.len()), &line);
        }
        None => append(text, &format!("{}[{}]\n{line}", comment(group.description()), group.name)),
    }
}

/// The table at a path, if it is not written within a line.
fn table_at<'a>(root: &'a Table, path: &str) -> Option<&'a Table> {
    path.split('.').try_fold(root, |table, key| table.get(key)?.as_table())
}

/// Returns the end of the last value under the header of the table itself.
fn last_value(table: &Table) -> Option<usize> {
    let end = |item: &Item| match item {
        Item::Value(value) => Some(value.span()?.end),
        Item::Table(inner) if inner.is_dotted() => last_value(inner),
        _ => None,
    };
    table.iter().filter_map(|(_, item)| end(item)).max()
}

/// Inserts lines behind the line in which a byte stands.
fn insert_line(text: &mut String, byte: usize, lines: &str) {
    match text[byte..].find('\n') {
        Some(end) => text.insert_str(byte + end + 1, lines),
        None => {
            text.push('\n');
            text.push_str(lines);
        }
    }
}

/// Inserts lines before the first table and the comment above it, in a text with no value before its tables.
fn insert_before_tables(text: &mut String, lines: &str) {
    let body = text.len() - text.trim_start_matches('\u{feff}').len();
    let above = text[body..].split_inclusive('\n').try_fold((body, body), |(start, block), line| {
        let next = start + line.len();
        match line.trim_start().chars().next() {
            Some('[') => ControlFlow::Break(block),
            Some('#') => ControlFlow::Continue((next, block)),
            _ => ControlFlow::Continue((next, next)),
        }
    });
    match above {
        ControlFlow::Break(block) => text.insert_str(block, &format!("{lines}\n")),
        ControlFlow::Continue(_) => append(text, lines),
    }
}

/// Puts lines at the end, a blank line before them.
fn append(text: &mut String, lines: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if !text.is_empty() && !text.ends_with("\n\n") {
        text.push('\n');
    }
    text.push_str(lines);
}

/// The lines of a doc comment as a comment of the file.
fn comment(lines: impl Iterator<Item = &'static str>) -> String {
    lines.fold(String::new(), |comment, line| format!("{comment}{}\n", format!("# {line}").trim_end()))
}

/// Returns true if what is left of a field is written behind its key, not as a table of its own.
fn is_value(field: &Field, axes: &[Axis], dims: &[usize]) -> bool {
    dims.is_empty()
        || match axes.first() {
            Some(Axis::Keys(_)) => false,
            Some(Axis::Board) => field.kind == Kind::Scalar,
            Some(Axis::List) | None => true,
        }
}

/// The tables of a field, each with its header.
fn sections(text: &mut String, field: &Field, axes: &[Axis], dims: &[usize], path: &str) {
    let header = |text: &mut String| text.push_str(&format!("[{path}]\n"));
    match axes {
        [Axis::Keys(keys), inner @ ..] if is_value(field, inner, &dims[1..]) => {
            header(text);
            let value = value(field, inner, &dims[1..]);
            keys.iter().for_each(|key| text.push_str(&format!("{key} = {value}\n")));
        }
        [Axis::Keys(keys), inner @ ..] => {
            for (i, key) in keys.iter().enumerate() {
                text.push_str(if i > 0 { "\n" } else { "" });
                sections(text, field, inner, &dims[1..], &format!("{path}.{key}"));
            }
        }
        _ => {
            header(text);
            let [mg, eg] = field.start.map(drawing);
            text.push_str(&format!("mg = {mg}\neg = {eg}\n"));
        }
    }
}

/// Returns the text of a field's start, as it stands behind a key.
fn value(field: &Field, axes: &[Axis], dims: &[usize]) -> String {
    let [mg, eg] = field.start;
    let Some((&length, inner)) = dims.split_first() else {
        return match field.kind {
            Kind::Pair => format!("[{mg}, {eg}]"),
            Kind::Scalar => mg.to_string(),
        };
    };
    let (axis, axes) = axes.split_first().map_or((Axis::List, axes), |(&axis, inner)| (axis, inner));
    match (axis, field.kind) {
        (Axis::Board, Kind::Pair) => format!("{{ mg = {}, eg = {} }}", drawing(mg), drawing(eg)),
        (Axis::Board, Kind::Scalar) => drawing(mg),
        (Axis::Keys(keys), _) => {
            let value = value(field, axes, inner);
            let entries: Vec<String> = keys.iter().map(|key| format!("{key} = {value}")).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        (Axis::List, _) => list(&value(field, axes, inner), length),
    }
}

/// An array of equal elements.
fn list(element: &str, length: usize) -> String {
    let line = |count: usize| vec![element; count].join(", ");
    let short = format!("[{}]", line(length));
    if short.len() <= WIDTH {
        return short;
    }
    let per_line = if element.len() * PER_LINE <= WIDTH { PER_LINE } else { 1 };
    let starts = (0..length).step_by(per_line);
    let lines = starts.map(|start| format!("  {},\n", line(per_line.min(length - start))));
    format!("[\n{}]", lines.collect::<String>())
}

/// A board of equal numbers, rank 8 on top.
fn drawing(number: i32) -> String {
    let row = vec![number.to_string(); 8].join(", ");
    let mut drawing = "[\n".to_owned();
    for rank in (1..=8).rev() {
        let _ = writeln!(drawing, "  [{row}],  # {rank}");
    }
    drawing + "]"
}
