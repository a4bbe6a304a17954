//! viriformat: games, each a position followed by moves with their scores. See <https://docs.rs/viriformat>.
//!
//! A game begins with 32 bytes: the occupied squares, four bits per piece (6 for a rook with castling rights), the side
//! to move and the en passant square in one byte, the halfmove clock, the move number, a score, the result of White,
//! and a spare byte. Each move has four bytes: two for the move, and two for the score of the position before it, in
//! White's view. Four zero bytes end the game. All numbers are little-endian.

use engine::chess::{Color, Move, MoveKind, Position, Setup, Square};

use super::binary::{
    castling_rooks, codes_of, contradiction, cut_off, illegal_move, kind_code, little_endian, outcome_of, piece_codes,
    position_of, put_pieces,
};
use super::{Reader, Record, RecordError, Sample, Sink};
use crate::data::label::{Label, bounded, group_of_game};
use crate::data::outcome::ResultLabel;

/// The number of bytes of the starting position of a game.
const HEAD: usize = 32;

/// The number of bytes of a move with its score.
const ELEMENT: usize = 4;

/// The element that ends a game.
const END: [u8; ELEMENT] = [0; ELEMENT];

/// The number of bytes of the longest game, about 250,000 moves: more than any game has.
const LONGEST: usize = 1 << 20;

/// The number of positions of the longest game.
pub(crate) const LONGEST_GAME: usize = (LONGEST - HEAD) / ELEMENT - 1;

/// The code for no square.
const NO_SQUARE: u8 = 64;

/// The kinds of moves, by code.
const KINDS: [MoveKind; 4] = [MoveKind::Normal, MoveKind::EnPassant, MoveKind::Castling, MoveKind::Promotion];

pub(super) struct ViriReader;

/// Returns true if a file with these first bytes is in this format: a legal position, and a legal first move.
pub(super) fn recognises(head: &[u8]) -> bool {
    let Some((position, _)) = head.get(..HEAD).and_then(|head| start(head).ok()) else { return false };
    let first = head.get(HEAD..HEAD + ELEMENT).unwrap_or_default();
    !first.is_empty() && (is_end(first) || move_of(little_endian::<2>(first, 0) as u16, &position).is_some())
}

impl Reader for ViriReader {
    fn unit(&self) -> (Record, usize) {
        (Record::Game, LONGEST)
    }

    fn record_end(&self, bytes: &[u8]) -> Option<usize> {
        let moves = bytes.get(HEAD..)?.chunks_exact(ELEMENT).position(is_end)?;
        Some(HEAD + ELEMENT * (moves + 1))
    }

    fn read_record(&self, game: &[u8], number: &mut u32, sink: &mut dyn Sink) -> Result<(), RecordError> {
        let (moves, _) = game.get(HEAD..).unwrap_or_default().as_chunks::<ELEMENT>();
        let [moves @ .., END] = moves else { return Err(cut_off()) };
        let (position, outcome) = start(game)?;
        let label = Label { outcome, score: None, group: group_of_game(game) };
        let mut sample = Sample { position, label, best: None };
        for (ply, &[low, high, score @ ..]) in moves.iter().enumerate() {
            let mv = move_of(u16::from_le_bytes([low, high]), &sample.position).ok_or_else(|| illegal_move(ply + 1))?;
            sample.label.score = Some(bounded(i16::from_le_bytes(score)));
            sample.best = Some(mv);
            sink.sample(*number, &sample);
            sample.position.play(mv);
        }
        *number += 1;
        Ok(())
    }
}

fn is_end(element: &[u8]) -> bool {
    element == END
}

/// Reads the starting position of a game, and its result.
fn start(head: &[u8]) -> Result<(Position, ResultLabel), RecordError> {
    let side = if head[24] >> 7 == 0 { Color::White } else { Color::Black };
    let mut setup = Setup::new(side, head[25].into(), little_endian::<2>(head, 26) as u16);
    put_pieces(&mut setup, little_endian::<8>(head, 0), piece_codes(head, 8))?;
    setup.en_passant = match head[24] & 0x7F {
        NO_SQUARE => None,
        square if square < NO_SQUARE => Some(Square::from_index(square.into())),
        _ => return Err(contradiction("the en passant square")),
    };
    let outcome = outcome_of(head[30])?;
    Ok((position_of(setup)?, outcome))
}

