//! The result of a search, from its `info` lines.

use super::{Answer, Info, Score};

/// The evaluation of a position that the lines of its search report. Bounds do not count as scores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reported<'a> {
    /// The last exact score of the best line, in the view of the side to move.
    pub score: Option<Score>,
    /// The chances that come with it: win, draw and loss of the side to move, in thousandths.
    pub chances: Option<[u16; 3]>,
    /// The line of the score, as words.
    pub pv: Vec<&'a str>,
    /// The plies of the score; those of the last bound where there is no score.
    pub depth: Option<u32>,
    /// True if the search gave a score of its best line, even a bound.
    pub is_scored: bool,
    /// The last number of nodes.
    pub nodes: Option<u64>,
}

impl Answer {
    /// Returns the evaluation that the lines of the search report.
    pub fn reported(&self) -> Reported<'_> {
        let mut reported = Reported::default();
        for info in self.infos.iter().rev().filter_map(|line| Info::parse(line)) {
            reported.nodes = reported.nodes.or(info.nodes);
            if !info.is_main() {
                continue;
            }
            reported.is_scored |= info.score.is_some();
            if reported.score.is_none() && info.exact_score().is_some() {
                // The depth of a later bound is not that of the score.
                reported.depth = None;
                (reported.score, reported.chances, reported.pv) = (info.score, info.chances, info.pv);
            }
            reported.depth = reported.depth.or(info.depth);
            if reported.score.is_some() && reported.depth.is_some() && reported.nodes.is_some() {
                break;
            }
        }
        reported
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_last_exact_score_counts() {
        let infos = [
            "info depth 1 score cp 7 nodes 10 pv a2a3",
            "info depth 2 score cp 13 wdl 420 400 180 nodes 20 pv e2e4 e7e5",
            "info depth 2 multipv 2 score cp 9 nodes 20 pv d2d4",
            "info depth 3 score cp 900 lowerbound nodes 30 pv d2d4",
            "info depth 3 score cp -900 upperbound nodes 40",
        ];
        let answer = |infos: &[&str]| Answer {
            best_move: "e2e4".to_owned(),
            elapsed: Duration::ZERO,
            infos: infos.iter().map(|&line| line.to_owned()).collect(),
        };
        let whole = answer(&infos);
        let reported = whole.reported();
        assert_eq!((reported.score, reported.nodes), (Some(Score::Centipawns(13)), Some(40)));
        assert_eq!(reported.depth, Some(2));
        assert_eq!((reported.chances, &reported.pv[..]), (Some([420, 400, 180]), &["e2e4", "e7e5"][..]));
        let bounds = answer(&infos[3..]);
        assert_eq!((bounds.reported().score, bounds.reported().nodes), (None, Some(40)));
        assert_eq!((bounds.reported().is_scored, bounds.reported().depth), (true, Some(3)));
        assert_eq!(answer(&[]).reported(), Reported::default());
    }
}
