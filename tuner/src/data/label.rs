//! Labels of positions, and their interpretation in texts.

use clap::{Args, ValueEnum};
use engine::chess::{Color, Move, Position};
use engine::search::MATE;

use super::outcome::ResultLabel;
use super::record_error::RecordError;
use super::results::Results;

/// The view of the results and scores of a file, if its format leaves it open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LabelView {
    /// White's.
    #[default]
    White,
    /// Those of the side to move.
    Mover,
}

impl LabelView {
    /// Returns the side of the view in a position.
    fn side(self, position: &Position) -> Color {
        match self {
            LabelView::White => Color::White,
            LabelView::Mover => position.side_to_move(),
        }
    }
}

/// The unit of scores in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScoreUnit {
    /// Hundredths of a pawn; fractions are rounded.
    Centipawns,
    /// Pawns.
    Pawns,
}

/// The interpretation and the place of the labels of a text, as far as the text leaves them open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Data")]
pub struct LabelOptions {
    /// The view of results and scores in texts whose style leaves it open: `[1.0]`, columns of numbers or W, D and L;
    /// White's if not given. `1-0` and W, D, B are always White's, `ce` of EPD the mover's; binary formats define theirs.
    #[arg(long, value_name = "VIEW", value_enum)]
    pub view: Option<LabelView>,

    /// The view of scores in texts, if it is not that of the results.
    #[arg(long, value_name = "VIEW", value_enum)]
    pub score_view: Option<LabelView>,

    /// The meaning of results that are numbers, where the data leave it open: points (1, 0.5, 0), signed (1, 0, -1) or
    /// half-points (2, 1, 0, as c-chess-cli writes them).
    #[arg(long, value_name = "KIND", value_enum)]
    pub results: Option<Results>,

    /// The unit of scores in texts. Without it, only whole numbers are read, as centipawns.
    #[arg(long = "scores", value_name = "UNIT", value_enum)]
    pub unit: Option<ScoreUnit>,

    /// The operation of EPD or the column that has the results, such as c1.
    #[arg(long, value_name = "NAME")]
    pub result_in: Option<String>,

    /// The operation of EPD or the column that has the scores.
    #[arg(long, value_name = "NAME")]
    pub score_in: Option<String>,
}

impl LabelOptions {
    /// Detects the notation of the results of a file; see [`Results`].
    pub(super) fn results_of<'t>(&self, texts: impl Iterator<Item = &'t str>) -> Result<Option<Results>, String> {
        Results::of(texts, self.results, self.view.is_some())
    }

    /// Returns these options, completed by `others`.
    #[must_use]
    pub fn or(&self, others: &Self) -> Self {
        LabelOptions {
            view: self.view.or(others.view),
            score_view: self.score_view.or(self.view).or(others.score_view),
            results: self.results.or(others.results),
            unit: self.unit.or(others.unit),
            result_in: self.result_in.clone().or_else(|| others.result_in.clone()),
            score_in: self.score_in.clone().or_else(|| others.score_in.clone()),
        }
    }

    /// Returns the view of scores.
    pub(super) fn score_view(&self) -> LabelView {
        self.score_view.or(self.view).unwrap_or_default()
    }

    /// Parses a result in a notation, and converts it to White's view.
    pub(super) fn outcome(&self, text: &str, results: Results, position: &Position) -> Option<ResultLabel> {
        let found = results.read(text)?;
        let view = if results.is_of_white() { LabelView::White } else { self.view.unwrap_or_default() };
        Some(view.side(position).choose(found, found.flipped()))
    }

    /// Returns a position with its labels: its result, the text of its score in a view, and the name of its game.
    pub(super) fn sample(
        &self,
        position: Position,
        outcome: ResultLabel,
        score: Option<(&str, LabelView)>,
        game: Option<&str>,
    ) -> Result<Sample, RecordError> {
        let centipawns = |(text, view): (&str, LabelView)| {
            self.centipawns(text).map(|score| view.side(&position).choose(score, -score))
        };
        let score = score.map(centipawns).transpose()?;
        let group = game.map_or_else(|| group_of_position(&position), |game| group_of_game(game.as_bytes()));
        Ok(Sample { position, label: Label { outcome, score, group }, best: None })
    }

    /// Parses a score in centipawns, within the range of evaluations and mates.
    fn centipawns(&self, text: &str) -> Result<i16, RecordError> {
        let unknown = |expected: &str| Err(RecordError::new("unknown score", format!("score `{text}`: {expected}")));
        let number = text.trim_start_matches('+').parse::<f64>().ok().filter(|number| number.is_finite());
        let centipawns = match (number, self.unit) {
            (Some(pawns), Some(ScoreUnit::Pawns)) => 100.0 * pawns,
            (Some(number), Some(ScoreUnit::Centipawns)) => number,
            (Some(number), None) if number.fract() == 0.0 => number,
            (Some(_), None) => {
                return unknown(
                    "no whole number; write --scores pawns if they are pawns, --scores centipawns to round",
                );
            }
            (None, _) => f64::INFINITY,
        };
        if centipawns.abs() > f64::from(MATE) {
            return unknown("expected centipawns, a number from -32000 to 32000");
        }
        Ok(centipawns.round() as i16)
    }
}

