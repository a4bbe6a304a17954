//! Tests of reading and writing against the reference crate.

use std::io::Cursor;

use engine::chess::{Color, Move, MoveKind, Position};
use engine::random::Random;
use sfbinpack::chess::color::Color as TheirColor;
use sfbinpack::chess::coords::Square as TheirSquare;
use sfbinpack::chess::r#move::{Move as TheirMove, MoveType};
use sfbinpack::chess::piece::Piece as TheirPiece;
use sfbinpack::chess::piecetype::PieceType as TheirPieceType;
use sfbinpack::chess::position::Position as TheirPosition;
use sfbinpack::{CompressedTrainingDataEntryWriter, TrainingDataEntry};

use super::super::binary::{illegal, unknown_result};
use super::super::tests::{Collected, collect};
use super::*;
use crate::data::ResultLabel;
use crate::data::label::Label;

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

const MIDDLE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

/// Starting positions a move or two away from castling, en passant and promotions.
const STARTS: [&str; 5] = [
    MIDDLE,
    "r3k2r/1P4P1/8/8/2pP4/8/p5p1/R3K2R b KQkq d3 0 20",
    "4k3/PPP5/8/8/8/8/ppp5/4K3 w - - 149 60",
    "r3k3/8/8/3Pp3/8/8/8/4K2R w Kq e6 0 3",
    "8/8/8/8/8/k7/7R/K7 b - - 99 8192",
];

/// Returns random games of at most `plies` plies with random scores, written by the reference crate, and the expected
/// samples.
fn written(
    starts: &[&str],
    games: u64,
    plies: u16,
    score: impl Fn(&mut Random) -> Option<i16>,
) -> (Vec<u8>, Vec<Sample>) {
    let mut random = Random::seeded(5);
    let mut expected = Vec::new();
    let mut writer = CompressedTrainingDataEntryWriter::new(Cursor::new(Vec::new())).expect("a vector takes all");
    for game in 0..games {
        let start = starts[game as usize % starts.len()];
        let (mut position, result) = (Position::from_fen(start).expect(start), (game % 3) as i16 - 1);
        let first = 2 * (position.fullmove_number() - 1) + position.side_to_move().index() as u16;
        for ply in first..first + plies {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let mv = moves[random.below(moves.len() as u64) as usize];
            let score = score(&mut random);
            let side = position.side_to_move();
            let entry = TrainingDataEntry {
                mv: translated(mv, side),
                pos: TheirPosition::from_fen(&position.to_fen()).expect("a legal position"),
                score: score.unwrap_or(NO_SCORE),
                ply,
                result: side.choose(result, -result),
            };
            writer.write_entry(&entry).expect("a vector takes all");
            let outcome = [ResultLabel::LOSS, ResultLabel::DRAW, ResultLabel::WIN][(result + 1) as usize];
            let label = Label { outcome, score: score.map(|score| side.choose(score, -score)), group: 0 };
            expected.push(Sample { position: position.clone(), label, best: Some(mv) });
            position.play(mv);
        }
    }
    writer.flush_and_end();
    (writer.into_inner().expect("all is written").into_inner(), expected)
}

fn usual_score(random: &mut Random) -> Option<i16> {
    Some(random.below(4001) as i16 - 2000)
}

/// Returns an extreme or small score, or none.
fn any_score(random: &mut Random) -> Option<i16> {
    const SCORES: [Option<i16>; 6] = [None, Some(0), Some(32_000), Some(-32_000), Some(-1), Some(15)];
    SCORES[random.below(SCORES.len() as u64) as usize]
}

/// Writes the samples as chains.
fn rewritten(samples: &[(u32, Sample)]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut chunks = Chunks::default();
    for chain in samples.chunk_by(|(a, _), (b, _)| a == b) {
        let run: Vec<Sample> = chain.iter().map(|(_, sample)| sample.clone()).collect();
        let mut chain = Vec::new();
        write_chain(&run, &mut chain)?;
        chunks.add(&chain, &mut bytes).expect("a vector takes all");
    }
    chunks.finish(&mut bytes).expect("a vector takes all");
    Ok(bytes)
}

