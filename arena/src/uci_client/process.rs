//! A child process with pipes: lines in and out under a deadline.

use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;

use super::EngineSpec;
use super::bounds::{LONGEST_LINE, LONGEST_TEXT};
use super::exchange::{Direction, Exchange};
use tools::children::ProcessGroup;

/// A wait is made of pieces as long as this at most.
const SLICE: Duration = Duration::from_millis(100);
/// A piece that lasts so much longer was not waited: this program was stopped, as by Ctrl-Z or with its container.
const STOPPED: Duration = Duration::from_millis(500);

/// Time to end after `quit`.
const QUIT_TIMEOUT: Duration = Duration::from_millis(500);

/// The result of waiting for a line.
pub(super) enum ReadOutcome {
    /// A line without blanks around it, and when it was read.
    Line(String, Instant),
    /// TimedOut until the deadline.
    TimedOut,
    /// The engine has ended or closed its output.
    Closed,
}

/// An engine's process, in a process group of its own.
pub(super) struct Process {
    group: ProcessGroup,
    /// Until it is closed.
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    /// Bytes read; those from `start` on are unprocessed, with no line end before `scanned`.
    buffer: Vec<u8>,
    start: usize,
    scanned: usize,
    /// When the last bytes of the buffer were read, by [`Process::now`].
    read_at: Instant,
    /// The time for which this program was stopped while it waited.
    stopped: Duration,
    /// The beginning of a line of standard error.
    stderr_line: Vec<u8>,
    exchange: Exchange,
}

/// A clearer error for a failed start: the system reports "permission denied" for directories and plain files alike, and
/// a missing folder as a missing program.
fn spawn_error(command: &Path, dir: Option<&Path>, error: io::Error) -> io::Error {
    let kind = error.kind();
    if let Some(dir) = dir.filter(|dir| !dir.is_dir()) {
        io::Error::new(kind, format!("its folder {} is not there", dir.display()))
    } else if command.is_dir() {
        io::Error::new(kind, "is a directory")
    } else if kind == io::ErrorKind::PermissionDenied {
        io::Error::new(kind, format!("may not be executed ({error})"))
    } else {
        error
    }
}

impl Process {
    /// Starts the program of an engine.
    pub(super) fn spawn(spec: &EngineSpec) -> io::Result<Self> {
        let mut command = Command::new(&spec.command);
        command.args(&spec.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(dir) = &spec.dir {
            command.current_dir(dir);
        }
        let mut group = ProcessGroup::spawn(&mut command)
            .map_err(|error| spawn_error(&spec.command, spec.dir.as_deref(), error))?;
        let child = group.child();
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the child has no pipes"));
        };
        // Writing must not block beyond a deadline.
        ioctl_fionbio(&stdin, true)?;
        let stderr = child.stderr.take();
        let exchange = Exchange::new(&spec.name, child.id());
        let read_at = Instant::now();
        let (buffer, stderr_line) = (Vec::new(), Vec::new());
        Ok(Process {
            group,
            stdin: Some(stdin),
            stdout,
            stderr,
            buffer,
            start: 0,
            scanned: 0,
            read_at,
            stopped: Duration::ZERO,
            stderr_line,
            exchange,
        })
    }

    /// The time by which deadlines are set: it stands still while this program is stopped.
    pub(super) fn now(&self) -> Instant {
        let now = Instant::now();
        now.checked_sub(self.stopped).unwrap_or(now)
    }

