//! Passed pawns.

use crate::chess::{Bitboard, Color, PieceType, Square, attacks};
use crate::eval::context::Context;
use crate::eval::geometry::{beside, distance, in_front, pawn_rank, rank_of};
use crate::eval::params::{Accumulate, EvalParams};

/// Passed pawns count the distances of kings from this rank on, as `pawn_rank` counts.
const KINGS_MATTER: usize = 2;

/// Adds the terms of a side. Needs the attacks of all pieces.
#[inline(always)]
pub(in crate::eval) fn passed<S: Copy, W: Copy>(
    cx: &Context<'_>,
    us: Color,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    let (params, sign, them) = (&params.passed, us.sign(), !us);
    let passed = cx.facts.passed[us.index()];
    if passed.is_empty() {
        return;
    }
    let (own, theirs) = (cx.side(us), cx.side(them));
    let pawns_alone = theirs.all == theirs.pawns | theirs.king.into();
    for square in passed {
        let (at, place) = (Bitboard::from(square), pawn_rank(square, us));
        let stop = at.forward(us);
        let next = stop.first().unwrap_or(square);
        let is_free = (stop & cx.occupied).is_empty();
        let is_safe = (stop & theirs.attacked).is_empty();
        sink.main(params.rank[usize::from(is_free)][usize::from(is_safe)][place], sign);
        if place >= KINGS_MATTER {
            sink.main(params.own_king[distance(own.king, next) & 7], sign);
            sink.main(params.their_king[distance(theirs.king, next) & 7], sign);
        }
        if (stop & own.attacked).any() {
            sink.main(params.supported, sign);
        }
        if own.by(PieceType::Pawn).has(square) || (beside(at) & passed).any() {
            sink.main(params.connected[place], sign);
        }
        let path = in_front(at, us);
        if (path & (cx.occupied | theirs.attacked)).is_empty() {
            sink.main(params.open_path[place], sign);
        }
        let heavy = (cx.position.pieces(PieceType::Rook) | cx.position.pieces(PieceType::Queen)) & in_front(at, them);
        if heavy.any() {
            let behind = heavy & attacks::rook(square, cx.occupied);
            if (behind & own.all).any() {
                sink.main(params.rook_behind, sign);
            } else if behind.any() {
                sink.main(params.enemy_behind, sign);
            }
        }
        if pawns_alone && (path & cx.occupied).is_empty() && runs_away(cx, us, square) {
            sink.main(params.unstoppable, sign);
        }
    }
}

/// The rule of the square.
fn runs_away(cx: &Context<'_>, us: Color, square: Square) -> bool {
    let them = !us;
    let place = rank_of(square, us);
    let goal = Square::new(square.file(), crate::chess::Rank::Eighth.relative_to(us));
    // From the second rank the first move is two squares long.
    let moves = if place == 1 { 5 } else { 7 - place };
    let tempo = usize::from(cx.position.side_to_move() == them);
    distance(cx.side(them).king, goal) > moves + tempo
}
