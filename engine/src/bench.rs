//! The bench: fifty positions searched to a fixed depth by one thread.
//!
//! The sum of the nodes is the signature of search and evaluation: it is the same on every machine, and changes with
//! every change of play. OpenBench reads it, and the speed, from the last line.

use std::time::{Duration, Instant};
use std::{fmt, io};

use crate::chess::{Game, Position};
use crate::search::{DEFAULT_HASH, Limits, Searcher, on_large_stack};

/// The depth of the bench, plies.
pub const DEPTH: i32 = 13;

/// The depth that the arguments of a bench ask for, [`DEPTH`] if there are none.
///
/// # Errors
/// If they are more than a depth: other engines take hash, threads, a file and a kind of limit as well.
pub fn depth(words: &[&str]) -> Result<i32, String> {
    match words {
        [] => Ok(DEPTH),
        [depth] => match depth.parse() {
            Ok(depth @ 1..=100) => Ok(depth),
            _ => Err(format!("bench: expected a depth from 1 to 100, found `{depth}`")),
        },
        _ => {
            let words = words.join(" ");
            Err(format!("bench: takes a depth alone, found `{words}`: hash, threads and positions are always the same"))
        }
    }
}

/// Forty positions of the default data, from opening to endgame; ten well-known ones, castling, promotion, en passant,
/// zugzwang and mates among them.
pub const POSITIONS: [&str; 50] = [
    "6r1/kp6/p7/3p2P1/P2PnQ2/N1P3P1/KPR2p2/4q2R w - -",
    "rn1q1bnr/pb3k2/4ppp1/1ppp3p/4P3/2PPBN2/PP2BPPP/RN1QK2R w - -",
    "8/1k6/8/1P6/2NP4/2K5/3P4/8 w - -",
    "r1b1k2r/pppnbppp/5n2/q3p3/P3P3/2NB1N1P/1PQ2PP1/R1B1K2R w KQkq -",
    "8/3n1k2/5p2/3N1P1p/6pP/1p4P1/4KP2/8 b - -",
    "5k2/5p2/1p1r4/8/2P4p/P2P1Br1/P3K1P1/8 w - -",
    "1k6/2p5/8/1p6/6K1/8/5q2/8 b - -",
    "r1bq1rk1/2p1npb1/2n1p1p1/1N1p2Pp/3P1P1N/1P2P3/2P3BP/1RBQ1RK1 b - -",
    "3r1r2/p1p5/1p1k3p/8/PR3p2/3B1R1P/K1P5/8 b - -",
    "2R5/8/8/8/7P/5kP1/2K5/8 w - -",
    "7k/4b1p1/1p2q2p/3pPp2/3P1P2/2Q1B1P1/4B1KP/1r6 b - -",
    "rnbqkb1r/pp3ppp/2p5/3pNnP1/1P2p2P/P1N1P3/2PP1P2/R1BQKB1R b KQq -",
    "8/1k4K1/8/1n6/1P6/8/8/8 b - -",
    "rn1qkb1r/pbpp1ppp/1p2pn2/8/1P6/P3PN2/2PP1PPP/RNBQKB1R w KQkq -",
    "r4bnr/1p1q1kpp/p3bp2/2p5/2PN4/1N1Q4/PP3PPP/R1B1K2R w KQ -",
    "r2qk2r/1bpp2pp/p3pn2/R4p2/5N1P/1P2PN2/2PP1PP1/Q3K2R w Kkq -",
    "rnbqkbr1/ppp1p1pp/5p2/3p1n2/3P1P2/5N2/PPP1P1PP/R1BQKBNR b KQq -",
    "r5q1/2p1bp1k/1p1p3p/p3n1r1/P1N1P3/2P4P/B4BP1/3Q1RK1 w - -",
    "8/3k4/1P6/2P5/6p1/2P1K1P1/8/8 w - -",
    "8/8/P7/5kP1/5P2/5p1p/7P/4K1b1 w - -",
    "1rbqkbnr/ppp2p1p/n2pp3/6p1/P2P4/5PP1/RPP1P2P/1NBQKBNR b Kk -",
    "2kr1b1r/ppp4p/2nq1p2/3b4/P4N1P/4P2R/1P3PP1/R1BQKB2 b Q -",
    "r6r/pb1kp1bp/3p2p1/2n2p2/2BN4/4P3/P2B1PPP/1R3RK1 b - -",
    "2k5/3R3R/pr5p/n3p1p1/2B1N3/1P2P3/4K1PP/8 w - -",
    "2Q5/2p2p2/1pNbP3/3P1k2/1p3r2/1P6/1P6/2BK2R1 b - -",
    "1nb1kbnr/rppq1ppp/3p4/p3p3/2P1PP2/2N3P1/PP1P3P/R1BQKBNR b KQk -",
    "1n1k1b1r/2p2pp1/2P1pn2/6pq/1r1P4/3Q4/P3PPBP/R1B2K1R b - -",
    "8/8/8/3p2k1/3P4/5K2/8/8 w - -",
    "r1bq1bnr/1ppk1pp1/2n1p3/p2pP2p/3P1P2/2P5/PPQ3PP/RNB1KBNR b - -",
    "r2qk2r/1p2bn2/n4p2/1bpPp1p1/Pp2P1Pp/3P1N1P/1BQN1PB1/R4RK1 b kq -",
    "8/5p2/1kb3p1/3pp1Pp/1P3n1P/2N2P2/5K2/5B2 b - -",
    "8/Q3nk2/5p2/4rPn1/5NP1/6P1/6K1/8 w - -",
    "rnbqkb1r/1pppppp1/5n2/7p/p3P3/5N2/PPPP1PPP/RNBQKB1R w kq -",
    "1r3r1k/p7/3p2p1/5b1p/2BPn2P/4P3/P1P3R1/R3K3 w - -",
    "r1b2rk1/p2nq1b1/1p3n1p/2p3p1/2P1P3/Q2P2B1/P2NP1PP/1R2KB1R w K -",
    "8/3k3p/6p1/B5b1/2rPb3/P2nP1PP/4R2K/8 w - -",
    "8/1bkp4/2p4p/7P/1n2BKP1/1P6/P2R4/4R3 w - -",
    "3rn1k1/p6p/1pn1p1r1/2p2p2/N1P3pQ/1P2P1N1/q2P1PPP/3R1RK1 w - -",
    "4k3/6rp/np1P1p2/p4p2/2P5/P4B2/1N2PK2/7R w - -",
    "rnbqkb1r/1p1ppp2/2p2n1p/p7/5P2/5N2/PPPPP1BP/RNBQ1RK1 w kq -",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - -",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - -",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ -",
    "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq -",
    "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - -",
    "4k3/8/8/8/8/8/4P3/4K3 w - -",
    "8/8/8/8/5kp1/P7/8/1K1N4 w - -",
    "6k1/6p1/8/8/8/8/4r2P/6K1 b - -",
];

