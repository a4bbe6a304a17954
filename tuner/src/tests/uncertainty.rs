//! Standard errors, checked by fits to many data sets drawn from one truth.

use std::sync::LazyLock;

use crate::model::Model;
use crate::model::centre::Centring;
use crate::model::rows::{Rows, RowsWriter};
use crate::objective::{HessianKind, Objective, PriorScale, SampleLoss, expectation, loss_difference, scores};
use crate::optimize::{Lbfgs, Limits, Solver};
use crate::run::standard_errors;
use engine::random::Random;

use super::objective::problem::{PhaseCounts, parameters, push, tapered};

const FEATURES: usize = 8;
const SIZE: usize = parameters(FEATURES);

fn truth() -> Vec<f64> {
    let pairs = (0..2 * FEATURES).map(|j| 15.0 * ((j * 7 % 11) as f64 - 3.0));
    pairs.chain([6.0, 9.0, 11.0, 18.0, 42.0]).collect()
}

fn model() -> &'static Model {
    static MODEL: LazyLock<Model> = LazyLock::new(|| tapered(FEATURES));
    &MODEL
}

/// Draws games of `length` rows. The expectation of the first row determines the distribution of the result; all rows
/// of a game have the same entries.
fn drawn(random: &mut Random, games: usize, length: usize) -> (Rows, Vec<u32>) {
    let mut writer = RowsWriter::in_memory((&model().layout).into());
    let mut groups = Vec::new();
    for game in 0..games {
        let counts = (0..FEATURES as u16).map(|index| (index, random.below(7) as i8 - 3));
        let entries: Vec<(u16, i8)> = counts.filter(|&(_, count)| count != 0).collect();
        let phase: PhaseCounts = [17, 5, 5, 5, 3].map(|bound| random.below(bound) as i32);
        let mut one = RowsWriter::in_memory((&model().layout).into());
        push(&mut one, &entries, phase, 0.0, 0.0);
        let chance = expectation(1.0, scores(&one.finish().unwrap(), model(), &truth())[0]);
        let target = match random.unit() {
            x if x < chance * chance => 1.0,
            x if x < chance * (2.0 - chance) => 0.5,
            _ => 0.0,
        };
        for _ in 0..length {
            push(&mut writer, &entries, phase, target, 0.0);
            groups.push(game as u32);
        }
    }
    (writer.finish().unwrap(), groups)
}

/// Returns the coverage of 95 % confidence intervals over fits to `sets` data sets.
fn coverage(sets: usize, games: usize, length: usize, by_game: bool, weight: f32) -> f64 {
    let mut random = Random::seeded(5);
    let (mut inside, mut all) = (0, 0);
    for _ in 0..sets {
        let (rows, groups) = drawn(&mut random, games, length);
        // Every second game has a larger weight.
        let rows = rows.with_weights(groups.iter().map(|game| if game % 2 == 0 { weight } else { 1.0 }).collect());
        let objective = Objective::new(&rows, model(), 1.0).unwrap();
        let limits = Limits::none(SIZE);
        let fit = Lbfgs::default().minimize(&objective, &truth(), &limits).unwrap();
        let centring = Centring::default();
        let games = by_game.then_some(&groups[..]);
        let errors = standard_errors(&objective, &fit.theta, &limits, &centring, games).unwrap();
        for ((found, truth), error) in fit.theta.iter().zip(truth()).zip(&errors.by_parameter) {
            inside += usize::from((found - truth).abs() < 1.96 * error.unwrap());
            all += 1;
        }
    }
    inside as f64 / all as f64
}

#[test]
fn confidence_intervals_have_their_nominal_coverage() {
    for weight in [1.0, 8.0] {
        let share = coverage(120, 2000, 1, false, weight);
        assert!((0.93..=0.97).contains(&share), "{share} with weight {weight}");
    }
}

/// So many rows that the gradients of every third one determine the errors.
#[test]
fn errors_from_a_sample_of_rows_have_their_nominal_coverage() {
    let share = coverage(50, 8000, 1, false, 1.0);
    assert!((0.93..=0.97).contains(&share), "{share}");
}

#[test]
fn errors_by_game_account_for_shared_results() {
    let share = coverage(40, 2000, 6, true, 3.0);
    assert!((0.93..=0.97).contains(&share), "{share}");
    let naive = coverage(40, 1000, 6, false, 1.0);
    assert!(naive < 0.75, "{naive}");
}

/// Three rows a parameter, and a prior: the Hessian is nearly singular, or not positive definite at all.
#[test]
fn errors_equal_the_scatter_of_fits_to_little_data() {
    const SETS: usize = 60;
    let (mut random, limits) = (Random::seeded(6), Limits::none(SIZE));
    let (mut fits, mut squares) = (Vec::new(), vec![Vec::new(); SIZE]);
    for _ in 0..SETS {
        let (rows, _) = drawn(&mut random, 3 * SIZE, 1);
        let objective = Objective::new(&rows, model(), 1.0).unwrap();
        let objective = objective.with_prior(1e-6, &truth(), PriorScale::Fixed).unwrap();
        let fit = Lbfgs::default().minimize(&objective, &truth(), &limits).unwrap();
        let errors = standard_errors(&objective, &fit.theta, &limits, &Centring::default(), None).unwrap();
        for (squares, error) in squares.iter_mut().zip(errors.by_parameter) {
            squares.extend(error.map(|error| error * error));
        }
        fits.push(fit.theta);
    }
    let mean = |numbers: &mut dyn Iterator<Item = f64>| {
        let (sum, count) = numbers.fold((0.0, 0.0), |(sum, count), number| (sum + number, count + 1.0));
        sum / count
    };
    let ratio = |j: usize| {
        let centre = mean(&mut fits.iter().map(|fit| fit[j]));
        let variance = mean(&mut fits.iter().map(|fit| (fit[j] - centre).powi(2)));
        (mean(&mut squares[j].iter().copied()) / variance).sqrt()
    };
    let ratios: Vec<f64> = (0..2 * FEATURES).filter(|&j| !squares[j].is_empty()).map(ratio).collect();
    assert!(ratios.len() > FEATURES && ratios.iter().all(|ratio| (0.6..1.2).contains(ratio)), "{ratios:?}");
}

