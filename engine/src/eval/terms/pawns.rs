//! Pawns as they stand to each other, and how far the king is from them.

use crate::chess::{Bitboard, Color, PieceType, Position, Rank, attacks};
use crate::eval::context::PawnFacts;
use crate::eval::geometry::{beside, files_of, from_edge, in_front, pawn_rank, rank};
use crate::eval::params::{Accumulate, EvalParams};

/// Adds the terms of a side.
pub(in crate::eval) fn pawns<S: Copy, W: Copy>(
    position: &Position,
    facts: &PawnFacts,
    us: Color,
    params: &EvalParams<S, W>,
    sink: &mut impl Accumulate<S, W>,
) {
    let (params, sign) = (&params.pawns, us.sign());
    let [own, theirs] = [us, !us].map(|color| position.colored(color, PieceType::Pawn));
    let (under_attack, their_front) = (beside(theirs.forward(!us)), in_front(theirs, !us));
    for square in own {
        let (at, place) = (Bitboard::from(square), pawn_rank(square, us));
        let (stop, front, beside_it) = (at.forward(us), in_front(at, us), beside(at));
        let neighbours = beside(files_of(at)) & own;
        let (helpers, supporters) = (beside_it & own, attacks::pawn(!us, square) & own);
        let levers = attacks::pawn(us, square) & theirs;
        let is_opposed = their_front.has(square);
        let is_front = (front & own).is_empty();
        if !is_front {
            sink.main(params.doubled[from_edge(square.file())], sign);
        }
        if levers.is_empty() {
            // It may lean on pawns beside and behind it.
            let is_left_behind = neighbours.without(in_front(beside_it, us)).is_empty();
            let is_backward = is_left_behind && (stop & (under_attack | theirs)).any();
            if neighbours.is_empty() {
                sink.main(params.isolated[from_edge(square.file())], sign);
            } else if is_backward {
                sink.main(params.backward, sign);
            }
            if !is_opposed && (neighbours.is_empty() || is_backward) {
                sink.main(params.unopposed, sign);
            }
        }
        if helpers.any() {
            sink.main(params.phalanx[place], sign);
        }
        if supporters.any() {
            sink.main(params.defended[place], sign);
        }
        if is_front && !is_opposed && !facts.passed[us.index()].has(square) {
            // Guards attack it or its next square; it is no candidate if others are farther on its way.
            let next_guards = beside(stop.forward(us)) & theirs;
            let are_all = beside(front) & theirs == levers | next_guards;
            if are_all && levers.count() <= supporters.count() && next_guards.count() <= helpers.count() {
                sink.main(params.candidate[place], sign);
            }
        }
    }
    let home = rank(us, Rank::Third) | rank(us, Rank::Fourth) | rank(us, Rank::Fifth);
    sink.main(params.holes, sign * home.without(facts.spans[us.index()]).count() as i32);
    if (own | theirs).any() {
        let files = |set: Bitboard| files_of(set).0 & 0xFF;
        let king = position.king(us).file().index();
        let pawns = files(own | theirs);
        let above = (pawns >> king).trailing_zeros();
        let below = (pawns << (63 - king)).leading_zeros();
        sink.main(params.king_files[(above.min(below) & 7) as usize], sign);
    }
}
