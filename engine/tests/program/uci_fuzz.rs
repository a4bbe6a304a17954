//! Whatever is sent, the program lives on and obeys.
//!
//! The lines follow from a seed: bytes at random, words of the protocol at random, commands as they should be and
//! commands with a part damaged. `MERINO_FUZZ_LINES` says how many (a million take minutes),
//! `MERINO_FUZZ_SEED` with which seed. What leads to a failure is printed.

use std::env;
use std::time::Duration;

use crate::support::session::Engine;
use engine::random::Random;

const LINES: u64 = 4000;

/// How many lines are sent before the program must have dealt with all of them.
const BATCH: u64 = 50;

const COMMANDS: [&str; 36] = [
    "uci",
    "isready",
    "ucinewgame",
    "debug on",
    "register later",
    "stop",
    "ponderhit",
    "d",
    "eval",
    "position startpos",
    "position startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6",
    "position fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 moves e1g1 e8c8",
    "position fen 8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",
    "position fen bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "position fen 8/PPPk4/8/8/8/8/4Kppp/8 w - - 99 200",
    "go depth 3",
    "go nodes 300",
    "go movetime 1",
    "go wtime 20 btime 20 winc 1 binc 1 movestogo 3",
    "go infinite",
    "go ponder wtime 30 btime 30",
    "go mate 2 nodes 500",
    "go depth 4 searchmoves e2e4 d2d4 e1g1",
    "go perft 2",
    "setoption name Hash value 2",
    "setoption name Threads value 2",
    "setoption name MultiPV value 3",
    "setoption name Move Overhead value 0",
    "setoption name Clear Hash",
    "setoption name UCI_Chess960 value true",
    "setoption name UCI_ShowWDL value true",
    "setoption name EvalFile value /no/such/file.toml",
    "setoption name OwnBook value true",
    "bench",
    "genfens 3 seed 1 book None",
];

const ODD_WORDS: [&str; 12] = [
    "-1",
    "0",
    "99999999999999999999999999999999999999999",
    "0x10",
    "1e9",
    "0000",
    "a1a1",
    "e7e8k",
    "\u{0}",
    "\u{feff}",
    "é\u{1f600}",
    "<empty>",
];

struct Fuzz {
    random: Random,
    words: Vec<&'static str>,
}

impl Fuzz {
    fn new(seed: u64) -> Self {
        let words = COMMANDS.iter().flat_map(|command| command.split(' ')).chain(ODD_WORDS).collect();
        Fuzz { random: Random::seeded(seed), words }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound as u64) as usize
    }

    fn command(&mut self) -> &'static str {
        COMMANDS[self.below(COMMANDS.len())]
    }

    fn word(&mut self) -> &'static str {
        let index = self.below(self.words.len());
        self.words[index]
    }

    fn line(&mut self) -> Vec<u8> {
        match self.below(8) {
            0 => (0..self.below(60)).map(|_| self.below(256) as u8).collect(),
            1 => {
                let words: Vec<&str> = (0..self.below(12)).map(|_| self.word()).collect();
                words.join(" ").into_bytes()
            }
            2 | 3 => self.command().as_bytes().to_vec(),
            4 => {
                // A command that another one ends.
                let mut line = self.command().as_bytes().to_vec();
                line.truncate(self.below(line.len() + 1));
                line.push(b' ');
                line.extend(self.command().as_bytes());
                line
            }
            _ => self.damaged(),
        }
    }

    /// A command with some of its bytes changed, left out or said twice.
    fn damaged(&mut self) -> Vec<u8> {
        let mut line = self.command().as_bytes().to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(line.len().max(1)).min(line.len().saturating_sub(1));
            let byte = self.below(256) as u8;
            match self.below(5) {
                0 if !line.is_empty() => line[at] = byte,
                1 if !line.is_empty() => drop(line.remove(at)),
                2 => line.insert(at, byte),
                3 => {
                    let word = self.word();
                    line.splice(at..at, format!(" {word} ").into_bytes());
                }
                _ => {
                    let end = at + self.below(line.len() - at + 1);
                    let part = line[at..end].to_vec();
                    line.splice(end..end, part);
                }
            }
        }
        line
    }
}

/// Whether a line may be sent: it ends neither the program nor the test's patience nor the machine's memory.
fn is_harmless(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line).to_lowercase();
    let has_large_number = text.split(|c: char| !c.is_ascii_digit()).any(|number| {
        // What no machine has is refused; what it has would be used.
        number.parse::<u64>().is_ok_and(|number| number > 8 && number < 1 << 40)
    });
    let is_costly = ["hash", "threads"].iter().any(|option| text.contains(option)) && has_large_number;
    let ends = text.split(['\n', '\r']).any(|part| part.split_whitespace().next() == Some("quit"));
    !is_costly && !ends
}

/// What was sent last, stderr if the test fails.
struct Sent(Vec<Vec<u8>>);

impl Drop for Sent {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for line in &self.0 {
                eprintln!("sent: {}", line.escape_ascii());
            }
        }
    }
}

fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

/// Waits until everything sent has been dealt with. One `stop` is enough for what would take too long.
fn settle(engine: &mut Engine, batch: u64) {
    engine.send(&format!("setoption name batch{batch}\nstop"));
    engine.until(&format!("info string error: there is no option `batch{batch}`"));
}

#[test]
fn anything_may_be_sent() {
    let (lines, seed) = (number("MERINO_FUZZ_LINES").unwrap_or(LINES), number("MERINO_FUZZ_SEED").unwrap_or(1));
    let mut fuzz = Fuzz::new(seed);
    let mut engine = Engine::start(&[]);
    let mut sent = Sent(Vec::new());
    for batch in 0..lines.div_ceil(BATCH) {
        sent.0.clear();
        let mut count = 0;
        while count < BATCH {
            let line = fuzz.line();
            if is_harmless(&line) {
                engine.send_bytes(&[&line[..], b"\n"].concat());
                sent.0.push(line);
                count += 1;
            }
        }
        settle(&mut engine, batch);
    }
    for reset in ["MultiPV value 1", "UCI_Chess960 value false", "OwnBook value false"] {
        engine.send(&format!("setoption name {reset}"));
    }
    engine.send("position fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1");
    engine.answer("go depth 4", "bestmove d1d8");
    engine.end();
}

/// Whatever order commands come in, and whatever they find running.
#[test]
fn every_go_is_answered_once() {
    const COMMANDS: [&str; 14] = [
        "go depth 2",
        "go nodes 300",
        "go wtime 36000000",
        "go mate 30",
        "go infinite",
        "go ponder depth 3",
        "go ponder",
        "stop",
        "ponderhit",
        "position startpos moves e2e4 e7e5",
        "position startpos moves e2e5",
        "ucinewgame",
        "setoption name Clear Hash",
        "isready",
    ];
    let mut engine = Engine::start(&[]);
    let mut random = Random::seeded(9);
    for round in 0..150 {
        let batch: Vec<&str> = (0..12).map(|_| COMMANDS[random.below(COMMANDS.len() as u64) as usize]).collect();
        for command in &batch {
            engine.send(command);
            std::thread::sleep(Duration::from_micros(random.below(3) * random.below(300)));
        }
        engine.send("stop\nposition startpos\ngo perft 1");
        let lines = engine.until("nodes ");
        let asked = batch.iter().filter(|command| command.starts_with("go")).count();
        let answered = lines.iter().filter(|line| line.starts_with("bestmove ")).count();
        assert_eq!(answered, asked, "{round}: {batch:?}: {lines:?}");
    }
    engine.end();
}
