//! Stockfish binpack: chunks of chains, each a position and the moves that followed it, in few bits.
//! See <https://github.com/official-stockfish/Stockfish/blob/tools/docs/binpack.md>.
//!
//! A chunk is `BINP`, its size in four bytes (little-endian) and so many bytes of chains. A chain is a stem of 32 bytes,
//! numbers big-endian: the occupied squares, four bits a man, a move, its score, ply and result in one number, the
//! halfmove clock; then the number of moves to follow (two bytes), and those as bits: which man moves, which of its
//! destinations it goes to, how the score differs from the one before, seen from the other side. Scores and results are
//! those of the side to move. Destinations are counted without regard to the king's safety, en passant only where legal.

use engine::chess::{
    Bitboard, CastlingSide, Color, Move, MoveKind, Piece, PieceType, Position, Rank, Setup, Square, attacks,
};

use super::binary::BinaryError;
use super::{Format, Reader, Record, Sample, Sink};
use crate::dataset::label::{Label, Outcome, bounded, group_of_game};

const MAGIC: &[u8] = b"BINP";

/// Bytes before the chains of a chunk.
const HEADER: usize = 8;

/// Bytes of the largest chunk; Stockfish's own tools take no larger one.
const LARGEST_CHUNK: usize = 100 << 20;

/// Bytes of a stem, and with them those of the number of moves.
const STEM: usize = 32;
const STEM_AND_COUNT: usize = STEM + 2;

/// Bits of a score that stand together; one more says whether others follow.
const SCORE_BITS: usize = 4;

/// The score that stands for none.
const NO_SCORE: i16 = 32002;

const PROMOTIONS: [PieceType; 4] = [PieceType::Knight, PieceType::Bishop, PieceType::Rook, PieceType::Queen];

pub(super) struct BinpackReader;

impl BinpackReader {
    /// Whether a file that begins like this is of this format.
    pub(super) fn knows(head: &[u8]) -> bool {
        head.starts_with(MAGIC)
    }
}

impl Reader for BinpackReader {
    fn format(&self) -> Format {
        Format::Binpack
    }

    fn record(&self) -> Record {
        Record::Chain
    }

    fn longest_record(&self) -> usize {
        HEADER + LARGEST_CHUNK
    }

    fn part_end(&self, bytes: &[u8], least: usize) -> Option<usize> {
        let mut end = 0;
        while end < least.max(1) {
            let rest = bytes.get(end..).filter(|rest| rest.len() >= HEADER)?;
            // Where a chunk should begin and none does, all that follows is one part, whose reader says so.
            let Some(size) = chunk_size(rest) else { return Some(bytes.len()) };
            end += HEADER + size;
        }
        Some(end).filter(|&end| end <= bytes.len())
    }

    fn read(&self, part: &[u8], sink: &mut dyn Sink) -> u32 {
        let (mut number, mut rest) = (0, part);
        while !rest.is_empty() {
            let size = chunk_size(rest);
            let end = size.map_or(rest.len(), |size| (HEADER + size).min(rest.len()));
            let (chunk, after) = rest.split_at(end);
            let read = match size {
                None if rest.len() < HEADER && rest.iter().zip(MAGIC).all(|(byte, magic)| byte == magic) => {
                    Err(BinaryError::Truncated)
                }
                None => Err(BinaryError::NoChunk),
                Some(size) => read_chunk(&chunk[HEADER..], &mut number, sink)
                    .and_then(|()| if chunk.len() < HEADER + size { Err(BinaryError::Truncated) } else { Ok(()) }),
            };
            rest = after;
            if let Err(error) = read {
                // Where the chain ends, nobody knows: the rest of its chunk is lost with it.
                let flow = sink.fault(number, error.into(), String::new());
                number += 1;
                if flow.is_break() {
                    break;
                }
            }
        }
        number
    }
}

/// The size of the chunk at the start, without its header; none if there is no chunk.
fn chunk_size(bytes: &[u8]) -> Option<usize> {
    let size = bytes.strip_prefix(MAGIC)?.first_chunk()?;
    Some(u32::from_le_bytes(*size) as usize).filter(|&size| size <= LARGEST_CHUNK)
}

fn read_chunk(chunk: &[u8], number: &mut u32, sink: &mut dyn Sink) -> Result<(), BinaryError> {
    let mut rest = chunk;
    while !rest.is_empty() {
        let length = read_chain(rest, *number, sink)?;
        rest = &rest[length..];
        *number += 1;
    }
    Ok(())
}

