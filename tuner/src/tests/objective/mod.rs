//! The objective and its minimisation, checked against finite differences, known truths and each other.

pub(crate) mod problem;
mod ties;

use crate::model::rows::{BLOCK, RowsWriter};
use crate::objective::{HessianKind, Objective, PriorScale, SampleLoss, fit_k, scores};
use crate::optimize::{Adam, Lbfgs, Limits, LocalSearch, Solver, Step, Termination};
use problem::{
    FEATURES, SIZE, appended, bounds, drawn, exact, expectation, methods, minimize, model, moved, objective,
    objective_with_prior, push, rows, score, start, tight, truth,
};
use std::ops::ControlFlow;

#[test]
fn appended_parts_are_the_rows_in_order() {
    let whole = rows(1000, drawn);
    let mut parts = Vec::new();
    for row in 0..whole.len() {
        if row % 300 == 0 {
            parts.push(RowsWriter::in_memory(whole.shape().clone()));
        }
        let (entries, phase, constant) = appended(&whole, row);
        push(parts.last_mut().unwrap(), &entries, phase, whole.targets()[row], constant);
    }
    assert!(parts.len() > 3);
    let mut joined = RowsWriter::in_memory(whole.shape().clone());
    parts.into_iter().for_each(|part| joined.append(&part.finish().unwrap()).unwrap());
    let joined = joined.finish().unwrap();
    assert_eq!(joined.targets(), whole.targets());
    assert_eq!(scores(&joined, model(), &truth()), scores(&whole, model(), &truth()));
}

#[test]
fn every_nth_row_is_picked_with_its_constant() {
    let whole = rows(1000, drawn);
    let picked = whole.pick((0..whole.len()).step_by(7));
    let expected: Vec<f64> = scores(&whole, model(), &truth()).into_iter().step_by(7).collect();
    assert_eq!(scores(&picked, model(), &truth()), expected);
    assert!(picked.targets().iter().eq(whole.targets().iter().step_by(7)));
    assert_eq!(whole.pick(0..whole.len()), whole);
}

#[test]
fn rows_are_picked_in_any_order_and_as_often_as_asked() {
    let whole = rows(500, drawn);
    // The last two rows have constants.
    let wanted = [501, 3, 3, 500, 17, 501];
    let picked = whole.pick(wanted.iter().copied());
    let all = scores(&whole, model(), &truth());
    assert_eq!(scores(&picked, model(), &truth()), wanted.map(|row| all[row]));
    assert!(picked.targets().iter().eq(wanted.iter().map(|&row| &whole.targets()[row])));
    let turned: Vec<f32> = whole.targets().iter().map(|target| 1.0 - target).collect();
    let other = whole.clone().with_targets(&turned).unwrap();
    assert_eq!((other.targets(), scores(&other, model(), &truth())), (&turned[..], all));
    assert!(whole.with_targets(&[2.0; 502]).is_err());
}

#[test]
fn a_row_takes_no_more_memory_than_thirteen_bytes_and_three_an_entry() {
    let rows = rows(10_000, drawn);
    assert!(rows.bytes() <= 13 * rows.len() + 3 * rows.entries());
    assert_eq!(rows.bytes(), 12 * rows.len() + 3 * rows.entries() + 8 * rows.len().div_ceil(BLOCK));
}

#[test]
fn scores_and_loss_follow_the_formulas() {
    let rows = rows(3000, drawn);
    let theta = truth();
    let objective = objective_with_prior(&rows, 1.3, 1e-6, &start());
    let all = scores(&rows, model(), &theta);
    let mut sum = 0.0;
    for (row, &found) in all.iter().enumerate() {
        let (entries, phase, constant) = appended(&rows, row);
        let plain = score(&entries, phase, f64::from(constant), &theta);
        assert!((found - plain).abs() < 1e-9);
        sum += (expectation(1.3 * plain) - f64::from(rows.targets()[row])).powi(2);
    }
    let squares: f64 = theta.iter().zip(start()).map(|(a, b)| (a - b).powi(2)).sum();
    let expected = sum / rows.len() as f64 + 1e-6 * squares;
    assert!((objective.loss(&theta) - expected).abs() < 1e-13);
    assert_eq!(objective.loss(&theta), objective.data_loss(&theta) + objective.prior.loss(&theta));
    assert_eq!(objective.loss(&theta), objective.loss_and_gradient(&theta).0);
}

