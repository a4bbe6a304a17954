//! Weighted rows, compared with repeated rows.

use crate::data::{Dataset, ReadOptions, Source};
use crate::model::centre::Centring;
use crate::model::rows::{Rows, Weighted};
use crate::objective::tests::{LOSSES, SIZE, THETA, model, moved, rows};
use crate::objective::{
    HessianKind, Objective, PriorScale, SymmetricMatrix, fit_k, loss_difference, score_loss, scores,
};
use crate::optimize::{Adam, Lbfgs, Limits, LocalSearch, Solver};
use crate::run::{PriorSearch, standard_errors};
use crate::source::target::{Target, TargetData};

const ROWS: usize = 1501;

/// Returns the weight of a row.
fn weight(row: usize) -> usize {
    1 + row % 3
}

fn game(row: usize) -> u32 {
    (row / 4) as u32
}

/// Returns weighted rows, the same rows repeated by weight, and the games of the repeated rows.
fn both() -> (Rows, Rows, Vec<u32>) {
    let (plain, _) = rows(&model(), ROWS);
    let repeated = (0..ROWS).flat_map(|row| std::iter::repeat_n(row, weight(row)));
    let (copies, games) = (plain.pick(repeated.clone()), repeated.map(game).collect());
    (plain.with_weights((0..ROWS).map(|row| weight(row) as f32).collect()), copies, games)
}

fn games() -> Vec<u32> {
    (0..ROWS).map(game).collect()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-10 * a.abs().max(b.abs())
}

fn assert_same(found: &SymmetricMatrix, expected: &SymmetricMatrix) {
    for i in 0..SIZE {
        for j in 0..=i {
            let size = (expected.get(i, i) * expected.get(j, j)).abs().sqrt();
            let (found, expected) = (found.get(i, j), expected.get(i, j));
            assert!((found - expected).abs() <= 1e-10 * size, "{i}, {j}: {found} for {expected}");
        }
    }
}

#[test]
fn losses_and_derivatives_equal_those_of_copies() {
    let (model, (rows, copies, of_copies)) = (model(), both());
    for loss in LOSSES {
        let [found, expected] = [&rows, &copies].map(|rows| Objective::new(rows, &model, 1.2).unwrap().with_loss(loss));
        assert!(near(found.loss(&THETA), expected.loss(&THETA)));
        let [found_slopes, slopes] = [&found, &expected].map(|objective| objective.loss_and_gradient(&THETA).1);
        let [found_diagonal, diagonal] = [&found, &expected].map(|objective| objective.gauss_newton_diagonal(&THETA));
        for j in 0..SIZE {
            assert!((found_slopes[j] - slopes[j]).abs() < 1e-15, "{j}: {} for {}", found_slopes[j], slopes[j]);
            assert!(near(found_diagonal[j], diagonal[j]), "{j}");
        }
        let [matrix, of_copies_of_rows] = [&found, &expected].map(|of| of.hessian(&THETA, HessianKind::GaussNewton));
        assert_same(&matrix, &of_copies_of_rows);
        // Copies of a row form one cluster: its gradient counts with the square of its weight.
        let each: Vec<u32> = (0..ROWS as u32).flat_map(|row| std::iter::repeat_n(row, weight(row as usize))).collect();
        let (by_row, _) = expected.outer_by_group(&THETA, &each, &|_| true);
        assert_same(&found.hessian(&THETA, HessianKind::Outer), &by_row);
        let [found, expected] = [(&found, &games()), (&expected, &of_copies)]
            .map(|(objective, games)| objective.outer_by_group(&THETA, games, &|_| true));
        assert_eq!(found.1, expected.1);
        assert_same(&found.0, &expected.0);
    }
}

#[test]
fn a_part_of_the_rows_has_its_own_weights() {
    let (model, (rows, ..)) = (model(), both());
    let picked = rows.pick((0..ROWS).step_by(7));
    let [whole, part] = [&rows, &picked].map(|rows| Objective::new(rows, &model, 1.2).unwrap());
    let every = whole.hessian_among(&THETA, HessianKind::GaussNewton, 7, &|_| true);
    assert_same(&every, &part.hessian(&THETA, HessianKind::GaussNewton));
    let losses = whole.row_losses(&THETA);
    let (sum, total) =
        (0..ROWS).step_by(7).fold((0.0, 0), |(sum, total), row| (sum + losses[row], total + weight(row)));
    assert!(near(part.data_loss(&THETA), sum / total as f64));
}

#[test]
fn scales_and_differences_equal_those_of_copies() {
    let (model, (rows, copies, of_copies)) = (model(), both());
    let [found, expected] = [&rows, &copies].map(|rows| scores(rows, &model, &THETA));
    let whole = |scores: &[f64], by: f64| scores.iter().map(|score| (by * score) as i16).collect::<Vec<i16>>();
    for loss in LOSSES {
        let [k, of_copies_k] =
            [(&found, &rows), (&expected, &copies)].map(|(scores, rows)| fit_k(loss, scores, rows.weighted()).unwrap());
        assert!(near(k, of_copies_k), "{k} for {of_copies_k}");
        let [a, b] = [(&found, &rows, &games()), (&expected, &copies, &of_copies)].map(|(scores, rows, games)| {
            let (ours, theirs) = (whole(scores, 1.0), whole(scores, 0.5));
            let difference = loss_difference(loss, (1.0, &ours), (1.1, &theirs), rows.weighted(), games);
            (difference, score_loss(loss, 1.0, &ours, rows.weighted()))
        });
        assert!(near(a.0.mean, b.0.mean) && near(a.0.error, b.0.error) && near(a.1, b.1), "{a:?} for {b:?}");
    }
}

