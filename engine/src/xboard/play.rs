//! What the engine does with the board: its games, its searches, its moves and its answers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::clock::still_fits;
use super::record::{Record, Refusal, write_end, write_move};
use super::thinking::{AtRoot, Reporter, Seen, Voice};
use super::{Mode, Purpose, Run, Session};
use crate::chess::{Color, Game, Move, Position};
use crate::console::say;
use crate::queue::Haste;
use crate::search::{Limits, SearchResult, Searcher, Value};

/// What is spent on guessing a move, in plies and at most in time.
const GUESS_DEPTH: i32 = 8;
const GUESS_TIME: Duration = Duration::from_millis(100);

/// From this move on, a draw is as good as any position that is not better.
const LATE: u16 = 40;

/// Before that, a position is given up for a draw if it is worse by so many centipawns.
const WORSE: Value = 100;

impl Session {
    /// Begins a game; the engine plays Black, or goes on analysing.
    pub(super) fn new_game(&mut self) {
        if let Some(searcher) = &mut self.search.searcher {
            searcher.forget();
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
                self.is_void = true;
                self.position_changed();
                say!("tellusererror Illegal position: {error}");
            }
        }
    }

    fn set_up(&mut self, position: Position) {
        self.record = Record::new(position);
        self.clock.recount(0);
        self.is_void = false;
        self.value = None;
        self.is_draw_offered = false;
        self.position_changed();
    }

    /// Whatever was known about the position is about another one.
    pub(super) fn position_changed(&mut self) {
        self.expected = None;
        self.may_ponder = false;
    }

    pub(super) fn take_back(&mut self, plies: usize, line: &str) {
        if self.record.take_back(plies) {
            self.position_changed();
        } else {
            say!("Error (no move to take back): {line}");
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

    /// Whether a move does not disturb the search that runs: it cannot be played, or it is what the search expects.
    pub(super) fn leaves_search_alone(&self, text: &str) -> bool {
        let (Some(run), Ok(mv)) = (&self.run, self.record.read_move(text)) else { return true };
        let is_expected = run.purpose == Purpose::Pondering && self.expected == Some(mv);
        is_expected && still_fits(&run.limits, &self.limits(!self.record.position().side_to_move()))
    }

    /// Plays a move of the interface, and answers it if that is for the engine to do.
    pub(super) fn user_move(&mut self, text: &str) {
        if self.is_void {
            return say!("Illegal move (no legal position): {text}");
        }
        let mv = match self.record.read_move(text) {
            Ok(mv) => mv,
            Err(Refusal::Illegal) => return say!("Illegal move: {text}"),
            Err(Refusal::Ambiguous) => return say!("Error (ambiguous move): {text}"),
        };
        self.record.play(mv);
        self.position_changed();
        if let Some(run) = &mut self.run {
            // The expected move: from now on the search is for the answer, on the engine's time.
            (run.purpose, run.start) = (Purpose::Thinking, Instant::now());
            self.monitor.hit();
            self.search.signals.ponderhit();
        } else if self.mode == Mode::Plays(self.record.position().side_to_move()) {
            self.think();
        }
    }

    /// Looks for the engine's move, unless the game is over.
    fn think(&mut self) {
        if let Some(end) = self.record.game().end() {
            return say!("{}", write_end(end));
        }
        let mut limits = self.limits(self.record.position().side_to_move());
        if let Some(mv) = self.opening.choose(self.record.position(), &limits) {
            // The shortest search of that move alone gives it a score and a line.
            limits = Limits { search_moves: vec![mv], ..Limits::depth(1) };
        }
        self.search(Purpose::Thinking, self.record.game().clone(), limits);
    }

    /// What the next move of a side has to keep to.
    fn limits(&self, color: Color) -> Limits {
        self.clock.limits(self.record.moves_by(color, self.clock.since()))
    }

    /// When nothing waits: thinks about the position on the board, or on the opponent's time.
    pub(super) fn carry_on(&mut self) {
        if self.run.is_some() || self.is_void || self.is_leaving {
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

    /// Thinks about the answer of `color` to the move it expects, or guesses what to expect.
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

    /// Looks, not for long, for a good move of the side to move.
    fn guess(&mut self, aloud: bool) {
        let limits = Limits { depth: Some(GUESS_DEPTH), move_time: Some(GUESS_TIME), ..Limits::default() };
        self.search(Purpose::Guessing { aloud }, self.record.game().clone(), limits);
    }

    /// Turns pondering on or off.
    pub(super) fn set_ponders(&mut self, on: bool) {
        self.ponders = on;
        if !on && matches!(self.purpose(), Some(Purpose::Pondering | Purpose::Guessing { aloud: false })) {
            self.interrupt();
        }
    }

    /// Sends the searcher off, unless a command that waits will have no use for what it finds.
    fn search(&mut self, purpose: Purpose, game: Game, limits: Limits) {
        if self.queue.haste() == Haste::Discard {
            return;
        }
        let Some(mut searcher) = self.search.searcher.take() else { return };
        let start = Instant::now();
        searcher.analyse = purpose == Purpose::Analysing;
        self.search.signals.reset(limits.ponder);
        self.monitor.restart();
        let mut reporter = Reporter {
            monitor: Arc::clone(&self.monitor),
            voice: match purpose {
                Purpose::Thinking | Purpose::Pondering => Voice::Posted,
                Purpose::Analysing => Voice::Aloud,
                Purpose::Guessing { .. } | Purpose::Discarded => Voice::Silent,
            },
            board: self.record.position().clone(),
            expected: self.expected.filter(|_| purpose == Purpose::Pondering),
        };
        self.run = Some(Run { purpose, start, limits: limits.clone() });
        self.search.lend(searcher, move |searcher| Some(searcher.search_since(start, &game, limits, &mut reporter)));
    }

    /// Takes the searcher back and makes use of what it has found, then of the time.
    pub(super) fn finish(&mut self, searcher: Box<Searcher>, outcome: Option<&SearchResult>) {
        self.search.searcher = Some(searcher);
        match (self.run.take(), outcome) {
            (Some(Run { purpose: Purpose::Thinking, start, .. }), Some(outcome)) => self.play(start, outcome),
            (Some(Run { purpose: Purpose::Guessing { aloud }, .. }), Some(&SearchResult { best: Some(best), .. })) => {
                self.expected = Some(best);
                if aloud {
                    self.say_hint(best);
                }
            }
            _ => {}
        }
        self.attend();
    }

    /// Makes the engine's move, for which its clock has run since `start`.
    fn play(&mut self, start: Instant, outcome: &SearchResult) {
        let Some(best) = outcome.best else { return };
        let color = self.record.position().side_to_move();
        self.value = Some(outcome.value);
        if std::mem::take(&mut self.is_draw_offered) {
            self.consider_draw();
        }
        self.record.play(best);
        say!("move {}", write_move(best, self.chess960));
        self.clock.spend(start.elapsed(), self.record.moves_by(color, self.clock.since()));
        self.position_changed();
        self.expected = outcome.ponder;
        self.may_ponder = true;
        if let Some(end) = self.record.game().end() {
            say!("{}", write_end(end));
        }
    }

    /// Accepts a draw that the opponent offers, or leaves it. While the engine thinks, the answer has time until its
    /// move.
    pub(super) fn consider_draw(&mut self) {
        if self.purpose() == Some(Purpose::Thinking) {
            self.is_draw_offered = true;
            return;
        }
        let is_late = self.record.position().fullmove_number() >= LATE;
        let enough = if is_late { 0 } else { -WORSE };
        if matches!(self.mode, Mode::Plays(_)) && self.value.is_some_and(|value| value <= enough) {
            say!("offer draw");
        }
    }

    /// Suggests a move for the position on the board; it may take a guess.
    pub(super) fn hint(&mut self) {
        let seen = self.monitor.seen().filter(|_| self.purpose() == Some(Purpose::Analysing));
        match (&mut self.run, seen.map(|seen| seen.best).or(self.expected)) {
            (_, Some(mv)) => self.say_hint(mv),
            (Some(Run { purpose: Purpose::Guessing { aloud }, .. }), None) => *aloud = true,
            (Some(_), None) => {}
            (None, None) if self.is_void || !self.record.position().has_legal_move() => {}
            (None, None) => self.guess(true),
        }
    }

    fn say_hint(&self, mv: Move) {
        say!("Hint: {}", write_move(mv, self.chess960));
    }

    /// Shows the moves of the book, the lines indented, with an empty one at the end.
    pub(super) fn say_book(&self) {
        let position = self.record.position();
        let moves = self.opening.book.as_ref().map_or(Vec::new(), |book| book.moves(position));
        if moves.is_empty() {
            say!(" no book moves");
        }
        for (mv, weight) in moves {
            say!(" {:7} weight {weight}", position.to_san(mv));
        }
        say!("");
    }

    /// Says how far a search is: after its first seconds with the move at the root, before that by the last iteration
    /// that was finished, of which no move is left.
    pub(super) fn say_status(&self) {
        let (Some(run), Some(Seen { depth, nodes, .. })) = (&self.run, self.monitor.seen()) else { return };
        let centiseconds = run.start.elapsed().as_millis() / 10;
        let moves = self.record.position().legal_moves().len();
        match self.monitor.root() {
            Some(AtRoot { depth, mv, number }) => {
                let (left, text) = (moves.saturating_sub(number), write_move(mv, self.chess960));
                say!("stat01: {centiseconds} {nodes} {depth} {left} {moves} {text}");
            }
            None => say!("stat01: {centiseconds} {nodes} {depth} 0 {moves}"),
        }
    }
}
