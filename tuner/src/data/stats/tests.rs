//! Tests with sound and with faulty data.

use super::*;
use crate::data::judge::tests::endings;

fn stats_of(text: &str) -> Stats {
    let source = Source::in_memory("made up", text.as_bytes().to_vec()).unwrap();
    collect(vec![source], &ReadOptions::default(), 5, &()).unwrap()
}

fn json_of(stats: &Stats) -> serde_json::Value {
    serde_json::to_value(stats).unwrap()
}

#[test]
fn counts_duplicates() {
    let text = "8/8/8/8/8/k7/7R/K7 w - - 0 1 [1.0]\n8/8/8/8/8/k7/7R/K7 w - - 5 9 [1.0]\n8/8/8/8/8/k7/7R/K7 b - - 0 1 [1.0]\n\
                8/8/8/8/8/k7/7P/K7 w - - [0.5]\n8/8/8/8/8/k7/7P/K7 w - - [1.0]\n8/8/8/8/8/k7/7P/K7 w - - [0.5]\n";
    assert_eq!(stats_of(text).duplicates, Duplicates { again: 3, disputed: 1 });
}

#[test]
fn reports_doubtful_results_with_their_lines() {
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
    assert_eq!(found.sums.suspicions, SUSPICIONS.map(|name| (name, 1)));
    let places: Vec<u64> = found.suspects.iter().map(|suspect| suspect.place.number).collect();
    assert_eq!(places, [3, 4, 5, 2]);
    assert!(found.to_table().contains("made up:3: mated, but not lost: 1/2-1/2: R5k1/"), "{}", found.to_table());
}

#[test]
fn counts_shares_separately() {
    let found = stats_of(
        "8/8/8/8/8/k7/7R/K7 w - - [1.0]\n8/8/8/8/8/k7/7R/K7 w - - [0.75]\n8/8/8/8/8/k7/7R/K7 w - - [0.25]\n\
         8/8/8/8/8/k7/7P/K7 w - - [0.0]\n",
    );
    assert_eq!(json_of(&found)["results"], serde_json::json!({ "white": 1, "draw": 0, "black": 1, "share": 2 }));
    let table = found.to_table();
    assert!(table.contains("      Black      share   points\n"), "{table}");
    assert!(
        table.contains("all                      4     25.0 %      0.0 %     25.0 %     50.0 %   0.5000\n"),
        "{table}"
    );
    // A share counts as neither a win nor a loss.
    assert_eq!(found.sums.suspicions, SUSPICIONS.map(|name| (name, 0)));
    assert_eq!(found.duplicates, Duplicates { again: 2, disputed: 1 });
    let found = stats_of(&endings(300, |_| false));
    assert!(!found.to_table().contains("share   points"), "{}", found.to_table());
}

#[test]
fn table_and_json_agree() {
    let found = stats_of(&endings(300, |_| false));
    let (table, json) = (found.to_table(), json_of(&found));
    assert_eq!(json["positions"], 300);
    assert!(table.contains("made up: 300 lines, 300 positions"), "{table}");
    assert_eq!(json["scores"]["count"], 300);
    let of_sides: u64 =
        ["white", "black"].iter().map(|side| json["by_side_to_move"][side]["draw"].as_u64().unwrap()).sum();
    assert_eq!(json["results"]["draw"], of_sides);
    let pieces: u64 = json["by_pieces"].as_object().unwrap().values().filter_map(|count| count.as_u64()).sum();
    assert_eq!(pieces, 300);
}