#[test]
fn gradient_agrees_with_finite_differences() {
    let rows = rows(2000, drawn);
    for loss in [SampleLoss::SquaredError, SampleLoss::CrossEntropy] {
        let objective = objective_with_prior(&rows, 1.1, 1e-7, &start()).with_loss(loss);
        let theta = truth();
        let (_, gradient) = objective.loss_and_gradient(&theta);
        for (j, &slope) in gradient.iter().enumerate() {
            let step = 1e-4;
            let difference = objective.loss(&moved(&theta, j, step)) - objective.loss(&moved(&theta, j, -step));
            let expected = difference / (2.0 * step);
            assert!((slope - expected).abs() < 1e-10 + 1e-6 * slope.abs(), "{j}: {slope} for {expected}");
        }
    }
}

#[test]
fn gauss_newton_is_the_hessian_at_zero_residuals() {
    let rows = rows(5000, exact);
    let (objective, theta) = (objective(&rows, 1.0), truth());
    let matrix = objective.hessian(&theta, HessianKind::GaussNewton);
    // The two rows with constants have residuals but do not depend on the parameters.
    for j in 0..SIZE {
        let step = 1e-3;
        let [above, below] = [step, -step].map(|by| objective.loss_and_gradient(&moved(&theta, j, by)).1);
        for i in 0..SIZE {
            let (found, expected) = (matrix.get(i, j), (above[i] - below[i]) / (2.0 * step));
            let size = (matrix.get(i, i) * matrix.get(j, j)).abs().sqrt();
            assert!((found - expected).abs() <= 2e-5 * size, "{i}, {j}: {found} for {expected}");
        }
    }
}

#[test]
fn sums_do_not_depend_on_the_number_of_threads() {
    let rows = rows(40_000, drawn);
    let objective = objective_with_prior(&rows, 1.1, 1e-9, &start());
    let all = || {
        let (loss, gradient) = objective.loss_and_gradient(&truth());
        let hessian = objective.hessian(&truth(), HessianKind::GaussNewton);
        let fit = minimize(&objective, &start(), &bounds());
        let k = fit_k(SampleLoss::SquaredError, &scores(&rows, model(), &start()), rows.targets()).unwrap();
        (loss, gradient, hessian, fit.theta, fit.loss, fit.history, k)
    };
    let with = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(all);
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(5));
}

#[test]
fn a_synthetic_truth_is_recovered() {
    let rows = rows(20_000, exact);
    let objective = objective(&rows, 1.0);
    let fit = minimize(&objective, &start(), &bounds());
    assert_eq!(fit.termination, Termination::Converged);
    assert!(fit.gradient_ratio <= 1e-8);
    let truth = truth();
    let scale = truth[SIZE - 1] / fit.theta[SIZE - 1];
    for (j, (&found, &truth)) in fit.theta.iter().zip(&truth).enumerate() {
        // The data determine only the ratios of the phase weights, and nothing of the last feature.
        let found = if j < 2 * FEATURES { found } else { scale * found };
        let seen = !(2 * FEATURES - 2..2 * FEATURES).contains(&j);
        assert!(!seen || (found - truth).abs() < 1e-3, "{j}: {found} for {truth}");
    }
}

#[test]
fn parameters_without_occurrences_keep_their_start() {
    let rows = rows(30_000, drawn);
    assert_eq!(model().occurrences(&rows)[2 * FEATURES - 1], 0);
    for strength in [0.0, 1e-13, 1e-8] {
        let objective = objective_with_prior(&rows, 1.0, strength, &start());
        let fit = minimize(&objective, &start(), &bounds());
        assert_eq!(fit.theta[2 * FEATURES - 2..2 * FEATURES], [30.0, 30.0]);
        assert!(fit.gradient_ratio <= 1e-8, "λ = {strength}: {:e} {:?}", fit.gradient_ratio, fit.termination);
        assert!(fit.loss <= objective.loss(&start()));
    }
}

#[test]
fn gauss_newton_diagonal_is_that_of_the_whole_matrix() {
    let rows = rows(2000, drawn);
    let objective = objective_with_prior(&rows, 1.1, 1e-7, &start());
    let whole = objective.hessian(&truth(), HessianKind::GaussNewton);
    // Phase weights occur in two sums of a row.
    for (j, &found) in objective.gauss_newton_diagonal(&truth()).iter().enumerate().take(2 * FEATURES) {
        let expected = whole.get(j, j);
        assert!((found - expected).abs() <= 1e-5 * expected, "{j}: {found} for {expected}");
    }
}

