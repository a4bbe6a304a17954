//! The Universal Chess Interface.
//!
//! One thread reads, one searches, and the loop between them never blocks on either, so that it answers `isready` and
//! `stop` at any time. Commands that need an idle engine wait in a queue for the end of the search or other job. A
//! waiting command stops an infinite search; `stop` applies to every earlier `go`, waiting ones included; each `go` is
//! answered by one `bestmove`. A refused position leaves no position: `go` is then answered by `bestmove 0000` until the
//! next `position`, or `ucinewgame`, which sets up the start. Errors are reported as `info string`; only `quit` and the
//! end of input end the program.
//! See <https://backscattering.de/chess/uci/>.

mod command;
mod info;
mod wdl;
mod work;

use std::ops::ControlFlow;
use std::sync::mpsc::{self, Sender};
use std::time::Instant;

use common::out;

use crate::bench;
use crate::chess::{Color, File, Game, Move, Position, Rank, Square};
use crate::console::{Console, Event, SearchThread, first_word};
use crate::genfens::Request;
use crate::opening::Opening;
use crate::options::{Display, Offer, Options, Target};
use crate::queue::{Queue, Urgency};
use crate::search::{Limits, SearchResult, Searcher};
use info::Printer;

/// The job of the search thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    Search {
        ponders: bool,
        /// True if a limit ends it after pondering.
        is_limited: bool,
    },
    Perft,
    /// The bench, or openings.
    Workload,
}

impl Task {
    /// Returns true if only `stop` ends it.
    fn is_endless(self) -> bool {
        matches!(self, Task::Search { ponders, is_limited } if ponders || !is_limited)
    }
}

/// The state of the protocol.
struct Session {
    options: Options,
    display: Display,
    opening: Opening,
    /// `None` if the last position was refused.
    game: Option<Game>,
    search: SearchThread,
    /// The running job.
    task: Option<Task>,
    /// Commands that wait for its end.
    queue: Queue<String>,
    /// True if the input has ended.
    is_input_closed: bool,
    /// Why the last command was refused, if it was.
    refusal: Option<String>,
}

/// Speaks UCI until `quit` or the end of input.
pub(crate) fn run(console: &mut Console, offer: Offer) {
    let Some(mut session) = Session::new(offer, console.sender()) else { return };
    loop {
        match console.next() {
            Event::Line(line) => {
                if session.receive(&line).is_break() {
                    return session.quit(console);
                }
            }
            Event::Done(searcher, outcome) => session.finish(searcher, outcome.as_ref()),
            Event::End => return session.drain(console),
        }
    }
}

/// Executes commands one after the other, each after the end of the previous one.
///
/// # Errors
/// If a command is unknown, before any is executed, or was refused.
pub fn run_commands(commands: &[String], offer: Offer) -> Result<(), String> {
    if let Some(unknown) = commands.iter().find(|command| !is_known(command)) {
        return Err(format!("unknown command `{unknown}`: `merino --help` lists commands; UCI commands are taken too"));
    }
    let (sender, receiver) = mpsc::channel();
    let Some(mut session) = Session::new(offer, sender) else { return Err("the engine cannot start".to_owned()) };
    for command in commands {
        if session.receive(command).is_break() {
            break;
        }
        while let Some(task) = session.task {
            // No `stop` can follow here.
            if task.is_endless() {
                session.search.signals.stop();
            }
            match receiver.recv() {
                Ok(Event::Done(searcher, outcome)) => session.finish(searcher, outcome.as_ref()),
                _ => return Err("the search has ended".to_owned()),
            };
        }
        if let Some(error) = session.refusal.take() {
            return Err(error);
        }
    }
    Ok(())
}

impl Session {
    fn new(offer: Offer, sender: Sender<Event>) -> Option<Self> {
        let search = match SearchThread::start(sender) {
            Ok(search) => search,
            Err(error) => {
                out!("info string error: no memory or no thread for a search: {error}");
                return None;
            }
        };
        Some(Session {
            options: Options::new(offer),
            display: Display::default(),
            opening: Opening::new(),
            game: Some(Game::new(Position::start())),
            search,
            task: None,
            queue: Queue::new(),
            is_input_closed: false,
            refusal: None,
        })
    }

    /// Handles a line: executes it or queues it.
    fn receive(&mut self, line: &str) -> ControlFlow<()> {
        match first_word(line).0 {
            "quit" => return ControlFlow::Break(()),
            "uci" => self.print_id(),
            "isready" => out!("readyok"),
            "stop" => self.enqueue(line, Urgency::Stop),
            "ponderhit" | "d" | "position" | "go" | "setoption" | "ucinewgame" | "eval" | "bench" | "genfens" => {
                self.enqueue(line, Urgency::None);
            }
            word if is_known(word) => {}
            word => out!("info string unknown command `{word}`"),
        }
        ControlFlow::Continue(())
    }

