//! Tied parameters, compared with problems that have one parameter in their place.

use super::problem::{
    FEATURES, SIZE, appended, bounds, drawn, methods, minimize, moved, objective, objective_with_prior, parameters,
    push, rows, start, tapered, truth,
};
use crate::model::Model;
use crate::model::rows::{Rows, RowsWriter};
use crate::objective::{HessianKind, Objective};
use crate::optimize::Limits;

/// The tied features, leader first; both numbers of the pair are tied.
const TIED: [(usize, usize); 2] = [(0, 3), (4, 5)];

fn tied(mut limits: Limits) -> Limits {
    for (leader, follower) in TIED {
        limits.tie(&[2 * leader, 2 * follower]);
        limits.tie(&[2 * leader + 1, 2 * follower + 1]);
    }
    limits
}

/// Returns the index of a feature after followers are merged into leaders.
fn merged_index(feature: usize) -> usize {
    let leader = TIED.iter().find(|(_, follower)| *follower == feature).map_or(feature, |&(leader, _)| leader);
    leader - TIED.iter().filter(|(_, follower)| *follower < leader).count()
}

/// Returns the same rows with the counts of tied features added up, and their model.
fn merged(rows: &Rows) -> (Rows, Model) {
    let features = FEATURES - TIED.len();
    let model = tapered(features);
    let mut writer = RowsWriter::in_memory((&model.layout).into());
    for row in 0..rows.len() {
        let mut counts = vec![0; features];
        let (entries, phase, constant) = appended(rows, row);
        entries.iter().for_each(|&(index, count)| counts[merged_index(usize::from(index))] += count);
        let entries: Vec<(u16, i8)> = (0..features as u16).zip(counts).filter(|&(_, count)| count != 0).collect();
        push(&mut writer, &entries, phase, rows.targets()[row], constant);
    }
    (writer.finish().unwrap(), model)
}

/// Converts a vector of the whole problem to one of the merged problem.
fn merged_vector(theta: &[f64]) -> Vec<f64> {
    let mut merged = vec![0.0; parameters(FEATURES - TIED.len())];
    for feature in 0..FEATURES {
        let to = merged_index(feature);
        merged[2 * to..2 * to + 2].copy_from_slice(&theta[2 * feature..2 * feature + 2]);
    }
    let weights = merged.len() - 5;
    merged[weights..].copy_from_slice(&theta[2 * FEATURES..]);
    merged
}

#[test]
fn all_methods_find_the_minimum_of_the_merged_problem() {
    let rows = rows(20_000, drawn);
    let (merged_rows, merged_model) = merged(&rows);
    // Without a prior there are several minima in the phase weights, so these are frozen.
    let mut limits = tied(bounds());
    (SIZE - 5..SIZE).for_each(|weight| limits.freeze(weight));
    let begin = start();
    let whole = objective(&rows, 1.0);
    let merged = Objective::new(&merged_rows, &merged_model, 1.0).unwrap();
    let merged_start = merged_vector(&begin);
    assert!((whole.loss(&begin) - merged.loss(&merged_start)).abs() < 1e-14);
    let mut wide = Limits::none(merged.parameters());
    (wide.size() - 5..wide.size()).for_each(|weight| wide.freeze(weight));
    let least = minimize(&merged, &merged_start, &wide);
    let free = minimize(&whole, &begin, &bounds());
    assert!(free.loss < least.loss * (1.0 - 1e-4), "ties cost something here");
    for (method, above) in methods() {
        let fit = method.minimize(&whole, &begin, &limits).unwrap();
        for (leader, follower) in TIED {
            assert_eq!(fit.theta[2 * leader..2 * leader + 2], fit.theta[2 * follower..2 * follower + 2]);
        }
        let excess = fit.loss / least.loss - 1.0;
        assert!(
            (-1e-12..=above).contains(&excess),
            "{excess:e} above the minimum, {:?} {:?}",
            fit.termination,
            fit.work
        );
        assert!((merged.loss(&merged_vector(&fit.theta)) - fit.loss).abs() < 1e-14);
    }
    let fit = minimize(&whole, &begin, &limits);
    assert!(fit.gradient_ratio <= 1e-8);
    assert!(fit.history.len().abs_diff(least.history.len()) <= 3);
}

#[test]
fn gathered_hessian_equals_that_of_the_merged_problem() {
    let rows = rows(3000, drawn);
    let (merged_rows, merged_model) = merged(&rows);
    let theta = {
        let mut theta = truth();
        TIED.iter().for_each(|&(leader, follower)| theta.copy_within(2 * leader..2 * leader + 2, 2 * follower));
        theta
    };
    let mut whole = objective(&rows, 1.1).hessian(&theta, HessianKind::GaussNewton);
    whole.gather(tied(bounds()).leaders());
    let merged = Objective::new(&merged_rows, &merged_model, 1.1).unwrap();
    let merged = merged.hessian(&merged_vector(&theta), HessianKind::GaussNewton);
    let place = |j: usize| if j < 2 * FEATURES { 2 * merged_index(j / 2) + j % 2 } else { j - 2 * TIED.len() };
    let leads = |j: &usize| tied(bounds()).leaders()[*j] == *j;
    for i in (0..SIZE).filter(leads) {
        for j in (0..SIZE).filter(leads) {
            let (found, expected) = (whole.get(i, j), merged.get(place(i), place(j)));
            let size = (merged.get(place(i), place(i)) * merged.get(place(j), place(j))).abs().sqrt();
            assert!((found - expected).abs() <= 1e-5 * size, "{i}, {j}: {found} for {expected}");
        }
    }
}

#[test]
fn phase_weights_and_the_numbers_of_a_pair_can_be_tied() {
    let rows = rows(10_000, drawn);
    let objective = objective_with_prior(&rows, 1.0, 1e-9, &start());
    let mut limits = bounds();
    // Ties knight and bishop; midgame and endgame of one feature; features of different halves.
    limits.tie(&[SIZE - 4, SIZE - 3]);
    limits.tie(&[2, 3]);
    limits.tie(&[6, 8, 13]);
    let least = minimize(&objective, &start(), &limits);
    assert!(least.gradient_ratio <= 1e-8);
    for group in [&[SIZE - 4, SIZE - 3][..], &[2, 3], &[6, 8, 13]] {
        // Along the group the gradient is zero, up to the rounding error of a finite difference.
        let along = |by: f64| {
            let theta = group.iter().fold(least.theta.clone(), |theta, &j| moved(&theta, j, by));
            objective.loss(&theta)
        };
        let slope = (along(1e-2) - along(-1e-2)) / 2e-2;
        assert!(slope.abs() < 1e-9, "{slope:e} along {group:?}");
        assert!(group.iter().all(|&j| least.theta[j] == least.theta[group[0]]));
    }
    for (method, above) in methods() {
        let fit = method.minimize(&objective, &start(), &limits).unwrap();
        let excess = fit.loss / least.loss - 1.0;
        assert!((-1e-12..=above).contains(&excess), "{excess:e} above the minimum");
        assert!(fit.theta[2] == fit.theta[3] && fit.theta[6] == fit.theta[8] && fit.theta[8] == fit.theta[13]);
    }
}

#[test]
fn tied_parameters_must_start_at_one_value() {
    let rows = rows(500, drawn);
    let objective = objective(&rows, 1.0);
    let begin = moved(&start(), 6, 1.0);
    for (method, _) in methods() {
        let error = method.minimize(&objective, &begin, &tied(bounds())).unwrap_err();
        let message = "optimise: parameter 6 starts at 31, but parameter 0, which it is tied to, at 30";
        assert_eq!(error.to_string(), message);
    }
}
