//! The key under which a Polyglot book files a position.
//!
//! The exclusive or of some of 781 numbers that the format fixes. Nothing in the format says where they come from, but
//! they are, one for one, the first outputs of the generator ISAAC-64 with nothing but zeros for its seed; so they are
//! computed, and a test compares every one of them with an independent table.
//! See <http://hgm.nubati.net/book_format.html> and <https://burtleburtle.net/bob/rand/isaacafa.html>.

use crate::chess::{CastlingSide, Color, Move, Position, Square, attacks};

const NUMBERS: usize = 781;

// The indices at which the numbers of each kind begin.
const CASTLING: usize = 768;
const EN_PASSANT: usize = 772;
const WHITE_TO_MOVE: usize = 780;

static RANDOM: [u64; NUMBERS] = random_numbers();

/// The keys under which a book may have the position; the first is the usual one.
///
/// The format counts the right to take en passant where a pawn stands beside the pawn that has just moved, whether or
/// not its capture is legal, and a [`Position`] keeps the legal ones only. Where a capture would be illegal, the
/// position is the same with the right and without it, and it may be filed under either key.
pub(super) fn keys(position: &Position) -> Vec<u64> {
    let bare = key_without_en_passant(position);
    let with = |square: Square| bare ^ RANDOM[EN_PASSANT + square.file().index()];
    match position.en_passant() {
        Some(square) => vec![with(square)],
        None => std::iter::once(bare).chain(illegal_en_passants(position).map(with)).collect(),
    }
}

fn key_without_en_passant(position: &Position) -> u64 {
    let mut key = 0;
    for square in position.occupied() {
        if let Some(piece) = position.piece_on(square) {
            let kind = 2 * piece.piece_type.index() + piece.color.choose(1, 0);
            key ^= RANDOM[64 * kind + square.index()];
        }
    }
    for color in Color::ALL {
        for side in CastlingSide::ALL {
            if position.castling().rook(color, side).is_some() {
                key ^= RANDOM[CASTLING + 2 * color.index() + side as usize];
            }
        }
    }
    if position.side_to_move() == Color::White {
        key ^= RANDOM[WHITE_TO_MOVE];
    }
    key
}

/// Squares that a pawn may just have passed and on which no capture would be legal, though a pawn stands ready for it.
fn illegal_en_passants(position: &Position) -> impl Iterator<Item = Square> {
    use crate::chess::{PieceType::Pawn, Rank};
    let us = position.side_to_move();
    let fields = position.to_epd_fields();
    Square::all().filter(move |&square| {
        let is_ready = square.rank() == Rank::Sixth.relative_to(us)
            && (attacks::pawn(!us, square) & position.colored(us, Pawn)).any();
        // Reading the position with the right to capture tells whether a pawn can have passed, and what is legal.
        let asked = || Position::from_fen(&format!("{}{square}", fields.trim_end_matches('-')));
        is_ready && asked().is_ok_and(|asked| asked.en_passant().is_none())
    })
}

/// A move as the format writes it; castling is the king taking its own rook there too.
pub(super) fn code(mv: Move) -> u16 {
    let promotion = mv.promoted().map_or(0, |piece| piece.index());
    (mv.to().index() | mv.from().index() << 6 | promotion << 12) as u16
}

/// The first outputs of ISAAC-64 seeded with zeros; it gives out each batch of 256 from its end.
const fn random_numbers() -> [u64; NUMBERS] {
    let mut memory = seed_with_zeros();
    let mut numbers = [0; NUMBERS];
    let (mut a, mut b, mut c) = (0_u64, 0_u64, 0_u64);
    let mut first = 0;
    while first < NUMBERS {
        c += 1;
        b = b.wrapping_add(c);
        let mut i = 0;
        while i < 256 {
            let x = memory[i];
            let mixed = match i % 4 {
                0 => !(a ^ a << 21),
                1 => a ^ a >> 5,
                2 => a ^ a << 12,
                _ => a ^ a >> 33,
            };
            a = mixed.wrapping_add(memory[(i + 128) % 256]);
            let y = memory[(x >> 3) as usize % 256].wrapping_add(a).wrapping_add(b);
            memory[i] = y;
            b = memory[(y >> 11) as usize % 256].wrapping_add(x);
            if first + 255 - i < NUMBERS {
                numbers[first + 255 - i] = b;
            }
            i += 1;
        }
        first += 256;
    }
    numbers
}

/// The memory of ISAAC-64 before its first batch.
const fn seed_with_zeros() -> [u64; 256] {
    const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C13;
    let mut memory = [0; 256];
    let mut words = [GOLDEN_RATIO; 8];
    let mut round = 0;
    while round < 4 {
        words = mix(words);
        round += 1;
    }
    // Once over the seed, all zeros, and once over the resulting memory.
    let mut step = 0;
    while step < 2 * 256 / 8 {
        let at = step * 8 % 256;
        let mut i = 0;
        while i < 8 {
            words[i] = words[i].wrapping_add(memory[at + i]);
            i += 1;
        }
        words = mix(words);
        i = 0;
        while i < 8 {
            memory[at + i] = words[i];
            i += 1;
        }
        step += 1;
    }
    memory
}

