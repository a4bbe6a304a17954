//! An engine that plays legal moves at random and misbehaves on demand, for the tests of the arena.
//!
//! `mock_engine [BEHAVIOUR[=N] …]`: a behaviour shows at every `go`, or only at the N-th of the process. See [`Behaviour`].

use std::io::{self, Write};
use std::process::{Command, exit};
use std::thread::sleep;
use std::time::Duration;

use engine::chess::{Move, Position};

/// What can be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behaviour {
    /// Ends before it says anything.
    DieAtStart,
    /// Never says `uciok`.
    Mute,
    /// Says that an option is wrong.
    Complain,
    /// Prints what is no UCI, at all times.
    Garbage,
    /// Ends with status 3 and a message, instead of a move.
    Crash,
    /// Panics instead of a move, after 60 lines on standard error.
    Panics,
    /// Answers nothing any more, not even `stop`, and leaves a child behind whose number it writes to `mock.pid`.
    Stall,
    /// Prints without end, and no move.
    Flood,
    /// Moves when told to stop, not before.
    Late,
    /// Moves after 1.5 s, whatever it is told.
    Deaf,
    /// Sends a move that is not legal.
    Illegal,
    /// Sends `0000`.
    NoMove,
    /// Sends a move in capitals.
    Capitals,
    /// Shows a line that is not legal.
    IllegalPv,
    /// Shows a mate that its line does not end in.
    FalseMate,
    /// Plays another move than it shows.
    OtherMove,
    /// Gives no score.
    NoScore,
    /// Says that it looked deeper than anybody asks.
    Deep,
    /// Takes 2 ms for a move.
    Slow,
    /// Floods the arena with long lines that are not legal, then with short ones.
    FloodLines,
    /// Has more options than anybody can set, of long names.
    FloodOptions,
    /// Tells numbers that cannot be true.
    HugeNumbers,
    /// Prints what a terminal obeys, in all that it says.
    Escapes,
    /// Ends with such words instead of a move.
    EscapesAndDies,
    /// Writes what the system says of its process, with the number of the process, to a file `mock-N.status`.
    Status,
    /// Finds itself lost the more often, the farther its options X and Y are from [`BEST`].
    Tuned,
    /// Ends with status 3 where its option X is above 60.
    CrashAbove,
    /// Gives bounds of scores alone.
    Bounds,
    /// Has the option UCI_ShowWDL, and tells chances once it is set.
    Chances,
    /// Sees a mate everywhere.
    Mates,
    /// Its score is the number of the search in its process, whatever `ucinewgame` says.
    Remembers,
    /// With a limit above a thousand nodes, reports up to 500 and moves when told to stop.
    Deepens,
    /// With a limit above a thousand nodes, sends a second move after the first.
    Repeats,
    /// Puts blanks before and after all that it says.
    Blanks,
    /// Its score follows from the position.
    Scores,
    /// Ends with status 3 in one of 61 positions.
    CrashSometimes,
}

/// The options X and Y that are best.
const BEST: [f64; 2] = [70.0, 20.0];

const NAMES: [(&str, Behaviour); 36] = [
    ("die-at-start", Behaviour::DieAtStart),
    ("mute", Behaviour::Mute),
    ("complain", Behaviour::Complain),
    ("garbage", Behaviour::Garbage),
    ("crash", Behaviour::Crash),
    ("panics", Behaviour::Panics),
    ("stall", Behaviour::Stall),
    ("flood", Behaviour::Flood),
    ("late", Behaviour::Late),
    ("deaf", Behaviour::Deaf),
    ("illegal", Behaviour::Illegal),
    ("no-move", Behaviour::NoMove),
    ("capitals", Behaviour::Capitals),
    ("illegal-pv", Behaviour::IllegalPv),
    ("false-mate", Behaviour::FalseMate),
    ("other-move", Behaviour::OtherMove),
    ("no-score", Behaviour::NoScore),
    ("deep", Behaviour::Deep),
    ("slow", Behaviour::Slow),
    ("flood-lines", Behaviour::FloodLines),
    ("flood-options", Behaviour::FloodOptions),
    ("huge-numbers", Behaviour::HugeNumbers),
    ("status", Behaviour::Status),
    ("tuned", Behaviour::Tuned),
    ("crash-above", Behaviour::CrashAbove),
    ("crash-sometimes", Behaviour::CrashSometimes),
    ("bounds", Behaviour::Bounds),
    ("chances", Behaviour::Chances),
    ("mates", Behaviour::Mates),
    ("remembers", Behaviour::Remembers),
    ("deepens", Behaviour::Deepens),
    ("repeats", Behaviour::Repeats),
    ("blanks", Behaviour::Blanks),
    ("scores", Behaviour::Scores),
    ("escapes", Behaviour::Escapes),
    ("escapes-and-dies", Behaviour::EscapesAndDies),
];

