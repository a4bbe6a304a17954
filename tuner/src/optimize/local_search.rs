//! The classical search of Texel tuning: one parameter a step up or down, kept if the loss falls; smaller steps when
//! none helps any more.
//!
//! A trial looks only at the rows that have the parameter: their scores are kept, and change by the same step times a
//! coefficient. Slope and bend of what these rows cost tell beforehand which step, up to the largest, helps most, and
//! with a bound for what they leave out, nearly always that none helps: then none is tried. Parameters come in an order drawn anew for every sweep. Because single steps creep along ridges, where
//! several parameters would have to move together, every sweep is followed by longer strides along all that it moved
//! (Hooke and Jeeves). Steps are whole numbers, so that the outcome needs no rounding.
//! See <https://www.chessprogramming.org/Texel%27s_Tuning_Method>.

use super::limits::Limits;
use super::place::{Ground, Place};
use super::run::{Begun, Stepwise, Walk};
use super::state::{WalkState, check_order};
use super::tracked::{Outlook, Tracked};
use super::{Stop, Work};
use crate::objective::Objective;
use engine::random::Random;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// A change that lowers the objective by a smaller share is no change: sums have no more digits.
pub(super) const NOTHING: f64 = 1e-15;

/// A sweep that lowers the loss by a smaller share than this is followed by smaller steps, or is the last.
pub(super) const NOTICEABLE: f64 = 1e-6;

/// Strides along what a sweep moved, in multiples of it, while they help.
pub(super) const LONGEST_STRIDE: f64 = 64.0;

/// Local search within bounds; see the module's description.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalSearch {
    /// The largest step at first, in units of the parameters (centipawns), halved until it is 1.
    pub first_step: u32,
    /// Most sweeps over all parameters.
    pub max_sweeps: usize,
    /// What decides the order of the parameters.
    pub seed: u64,
}

impl Default for LocalSearch {
    fn default() -> Self {
        Self { first_step: 16, max_sweeps: 1000, seed: 0 }
    }
}

/// What local search keeps from sweep to sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LocalSearchState {
    theta: Vec<f64>,
    step: f64,
    order: Vec<usize>,
    random: u64,
}

impl Stepwise for LocalSearch {
    const NAME: &'static str = "local search";
    const HAS_RAY: bool = false;
    const HAS_MANY_STEPS: bool = false;

    fn max_steps(&self) -> usize {
        self.max_sweeps
    }

    fn walk<'g>(&'g self, ground: &'g Ground<'g>, origin: Place, state: Option<WalkState>) -> Begun<'g> {
        let free = ground.limits.free();
        let (place, order, step, random) = match state {
            None => (origin, free, f64::from(self.first_step.max(1)), self.seed),
            Some(WalkState::LocalSearch(LocalSearchState { theta, step, order, random })) => {
                ground.check(&theta)?;
                check_order(&order, &free, "parameters")?;
                (ground.at(theta), order, step, random)
            }
            Some(other) => return Err(other.refused_by(Self::NAME)),
        };
        let search = Search::new(ground.objective, ground.limits, place.theta.clone());
        Ok(Box::new(LocalWalk { ground, place, search, step, order, random: Random::seeded(random) }))
    }
}

/// Local search under way.
struct LocalWalk<'g> {
    ground: &'g Ground<'g>,
    place: Place,
    search: Search<'g>,
    step: f64,
    /// The parameters as they came last.
    order: Vec<usize>,
    random: Random,
}

impl Walk for LocalWalk<'_> {
    fn place(&self) -> &Place {
        &self.place
    }

    fn rows(&self) -> usize {
        self.ground.objective.rows().len()
    }

    fn advance(&mut self, work: &mut Work) -> ControlFlow<Stop> {
        self.random.shuffle(&mut self.order);
        self.search.least = NOTHING * self.place.loss;
        let moves = self.order.iter().map(|&parameter| usize::from(self.search.improve(parameter, self.step)));
        let changed: usize = moves.sum();
        let (next, strides) = self.search.stride(self.ground, &self.place);
        work.gradients += 2.0 + strides as f64;
        let gain = 1.0 - next.loss / self.place.loss;
        self.place = next;
        if changed == 0 && self.step == 1.0 {
            return ControlFlow::Break(Stop::NoProgress);
        }
        if gain < NOTICEABLE && self.step > 1.0 {
            self.step = (self.step / 2.0).max(1.0);
        }
        ControlFlow::Continue(())
    }

    fn state(&self) -> WalkState {
        // What rows have summed up is worked out anew after every sweep, and so follows from the parameters.
        WalkState::LocalSearch(LocalSearchState {
            theta: self.place.theta.clone(),
            step: self.step,
            order: self.order.clone(),
            random: self.random.state(),
        })
    }

    fn finish(self: Box<Self>, _work: &mut Work) -> Place {
        self.place
    }
}

