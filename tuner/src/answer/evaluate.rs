//! A comparison of evaluations by their predictions of results and of search scores.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use engine::eval::params::Weights;
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::data::io::Storage;
use crate::data::{Dataset, ReadOptions, Source};
use crate::model::rows::Weighted;
use crate::objective::{Difference, SampleLoss, fit_k, loss_difference, refuse_one_result, score_loss};
use crate::progress::Progress;
use crate::source::target::{Target, TargetData};
use crate::source::{Engine, Own, Problem, Resolve, RowSource};

const LOSS: SampleLoss = SampleLoss::SquaredError;

/// An evaluation to compare with others.
pub enum Contender {
    /// Merino's evaluation with these parameters.
    Parameters(Box<Weights>),
    /// The evaluation of an engine, which the program runs.
    Engine(Engine),
}

/// The quality of one evaluation on the data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// Prediction of results by its scores.
    #[serde(flatten)]
    pub results: Prediction,
    /// Prediction of the search scores of the data; `None` unless every position has one.
    pub scores: Option<Prediction>,
}

/// The fit of scores to a target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// K, the scale from centipawns to the target; fitted unless given.
    pub k: f64,
    /// Mean squared error.
    pub loss: f64,
    /// The loss minus the loss of the first evaluation; `None` for the first.
    pub difference: Option<Difference>,
}

/// The evaluations of one set of positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The number of positions.
    pub positions: usize,
    /// The number of positions without a score of one of the evaluations: an engine skips them, or they end in mate.
    pub left_out: usize,
    /// A summary of the data and the engines, line by line.
    pub data_summary: Vec<String>,
    /// The evaluations with their names.
    pub evaluations: Vec<(String, Evaluation)>,
}

