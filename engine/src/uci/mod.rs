//! The Universal Chess Interface.
//!
//! One thread reads, one searches, and the loop between them never blocks on either: `isready` is answered and `stop`
//! obeyed at any time. Commands that need an idle engine wait for the search to end; a search without end is stopped
//! for them. Errors are `info string`s; nothing a GUI sends ends the program but `quit` and the end of input.
//! See <https://backscattering.de/chess/uci/>.

mod command;
mod info;
pub(crate) mod opening;
pub(crate) mod options;
mod wdl;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::time::Instant;

use crate::bench;
use crate::chess::{Color, File, Move, Position, Rank, Square, perft};
use crate::console::{Console, Event, SearchThread, first_word, say};
use crate::genfens::{self, Request};
use crate::search::{Game, Limits, Outcome, Searcher, Signals};
use info::Printer;
use opening::Opening;
pub use options::spsa_inputs;
use options::{Display, Options, Target};

/// Whether the loop goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    On,
    Quit,
}

/// The state of the protocol.
struct Session {
    options: Options,
    display: Display,
    opening: Opening,
    game: Game,
    search: SearchThread,
    /// Whether the running search ends only when it is told to.
    is_endless: bool,
    /// Whether a limit ends the running search once it ponders no more.
    is_limited: bool,
    /// Whether it counts leaves instead of searching.
    is_counting: bool,
    /// Commands that wait for the search to end.
    waiting: VecDeque<String>,
}

/// Speaks UCI until `quit` or the end of input; with `tune`, every search parameter is an option.
pub(crate) fn run(console: &mut Console, tune: bool) {
    let Some(mut session) = Session::new(tune, console.sender()) else { return };
    loop {
        let flow = match console.next() {
            Event::Line(line) => session.handle(&line),
            Event::End => Flow::Quit,
            Event::Done(searcher, outcome) => session.finish(searcher, outcome.as_ref()),
        };
        if flow == Flow::Quit {
            return session.wind_up(console);
        }
    }
}

/// Executes commands one after the other, each when the one before it is done, then returns.
pub fn run_commands(commands: impl IntoIterator<Item = String>, tune: bool) {
    let (sender, receiver) = mpsc::channel();
    let Some(mut session) = Session::new(tune, sender) else { return };
    for command in commands {
        if session.handle(&command) == Flow::Quit {
            break;
        }
        // An endless search has nobody to stop it here.
        while session.search.searcher.is_none() {
            if session.is_endless {
                session.search.signals.stop();
            }
            match receiver.recv() {
                Ok(Event::Done(searcher, outcome)) => session.finish(searcher, outcome.as_ref()),
                _ => return,
            };
        }
    }
}

impl Session {
    fn new(tune: bool, sender: Sender<Event>) -> Option<Self> {
        let search = match SearchThread::start(sender) {
            Ok(search) => search,
            Err(error) => {
                say!("info string error: no memory or no thread for a search: {error}");
                return None;
            }
        };
        Some(Session {
            options: Options::new(tune),
            display: Display::default(),
            opening: Opening::new(),
            game: Game::new(Position::start()),
            search,
            is_endless: false,
            is_limited: false,
            is_counting: false,
            waiting: VecDeque::new(),
        })
    }

    /// Obeys a command, or has it wait until the engine is idle.
    fn handle(&mut self, line: &str) -> Flow {
        let (word, rest) = first_word(line);
        match word {
            "" | "debug" | "register" => {}
            "quit" => return Flow::Quit,
            "uci" => self.identify(),
            "isready" => say!("readyok"),
            "stop" => self.search.signals.stop(),
            "ponderhit" => self.ponderhit(),
            "d" => self.show(),
            "position" | "go" | "setoption" | "ucinewgame" | "eval" | "bench" | "genfens" => {
                self.when_idle(line, word, rest)
            }
            // Some GUIs try other protocols first.
            "xboard" | "protover" => {}
            _ => say!("info string unknown command `{word}`"),
        }
        Flow::On
    }

    fn when_idle(&mut self, line: &str, word: &str, rest: &str) {
        let Some(mut searcher) = self.search.searcher.take() else {
            if self.is_endless {
                self.search.signals.stop();
            }
            self.waiting.push_back(line.to_owned());
            return;
        };
        match word {
            "position" => match command::position(rest) {
                Ok(game) => self.game = game,
                Err(error) => say!("info string error: {error}"),
            },
            "go" => return self.go(searcher, rest),
            "setoption" => self.set_option(&mut searcher, rest),
            "ucinewgame" => searcher.forget(),
            "eval" => say!("{}", searcher.evaluator().breakdown(self.game.position())),
            "genfens" => self.make_openings(&searcher, rest),
            _ => match bench::run(bench::DEPTH, &searcher, |_, _| {}) {
                Ok(report) => say!("{report}"),
                Err(error) => say!("info string error: bench: {error}"),
            },
        }
        self.search.searcher = Some(searcher);
    }

    /// Prints openings as OpenBench reads them.
    fn make_openings(&self, searcher: &Searcher, rest: &str) {
        let print = |position: &Position| say!("info string genfens {}", self.fen(position));
        let made = Request::parse(rest).and_then(|it| genfens::generate(&it, searcher.shared_evaluator(), print));
        if let Err(error) = made {
            say!("info string error: genfens: {error}");
        }
    }

    fn fen(&self, position: &Position) -> String {
        if self.display.chess960 { position.to_shredder_fen() } else { position.to_fen() }
    }

    fn identify(&self) {
        say!("id name Merino {}", env!("CARGO_PKG_VERSION"));
        say!("id author {}", env!("CARGO_PKG_AUTHORS"));
        self.options.declarations().for_each(|line| say!("{line}"));
        say!("uciok");
    }

