//! The binary formats, read by the crates of those who made them, beside EPD of the same games.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};

use arena::datagen::{Format, play_game};
use bulletformat::{ChessBoard, DataLoader};
use engine::chess::{Color, GameResult};
use viriformat::dataformat::{Game, WDL};

use super::support::{generate, lines, settings};

#[test]
fn bulletformat_holds_what_epd_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.bullet");
    let tally = generate(&path, &settings(Format::Bullet), 800, 2);
    assert_eq!(fs::metadata(&path).unwrap().len(), 32 * tally.kept());
    let mut found = Vec::new();
    DataLoader::<ChessBoard>::new(&path, 1).unwrap().map_batches(100, |batch| found.extend_from_slice(batch));
    // The last game may reach the number in one format and not in the other.
    let mut expected = Vec::new();
    let mut seen = HashSet::new();
    for line in lines(&settings(Format::Epd), 1000) {
        let points = f32::from(line.outcome.half_points(Color::White)) / 2.0;
        let text = format!("{} 0 1 | {} | {points:.1}", line.fields(), line.score);
        let board: ChessBoard = text.parse().unwrap();
        if seen.insert((board.occ, board.pcs)) {
            expected.push(board);
        }
    }
    assert_eq!(found, expected[..found.len()]);
}

#[test]
fn viriformat_holds_the_whole_games() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.viri");
    let settings = settings(Format::Viri);
    let tally = generate(&path, &settings, 2000, 2);
    let mut file = BufReader::new(File::open(&path).unwrap());
    let mut labelled = BTreeMap::new();
    let (mut games, mut moves) = (0, 0);
    while !file.fill_buf().unwrap().is_empty() {
        let found = Game::deserialise_from(&mut file, Vec::new()).unwrap();
        let played = play_game(&settings, games).unwrap().unwrap();
        let outcome = match found.outcome() {
            WDL::Win => GameResult::WhiteWins,
            WDL::Loss => GameResult::BlackWins,
            WDL::Draw => GameResult::Draw,
        };
        assert_eq!((found.initial_position().to_string(), outcome), (played.start.to_fen(), played.outcome));
        let found_moves: Vec<String> = found.moves().map(|mv| mv.display(true).to_string()).collect();
        let played_moves: Vec<String> = played.moves.iter().map(|played| played.mv.to_uci(true)).collect();
        assert_eq!(found_moves, played_moves);
        let mut number = 0;
        found.visit_positions(|position, score| {
            assert_eq!(Some(score), played.moves[number].value);
            number += 1;
            let fen = position.to_string();
            let fields = fen.splitn(5, ' ').take(4).collect::<Vec<_>>().join(" ");
            labelled.insert((games, fields, score), outcome);
        });
        games += 1;
        moves += found.len() as u64;
    }
    assert_eq!((u64::from(games), moves), (tally.games(), tally.kept()));
    // Every line of EPD is in its game.
    let mut beside = 0;
    for line in lines(&super::support::settings(Format::Epd), 500).iter().filter(|line| line.game < games) {
        let fields = line.fields().to_owned();
        // En passant: the other side of the comparison keeps the square though nobody can capture there.
        let Some(outcome) = labelled.get(&(line.game, fields, line.score)) else { continue };
        assert_eq!(*outcome, line.outcome, "{}", line.text);
        beside += 1;
    }
    assert!(beside > 450, "{beside}");
}
