//! Local search that has every trial judged anew: for scores that are no sum of coefficients, such as those of a search
//! that decides by the parameters which moves it follows.
//!
//! A trial moves one parameter, with those tied to it, by a whole step, and asks for the scores of all rows in which it
//! has a part; whatever else a row's score depends on is not looked at again. As in [`super::LocalSearch`], steps are
//! halved when they help no more, and every sweep is followed by strides along all that it moved. The derivatives of the
//! objective's rows, which need not be exact, only say which direction is tried first.
//! See <https://www.chessprogramming.org/Texel%27s_Tuning_Method>.

use super::limits::Limits;
use super::local_search::{LONGEST_STRIDE, NOTHING, NOTICEABLE};
use super::place::{Ground, Place};
use super::run::{Begun, Stepwise, Walk};
use super::state::{WalkState, check_order};
use super::{Stop, Work};
use crate::objective::{Objective, Pricing};
use engine::random::Random;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Parameters that are tried between two looks at how it goes.
const AT_A_TIME: usize = 32;

/// What gives the rows of an objective their scores.
pub trait BlackBox: Sync {
    /// Scores of some rows with the parameters `theta`, centipawns, white's view; no numbers if parameters like these
    /// give none.
    fn scores(&self, theta: &[f64], rows: &[u32]) -> Vec<f64>;

    /// The pair features that have a part in the scores of some rows with the parameters `theta`: as long as no others
    /// change, the scores do not. A set of bits a row, each of as many words as that takes.
    fn parts(&self, theta: &[f64], rows: &[u32]) -> Vec<u64>;
}

/// Words of a set of pair features.
pub(crate) fn words(features: usize) -> usize {
    features.div_ceil(64).max(1)
}

/// Local search by trials; see the module's description. The objective's rows give targets and directions, their scores
/// come from the black box.
#[derive(Clone, Copy)]
pub struct Trials<'b> {
    /// What gives the rows their scores.
    pub black_box: &'b dyn BlackBox,
    /// The step at first, in units of the parameters (centipawns), halved until it is 1.
    pub first_step: u32,
    /// Most sweeps over all parameters.
    pub max_sweeps: usize,
    /// What decides the order of the parameters.
    pub seed: u64,
}

impl<'b> Trials<'b> {
    /// With the usual settings, for a start that other methods have brought near the minimum: single steps alone creep.
    pub fn new(black_box: &'b dyn BlackBox, seed: u64) -> Self {
        Self { black_box, first_step: 4, max_sweeps: 200, seed }
    }
}

/// What the search keeps from step to step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TrialsState {
    theta: Vec<f64>,
    step: f64,
    order: Vec<usize>,
    /// Parameters of the order that this sweep has tried.
    tried: usize,
    /// Where the sweep began.
    before: Vec<f64>,
    /// The objective there.
    loss_before: f64,
    sweeps: usize,
    random: u64,
}

impl Stepwise for Trials<'_> {
    const NAME: &'static str = "local search by trials";
    const HAS_RAY: bool = false;
    const HAS_MANY_STEPS: bool = false;

    fn judge(&self, ground: &Ground<'_>, place: Place) -> Place {
        let rows: Vec<u32> = all(ground.objective);
        let pricing = ground.objective.pricing();
        let costs = costs(&pricing, &self.black_box.scores(&place.theta, &rows), &rows, ground.objective);
        Place { loss: total(&costs) + ground.objective.prior_loss(&place.theta), ..place }
    }

    fn max_steps(&self) -> usize {
        usize::MAX
    }

    fn walk<'g>(&'g self, ground: &'g Ground<'g>, origin: Place, state: Option<WalkState>) -> Begun<'g> {
        let free = ground.limits.free();
        let state = match state {
            None => {
                let (mut order, mut random) = (free, Random::seeded(self.seed));
                random.shuffle(&mut order);
                TrialsState {
                    before: origin.theta.clone(),
                    theta: origin.theta,
                    step: f64::from(self.first_step.max(1)),
                    order,
                    tried: 0,
                    loss_before: origin.loss,
                    sweeps: 0,
                    random: random.state(),
                }
            }
            Some(WalkState::Trials(state)) => {
                ground.check(&state.theta)?;
                ground.check(&state.before)?;
                check_order(&state.order, &free, "parameters")?;
                state
            }
            Some(other) => return Err(other.refused_by(Self::NAME)),
        };
        let search = Search::new(self.black_box, ground, state.theta.clone());
        let place = search.place(ground);
        Ok(Box::new(TrialsWalk { ground, max_sweeps: self.max_sweeps, place, search, state }))
    }
}

