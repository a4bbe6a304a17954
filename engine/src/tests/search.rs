//! The search as a whole: its signature, its limits, mates, draws.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::bench;
use crate::chess::{Game, Move, Position};
use crate::search::{Bound, Handler, Info, Limits, MATE, RootWatcher, SearchResult, Searcher, mate_distance, mate_in};

use super::fixture;

/// Nodes of the bench. A change here is a change of play, and the commit that makes it says `Bench: N`.
const SIGNATURE: u64 = 3_549_214;

fn searcher() -> Searcher {
    fixture::searcher(4)
}

fn game(fen: &str) -> Game {
    Game::new(Position::from_fen(fen).unwrap())
}

/// Takes down every line, and checks that it can be played.
struct Witness {
    root: Game,
    lines: Vec<(i32, i32, Vec<Move>)>,
}

impl Witness {
    fn new(root: &Game) -> Self {
        Witness { root: root.clone(), lines: Vec::new() }
    }
}

impl Handler for Witness {
    fn line(&mut self, info: &Info<'_>) {
        assert!(!info.line.is_empty());
        let mut game = self.root.clone();
        for (i, &mv) in info.line.iter().enumerate() {
            assert!(game.position().is_legal(mv), "{mv} in {}", game.position().to_fen());
            assert!(i == 0 || !game.is_draw(0), "the line goes on after a draw");
            game.play(mv);
        }
        if let (Some(moves), Bound::Exact) = (mate_distance(info.value), info.bound) {
            let plies = if moves > 0 { 2 * moves - 1 } else { -2 * moves };
            assert_eq!(info.line.len() as i32, plies, "{} {:?}", self.root.position().to_fen(), info.line);
            assert!(game.position().is_check() && !game.position().has_legal_move());
        }
        self.lines.push((info.depth, info.value, info.line.to_vec()));
    }
}

fn search(fen: &str, limits: Limits) -> (SearchResult, Witness) {
    let game = game(fen);
    let mut witness = Witness::new(&game);
    let outcome = searcher().search(&game, limits, &mut witness);
    (outcome, witness)
}

#[test]
fn the_bench_has_its_signature() {
    let report = bench::run(bench::DEPTH, &searcher(), |_, _| {}).unwrap();
    assert_eq!(report.nodes, SIGNATURE, "the search plays differently: see the constant");
    let words: Vec<String> = report.to_string().split(' ').map(str::to_owned).collect();
    assert_eq!((words[1].as_str(), words[3].as_str()), ("nodes", "nps"));
}

#[test]
fn the_same_search_twice_is_the_same_search() {
    let fen = "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10";
    let (first, one) = search(fen, Limits::nodes(60_000));
    let (second, two) = search(fen, Limits::nodes(60_000));
    assert_eq!(first, second);
    assert_eq!(one.lines, two.lines);
    let mut searcher = searcher();
    let _ = searcher.search(&game(fen), Limits::nodes(60_000), &mut ());
    searcher.clear();
    assert_eq!(searcher.search(&game(fen), Limits::nodes(60_000), &mut ()), first);
}

#[test]
fn node_limits_are_exact_with_one_thread() {
    for nodes in [1, 2, 17, 1000, 1023, 1024, 1025, 5000, 20_001] {
        let (outcome, witness) = search("4k3/8/8/2p5/8/3P4/1R6/4K2r w - - 0 1", Limits::nodes(nodes));
        assert_eq!(outcome.nodes, nodes);
        assert!(outcome.best.is_some() && !witness.lines.is_empty());
        assert_eq!(witness.lines.last().map(|(_, _, line)| line[0]), outcome.best);
    }
}

/// Positions and the moves to their mates, each found as early as it can be when a mate is asked for.
#[test]
fn mates_are_found_at_their_depth() {
    for (fen, moves) in [
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", 1),
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2),
        ("2bqkbn1/2pppp2/np2N3/r3P1p1/p2N2B1/5Q2/PPPPKPP1/RNB2r2 w - - 0 1", 2),
        ("r1b1kb1r/pppp1ppp/5q2/4n3/3KP3/2N3PN/PPP4P/R1BQ1B1R b kq - 0 1", 3),
    ] {
        let limits = Limits { mate: Some(moves as u32), ..Limits::depth(2 * moves) };
        let (outcome, witness) = search(fen, limits);
        assert_eq!(outcome.value, mate_in(2 * moves as usize - 1), "{fen}");
        assert_eq!(mate_distance(outcome.value), Some(moves));
        let (_, _, line) = witness.lines.last().unwrap();
        assert_eq!(line.len() as i32, 2 * moves - 1, "{fen}");
        let end = line.iter().fold(Position::from_fen(fen).unwrap(), |position, &mv| position.after(mv));
        assert!(end.is_check() && !end.has_legal_move());
    }
}

