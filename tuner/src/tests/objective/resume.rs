//! Fits that go on from a state of an earlier fit, beside fits that were never stopped.

use super::problem::{SIZE, bounds, drawn, methods, objective, pulled, rows, start, tight, truth};
use crate::objective::Objective;
use crate::optimize::{Adam, Fit, Lbfgs, Limits, LocalSearch, Observer, Solver, State, Step};
use std::ops::ControlFlow;

/// Keeps the state of every step, stored as bytes.
#[derive(Default)]
struct Store(Vec<Vec<u8>>);

impl Observer for Store {
    fn step(&mut self, step: &Step, theta: &[f64], state: &dyn Fn() -> State) -> ControlFlow<()> {
        let state = state();
        assert_eq!((state.history.last(), theta.len()), (Some(step), SIZE));
        self.0.push(minicbor_serde::to_vec(&state).unwrap());
        ControlFlow::Continue(())
    }
}

fn read(bytes: &[u8]) -> State {
    minicbor_serde::from_slice(bytes).unwrap()
}

/// Goes on from states of many steps of a fit: each time the same comes out, and every step is reported once.
fn check(method: &dyn Solver, objective: &Objective<'_>, limits: &Limits, begin: &[f64]) -> Fit {
    let mut store = Store::default();
    let whole = method.minimize(objective, begin, limits, None, &mut store).unwrap();
    assert_eq!(store.0.len(), whole.history.len());
    assert!(whole.history.len() > 4, "{}", whole.history.len());
    let stride = (whole.history.len() / 10).max(1);
    let last = whole.history.len() - 1;
    for step in (0..last).step_by(stride).chain([last]) {
        let mut told = 0;
        let mut watch = |next: &Step| {
            told += 1;
            assert_eq!(*next, whole.history[step + told]);
            ControlFlow::Continue(())
        };
        let state = Some(read(&store.0[step]));
        let resumed = method.minimize(objective, begin, limits, state, &mut watch).unwrap();
        assert_eq!(resumed, whole, "from step {step}");
        assert_eq!(told, last - step);
    }
    whole
}

/// All methods, short of patience where that saves time.
fn short_methods() -> [Box<dyn Solver>; 5] {
    [
        Box::new(Lbfgs::default()),
        Box::new(Lbfgs { max_steps: 6, ..Lbfgs::default() }),
        Box::new(Adam { max_epochs: 300, ..Adam::default() }),
        Box::new(Adam { max_epochs: 150, batch: Some(1000), ..Adam::default() }),
        Box::new(LocalSearch::default()),
    ]
}

#[test]
fn a_fit_goes_on_from_any_step_to_the_same_end() {
    let rows = rows(3000, drawn);
    let objective = pulled(&rows, 1.0, 1e-9, &start());
    for method in short_methods() {
        let fit = check(&*method, &objective, &bounds(), &start());
        assert!(fit.loss < objective.loss(&start()));
    }
    let fit = check(&Lbfgs { tolerance: 1e-11, ..Lbfgs::default() }, &objective, &bounds(), &start());
    assert!(fit.work.outer_products > rows.len(), "the matrix was renewed: {:?}", fit.work);
}

#[test]
fn bounds_ties_and_frozen_parameters_go_on_as_well() {
    let rows = rows(3000, drawn);
    let objective = pulled(&rows, 1.0, 1e-9, &truth());
    let (lower, upper, mut begin) = tight();
    let mut limits = Limits::new(lower, upper).unwrap();
    // A frozen parameter may stand outside of its bounds.
    begin[7] = 6000.0;
    [0, 7, SIZE - 2].into_iter().for_each(|j| limits.freeze(j).unwrap());
    limits.tie(&[8, 10, 13]).unwrap();
    limits.tie(&[14, 15]).unwrap();
    for method in short_methods() {
        let fit = check(&*method, &objective, &limits, &begin);
        assert!(fit.theta[2] == 35.0 || fit.theta[5] == 41.0, "bounds are reached");
        assert!(fit.theta[8] == fit.theta[13] && fit.theta[14] == fit.theta[15]);
    }
}

#[test]
fn more_steps_are_taken_from_the_end_of_few() {
    let rows = rows(5000, drawn);
    let objective = objective(&rows, 1.0);
    let mut store = Store::default();
    let few = Lbfgs { max_steps: 4, ..Lbfgs::default() };
    few.minimize(&objective, &start(), &bounds(), None, &mut store).unwrap();
    let state = Some(read(store.0.last().unwrap()));
    let more = Lbfgs::default().minimize(&objective, &start(), &bounds(), state, &mut ()).unwrap();
    assert_eq!(more, Lbfgs::default().minimize(&objective, &start(), &bounds(), None, &mut ()).unwrap());
}

#[test]
fn states_that_do_not_fit_are_refused() {
    let rows = rows(3000, drawn);
    let objective = objective(&rows, 1.0);
    let state_of = |method: &dyn Solver| {
        let mut store = Store::default();
        method.minimize(&objective, &start(), &bounds(), None, &mut store).unwrap();
        read(&store.0[3])
    };
    let refusal = |method: &dyn Solver, objective: &Objective<'_>, limits: &Limits, state: &State| {
        let fit = method.minimize(objective, &start(), limits, Some(state.clone()), &mut ());
        fit.expect_err("not refused").to_string()
    };
    let all = methods();
    let kinds = [0, 1, 3];
    for &own in &kinds {
        let state = state_of(&*all[own].0);
        for &other in kinds.iter().filter(|&&other| other != own) {
            let error = refusal(&*all[other].0, &objective, &bounds(), &state);
            assert!(error.starts_with("optimise: state of ") && error.contains(" given to "), "{error}");
        }
        let changed = super::problem::objective(&rows, 1.1);
        let error = refusal(&*all[own].0, &changed, &bounds(), &state);
        assert!(error.starts_with("optimise: state of a fit that began at loss "), "{error}");
        let at_start = Limits::new(vec![-5000.0; SIZE], start()).unwrap();
        let error = refusal(&*all[own].0, &objective, &at_start, &state);
        assert_eq!(error, "optimise: state of a fit with other limits");
        let narrower = Limits::new(vec![-5000.0; SIZE], start().iter().map(|value| value + 1e-3).collect()).unwrap();
        let error = refusal(&*all[own].0, &objective, &narrower, &state);
        assert!(error.ends_with(", outside of its limits"), "{error}");
    }
    // Another number of batches.
    let state = state_of(&Adam { batch: Some(500), max_epochs: 5, ..Adam::default() });
    let error = refusal(&*all[1].0, &objective, &bounds(), &state);
    assert_eq!(error, "optimise: state with an order of batches that is none");
}
