//! Techniques of the search as they show from outside: the windows it searches with change nothing, mates bound it,
//! zugzwang is seen behind the null move.

use crate::chess::{Game, Position};
use crate::search::{Limits, SearchParams, SearchResult, mate_distance, mate_in, mated_in};

use super::fixture;

fn search(fen: &str, depth: i32, params: SearchParams) -> SearchResult {
    let game = Game::new(Position::from_fen(fen).unwrap());
    let mut searcher = fixture::searcher(16);
    searcher.params = params;
    searcher.search(&game, Limits::depth(depth), &mut ())
}

fn best(outcome: &SearchResult) -> String {
    outcome.best.unwrap().to_string()
}

/// Positions that leave no choice but among checks for a draw: whatever the window, the moves are these, and forced values
/// too.
#[test]
fn aspiration_finds_what_an_open_window_finds() {
    let first = |delta: i32, growth: i32| SearchParams {
        aspiration_delta: delta,
        aspiration_growth: growth,
        ..SearchParams::default()
    };
    for (fen, depth, mv) in [
        ("6k1/6p1/8/8/4Q3/8/1r4PP/q5BK w - - 0 1", 10, "e4e8 e4d5"),
        ("8/8/8/8/8/8/3bp1k1/3K4 w - - 0 1", 8, "d1e2"),
        ("k7/8/8/1K6/8/8/8/7R w - - 0 1", 12, "b5b6"),
        ("4k3/ppp2ppp/8/3q4/8/4N3/PPP2PPP/4K3 w - - 0 1", 10, "e3d5"),
    ] {
        let open = search(fen, depth, first(31_000, 100));
        assert!(mv.contains(&best(&open)), "{fen}: {open:?}");
        for (delta, growth) in [(4, 20), (12, 60), (60, 200)] {
            let narrow = search(fen, depth, first(delta, growth));
            assert!(mv.contains(&best(&narrow)) && narrow.depth == depth, "{fen} {delta}: {narrow:?}");
            let is_forced = mate_distance(open.value).is_some() || open.value == 0;
            assert!(!is_forced || narrow.value == open.value, "{fen} {delta}: {narrow:?}, {open:?}");
        }
    }
}

/// Once a mate is found, nothing longer is looked at: further iterations cost a handful of nodes each.
#[test]
fn nothing_is_searched_beyond_a_mate() {
    for (fen, value, most) in [
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", mate_in(1), 40),
        ("k7/8/8/1K6/8/8/8/7R w - - 0 1", mate_in(3), 80),
        ("8/8/8/8/8/2k5/1q6/3K4 b - - 0 1", mate_in(1), 40),
        ("k7/8/1K6/8/8/8/8/7R b - - 0 1", mated_in(2), 40),
    ] {
        let nodes = |depth: i32| {
            let outcome = search(fen, depth, SearchParams::default());
            assert_eq!(outcome.value, value, "{fen}");
            outcome.nodes
        };
        let (near, far) = (nodes(20), nodes(60));
        assert!(far - near <= 40 * most, "{fen}: {near} {far}");
    }
}

/// The null move sees nothing wrong where every real move loses. In the first position the quiet king move leaves
/// Black, queen and rook, without a good move; in the second the rook that offers itself does.
#[test]
fn zugzwang_is_seen_through() {
    for (fen, depth, mv, at_least) in [
        ("1q1k4/2Rr4/8/2Q3K1/8/8/8/8 w - - 0 1", 18, "g5h6", 300),
        ("8/8/p1p5/1p5p/1P5p/8/PPP2K1p/4R1rk w - - 0 1", 20, "e1f1", 0),
    ] {
        let outcome = search(fen, depth, SearchParams::default());
        assert_eq!(best(&outcome), mv, "{fen}");
        assert!(outcome.value >= at_least, "{fen}: {outcome:?}");
    }
}

/// Without the techniques that leave moves out or search them less deep, a forced line is the same one.
#[test]
fn pruning_does_not_change_what_is_forced() {
    let mut careful = SearchParams::default();
    for (name, value) in [
        ("rfp_margin", 150),
        ("razor_margin", 500),
        ("nmp_verification_depth", 8),
        ("probcut_margin", 350),
        ("lmp_base", 10),
        ("fp_base", 250),
        ("hp_margin", 10_000),
        ("lmr_quiet_base", 0),
        ("lmr_noisy_base", 0),
    ] {
        assert!(careful.set(name, value), "{name}");
    }
    for (fen, depth) in [
        ("6k1/6p1/8/8/4Q3/8/1r4PP/q5BK w - - 0 1", 10),
        ("k7/8/8/1K6/8/8/8/7R w - - 0 1", 10),
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", 8),
    ] {
        let (usual, careful) = (search(fen, depth, SearchParams::default()), search(fen, depth, careful.clone()));
        assert_eq!(usual.value, careful.value, "{fen}");
        // Among the checks that draw, one is as good as another.
        assert!(usual.value == 0 || usual.best == careful.best, "{fen}: {usual:?} {careful:?}");
    }
}
