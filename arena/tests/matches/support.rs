//! What the tests of whole matches share: the mock engine and a folder to play in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Child, ExitStatus, Output, Stdio};
use std::time::Duration;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// The mock engine. A run of all tests builds it, a run of tests by name does not.
pub(crate) fn mock() -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.set_file_name("examples");
    path.push("mock_engine");
    assert!(path.exists(), "{}: `cargo build -p merino-arena --example mock_engine` builds it", path.display());
    path
}

/// Starts the arena with these arguments again and again, killing it after `pause` milliseconds of each attempt, until it
/// has come to its end; on a machine so slow that nothing is ever reached, the rest is played in peace.
pub(crate) fn kill_until_done(arena: &Arena, arguments: &[String], pause: impl Fn(u64) -> u64) {
    const MOST_KILLS: u64 = 30;
    let mut kills = 0;
    loop {
        let mut program = process::Command::new(env!("CARGO_BIN_EXE_arena"))
            .args(arguments)
            .current_dir(arena.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        if kills < MOST_KILLS {
            std::thread::sleep(Duration::from_millis(pause(kills)));
            program.kill().unwrap();
        }
        let code = program.wait().unwrap().code();
        if code == Some(0) {
            break;
        }
        assert!(kills < MOST_KILLS, "{code:?}");
        kills += 1;
    }
    assert!(kills > 0);
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
        // Engines that panic print as much everywhere.
        command.env_remove("RUST_BACKTRACE").current_dir(self.folder.path());
        command.args(self.arguments(behaviours)).args(more).output().unwrap()
    }

    /// What it wrote.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.path("out.json")).unwrap()).unwrap()
    }
}

/// Waits for a process; its status, and its peak memory in kilobytes where the system reports it.
pub(crate) fn peak_memory(child: &mut Child) -> (ExitStatus, Option<u64>) {
    let path = Path::new("/proc").join(child.id().to_string()).join("status");
    let resident = || {
        let status = fs::read_to_string(&path).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.split_ascii_whitespace().next()?.parse().ok()
    };
    let mut peak = None;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return (status, peak);
        }
        peak = peak.max(resident());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A process runs; one that has ended and was not yet waited for does not.
pub(crate) fn is_alive(pid: &str) -> bool {
    let status = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    let state = status.rsplit(')').next().and_then(|rest| rest.split_ascii_whitespace().next());
    state.is_some_and(|state| state != "Z")
}
