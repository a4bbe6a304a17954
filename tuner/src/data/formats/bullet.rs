//! bulletformat: positions of 32 bytes with a score and a result, all in the view of the side to move. See
//! <https://github.com/jw1912/bulletformat>.
//!
//! Bytes 0 to 7 are the occupied squares, 8 to 23 four bits per piece, 24 and 25 the score, 26 the result, 27 and 28
//! the squares of the own and the opposing king, the latter mirrored; all numbers are little-endian. Positions are
//! stored as if the side to move were White. The actual side to move, castling rights, the en passant square and the
//! clocks are lost.

use engine::chess::{Color, Setup};

use super::binary::{BinaryError, CASTLING_ROOK, little_endian, piece_codes, put_pieces};
use super::{Reader, Record, Sample, Sink};
use crate::data::label::{Label, bounded, group_of_position};
use crate::data::outcome::ResultLabel;

/// Bytes of a position.
pub(super) const SIZE: usize = 32;

/// The number of positions that are examined to recognise the format.
const EXAMINED: usize = 8;

pub(super) struct BulletReader;

/// Returns true if a file with these first bytes is in this format. In any other file, the squares of the kings do not
/// match.
pub(super) fn recognises(head: &[u8]) -> bool {
    let mut positions = head.chunks_exact(SIZE).take(EXAMINED).peekable();
    positions.peek().is_some() && positions.all(|record| read(record).is_ok())
}

impl Reader for BulletReader {
    fn record(&self) -> Record {
        Record::Position
    }

    fn longest_record(&self) -> usize {
        SIZE
    }

    fn chunk_end(&self, bytes: &[u8], least: usize) -> Option<usize> {
        Some(least.next_multiple_of(SIZE)).filter(|&end| end <= bytes.len())
    }

    fn read(&self, part: &[u8], sink: &mut dyn Sink) -> u32 {
        let mut number = 0;
        for record in part.chunks(SIZE) {
            let flow = sink.record(number, read(record));
            number += 1;
            if flow.is_break() {
                break;
            }
        }
        number
    }
}

fn read(record: &[u8]) -> Result<Sample, BinaryError> {
    if record.len() < SIZE {
        return Err(BinaryError::Truncated);
    }
    let mut setup = Setup::new(Color::White, 0, 1);
    put_pieces(&mut setup, little_endian::<8>(record, 0), piece_codes(record, 8))?;
    if setup.castling_rooks.any() {
        return Err(BinaryError::Piece(CASTLING_ROOK));
    }
    let position = setup.finish().map_err(BinaryError::Position)?;
    let kings = [position.king(Color::White).index(), position.king(Color::Black).index() ^ 56];
    if kings != [27, 28].map(|at| usize::from(record[at])) {
        return Err(BinaryError::Contradiction("the square of a king"));
    }
    let outcome = ResultLabel::of_half_points(record[26]).ok_or(BinaryError::Outcome(record[26]))?;
    let score = bounded(little_endian::<2>(record, 24) as i16);
    let label = Label { outcome, score: Some(score), group: group_of_position(&position) };
    Ok(Sample { position, label, best: None })
}

#[cfg(test)]
mod tests {
    use bulletformat::{BulletFormat, ChessBoard};

    use super::super::tests::{Collected, collect};
    use super::*;

    fn written(lines: &[&str]) -> Vec<u8> {
        let boards: Vec<ChessBoard> = lines.iter().map(|line| line.parse().expect(line)).collect();
        ChessBoard::as_bytes_slice(&boards).to_vec()
    }

    const LINES: [&str; 3] = [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 | 35 | 1.0",
        "8/8/8/8/8/k7/7R/K7 b - - 0 1 | 500 | 1.0",
        "8/8/8/8/8/k7/7R/K7 w - - 0 1 | -7 | 0.5",
    ];

    #[test]
    fn reads_the_output_of_the_reference_crate() {
        let bytes = written(&LINES);
        assert!(recognises(&bytes));
        let Collected { samples, faults, records } = collect(&BulletReader, &bytes);
        assert!(faults.is_empty() && records == 3);
        let seen: Vec<_> = samples
            .iter()
            .map(|(_, sample)| (sample.position.to_fen(), sample.label.outcome, sample.label.score))
            .collect();
        // With Black to move, the board is flipped, and the score and the result change sign.
        let expected = [
            ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w - - 0 1", ResultLabel::Win, 35),
            ("k7/7r/K7/8/8/8/8/8 w - - 0 1", ResultLabel::Loss, -500),
            ("8/8/8/8/8/k7/7R/K7 w - - 0 1", ResultLabel::Draw, -7),
        ];
        assert_eq!(seen, expected.map(|(fen, outcome, score)| (fen.to_owned(), outcome, Some(score))));
    }

    #[test]
    fn errors_have_the_index_of_the_position() {
        let good = written(&LINES);
        let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.clone();
            change(&mut bytes);
            let collected = collect(&BulletReader, &bytes);
            assert_eq!(collected.faults.len(), 1);
            assert_eq!(collected.samples.len(), 2);
            collected.faults[0].clone()
        };
        assert_eq!(damaged(&|bytes| bytes.truncate(90)), (2, BinaryError::Truncated.into()));
        assert_eq!(damaged(&|bytes| bytes[32 + 26] = 3), (1, BinaryError::Outcome(3).into()));
        assert_eq!(damaged(&|bytes| bytes[27] ^= 1), (0, BinaryError::Contradiction("the square of a king").into()));
        assert_eq!(damaged(&|bytes| bytes[32..40].fill(0xFF)), (1, BinaryError::Men(64).into()));
        assert_eq!(damaged(&|bytes| bytes[64 + 8] = 0x77), (2, BinaryError::Piece(7).into()));
    }
}
