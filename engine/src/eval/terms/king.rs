//! The attack on the other king, and the right to castle.

use crate::chess::{CastlingSide, Color, PieceType, attacks};
use crate::eval::context::Context;
use crate::eval::geometry::flank;
use crate::eval::params::{Accumulate, EvalParams};

/// Adds the terms of a side, those of attacking pieces aside, which come with the pieces. Needs the attacks of all.
#[inline(always)]
pub(in crate::eval) fn king<S: Copy, W: Copy>(
    cx: &Context<'_>,
    us: Color,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    for (&leaf, side) in params.castling.iter().zip(CastlingSide::ALL) {
        if cx.position.castling().rook_file(us, side).is_some() {
            sink.main(leaf, us.sign());
        }
    }
    let (params, them) = (&params.danger, !us);
    let (own, theirs) = (cx.side(us), cx.side(them));
    sink.danger(us, params.offset, 1);
    if cx.pieces(us, PieceType::Queen).is_empty() {
        sink.danger(us, params.no_queen, 1);
    }

    let by_last = theirs.by(PieceType::King) | theirs.by(PieceType::Queen);
    let weak = own.attacked.without(theirs.attacked_twice) & (!theirs.attacked | by_last);
    sink.danger(us, params.weak_ring, (theirs.ring & weak).count() as i32);
    checks(cx, us, weak & own.attacked_twice | !theirs.attacked, params, sink);

    let flank = flank(theirs.king, them);
    for (&leaf, squares) in params.flank.iter().zip([own.attacked, own.attacked_twice]) {
        sink.danger(us, leaf, (squares & flank).count() as i32);
    }
    for (&leaf, squares) in params.flank_defence.iter().zip([theirs.attacked, theirs.attacked_twice]) {
        sink.danger(us, leaf, (squares & flank).count() as i32);
    }
    let lines = attacks::queen(theirs.king, theirs.all | own.pawns).without(theirs.all);
    sink.danger(us, params.lines, lines.count() as i32);
    sink.danger(us, params.blockers, theirs.blockers.count() as i32);
    let minors = cx.pieces(them, PieceType::Knight) | cx.pieces(them, PieceType::Bishop);
    sink.danger(us, params.defenders, (minors & theirs.ring).count() as i32);
}

/// Squares from which the pieces of `us` could give check, on `safe` squares and on others.
#[inline(always)]
fn checks<S: Copy, W: Copy>(
    cx: &Context<'_>,
    us: Color,
    safe: crate::chess::Bitboard,
    params: &crate::eval::params::Danger<S>,
    sink: &mut impl Accumulate<S, W>,
) {
    let (own, theirs) = (cx.side(us), cx.side(!us));
    // The queen of the defender would step aside.
    let occupied = cx.occupied.without(cx.pieces(!us, PieceType::Queen));
    let (diagonal, straight) = (attacks::bishop(theirs.king, occupied), attacks::rook(theirs.king, occupied));
    let from = [attacks::knight(theirs.king), diagonal, straight, diagonal | straight];
    let kinds = [PieceType::Knight, PieceType::Bishop, PieceType::Rook, PieceType::Queen];
    for (i, (kind, from)) in kinds.into_iter().zip(from).enumerate() {
        let squares = (from & own.by(kind)).without(own.all);
        if squares.any() {
            sink.danger(us, params.safe_check[i], (squares & safe).count() as i32);
            sink.danger(us, params.unsafe_check[i], squares.without(safe).count() as i32);
        }
    }
}
