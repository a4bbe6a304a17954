//! Checks of labels: evidence in the data for and against the success of a fit.
//!
//! No other code judges labels. Every file is judged while it is read, position by position, after the filters and
//! before a sample is drawn. So every command that reads data reaches the same verdict. All sums are of integers: the
//! verdict does not depend on the number of threads.
//!
//! The thresholds separate data of known quality. Engines tuned to the embedded positions and to a part of the public
//! quiet-labeled set gained up to 200 Elo. Three engines tuned to 200,000 positions of games of strong engines from
//! level openings lost 100 to 160 Elo.
//!
//! | | embedded | quiet-labeled | level games |
//! |---|---|---|---|
//! | correlation of results and material | 0.71 | 0.71 | 0.27 |
//! | draws | 18 % | 26 % | 57 % |
//! | of 28 pieces or more, two pawns or more ahead | 47 % | 28 % | 2 % |
//! | share of the third of the phases with the fewest | 32 % | 20 % | 27 % |
//! | points of the side that scores see three pawns ahead | 97 % | | |

mod correlation;
#[cfg(test)]
pub(super) mod tests;
mod views;

use engine::chess::Position;
use serde::Serialize;

use super::FileSummary;
use super::label::Label;
use super::material::{PHASE_PARTS, material_balance, phase, phase_part};
use super::outcome::ResultLabel;
pub(super) use correlation::Correlation;
#[cfg(test)]
pub(super) use views::ViewFault;
use views::WithMaterial;

/// The summed value of a win, in units of a share of the point; that of a draw is 0.
const POINT: i64 = 30_000;

/// The fewest games or positions from which a share is judged.
const FEWEST: u64 = 200;

/// The number of standard errors from which a verdict is significant.
const CERTAIN: f64 = 3.0;

/// The correlation with material below which results hardly depend on it.
const LEAST_CORRELATION: f64 = 0.45;

/// The least number of pieces near the beginning of a game.
const FULL_BOARD: u32 = 28;

/// The least material difference, in pawns, by which a side is ahead.
const AHEAD: i32 = 2;

/// The share of full boards with a side ahead below which games begin level.
const LEAST_AHEAD: f64 = 0.05;

/// The share of the positions below which a phase is missing.
const LEAST_PHASE: f64 = 0.02;

/// The least score of a winning position, centipawns; it corresponds to 85 % of the points.
const WINNING: u16 = 300;

/// The share of the points of winning positions below which scores and results disagree.
const LEAST_POINTS: f64 = 0.75;

/// The names of the phases, the endgame first.
pub(super) const PHASES: [&str; PHASE_PARTS] = ["endgame", "middlegame", "opening"];

/// The evidence for and against the labels of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Evidence {
    #[serde(rename = "results_and_material")]
    pub(super) results: WithMaterial,
    #[serde(rename = "scores_and_material")]
    pub(super) scores: WithMaterial,
    #[serde(skip)]
    draws: u64,
    #[serde(skip)]
    by_phase: [u64; PHASE_PARTS],
    /// The number of full boards, and the number of those with a side ahead.
    #[serde(skip)]
    full: [u64; 2],
    /// The number of positions with a winning score, and the points of the side ahead in units of 1 / (2 [`POINT`]).
    #[serde(skip)]
    winning: [u64; 2],
}

impl Evidence {
    /// Adds a position.
    pub(super) fn add(&mut self, position: &Position, label: &Label) {
        let (side, balance) = (position.side_to_move().index(), material_balance(position));
        let points = i64::from(label.outcome.units()) - POINT;
        self.results.0[side].add(balance.into(), points, label.group);
        self.draws += u64::from(label.outcome == ResultLabel::DRAW);
        self.by_phase[phase_part(phase(position))] += 1;
        if position.occupied().count() >= FULL_BOARD {
            self.full[0] += 1;
            self.full[1] += u64::from(balance.abs() >= AHEAD);
        }
        if let Some(score) = label.score {
            self.scores.0[side].add(balance.into(), score.into(), label.group);
            if score.unsigned_abs() >= WINNING {
                self.winning[0] += 1;
                self.winning[1] += (POINT + points * i64::from(score.signum())) as u64;
            }
        }
    }

    /// Adds the evidence of the next part of a file.
    pub(super) fn merge(&mut self, part: &Self) {
        self.results.merge(&part.results);
        self.scores.merge(&part.scores);
        self.draws += part.draws;
        let add = |sums: &mut [u64], more: &[u64]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        add(&mut self.by_phase, &part.by_phase);
        add(&mut self.full, &part.full);
        add(&mut self.winning, &part.winning);
    }

