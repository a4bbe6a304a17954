//! What stands on the board, in two numbers that positions are sorted by.

use engine::chess::{Color, PieceType, Position};

/// What the pieces are worth where positions are sorted by material, in pawns: pawn to queen.
const PAWNS: [i32; 5] = [1, 3, 3, 5, 9];

/// Material differences beyond this many pawns are counted with it.
pub const MOST_PAWNS: i32 = 9;

/// What the pieces count where positions are sorted by phase: pawn to queen.
///
/// Neither these nor the worth in pawns are parameters: what is tuned must not move positions from one bin to another.
const PHASE: [u32; 5] = [0, 1, 1, 2, 4];

/// The phase of the starting position.
pub const FULL_PHASE: usize = 24;

/// How many parts the phases are divided into, from the endgame to the opening.
pub const PHASE_PARTS: usize = 3;

/// White's material less Black's, in pawns, at most [`MOST_PAWNS`] either way.
pub fn material_balance(position: &Position) -> i32 {
    let count = |color, piece| position.colored(color, piece).count() as i32;
    let worth = |(piece, pawns): (PieceType, i32)| pawns * (count(Color::White, piece) - count(Color::Black, piece));
    PieceType::ALL.into_iter().zip(PAWNS).map(worth).sum::<i32>().clamp(-MOST_PAWNS, MOST_PAWNS)
}

/// How much of the pieces is left, 0 to [`FULL_PHASE`]: knights and bishops count 1, rooks 2, queens 4.
pub fn phase(position: &Position) -> usize {
    let weight = |(piece, weight): (PieceType, u32)| weight * position.pieces(piece).count();
    let sum: u32 = PieceType::ALL.into_iter().zip(PHASE).map(weight).sum();
    (sum as usize).min(FULL_PHASE)
}

/// Which part of the phases a phase belongs to, 0 for the endgame.
pub fn phase_part(phase: usize) -> usize {
    phase * PHASE_PARTS / (FULL_PHASE + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(fen: &str) -> Position {
        Position::from_fen(fen).unwrap()
    }

    #[test]
    fn positions_are_sorted_by_what_stands_on_the_board() {
        let of = |fen| (material_balance(&position(fen)), phase(&position(fen)));
        assert_eq!(of("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"), (0, 24));
        assert_eq!(of("4k3/8/8/8/8/8/8/RNBQKBNR b - - 0 1"), (MOST_PAWNS, 12));
        assert_eq!(of("4k2r/pp6/8/8/8/8/8/4KB2 w - - 0 1"), (3 - 5 - 2, 3));
        assert_eq!(of("QQQQk3/8/8/8/8/8/8/QQQQK3 b - - 0 1").1, FULL_PHASE);
        let parts: Vec<usize> = (0..=FULL_PHASE).map(phase_part).collect();
        assert!(parts.is_sorted() && [0, 1, 2].iter().all(|part| parts.iter().filter(|&p| p == part).count() >= 8));
        assert_eq!((parts[0], parts[FULL_PHASE]), (0, PHASE_PARTS - 1));
    }
}
