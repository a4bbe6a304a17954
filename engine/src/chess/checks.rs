//! Which moves give check, worked out once a position.

use super::{Bitboard, Move, MoveKind, PieceType, Position, attacks};

/// From where the side to move would attack the other king, and which of its pieces stand between.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checks {
    /// By piece type: the squares it would give check from.
    squares: [Bitboard; PieceType::COUNT],
    /// Pieces that uncover a check when they leave their line.
    discoverers: Bitboard,
}

impl Checks {
    /// The checks that the side to move has.
    pub fn of(position: &Position) -> Self {
        let us = position.side_to_move();
        let (king, occupied, ours) = (position.king(!us), position.occupied(), position.color(us));
        let (diagonal, straight) = (attacks::bishop(king, occupied), attacks::rook(king, occupied));
        let mut squares = [Bitboard::EMPTY; PieceType::COUNT];
        squares[PieceType::Pawn.index()] = attacks::pawn(!us, king);
        squares[PieceType::Knight.index()] = attacks::knight(king);
        squares[PieceType::Bishop.index()] = diagonal;
        squares[PieceType::Rook.index()] = straight;
        squares[PieceType::Queen.index()] = diagonal | straight;

        // Without the first pieces in the way, what lies behind them looks at the king.
        let queens = position.pieces(PieceType::Queen);
        let (first_diagonal, first_straight) = (diagonal & ours, straight & ours);
        let behind_diagonal = attacks::bishop(king, occupied.without(first_diagonal)).without(diagonal);
        let behind_straight = attacks::rook(king, occupied.without(first_straight)).without(straight);
        let snipers = behind_diagonal & ours & (queens | position.pieces(PieceType::Bishop))
            | behind_straight & ours & (queens | position.pieces(PieceType::Rook));
        let mut discoverers = Bitboard::EMPTY;
        for sniper in snipers {
            discoverers |= attacks::between(king, sniper) & ours;
        }
        Checks { squares, discoverers }
    }

    /// Returns true if a legal move of the position gives check.
    #[inline(always)]
    pub fn are_given_by(&self, position: &Position, mv: Move) -> bool {
        let moved = position.piece_type_on(mv.from()).unwrap_or(PieceType::Pawn);
        if mv.kind() != MoveKind::Normal || self.discoverers.has(mv.from()) {
            return position.after(mv).is_check();
        }
        self.squares[moved.index()].has(mv.to())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_those_that_the_position_after_the_move_shows() {
        let fens = [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "5k2/8/8/8/8/8/8/4K2R w K - 0 1",
            "8/1P2k3/8/8/8/8/8/K7 w - - 0 1",
            "8/8/8/K2pP2r/8/8/8/6k1 w - d6 0 1",
            "7k/8/8/3B4/8/1N6/B7/K5R1 w - - 0 1",
            "8/8/8/R2NN2k/8/8/6q1/K7 w - - 0 1",
        ];
        let mut state = 1_u64;
        let mut given = 0;
        for position in fens.map(|fen| Position::from_fen(fen).expect(fen)) {
            for _ in 0..40 {
                let mut position = position.clone();
                for _ in 0..40 {
                    let checks = Checks::of(&position);
                    let moves = position.legal_moves();
                    for &mv in &moves {
                        let is_check = position.after(mv).is_check();
                        assert_eq!(checks.are_given_by(&position, mv), is_check, "{} {mv}", position.to_fen());
                        given += u32::from(is_check);
                    }
                    if moves.is_empty() {
                        break;
                    }
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    position.play(moves[(state >> 33) as usize % moves.len()]);
                }
            }
        }
        assert!(given > 1000);
    }
}
