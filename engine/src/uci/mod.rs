//! The Universal Chess Interface.
//!
//! One thread reads, one searches, and the loop between them never blocks on either: `isready` is answered and `stop`
//! obeyed at any time. Commands that need an idle engine wait, in a queue, for the search to end, or for the bench or
//! whatever else its thread does. A search without end is stopped for them, and `stop` is for every `go` before it, be it
//! that some of them still wait; each `go` is answered by one `bestmove`. After a position that was refused there is
//! none, and the answer is `bestmove 0000`, until the next `position` or `ucinewgame`, which sets up the start.
//! Errors are `info string`s; nothing a GUI sends ends the program but `quit` and the end of input.
//! See <https://backscattering.de/chess/uci/>.

mod command;
mod info;
mod wdl;
mod work;

use std::sync::mpsc::{self, Sender};
use std::time::Instant;

use crate::chess::{Color, File, Game, Move, Position, Rank, Square};
use crate::console::{Console, Event, SearchThread, first_word, say};
use crate::genfens::Request;
use crate::opening::Opening;
use crate::options::{Display, Options, Target};
use crate::queue::{Haste, Queue};
use crate::search::{Limits, SearchResult, Searcher};
use info::Printer;

/// Whether the loop goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    On,
    Quit,
}

/// What the searcher is away for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    Search {
        ponders: bool,
        /// Whether a limit ends it once it ponders no more.
        is_limited: bool,
    },
    Perft,
    /// The bench, or openings.
    Workload,
}

impl Task {
    /// Whether it ends only when it is told to.
    fn is_endless(self) -> bool {
        matches!(self, Task::Search { ponders, is_limited } if ponders || !is_limited)
    }
}

/// The state of the protocol.
struct Session {
    options: Options,
    display: Display,
    opening: Opening,
    /// None if the last one was refused.
    game: Option<Game>,
    search: SearchThread,
    /// While the searcher is away.
    task: Option<Task>,
    /// Commands that wait for it.
    queue: Queue<String>,
    /// Whether the input has ended.
    is_leaving: bool,
}

/// Speaks UCI until `quit` or the end of input; with `tune`, every search parameter is an option.
pub(crate) fn run(console: &mut Console, tune: bool) {
    let Some(mut session) = Session::new(tune, console.sender()) else { return };
    loop {
        match console.next() {
            Event::Line(line) => {
                if session.receive(&line) == Flow::Quit {
                    return session.quit(console);
                }
            }
            Event::Done(searcher, outcome) => session.finish(searcher, outcome.as_ref()),
            Event::End => return session.wind_up(console),
        }
    }
}

