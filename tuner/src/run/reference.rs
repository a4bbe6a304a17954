//! The verdict on positions outside all fitted data.
//!
//! The loss on the fitted data measures the quality of the fit to them. The loss on held-out games of the same data
//! shares their faults: a fit to misleading data improves both losses while the engine gets weaker. A *reference set*
//! holds positions of other games with scores of a stronger engine. The loss on it separates such fits from good ones;
//! see docs/experiments.md.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use serde::Serialize;

use super::{Losses, Outcome};
use crate::data::{Dataset, DatasetError, ReadOptions, Source};
use crate::objective::{Difference, SampleLoss, fit_k, loss_difference, score_loss, scores};
use crate::progress::Progress;
use crate::source::Problem;
use crate::source::target::{Target, TargetData};

/// A change of the loss by fewer standard errors than this may be chance.
const CERTAIN: f64 = 3.0;

/// The relative increase of the loss above which fits lost games.
const HARMFUL: f64 = 0.01;

/// The relative decrease of the loss from which on fits won games. A smaller decrease is inconclusive.
const HELPFUL: f64 = 0.1;

/// The largest absolute score, in centipawns, that counts in the movement of scores. Larger scores do not decide moves.
const UNDECIDED: f64 = 600.0;

/// The range of scale factors of the scores that search margins in centipawns tolerate.
const STEADY: std::ops::RangeInclusive<f64> = 0.9..=1.1;

/// Returns the reference set that the program contains.
///
/// # Errors
/// Never, unless the build embedded an empty file.
pub fn embedded() -> Result<Source, DatasetError> {
    Source::in_memory("data/reference.epd.zst", include_bytes!(env!("MERINO_REFERENCE")))
}

/// The verdict of a reference set on a fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The tuned parameters predict the scores of the set clearly better.
    Better,
    /// The change is too small: only games can decide.
    Open,
    /// The tuned parameters predict the scores clearly worse.
    Worse,
}

/// The losses of the parameters before and after a fit on a reference set, each with its own K.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reference {
    /// Name of the set.
    pub name: String,
    /// The number of positions that the engine has scored.
    pub positions: usize,
    /// K before and after: scales from centipawns to expected points.
    pub k: Losses,
    /// Mean squared errors before and after.
    pub loss: Losses,
    /// The loss after minus the loss before, with the standard error by games.
    pub difference: Difference,
    /// The ratio of the tuned scores to the scores before, by least squares over undecided positions.
    pub scale: f64,
    /// The root mean square of the residuals of that least-squares fit, in centipawns.
    pub distance: f64,
    /// The verdict.
    pub verdict: Verdict,
}

impl Reference {
    /// Compares scores before and after (centipawns, White's view) with targets (expected points of White). Positions
    /// of one game are adjacent and share a group.
    ///
    /// # Errors
    /// If the scores before or the scores after determine no K.
    pub fn of(name: &str, scores: [&[f64]; 2], targets: &[f32], groups: &[u32]) -> Result<Self> {
        let loss = SampleLoss::SquaredError;
        let sides = [(fit_k(loss, scores[0], targets)?, scores[0]), (fit_k(loss, scores[1], targets)?, scores[1])];
        let [before, after] = sides.map(|(k, scores)| score_loss(loss, k, scores, targets));
        let (losses, difference) =
            (Losses { before, after }, loss_difference(loss, sides[0], sides[1], targets, groups));
        let (scale, distance) = score_movement(scores);
        Ok(Reference {
            name: name.to_owned(),
            positions: targets.len(),
            k: Losses { before: sides[0].0, after: sides[1].0 },
            loss: losses,
            difference,
            scale,
            distance,
            verdict: verdict(losses, difference),
        })
    }

    /// Returns the verdict as a message.
    pub fn words(&self) -> String {
        let percent = 100.0 * self.loss.change().abs();
        match self.verdict {
            Verdict::Worse => format!("worse by {percent:.1} %; fits like this lost games"),
            Verdict::Better => format!("better by {percent:.1} %"),
            Verdict::Open => {
                let direction = if self.loss.change() > 0.0 { "worse" } else { "better" };
                format!("{percent:.1} % {direction}, inconclusive: let games decide")
            }
        }
    }

    /// Returns the movement of the scores as a message.
    pub fn movement(&self) -> String {
        let mut words = format!("scores moved by {:.0} cp (rms), scale {:.2}", self.distance, self.scale);
        if !STEADY.contains(&self.scale) {
            words += ": margins of the search in centipawns may no longer fit";
        }
        words
    }

    /// Formats the verdict for the table of a run: two lines.
    pub(crate) fn to_table(&self) -> String {
        let Losses { before, after } = self.loss;
        format!(
            "reference    {before:.5} before, {after:.5} after: {} ({}, {} positions)\n             {}\n",
            self.words(),
            self.name,
            self.positions,
            self.movement()
        )
    }
}

