//! The strict walk over a TOML document: each key, length, type and range is checked against the declaration.
//!
//! The walk yields the numbers in the order of the flat vector, each with its place in the text, so that a writer can
//! replace the numbers and leave all else of the file as it stands.

use std::ops::{Range, RangeInclusive};

use toml_edit::{Array, Document, TableLike};

use super::super::params::{Axis, Field, Group, Kind, ParamSet, Part, Weights, from_numbers};
use super::super::score::Score;
use super::error::ParamsError;
use super::node::Node;
use super::spelling::nearest;

/// The one key of a parameter file that is no parameter of the evaluation, and may be left out: K, the scale from
/// centipawns to expected results that the parameters were tuned with.
pub const SCALE: &str = "k";

/// A number of a parameter file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its value.
    pub value: i32,
    /// The bytes it occupies in the text.
    pub span: Range<usize>,
}

impl Weights {
    /// Reads the weights from the text of a parameter file.
    ///
    /// # Errors
    ///
    /// If the text is not TOML or anything in it is missing, unknown, of the wrong type or length, or out of range:
    /// the first such fault, with its path and line.
    pub fn from_toml(text: &str) -> Result<Self, ParamsError> {
        let weights: Self = read(text)?;
        if weights.has_phase() {
            return Ok(weights);
        }
        Err(ParamsError::Unexpected {
            path: "phase".to_owned(),
            expected: "at least one weight above 0".to_owned(),
            found: "only zeros".to_owned(),
            line: Document::parse(text)
                .ok()
                .and_then(|document| document.get("phase")?.span())
                .map(|span| line_of(text, span.start)),
        })
    }
}

/// Reads any declared set of parameters from TOML.
///
/// # Errors
///
/// As [`Weights::from_toml`].
pub fn read<P: ParamSet<Pair = Score, Single = i32>>(text: &str) -> Result<P, ParamsError> {
    let numbers: Vec<i32> = cells_of::<P>(text)?.iter().map(|cell| cell.value).collect();
    Ok(from_numbers(&numbers))
}

/// K, the scale of a parameter file, if the file gives it, and the bytes it occupies in the text.
///
/// # Errors
///
/// If the text is not TOML, or K no finite number above 0.
pub fn scale_of(text: &str) -> Result<Option<(f64, Range<usize>)>, ParamsError> {
    let document = Document::parse(text).map_err(|error| syntax(text, &error))?;
    Walk { text }.scale(&document)
}

/// The numbers of a parameter file in the order of the flat vector, and where each of them stands.
///
/// # Errors
///
/// As [`Weights::from_toml`].
pub fn cells_of<P: ParamSet>(text: &str) -> Result<Vec<Cell>, ParamsError> {
    present_cells::<P>(text, |absent| Err(absent.fault))
}

/// A declared field that a file does not give at all.
pub(super) struct Absent {
    pub(super) field: &'static Field,
    /// The group it is a member of.
    pub(super) group: Option<&'static Group>,
    /// The error of a strict reader.
    pub(super) fault: ParamsError,
}

/// The numbers that a parameter file gives, in the order of the flat vector; `absent` decides about whole fields that it
/// does not give. All else is read strictly.
pub(super) fn present_cells<P: ParamSet>(
    text: &str,
    mut absent: impl FnMut(Absent) -> Result<(), ParamsError>,
) -> Result<Vec<Cell>, ParamsError> {
    let document = Document::parse(text).map_err(|error| syntax(text, &error))?;
    let walk = Walk { text };
    let mut found = Vec::new();
    walk.parts(Some((document.as_table(), None)), P::PARTS, None, &mut found)?;
    walk.scale(&document)?;
    found.sort_by_key(|found| found.field.kind == Kind::Scalar);
    let mut cells = Vec::new();
    for Found { field, group, place } in found {
        match place {
            Ok(node) => walk.shape(node, field, field.axes, field.dims, field.name, &mut cells)?,
            Err(line) => {
                let expected = expectation(field, field.axes, field.dims);
                let fault = ParamsError::Absent { path: field.name.to_owned(), expected, line };
                absent(Absent { field, group, fault })?;
            }
        }
    }
    Ok(cells)
}

/// A declared field, and where it stands in a document.
struct Found<'a> {
    field: &'static Field,
    group: Option<&'static Group>,
    /// The node of the field, or the line of the table that lacks it.
    place: Result<Node<'a>, Option<usize>>,
}

