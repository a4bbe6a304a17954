//! How well parameters predict results, and scores of searches, side by side.

use engine::eval::Evaluator;
use engine::eval::params::Weights;
use serde::Serialize;

use crate::data::{Dataset, ReadOptions, Source};
use crate::features::{Resolve, Scores, score};
use crate::model::rows::Weighted;
use crate::objective::{Difference, SampleLoss, fit_k, loss_difference, score_loss};
use crate::progress::Progress;
use crate::run::RunError;
use crate::target::Target;
use crate::tune::Loss;

/// What is measured.
const LOSS: SampleLoss = SampleLoss::SquaredError;

/// What one set of parameters is worth on the data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// The scale from centipawns to expected results, fitted to its quiescence scores unless it was given.
    pub k: f64,
    /// Mean squared errors of the engine's integer scores under that scale.
    pub loss: Loss,
    /// Quiescence loss less that of the first parameters; none for the first.
    pub difference: Option<Difference>,
    /// How well its quiescence scores predict those of the data; none unless every position has one.
    pub scores: Option<Prediction>,
}

/// How well quiescence scores predict a target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// The scale from centipawns to the target, fitted to them unless it was given.
    pub k: f64,
    /// The mean squared error.
    pub loss: f64,
    /// The loss less that of the first parameters; none for the first.
    pub difference: Option<Difference>,
}

/// Evaluations of several sets of parameters, in their order, and the number of positions.
///
/// # Errors
/// The first fault of the data, or that they determine no scale.
///
/// # Panics
/// If there are no parameters.
pub fn evaluate(
    sources: Vec<Source>,
    parameters: &[Weights],
    k: Option<f64>,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<(u64, Vec<Evaluation>), RunError> {
    let dataset = Dataset::read(sources, options, progress)?;
    let (results, weights) = (dataset.points(0..dataset.len()), dataset.weights());
    let expected = Target::Auto.of(&dataset).ok().filter(|targets| targets.target == Target::Score);
    let played: Vec<Scores> = parameters
        .iter()
        .map(|weights| score(&dataset, &Evaluator::new(weights.clone()), Resolve::Qsearch, progress))
        .collect();
    let predictions = |targets: &[f32]| predictions(&played, Weighted { targets, weights: &weights }, k, &dataset);
    let of_results = predictions(&results)?;
    let of_scores = expected.map(|targets| predictions(&targets.values)).transpose()?;
    let evaluation = |(file, Prediction { k, difference, .. }): (usize, Prediction)| Evaluation {
        k,
        loss: Loss::of(LOSS, &played[file], Weighted { targets: &results, weights: &weights }, k),
        difference,
        scores: of_scores.as_ref().map(|scores| scores[file]),
    };
    Ok((dataset.len() as u64, of_results.into_iter().enumerate().map(evaluation).collect()))
}

/// How well each set of scores predicts targets.
fn predictions(
    played: &[Scores],
    weighted: Weighted<'_>,
    given: Option<f64>,
    dataset: &Dataset,
) -> Result<Vec<Prediction>, RunError> {
    let scales = played.iter().map(|scores| match given {
        Some(k) => Ok(k),
        None => fit_k(LOSS, &scores.qsearch, weighted).map(|fit| fit.k),
    });
    let scales = scales.collect::<Result<Vec<f64>, _>>()?;
    let all: Vec<(f64, &[i16])> = scales.into_iter().zip(played.iter().map(|scores| &scores.qsearch[..])).collect();
    let prediction = |(file, &(k, scores)): (usize, &(f64, &[i16]))| {
        let difference = (file > 0).then(|| loss_difference(LOSS, all[0], (k, scores), weighted, dataset.groups()));
        Prediction { k, loss: score_loss(LOSS, k, scores, weighted), difference }
    };
    Ok(all.iter().enumerate().map(prediction).collect())
}

/// Evaluations as tables; `names` are what the parameters are called.
pub fn table(names: &[String], positions: u64, evaluations: &[Evaluation]) -> String {
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("parameters".len());
    let change = |difference: Option<Difference>| match difference {
        Some(Difference { mean, error }) => format!("  {mean:+.7} ± {error:.7}, {}", verdict(mean, error)),
        None => String::new(),
    };
    let mut lines = vec![format!("{:<width$}  {:>7}  {:>10}  {:>10}  change", "results", "K", "static", "quiescence")];
    for (name, Evaluation { k, loss, difference, .. }) in names.iter().zip(evaluations) {
        let (still, quiescence) = (loss.still, loss.minimised());
        lines.push(format!("{name:<width$}  {k:>7.4}  {still:>10.7}  {quiescence:>10.7}{}", change(*difference)));
    }
    let of_scores = names.iter().zip(evaluations).filter_map(|(name, evaluation)| Some((name, evaluation.scores?)));
    for (line, (name, Prediction { k, loss, difference })) in of_scores.enumerate() {
        if line == 0 {
            lines.push(format!("\n{:<width$}  {:>7}  {:>10}  {:>10}  change", "scores", "K", "", "quiescence"));
        }
        lines.push(format!("{name:<width$}  {k:>7.4}  {:>10}  {loss:>10.7}{}", "", change(difference)));
    }
    lines.push(format!(
        "\nMean squared errors over {positions} positions; change of the quiescence loss against the first, ± one standard error."
    ));
    lines.join("\n")
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
            evaluate(read(lines), &[others.clone(), theirs.clone()], None, &ReadOptions::default(), &()).unwrap().1
        };
        let [first, second] = evaluate(&scored).try_into().unwrap();
        let [first, second] = [first, second].map(|evaluation| evaluation.scores.unwrap());
        assert!(second.loss < 1e-9 && first.loss > 1e-4, "{first:?} {second:?}");
        let difference = second.difference.unwrap();
        assert!((difference.mean - (second.loss - first.loss)).abs() < 1e-12 && difference.error > 0.0);
        assert!(table(&["a".into(), "b".into()], 6, &evaluate(&scored)).contains("\nscores"));

        let partly =
            scored.iter().enumerate().map(|(i, line)| if i == 2 { line.rsplit_once(' ').unwrap().0 } else { line });
        let partly: Vec<String> = partly.map(str::to_owned).collect();
        assert!(evaluate(&partly).iter().all(|evaluation| evaluation.scores.is_none()));
        assert!(!table(&["a".into(), "b".into()], 6, &evaluate(&partly)).contains("\nscores"));
    }
}
