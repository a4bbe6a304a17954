//! What the tests of whole matches share: the mock engine and a folder to play in.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// The mock engine, which is built with the tests.
pub(crate) fn mock() -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.set_file_name("examples");
    path.push("mock_engine");
    assert!(path.exists(), "{}: is built by `cargo test -p merino-arena`", path.display());
    path
}

/// A folder with a small book, for one match.
pub(crate) struct Arena {
    /// Gone when dropped.
    pub(crate) folder: TempDir,
}

impl Arena {
    /// An empty folder with a book.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let book = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n\
                    rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n";
        fs::write(folder.path().join("book.epd"), book).unwrap();
        Arena { folder }
    }

    /// A file in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The arguments of a match of an honest engine against one with these behaviours, each in the words of a description.
    pub(crate) fn arguments(&self, behaviours: &str) -> Vec<String> {
        let engine = |name: &str, words: &str| format!("\"cmd={}\" name={name} {words}", mock().display());
        let files = ["match", "--openings", "book.epd", "--json", "out.json", "--pgn", "out.pgn"];
        let engines = ["--engine".to_owned(), engine("honest", ""), "--engine".to_owned(), engine("mock", behaviours)];
        files.map(str::to_owned).into_iter().chain(engines).collect()
    }

    /// Plays such a match.
    pub(crate) fn play(&self, behaviours: &str, more: &[&str]) -> Output {
        let mut command = Command::cargo_bin("arena").unwrap();
        command.current_dir(self.folder.path()).args(self.arguments(behaviours)).args(more).output().unwrap()
    }

    /// What it wrote.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.path("out.json")).unwrap()).unwrap()
    }
}
