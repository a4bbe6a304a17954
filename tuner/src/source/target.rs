//! Targets of the fit: the result of a position's game, the score of a search, or a mixture of both.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use anyhow::{Result, anyhow, bail};

use crate::data::Dataset;
use crate::model::rows::Weighted;
use crate::objective::{SampleLoss, expectation, fit_k, refuse_one_result};

/// Number of labels that are read before the pages of a mapped file are released.
const SLAB: usize = 1 << 16;

/// The choice of the targets that expected results are fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Target {
    /// The score if every position has one, else the result.
    #[default]
    Auto,
    /// The result of the game.
    Result,
    /// The expected result of the position's score.
    Score,
    /// A mixture: the weight of the result, 0..=1; the score has the rest.
    Mix(f64),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let share = text.strip_prefix("mix:").and_then(|share| share.parse::<f64>().ok());
        match (text, share) {
            ("auto", _) => Ok(Target::Auto),
            ("result", _) => Ok(Target::Result),
            ("score", _) => Ok(Target::Score),
            (_, Some(share)) if (0.0..=1.0).contains(&share) => Ok(Target::Mix(share)),
            _ => Err("expected auto, result, score or mix:α with α, the share of the result, from 0 to 1".to_owned()),
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

/// The results, scores and weights of positions, from which targets are computed.
pub(crate) struct TargetData<'l> {
    /// White's points by position, 0..=1.
    pub(crate) results: Cow<'l, [f32]>,
    /// Score of a search by position (centipawns, White's view), if it has one; empty if no position has one.
    pub(crate) scores: Cow<'l, [Option<i16>]>,
    /// Weight by position; empty if every position counts as one.
    pub(crate) weights: Cow<'l, [f32]>,
    /// Number of positions of each set of data, in order.
    pub(crate) sets: Vec<usize>,
}

impl TargetData<'_> {
    /// Reads the data of positions of a dataset, given in ascending order.
    pub(crate) fn of(dataset: &Dataset, positions: &[usize]) -> Self {
        let (mut results, mut scores) = (Vec::with_capacity(positions.len()), Vec::with_capacity(positions.len()));
        let mut sets = vec![0; dataset.files().len()];
        for slab in positions.chunk_by(|a, b| a / SLAB == b / SLAB) {
            for &position in slab {
                let label = dataset.label(position);
                results.push(label.outcome.points());
                scores.push(label.score);
                sets[dataset.file_of(position)] += 1;
            }
            dataset.release(slab[0]..slab[slab.len() - 1] + 1);
        }
        let weights = dataset.weights();
        let weights = positions.iter().filter_map(|&position| weights.get(position)).copied().collect();
        TargetData { results: results.into(), scores: scores.into(), weights, sets }
    }
}

impl Target {
    /// Computes the targets of positions: by position, 0..=1, White's view. Returns also the target, in which
    /// [`Target::Auto`] is replaced by its choice. Every engine has its own scale: the scale of a set's scores is fitted
    /// to the set's results, or to the results of all sets if its own do not determine it.
    ///
    /// # Errors
    /// If all results are the same; if scores are wanted and some are missing, or do not determine a scale.
    pub(crate) fn of(self, data: TargetData<'_>) -> Result<(Target, Vec<f32>)> {
        let TargetData { results, scores, weights, sets } = data;
        refuse_one_result(&results)?;
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
            Target::Auto | Target::Result => return Ok((target, results.into_owned())),
        };
        if missing > 0 {
            bail!(
                "target: {missing} of {positions} positions have no score of a search, as EPD's `ce -34;`, `[1.0] -34` \
                 or the column `search` of rows give it"
            );
        }
        let fit = |range: Range<usize>| {
            let weighted =
                Weighted { targets: &results[range.clone()], weights: weights.get(range.clone()).unwrap_or(&[]) };
            fit_k(SampleLoss::default(), &scores[range], weighted)
        };
        let of_all = fit(0..positions).map_err(|error| {
            anyhow!(
                "target: the scale of the data's scores cannot be fitted to the results: {error}; --target result does \
                 without"
            )
        })?;
        let mut begin = 0;
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
        Ok((target, values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ReadOptions, Source};

    fn dataset(lines: &[&str]) -> Dataset {
        let text = lines.iter().map(|line| format!("8/8/8/8/8/k7/7R/K7 w - - {line}\n")).collect::<String>();
        let source = Source::in_memory("made up", text.into_bytes()).unwrap();
        Dataset::read(vec![source], &ReadOptions::default(), &()).unwrap()
    }

    fn of(target: Target, dataset: &Dataset) -> std::result::Result<(Target, Vec<f32>), String> {
        target.of(TargetData::of(dataset, &(0..dataset.len()).collect::<Vec<_>>())).map_err(|error| error.to_string())
    }

    #[test]
    fn auto_chooses_scores_only_if_every_position_has_one() {
        let scored = dataset(&["[1.0] 200", "[0.0] -300", "[0.0] 50", "[1.0] 70"]);
        let auto = of(Target::Auto, &scored).unwrap();
        assert_eq!(auto.0, Target::Score);
        assert_eq!(auto, of(Target::Score, &scored).unwrap());
        let partly = dataset(&["[1.0] 200", "[0.0]", "[0.0] 50", "[1.0] 70"]);
        assert_eq!(of(Target::Auto, &partly), Ok((Target::Result, vec![1.0, 0.0, 0.0, 1.0])));
    }

    #[test]
    fn mixed_targets_interpolate_results_and_scores() {
        let lines = ["[1.0] 200", "[0.5] 0", "[0.0] 150", "[0.0] -300", "[1.0] 90", "[0.0] -90"];
        let data = dataset(&lines);
        let of = |text: &str| of(text.parse().unwrap(), &data).unwrap().1;
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
    fn refuses_missing_scores_and_single_results() {
        let data = dataset(&["[1.0] 200", "[0.5]", "[0.0] -3"]);
        let refusal = |target, data: &Dataset| of(target, data).unwrap_err();
        assert!(refusal(Target::Score, &data).starts_with("target: 1 of 3 positions have no score of a search"));
        assert!(of(Target::Result, &data).is_ok());
        let turned = dataset(&["[1.0] -200", "[0.0] 200"]);
        assert!(refusal(Target::Mix(0.5), &turned).starts_with("target: the scale of the data's scores cannot be"));
        let won = dataset(&["[1.0] 200", "[1.0] -3"]);
        for target in [Target::Result, Target::Mix(0.5), Target::Score] {
            assert!(refusal(target, &won).starts_with("all 2 results are 1 (points of White)"));
        }
        for text in ["mix", "mix:", "mix:2", "mix:NaN", "wdl"] {
            assert!(text.parse::<Target>().is_err());
        }
        assert_eq!("mix:0.7".parse::<Target>().map(|target| target.to_string()), Ok("mix:0.7".to_owned()));
    }
}
