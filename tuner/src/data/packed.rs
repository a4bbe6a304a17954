//! The packed form of a position and its label: 32 bytes.

use engine::chess::{Color, File, Position, Rank, Setup, Square};

use super::formats::{castling_rooks, codes_of, put_pieces};
use super::label::Label;
use super::outcome::ResultLabel;

/// A packed position with its result and score, as stored in a column. Its group is stored in a column of its own.
///
/// * word 0: the occupied squares;
/// * words 1 and 2: four bits per occupied square, from the lowest square and the lowest bit up: the piece type, or 6
///   for a rook with castling rights, plus 8 for Black;
/// * word 3, from the lowest bit: halfmove clock (16 bits), move number (16), score (16), file of the en passant square
///   or 8 for none (4), side to move (1, set for Black), result (2), presence of a score (1).
///
/// Result code 3 stands for a share of the point. Its units occupy two bytes that are otherwise free: the low byte is
/// in the upper half of the halfmove clock, which is then capped at 255; the high byte is above all other fields.
pub(super) type Packed = [u64; 4];

/// The code for no en passant square.
const NO_FILE: u64 = File::COUNT as u64;

const FULLMOVE: u32 = 16;
const SCORE: u32 = 32;
const EN_PASSANT: u32 = 48;
const SIDE: u32 = 52;
const OUTCOME: u32 = 53;
const HAS_SCORE: u32 = 55;

/// Bit offsets of the two bytes of a share.
const SHARE: [u32; 2] = [8, 56];

/// The result code of a share.
const IS_SHARE: u64 = 3;

pub(super) fn pack(position: &Position, label: &Label) -> Packed {
    let codes = codes_of(position, castling_rooks(position));
    let clock_and_share = match label.outcome {
        share if share.half_points().is_none() => {
            let [low, high] = share.units().to_le_bytes().map(u64::from);
            u64::from(position.halfmove_clock()).min(u8::MAX.into()) | low << SHARE[0] | high << SHARE[1]
        }
        _ => u64::from(position.halfmove_clock()),
    };
    let rest = clock_and_share
        | u64::from(position.fullmove_number()) << FULLMOVE
        | u64::from(label.score.unwrap_or_default() as u16) << SCORE
        | position.en_passant().map_or(NO_FILE, |square| square.file().index() as u64) << EN_PASSANT
        | (position.side_to_move().index() as u64) << SIDE
        | (label.outcome.kind() as u64) << OUTCOME
        | u64::from(label.score.is_some()) << HAS_SCORE;
    [position.occupied().0, codes as u64, (codes >> 64) as u64, rest]
}

/// Returns the position of a record made by [`pack`].
///
/// # Panics
/// If the record holds no legal position.
pub(super) fn position_of(packed: &Packed) -> Position {
    let [occupied, low, high, rest] = *packed;
    let side = if rest >> SIDE & 1 == 0 { Color::White } else { Color::Black };
    let clock = if rest >> OUTCOME & 3 == IS_SHARE { rest as u8 as u16 } else { rest as u16 };
    let mut setup = Setup::new(side, clock, (rest >> FULLMOVE) as u16);
    put_pieces(&mut setup, occupied, u128::from(low) | u128::from(high) << 64).expect("what was packed is a board");
    let file = File::from_index((rest >> EN_PASSANT & 0xF) as usize);
    setup.en_passant = file.map(|file| Square::new(file, Rank::Sixth.relative_to(side)));
    setup.finish().expect("what was packed is a position")
}

/// Returns the result of a record.
pub(super) fn outcome_of(packed: &Packed) -> ResultLabel {
    let rest = packed[3];
    if rest >> OUTCOME & 3 == IS_SHARE {
        return ResultLabel::of_units(u16::from_le_bytes(SHARE.map(|at| (rest >> at) as u8)));
    }
    ResultLabel::RESULTS[(rest >> OUTCOME & 3) as usize]
}

pub(super) fn score_of(packed: &Packed) -> Option<i16> {
    (packed[3] >> HAS_SCORE & 1 == 1).then_some((packed[3] >> SCORE) as i16)
}

#[cfg(test)]
mod tests {
    use engine::random::Random;

    use super::*;

    /// A position in which both sides may castle on either side.
    const OPEN: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

    fn check(position: &Position, label: &Label) {
        let packed = pack(position, label);
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
                for score in [None, Some(0), Some(-1), Some(i16::MIN), Some(i16::MAX)] {
                    check(&position, &Label { score, ..Label::new(outcome, 0) });
                }
            }
        }
    }

    #[test]
    fn shares_round_trip_with_all_other_fields() {
        for units in [1, 255, 256, 29_999, 30_001, 59_999] {
            let outcome = ResultLabel::of_units(units);
            for (clock, kept) in [(0, 0), (99, 99), (255, 255), (300, 255), (65535, 255)] {
                let position = |clock| Position::from_fen(&format!("1rr1k3/8/8/8/8/8/8/1RR1K2R b HCc - {clock} 65535"));
                for score in [None, Some(-1), Some(32_000)] {
                    let label = Label { score, ..Label::new(outcome, 0) };
                    let packed = pack(&position(clock).expect("a position"), &label);
                    assert_eq!(position_of(&packed), position(kept).expect("a position"));
                    assert_eq!((outcome_of(&packed), score_of(&packed)), (outcome, score));
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
