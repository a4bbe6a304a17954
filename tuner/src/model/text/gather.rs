//! The builder of text rows, which are added one by one.

use super::header::Header;
use super::lines::{LineReader, RowLines};
use super::{Start, TextError, TextRows};
use crate::data::io::Storage;
use crate::model::Model;
use crate::model::rows::{RowBuilder, RowsError, RowsWriter, Shape};
use crate::model::tape::{LANES, Work};

/// The labels of a row: result, group and search score.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowLabel {
    pub(super) result: f32,
    pub(super) group: Option<u32>,
    pub(super) search: Option<i16>,
}

/// The place and unit of the counts of a parameter of a sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    /// Segment, White's of a sided sum.
    segment: usize,
    leaf: usize,
    pub(super) is_sided: bool,
    pub(super) unit: f64,
    /// First slot of the segment's total.
    slot: usize,
    /// Start values times the unit: the contribution of a count of one to the slot and, of a pair, the next one.
    worth: Start,
}

/// A collector of rows, which also checks their scores at the start of the parameters.
pub(super) struct Gather {
    model: Model,
    writer: RowsWriter,
    row: RowBuilder,
    /// Place of the counts by parameter; none for a free number, which has no counts.
    pub(super) counted: Vec<Option<Counted>>,
    /// Totals at the start of the parameters, and facts, of the rows whose scores are not checked yet, and of the
    /// current row.
    work: Work,
    /// Number of the rows whose scores are not checked yet.
    waiting: usize,
    groups: Vec<Option<u32>>,
    searches: Vec<Option<i16>>,
    scores: Option<Vec<f32>>,
    lines: RowLines,
    sets: Vec<usize>,
    /// Distinguishes groups of different texts.
    salt: u32,
}

impl Gather {
    pub(super) fn new(header: &Header, model: Model, storage: &Storage) -> Self {
        let layout = &model.layout;
        let mut leaves = vec![0..; layout.sums.len()];
        let counted = header.parameters.iter().map(|parameter| {
            let (sum, unit) = (parameter.sum?, parameter.unit);
            let segment = layout.segment_of(sum);
            Some(Counted {
                segment,
                leaf: leaves[sum].next()?,
                is_sided: layout.sums[sum].is_sided,
                unit,
                slot: layout.slots_of(segment).start,
                worth: match parameter.start {
                    Start::Single(start) => Start::Single(start * unit),
                    Start::Pair(start) => Start::Pair(start.map(|start| start * unit)),
                },
            })
        });
        let counted = counted.collect();
        let mut work = Work::new(layout.slots(), layout.facts.len());
        for (total, common) in work.totals[layout.row_slots()..].iter_mut().zip(&layout.common) {
            *total = [common.iter().map(|&(number, count)| header.start[number] * count).sum(); LANES];
        }
        Gather {
            writer: RowsWriter::new(Shape::from(layout), storage),
            row: RowBuilder::default(),
            counted,
            work,
            waiting: 0,
            groups: Vec::new(),
            searches: Vec::new(),
            scores: None,
            lines: RowLines::default(),
            sets: vec![0],
            salt: 0,
            model,
        }
    }

    /// Returns the number of rows so far.
    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns the engine's own score of the last row, if rows have it.
    pub(super) fn last_score(&self) -> Option<f32> {
        self.scores.as_ref()?.last().copied()
    }

    /// Begins the next text, whose groups are different.
    pub(super) fn next_text(&mut self, number: usize) {
        self.salt = (number as u32).wrapping_mul(0x9E37_79B9);
        self.begin_set();
    }

    /// Begins the next set of data, unless the last one has no rows.
    pub(super) fn begin_set(&mut self) {
        if self.sets.last() != Some(&self.len()) {
            self.sets.push(self.len());
        }
    }

    /// Begins a row.
    pub(super) fn begin(&mut self) {
        let Work { totals, facts, .. } = &mut self.work;
        self.row.clear(facts.len());
        let totals = &mut totals[..self.model.layout.row_slots()];
        totals.iter_mut().chain(facts).for_each(|lanes| lanes[self.waiting] = 0.0);
    }

    /// Sets a fact.
    pub(super) fn fact(&mut self, fact: usize, value: f32) {
        self.row.set_fact(fact, value);
        self.work.facts[fact][self.waiting] = value.into();
    }

    /// Adds the engine's own score.
    pub(super) fn score(&mut self, score: f32) {
        self.scores.get_or_insert_default().push(score);
    }

    /// Adds a count on a side: 0 for White or an unsided sum, 1 for Black.
    #[inline(always)]
    pub(super) fn count(&mut self, Counted { segment, leaf, slot, worth, .. }: &Counted, side: usize, count: i32) {
        self.row.add(segment + side, *leaf, count);
        let worth = worth.numbers();
        let totals = &mut self.work.totals[slot + side * worth.len()..];
        for (total, worth) in totals.iter_mut().zip(worth) {
            total[self.waiting] += f64::from(count) * worth;
        }
    }

    /// Ends a row.
    pub(super) fn push(&mut self, label: RowLabel, reader: &LineReader) -> Result<(), TextError> {
        let RowLabel { result, group, search } = label;
        self.writer.push(&mut self.row, result).map_err(|error| match error {
            RowsError::Storage(_) => error.into(),
            error => reader.fault(error.to_string()),
        })?;
        let row = self.len();
        self.groups.push(group.map(|group| group ^ self.salt));
        self.lines.push(row, reader.number);
        if search.is_some() {
            // Earlier rows have no search score.
            self.searches.resize(row, None);
            self.searches.push(search);
        }
        self.waiting += 1;
        if self.waiting == LANES { self.check_scores(reader) } else { Ok(()) }
    }

    /// Refuses rows whose scores are not finite at the start of the parameters.
    pub(super) fn check_scores(&mut self, reader: &LineReader) -> Result<(), TextError> {
        let first = self.len() - self.waiting;
        let scores = &self.model.tape.scores(&mut self.work)[..self.waiting];
        self.waiting = 0;
        match scores.iter().position(|score| !score.is_finite()) {
            None => Ok(()),
            Some(lane) => {
                let message = format!(
                    "the score of this row is {} where the parameters start: the formula goes beyond what numbers can \
                     hold; bound what it takes powers or exponentials of, as in exp(min(50, …))",
                    scores[lane]
                );
                Err(reader.fault_at(self.lines.of(first + lane), message))
            }
        }
    }

    /// Returns all rows, read from the given files.
    pub(super) fn finish(mut self, header: Header, files: Vec<(String, usize)>) -> Result<TextRows, TextError> {
        if !self.searches.is_empty() {
            self.searches.resize(self.groups.len(), None);
        }
        Ok(TextRows {
            parameters: header.parameters,
            formula: header.text,
            model: self.model,
            rows: self.writer.finish()?,
            groups: self.groups,
            searches: self.searches,
            scores: self.scores,
            lines: self.lines,
            files,
            sets: self.sets,
        })
    }
}
