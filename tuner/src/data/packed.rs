//! The packed form of a position with its label, its move and its place: 40 bytes.

use engine::chess::{Color, File, Move, Position, Rank, Setup, Square};

use super::formats::{castling_rooks, codes_of, put_pieces};
use super::label::Label;
use super::outcome::ResultLabel;

/// A packed position as stored in a column. Its group is stored in a column of its own.
///
/// * word 0: the occupied squares;
/// * words 1 and 2: four bits per occupied square, from the lowest square and the lowest bit up: the piece type, or 6
///   for a rook with castling rights, plus 8 for Black;
/// * word 3, in 16 bits each from the lowest: halfmove clock, move number, score, units of the result;
/// * word 4, from the lowest bit: index of the record in its file (32 bits), move or 0 for none (16), side to move (1,
///   set for Black), file of the en passant square or 8 for none.
pub(super) type Packed = [u64; 5];

/// The code for no en passant square.
const NO_FILE: u64 = File::COUNT as u64;

/// The code for no score, which is beyond all scores.
const NO_SCORE: i16 = i16::MIN;

pub(super) fn pack(position: &Position, label: &Label, best: Option<Move>, record: u32) -> Packed {
    let codes = codes_of(position, castling_rooks(position));
    let numbers = [
        position.halfmove_clock(),
        position.fullmove_number(),
        label.score.unwrap_or(NO_SCORE) as u16,
        label.outcome.units(),
    ];
    let en_passant = position.en_passant().map_or(NO_FILE, |square| square.file().index() as u64);
    let rest = u64::from(record)
        | u64::from(best.map_or(0, Move::to_bits)) << 32
        | (position.side_to_move().index() as u64) << 48
        | en_passant << 49;
    let numbers = numbers.into_iter().rev().fold(0, |word, number| word << 16 | u64::from(number));
    [position.occupied().0, codes as u64, (codes >> 64) as u64, numbers, rest]
}

/// Returns the position of a record made by [`pack`].
///
/// # Panics
/// If the record holds no legal position.
pub(super) fn position_of(packed: &Packed) -> Position {
    let [occupied, low, high, numbers, rest] = *packed;
    let side = if rest >> 48 & 1 == 0 { Color::White } else { Color::Black };
    let mut setup = Setup::new(side, numbers as u16, (numbers >> 16) as u16);
    put_pieces(&mut setup, occupied, u128::from(low) | u128::from(high) << 64).expect("what was packed is a board");
    let file = File::from_index((rest >> 49) as usize);
    setup.en_passant = file.map(|file| Square::new(file, Rank::Sixth.relative_to(side)));
    setup.finish().expect("what was packed is a position")
}

pub(super) fn outcome_of(packed: &Packed) -> ResultLabel {
    ResultLabel::of_units((packed[3] >> 48) as u16)
}

pub(super) fn score_of(packed: &Packed) -> Option<i16> {
    Some((packed[3] >> 32) as i16).filter(|&score| score != NO_SCORE)
}

pub(super) fn move_of(packed: &Packed) -> Option<Move> {
    Move::from_bits((packed[4] >> 32) as u16)
}

pub(super) fn record_of(packed: &Packed) -> u32 {
    packed[4] as u32
}

/// Adds `before` to the index of the record. Saturates at the largest index.
pub(super) fn move_record(packed: &mut Packed, before: u64) {
    let record = u32::try_from(before + u64::from(record_of(packed))).unwrap_or(u32::MAX);
    packed[4] = packed[4] >> 32 << 32 | u64::from(record);
}

#[cfg(test)]
mod tests {
    use engine::random::Random;

    use super::*;

    /// A position in which both sides may castle on either side.
    const OPEN: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

    fn check(position: &Position, label: &Label) {
        let (best, record) = (Move::from_bits(position.key() as u16), !0);
        let packed = pack(position, label, best, record);
        assert_eq!((move_of(&packed), record_of(&packed)), (best, record));
        assert_eq!(position_of(&packed), *position, "{}", position.to_shredder_fen());
        assert_eq!((outcome_of(&packed), score_of(&packed)), (label.outcome, label.score));
    }

    #[test]
    fn positions_and_labels_round_trip() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
            "rnbqkbnr/1pp1pppp/8/p2pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3",
            "1rr1k3/8/8/8/8/8/8/1RR1K3 w Cc - 0 1",
            "1rr1k3/8/8/8/8/8/8/1RR1K2R b HCc - 65535 65535",
            "8/8/8/8/8/k7/7R/K7 w - - 0 0",
        ] {
            let position = Position::from_fen(fen).expect(fen);
            for outcome in ResultLabel::RESULTS {
                for score in [None, Some(0), Some(-1), Some(-32_000), Some(32_000)] {
                    check(&position, &Label { score, ..Label::new(outcome, 0) });
                }
            }
        }
    }

    #[test]
    fn shares_round_trip_with_all_other_fields() {
        for units in [1, 255, 256, 29_999, 30_001, 59_999] {
            let outcome = ResultLabel::of_units(units);
            for clock in [0, 99, 255, 300, 65535] {
                let position = Position::from_fen(&format!("1rr1k3/8/8/8/8/8/8/1RR1K2R b HCc - {clock} 65535"));
                for score in [None, Some(-1), Some(32_000)] {
                    check(position.as_ref().expect("a position"), &Label { score, ..Label::new(outcome, 0) });
                }
            }
        }
    }

    #[test]
    fn positions_of_random_games_round_trip() {
        let mut random = Random::seeded(1);
        for start in ["1rkb1nqr/pppppppp/8/8/8/8/PPPPPPPP/1RKB1NQR w KQkq - 0 1", OPEN].repeat(20) {
            let mut position = Position::from_fen(start).expect(start);
            for _ in 0..120 {
                check(&position, &Label::new(ResultLabel::DRAW, 0));
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                position.play(moves[random.below(moves.len() as u64) as usize]);
            }
        }
    }
}
