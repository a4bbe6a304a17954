//! Where a run may take the parameters: which of them move, which stay together, and between what bounds.
//!
//! Everything is said by patterns of names; see [`numbers`](crate::numbers). Nothing is guessed: what contradicts itself
//! or the parameters of the start is an error that names both.

mod bounds;
mod ties;

use clap::Args;
use serde::Serialize;
use thiserror::Error;

use crate::numbers::{Numbers, UnknownName};
use crate::optimize::{Limits, OptimizeError};
use bounds::Bounds;
use ties::Ties;

/// Why constraints cannot be kept.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ConstraintError {
    /// A pattern that no parameter fits.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// What is malformed, or contradicts something else.
    #[error("{0}")]
    Refused(String),
    /// What the optimiser thinks of the limits.
    #[error(transparent)]
    Limits(#[from] OptimizeError),
}

/// The parameters that a run tunes, and the limits that they keep, as texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args, Serialize)]
#[command(next_help_heading = "Parameters")]
pub struct Constraints {
    /// Tune these parameters only: a name such as material.queen or Mobility[0][3], the beginning of names up to a dot or
    /// bracket (psqt.knight, Mobility), `*` for anything; `:mg` or `:eg` behind it for one number of each pair. May be
    /// given several times.
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

/// Constraints on the numbers of the parameter vector.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The start, with one value for all numbers of a tie: their mean, rounded, within their bounds.
    pub start: Vec<f64>,
    /// What an optimiser has to keep to.
    pub limits: Limits,
    /// By number: whether it may be shifted with all of its table: not frozen, and tied to nothing outside of it.
    pub shiftable: Vec<bool>,
    /// Numbers that keep their start.
    pub frozen: usize,
    /// Numbers that follow another one: all of the groups but the first of each.
    pub tied: usize,
    /// Numbers whose start the ties have changed.
    pub averaged: usize,
}

impl Constraints {
    /// Whether something other than being frozen is said of a name or part of one.
    pub fn names(&self, name: &str) -> bool {
        [&self.only, &self.ties, &self.bounds].into_iter().flatten().any(|pattern| pattern.contains(name))
    }

    /// What they mean for a run from `start`.
    ///
    /// # Errors
    /// The first pattern without a number, text that cannot be read, or contradiction; and if nothing is left to be
    /// tuned.
    ///
    /// # Panics
    /// If there is not a start for each number.
    pub fn resolve(&self, numbers: &Numbers, start: &[f64]) -> Result<Resolved, ConstraintError> {
        assert_eq!(numbers.len(), start.len(), "a start for each number");
        let mut frozen = self.frozen(numbers)?;
        let bounds = Bounds::new(numbers, &self.bounds)?;
        let ties = Ties::new(numbers, &self.ties, &self.symmetric)?;
        bounds.check(numbers, start)?;

        let mut values = start.to_vec();
        let mut limits = bounds.limits()?;
        let mut groups = Vec::new();
        for group in ties.groups() {
            match ties.frozen_value(numbers, &group, &frozen, &values)? {
                // What is tied to a number that stays, stays too.
                Some(_) => group.iter().for_each(|&index| frozen[index] = true),
                None => {
                    let (lower, upper) = bounds.common(numbers, &group)?;
                    let mean = group.iter().map(|&index| values[index]).sum::<f64>() / group.len() as f64;
                    let value = numbers.get(group[0]).round(mean, (lower, upper));
                    group.iter().for_each(|&index| values[index] = value);
                    limits.tie(&group)?;
                    groups.push(group);
                }
            }
        }
        if frozen.iter().all(|&frozen| frozen) {
            return Err(ConstraintError::Refused("nothing is left to be tuned".to_owned()));
        }
        for index in (0..frozen.len()).filter(|&index| frozen[index]) {
            limits.freeze(index)?;
        }
        Ok(Resolved {
            limits,
            shiftable: shiftable(numbers, &frozen, &groups),
            frozen: frozen.iter().filter(|&&frozen| frozen).count(),
            tied: groups.iter().map(|group| group.len() - 1).sum(),
            averaged: values.iter().zip(start).filter(|(value, start)| value != start).count(),
            start: values,
        })
    }

    /// By number: whether it was said to keep its start.
    pub(crate) fn frozen(&self, numbers: &Numbers) -> Result<Vec<bool>, ConstraintError> {
        let only = numbers.meant_by_any(&self.only)?;
        let freeze = numbers.meant_by_any(&self.freeze)?;
        let is_wanted = |index: usize| self.only.is_empty() || only[index];
        Ok((0..numbers.len()).map(|index| freeze[index] || !is_wanted(index)).collect())
    }
}

/// By number: whether its table can be shifted as far as it is concerned.
fn shiftable(numbers: &Numbers, frozen: &[bool], groups: &[Vec<usize>]) -> Vec<bool> {
    let mut shiftable: Vec<bool> = frozen.iter().map(|&frozen| !frozen).collect();
    let place = |index: usize| (&numbers.get(index).table, numbers.get(index).stage);
    // Numbers of one table that are not on a board, such as material, are shifted one by one.
    let stays_together = |group: &[usize]| {
        let is_on_board = numbers.get(group[0]).square.is_some();
        is_on_board && group.iter().all(|&index| place(index) == place(group[0]))
    };
    for group in groups.iter().filter(|group| !stays_together(group)) {
        group.iter().for_each(|&index| shiftable[index] = false);
    }
    shiftable
}

#[cfg(test)]
mod tests;