/// The result of a bench.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// Nodes of all positions.
    pub nodes: u64,
    /// Time taken.
    pub time: Duration,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes_per_second = self.nodes as f64 / self.time.as_secs_f64().max(1e-9);
        write!(f, "{} nodes {nodes_per_second:.0} nps", self.nodes)
    }
}

/// Searches every position to `depth` plies, with one thread, a new table and the parameters and signals of `like`;
/// Calls `progress` for each position with its nodes. A stopped bench reports the positions so far.
///
/// # Errors
/// If there is no memory for a table.
pub fn run(depth: i32, like: &Searcher, mut progress: impl FnMut(&str, u64) + Send) -> io::Result<Report> {
    let mut searcher = like.sibling(DEFAULT_HASH)?;
    let signals = searcher.signals();
    let start = Instant::now();
    let mut nodes = 0;
    on_large_stack(|| {
        for fen in POSITIONS.iter().take_while(|_| !signals.is_stopped()) {
            let position = Position::from_fen(fen).expect("the tests have read every position");
            let outcome = searcher.search_since(Instant::now(), &Game::new(position), Limits::depth(depth), &mut ());
            nodes += outcome.nodes;
            progress(fen, outcome.nodes);
        }
    });
    Ok(Report { nodes, time: start.elapsed() })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_bench_takes_a_depth_and_refuses_the_arguments_of_others() {
        assert_eq!((super::depth(&[]), super::depth(&["5"])), (Ok(super::DEPTH), Ok(5)));
        for words in [&["16", "1", "13", "default", "depth"][..], &["x"], &["0"], &["-1"]] {
            assert!(super::depth(words).unwrap_err().starts_with("bench: "), "{words:?}");
        }
    }
}
