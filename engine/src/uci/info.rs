//! `info` lines.

use std::fmt::Write as _;

use super::wdl;
use crate::options::Display;
use crate::search::{Bound, Handler, Info, RootWatcher, Value, mate_distance};
use common::out;

/// Prints the reports of a search.
pub(super) struct Printer {
    pub(super) display: Display,
    /// K of the parameters in use, for the chances.
    pub(super) scale: f64,
    /// Material of the position that is searched, for the chances.
    pub(super) material: u32,
}

impl Handler for Printer {
    fn line(&mut self, info: &Info<'_>) {
        out!("{}", line(info, self));
    }

    fn no_moves(&mut self, value: Value) {
        out!("info depth 0 score {}", score(value));
    }

    fn fault(&mut self, text: &str) {
        out!("info string error: {text}");
    }

    fn watcher(&self) -> Option<RootWatcher> {
        let Display { chess960, .. } = self.display;
        Some(Box::new(move |depth, mv, number| {
            out!("info depth {depth} currmove {} currmovenumber {number}", mv.to_uci(chess960));
        }))
    }
}

/// `cp` or `mate` with its number.
fn score(value: Value) -> String {
    match mate_distance(value) {
        Some(moves) => format!("mate {moves}"),
        None => format!("cp {value}"),
    }
}

/// One line of the analysis.
fn line(info: &Info<'_>, printer: &Printer) -> String {
    let Info { depth, seldepth, multipv, value, nodes, hashfull, tbhits, .. } = *info;
    let mut text = format!("info depth {depth} seldepth {seldepth} multipv {multipv} score {}", score(value));
    text.push_str(match info.bound {
        Bound::Upper => " upperbound",
        Bound::Lower => " lowerbound",
        Bound::Exact => "",
    });
    let millis = info.time.as_millis();
    let nps = (nodes as f64 / info.time.as_secs_f64().max(1e-6)) as u64;
    // Writing to a string cannot fail.
    if printer.display.wdl {
        let [win, draw, loss] = wdl::chances(value, printer.scale, printer.material);
        let _ = write!(text, " wdl {win} {draw} {loss}");
    }
    let _ = write!(text, " nodes {nodes} nps {nps} hashfull {hashfull} tbhits {tbhits} time {millis} pv");
    for mv in info.line {
        let _ = write!(text, " {}", mv.to_uci(printer.display.chess960));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;
    use crate::search::mated_in;
    use std::time::Duration;

    #[test]
    fn lines_say_what_guis_read() {
        let mv = Position::start().parse_uci("e2e4").unwrap();
        let info = Info {
            depth: 7,
            seldepth: 11,
            multipv: 1,
            value: 31,
            bound: Bound::Exact,
            nodes: 5000,
            time: Duration::from_millis(10),
            hashfull: 3,
            tbhits: 0,
            line: &[mv],
        };
        let expected =
            "info depth 7 seldepth 11 multipv 1 score cp 31 nodes 5000 nps 500000 hashfull 3 tbhits 0 time 10 pv e2e4";
        let mut printer = Printer { display: Display::default(), scale: 1.0, material: 78 };
        assert_eq!(line(&info, &printer), expected);
        let mated = Info { value: mated_in(4), bound: Bound::Upper, ..info };
        printer.display.wdl = true;
        assert!(line(&mated, &printer).contains("score mate -2 upperbound wdl 0 0 1000 nodes"));
    }
}
