//! The writer of rows as text.

use std::io::{self, Write};

use super::{DATA, TextRows, VERSION};
use crate::model::formula::CONSTANT;
use crate::model::rows::SegmentEntries;

/// The mark of the side of a segment: none for a sum that is not sided.
const SIDES: [&str; 3] = ["", " w", " b"];

impl TextRows {
    /// Writes a text of these rows. `head` has the lines of the declarations, without the version and the columns;
    /// `sets` has the name of each set of data, or nothing if there is only one. `comment` returns the comment on a row,
    /// or an empty text.
    pub(crate) fn write<'s>(
        &self,
        head: impl IntoIterator<Item = &'s str>,
        sets: &[&str],
        mut comment: impl FnMut(usize) -> String,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(to, "{VERSION}")?;
        head.into_iter().try_for_each(|line| writeln!(to, "{line}"))?;
        let rows = self.rows.whole();
        let has_groups = self.groups.iter().any(Option::is_some);
        let facts = || rows.blocks().flat_map(|block| block.facts());
        let has_constants = self.scores.is_none() && facts().any(|facts| facts[0] != 0.0);
        let has_searches = !self.searches.is_empty();
        let columns = [
            (true, "result"),
            (has_groups, "group"),
            (has_searches, "search"),
            (self.scores.is_some(), "score"),
            (has_constants, CONSTANT),
        ];
        let columns = columns.into_iter().filter(|column| column.0).map(|column| column.1);
        let columns = columns.chain(self.model.layout.facts[1..].iter().map(|fact| &fact[..]));
        writeln!(to, "rows {}", columns.collect::<Vec<_>>().join(" "))?;
        let parameters = self.parameters_of_segments();
        let mut starts =
            self.sets.iter().scan(0, |start, rows| Some(std::mem::replace(start, *start + rows))).zip(sets);
        let mut next = starts.next();
        for block in rows.blocks() {
            let mut segments = block.segments();
            for ((row, facts), target) in (block.first..).zip(block.facts()).zip(block.target) {
                if let Some((_, set)) = next.take_if(|(start, _)| *start == row) {
                    writeln!(to, "{DATA}{}", set.escape_debug())?;
                    next = starts.next();
                }
                write!(to, "{target}")?;
                if has_groups {
                    write_known(to, self.groups[row])?;
                }
                if has_searches {
                    write_known(to, self.searches[row])?;
                }
                if let Some(scores) = &self.scores {
                    write!(to, " {}", scores[row])?;
                }
                let facts = if has_constants { facts } else { &facts[1..] };
                facts.iter().try_for_each(|fact| write!(to, " {fact}"))?;
                let entries: Vec<_> = segments.by_ref().take(block.segments_a_row()).collect();
                for side in SIDES {
                    let own = || parameters.iter().zip(&entries).filter(|((of, _), _)| *of == side);
                    if own().any(|(_, entries)| !entries.leaves.is_empty()) {
                        write!(to, "{side}")?;
                    }
                    own().try_for_each(|((_, parameters), entries)| self.write_entries(to, parameters, entries))?;
                }
                match comment(row) {
                    comment if comment.is_empty() => writeln!(to)?,
                    comment => writeln!(to, " # {comment}")?,
                }
            }
        }
        Ok(())
    }

    /// Writes the entries of a segment, whose leaves are these `parameters`.
    fn write_entries(&self, to: &mut dyn Write, parameters: &[usize], entries: &SegmentEntries<'_>) -> io::Result<()> {
        let entries: Vec<(u16, i8)> = entries.leaves.iter().copied().zip(entries.counts.iter().copied()).collect();
        for same in entries.chunk_by(|one, next| one.0 == next.0) {
            let index = parameters[usize::from(same[0].0)];
            let units: i64 = same.iter().map(|entry| i64::from(entry.1)).sum();
            match self.parameters[index].unit {
                1.0 => write!(to, " {index}:{units}")?,
                unit => write!(to, " {index}:{}", units as f64 * unit)?,
            }
        }
        Ok(())
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

/// Writes a number of a row, or `-` if it is unknown.
fn write_known<T: std::fmt::Display>(to: &mut dyn Write, number: Option<T>) -> io::Result<()> {
    match number {
        Some(number) => write!(to, " {number}"),
        None => write!(to, " -"),
    }
}
