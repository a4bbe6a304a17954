//! No file is lost: neither inputs, nor what somebody else has written, nor what ships with the program.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

use crate::support::{Folder, GOOD, MATERIAL, REPOSITORY, lines, refusal, run_on, tuner};

/// The program in a folder of its own.
fn tuner_in(folder: &Folder) -> Command {
    let mut command = tuner();
    command.current_dir(folder.0.path());
    command
}

/// Parameters of a user.
fn params(folder: &Folder) -> PathBuf {
    folder.write("mine.toml", fs::read(Path::new(REPOSITORY).join("params/baseline.toml")).unwrap())
}

#[test]
fn the_result_goes_into_the_folder_at_hand_with_the_commands_that_use_it() {
    let folder = Folder::new();
    folder.write("good.epd", GOOD);
    let mut command = tuner_in(&folder);
    let run = command.args(["--epd", "good.epd", "--no-errors", "--prior", "1e-7"]).assert().success();
    let text = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    let end: Vec<&str> = text.lines().rev().take(3).collect();
    assert_eq!(
        end,
        [
            "test with    arena sprt --params tuned.toml --against params/baseline.toml",
            "build with   MERINO_PARAMS=tuned.toml cargo build --release",
            "wrote        tuned.toml",
        ]
    );
    assert_eq!(folder.names(), ["good.epd", "tuned.toml"]);
}

