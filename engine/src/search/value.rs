//! What nodes of the search are worth.

/// The worth of a node in centipawns, in the view of its side to move; mates lie beyond every evaluation.
pub type Value = i32;

/// Beyond every value.
pub const INFINITE: Value = 32_001;

/// The worth of having mated on the spot; each ply before the mate costs one.
pub const MATE: Value = 32_000;

/// No line of the search is longer, in plies.
pub const MAX_PLY: usize = 246;

const _: () = assert!(MATE - MAX_PLY as i32 > crate::eval::EVAL_LIMIT);

/// The worth of being mated `ply` plies from the root.
#[inline(always)]
pub const fn mated_in(ply: usize) -> Value {
    ply as Value - MATE
}

/// Whether a value is a forced mate, for either side.
#[inline(always)]
pub const fn is_mate(value: Value) -> bool {
    value.abs() >= MATE - MAX_PLY as Value
}
