//! Draws as the search sees them: repetition with the game before it, fifty moves, material.

use crate::chess::{Game, Position};
use crate::search::{DRAW, Limits, SearchResult, mate_in};

use super::fixture;

/// A game from a FEN and moves in coordinates.
fn game(fen: &str, moves: &str) -> Game {
    let mut game = Game::new(Position::from_fen(fen).unwrap());
    for text in moves.split_whitespace() {
        game.play(game.position().parse_uci(text).unwrap());
    }
    game
}

fn search(game: &Game, depth: i32) -> SearchResult {
    fixture::searcher(4).search(game, Limits::depth(depth), &mut ())
}

fn best(outcome: &SearchResult) -> String {
    outcome.best.unwrap().to_string()
}

const QUEEN_UP: &str = "6k1/8/8/8/8/8/1Q6/K7 w - - 0 1";
const THERE_AND_BACK: &str = "a1a2 g8f8 a2a1 f8g8 ";

#[test]
fn a_lost_side_repeats_for_the_third_time() {
    let moves = format!("{THERE_AND_BACK}a1a2 g8f8 a2a1");
    let outcome = search(&game(QUEEN_UP, &moves), 8);
    assert_eq!((outcome.value, best(&outcome).as_str()), (DRAW, "f8g8"));
    // The second time ends nothing.
    let outcome = search(&game(QUEEN_UP, "a1a2 g8f8 a2a1"), 8);
    assert!(outcome.value < -500, "{outcome:?}");
}

#[test]
fn a_winning_side_does_not_repeat() {
    // a2a1 would lead to a position that has been there twice, and Black would go back.
    let game = game(QUEEN_UP, &format!("{THERE_AND_BACK}a1a2 g8f8"));
    let outcome = search(&game, 8);
    assert!(outcome.value > 500 && best(&outcome) != "a2a1", "{outcome:?}");
}

#[test]
fn a_perpetual_is_worth_exactly_a_draw() {
    // Black threatens mate; the queen checks for ever, on e8 and h5 or by way of d5.
    let root = game("6k1/6p1/8/8/4Q3/8/1r4PP/q5BK w - - 0 1", "");
    for depth in [8, 10, 12] {
        let outcome = search(&root, depth);
        assert_eq!(outcome.value, DRAW, "depth {depth}");
        assert!(["e4e8", "e4d5"].contains(&best(&outcome).as_str()), "depth {depth}: {outcome:?}");
    }
}

#[test]
fn a_mate_on_the_hundredth_ply_counts_and_later_ones_do_not() {
    let king_and_rook = |clock: u32| format!("k7/8/8/1K6/8/8/8/7R w - - {clock} 120");
    let mate = search(&game(&king_and_rook(97), ""), 12);
    assert_eq!((mate.value, best(&mate).as_str()), (mate_in(3), "b5b6"));
    let late = search(&game(&king_and_rook(98), ""), 12);
    assert_eq!(late.value, DRAW);
}

#[test]
fn the_clock_is_set_back_in_time() {
    let outcome = search(&game("k7/8/8/8/8/2Q5/P7/K7 w - - 99 120", ""), 8);
    assert!(outcome.value > 500 && best(&outcome).starts_with("a2"), "{outcome:?}");
}

#[test]
fn a_clock_run_down_is_not_taken_from_the_table() {
    // The searcher remembers the win from the same position with a fresh clock.
    let mut searcher = fixture::searcher(4);
    let with_clock = |clock: u32| game(&format!("k7/8/8/8/8/2Q5/8/K7 w - - {clock} 120"), "");
    let fresh = searcher.search(&with_clock(0), Limits::depth(10), &mut ());
    assert!(fresh.value > 500);
    let late = searcher.search(&with_clock(98), Limits::depth(10), &mut ());
    assert_eq!(late.value, DRAW);
}

#[test]
fn bare_kings_and_single_minors_are_drawn() {
    for fen in ["8/8/4k3/8/8/8/8/1K5N w - - 0 1", "8/8/4k3/2b5/8/8/8/1K6 w - - 0 1"] {
        assert_eq!(search(&game(fen, ""), 8).value, DRAW, "{fen}");
    }
    // The last pawn must be taken, though another move keeps more for the moment.
    let outcome = search(&game("8/8/8/8/8/8/3bp1k1/3K4 w - - 0 1", ""), 8);
    assert_eq!((outcome.value, best(&outcome).as_str()), (DRAW, "d1e2"));
}