    fn positions(&self) -> u64 {
        self.results.both().count
    }

    /// Returns the warnings to heed before a fit; warnings of results alone only if results are fitted.
    fn warnings(&self, are_results_fitted: bool) -> Vec<String> {
        let has_scores = self.scores.both().count > 0;
        let faults = [self.results.fault(), self.scores.fault()];
        let right = |fault: usize, name| (has_scores && faults[fault].is_none()).then_some(name);
        let views =
            [self.results.warning("results", right(1, "scores")), self.scores.warning("scores", right(0, "results"))];
        // A wrong view of the labels explains the other faults.
        if faults.iter().any(Option::is_some) {
            return views.into_iter().flatten().collect();
        }
        let of_results = [self.weak_results(), self.contradiction()];
        let of_positions = [self.level_games(), self.missing_phase()];
        of_results.into_iter().filter(|_| are_results_fitted).chain(of_positions).flatten().collect()
    }

    /// Returns a warning if results hardly depend on material.
    fn weak_results(&self) -> Option<String> {
        let both = self.results.both();
        let coefficient = both.coefficient()?;
        // If all material is equal, there is no correlation to judge.
        if coefficient + CERTAIN * both.error() > LEAST_CORRELATION || both.mean_square() == 0.0 {
            return None;
        }
        Some(format!(
            "results hardly depend on material (correlation {coefficient:+.2}, {:.0} % draws): fits to such results made \
             three engines 100 to 160 Elo weaker; use games from unbalanced openings (arena datagen)",
            percent(self.draws, self.positions())
        ))
    }

    /// Returns a warning if scores and results contradict one another.
    fn contradiction(&self) -> Option<String> {
        let [count, units] = self.winning;
        let share = units as f64 / (2 * POINT as u64 * count.max(1)) as f64;
        let is_clear = share + CERTAIN * self.scores.both().error() < LEAST_POINTS;
        (count >= FEWEST && is_clear).then(|| {
            format!(
                "scores and results disagree: the side that scores see {WINNING} centipawns ahead made {:.0} % of the \
                 points, not 85 % or more: a fit to one is worse for the other; use --target score if you trust the \
                 search that scored, else longer games",
                100.0 * share
            )
        })
    }

    /// Returns a warning if all games begin level.
    fn level_games(&self) -> Option<String> {
        let [count, ahead] = self.full;
        let is_level = (ahead as f64) < LEAST_AHEAD * count as f64;
        (count >= FEWEST && is_level).then(|| {
            format!(
                "all games begin balanced: with {FULL_BOARD} pieces or more, a side is {AHEAD} pawns ahead in {:.1} % of \
                 the positions, and only with compensation: fits to such positions made engines up to 160 Elo weaker, to \
                 scores as to results; use games from unbalanced openings (arena datagen)",
                percent(ahead, count)
            )
        })
    }

    /// Returns a warning if a single phase is missing. Data of one phase alone have been selected.
    fn missing_phase(&self) -> Option<String> {
        let all = self.positions();
        let is_missing = |count: u64| (count as f64) < LEAST_PHASE * all as f64;
        let (part, &count) = self.by_phase.iter().enumerate().find(|&(_, &count)| is_missing(count))?;
        let values = if part == 0 { "endgame values" } else { "midgame values" };
        let missing = self.by_phase.iter().filter(|&&count| is_missing(count)).count();
        (all >= FEWEST && missing == 1).then(|| {
            format!(
                "{:.1} % of the positions are of the {}: {values} follow from the other phases, and may be wrong where \
                 they count most; add positions of that phase, or freeze these values",
                percent(count, all),
                PHASES[part]
            )
        })
    }
}

/// Returns a share of a number in percent.
pub(super) fn percent(part: u64, all: u64) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}

/// Returns the warnings of files to heed before a fit, a line each; those of results alone only if results are fitted.
pub(crate) fn warnings(files: &[FileSummary], are_results_fitted: bool) -> Vec<String> {
    let of_file = |file: &FileSummary| {
        let warnings = file.evidence.warnings(are_results_fitted).into_iter();
        warnings.map(|warning| format!("{}: {warning}", file.name)).collect::<Vec<String>>()
    };
    files.iter().flat_map(of_file).collect()
}
