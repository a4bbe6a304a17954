//! Every number the evaluation uses, declared once.
//!
//! The declaration below is the only list of terms and of the sums they go into: the evaluation function plays with it
//! ([`Weights`]), the tuner traces which leaf a position touches ([`Indices`]) and differentiates a flat vector of it,
//! the TOML reader and writer walk it. A new term is one group of lines here and its use in the evaluation.
//!
//! The macro is in `declare.rs`, the shapes and the walkers in `shape.rs`, sums and sinks in `sum.rs`; reading from TOML
//! is in [`toml_file`](super::toml_file).

#[macro_use]
mod declare;
#[cfg(test)]
pub(crate) mod fixture;
mod shape;
mod sum;

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use super::score::Score;
pub use shape::{
    Atom, Axis, Field, Group, Kind, Leaf, LeafIndex, ParamGroup, ParamSet, Part, Shape, fields_of, from_numbers,
    indices_of, leaves_of, numbers_of, ranges_of,
};
pub use sum::{Sink, SumInfo, SumSet, Term};

/// The six kinds of piece, in the order of their index everywhere.
pub const PIECES: &[&str] = &["pawn", "knight", "bishop", "rook", "queen", "king"];

/// The kinds of piece that can be captured, in the same order.
pub const PIECES_BUT_KING: &[&str] = &["pawn", "knight", "bishop", "rook", "queen"];

/// What a pair leaf may hold in each half: far beyond any sane weight, far below what [`Score`] can add up.
const CENTIPAWNS: RangeInclusive<i32> = -5000..=5000;

params! {
    /// The sums of the evaluation, in the order in which an explanation adds them up: what a term is worth depends on
    /// the sums before its own.
    ///
    /// [`combine`](super::combine) makes a score of them.
    pub enum Sum {
        /// How much of the pieces is left, in the unit of their phase weights.
        Phase = phase: W,
        /// What is blended from midgame to endgame by the phase, in centipawns.
        Main = main: S,
    }

    /// Every number the evaluation uses: `S` at each pair of (midgame, endgame) weights, `W` at each single weight.
    ///
    /// Pairs are in centipawns.
    pub struct EvalParams<S, W> {
        /// Worth of each piece, in centipawns; the king has none.
        /// Shape: `[piece]`, pawn to queen.
        pub material: [S; 5] by (Axis::Keys(PIECES_BUT_KING)) in CENTIPAWNS,

        /// Bonus of a piece for the square it stands on, in centipawns.
        /// Shape: `[piece][rank][file]`, rank 1 and file a first, from the owner's side of the board.
        pub psqt: [[[S; 8]; 8]; 6] by (Axis::Keys(PIECES), Axis::Board) in CENTIPAWNS,

        /// Bonus of the side to move, in centipawns.
        pub tempo: S in CENTIPAWNS,

        /// Share of each piece in the phase of the game; only the ratios matter.
        /// Shape: `[piece]`, pawn to queen. The fraction of midgame is the sum of these over the pieces on the
        /// board, divided by the same sum over the pieces of the starting position, at most 1.
        pub phase: [W; 5] of Phase by (Axis::Keys(PIECES_BUT_KING)) in 0..=1000,
    }
}

/// What the engine plays with.
pub type Weights = EvalParams<Score, i32>;

/// What the tuner traces with: at every leaf its own index.
pub type Indices = EvalParams<LeafIndex, LeafIndex>;

/// Number of pair leaves.
pub const PAIRS: usize = Weights::PAIRS;

/// Number of scalar leaves.
pub const SCALARS: usize = Weights::SCALARS;

const _: () = assert!(PAIRS + SCALARS <= u16::MAX as usize, "a leaf index is 16 bits");

impl Atom for Score {}
impl Atom for i32 {}

/// Every declared field, in the order of the flat vector.
pub fn fields() -> impl Iterator<Item = &'static Field> {
    fields_of::<Weights>()
}

/// Every leaf, in the order of [`Weights::to_vector`]: the pairs, then the scalars, each in declaration order.
pub fn leaves() -> Vec<Leaf> {
    leaves_of::<Weights>()
}

impl Indices {
    /// The set that holds at every leaf its own index.
    pub fn get() -> &'static Self {
        static INDICES: LazyLock<Indices> = LazyLock::new(indices_of);
        &INDICES
    }
}

impl Weights {
    /// Length of the flat vector: two numbers a pair, one a scalar.
    pub const DIMENSIONS: usize = 2 * PAIRS + SCALARS;

    /// The weights as one vector: midgame of pair `j` at `2 j`, its endgame at `2 j + 1`, then the scalars.
    pub fn to_vector(&self) -> Vec<f64> {
        let mut vector = Vec::with_capacity(Self::DIMENSIONS);
        let mut scalars = Vec::with_capacity(SCALARS);
        self.for_each(
            &mut |pair: &Score| vector.extend([f64::from(pair.mg()), f64::from(pair.eg())]),
            &mut |&scalar: &i32| scalars.push(f64::from(scalar)),
        );
        vector.extend(scalars);
        vector
    }