#[test]
fn all_methods_find_the_same_minimum() {
    let rows = rows(5000, drawn);
    let problems =
        [(1e-9, SampleLoss::SquaredError), (1e-7, SampleLoss::SquaredError), (1e-9, SampleLoss::CrossEntropy)];
    for (strength, loss) in problems {
        let objective = objective_with_prior(&rows, 1.0, strength, &start()).with_loss(loss);
        let least = minimize(&objective, &start(), &bounds());
        assert!(least.gradient_ratio <= 1e-8);
        for (method, above) in methods() {
            let fit = method.minimize(&objective, &start(), &bounds()).unwrap();
            let excess = fit.loss / least.loss - 1.0;
            assert!(
                (-1e-12..=above).contains(&excess),
                "{excess:e} above the minimum, {:?} {:?}",
                fit.termination,
                fit.work
            );
            assert!((fit.loss / objective.loss(&fit.theta) - 1.0).abs() < 1e-14);
        }
    }
}

#[test]
fn every_method_keeps_frozen_parameters_and_bounds() {
    let rows = rows(5000, drawn);
    let objective = objective_with_prior(&rows, 1.0, 1e-9, &truth());
    let (lower, upper, begin) = tight();
    let mut limits = Limits::new(lower.clone(), upper.clone());
    let frozen = [0, 7, SIZE - 2];
    frozen.iter().for_each(|&j| limits.freeze(j));
    let least = minimize(&objective, &begin, &limits).loss;
    for (method, above) in methods() {
        let fit = method.minimize(&objective, &begin, &limits).unwrap();
        assert!(frozen.iter().all(|&j| fit.theta[j] == begin[j]));
        assert!(
            fit.theta.iter().zip(&lower).zip(&upper).all(|((value, lower), upper)| lower <= value && value <= upper)
        );
        assert!(fit.loss / least - 1.0 <= 2.0 * above, "{:e}", fit.loss / least - 1.0);
    }
}

#[test]
fn no_method_depends_on_the_number_of_threads() {
    let rows = rows(20_000, drawn);
    let objective = objective_with_prior(&rows, 1.1, 1e-9, &start());
    let all = || {
        let few = [
            Box::new(Lbfgs { max_steps: 30, ..Lbfgs::default() }) as Box<dyn Solver>,
            Box::new(Adam { max_epochs: 30, ..Adam::default() }),
            Box::new(LocalSearch { max_sweeps: 5, ..LocalSearch::default() }),
        ];
        let fit = |method: Box<dyn Solver>| method.minimize(&objective, &start(), &bounds()).unwrap();
        few.map(fit)
    };
    let with = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(all);
    assert_eq!(with(1), with(3));
}

#[test]
fn local_search_ends_at_integers_without_a_better_neighbour() {
    let rows = rows(5000, drawn);
    let objective = objective_with_prior(&rows, 1.0, 1e-9, &start());
    let fit = LocalSearch::default().minimize(&objective, &start(), &bounds()).unwrap();
    assert_eq!(fit.termination, Termination::NoProgress);
    for (j, &value) in fit.theta.iter().enumerate() {
        assert_eq!(value, value.round(), "{j}");
        for step in [-1.0, 1.0] {
            assert!(objective.loss(&moved(&fit.theta, j, step)) >= fit.loss - 1e-15, "{j} {step}");
        }
    }
    let other = LocalSearch { seed: 1, ..LocalSearch::default() };
    let other = other.minimize(&objective, &start(), &bounds()).unwrap();
    assert_ne!(other.history, fit.history);
}