/// Clears a screen, rings, names a window, and turns the direction of what follows.
const EVIL: &str = "\u{1b}[2J\u{7}\u{1b}]0;owned\u{7}\u{202e}";

struct Mock {
    behaviours: Vec<(Behaviour, Option<u32>)>,
    searches: u32,
    chess960: bool,
    tells_chances: bool,
    position: Position,
    random: u64,
    /// X and Y.
    options: [f64; 2],
}

fn main() {
    let mut mock = Mock {
        behaviours: std::env::args().skip(1).map(|arg| behaviour(&arg)).collect(),
        searches: 0,
        chess960: false,
        tells_chances: false,
        position: Position::start(),
        random: 0,
        options: [50.0; 2],
    };
    if mock.shows(Behaviour::DieAtStart) {
        eprintln!("mock: not today");
        exit(1);
    }
    if mock.shows(Behaviour::Status) {
        let status = std::fs::read("/proc/self/status").expect("a system with /proc");
        std::fs::write(format!("mock-{}.status", std::process::id()), status).expect("a folder to write to");
    }
    let mut line = String::new();
    while io::stdin().read_line(&mut line).is_ok_and(|count| count > 0) {
        mock.obey(line.trim_end());
        line.clear();
    }
}

fn behaviour(arg: &str) -> (Behaviour, Option<u32>) {
    let (name, number) = arg.split_once('=').map_or((arg, None), |(name, number)| (name, number.parse().ok()));
    match NAMES.iter().find(|(known, _)| *known == name) {
        Some(&(_, behaviour)) => (behaviour, number),
        None => {
            eprintln!("mock: no behaviour {arg}");
            exit(2);
        }
    }
}

fn say(text: &str) {
    let mut out = io::stdout().lock();
    if writeln!(out, "{text}").and_then(|()| out.flush()).is_err() {
        exit(0);
    }
}

impl Mock {
    fn shows(&self, behaviour: Behaviour) -> bool {
        let is_due = |at: Option<u32>| at.is_none_or(|at| at == self.searches);
        self.behaviours.iter().any(|&(asked, at)| asked == behaviour && is_due(at))
    }

