//! Whether the derivatives are those of the function, and the function that of the engine.
//!
//! First derivatives are compared with central differences of the loss, second derivatives with central differences of
//! the first along random directions, and the engine's own integer scores with those of the rows. Derivatives are
//! looked at a little beside the parameters: where a phase weight is exactly 0, or a position has exactly the phase of
//! the start, the taper has a kink, and no derivative holds on both sides of it.

mod show;

use engine::eval::Evaluator;
use engine::eval::params::Weights;
use engine::random::Random;

use crate::data::{Dataset, ReadOptions, Source};
use crate::features::{self, Resolve, Resolved};
use crate::model::merino::merino;
use crate::model::rows::Rows;
use crate::objective::{HessianKind, Objective, PriorScale, SampleLoss, fit_k, scores};
use crate::progress::{Progress, Unit};
use crate::run::{PRIOR_PER_POSITION, RunError};
use crate::target::Target;

/// How far parameters are moved either way, in their unit: the error of a difference grows with its square, that of its
/// rounding with its reciprocal.
const STEP: f64 = 2e-3;

/// The same for second derivatives: they jump where the curve of danger begins to bend, so that rows within a step of it
/// are off.
const BEND_STEP: f64 = 1e-2 * STEP;

/// How much second derivatives may be off, as a share of what they would be if parameters had nothing in common: their
/// sums over rows are accurate to about six digits.
const BEND_TOLERANCE: f64 = 1e-4;

/// How far an engine's score may be from that of its row, in centipawns: half of one is rounding, the rest that of the
/// taper in integers.
const SCORE_TOLERANCE: f64 = 0.51;

/// Directions along which second derivatives are looked at.
const DIRECTIONS: usize = 8;

/// What is checked, and how thoroughly.
pub struct Task {
    /// Labelled positions.
    pub sources: Vec<Source>,
    /// The parameters to look at.
    pub weights: Weights,
    /// Which evaluation of a position is fitted to its result.
    pub resolve: Resolve,
    /// What positions are to predict.
    pub target: Target,
    /// What a wrong prediction costs.
    pub loss: SampleLoss,
    /// The scale from centipawns to expected results; `None` to fit it.
    pub k: Option<f64>,
    /// How the positions are read.
    pub reading: ReadOptions,
    /// How many parameters are looked at, drawn at random; `None` for all.
    pub sample: Option<usize>,
    /// What decides all draws.
    pub seed: u64,
    /// How much a first derivative may be off, as a share of the largest it could be.
    pub tolerance: f64,
}

/// A derivative, as it is computed and as differences say.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slope {
    /// The parameter, or the direction.
    index: usize,
    analytic: f64,
    numeric: f64,
    /// How large it could be, about.
    scale: f64,
}

impl Slope {
    /// How far the two are apart, as a share of the scale; 0 if they are the same.
    fn error(&self) -> f64 {
        let difference = (self.analytic - self.numeric).abs();
        if difference == 0.0 { 0.0 } else { difference / self.scale }
    }
}

/// The engine's score beside that of the row where they are furthest apart, in centipawns and White's view.
#[derive(Clone, Debug, PartialEq)]
struct ScoreCheck {
    error: f64,
    fen: String,
    played: i16,
    row: f64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    positions: usize,
    k: f64,
    /// First derivatives, the worst first, and how much they may be off.
    slopes: Vec<Slope>,
    tolerance: f64,
    /// Second derivatives along directions, the worst first.
    bends: Vec<Slope>,
    scores: ScoreCheck,
}

impl Check {
    /// Whether everything is as it should be.
    pub fn is_good(&self) -> bool {
        self.are_slopes_good() && self.are_bends_good() && self.are_scores_good()
    }

    fn are_slopes_good(&self) -> bool {
        self.slopes.iter().all(|slope| slope.error() <= self.tolerance)
    }

    fn are_bends_good(&self) -> bool {
        self.bends.iter().all(|bend| bend.error() <= BEND_TOLERANCE)
    }

    fn are_scores_good(&self) -> bool {
        self.scores.error <= SCORE_TOLERANCE
    }
}

