//! Why constraints cannot be kept.

use thiserror::Error;

use crate::numbers::UnknownName;
use crate::optimize::LimitsError;

/// Why constraints cannot be kept.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ConstraintError {
    /// A pattern that no parameter fits.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// All parameters are frozen.
    #[error("nothing is left to be tuned")]
    Nothing,
    /// A tie that is no list of patterns.
    #[error("tie {0}: expected patterns with `=` between them, such as material.knight=material.bishop")]
    MalformedTie(String),
    /// Sides of a tie that cannot be paired number by number.
    #[error("tie {tie}: {first} ({first_shape}) and {second} ({second_shape}) are of different shape")]
    Shape {
        /// The tie as given.
        tie: String,
        /// The pattern of one side.
        first: String,
        /// What it means.
        first_shape: String,
        /// The pattern of another side.
        second: String,
        /// What that means.
        second_shape: String,
    },
    /// A number on two sides of a tie.
    #[error("tie {tie}: {number} is tied to itself")]
    Itself {
        /// The tie as given.
        tie: String,
        /// Name of the number.
        number: String,
    },
    /// A symmetric pattern that means no board.
    #[error("symmetric {pattern}: there is no board; {board} has one")]
    NoBoard {
        /// The pattern as given.
        pattern: String,
        /// A field with a board.
        board: String,
    },
    /// A number that moves tied to one that stays, with another value.
    #[error("{by}: {frozen} is frozen at {frozen_value}, but {other} starts at {other_value}; freeze both, or neither")]
    FrozenTie {
        /// The tie or symmetry that brings them together.
        by: String,
        /// Name of a number that stays.
        frozen: String,
        /// Its value.
        frozen_value: f64,
        /// Name of a number with another value.
        other: String,
        /// That value.
        other_value: f64,
    },
    /// A bound that cannot be read.
    #[error("bound {0}: expected PATTERN=LOWER..UPPER, such as psqt.*=-200..200")]
    MalformedBound(String),
    /// A bound between two values that can be written.
    #[error("bound {bound}: {number} is written with {decimals} digits behind the decimal point, so are its bounds")]
    FineBound {
        /// The bound as given.
        bound: String,
        /// Name of a number that it is about.
        number: String,
        /// The digits.
        decimals: usize,
    },
    /// A lower end above the upper one.
    #[error("bound {bound}: {lower} is above {upper}")]
    Reversed {
        /// The bound as given.
        bound: String,
        /// Its lower end.
        lower: f64,
        /// Its upper end.
        upper: f64,
    },
    /// Bounds of one number that have nothing in common; the range it is declared with may be one of them.
    #[error("{number} cannot keep to both {first} and {second}")]
    Contradiction {
        /// Name of the number.
        number: String,
        /// One bound.
        first: String,
        /// The other.
        second: String,
    },
    /// A bound that the start does not keep to.
    #[error("bound {bound}: excludes the start: {number} is {value}")]
    Outside {
        /// The bound as given.
        bound: String,
        /// Name of the number.
        number: String,
        /// Its value at the start.
        value: f64,
    },
    /// Numbers that are tied, but whose bounds have nothing in common.
    #[error(
        "{first} within {first_lower}..{first_upper} and {second} within {second_lower}..{second_upper} cannot be tied"
    )]
    TiedBounds {
        /// Name of one number.
        first: String,
        /// Its lower bound.
        first_lower: f64,
        /// Its upper bound.
        first_upper: f64,
        /// Name of another number.
        second: String,
        /// Its lower bound.
        second_lower: f64,
        /// Its upper bound.
        second_upper: f64,
    },
    /// What the optimiser thinks of the limits.
    #[error(transparent)]
    Limits(#[from] LimitsError),
}
