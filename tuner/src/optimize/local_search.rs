//! The classical search of Texel tuning: one parameter a step up or down, kept if the loss falls; smaller steps when
//! none helps any more.
//!
//! A trial looks only at the rows that have the parameter: their scores are kept, and change by the same step times a
//! coefficient. Parameters come in an order drawn anew for every sweep. Because single steps creep along ridges, where
//! several parameters would have to move together, every sweep is followed by longer strides along all that it moved
//! (Hooke and Jeeves). Steps are whole numbers, so that the outcome needs no rounding.
//! See <https://www.chessprogramming.org/Texel%27s_Tuning_Method>.

use super::columns::Columns;
use super::limits::Limits;
use super::place::{Ground, Place};
use super::run::{Stepwise, Walk};
use super::state::{StateError, WalkState, check_order, check_size};
use super::{Stop, Work};
use crate::objective::{Objective, PHASE_PIECES, Pricing, scores};
use engine::eval::taper::SmoothTaper;
use engine::random::Random;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Rows of a trial that one task looks at; does not depend on the number of threads.
const TASK: usize = 8192;

/// A sweep that lowers the loss by a smaller share than this is followed by smaller steps, or is the last.
const NOTICEABLE: f64 = 1e-6;

/// Strides along what a sweep moved, in multiples of it, while they help.
const LONGEST_STRIDE: f64 = 64.0;

/// Local search within bounds; see the module's description.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalSearch {
    /// The first step, in units of the parameters (centipawns), halved until it is 1.
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
    uphill: Vec<bool>,
    order: Vec<usize>,
    random: u64,
}

impl Stepwise for LocalSearch {
    const HAS_RAY: bool = false;

    fn max_steps(&self) -> usize {
        self.max_sweeps
    }

    fn walk<'g>(
        &'g self,
        ground: &'g Ground<'g>,
        origin: Place,
        state: Option<WalkState>,
    ) -> Result<Box<dyn Walk + 'g>, StateError> {
        let size = origin.theta.len();
        let free: Vec<usize> =
            (0..size).filter(|&j| !ground.limits.is_frozen(j) && !ground.limits.follows(j)).collect();
        let (place, uphill, order, step, random) = match state {
            None => (origin, vec![true; size], free, f64::from(self.first_step.max(1)), self.seed),
            Some(WalkState::LocalSearch(LocalSearchState { theta, step, uphill, order, random })) => {
                ground.check(&theta)?;
                check_size(uphill.len(), size)?;
                check_order(&order, &free, "parameters")?;
                (ground.at(theta), uphill, order, step, random)
            }
            Some(other) => return Err(other.refused_by("local search")),
        };
        let search = Search::new(ground.objective, ground.limits, place.theta.clone(), uphill);
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
        let walked = self.order.iter().map(|&parameter| usize::from(self.search.walk(parameter, self.step)));
        let changed: usize = walked.sum();
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
            uphill: self.search.uphill.clone(),
            order: self.order.clone(),
            random: self.random.state(),
        })
    }

    fn finish(self: Box<Self>, _work: &mut Work) -> Place {
        self.place
    }
}

/// Parameters, and what every row makes of them.
struct Search<'a> {
    objective: &'a Objective<'a>,
    limits: &'a Limits,
    pricing: Pricing,
    columns: Columns,
    theta: Vec<f64>,
    /// By row: the score, the midgame fraction, midgame minus endgame score, and the cost.
    rows: Vec<Row>,
    /// By parameter that leads or is not tied: those that move with it, itself among them.
    groups: Vec<Vec<usize>>,
    /// By parameter: the direction that helped last.
    uphill: Vec<bool>,
}

#[derive(Clone, Copy, Default)]
struct Row {
    score: f64,
    fraction: f64,
    spread: f64,
    cost: f64,
}

impl<'a> Search<'a> {
    fn new(objective: &'a Objective<'a>, limits: &'a Limits, theta: Vec<f64>, uphill: Vec<bool>) -> Self {
        let rows = objective.rows();
        let mut search = Search {
            objective,
            limits,
            pricing: objective.pricing(),
            columns: Columns::new(rows),
            theta,
            rows: vec![Row::default(); rows.len()],
            groups: (0..limits.size()).map(|j| limits.tied_to(j)).collect(),
            uphill,
        };
        search.settle();
        search
    }

    /// Works every row out anew.
    fn settle(&mut self) {
        let rows = self.objective.rows();
        let phases = rows.phases();
        let weights = self.weights(&self.theta);
        let all = scores(rows, &self.theta);
        // The score of the midgame alone, constant included, tells the spread where the fraction is not 1.
        let mut endgame = self.theta.clone();
        let features = rows.features();
        for pair in endgame[..2 * features].chunks_exact_mut(2) {
            pair[0] = pair[1];
        }
        let mut midgame = self.theta.clone();
        for pair in midgame[..2 * features].chunks_exact_mut(2) {
            pair[1] = pair[0];
        }
        let (midgame, endgame) = (scores(rows, &midgame), scores(rows, &endgame));
        let pricing = self.pricing;
        let targets = rows.targets();
        self.rows.par_iter_mut().enumerate().with_min_len(TASK).for_each(|(i, row)| {
            row.score = all[i];
            row.fraction = weights.fraction(&phases[i]);
            row.spread = midgame[i] - endgame[i];
            row.cost = pricing.cost(row.score, targets[i]);
        });
    }

