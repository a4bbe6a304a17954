//! Values of nodes.

/// The value of a node in centipawns, in the view of its side to move; mates lie beyond every evaluation.
pub type Value = i32;

/// Beyond every value.
pub const INFINITE: Value = 32_001;

/// The value of a mate at the root; each ply to the mate costs one.
pub const MATE: Value = 32_000;

/// The value of a draw.
pub const DRAW: Value = 0;

/// No line of the search is longer, in plies.
pub const MAX_PLY: usize = 246;

/// The value of a win at the root that a tablebase knows, below every mate; each ply to it costs one.
pub(super) const TABLE_WIN: Value = MATE - MAX_PLY as Value - 1;

/// From this value on, a game is decided by a mate or a tablebase.
const DECIDED: Value = TABLE_WIN - MAX_PLY as Value;

const _: () = assert!(DECIDED > crate::eval::EVAL_LIMIT);

/// The value of being mated `ply` plies from the root.
#[inline(always)]
pub const fn mated_in(ply: usize) -> Value {
    ply as Value - MATE
}

/// The value of mating `ply` plies from the root.
#[inline(always)]
pub const fn mate_in(ply: usize) -> Value {
    MATE - ply as Value
}

/// Returns true if a value is a forced mate, for either side.
#[inline(always)]
pub const fn is_mate(value: Value) -> bool {
    value.abs() >= MATE - MAX_PLY as Value
}

/// The value of reaching, `ply` plies from the root, an ending that a tablebase knows to be won.
#[inline(always)]
pub(super) const fn table_win_in(ply: usize) -> Value {
    TABLE_WIN - ply as Value
}

/// Returns true if a value is a forced mate, or a result of a tablebase, for the side to move.
#[inline(always)]
pub(super) const fn is_win(value: Value) -> bool {
    value >= DECIDED
}

/// Returns true if a value is a forced mate, or a result of a tablebase, against the side to move.
#[inline(always)]
pub(super) const fn is_loss(value: Value) -> bool {
    value <= -DECIDED
}

/// Returns true if a value is a forced mate or a result of a tablebase, for either side.
#[inline(always)]
pub(super) const fn is_decided(value: Value) -> bool {
    value.abs() >= DECIDED
}

/// The moves until a forced mate, negative for being mated; `None` for other values.
pub const fn mate_distance(value: Value) -> Option<i32> {
    if !is_mate(value) {
        return None;
    }
    let moves = (MATE - value.abs() + 1) / 2;
    Some(if value > 0 { moves } else { -moves })
}
