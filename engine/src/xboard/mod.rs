//! The Chess Engine Communication Protocol, version 2: what XBoard and WinBoard speak.
//!
//! Spoken by `merino xboard`, and by `merino` alone if the first line is `xboard`; an interface that goes on with `uci`
//! before it has begun a game is answered in UCI. Variants: `normal` and `fischerandom`, castling as `O-O` there.
//!
//! | to the engine | what it does |
//! |---|---|
//! | `protover`, `accepted`, `rejected` | the features are announced; comments (`# …`) only once they are accepted |
//! | `new`, `variant`, `setboard` | a game begins; an illegal position is reported, and no move is legal in it |
//! | `usermove` or a bare move | a move, in coordinates or algebraic; `Illegal move: …` if it is not legal |
//! | `go`, `playother`, `force` | which side the engine plays |
//! | `level`, `st`, `sd`, `time`, `otim` | time control and depth; a level and a time per move replace each other |
//! | `?` | it moves at once |
//! | `undo`, `remove` | one move is taken back, or two |
//! | `post`, `nopost` | thinking output: `ply score time nodes pv` |
//! | `hard`, `easy` | thinking on the opponent's time, off at first |
//! | `analyze`, `.`, `exit` | analysis of the position on the board; `.` prints its progress |
//! | `ping` | answered when all before is done; at once while it thinks on the opponent's time |
//! | `result` | the game is over: no more thinking |
//! | `memory`, `cores`, `egtpath syzygy`, `option` | settings; `tellusererror` reports a failure |
//! | `hint`, `bk` | a suggested move; the moves of the opening book, even if it is off |
//! | `draw` | an offer is accepted if the engine is worse, late in the game if it is not better |
//! | `name`, `rating`, `computer`, `random`, `ics` | nothing |
//! | `quit`, end of input | the program ends; at the end of input, with the move that it was thinking about |
//!
//! When the rules end the game, after a move of either side, the result is claimed: `1/2-1/2 {Draw by repetition}`.
//! Other lines are answered by `Error (reason): line`. See <https://www.gnu.org/software/xboard/engine-intf.html>.
//!
//! Commands go through a queue. `Session::policy` decides about the first one while a search is running: it is executed,
//! it waits, or it interrupts the search, whose result is then discarded. `?` and commands that redirect the engine apply
//! to every earlier search, running or waiting, from any place in the queue. When the queue is empty, the state alone
//! decides what to search (`Session::search_when_idle`).

mod clock;
mod command;
mod features;
mod play;
mod record;
mod thinking;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Instant;

use common::out;

use crate::chess::{Color, Move, Position};
use crate::console::{Console, Event, SearchThread};
use crate::opening::Opening;
use crate::options::{Display, Offer, Options, SYZYGY_PATH, Target};
use crate::queue::{Queue, Urgency};
use crate::search::{Limits, MAX_THREADS, Value};
use clock::EngineClock;
pub(crate) use command::GREETING;
use command::{Class, Command, CommandError};
use record::Record;
use thinking::Monitor;

/// Why the loop ends: `None` for `quit` and the end of input, or a line for UCI to answer.
type End = Option<String>;

/// The mode of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Keeps the board only.
    Force,
    /// Plays a side.
    Plays(Color),
    /// Analyses the position on the board.
    Analyze,
}

/// The purpose of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// The engine's next move.
    Thinking,
    /// The engine's answer to the move it expects.
    Pondering,
    Analysing,
    /// A move to expect: as a hint for the user, or to ponder on.
    Guessing {
        is_hint: bool,
    },
    /// None: the search has been stopped and its result is discarded.
    Discarded,
}

/// A running search.
struct ActiveSearch {
    purpose: Purpose,
    /// When the engine's clock began to run.
    start: Instant,
    limits: Limits,
}

/// The treatment of a command that arrives while a search runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    /// It is executed.
    Execute,
    /// It waits for the search to end.
    Wait,
    /// It stops the search and waits for its end.
    Interrupt,
}

/// A command with its line.
struct QueuedCommand {
    command: Command,
    line: String,
}

