//! Rows that an evaluation in Rust makes of positions.

use std::ops::Range;

use super::{Parameter, Problem, RunError};
use crate::data::{Dataset, ReadOptions, Source};
use crate::model::layout::Layout;
use crate::model::rows::{RowBuilder, Rows, RowsWriter, Shape};
use crate::model::text;
use crate::progress::Progress;

/// An evaluation that can be tuned.
pub trait Evaluation: Sync {
    /// What the evaluation adds up and how a score comes of it: the declarations of `merino-rows 2` without the line
    /// `rows`. See [`crate::model::text`].
    fn declare(&self) -> String;

    /// Takes a position apart. The row is empty before.
    ///
    /// # Errors
    /// In words, if the position cannot be evaluated.
    fn trace(&self, fen: &str, row: &mut Row) -> Result<(), String>;
}

/// White or Black.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// White.
    White,
    /// Black.
    Black,
}

/// A position taken apart: how often each parameter counts, and the facts.
#[derive(Clone, Debug)]
pub struct Row {
    /// By parameter.
    places: Vec<Place>,
    builder: RowBuilder,
    facts: usize,
    /// The first thing that was said and cannot be.
    fault: Option<String>,
}

/// Where a parameter counts.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The first segment of its sum; none for a free number, which rows do not count.
    segment: Option<usize>,
    leaf: usize,
    is_sided: bool,
}

impl Row {
    fn new(parameters: &[Parameter], layout: &Layout) -> Self {
        let mut leaves = vec![0; layout.sums.len()];
        let places = parameters.iter().map(|parameter| {
            let Some(sum) = parameter.sum else { return Place { segment: None, leaf: 0, is_sided: false } };
            leaves[sum] += 1;
            let is_sided = layout.sums[sum].is_sided;
            Place { segment: Some(layout.segment_of(sum)), leaf: leaves[sum] - 1, is_sided }
        });
        Row { places: places.collect(), builder: RowBuilder::default(), facts: layout.facts.len(), fault: None }
    }

    /// Counts a parameter, by its index, so many times for White; negative for Black. A count is one of the unit that
    /// was declared. May be said several times of one parameter.
    pub fn add(&mut self, parameter: usize, count: i32) {
        self.count(parameter, None, count);
    }

    /// The same for a parameter of a sided sum, of which White and Black have a total each.
    pub fn add_sided(&mut self, side: Side, parameter: usize, count: i32) {
        self.count(parameter, Some(side), count);
    }

    /// Says what a fact is, by its index in the order of their declarations.
    pub fn fact(&mut self, fact: usize, value: f32) {
        match 1 + fact {
            fact if fact < self.facts => self.builder.set_fact(fact, value),
            _ => self.refuse(format!("fact {fact} is not one of the {} there are", self.facts - 1)),
        }
    }

    /// Says what is added to the score of the formula, in centipawns and White's view.
    pub fn constant(&mut self, value: f32) {
        self.builder.set_fact(0, value);
    }

    fn count(&mut self, parameter: usize, side: Option<Side>, count: i32) {
        let Some(&Place { segment, leaf, is_sided }) = self.places.get(parameter) else {
            return self.refuse(format!("parameter {parameter} is not one of the {} there are", self.places.len()));
        };
        match segment {
            Some(segment) if is_sided == side.is_some() => {
                self.builder.add(segment + usize::from(side == Some(Side::Black)), leaf, count);
            }
            Some(_) if is_sided => {
                self.refuse(format!("parameter {parameter} counts in a sided sum: say for which side"));
            }
            Some(_) => self.refuse(format!("parameter {parameter} counts in a sum that is not sided")),
            None => self.refuse(format!("parameter {parameter} is a free number, which rows do not count")),
        }
    }

    fn refuse(&mut self, fault: String) {
        self.fault.get_or_insert(fault);
    }

    /// Makes the row empty.
    fn clear(&mut self) {
        self.builder.clear(self.facts);
        self.fault = None;
    }
}

impl Problem {
    /// Reads labelled positions and takes each apart by an evaluation.
    ///
    /// # Errors
    /// The first fault of the declarations, of the data, or of a row.
    pub fn read(
        sources: Vec<Source>,
        options: &ReadOptions,
        evaluation: &impl Evaluation,
        progress: &dyn Progress,
    ) -> Result<Self, RunError> {
        let mut text = text::declare("declarations", &evaluation.declare())?;
        let dataset = Dataset::read(sources, options, progress)?;
        let shape = Shape::from(&text.model.layout);
        let empty = Row::new(&text.parameters, &text.model.layout);
        let trace = |chunk: Range<usize>| -> Result<Rows, RunError> {
            let (mut row, mut rows) = (empty.clone(), RowsWriter::in_memory(shape.clone()));
            for (position, label) in dataset.samples(chunk) {
                row.clear();
                let fen = position.to_fen();
                let traced = evaluation.trace(&fen, &mut row);
                let traced = traced.and_then(|()| row.fault.take().map_or(Ok(()), Err));
                let mut push =
                    || rows.push(&mut row.builder, label.outcome.points()).map_err(|error| error.to_string());
                traced.and_then(|()| push()).map_err(|message| RunError::Row(format!("{fen}: {message}")))?;
            }
            Ok(rows.finish()?)
        };
        let (mut whole, mut fault) = (RowsWriter::new(shape.clone(), &options.storage), None);
        let collect = |rows: Result<Rows, RunError>| {
            if fault.is_none() {
                fault = rows.and_then(|rows| Ok(whole.append(&rows)?)).err();
            }
        };
        dataset.each_chunk("tracing", trace, collect, progress);
        if let Some(fault) = fault {
            return Err(fault);
        }
        text.rows = whole.finish()?;
        text.searches = (0..dataset.len()).map(|index| dataset.label(index).score).collect();
        let mut first = 0;
        text.sets.clear();
        for (_, _, count) in dataset.sets().filter(|set| set.2 > 0) {
            text.sets.push(first);
            first += count;
        }
        text.groups = dataset.groups().iter().copied().map(Some).collect();
        Problem::new(text, dataset.games().is_none(), &options.storage)
    }
}
