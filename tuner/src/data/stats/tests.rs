//! Data that are as they should be, and data that are not.

use std::fmt::Write;

use engine::random::Random;

use super::*;
use crate::data::Subsample;

/// Endings of pawns that the side with more of them mostly wins, White and Black to move by turns, with their results in
/// the view that is asked for by number of line.
fn endings(lines: usize, is_mover: impl Fn(usize) -> bool) -> String {
    let mut random = Random::seeded(5);
    let mut text = String::new();
    for line in 0..lines {
        let mut pawns = |letter: char| -> (String, i32) {
            let rank: String = (0..8).map(|_| if random.below(2) == 0 { letter } else { '1' }).collect();
            let count = rank.matches(letter).count() as i32;
            (rank, count)
        };
        let ((white, whites), (black, blacks)) = (pawns('P'), pawns('p'));
        let is_black_to_move = line % 2 == 1;
        let mut points = f64::from((whites - blacks).signum() + 1) / 2.0;
        if random.below(5) == 0 {
            points = 0.5;
        }
        if is_black_to_move && is_mover(line) {
            points = 1.0 - points;
        }
        let side = if is_black_to_move { 'b' } else { 'w' };
        writeln!(text, "4k3/{black}/8/8/8/8/{white}/4K3 {side} - - [{points:.1}] {}", 100 * (whites - blacks)).unwrap();
    }
    text
}

fn stats_of(text: &str) -> Stats {
    let source = Source::in_memory("made up", text.as_bytes().to_vec()).unwrap();
    collect(vec![source], &ReadOptions::default(), 5, &()).unwrap()
}

#[test]
fn data_in_one_view_are_not_called_into_question() {
    let found = stats_of(&endings(2000, |_| false));
    assert_eq!(found.warnings(), [""; 0]);
    let [white, black] = found.agreements[0].labels.by_side;
    assert!(white.coefficient().unwrap() > 0.5 && black.coefficient().unwrap() > 0.5);
    assert_eq!((found.sums.positions(), white.count(), black.count()), (2000, 1000, 1000));
}

#[test]
fn samples_are_told_apart_by_file() {
    let of = |name, text: String| Source::in_memory(name, text.into_bytes()).unwrap();
    let sources = vec![of("white's", endings(4000, |_| false)), of("the mover's", endings(4000, |_| true))];
    let subsample = Some(Subsample { size: 7000, seed: 1, flatten: false });
    let found = collect(sources, &ReadOptions { subsample, ..ReadOptions::default() }, 5, &()).unwrap();
    assert_eq!(found.sums.positions(), 7000);
    let faults: Vec<_> = found.agreements.iter().map(|agreement| agreement.labels.fault()).collect();
    assert_eq!(faults, [None, Some(ViewFault::SideToMove)]);
}

#[test]
fn a_wrong_view_is_noticed() {
    let view = |is_mover: fn(usize) -> bool| stats_of(&endings(20_000, is_mover)).agreements.remove(0).labels.fault();
    assert_eq!(view(|_| false), None);
    assert_eq!(view(|_| true), Some(ViewFault::SideToMove));
    assert_eq!(view(|line| line >= 8_000), Some(ViewFault::Mixed));
    let warnings = stats_of(&endings(1000, |_| true)).warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("--view"), "{warnings:?}");
    // Chance is no fault.
    assert_eq!(stats_of("8/8/8/8/8/k7/7R/K7 w - - [0.0]\n8/8/8/8/8/k7/7P/K7 w - - [1.0]\n").warnings(), [""; 0]);
}

#[test]
fn what_is_there_twice_is_counted() {
    let text = "8/8/8/8/8/k7/7R/K7 w - - 0 1 [1.0]\n8/8/8/8/8/k7/7R/K7 w - - 5 9 [1.0]\n8/8/8/8/8/k7/7R/K7 b - - 0 1 [1.0]\n\
                8/8/8/8/8/k7/7P/K7 w - - [0.5]\n8/8/8/8/8/k7/7P/K7 w - - [1.0]\n8/8/8/8/8/k7/7P/K7 w - - [0.5]\n";
    assert_eq!(stats_of(text).duplicates, Duplicates { again: 3, disputed: 1 });
}

#[test]
fn results_that_cannot_be_are_told_with_their_lines() {
    let text = "\
7k/8/8/8/8/8/8/K7 w - - [0.5]
8/8/8/8/8/k7/7Q/K7 w - - [0.0]
R5k1/5ppp/8/8/8/8/8/K7 b - - [0.5]
7k/8/8/8/8/8/8/KB6 w - - [1.0]
8/8/8/8/8/k7/7R/K7 w - - [0.0] 1700
8/8/8/8/8/k7/7R/K7 w - - [1.0] 1700
R5k1/5ppp/8/8/8/8/8/K7 b - - [1.0]
";
    let found = stats_of(text);
    assert_eq!(found.suspicions, [1, 1, 1, 1]);
    let places: Vec<u64> = found.suspects.iter().map(|suspect| found.dataset.place(suspect.sample).number).collect();
    assert_eq!(places, [3, 4, 5, 2]);
    assert!(found.to_table().contains("made up:3: mated, but not lost: 1/2-1/2: R5k1/"), "{}", found.to_table());
}

#[test]
fn tables_and_json_say_the_same() {
    let found = stats_of(&endings(300, |_| false));
    let (table, json) = (found.to_table(), found.to_json());
    assert_eq!(json["positions"], 300);
    assert!(table.contains("made up: 300 lines, 300 positions"), "{table}");
    assert_eq!(json["scores"]["count"], 300);
    let of_sides: u64 =
        ["white", "black"].iter().map(|side| json["by_side_to_move"][side]["draw"].as_u64().unwrap()).sum();
    assert_eq!(json["results"]["draw"], of_sides);
    let pieces: u64 = json["by_pieces"].as_object().unwrap().values().filter_map(|count| count.as_u64()).sum();
    assert_eq!(pieces, 300);
}
