//! A step that another program does: its output goes to a log, its progress to the screen.

use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use arena::schedule::Stop;
use arena::uci_client::shortened;
use common::note;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tools::children::ProcessGroup;

/// The interval between checks whether the program has ended.
const PAUSE: Duration = Duration::from_millis(20);
/// The longest time for which output is read after the end of the program.
const AFTER_END: Duration = Duration::from_secs(2);
/// The bytes of a line that are handled together.
const LONGEST_LINE: usize = 1 << 16;
/// The bytes of its output that are kept; no object of JSON is longer.
const MOST_OUTPUT: usize = 1 << 22;

/// The result of a program.
pub(super) struct Ended {
    /// Its standard output.
    pub(super) output: String,
    pub(super) seconds: f64,
}

/// Runs a program to its end. If `stop` is requested meanwhile, sends it the signal of Ctrl-C and returns `None`.
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
    let (mut was_told, ended) = (false, OnceLock::new());
    let (output, status) = std::thread::scope(|scope| {
        scope.spawn(|| errors.map(|errors| copy(errors, &file, &ended)));
        let output = scope.spawn(|| output.map_or_else(String::new, |output| copy(output, &file, &ended)));
        while !group.has_ended() {
            if stop.is_requested() && !was_told {
                was_told = true;
                group.interrupt();
            }
            std::thread::sleep(PAUSE);
        }
        // Children that it left behind hold the pipes. Those that left its group, too, are not killed.
        let status = group.kill();
        ended.get_or_init(Instant::now);
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

/// Copies what a program prints to a log and to the screen, until its end; returns it, or its beginning. `ended` is when
/// the program ended: processes that it leaves behind may hold its output open.
fn copy(mut from: impl Read + AsFd, log: &Mutex<File>, ended: &OnceLock<Instant>) -> String {
    let (mut chunk, mut line, mut text) = ([0; 1 << 14], Vec::new(), String::new());
    let wait = Timespec { tv_sec: 0, tv_nsec: PAUSE.subsec_nanos().into() };
    let mut is_rest = false;
    let mut end = |line: &mut Vec<u8>, is_whole: bool| {
        let words = String::from_utf8_lossy(line);
        if text.len() < MOST_OUTPUT {
            text.push_str(&words);
        }
        if !is_rest && !text.starts_with('{') {
            note!("  {}", shortened(words.trim_end()));
        }
        is_rest = !is_whole;
        if let Ok(mut log) = log.lock() {
            // The log is for people; the step does without.
            let _ = log.write_all(line);
        }
        line.clear();
    };
    loop {
        let is_late = ended.get().is_some_and(|at| at.elapsed() > AFTER_END);
        match poll(&mut [PollFd::new(&from, PollFlags::IN)], Some(&wait)) {
            Ok(ready) if is_late || ready == 0 && ended.get().is_some() => break,
            Ok(0) | Err(Errno::INTR) => continue,
            Ok(_) => {}
            Err(_) => break,
        }
        let Ok(count @ 1..) = from.read(&mut chunk) else { break };
        for part in chunk[..count].split_inclusive(|&byte| byte == b'\n') {
            line.extend_from_slice(part);
            let is_whole = part.ends_with(b"\n");
            if is_whole || line.len() > LONGEST_LINE {
                end(&mut line, is_whole);
            }
        }
    }
    if !line.is_empty() {
        end(&mut line, true);
    }
    text
}
