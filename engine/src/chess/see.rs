//! Static exchange evaluation: the value of a sequence of captures on one square.
//! See <https://www.chessprogramming.org/Static_Exchange_Evaluation>.

use super::{Bitboard, Color, Move, MoveKind, PieceType, Position, Square, attacks};

/// Values of the pieces in exchanges, in centipawns, pawn to king. The king's value stands for "cannot be taken".
///
/// Fixed on purpose: the leaf of a quiescence search must not jump about while the evaluation is being tuned.
pub const SEE_VALUES: [i32; 6] = [100, 300, 300, 500, 900, 0];

const fn value(piece: PieceType) -> i32 {
    SEE_VALUES[piece as usize]
}

impl Position {
    /// Returns true if a legal move wins at least `threshold` centipawns for its side, when both sides go on capturing
    /// on its target with their least valuable piece and stop when they like. Pins are not looked at.
    pub fn see_at_least(&self, mv: Move, threshold: i32) -> bool {
        let (from, to) = (mv.from(), mv.to());
        let (gain, standing) = match mv.kind() {
            MoveKind::Castling => return threshold <= 0,
            MoveKind::EnPassant => (value(PieceType::Pawn), PieceType::Pawn),
            kind => {
                let captured = self.piece_type_on(to).map_or(0, value);
                let moved = self.piece_type_on(from).unwrap_or(PieceType::Pawn);
                match mv.promoted().filter(|_| kind == MoveKind::Promotion) {
                    Some(promoted) => (captured + value(promoted) - value(PieceType::Pawn), promoted),
                    None => (captured, moved),
                }
            }
        };
        // The balance is what the side that has just captured is ahead of the threshold; first without, then with
        // the loss of the capturing piece.
        let mut balance = gain - threshold;
        if balance < 0 {
            return false;
        }
        balance -= value(standing);
        if balance >= 0 {
            return true;
        }

        let mut occupied = (self.occupied() ^ from.into()) | to.into();
        if mv.kind() == MoveKind::EnPassant {
            occupied ^= Square::new(to.file(), from.rank()).into();
        }
        let mut attackers = self.attackers(to, occupied) & occupied;
        let us = self.side_to_move();
        let mut side = !us;
        while let Some((attacker, piece)) = self.least_valuable(attackers, side) {
            // A king may capture only an unguarded piece.
            if piece == PieceType::King && (attackers & self.color(!side)).any() {
                break;
            }
            occupied ^= attacker.into();
            attackers |= self.uncovered(piece, to, occupied);
            attackers &= occupied;
            side = !side;
            balance = -balance - 1 - value(piece);
            if balance >= 0 {
                break;
            }
        }
        // The side that cannot, or need not, capture has lost the exchange.
        side != us
    }

    /// The least valuable attacker of a side; of several, the first one that the side sees from its own edge of the
    /// board. What stands behind them may differ, and colours exchanged must not change the result.
    #[inline]
    fn least_valuable(&self, attackers: Bitboard, side: Color) -> Option<(Square, PieceType)> {
        PieceType::ALL.into_iter().find_map(|piece| {
            let candidates = attackers & self.colored(side, piece);
            let first = || match side {
                Color::White => candidates.lowest(),
                Color::Black => candidates.flip_ranks().lowest().flip_rank(),
            };
            candidates.any().then(|| (first(), piece))
        })
    }

    /// The sliders that may have stood behind a capturing piece.
    #[inline]
    fn uncovered(&self, piece: PieceType, to: Square, occupied: Bitboard) -> Bitboard {
        let mut sliders = Bitboard::EMPTY;
        if matches!(piece, PieceType::Pawn | PieceType::Bishop | PieceType::Queen) {
            sliders |= attacks::bishop(to, occupied) & self.diagonal_sliders();
        }
        if matches!(piece, PieceType::Rook | PieceType::Queen) {
            sliders |= attacks::rook(to, occupied) & self.straight_sliders();
        }
        sliders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exact worth of an exchange, by trying for both sides whether to capture on or to stop.
    fn exchange(position: &Position, mv: Move) -> i32 {
        let target = mv.to();
        let captured = match mv.kind() {
            MoveKind::EnPassant => value(PieceType::Pawn),
            _ => position.piece_type_on(target).map_or(0, value),
        };
        let promoted = mv.promoted().map_or(0, |piece| value(piece) - value(PieceType::Pawn));
        let mut next = position.clone();
        next.play(mv);
        // The cheapest recapture, as the static exchange takes it; kings step into no attack, pins are ignored there,
        // so positions without pins are compared.
        let mut recaptures: Vec<Move> = next.legal_moves().into_iter().filter(|mv| mv.to() == target).collect();
        recaptures.sort_by_key(|mv| (next.piece_type_on(mv.from()).map(PieceType::index), mv.promoted().is_some()));
        let reply = recaptures.into_iter().find(|mv| mv.promoted().is_none());
        captured + promoted - reply.map_or(0, |reply| exchange(&next, reply).max(0))
    }

    #[test]
    fn agrees_with_playing_the_exchange_out() {
        for fen in [
            "1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1",
            "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1",
            "4r1k1/pp3ppp/2n2n2/3p4/3P4/2N2N2/PP3PPP/4R1K1 b - - 0 1",
            "6k1/1p3ppp/2rq4/3p1b2/4P3/1NN2Q2/PP3PPP/3R2K1 w - - 0 1",
            "7k/3P4/8/8/3pP3/8/8/K2R4 b - e3 0 1",
        ] {
            let position = Position::from_fen(fen).unwrap();
            for mv in position.legal_moves().into_iter().filter(|mv| mv.kind() != MoveKind::Castling) {
                let worth = exchange(&position, mv);
                assert!(position.see_at_least(mv, worth), "{fen} {mv} is worth {worth}");
                assert!(!position.see_at_least(mv, worth + 1), "{fen} {mv} is worth {worth}");
            }
        }
    }

    #[test]
    fn sees_through_batteries_and_stops_at_guarded_kings() {
        let position = Position::from_fen("3rk3/3r4/8/3p4/8/8/3R4/3RK3 w - - 0 1").unwrap();
        let takes = position.parse_uci("d2d5").unwrap();
        assert!(!position.see_at_least(takes, 0) && position.see_at_least(takes, -400));
        let position = Position::from_fen("8/8/3k4/3p4/8/8/3R4/3RK3 w - - 0 1").unwrap();
        assert!(position.see_at_least(position.parse_uci("d2d5").unwrap(), 100));
    }

    #[test]
    fn the_order_of_equal_pieces_does_not_depend_on_their_color() {
        // Either rook may take back on a6; only the one on b6 opens the way of the rook on e6.
        let position = Position::from_fen("8/1b1k4/PR2r3/3pPQ2/2q2P2/7P/1K6/R1N5 b - - 0 61").unwrap();
        let flipped = position.color_flipped();
        let (takes, same) = (position.parse_uci("b7a6").unwrap(), flipped.parse_uci("b2a3").unwrap());
        for threshold in [-200, 0, 100] {
            assert_eq!(position.see_at_least(takes, threshold), flipped.see_at_least(same, threshold), "{threshold}");
        }
    }
}
