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

/// Knight to queen, in the same order.
const OFFICERS: &[&str] = &["knight", "bishop", "rook", "queen"];

/// The minor pieces, in the same order.
const MINORS: &[&str] = &["knight", "bishop"];

/// Targets that are weak, or defended: by a pawn, or by two pieces if fewer than two attack.
const DEFENCE: &[&str] = &["weak", "defended"];

/// Two kinds of piece, in the order of the first, then of the second.
const UNLIKE: &[&str] = &[
    "knight_pawn",
    "bishop_pawn",
    "bishop_knight",
    "rook_pawn",
    "rook_knight",
    "rook_bishop",
    "queen_pawn",
    "queen_knight",
    "queen_bishop",
    "queen_rook",
];

/// The two castling sides.
const CASTLING: &[&str] = &["short", "long"];

/// The range of each half of a pair leaf: far beyond any sane weight, far below the sums that [`Score`] can hold.
const CENTIPAWNS: RangeInclusive<i32> = -5000..=5000;

params! {
    /// The sums of the evaluation, in the order in which an explanation adds them up: what a term is worth depends on
    /// the sums before its own.
    ///
    /// [`combine`](super::combine) makes a score of them.
    pub enum Sum {
        /// The amount of pieces left, in the unit of their phase weights.
        Phase = phase: W,
        /// The score that the phase blends from midgame to endgame, in centipawns.
        Main = main: S,
        /// The attack of each side on the other's king, before its curve: in eighths of a centipawn where it is small.
        Danger = danger: [S; 2],
        /// The shift of the endgame score away from 0, or towards it if negative, in centipawns.
        Complexity = complexity: W,
        /// The share of the endgame score that counts if it is a side's advantage, in 2048ths: 128ths, 16 times at most.
        Scale = scale: [W; 2],
    }

    /// Every number the evaluation uses: `S` at each pair of (midgame, endgame) weights, `W` at each single weight.
    ///
    /// Pairs are in centipawns, unless they are of the sum `danger`. Files are counted from the nearer edge, ranks from
    /// the owner's side.
    pub struct EvalParams<S, W> {
        /// Worth of each piece, in centipawns; the king has none.
        /// Shape: `[piece]`, pawn to queen.
        pub material: [S; 5] by (Axis::Keys(PIECES_BUT_KING)) in CENTIPAWNS,

        /// Bonus of a piece for the square it stands on, in centipawns, with the own king on files e to h.
        /// Shape: `[piece][rank][file]`, rank 1 and file a first, from the owner's side of the board; mirrored, files a
        /// and h exchanged, where the own king stands on files a to d.
        pub psqt: [[[S; 8]; 8]; 6] by (Axis::Keys(PIECES), Axis::Board) in CENTIPAWNS,

        /// Bonus of the side to move, in centipawns.
        pub tempo: S in CENTIPAWNS,

        /// Worth of pieces beside others, in centipawns.
        pub imbalance as Imbalance<S> {
            /// Two kinds of own pieces: the product of their counts, pawns counted from four, knights, bishops and rooks from one.
            pub own: [S; 10] by (Axis::Keys(UNLIKE)),
            /// A kind of own pieces and the second kind of the enemy's: the product of their counts, counted from there.
            pub enemy: [S; 10] by (Axis::Keys(UNLIKE)),
            /// A kind of own pieces: the square of their count, counted from there.
            pub twice: [S; 2] by (Axis::Keys(&["knight", "rook"])),
        } in CENTIPAWNS,

        /// Pawns, in centipawns.
        pub pawns as Pawns<S> {
            /// Pawn with another one of its side before it on its file.
            /// Shape: `[file from the edge]`.
            pub doubled: [S; 4],
            /// Pawn without one of its side on the files beside it that cannot capture a pawn.
            /// Shape: `[file from the edge]`.
            pub isolated: [S; 4],
            /// Pawn that those beside it have passed and whose next square a pawn attacks or holds.
            pub backward: S,
            /// Isolated or backward pawn without an enemy one before it on its file.
            pub unopposed: S,
            /// Pawn beside another one, by rank from the second.
            pub phalanx: [S; 6],
            /// Pawn that another one defends, by rank from the second.
            pub defended: [S; 6],
            /// Pawn that would be passed after exchanges in which its helpers are as many as its guards, by rank from the second.
            pub candidate: [S; 6],
            /// Square of the own third to fifth rank that no own pawn can come to defend.
            pub holes: S,
            /// Distance in files of the king to the nearest pawn of either side.
            pub king_files: [S; 8],
        } in CENTIPAWNS,

        /// Passed pawns, the front ones of their files, in centipawns.
        pub passed as Passed<S> {
            /// Whether the next square is free, whether the enemy does not attack it, and the rank from the second.
            pub rank: [[[S; 6]; 2]; 2] by (Axis::Keys(&["blocked", "free"]), Axis::Keys(&["attacked", "safe"])),
            /// Distance of the own king to the next square, for pawns from the fourth rank on.
            pub own_king: [S; 8],
            /// Distance of the other king to the next square, for pawns from the fourth rank on.
            pub their_king: [S; 8],
            /// Passed pawn whose next square is defended.
            pub supported: S,
            /// Passed pawn that a pawn defends, or that stands beside another passed pawn, by rank from the second.
            pub connected: [S; 6],
            /// Passed pawn whose way is free of pieces and attacks, by rank from the second.
            pub open_path: [S; 6],
            /// Own rook or queen behind a passed pawn.
            pub rook_behind: S,
            /// Enemy rook or queen behind a passed pawn.
            pub enemy_behind: S,
            /// Passed pawn that the other king cannot catch, where the enemy has pawns alone.
            pub unstoppable: S,
        } in CENTIPAWNS,

        /// Squares that a piece attacks, by their count, in centipawns.
        /// Squares that enemy pawns attack do not count, nor those of the own king and of own blocked pawns.
        pub mobility as Mobility<S> {
            pub knight: [S; 9],
            pub bishop: [S; 14],
            pub rook: [S; 15],
            pub queen: [S; 28],
        } in CENTIPAWNS,

        /// Knights, bishops, rooks and queens, in centipawns.
        pub pieces as Pieces<S> {
            /// Two bishops or more.
            pub bishop_pair: S,
            /// Minor piece on an outpost: a pawn defends it, and no enemy pawn can come to attack it.
            /// Shape: `[piece]`, knight and bishop.
            pub outpost: [S; 2] by (Axis::Keys(MINORS)),
            /// Knight that attacks an outpost.
            pub outpost_reachable: S,
            /// Minor piece behind a pawn.
            /// Shape: `[piece]`, knight and bishop.
            pub behind_pawn: [S; 2] by (Axis::Keys(MINORS)),
            /// Distance of a minor piece to its king.
            /// Shape: `[piece][distance]`, knight and bishop.
            pub king_distance: [[S; 8]; 2] by (Axis::Keys(MINORS)),
            /// Own pawns on squares of the bishop's colour.
            pub own_pawns: [S; 9],
            /// Enemy pawns on squares of the bishop's colour.
            pub enemy_pawns: [S; 9],
            /// Bishop that looks at both central squares of its diagonal, past pieces but not past pawns.
            pub long_diagonal: S,
            /// Bishop on the seventh rank of an edge file that an enemy pawn shuts in.
            pub trapped_bishop: S,
            /// Rook on a file without own pawns, half-open or open.
            pub rook_file: [S; 2] by (Axis::Keys(&["half_open", "open"])),
            /// Rook on the seventh rank, with enemy pawns there or the king behind.
            pub rook_seventh: S,
            /// Rook on the file of a queen.
            pub rook_queen_file: S,
            /// Rook that another one defends along an open or half-open file.
            pub rook_doubled: S,
            /// Rook with three moves or fewer on the side of the king that has lost its castling rights.
            pub trapped_rook: S,
            /// Minor pieces on the back rank while the queen has left it.
            pub early_queen: S,
            /// Queen at which a rook or bishop looks through one piece.
            pub queen_exposed: S,
            /// Knight, by how closed the position is.
            pub knight_closed: [S; 9],
            /// Rook, by how closed the position is.
            pub rook_closed: [S; 9],
        } in CENTIPAWNS,

        /// Attacked enemy pieces, in centipawns; the attacker's bonus.
        pub threats as Threats<S> {
            /// Piece that a pawn attacks, knight to queen.
            pub pawn: [S; 4] by (Axis::Keys(OFFICERS)),
            /// Piece that a knight attacks.
            pub knight: [[S; 5]; 2] by (Axis::Keys(DEFENCE), Axis::Keys(PIECES_BUT_KING)),
            /// Piece that a bishop attacks.
            pub bishop: [[S; 5]; 2] by (Axis::Keys(DEFENCE), Axis::Keys(PIECES_BUT_KING)),
            /// Piece that a rook attacks.
            pub rook: [[S; 5]; 2] by (Axis::Keys(DEFENCE), Axis::Keys(PIECES_BUT_KING)),
            /// Piece that a queen attacks.
            pub queen: [[S; 5]; 2] by (Axis::Keys(DEFENCE), Axis::Keys(PIECES_BUT_KING)),
            /// Undefended pawn or piece that the king attacks.
            pub king: [S; 2] by (Axis::Keys(&["pawn", "piece"])),
            /// Piece that is attacked and not defended at all, by whether the attacker is to move.
            pub hanging: [S; 2] by (Axis::Keys(&["waiting", "to_move"])),
            /// Piece that a pawn could attack with a safe push.
            pub push: S,
            /// Square that both sides attack and the enemy does not hold firmly.
            pub restricted: S,
            /// Safe square from which a piece would attack the queen.
            /// Shape: `[piece]`, knight, bishop, rook.
            pub queen_next: [S; 3] by (Axis::Keys(&["knight", "bishop", "rook"])),
            /// Piece pinned to its king, pawn to queen.
            pub pinned: [S; 5] by (Axis::Keys(PIECES_BUT_KING)),
            /// Pinned piece that a pawn attacks, or a piece besides the one that pins it.
            pub pinned_again: S,
        } in CENTIPAWNS,

        /// Attack on the enemy king, in the units of the sum `danger`.
        pub danger as Danger<S> of Danger {
            /// What every attack begins with.
            pub offset: S,
            /// Piece that attacks the ring of squares about the king, knight to queen.
            pub attacker: [S; 4] by (Axis::Keys(OFFICERS)),
            /// Attacked square of the ring, counted for each attacking piece.
            pub ring: S,
            /// Square of the ring that is attacked and defended by king or queen alone, if at all.
            pub weak_ring: S,
            /// Square from which a piece could give check safely, knight to queen.
            pub safe_check: [S; 4] by (Axis::Keys(OFFICERS)),
            /// Square from which a piece could give check, to be taken, knight to queen.
            pub unsafe_check: [S; 4] by (Axis::Keys(OFFICERS)),
            /// Attacked squares of the three or four files about the king, on the five ranks nearest to it; once, and by two.
            pub flank: [S; 2] by (Axis::Keys(&["once", "twice"])),
            /// Defended squares there; once, and by two.
            pub flank_defence: [S; 2] by (Axis::Keys(&["once", "twice"])),
            /// No queen to attack with.
            pub no_queen: S,
            /// Square that a queen in the king's place would reach past enemy pieces.
            pub lines: S,
            /// Piece of either side that alone keeps a slider from the king.
            pub blockers: S,
            /// Minor piece of the defender in the ring.
            pub defenders: S,
            /// The nearest own pawn before the king on its file and those beside it.
            /// Shape: `[file from the edge][rank]`, rank 1 for no pawn.
            pub shelter: [[S; 8]; 4],
            /// The nearest enemy pawn before the king there, not blocked by an own one.
            /// Shape: `[file from the edge][rank]`, rank 1 for no pawn.
            pub storm: [[S; 8]; 4],
            /// The same, blocked.
            pub blocked_storm: [S; 8],
        } in CENTIPAWNS,

        /// Right to castle, in centipawns.
        pub castling: [S; 2] by (Axis::Keys(CASTLING)) in CENTIPAWNS,

        /// Share of each piece in the phase of the game; only the ratios matter.
        /// Shape: `[piece]`, pawn to queen. The fraction of midgame is the sum of these over the pieces on the
        /// board, divided by the same sum over the pieces of the starting position, at most 1.
        pub phase: [W; 5] of Phase by (Axis::Keys(PIECES_BUT_KING)) in 0..=1000,

        /// How much easier a position is to win than it looks, in centipawns of the endgame.
        /// Together they are at least −256, so that the side ahead stays ahead.
        pub complexity as Complexity<W> of Complexity {
            /// Always.
            pub base: W in -256..=256,
            /// Each pawn.
            pub pawns: W in 0..=32,
            /// Each passed pawn.
            pub passed: W in 0..=64,
            /// Pawns on both wings.
            pub both_wings: W,
            /// Nothing but pawns.
            pub pawn_ending: W,
            /// Each file on which one side alone has a pawn.
            pub asymmetry: W in 0..=32,
        } in 0..=256,

        /// Share of an endgame advantage that counts, in 128ths, by the first class that holds.
        pub scale as Scale<W> of Scale = 128 {
            /// Bishops of opposite colours and nothing else, by passed pawns of the side that is ahead.
            pub opposite_bishops: [W; 4],
            /// No pawn, and at most a minor piece more.
            pub pawnless: W,
            /// One rook each, pawns on one wing alone and at most one more of them.
            pub rook_ending: W,
            /// Bishops of opposite colours with other pieces.
            pub opposite_bishops_and_pieces: W,
            /// By pawns of the side that is ahead.
            pub pawns: [W; 9],
        } in 0..=512,
    }
}

/// The weights that the engine plays with.
pub type Weights = EvalParams<Score, i32>;

/// The indices that the tuner traces with: every leaf holds its own index.
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

    /// Returns true if some piece has a phase weight: without one, the phase of a position would be 0 / 0.
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