#[test]
fn a_wanted_mate_ends_the_search() {
    let limits = Limits { mate: Some(2), ..Limits::default() };
    let (outcome, _) = search("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", limits);
    assert_eq!(outcome.value, MATE - 3);
}

#[test]
fn positions_without_moves_have_no_best_move() {
    let (mated, _) = search("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", Limits::depth(5));
    assert_eq!((mated.best, mated.value), (None, -MATE));
    let (stalemate, _) = search("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", Limits::depth(5));
    assert_eq!((stalemate.best, stalemate.value), (None, 0));
}

#[test]
fn only_wanted_moves_are_searched() {
    let position = Position::start();
    let wanted = position.parse_uci("a2a3").unwrap();
    let limits = Limits { search_moves: vec![wanted], ..Limits::depth(6) };
    let outcome = searcher().search(&Game::new(position), limits, &mut ());
    assert_eq!(outcome.best, Some(wanted));
}

#[test]
fn several_lines_begin_with_different_moves() {
    let game = game("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10");
    let mut searcher = searcher();
    searcher.multipv = 4;
    let mut witness = Witness::new(&game);
    let outcome = searcher.search(&game, Limits::depth(7), &mut witness);
    let last = &witness.lines[witness.lines.len() - 4..];
    assert!(last.iter().all(|line| line.0 == 7) && last.is_sorted_by(|a, b| a.1 >= b.1));
    let mut firsts: Vec<u16> = last.iter().map(|(_, _, line)| line[0].to_bits()).collect();
    assert_eq!(outcome.best.map(Move::to_bits), Some(firsts[0]));
    firsts.sort_unstable();
    firsts.dedup();
    assert_eq!(firsts.len(), 4);
}

#[test]
fn a_lost_side_takes_the_perpetual() {
    // Black threatens mate; the queen checks for ever on e8 and h5.
    let (outcome, _) = search("6k1/6p1/8/8/4Q3/8/1r4PP/q5BK w - - 0 1", Limits::depth(12));
    assert!(outcome.value >= 0, "{outcome:?}");
}

#[test]
fn threads_share_the_work_and_agree_on_a_mate() {
    let mut searcher = searcher();
    searcher.set_threads(3);
    let game = game("r1b1kb1r/pppp1ppp/5q2/4n3/3KP3/2N3PN/PPP4P/R1BQ1B1R b kq - 0 1");
    let mut witness = Witness::new(&game);
    let outcome = searcher.search(&game, Limits::depth(13), &mut witness);
    assert_eq!(mate_distance(outcome.value), Some(3));
    assert_eq!(witness.lines.last().map(|(_, _, line)| line[0]), outcome.best);
}

struct Watching(Arc<Mutex<Vec<(i32, Move, usize)>>>);

impl Handler for Watching {
    fn line(&mut self, _info: &Info<'_>) {}

    fn watcher(&self) -> Option<RootWatcher> {
        let seen = Arc::clone(&self.0);
        Some(Box::new(move |depth, mv, number| seen.lock().unwrap().push((depth, mv, number))))
    }
}

#[test]
fn root_moves_are_announced_after_the_first_seconds() {
    let game = Game::new(Position::start());
    let announced = |ago: u64| {
        let seen = Arc::default();
        let start = Instant::now() - Duration::from_secs(ago);
        searcher().search_since(start, &game, Limits::depth(2), &mut Watching(Arc::clone(&seen)));
        Arc::into_inner(seen).unwrap().into_inner().unwrap()
    };
    assert!(announced(0).is_empty());
    let seen = announced(4);
    let numbers: Vec<(i32, usize)> = seen.iter().map(|&(depth, _, number)| (depth, number)).collect();
    assert_eq!(
        numbers,
        [1, 2].map(|depth| (1..=20).map(move |number| (depth, number))).into_iter().flatten().collect::<Vec<_>>()
    );
    assert!(seen.iter().all(|&(_, mv, _)| game.position().is_legal(mv)));
}

/// Every line stderr on the way is checked by the witness.
#[test]
fn whole_games_are_played_by_the_rules() {
    for fen in [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
        "2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9",
    ] {
        let mut game = game(fen);
        let mut searcher = searcher();
        for _ in 0..200 {
            let mut witness = Witness::new(&game);
            let outcome = searcher.search(&game, Limits::nodes(500), &mut witness);
            let Some(best) = outcome.best else {
                assert!(!game.position().has_legal_move());
                break;
            };
            assert!(game.position().is_legal(best));
            assert_eq!(witness.lines.last().map(|(_, _, line)| line[0]), Some(best));
            game.play(best);
            if let Some(reply) = outcome.ponder {
                assert!(!game.is_over() && game.position().is_legal(reply));
                let mut next = game.clone();
                next.play(reply);
                assert!(!next.is_over(), "{} {reply}", game.position().to_fen());
            }
            if game.is_draw(0) {
                break;
            }
        }
    }
}