/// Spreads every bit of eight words over all of them: each in turn, with the ones four, five and seven places on.
const fn mix(mut words: [u64; 8]) -> [u64; 8] {
    const SHIFTS: [u32; 8] = [9, 9, 23, 15, 14, 20, 17, 14];
    let mut i = 0;
    while i < 8 {
        let (fourth, fifth, seventh) = ((i + 4) % 8, (i + 5) % 8, (i + 7) % 8);
        words[i] = words[i].wrapping_sub(words[fourth]);
        let shifted = if i % 2 == 0 { words[seventh] >> SHIFTS[i] } else { words[seventh] << SHIFTS[i] };
        words[fifth] ^= shifted;
        words[seventh] = words[seventh].wrapping_add(words[i]);
        i += 1;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::PieceType;
    use crate::random::Random;
    use shakmaty::fen::Fen;
    use shakmaty::zobrist::{Zobrist64, ZobristValue};
    use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _};

    #[test]
    fn every_number_is_that_of_an_independent_table() {
        for square in Square::all() {
            let there = shakmaty::Square::new(square.index() as u32);
            for (i, role) in shakmaty::Role::ALL.into_iter().enumerate() {
                for color in shakmaty::Color::ALL {
                    let kind = 2 * i + usize::from(color.is_white());
                    let expected = Zobrist64::zobrist_for_piece(there, role.of(color));
                    assert_eq!(RANDOM[64 * kind + square.index()], expected.0);
                }
            }
        }
        use shakmaty::{CastlingSide, Color};
        let rights = [Color::White, Color::Black]
            .map(|color| [CastlingSide::KingSide, CastlingSide::QueenSide].map(|side| (color, side)));
        for (i, (color, side)) in rights.into_iter().flatten().enumerate() {
            assert_eq!(RANDOM[CASTLING + i], Zobrist64::zobrist_for_castling_right(color, side).0);
        }
        for (i, file) in shakmaty::File::ALL.into_iter().enumerate() {
            assert_eq!(RANDOM[EN_PASSANT + i], Zobrist64::zobrist_for_en_passant_file(file).0);
        }
        assert_eq!(RANDOM[WHITE_TO_MOVE], Zobrist64::zobrist_for_white_turn().0);
    }

    /// The test data of the format's description.
    #[test]
    fn published_keys_are_ours() {
        for (fen, key) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0x463b_9618_1691_fc9c),
            ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1", 0x823c_9b50_fd11_4196),
            ("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 2", 0x0756_b944_61c5_0fb0),
            ("rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR b KQkq - 0 2", 0x662f_afb9_65db_29d4),
            ("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3", 0x22a4_8b5a_8e47_ff78),
            ("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR b kq - 0 3", 0x652a_607c_a3f2_42c1),
            ("rnbq1bnr/ppp1pkpp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR w - - 0 4", 0x00fd_d303_c946_bdd9),
            ("rnbqkbnr/p1pppppp/8/8/PpP4P/8/1P1PPPP1/RNBQKBNR b KQkq c3 0 3", 0x3c81_23ea_7b06_7637),
            ("rnbqkbnr/p1pppppp/8/8/P6P/R1p5/1P1PPPP1/1NBQKBNR b Kkq - 0 4", 0x5c3f_9b82_9b27_9560),
        ] {
            assert_eq!(keys(&Position::from_fen(fen).unwrap())[0], key, "{fen}");
        }
    }

    fn oracle(chess: &Chess) -> u64 {
        chess.zobrist_hash::<Zobrist64>(EnPassantMode::PseudoLegal).0
    }

    #[test]
    fn keys_of_random_games_are_those_of_an_oracle() {
        let mut random = Random::seeded(11);
        let mut promotions = 0;
        for _ in 0..100 {
            let mut position = Position::start();
            let mut chess = Chess::default();
            for _ in 0..200 {
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                let mv = moves[random.below(moves.len() as u64) as usize];
                promotions += u32::from(mv.promoted().is_some());
                position.play(mv);
                let theirs = shakmaty::uci::UciMove::from_ascii(mv.to_uci(false).as_bytes()).unwrap();
                chess = chess.clone().play(theirs.to_move(&chess).unwrap()).unwrap();
                let (ours, expected) = (keys(&position), oracle(&chess));
                assert!(ours.contains(&expected), "{}", position.to_fen());
            }
        }
        assert!(promotions > 10);
    }

    #[test]
    fn an_illegal_capture_en_passant_leaves_both_keys() {
        for (fen, count) in [
            // The pawn that stands ready is pinned to its king.
            ("4k3/8/8/K2pP2r/8/8/8/8 w - d6 0 1", 2),
            // It is not.
            ("4k3/8/8/3pP2r/8/8/8/K7 w - d6 0 1", 1),
            // No pawn can have passed: its origin is taken.
            ("4k3/3p4/8/K2pP2r/8/8/8/8 w - - 0 1", 1),
        ] {
            let position = Position::from_fen(fen).unwrap();
            let chess: Chess = Fen::from_ascii(fen.as_bytes()).unwrap().into_position(CastlingMode::Standard).unwrap();
            assert_eq!((keys(&position).len(), keys(&position).last()), (count, Some(&oracle(&chess))), "{fen}");
        }
    }

    #[test]
    fn promotions_are_numbered_from_knight_to_queen() {
        let square = |name: &[u8]| Square::from_name(name).unwrap();
        let mv = |piece| Move::promotion(square(b"e7"), square(b"d8"), piece);
        let plain = 52 << 6 | 59;
        let pieces = [PieceType::Knight, PieceType::Bishop, PieceType::Rook, PieceType::Queen];
        assert_eq!(pieces.map(|piece| code(mv(piece))), [1, 2, 3, 4].map(|piece| plain | piece << 12));
    }
}
