//! What the tests of the program share.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;

pub(crate) const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Positions with a pawn more for the side that won, one an ending known by rule: enough to fit K and move some
/// parameters.
pub(crate) const GOOD: &str = "\
4k3/7p/8/8/8/8/PP5P/4K3 w - - c9 \"1-0\";
4k3/pp5p/8/8/8/8/7P/4K3 b - - c9 \"0-1\";
4k3/p6p/8/8/8/8/P6P/4K3 w - - 0 1 c9 \"1/2-1/2\";
4k3/7p/8/8/8/8/P6P/4K3 w - - 12 60 c9 \"1/2-1/2\";
4k3/8/8/3n4/8/8/8/4K3 b - - c9 \"0-1\";
r3k3/7p/8/8/8/8/7P/4K3 w - - c9 \"1/2-1/2\";
";

/// Arguments of a run on them whose data matter, not how many parameters it moves: all of them take far longer.
pub(crate) const MATERIAL: [&str; 4] = ["--only", "material", "--prior", "1e-9"];

/// About so many lines of the embedded positions, evenly spread.
pub(crate) fn lines(count: usize) -> String {
    let packed = fs::read(Path::new(REPOSITORY).join("data/quiet.epd.zst")).unwrap();
    let text = String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap();
    let stride = (text.lines().count() / count).max(1);
    text.lines().step_by(stride).flat_map(|line| [line, "\n"]).collect()
}

/// A file of about so many of the embedded positions in a folder, where there is none yet. To read all of them takes most
/// of a short run.
pub(crate) fn positions(folder: &Path, count: usize) -> PathBuf {
    let path = folder.join("positions.epd");
    if !path.exists() {
        fs::write(&path, lines(count)).unwrap();
    }
    path
}

/// A folder of its own for a test.
pub(crate) struct Folder(pub(crate) TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// The names in the folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub(crate) fn tuner() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tuner"));
    command.current_dir(REPOSITORY);
    command
}

pub(crate) fn run_on(data: &Path, output: &Path) -> Command {
    let mut command = tuner();
    // The few lines of these tests say little of anything.
    command.arg("--epd").arg(data).arg("--output").arg(output).args(["--min-seen", "0"]);
    command
}

/// Runs a command that must fail with status 2, write nothing to standard output, and say one line; returns the line.
pub(crate) fn refusal(command: &mut Command) -> String {
    let output = command.assert().failure().code(2).get_output().clone();
    assert!(output.stdout.is_empty());
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.trim_end().lines().count(), 1, "{text}");
    text.trim_end().to_owned()
}
