//! A step that another program does: its output goes to a log, its progress to the screen.

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use arena::schedule::Stop;
use common::note;
use tools::children::ProcessGroup;

/// How often it is looked whether the program has ended.
const PAUSE: Duration = Duration::from_millis(20);

/// What a program came to.
pub(super) struct Ended {
    /// Its standard output.
    pub(super) output: String,
    pub(super) seconds: f64,
}

/// Runs a program to its end; nothing if `stop` was requested meanwhile, which it is told as by Ctrl-C.
///
/// Its standard error is that of the arena where this is a terminal, so that it can draw. Elsewhere lines of it are
/// printed and logged. Those of standard output are logged in any case, and printed unless they are an object of JSON.
pub(super) fn run(program: &Path, words: &[String], log: &Path, stop: &Stop) -> Result<Option<Ended>> {
    let file = Mutex::new(File::create(log).with_context(|| log.display().to_string())?);
    let errors = if std::io::stderr().is_terminal() { Stdio::inherit() } else { Stdio::piped() };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors);
    let started = Instant::now();
    let mut group = ProcessGroup::spawn(&mut command).with_context(|| program.display().to_string())?;
    let (output, errors) = (group.child().stdout.take(), group.child().stderr.take());
    let mut was_told = false;
    let (output, status) = std::thread::scope(|scope| {
        scope.spawn(|| errors.map(|errors| copy(errors, &file)));
        let output = scope.spawn(|| output.map_or_else(String::new, |output| copy(output, &file)));
        while !group.has_ended() {
            if stop.is_requested() && !was_told {
                was_told = true;
                group.interrupt();
            }
            std::thread::sleep(PAUSE);
        }
        // Children that it left behind hold the pipes.
        let status = group.kill();
        (output.join().unwrap_or_default(), status)
    });
    let seconds = started.elapsed().as_secs_f64();
    match status {
        _ if stop.is_requested() => Ok(None),
        Some(status) if status.success() => Ok(Some(Ended { output, seconds })),
        status => {
            let ended = status.map_or_else(|| "was lost".to_owned(), |status| format!("ended with {status}"));
            bail!("{} {ended}; {} has what it printed", program.display(), log.display())
        }
    }
}

/// Copies lines to a log and to the screen, until the end; returns them.
fn copy(from: impl Read, log: &Mutex<File>) -> String {
    let (mut from, mut line, mut text) = (BufReader::new(from), Vec::new(), String::new());
    while from.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        let words = String::from_utf8_lossy(&line);
        text.push_str(&words);
        if !text.starts_with('{') {
            note!("  {}", words.trim_end());
        }
        if let Ok(mut log) = log.lock() {
            // The log is for people; the step does without.
            let _ = log.write_all(&line);
        }
        line.clear();
    }
    text
}