/// Parameters that move together.
struct Group {
    pairs: Vec<usize>,
    weights: Vec<usize>,
}

impl Group {
    fn members(&self) -> impl Iterator<Item = usize> {
        self.pairs.iter().chain(&self.weights).copied()
    }
}

/// Parameters, and what every row makes of them.
struct Search<'a> {
    objective: &'a Objective<'a>,
    limits: &'a Limits,
    /// By parameter: those that move with it, itself among them.
    groups: Vec<Group>,
    theta: Vec<f64>,
    rows: Tracked<'a>,
    /// Changes that lower the objective by less are none.
    least: f64,
}

impl<'a> Search<'a> {
    fn new(objective: &'a Objective<'a>, limits: &'a Limits, theta: Vec<f64>) -> Self {
        let pairs = 2 * objective.rows().features();
        let group = |j: usize| {
            let (pairs, weights) = limits.tied_to(j).into_iter().partition(|&member| member < pairs);
            Group { pairs, weights }
        };
        let groups = (0..limits.size()).map(group).collect();
        let rows = Tracked::new(objective, &theta);
        Search { objective, limits, groups, theta, rows, least: 0.0 }
    }

    /// Moves a parameter, and those tied to it, by at most a step if that helps; whether it does.
    fn improve(&mut self, parameter: usize, step: f64) -> bool {
        if !self.groups[parameter].weights.is_empty() {
            return self.walk(parameter, step) || self.walk(parameter, -step);
        }
        let outlook = self.rows.outlook(&self.groups[parameter].pairs);
        let [below, above] = [-1.0, 1.0].map(|by| self.prior_change(parameter, self.theta[parameter] + by));
        let prior = |by: f64| 0.5 * by * ((above - below) + by * (above + below));
        let (slope, bend) = (outlook.slope + 0.5 * (above - below), outlook.bend + above + below);
        let mut by = if bend > 0.0 { (-slope / bend).round() } else { -step.copysign(slope) };
        by = by.clamp(-step, step);
        while by != 0.0 {
            if self.try_move(parameter, by) {
                return true;
            }
            by = (by / 2.0).trunc();
        }
        [-1.0, 1.0].into_iter().any(|by| !Outlook::rules_out(&outlook, by, prior(by)) && self.try_move(parameter, by))
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
        let old = self.theta[parameter];
        let new = self.limits.clamp(parameter, old + by);
        if new == old {
            return false;
        }
        let by_prior = self.prior_change(parameter, new);
        self.set(parameter, new);
        let Group { pairs, weights } = &self.groups[parameter];
        let mut change = by_prior;
        if !pairs.is_empty() {
            change += self.rows.shift(pairs, new - old);
        }
        if !weights.is_empty() {
            change += self.rows.weight_change(&self.theta);
        }
        let helps = change < -self.least;
        if helps && !weights.is_empty() {
            self.rows.set_weights(&self.theta);
        }
        if !helps {
            if !pairs.is_empty() {
                self.rows.shift(pairs, old - new);
            }
            self.set(parameter, old);
        }
        helps
    }

    /// What the prior adds to the objective if a parameter, and those tied to it, become `new`.
    fn prior_change(&mut self, parameter: usize, new: f64) -> f64 {
        let old = self.theta[parameter];
        let mut change = 0.0;
        for member in self.groups[parameter].members() {
            change += self.objective.prior_change(&self.theta, member, new);
            self.theta[member] = new;
        }
        self.set(parameter, old);
        change
    }

    fn set(&mut self, parameter: usize, value: f64) {
        self.groups[parameter].members().for_each(|member| self.theta[member] = value);
    }

    /// Strides along what has changed since `before`, as far as that helps; the place reached and how many were tried.
    fn stride(&mut self, ground: &Ground<'_>, before: &Place) -> (Place, usize) {
        let mut best = ground.place(self.theta.clone());
        let mut strides = 0;
        let mut length = 1.0;
        while length <= LONGEST_STRIDE {
            let along = |(j, (&now, &then)): (usize, (&f64, &f64))| {
                let value = (now + length * (now - then)).round();
                if now == then { now } else { self.limits.clamp(j, value) }
            };
            let theta: Vec<f64> = self.theta.iter().zip(&before.theta).enumerate().map(along).collect();
            let next = ground.place(theta);
            strides += 1;
            if next.loss >= best.loss {
                break;
            }
            best = next;
            length *= 2.0;
        }
        if strides > 1 {
            self.theta.clone_from(&best.theta);
        }
        // What the rows have summed up in small steps is worked out anew, once a sweep.
        self.rows.settle(&self.theta);
        (best, strides)
    }
}
