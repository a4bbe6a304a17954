//! A pawn each.

use super::{DRAWN, Seen, WHOLE, kpk};
use crate::chess::Color;

/// Returns the share of the advantage that counts: all of it if the ending is won without the other side's pawn. A
/// position that is drawn without that pawn is hardly won with it.
pub(super) fn pawn_each(seen: &Seen) -> i32 {
    let side = if seen.to_move { Color::White } else { Color::Black };
    if kpk::is_won(Color::White, seen.pawn(), [seen.king, seen.their_king], side) { WHOLE } else { DRAWN }
}
