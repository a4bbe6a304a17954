//! The Chess Engine Communication Protocol, version 2: what XBoard and WinBoard speak.
//!
//! Spoken by `merino xboard`, and by `merino` alone if the first line is `xboard`; an interface that goes on with `uci`
//! before it has begun a game is answered in UCI. Variants: `normal` and `fischerandom`, castling as `O-O` there.
//!
//! | to the engine | what it does |
//! |---|---|
//! | `protover`, `accepted`, `rejected` | the features are announced; comments (`# …`) only once they are accepted |
//! | `new`, `variant`, `setboard` | a game begins; a position that is none is said so, and no move is legal in it |
//! | `usermove` or a bare move | a move, in coordinates or algebraic; `Illegal move: …` if it is not legal |
//! | `go`, `playother`, `force` | which side the engine plays |
//! | `level`, `st`, `sd`, `time`, `otim` | what it plays by; a level and a time per move replace each other |
//! | `?` | it moves at once |
//! | `undo`, `remove` | one move is taken back, or two |
//! | `post`, `nopost` | thinking output: `ply score time nodes pv` |
//! | `hard`, `easy` | thinking on the opponent's time, off at first |
//! | `analyze`, `.`, `exit` | it thinks about whatever is on the board; `.` asks how far it is |
//! | `ping` | answered when all before is done; at once while it thinks on the opponent's time |
//! | `result` | the game is over: no more thinking |
//! | `memory`, `cores`, `option` | settings; what cannot be set is told in `tellusererror` |
//! | `hint`, `bk` | a move is suggested; the moves of the opening book are shown, whether it is played from or not |
//! | `draw` | an offer is accepted if the engine is worse, late in the game if it is not better |
//! | `name`, `rating`, `computer`, `random`, `ics` | nothing |
//! | `quit`, end of input | the program ends; at the end of input, with the move that it was thinking about |
//!
//! When the rules end the game, after a move of either side, the result is claimed: `1/2-1/2 {Draw by repetition}`.
//! What is not understood gets `Error (reason): line`. See <https://www.gnu.org/software/xboard/engine-intf.html>.
//!
//! Inside, commands stand in a queue, and `Session::attitude` says of the first what becomes of it while a search is
//! running: it is obeyed, it waits, or it ends the search, whose outcome is then for nobody. `?` and whatever changes what
//! the engine is to do are for every search that began, or would begin, before them, wherever they stand in the queue.
//! What is to be searched when nothing waits follows from the state alone (`Session::carry_on`).

mod clock;
mod command;
mod features;
mod play;
mod record;
mod thinking;

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Instant;

use crate::chess::{Color, Move, Position};
use crate::console::{Console, Event, SearchThread, say};
use crate::opening::Opening;
use crate::options::{Display, Options, Target};
use crate::queue::{Haste, Queue};
use crate::search::{Limits, MAX_THREADS, Value};
use clock::EngineClock;
pub(crate) use command::GREETING;
use command::{Class, Command, CommandError};
use record::Record;
use thinking::Monitor;

/// How a session ended.
pub(crate) enum Ended {
    /// By `quit` or the end of input.
    Quit,
    /// By this line, which is for UCI to answer.
    Uci(String),
}

/// Whether the loop goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    On,
    Quit,
    Uci,
}

/// What the engine is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// To keep the board and nothing else.
    Force,
    /// To play a side.
    Plays(Color),
    /// To think about whatever is on the board.
    Analyze,
}

/// What a search is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// The engine's next move.
    Thinking,
    /// The engine's answer to the move it expects.
    Pondering,
    Analysing,
    /// A move that may be expected; to be told, or only to ponder on.
    Guessing {
        aloud: bool,
    },
    /// Nothing any more: it has been told to stop.
    Discarded,
}

/// A search that runs.
struct Run {
    purpose: Purpose,
    /// When the engine's clock began to run.
    start: Instant,
    limits: Limits,
}

/// What becomes of a command while a search runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attitude {
    /// It is obeyed.
    Obey,
    /// It waits for the search to end.
    Wait,
    /// It ends the search, and waits for that.
    Interrupt,
}