    fn set_option(&mut self, searcher: &mut Searcher, rest: &str) {
        let Some(body) = rest.strip_prefix("name") else {
            say!("info string error: setoption: expected `name`");
            return;
        };
        let (name, value) = match body.split_once(" value") {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (body.trim(), None),
        };
        let mut target = Target { searcher, display: &mut self.display, opening: &mut self.opening };
        if let Err(message) = self.options.set(&mut target, name, value) {
            say!("info string {message}");
        }
    }

    /// Starts a search, or counts leaves.
    fn go(&mut self, searcher: Box<Searcher>, rest: &str) {
        let start = Instant::now();
        if let ("perft", depth) = first_word(rest) {
            return self.perft(searcher, depth);
        }
        let (mut limits, notes) = command::limits(rest, self.game.position());
        notes.iter().for_each(|note| say!("info string error: {note}"));
        let book_move = if searcher.analyse { None } else { self.opening.choose(self.game.position(), &limits) };
        if let Some(mv) = book_move {
            say!("info string book move {}", mv.to_uci(self.display.chess960));
            // The shortest search of that move alone gives what GUIs need to see: a score and a line.
            limits = Limits { search_moves: vec![mv], ..Limits::depth(1) };
        }
        self.is_limited = !limits.infinite && limits != unlimited(&limits);
        self.is_endless = limits.ponder || !self.is_limited;
        self.search.signals.reset(limits.ponder);
        let game = self.game.clone();
        let mut printer = Printer { display: self.display, scale: searcher.evaluator().scale() };
        self.search.lend(searcher, move |searcher| Some(searcher.search_since(start, &game, limits, &mut printer)));
    }

    /// Counts the leaves below each move, in a thread of its own; what `stop` has interrupted is not told.
    fn perft(&mut self, searcher: Box<Searcher>, depth: &str) {
        let Ok(depth @ 1..=20) = depth.parse::<u32>() else {
            say!("info string error: go perft: expected a depth from 1 to 20, found `{depth}`");
            self.search.searcher = Some(searcher);
            return;
        };
        self.is_counting = true;
        self.search.signals.reset(false);
        let (position, display) = (self.game.position().clone(), self.display);
        let signals = Arc::clone(&self.search.signals);
        self.search.lend(searcher, move |_| {
            let mut total = 0;
            for &mv in &position.legal_moves() {
                let leaves = count_leaves(&position.after(mv), depth - 1, &signals);
                if signals.is_stopped() {
                    break;
                }
                total += leaves;
                say!("{}: {leaves}", mv.to_uci(display.chess960));
            }
            say!("nodes {total}");
            None
        });
    }

    fn ponderhit(&mut self) {
        self.search.signals.ponderhit();
        self.is_endless &= !self.is_limited;
    }

    /// Says what a search came to, and turns to the commands that have waited for its end.
    fn finish(&mut self, searcher: Box<Searcher>, outcome: Option<&Outcome>) -> Flow {
        self.search.searcher = Some(searcher);
        self.is_endless = false;
        self.is_counting = false;
        let name = |mv: Move| mv.to_uci(self.display.chess960);
        match outcome.map(|outcome| (outcome.best, outcome.ponder)) {
            Some((Some(best), Some(ponder))) => say!("bestmove {} ponder {}", name(best), name(ponder)),
            Some((Some(best), None)) => say!("bestmove {}", name(best)),
            Some((None, _)) => say!("bestmove 0000"),
            None => {}
        }
        while self.search.searcher.is_some() {
            let Some(line) = self.waiting.pop_front() else { break };
            if self.handle(&line) == Flow::Quit {
                return Flow::Quit;
            }
        }
        Flow::On
    }

    /// Stops the search and lets it say its move.
    fn wind_up(&mut self, console: &mut Console) {
        self.search.signals.stop();
        self.waiting.clear();
        while self.search.searcher.is_none() && !self.is_counting {
            if let Event::Done(searcher, outcome) = console.next() {
                self.finish(searcher, outcome.as_ref());
            }
        }
    }

    /// Draws the board.
    fn show(&self) {
        let position = self.game.position();
        for rank in Rank::ALL.into_iter().rev() {
            let letter = |file: File| position.piece_on(Square::new(file, rank)).map_or('.', |piece| piece.letter());
            let row: Vec<String> = File::ALL.into_iter().map(|file| letter(file).to_string()).collect();
            say!("{}  {}", rank.index() + 1, row.join(" "));
        }
        say!("   a b c d e f g h");
        say!("fen {}", self.fen(position));
        say!("key {:016x}", position.key());
        let side = if position.side_to_move() == Color::White { "white" } else { "black" };
        let check = if position.is_check() { ", in check" } else { "" };
        say!("{side} to move{check}, {} legal moves", position.legal_moves().len());
    }
}

/// [`perft`] that ends soon after the word to stop, with a number that means nothing then.
fn count_leaves(position: &Position, depth: u32, signals: &Signals) -> u64 {
    // So many plies are counted in milliseconds.
    const UNINTERRUPTED: u32 = 4;
    if depth <= UNINTERRUPTED {
        return perft(position, depth);
    }
    let moves = position.legal_moves();
    let going_on = moves.iter().take_while(|_| !signals.is_stopped());
    going_on.map(|&mv| count_leaves(&position.after(mv), depth - 1, signals)).sum()
}

/// The same limits with nothing that ends a search.
fn unlimited(limits: &Limits) -> Limits {
    Limits { search_moves: limits.search_moves.clone(), ponder: limits.ponder, ..Limits::default() }
}
