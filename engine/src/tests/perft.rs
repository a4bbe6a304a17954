//! Leaf counts of the move tree against published numbers.
//!
//! `data/perft.epd` holds the positions of the chessprogramming wiki, Martin Sedlak's traps (each with its mirror
//! image) and ten Chess960 positions; it is always run whole. The longer lists of the shared test vectors run where
//! their folder is there: beside the checkout, or where `MERINO_VECTORS` says.
//! See <https://www.chessprogramming.org/Perft_Results>.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io, thread};

use crate::chess::{Position, divide, perft};

const TABLE: &str = include_str!("../../tests/data/perft.epd");

/// A count to be reproduced.
struct Case {
    fen: String,
    depth: u32,
    leaves: u64,
}

/// Reads lines of `FEN ;D1 n ;D2 n …`, which may begin at any depth and leave depths out.
fn parse(table: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for line in table.lines().filter(|line| !line.trim().is_empty()) {
        let (fen, counts) = line.split_once(';').unwrap_or_else(|| panic!("no counts in `{line}`"));
        for count in counts.split(';') {
            let parsed = count.trim().strip_prefix('D').and_then(|text| text.split_once(' '));
            let numbers = parsed.and_then(|(depth, leaves)| Some((depth.parse().ok()?, leaves.trim().parse().ok()?)));
            let (depth, leaves) = numbers.unwrap_or_else(|| panic!("expected `D<depth> <leaves>` in `{line}`"));
            cases.push(Case { fen: fen.trim().to_owned(), depth, leaves });
        }
    }
    cases
}

/// Counts every case on all cores, the long ones first, and names all that differ.
fn check(mut cases: Vec<Case>) {
    assert!(!cases.is_empty());
    cases.sort_by_key(|case| std::cmp::Reverse(case.leaves));
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(failure) = check_case(case) {
                failures.lock().expect("no thread panics with the lock").push(failure);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let failures = failures.into_inner().expect("no thread panics with the lock");
    assert!(failures.is_empty(), "{} of {} counts differ:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

fn check_case(Case { fen, depth, leaves }: &Case) -> Result<(), String> {
    let position = Position::from_fen(fen).map_err(|error| format!("{fen}: {error}"))?;
    match perft(&position, *depth) {
        found if found == *leaves => Ok(()),
        found => Err(format!("{fen}: depth {depth}: expected {leaves}, found {found}")),
    }
}

/// A file of the shared test vectors down to a depth, or a line on the terminal that it was not there.
fn check_vectors(name: &str, max_depth: u32) {
    let folder = match env::var_os("MERINO_VECTORS") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/vectors")),
    };
    let path = folder.join(name);
    match fs::read_to_string(&path) {
        Ok(table) => check(parse(&table).into_iter().filter(|case| case.depth <= max_depth).collect()),
        Err(error) => {
            // Past the test harness, which keeps what a passing test prints to itself.
            let message = format!("skipped: perft of {} ({error}); MERINO_VECTORS names its folder", path.display());
            writeln!(io::stderr(), "{message}").expect("a terminal");
        }
    }
}

#[test]
fn published_counts() {
    check(parse(TABLE));
}

#[test]
fn shared_vectors_of_standard_chess() {
    check_vectors("perft.epd", 5);
}

#[test]
fn shared_vectors_of_chess960() {
    check_vectors("perft960.epd", 4);
}

#[test]
fn divide_adds_up_to_perft() {
    for case in parse(TABLE).iter().filter(|case| case.leaves < 1_000_000) {
        let position = Position::from_fen(&case.fen).expect(&case.fen);
        let parts = divide(&position, case.depth);
        let moves: Vec<_> = parts.iter().map(|&(mv, _)| mv).collect();
        assert_eq!(moves, position.legal_moves().to_vec(), "{}", case.fen);
        let sum: u64 = parts.iter().map(|&(_, leaves)| leaves).sum();
        assert_eq!(sum, case.leaves, "{} at depth {}", case.fen, case.depth);
    }
    assert!(divide(&Position::start(), 0).is_empty());
    assert_eq!(perft(&Position::start(), 0), 1);
}