/// Checks derivatives and scores.
///
/// # Errors
/// The first fault of the data, or why there is no objective.
pub fn check(task: Task, progress: &dyn Progress) -> Result<Check, RunError> {
    let evaluator = Evaluator::new(task.weights.clone());
    let read = features::read(task.sources, &task.reading, &evaluator, task.resolve, progress)?;
    let (dataset, Resolved { rows, scores: played }) = read;
    let played = played.of(task.resolve);
    let rows = rows.with_targets(&task.target.of(&dataset)?.values)?;
    let k = task.k.map_or_else(|| fit_k(task.loss, played, rows.weighted()).map(|fit| fit.k), Ok)?;
    let start = task.weights.to_vector();
    let prior = PRIOR_PER_POSITION / rows.weight(1);
    let objective = Objective::new(&rows, &merino().model, k)?;
    let objective = objective.with_loss(task.loss).with_prior(prior, &start, PriorScale::Fixed)?;

    let mut random = Random::seeded(task.seed);
    let mut unit = || random.below(1 << 53) as f64 / (1_u64 << 53) as f64;
    let theta: Vec<f64> = start.iter().map(|value| value + 0.25 + 0.5 * unit()).collect();
    let directions: Vec<Vec<f64>> =
        (0..DIRECTIONS).map(|_| theta.iter().map(|_| 2.0 * unit() - 1.0).collect()).collect();
    let mut which: Vec<usize> = (0..theta.len()).collect();
    random.shuffle(&mut which);
    which.truncate(task.sample.unwrap_or(usize::MAX));
    Ok(Check {
        positions: rows.len(),
        k,
        slopes: slopes(&objective, &theta, &which, progress),
        tolerance: task.tolerance,
        bends: bends(&objective, &theta, &directions),
        scores: compare(&dataset, played, &rows, &start),
    })
}

/// First derivatives by some parameters, the worst first.
fn slopes(objective: &Objective<'_>, theta: &[f64], which: &[usize], progress: &dyn Progress) -> Vec<Slope> {
    let (loss, gradient) = objective.loss_and_gradient(theta);
    let diagonal = objective.gauss_newton_diagonal(theta);
    progress.begin("slopes", which.len() as u64, Unit::Positions);
    let mut moved = theta.to_vec();
    let mut slope = |&index: &usize| {
        let mut at = |step: f64| {
            moved[index] = theta[index] + step;
            objective.loss(&moved)
        };
        let numeric = (at(STEP) - at(-STEP)) / (2.0 * STEP);
        moved[index] = theta[index];
        progress.advance(1);
        // By Cauchy's inequality, from the means of the squares of residuals and of their slopes.
        Slope { index, analytic: gradient[index], numeric, scale: (2.0 * loss * diagonal[index]).sqrt() }
    };
    let slopes = which.iter().map(&mut slope).collect();
    progress.end();
    worst_first(slopes)
}

/// Second derivatives along directions, the worst first.
fn bends(objective: &Objective<'_>, theta: &[f64], directions: &[Vec<f64>]) -> Vec<Slope> {
    let hessian = objective.hessian(theta, HessianKind::Full);
    let diagonal = objective.gauss_newton_diagonal(theta);
    let size = theta.len();
    let bend = |(index, direction): (usize, &Vec<f64>)| {
        let row = |i: usize| (0..size).map(|j| hessian.get(i, j) * direction[j]).sum::<f64>();
        let analytic = (0..size).map(|i| direction[i] * row(i)).sum();
        let along = |step: f64| -> f64 {
            let moved: Vec<f64> = theta.iter().zip(direction).map(|(value, part)| value + step * part).collect();
            let (_, gradient) = objective.loss_and_gradient(&moved);
            gradient.iter().zip(direction).map(|(slope, part)| slope * part).sum()
        };
        let numeric = (along(BEND_STEP) - along(-BEND_STEP)) / (2.0 * BEND_STEP);
        let scale = diagonal.iter().zip(direction).map(|(bend, part)| bend * part * part).sum();
        Slope { index, analytic, numeric, scale }
    };
    worst_first(directions.iter().enumerate().map(bend).collect())
}