/// Decodes a move of two bytes: as in the engine, but for the code of the kind in the two highest bits. Returns `None`
/// if the move is illegal.
fn move_of(bits: u16, position: &Position) -> Option<Move> {
    let kind = KINDS[usize::from(bits >> 14)] as u16;
    Move::from_bits(bits & 0x3FFF | kind << 14).filter(|&mv| position.is_legal(mv))
}

/// Encodes a move for [`move_of`].
fn bits_of(mv: Move) -> u16 {
    mv.to_bits() & 0x3FFF | kind_code(&KINDS, mv) << 14
}

/// Writes a run of at most [`LONGEST_GAME`] positions as a game. The score and the spare byte of the head are unknown
/// and written as 0, as the format's own library does. A missing score is written as 0, too.
///
/// # Errors
/// The property of the first position that cannot be represented; nothing has been written then.
pub(crate) fn write_game(run: &[Sample], to: &mut Vec<u8>) -> Result<(), String> {
    let Sample { position: start, label, .. } = &run[0];
    let clock = start.halfmove_clock();
    let clock = u8::try_from(clock).map_err(|_| format!("a halfmove clock of {clock}"))?;
    let side = (start.side_to_move().index() as u8) << 7;
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(&start.occupied().0.to_le_bytes());
    head[8..24].copy_from_slice(&codes_of(start, castling_rooks(start)).to_le_bytes());
    head[24] = side | start.en_passant().map_or(NO_SQUARE, |square| square.index() as u8);
    head[25] = clock;
    head[26..28].copy_from_slice(&start.fullmove_number().to_le_bytes());
    head[30] = label.outcome.half_points().expect("shares are refused before");
    to.extend_from_slice(&head);
    for sample in run {
        to.extend_from_slice(&bits_of(sample.best.expect("a move of every position")).to_le_bytes());
        to.extend_from_slice(&sample.label.score.unwrap_or_default().to_le_bytes());
    }
    to.extend_from_slice(&END);
    Ok(())
}

#[cfg(test)]
mod tests {
    use viriformat::chess::board::{Board, GameOutcome, WinType};
    use viriformat::chess::chessmove::{Move as ViriMove, MoveFlags};
    use viriformat::chess::piece::PieceType as ViriPiece;
    use viriformat::chess::types::Square as ViriSquare;
    use viriformat::dataformat::Game;

    use super::super::binary::unknown_result;
    use super::super::tests::{Collected, collect};
    use super::*;

    /// Returns a game with all kinds of moves, written by the reference crate, and its positions.
    fn written() -> (Vec<u8>, Vec<String>) {
        let moves = ["e8h8", "d2d4", "c4d3", "e1a1", "a8a2", "b7b8r"];
        written_from("r3k2r/1P6/8/8/2p5/8/3P3P/R3K2R b HAha - 3 20", &moves)
    }

    fn written_from(fen: &str, moves: &[&str]) -> (Vec<u8>, Vec<String>) {
        let mut board = Board::new();
        board.set_from_fen(fen, true).expect("a legal position");
        let mut game = Game::new(&board);
        let mut position = Position::from_fen(fen).expect("a legal position");
        let mut fens = Vec::new();
        for (ply, text) in moves.iter().enumerate() {
            fens.push(position.to_fen());
            let mv = position.legal_moves().iter().copied().find(|mv| mv.to_uci(true) == *text).expect(text);
            let [from, to] = [mv.from(), mv.to()].map(|square| ViriSquare::new_clamped(square.index() as u8));
            let theirs = match mv.kind() {
                MoveKind::Normal => ViriMove::new(from, to),
                MoveKind::Castling => ViriMove::new_with_flags(from, to, MoveFlags::Castle),
                MoveKind::EnPassant => ViriMove::new_with_flags(from, to, MoveFlags::EnPassant),
                MoveKind::Promotion => {
                    let promoted = [ViriPiece::Knight, ViriPiece::Bishop, ViriPiece::Rook, ViriPiece::Queen];
                    ViriMove::new_with_promo(from, to, promoted[usize::from(mv.to_bits() >> 12 & 3)])
                }
            };
            game.add_move(theirs, 100 - ply as i16);
            position.play(mv);
        }
        game.set_outcome(GameOutcome::BlackWin(WinType::Adjudication));
        let mut bytes = Vec::new();
        game.serialise_into(&mut bytes).expect("a vector takes all");
        (bytes, fens)
    }

