//! The examples of the documents that are the arena's, with mock engines and few games.

#[path = "../../../docs/examples.rs"]
#[allow(dead_code, reason = "the tuner's tests check that no example is forgotten")]
mod examples;

use std::fs;
use std::io::Write;
use std::path::Path;

use assert_cmd::Command;
use examples::{Example, REPOSITORY, examples_of};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::support::{Arena, mock};

/// Flags that make a command quick, with their values.
fn quick(command: &str) -> &'static [(&'static str, &'static str)] {
    match command {
        "sprt" | "match" | "gauntlet" | "round-robin" => {
            &[("--games", "2"), ("--nodes", "50"), ("--max-plies", "6"), ("--concurrency", "2")]
        }
        "spsa" => &[("--pairs", "2"), ("--nodes", "50"), ("--max-plies", "6")],
        "datagen" => &[("--positions", "10"), ("--nodes", "50")],
        "relabel" => &[("--nodes", "50")],
        _ => &[],
    }
}

/// The exit statuses of commands that say more by them than whether all went well: undecided, and a mock engine that has
/// no options.
const STATUSES: [(&str, &[i32]); 2] = [("sprt", &[3]), ("check", &[0, 1])];

/// Games as another program may have played them.
const GAMES: &str = "[White \"new\"]\n[Black \"old\"]\n[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n\
                     [White \"old\"]\n[Black \"new\"]\n[Result \"1/2-1/2\"]\n\n1. e4 e5 1/2-1/2\n\n";

/// The engines that a command names.
fn engines(example: &Example) -> Vec<&str> {
    let described = example.arguments.iter().filter_map(|word| word.strip_prefix("cmd=")?.split(' ').next());
    let checked = example.arguments.get(1).filter(|_| example.subcommand() == Some("check"));
    described.chain(checked.map(String::as_str)).collect()
}

/// Takes options and arguments out of a description: the mock engine has none of the kind.
fn without_options(word: &str) -> String {
    word.split(' ')
        .filter(|word| !word.starts_with("option.") && !word.starts_with("args="))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Puts the mock engine where a command expects one.
fn bring(folder: &Arena, engine: &str) {
    let path = folder.path(engine);
    if !path.exists() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(mock(), path).unwrap();
    }
}

/// The settings below a command in the document of the arena.
fn settings_of(command: &str) -> Vec<String> {
    let text = fs::read_to_string(Path::new(REPOSITORY).join("docs/arena.md")).unwrap();
    let (_, below) = text.split_once(command).unwrap();
    let (_, settings) = below.split_once("```toml\n").unwrap();
    settings.lines().take_while(|line| *line != "```").map(str::to_owned).collect()
}

/// Those of `arena spsa`, for the mock engine, which has other options and no arguments.
fn tune_toml() -> String {
    let lines = settings_of("arena spsa tune.toml").into_iter();
    let known = lines.filter(|line| !line.starts_with("args") && !line.starts_with("option."));
    known.map(|line| line.replace("rfp_margin", "Y").replace("rfp_max_depth", "X") + "\n").collect()
}

/// A folder that has what a clone has, and games.
fn clone() -> Arena {
    let folder = Arena::new();
    for name in ["params", "data"] {
        fs::create_dir(folder.path(name)).unwrap();
    }
    for name in ["params/baseline.toml", "params/tuned.toml"] {
        fs::copy(Path::new(REPOSITORY).join(name), folder.path(name)).unwrap();
    }
    fs::write(folder.path("search.txt"), "X, int, 50, 0, 100, 10, 0\n").unwrap();
    fs::write(folder.path("tune.toml"), tune_toml()).unwrap();
    bring(&folder, "merino");
    // One position stands for what a clone has, and for what the tuner has written there, as its own document tells.
    for name in ["data/quiet.epd.zst", "data/openings.epd.zst", "drawn.epd", "g9s.epd", "both.epd", "found.epd"] {
        fs::write(folder.path(name), "4k3/8/8/8/8/8/4P3/4K3 w - - c9 \"1-0\"; ce 150;\n").unwrap();
    }
    fs::copy(Path::new(REPOSITORY).join("params/tuned.toml"), folder.path("tuned.toml")).unwrap();
    let mut packed = GzEncoder::new(fs::File::create(folder.path("games.pgn.gz")).unwrap(), Compression::fast());
    packed.write_all(GAMES.as_bytes()).unwrap();
    packed.finish().unwrap();
    bring(&folder, "path/merino");
    fs::write(folder.path("night.toml"), settings_of("arena loop night.toml").join("\n")).unwrap();
    // A dry run looks whether it is there.
    bring(&folder, "path/tuner");
    folder
}

#[test]
fn examples_run() {
    for document in examples_of("arena") {
        let folder = clone();
        for mut example in document {
            let command = example.subcommand().expect("a command").to_owned();
            // A game of six plies takes no time under any control, and there can be one limit only.
            let is_limited = example.has("--tc") || example.has("--depth");
            for (flag, value) in quick(&command).iter().filter(|(flag, _)| !(is_limited && *flag == "--nodes")) {
                example.set(flag, value);
            }
            for word in example.arguments.iter_mut().filter(|word| word.starts_with("cmd=")) {
                *word = without_options(word);
            }
            engines(&example).into_iter().for_each(|engine| bring(&folder, engine));
            let mut program = Command::new(env!("CARGO_BIN_EXE_arena"));
            program.current_dir(folder.folder.path()).env("PATH", folder.path("path"));
            let output = program.args(&example.arguments).output().unwrap();
            let expected = STATUSES.iter().find(|(of, _)| *of == command).map_or(&[0][..], |(_, statuses)| statuses);
            let errors = String::from_utf8_lossy(&output.stderr);
            let status = output.status.code();
            assert!(
                status.is_some_and(|status| expected.contains(&status)),
                "{}: {status:?}\n{errors}",
                example.place()
            );
        }
    }
}
