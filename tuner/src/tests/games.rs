//! Games in PGN as data, and the filters of positions.

use std::fmt::Write;

use crate::data::{Dataset, DatasetError, Filters, Grouping, Noisy, Plies, ReadOptions, ResultLabel, Source};
use engine::chess::{Color, Position};
use engine::random::Random;

const ALL: Plies = Plies { skip_first: 0, skip_last: 0 };
const NOTHING: Noisy = Noisy { check: false, capture: false };

fn source(text: &str) -> Source {
    Source::in_memory("made up", text.to_owned().into_bytes()).unwrap()
}

fn read(text: &str, options: &ReadOptions) -> Result<Dataset, DatasetError> {
    Dataset::read(vec![source(text)], options, &())
}

/// Returns a game of random moves as PGN, and its positions and scores before each move.
fn random_game(random: &mut Random, outcome: ResultLabel) -> (String, Vec<(Position, Option<i16>)>) {
    let mut text = format!("[Event \"?\"]\n[White \"{{1. e4\"]\n[Result \"{}\"]\n\n", outcome);
    let (mut position, mut positions) = (Position::start(), Vec::new());
    for ply in 0..random.below(200) {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        let mv = moves[random.below(moves.len() as u64) as usize];
        if position.side_to_move() == Color::White {
            write!(text, "{}. ", position.fullmove_number()).unwrap();
        }
        let score = (ply % 3 == 0).then(|| random.below(2000) as i16 - 1000);
        write!(text, "{} ", position.to_san(mv)).unwrap();
        if let Some(score) = score {
            let mover = f64::from(i32::from(score) * position.side_to_move().sign()) / 100.0;
            write!(text, "{{{mover:+.2}/{} 0.{ply}s}} ({} {{x}}) ", ply + 1, position.to_san(moves[0])).unwrap();
        }
        if ply % 7 == 6 {
            text.push('\n');
        }
        positions.push((position.clone(), score));
        position.play(mv);
    }
    write!(text, "{}\n\n", outcome).unwrap();
    (text, positions)
}

#[test]
fn reads_games_as_they_were_played() {
    let mut random = Random::seeded(11);
    let (mut text, mut expected) = (String::new(), Vec::new());
    // Enough text for several chunks.
    for game in 0..900 {
        let outcome = [ResultLabel::WIN, ResultLabel::DRAW, ResultLabel::LOSS][game % 3];
        let (pgn, positions) = random_game(&mut random, outcome);
        text.push_str(&pgn);
        expected.extend(positions.into_iter().map(|(position, score)| (game as u64 + 1, position, score, outcome)));
    }
    assert!(text.len() > 3 << 18);
    let options = ReadOptions {
        plies: ALL,
        filters: Filters { noisy: Some(NOTHING), ..Filters::default() },
        ..ReadOptions::default()
    };
    let dataset = read(&text, &options).unwrap();
    assert_eq!((dataset.len(), dataset.files()[0].records), (expected.len(), 900));
    assert_eq!(dataset.grouping(), Grouping::Games);
    for (index, (game, position, score, outcome)) in expected.iter().enumerate() {
        let label = dataset.label(index);
        assert_eq!((label.outcome, label.score), (*outcome, *score));
        assert_eq!((&dataset.position(index), dataset.place(index).number), (position, *game));
    }
    for (index, pair) in expected.windows(2).enumerate() {
        let is_one_game = dataset.groups()[index] == dataset.groups()[index + 1];
        assert_eq!(is_one_game, pair[0].0 == pair[1].0);
    }
}

#[test]
fn noisy_positions_of_games_are_left_out_unless_requested() {
    let text = "[Result \"1-0\"]\n\n1. e4 d5 2. exd5 Qxd5 3. Nc3 Qe5+ 4. Be2 Nf6 1-0\n\n[Result \"*\"]\n\n1. e4 *\n";
    let options =
        |noisy| ReadOptions { plies: ALL, filters: Filters { noisy, ..Filters::default() }, ..ReadOptions::default() };
    let dataset = read(text, &options(None)).unwrap();
    let left_out = |dataset: &Dataset| dataset.files()[0].left_out.to_string();
    assert_eq!(dataset.len(), 5);
    assert_eq!(
        left_out(&dataset),
        "1 games without a result, 1 positions in check, 2 positions before a capture or promotion"
    );
    let checks = read(text, &options(Some(Noisy { check: false, capture: true }))).unwrap();
    assert_eq!((checks.len(), left_out(&checks).contains("in check")), (6, false));
    assert_eq!(read(text, &options(Some(NOTHING))).unwrap().len(), 8);
}

