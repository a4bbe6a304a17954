//! Games, searches, moves and answers of the engine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::clock::still_fits;
use super::record::{MoveError, Record, write_end, write_move};
use super::thinking::{LastLine, Output, Reporter, RootProgress};
use super::{ActiveSearch, Mode, Purpose, Session};
use crate::chess::{Color, Game, Move, Position};
use crate::queue::Urgency;
use crate::search::{Limits, SearchResult, Searcher, Value};
use common::out;

/// Limits of a search for an expected move.
const GUESS_DEPTH: i32 = 8;
const GUESS_TIME: Duration = Duration::from_millis(100);

/// From this move on, the engine accepts a draw unless it is better.
const LATE: u16 = 40;

/// Before that, it accepts a draw if it is worse by so many centipawns.
const WORSE: Value = 100;

impl Session {
    /// Begins a game; the engine plays Black, or goes on analysing.
    pub(super) fn new_game(&mut self) {
        if let Some(searcher) = &mut self.search.searcher {
            searcher.clear();
        }
        if self.mode != Mode::Analyze {
            self.mode = Mode::Plays(Color::Black);
        }
        self.chess960 = false;
        self.clock.restart();
        self.set_up(Position::start());
    }

    pub(super) fn set_board(&mut self, fen: &str) {
        match Position::from_fen(fen) {
            Ok(position) => self.set_up(position),
            Err(error) => {
                self.has_illegal_position = true;
                self.position_changed();
                out!("tellusererror Illegal position: {error}");
            }
        }
    }

    fn set_up(&mut self, position: Position) {
        self.record = Record::new(position);
        self.clock.recount(0);
        self.has_illegal_position = false;
        self.value = None;
        self.is_draw_offered = false;
        self.position_changed();
    }

    /// Discards what was known about the old position.
    pub(super) fn position_changed(&mut self) {
        self.expected = None;
        self.may_ponder = false;
    }

    pub(super) fn take_back(&mut self, plies: usize, line: &str) {
        if self.record.take_back(plies) {
            self.position_changed();
        } else {
            out!("Error (no move to take back): {line}");
        }
    }

    /// Plays the side to move.
    pub(super) fn go(&mut self) {
        self.mode = Mode::Plays(self.record.position().side_to_move());
        self.think();
    }

    /// Plays the side that is not to move.
    pub(super) fn play_other(&mut self) {
        self.mode = Mode::Plays(!self.record.position().side_to_move());
        self.may_ponder = true;
    }

    /// Returns true if the running search continues after a move: the move is illegal, or it is the expected one.
    pub(super) fn keeps_search(&self, text: &str) -> bool {
        let (Some(run), Ok(mv)) = (&self.active, self.record.read_move(text)) else { return true };
        let is_expected = run.purpose == Purpose::Pondering && self.expected == Some(mv);
        is_expected && still_fits(&run.limits, &self.limits(!self.record.position().side_to_move()))
    }

    /// Plays a move of the interface, and answers it if it is the engine's turn.
    pub(super) fn user_move(&mut self, text: &str) {
        if self.has_illegal_position {
            return out!("Illegal move (no legal position): {text}");
        }
        let mv = match self.record.read_move(text) {
            Ok(mv) => mv,
            Err(MoveError::Illegal) => return out!("Illegal move: {text}"),
            Err(MoveError::Ambiguous) => return out!("Error (ambiguous move): {text}"),
        };
        self.record.play(mv);
        self.position_changed();
        if let Some(run) = &mut self.active {
            // The expected move: the search becomes that for the answer, on the engine's time.
            (run.purpose, run.start) = (Purpose::Thinking, Instant::now());
            self.monitor.ponderhit();
            self.search.signals.ponderhit();
        } else if self.mode == Mode::Plays(self.record.position().side_to_move()) {
            self.think();
        }
    }

    /// Searches for the engine's move, unless the game is over.
    fn think(&mut self) {
        if let Some(end) = self.record.game().end() {
            return out!("{}", write_end(end));
        }
        let mut limits = self.limits(self.record.position().side_to_move());
        if let Some(mv) = self.opening.choose(self.record.position(), &limits) {
            // The shortest search of that move alone gives it a score and a line.
            limits = Limits { search_moves: vec![mv], ..Limits::depth(1) };
        }
        self.search(Purpose::Thinking, self.record.game().clone(), limits);
    }

    /// The limits of a side's next move.
    fn limits(&self, color: Color) -> Limits {
        self.clock.limits(self.record.moves_by(color, self.clock.since()))
    }

    /// Starts analysis or pondering when nothing else runs.
    pub(super) fn search_when_idle(&mut self) {
        if self.active.is_some() || self.has_illegal_position || self.is_input_closed {
            return;
        }
        match self.mode {
            Mode::Analyze => {
                let limits = Limits { infinite: true, ..Limits::default() };
                self.search(Purpose::Analysing, self.record.game().clone(), limits);
            }
            Mode::Plays(color) if self.ponders && self.may_ponder => self.ponder(color),
            Mode::Plays(_) | Mode::Force => {}
        }
    }

    /// Ponders for `color` on the expected move, or first searches for a move to expect.
    fn ponder(&mut self, color: Color) {
        if self.record.position().side_to_move() == color || self.record.game().is_over() {
            return;
        }
        let Some(expected) = self.expected else { return self.guess(false) };
        let game = self.record.after(expected);
        let limits = self.limits(color);
        let is_in_book = self.opening.choose(game.position(), &limits).is_some();
        if !game.is_over() && !is_in_book {
            self.search(Purpose::Pondering, game, Limits { ponder: true, ..limits });
        }
    }

