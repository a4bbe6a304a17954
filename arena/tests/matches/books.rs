//! Books of openings in every shape and packing.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::support::Arena;

const GAMES: &str = "[Event \"a\"]\n\n1. e4 e5 2. Nf3 *\n\n[Event \"b\"]\n\n1. d4 d5 2. c4 *\n";

/// The first two positions that are played from a book, in its order; or what is said about it.
fn starts(book: &[u8], more: &[&str]) -> Result<Vec<String>, String> {
    let arena = Arena::new();
    fs::write(arena.path("book.epd"), book).unwrap();
    let usual = ["--depth", "1", "--max-plies", "2", "--games", "4", "--concurrency", "1"];
    let output = arena.play("", &[&usual[..], &["--order", "sequential"], more].concat());
    if output.status.code() != Some(0) {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let pgn = fs::read_to_string(arena.path("out.pgn")).unwrap();
    let fens = pgn.lines().filter_map(|line| line.strip_prefix("[FEN \"")).map(|fen| fen.replace("\"]", ""));
    let all: Vec<String> = fens.collect();
    Ok(vec![all[0].clone(), all[2].clone()])
}

#[test]
fn compressed_games_are_played_from_where_they_were_cut() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(GAMES.as_bytes()).unwrap();
    let gzip = encoder.finish().unwrap();
    let cut = [
        "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
        "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 2",
    ];
    for book in [GAMES.as_bytes().to_vec(), gzip, zstd::encode_all(GAMES.as_bytes(), 3).unwrap()] {
        assert_eq!(starts(&book, &["--plies", "2"]).unwrap(), cut);
    }
    assert_eq!(starts(GAMES.as_bytes(), &["--plies", "2", "--start", "2"]).unwrap(), [cut[1], cut[0]]);
    let whole = starts(GAMES.as_bytes(), &[]).unwrap();
    assert_eq!(whole[1], "rnbqkbnr/ppp1pppp/8/3p4/2PP4/8/PP2PPPP/RNBQKBNR b KQkq - 0 2");
}

#[test]
fn books_that_cannot_be_played_are_refused() {
    for (book, more, message) in [
        (&b"1. e4 e5 2. Nf6 *"[..], &[][..], "error: book.epd:1: `Nf6` is not a legal move here (1 such line in all)"),
        (b"\n", &[], "error: book.epd: has no positions"),
        (GAMES.as_bytes(), &["--start", "3"], "has 2 openings, and cannot begin with opening 3"),
        (b"8/8/8/8/8/k7/7R/K7 w - -", &["--plies", "3"], "has positions and not games"),
        (b"\x1F\x8B\x08\x00", &[], "error: book.epd: cannot be read"),
        (b"PK\x03\x04", &[], "is a zip archive, which is not read: unzip it"),
        (
            b"[FEN \"8/8/8/8/8/k7/7R/K7 w - -\"]\n[FEN \"8/8/8/8/8/k7/7Q/K7 w - -\"]\n\n*",
            &[],
            "book.epd:1: two tags FEN",
        ),
        (b"1. e4 ((((1. d4", &[], "book.epd:1: a variation has no end"),
        (
            &[b"\n\n", &[b'x'; 3 << 20][..]].concat(),
            &[],
            "book.epd: cannot be read: line 3 is longer than 1048576 bytes",
        ),
    ] {
        let stderr = starts(book, more).unwrap_err();
        assert!(stderr.contains(message), "{stderr}");
    }
}
