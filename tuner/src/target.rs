//! What a position's expected result is compared with: the result of its game, the score of a search, or both.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use thiserror::Error;

use crate::data::Dataset;
use crate::model::rows::Weighted;
use crate::objective::{FitKError, OneResult, SampleLoss, expectation, fit_k};

/// Labels that are looked at before what a mapped file had to be read for is given back.
const SLAB: usize = 1 << 16;

/// What is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Target {
    /// The score if every position has one, else the result.
    #[default]
    Auto,
    /// The result of the game.
    Result,
    /// The result that the position's score lets expect.
    Score,
    /// So much of the result (0..1), and the rest of the score.
    Mix(f64),
}

/// Why there are no such targets.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TargetError {
    /// Some positions have no score.
    #[error(
        "target: {missing} of {positions} positions have no score of a search, as EPD's `ce -34;`, `[1.0] -34` or the \
         column `search` of rows give it"
    )]
    NoScore {
        /// Positions without.
        missing: usize,
        /// All positions.
        positions: usize,
    },
    /// There is but one result.
    #[error(transparent)]
    OneResult(#[from] OneResult),
    /// The scores have no scale.
    #[error(
        "target: the scores of the data do not tell how results follow from them: {0}; --target result does without"
    )]
    Scale(#[from] FitKError),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let share = |text: &str| text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
        match text {
            "auto" => Ok(Target::Auto),
            "result" => Ok(Target::Result),
            "score" => Ok(Target::Score),
            _ => match text.strip_prefix("mix:").and_then(share) {
                Some(share) => Ok(Target::Mix(share)),
                None => {
                    Err("expected auto, result, score or mix:α with α, the share of the result, from 0 to 1".to_owned())
                }
            },
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Auto => f.write_str("auto"),
            Target::Result => f.write_str("result"),
            Target::Score => f.write_str("score"),
            Target::Mix(share) => write!(f, "mix:{share}"),
        }
    }
}

/// What data say of positions, from which targets follow.
pub(crate) struct Labels<'l> {
    /// By position: White's points, 0..=1.
    pub(crate) results: Cow<'l, [f32]>,
    /// By position: the score of a search (centipawns, White's view), where there is one; empty if no position has one.
    pub(crate) scores: Cow<'l, [Option<i16>]>,
    /// By position: how much it counts; none if every position counts as one.
    pub(crate) weights: Cow<'l, [f32]>,
    /// Positions of each set of data, in order.
    pub(crate) sets: Vec<usize>,
}

impl Labels<'_> {
    /// Those of a dataset.
    pub(crate) fn of(dataset: &Dataset) -> Self {
        let (mut results, mut scores) = (Vec::with_capacity(dataset.len()), Vec::with_capacity(dataset.len()));
        for start in (0..dataset.len()).step_by(SLAB) {
            let range = start..(start + SLAB).min(dataset.len());
            for label in range.clone().map(|index| dataset.label(index)) {
                results.push(label.outcome.points());
                scores.push(label.score);
            }
            dataset.release(range);
        }
        let sets = dataset.sets().map(|set| set.2).collect();
        Labels { results: results.into(), scores: scores.into(), weights: dataset.weights().into(), sets }
    }

    /// Those of some positions, in ascending order.
    pub(crate) fn pick(&self, positions: &[usize]) -> Labels<'static> {
        let mut end = 0;
        let sets = self.sets.iter().map(|count| {
            let begin = end;
            end += count;
            positions.partition_point(|&position| position < end)
                - positions.partition_point(|&position| position < begin)
        });
        Labels {
            results: positions.iter().map(|&position| self.results[position]).collect(),
            scores: positions.iter().filter_map(|&position| self.scores.get(position)).copied().collect(),
            weights: positions.iter().filter_map(|&position| self.weights.get(position)).copied().collect(),
            sets: sets.collect(),
        }
    }
}

/// What positions are compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Targets {
    /// What was asked for; what it came to in the place of [`Target::Auto`].
    pub target: Target,
    /// By position, 0..=1, White's view.
    pub values: Vec<f32>,
}

impl Target {
    /// What the positions of a dataset are compared with.
    ///
    /// # Errors
    /// If all results are the same; if scores are wanted and some are missing, or they say nothing of the results.
    pub fn of(self, dataset: &Dataset) -> Result<Targets, TargetError> {
        self.of_labels(Labels::of(dataset))
    }

