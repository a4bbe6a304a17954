//! A page that compares two parameter sets of one evaluation on data.

use anyhow::Result;

use super::Page;
use crate::data::judge;
use crate::model::centre::Centring;
use crate::objective::{Objective, SampleLoss, fit_k, score_loss};
use crate::optimize::Limits;
use crate::progress::Progress;
use crate::run::explain::explained;
use crate::run::{Losses, Outcome, standard_errors};
use crate::source::Problem;

/// Compares the parameters of a problem with those of another problem of the same positions. Each has its name, and its
/// own K if none is given.
///
/// # Errors
/// If the data determine no K.
///
/// # Panics
/// If the problems are of different positions or evaluations.
pub fn compare(
    (name, tuned): (String, &Problem),
    (against, start): (String, &Problem),
    k: Option<f64>,
    progress: &dyn Progress,
) -> Result<Page> {
    const LOSS: SampleLoss = SampleLoss::SquaredError;
    let [before, after] = [start, tuned].map(Problem::scores);
    let rows = &tuned.text.rows;
    let scale = |scores: &[f32]| k.map_or_else(|| fit_k(LOSS, scores, rows.weighted()), Ok);
    let both = [(scale(&before)?, &before[..]), (scale(&after)?, &after[..])];
    let weights = rows.weighted().weights.to_vec();
    let (sides, change) = explained(tuned, both, (rows.targets(), &weights), None, LOSS, progress);
    let [before, after] = both.map(|(k, scores)| score_loss(LOSS, k, scores, rows.weighted()));
    let model = &tuned.text.model;
    let occurrences = model.occurrences(rows);
    let centring = Centring::new(tuned.shifts(rows), |index| occurrences[index] > 0, |_| true);
    let theta = tuned.text.start();
    // The errors that the parameters would have if they were fitted to these data.
    let objective = Objective::new(rows, model, both[1].0)?;
    let errors = standard_errors(&objective, &theta, &Limits::none(theta.len()), &centring, Some(&tuned.groups));
    let ranges = tuned.numbers.iter().map(|number| (number.range[0], number.range[1]));
    let (lower, upper) = ranges.unzip();
    let outcome = Outcome {
        start: tuned.vector_of(start, &start.text.start()),
        theta,
        errors,
        centring,
        occurrences,
        limits: Limits::new(lower, upper),
        loss: Losses { before, after },
        loss_change: Some(change),
        explained: Some(sides),
        warnings: judge::warnings(tuned.files(), true),
        ..Outcome::of_problem(tuned)
    };
    let text = format!("{}K            {:.6} before, {:.6} after", outcome.data_summary, both[0].0, both[1].0);
    Ok(Page { name, against, outcome, text })
}
