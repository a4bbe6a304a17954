//! Rows as they are put together, one by one.

use super::header::{Declared, Header};
use super::lines::{LineReader, RowLines};
use super::{TextError, TextRows};
use crate::io::Storage;
use crate::model::Model;
use crate::model::rows::{RowBuilder, RowsError, RowsWriter, Shape};
use crate::model::tape::{LANES, Work};

/// What is known of the position of a row beside the row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    pub(super) result: f32,
    pub(super) group: Option<u32>,
    pub(super) search: Option<i16>,
}

/// How a parameter counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    /// White's segment, if it is sided; none if rows do not count it.
    segment: Option<u32>,
    leaf: u32,
    pub(super) is_sided: bool,
    pub(super) unit: f64,
    /// Slot of the total, and what a count of one adds to it and to the next.
    slot: u32,
    is_pair: bool,
    worth: [f64; 2],
}

/// Gathers rows, and looks at their scores where parameters start.
pub(super) struct Gather {
    model: Model,
    writer: RowsWriter,
    row: RowBuilder,
    pub(super) counted: Vec<Counted>,
    /// Of the present row.
    totals: Vec<f64>,
    facts: Vec<f32>,
    /// Rows whose scores have not been looked at, and their lines.
    work: Work,
    waiting: usize,
    waiting_lines: [u64; LANES],
    groups: Vec<Option<u32>>,
    searches: Vec<Option<i16>>,
    scores: Vec<f32>,
    lines: RowLines,
    sets: Vec<usize>,
    /// Tells groups of one text from those of others.
    salt: u32,
    has_scores: bool,
}

impl Gather {
    pub(super) fn new(header: &Header, declared: &Declared, storage: &Storage) -> Self {
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

    /// Number of rows so far.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether rows have the engine's own score.
    pub(super) fn has_scores(&self) -> bool {
        self.has_scores
    }

    /// The score of the last row, if rows have the engine's own.
    pub(super) fn last_score(&self) -> Option<f32> {
        self.scores.last().copied()
    }

    /// Goes on to the next text, whose games are others.
    pub(super) fn next_text(&mut self, number: usize) {
        self.salt = (number as u32).wrapping_mul(0x9E37_79B9);
        self.begin_set();
    }

    /// Goes on to the next set of data, unless the last one has no row so far.
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

    /// Says what a fact is.
    pub(super) fn fact(&mut self, fact: usize, value: f32) {
        self.row.set_fact(fact, value);
        self.facts[fact] = value;
    }

    /// Says what the engine's own score is.
    pub(super) fn score(&mut self, score: f32) {
        self.scores.push(score);
    }

    /// Counts a parameter, White's or for both (0) or Black's (1); whether rows can count it at all.
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
    pub(super) fn push(&mut self, label: Label, reader: &LineReader) -> Result<(), TextError> {
        let Label { result, group, search } = label;
        self.writer.push(&mut self.row, result).map_err(|error| refused(error, reader))?;
        self.groups.push(group.map(|group| group ^ self.salt));
        if search.is_some() {
            // Rows before it had none.
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

    /// Refuses a row whose score is not finite where parameters start.
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

    /// All rows, of these texts.
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
