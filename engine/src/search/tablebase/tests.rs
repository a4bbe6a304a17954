//! The use of tablebases that know what a test says.

use super::*;
use crate::search::value::MAX_PLY;
use crate::search::{Handler, Info, Limits, SearchResult, Searcher, is_mate, mate_distance};

/// A tablebase of endings of three pieces. White to move has lost.
struct Told {
    wdl: Wdl,
    dtz: fn(&Position) -> Option<i32>,
    fault: Option<&'static str>,
}

impl Tablebase for Told {
    fn most_pieces(&self) -> u32 {
        3
    }

    fn wdl(&self, position: &Position) -> Option<Wdl> {
        assert_eq!(position.occupied().count(), 3);
        Some(if position.side_to_move() == Color::Black { self.wdl } else { Wdl::Loss })
    }

    fn dtz(&self, position: &Position) -> Option<i32> {
        (self.dtz)(position)
    }

    fn take_fault(&self) -> Option<String> {
        self.fault.map(str::to_owned)
    }
}

#[derive(Default)]
struct Notes {
    lines: Vec<(usize, Value, Bound, String)>,
    tbhits: u64,
    faults: Vec<String>,
}

impl Handler for Notes {
    fn line(&mut self, info: &Info<'_>) {
        self.lines.push((info.multipv, info.value, info.bound, info.line[0].to_string()));
        self.tbhits = info.tbhits;
    }

    fn fault(&mut self, text: &str) {
        self.faults.push(text.to_owned());
    }
}

fn game(fen: &str) -> Game {
    Game::new(Position::from_fen(fen).unwrap())
}

fn searcher(wdl: Wdl, dtz: fn(&Position) -> Option<i32>) -> Searcher {
    let mut searcher = crate::tests::fixture::searcher(1);
    searcher.tablebase.tablebase = Some(Arc::new(Told { wdl, dtz, fault: None }));
    searcher
}

fn search(searcher: &mut Searcher, fen: &str, limits: Limits) -> (SearchResult, Notes) {
    let mut notes = Notes::default();
    let result = searcher.search(&game(fen), limits, &mut notes);
    (result, notes)
}

/// White takes the queen, and three pieces are left.
const TAKES: &str = "4k3/8/8/3q4/8/8/3R4/4K3 w - - 0 1";

#[test]
fn a_capture_that_wins_by_the_tablebase_is_worth_a_win() {
    for threads in [1, 2] {
        let mut winning = searcher(Wdl::Loss, |_| None);
        winning.set_threads(threads);
        let (result, notes) = search(&mut winning, TAKES, Limits::depth(6));
        assert_eq!((result.best.unwrap().to_string(), result.value), ("d2d5".to_owned(), table_win_in(1)));
        assert!(notes.tbhits > 0 && !is_mate(result.value) && mate_distance(result.value).is_none());
    }
    // White keeps the rook, but may as well not.
    for wdl in [Wdl::Draw, Wdl::BlessedLoss] {
        let (result, notes) = search(&mut searcher(wdl, |_| None), TAKES, Limits::depth(6));
        assert!(result.value == DRAW && notes.tbhits > 0, "{wdl:?}: {result:?}");
    }
    let mut without_rule = searcher(Wdl::BlessedLoss, |_| None);
    without_rule.tablebase.fifty_moves = false;
    assert_eq!(search(&mut without_rule, TAKES, Limits::depth(6)).0.value, table_win_in(1));
}

#[test]
fn limits_of_probes_are_kept() {
    let all: [fn(&mut Searcher); 3] = [
        |searcher| searcher.tablebase.min_depth = 100,
        |searcher| searcher.tablebase.most_pieces = 2,
        |searcher| searcher.tablebase.tablebase = None,
    ];
    for limit in all {
        let mut searcher = searcher(Wdl::Loss, |_| None);
        limit(&mut searcher);
        let (result, notes) = search(&mut searcher, TAKES, Limits::depth(5));
        assert_eq!((notes.tbhits, result.best.unwrap().to_string()), (0, "d2d5".to_owned()));
        assert!(result.value < table_win_in(MAX_PLY));
    }
    // Who looks for a mate wants to see it.
    let mate = Limits { mate: Some(2), ..Limits::default() };
    let (result, notes) = search(&mut searcher(Wdl::Draw, |_| Some(0)), "7k/8/5K2/8/8/8/8/R7 w - - 0 1", mate);
    assert_eq!((notes.tbhits, mate_distance(result.value)), (0, Some(2)));
}

/// The rook's moves along the first rank win, the sooner the farther right; the others draw.
fn along_the_rank(position: &Position) -> Option<i32> {
    let rook = position.pieces(crate::chess::PieceType::Rook).first()?;
    let is_below = rook.rank() == crate::chess::Rank::ALL[0];
    Some(if is_below { -30 + 2 * rook.file().index() as i32 } else { 0 })
}

const ROOK: &str = "8/8/8/4k3/8/8/8/1R5K w - -";