/// Reads the chain at the start and says how many bytes it has.
fn read_chain(bytes: &[u8], number: u32, sink: &mut dyn Sink) -> Result<usize, BinaryError> {
    let stem = bytes.get(..STEM_AND_COUNT).ok_or(BinaryError::Truncated)?;
    let word = |at: usize| u16::from_be_bytes([stem[at], stem[at + 1]]);
    let (ply, moves) = (word(28) & 0x3FFF, usize::from(word(STEM)));
    let position = position_of(stem, word(30), ply)?;
    let side = position.side_to_move();
    let outcome = match word(28) >> 14 {
        0 => Outcome::Draw,
        1 => side.choose(Outcome::Loss, Outcome::Win),
        2 => side.choose(Outcome::Win, Outcome::Loss),
        code => return Err(BinaryError::Outcome(code as u8)),
    };
    let mut mover_score = signed(word(26));
    let mut best = stem_move(word(24), &position);
    if best.is_none() && (word(24) != 0 || moves > 0) {
        return Err(BinaryError::Move(1));
    }
    let label = Label { outcome, score: None, group: group_of_game(&stem[..STEM]) };
    let mut sample = Sample { position, label, best };
    let mut bits = Bits { bytes: &bytes[STEM_AND_COUNT..], at: 0 };
    for ply in 0..=moves {
        let side = sample.position.side_to_move();
        let score = Some(mover_score).filter(|&score| score != NO_SCORE).map(bounded);
        sample.label.score = score.map(|score| side.choose(score, -score));
        sample.best = best;
        sink.sample(number, &sample);
        if let Some(mv) = best.filter(|_| ply < moves) {
            sample.position.play(mv);
            let mv = bits.next_move(&sample.position)?;
            best = Some(mv.filter(|&mv| sample.position.is_legal(mv)).ok_or(BinaryError::Move(ply + 2))?);
            let change = bits.variable()?.ok_or(BinaryError::Score(ply + 2))?;
            mover_score = mover_score.wrapping_neg().wrapping_add(signed(change));
        }
    }
    Ok(STEM_AND_COUNT + bits.at.div_ceil(8))
}

/// The sign of these numbers stands in the lowest bit, and turns the others if it is set.
fn signed(bits: u16) -> i16 {
    let number = bits.rotate_right(1);
    (if number & 0x8000 == 0 { number } else { number ^ 0x7FFF }) as i16
}