/// The state of the protocol.
struct Session {
    options: Options,
    opening: Opening,
    /// Memory limit of the interface, if any, mebibytes.
    memory: Option<usize>,
    record: Record,
    /// True if the last `setboard` was illegal; no move is legal then.
    has_illegal_position: bool,
    chess960: bool,
    mode: Mode,
    clock: EngineClock,
    /// True if the engine thinks on the opponent's time.
    ponders: bool,
    /// True if the engine has moved in this game, so that it may ponder.
    may_ponder: bool,
    /// The expected next move, if any.
    expected: Option<Move>,
    /// The value of the engine's last move, in its own view.
    value: Option<Value>,
    /// True if a draw was offered while the engine was thinking.
    is_draw_offered: bool,
    /// True if the interface reads comments.
    comments: bool,
    /// True if any command other than settings has been received.
    has_begun: bool,
    /// True if the input has ended.
    is_input_closed: bool,
    search: SearchThread,
    active: Option<ActiveSearch>,
    monitor: Arc<Monitor>,
    queue: Queue<QueuedCommand>,
}

/// Speaks the protocol until `quit`, the end of input, or a line that is for UCI.
pub(crate) fn run(console: &mut Console, offer: Offer) -> End {
    let mut session = Session::new(offer, console.sender())?;
    loop {
        match console.next() {
            Event::Line(line) => {
                if let ControlFlow::Break(end) = session.receive(&line) {
                    return end;
                }
            }
            Event::Done(searcher, outcome) => session.finish(searcher, outcome.as_ref()),
            Event::End => {
                session.drain(console);
                return None;
            }
        }
    }
}

impl Session {
    fn new(offer: Offer, sender: Sender<Event>) -> Option<Self> {
        let search = match SearchThread::start(sender) {
            Ok(search) => search,
            Err(error) => {
                out!("tellusererror no memory or no thread for a search: {error}");
                return None;
            }
        };
        Some(Session {
            options: Options::new(offer),
            opening: Opening::new(),
            memory: None,
            record: Record::new(Position::start()),
            has_illegal_position: false,
            chess960: false,
            mode: Mode::Plays(Color::Black),
            clock: EngineClock::new(),
            ponders: false,
            may_ponder: false,
            expected: None,
            value: None,
            is_draw_offered: false,
            comments: false,
            has_begun: false,
            is_input_closed: false,
            search,
            active: None,
            monitor: Arc::default(),
            queue: Queue::new(),
        })
    }

    fn purpose(&self) -> Option<Purpose> {
        self.active.as_ref().map(|run| run.purpose)
    }

    /// Handles a line: executes it or queues it.
    fn receive(&mut self, line: &str) -> ControlFlow<End> {
        let command = match Command::parse(line) {
            Ok(Command::Quit) => return ControlFlow::Break(None),
            Ok(Command::Uci) if !self.has_begun && self.active.is_none() => {
                return ControlFlow::Break(Some(line.to_owned()));
            }
            Ok(Command::Uci) => return refuse(&CommandError::Unknown, line),
            Ok(command) => command,
            Err(error) => return refuse(&error, line),
        };
        let class = command.class();
        self.has_begun |= !matches!(class, Class::Plain | Class::Urgent | Class::Ping | Class::Setting);
        let urgency = match class {
            Class::Redirect => Urgency::Discard,
            Class::Urgent => Urgency::Stop,
            _ => Urgency::None,
        };
        self.queue.push(QueuedCommand { command, line: line.to_owned() }, urgency);
        self.process_queue();
        ControlFlow::Continue(())
    }

    /// Executes waiting commands as far as the policy allows, then starts the search that the state asks for.
    fn process_queue(&mut self) {
        while let Some(order) = self.queue.front() {
            match self.policy(&order.command) {
                Policy::Wait => return self.stop_for_queue(),
                Policy::Interrupt => return self.interrupt(),
                Policy::Execute => {}
            }
            if let Some(QueuedCommand { command, line }) = self.queue.pop() {
                self.execute(command, &line);
            }
        }
        self.search_when_idle();
    }

    /// Stops a search if any waiting command, not only the first, requires it.
    fn stop_for_queue(&mut self) {
        match self.queue.urgency() {
            Urgency::Discard => self.interrupt(),
            Urgency::Stop if self.purpose() == Some(Purpose::Thinking) => self.search.signals.stop(),
            Urgency::Stop | Urgency::None => {}
        }
    }

