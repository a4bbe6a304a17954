//! No file is lost, and nothing that a terminal obeys is shown: what the arena writes, and where.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::support::{Arena, mock};

/// A match of two games of a few plies.
const QUICK: &[&str] = &["--games", "2", "--depth", "1", "--max-plies", "4", "--concurrency", "1"];

/// A match in the folder that writes to other files than usual.
fn matches(arena: &Arena, more: &[&str]) -> Command {
    let engine = |name: &str| format!("\"cmd={}\" name={name}", mock().display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_arena"));
    command.current_dir(arena.folder.path()).arg("match").args(["--engine", &engine("a"), "--engine", &engine("b")]);
    command.args(QUICK).args(more);
    command
}

fn refusal(command: &mut Command) -> String {
    let run = command.output().unwrap();
    let text = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(2), "{command:?}: {text}");
    text
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn no_output_takes_the_place_of_another_file_of_the_match() {
    let arena = Arena::new();
    let mine = arena.path("engine");
    fs::copy(mock(), &mine).unwrap();
    let [book, program] = [arena.path("book.epd"), mine].map(|path| fs::read(path).unwrap());
    let before = names(arena.folder.path());
    for more in [
        &["--openings", "book.epd", "--json", "book.epd"][..],
        &["--openings", "book.epd", "--pgn", "book.epd"],
        &["--openings", "book.epd", "--report", "./book.epd"],
        &["--openings", "book.epd", "--journal", "book.epd", "--resume"],
        &["--journal", "x", "--json", "x"],
        &["--journal", "x", "--pgn", "x"],
        &["--json", "x", "--report", "./x"],
    ] {
        let text = refusal(&mut matches(&arena, more));
        assert!(text.contains("is the same file as"), "{more:?}: {text}");
    }
    let mut tournament = Command::new(env!("CARGO_BIN_EXE_arena"));
    tournament.current_dir(arena.folder.path()).args(["gauntlet", "--engine", "cmd=./engine name=a", "--engine"]);
    let text = refusal(tournament.args(["cmd=./engine name=b", "--games", "2", "--json", "engine"]));
    assert!(text.contains("is the same file as"), "{text}");
    assert_eq!(names(arena.folder.path()), before);
    assert_eq!(fs::read(arena.path("book.epd")).unwrap(), book);
    assert_eq!(fs::read(arena.path("engine")).unwrap(), program);
}

#[test]
fn files_of_another_kind_are_not_replaced() {
    let arena = Arena::new();
    fs::write(arena.path("notes.txt"), "my precious notes\n").unwrap();
    for flag in ["--json", "--report", "--pgn"] {
        let text = refusal(&mut matches(&arena, &[flag, "notes.txt"]));
        assert!(text.contains("is there and is not"), "{flag}: {text}");
    }
    assert!(matches(&arena, &["--journal", "j"]).status().unwrap().success());
    let report = |output: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_arena"));
        command.current_dir(arena.folder.path()).args(["report", "j", "--output", output]);
        command
    };
    assert!(refusal(&mut report("j")).contains("is the same file as"));
    assert!(refusal(&mut report("notes.txt")).contains("is there and is not"));
    for _ in 0..2 {
        assert!(report("page.html").status().unwrap().success());
    }
    assert_eq!(fs::read_to_string(arena.path("notes.txt")).unwrap(), "my precious notes\n");
}

#[test]
fn links_are_followed_devices_stay_and_permissions_too() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let arena = Arena::new();
    fs::write(arena.path("target.json"), "").unwrap();
    fs::set_permissions(arena.path("target.json"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink("target.json", arena.path("link.json")).unwrap();
    let run = matches(&arena, &["--json", "link.json", "--report", "/dev/null"]).status().unwrap();
    assert!(run.success());
    assert!(fs::symlink_metadata(arena.path("link.json")).unwrap().is_symlink());
    let target = fs::metadata(arena.path("target.json")).unwrap();
    assert!(target.len() > 0 && target.permissions().mode() & 0o777 == 0o600);
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn a_closed_output_ends_the_program_after_the_files() {
    let arena = Arena::new();
    let closed = |command: &mut Command| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = command.stdout(writer).output().unwrap();
        let text = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(141), "{command:?}: {text}");
        assert!(!text.contains("error: "), "{text}");
    };
    closed(&mut matches(&arena, &["--json", "out.json", "--report", "out.html"]));
    assert_eq!(names(arena.folder.path()), ["book.epd", "out.html", "out.json"]);
    let mock = mock().display().to_string();
    fs::write(arena.path("g.pgn"), "[White \"a\"]\n[Black \"b\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n").unwrap();
    for arguments in [
        &["calc", "--penta", "1,2,3,2,1"][..],
        &["plan"],
        &["elo", "g.pgn"],
        &["check", &mock, "--only", "no such check"],
        &["datagen", "--output", "d.epd", "--positions", "1", "--soft-nodes", "100"],
    ] {
        closed(Command::new(env!("CARGO_BIN_EXE_arena")).current_dir(arena.folder.path()).args(arguments));
    }
}

#[test]
fn nothing_that_a_terminal_obeys_is_shown() {
    let arena = Arena::new();
    let evil = "\u{1b}[2J\u{7}\u{202e}";
    fs::write(arena.path("e.epd"), format!("{evil}\n")).unwrap();
    fs::write(
        arena.path("e.pgn"),
        format!("[Event \"{evil}\"]\n[FEN \"{evil}\"]\n[Result \"1-0\"]\n\n1. {evil} 1-0\n"),
    )
    .unwrap();
    let player = format!("[White \"{evil}\"]\n[Black \"b\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n");
    fs::write(arena.path("g.pgn"), player).unwrap();
    let arena_with = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_arena"));
        command.current_dir(arena.folder.path()).args(arguments);
        command
    };
    let engine = format!("\"cmd={}\"", mock().display());
    let [escapes, dies] = ["escapes", "escapes-and-dies"].map(|how| format!("{engine} name=e args={how}"));
    for mut command in [
        matches(&arena, &["--openings", "e.epd"]),
        matches(&arena, &["--openings", "e.pgn"]),
        arena_with(&["elo", "g.pgn"]),
        arena_with(&["elo", "e.pgn"]),
        arena_with(&[&["match", "--engine", &escapes, "--engine", &format!("{engine} name=b")], QUICK].concat()),
        arena_with(&[&["match", "--engine", &dies, "--engine", &format!("{engine} name=b")], QUICK].concat()),
        arena_with(&["check", &format!("cmd={} args=escapes", mock().display())]),
    ] {
        let run = command.output().unwrap();
        let text = String::from_utf8([run.stdout, run.stderr].concat()).unwrap();
        assert!(!text.is_empty() && !text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{command:?}: {text:?}");
    }
}