    #[test]
    fn reads_the_output_of_the_reference_crate() {
        let (game, fens) = written();
        assert!(recognises(&game));
        let bytes = game.repeat(3);
        let Collected { samples, faults, records } = collect(&ViriReader, &bytes);
        assert!(faults.is_empty() && records == 3 && samples.len() == 3 * fens.len());
        for (index, (number, sample)) in samples.iter().enumerate() {
            let ply = index % fens.len();
            assert_eq!((*number as usize, sample.position.to_fen()), (index / fens.len(), fens[ply].clone()));
            assert_eq!((sample.label.outcome, sample.label.score), (ResultLabel::LOSS, Some(100 - ply as i16)));
            assert!(sample.position.is_legal(sample.best.expect("a move")));
        }
        assert_eq!(ViriReader.chunk_end(&bytes, 1), Some(game.len()));
        assert_eq!(ViriReader.chunk_end(&bytes, game.len() + 1), Some(2 * game.len()));
        assert_eq!(ViriReader.chunk_end(&bytes[..bytes.len() - 1], 2 * game.len() + 1), None);
    }

    #[test]
    fn writes_the_same_bytes_as_the_reference_crate() {
        let (all_kinds, _) = written();
        let (of_chess960, _) = written_from(
            "1r2k1r1/8/8/8/3pP3/8/p5P1/1R1K2R1 b GBgb e3 0 65535",
            &["d4e3", "d1g1", "a2b1q", "g1h2", "e8b8"],
        );
        let (with_others, _) = written_from("4k3/P1P5/8/8/8/8/8/4K3 w - - 100 1", &["a7a8n", "e8d7", "c7c8b"]);
        for game in [all_kinds, of_chess960, with_others] {
            let Collected { samples, faults, .. } = collect(&ViriReader, &game);
            assert_eq!(faults, []);
            let mut run: Vec<Sample> = samples.into_iter().map(|(_, sample)| sample).collect();
            let mut again = Vec::new();
            assert_eq!(write_game(&run, &mut again), Ok(()));
            assert_eq!(again, game);
            run[0].position = Position::from_fen("4k3/8/8/8/8/8/8/4K3 w - - 256 200").expect("a legal position");
            assert_eq!(write_game(&run, &mut again), Err("a halfmove clock of 256".to_owned()));
            assert_eq!(again, game);
        }
    }

    #[test]
    fn errors_have_the_index_of_the_game() {
        let (game, _) = written();
        let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = game.repeat(3);
            change(&mut bytes);
            let collected = collect(&ViriReader, &bytes);
            assert_eq!(collected.faults.len(), 1);
            collected.faults[0].clone()
        };
        let length = game.len();
        assert_eq!(damaged(&|bytes| bytes.truncate(3 * length - 2)), (2, cut_off()));
        assert_eq!(damaged(&|bytes| bytes[length + 30] = 9), (1, unknown_result(9)));
        assert_eq!(damaged(&|bytes| bytes[HEAD + ELEMENT] ^= 0x3F), (0, illegal_move(2)));
        assert_eq!(damaged(&|bytes| bytes[24] = 70), (0, contradiction("the en passant square")));
        assert_eq!(damaged(&|bytes| bytes[length + 8] = 0x55).1.reason, "illegal position");
    }
}