fn worst_first(mut slopes: Vec<Slope>) -> Vec<Slope> {
    slopes.sort_by(|a, b| b.error().total_cmp(&a.error()).then(a.index.cmp(&b.index)));
    slopes
}

/// The engine's scores beside those of the rows; there is a position at least.
fn compare(dataset: &Dataset, played: &[i16], rows: &Rows, theta: &[f64]) -> ScoreCheck {
    let of_rows = scores(rows, &merino().model, theta);
    let error = |index: usize| (f64::from(played[index]) - of_rows[index]).abs();
    let worst = (0..played.len()).max_by(|&a, &b| error(a).total_cmp(&error(b))).unwrap_or_default();
    let fen = dataset.samples(worst..worst + 1).map(|(position, _)| position.to_fen()).collect();
    ScoreCheck { error: error(worst), fen, played: played[worst], row: of_rows[worst] }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One in 250 of the project's own positions.
    fn task(resolve: Resolve) -> Task {
        let weights = Weights::from_toml(include_str!("../../../../params/baseline.toml")).unwrap();
        let text = String::from_utf8(zstd::decode_all(&include_bytes!("../../../../data/quiet.epd.zst")[..]).unwrap())
            .unwrap();
        let few: String = text.split_inclusive('\n').step_by(250).collect();
        let sources = vec![Source::embedded("few.epd", few.into_bytes().leak()).unwrap()];
        let (target, loss) = (Target::Result, SampleLoss::default());
        let (k, sample) = (Some(1.5), None);
        Task {
            sources,
            weights,
            resolve,
            target,
            loss,
            k,
            reading: ReadOptions::default(),
            sample,
            seed: 1,
            tolerance: 1e-6,
        }
    }

    #[test]
    fn derivatives_and_scores_are_what_they_should_be() {
        for resolve in [Resolve::Static, Resolve::Qsearch] {
            let found = check(task(resolve), &()).unwrap();
            assert!(found.is_good(), "{found:?}");
            assert_eq!((found.slopes.len(), found.bends.len()), (Weights::DIMENSIONS, DIRECTIONS));
            assert!(found.slopes.iter().filter(|slope| slope.analytic != 0.0).count() > 500);
            assert!(found.scores.error > 0.0 && found.bends[0].numeric != 0.0);
        }
        let few = check(Task { sample: Some(20), ..task(Resolve::Static) }, &()).unwrap();
        assert!(few.is_good() && few.slopes.len() == 20);
    }

    #[test]
    fn a_wrong_derivative_is_found() {
        let right = check(task(Resolve::Static), &()).unwrap();
        let mut slope = right.clone();
        slope.slopes[0].analytic += 2e-6 * slope.slopes[0].scale;
        assert!(!slope.is_good() && slope.slopes[0].error() > 1e-6);
        let mut bend = right.clone();
        bend.bends[3].numeric *= 1.001;
        assert!(!bend.is_good());
        let mut score = right.clone();
        score.scores.error = 1.0;
        assert!(!score.is_good());
        let mut unseen = right;
        unseen.slopes[0] = Slope { index: 0, analytic: 1e-30, numeric: 0.0, scale: 0.0 };
        assert_eq!(unseen.slopes[0].error(), f64::INFINITY);
    }

    #[test]
    fn scores_of_other_parameters_are_found_out() {
        let task = task(Resolve::Static);
        let evaluator = Evaluator::new(task.weights.clone());
        let read = features::read(task.sources, &task.reading, &evaluator, Resolve::Static, &()).unwrap();
        let mut theta = task.weights.to_vector();
        theta[0] += 7.0;
        theta[1] += 7.0;
        let found = compare(&read.0, &read.1.scores.static_score, &read.1.rows, &theta);
        assert!(found.error > SCORE_TOLERANCE && found.fen.contains('/'), "{found:?}");
        assert_eq!((f64::from(found.played) - found.row).abs(), found.error);
    }
}