#[test]
fn bad_games_are_reported_by_number_and_line_or_skipped() {
    let text = "[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n[Result \"1-0\"]\n\n1. e4\ne5 2. Ke3 1-0\n\n[Result \"0-1\"]\n\n1. d4 0-1\n";
    let options = |skip_bad| ReadOptions { plies: ALL, skip_bad, ..ReadOptions::default() };
    let error = read(text, &options(0)).err().unwrap().to_string();
    assert_eq!(error, "made up, game 2: line 4: `Ke3` is not a legal move here, in `e5 2. Ke3 1-0`");
    let dataset = read(text, &options(1)).unwrap();
    assert_eq!(
        (dataset.len(), dataset.skipped_records(), dataset.skipped()["illegal move"].first.place.number),
        (3, 1, 2)
    );
    assert_eq!(dataset.place(2).number, 3);
}

const LINES: &str = "\
4k3/8/8/8/8/8/PP6/4K3 w - - 3 9 c9 \"1-0\"; ce 210;
4k3/8/8/8/8/8/4q3/4K2R w - - c9 \"1-0\"; ce 900;
4k3/8/8/8/8/8/PP6/4K3 w - - 5 10 c9 \"0-1\"; ce 180;
4k3/pp6/8/3p4/4P3/8/PP6/4K3 b - - c9 \"0-1\"; ce -1800;
rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 c9 \"1/2-1/2\";
";

/// Returns the line numbers, from 1, that pass the filters.
fn left(filters: Filters) -> Vec<u64> {
    let dataset = read(LINES, &ReadOptions { filters, ..ReadOptions::default() }).unwrap();
    (0..dataset.len()).map(|index| dataset.place(index).number).collect()
}

#[test]
fn each_filter_leaves_out_its_positions() {
    let none = Filters::default();
    assert_eq!(left(none.clone()), [1, 2, 3, 4, 5]);
    assert_eq!(left(Filters { noisy: Some(Noisy { check: true, capture: true }), ..none.clone() }), [1, 3, 4, 5]);
    assert_eq!(left(Filters { pieces: Some(4..=31), ..none.clone() }), [1, 2, 3, 4]);
    assert_eq!(left(Filters { max_score: Some(900), ..none.clone() }), [1, 2, 3, 5]);
    assert_eq!(left(Filters { quiet_margin: Some(20), ..none.clone() }), [1, 3, 5]);
    assert_eq!(left(Filters { unique: true, ..none.clone() }), [1, 2, 4, 5]);
    let filters = Filters { pieces: Some(30..=31), ..none };
    let error = read(LINES, &ReadOptions { filters, ..ReadOptions::default() }).err().unwrap().to_string();
    assert_eq!(error, "made up: no positions are left: 5 positions with other numbers of pieces");
}

#[test]
fn duplicates_are_left_out_across_chunks() {
    let mut text = String::new();
    for number in 0..8000 {
        writeln!(text, "4k3/8/8/8/8/8/PP6/4K3 w - - {} {number} [{}]", number % 100, number % 2).unwrap();
        writeln!(text, "4k3/8/8/8/8/8/PP6/{}K{} w - - 0 1 [1.0]", number % 7 + 1, 6 - number % 7).unwrap();
    }
    let text = text.replace("K0", "K");
    assert!(text.len() > 2 << 18);
    let options = ReadOptions { filters: Filters { unique: true, ..Filters::default() }, ..ReadOptions::default() };
    let dataset = read(&text, &options).unwrap();
    let places: Vec<u64> = (0..dataset.len()).map(|index| dataset.place(index).number).collect();
    assert_eq!(places, [1, 2, 4, 6, 10, 12, 14]);
    assert_eq!(dataset.files()[0].left_out.iter().map(|(_, count)| count).collect::<Vec<_>>(), [16_000 - 7]);
}
