//! The sums of an evaluation, and the sinks that take its terms.
//!
//! Every leaf belongs to one sum. A sum holds pairs or single numbers; a *sided* sum keeps White and Black apart, each
//! with counts of its own, and an unsided one is White's view of both.

use std::ops::{AddAssign, Mul};

use super::super::super::chess::Color;
use super::Kind;

/// The declaration of a sum.
#[derive(Debug, PartialEq, Eq)]
pub struct SumInfo {
    /// Its name, as the method of a sink that takes its terms: `main`.
    pub name: &'static str,
    /// Its doc comment, line by line as written.
    pub doc: &'static [&'static str],
    /// The type of its leaves.
    pub kind: Kind,
    /// True if White and Black are kept apart.
    pub is_sided: bool,
}

/// An enum of sums declared by `params!`.
pub trait SumSet: Copy + Eq + 'static {
    /// Every sum, in declaration order.
    const ALL: &'static [Self];
    /// The declarations, in order.
    const INFO: &'static [SumInfo];

    /// The position in [`ALL`](Self::ALL).
    fn index(self) -> usize;

    /// Its declaration.
    fn info(self) -> &'static SumInfo {
        &Self::INFO[self.index()]
    }

    /// The sides it keeps apart; White alone stands for both where it keeps none.
    fn sides(self) -> &'static [Color] {
        if self.info().is_sided { &Color::ALL } else { &Color::ALL[..1] }
    }
}

/// Takes the terms of an evaluation, whatever it makes of them: play adds them up, the trace records them.
///
/// Terms call the methods of the declaration's own `Accumulate`, one a sum, which admit the right kind of leaf alone and
/// want a side where the sum is sided.
pub trait Sink<U, S, W> {
    /// Adds a pair to a sum `count` times. In an unsided sum, `side` is White and a term of Black's has a negative count.
    fn pair(&mut self, sum: U, side: Color, leaf: S, count: i32);

    /// Adds a single number to a sum `count` times, in the same way.
    fn single(&mut self, sum: U, side: Color, leaf: W, count: i32);
}

/// A value that can be added a whole number of times.
pub trait Term: Copy + AddAssign + Mul<i32, Output = Self> {}

impl<T: Copy + AddAssign + Mul<i32, Output = T>> Term for T {}