/// A TOML syntax error in one line.
fn syntax(text: &str, error: &toml_edit::TomlError) -> ParamsError {
    let offset = error.span().map_or(0, |span| span.start);
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    ParamsError::Syntax {
        line: line_of(text, offset),
        column: before[line_start..].chars().count() + 1,
        message: error.message().split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// The line, from 1, of a byte of the text.
fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
}

/// The keys of a group's table, for a message.
fn known(parts: &[Part]) -> String {
    parts.iter().map(Part::key).collect::<Vec<_>>().join(", ")
}

/// Describes the value that a field, or a part of it, must have.
fn expectation(field: &Field, axes: &[Axis], dims: &[usize]) -> String {
    match (axes, dims, field.kind) {
        (_, [], Kind::Pair) => "a pair [midgame, endgame]".to_owned(),
        (_, [], Kind::Scalar) => integer_in(&field.range),
        ([Axis::Board, ..], _, Kind::Pair) => "a table with keys mg, eg".to_owned(),
        ([Axis::Board, ..], _, Kind::Scalar) => "an array of 8 rows".to_owned(),
        ([Axis::Keys(keys), ..], _, _) => format!("a table with keys {}", keys.join(", ")),
        (_, [length, inner @ ..], _) => format!("an array of {length} {}", unit(field.kind, inner)),
    }
}

/// Returns the name of the elements of a list.
fn unit(kind: Kind, inner_dims: &[usize]) -> &'static str {
    match (inner_dims, kind) {
        ([], Kind::Pair) => "pairs",
        ([], Kind::Scalar) => "numbers",
        _ => "entries",
    }
}

fn integer_in(range: &RangeInclusive<i32>) -> String {
    format!("an integer from {} to {}", range.start(), range.end())
}

/// The walk down one document. Each step appends the numbers of its part to `cells`.
struct Walk<'t> {
    text: &'t str,
}

