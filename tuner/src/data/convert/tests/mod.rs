//! Tests that written data are read back unchanged.

mod runs;

use std::fs;

use engine::chess::Color;
use tempfile::TempDir;

use super::*;
use crate::data::{ReadOptions, Source};

const LINES: &str = "\
r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 3 17 c0 \"a\"; c9 \"1-0\"; ce -34;
rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3 c0 \"a\"; c9 \"1-0\"; ce 31997;
1rr1k3/8/8/8/8/8/8/1RR1K3 w Cc - 0 1 c0 \"b\"; c9 \"1/2-1/2\"; ce 0;
8/8/8/8/8/k7/7R/K7 b - - 99 120 c0 \"c\"; c9 \"0-1\"; ce -250;
";

fn read(source: Source) -> Dataset {
    Dataset::read(vec![source], &ReadOptions::default(), &()).unwrap()
}

fn dataset(lines: &str) -> Dataset {
    read(Source::in_memory("made up", lines.as_bytes().to_vec()).unwrap())
}

fn converted(dataset: &Dataset, folder: &TempDir, name: &str) -> Result<Dataset> {
    let path = folder.path().join(name);
    convert(dataset, &path, OutputEncoding::of(&path, None)?, &())?;
    Ok(read(Source::open(&path).unwrap()))
}

/// Returns FEN, result and score of every position, and true if its game is that of the position before.
fn content(dataset: &Dataset, has_games: bool) -> Vec<(String, String, Option<i16>, bool)> {
    let of = |index: usize| {
        let (label, groups) = (dataset.label(index), dataset.groups());
        let is_same_game = has_games && index > 0 && groups[index] == groups[index - 1];
        (dataset.position(index).to_shredder_fen(), label.outcome.to_string(), label.score, is_same_game)
    };
    (0..dataset.len()).map(of).collect()
}

#[test]
fn text_formats_round_trip_in_every_compression() {
    let (folder, original) = (tempfile::tempdir().unwrap(), dataset(LINES));
    for (name, has_games) in [
        ("a.epd", true),
        ("a.points", false),
        ("a.wdl", false),
        ("a.csv", true),
        ("a.epd.gz", true),
        ("a.csv.zst", true),
        ("a.wdl.xz", false),
        ("A.POINTS.BZ2", false),
    ] {
        let again = converted(&original, &folder, name).unwrap();
        assert_eq!(content(&again, has_games), content(&original, has_games), "{name}");
        assert_eq!(again.grouping() == Grouping::Games, has_games, "{name}");
    }
    let begins = |name: &str, magic: &[u8]| fs::read(folder.path().join(name)).unwrap().starts_with(magic);
    assert!(begins("a.epd.gz", b"\x1f\x8b") && begins("a.wdl.xz", b"\xfd7zXZ") && begins("A.POINTS.BZ2", b"BZh"));
}

#[test]
fn bulletformat_keeps_board_score_and_result() {
    let (folder, original) = (tempfile::tempdir().unwrap(), dataset(LINES));
    let again = converted(&original, &folder, "a.bullet").unwrap();
    assert_eq!(again.len(), original.len());
    for index in 0..original.len() {
        let (position, label, found) = (original.position(index), original.label(index), again.label(index));
        let is_white = position.side_to_move() == Color::White;
        let seen = if is_white { position } else { position.color_flipped() };
        let board = |fen: String| fen.split(' ').next().map(str::to_owned);
        assert_eq!(board(again.position(index).to_fen()), board(seen.to_fen()));
        assert_eq!(found.score, label.score.map(|score| if is_white { score } else { -score }));
        assert_eq!(
            found.outcome.points(),
            if is_white { label.outcome.points() } else { 1.0 - label.outcome.points() }
        );
    }
}

#[test]
fn bulletformat_matches_its_own_library() {
    use bulletformat::{BulletFormat, ChessBoard};
    let (folder, original) = (tempfile::tempdir().unwrap(), dataset(LINES));
    let path = folder.path().join("a.bullet");
    convert(&original, &path, OutputEncoding::of(&path, None).unwrap(), &()).unwrap();
    let line = |index: usize| {
        let label = original.label(index);
        let (fen, score) = (original.position(index).to_fen(), label.score.unwrap());
        format!("{fen} | {score} | {:.1}", label.outcome.points()).parse::<ChessBoard>().unwrap()
    };
    let boards: Vec<ChessBoard> = (0..original.len()).map(line).collect();
    assert_eq!(fs::read(path).unwrap(), ChessBoard::as_bytes_slice(&boards));
}

#[test]
fn shares_are_written_as_text_and_refused_by_binary_formats() {
    let folder = tempfile::tempdir().unwrap();
    let original = dataset(
        "8/8/8/8/8/k7/7R/K7 b - - [1.0] 5\n8/8/8/8/8/k7/7R/K7 w - - [0.735] 7\n8/8/8/8/8/k7/7P/K7 b - - [0.01] -900\n\
         8/8/8/8/8/k7/7P/K7 w - - [0.5] 0\n",
    );
    for name in ["a.epd", "a.points", "a.wdl", "a.csv"] {
        let again = converted(&original, &folder, name).unwrap();
        assert_eq!(content(&again, false), content(&original, false), "{name}");
    }
    assert!(fs::read_to_string(folder.path().join("a.epd")).unwrap().contains(" c9 \"0.735\";"));
    let error = converted(&original, &folder, "a.bullet").err().unwrap().to_string();
    assert_eq!(
        error,
        "made up:2: has a share of the point as its result, and bullet knows wins, draws and losses alone: write epd, \
         points, wdl or csv"
    );
    for format in [OutputFormat::Viri, OutputFormat::Binpack] {
        assert!(format.needs_results());
    }
}

#[test]
fn refuses_positions_that_do_not_suit_the_format() {
    let folder = tempfile::tempdir().unwrap();
    let original = dataset("8/8/8/8/8/k7/7R/K7 b - - c9 \"1-0\"; ce 5;\n8/8/8/8/8/k7/7R/K7 w - - c9 \"1-0\";\n");
    let error = |name: &str| converted(&original, &folder, name).err().unwrap().to_string();
    let expected = "made up:2: has no score, which bullet cannot do without: write epd, points or csv";
    assert_eq!(error("a.bullet"), expected);
    assert!(error("a.wdl.gz").starts_with("made up:2: "));
    assert!(error("a.pgn.zst").contains("whole games"));
    for (name, format) in [("a.viri", "viri"), ("a.vf.gz", "viri"), ("a.binpack.zst", "binpack")] {
        let expected = format!("made up:1: has no move, which {format} cannot do without: write epd, points or csv");
        assert_eq!(error(name), expected);
    }
    assert!(error("a.doc").contains("--to epd, points"), "{}", error("a.doc"));
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    assert_eq!(content(&converted(&original, &folder, "a.csv").unwrap(), false), content(&original, false));
    let path = folder.path().join("a.doc");
    let encoding = OutputEncoding::of(&path, Some(OutputFormat::Points)).unwrap();
    assert_eq!(encoding.to_string(), "points");
    convert(&original, &path, encoding, &()).unwrap();
    assert_eq!(content(&read(Source::open(&path).unwrap()), false), content(&original, false));
}