/// A command and the line it came in.
struct Order {
    command: Command,
    line: String,
}

/// The state of the protocol.
struct Session {
    options: Options,
    opening: Opening,
    /// Mebibytes for everything, once the interface has said so.
    memory: Option<usize>,
    record: Record,
    /// Whether the last position that was set up was none; no move is legal then.
    is_void: bool,
    chess960: bool,
    mode: Mode,
    clock: EngineClock,
    /// Whether the engine thinks on the opponent's time.
    ponders: bool,
    /// Whether this game has come to where it may.
    may_ponder: bool,
    /// The next move, as far as one is expected.
    expected: Option<Move>,
    /// The value of the engine's last move, in its own view.
    value: Option<Value>,
    /// Whether a draw was offered while the engine was thinking.
    is_draw_offered: bool,
    /// Whether the interface reads comments.
    comments: bool,
    /// Whether anything but settings was asked for.
    is_begun: bool,
    /// Whether the input has ended.
    is_leaving: bool,
    search: SearchThread,
    run: Option<Run>,
    monitor: Arc<Monitor>,
    queue: Queue<Order>,
}

/// Speaks the protocol until `quit`, the end of input, or a line that is for UCI; with `tune`, every search parameter
/// is an option.
pub(crate) fn run(console: &mut Console, tune: bool) -> Ended {
    let Some(mut session) = Session::new(tune, console.sender()) else { return Ended::Quit };
    loop {
        match console.next() {
            Event::Line(line) => match session.receive(&line) {
                Flow::On => {}
                Flow::Quit => return Ended::Quit,
                Flow::Uci => return Ended::Uci(line),
            },
            Event::Done(searcher, outcome) => session.finish(searcher, outcome.as_ref()),
            Event::End => {
                session.wind_up(console);
                return Ended::Quit;
            }
        }
    }
}

impl Session {
    fn new(tune: bool, sender: Sender<Event>) -> Option<Self> {
        let search = match SearchThread::start(sender) {
            Ok(search) => search,
            Err(error) => {
                say!("tellusererror no memory or no thread for a search: {error}");
                return None;
            }
        };
        Some(Session {
            options: Options::new(tune),
            opening: Opening::new(),
            memory: None,
            record: Record::new(Position::start()),
            is_void: false,
            chess960: false,
            mode: Mode::Plays(Color::Black),
            clock: EngineClock::new(),
            ponders: false,
            may_ponder: false,
            expected: None,
            value: None,
            is_draw_offered: false,
            comments: false,
            is_begun: false,
            is_leaving: false,
            search,
            run: None,
            monitor: Arc::default(),
            queue: Queue::new(),
        })
    }

    fn purpose(&self) -> Option<Purpose> {
        self.run.as_ref().map(|run| run.purpose)
    }

    /// Takes a line in: to be obeyed now, or when its time has come.
    fn receive(&mut self, line: &str) -> Flow {
        let command = match Command::parse(line) {
            Ok(Command::Quit) => return Flow::Quit,
            Ok(Command::Uci) if !self.is_begun && self.run.is_none() => return Flow::Uci,
            Ok(Command::Uci) => return refuse(&CommandError::Unknown, line),
            Ok(command) => command,
            Err(error) => return refuse(&error, line),
        };
        let class = command.class();
        self.is_begun |= !matches!(class, Class::Plain | Class::Hurry | Class::Ping | Class::Setting);
        let haste = match class {
            Class::Turn => Haste::Discard,
            Class::Hurry => Haste::Stop,
            _ => Haste::None,
        };
        self.queue.push(Order { command, line: line.to_owned() }, haste);
        self.attend();
        Flow::On
    }

    /// Obeys what waits, as far as it may be obeyed, and sees to it that the engine does what it is to do.
    fn attend(&mut self) {
        while let Some(order) = self.queue.front() {
            match self.attitude(&order.command) {
                Attitude::Wait => return self.hasten(),
                Attitude::Interrupt => return self.interrupt(),
                Attitude::Obey => {}
            }
            if let Some(Order { command, line }) = self.queue.pop() {
                self.obey(command, &line);
            }
        }
        self.carry_on();
    }