/// Compares named evaluations on labelled positions. Engines evaluate the leaf of Merino's quiescence search with the
/// embedded parameters, or the position itself. A position that one of them skips is left out for all.
///
/// # Errors
/// The first fault of the data or of an engine; results or scores that determine no K.
///
/// # Panics
/// If there is no evaluation.
pub fn evaluate(
    sources: Vec<Source>,
    contenders: Vec<(String, Contender)>,
    resolve: Resolve,
    k: Option<f64>,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Compared> {
    let dataset = Arc::new(Dataset::read(sources, options, progress)?);
    let (mut scored, mut data_summary) = (Vec::new(), Vec::new());
    for (name, contender) in contenders {
        let dataset = Arc::clone(&dataset);
        let problem = match contender {
            Contender::Parameters(start) => Own { start: *start, resolve }.problem(dataset, progress)?,
            Contender::Engine(engine) => engine.read(dataset, &[], progress)?,
        };
        // Every engine summarises the data, too.
        let lines: Vec<String> = problem.description.lines().map(str::to_owned).collect();
        data_summary.extend(lines.into_iter().filter(|line| !data_summary.contains(line)).collect::<Vec<_>>());
        let mut of_positions = vec![None; problem.dataset().map_or(0, |dataset| dataset.len())];
        let positions = (0..problem.groups.len()).filter_map(|row| problem.position_of(row));
        positions.zip(problem.scores()).for_each(|(position, score)| of_positions[position] = Some(score));
        scored.push((name, of_positions));
    }
    let has_all = |&at: &usize| scored.iter().all(|(_, scores): &(String, Vec<Option<f32>>)| scores[at].is_some());
    let kept: Vec<usize> = (0..dataset.len()).filter(has_all).collect();
    if kept.is_empty() {
        bail!("no position has a score of all engines: each is skipped by one of them");
    }
    let pick = |scores: &[Option<f32>]| kept.iter().filter_map(|&position| scores[position]).collect();
    let scored = scored.into_iter().map(|(name, scores)| (name, pick(&scores))).collect();
    let groups: Vec<u32> = kept.iter().map(|&position| dataset.groups()[position]).collect();
    let evaluations = compare(scored, TargetData::of(&dataset, &kept), &groups, k)?;
    Ok(Compared { positions: kept.len(), left_out: dataset.len() - kept.len(), data_summary, evaluations })
}

/// Compares files of rows, one per evaluation, all of the same positions.
///
/// # Errors
/// The first fault of a file; results or scores that determine no K; files of different positions.
///
/// # Panics
/// If there is no file.
pub fn evaluate_rows(
    files: &[PathBuf],
    k: Option<f64>,
    storage: &Storage,
    progress: &dyn Progress,
) -> Result<Compared> {
    let read = |file: &PathBuf| Problem::read_rows(std::slice::from_ref(file), storage, |_| Ok(()), progress);
    let problems = files.iter().map(read).collect::<Result<Vec<_>>>()?;
    let (name, first) = (files[0].display(), &problems[0]);
    let others = files.iter().zip(&problems).skip(1);
    if let Some((other, _)) = others.into_iter().find(|(_, other)| !other.is_of_positions_of(first)) {
        bail!(
            "{}: has other results, groups or scores of a search than {name}: rows that are compared are of the same \
             positions, in the same order",
            other.display()
        );
    }
    let scored = files.iter().zip(&problems).map(|(file, rows)| (file.display().to_string(), rows.scores())).collect();
    let evaluations = compare(scored, first.labels(), &first.groups, k)?;
    Ok(Compared { positions: first.groups.len(), left_out: 0, data_summary: Vec::new(), evaluations })
}

/// Compares evaluations by their names and scores (centipawns, White's view) of the same positions.
fn compare(
    scored: Vec<(String, Vec<f32>)>,
    labels: TargetData<'_>,
    groups: &[u32],
    k: Option<f64>,
) -> Result<Vec<(String, Evaluation)>> {
    let (results, weights) = (labels.results.clone(), labels.weights.clone());
    if k.is_none() {
        refuse_one_result(&results)?;
    }
    let expected = Target::Auto.of(labels).ok().filter(|(target, _)| *target == Target::Score);
    let predictions = |targets: &[f32]| predictions(&scored, Weighted { targets, weights: &weights }, k, groups);
    let of_scores = expected.map(|(_, targets)| predictions(&targets)).transpose()?;
    let evaluation = |(place, results)| Evaluation { results, scores: of_scores.as_ref().map(|scores| scores[place]) };
    let evaluations: Vec<Evaluation> = predictions(&results)?.into_iter().enumerate().map(evaluation).collect();
    Ok(scored.into_iter().map(|(name, _)| name).zip(evaluations).collect())
}

/// Computes the predictions of a target by the scores of each evaluation.
fn predictions(
    scored: &[(String, Vec<f32>)],
    weighted: Weighted<'_>,
    given: Option<f64>,
    groups: &[u32],
) -> Result<Vec<Prediction>> {
    let with_scale = |(name, scores): &'_ (String, Vec<f32>)| match given {
        Some(k) => Ok(k),
        None => fit_k(LOSS, scores, weighted).map_err(|error| anyhow!("{name}: {error}")),
    };
    let scales = scored.iter().map(with_scale).collect::<Result<Vec<f64>>>()?;
    let all: Vec<(f64, &[f32])> = scales.into_iter().zip(scored.iter().map(|(_, scores)| &scores[..])).collect();
    let prediction = |(place, &(k, scores)): (usize, &(f64, &[f32]))| {
        let difference = (place > 0).then(|| loss_difference(LOSS, all[0], (k, scores), weighted, groups));
        Prediction { k, loss: score_loss(LOSS, k, scores, weighted), difference }
    };
    Ok(all.iter().enumerate().map(prediction).collect())
}

