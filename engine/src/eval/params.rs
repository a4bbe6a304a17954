//! Every number the evaluation uses, declared once.
//!
//! The declaration below is the only list of terms: the evaluation function plays with it ([`Weights`]), the tuner
//! traces which leaf a position touches ([`Features`]) and differentiates a flat vector of it, the TOML reader and
//! writer walk it. A new term is one group of lines here and its use in the evaluation.
//!
//! The macro, the shapes and the walkers are in `declare.rs`; reading from TOML is in [`toml_file`](super::toml_file).

#[macro_use]
mod declare;
#[cfg(test)]
pub(crate) mod fixture;

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use super::score::Score;
pub use declare::{Atom, Axis, Field, Kind, Leaf, ParamSet, Shape, fields_of, from_numbers, leaves_of, ranges_of};

/// The six kinds of piece, in the order of their index everywhere.
pub const PIECES: &[&str] = &["pawn", "knight", "bishop", "rook", "queen", "king"];

/// The kinds of piece that can be captured, in the same order.
pub const PIECES_BUT_KING: &[&str] = &["pawn", "knight", "bishop", "rook", "queen"];

/// What a pair leaf may hold in each half: far beyond any sane weight, far below what [`Score`] can add up.
const CENTIPAWNS: RangeInclusive<i32> = -5000..=5000;

params! {
    /// Every number the evaluation uses: `S` at each pair of (midgame, endgame) weights, `W` at each single weight.
    ///
    /// Pairs are in centipawns.
    #[derive(Clone, Debug, PartialEq, Eq)]
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
        pub phase: [W; 5] by (Axis::Keys(PIECES_BUT_KING)) in 0..=1000,
    }
}

/// What the engine plays with.
pub type Weights = EvalParams<Score, i32>;

/// What the tuner traces with: at every leaf its own index.
pub type Features = EvalParams<Feature, Feature>;

/// Number of pair leaves.
pub const PAIRS: usize = Weights::PAIRS;

/// Number of scalar leaves.
pub const SCALARS: usize = Weights::SCALARS;

/// The index of a leaf: pairs are numbered `0..PAIRS` and scalars `0..SCALARS`, each in declaration order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Feature(u16);

const _: () = assert!(PAIRS <= u16::MAX as usize, "a feature index is 16 bits");
const _: () = assert!(SCALARS <= u16::MAX as usize, "a feature index is 16 bits");

impl Feature {
    /// The index as a number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Atom for Score {}
impl Atom for i32 {}
impl Atom for Feature {}

/// Every declared field, in order.
pub const fn fields() -> &'static [Field] {
    Weights::FIELDS
}

/// Every leaf, in the order of [`Weights::to_vector`]: the pairs, then the scalars, each in declaration order.
pub fn leaves() -> Vec<Leaf> {
    leaves_of::<Weights>()
}

impl Features {
    /// The set that holds at every leaf its own index.
    pub fn indices() -> &'static Self {
        static INDICES: LazyLock<Features> = LazyLock::new(|| {
            let mut pairs = (0..).map(Feature);
            let mut scalars = (0..).map(Feature);
            Features::build(|| pairs.next().expect("endless"), || scalars.next().expect("endless"))
        });
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
            |pair| vector.extend([f64::from(pair.mg()), f64::from(pair.eg())]),
            |&scalar| scalars.push(f64::from(scalar)),
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
    fn leaves_are_counted_and_named_apart() {
        let leaves = leaves();
        assert_eq!((PAIRS, SCALARS), (5 + 6 * 64 + 1, 5));
        assert_eq!(leaves.len(), PAIRS + SCALARS);
        let paths: HashSet<&str> = leaves.iter().map(|leaf| leaf.path.as_str()).collect();
        assert_eq!(paths.len(), leaves.len());
        assert!(leaves[..PAIRS].iter().all(|leaf| leaf.kind == Kind::Pair));
        assert!(leaves[PAIRS..].iter().all(|leaf| leaf.kind == Kind::Scalar));
    }

    #[test]
    fn an_index_leads_to_the_path_of_its_leaf() {
        let (features, leaves) = (Features::indices(), leaves());
        let pair = |feature: Feature| leaves[feature.index()].path.as_str();
        let scalar = |feature: Feature| leaves[PAIRS + feature.index()].path.as_str();
        assert_eq!(pair(features.material[0]), "material.pawn");
        assert_eq!(pair(features.material[4]), "material.queen");
        assert_eq!(pair(features.psqt[1][3][4]), "psqt.knight.e4");
        assert_eq!(pair(features.psqt[5][7][0]), "psqt.king.a8");
        assert_eq!(pair(features.tempo), "tempo");
        assert_eq!(scalar(features.phase[3]), "phase.rook");
    }

    #[test]
    fn leaves_carry_their_range_and_their_words() {
        let leaf = leaves().pop().expect("there are leaves");
        assert_eq!((leaf.path.as_str(), leaf.min, leaf.max), ("phase.queen", 0, 1000));
        assert_eq!(leaf.field.summary(), "Share of each piece in the phase of the game; only the ratios matter.");
        assert!(fields().iter().all(|field| field.summary().ends_with('.')));
    }

    #[test]
    fn a_vector_holds_the_leaves_in_order() {
        let numbers: Vec<f64> = (0..Weights::DIMENSIONS).map(|i| i as f64).collect();
        let (weights, clamped) = Weights::from_vector(&numbers);
        assert_eq!(clamped, 0);
        assert_eq!(weights.to_vector(), numbers);
        assert_eq!(weights.material[1], Score::new(2, 3));
        assert_eq!(weights.psqt[0][0][0], Score::new(10, 11));
        assert_eq!(weights.phase[0], 2 * PAIRS as i32);
    }

    #[test]
    fn a_vector_is_rounded_and_clamped() {
        let mut vector = vec![0.0; Weights::DIMENSIONS];
        vector[..6].copy_from_slice(&[1.5, -1.5, 0.49, 5000.4, 5000.6, -1e300]);
        vector[6..9].copy_from_slice(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
        vector[2 * PAIRS] = -0.6;
        let (weights, clamped) = Weights::from_vector(&vector);
        assert_eq!(weights.material[0], Score::new(2, -2));
        assert_eq!(weights.material[1], Score::new(0, 5000));
        assert_eq!(weights.material[2], Score::new(5000, -5000));
        assert_eq!(weights.material[3], Score::new(0, 5000));
        assert_eq!(weights.material[4], Score::new(-5000, 0));
        assert_eq!((weights.phase[0], clamped), (0, 6));
        assert!(!weights.has_phase());
    }

    #[test]
    #[should_panic(expected = "length of a vector of weights")]
    fn a_vector_of_another_length_is_refused() {
        let _ = Weights::from_vector(&[0.0; 3]);
    }
}
