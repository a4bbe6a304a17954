//! Null move, ProbCut and singular extensions, each called on a worker one ply from its root.

use std::time::Instant;

use super::limits::Limits;
use super::node_kind::{NodeKind, NonPv, Pv};
use super::prune::NodeState;
use super::singular::Singular;
use super::table::Entry;
use super::worker::Worker;
use super::*;
use crate::chess::{Game, Position};

/// A worker at a position that some move has led to.
fn stand(fen: &str, params: SearchParams) -> (Worker, Game) {
    let game = Game::new(Position::from_fen(fen).unwrap());
    let mut searcher = crate::tests::fixture::searcher(1);
    searcher.params = params;
    let moves = game.position().legal_moves();
    let (_, mut workers) = searcher.start(Instant::now(), &game, Limits::default(), &moves);
    let mut worker = workers.remove(0);
    worker.root_depth = 10;
    worker.frame_mut().mv = Some(moves[0]);
    worker.ply = 1;
    (worker, game)
}

/// A node with a null window below `beta`.
fn node(depth: i32, eval: Value, beta: Value) -> NodeState {
    let (improving, is_check, is_pv, cut_node) = (false, false, false, false);
    NodeState { depth, alpha: beta - 1, beta, eval, improving, is_check, is_pv, cut_node }
}

const ROOK_UP: &str = "4k3/pppp4/8/8/8/8/PPPP4/R3K3 w - - 0 1";

#[test]
fn null_move_cuts_off_for_the_side_ahead() {
    let (mut worker, mut game) = stand(ROOK_UP, SearchParams::default());
    let before = game.position().clone();
    let passed = worker.null_move(&mut game, &node(8, 500, 100)).unwrap();
    assert!(passed.is_some_and(|value| value >= 100), "{passed:?}");
    assert_eq!((worker.ply, game.position()), (1, &before));
    // The null move does not reach this beta.
    assert_eq!(worker.null_move(&mut game, &node(8, 3000, 3000)), Ok(None));
}

#[test]
fn nobody_passes_twice_or_with_pawns_alone_or_while_it_is_verified() {
    let question = node(8, 500, 100);
    let (mut worker, mut game) = stand(ROOK_UP, SearchParams::default());
    worker.null_move_from = 2;
    assert_eq!(worker.null_move(&mut game, &question), Ok(None));
    worker.null_move_from = 0;
    worker.ply = 0;
    worker.frame_mut().enter_null();
    worker.ply = 1;
    assert_eq!(worker.null_move(&mut game, &question), Ok(None));
    let (mut pawns, mut ending) = stand("4k3/8/8/8/8/8/PPPPPPPP/4K3 w - - 0 1", SearchParams::default());
    assert_eq!(pawns.null_move(&mut ending, &question), Ok(None));
    assert_eq!(worker.nodes + pawns.nodes, 0);
}

#[test]
fn a_mate_after_a_null_move_is_a_bound() {
    // Only the mate reaches beta, and no move that mates is left out.
    let params = SearchParams {
        rfp_max_depth: 0,
        razor_max_depth: 0,
        lmp_max_depth: 0,
        fp_max_depth: -1,
        ..SearchParams::default()
    };
    let (mut worker, mut game) = stand("7k/8/5K2/8/8/8/8/6Q1 w - - 0 1", params);
    assert_eq!(worker.null_move(&mut game, &node(13, 20_000, 15_000)), Ok(Some(15_000)));
}

/// Black, who has pieces to pass with, holds the balance only as long as he need not move.
#[test]
fn zugzwang_is_seen_by_the_verification() {
    let passed = |verification_depth: i32| {
        let params = SearchParams { nmp_verification_depth: verification_depth, ..SearchParams::default() };
        let (mut worker, mut game) = stand("1q1k4/2Rr4/7K/2Q5/8/8/8/8 b - - 0 1", params);
        worker.null_move(&mut game, &node(24, 0, -100)).unwrap()
    };
    assert!(passed(25).is_some());
    assert_eq!(passed(24), None);
}

#[test]
fn a_capture_that_beats_the_raised_beta_cuts_off() {
    let params = SearchParams { probcut_margin: 180, probcut_min_depth: 5, ..SearchParams::default() };
    let (mut worker, mut game) = stand("4k3/8/8/3q4/8/8/3R4/4K3 w - - 0 1", params.clone());
    let before = game.position().clone();
    let found = worker.probcut(&mut game, &node(7, -400, 100), None, Some(-400)).unwrap();
    assert!(found.is_some_and(|value| value >= 280), "{found:?}");
    assert_eq!((worker.ply, game.position()), (1, &before));
    let known = worker.shared.table.probe(before.key(), 1).unwrap();
    assert_eq!((known.bound, known.depth, Some(known.value)), (Bound::Lower, 4, found));
    assert_eq!(known.mv, before.parse_uci("d2d5").ok());

    let (mut shallow, _) = stand(ROOK_UP, params.clone());
    assert_eq!(shallow.probcut(&mut game, &node(4, -400, 100), None, None), Ok(None));
    assert_eq!(shallow.nodes, 0);
    // A guarded queen costs the rook.
    let (mut guarded, mut game) = stand("4k3/8/4p3/3q4/8/8/3R4/4K3 w - - 0 1", params);
    assert_eq!(guarded.probcut(&mut game, &node(7, -450, 200), None, None), Ok(None));
}