fn position_of(stem: &[u8], halfmove_clock: u16, ply: u16) -> Result<Position, BinaryError> {
    let occupied = Bitboard(stem[..8].iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
    if occupied.count() > 32 {
        return Err(BinaryError::Men(occupied.count()));
    }
    let code = |at: usize| stem[8 + at / 2] >> (4 * (at % 2)) & 0xF;
    let codes = || occupied.into_iter().enumerate().map(|(at, square)| (code(at), square));
    // A black king that is to move has a code of its own.
    let side = if codes().any(|(code, _)| code == 15) { Color::Black } else { Color::White };
    let mut setup = Setup::new(side, halfmove_clock, ply / 2 + 1);
    for (code, square) in codes() {
        let (color, piece_type) = match code {
            // A pawn that has just made a double step: it stands on the fourth rank of its side.
            12 => {
                let color = if square.rank() == Rank::Fourth { Color::White } else { Color::Black };
                setup.en_passant = Bitboard::from(square).forward(!color).first();
                (color, PieceType::Pawn)
            }
            13 => (Color::White, PieceType::Rook),
            14 => (Color::Black, PieceType::Rook),
            15 => (Color::Black, PieceType::King),
            code => {
                let piece_type = PieceType::from_index(usize::from(code / 2)).ok_or(BinaryError::Piece(code))?;
                (if code % 2 == 0 { Color::White } else { Color::Black }, piece_type)
            }
        };
        if matches!(code, 13 | 14) {
            setup.castling_rooks |= square.into();
        }
        setup.put(Piece { color, piece_type }, square);
    }
    setup.finish().map_err(BinaryError::Position)
}

/// The move of a stem: two bits for what is special, six from, six to, two for what a pawn becomes; none if it is not
/// legal.
fn stem_move(bits: u16, position: &Position) -> Option<Move> {
    let square = |bits: u16| Square::from_index(usize::from(bits & 0x3F));
    let (from, to) = (square(bits >> 8), square(bits >> 2));
    let mv = match bits >> 14 {
        0 => Move::new(from, to, MoveKind::Normal),
        1 => Move::promotion(from, to, PROMOTIONS[usize::from(bits & 3)]),
        2 => Move::new(from, to, MoveKind::Castling),
        _ => Move::new(from, to, MoveKind::EnPassant),
    };
    position.is_legal(mv).then_some(mv)
}

/// Bits, the highest of a byte first.
struct Bits<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Bits<'_> {
    /// The number of the next few bits, at most eight.
    fn take(&mut self, count: usize) -> Result<usize, BinaryError> {
        let (first, shift) = (self.at / 8, self.at % 8);
        self.at += count;
        if self.at > 8 * self.bytes.len() {
            return Err(BinaryError::Truncated);
        }
        let byte = |at: usize| usize::from(self.bytes.get(at).copied().unwrap_or_default());
        let window = byte(first) << 8 | byte(first + 1);
        Ok(window >> (16 - shift - count) & ((1 << count) - 1))
    }

    /// One of so many, in as many bits as the last of them needs.
    fn one_of(&mut self, count: u32) -> Result<usize, BinaryError> {
        self.take((u32::BITS - count.saturating_sub(1).leading_zeros()) as usize)
    }

    /// A number in groups of bits, the lowest first; none if there are more than it can have.
    fn variable(&mut self) -> Result<Option<u16>, BinaryError> {
        let mut number = 0;
        for shift in (0..u16::BITS).step_by(SCORE_BITS) {
            let group = self.take(SCORE_BITS + 1)?;
            number |= (group as u16 & ((1 << SCORE_BITS) - 1)) << shift;
            if group >> SCORE_BITS == 0 {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// The next move, legal or not; none if there is no such man or destination.
    fn next_move(&mut self, position: &Position) -> Result<Option<Move>, BinaryError> {
        let own = position.color(position.side_to_move());
        let Some(from) = own.into_iter().nth(self.one_of(own.count())?) else { return Ok(None) };
        let occupied = position.occupied();
        let reached = match position.piece_type_on(from) {
            Some(PieceType::Pawn) => return self.pawn_move(position, from),
            Some(PieceType::King) => return self.king_move(position, from),
            Some(PieceType::Knight) => attacks::knight(from),
            Some(PieceType::Bishop) => attacks::bishop(from, occupied),
            Some(PieceType::Rook) => attacks::rook(from, occupied),
            Some(PieceType::Queen) => attacks::queen(from, occupied),
            None => return Ok(None),
        };
        let targets = reached.without(own);
        let to = targets.into_iter().nth(self.one_of(targets.count())?);
        Ok(to.map(|to| Move::new(from, to, MoveKind::Normal)))
    }

    fn pawn_move(&mut self, position: &Position, from: Square) -> Result<Option<Move>, BinaryError> {
        let us = position.side_to_move();
        let en_passant = position.en_passant().map_or(Bitboard::EMPTY, Bitboard::from);
        let push = Bitboard::from(from).forward(us).without(position.occupied());
        let double = (push & Bitboard::rank(Rank::Third.relative_to(us))).forward(us).without(position.occupied());
        let captures = attacks::pawn(us, from) & (position.color(!us) | en_passant);
        let targets = push | double | captures;
        if from.rank() == Rank::Seventh.relative_to(us) {
            let number = self.one_of(4 * targets.count())?;
            let to = targets.into_iter().nth(number / 4);
            return Ok(to.map(|to| Move::promotion(from, to, PROMOTIONS[number % 4])));
        }
        let to = targets.into_iter().nth(self.one_of(targets.count())?);
        let kind = |to| if en_passant.has(to) { MoveKind::EnPassant } else { MoveKind::Normal };
        Ok(to.map(|to| Move::new(from, to, kind(to))))
    }

    /// Castling comes behind all other moves, the long one first.
    fn king_move(&mut self, position: &Position, from: Square) -> Result<Option<Move>, BinaryError> {
        let us = position.side_to_move();
        let targets = attacks::king(from).without(position.color(us));
        let castling = [CastlingSide::Queen, CastlingSide::King].map(|side| position.castling().rook(us, side));
        let mut rooks = castling.into_iter().flatten();
        let number = self.one_of(targets.count() + rooks.clone().count() as u32)?;
        Ok(match number.checked_sub(targets.count() as usize) {
            Some(castling) => rooks.nth(castling).map(|rook| Move::new(from, rook, MoveKind::Castling)),
            None => targets.into_iter().nth(number).map(|to| Move::new(from, to, MoveKind::Normal)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use engine::random::Random;
    use sfbinpack::chess::color::Color as TheirColor;
    use sfbinpack::chess::coords::Square as TheirSquare;
    use sfbinpack::chess::r#move::{Move as TheirMove, MoveType};
    use sfbinpack::chess::piece::Piece as TheirPiece;
    use sfbinpack::chess::piecetype::PieceType as TheirPieceType;
    use sfbinpack::chess::position::Position as TheirPosition;
    use sfbinpack::{CompressedTrainingDataEntryWriter, TrainingDataEntry};

    use super::super::tests::{Collected, collect};
    use super::*;

    fn translated(mv: Move, side: Color) -> TheirMove {
        let [from, to] = [mv.from(), mv.to()].map(|square| TheirSquare::new(square.index() as u32));
        let kind = match mv.kind() {
            MoveKind::Normal => MoveType::Normal,
            MoveKind::Promotion => MoveType::Promotion,
            MoveKind::EnPassant => MoveType::EnPassant,
            MoveKind::Castling => MoveType::Castle,
        };
        let promoted = mv.promoted().map(|piece| TheirPieceType::from_ordinal(piece as u8));
        let color = side.choose(TheirColor::White, TheirColor::Black);
        TheirMove::new(from, to, kind, promoted.map_or(TheirPiece::none(), |piece| TheirPiece::new(piece, color)))
    }

    /// Random games as the crate writes them, and what is to be read.
    fn written(games: u64) -> (Vec<u8>, Vec<Sample>) {
        let mut random = Random::seeded(5);
        let mut expected = Vec::new();
        let mut writer = CompressedTrainingDataEntryWriter::new(Cursor::new(Vec::new())).expect("a vector takes all");
        for game in 0..games {
            let start = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
            let (mut position, mut ply, result) = (Position::from_fen(start).expect(start), 0, game as i16 % 3 - 1);
            for _ in 0..100 {
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                let mv = moves[random.below(moves.len() as u64) as usize];
                let score = random.below(4001) as i16 - 2000;
                let side = position.side_to_move();
                let entry = TrainingDataEntry {
                    mv: translated(mv, side),
                    pos: TheirPosition::from_fen(&position.to_fen()).expect("a legal position"),
                    score,
                    ply,
                    result: side.choose(result, -result),
                };
                writer.write_entry(&entry).expect("a vector takes all");
                let outcome = [Outcome::Loss, Outcome::Draw, Outcome::Win][(result + 1) as usize];
                let label = Label { outcome, score: Some(side.choose(score, -score)), group: 0 };
                expected.push(Sample { position: position.clone(), label, best: Some(mv) });
                position.play(mv);
                ply += 1;
            }
        }
        writer.flush_and_end();
        (writer.into_inner().expect("all is written").into_inner(), expected)
    }

    #[test]
    fn what_the_crate_writes_is_read() {
        let (bytes, expected) = written(60);
        assert!(BinpackReader::knows(&bytes));
        let Collected { samples, faults, records } = collect(&BinpackReader, &bytes);
        assert_eq!(faults, []);
        assert_eq!((records, samples.len()), (60, expected.len()));
        for ((_, mut sample), expected) in samples.into_iter().zip(expected) {
            sample.label.group = 0;
            assert_eq!(sample, expected);
        }
        assert_eq!(BinpackReader.part_end(&bytes, 1), Some(bytes.len()));
        assert_eq!(BinpackReader.part_end(&bytes[..bytes.len() - 1], 1), None);
    }

    #[test]
    fn damage_is_told_with_the_number_of_the_chain() {
        let (good, _) = written(3);
        let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.clone();
            change(&mut bytes);
            let collected = collect(&BinpackReader, &bytes);
            assert_eq!(collected.faults.len(), 1);
            collected.faults[0].clone()
        };
        assert_eq!(damaged(&|bytes| bytes.truncate(bytes.len() - 1)), (2, BinaryError::Truncated.into()));
        assert_eq!(damaged(&|bytes| bytes[0] = b'C'), (0, BinaryError::NoChunk.into()));
        assert_eq!(damaged(&|bytes| bytes[4..8].fill(0xFF)), (0, BinaryError::NoChunk.into()));
        assert_eq!(damaged(&|bytes| bytes[HEADER..HEADER + 8].fill(0xFF)), (0, BinaryError::Men(64).into()));
        assert_eq!(damaged(&|bytes| bytes.extend(b"BI")), (3, BinaryError::Truncated.into()));
        assert_eq!(damaged(&|bytes| bytes[HEADER + 28] |= 0xC0), (0, BinaryError::Outcome(3).into()));
        // Whatever a flipped bit makes of the rest, it does no harm.
        for at in HEADER..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 0x10;
            collect(&BinpackReader, &bytes);
        }
    }
}
