//! The command lines that the documents show, for the tests: each package runs those of its program.
//!
//! A command stands in a block of code and begins with a word of [`COMMANDS`]. Every one of them is run, or it is among
//! [`NOT_RUN`] with the reason: a new example cannot slip in.

use std::fs;
use std::path::{Path, PathBuf};

/// The repository.
pub(crate) const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// What commands begin with, assignments to variables aside.
const COMMANDS: [&str; 8] = ["tuner", "arena", "merino", "cargo", "make", "mpirun", "docker", "data/fetch"];

/// The programs whose commands are run by the tests of their packages.
const PROGRAMS: [&str; 3] = ["tuner", "arena", "merino"];

/// What commands that no test runs begin with, and why.
const NOT_RUN: [(&str, &str); 11] = [
    ("cargo test", "this is such a run"),
    ("cargo build", "minutes; every test is built by one"),
    ("cargo bench", "minutes, and figures that no test can judge"),
    ("cargo run --release -p merino-engine --example openings", "twelve minutes"),
    ("cargo run --release -p merino-arena --example simulate_spsa", "half a minute; tests/spsa runs a part of it"),
    ("make", "builds a release in minutes, and `make all` is what `cargo build` is"),
    ("data/fetch", "needs the network; tuner/tests/program/fetch.rs has it fetch from this machine"),
    ("tuner evaluate --engine", "needs engines; tuner/tests/program/asked.rs has two compared"),
    ("tuner --engine", "needs an engine; tuner/tests/program/kit.rs builds one and has it asked"),
    ("arena loop night.toml", "takes a night; arena/tests/matches/looping.rs runs loops"),
    ("mpirun", "needs an MPI library; tuner/tests/program/mpi.rs does it where there is one"),
];

/// A command that a document shows.
#[derive(Debug)]
pub(crate) struct Example {
    /// The document, relative to the repository.
    pub(crate) file: PathBuf,
    /// The line, from 1.
    pub(crate) line: usize,
    /// The whole command.
    pub(crate) text: String,
    /// The words behind the name of the program, quotation marks removed.
    pub(crate) arguments: Vec<String>,
}

impl Example {
    /// The argument that says what a program is to do, if there is one.
    pub(crate) fn subcommand(&self) -> Option<&str> {
        self.arguments.first().map(String::as_str).filter(|word| !word.starts_with('-'))
    }

    /// Gives a flag another value than the document does, or gives it at all.
    pub(crate) fn set(&mut self, flag: &str, value: &str) {
        match self.arguments.iter().position(|word| word == flag) {
            Some(index) => self.arguments[index + 1] = value.to_owned(),
            None => self.arguments.extend([flag.to_owned(), value.to_owned()]),
        }
    }

    /// Whether a flag is given.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.arguments.iter().any(|word| word == flag)
    }

    /// Where it stands, and what it is: for messages.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}: {}", self.file.display(), self.line, self.text)
    }
}

/// The documents, relative to the repository, in a fixed order.
fn documents() -> Vec<PathBuf> {
    let pages = fs::read_dir(Path::new(REPOSITORY).join("docs")).unwrap();
    let pages = pages.map(|entry| Path::new("docs").join(entry.unwrap().file_name()));
    let mut files: Vec<PathBuf> = pages.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    files.sort();
    files.extend(["README.md", "CONTRIBUTING.md", "data/README.md", "params/README.md"].map(PathBuf::from));
    files.retain(|file| Path::new(REPOSITORY).join(file).exists());
    files
}

/// The words of a command, as a shell divides them; a comment ends it.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for char in text.chars() {
        match char {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(char),
        }
    }
    assert!(!quoted, "{text}");
    words.retain(|word| !word.is_empty());
    let end = words.iter().position(|word| word == "#").unwrap_or(words.len());
    words.truncate(end);
    words
}

/// The command on a line of a block of code, without what is assigned to variables.
fn command(line: &str) -> Option<&str> {
    let mut rest = line.trim_start_matches("$ ");
    while let Some((word, after)) = rest.split_once(' ')
        && word
            .split_once('=')
            .is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'))
    {
        rest = after.trim_start();
    }
    COMMANDS.contains(&rest.split_whitespace().next()?).then_some(rest)
}

/// All commands of a document, those that no test runs too.
fn commands_of(file: &Path) -> Vec<(usize, String)> {
    let text = fs::read_to_string(Path::new(REPOSITORY).join(file)).unwrap();
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut fenced, mut goes_on) = (false, false);
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            fenced = !fenced;
        } else if goes_on {
            let whole = &mut found.last_mut().unwrap().1;
            whole.pop();
            whole.push_str(trimmed);
        } else if (fenced || line.starts_with("    "))
            && let Some(command) = command(trimmed)
        {
            found.push((index + 1, command.to_owned()));
        } else {
            continue;
        }
        goes_on = trimmed.ends_with('\\');
    }
    found
}

fn is_excused(text: &str) -> bool {
    NOT_RUN.iter().any(|(start, _)| text.starts_with(start))
}

/// The command that builds and runs a program.
fn by_cargo(program: &str) -> String {
    format!("cargo run --release -p merino-{program}")
}

/// The commands of a program that are to be run, document by document: those of one in their order.
pub(crate) fn examples_of(program: &str) -> Vec<Vec<Example>> {
    let by_cargo = by_cargo(program);
    let of_document = |file: PathBuf| {
        let commands = commands_of(&file).into_iter().filter(|(_, text)| !is_excused(text));
        let examples = commands.filter_map(|(line, text)| {
            let words = words(&text);
            let arguments = if words[0] == program {
                words[1..].to_vec()
            } else if text.starts_with(&by_cargo) {
                words[5..].iter().skip_while(|word| *word == "--").cloned().collect()
            } else {
                return None;
            };
            Some(Example { file: file.clone(), line, text, arguments })
        });
        examples.collect::<Vec<_>>()
    };
    documents().into_iter().map(of_document).filter(|examples| !examples.is_empty()).collect()
}

/// Checks that every command is run by a test or excused, and that every excuse is needed.
pub(crate) fn check_all() {
    let mut all: Vec<(PathBuf, usize, String)> = Vec::new();
    for file in documents() {
        all.extend(commands_of(&file).into_iter().map(|(line, text)| (file.clone(), line, text)));
    }
    for (file, line, text) in &all {
        let is_run = PROGRAMS.iter().any(|program| words(text)[0] == *program || text.starts_with(&by_cargo(program)));
        assert!(is_run || is_excused(text), "{}:{line}: no test runs `{text}`", file.display());
    }
    for (start, reason) in NOT_RUN {
        assert!(all.iter().any(|(_, _, text)| text.starts_with(start)), "no document shows `{start}` ({reason})");
    }
}
