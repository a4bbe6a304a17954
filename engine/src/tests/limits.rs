//! The search under limits, with wanted moves, several lines, threads, stop and pondering, and its memory from move to
//! move. No test measures time.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::chess::{Game, Move, Position};
use crate::search::{Clock, Handler, Info, Limits, STACK_SIZE, Searcher, Signals, mate_in};

use super::fixture;

const MIDDLEGAME: &str = "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10";

fn game(fen: &str) -> Game {
    Game::new(Position::from_fen(fen).unwrap())
}

fn searcher() -> Searcher {
    fixture::searcher(4)
}

/// Takes down depth, index, value and first move of every line, and speaks to the search at a depth.
#[derive(Default)]
struct Listener {
    lines: Vec<(i32, usize, i32, Move)>,
    at_depth: Option<(i32, Box<dyn FnMut() + Send>)>,
}

impl Listener {
    fn at_depth(depth: i32, act: impl FnMut() + Send + 'static) -> Self {
        Listener { at_depth: Some((depth, Box::new(act))), ..Listener::default() }
    }

    fn deepest(&self) -> i32 {
        self.lines.iter().map(|line| line.0).max().unwrap_or(0)
    }
}

impl Handler for Listener {
    fn line(&mut self, info: &Info<'_>) {
        self.lines.push((info.depth, info.multipv, info.value, info.line[0]));
        if let Some((depth, act)) = &mut self.at_depth
            && info.depth >= *depth
        {
            act();
        }
    }
}

#[test]
fn every_iteration_reports_distinct_lines_in_order() {
    let (game, mut searcher) = (game(MIDDLEGAME), searcher());
    searcher.multipv = 5;
    let mut listener = Listener::default();
    let _ = searcher.search(&game, Limits::depth(8), &mut listener);
    assert_eq!(listener.lines.len(), 8 * 5);
    for (depth, lines) in (1..).zip(listener.lines.chunks(5)) {
        assert!(lines.iter().zip(1..).all(|(line, index)| (line.0, line.1) == (depth, index)));
        assert!(lines.is_sorted_by(|a, b| a.2 >= b.2), "{lines:?}");
        assert!((1..5).all(|i| lines[..i].iter().all(|line| line.3 != lines[i].3)), "{lines:?}");
    }
}

#[test]
fn lines_are_no_more_than_wanted_moves() {
    let (game, mut searcher) = (game(MIDDLEGAME), searcher());
    searcher.multipv = 5;
    let wanted = ["a1a2", "h2h3", "g1h1"].map(|text| game.position().parse_uci(text).unwrap());
    let mut listener = Listener::default();
    let limits = Limits { search_moves: wanted.to_vec(), ..Limits::depth(6) };
    let outcome = searcher.search(&game, limits, &mut listener);
    assert_eq!(listener.lines.len(), 6 * 3);
    assert!(listener.lines.iter().all(|line| wanted.contains(&line.3)));
    assert!(outcome.best.is_some_and(|mv| wanted.contains(&mv)));
}

#[test]
fn an_unwanted_mate_is_not_played() {
    let game = game("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1");
    let wanted = game.position().parse_uci("d1d2").unwrap();
    let limits = Limits { search_moves: vec![wanted], ..Limits::depth(6) };
    let outcome = searcher().search(&game, limits, &mut ());
    assert_eq!(outcome.best, Some(wanted));
    assert_ne!(outcome.value, mate_in(1));
}

#[test]
fn node_limits_are_exact_with_several_lines_and_near_with_several_threads() {
    let game = game(MIDDLEGAME);
    let mut searcher = searcher();
    searcher.multipv = 3;
    assert_eq!(searcher.search(&game, Limits::nodes(7001), &mut ()).nodes, 7001);
    searcher.multipv = 1;
    searcher.set_threads(3);
    let nodes = searcher.search(&game, Limits::nodes(60_000), &mut ()).nodes;
    assert!((60_000..60_000 + 4 * 1024).contains(&nodes), "{nodes}");
}

#[test]
fn a_search_on_the_calling_thread_finds_the_same() {
    let found_here = |threads: usize| {
        let search = move || {
            let mut searcher = searcher();
            searcher.set_threads(threads);
            searcher.search_here(&game(MIDDLEGAME), Limits::nodes(20_000), &mut ())
        };
        thread::Builder::new().stack_size(STACK_SIZE).spawn(search).unwrap().join().unwrap()
    };
    assert_eq!(found_here(1), searcher().search(&game(MIDDLEGAME), Limits::nodes(20_000), &mut ()));
    assert!(found_here(2).nodes >= 20_000);
}

#[test]
fn soft_nodes_end_the_search_between_iterations() {
    let game = game(MIDDLEGAME);
    let limits = Limits { soft_nodes: Some(5000), ..Limits::default() };
    let soft = searcher().search(&game, limits, &mut ());
    assert!(soft.nodes >= 5000);
    assert_eq!(soft, searcher().search(&game, Limits::depth(soft.depth), &mut ()));
    assert!(searcher().search(&game, Limits::depth(soft.depth - 1), &mut ()).nodes < 5000);
}

#[test]
fn the_first_limit_reached_counts() {
    let game = game(MIDDLEGAME);
    let limits = Limits { depth: Some(3), nodes: Some(1_000_000), mate: Some(1), ..Limits::default() };
    let outcome = searcher().search(&game, limits, &mut ());
    assert!(outcome.depth == 3 && outcome.nodes < 1_000_000);
}

