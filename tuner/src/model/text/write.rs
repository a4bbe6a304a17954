//! Rows written as text.

use std::io::{self, Write};

use super::{DATA, Parameter, Start, TextRows, VERSION};
use crate::model::formula::CONSTANT;
use crate::model::layout::{Sum, SumKind};

/// The line that declares a sum.
pub(super) fn sum_line(sum: &Sum) -> String {
    let kind = if sum.kind == SumKind::Pair { "pair" } else { "single" };
    format!("sum {} {kind}{}", sum.name, if sum.is_sided { " sided" } else { "" })
}

impl Parameter {
    /// The line that declares the parameter.
    pub(super) fn line(&self, sums: &[Sum]) -> String {
        let Parameter { name, start, decimals, .. } = self;
        let sum = self.sum.map(|sum| &sums[sum].name);
        let mut line = match (sum, start) {
            (Some(sum), Start::Pair(_)) => format!("pair {sum} {name}"),
            (Some(sum), Start::Single(_)) => format!("single {sum} {name}"),
            (None, _) => format!("param {name}"),
        };
        start.numbers().iter().for_each(|number| line += &format!(" {number:.decimals$}"));
        if self.unit != 1.0 {
            line += &format!(" unit {}", self.unit);
        }
        line
    }
}

impl TextRows {
    /// Writes everything as `merino-rows 2`.
    ///
    /// # Errors
    /// If it cannot be written, or has totals that all rows share and that are more than one number, for which the
    /// format has no words.
    pub fn write(&self, text: &mut dyn Write) -> io::Result<()> {
        let is_number = |total: &[(usize, f64)]| matches!(total, [(_, 1.0)]);
        if !self.model.layout.common.iter().all(|total| is_number(total)) {
            return Err(io::Error::other(
                "a total of several parameters that all rows share cannot be written as text",
            ));
        }
        writeln!(text, "{VERSION}")?;
        let sums = &self.model.layout.sums;
        sums.iter().try_for_each(|sum| writeln!(text, "{}", sum_line(sum)))?;
        self.parameters.iter().try_for_each(|parameter| writeln!(text, "{}", parameter.line(sums)))?;
        text.write_all(self.formula.as_bytes())?;
        self.write_rows(text)
    }

    fn write_rows(&self, text: &mut dyn Write) -> io::Result<()> {
        let rows = self.rows.whole();
        let has_groups = self.groups.iter().any(Option::is_some);
        let facts = || rows.blocks().flat_map(|block| block.facts());
        let has_constants = self.scores.is_none() && facts().any(|facts| facts[0] != 0.0);
        write!(text, "rows result")?;
        let has_searches = !self.searches.is_empty();
        let columns = [
            (has_groups, "group"),
            (has_searches, "search"),
            (self.scores.is_some(), "score"),
            (has_constants, CONSTANT),
        ];
        for (_, column) in columns.into_iter().filter(|column| column.0) {
            write!(text, " {column}")?;
        }
        self.model.layout.facts[1..].iter().try_for_each(|fact| write!(text, " {fact}"))?;
        writeln!(text)?;
        let indices = self.indices();
        for block in rows.blocks() {
            let mut segments = block.segments();
            for ((row, facts), target) in (block.first..).zip(block.facts()).zip(block.target) {
                if let Some(set) = self.sets.iter().position(|&first| first == row).filter(|&set| set > 0) {
                    writeln!(text, "{DATA}{set}")?;
                }
                write!(text, "{target}")?;
                match self.groups[row] {
                    Some(group) if has_groups => write!(text, " {group}")?,
                    None if has_groups => write!(text, " -")?,
                    _ => {}
                }
                match self.searches.get(row) {
                    Some(Some(score)) => write!(text, " {score}")?,
                    Some(None) => write!(text, " -")?,
                    None => {}
                }
                if let Some(scores) = &self.scores {
                    write!(text, " {}", scores[row])?;
                }
                let facts = if has_constants { facts } else { &facts[1..] };
                facts.iter().try_for_each(|fact| write!(text, " {fact}"))?;
                let entries: Vec<_> = segments.by_ref().take(block.segments_a_row()).collect();
                // Sides are named once each, so what is not sided comes first, then White's, then Black's.
                for side in ["", " w", " b"] {
                    let of_side = |place: usize| indices[place].0 == side;
                    let has_any = (0..entries.len()).any(|place| of_side(place) && !entries[place].leaves.is_empty());
                    if has_any {
                        write!(text, "{side}")?;
                    }
                    for place in (0..entries.len()).filter(|&place| of_side(place)) {
                        self.write_entries(text, &indices[place].1, entries[place].leaves, entries[place].counts)?;
                    }
                }
                writeln!(text)?;
            }
        }
        Ok(())
    }

    fn write_entries(&self, text: &mut dyn Write, indices: &[usize], leaves: &[u16], counts: &[i8]) -> io::Result<()> {
        let mut at = 0;
        while at < leaves.len() {
            let leaf = leaves[at];
            let same = leaves[at..].iter().take_while(|&&other| other == leaf).count();
            let units: i64 = counts[at..at + same].iter().map(|&count| i64::from(count)).sum();
            let index = indices[usize::from(leaf)];
            match self.parameters[index].unit {
                1.0 => write!(text, " {index}:{units}")?,
                unit => write!(text, " {index}:{}", units as f64 * unit)?,
            }
            at += same;
        }
        Ok(())
    }

    /// By segment: how its side is marked; by leaf: the number of the parameter.
    fn indices(&self) -> Vec<(&'static str, Vec<usize>)> {
        let of_sum = |sum| {
            let numbered = self.parameters.iter().enumerate();
            numbered.filter(|(_, parameter)| parameter.sum == Some(sum)).map(|(index, _)| index).collect::<Vec<_>>()
        };
        let mut indices = Vec::new();
        for (index, sum) in self.model.layout.sums.iter().enumerate() {
            let sides: &[&str] = if sum.is_sided { &[" w", " b"] } else { &[""] };
            indices.extend(sides.iter().map(|&side| (side, of_sum(index))));
        }
        indices
    }
}