    /// Searches briefly for a good move of the side to move.
    fn guess(&mut self, is_hint: bool) {
        let limits = Limits { depth: Some(GUESS_DEPTH), move_time: Some(GUESS_TIME), ..Limits::default() };
        self.search(Purpose::Guessing { is_hint }, self.record.game().clone(), limits);
    }

    /// Turns pondering on or off.
    pub(super) fn set_ponders(&mut self, on: bool) {
        self.ponders = on;
        if !on && matches!(self.purpose(), Some(Purpose::Pondering | Purpose::Guessing { is_hint: false })) {
            self.interrupt();
        }
    }

    /// Starts a search, unless a waiting command would discard it.
    fn search(&mut self, purpose: Purpose, game: Game, limits: Limits) {
        if self.queue.urgency() == Urgency::Discard {
            return;
        }
        let Some(mut searcher) = self.search.searcher.take() else { return };
        let start = Instant::now();
        searcher.analyse = purpose == Purpose::Analysing;
        self.search.signals.reset(limits.ponder);
        self.monitor.restart();
        let mut reporter = Reporter {
            monitor: Arc::clone(&self.monitor),
            output: match purpose {
                Purpose::Thinking | Purpose::Pondering => Output::IfPosted,
                Purpose::Analysing => Output::Always,
                Purpose::Guessing { .. } | Purpose::Discarded => Output::Never,
            },
            board: self.record.position().clone(),
            expected: self.expected.filter(|_| purpose == Purpose::Pondering),
        };
        self.active = Some(ActiveSearch { purpose, start, limits: limits.clone() });
        self.search.spawn(searcher, move |searcher| Some(searcher.search_since(start, &game, limits, &mut reporter)));
    }

    /// Takes the searcher back, handles the result, and continues with the queue.
    pub(super) fn finish(&mut self, searcher: Box<Searcher>, outcome: Option<&SearchResult>) {
        self.search.searcher = Some(searcher);
        match (self.active.take(), outcome) {
            (Some(ActiveSearch { purpose: Purpose::Thinking, start, .. }), Some(outcome)) => self.play(start, outcome),
            (
                Some(ActiveSearch { purpose: Purpose::Guessing { is_hint }, .. }),
                Some(&SearchResult { best: Some(best), .. }),
            ) => {
                self.expected = Some(best);
                if is_hint {
                    self.print_hint(best);
                }
            }
            _ => {}
        }
        self.process_queue();
    }

    /// Makes the engine's move; its clock has run since `start`.
    fn play(&mut self, start: Instant, outcome: &SearchResult) {
        let Some(best) = outcome.best else { return };
        let color = self.record.position().side_to_move();
        self.value = Some(outcome.value);
        if std::mem::take(&mut self.is_draw_offered) {
            self.answer_draw_offer();
        }
        self.record.play(best);
        out!("move {}", write_move(best, self.chess960));
        self.clock.spend(start.elapsed(), self.record.moves_by(color, self.clock.since()));
        self.position_changed();
        self.expected = outcome.ponder;
        self.may_ponder = true;
        if let Some(end) = self.record.game().end() {
            out!("{}", write_end(end));
        }
    }

    /// Answers a draw offer. While the engine thinks, it answers with its move.
    pub(super) fn answer_draw_offer(&mut self) {
        if self.purpose() == Some(Purpose::Thinking) {
            self.is_draw_offered = true;
            return;
        }
        let is_late = self.record.position().fullmove_number() >= LATE;
        let enough = if is_late { 0 } else { -WORSE };
        if matches!(self.mode, Mode::Plays(_)) && self.value.is_some_and(|value| value <= enough) {
            out!("offer draw");
        }
    }

    /// Suggests a move for the position on the board, after a short search if none is expected.
    pub(super) fn hint(&mut self) {
        let last_line = self.monitor.last_line().filter(|_| self.purpose() == Some(Purpose::Analysing));
        match (&mut self.active, last_line.map(|last_line| last_line.best).or(self.expected)) {
            (_, Some(mv)) => self.print_hint(mv),
            (Some(ActiveSearch { purpose: Purpose::Guessing { is_hint }, .. }), None) => *is_hint = true,
            (Some(_), None) => {}
            (None, None) if self.has_illegal_position || !self.record.position().has_legal_move() => {}
            (None, None) => self.guess(true),
        }
    }

    fn print_hint(&self, mv: Move) {
        out!("Hint: {}", write_move(mv, self.chess960));
    }

    /// Prints the moves of the book, indented, with an empty line at the end.
    pub(super) fn print_book(&self) {
        let position = self.record.position();
        let moves = self.opening.book.as_ref().map_or(Vec::new(), |book| book.moves(position));
        if moves.is_empty() {
            out!(" no book moves");
        }
        for (mv, weight) in moves {
            out!(" {:7} weight {weight}", position.to_san(mv));
        }
        out!("");
    }

    /// Prints the progress of a search: after its first seconds with the current root move, before that for the last
    /// finished iteration.
    pub(super) fn print_status(&self) {
        let (Some(run), Some(LastLine { depth, nodes, .. })) = (&self.active, self.monitor.last_line()) else { return };
        let centiseconds = run.start.elapsed().as_millis() / 10;
        let moves = self.record.position().legal_moves().len();
        match self.monitor.root() {
            Some(RootProgress { depth, mv, number }) => {
                let (left, text) = (moves.saturating_sub(number), write_move(mv, self.chess960));
                out!("stat01: {centiseconds} {nodes} {depth} {left} {moves} {text}");
            }
            None => out!("stat01: {centiseconds} {nodes} {depth} 0 {moves}"),
        }
    }
}
