//! King and pawn against king, worked out completely.
//!
//! The pawn's side never loses. The positions that it wins are found backwards, from those in which the pawn promotes
//! safely. Each step looks at all squares of the other king at once, as a set. So the table takes less than a
//! millisecond: the first search that needs it waits for it, whatever its clock says.

use std::sync::LazyLock;

use crate::chess::{Bitboard, Color, File, Rank, Square, attacks};
use crate::eval::geometry::king_steps;

/// By side to move, square of the pawn and of White's king: the squares of Black's king from which White wins.
type Won = [[[Bitboard; 64]; PAWNS]; 2];

/// Squares of the pawn, on files a to d.
const PAWNS: usize = 24;

static WON: LazyLock<Box<Won>> = LazyLock::new(generate);

/// Returns true if the side with the pawn wins.
pub(super) fn is_won(strong: Color, pawn: Square, kings: [Square; 2], side_to_move: Color) -> bool {
    let mirror = |square: Square| {
        let seen = square.relative_to(strong);
        if pawn.file() > File::D { Square::from_index(seen.index() ^ 7) } else { seen }
    };
    let [own, theirs] = [kings[strong.index()], kings[(!strong).index()]].map(mirror);
    let side = if side_to_move == strong { Color::White } else { Color::Black };
    WON[side.index()][place(mirror(pawn))][own.index()].has(theirs)
}

/// The place of a pawn on ranks 2 to 7 of files a to d.
fn place(pawn: Square) -> usize {
    4 * pawn.rank().index().clamp(1, 6) - 4 + (pawn.file().index() & 3)
}

fn generate() -> Box<Won> {
    let mut won = Box::new([[[Bitboard::EMPTY; 64]; PAWNS]; 2]);
    loop {
        let before = won.clone();
        // Farther pawns come first: the others become them.
        for pawn in (0..PAWNS).rev().map(|place| Square::new(File::ALL[place % 4], Rank::ALL[place / 4 + 1])) {
            for king in Square::all().filter(|&king| king != pawn) {
                won[0][place(pawn)][king.index()] = won_by_white(&won, pawn, king);
                won[1][place(pawn)][king.index()] = lost_by_black(&won, pawn, king);
            }
        }
        if won == before {
            return won;
        }
    }
}

/// The squares of Black's king from which White wins, being to move.
fn won_by_white(won: &Won, pawn: Square, king: Square) -> Bitboard {
    let after = |pawn: Square, king: Square| won[1][place(pawn)][king.index()];
    let steps = attacks::king(king).without(pawn.into());
    let mut wins = steps.into_iter().fold(Bitboard::EMPTY, |wins, to| wins | after(pawn, to));
    let stop = Square::from_index(pawn.index() + 8);
    if stop != king && pawn.rank() == Rank::Seventh {
        // The queen is safe where the other king does not reach her, or the own one stands by.
        let reached = if steps.has(stop) { Bitboard::EMPTY } else { attacks::king(stop) };
        wins |= !(reached | stop.into());
    } else if stop != king {
        wins |= after(stop, king);
        let far = Square::from_index(stop.index() + 8);
        if pawn.rank() == Rank::Second && far != king {
            wins |= after(far, king).without(stop.into());
        }
    }
    wins & apart(pawn, king).without(attacks::pawn(Color::White, pawn))
}

/// The squares of Black's king from which White wins, Black being to move: there are moves, and all lose.
fn lost_by_black(won: &Won, pawn: Square, king: Square) -> Bitboard {
    let flights = !(attacks::king(king) | attacks::pawn(Color::White, pawn));
    // The pawn's own square is one, if nothing guards it.
    let escapes = flights.without(won[0][place(pawn)][king.index()]);
    apart(pawn, king) & king_steps(flights).without(king_steps(escapes))
}

/// The squares where Black's king may stand beside a pawn and White's king.
fn apart(pawn: Square, king: Square) -> Bitboard {
    !(attacks::king(king) | king.into() | pawn.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_won_as_is_known() {
        // 124,960 with White to move and 97,604 with Black to move, of which one half has the pawn on files a to d.
        let count = |side: usize| WON[side].as_flattened().iter().map(|set| set.count()).sum::<u32>();
        assert_eq!([count(0), count(1)], [124_960 / 2, 97_604 / 2]);
    }
}