/// The search under way; of its state, the parameters are kept by `search`.
struct TrialsWalk<'g> {
    ground: &'g Ground<'g>,
    max_sweeps: usize,
    place: Place,
    search: Search<'g>,
    state: TrialsState,
}

impl Walk for TrialsWalk<'_> {
    fn place(&self) -> &Place {
        &self.place
    }

    fn rows(&self) -> usize {
        self.ground.objective.rows().len()
    }

    fn advance(&mut self, work: &mut Work) -> ControlFlow<Stop> {
        self.search.least = NOTHING * self.place.loss;
        let state = &mut self.state;
        let end = (state.tried + AT_A_TIME).min(state.order.len());
        for &parameter in &state.order[state.tried..end] {
            let up = if self.place.gradient[parameter] > 0.0 { -state.step } else { state.step };
            let moved = self.search.walk(parameter, up) || self.search.walk(parameter, -up);
            work.gradients += f64::from(u8::from(moved));
        }
        state.tried = end;
        if end == state.order.len() {
            self.end_sweep()?;
        }
        self.place = self.search.place(self.ground);
        work.gradients += 1.0;
        ControlFlow::Continue(())
    }

    fn state(&self) -> WalkState {
        WalkState::Trials(TrialsState { theta: self.search.theta.clone(), ..self.state.clone() })
    }

    fn finish(self: Box<Self>, _work: &mut Work) -> Place {
        self.place
    }
}

impl TrialsWalk<'_> {
    /// Goes on along what the sweep has moved, and decides how the next one goes, or that there is none.
    fn end_sweep(&mut self) -> ControlFlow<Stop> {
        self.search.stride(&self.state.before);
        let state = &mut self.state;
        let loss = self.search.loss();
        let has_moved = self.search.theta != state.before;
        let gain = 1.0 - loss / state.loss_before;
        if state.step == 1.0 && (!has_moved || gain < NOTICEABLE) {
            self.place = self.search.place(self.ground);
            return ControlFlow::Break(Stop::NoProgress);
        }
        state.sweeps += 1;
        if state.sweeps == self.max_sweeps {
            self.place = self.search.place(self.ground);
            return ControlFlow::Break(Stop::StepLimit);
        }
        if gain < NOTICEABLE {
            state.step = (state.step / 2.0).max(1.0).round();
        }
        let mut random = Random::seeded(state.random);
        random.shuffle(&mut state.order);
        state.random = random.state();
        (state.tried, state.loss_before) = (0, loss);
        state.before.clone_from(&self.search.theta);
        ControlFlow::Continue(())
    }
}

/// Parameters, and what every row scores and costs with them.
struct Search<'g> {
    black_box: &'g dyn BlackBox,
    objective: &'g Objective<'g>,
    limits: &'g Limits,
    pricing: Pricing,
    theta: Vec<f64>,
    /// By row: what it adds to the mean loss.
    costs: Vec<f64>,
    /// By row: the pairs that have a part in its score.
    parts: Vec<u64>,
    /// Changes that lower the objective by less are none.
    least: f64,
}

impl<'g> Search<'g> {
    fn new(black_box: &'g dyn BlackBox, ground: &Ground<'g>, theta: Vec<f64>) -> Self {
        let objective = ground.objective;
        let (rows, pricing) = (all(objective), objective.pricing());
        let costs = costs(&pricing, &black_box.scores(&theta, &rows), &rows, objective);
        let parts = black_box.parts(&theta, &rows);
        Search { black_box, objective, limits: ground.limits, pricing, theta, costs, parts, least: 0.0 }
    }

    fn loss(&self) -> f64 {
        total(&self.costs) + self.objective.prior_loss(&self.theta)
    }