    fn weights(&self, theta: &[f64]) -> SmoothTaper {
        let weights: [f64; PHASE_PIECES] = std::array::from_fn(|piece| theta[theta.len() - PHASE_PIECES + piece]);
        SmoothTaper::new(&weights)
    }

    /// Moves a parameter by steps for as long as that helps, up or down; whether it helped.
    fn walk(&mut self, parameter: usize, step: f64) -> bool {
        let mut moved = false;
        for turn in 0..2 {
            let up = self.uphill[parameter] == (turn == 0);
            while self.try_step(parameter, if up { step } else { -step }) {
                moved = true;
                self.uphill[parameter] = up;
            }
            if moved {
                break;
            }
        }
        moved
    }

    /// Moves a parameter, and those tied to it, if that lowers the objective; whether it does.
    fn try_step(&mut self, parameter: usize, step: f64) -> bool {
        let old = self.theta[parameter];
        let new = self.limits.clamp(parameter, old + step);
        if new == old {
            return false;
        }
        let Some((last, others)) = self.groups[parameter].split_last() else { return false };
        let (last, others) = (*last, others.to_vec());
        // A row may have several of them, and what one changes there depends on where the others are.
        let mut change = 0.0;
        for &member in &others {
            change += self.change(member, new);
            self.apply(member, new);
        }
        change += self.change(last, new);
        let helps = change < 0.0;
        if helps {
            self.apply(last, new);
        } else {
            others.iter().for_each(|&member| self.apply(member, old));
        }
        helps
    }

    /// By how much the objective changes if one parameter alone becomes `new`.
    fn change(&self, parameter: usize, new: f64) -> f64 {
        let by_rows = if self.is_pair(parameter) {
            self.pair_change(parameter, new - self.theta[parameter])
        } else {
            self.weight_change(parameter, new)
        };
        by_rows + self.objective.prior_change(&self.theta, parameter, new)
    }

    fn apply(&mut self, parameter: usize, new: f64) {
        let by = new - self.theta[parameter];
        self.theta[parameter] = new;
        if self.is_pair(parameter) {
            self.apply_pair(parameter, by);
        } else {
            self.apply_weights();
        }
    }

    fn is_pair(&self, parameter: usize) -> bool {
        parameter < 2 * self.objective.rows().features()
    }

    /// By how much the mean loss changes if a midgame or endgame value changes.
    fn pair_change(&self, parameter: usize, by: f64) -> f64 {
        let (rows, counts) = self.columns.of(parameter / 2);
        let targets = self.objective.rows().targets();
        let part = |(rows, counts): (&[u32], &[i8])| -> f64 {
            let change = |(&row, &count): (&u32, &i8)| {
                let index = row as usize;
                let row = &self.rows[index];
                self.pricing.cost(row.score + by * f64::from(count) * row.share(parameter), targets[index]) - row.cost
            };
            rows.iter().zip(counts).map(change).sum()
        };
        let parts: Vec<f64> = rows.par_chunks(TASK).zip(counts.par_chunks(TASK)).map(part).collect();
        parts.iter().sum()
    }

    fn apply_pair(&mut self, parameter: usize, by: f64) {
        let (rows, counts) = self.columns.of(parameter / 2);
        let targets = self.objective.rows().targets();
        let is_midgame = parameter.is_multiple_of(2);
        for (&row, &count) in rows.iter().zip(counts) {
            let index = row as usize;
            let row = &mut self.rows[index];
            let by = by * f64::from(count);
            row.score += by * row.share(parameter);
            row.spread += if is_midgame { by } else { -by };
            row.cost = self.pricing.cost(row.score, targets[index]);
        }
    }

    /// By how much the mean loss changes if a phase weight becomes `new`.
    fn weight_change(&self, parameter: usize, new: f64) -> f64 {
        let mut theta = self.theta.clone();
        theta[parameter] = new;
        let weights = self.weights(&theta);
        let (phases, targets) = (self.objective.rows().phases(), self.objective.rows().targets());
        let part = |(chunk, rows): (usize, &[Row])| -> f64 {
            let change = |(i, row): (usize, &Row)| {
                let index = chunk * TASK + i;
                let by = (weights.fraction(&phases[index]) - row.fraction) * row.spread;
                self.pricing.cost(row.score + by, targets[index]) - row.cost
            };
            rows.iter().enumerate().map(change).sum()
        };
        let parts: Vec<f64> = self.rows.par_chunks(TASK).enumerate().map(part).collect();
        parts.iter().sum()
    }

    fn apply_weights(&mut self) {
        let weights = self.weights(&self.theta);
        let (phases, targets) = (self.objective.rows().phases(), self.objective.rows().targets());
        let pricing = self.pricing;
        self.rows.par_iter_mut().enumerate().with_min_len(TASK).for_each(|(i, row)| {
            let fraction = weights.fraction(&phases[i]);
            row.score += (fraction - row.fraction) * row.spread;
            row.fraction = fraction;
            row.cost = pricing.cost(row.score, targets[i]);
        });
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
        self.settle();
        (best, strides)
    }
}

impl Row {
    /// What the score gains from a pair parameter that the row has once.
    #[inline(always)]
    fn share(&self, parameter: usize) -> f64 {
        if parameter & 1 == 0 { self.fraction } else { 1.0 - self.fraction }
    }
}
