//! What is kept is quiet, new and labelled as its game ended, by the lights of others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use arena::datagen::{Extent, Filter, Format, SelfGame, Settings, Source, Store, Tally, play_game, run};
use arena::game::{Adjudication, Book, Ending, Variant};
use arena::player::{Effort, Failure};
use arena::schedule::Stop;
use engine::chess::{GameResult, Position};
use engine::search::{Pruning, Quiescence, is_mate};
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, KnownOutcome, Position as _};

use super::support::{Line, lines, settings};

/// Follows a game by another implementation of the rules; its positions by FEN, the last one aside, and that one.
fn follow(game: &SelfGame) -> (Vec<Chess>, Chess) {
    let fen: Fen = game.start.to_fen().parse().unwrap();
    let mut position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
    let mut before = Vec::new();
    for played in &game.moves {
        let uci: UciMove = played.mv.to_string().parse().unwrap();
        let mv = uci.to_move(&position).unwrap();
        before.push(position.clone());
        position.play_unchecked(mv);
    }
    (before, position)
}

fn fields(position: &Chess) -> String {
    let fen = Fen::from_position(position, EnPassantMode::Legal).to_string();
    fen.splitn(5, ' ').take(4).collect::<Vec<_>>().join(" ")
}

/// The result of a game by its last position and its scores.
fn outcome(game: &SelfGame, before: &[Chess], last: &Chess) -> Option<GameResult> {
    let scores =
        |plies: usize| game.moves.iter().rev().take(plies).map(|played| played.value.unwrap()).collect::<Vec<_>>();
    match game.ending {
        Ending::Mate | Ending::Stalemate | Ending::InsufficientMaterial => match last.outcome().known()? {
            KnownOutcome::Draw => Some(GameResult::Draw),
            KnownOutcome::Decisive { winner: Color::White } => Some(GameResult::WhiteWins),
            KnownOutcome::Decisive { winner: Color::Black } => Some(GameResult::BlackWins),
        },
        Ending::FiftyMoves => (last.halfmoves() == 100).then_some(GameResult::Draw),
        Ending::Threefold => {
            let earlier = before.iter().filter(|position| fields(position) == fields(last)).count();
            (earlier == 2).then_some(GameResult::Draw)
        }
        // Four moves of each side within 20.
        Ending::DrawAgreed => scores(8).iter().all(|score| score.abs() <= 20).then_some(GameResult::Draw),
        // Two moves of each side beyond 700.
        Ending::Resigned if scores(4).iter().all(|&score| score >= 700) => Some(GameResult::WhiteWins),
        Ending::Resigned if scores(4).iter().all(|&score| score <= -700) => Some(GameResult::BlackWins),
        _ => None,
    }
}

#[test]
fn labels_are_those_of_the_games_played_again() {
    let settings = settings(Format::Epd);
    let mut games = BTreeMap::new();
    let mut outcomes = BTreeSet::new();
    for line in lines(&settings, 1000) {
        let (game, before, label) = games.entry(line.game).or_insert_with(|| {
            let game = play_game(&settings, line.game).unwrap().unwrap();
            let (before, last) = follow(&game);
            let label =
                outcome(&game, &before, &last).unwrap_or_else(|| panic!("{}: {}", game.name(), game.ending.name()));
            (game, before, label)
        });
        assert_eq!(line.outcome, *label, "{}", line.text);
        let ply = before.iter().position(|position| fields(position) == line.fields()).unwrap();
        // A position may occur twice in its game; it is kept the first time it may be.
        let scored = game
            .positions()
            .skip(ply)
            .any(|(position, played)| position.to_epd_fields() == line.fields() && played.value == Some(line.score));
        assert!(scored, "{}", line.text);
        outcomes.insert(label.name());
    }
    assert!(games.len() > 10 && outcomes.len() == 3, "{} games, {outcomes:?}", games.len());
}