#[test]
fn a_weaker_prior_allows_a_larger_distance_from_the_start() {
    let rows = rows(3000, drawn);
    let distance = |strength| {
        let objective = objective_with_prior(&rows, 1.0, strength, &start());
        let fit = minimize(&objective, &start(), &bounds());
        fit.theta.iter().zip(start()).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    let distances = [1e3, 1e-4, 1e-5, 1e-6].map(distance);
    assert!(distances[0] < 1e-4);
    assert!(distances.is_sorted() && distances[3] > 10.0, "{distances:?}");
}

#[test]
fn bounds_hold_and_are_reached() {
    let rows = rows(20_000, drawn);
    let objective = objective(&rows, 1.0);
    let free = minimize(&objective, &start(), &bounds());
    let (mut lower, mut upper) = (vec![-5000.0; SIZE], vec![5000.0; SIZE]);
    lower[2 * FEATURES..].fill(0.0);
    upper[0] = free.theta[0] - 20.0;
    lower[3] = free.theta[3] + 5.0;
    let mut begin = start();
    (begin[0], begin[3]) = (upper[0], lower[3]);
    let fit = minimize(&objective, &begin, &Limits::new(lower.clone(), upper.clone()));
    assert_eq!((fit.theta[0], fit.theta[3]), (upper[0], lower[3]));
    assert!(fit.theta.iter().zip(&lower).zip(&upper).all(|((value, lower), upper)| lower <= value && value <= upper));
    assert!(fit.theta[2 * FEATURES..].iter().all(|&weight| weight >= 0.0));
    assert!(fit.gradient_ratio <= 1e-8 && fit.loss > free.loss);
}

#[test]
fn frozen_parameters_do_not_move() {
    let rows = rows(5000, drawn);
    let objective = objective_with_prior(&rows, 1.0, 1e-9, &truth());
    let mut limits = bounds();
    let frozen: Vec<usize> = (0..SIZE).filter(|j| j % 3 == 0).collect();
    for &j in &frozen {
        limits.freeze(j);
    }
    let fit = minimize(&objective, &start(), &limits);
    assert!(frozen.iter().all(|&j| fit.theta[j] == start()[j]));
    assert!(fit.gradient_ratio <= 1e-8 && fit.loss < objective.loss(&start()));

    (0..SIZE).for_each(|j| limits.freeze(j));
    let fit = minimize(&objective, &start(), &limits);
    assert_eq!((fit.theta, fit.termination, fit.gradient_ratio), (start(), Termination::Converged, 0.0));
}

#[test]
fn a_fit_from_a_minimum_stays_there() {
    let rows = rows(60_000, drawn);
    let objective = objective_with_prior(&rows, 1.0, 1e-9, &start());
    let first = minimize(&objective, &start(), &bounds());
    let second = minimize(&objective, &first.theta, &bounds());
    assert!(second.loss <= first.loss * (1.0 + 2e-15));
    assert!((second.work.passes as f64) < 0.7 * first.work.passes as f64, "{:?} after {:?}", second.work, first.work);
    assert!(second.theta.iter().zip(&first.theta).all(|(a, b)| (a - b).abs() < 1e-3));
}

#[test]
fn a_fit_is_cancelled_by_its_callback_and_limited_in_steps() {
    let rows = rows(5000, drawn);
    let objective = objective(&rows, 1.0);
    let mut seen = Vec::new();
    let mut stop_at_two = |step: &Step, _: &[f64]| {
        seen.push(*step);
        if step.iteration == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let fit = Lbfgs::default().minimize_watched(&objective, &start(), &bounds(), &mut stop_at_two).unwrap();
    assert_eq!((fit.termination, seen.len()), (Termination::Cancelled, 3));
    assert_eq!(fit.history, seen);
    assert!(fit.loss < objective.loss(&start()));

    let short = Lbfgs { max_steps: 1, ..Lbfgs::default() };
    let fit = short.minimize(&objective, &start(), &bounds()).unwrap();
    assert_eq!((fit.termination, fit.history.len()), (Termination::StepLimit, 2));
}

#[test]
fn invalid_inputs_are_refused_with_a_reason() {
    let rows = rows(100, drawn);
    let objective = objective(&rows, 1.0);
    let minimize =
        |start: &[f64], limits: &Limits| Lbfgs::default().minimize(&objective, start, limits).unwrap_err().to_string();
    let expected = |what: &str| format!("optimise: {what} 3 parameters, expected {SIZE}");
    assert_eq!(minimize(&[0.0; 3], &bounds()), expected("start has"));
    assert_eq!(minimize(&start(), &Limits::none(3)), expected("limits have"));
    let outside = minimize(&moved(&start(), 4, 1e4), &bounds());
    assert!(outside.starts_with("optimise: parameter 4 starts at ") && outside.contains(", outside of its bounds "));
    let negative = minimize(&moved(&start(), SIZE - 1, -50.0), &bounds());
    assert!(negative.contains(", outside of its bounds 0..="), "{negative}");
    assert!(minimize(&moved(&start(), 0, f64::NAN), &bounds()).contains("starts at NaN, outside of its bounds"));

    let none = RowsWriter::in_memory((&model().layout).into()).finish().unwrap();
    assert_eq!(Objective::new(&none, model(), 1.0).unwrap_err().to_string(), "objective: no rows to fit");
    for k in [0.0, f64::NAN] {
        let error = Objective::new(&rows, model(), k).unwrap_err().to_string();
        assert_eq!(error, format!("objective: K is {k}, but must be positive and finite"));
    }
    let with_prior = |strength: f64, centre: &[f64]| {
        objective.clone().with_prior(strength, centre, PriorScale::Fixed).unwrap_err().to_string()
    };
    assert!(with_prior(-1.0, &start()).starts_with("objective: strength of the prior is -1, "));
    assert!(with_prior(1.0, &[0.0]).starts_with("objective: centre of the prior has 1 parameters, "));
}
