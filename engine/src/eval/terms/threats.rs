//! Attacked enemy pieces.

use crate::chess::{Bitboard, Color, PieceType, Rank, Square, attacks};
use crate::eval::context::Context;
use crate::eval::geometry::{beside, rank};
use crate::eval::params::{Accumulate, EvalParams};

/// Adds the terms of a side. Needs the attacks of all pieces.
#[inline(always)]
pub(in crate::eval) fn threats<S: Copy, W: Copy>(
    cx: &Context<'_>,
    us: Color,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    let (params, sign, them) = (&params.threats, us.sign(), !us);
    let (own, theirs) = (cx.side(us), cx.side(them));
    let victims = theirs.all.without(theirs.king.into());
    let officers = victims.without(theirs.pawns);
    let held = cx.held(them);
    let kind = |square: Square| cx.position.piece_type_on(square).unwrap_or(PieceType::Pawn).index();

    for square in own.by(PieceType::Pawn) & officers {
        sink.main(params.pawn[(kind(square) - 1) & 3], sign);
    }
    let tables = [&params.knight, &params.bishop, &params.rook, &params.queen];
    for (piece, table) in
        [PieceType::Knight, PieceType::Bishop, PieceType::Rook, PieceType::Queen].into_iter().zip(tables)
    {
        for square in own.by(piece) & victims {
            sink.main(table[usize::from(held.has(square))][kind(square).min(4)], sign);
        }
    }
    let undefended = victims.without(theirs.attacked);
    let by_king = own.by(PieceType::King) & undefended;
    if by_king.any() {
        sink.main(params.king[0], sign * (by_king & theirs.pawns).count() as i32);
        sink.main(params.king[1], sign * by_king.without(theirs.pawns).count() as i32);
    }
    let hanging = (undefended & own.attacked).count() as i32;
    let to_move = cx.position.side_to_move() == us;
    sink.main(params.hanging[usize::from(to_move)], sign * hanging);

    sink.main(params.push, sign * (pushes(cx, us) & officers).count() as i32);
    let restricted = (own.attacked & theirs.attacked).without(held | own.by(PieceType::Pawn));
    sink.main(params.restricted, sign * restricted.count() as i32);
    on_queen(cx, us, &params.queen_next, sink);
    pins(cx, us, &params.pinned, params.pinned_again, sink);
}

/// The squares that pawns attack after a safe push.
#[inline(always)]
fn pushes(cx: &Context<'_>, us: Color) -> Bitboard {
    let (own, theirs) = (cx.side(us), cx.side(!us));
    let one = own.pawns.forward(us).without(cx.occupied);
    let two = (one & rank(us, Rank::Third)).forward(us).without(cx.occupied);
    let safe = (one | two).without(theirs.by(PieceType::Pawn)) & (own.attacked | !theirs.attacked);
    // A square that a pawn already attacks belongs to another threat.
    beside(safe.forward(us)).without(own.by(PieceType::Pawn))
}

/// Safe squares from which knights, bishops and rooks would attack the only queen.
#[inline(always)]
fn on_queen<S: Copy, W: Copy>(cx: &Context<'_>, us: Color, params: &[S; 3], sink: &mut impl Accumulate<S, W>) {
    let queens = cx.pieces(!us, PieceType::Queen);
    if queens.is_empty() || queens.has_several() {
        return;
    }
    let (own, theirs) = (cx.side(us), cx.side(!us));
    let queen = queens.first().unwrap_or(theirs.king);
    let safe = own.area.without(own.all | cx.held(!us));
    let sign = us.sign();
    let knights = own.by(PieceType::Knight) & attacks::knight(queen) & safe;
    // A slider that goes where the queen looks at it must be defended there.
    let covered = safe & own.attacked_twice;
    let mut bishops = own.by(PieceType::Bishop) & covered & attacks::diagonals(queen);
    if bishops.any() {
        bishops &= attacks::bishop(queen, cx.occupied);
    }
    let mut rooks = own.by(PieceType::Rook) & covered & attacks::straights(queen);
    if rooks.any() {
        rooks &= attacks::rook(queen, cx.occupied);
    }
    for (&leaf, squares) in params.iter().zip([knights, bishops, rooks]) {
        sink.main(leaf, sign * squares.count() as i32);
    }
}

/// Enemy pieces pinned to their king.
#[inline(always)]
fn pins<S: Copy, W: Copy>(cx: &Context<'_>, us: Color, params: &[S; 5], again: S, sink: &mut impl Accumulate<S, W>) {
    let (own, theirs) = (cx.side(us), cx.side(!us));
    for square in theirs.pinned {
        let kind = cx.position.piece_type_on(square).unwrap_or(PieceType::Pawn).index();
        sink.main(params[kind.min(4)], us.sign());
        if (own.attacked_twice | own.by(PieceType::Pawn)).has(square) {
            sink.main(again, us.sign());
        }
    }
}
