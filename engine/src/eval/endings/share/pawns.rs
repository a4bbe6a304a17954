//! A pawn each.

use super::{DRAWN, Seen, WHOLE, kpk};
use crate::chess::Color;

/// What is drawn without the other side's pawn is hardly won with it.
pub(super) fn pawn_each(seen: &Seen) -> i32 {
    let side = if seen.to_move { Color::White } else { Color::Black };
    if kpk::is_won(Color::White, seen.pawn(), [seen.king, seen.their_king], side) { WHOLE } else { DRAWN }
}
