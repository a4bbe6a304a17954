//! Forced mates in 2 to 5 moves, from games of the engine, proven by full-width search (`examples/mates.rs` makes
//! them): a search for a mate sees them at their own depth, and none claims a shorter one.

use std::collections::HashSet;
use std::sync::Arc;

use super::fixture;
use super::solver::{Solver, is_mate};
use crate::chess::epd::Epd;
use crate::chess::{Color, Game, Position};
use crate::search::{Bound, Handler, Info, Limits, SearchResult, Signals, mate_distance, mate_in};

const SETS: &str = include_str!("../../tests/data/mates.epd");

/// Nodes of the solver for one question; none of these needs a tenth.
const BUDGET: u64 = 20_000_000;

/// A position whose side to move mates in so many moves, and not sooner.
struct Case {
    position: Position,
    moves: u32,
}

impl Case {
    /// Plies to the mate.
    fn plies(&self) -> usize {
        2 * self.moves as usize - 1
    }
}

fn cases() -> Vec<Case> {
    let lines = SETS.lines().filter(|line| !line.starts_with('#'));
    let read = |line: &str| {
        let epd = Epd::parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let moves = epd.operands("dm").and_then(|words| words[0].parse().ok()).expect("a length after `dm`");
        Case { position: epd.position, moves }
    };
    lines.map(read).collect()
}

/// Searches as after `ucinewgame`, and checks that a mate of the right length is mate on the board.
fn finds(case: &Case, limits: Limits) -> (bool, SearchResult) {
    let mut last = Last::default();
    let outcome = fixture::searcher(16).search(&Game::new(case.position.clone()), limits, &mut last);
    let fen = case.position.to_fen();
    if outcome.value != mate_in(case.plies()) {
        // Sooner than the proof allows would be a lie.
        assert!(mate_distance(outcome.value).is_none_or(|moves| moves < 0 || moves > case.moves as i32), "{fen}");
        return (false, outcome);
    }
    assert_eq!(last.0.len(), case.plies(), "{fen}");
    let end = last.0.iter().fold(case.position.clone(), |position, &mv| position.after(mv));
    assert!(is_mate(&end), "{fen}");
    (true, outcome)
}

/// The newest line.
#[derive(Default)]
struct Last(Vec<crate::chess::Move>);

impl Handler for Last {
    fn line(&mut self, info: &Info<'_>) {
        self.0 = info.line.to_vec();
    }
}

#[test]
fn the_sets_are_large_and_mixed() {
    let cases = cases();
    let distinct: HashSet<u64> = cases.iter().map(|case| case.position.key()).collect();
    assert_eq!(distinct.len(), cases.len());
    for moves in 2..=5 {
        for color in Color::ALL {
            let of_this = |case: &&Case| case.moves == moves && case.position.side_to_move() == color;
            assert_eq!(cases.iter().filter(of_this).count(), 20, "{color:?} mates in {moves}");
        }
    }
}

/// The solver knows composed mates, and that what looks like one is none.
#[test]
fn the_solver_solves() {
    for (fen, most, expected) in [
        ("7k/8/6K1/8/8/8/8/R7 w - -", 3, Some(1)),
        // Morphy: the rook gives itself up.
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - -", 3, Some(2)),
        // Without the pawn there is nothing.
        ("kbK5/pp6/8/8/8/8/8/R7 w - -", 2, None),
        // Two king moves stalemate.
        ("7k/5Q2/8/6K1/8/8/8/8 w - -", 2, None),
        ("r1b1kb1r/pppp1ppp/5q2/4n3/3KP3/2N3PN/PPP4P/R1BQ1B1R b kq -", 3, Some(3)),
        ("k7/8/8/8/8/8/8/K7 w - -", 3, None),
    ] {
        let position = Position::from_fen(fen).unwrap();
        assert_eq!(Solver::new(BUDGET).shortest_mate(&position, most), Ok(expected), "{fen}");
    }
    let start = Position::start();
    assert!(Solver::new(100).shortest_mate(&start, 3).is_err());
}

#[test]
fn the_shorter_mates_are_proven_again() {
    for case in cases().iter().filter(|case| case.moves <= 3) {
        let proven = Solver::new(BUDGET).shortest_mate(&case.position, case.moves);
        assert_eq!(proven, Ok(Some(case.moves)), "{}", case.position.to_fen());
    }
}

/// Pruning hides some for longer; enough are found for the claims to be many.
#[test]
fn ordinary_search_claims_no_mate_too_short() {
    let cases = cases();
    let found = cases.iter().filter(|case| finds(case, Limits::nodes(200_000)).0).count();
    assert!(3 * found >= 2 * cases.len(), "{found} of {}", cases.len());
}

/// Mates in 5 take long: a few of those with the fewest pieces; [`depths_at_which_mates_are_found`] looks at them all.
#[test]
fn go_mate_finds_mates_of_the_given_length() {
    let all = cases();
    let (longest, others): (Vec<_>, Vec<_>) = all.iter().partition(|case| case.moves == 5);
    let small = longest.into_iter().filter(|case| case.position.occupied().count() <= 17).step_by(3);
    for case in others.into_iter().chain(small) {
        let limits = Limits { mate: Some(case.moves), ..Limits::depth(case.plies() as i32) };
        let (found, outcome) = finds(case, limits);
        assert!(found, "{} {}: {outcome:?}", case.moves, case.position.to_fen());
    }
}

/// Takes down at what depth and after how many nodes a value is first stderr, and stops the search there.
struct First {
    wanted: i32,
    found: Option<(i32, u64)>,
    signals: Arc<Signals>,
}

impl Handler for First {
    fn line(&mut self, info: &Info<'_>) {
        if info.value == self.wanted && info.bound == Bound::Exact && self.found.is_none() {
            self.found = Some((info.depth, info.nodes));
            self.signals.stop();
        }
    }
}

/// `cargo test -p merino-engine --lib mates -- --ignored --nocapture` shows at what depth each mate is found.
#[test]
#[ignore = "a measurement that takes minutes and asserts nothing"]
fn depths_at_which_mates_are_found() {
    for (name, is_asked) in [("ordinary search", false), ("search for the mate", true)] {
        for moves in 2..=5 {
            let mut by_depth = std::collections::BTreeMap::<i32, u32>::new();
            let mut total = 0;
            for case in cases().iter().filter(|case| case.moves == moves) {
                let mut searcher = fixture::searcher(16);
                let mut first = First { wanted: mate_in(case.plies()), found: None, signals: searcher.signals() };
                let limits = Limits { nodes: Some(30_000_000), mate: is_asked.then_some(moves), ..Limits::depth(30) };
                let _ = searcher.search(&Game::new(case.position.clone()), limits, &mut first);
                let (depth, nodes) = first.found.unwrap_or((99, 30_000_000));
                *by_depth.entry(depth).or_default() += 1;
                total += nodes;
                if depth > case.plies() as i32 + 2 {
                    let key = Solver::new(1_000_000_000).mating_moves(&case.position, moves);
                    println!("late: {name}, mate in {moves}, depth {depth}: {} {key:?}", case.position.to_fen());
                }
            }
            println!("{name}, mate in {moves}: {by_depth:?} (depth: found), {total} nodes");
        }
    }
}
