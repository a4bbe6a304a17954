//! Playing from an opening book, as a GUI sees it.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::support::book::{ENTRIES, bytes_of, write_book};
use crate::support::session::Engine;

/// An engine that plays from a book, whose name has a space.
fn engine_with(name: &str) -> Engine {
    let path = write_book(name, &bytes_of(&ENTRIES));
    let mut engine = Engine::start(&[]);
    engine.send(&format!("setoption name BookFile value {}", path.display()));
    engine.send("setoption name OwnBook value true");
    engine
}

#[test]
fn book_moves_are_played_at_once_with_a_score() {
    let mut engine = engine_with("with space.bin");
    let mut played = HashSet::new();
    // Both moves have the same chance: that one of them is missing is less likely than 1 in 10^11.
    for _ in 0..40 {
        engine.send("position startpos");
        engine.send("go wtime 3600000 btime 3600000");
        let lines = engine.until("bestmove");
        let best = lines.last().unwrap().split(' ').nth(1).unwrap().to_owned();
        assert_eq!(lines[0], format!("info string book move {best}"));
        assert!(lines[1].contains(" score ") && lines[1].contains(&format!(" pv {best}")), "{lines:?}");
        played.insert(best);
    }
    assert_eq!(played, HashSet::from(["d2d4".to_owned(), "e2e4".to_owned()]));
    engine.send("position startpos moves e2e4");
    engine.answer("go movetime 3600000", "bestmove e7e5");
    engine.end();
}

#[test]
fn infinite_ponder_and_mate_searches_skip_the_book() {
    let mut engine = engine_with("searched.bin");
    engine.send("position startpos moves e2e4");
    for go in ["go infinite", "go ponder wtime 3600000 btime 3600000", "go mate 30"] {
        engine.send(go);
        assert!(!engine.until("info depth 3").iter().any(|line| line.contains("book")), "{go}");
        engine.answer("stop", "bestmove");
    }
    engine.answer("go searchmoves a7a6 depth 2", "bestmove a7a6");
    engine.send("setoption name UCI_AnalyseMode value true");
    assert!(
        !{
            engine.send("go depth 3");
            engine.until("bestmove")
        }
        .iter()
        .any(|line| line.contains("book"))
    );
    engine.send("setoption name UCI_AnalyseMode value false");
    engine.answer("go depth 3", "info string book move e7e5");
    // Out of the book.
    engine.send("position startpos moves a2a3");
    engine.answer("go depth 2", "info depth 2");
    engine.send("position startpos moves e2e4");
    engine.send("setoption name OwnBook value false");
    engine.answer("go depth 2", "info depth 2");
    engine.end();
}

#[test]
fn a_bad_book_is_refused_and_the_old_one_stays() {
    let mut engine = engine_with("good.bin");
    let mut entries = ENTRIES;
    entries.swap(0, 4);
    let refused = [
        (write_book("unsorted.bin", &bytes_of(&entries)), "entry 2"),
        (write_book("cut.bin", &bytes_of(&ENTRIES)[..79]), "79 bytes"),
        (PathBuf::from("/no/such/book.bin"), "cannot be read"),
    ];
    for (path, reason) in refused {
        let path = path.display();
        let line = engine.answer(&format!("setoption name BookFile value {path}"), "info string error");
        assert!(line.contains(&path.to_string()) && line.contains(reason), "{line}");
    }
    engine.send("position startpos moves e2e4");
    engine.answer("go depth 2", "info string book move e7e5");
    engine.send("setoption name BookFile value <empty>");
    engine.answer("go depth 2", "info depth 2");
    engine.end();
}