/// The label of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The result of the game, or the expected result.
    pub outcome: ResultLabel,
    /// The score of a search, centipawns, White's view, from -32,000 to 32,000.
    pub score: Option<i16>,
    /// The group of positions that stay together when data are divided; see [`Grouping`](super::Grouping).
    pub group: u32,
}

impl Label {
    /// Returns a label without a score.
    pub(super) fn new(outcome: ResultLabel, group: u32) -> Self {
        Label { outcome, score: None, group }
    }
}

/// A labelled position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The position.
    pub position: Position,
    /// The label of the position.
    pub label: Label,
    /// The move that was played or found best, if the format has one.
    pub best: Option<Move>,
}

/// The bit that distinguishes groups of games from groups of positions.
pub(super) const GAME: u32 = 1 << 31;

/// Clamps a score of binary data to the range of labels. A score beyond ±32,000 is a mate of some kind, and counts as
/// the shortest.
pub(super) fn bounded(score: i16) -> i16 {
    score.clamp(-(MATE as i16), MATE as i16)
}

/// Returns the group of a position of a game without a name.
pub(super) fn group_of_position(position: &Position) -> u32 {
    fold(position.key()) & !GAME
}

/// Returns the group of a game by its name, or by other bytes that identify it.
pub(super) fn group_of_game(name: &[u8]) -> u32 {
    // FNV-1a: the same on every machine. See <http://www.isthe.com/chongo/tech/comp/fnv/>.
    let hash = name
        .iter()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3));
    fold(hash) | GAME
}

/// Folds both halves of a hash into one.
fn fold(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_exact_to_four_digits() {
        for ten_thousandth in 0..=10_000_u32 {
            let points = f64::from(ten_thousandth) / 10_000.0;
            let outcome = ResultLabel::of_points(points).unwrap();
            assert_eq!(outcome.points(), points as f32);
            assert_eq!(outcome.flipped().flipped(), outcome);
            assert_eq!(outcome.half_points().is_none(), ![0, 5000, 10_000].contains(&ten_thousandth));
            let written = outcome.to_string();
            let read = ResultLabel::of_result(&written).or_else(|| ResultLabel::of_points(written.parse().unwrap()));
            assert_eq!(read, Some(outcome));
        }
        assert!(
            ResultLabel::of_points(1e-9).unwrap().points() > 0.0
                && ResultLabel::of_points(1.0 - 1e-9).unwrap().points() < 1.0
        );
        for points in [-0.1, 1.1, 62.0, f64::NAN, f64::INFINITY] {
            assert_eq!(ResultLabel::of_points(points), None);
        }
    }

    #[test]
    fn games_and_positions_have_different_groups() {
        assert_ne!(group_of_game(b"1.17"), group_of_game(b"1.18"));
        let group = |fen: &str| group_of_position(&Position::from_fen(fen).unwrap());
        assert_eq!(group("8/8/8/8/8/k7/7R/K7 w - - 0 1"), group("8/8/8/8/8/k7/7R/K7 w - - 40 90"));
        assert_ne!(group("8/8/8/8/8/k7/7R/K7 w - - 0 1"), group("8/8/8/8/8/k7/7R/K7 b - - 0 1"));
        assert!((0..100_u8).all(|name| group_of_game(&[name]) & GAME != 0));
        assert_eq!(group("8/8/8/8/8/k7/7R/K7 w - - 0 1") & GAME, 0);
    }
}