    /// Sends whole lines; fails if the pipe is closed, or full until the deadline ([`io::ErrorKind::TimedOut`]).
    pub(super) fn send(&mut self, lines: &str, deadline: Instant) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut left = lines.as_bytes();
        while !left.is_empty() {
            match stdin.write(left) {
                Ok(count) => left = &left[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let mut fds = [PollFd::new(stdin, PollFlags::OUT)];
                    if !wait(&mut fds, deadline, &mut self.stopped)? {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        let sent_at = Instant::now();
        lines.lines().for_each(|line| self.exchange.add(Direction::ToEngine, line, sent_at));
        Ok(())
    }

    /// The last lines exchanged with it.
    pub(super) fn exchange(&mut self) -> &mut Exchange {
        &mut self.exchange
    }

    /// Closes its input: it reads the end of the file.
    pub(super) fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Returns true if the program has ended; its number stays taken.
    pub(super) fn has_ended(&self) -> bool {
        self.group.has_ended()
    }

    /// Waits for a line until the deadline. A line that was read later does not count: it is handed out by the next call.
    pub(super) fn line(&mut self, deadline: Instant) -> ReadOutcome {
        loop {
            if let Some(end) = self.line_end() {
                if self.read_at > deadline {
                    return ReadOutcome::TimedOut;
                }
                let line = &self.buffer[self.start..end];
                let text = String::from_utf8_lossy(line.trim_ascii()).into_owned();
                self.start = end + 1;
                self.scanned = self.start;
                self.exchange.add(Direction::FromEngine, &text, self.read_at + self.stopped);
                return ReadOutcome::Line(text, self.read_at);
            }
            match self.read_more(deadline) {
                Ok(true) => {}
                Ok(false) => return ReadOutcome::TimedOut,
                Err(_) => return ReadOutcome::Closed,
            }
        }
    }

    fn line_end(&mut self) -> Option<usize> {
        let found = self.buffer[self.scanned..].iter().position(|&byte| byte == b'\n');
        match found {
            Some(at) => Some(self.scanned + at),
            None => {
                self.buffer.drain(..self.start);
                self.start = 0;
                if self.buffer.len() > LONGEST_LINE {
                    self.buffer.clear();
                }
                self.scanned = self.buffer.len();
                None
            }
        }
    }

    /// Waits for bytes and reads them; `false` at the deadline, an error at the end of the output.
    fn read_more(&mut self, deadline: Instant) -> io::Result<bool> {
        let (output_ready, errors_ready) = {
            let mut fds = vec![PollFd::new(&self.stdout, PollFlags::IN)];
            fds.extend(self.stderr.as_ref().map(|stderr| PollFd::new(stderr, PollFlags::IN)));
            if !wait(&mut fds, deadline, &mut self.stopped)? {
                return Ok(false);
            }
            (!fds[0].revents().is_empty(), fds.get(1).is_some_and(|fd| !fd.revents().is_empty()))
        };
        if errors_ready {
            self.read_stderr();
        }
        if output_ready {
            let mut chunk = [0; 1 << 14];
            let count = self.stdout.read(&mut chunk)?;
            self.read_at = self.now();
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.buffer.extend_from_slice(&chunk[..count]);
        }
        Ok(true)
    }

    fn read_stderr(&mut self) {
        let mut chunk = [0; 1 << 12];
        match self.stderr.as_mut().map(|stderr| stderr.read(&mut chunk)) {
            Some(Ok(count)) if count > 0 => {
                for part in chunk[..count].split_inclusive(|&byte| byte == b'\n') {
                    let room = LONGEST_TEXT - self.stderr_line.len();
                    self.stderr_line.extend_from_slice(&part[..part.len().min(room)]);
                    if part.ends_with(b"\n") {
                        self.end_stderr_line();
                    }
                }
            }
            _ => {
                self.stderr = None;
                self.end_stderr_line();
            }
        }
    }

    fn end_stderr_line(&mut self) {
        let line = std::mem::take(&mut self.stderr_line);
        let text = String::from_utf8_lossy(line.trim_ascii_end());
        if !text.is_empty() {
            self.exchange.add(Direction::StandardError, &text, Instant::now());
        }
    }

    /// Reads the last messages, which are still in the pipe; the bound guards against a flood. Returns them for a message.
    pub(super) fn last_errors(&mut self) -> String {
        for _ in 0..64 {
            if !self.has_stderr() {
                break;
            }
            self.read_stderr();
        }
        self.end_stderr_line();
        self.exchange.errors()
    }

    /// Kills the process if it has not ended by itself; returns its status and the last lines of its standard error.
    pub(super) fn end(&mut self) -> ExitInfo {
        // An engine that closed its output is about to end: wait for its own exit status.
        let deadline = self.now() + QUIT_TIMEOUT;
        while !self.has_ended() && self.now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        let has_ended = self.has_ended();
        let stderr = self.last_errors();
        let ended = match self.kill() {
            Some(status) if has_ended => status.to_string(),
            _ => "killed".to_owned(),
        };
        ExitInfo { ended, stderr }
    }

    fn has_stderr(&self) -> bool {
        let Some(stderr) = &self.stderr else { return false };
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        matches!(poll(&mut [PollFd::new(stderr, PollFlags::IN)], Some(&now)), Ok(1))
    }

    /// Sends `quit`, and kills the process if it does not end.
    pub(super) fn quit(&mut self) {
        let deadline = self.now() + QUIT_TIMEOUT;
        if self.send("quit\n", deadline).is_ok() {
            while let ReadOutcome::Line(..) = self.line(deadline) {}
        }
        self.kill();
    }

    /// Kills the process and all its children; how it ended, the first time.
    pub(super) fn kill(&mut self) -> Option<ExitStatus> {
        self.group.kill()
    }
}

/// Waits for pipes until the deadline on the clock that is behind by `stopped`, to which it adds; `false` if none is
/// ready by then.
fn wait(fds: &mut [PollFd<'_>], deadline: Instant, stopped: &mut Duration) -> io::Result<bool> {
    loop {
        let asked = Instant::now();
        let left = (deadline + *stopped).saturating_duration_since(asked);
        let slice = left.min(SLICE);
        let found = poll(fds, Some(&Timespec { tv_sec: 0, tv_nsec: slice.subsec_nanos().into() }));
        let longer = asked.elapsed().saturating_sub(slice);
        if longer > STOPPED {
            *stopped += longer;
        }
        match found {
            Ok(0) if left > slice => {}
            Ok(0) => return Ok(false),
            Ok(_) | Err(rustix::io::Errno::INTR) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}

/// The end of an engine's process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExitInfo {
    /// The status of its process, in words.
    pub ended: String,
    /// The last lines of its standard error, as they follow the status in a message, or nothing.
    pub stderr: String,
}

impl fmt::Display for ExitInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.ended, self.stderr)
    }
}