    fn obey(&mut self, line: &str) {
        if self.shows(Behaviour::Garbage) {
            let mut out = io::stdout().lock();
            let _ = out.write_all(b"\xFF\xFE\0 info\nbestmov\ninfo depth pv\n\n  \n");
            let _ = out.write_all(&[b'x'; 100_000]);
            let _ = out.write_all(b"\n");
        }
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("uci") if !self.shows(Behaviour::Mute) => {
                say("id name Mock\nid author nobody");
                if self.shows(Behaviour::FloodOptions) {
                    let options = format!("option name {} type button\n", "n".repeat(1000)).repeat(1000);
                    (0..250).for_each(|_| say(&options));
                }
                say("option name UCI_Chess960 type check default false");
                if self.shows(Behaviour::Chances) {
                    say("option name UCI_ShowWDL type check default false");
                }
                say("option name EvalFile type string default <empty>");
                say("option name Threads type spin default 1 min 1 max 64");
                say("option name X type spin default 50 min 0 max 100\noption name Y type string default 50");
                say("option name Word With Spaces type string default <empty>\nuciok");
            }
            Some("setoption") => {
                self.chess960 |= line.contains("UCI_Chess960 value true");
                self.tells_chances |= line.contains("UCI_ShowWDL value true");
                for (option, name) in self.options.iter_mut().zip(["X", "Y"]) {
                    let value = line.strip_prefix(&format!("setoption name {name} value "));
                    *option = value.map_or(*option, |value| value.parse().expect("a number"));
                }
                if let Some(path) = line.strip_prefix("setoption name EvalFile value ") {
                    self.load(path);
                }
                if self.shows(Behaviour::Complain) {
                    say("info string error: no such value");
                }
            }
            Some("isready") if self.shows(Behaviour::Blanks) => say(" \treadyok \r"),
            Some("isready") => say("readyok"),
            Some("position") => self.set_position(line),
            Some("go") => self.go(line),
            Some("quit") => exit(0),
            _ => {}
        }
    }

    /// Takes X and Y from lines such as `# X = 70`.
    fn load(&mut self, path: &str) {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        if text.contains("fault") {
            say(&format!("info string error: {path}: has a fault"));
        }
        for (option, name) in self.options.iter_mut().zip(["# X = ", "# Y = "]) {
            let value = text.lines().find_map(|line| line.strip_prefix(name));
            *option = value.map_or(*option, |value| value.parse().expect("a number"));
        }
    }

    fn set_position(&mut self, line: &str) {
        let (start, moves) = line.split_once(" moves").unwrap_or((line, ""));
        let fen = start.strip_prefix("position fen ");
        self.position = fen.map_or_else(Position::start, |fen| Position::from_fen(fen).expect("a legal position"));
        for text in moves.split_ascii_whitespace() {
            let mv = self.position.parse_uci(text).expect("a legal move");
            self.position.play(mv);
        }
    }

    fn go(&mut self, line: &str) {
        self.searches += 1;
        let nodes = line.strip_prefix("go nodes ").and_then(|nodes| nodes.parse::<u64>().ok());
        // The same in every process that is asked the same.
        self.random = self.position.key() ^ u64::from(self.position.fullmove_number());
        let moves = self.position.legal_moves();
        let mv = moves[(self.random >> 20) as usize % moves.len()];
        let other = moves[((self.random >> 20) as usize + 1) % moves.len()];
        self.misbehave();
        if self.shows(Behaviour::Tuned) && self.is_lost() {
            say(&format!("info depth 1 score cp -9000 nodes 1 pv {}", self.text(mv)));
        } else if !self.shows(Behaviour::NoScore) {
            say(&format!("info depth 1 score {} nodes 1 pv {}", self.score(), self.text(mv)));
        }
        let is_long = nodes.is_some_and(|nodes| nodes > 1000);
        if self.shows(Behaviour::Deepens) && is_long {
            (2..6).for_each(|depth| {
                say(&format!("info depth {depth} score cp {depth} nodes {depth}00 pv {}", self.text(mv)))
            });
            let _ = io::stdin().read_line(&mut String::new());
        }
        if self.shows(Behaviour::IllegalPv) {
            say(&format!("info depth 1 score cp 0 nodes 2 pv {0} {0}", self.text(mv)));
        }
        if self.shows(Behaviour::FalseMate) {
            say(&format!("info depth 1 score mate 3 nodes 3 pv {}", self.text(mv)));
        }
        if self.shows(Behaviour::OtherMove) {
            say(&format!("info depth 1 score cp 0 nodes 4 pv {}", self.text(other)));
        }
        if self.shows(Behaviour::Deep) {
            say(&format!("info depth 99 score cp 0 nodes 1 pv {}", self.text(mv)));
        }
        if self.shows(Behaviour::FloodLines) {
            let line = format!("info depth 1 score cp 0 nodes 5 pv{}", " x".repeat(30_000));
            (0..2500).for_each(|_| say(&line));
            (0..500).for_each(|_| say("info depth 1 score cp 0 nodes 5 pv x"));
            say(&format!("info depth 1 score cp 0 nodes 1 pv {}", self.text(mv)));
        }
        if self.shows(Behaviour::HugeNumbers) {
            say(&format!("info depth 4294967295 score cp 2147483647 nodes 18446744073709551615 pv {}", self.text(mv)));
        }
        if self.shows(Behaviour::Escapes) {
            say(&format!("info depth 1 score cp 0 nodes 5 pv {EVIL}\ninfo string {EVIL}\nbestmove {EVIL}"));
        } else if self.shows(Behaviour::Illegal) {
            say("bestmove e1e8");
        } else if self.shows(Behaviour::NoMove) {
            say("bestmove 0000");
        } else if self.shows(Behaviour::Capitals) {
            say(&format!("bestmove {}", self.text(mv).to_uppercase()));
        } else if self.shows(Behaviour::Blanks) {
            say(&format!("\t info  depth 1\tscore cp 0  nodes 1 pv  {0} \n  bestmove  {0}  ", self.text(mv)));
        } else {
            say(&format!("bestmove {}", self.text(mv)));
        }
        if self.shows(Behaviour::Repeats) && is_long {
            say(&format!("bestmove {}", self.text(other)));
        }
    }

    fn score(&self) -> String {
        let chance = (self.random >> 40) % 1000;
        if self.shows(Behaviour::Bounds) {
            "cp 0 lowerbound".to_owned()
        } else if self.shows(Behaviour::Mates) {
            "mate 3".to_owned()
        } else if self.shows(Behaviour::Remembers) {
            format!("cp {}", self.searches)
        } else if self.shows(Behaviour::Scores) {
            format!("cp {}", chance as i64 - 500)
        } else if self.tells_chances {
            "cp 80 wdl 600 200 200".to_owned()
        } else {
            "cp 0".to_owned()
        }
    }

    /// Chance, of which the options are part, against the square of their distance from the best.
    fn is_lost(&self) -> bool {
        let key = self.options.iter().fold(self.random, |key, option| {
            (key ^ option.to_bits()).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
        });
        let distance: f64 = self.options.iter().zip(BEST).map(|(option, best)| ((option - best) / 100.0).powi(2)).sum();
        ((key >> 11) as f64) < distance * (1_u64 << 53) as f64
    }

    fn text(&self, mv: Move) -> String {
        mv.to_uci(self.chess960)
    }

    /// What does not end with a move, or not in time.
    fn misbehave(&self) {
        if self.shows(Behaviour::EscapesAndDies) {
            eprintln!("mock: {EVIL}");
            exit(3);
        }
        let is_bad = (self.shows(Behaviour::CrashAbove) && self.options[0] > 60.0)
            || (self.shows(Behaviour::CrashSometimes) && self.random.is_multiple_of(61));
        if self.shows(Behaviour::Crash) || is_bad {
            eprintln!("mock: a fatal error\n");
            exit(3);
        }
        if self.shows(Behaviour::Panics) {
            (1..=60).for_each(|number| eprintln!("mock: report, line {number}"));
            panic!("mock: out of bounds");
        }
        if self.shows(Behaviour::Stall) {
            let mut child = Command::new("sleep").arg("1000").spawn().expect("sleep is there");
            std::fs::write("mock.pid", child.id().to_string()).expect("a folder to write to");
            let _ = child.wait();
        }
        if self.shows(Behaviour::Flood) {
            loop {
                say("info depth 1 score cp 0 pv e2e4");
            }
        }
        if self.shows(Behaviour::Late) {
            let _ = io::stdin().read_line(&mut String::new());
        }
        if self.shows(Behaviour::Slow) {
            sleep(Duration::from_millis(2));
        }
        if self.shows(Behaviour::Deaf) {
            sleep(Duration::from_millis(1500));
        }
    }
}