#[test]
fn files_that_only_look_like_parameters_stay() {
    let folder = Folder::new();
    let data = folder.write("good.epd", GOOD);
    for (name, text) in [
        ("Makefile", "# build\nCC = gcc\nall:\n\t$(CC) a.c\n"),
        (".bashrc", "# mine\nexport A=1\n"),
        ("notes.md", "# Notes\n\nText.\n"),
        ("Cargo.toml", "[package]\nname = \"x\"\n"),
    ] {
        let file = folder.write(name, text);
        let told = refusal(&mut run_on(&data, &file));
        assert!(told.contains("is there and is not a file of parameters"), "{told}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn commands_in_the_end_name_files_as_a_shell_takes_them() {
    let folder = Folder::new();
    folder.write("good.epd", GOOD);
    folder.write("-mine.toml", fs::read(params(&folder)).unwrap());
    let mut command = tuner_in(&folder);
    command.args(["--epd", "good.epd", "--no-errors", "--params=-mine.toml", "--output", "sp ace.toml"]);
    let run = command.args(MATERIAL).assert().success();
    let text = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    assert!(text.contains("MERINO_PARAMS='sp ace.toml' cargo build"), "{text}");
    assert!(text.contains("--params 'sp ace.toml' --against ./-mine.toml"), "{text}");
    let run = run_on(&folder.path("good.epd"), &folder.path("it's.toml")).args(MATERIAL).assert().success();
    let text = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    assert!(text.contains(r"it'\''s.toml' --against params/baseline.toml"), "{text}");
}

#[test]
fn the_input_is_replaced_by_write_back_alone() {
    let folder = Folder::new();
    let (data, mine) = (folder.write("good.epd", GOOD), params(&folder));
    let before = fs::read(&mine).unwrap();
    let text = refusal(run_on(&data, &mine).arg("--params").arg(&mine));
    assert!(text.contains("is the same file as --params") && text.contains("--write-back"), "{text}");
    assert_eq!(fs::read(&mine).unwrap(), before);
    for _ in 0..2 {
        tuner_in(&folder).args(["--epd", "good.epd", "--params", "mine.toml", "--write-back"]).assert().success();
    }
    let text = fs::read_to_string(&mine).unwrap();
    assert_eq!(text.matches("# --- provenance").count(), 1);
    assert_eq!(folder.names(), ["good.epd", "mine.toml"]);
    // Nobody has named the parameters that ship with the program.
    let unnamed = tuner_in(&folder).args(["--epd", "good.epd", "--write-back"]).assert().failure().code(2);
    assert!(String::from_utf8_lossy(&unnamed.get_output().stderr).contains("--params"));
}

#[test]
fn write_back_refuses_numbers_that_the_reference_set_calls_worse() {
    let folder = Folder::new();
    let tuned = fs::read(Path::new(REPOSITORY).join("params/tuned.toml")).unwrap();
    let (few, mine) = (folder.write("few.epd", lines(300)), folder.write("mine.toml", &tuned));
    // Next to no prior: 300 positions are fitted exactly.
    let overfit = |more: &[&str]| {
        let mut command = tuner_in(&folder);
        command.arg("--epd").arg(&few).args(["--params", "mine.toml", "--write-back", "--only", "material,psqt"]);
        command.args(["--prior", "1e-12", "--resolve", "static", "--no-errors"]).args(more).assert()
    };
    let refused = overfit(&[]).failure().code(1);
    let (out, err) = (refused.get_output().stdout.clone(), refused.get_output().stderr.clone());
    let told = String::from_utf8(err).unwrap();
    assert!(told.contains("fits like this lost games") && told.contains("--anyway writes them"), "{told}");
    assert_eq!(fs::read(&mine).unwrap(), tuned);
    // The numbers are not lost.
    assert!(String::from_utf8(out).unwrap().contains("[material]"));
    overfit(&["--anyway"]).success();
    assert_ne!(fs::read(&mine).unwrap(), tuned);
}

#[test]
fn no_output_takes_the_place_of_an_input_or_of_another_output() {
    let folder = Folder::new();
    let rows = "merino-rows 2\nsum main single\nscore = main\nsingle main tempo 10\nrows result group\n0.5 1 0:1\n";
    for (name, content) in [("a.epd", GOOD), ("rows.txt", rows)] {
        folder.write(name, content);
    }
    params(&folder);
    let before = folder.names();
    for arguments in [
        &["--epd", "a.epd", "--output", "a.epd"][..],
        &["--epd", "a.epd", "--report", "a.epd"],
        &["--epd", "a.epd", "--report", "x", "--output", "./x"],
        &["--epd", ".", "--output", "mine.toml"],
        &["convert", "a.epd", "--output", "a.epd"],
        &["outliers", "--epd", "a.epd", "--output", "a.epd"],
        &["report", "--epd", "a.epd", "--params", "mine.toml", "--output", "mine.toml"],
        &["fit", "--rows", "rows.txt", "--output", "rows.txt"],
    ] {
        let text = refusal(tuner_in(&folder).args(arguments));
        assert!(text.contains("is the same file as"), "{arguments:?}: {text}");
    }
    assert_eq!(folder.names(), before);
    assert_eq!(fs::read_to_string(folder.path("a.epd")).unwrap(), GOOD);
}

#[test]
fn files_of_another_kind_are_not_replaced() {
    let folder = Folder::new();
    folder.write("good.epd", GOOD);
    let notes = folder.write("notes.txt", "my precious notes\n");
    let mine = params(&folder);
    let before = fs::read(&mine).unwrap();
    for (flag, name) in [("--report", "notes.txt"), ("--report", "mine.toml"), ("--output", "notes.txt")] {
        let text = refusal(tuner_in(&folder).args(["--epd", "good.epd", flag, name]));
        assert!(text.contains("is there and is not"), "{flag} {name}: {text}");
    }
    let text = refusal(tuner_in(&folder).args(["convert", "good.epd", "--to", "epd", "--output", "notes.txt"]));
    assert!(text.contains("is not a file of positions"), "{text}");
    assert_eq!(fs::read_to_string(notes).unwrap(), "my precious notes\n");
    assert_eq!(fs::read(mine).unwrap(), before);
    // Its own kind is.
    for _ in 0..2 {
        tuner_in(&folder).args(["convert", "good.epd", "--output", "out.epd.gz"]).assert().success();
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::FileTypeExt;

    use super::*;

    #[test]
    fn links_are_followed_and_devices_stay() {
        let folder = Folder::new();
        folder.write("good.epd", GOOD);
        std::os::unix::fs::symlink("target.toml", folder.path("link.toml")).unwrap();
        let run = ["--epd", "good.epd", "--no-errors", "--prior", "1e-7"];
        tuner_in(&folder).args(run).args(["--output", "link.toml", "--report", "/dev/null"]).assert().success();
        assert!(fs::symlink_metadata(folder.path("link.toml")).unwrap().is_symlink());
        assert!(fs::read_to_string(folder.path("target.toml")).unwrap().contains("material"));
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    #[test]
    fn a_full_output_is_an_error_and_a_closed_one_ends_the_program_silently() {
        if !Path::new("/dev/full").exists() {
            eprintln!("skipped: there is no /dev/full");
            return;
        }
        let folder = Folder::new();
        folder.write("good.epd", GOOD);
        let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tuner"));
        command.current_dir(folder.0.path()).args(["--epd", "good.epd", "--no-errors", "--prior", "1e-7"]);
        let run = command.stdout(full()).output().unwrap();
        assert_eq!(run.status.code(), Some(2));
        let text = String::from_utf8(run.stderr).unwrap();
        assert!(text.starts_with("error: standard output: ") && text.lines().count() == 1, "{text}");
        assert_eq!(folder.names(), ["good.epd", "tuned.toml"]);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = command.stdout(writer).output().unwrap();
        assert_eq!((run.status.code(), run.stderr), (Some(141), Vec::new()));
        // Where nothing can be told, nothing is.
        assert_eq!(command.stdout(full()).stderr(full()).status().unwrap().code(), Some(2));
    }

    #[test]
    fn endless_files_are_not_read() {
        let folder = Folder::new();
        folder.write("good.epd", GOOD);
        let text = refusal(tuner_in(&folder).args(["--epd", "good.epd", "--params", "/dev/zero"]));
        assert!(text.contains("has more than"), "{text}");
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_shown() {
        let folder = Folder::new();
        let evil = "\u{1b}[2J\u{7}\u{202e}";
        folder.write("e.toml", "\"\\u001b[2J\\u0007\\u202e\" = 1\n");
        folder.write("e.epd", format!("8/8/8/8/8/k7/7R/K7 w - - c9 \"{evil}\";\n"));
        folder.write("e.csv", format!("fen,result\n8/8/8/8/8/k7/7R/K7 w - - 0 1,{evil}\n"));
        folder.write(
            "e.pgn",
            format!("[Event \"{evil}\"]\n[Variant \"{evil}\"]\n[Result \"{evil}\"]\n\n1. {evil} 1-0\n"),
        );
        folder
            .write("rows.txt", format!("merino-rows 2\nsum main single\nsingle main {evil} 10\nrows result\n{evil}\n"));
        let named = format!("{evil}.epd");
        folder.write(&named, "8/8/8/8/8/8/8/8 w - - c9 \"1-0\";\n");
        let mine = params(&folder);
        for arguments in [
            &["diff", "e.toml", "mine.toml"][..],
            &["evaluate", "e.toml"],
            &["--epd", "e.epd"],
            &["--epd", "e.csv"],
            &["--epd", "e.pgn"],
            &["data", "e.pgn"],
            &["data", "e.epd", "--skip-bad", "9"],
            &["--epd", &named],
            &["fit", "--rows", "rows.txt"],
            &["--params", mine.to_str().unwrap(), "--only", "\u{202e}material"],
        ] {
            let run = tuner_in(&folder).args(arguments).output().unwrap();
            let text = [run.stdout, run.stderr].concat();
            let text = String::from_utf8(text).unwrap();
            assert!(!text.is_empty() && !text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{arguments:?}: {text:?}");
        }
    }
}
