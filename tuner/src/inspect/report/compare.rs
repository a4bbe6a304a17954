//! A page about two sets of parameters, from nothing but them and data.

use engine::eval::Evaluator;
use engine::eval::params::Weights;

use super::{LossChange, Page};
use crate::data::{ReadOptions, Source, judge};
use crate::features::{self, Resolve, Resolved, Scores, score};
use crate::model::centre::Centring;
use crate::model::merino::merino;
use crate::model::rows::Rows;
use crate::numbers::Numbers;
use crate::objective::{Objective, SampleLoss, fit_k, loss_difference, score_loss};
use crate::optimize::Limits;
use crate::progress::Progress;
use crate::run::explain::{Case, WORST, explain};
use crate::run::{RunError, standard_errors};

/// A set of parameters and what it is called.
#[derive(Clone, Debug)]
pub struct Named {
    /// Such as the name of its file.
    pub name: String,
    /// The parameters.
    pub weights: Weights,
}

/// Compares parameters with others, each under its own scale if none is given.
///
/// # Errors
/// The first fault of the data, or that they determine no scale.
pub fn compare(
    tuned: Named,
    against: Named,
    sources: Vec<Source>,
    resolve: Resolve,
    k: Option<f64>,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Page, RunError> {
    let [before, after] = [&against, &tuned].map(|named| Evaluator::new(named.weights.clone()));
    let (dataset, Resolved { rows, .. }) = features::read(sources, options, &after, resolve, progress)?;
    let [earlier, scores] = [&before, &after].map(|evaluator| score(&dataset, evaluator, Resolve::Qsearch, progress));
    let scale = |scores: &Scores| match k {
        Some(k) => Ok(k),
        None => fit_k(SampleLoss::default(), scores.of(resolve), rows.weighted()).map(|fit| fit.k),
    };
    let scales = [scale(&earlier)?, scale(&scores)?];
    let targets = rows.targets();
    let case = |evaluator, k| Case { dataset: &dataset, evaluator, resolve, k, targets, counted: None };
    let cases = [case(&before, scales[0]), case(&after, scales[1])];
    let [before, after] = cases.map(|case| explain(&case, WORST, progress));
    let losses = losses(resolve, (scales[0], &earlier), (scales[1], &scores), &rows, dataset.groups());
    let merino = merino();
    let occurrences = merino.model.occurrences(&rows);
    let centring = Centring::new(merino.shifts().to_vec(), |index| occurrences[index] > 0, |_| true);
    let limits = Limits::none(Weights::DIMENSIONS);
    let games = dataset.games();
    // Those that the parameters would have, were they fitted to these data.
    let objective = Objective::new(&rows, &merino.model, scales[1])?;
    let errors = standard_errors(&objective, &tuned.weights.to_vector(), &limits, &centring, games);
    Ok(Page {
        numbers: Numbers::declared(),
        name: tuned.name,
        tuned: tuned.weights.to_vector(),
        against: against.name,
        start: against.weights.to_vector(),
        errors: errors.map(|errors| errors.by_parameter),
        centring,
        losses,
        occurrences: Some(occurrences),
        facts: vec![("K before, after".to_owned(), format!("{:.6}, {:.6}", scales[0], scales[1]))],
        before: Some(before),
        after: Some(after),
        positions: dataset.len() as u64,
        files: dataset.files().to_vec(),
        warnings: judge::warnings(dataset.files(), true),
        skipped: dataset.skipped().clone(),
        ..Page::default()
    })
}

/// The losses of both kinds of score, that of the positions' own kind first.
fn losses(
    resolve: Resolve,
    (k_before, before): (f64, &Scores),
    (k_after, after): (f64, &Scores),
    rows: &Rows,
    groups: &[u32],
) -> Vec<LossChange> {
    let change = |(how, name): (Resolve, &str)| {
        let (before, after) = (before.of(how), after.of(how));
        LossChange {
            name: name.to_owned(),
            before: score_loss(SampleLoss::default(), k_before, before, rows.weighted()),
            after: score_loss(SampleLoss::default(), k_after, after, rows.weighted()),
            difference: Some(loss_difference(
                SampleLoss::default(),
                (k_before, before),
                (k_after, after),
                rows.weighted(),
                groups,
            )),
        }
    };
    let mut kinds = [(Resolve::Qsearch, "quiescence"), (Resolve::Static, "static")];
    if resolve == Resolve::Static {
        kinds.reverse();
    }
    kinds.map(change).to_vec()
}