    /// Where the search stands; slopes are those of the objective's rows.
    fn place(&self, ground: &Ground<'_>) -> Place {
        Place { loss: self.loss(), ..ground.at(self.theta.clone()) }
    }

    /// Moves a parameter by steps for as long as that helps; whether it does.
    fn walk(&mut self, parameter: usize, step: f64) -> bool {
        let mut moved = false;
        while self.try_move(parameter, step) {
            moved = true;
        }
        moved
    }

    /// Moves a parameter, and those tied to it, if that lowers the objective; whether it does.
    fn try_move(&mut self, parameter: usize, by: f64) -> bool {
        let new = self.limits.clamp(parameter, self.theta[parameter] + by);
        if new == self.theta[parameter] {
            return false;
        }
        let mut theta = self.theta.clone();
        self.limits.tied_to(parameter).into_iter().for_each(|member| theta[member] = new);
        self.take(theta)
    }

    /// Goes on along what has changed since `before`, as far as that helps.
    fn stride(&mut self, before: &[f64]) {
        let mut length = 1.0;
        while length <= LONGEST_STRIDE {
            let along = |(j, (&now, &then)): (usize, (&f64, &f64))| {
                if now == then { now } else { self.limits.clamp(j, (now + length * (now - then)).round()) }
            };
            let theta = self.theta.iter().zip(before).enumerate().map(along).collect();
            if !self.take(theta) {
                break;
            }
            length *= 2.0;
        }
    }

    /// Takes over other parameters if the objective is lower with them; whether it is.
    fn take(&mut self, theta: Vec<f64>) -> bool {
        let rows = self.rows_that_depend(&theta);
        let scores = self.black_box.scores(&theta, &rows);
        let costs = costs(&self.pricing, &scores, &rows, self.objective);
        let changes: Vec<f64> = rows.iter().zip(&costs).map(|(&row, cost)| cost - self.costs[row as usize]).collect();
        let prior = self.objective.prior_loss(&theta) - self.objective.prior_loss(&self.theta);
        // Not a number is no gain either.
        let helps = total(&changes) + prior < -self.least;
        if helps {
            let words = words(self.objective.rows().features());
            let parts = self.black_box.parts(&theta, &rows);
            for ((&row, cost), parts) in rows.iter().zip(costs).zip(parts.chunks(words)) {
                self.costs[row as usize] = cost;
                self.parts[row as usize * words..][..words].copy_from_slice(parts);
            }
            self.theta = theta;
        }
        helps
    }

    /// The rows whose score may be another with other parameters.
    fn rows_that_depend(&self, theta: &[f64]) -> Vec<u32> {
        let features = self.objective.rows().features();
        let mut changed = vec![0_u64; words(features)];
        for (j, _) in theta.iter().zip(&self.theta).enumerate().filter(|(_, (new, old))| new != old) {
            // Phase weights have a part everywhere.
            let Some(word) = changed.get_mut(j / 128).filter(|_| j < 2 * features) else { return all(self.objective) };
            *word |= 1 << (j / 2 % 64);
        }
        let depends = |parts: &[u64]| parts.iter().zip(&changed).any(|(parts, changed)| parts & changed != 0);
        let rows = self.parts.par_chunks(words(features)).enumerate().filter(|(_, parts)| depends(parts));
        rows.map(|(row, _)| row as u32).collect()
    }
}

/// The numbers of all rows.
fn all(objective: &Objective<'_>) -> Vec<u32> {
    (0..objective.rows().len() as u32).collect()
}

/// What rows add to the mean loss by their scores.
fn costs(pricing: &Pricing, scores: &[f64], rows: &[u32], objective: &Objective<'_>) -> Vec<f64> {
    let targets = objective.rows().targets();
    let cost = |(&row, &score): (&u32, &f64)| pricing.cost(score, targets[row as usize]);
    rows.par_iter().zip(scores).with_min_len(4096).map(cost).collect()
}

/// The sum, in an order that does not depend on the number of threads.
fn total(costs: &[f64]) -> f64 {
    costs.chunks(4096).map(|part| part.iter().sum::<f64>()).sum()
}
