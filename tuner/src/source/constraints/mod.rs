//! Constraints on the parameters: frozen parameters, ties and bounds.
//!
//! Constraints are given by patterns of names; see [`numbers`](crate::source::numbers). Constraints that contradict one another
//! or the start are errors that name both.

mod bounds;
mod ties;

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;

use crate::optimize::Limits;
use crate::source::numbers::Numbers;
use bounds::Bounds;
use ties::Ties;

/// The settings of the constraints: tuned parameters, ties and bounds as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args, Serialize)]
#[command(next_help_heading = "Parameters")]
pub struct Constraints {
    /// Tune these parameters only: a name such as material.queen or `Mobility[0][3]`, the beginning of names up to a dot
    /// or bracket (psqt.knight, Mobility), `*` for anything; `:mg` or `:eg` behind it for one number of each pair. May
    /// be given several times.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Leave these parameters as they are: patterns as for --only.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub freeze: Vec<String>,

    /// Give parameters one value, number by number: patterns of equal shape, such as psqt.knight=psqt.bishop or
    /// material.knight:mg=material.knight:eg. They start at their mean.
    #[arg(long = "tie", value_name = "PATTERN=PATTERN", value_delimiter = ',')]
    pub ties: Vec<String>,

    /// Keep parameters between bounds, both included: psqt.*=-200..200, material.queen=900.. or phase=..50.
    #[arg(long = "bound", value_name = "PATTERN=LOWER..UPPER", value_delimiter = ',')]
    pub bounds: Vec<String>,

    /// Make boards their own mirror images, file a for file h: patterns such as psqt or psqt.king:eg. Merino's own
    /// evaluation has boards.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub symmetric: Vec<String>,
}

/// The constraints on the numbers of the parameter vector.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The start. All numbers of a tie have one value: their mean, rounded, within their bounds.
    pub start: Vec<f64>,
    /// The limits for an optimiser.
    pub limits: Limits,
    /// Flag per number: true if it may be shifted with its table, because it is not frozen and not tied to a number
    /// outside of the table.
    pub shiftable: Vec<bool>,
    /// Number of numbers that keep their start.
    pub frozen: usize,
    /// Number of numbers that follow another one: all members of the groups but the first of each.
    pub tied: usize,
    /// Number of numbers whose start was changed by ties.
    pub averaged: usize,
}

impl Constraints {
    /// Returns true if a pattern of `only`, a tie or a bound contains `name`.
    pub fn names(&self, name: &str) -> bool {
        [&self.only, &self.ties, &self.bounds].into_iter().flatten().any(|pattern| pattern.contains(name))
    }

    /// Resolves the constraints for a run from `start`.
    ///
    /// # Errors
    /// The first pattern that matches no number, malformed text or contradiction; and if no parameter is left to tune.
    ///
    /// # Panics
    /// If there is not a start for each number.
    pub fn resolve(&self, numbers: &Numbers, start: &[f64]) -> Result<Resolved> {
        assert_eq!(numbers.len(), start.len(), "a start for each number");
        let mut frozen = self.frozen(numbers)?;
        let bounds = Bounds::new(numbers, &self.bounds)?;
        let ties = Ties::new(numbers, &self.ties, &self.symmetric)?;
        bounds.check(numbers, start)?;

        let mut values = start.to_vec();
        let mut limits = bounds.limits();
        let mut groups = Vec::new();
        for group in ties.groups() {
            if ties.are_frozen(numbers, &group, &frozen, &values)? {
                group.iter().for_each(|&index| frozen[index] = true);
                continue;
            }
            let common = bounds.common(numbers, &group)?;
            let mean = group.iter().map(|&index| values[index]).sum::<f64>() / group.len() as f64;
            let value = numbers[group[0]].round(mean, common);
            group.iter().for_each(|&index| values[index] = value);
            limits.tie(&group);
            groups.push(group);
        }
        if frozen.iter().all(|&frozen| frozen) {
            bail!("nothing is left to be tuned");
        }
        (0..frozen.len()).filter(|&index| frozen[index]).for_each(|index| limits.freeze(index));
        Ok(Resolved {
            limits,
            shiftable: shiftable(numbers, &frozen, &groups),
            frozen: frozen.iter().filter(|&&frozen| frozen).count(),
            tied: groups.iter().map(|group| group.len() - 1).sum(),
            averaged: values.iter().zip(start).filter(|(value, start)| value != start).count(),
            start: values,
        })
    }

    /// Returns a flag per number: true if the settings freeze it.
    pub(crate) fn frozen(&self, numbers: &Numbers) -> Result<Vec<bool>> {
        let only = numbers.matching_any(&self.only)?;
        let freeze = numbers.matching_any(&self.freeze)?;
        let is_wanted = |index: usize| self.only.is_empty() || only[index];
        Ok((0..numbers.len()).map(|index| freeze[index] || !is_wanted(index)).collect())
    }
}

/// Returns a flag per number: true if its own constraints allow a shift of its table.
fn shiftable(numbers: &Numbers, frozen: &[bool], groups: &[Vec<usize>]) -> Vec<bool> {
    let mut shiftable: Vec<bool> = frozen.iter().map(|&frozen| !frozen).collect();
    let place = |index: usize| (&numbers[index].table, numbers[index].stage);
    // Numbers of a table that is not a board, such as material, are shifted one by one.
    let stays_together = |group: &[usize]| {
        let is_on_board = numbers[group[0]].mirror.is_some();
        is_on_board && group.iter().all(|&index| place(index) == place(group[0]))
    };
    for group in groups.iter().filter(|group| !stays_together(group)) {
        group.iter().for_each(|&index| shiftable[index] = false);
    }
    shiftable
}

#[cfg(test)]
mod tests;