    /// The policy for a command in the current state.
    fn policy(&self, command: &Command) -> Policy {
        use Policy::{Execute, Interrupt, Wait};
        let Some(purpose) = self.purpose() else { return Execute };
        match (command.class(), purpose) {
            (_, Purpose::Discarded) => Wait,
            (Class::Plain, _) => Execute,
            // The queue has stopped it already.
            (Class::Redirect, _) | (_, Purpose::Thinking) => Wait,
            (Class::Urgent, _) => Execute,
            (Class::Hint, _) => Execute,
            (_, Purpose::Guessing { is_hint: true }) => Wait,
            (Class::Ping, _) => Execute,
            (Class::Setting, _) => Interrupt,
            (Class::Move, _) => match command {
                Command::Move(text) if self.keeps_search(text) => Execute,
                _ => Interrupt,
            },
        }
    }

    /// Stops a running search and discards its result.
    fn interrupt(&mut self) {
        if let Some(run) = &mut self.active {
            run.purpose = Purpose::Discarded;
            self.search.signals.stop();
        }
    }

    /// Executes a command; no running job conflicts with it.
    fn execute(&mut self, command: Command, line: &str) {
        let needs_board = matches!(command, Command::Go | Command::PlayOther | Command::Analyze | Command::TakeBack(_));
        if needs_board && self.has_illegal_position {
            return out!("Error (no legal position): {line}");
        }
        match command {
            Command::Nothing | Command::Quit | Command::Uci | Command::MoveNow => {}
            Command::Features => features::announce(&self.options),
            Command::Comments(on) => self.comments = on,
            Command::New => self.new_game(),
            Command::Variant(variant) => self.chess960 = variant == command::Variant::FischeRandom,
            Command::SetBoard(fen) => self.set_board(&fen),
            Command::Move(text) => self.user_move(&text),
            Command::Level(level) => self.clock.set_level(level, self.record.plies()),
            Command::TimePerMove(time) => self.clock.set_per_move(time),
            Command::Depth(depth) => self.clock.set_depth(depth),
            Command::Time(left) => self.clock.set_left(left),
            Command::Force => self.mode = Mode::Force,
            Command::Go => self.go(),
            Command::PlayOther => self.play_other(),
            Command::TakeBack(plies) => self.take_back(plies, line),
            Command::Post(on) => self.monitor.post(on),
            Command::Ponder(on) => self.set_ponders(on),
            Command::Analyze => self.mode = Mode::Analyze,
            Command::Exit if self.mode == Mode::Analyze => self.mode = Mode::Force,
            Command::Exit => out!("Error (command not legal now): {line}"),
            Command::Status => self.print_status(),
            Command::Ping(number) => out!("pong {number}"),
            Command::Result if self.mode == Mode::Analyze => {}
            Command::Result => self.mode = Mode::Force,
            Command::Memory(_) | Command::Cores(_) | Command::SetOption { .. } | Command::TablePath(_) => {
                self.set(command)
            }
            Command::Hint => self.hint(),
            Command::Book => self.print_book(),
            Command::Draw => self.answer_draw_offer(),
        }
    }

    /// Changes a setting of the idle searcher.
    fn set(&mut self, command: Command) {
        let Some(searcher) = &mut self.search.searcher else { return };
        if let Command::Memory(total) = command {
            self.memory = Some(total);
        }
        let threads = if let Command::Cores(cores) = command { cores.min(MAX_THREADS) } else { searcher.threads() };
        // The variant decides the notation of moves.
        let mut target = Target { searcher, display: &mut Display::default(), opening: &mut self.opening };
        let result = match command {
            Command::SetOption { name, value } => features::set(&self.options, &mut target, &name, value.as_deref()),
            Command::TablePath(folders) => self.options.set(&mut target, SYZYGY_PATH, Some(&folders)),
            _ => features::grant(&self.options, &mut target, threads, self.memory),
        };
        match result.as_ref().map_err(|message| message.strip_prefix("error: ").ok_or(message)) {
            Ok(()) => {}
            Err(Ok(error)) => out!("tellusererror {error}"),
            Err(Err(note)) if self.comments => out!("# {note}"),
            Err(Err(_)) => {}
        }
    }

    /// Ends at the end of input: stops the search and plays its move, and executes waiting commands.
    fn drain(&mut self, console: &mut Console) {
        self.is_input_closed = true;
        while self.active.is_some() {
            self.search.signals.stop();
            if let Event::Done(searcher, outcome) = console.next() {
                self.finish(searcher, outcome.as_ref());
            }
        }
    }
}

fn refuse(error: &CommandError, line: &str) -> ControlFlow<End> {
    out!("Error ({error}): {line}");
    ControlFlow::Continue(())
}