    fn enqueue(&mut self, line: &str, urgency: Urgency) {
        self.queue.push(line.to_owned(), urgency);
        self.process_queue();
    }

    /// Executes waiting commands as far as possible now, and stops the running job if they require it.
    fn process_queue(&mut self) {
        while self.queue.front().is_some_and(|line| self.task.is_none() || runs_during_search(line))
            && let Some(line) = self.queue.pop()
        {
            self.execute(&line);
        }
        let Some(task) = self.task else { return };
        let must_stop = self.queue.urgency() != Urgency::None || self.is_input_closed && task != Task::Workload;
        if must_stop || task.is_endless() && !self.queue.is_empty() {
            self.search.signals.stop();
        }
    }

    /// Executes a command; no running job conflicts with it.
    fn execute(&mut self, line: &str) {
        let (word, rest) = first_word(line);
        match word {
            "ponderhit" => self.ponderhit(),
            "d" => self.print_board(),
            "position" => self.set_position(rest),
            "go" => self.go(rest),
            "setoption" => self.set_option(rest),
            "ucinewgame" => self.new_game(),
            "eval" => self.print_eval(),
            "bench" => self.play_bench(rest),
            "genfens" => self.make_openings(rest),
            // `stop`: the search has ended.
            _ => {}
        }
    }

    fn print_id(&self) {
        out!("id name Merino {}", env!("CARGO_PKG_VERSION"));
        out!("id author {}", env!("CARGO_PKG_AUTHORS"));
        self.options.declarations().for_each(|line| out!("{line}"));
        out!("uciok");
    }

    fn set_position(&mut self, rest: &str) {
        let game = command::position(rest);
        self.game = game.map_err(|error| self.refuse(error)).ok();
    }

    /// Tells why a command cannot be executed.
    fn refuse(&mut self, error: String) {
        out!("info string error: {error}");
        self.refusal = Some(error);
    }

    /// The game; prints an error if there is none.
    fn game(&self) -> Option<&Game> {
        if self.game.is_none() {
            out!("info string error: no position: the last one was refused");
        }
        self.game.as_ref()
    }

    fn new_game(&mut self) {
        if let Some(searcher) = &mut self.search.searcher {
            searcher.clear();
        }
        self.game = Some(Game::new(Position::start()));
    }

    fn print_eval(&self) {
        if let (Some(searcher), Some(game)) = (&self.search.searcher, self.game()) {
            out!("{}", searcher.evaluator().breakdown(game.position()));
        }
    }

    fn set_option(&mut self, rest: &str) {
        let Some(searcher) = &mut self.search.searcher else { return };
        let Some(body) = rest.strip_prefix("name") else {
            return self.refuse("setoption: expected `name`".to_owned());
        };
        let (name, value) = match body.split_once(" value") {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (body.trim(), None),
        };
        let mut target = Target { searcher, display: &mut self.display, opening: &mut self.opening };
        if let Err(message) = self.options.set(&mut target, name, value) {
            out!("info string {message}");
            self.refusal = Some(message.trim_start_matches("error: ").to_owned());
        }
    }

    /// Starts a search, or counts leaves.
    fn go(&mut self, rest: &str) {
        let start = Instant::now();
        if let ("perft", depth) = first_word(rest) {
            return self.perft(depth);
        }
        let Some(game) = self.game().cloned() else { return out!("bestmove 0000") };
        let Some(searcher) = self.search.searcher.take() else { return };
        let (mut limits, notes) = command::limits(rest, game.position());
        notes.into_iter().for_each(|note| self.refuse(note));
        let book_move = if searcher.analyse { None } else { self.opening.choose(game.position(), &limits) };
        if let Some(mv) = book_move {
            out!("info string book move {}", mv.to_uci(self.display.chess960));
            // The shortest search of that move alone gives what GUIs need to see: a score and a line.
            limits = Limits { search_moves: vec![mv], ..Limits::depth(1) };
        }
        let is_limited = !limits.infinite && limits != unlimited(&limits);
        self.task = Some(Task::Search { ponders: limits.ponder, is_limited });
        self.search.signals.reset(limits.ponder);
        let mut printer = Printer {
            display: self.display,
            scale: searcher.evaluator().scale(),
            material: wdl::material(game.position()),
        };
        self.search.spawn(searcher, move |searcher| Some(searcher.search_since(start, &game, limits, &mut printer)));
    }

