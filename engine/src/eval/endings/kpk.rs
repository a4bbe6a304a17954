//! King and pawn against king, worked out completely.
//!
//! A position is lost for the pawn's side in no way: it is won or drawn. Won positions are found backwards, from those in
//! which the pawn promotes safely.

use std::sync::LazyLock;

use crate::chess::{Bitboard, Color, File, Rank, Square, attacks};

/// Positions with the pawn on files a to d: side to move, pawn, and both kings.
const POSITIONS: usize = 2 * PAWNS * 64 * 64;

/// Squares of the pawn.
const PAWNS: usize = 24;

/// A bit by position: 1 if White, with a pawn on files a to d, wins.
static WON: LazyLock<Vec<u64>> = LazyLock::new(generate);

/// Returns true if the side with the pawn wins.
pub(super) fn is_won(strong: Color, pawn: Square, kings: [Square; 2], side_to_move: Color) -> bool {
    let mirror = |square: Square| {
        let seen = square.relative_to(strong);
        if pawn.file() > File::D { Square::from_index(seen.index() ^ 7) } else { seen }
    };
    let [own, theirs] = [kings[strong.index()], kings[(!strong).index()]].map(mirror);
    let side = if side_to_move == strong { Color::White } else { Color::Black };
    let index = index(side, mirror(pawn), own, theirs);
    WON[index / 64] >> (index % 64) & 1 != 0
}

/// The number of a position; the pawn is on ranks 2 to 7 of files a to d.
fn index(side: Color, pawn: Square, white: Square, black: Square) -> usize {
    let pawn = 4 * pawn.rank().index().clamp(1, 6) - 4 + (pawn.file().index() & 3);
    ((side.index() * PAWNS + pawn) * 64 + white.index()) * 64 + black.index()
}

/// The result of a position, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// It cannot occur.
    Never,
    /// Nothing yet; in the end, a draw.
    Nothing,
    /// White wins.
    Won,
    /// Black is stalemated, or takes the pawn.
    Drawn,
}

fn generate() -> Vec<u64> {
    let mut known: Vec<Known> = (0..POSITIONS).map(|index| first_look(&Setup::of(index))).collect();
    loop {
        let mut has_changed = false;
        for index in 0..POSITIONS {
            if known[index] == Known::Nothing {
                known[index] = next_look(&Setup::of(index), &known);
                has_changed |= known[index] != Known::Nothing;
            }
        }
        if !has_changed {
            break;
        }
    }
    let word = |chunk: &[Known]| {
        chunk.iter().enumerate().fold(0, |word, (bit, &known)| word | u64::from(known == Known::Won) << bit)
    };
    known.chunks(64).map(word).collect()
}

struct Setup {
    side: Color,
    pawn: Square,
    white: Square,
    black: Square,
}

impl Setup {
    fn of(index: usize) -> Self {
        let pawn = index / 4096 % PAWNS;
        Setup {
            side: Color::ALL[index / (PAWNS * 4096)],
            pawn: Square::new(File::ALL[pawn % 4], Rank::ALL[pawn / 4 + 1]),
            white: Square::from_index(index / 64),
            black: Square::from_index(index),
        }
    }

    /// The square before the pawn.
    fn stop(&self) -> Square {
        Square::from_index(self.pawn.index() + 8)
    }
}

fn first_look(setup: &Setup) -> Known {
    let &Setup { side, pawn, white, black } = setup;
    let by_pawn = attacks::pawn(Color::White, pawn);
    let touch = attacks::king(white).has(black);
    if white == black || white == pawn || black == pawn || touch || side == Color::White && by_pawn.has(black) {
        return Known::Never;
    }
    let guarded = attacks::king(white);
    if side == Color::White {
        let stop = setup.stop();
        let promotes = pawn.rank() == Rank::Seventh && stop != white && stop != black;
        // The queen is safe where the other king does not reach her, or the own one stands by.
        let is_safe = !attacks::king(black).has(stop) || guarded.has(stop);
        return if promotes && is_safe { Known::Won } else { Known::Nothing };
    }
    let flights = attacks::king(black).without(guarded | by_pawn);
    let is_taken = flights.has(pawn);
    if flights.is_empty() || is_taken { Known::Drawn } else { Known::Nothing }
}

/// Derives the result of a position from the known results of the positions after each move.
fn next_look(setup: &Setup, known: &[Known]) -> Known {
    let &Setup { side, pawn, white, black } = setup;
    let mut after = [false; 4];
    let mut see = |next: Known| after[next as usize] = true;
    if side == Color::White {
        for to in attacks::king(white) {
            see(known[index(Color::Black, pawn, to, black)]);
        }
        let stop = setup.stop();
        let is_free = |square: Square| square != white && square != black;
        if pawn.rank() < Rank::Seventh && is_free(stop) {
            see(known[index(Color::Black, stop, white, black)]);
            let far = Square::from_index(stop.index() + 8);
            if pawn.rank() == Rank::Second && is_free(far) {
                see(known[index(Color::Black, far, white, black)]);
            }
        }
        return if after[Known::Won as usize] { Known::Won } else { Known::Nothing };
    }
    let guarded: Bitboard = attacks::king(white) | attacks::pawn(Color::White, pawn);
    for to in attacks::king(black).without(guarded) {
        see(known[index(Color::White, pawn, white, to)]);
    }
    let escapes = after[Known::Nothing as usize] || after[Known::Drawn as usize];
    if after[Known::Won as usize] && !escapes { Known::Won } else { Known::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_won_as_is_known() {
        // 124,960 with White to move and 97,604 with Black to move, of which one half has the pawn on files a to d.
        let count: u32 = WON.iter().map(|word| word.count_ones()).sum();
        assert_eq!(count, 111_282);
        let of_white: u32 = WON[..WON.len() / 2].iter().map(|word| word.count_ones()).sum();
        assert_eq!(of_white, 124_960 / 2);
    }
}
