//! Material balance and phase of a position, by which positions are classified.

use engine::chess::{Color, PieceType, Position};

/// The values of pawn to queen for the material balance, in pawns.
const PAWNS: [i32; 5] = [1, 3, 3, 5, 9];

/// The bound of the material balance, in pawns: larger differences are clamped to it.
pub const MOST_PAWNS: i32 = 9;

/// The phase weights of pawn to queen.
///
/// Neither these nor the values in pawns are parameters: tuning must not move positions from one bin to another.
const PHASE: [u32; 5] = [0, 1, 1, 2, 4];

/// The phase of the starting position.
pub const FULL_PHASE: usize = 24;

/// The number of classes of phases, from the endgame to the opening.
pub const PHASE_PARTS: usize = 3;

/// Returns White's material minus Black's, in pawns, clamped to [`MOST_PAWNS`] either way.
pub fn material_balance(position: &Position) -> i32 {
    let count = |color, piece| position.colored(color, piece).count() as i32;
    let worth = |(piece, pawns): (PieceType, i32)| pawns * (count(Color::White, piece) - count(Color::Black, piece));
    PieceType::ALL.into_iter().zip(PAWNS).map(worth).sum::<i32>().clamp(-MOST_PAWNS, MOST_PAWNS)
}

/// Returns the phase, from 0 to [`FULL_PHASE`]: knights and bishops count 1, rooks 2, queens 4.
pub fn phase(position: &Position) -> usize {
    let weight = |(piece, weight): (PieceType, u32)| weight * position.pieces(piece).count();
    let sum: u32 = PieceType::ALL.into_iter().zip(PHASE).map(weight).sum();
    (sum as usize).min(FULL_PHASE)
}

/// Returns the class of a phase, 0 for the endgame.
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
    fn classifies_positions_by_material_and_phase() {
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