    /// The weights nearest to a vector as [`to_vector`](Self::to_vector) gives it, and how many of its numbers had to
    /// be moved into their range. A NaN counts as moved, and becomes the number of the range nearest to 0.
    ///
    /// The phase weights may all have become 0, which no reader accepts: see [`has_phase`](Self::has_phase).
    ///
    /// # Panics
    ///
    /// If the length of the vector is not [`DIMENSIONS`](Self::DIMENSIONS).
    pub fn from_vector(vector: &[f64]) -> (Self, usize) {
        assert_eq!(vector.len(), Self::DIMENSIONS, "length of a vector of weights");
        let mut clamped = 0;
        let numbers = std::iter::zip(vector, ranges_of::<Self>()).map(|(&value, range)| {
            let (min, max) = (f64::from(*range.start()), f64::from(*range.end()));
            let rounded = value.round();
            let inside = if rounded.is_nan() { 0.0 } else { rounded }.clamp(min, max);
            clamped += usize::from(inside != rounded);
            inside as i32
        });
        let numbers: Vec<i32> = numbers.collect();
        (from_numbers(&numbers), clamped)
    }

    /// Whether some piece has a phase weight: without one, the phase of a position would be 0 / 0.
    pub fn has_phase(&self) -> bool {
        self.phase.iter().any(|&weight| weight > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn leaves_are_named_apart() {
        let leaves = leaves();
        assert_eq!(leaves.len(), PAIRS + SCALARS);
        let paths: HashSet<&str> = leaves.iter().map(|leaf| leaf.path.as_str()).collect();
        assert_eq!(paths.len(), leaves.len());
        assert!(leaves[..PAIRS].iter().all(|leaf| leaf.kind == Kind::Pair));
        assert!(leaves[PAIRS..].iter().all(|leaf| leaf.kind == Kind::Scalar));
    }

    #[test]
    fn an_index_leads_to_the_path_of_its_leaf() {
        let (indices, leaves) = (Indices::get(), leaves());
        let path = |leaf: LeafIndex| leaves[leaf.index()].path.as_str();
        assert_eq!(path(indices.material[0]), "material.pawn");
        assert_eq!(path(indices.material[4]), "material.queen");
        assert_eq!(path(indices.psqt[1][3][4]), "psqt.knight.e4");
        assert_eq!(path(indices.psqt[5][7][0]), "psqt.king.a8");
        assert_eq!(path(indices.tempo), "tempo");
        assert_eq!(path(indices.phase[3]), "phase.rook");
    }

    #[test]
    fn leaves_carry_their_range_and_their_words() {
        let leaves = leaves();
        let leaf = &leaves[Indices::get().phase[4].index()];
        assert_eq!((leaf.path.as_str(), leaf.min, leaf.max), ("phase.queen", 0, 1000));
        assert_eq!(leaf.field.summary(), "Share of each piece in the phase of the game; only the ratios matter.");
        assert!(fields().all(|field| field.summary().ends_with('.')));
    }

    /// A number of each range, no two the same in a row.
    fn scattered() -> Vec<f64> {
        let inside = |(i, range): (usize, RangeInclusive<i32>)| {
            let length = i64::from(*range.end()) - i64::from(*range.start()) + 1;
            (i64::from(*range.start()) + (37 * i as i64 + 11).rem_euclid(length)) as f64
        };
        ranges_of::<Weights>().enumerate().map(inside).collect()
    }

    #[test]
    fn a_vector_holds_the_leaves_in_order() {
        let numbers = scattered();
        let (weights, clamped) = Weights::from_vector(&numbers);
        assert_eq!(clamped, 0);
        assert_eq!(weights.to_vector(), numbers);
        let at = |leaf: LeafIndex| &numbers[numbers_of::<Weights>(leaf)];
        let (indices, tempo) = (Indices::get(), weights.tempo);
        assert_eq!(at(indices.tempo), [f64::from(tempo.mg()), f64::from(tempo.eg())]);
        assert_eq!(at(indices.phase[2]), [f64::from(weights.phase[2])]);
    }

    #[test]
    fn a_vector_is_rounded_and_clamped() {
        let mut vector = vec![1.0; Weights::DIMENSIONS];
        let mut put = |leaf: LeafIndex, numbers: &[f64]| vector[numbers_of::<Weights>(leaf)].copy_from_slice(numbers);
        let indices = Indices::get();
        put(indices.material[0], &[1.5, -1.5]);
        put(indices.material[1], &[0.49, 5000.4]);
        put(indices.material[2], &[5000.6, -1e300]);
        put(indices.material[3], &[f64::NAN, f64::INFINITY]);
        put(indices.material[4], &[f64::NEG_INFINITY, 0.0]);
        indices.phase.iter().for_each(|&leaf| put(leaf, &[-0.6]));
        let (weights, clamped) = Weights::from_vector(&vector);
        assert_eq!(weights.material[0], Score::new(2, -2));
        assert_eq!(weights.material[1], Score::new(0, 5000));
        assert_eq!(weights.material[2], Score::new(5000, -5000));
        assert_eq!(weights.material[3], Score::new(0, 5000));
        assert_eq!(weights.material[4], Score::new(-5000, 0));
        assert_eq!((weights.phase, clamped), ([0; 5], 5 + weights.phase.len()));
        assert!(!weights.has_phase());
    }

    #[test]
    #[should_panic(expected = "length of a vector of weights")]
    fn a_vector_of_another_length_is_refused() {
        let _ = Weights::from_vector(&[0.0; 3]);
    }
}
