//! Books of openings in every shape and packing.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::support::Arena;

const GAMES: &str = "[Event \"a\"]\n\n1. e4 e5 2. Nf3 *\n\n[Event \"b\"]\n\n1. d4 d5 2. c4 *\n";

/// The first two openings that are played from a book, in its order, by the first command of each; or what is said about
/// the book.
fn starts(book: &[u8], more: &[&str]) -> Result<Vec<String>, String> {
    let arena = Arena::new();
    fs::write(arena.path("book.epd"), book).unwrap();
    let usual = ["--depth", "1", "--max-plies", "2", "--games", "4", "--concurrency", "1"];
    let output = arena.play("", &[&usual[..], &["--order", "sequential", "--log", "log"], more].concat());
    if output.status.code() != Some(0) {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let log = fs::read_to_string(arena.path("log")).unwrap();
    let first = |game: u32| {
        let mark = format!(", game {game} > position ");
        log.lines().find_map(|line| Some(line.split_once(&mark)?.1.to_owned())).unwrap()
    };
    Ok(vec![first(1), first(3)])
}

#[test]
fn compressed_games_are_played_from_where_they_were_cut() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(GAMES.as_bytes()).unwrap();
    let gzip = encoder.finish().unwrap();
    let cut = ["startpos moves e2e4 e7e5", "startpos moves d2d4 d7d5"];
    for book in [GAMES.as_bytes().to_vec(), gzip, zstd::encode_all(GAMES.as_bytes(), 3).unwrap()] {
        assert_eq!(starts(&book, &["--plies", "2"]).unwrap(), cut);
    }
    assert_eq!(starts(GAMES.as_bytes(), &["--plies", "2", "--start", "2"]).unwrap(), [cut[1], cut[0]]);
    let whole = starts(GAMES.as_bytes(), &[]).unwrap();
    assert_eq!(whole[1], "startpos moves d2d4 d7d5 c2c4");
    let castling = b"[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 40\"]\n\n40. O-O Kd7 1-0\n".repeat(2);
    assert_eq!(starts(&castling, &[]).unwrap()[0], "fen 4k3/8/8/8/8/8/8/4K2R w K - 0 40 moves e1g1 e8d7");
    let chess960 = starts(&castling, &["--variant", "chess960"]).unwrap();
    assert_eq!(chess960[0], "fen 4k3/8/8/8/8/8/8/4K2R w H - 0 40 moves e1h1 e8d7");
}

#[test]
fn games_in_pgn_begin_with_the_moves_and_names_of_the_book() {
    let arena = Arena::new();
    fs::write(arena.path("book.epd"), "[ECO \"D06\"]\n[Opening \"Queen's \\\"Gambit\\\"\"]\n\n1. d4 d5 2. c4 *\n")
        .unwrap();
    let output = arena.play("", &["--depth", "1", "--max-plies", "2", "--games", "2", "--journal", "j"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let pgn = fs::read_to_string(arena.path("out.pgn")).unwrap();
    for wanted in [
        "[ECO \"D06\"]\n",
        "[Opening \"Queen's \\\"Gambit\\\"\"]\n",
        "[PlyCount \"5\"]",
        "\n1. d4 {book} d5 {book} 2. c4 {book} ",
    ] {
        assert!(pgn.contains(wanted), "{wanted}: {pgn}");
    }
    assert!(!pgn.contains("FEN"), "{pgn}");
    // A journal that goes on writes the same games.
    fs::remove_file(arena.path("out.pgn")).unwrap();
    let more = ["--depth", "1", "--max-plies", "2", "--games", "2", "--journal", "j", "--resume"];
    assert_eq!(arena.play("", &more).status.code(), Some(0));
    assert_eq!(fs::read_to_string(arena.path("out.pgn")).unwrap(), pgn);
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
