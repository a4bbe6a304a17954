//! The builder of text rows, which are added one by one.

use super::header::{Header, RowsSchema};
use super::lines::{LineReader, RowLines};
use super::{TextError, TextRows};
use crate::io::Storage;
use crate::model::Model;
use crate::model::rows::{RowBuilder, RowsError, RowsWriter, Shape};
use crate::model::tape::{LANES, Work};

/// The labels of a row: result, group and search score.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowLabel {
    pub(super) result: f32,
    pub(super) group: Option<u32>,
    pub(super) search: Option<i16>,
}

/// The segment, leaf and unit of a parameter's counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    /// Segment, White's of a sided sum; none for a free number, which has no counts.
    segment: Option<u32>,
    leaf: u32,
    pub(super) is_sided: bool,
    pub(super) unit: f64,
    /// Slot of the total.
    slot: u32,
    is_pair: bool,
    /// Start values times the unit: the contribution of a count of one to the slot and the next one.
    worth: [f64; 2],
}

/// A collector of rows, which also checks their scores at the start of the parameters.
pub(super) struct Gather {
    model: Model,
    writer: RowsWriter,
    row: RowBuilder,
    pub(super) counted: Vec<Counted>,
    /// Totals of the current row at the start.
    totals: Vec<f64>,
    facts: Vec<f32>,
    /// Totals and facts of the rows whose scores are not checked yet.
    work: Work,
    /// Number of these rows.
    waiting: usize,
    /// Line numbers of these rows.
    waiting_lines: [u64; LANES],
    groups: Vec<Option<u32>>,
    searches: Vec<Option<i16>>,
    scores: Vec<f32>,
    lines: RowLines,
    sets: Vec<usize>,
    /// Distinguishes groups of different texts.
    salt: u32,
    has_scores: bool,
}

impl Gather {
    pub(super) fn new(header: &Header, declared: &RowsSchema, storage: &Storage) -> Self {
        let layout = &declared.model.layout;
        let mut leaves = vec![0; layout.sums.len()];
        let counted = header.parameters.iter().zip(&header.first).map(|(parameter, &first)| {
            let numbers = parameter.start.numbers();
            let worth = [numbers[0], *numbers.last().expect("a number")].map(|start| start * parameter.unit);
            let is_pair = numbers.len() == 2;
            let none = Counted { segment: None, leaf: 0, is_sided: false, unit: 1.0, slot: 0, is_pair, worth };
            let Some(sum) = parameter.sum else { return none };
            let segment = layout.segment_of(sum);
            let leaf = leaves[sum];
            leaves[sum] += 1;
            debug_assert_eq!(layout.leaves(segment)[leaf as usize].parameter, first, "leaves in order");
            Counted {
                segment: Some(segment as u32),
                leaf,
                is_sided: layout.sums[sum].is_sided,
                unit: parameter.unit,
                slot: layout.slots_of(segment).start as u32,
                is_pair,
                worth,
            }
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
            totals: vec![0.0; layout.row_slots()],
            facts: vec![0.0; layout.facts.len()],
            work,
            waiting: 0,
            waiting_lines: [0; LANES],
            groups: Vec::new(),
            searches: Vec::new(),
            scores: Vec::new(),
            lines: RowLines::default(),
            sets: vec![0],
            salt: 0,
            has_scores: declared.has_scores(),
            model: declared.model.clone(),
        }
    }

    /// Returns the number of rows so far.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns true if rows have the engine's own score.
    pub(super) fn has_scores(&self) -> bool {
        self.has_scores
    }

    /// Returns the engine's own score of the last row, if rows have it.
    pub(super) fn last_score(&self) -> Option<f32> {
        self.scores.last().copied()
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
        self.row.clear(self.facts.len());
        self.totals.fill(0.0);
        self.facts.fill(0.0);
    }

    /// Sets a fact.
    pub(super) fn fact(&mut self, fact: usize, value: f32) {
        self.row.set_fact(fact, value);
        self.facts[fact] = value;
    }

    /// Adds the engine's own score.
    pub(super) fn score(&mut self, score: f32) {
        self.scores.push(score);
    }

    /// Adds a count of a parameter on a side: 0 for White or an unsided sum, 1 for Black. Returns false for a free
    /// number.
    #[inline(always)]
    pub(super) fn count(&mut self, parameter: usize, side: u32, count: i32) -> bool {
        let Counted { segment, leaf, slot, is_pair, worth, .. } = self.counted[parameter];
        let Some(segment) = segment else { return false };
        self.row.add((segment + side) as usize, leaf as usize, count);
        let slot = (slot + side * (1 + u32::from(is_pair))) as usize;
        let count = f64::from(count);
        self.totals[slot] += count * worth[0];
        if is_pair {
            self.totals[slot + 1] += count * worth[1];
        }
        true
    }

    /// Ends a row.
    pub(super) fn push(&mut self, label: RowLabel, reader: &LineReader) -> Result<(), TextError> {
        let RowLabel { result, group, search } = label;
        self.writer.push(&mut self.row, result).map_err(|error| refused(error, reader))?;
        self.groups.push(group.map(|group| group ^ self.salt));
        if search.is_some() {
            // Earlier rows have no search score.
            self.searches.resize(self.lines.len(), None);
            self.searches.push(search);
        }
        self.lines.push(reader.number);
        let Work { totals, facts, .. } = &mut self.work;
        totals.iter_mut().zip(&self.totals).for_each(|(lanes, &total)| lanes[self.waiting] = total);
        facts.iter_mut().zip(&self.facts).for_each(|(lanes, &fact)| lanes[self.waiting] = f64::from(fact));
        self.waiting_lines[self.waiting] = reader.number;
        self.waiting += 1;
        if self.waiting == LANES { self.check_scores(reader) } else { Ok(()) }
    }

    /// Refuses rows whose scores are not finite at the start of the parameters.
    pub(super) fn check_scores(&mut self, reader: &LineReader) -> Result<(), TextError> {
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
                Err(reader.fault_at(self.waiting_lines[lane], message))
            }
        }
    }

    /// Returns all rows, read from the given files.
    pub(super) fn finish(mut self, header: Header, files: Vec<(String, usize)>) -> Result<TextRows, TextError> {
        if !self.searches.is_empty() {
            self.searches.resize(self.lines.len(), None);
        }
        Ok(TextRows {
            parameters: header.parameters,
            formula: header.text,
            model: self.model,
            rows: self.writer.finish()?,
            groups: self.groups,
            searches: self.searches,
            scores: self.has_scores.then_some(self.scores),
            lines: self.lines,
            files,
            sets: self.sets,
        })
    }
}

fn refused(error: RowsError, reader: &LineReader) -> TextError {
    match error {
        RowsError::Storage(_) => error.into(),
        error => reader.fault(error.to_string()),
    }
}
