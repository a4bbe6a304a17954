//! How well evaluations predict results, and scores of searches, side by side.

use std::path::PathBuf;
use std::sync::Arc;

use engine::eval::Evaluator;
use engine::eval::params::Weights;
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::data::{Dataset, ReadOptions, Source};
use crate::features::{Resolve, score};
use crate::fit::{Declared, Engine, Problem};
use crate::io::Storage;
use crate::model::rows::Weighted;
use crate::objective::{Difference, OneResult, SampleLoss, fit_k, loss_difference, score_loss};
use crate::progress::Progress;
use crate::run::RunError;
use crate::target::{Labels, Target};

/// What is measured.
const LOSS: SampleLoss = SampleLoss::SquaredError;

/// An evaluation that is compared with others.
pub enum Contender {
    /// Merino's, with these parameters.
    Parameters(Box<Weights>),
    /// That of an engine, which is asked.
    Engine(Engine),
}

/// What one evaluation is worth on the data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// The scale from centipawns to expected results, fitted to the scores that it is judged by unless it was given.
    pub k: f64,
    /// Mean squared errors of its scores under that scale.
    pub loss: Losses,
    /// Loss less that of the first evaluation; none for the first.
    pub difference: Option<Difference>,
    /// How well its scores predict those of the data; none unless every position has one.
    pub scores: Option<Prediction>,
}

/// Mean losses of both kinds of scores. An evaluation is judged by its quiescence scores where it has them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Losses {
    /// Of the position itself.
    #[serde(rename = "static")]
    pub still: Option<f64>,
    /// Of the quiescence search: of its leaf, where an engine was asked.
    pub qsearch: Option<f64>,
}

/// How well scores predict a target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// The scale from centipawns to the target, fitted to them unless it was given.
    pub k: f64,
    /// The mean squared error.
    pub loss: f64,
    /// The loss less that of the first evaluation; none for the first.
    pub difference: Option<Difference>,
}

/// Evaluations of the same positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// How many positions there are.
    pub positions: usize,
    /// How many more have no score of one of the evaluations: an engine skips them, or they end in mate.
    pub left_out: usize,
    /// What is known of the data and the engines, line by line.
    pub told: Vec<String>,
    /// What each evaluation is called, and its worth.
    pub evaluations: Vec<(String, Evaluation)>,
}

/// The scores of one evaluation, by position, centipawns, White's view; empty where there are none.
#[derive(Default)]
struct Played {
    still: Vec<f32>,
    qsearch: Vec<f32>,
}

impl Played {
    /// The scores that it is judged by.
    fn judged(&self) -> &[f32] {
        if self.qsearch.is_empty() { &self.still } else { &self.qsearch }
    }

    fn pick(&self, positions: &[usize]) -> Self {
        let pick = |scores: &[f32]| match scores {
            [] => Vec::new(),
            scores => positions.iter().map(|&position| scores[position]).collect(),
        };
        Played { still: pick(&self.still), qsearch: pick(&self.qsearch) }
    }
}

