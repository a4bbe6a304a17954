//! A rook and pawns against a rook or a bishop.

use super::{DRAWN, EVEN, HARD, LIGHT, Seen, WHOLE, distance, goal, path};
use crate::chess::{File, Rank, Square};

/// A rook and a pawn against a rook: what matters is where the weaker king is.
pub(super) fn pawn_against_rook(seen: &Seen) -> i32 {
    let pawn = seen.pawn();
    if seen.is_before(pawn) {
        return king_before(seen, pawn);
    }
    let tempo = usize::from(seen.to_move);
    let [own, theirs] = [seen.king, seen.their_king].map(|king| distance(king, pawn));
    if own > 2 && theirs + tempo < own {
        // The pawn is lost, or its rook cannot leave it.
        return HARD;
    }
    if is_side_attack(seen, pawn) || is_tied_to_its_pawn(seen, pawn) {
        return DRAWN;
    }
    if seen.their_king.rank() > pawn.rank() { king_cut_off(seen, pawn) } else { WHOLE }
}

/// The king stands before the pawn: it is driven away only if it must fear mate on the last rank.
fn king_before(seen: &Seen, pawn: Square) -> i32 {
    let is_last = |square: Square| square.rank() == Rank::Eighth;
    let is_central = (File::C..=File::F).contains(&pawn.file());
    if is_last(seen.their_king) && is_last(seen.their_piece) && seen.king.rank() >= Rank::Fifth && is_central {
        // The rook is bound to the last rank and waits for the pawn.
        return if pawn.rank() >= Rank::Fifth { WHOLE } else { HARD };
    }
    let is_pressed = is_last(seen.their_king) && seen.king.rank() >= Rank::Sixth;
    // From behind, a rook gives checks from which the other king has no shelter.
    let has_checks = seen.their_piece.rank() <= Rank::Third && !seen.to_move;
    match (is_pressed && !has_checks, seen.to_move) {
        (false, _) => DRAWN,
        (true, false) => HARD,
        (true, true) => EVEN,
    }
}

/// The rook attacks a rook's pawn from the side, its king is out of reach of a check that would win time, and the other rook
/// stands before the pawn.
fn is_side_attack(seen: &Seen, pawn: Square) -> bool {
    let rook = seen.their_piece;
    is_on_edge(pawn)
        && pawn.rank() <= Rank::Sixth
        && path(pawn).has(seen.piece)
        && rook.rank() == pawn.rank()
        && files_between(rook, pawn) >= 3
        && is_far_on_seventh(seen, pawn)
}

/// The rook stands before its rook's pawn on the seventh rank and cannot leave, as the other one attacks the pawn from behind.
fn is_tied_to_its_pawn(seen: &Seen, pawn: Square) -> bool {
    let is_behind = seen.their_piece.file() == pawn.file() && seen.their_piece.rank() < pawn.rank();
    let is_blocked = is_on_edge(pawn) && pawn.rank() == Rank::Seventh && seen.piece == goal(pawn);
    is_blocked && is_behind && is_far_on_seventh(seen, pawn)
}

/// Returns true if the weaker king stands on the seventh rank at the other edge, where no check wins a rook.
fn is_far_on_seventh(seen: &Seen, pawn: Square) -> bool {
    seen.their_king.rank() == Rank::Seventh && files_between(seen.their_king, pawn) >= 6
}

/// The king is kept away from the pawn's file: the further away and the further the pawn, the worse.
fn king_cut_off(seen: &Seen, pawn: Square) -> i32 {
    let files = files_between(seen.their_king, pawn);
    if is_on_edge(pawn) {
        return match pawn.rank() {
            Rank::Second | Rank::Third | Rank::Fourth if files <= 5 => DRAWN,
            Rank::Fifth if files <= 4 => HARD,
            Rank::Sixth if files == 2 => HARD,
            _ => WHOLE,
        };
    }
    let is_left = seen.their_king.file() < pawn.file();
    // On the shorter side the king leaves the longer one to its rook, which checks from afar.
    let is_short = is_left == (pawn.file() <= File::D);
    match (files, pawn.rank()) {
        (2, rank) if is_short && rank <= Rank::Fourth => DRAWN,
        (2, Rank::Fifth) if is_short => 4,
        (2, Rank::Sixth) if is_short && seen.their_king.rank() == Rank::Seventh && has_long_side(seen, pawn) => HARD,
        (2, Rank::Second | Rank::Third) => HARD,
        (2, Rank::Fourth | Rank::Fifth) => EVEN,
        (3, Rank::Second | Rank::Third) => HARD,
        (3, Rank::Fourth) | (4, Rank::Second | Rank::Third) => EVEN,
        _ => WHOLE,
    }
}

/// Returns true if the weaker rook has four files between itself and the pawn to check across, away from its own king.
fn has_long_side(seen: &Seen, pawn: Square) -> bool {
    let rook = seen.their_piece;
    (rook.file() < pawn.file()) != (seen.their_king.file() < pawn.file()) && files_between(rook, pawn) >= 4
}

/// A rook and a pawn against a bishop: nearly always won.
///
/// A rook's pawn that has come far leaves the king a corner where no bishop of its own colour is missed: from there it is not
/// driven out. A pawn on the sixth rank may be held where the bishop looks at the last square.
pub(super) fn pawn_against_bishop(seen: &Seen) -> i32 {
    let (pawn, goal) = (seen.pawn(), goal(seen.pawn()));
    if pawn.rank() < Rank::Fifth || distance(seen.their_king, goal) > 1 {
        return WHOLE;
    }
    let is_commanded = LIGHT.has(goal) == LIGHT.has(seen.their_piece);
    match (is_on_edge(pawn), is_commanded) {
        (true, false) => DRAWN,
        (false, true) if pawn.rank() == Rank::Sixth => EVEN,
        _ => WHOLE,
    }
}

/// Two pawns against one, with a rook each: the king holds what it stands before, if that is all there is to hold.
pub(super) fn pawns_against_pawn(seen: &Seen) -> i32 {
    let passed = seen.passed();
    match passed.count() {
        0 => against_both(seen),
        1 if seen.is_before(passed.lowest()) => HARD,
        2 if passed.into_iter().any(|pawn| seen.is_before(pawn)) => EVEN,
        _ => WHOLE,
    }
}

/// No pawn is passed: the king stands before both, and they get the worse of it the less far they have come.
fn against_both(seen: &Seen) -> i32 {
    let king = seen.their_king;
    let is_before = |pawn: Square| files_between(king, pawn) <= 2 && king.rank() > pawn.rank();
    if !seen.pawns.into_iter().all(is_before) {
        return WHOLE;
    }
    match seen.pawn().rank() {
        Rank::Sixth | Rank::Seventh => EVEN,
        Rank::Fifth => HARD,
        _ => 4,
    }
}

fn files_between(a: Square, b: Square) -> usize {
    a.file().index().abs_diff(b.file().index())
}

fn is_on_edge(square: Square) -> bool {
    matches!(square.file(), File::A | File::H)
}
