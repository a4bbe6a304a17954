//! The writer of rows as text.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

use super::{DATA, TextRows, VERSION};
use crate::model::formula::CONSTANT;
use crate::model::rows::{Block, SegmentEntries};
use crate::parallel;

/// The number of chunks whose lines are in memory at once, some tens of megabytes.
const CHUNKS: usize = 16;

/// The mark of the side of a segment: none for a sum that is not sided.
const SIDES: [&str; 3] = ["", " w", " b"];

impl TextRows {
    /// Writes a text of these rows, all of which this process has. `head` has the lines of the declarations, without the
    /// version and the columns; `sets` has the name of each set of data, or nothing if there is only one. `comments`
    /// returns the comments on some rows, empty texts for none.
    pub(crate) fn write<'s>(
        &self,
        head: impl IntoIterator<Item = &'s str>,
        sets: &[&str],
        comments: impl Fn(Range<usize>) -> Vec<String> + Sync,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(to, "{VERSION}")?;
        head.into_iter().try_for_each(|line| writeln!(to, "{line}"))?;
        let facts = || self.rows.blocks().flat_map(|block| block.facts());
        let writer = RowFormat {
            text: self,
            has_groups: self.groups.iter().any(Option::is_some),
            has_searches: !self.searches.is_empty(),
            has_constants: self.scores.is_none() && facts().any(|facts| facts[0] != 0.0),
            parameters: self.parameters_of_segments(),
            starts: self.starts_of_sets().zip(sets.iter().copied()).collect(),
        };
        let columns = [
            (true, "result"),
            (writer.has_groups, "group"),
            (writer.has_searches, "search"),
            (self.scores.is_some(), "score"),
            (writer.has_constants, CONSTANT),
        ];
        let columns = columns.into_iter().filter(|column| column.0).map(|column| column.1);
        let columns = columns.chain(self.model.layout.facts[1..].iter().map(|fact| &fact[..]));
        writeln!(to, "rows {}", columns.collect::<Vec<_>>().join(" "))?;
        let chunks: Vec<usize> = (0..self.rows.chunk_count()).collect();
        for chunks in chunks.chunks(CHUNKS) {
            let texts = parallel::map(chunks.iter().copied(), |chunk| writer.chunk(chunk, &comments));
            texts.into_iter().try_for_each(|text| to.write_all(&text?))?;
        }
        Ok(())
    }

    /// Returns the first row of each set of data.
    fn starts_of_sets(&self) -> impl Iterator<Item = usize> {
        self.sets.iter().scan(0, |start, rows| Some(std::mem::replace(start, *start + rows)))
    }

    /// Returns the mark of the side and the parameter of each leaf, by segment.
    fn parameters_of_segments(&self) -> Vec<(&'static str, Vec<usize>)> {
        let of_sum = |sum| {
            let of_all = self.parameters.iter().enumerate();
            of_all.filter(|(_, parameter)| parameter.sum == Some(sum)).map(|(index, _)| index).collect::<Vec<_>>()
        };
        let of_sums = self.model.layout.sums.iter().enumerate().flat_map(|(number, sum)| {
            let sides = if sum.is_sided { &SIDES[1..] } else { &SIDES[..1] };
            sides.iter().map(move |&side| (side, of_sum(number)))
        });
        of_sums.collect()
    }
}

/// The form of the lines of rows.
struct RowFormat<'r> {
    text: &'r TextRows,
    has_groups: bool,
    has_searches: bool,
    has_constants: bool,
    /// The mark of the side and the parameter of each leaf, by segment.
    parameters: Vec<(&'static str, Vec<usize>)>,
    /// The name of the set of data that begins with a row.
    starts: BTreeMap<usize, &'r str>,
}

impl RowFormat<'_> {
    /// Returns the lines of the rows of a chunk.
    fn chunk(&self, chunk: usize, comments: &impl Fn(Range<usize>) -> Vec<String>) -> io::Result<Vec<u8>> {
        let mut lines = Vec::new();
        for block in self.text.rows.blocks_of(chunk, 0..usize::MAX) {
            let comments = comments(block.first..block.first + block.len());
            for (row, comment) in block.rows().zip(comments) {
                self.row(&mut lines, row)?;
                match &comment[..] {
                    "" => writeln!(lines)?,
                    comment => writeln!(lines, " # {comment}")?,
                }
            }
        }
        Ok(lines)
    }

    /// Writes a row, without the end of its line.
    fn row(&self, to: &mut Vec<u8>, row: Block<'_>) -> io::Result<()> {
        let (text, number) = (self.text, row.first);
        if let Some(set) = self.starts.get(&number) {
            writeln!(to, "{DATA}{}", set.escape_debug())?;
        }
        write!(to, "{}", row.target[0])?;
        if self.has_groups {
            write_known(to, text.groups[number])?;
        }
        if self.has_searches {
            write_known(to, text.searches[number])?;
        }
        if let Some(scores) = &text.scores {
            write!(to, " {}", scores[number])?;
        }
        let facts = row.facts().flatten().skip(usize::from(!self.has_constants));
        facts.into_iter().try_for_each(|fact| write!(to, " {fact}"))?;
        for side in SIDES {
            let own = || self.parameters.iter().zip(row.segments()).filter(|((of, _), _)| *of == side);
            if own().any(|(_, entries)| !entries.leaves.is_empty()) {
                write!(to, "{side}")?;
            }
            own().try_for_each(|((_, parameters), entries)| self.entries(to, parameters, entries))?;
        }
        Ok(())
    }

    /// Writes the entries of a segment, whose leaves are these `parameters`.
    fn entries(&self, to: &mut Vec<u8>, parameters: &[usize], entries: SegmentEntries<'_>) -> io::Result<()> {
        let mut counts = entries.counts;
        for same in entries.leaves.chunk_by(|leaf, next| leaf == next) {
            let (own, rest) = counts.split_at(same.len());
            counts = rest;
            let index = parameters[usize::from(same[0])];
            let units: i64 = own.iter().map(|&count| i64::from(count)).sum();
            match self.text.parameters[index].unit {
                1.0 => write!(to, " {index}:{units}")?,
                unit => write!(to, " {index}:{}", units as f64 * unit)?,
            }
        }
        Ok(())
    }
}

/// Writes a number of a row, or `-` if it is unknown.
fn write_known<T: std::fmt::Display>(to: &mut Vec<u8>, number: Option<T>) -> io::Result<()> {
    match number {
        Some(number) => write!(to, " {number}"),
        None => write!(to, " -"),
    }
}