    /// Counts the leaves below each move.
    fn perft(&mut self, depth: &str) {
        let Ok(depth @ 1..=20) = depth.parse::<u32>() else {
            return self.refuse(format!("go perft: expected a depth from 1 to 20, found `{depth}`"));
        };
        let Some(position) = self.game().map(|game| game.position().clone()) else { return };
        let display = self.display;
        self.spawn_work(Task::Perft, move |searcher| work::count(&position, depth, display, &searcher.signals()));
    }

    fn make_openings(&mut self, rest: &str) {
        match Request::parse(rest) {
            Ok(request) => {
                let display = self.display;
                self.spawn_work(Task::Workload, move |searcher| work::make_openings(&request, display, searcher));
            }
            Err(error) => self.refuse(format!("genfens: {error}")),
        }
    }

    fn play_bench(&mut self, rest: &str) {
        match bench::depth(&rest.split_ascii_whitespace().collect::<Vec<_>>()) {
            Ok(depth) => self.spawn_work(Task::Workload, move |searcher| work::play_bench(depth, searcher)),
            Err(error) => self.refuse(error),
        }
    }

    /// Runs a job other than a search on the search thread.
    fn spawn_work(&mut self, task: Task, work: impl FnOnce(&Searcher) + Send + 'static) {
        let Some(searcher) = self.search.searcher.take() else { return };
        self.task = Some(task);
        self.search.signals.reset(false);
        self.search.spawn(searcher, move |searcher| {
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

    /// Prints the result of a search, and continues with the waiting commands.
    fn finish(&mut self, searcher: Box<Searcher>, outcome: Option<&SearchResult>) {
        self.search.searcher = Some(searcher);
        self.task = None;
        let name = |mv: Move| mv.to_uci(self.display.chess960);
        match outcome.map(|outcome| (outcome.best, outcome.ponder)) {
            Some((Some(best), Some(ponder))) => out!("bestmove {} ponder {}", name(best), name(ponder)),
            Some((Some(best), None)) => out!("bestmove {}", name(best)),
            Some((None, _)) => out!("bestmove 0000"),
            None => {}
        }
        self.process_queue();
    }

    /// Ends at once: drops waiting commands; a running search prints its move.
    fn quit(mut self, console: &mut Console) {
        self.queue = Queue::new();
        self.search.signals.stop();
        self.drain(console);
    }

    /// Ends at the end of input: executes waiting commands, stops searches, and lets other jobs finish.
    fn drain(mut self, console: &mut Console) {
        self.is_input_closed = true;
        self.process_queue();
        while self.task.is_some() {
            if let Event::Done(searcher, outcome) = console.next() {
                self.finish(searcher, outcome.as_ref());
            }
        }
    }

    /// Draws the board.
    fn print_board(&self) {
        let Some(position) = self.game().map(Game::position) else { return };
        for rank in Rank::ALL.into_iter().rev() {
            let letter = |file: File| position.piece_on(Square::new(file, rank)).map_or('.', |piece| piece.letter());
            let row: Vec<String> = File::ALL.into_iter().map(|file| letter(file).to_string()).collect();
            out!("{}  {}", rank.index() + 1, row.join(" "));
        }
        out!("   a b c d e f g h");
        out!("fen {}", self.display.fen(position));
        out!("key {:016x}", position.key());
        let side = if position.side_to_move() == Color::White { "white" } else { "black" };
        let check = if position.is_check() { ", in check" } else { "" };
        out!("{side} to move{check}, {} legal moves", position.legal_moves().len());
    }
}

/// Returns true if the first word of a line is a command; some GUIs try those of other protocols first.
fn is_known(line: &str) -> bool {
    const COMMANDS: [&str; 18] = [
        "",
        "uci",
        "debug",
        "isready",
        "setoption",
        "register",
        "ucinewgame",
        "position",
        "go",
        "stop",
        "ponderhit",
        "quit",
        "d",
        "eval",
        "bench",
        "genfens",
        "xboard",
        "protover",
    ];
    COMMANDS.contains(&first_word(line).0)
}

/// Returns true if a command can be executed during a search.
fn runs_during_search(line: &str) -> bool {
    matches!(first_word(line).0, "ponderhit" | "d")
}

/// The same limits without any that ends a search.
fn unlimited(limits: &Limits) -> Limits {
    Limits { search_moves: limits.search_moves.clone(), ponder: limits.ponder, ..Limits::default() }
}