#[test]
fn a_single_move_is_answered_at_once_unless_it_is_analysed() {
    let game = game("8/8/8/8/8/5k2/7q/7K w - - 0 1");
    let clock = Clock { time: Duration::from_secs(3600), ..Clock::default() };
    let limits = Limits { clock: Some(clock), ..Limits::depth(40) };
    let mut searcher = searcher();
    assert_eq!(searcher.search(&game, limits.clone(), &mut ()).depth, 1);
    searcher.analyse = true;
    assert_eq!(searcher.search(&game, limits, &mut ()).depth, 40);
}

#[test]
fn a_game_is_played_the_same_way_twice() {
    let play = || {
        let (mut game, mut searcher) = (game(MIDDLEGAME), searcher());
        let mut record = Vec::new();
        for _ in 0..12 {
            let outcome = searcher.search(&game, Limits::depth(6), &mut ());
            game.play(outcome.best.unwrap());
            record.push(outcome);
        }
        record
    };
    assert_eq!(play(), play());
}

#[test]
fn tables_kept_from_the_last_move_save_nodes() {
    let mut game = game(MIDDLEGAME);
    let mut searcher = searcher();
    for _ in 0..2 {
        let best = searcher.search(&game, Limits::depth(9), &mut ()).best.unwrap();
        game.play(best);
    }
    let kept = searcher.search(&game, Limits::depth(8), &mut ());
    searcher.clear();
    let afresh = searcher.search(&game, Limits::depth(8), &mut ());
    assert!(kept.nodes < afresh.nodes, "{} {}", kept.nodes, afresh.nodes);
}

#[test]
fn the_table_saves_work_when_a_search_is_done_again() {
    const FENS: [&str; 5] = [
        MIDDLEGAME,
        "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2Q1RK1 w - - 0 9",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/pp2k1pp/2p1b3/4p3/4P1n1/1PN3P1/P1P2K1P/5B2 w - - 0 25",
        "2r3k1/pp3pp1/4p2p/3n4/3P4/P4N2/1P3PPP/2R3K1 w - - 0 24",
    ];
    let mut searcher = searcher();
    // The saving in a single search depends on chance, so the test averages over many. Each search has the same weight:
    // the largest would dominate a sum. Both searches begin with the histories and corrections of the same first one.
    // These already hold much of what the table holds.
    let mut logarithms = Vec::new();
    for game in FENS.map(game) {
        for depth in 5..=8 {
            let mut again = |ready: fn(&Searcher)| {
                searcher.clear();
                searcher.search(&game, Limits::depth(depth), &mut ());
                ready(&searcher);
                searcher.search(&game, Limits::depth(depth), &mut ()).nodes as f64
            };
            let (without_table, with_table) = (again(Searcher::clear_hash), again(|_| ()));
            logarithms.push((with_table / without_table).ln());
        }
    }
    let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
    assert!(mean < 0.75, "{mean}");
}

fn stopper(depth: i32, searcher: &Searcher) -> Listener {
    let signals: Arc<Signals> = searcher.signals();
    Listener::at_depth(depth, move || signals.stop())
}

#[test]
fn infinite_searches_stop_with_any_number_of_threads() {
    let game = game(MIDDLEGAME);
    for threads in [1, 2, 5] {
        let mut searcher = searcher();
        searcher.set_threads(threads);
        let mut listener = stopper(7, &searcher);
        let limits = Limits { infinite: true, ..Limits::default() };
        let outcome = searcher.search(&game, limits, &mut listener);
        assert!(outcome.best.is_some_and(|mv| game.position().is_legal(mv)));
        assert_eq!(listener.lines.last().map(|line| line.3), outcome.best, "{threads}");
        // The next search is a new one.
        assert!(searcher.search(&game, Limits::depth(3), &mut ()).depth >= 3);
    }
}

#[test]
fn a_search_that_is_stopped_before_it_begins_still_moves() {
    let game = game(MIDDLEGAME);
    let mut searcher = searcher();
    let signals = searcher.signals();
    signals.reset(false);
    signals.stop();
    let limits = Limits { infinite: true, ..Limits::default() };
    let outcome = searcher.search_since(Instant::now(), &game, limits, &mut ());
    assert!(outcome.best.is_some_and(|mv| game.position().is_legal(mv)));
    assert!(outcome.nodes <= 1024, "{outcome:?}");
}

#[test]
fn time_counts_only_after_the_expected_move_is_played() {
    let game = game(MIDDLEGAME);
    let clock = Clock { time: Duration::from_millis(1), ..Clock::default() };
    for threads in [1, 2] {
        let mut searcher = searcher();
        searcher.set_threads(threads);
        let signals = searcher.signals();
        // A search that ends too soon would wait for the hit for ever.
        let rescue = searcher.signals();
        thread::spawn(move || {
            thread::sleep(Duration::from_secs(20));
            rescue.ponderhit();
        });
        let mut listener = Listener::at_depth(9, move || signals.ponderhit());
        let limits = Limits { clock: Some(clock), ponder: true, ..Limits::default() };
        let outcome = searcher.search(&game, limits, &mut listener);
        assert!(listener.deepest() >= 9, "a millisecond is over before depth 9");
        assert!(outcome.best.is_some_and(|mv| game.position().is_legal(mv)));
    }
}