#[test]
fn everything_kept_is_quiet_and_nothing_is_kept_twice() {
    let settings = settings(Format::Epd);
    let mut quiescence = Quiescence::new(&settings.evaluator, Pruning::Exact);
    let mut seen = BTreeSet::new();
    let lines = lines(&settings, 1000);
    for line in &lines {
        assert!(!line.position.is_check(), "{}", line.text);
        assert!(!is_mate(line.score), "{}", line.text);
        let eval = settings.evaluator.evaluate_for_white(&line.position);
        let better = (quiescence.score_for_white(&line.position) - eval) * line.position.side_to_move().sign();
        assert!((0..=10).contains(&better), "{}: {better}", line.text);
        assert!(seen.insert(line.fields().to_owned()), "{}", line.text);
    }
    // What was left out had a reason.
    let men = |position: &Position| position.occupied().count();
    let last = lines.iter().map(|line| line.game).max().unwrap();
    let mut kept = 0;
    for game in (0..=last).filter_map(|number| play_game(&settings, number).unwrap()) {
        let positions: Vec<_> = game.positions().collect();
        for (ply, (position, played)) in positions.iter().enumerate() {
            let after = position.after(played.mv);
            let eval = settings.evaluator.evaluate_for_white(position);
            let better = (quiescence.score_for_white(position) - eval).abs();
            let is_noisy = men(&after) < men(position) || played.mv.promoted().is_some();
            let is_wanted =
                ply >= 3 && !position.is_check() && !is_noisy && !is_mate(played.value.unwrap()) && better <= 10;
            kept += usize::from(is_wanted && seen.remove(&position.to_epd_fields()));
        }
    }
    assert_eq!((kept, seen.len()), (lines.len(), 0));
}

#[test]
fn ends_of_lines_come_from_the_same_games_and_are_what_the_search_had_in_view() {
    let of_game = Settings { effort: Effort::nodes(1000), ..settings(Format::Epd) };
    let of_lines = Settings { filter: Filter { source: Source::PvEnd, ..of_game.filter }, ..of_game.clone() };
    let (from_game, from_lines) = (lines(&of_game, 400), lines(&of_lines, 400));
    for number in 0..3 {
        let [played, with_ends] = [&of_game, &of_lines].map(|settings| play_game(settings, number).unwrap().unwrap());
        assert!(played.line_ends.is_empty());
        assert_eq!((&played.moves, with_ends.moves.len()), (&with_ends.moves, with_ends.line_ends.len()));
        let ends: BTreeSet<(i32, String)> = (with_ends.moves.iter().zip(&with_ends.line_ends))
            .map(|(played, end)| (played.value.unwrap(), end.to_epd_fields()))
            .collect();
        for line in from_lines.iter().filter(|line| line.game == number) {
            assert!(ends.contains(&(line.score, line.fields().to_owned())), "{}", line.text);
        }
    }
    // The search has its score from there: the static evaluation is nearer to it than in the positions of the game.
    let distance = |lines: &[Line]| {
        let of = |line: &Line| of_game.evaluator.evaluate_for_white(&line.position).abs_diff(line.score).min(300);
        lines.iter().map(of).sum::<u32>() / lines.len() as u32
    };
    let [near, far] = [&from_lines, &from_game].map(|lines| distance(lines));
    assert!(2 * near < far, "{near} and {far} centipawns");
}

#[test]
fn a_game_gives_no_more_than_asked_and_some_of_its_best() {
    let mut settings = settings(Format::Epd);
    let all = lines(&settings, 600);
    settings.filter = Filter { per_game: 5, ..settings.filter };
    let some = lines(&settings, 60);
    let count = |game: u32| some.iter().filter(|line| line.game == game).count();
    let games: BTreeSet<u32> = some.iter().map(|line| line.game).collect();
    assert!(games.len() >= 12 && games.iter().all(|&game| count(game) <= 5));
    assert!(games.iter().filter(|&&game| count(game) == 5).count() >= 8);
    // They stand in the order of the game, and are not simply its first.
    let in_both = |game: u32| {
        let texts: Vec<&str> = all.iter().filter(|line| line.game == game).map(|line| &line.text[..]).collect();
        let places =
            some.iter().filter(|line| line.game == game).map(|line| texts.iter().position(|&text| text == line.text));
        places.collect::<Option<Vec<usize>>>()
    };
    let places: Vec<Vec<usize>> = [0, 1, 2].map(|game| in_both(game).unwrap()).into();
    assert!(places.iter().all(|places| places.is_sorted()));
    assert!(places.iter().any(|places| places != &[0, 1, 2, 3, 4]), "{places:?}");
}

