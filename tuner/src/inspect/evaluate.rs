//! How well parameters predict results, side by side.

use engine::eval::Evaluator;
use engine::eval::params::Weights;
use serde::Serialize;

use crate::data::{Dataset, ReadOptions, Source};
use crate::features::{Resolve, Scores, score};
use crate::model::rows::Weighted;
use crate::objective::{Difference, SampleLoss, fit_k, loss_difference};
use crate::progress::Progress;
use crate::run::RunError;
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
    let evaluator = |weights: &Weights| Evaluator::new(weights.clone());
    let dataset = Dataset::read(sources, options, progress)?;
    let (targets, weights) = (dataset.points(0..dataset.len()), dataset.weights());
    let weighted = Weighted { targets: &targets, weights: &weights };
    let score = |weights: &Weights| score(&dataset, &evaluator(weights), Resolve::Qsearch, progress);
    let scores = score(&parameters[0]);
    let scale = |scores: &Scores| match k {
        Some(k) => Ok(k),
        None => fit_k(LOSS, &scores.qsearch, weighted).map(|fit| fit.k),
    };
    let first_k = scale(&scores)?;
    let mut evaluations =
        vec![Evaluation { k: first_k, loss: Loss::of(LOSS, &scores, weighted, first_k), difference: None }];
    for weights in &parameters[1..] {
        let others = score(weights);
        let k = scale(&others)?;
        let (first, second) = ((first_k, &scores.qsearch[..]), (k, &others.qsearch[..]));
        let difference = loss_difference(LOSS, first, second, weighted, dataset.groups());
        evaluations.push(Evaluation { k, loss: Loss::of(LOSS, &others, weighted, k), difference: Some(difference) });
    }
    Ok((dataset.len() as u64, evaluations))
}

/// Evaluations as a table; `names` are what the parameters are called.
pub fn table(names: &[String], positions: u64, evaluations: &[Evaluation]) -> String {
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("parameters".len());
    let mut lines =
        vec![format!("{:<width$}  {:>7}  {:>10}  {:>10}  change", "parameters", "K", "static", "quiescence")];
    for (name, Evaluation { k, loss, difference }) in names.iter().zip(evaluations) {
        let change = difference.map_or_else(String::new, |Difference { mean, error }| {
            format!("  {mean:+.7} ± {error:.7}, {}", verdict(mean, error))
        });
        lines.push(format!("{name:<width$}  {k:>7.4}  {:>10.7}  {:>10.7}{change}", loss.still, loss.minimised()));
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
