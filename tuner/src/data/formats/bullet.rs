//! bulletformat: positions of 32 bytes with a score and a result, all in the view of the side to move. See
//! <https://github.com/jw1912/bulletformat>.
//!
//! Bytes 0 to 7 are the occupied squares, 8 to 23 four bits per piece, 24 and 25 the score, 26 the result, 27 and 28
//! the squares of the own and the opposing king, the latter mirrored; all numbers are little-endian. Positions are
//! stored as if the side to move were White. The actual side to move, castling rights, the en passant square and the
//! clocks are lost.

use engine::chess::{Bitboard, Color, Position, Setup};

use super::binary::{
    CASTLING_ROOK, codes_of, contradiction, cut_off, little_endian, outcome_of, piece_codes, position_of, put_pieces,
    unknown_piece,
};
use super::{Reader, Record, RecordError, Sample, Sink};
use crate::data::label::{Label, bounded, group_of_position};

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
    fn unit(&self) -> (Record, usize) {
        (Record::Position, SIZE)
    }

    fn record_end(&self, bytes: &[u8]) -> Option<usize> {
        (bytes.len() >= SIZE).then_some(SIZE)
    }

    fn read_record(&self, record: &[u8], number: &mut u32, sink: &mut dyn Sink) -> Result<(), RecordError> {
        sink.sample(*number, &read(record)?);
        *number += 1;
        Ok(())
    }
}

fn read(record: &[u8]) -> Result<Sample, RecordError> {
    if record.len() < SIZE {
        return Err(cut_off());
    }
    let mut setup = Setup::new(Color::White, 0, 1);
    put_pieces(&mut setup, little_endian::<8>(record, 0), piece_codes(record, 8))?;
    if setup.castling_rooks.any() {
        return Err(unknown_piece(CASTLING_ROOK));
    }
    let position = position_of(setup)?;
    let kings = [position.king(Color::White).index(), position.king(Color::Black).index() ^ 56];
    if kings != [27, 28].map(|at| usize::from(record[at])) {
        return Err(contradiction("the square of a king"));
    }
    let outcome = outcome_of(record[26])?;
    let score = bounded(little_endian::<2>(record, 24) as i16);
    let label = Label { outcome, score: Some(score), group: group_of_position(&position) };
    Ok(Sample { position, label, best: None })
}

/// Encodes a position for [`read`]. Its result is no share of the point; a missing score is written as 0.
pub(crate) fn write_position(position: &Position, label: &Label) -> [u8; SIZE] {
    let Label { outcome, score, .. } = *label;
    let score = score.unwrap_or_default();
    let is_white = position.side_to_move() == Color::White;
    let seen = if is_white { position.clone() } else { position.color_flipped() };
    let half_points = outcome.half_points().expect("shares are refused before");
    let (score, half_points) = if is_white { (score, half_points) } else { (-score, 2 - half_points) };
    let kings = [seen.king(Color::White), seen.king(Color::Black).flip_rank()];
    let mut record = [0; SIZE];
    record[..8].copy_from_slice(&seen.occupied().0.to_le_bytes());
    record[8..24].copy_from_slice(&codes_of(&seen, Bitboard::EMPTY).to_le_bytes());
    record[24..26].copy_from_slice(&score.to_le_bytes());
    record[26..29].copy_from_slice(&[half_points, kings[0].index() as u8, kings[1].index() as u8]);
    record
}

#[cfg(test)]
mod tests {
    use bulletformat::{BulletFormat, ChessBoard};

    use super::super::binary::{illegal, unknown_result};
    use super::super::tests::{Collected, collect};
    use super::*;
    use crate::data::ResultLabel;

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
            ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w - - 0 1", ResultLabel::WIN, 35),
            ("k7/7r/K7/8/8/8/8/8 w - - 0 1", ResultLabel::LOSS, -500),
            ("8/8/8/8/8/k7/7R/K7 w - - 0 1", ResultLabel::DRAW, -7),
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
        assert_eq!(damaged(&|bytes| bytes.truncate(90)), (2, cut_off()));
        assert_eq!(damaged(&|bytes| bytes[32 + 26] = 3), (1, unknown_result(3)));
        assert_eq!(damaged(&|bytes| bytes[27] ^= 1), (0, contradiction("the square of a king")));
        assert_eq!(damaged(&|bytes| bytes[32..40].fill(0xFF)), (1, illegal("64 men on the board")));
        assert_eq!(damaged(&|bytes| bytes[64 + 8] = 0x77), (2, unknown_piece(7)));
    }
}