    /// What positions are compared with. Every engine has a scale of its own: that of a set's scores is fitted to the
    /// set's results, or to those of all sets where its own do not tell it.
    ///
    /// # Errors
    /// If all results are the same; if scores are wanted and some are missing, or they say nothing of the results.
    pub(crate) fn of_labels(self, labels: Labels<'_>) -> Result<Targets, TargetError> {
        let Labels { results, scores, weights, sets } = labels;
        OneResult::refuse(&results)?;
        let scores: Vec<i16> = scores.iter().copied().flatten().collect();
        let (missing, positions) = (results.len() - scores.len(), results.len());
        let target = match self {
            Target::Auto if missing > 0 => Target::Result,
            Target::Auto => Target::Score,
            target => target,
        };
        let share = match target {
            Target::Mix(share) => share,
            Target::Score => 0.0,
            Target::Auto | Target::Result => return Ok(Targets { target, values: results.into_owned() }),
        };
        if missing > 0 {
            return Err(TargetError::NoScore { missing, positions });
        }
        let fit = |range: Range<usize>| {
            let weighted =
                Weighted { targets: &results[range.clone()], weights: weights.get(range.clone()).unwrap_or(&[]) };
            fit_k(SampleLoss::default(), &scores[range], weighted).map(|fit| fit.k)
        };
        let (of_all, mut begin) = (fit(0..positions)?, 0);
        let mut values = Vec::with_capacity(positions);
        for count in sets {
            let set = begin..begin + count;
            begin = set.end;
            let k = fit(set.clone()).unwrap_or(of_all);
            let mix = |(&score, &result): (&i16, &f32)| {
                (share * f64::from(result) + (1.0 - share) * expectation(k, score.into())) as f32
            };
            values.extend(scores[set.clone()].iter().zip(&results[set]).map(mix));
        }
        Ok(Targets { target, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ReadOptions, Source};

    fn dataset(lines: &[&str]) -> Dataset {
        let text = lines.iter().map(|line| format!("8/8/8/8/8/k7/7R/K7 w - - {line}\n")).collect::<String>();
        let source = Source::embedded("made up", text.into_bytes().leak()).unwrap();
        Dataset::read(vec![source], &ReadOptions::default(), &()).unwrap()
    }

    #[test]
    fn scores_are_the_target_only_where_every_position_has_one() {
        let scored = dataset(&["[1.0] 200", "[0.0] -300", "[0.0] 50", "[1.0] 70"]);
        let auto = Target::Auto.of(&scored).unwrap();
        assert_eq!(auto.target, Target::Score);
        assert_eq!(auto, Target::Score.of(&scored).unwrap());
        let partly = dataset(&["[1.0] 200", "[0.0]", "[0.0] 50", "[1.0] 70"]);
        let auto = Target::Auto.of(&partly).unwrap();
        assert_eq!(auto, Targets { target: Target::Result, values: vec![1.0, 0.0, 0.0, 1.0] });
        assert_eq!(Target::Score.of(&partly), Err(TargetError::NoScore { missing: 1, positions: 4 }));
    }

    #[test]
    fn targets_lie_between_results_and_scores() {
        let lines = ["[1.0] 200", "[0.5] 0", "[0.0] 150", "[0.0] -300", "[1.0] 90", "[0.0] -90"];
        let data = dataset(&lines);
        let of = |text: &str| text.parse::<Target>().unwrap().of(&data).unwrap().values;
        let (results, scores, mixed) = (of("result"), of("score"), of("mix:0.25"));
        assert_eq!(results, [1.0, 0.5, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(of("mix:1"), results);
        assert_eq!(of("mix:0"), scores);
        assert!(scores[1] == 0.5 && scores[0] > scores[2] && scores[2] > 0.5 && scores[3] < scores[5]);
        for ((result, score), mixed) in results.iter().zip(&scores).zip(&mixed) {
            assert!((0.25 * result + 0.75 * score - mixed).abs() < 1e-6);
        }
    }

    #[test]
    fn what_has_no_score_is_no_target() {
        let data = dataset(&["[1.0] 200", "[0.5]", "[0.0] -3"]);
        assert_eq!(Target::Score.of(&data), Err(TargetError::NoScore { missing: 1, positions: 3 }));
        assert!(Target::Result.of(&data).is_ok());
        let turned = dataset(&["[1.0] -200", "[0.0] 200"]);
        assert!(matches!(Target::Mix(0.5).of(&turned), Err(TargetError::Scale(_))));
        let won = dataset(&["[1.0] 200", "[1.0] -3"]);
        for target in [Target::Result, Target::Mix(0.5), Target::Score] {
            assert_eq!(target.of(&won), Err(TargetError::OneResult(OneResult { count: 2, result: 1.0 })));
        }
        for text in ["mix", "mix:", "mix:2", "mix:NaN", "wdl"] {
            assert!(text.parse::<Target>().is_err());
        }
        assert_eq!("mix:0.7".parse::<Target>().map(|target| target.to_string()), Ok("mix:0.7".to_owned()));
    }
}