/// Returns the table entry of a node with a table move and its value.
fn known(game: &Game, mv: &str, value: Value) -> Entry {
    let mv = game.position().parse_uci(mv).ok();
    Entry { mv, value, eval: None, depth: 7, bound: Bound::Lower, is_pv: false }
}

/// Returns the number of plies by which the move is extended. The error is the value that cuts the node off.
fn extension<N: NodeKind>(worker: &mut Worker, game: &mut Game, now: &NodeState, entry: &Entry) -> Result<i32, Value> {
    let (before, killers) = (game.position().clone(), [entry.mv, None]);
    worker.frame_mut().eval = Some(now.eval);
    worker.frame_mut().killers = killers;
    let answer = worker.singular::<N>(game, entry.mv.unwrap(), now, Some(entry)).unwrap();
    let frame = worker.frame(0);
    assert_eq!((frame.excluded, frame.killers, worker.ply, game.position()), (None, killers, 1, &before));
    match answer {
        Singular::Extend(plies) => Ok(plies),
        Singular::Cut(value) => Err(value),
    }
}

#[test]
fn the_only_good_move_is_searched_deeper() {
    // Only the capture of the queen keeps White in the game.
    let fen = "4k3/ppp2ppp/8/3q4/8/4N3/PPP2PPP/4K3 w - - 0 1";
    let (mut worker, mut game) = stand(fen, SearchParams::default());
    let entry = known(&game, "e3d5", 300);
    let now = node(8, -600, 250);
    assert_eq!(extension::<Pv>(&mut worker, &mut game, &now, &entry), Ok(1));
    assert_eq!(extension::<NonPv>(&mut worker, &mut game, &now, &entry), Ok(2));
    // A line is not drawn out for ever.
    worker.ply = 0;
    worker.frame_mut().double_extensions = 7;
    worker.ply = 1;
    assert_eq!(extension::<NonPv>(&mut worker, &mut game, &now, &entry), Ok(1));
    // A move that is no better than others is not singular: both knights take.
    let fen = "4k3/ppp2ppp/8/3q4/8/2N1N3/PPP2PPP/4K3 w - - 0 1";
    let (mut worker, mut game) = stand(fen, SearchParams::default());
    let entry = known(&game, "e3d5", 600);
    assert_eq!(extension::<Pv>(&mut worker, &mut game, &node(8, -300, 700), &entry), Ok(0));
}

#[test]
fn several_good_moves_cut_off_or_shorten() {
    let params = SearchParams { se_margin: 24, se_min_depth: 7, ..SearchParams::default() };
    let (mut worker, mut game) = stand("4k3/8/8/8/8/8/PPP2PPP/RN1QK1NR w - - 0 1", params);
    let entry = known(&game, "a2a3", 500);
    let mut ask = |beta: Value, cut_node: bool| {
        let now = NodeState { cut_node, ..node(8, 1500, beta) };
        extension::<NonPv>(&mut worker, &mut game, &now, &entry)
    };
    // The others must beat 500 − 24 · 8 / 16 = 488.
    assert_eq!(ask(488, false), Err(488));
    assert_eq!(ask(489, false), Ok(-2));
    assert_eq!(ask(501, true), Ok(-1));
    assert_eq!(ask(501, false), Ok(0));
    assert_eq!(extension::<Pv>(&mut worker, &mut game, &node(8, 1500, 488), &entry), Ok(-1));
}

#[test]
fn without_good_grounds_nothing_is_searched() {
    let (mut worker, mut game) = stand(ROOK_UP, SearchParams::default());
    for entry in [known(&game, "a1b1", mate_in(3)), Entry { bound: Bound::Upper, ..known(&game, "a1b1", 500) }] {
        assert_eq!(extension::<NonPv>(&mut worker, &mut game, &node(8, 500, 100), &entry), Ok(0));
    }
    assert_eq!(worker.nodes, 0);
}

#[test]
fn a_recapture_takes_what_has_just_taken() {
    let (mut worker, game) = stand("4k3/ppp2ppp/8/3q4/8/4N3/PPP2PPP/4K3 w - - 0 1", SearchParams::default());
    let to_queen = game.position().parse_uci("e3d5").unwrap();
    let beside = game.position().parse_uci("e3f5").unwrap();
    for (last, is_quiet, expected) in
        [(Some(to_queen), false, true), (Some(to_queen), true, false), (None, false, false)]
    {
        worker.ply = 0;
        let frame = worker.frame_mut();
        (frame.mv, frame.is_quiet) = (last, is_quiet);
        worker.ply = 1;
        assert_eq!(worker.recaptures(to_queen), expected, "{last:?} {is_quiet}");
        assert!(!worker.recaptures(beside));
    }
}
