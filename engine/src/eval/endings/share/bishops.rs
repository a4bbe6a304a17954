//! Bishops on either side, most of all those of opposite colours.

use super::{
    Bitboard, DRAWN, EVEN, HARD, PieceType, Position, Rank, Seen, Square, WHOLE, attacks, distance, foremost, path,
};
use crate::chess::Color;
use crate::eval::geometry::LIGHT;

/// Returns true if each side has one bishop, of opposite colours, and there is no other piece.
pub(super) fn are_opposite(position: &Position) -> bool {
    let bishops = position.pieces(PieceType::Bishop);
    let pieces = position.occupied().without(position.pieces(PieceType::Pawn) | position.pieces(PieceType::King));
    pieces == bishops
        && Color::ALL.into_iter().all(|color| (bishops & position.color(color)).count() == 1)
        && (bishops & LIGHT).count() == 1
}

/// Returns true if the bishops stand on squares of different colours.
fn differ(seen: &Seen) -> bool {
    LIGHT.has(seen.piece) != LIGHT.has(seen.their_piece)
}

/// Returns true if a pawn cannot go all its way: the weaker king stands in it, or the weaker bishop looks at it.
fn is_held(seen: &Seen, pawn: Square) -> bool {
    let way = path(pawn);
    way.has(seen.their_king) || is_looked_at(seen, way)
}

/// Returns true if the weaker bishop stands in a way or attacks it.
fn is_looked_at(seen: &Seen, way: Bitboard) -> bool {
    (way & (attacks::bishop(seen.their_piece, seen.occupied) | seen.their_piece.into())).any()
}

/// A pawn beside a bishop, against a bishop.
pub(super) fn pawn_against_bishop(seen: &Seen) -> i32 {
    let pawn = seen.pawn();
    if differ(seen) {
        let is_near = seen.is_before(pawn) && distance(seen.their_king, pawn) <= 2;
        return if is_held(seen, pawn) || is_near { 1 } else { HARD };
    }
    let (way, king) = (path(pawn), seen.their_king);
    if way.has(king) && LIGHT.has(king) != LIGHT.has(seen.piece) {
        // Nothing drives the king away.
        return 1;
    }
    // A bishop looks at few squares of a short way, and the other king shuts it out.
    let is_short = pawn.rank() >= Rank::Sixth;
    let steps = way.into_iter().map(|square| distance(square, king)).min().unwrap_or(0);
    match (is_looked_at(seen, way), steps) {
        (true, 0..=3) if is_short => HARD,
        (false, 0..=2) if pawn.rank() >= Rank::Fifth => HARD,
        (true, 0..=3) | (false, 0..=2) => DRAWN,
        (true, _) => 9,
        (false, _) => WHOLE,
    }
}

/// Bishops of opposite colours and any number of pawns: what counts are the passed ones.
///
/// The weaker side holds where it stops each of them on squares on which the other bishop has no say. King and bishop together
/// stop two pawns that are near each other, but hardly two that are far apart.
pub(super) fn opposite(seen: &Seen) -> i32 {
    let passed = seen.passed();
    let is_bare = seen.pawns.count() <= 2;
    match passed.count() {
        0 => 9,
        1 => match (is_held(seen, passed.lowest()), is_bare) {
            (true, true) => 4,
            (true, false) => 8,
            (false, _) => 11,
        },
        2 => two_passed(seen, passed, is_bare),
        _ => WHOLE,
    }
}

fn two_passed(seen: &Seen, passed: Bitboard, is_bare: bool) -> i32 {
    let pawns = [passed.lowest(), foremost(passed)];
    let apart = pawns[0].file().index().abs_diff(pawns[1].file().index());
    let is_before = pawns.into_iter().any(|pawn| seen.is_before(pawn));
    let are_looked_at = pawns.into_iter().all(|pawn| is_looked_at(seen, path(pawn)));
    if apart > 2 {
        return if is_before && are_looked_at { 12 } else { WHOLE };
    }
    if pawns.into_iter().all(|pawn| is_blockaded(seen, pawn)) {
        return if is_bare { DRAWN } else { HARD };
    }
    match (is_before, pawns[1].rank()) {
        (true, Rank::Second | Rank::Third | Rank::Fourth) => HARD,
        (true, Rank::Fifth) => EVEN,
        (false, _) if are_looked_at => EVEN,
        _ => WHOLE,
    }
}

/// Returns true if the square before a pawn is of the weaker bishop's colour, and the bishop commands it or the king
/// stands on it.
fn is_blockaded(seen: &Seen, pawn: Square) -> bool {
    let stop = path(pawn).lowest();
    let is_safe = LIGHT.has(stop) == LIGHT.has(seen.their_piece);
    is_safe && (stop == seen.their_king || is_looked_at(seen, stop.into()))
}
