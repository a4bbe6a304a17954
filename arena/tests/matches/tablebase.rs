//! Games that are ended by tables of endings.

use std::fs;

use super::support::Arena;

#[test]
fn missing_tablebases_are_refused_before_the_first_game() {
    let arena = Arena::new();
    fs::create_dir(arena.path("empty")).unwrap();
    for (folder, message) in [("none", "error: none: "), ("empty", "error: empty: has no table of endings")] {
        let output = arena.play("", &["--games", "2", "--depth", "1", "--tb", folder]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.starts_with(message) && stderr.lines().count() == 1, "{stderr}");
        assert!(!arena.path("out.json").exists());
    }
}

/// With real tables of three and four pieces, in the folder that the environment variable `SYZYGY_TABLES` names.
#[test]
fn tables_end_games() {
    let Some(folder) = std::env::var_os("SYZYGY_TABLES") else {
        eprintln!("skipped: SYZYGY_TABLES names no folder of tables");
        return;
    };
    let arena = Arena::new();
    // White's only moves are those of the pawn, and Black promotes with mate.
    fs::write(arena.path("book.epd"), "8/8/8/8/8/1k6/2p4P/K7 w - -\n").unwrap();
    let tables = ["--games", "4", "--depth", "1", "--tb", folder.to_str().unwrap(), "--journal", "match.jsonl"];
    let output = arena.play("", &tables);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let json = arena.json();
    assert_eq!(json["endings"]["tablebase_adjudication"], 4);
    assert_eq!((&json["plies"], &json["wins"], &json["losses"]), (&4.into(), &2.into(), &2.into()));
    assert!(json["match"]["tablebase_sha256"].is_string());
    // Without the tables it would be another match.
    let without = arena.play("", &["--depth", "1", "--journal", "match.jsonl", "--resume"]);
    let stderr = String::from_utf8_lossy(&without.stderr).into_owned();
    assert_eq!(without.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("tablebase_sha256"), "{stderr}");
}