/// Compares evaluations, each with its name, on labelled positions. Engines are asked for the leaf of Merino's
/// quiescence search with the parameters that the program contains, or for the position itself. A position that one of
/// them skips is left out for all.
///
/// # Errors
/// The first fault of the data or of an engine; results or scores that determine no scale.
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
) -> Result<Compared, RunError> {
    let dataset = Arc::new(Dataset::read(sources, options, progress)?);
    let (mut names, mut played, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    let mut has_score = vec![true; dataset.len()];
    for (name, contender) in contenders {
        names.push(name);
        played.push(match contender {
            Contender::Parameters(weights) => of_parameters(&dataset, *weights, resolve, progress),
            Contender::Engine(engine) => {
                let (rows, without) = engine.ask_all(&dataset, &|_| Ok(()), progress)?;
                // What was read is told with every engine.
                let told: Vec<String> = rows.told.lines().map(str::to_owned).collect();
                lines.extend(told.into_iter().filter(|line| !lines.contains(line)).collect::<Vec<_>>());
                without.iter().for_each(|&position| has_score[position] = false);
                let accept = |_: Declared<'_>| Ok::<_, RunError>(());
                let scores = Problem::read_asked(&rows, dataset.storage(), accept, progress)?.scores();
                spread(scores, &without, resolve)
            }
        });
    }
    let kept: Vec<usize> = (0..dataset.len()).filter(|&position| has_score[position]).collect();
    let left_out = dataset.len() - kept.len();
    if kept.is_empty() {
        let told = "no position has a score of all engines: each is skipped by one of them".to_owned();
        return Err(RunError::Row(told));
    }
    let (labels, groups) = (Labels::of(&dataset), dataset.groups());
    let evaluations = if left_out == 0 {
        compare(&names, &played, labels, groups, k)?
    } else {
        let played: Vec<Played> = played.iter().map(|played| played.pick(&kept)).collect();
        let groups: Vec<u32> = kept.iter().map(|&position| groups[position]).collect();
        compare(&names, &played, labels.pick(&kept), &groups, k)?
    };
    let evaluations = names.into_iter().zip(evaluations).collect();
    Ok(Compared { positions: kept.len(), left_out, told: lines, evaluations })
}

/// Compares files of rows, a file an evaluation, all of the same positions.
///
/// # Errors
/// The first fault of a file; results or scores that determine no scale; files of different positions.
///
/// # Panics
/// If there is no file.
pub fn evaluate_rows(
    files: &[PathBuf],
    k: Option<f64>,
    storage: &Storage,
    progress: &dyn Progress,
) -> Result<Compared, RunError> {
    let read = |file: &PathBuf| {
        let accept = |_: Declared<'_>| Ok::<_, RunError>(());
        Problem::read_rows(std::slice::from_ref(file), storage, accept, progress)
    };
    let problems = files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let (name, first) = (files[0].display(), &problems[0]);
    let others = files.iter().zip(&problems).skip(1);
    if let Some((other, _)) = others.into_iter().find(|(_, other)| !other.is_of_positions_of(first)) {
        return Err(RunError::Row(format!(
            "{}: has other results, groups or scores of a search than {name}: rows that are compared are of the same \
             positions, in the same order",
            other.display()
        )));
    }
    let played = problems.iter().map(|problem| Played { still: problem.scores(), qsearch: Vec::new() });
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let evaluations = compare(&names, &played.collect::<Vec<_>>(), first.labels(), first.groups(), k)?;
    let evaluations = names.into_iter().zip(evaluations).collect();
    Ok(Compared { positions: first.groups().len(), left_out: 0, told: Vec::new(), evaluations })
}

fn of_parameters(dataset: &Dataset, weights: Weights, resolve: Resolve, progress: &dyn Progress) -> Played {
    let scores = score(dataset, &Evaluator::new(weights), resolve, progress);
    let [still, qsearch] = [scores.static_score, scores.qsearch].map(|all| all.into_iter().map(f32::from).collect());
    Played { still, qsearch }
}

/// The scores of all positions, of those that an engine has answered and those `without`, which are 0.
fn spread(answered: Vec<f32>, without: &[usize], resolve: Resolve) -> Played {
    let mut without = without.iter().copied().peekable();
    let mut scores = Vec::with_capacity(answered.len() + without.len());
    for score in answered {
        while without.next_if_eq(&scores.len()).is_some() {
            scores.push(0.0);
        }
        scores.push(score);
    }
    scores.extend(without.map(|_| 0.0));
    match resolve {
        Resolve::Static => Played { still: scores, qsearch: Vec::new() },
        Resolve::Qsearch => Played { still: Vec::new(), qsearch: scores },
    }
}

/// What each evaluation is worth on positions with labels.
fn compare(
    names: &[String],
    played: &[Played],
    labels: Labels<'_>,
    groups: &[u32],
    k: Option<f64>,
) -> Result<Vec<Evaluation>, RunError> {
    let (results, weights) = (labels.results.clone(), labels.weights.clone());
    if k.is_none() {
        OneResult::refuse(&results)?;
    }
    let expected = Target::Auto.of_labels(labels).ok().filter(|targets| targets.target == Target::Score);
    let predictions = |targets: &[f32]| predictions(names, played, Weighted { targets, weights: &weights }, k, groups);
    let of_results = predictions(&results)?;
    let of_scores = expected.map(|targets| predictions(&targets.values)).transpose()?;
    let evaluation = |(place, Prediction { k, difference, .. }): (usize, Prediction)| {
        let weighted = Weighted { targets: &results, weights: &weights };
        let loss = |scores: &[f32]| (!scores.is_empty()).then(|| score_loss(LOSS, k, scores, weighted));
        Evaluation {
            k,
            loss: Losses { still: loss(&played[place].still), qsearch: loss(&played[place].qsearch) },
            difference,
            scores: of_scores.as_ref().map(|scores| scores[place]),
        }
    };
    Ok(of_results.into_iter().enumerate().map(evaluation).collect())
}

/// How well the scores of each evaluation predict targets.
fn predictions(
    names: &[String],
    played: &[Played],
    weighted: Weighted<'_>,
    given: Option<f64>,
    groups: &[u32],
) -> Result<Vec<Prediction>, RunError> {
    let scales = names.iter().zip(played).map(|(name, played)| match given {
        Some(k) => Ok(k),
        None => match fit_k(LOSS, played.judged(), weighted) {
            Ok(fit) => Ok(fit.k),
            Err(error) => Err(RunError::Row(format!("{name}: {error}"))),
        },
    });
    let scales = scales.collect::<Result<Vec<f64>, _>>()?;
    let all: Vec<(f64, &[f32])> = scales.into_iter().zip(played.iter().map(Played::judged)).collect();
    let prediction = |(place, &(k, scores)): (usize, &(f64, &[f32]))| {
        let difference = (place > 0).then(|| loss_difference(LOSS, all[0], (k, scores), weighted, groups));
        Prediction { k, loss: score_loss(LOSS, k, scores, weighted), difference }
    };
    Ok(all.iter().enumerate().map(prediction).collect())
}

impl Compared {
    /// As tables.
    pub fn to_table(&self) -> String {
        let names = self.evaluations.iter().map(|(name, _)| name.chars().count());
        let width = names.max().unwrap_or(0).max("results".len());
        let change = |difference: Option<Difference>| match difference {
            Some(Difference { mean, error }) => format!("  {mean:+.7} ± {error:.7}, {}", verdict(mean, error)),
            None => String::new(),
        };
        let loss = |loss: Option<f64>| loss.map_or_else(String::new, |loss| format!("{loss:.7}"));
        let mut lines =
            vec![format!("{:<width$}  {:>7}  {:>10}  {:>10}  change", "results", "K", "static", "quiescence")];
        for (name, Evaluation { k, loss: Losses { still, qsearch }, difference, .. }) in &self.evaluations {
            let (still, qsearch) = (loss(*still), loss(*qsearch));
            lines.push(format!("{name:<width$}  {k:>7.4}  {still:>10}  {qsearch:>10}{}", change(*difference)));
        }
        let of_scores = self.evaluations.iter().filter_map(|(name, one)| Some((name, one.loss, one.scores?)));
        for (line, (name, losses, Prediction { k, loss: judged, difference })) in of_scores.enumerate() {
            if line == 0 {
                lines.push(format!(
                    "\n{:<width$}  {:>7}  {:>10}  {:>10}  change",
                    "scores", "K", "static", "quiescence"
                ));
            }
            let (still, qsearch) = if losses.qsearch.is_some() { (None, Some(judged)) } else { (Some(judged), None) };
            let (still, qsearch) = (loss(still), loss(qsearch));
            lines.push(format!("{name:<width$}  {k:>7.4}  {still:>10}  {qsearch:>10}{}", change(difference)));
        }
        let positions = self.positions;
        let mut last = format!("\nMean squared errors over {positions} positions");
        if self.left_out > 0 {
            last += &format!(" ({} more have no score of one of the engines)", self.left_out);
        }
        let is_quiescence = self.evaluations.iter().any(|(_, one)| one.loss.qsearch.is_some());
        let kind = if is_quiescence { "quiescence" } else { "static" };
        lines.push(format!("{last}; change of the {kind} loss against the first, ± one standard error."));
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
        lines.join("\n")
    }

    /// As one JSON object.
    pub fn to_json(&self) -> Json {
        let evaluations: serde_json::Map<String, Json> =
            self.evaluations.iter().map(|(name, evaluation)| (name.clone(), json!(evaluation))).collect();
        json!({ "positions": self.positions, "left_out": self.left_out, "parameters": evaluations })
    }
}

/// What a difference says at two standard errors.
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
        vec![Source::embedded("made up", lines.join("\n").into_bytes().leak()).unwrap()]
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
        assert!(second.loss < 1e-9 && first.loss > 1e-4, "{first:?} {second:?}");
        let difference = second.difference.unwrap();
        assert!((difference.mean - (second.loss - first.loss)).abs() < 1e-12 && difference.error > 0.0);
        assert!(evaluate(&scored).to_table().contains("\nscores"));

        let partly =
            scored.iter().enumerate().map(|(i, line)| if i == 2 { line.rsplit_once(' ').unwrap().0 } else { line });
        let partly: Vec<String> = partly.map(str::to_owned).collect();
        assert!(evaluate(&partly).evaluations.iter().all(|(_, evaluation)| evaluation.scores.is_none()));
        assert!(!evaluate(&partly).to_table().contains("\nscores"));
    }

    #[test]
    fn positions_without_a_score_keep_their_place() {
        let spread = |answered: &[f32], without: &[usize]| spread(answered.to_vec(), without, Resolve::Static).still;
        assert_eq!(spread(&[1.0, 2.0, 3.0], &[0, 1, 3, 5, 6]), [0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 3.0]);
        assert_eq!(spread(&[1.0, 2.0], &[]), [1.0, 2.0]);
        assert_eq!(spread(&[1.0], &[1, 2]), [1.0, 0.0, 0.0]);
    }
}
