//! Checks of the lines that an engine reports during a search.

use std::time::Duration;

use engine::chess::{Game, GameEnd, Move, Position, Undo};

use super::{Fault, Variant};
use crate::uci_client::{Answer, Info, Score};

/// The result of the checks of a search.
#[derive(Clone, Debug, Default)]
pub(super) struct SearchSummary {
    pub(super) score: Option<Score>,
    pub(super) depth: Option<u32>,
    pub(super) nodes: Option<u64>,
    /// Faults, each with its evidence.
    pub(super) faults: Vec<(Fault, String)>,
}

/// The legal move of a text in the notation of the variant, and in no other.
pub(crate) fn parse_move(position: &Position, text: &str, variant: Variant) -> Option<Move> {
    let mv = position.parse_uci(text).ok()?;
    (mv.to_uci(variant == Variant::Chess960) == text).then_some(mv)
}

/// Parses the `info` lines of a search from the position of `game`, and checks each line.
pub(super) fn check_pv(game: &Game, answer: &Answer, variant: Variant) -> SearchSummary {
    let reported = answer.reported();
    let (score, depth, nodes) = (reported.score, reported.depth, reported.nodes);
    let mut summary = SearchSummary { score, depth, nodes, faults: Vec::new() };
    let mut line = Line::new(game.clone(), variant);
    let mut last_main: Option<(Info<'_>, &str, bool)> = None;
    for text in &answer.infos {
        let Some(info) = Info::parse(text) else { continue };
        let mut is_legal = true;
        if !info.pv.is_empty() {
            match line.follow(&info.pv) {
                LineEnd::Legal => {}
                LineEnd::PastDraw => summary.faults.push((Fault::PvPastDraw, text.clone())),
                LineEnd::Illegal => {
                    is_legal = false;
                    summary.faults.push((Fault::IllegalPv, text.clone()));
                }
            }
        }
        if info.is_main() && !info.pv.is_empty() {
            last_main = Some((info, text, is_legal));
        }
    }
    if !reported.is_scored {
        summary.faults.push((Fault::NoScore, format!("bestmove {}", answer.best_move)));
    }
    // The search of a bound has not ended: its line promises neither a move nor a mate.
    if let Some((info, text, is_legal)) = last_main.filter(|(info, ..)| !info.is_bound) {
        if info.pv.first() != Some(&answer.best_move.as_str()) {
            summary.faults.push((Fault::OtherMove, format!("bestmove {} after {text}", answer.best_move)));
        }
        if is_legal && !line.proves(&info) {
            summary.faults.push((Fault::UnfinishedMate, text.to_owned()));
        }
    }
    summary
}

/// The faults of a search of a position, each with its evidence.
pub(crate) fn search_faults(
    position: &Position,
    best_move: &str,
    lines: &[String],
    variant: Variant,
) -> Vec<(Fault, String)> {
    let game = Game::new(position.clone());
    let answer = Answer { best_move: best_move.to_owned(), elapsed: Duration::ZERO, infos: lines.to_vec() };
    check_pv(&game, &answer, variant).faults
}

/// The validity of a line.
enum LineEnd {
    Legal,
    PastDraw,
    Illegal,
}

/// The line played last; the next one usually shares its beginning.
struct Line {
    game: Game,
    variant: Variant,
    /// The moves played on `game`, with their undo information.
    played: Vec<(String, Move, Undo)>,
    /// After how many moves the game is drawn by history.
    drawn_after: Option<usize>,
}

impl Line {
    fn new(game: Game, variant: Variant) -> Self {
        Line { game, variant, played: Vec::new(), drawn_after: None }
    }

    /// Brings the line to the end of `pv`, or to its first move that is not legal.
    fn follow(&mut self, pv: &[&str]) -> LineEnd {
        let common = self.played.iter().zip(pv).take_while(|((text, ..), word)| text == *word).count();
        while self.played.len() > common
            && let Some((_, mv, undo)) = self.played.pop()
        {
            self.game.unmake(mv, undo);
        }
        self.drawn_after = self.drawn_after.filter(|&after| after <= common);
        for &word in &pv[common..] {
            let Some(mv) = parse_move(self.game.position(), word, self.variant) else {
                return LineEnd::Illegal;
            };
            let undo = self.game.make(mv);
            self.played.push((word.to_owned(), mv, undo));
            let is_drawn = || matches!(self.game.end(), Some(GameEnd::Repetition | GameEnd::FiftyMoves));
            if self.drawn_after.is_none() && is_drawn() {
                self.drawn_after = Some(self.played.len());
            }
        }
        if self.drawn_after.is_some_and(|after| after < pv.len()) { LineEnd::PastDraw } else { LineEnd::Legal }
    }

    /// Returns true if the line of a mate score ends in mate after that many moves.
    fn proves(&mut self, info: &Info<'_>) -> bool {
        let Some(Score::Mate(moves)) = info.score else { return true };
        let plies = if moves > 0 { 2 * i64::from(moves) - 1 } else { -2 * i64::from(moves) };
        let is_long_enough = i64::try_from(info.pv.len()) == Ok(plies);
        if !is_long_enough || matches!(self.follow(&info.pv), LineEnd::Illegal) {
            return false;
        }
        let position = self.game.position();
        position.is_check() && !position.has_legal_move()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(fen: &str, best_move: &str, infos: &[&str]) -> Vec<Fault> {
        let game = Game::new(Position::from_fen(fen).unwrap());
        let infos = infos.iter().map(|&line| line.to_owned()).collect();
        let answer = Answer { best_move: best_move.to_owned(), elapsed: Duration::ZERO, infos };
        check_pv(&game, &answer, Variant::Standard).faults.into_iter().map(|(fault, _)| fault).collect()
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    /// 1. Ra8 is mate.
    const MATE: &str = "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1";

    #[test]
    fn clean_lines_have_no_faults() {
        let infos = ["info depth 1 score cp 10 pv e2e4", "info depth 2 score cp 5 pv e2e4 e7e5 g1f3"];
        assert_eq!(faults(START, "e2e4", &infos), []);
        assert_eq!(faults(MATE, "a1a8", &["info depth 1 score mate 1 pv a1a8"]), []);
    }

    #[test]
    fn every_illegal_line_counts() {
        let infos = [
            "info score cp 10 pv e2e4 e7e5",
            "info score cp 10 pv e2e4 e2e4",
            "info score cp 10 pv e2e4 e7e5 g1f3",
            "info multipv 2 score cp 1 pv E2E4",
            "info score cp 10 pv e2e4",
        ];
        assert_eq!(faults(START, "e2e4", &infos), [Fault::IllegalPv, Fault::IllegalPv]);
        assert_eq!(faults(MATE, "a1a8", &["info score cp 9 pv a1a8 h7h6"]), [Fault::IllegalPv]);
    }

    #[test]
    fn mates_are_to_be_shown() {
        assert_eq!(faults(MATE, "a1a8", &["info score mate 2 pv a1a8"]), [Fault::UnfinishedMate]);
        assert_eq!(faults(MATE, "h1g1", &["info score mate 1 pv h1g1"]), [Fault::UnfinishedMate]);
        assert_eq!(faults(MATE, "h1g1", &["info score mate 1 lowerbound pv h1g1"]), []);
    }

    #[test]
    fn a_bound_is_no_score_and_promises_no_move() {
        let game = Game::new(Position::from_fen(START).unwrap());
        let lines = |infos: &[&str]| Answer {
            best_move: "e2e4".to_owned(),
            elapsed: Duration::ZERO,
            infos: infos.iter().map(|&line| line.to_owned()).collect(),
        };
        let exact = "info depth 5 score cp 13 nodes 10 pv e2e4";
        for bound in ["cp 900 lowerbound", "cp -900 upperbound", "mate 3 lowerbound"] {
            let last = format!("info depth 6 score {bound} nodes 20 pv d2d4");
            let found = check_pv(&game, &lines(&[exact, &last]), Variant::Standard);
            assert_eq!((found.score, found.depth, found.nodes), (Some(Score::Centipawns(13)), Some(5), Some(20)));
            assert_eq!(found.faults, []);
            let alone = check_pv(&game, &lines(&[&last]), Variant::Standard);
            assert_eq!((alone.score, alone.depth, alone.faults), (None, Some(6), vec![]));
        }
    }

    #[test]
    fn lines_after_a_draw_moves_and_scores_count() {
        let shuffle = "g1f3 g8f6 f3g1 f6g8";
        let draw = format!("info score cp 0 pv {shuffle} {shuffle}");
        assert_eq!(faults(START, "g1f3", &[&draw]), []);
        let longer = format!("{draw} e2e4");
        assert_eq!(faults(START, "g1f3", &[&draw, &longer, &draw]), [Fault::PvPastDraw]);
        assert_eq!(faults(START, "e2e4", &["info score cp 0 pv d2d4"]), [Fault::OtherMove]);
        assert_eq!(faults(START, "e2e4", &["info depth 1 pv e2e4"]), [Fault::NoScore]);
        assert_eq!(faults(START, "e2e4", &[]), [Fault::NoScore]);
    }
}