fn ranks(game: &Game) -> Vec<(String, i32, Value)> {
    let settings = searcher(Wdl::Draw, along_the_rank).tablebase;
    let (endings, ranked) = Endings::new(&settings, game, &game.position().legal_moves(), false);
    assert_eq!((endings.hits() as usize, endings.reach), (ranked.len(), 0));
    ranked.iter().map(|ranked| (ranked.mv.to_string(), ranked.rank, ranked.value.unwrap())).collect()
}

#[test]
fn certain_wins_are_equal_until_progress_is_due() {
    let fresh = ranks(&game(&format!("{ROOK} 0 1")));
    let wins = |ranks: &[(String, i32, Value)]| ranks.iter().filter(|(_, _, value)| *value == TABLE_WIN).count();
    assert!(fresh[0].1 == CERTAIN && fresh[wins(&fresh) - 1].1 == CERTAIN && wins(&fresh) > 5);
    assert_eq!(fresh[wins(&fresh)].2, DRAW);
    // The king's moves leave the rook where it is: 28 plies and the move itself.
    let late = ranks(&game(&format!("{ROOK} 79 90")));
    assert_eq!((late[0].0.as_str(), late[0].1), ("b1g1", CERTAIN));
    assert!(late.iter().any(|(mv, rank, value)| mv == "h1g1" && *rank == DOUBTFUL - 108 && *value == DRAW));
    // A position that has been repeated makes the shortest way the only one.
    let mut repeated = game(&format!("{ROOK} 0 1"));
    for mv in ["h1g1", "e5e4", "g1h1", "e4e5"] {
        repeated.play(repeated.position().parse_uci(mv).unwrap());
    }
    let again = ranks(&repeated);
    assert_eq!(again[0], ("b1g1".to_owned(), DOUBTFUL - 19 - 4, TABLE_WIN));
    assert!(again[1].1 < again[0].1);
}

#[test]
fn lost_games_are_drawn_out_where_fifty_moves_save_them() {
    let settings = TablebaseUse::default();
    let told =
        Told { wdl: Wdl::Win, dtz: |position| Some(30 + position.king(Color::White).index() as i32), fault: None };
    let (endings, _) = Endings::new(&settings, &game(ROOK), &[], false);
    let rank = |clock: u16, mv: &str| {
        let before = game(&format!("8/8/8/4k3/8/8/6q1/K7 w - - {clock} 90"));
        let mut after = before.clone();
        after.play(before.position().parse_uci(mv).unwrap());
        endings.rank_by_dtz(&told, &before, &after).unwrap()
    };
    assert_eq!([rank(0, "a1b1"), rank(60, "a1b1")], [-CERTAIN, -DOUBTFUL + 60 + 32]);
    assert_eq!(endings.value(rank(0, "a1b1")), -TABLE_WIN);
    assert_eq!([endings.value(rank(60, "a1b1")), endings.value(rank(70, "a1b1"))], [-TABLE_WIN, DRAW]);
}

#[test]
fn only_moves_that_keep_the_result_are_played() {
    let fen = format!("{ROOK} 0 1");
    let (result, notes) = search(&mut searcher(Wdl::Draw, along_the_rank), &fen, Limits::depth(5));
    assert_eq!(result.value, TABLE_WIN);
    assert!(notes.tbhits > 10);
    let wins = |mv: &str| mv.starts_with('h') || mv.ends_with('1');
    assert!(wins(&result.best.unwrap().to_string()));
    // Every line has the value of its own move, whatever the window was.
    let mut searcher = searcher(Wdl::Draw, along_the_rank);
    searcher.multipv = 256;
    let (_, notes) = search(&mut searcher, &fen, Limits::depth(4));
    let moves = game(&fen).position().legal_moves().len();
    let last = &notes.lines[notes.lines.len() - moves..];
    for (index, (multipv, value, bound, mv)) in last.iter().enumerate() {
        assert_eq!(*value, if wins(mv) { TABLE_WIN } else { DRAW }, "{mv}");
        assert!(*multipv == index + 1 && *bound == Bound::Exact);
    }
    // Of moves that are asked for, the best.
    let asked = ["b1b2", "b1b3"].map(|mv| game(&fen).position().parse_uci(mv).unwrap());
    let (result, _) = search(&mut searcher, &fen, Limits { search_moves: asked.to_vec(), ..Limits::depth(3) });
    assert!(asked.contains(&result.best.unwrap()) && result.value == DRAW);
}

#[test]
fn without_dtz_results_decide() {
    let fen = format!("{ROOK} 20 30");
    for (wdl, value) in [(Wdl::Loss, TABLE_WIN), (Wdl::BlessedLoss, DRAW), (Wdl::Draw, DRAW), (Wdl::Win, -TABLE_WIN)] {
        let (result, _) = search(&mut searcher(wdl, |_| None), &fen, Limits::depth(3));
        assert_eq!(result.value, value, "{wdl:?}");
    }
}

#[test]
fn tablebase_faults_are_reported() {
    let mut faulty = searcher(Wdl::Draw, |_| None);
    faulty.tablebase.tablebase = Some(Arc::new(Told { wdl: Wdl::Draw, dtz: |_| None, fault: Some("broken") }));
    assert_eq!(search(&mut faulty, TAKES, Limits::depth(2)).1.faults, ["broken"]);
}
