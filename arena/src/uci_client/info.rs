//! Parser of `info` lines.

use std::fmt;

use super::bounds::{DEEPEST, MAX_NODES};

/// A score, from the view of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Centipawns.
    Centipawns(i32),
    /// Moves to mate; negative where the side to move is mated.
    Mate(i32),
}

impl Score {
    /// Centipawns, mates being far beyond all others (at most ±1,000,000).
    pub fn centipawns(self) -> i32 {
        const MATE: i32 = 1_000_000;
        match self {
            Score::Centipawns(value) => value.clamp(-MATE / 2, MATE / 2),
            Score::Mate(moves) if moves > 0 => MATE - moves.min(MATE / 4),
            Score::Mate(moves) => -MATE - moves.max(-MATE / 4),
        }
    }
}

impl fmt::Display for Score {
    /// Pawns with sign, or the plies to mate, `+M5` and `-M6`, as PGN comments of other runners have it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Score::Centipawns(value) => write!(f, "{:+.2}", f64::from(value) / 100.0),
            Score::Mate(moves) => {
                let (sign, own) = if moves > 0 { ('+', 1) } else { ('-', 0) };
                write!(f, "{sign}M{}", 2 * u64::from(moves.unsigned_abs()) - own)
            }
        }
    }
}

/// The words that begin another part of an `info` line, and so end its line of moves.
const WORDS: [&str; 20] = [
    "depth",
    "seldepth",
    "time",
    "nodes",
    "pv",
    "multipv",
    "score",
    "cp",
    "mate",
    "lowerbound",
    "upperbound",
    "wdl",
    "currmove",
    "currmovenumber",
    "hashfull",
    "nps",
    "tbhits",
    "cpuload",
    "currline",
    "string",
];

/// The parts of an `info` line that the arena looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info<'a> {
    /// Plies searched.
    pub depth: Option<u32>,
    /// Plies looked at along the longest line.
    pub seldepth: Option<u32>,
    /// Which of the best lines this is; 1 if it does not say.
    pub multipv: Option<u32>,
    /// The score.
    pub score: Option<Score>,
    /// True if the score is only a bound.
    pub is_bound: bool,
    /// The chances of win, draw and loss of the side to move, in thousandths.
    pub chances: Option<[u16; 3]>,
    /// Nodes searched so far.
    pub nodes: Option<u64>,
    /// The line, as words.
    pub pv: Vec<&'a str>,
}

impl<'a> Info<'a> {
    /// Parses a line; `None` if it is not an `info` line or only a message. Unknown words are skipped, and so are
    /// implausible numbers, whose sums would be meaningless or overflow.
    pub fn parse(line: &'a str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace().peekable();
        if words.next() != Some("info") {
            return None;
        }
        let mut info = Info::default();
        while let Some(word) = words.next() {
            let mut number = || words.peek().and_then(|word| word.parse::<u64>().ok());
            match word {
                "string" => break,
                "depth" => info.depth = number().and_then(plies),
                "seldepth" => info.seldepth = number().and_then(plies),
                "multipv" => info.multipv = number().and_then(|n| n.try_into().ok()),
                "nodes" => info.nodes = number().filter(|&nodes| nodes <= MAX_NODES),
                "lowerbound" | "upperbound" => info.is_bound = true,
                "cp" => info.score = words.next().and_then(|word| word.parse().ok()).map(Score::Centipawns),
                "mate" => info.score = words.next().and_then(|word| word.parse().ok()).map(Score::Mate),
                "wdl" => {
                    let mut chance = || words.next().and_then(|word| word.parse().ok());
                    let read = [chance(), chance(), chance()];
                    info.chances = match read {
                        [Some(win), Some(draw), Some(loss)]
                            if u32::from(win) + u32::from(draw) + u32::from(loss) == 1000 =>
                        {
                            Some([win, draw, loss])
                        }
                        _ => None,
                    };
                }
                "pv" => {
                    while let Some(mv) = words.next_if(|word| !WORDS.contains(word)) {
                        info.pv.push(mv);
                    }
                }
                _ => {}
            }
        }
        let says_something = info != Info::default();
        says_something.then_some(info)
    }