#[test]
fn games_begin_in_the_book_and_keep_to_their_limits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("book.epd");
    fs::write(&path, "4k3/pppp4/8/8/8/8/4PPPP/4K3 w - -\n4k3/8/2n5/8/8/5N2/8/4K3 b - -\n").unwrap();
    let book = Book::load(&path, Variant::Standard, None).unwrap();
    let limits =
        Settings { effort: Effort::Nodes { most: 600, soft: Some(60) }, random_plies: 0, ..settings(Format::Epd) };
    let settings = Settings { book: Some(book.clone()), ..limits };
    for number in 0..3 {
        let game = play_game(&settings, number).unwrap().unwrap();
        assert_eq!(game.start, book.opening(number).root);
        let mean = game.nodes / game.moves.len() as u64;
        assert!((60..600).contains(&mean), "{mean}");
    }
    fs::write(&path, "4k3/8/8/8/8/8/8/QQQQK3 w - -\n").unwrap();
    let one_sided = Book::load(&path, Variant::Standard, None).unwrap();
    assert_eq!(play_game(&Settings { book: Some(one_sided), ..settings }, 0).unwrap(), None);
}

#[test]
fn games_without_an_end_are_thrown_away() {
    let folder = tempfile::tempdir().unwrap();
    let endless = Adjudication { max_plies: Some(10), ..Adjudication::default() };
    let settings = Settings { adjudication: endless, ..settings(Format::Epd) };
    let mut store = Store::create(&folder.path().join("data.epd"), &settings, false).unwrap();
    let extent = Extent { positions: 1, threads: 2, chunk: 1 };
    let stop = Stop::default();
    let watch = |tally: &Tally, _: Option<&Failure>| {
        if tally.games() == 5 {
            stop.request();
        }
    };
    run(&settings, &extent, &mut store, &stop, watch).unwrap();
    let tally = store.tally();
    assert_eq!((tally.endings[Ending::MaxPlies.index()], tally.outcomes, tally.positions()), (5, [0; 3], 0));
}

#[test]
fn so_many_of_a_hundred_games_begin_in_double_chess960() {
    let starts = |chess960| -> Vec<Position> {
        let settings = Settings { chess960, random_plies: 0, ..settings(Format::Epd) };
        let limits = Settings { balance: 30_000, balance_nodes: 1, effort: Effort::nodes(20), ..settings };
        (0..60).map(|number| play_game(&limits, number).unwrap().expect("any start is balanced").start).collect()
    };
    let arrays = |position: &Position| {
        let fen = position.to_fen();
        let ranks: Vec<&str> = fen.split(['/', ' ']).collect();
        (ranks[0].to_owned(), ranks[7].to_ascii_lowercase())
    };
    assert!(starts(0).iter().all(|start| *start == Position::start()));
    let half = starts(50).iter().filter(|start| **start != Position::start()).count();
    assert!((15..=45).contains(&half), "{half}");
    let all: Vec<(String, String)> = starts(100).iter().map(arrays).collect();
    assert!(all.iter().filter(|(black, white)| black != white).count() > 50);
    assert!(all.iter().map(|(black, _)| black).collect::<BTreeSet<_>>().len() > 40);
    for (black, white) in &all {
        for array in [black, white] {
            let at = |piece: char| array.match_indices(piece).map(|(file, _)| file).collect::<Vec<_>>();
            let (bishops, rooks, king) = (at('b'), at('r'), at('k'));
            assert!((bishops[0] + bishops[1]) % 2 == 1 && rooks[0] < king[0] && king[0] < rooks[1], "{array}");
        }
    }
    // Each may still castle, in whatever reader.
    let fens = starts(100).iter().map(Position::to_fen).collect::<Vec<_>>();
    for fen in &fens {
        let read: Chess = fen.parse::<Fen>().unwrap().into_position(CastlingMode::Chess960).unwrap();
        assert_eq!(read.castles().castling_rights().count(), 4, "{fen}");
    }
}
