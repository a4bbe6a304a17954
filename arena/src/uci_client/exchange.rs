//! The exchange with engines: the last lines of each in memory, and all lines of all in a log.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Instant;

use common::note;
use common::text::escape;

use super::bounds::LastLines;

/// The beginning of a log, by which it is recognised.
pub const LOG_MARK: &str = "# arena log: ";

/// The lines of standard error that a message shows from each end; a report has its reason at one of them.
const SHOWN_ENDS: usize = 10;

/// The time from which log times count.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);
/// The log, if there is one.
static LOG: Mutex<Option<File>> = Mutex::new(None);

/// Logs all lines to and from the engines of this process, at the end of a file.
///
/// # Errors
/// If the file cannot be written.
pub fn log_to(path: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let version = env!("CARGO_PKG_VERSION");
    writeln!(
        file,
        "{LOG_MARK}version {version}; seconds, engine[process], game; > to the engine, < from it, ! its standard error"
    )?;
    LazyLock::force(&START);
    *LOG.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
    Ok(())
}

/// The direction of a line.
#[derive(Clone, Copy)]
pub(super) enum Direction {
    ToEngine = b'>' as isize,
    FromEngine = b'<' as isize,
    StandardError = b'!' as isize,
}

/// The last lines exchanged with one engine.
pub(super) struct Exchange {
    engine: String,
    game: Option<u32>,
    lines: LastLines,
    errors: LastLines,
}

impl Exchange {
    /// With the engine of this name and number of process.
    pub(super) fn new(name: &str, process: u32) -> Self {
        LazyLock::force(&START);
        let engine = format!("{}[{process}]", escape(name));
        Exchange { engine, game: None, lines: LastLines::default(), errors: LastLines::default() }
    }

    /// Forgets all lines: a game begins, of this number from 0.
    pub(super) fn begin_game(&mut self, number: u32) {
        (self.lines, self.errors) = Default::default();
        self.game = Some(number);
    }

    /// Adds a line that was sent or read at a time.
    pub(super) fn add(&mut self, direction: Direction, line: &str, at: Instant) {
        let seconds = at.saturating_duration_since(*START).as_secs_f64();
        let game = self.game.map_or_else(String::new, |number| format!(", game {}", u64::from(number) + 1));
        let (sign, text) = (direction as u8 as char, escape(line));
        let line = format!("{seconds:.6} {}{game} {sign} {text}", self.engine);
        log(&line);
        if matches!(direction, Direction::StandardError) {
            self.errors.push(text.into_owned());
        }
        self.lines.push(line);
    }

    /// The last lines, each with its time and direction.
    pub(super) fn text(&self) -> String {
        self.lines.lines().join("\n") + "\n"
    }

    /// The last lines of standard error, to be put behind a message; empty if there are none.
    pub(super) fn errors(&self) -> String {
        let lines: Vec<&str> =
            self.errors.lines().iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
        match &lines[..] {
            [] => String::new(),
            [line] => format!(", stderr: {line}"),
            all if all.len() <= 2 * SHOWN_ENDS => format!(", stderr:\n{}", all.join("\n")),
            all => {
                let (first, last) = (&all[..SHOWN_ENDS], &all[all.len() - SHOWN_ENDS..]);
                let left_out = all.len() - 2 * SHOWN_ENDS;
                format!(", stderr:\n{}\n… ({left_out} lines)\n{}", first.join("\n"), last.join("\n"))
            }
        }
    }
}

fn log(line: &str) {
    let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(Err(error)) = log.as_mut().map(|file| writeln!(file, "{line}")) {
        // The games do without it.
        note!("warning: the log ends here, as it cannot be written: {error}");
        *log = None;
    }
}
