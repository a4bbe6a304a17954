//! A panic in a thread of the search ends the program. The program is this test's own, run once more.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use engine::chess::{Game, Position};
use engine::panic::abort_on_panic;
use engine::search::{Handler, Info, Limits, Searcher};

struct Broken;

impl Handler for Broken {
    fn line(&mut self, _info: &Info<'_>) {
        panic!("a broken handler");
    }
}

/// Waits, as the UCI loop does, for a search that will never say it is done.
#[test]
#[ignore = "run by the test below"]
fn wait_for_a_search_that_panics() {
    abort_on_panic();
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    let search = sender.clone();
    std::thread::spawn(move || {
        let mut searcher = Searcher::new(1).unwrap();
        searcher.search(&Game::new(Position::start()), Limits::depth(1), &mut Broken);
        let _ = search.send(());
    });
    let _ = receiver.recv();
}

#[test]
fn a_panic_in_a_search_ends_the_program_with_its_message() {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "panic::wait_for_a_search_that_panics"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("the program hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("a broken handler"), "{message}");
}