impl Compared {
    /// Formats the comparison as tables.
    pub fn to_table(&self) -> String {
        let names = self.evaluations.iter().map(|(name, _)| name.chars().count());
        let width = names.max().unwrap_or(0).max("results".len());
        let mut lines = Vec::new();
        let of_results = |evaluation: &Evaluation| Some(evaluation.results);
        for (title, of) in [("results", of_results as fn(&Evaluation) -> _), ("scores", |evaluation| evaluation.scores)]
        {
            let all = self.evaluations.iter().filter_map(|(name, evaluation)| Some((name, of(evaluation)?)));
            for (line, (name, Prediction { k, loss, difference })) in all.enumerate() {
                if line == 0 {
                    let gap = if lines.is_empty() { "" } else { "\n" };
                    lines.push(format!("{gap}{title:<width$}  {:>7}  {:>10}  change", "K", "loss"));
                }
                let change = difference.map_or_else(String::new, |Difference { mean, error }| {
                    format!("  {mean:+.7} ± {error:.7}, {}", verdict(mean, error))
                });
                lines.push(format!("{name:<width$}  {k:>7.4}  {loss:>10.7}{change}"));
            }
        }
        let mut last = format!("\nMean squared errors over {} positions", self.positions);
        if self.left_out > 0 {
            last += &format!(" ({} more have no score of one of the engines)", self.left_out);
        }
        lines.push(format!("{last}; change against the first, ± one standard error."));
        lines.join("\n")
    }

    /// Converts the comparison to one JSON object.
    pub fn to_json(&self) -> Json {
        let evaluations: serde_json::Map<String, Json> =
            self.evaluations.iter().map(|(name, evaluation)| (name.clone(), json!(evaluation))).collect();
        json!({ "positions": self.positions, "left_out": self.left_out, "parameters": evaluations })
    }
}

/// Classifies a difference at two standard errors.
fn verdict(mean: f64, error: f64) -> &'static str {
    match mean {
        _ if mean.abs() <= 2.0 * error => "no difference",
        _ if mean < 0.0 => "better",
        _ => "worse",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::chess::Position;
    use engine::eval::Evaluator;

    /// Boards with White to move, and results.
    const BOARDS: [(&str, &str); 6] = [
        ("4k3/7p/8/8/8/8/PP5P/4K3", "1.0"),
        ("4k3/p6p/8/8/8/8/P6P/4K3", "0.5"),
        ("4k3/8/8/3n4/8/8/8/4K3", "1.0"),
        ("r3k3/7p/8/8/8/8/7P/4K3", "0.0"),
        ("r3k3/7p/8/8/8/8/P6P/4K3", "0.0"),
        ("4k3/7p/8/8/8/8/P6P/3QK3", "1.0"),
    ];

    fn read(lines: &[String]) -> Vec<Source> {
        vec![Source::in_memory("made up", lines.join("\n").into_bytes()).unwrap()]
    }

    #[test]
    fn scores_are_predicted_best_by_the_parameters_that_gave_them() {
        let theirs = Weights::from_toml(include_str!("../../../params/baseline.toml")).unwrap();
        let others =
            Weights::from_vector(&theirs.to_vector().iter().map(|number| (number * 0.3).round()).collect::<Vec<_>>()).0;
        let evaluator = Evaluator::new(theirs.clone());
        let scored = BOARDS.map(|(board, result)| {
            let score = evaluator.evaluate(&Position::from_fen(&format!("{board} w - - 0 1")).unwrap());
            format!("{board} w - - [{result}] {score}")
        });
        let evaluate = |lines: &[String]| {
            let contenders = [("a", &others), ("b", &theirs)]
                .map(|(name, weights)| (name.to_owned(), Contender::Parameters(Box::new(weights.clone()))));
            let options = ReadOptions::default();
            evaluate(read(lines), contenders.into(), Resolve::Qsearch, None, &options, &()).unwrap()
        };
        let [first, second] = [0, 1].map(|place| evaluate(&scored).evaluations[place].1.scores.unwrap());
        assert!(second.loss < 1e-7 && first.loss > 1e-4, "{first:?} {second:?}");
        let difference = second.difference.unwrap();
        assert!((difference.mean - (second.loss - first.loss)).abs() < 1e-12 && difference.error > 0.0);
        assert!(evaluate(&scored).to_table().contains("\nscores"));

        let partly =
            scored.iter().enumerate().map(|(i, line)| if i == 2 { line.rsplit_once(' ').unwrap().0 } else { line });
        let partly: Vec<String> = partly.map(str::to_owned).collect();
        assert!(evaluate(&partly).evaluations.iter().all(|(_, evaluation)| evaluation.scores.is_none()));
        assert!(!evaluate(&partly).to_table().contains("\nscores"));
    }
}