/// Executes commands one after the other, each when the one before it is done, then returns.
pub fn run_commands(commands: impl IntoIterator<Item = String>, tune: bool) {
    let (sender, receiver) = mpsc::channel();
    let Some(mut session) = Session::new(tune, sender) else { return };
    for command in commands {
        if session.receive(&command) == Flow::Quit {
            break;
        }
        while let Some(task) = session.task {
            // An endless search has nobody to stop it here.
            if task.is_endless() {
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
            game: Some(Game::new(Position::start())),
            search,
            task: None,
            queue: Queue::new(),
            is_leaving: false,
        })
    }

    /// Takes a line in: to be obeyed now, or when its time has come.
    fn receive(&mut self, line: &str) -> Flow {
        match first_word(line).0 {
            "" | "debug" | "register" => {}
            "quit" => return Flow::Quit,
            "uci" => self.identify(),
            "isready" => say!("readyok"),
            "stop" => self.enqueue(line, Haste::Stop),
            "ponderhit" | "d" | "position" | "go" | "setoption" | "ucinewgame" | "eval" | "bench" | "genfens" => {
                self.enqueue(line, Haste::None);
            }
            // Some GUIs try other protocols first.
            "xboard" | "protover" => {}
            word => say!("info string unknown command `{word}`"),
        }
        Flow::On
    }

    fn enqueue(&mut self, line: &str, haste: Haste) {
        self.queue.push(line.to_owned(), haste);
        self.attend();
    }

    /// Obeys what waits, as far as it can be obeyed now, and stops what is not to go on.
    fn attend(&mut self) {
        while self.queue.front().is_some_and(|line| self.task.is_none() || needs_no_searcher(line))
            && let Some(line) = self.queue.pop()
        {
            self.obey(&line);
        }
        let Some(task) = self.task else { return };
        let is_hurried = self.queue.haste() != Haste::None || self.is_leaving && task != Task::Workload;
        if is_hurried || task.is_endless() && !self.queue.is_empty() {
            self.search.signals.stop();
        }
    }

    /// Obeys a command; nothing it cannot be obeyed beside is running.
    fn obey(&mut self, line: &str) {
        let (word, rest) = first_word(line);
        match word {
            "ponderhit" => self.ponderhit(),
            "d" => self.show(),
            "position" => self.set_position(rest),
            "go" => self.go(rest),
            "setoption" => self.set_option(rest),
            "ucinewgame" => self.new_game(),
            "eval" => self.explain(),
            "bench" => self.work(Task::Workload, work::play_bench),
            "genfens" => self.make_openings(rest),
            // What it was to stop has ended.
            _ => {}
        }
    }

    fn identify(&self) {
        say!("id name Merino {}", env!("CARGO_PKG_VERSION"));
        say!("id author {}", env!("CARGO_PKG_AUTHORS"));
        self.options.declarations().for_each(|line| say!("{line}"));
        say!("uciok");
    }

    fn set_position(&mut self, rest: &str) {
        let game = command::position(rest);
        self.game = game.map_err(|error| say!("info string error: {error}")).ok();
    }

    /// The game, or a word about why there is none.
    fn game(&self) -> Option<&Game> {
        if self.game.is_none() {
            say!("info string error: no position: the last one was refused");
        }
        self.game.as_ref()
    }

    fn new_game(&mut self) {
        if let Some(searcher) = &mut self.search.searcher {
            searcher.forget();
        }
        self.game = Some(Game::new(Position::start()));
    }

    fn explain(&self) {
        if let (Some(searcher), Some(game)) = (&self.search.searcher, self.game()) {
            say!("{}", searcher.evaluator().breakdown(game.position()));
        }
    }

    fn set_option(&mut self, rest: &str) {
        let Some(searcher) = &mut self.search.searcher else { return };
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
    fn go(&mut self, rest: &str) {
        let start = Instant::now();
        if let ("perft", depth) = first_word(rest) {
            return self.perft(depth);
        }
        let Some(game) = self.game().cloned() else { return say!("bestmove 0000") };
        let Some(searcher) = self.search.searcher.take() else { return };
        let (mut limits, notes) = command::limits(rest, game.position());
        notes.iter().for_each(|note| say!("info string error: {note}"));
        let book_move = if searcher.analyse { None } else { self.opening.choose(game.position(), &limits) };
        if let Some(mv) = book_move {
            say!("info string book move {}", mv.to_uci(self.display.chess960));
            // The shortest search of that move alone gives what GUIs need to see: a score and a line.
            limits = Limits { search_moves: vec![mv], ..Limits::depth(1) };
        }
        let is_limited = !limits.infinite && limits != unlimited(&limits);
        self.task = Some(Task::Search { ponders: limits.ponder, is_limited });
        self.search.signals.reset(limits.ponder);
        let mut printer = Printer { display: self.display, scale: searcher.evaluator().scale() };
        self.search.lend(searcher, move |searcher| Some(searcher.search_since(start, &game, limits, &mut printer)));
    }

    /// Counts the leaves below each move.
    fn perft(&mut self, depth: &str) {
        let Ok(depth @ 1..=20) = depth.parse::<u32>() else {
            return say!("info string error: go perft: expected a depth from 1 to 20, found `{depth}`");
        };
        let Some(position) = self.game().map(|game| game.position().clone()) else { return };
        let display = self.display;
        self.work(Task::Perft, move |searcher| work::count(&position, depth, display, &searcher.signals()));
    }

    fn make_openings(&mut self, rest: &str) {
        match Request::parse(rest) {
            Ok(request) => {
                let display = self.display;
                self.work(Task::Workload, move |searcher| work::make_openings(&request, display, searcher));
            }
            Err(error) => say!("info string error: genfens: {error}"),
        }
    }

    /// Has the searcher's thread do something else than search.
    fn work(&mut self, task: Task, work: impl FnOnce(&Searcher) + Send + 'static) {
        let Some(searcher) = self.search.searcher.take() else { return };
        self.task = Some(task);
        self.search.signals.reset(false);
        self.search.lend(searcher, move |searcher| {
            work(searcher);
            None
        });
    }

    fn ponderhit(&mut self) {
        self.search.signals.ponderhit();
        if let Some(Task::Search { ponders, .. }) = &mut self.task {
            *ponders = false;
        }
    }

    /// Says what a search came to, and turns to the commands that have waited for its end.
    fn finish(&mut self, searcher: Box<Searcher>, outcome: Option<&SearchResult>) {
        self.search.searcher = Some(searcher);
        self.task = None;
        let name = |mv: Move| mv.to_uci(self.display.chess960);
        match outcome.map(|outcome| (outcome.best, outcome.ponder)) {
            Some((Some(best), Some(ponder))) => say!("bestmove {} ponder {}", name(best), name(ponder)),
            Some((Some(best), None)) => say!("bestmove {}", name(best)),
            Some((None, _)) => say!("bestmove 0000"),
            None => {}
        }
        self.attend();
    }

    /// Ends at once: what waits is dropped, and a search that runs says its move.
    fn quit(mut self, console: &mut Console) {
        self.queue = Queue::new();
        self.search.signals.stop();
        self.wind_up(console);
    }

    /// Ends at the end of input: what waits is obeyed, searches end with their moves, a bench or openings by themselves.
    fn wind_up(mut self, console: &mut Console) {
        self.is_leaving = true;
        self.attend();
        while self.task.is_some() {
            if let Event::Done(searcher, outcome) = console.next() {
                self.finish(searcher, outcome.as_ref());
            }
        }
    }

    /// Draws the board.
    fn show(&self) {
        let Some(position) = self.game().map(Game::position) else { return };
        for rank in Rank::ALL.into_iter().rev() {
            let letter = |file: File| position.piece_on(Square::new(file, rank)).map_or('.', |piece| piece.letter());
            let row: Vec<String> = File::ALL.into_iter().map(|file| letter(file).to_string()).collect();
            say!("{}  {}", rank.index() + 1, row.join(" "));
        }
        say!("   a b c d e f g h");
        say!("fen {}", self.display.fen(position));
        say!("key {:016x}", position.key());
        let side = if position.side_to_move() == Color::White { "white" } else { "black" };
        let check = if position.is_check() { ", in check" } else { "" };
        say!("{side} to move{check}, {} legal moves", position.legal_moves().len());
    }
}

/// Whether a command is obeyed while the searcher is away, too.
fn needs_no_searcher(line: &str) -> bool {
    matches!(first_word(line).0, "ponderhit" | "d")
}

/// The same limits with nothing that ends a search.
fn unlimited(limits: &Limits) -> Limits {
    Limits { search_moves: limits.search_moves.clone(), ponder: limits.ponder, ..Limits::default() }
}