/// Judges a fit on reference sets. The source of the problem's rows makes rows of the positions of each set; they are
/// scored with the parameters before and after. Positions without a row are left out. A set without a verdict causes a
/// warning and does not fail the run.
pub(super) fn judge_on_sets(
    problem: &Problem,
    outcome: &Outcome,
    sets: Vec<Source>,
    progress: &dyn Progress,
) -> Vec<Reference> {
    let Some(source) = &problem.source else { return Vec::new() };
    let judge = |set: Source| -> Result<Reference> {
        let name = set.name().to_owned();
        let dataset = Arc::new(Dataset::read(vec![set], &ReadOptions::default(), progress)?);
        let targets = Target::Score.of(TargetData::of(&dataset, &(0..dataset.len()).collect::<Vec<_>>()));
        let (_, targets) = targets.map_err(|error| anyhow!("--reference {name}: {error}"))?;
        let before = source.read(Arc::clone(&dataset), &outcome.start, progress)?;
        let numbers = [&outcome.start, &outcome.theta].map(|vector| before.vector_of(problem, vector));
        let score = |problem: &Problem, vector| scores(&problem.text.rows, &problem.text.model, vector);
        let first = score(&before, &numbers[0]);
        let second = match source.rows_move() {
            true => score(&source.read(Arc::clone(&dataset), &outcome.theta, progress)?, &numbers[1]),
            false => score(&before, &numbers[1]),
        };
        let of_rows: Vec<f32> = (0..first.len()).map(|row| targets[before.position_of(row).unwrap_or(row)]).collect();
        Reference::of(&name, [&first, &second], &of_rows, &before.groups)
    };
    let judged = sets.into_iter().filter_map(|set| {
        let name = set.name().to_owned();
        let warn = |error: &anyhow::Error| {
            let error = common::error_chain::to_line(error.as_ref());
            progress.warn(&format!("no verdict of the reference set {name}: {error}"));
        };
        judge(set).inspect_err(warn).ok()
    });
    judged.collect()
}

/// Returns the worst verdict of several sets.
pub fn worst(references: &[Reference]) -> Option<&Reference> {
    references.iter().max_by(|a, b| {
        (a.verdict as u8, a.loss.change())
            .partial_cmp(&(b.verdict as u8, b.loss.change()))
            .unwrap_or(std::cmp::Ordering::Equal)
    })
}

fn verdict(loss: Losses, difference: Difference) -> Verdict {
    let change = loss.change();
    let is_certain = difference.mean.abs() > CERTAIN * difference.error;
    match change {
        _ if is_certain && change > HARMFUL => Verdict::Worse,
        _ if is_certain && change <= -HELPFUL => Verdict::Better,
        _ => Verdict::Open,
    }
}

/// Returns the least-squares scale of the scores after against the scores before, and the root mean square of the
/// residuals.
fn score_movement(scores: [&[f64]; 2]) -> (f64, f64) {
    let pairs = || scores[0].iter().zip(scores[1]).filter(|(before, _)| before.abs() <= UNDECIDED);
    let (mut count, mut square, mut product) = (0.0, 0.0, 0.0);
    for (before, after) in pairs() {
        count += 1.0;
        square += before * before;
        product += before * after;
    }
    let scale = if square > 0.0 { product / square } else { 1.0 };
    let rest: f64 = pairs().map(|(before, after)| (after - scale * before).powi(2)).sum();
    (scale, (rest / f64::max(count, 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns scores, targets and groups of 400 games of one position each.
    fn positions() -> (Vec<f64>, Vec<f32>, Vec<u32>) {
        let scores: Vec<f64> = (0..400).map(|i| f64::from((i * 37) % 801 - 400)).collect();
        let targets = scores.iter().map(|&score| crate::objective::expectation(1.3, score) as f32).collect();
        (scores, targets, (0..400).collect())
    }

    /// Returns scores shifted by `by` centipawns, up and down in turn.
    fn off(scores: &[f64], by: f64) -> Vec<f64> {
        scores.iter().enumerate().map(|(i, score)| score + if i % 2 == 0 { by } else { -by }).collect()
    }

    #[test]
    fn a_fit_that_predicts_deep_scores_worse_is_called_worse() {
        let (truth, targets, groups) = positions();
        let (near, far) = (off(&truth, 50.0), off(&truth, 60.0));
        let worse = Reference::of("made up", [&near, &far], &targets, &groups).unwrap();
        assert_eq!(worse.verdict, Verdict::Worse);
        assert!(worse.words().starts_with("worse by ") && worse.loss.change() > 0.3, "{worse:?}");
        let better = Reference::of("made up", [&far, &near], &targets, &groups).unwrap();
        assert_eq!(better.verdict, Verdict::Better);
        assert!((better.difference.mean + worse.difference.mean).abs() < 1e-12);
        assert_eq!(worst(&[better.clone(), worse.clone()]), Some(&worse));
    }

    #[test]
    fn a_change_within_chance_is_open() {
        let (truth, targets, groups) = positions();
        let near = off(&truth, 50.0);
        let mut other = near.clone();
        other[7] += 3.0;
        assert_eq!(Reference::of("made up", [&near, &other], &targets, &groups).unwrap().verdict, Verdict::Open);
        assert_eq!(Reference::of("made up", [&near, &near], &targets, &groups).unwrap().loss.change(), 0.0);
    }

    #[test]
    fn scale_and_distance_measure_the_movement_of_scores() {
        let (truth, targets, groups) = positions();
        let halved: Vec<f64> = truth.iter().map(|score| score / 2.0).collect();
        let found = Reference::of("made up", [&off(&truth, 50.0), &off(&halved, 25.0)], &targets, &groups).unwrap();
        assert!((found.scale - 0.5).abs() < 1e-9 && found.distance < 1e-6);
        assert!((found.k.after / found.k.before - 2.0).abs() < 1e-6 && found.verdict == Verdict::Open);
        assert!(found.movement().contains("may no longer fit"));
        let (scale, distance) = score_movement([&truth, &off(&truth, 13.0)]);
        assert!((scale - 1.0).abs() < 0.01 && (distance - 13.0).abs() < 0.1);
    }
}