impl Walk<'_> {
    /// Finds the fields of a group in its table, if that is there; `group` is nothing for the whole file.
    fn parts<'a>(
        &self,
        table: Option<(&'a dyn TableLike, Option<Range<usize>>)>,
        parts: &'static [Part],
        group: Option<&'static Group>,
        found: &mut Vec<Found<'a>>,
    ) -> Result<(), ParamsError> {
        let keys: Vec<&'static str> = parts.iter().map(Part::key).collect();
        if let Some((table, _)) = &table {
            match group {
                Some(group) => self.refuse_unknown(*table, &keys, group.name)?,
                None => self.refuse_unknown(*table, &[&keys[..], &[SCALE]].concat(), "")?,
            }
        }
        let line = table.as_ref().and_then(|(_, span)| self.line(span.clone()));
        for part in parts {
            let node = table.as_ref().and_then(|(table, _)| table.get(part.key())).map(Node::from);
            match part {
                Part::Field(field) => found.push(Found { field, group, place: node.ok_or(line) }),
                Part::Group(group) => {
                    let expected = || format!("a table with keys {}", known(group.parts));
                    let inner = node.map(|node| match node.as_table() {
                        Some(table) => Ok((table, node.span())),
                        None => Err(self.unexpected(node, group.name, expected())),
                    });
                    self.parts(inner.transpose()?, group.parts, Some(group), found)?;
                }
            }
        }
        Ok(())
    }

    /// A field, or the part of it that `axes` and `dims` are left of.
    fn shape(
        &self,
        node: Node,
        field: &Field,
        axes: &[Axis],
        dims: &[usize],
        path: &str,
        cells: &mut Vec<Cell>,
    ) -> Result<(), ParamsError> {
        let Some((&length, inner_dims)) = dims.split_first() else {
            return self.leaf(node, field, path, cells);
        };
        let (axis, inner_axes) = axes.split_first().map_or((Axis::List, axes), |(&axis, inner)| (axis, inner));
        let expected = || expectation(field, axes, dims);
        match axis {
            Axis::Board => self.board(node, field, path, cells),
            Axis::Keys(keys) => {
                let table = node.as_table().ok_or_else(|| self.unexpected(node, path, expected()))?;
                let missing = || expectation(field, inner_axes, inner_dims);
                for (key, inner) in self.entries(table, node.span(), keys, path, &missing)? {
                    self.shape(inner, field, inner_axes, inner_dims, &format!("{path}.{key}"), cells)?;
                }
                Ok(())
            }
            Axis::List => {
                let unit = unit(field.kind, inner_dims);
                for (i, inner) in self.elements(node, length, unit, path, &expected())?.iter().enumerate() {
                    self.shape(Node::Value(inner), field, inner_axes, inner_dims, &format!("{path}[{i}]"), cells)?;
                }
                Ok(())
            }
        }
    }

    /// A single leaf.
    fn leaf(&self, node: Node, field: &Field, path: &str, cells: &mut Vec<Cell>) -> Result<(), ParamsError> {
        if field.kind == Kind::Scalar {
            cells.push(self.number(node, &field.range, path)?);
            return Ok(());
        }
        let pair = self.elements(node, 2, "numbers [midgame, endgame]", path, &expectation(field, &[], &[]))?;
        for (i, half) in pair.iter().enumerate() {
            cells.push(self.number(Node::Value(half), &field.range, &format!("{path}[{i}]"))?);
        }
        Ok(())
    }

    /// The 64 leaves of a board: of scalars one drawing, of pairs a drawing for each half.
    fn board(&self, node: Node, field: &Field, path: &str, cells: &mut Vec<Cell>) -> Result<(), ParamsError> {
        let expected = expectation(field, &[Axis::Board], &[8, 8]);
        if field.kind == Kind::Scalar {
            cells.extend(self.drawing(node, &field.range, path)?);
            return Ok(());
        }
        let table = node.as_table().ok_or_else(|| self.unexpected(node, path, expected))?;
        let missing = || "an array of 8 rows".to_owned();
        let mut halves = Vec::with_capacity(2);
        for (key, half) in self.entries(table, node.span(), &["mg", "eg"], path, &missing)? {
            halves.push(self.drawing(half, &field.range, &format!("{path}.{key}"))?);
        }
        let [mg, eg] = <[Vec<Cell>; 2]>::try_from(halves).expect("two keys");
        cells.extend(std::iter::zip(mg, eg).flat_map(|(mg, eg)| [mg, eg]));
        Ok(())
    }

    /// Eight rows of eight numbers with rank 8 on top; returned from a1 to h8.
    fn drawing(&self, node: Node, range: &RangeInclusive<i32>, path: &str) -> Result<Vec<Cell>, ParamsError> {
        let rows = self.elements(node, 8, "rows", path, "an array of 8 rows")?;
        let mut ranks = Vec::with_capacity(8);
        for (i, row) in rows.iter().enumerate() {
            let path = format!("{path}[{i}]");
            let files = self.elements(Node::Value(row), 8, "numbers", &path, "a row of 8 numbers")?;
            let cells = files.iter().enumerate();
            let cells = cells.map(|(j, file)| self.number(Node::Value(file), range, &format!("{path}[{j}]")));
            ranks.push(cells.collect::<Result<Vec<Cell>, _>>()?);
        }
        Ok(ranks.into_iter().rev().flatten().collect())
    }

    /// An array of exactly `length` elements, which are called `unit`.
    fn elements<'a>(
        &self,
        node: Node<'a>,
        length: usize,
        unit: &str,
        path: &str,
        expected: &str,
    ) -> Result<&'a Array, ParamsError> {
        let array = node.as_array().ok_or_else(|| self.unexpected(node, path, expected.to_owned()))?;
        if array.len() == length {
            return Ok(array);
        }
        Err(ParamsError::Unexpected {
            path: path.to_owned(),
            expected: format!("{length} {unit}"),
            found: array.len().to_string(),
            line: self.line(node.span()),
        })
    }

    /// The entries of a table that has exactly `keys`, in their order. `missing` says what one of them would hold.
    fn entries<'a>(
        &self,
        table: &'a dyn TableLike,
        span: Option<Range<usize>>,
        keys: &[&'static str],
        path: &str,
        missing: &dyn Fn() -> String,
    ) -> Result<Vec<(&'static str, Node<'a>)>, ParamsError> {
        self.refuse_unknown(table, keys, path)?;
        let entry = |&key: &&'static str| match table.get(key) {
            Some(item) => Ok((key, Node::from(item))),
            None => Err(ParamsError::Missing {
                path: format!("{path}.{key}"),
                expected: missing(),
                line: self.line(span.clone()),
            }),
        };
        keys.iter().map(entry).collect()
    }

    /// Refuses a table that has a key other than `known`.
    fn refuse_unknown(&self, table: &dyn TableLike, known: &[&'static str], path: &str) -> Result<(), ParamsError> {
        let Some((key, _)) = table.iter().find(|(key, _)| !known.contains(key)) else {
            return Ok(());
        };
        Err(ParamsError::UnknownKey {
            path: if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") },
            known: known.to_vec(),
            hint: nearest(key, known),
            line: self.line(table.key(key).and_then(toml_edit::Key::span)),
        })
    }

    /// The scale, if it is there.
    fn scale(&self, document: &Document<&str>) -> Result<Option<(f64, Range<usize>)>, ParamsError> {
        let Some(node) = document.get(SCALE).map(Node::from) else { return Ok(None) };
        match (node.as_number().filter(|scale| scale.is_finite() && *scale > 0.0), node.span()) {
            (Some(scale), Some(span)) => Ok(Some((scale, span))),
            _ => Err(self.unexpected(node, SCALE, "a finite number above 0".to_owned())),
        }
    }

    /// An integer within `range`.
    fn number(&self, node: Node, range: &RangeInclusive<i32>, path: &str) -> Result<Cell, ParamsError> {
        let value = node.as_integer().and_then(|value| i32::try_from(value).ok()).filter(|value| range.contains(value));
        match (value, node.span()) {
            (Some(value), Some(span)) => Ok(Cell { value, span }),
            _ => Err(self.unexpected(node, path, integer_in(range))),
        }
    }

    fn unexpected(&self, node: Node, path: &str, expected: String) -> ParamsError {
        ParamsError::Unexpected {
            path: path.to_owned(),
            expected,
            found: node.describe(),
            line: self.line(node.span()),
        }
    }

    fn line(&self, span: Option<Range<usize>>) -> Option<usize> {
        span.map(|span| line_of(self.text, span.start))
    }
}
