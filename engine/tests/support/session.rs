//! A UCI session with the program as its users run it.
#![allow(dead_code, reason = "no test uses all of it")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use assert_cmd::cargo::CommandCargoExt;

/// How long a test waits for a line that never comes.
const PATIENCE: Duration = Duration::from_secs(20);

/// The program `merino` at work.
pub(crate) struct Engine {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Engine {
    /// Starts it with command line arguments.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut command = Command::cargo_bin("merino").unwrap();
        command.args(arguments);
        Engine::run(command)
    }

    /// Starts it with no more than so many kibibytes of address space, stacks of threads included.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_confined(kibibytes: u32, arguments: &[&str]) -> Self {
        let mut command = Command::new("sh");
        let script = format!("ulimit -v {kibibytes}; exec \"$0\" \"$@\"");
        command.args(["-c", &script]).arg(assert_cmd::cargo::cargo_bin("merino")).args(arguments);
        Engine::run(command)
    }

    fn run(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let input = child.stdin.take();
        Engine { child, input, lines }
    }

    /// Sends a line.
    pub(crate) fn send(&mut self, text: &str) {
        self.send_bytes(format!("{text}\n").as_bytes());
    }

    /// Sends bytes as they are.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Every line up to and including the first that begins with `start`.
    pub(crate) fn until(&mut self, start: &str) -> Vec<String> {
        let mut seen = Vec::new();
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no `{start}` after {seen:?}"));
            seen.push(line);
            if seen.last().is_some_and(|line| line.starts_with(start)) {
                return seen;
            }
        }
    }

    /// Sends a command and returns the first line that begins with `start`.
    pub(crate) fn answer(&mut self, command: &str, start: &str) -> String {
        self.send(command);
        self.until(start).pop().unwrap()
    }

    /// Ends the input and returns every line up to the last.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        drop(self.input.take());
        std::iter::from_fn(|| self.lines.recv_timeout(PATIENCE).ok()).collect()
    }

    /// Ends the input and sees the program end by itself.
    pub(crate) fn end(mut self) {
        drop(self.input.take());
        let start = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < PATIENCE, "the program does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