#[test]
fn fits_agree_with_fits_to_copies() {
    let (model, (rows, copies, of_copies)) = (model(), both());
    let limits = Limits::none(SIZE);
    let start = moved(&THETA, 2, 25.0);
    let objective = |rows| {
        let objective = Objective::new(rows, &model, 1.0).unwrap();
        objective.with_prior(1e-6, &start, PriorScale::Fixed).unwrap()
    };
    let [found, expected] = [&rows, &copies].map(objective);
    let exact = Lbfgs { tolerance: 1e-13, ..Lbfgs::default() };
    let fit = |objective: &Objective<'_>| exact.minimize(objective, &start, &limits).unwrap();
    let ends = [&found, &expected].map(fit);
    assert!((ends[0].loss - ends[1].loss).abs() < 1e-12, "{} for {}", ends[0].loss, ends[1].loss);
    for j in 0..SIZE {
        let [found, expected] = [&ends[0], &ends[1]].map(|end| end.theta[j]);
        assert!((found - expected).abs() < 1e-6, "{j}: {found} for {expected}");
    }
    let adam = Adam { max_epochs: 40, ..Adam::default() };
    let solvers: [&dyn Solver; 2] = [&adam, &LocalSearch::default()];
    for solver in solvers {
        let [found, expected] =
            [&found, &expected].map(|objective| solver.minimize(objective, &start, &limits).unwrap());
        assert!(near(found.loss, expected.loss), "{} for {}", found.loss, expected.loss);
    }
    // So few rows that errors come from all of them.
    let few = [(&rows, &games()[..], 300), (&copies, &of_copies[..], (0..300).map(weight).sum())];
    let [found, expected] = few.map(|(rows, games, count)| {
        let rows = rows.pick(0..count);
        let objective = Objective::new(&rows, &model, 1.0).unwrap();
        standard_errors(&objective, &THETA, &limits, &Centring::default(), Some(&games[..count])).unwrap()
    });
    assert_eq!(found.clusters, expected.clusters);
    for (found, expected) in found.by_parameter.iter().zip(&expected.by_parameter) {
        assert_eq!(found.is_some(), expected.is_some());
        let (found, expected) = (found.unwrap_or(1.0), expected.unwrap_or(1.0));
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} for {expected}");
    }
}

#[test]
fn prior_choice_agrees_with_copies() {
    let (model, (rows, copies, of_copies)) = (model(), both());
    let limits = Limits::none(SIZE);
    let chosen = [(&rows, &games()), (&copies, &of_copies)].map(|(rows, games)| {
        let objective = Objective::new(rows, &model, 1.0).unwrap();
        let scale = PriorScale::Free;
        let search =
            PriorSearch { objective: &objective, groups: games, start: &THETA, limits: &limits, scale, seed: 1 };
        search.choose(&()).unwrap().unwrap()
    });
    assert_eq!(chosen[0].per_position, chosen[1].per_position);
    assert!((chosen[0].loss - chosen[1].loss).abs() < 1e-6, "{chosen:?}");
}

#[test]
fn targets_equal_those_of_copies() {
    let lines = "8/8/8/8/8/k7/7R/K7 w - - [1.0] 200\n8/8/8/8/8/k7/7R/K7 w - - [0.5] 0\n8/8/8/8/8/k7/7R/K7 w - - [0.0] 150\n\
                 8/8/8/8/8/k7/7R/K7 w - - [0.0] -300\n8/8/8/8/8/k7/7R/K7 w - - [1.0] 90\n";
    let others = "8/8/8/8/8/k7/7R/K7 w - - [0.0] 40\n8/8/8/8/8/k7/7R/K7 w - - [1.0] -60\n";
    let targets = |texts: &[(&'static str, &str)]| {
        let source = |&(text, weight): &(&'static str, &str)| {
            let mut source = Source::in_memory("made up", text.as_bytes()).unwrap();
            source.weight = weight.parse().unwrap();
            source
        };
        let dataset = Dataset::read(texts.iter().map(source).collect(), &ReadOptions::default(), &()).unwrap();
        Target::Score.of(TargetData::of(&dataset, &(0..dataset.len()).collect::<Vec<_>>())).unwrap().1
    };
    let (weighted, copied) =
        (targets(&[(lines, "1"), (others, "2")]), targets(&[(lines, "1"), (others, "1"), (others, "1")]));
    assert!(weighted.iter().zip(&copied).all(|(a, b)| (a - b).abs() < 1e-6), "{weighted:?} for {copied:?}");
    assert_ne!(weighted, targets(&[(lines, "1"), (others, "1")]));
}

#[test]
fn missing_weights_equal_weights_of_one() {
    let (plain, _) = rows(&model(), 100);
    let ones = plain.clone().with_weights(vec![1.0; 100]);
    let model = model();
    let [found, expected] = [&ones, &plain].map(|rows| {
        let objective = Objective::new(rows, &model, 1.2).unwrap();
        (objective.loss_and_gradient(&THETA), objective.hessian(&THETA, HessianKind::GaussNewton))
    });
    assert_eq!(found, expected);
    let Weighted { weights, .. } = plain.weighted();
    assert!(weights.is_empty());
}