#[test]
fn tied_parameters_share_a_smaller_error() {
    let (rows, _) = drawn(&mut Random::seeded(2), 3000, 1);
    let objective = Objective::new(&rows, model(), 1.0).unwrap();
    let free = Limits::none(SIZE);
    let mut tied = free.clone();
    tied.tie(&[2, 6]);
    tied.freeze(4);
    let mut theta = truth();
    theta[6] = theta[2];
    let errors =
        |limits: &Limits| standard_errors(&objective, &theta, limits, &Centring::default(), None).unwrap().by_parameter;
    let (apart, together) = (errors(&free), errors(&tied));
    assert_eq!(together[2], together[6]);
    assert!(together[2] < apart[2] && together[6] < apart[6]);
    assert!(together[4].is_none() && apart[4].is_some());
}

#[test]
fn rounded_phase_weights_do_not_blow_errors_up() {
    let (rows, _) = drawn(&mut Random::seeded(2), 1000, 1);
    let objective = Objective::new(&rows, model(), 1.0).unwrap();
    let mut without_pawns = Limits::none(SIZE);
    without_pawns.freeze(SIZE - 5);
    for limits in [Limits::none(SIZE), without_pawns] {
        let mut start = truth();
        if limits.is_frozen(SIZE - 5) {
            start[SIZE - 5] = 0.0;
        }
        let fit = Lbfgs::default().minimize(&objective, &start, &limits).unwrap();
        let errors = |theta: &[f64]| {
            let errors = standard_errors(&objective, theta, &limits, &Centring::default(), None).unwrap();
            errors.by_parameter[..SIZE - 5].iter().map(|error| error.unwrap()).collect::<Vec<f64>>()
        };
        let exact = errors(&fit.theta);
        for step in 0..2000 {
            let mut theta = fit.theta.clone();
            for (weight, way) in theta[SIZE - 4..].iter_mut().zip([1.0, -1.0, -1.0, 1.0]) {
                *weight += way * f64::from(step) * 2.5e-4;
            }
            for (near, exact) in errors(&theta).iter().zip(&exact) {
                assert!((0.8..1.25).contains(&(near / exact)), "step {step}: {near} for {exact}");
            }
        }
    }
}

#[test]
fn error_of_a_loss_difference_counts_games() {
    let (rows, games) = drawn(&mut Random::seeded(3), 500, 4);
    let ours: Vec<i16> = scores(&rows, model(), &truth()).into_iter().map(|score| score as i16).collect();
    let theirs: Vec<i16> = ours.iter().map(|score| score / 2).collect();
    let alone: Vec<u32> = (0..rows.len() as u32).collect();
    let difference = |groups: &[u32]| {
        loss_difference(SampleLoss::SquaredError, (1.0, &ours), (1.0, &theirs), rows.targets(), groups)
    };
    let (by_game, by_row) = (difference(&games), difference(&alone));
    assert_eq!(by_game.mean, by_row.mean);
    // Four equal rows of a game double the standard error by game.
    assert!((by_game.error / by_row.error - 2.0).abs() < 0.01, "{by_game:?} {by_row:?}");
    let one = difference(&vec![7; rows.len()]);
    assert_eq!(one.error, 0.0);
}

#[test]
fn games_of_one_position_count_as_positions() {
    let (rows, groups) = drawn(&mut Random::seeded(1), 700, 1);
    let objective = Objective::new(&rows, model(), 1.3).unwrap();
    let (by_group, count) = objective.outer_by_group(&truth(), &groups, &|_| true);
    let by_row = objective.hessian(&truth(), HessianKind::Outer);
    assert_eq!(count, 700);
    for i in 0..SIZE {
        for j in 0..=i {
            let size = (by_row.get(i, i) * by_row.get(j, j)).sqrt();
            assert!((by_group.get(i, j) - by_row.get(i, j)).abs() <= 1e-5 * size);
        }
    }
}

#[test]
fn no_parameter_has_an_error_if_the_prior_dominates() {
    let (rows, _) = drawn(&mut Random::seeded(4), 500, 1);
    let limits = Limits::none(SIZE);
    let known = |strength| {
        let objective = Objective::new(&rows, model(), 1.0).unwrap();
        let objective = objective.with_prior(strength, &truth(), PriorScale::Fixed).unwrap();
        let errors = standard_errors(&objective, &truth(), &limits, &Centring::default(), None).unwrap();
        errors.by_parameter.iter().flatten().count()
    };
    assert_eq!([0.0, 1e-12, 1.0].map(known), [SIZE, SIZE, 0]);
}