    /// The score of the best line, if it is no bound.
    pub fn exact_score(&self) -> Option<Score> {
        self.score.filter(|_| self.is_main() && !self.is_bound)
    }

    /// Returns true if this is the best line, or the only one.
    pub fn is_main(&self) -> bool {
        self.multipv.is_none_or(|number| number == 1)
    }
}

/// A plausible depth.
fn plies(number: u64) -> Option<u32> {
    number.try_into().ok().filter(|&plies| plies <= DEEPEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usual_line_is_read() {
        let line =
            "info depth 12 seldepth 20 multipv 1 score cp -31 upperbound nodes 123456 nps 1 hashfull 3 pv e2e4 e7e5";
        let info = Info::parse(line).unwrap();
        assert_eq!((info.depth, info.seldepth, info.nodes), (Some(12), Some(20), Some(123_456)));
        assert_eq!(info.score, Some(Score::Centipawns(-31)));
        assert!(info.is_bound && info.is_main());
        assert_eq!(info.pv, ["e2e4", "e7e5"]);
        assert_eq!(Info::parse("info score mate -3").unwrap().score, Some(Score::Mate(-3)));
        let chances = |words: &str| Info::parse(&format!("info score cp 5 wdl {words} nodes 7")).unwrap().chances;
        assert_eq!(chances("300 500 200"), Some([300, 500, 200]));
        assert_eq!(["300 500 201", "1 2", "-1 500 501", "65000 65000 65000"].map(chances), [None; 4]);
    }

    #[test]
    fn another_part_ends_the_moves() {
        for rest in ["string M= 115", "string depth 99 score cp 3", "nodes 7", "hashfull 3 nodes 7", "score cp 5"] {
            let line = format!("info depth 4 pv a2a3 a7a6 {rest}");
            let info = Info::parse(&line).unwrap();
            assert_eq!((info.depth, &info.pv[..]), (Some(4), &["a2a3", "a7a6"][..]), "{line}");
            assert_eq!(info.nodes, rest.contains("nodes").then_some(7), "{line}");
            assert_eq!(info.score, (rest == "score cp 5").then_some(Score::Centipawns(5)), "{line}");
        }
    }

    #[test]
    fn messages_and_garbage_are_nothing() {
        for line in ["", "bestmove e2e4", "info", "info string pv e2e4 score cp 3", "infos depth 3", "info depth x"] {
            assert_eq!(Info::parse(line), None, "{line}");
        }
    }

    #[test]
    fn implausible_numbers_are_unknown() {
        let line = "info depth 4294967295 seldepth 18446744073709551615 score cp 1 nodes 18446744073709551615 pv e2e4";
        let info = Info::parse(line).unwrap();
        assert_eq!((info.depth, info.seldepth, info.nodes), (None, None, None));
        assert_eq!((info.score, &info.pv[..]), (Some(Score::Centipawns(1)), &["e2e4"][..]));
        for score in ["cp 2147483647", "cp -2147483648", "mate 2147483647", "mate -2147483648"] {
            let score = Info::parse(&format!("info score {score}")).unwrap().score.unwrap();
            assert!(score.centipawns().abs() <= 1_000_000 && !score.to_string().is_empty());
        }
        assert_eq!(Info::parse("info score cp 2147483648"), None);
    }

    #[test]
    fn mates_lie_beyond_all_other_scores() {
        let order =
            [Score::Mate(-1), Score::Mate(-9), Score::Centipawns(-32_000), Score::Centipawns(5), Score::Mate(9)];
        assert!(order.is_sorted_by_key(|score| score.centipawns()));
        assert_eq!(order.map(|score| score.to_string()), ["-M2", "-M18", "-320.00", "+0.05", "+M17"]);
    }
}