    /// Ends a search that commands wait for if one of them, not only the first, wants that.
    fn hasten(&mut self) {
        match self.queue.haste() {
            Haste::Discard => self.interrupt(),
            Haste::Stop if self.purpose() == Some(Purpose::Thinking) => self.search.signals.stop(),
            Haste::Stop | Haste::None => {}
        }
    }

    /// What becomes of a command at this moment.
    fn attitude(&self, command: &Command) -> Attitude {
        use Attitude::{Interrupt, Obey, Wait};
        let Some(purpose) = self.purpose() else { return Obey };
        match (command.class(), purpose) {
            (_, Purpose::Discarded) => Wait,
            (Class::Plain, _) => Obey,
            // The queue has told it to end.
            (Class::Turn, _) | (_, Purpose::Thinking) => Wait,
            (Class::Hurry, _) => Obey,
            (Class::Hint, _) => Obey,
            (_, Purpose::Guessing { aloud: true }) => Wait,
            (Class::Ping, _) => Obey,
            (Class::Setting, _) => Interrupt,
            (Class::Move, _) => match command {
                Command::Move(text) if self.leaves_search_alone(text) => Obey,
                _ => Interrupt,
            },
        }
    }

    /// Tells a running search to end, for nobody to learn of its outcome.
    fn interrupt(&mut self) {
        if let Some(run) = &mut self.run {
            run.purpose = Purpose::Discarded;
            self.search.signals.stop();
        }
    }

    /// Obeys a command; nothing it cannot be obeyed beside is running.
    fn obey(&mut self, command: Command, line: &str) {
        let needs_board = matches!(command, Command::Go | Command::PlayOther | Command::Analyze | Command::TakeBack(_));
        if needs_board && self.is_void {
            return say!("Error (no legal position): {line}");
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
            Command::Exit => say!("Error (command not legal now): {line}"),
            Command::Status => self.say_status(),
            Command::Ping(number) => say!("pong {number}"),
            Command::Result if self.mode == Mode::Analyze => {}
            Command::Result => self.mode = Mode::Force,
            Command::Memory(_) | Command::Cores(_) | Command::SetOption { .. } => self.set(command),
            Command::Hint => self.hint(),
            Command::Book => self.say_book(),
            Command::Draw => self.consider_draw(),
        }
    }

    /// Changes a setting of the searcher, which is not searching.
    fn set(&mut self, command: Command) {
        let Some(searcher) = &mut self.search.searcher else { return };
        if let Command::Memory(total) = command {
            self.memory = Some(total);
        }
        let threads = if let Command::Cores(cores) = command { cores.min(MAX_THREADS) } else { searcher.threads() };
        // How moves are written follows from the variant.
        let mut target = Target { searcher, display: &mut Display::default(), opening: &mut self.opening };
        let result = match command {
            Command::SetOption { name, value } => features::set(&self.options, &mut target, &name, value.as_deref()),
            _ => features::grant(&self.options, &mut target, threads, self.memory),
        };
        match result.as_ref().map_err(|message| message.strip_prefix("error: ").ok_or(message)) {
            Ok(()) => {}
            Err(Ok(error)) => say!("tellusererror {error}"),
            Err(Err(note)) if self.comments => say!("# {note}"),
            Err(Err(_)) => {}
        }
    }

    /// Ends at the end of input: what still waits is obeyed, and what is being thought about is played.
    fn wind_up(&mut self, console: &mut Console) {
        self.is_leaving = true;
        while self.run.is_some() {
            self.search.signals.stop();
            if let Event::Done(searcher, outcome) = console.next() {
                self.finish(searcher, outcome.as_ref());
            }
        }
    }
}

fn refuse(error: &CommandError, line: &str) -> Flow {
    say!("Error ({error}): {line}");
    Flow::On
}