#[test]
fn writes_the_same_bytes_as_the_reference_crate() {
    for (games, plies) in [(300, 100), (60_000, 2)] {
        let (bytes, expected) = written(&STARTS, games, plies, any_score);
        let Collected { samples, faults, records } = collect(&BinpackReader, &bytes);
        assert_eq!(faults, []);
        assert_eq!((u64::from(records), samples.len()), (games, expected.len()));
        for ((_, sample), expected) in samples.iter().zip(&expected) {
            assert_eq!((&sample.position, sample.label.score), (&expected.position, expected.label.score));
        }
        assert!(rewritten(&samples) == Ok(bytes), "{games} games");
    }
}

#[test]
fn full_chunks_are_written_at_once() {
    let (bytes, _) = written(&STARTS, 60_000, 2, any_score);
    let (mut chunks, mut rest) = (0, &bytes[..]);
    while let Some(size) = chunk_size(rest) {
        rest = &rest[HEADER + size..];
        assert!((1 << 20..(1 << 20) + 100).contains(&size) || rest.is_empty(), "{size}");
        chunks += 1;
    }
    assert!(rest.is_empty() && chunks >= 2, "{chunks}");
}

#[test]
fn refuses_positions_that_cannot_be_represented() {
    let write = |fen: &str| {
        let position = Position::from_fen(fen).expect(fen);
        let best = position.legal_moves().first().copied();
        rewritten(&[(0, Sample { position, label: Label { outcome: ResultLabel::DRAW, score: None, group: 0 }, best })])
    };
    let king_and_rook = |rest: &str| write(&format!("4k3/8/8/8/8/8/8/4K2R {rest}"));
    assert_eq!(king_and_rook("w K - 0 8193"), Err("move number 8193".to_owned()));
    assert_eq!(king_and_rook("b K - 0 65535"), Err("move number 65535".to_owned()));
    assert!(king_and_rook("b K - 65535 8192").is_ok() && king_and_rook("w K - 0 0").is_ok());
    for fen in ["1r2k2r/8/8/8/8/8/8/4K3 w b - 0 1", "4k3/8/8/8/8/8/8/R2K4 w Q - 0 1", "4k3/8/8/8/8/8/8/4KR2 b F - 0 1"]
    {
        assert_eq!(write(fen), Err("castling rights of Chess960".to_owned()), "{fen}");
    }
}

#[test]
fn reads_the_output_of_the_reference_crate() {
    let (bytes, expected) = written(&[MIDDLE], 60, 100, usual_score);
    assert!(recognises(&bytes));
    let Collected { samples, faults, records } = collect(&BinpackReader, &bytes);
    assert_eq!(faults, []);
    assert_eq!((records, samples.len()), (60, expected.len()));
    for ((_, mut sample), expected) in samples.into_iter().zip(expected) {
        sample.label.group = 0;
        assert_eq!(sample, expected);
    }
    assert_eq!(BinpackReader.chunk_end(&bytes, 1), Some(bytes.len()));
    assert_eq!(BinpackReader.chunk_end(&bytes[..bytes.len() - 1], 1), None);
}

#[test]
fn errors_have_the_index_of_the_chain() {
    let (good, _) = written(&[MIDDLE], 3, 100, usual_score);
    let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        let collected = collect(&BinpackReader, &bytes);
        assert_eq!(collected.faults.len(), 1);
        collected.faults[0].clone()
    };
    assert_eq!(damaged(&|bytes| bytes.truncate(bytes.len() - 1)), (2, cut_off()));
    assert_eq!(damaged(&|bytes| bytes[0] = b'C'), (0, RecordError::new("no chunk", "no chunk begins here")));
    assert_eq!(damaged(&|bytes| bytes[4..8].fill(0xFF)), (0, RecordError::new("no chunk", "no chunk begins here")));
    assert_eq!(damaged(&|bytes| bytes[HEADER..HEADER + 8].fill(0xFF)), (0, illegal("64 men on the board")));
    assert_eq!(damaged(&|bytes| bytes.extend(b"BI")), (3, cut_off()));
    assert_eq!(damaged(&|bytes| bytes[HEADER + 28] |= 0xC0), (0, unknown_result(3)));
    // A flipped bit anywhere must not cause a panic.
    for at in HEADER..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        collect(&BinpackReader, &bytes);
    }
}
