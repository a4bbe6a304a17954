//! The local search of Texel's tuning method: a parameter moves one step up or down, and the move is kept if the loss
//! falls. The step is reduced when no move helps any more. The two numbers of a pair also move in opposite directions,
//! because they largely compensate each other.
//!
//! A trial evaluates only the rows in which the parameter occurs. The totals of all rows are cached and change by the
//! step times a count. The derivatives of the loss by the totals are cached, too, and predict the promising direction
//! in a fraction of the time of a trial. Every sweep shuffles the moves. Single steps make slow progress along narrow
//! valleys, where several parameters have to move together. So every sweep is followed by pattern moves along its total
//! displacement (Hooke and Jeeves). Steps are whole numbers, so the outcome needs no rounding.
//! See <https://www.chessprogramming.org/Texel%27s_Tuning_Method>.

use super::iterate::{BoundedProblem, Iterate, difference};
use super::{FitLog, Solver, Termination};
use crate::model::layout::SumKind;
use crate::model::rows::{BLOCK, Rows};
use crate::model::tape::Work;
use crate::objective::{Objective, each_count, each_row};
use crate::parallel;
use engine::random::Random;

/// Smallest relative decrease of the objective; sums are not more accurate.
const NOTHING: f64 = 1e-15;

/// Relative decrease of the loss by a sweep below which the step is reduced, or the search ends.
const NOTICEABLE: f64 = 1e-6;

/// The longest pattern move, in multiples of a sweep's displacement.
const LONGEST_STRIDE: f64 = 64.0;

/// Number of rows of a trial that one thread evaluates.
const PART: usize = 64 * BLOCK;

/// The settings of the local search within bounds; see the module's description.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalSearch {
    /// Initial step in units of the parameters (centipawns), halved until it is 1.
    pub first_step: u32,
    /// Maximum number of sweeps over all parameters.
    pub max_sweeps: usize,
    /// Seed of the order of the parameters.
    pub seed: u64,
}

impl Default for LocalSearch {
    fn default() -> Self {
        Self { first_step: 16, max_sweeps: 1000, seed: 0 }
    }
}

impl Solver for LocalSearch {
    fn settles(&self) -> bool {
        false
    }

    fn descend(&self, problem: &BoundedProblem<'_>, at: &mut Iterate, log: &mut FitLog<'_>) -> Termination {
        // All rows, including those of other processes, because a move affects few rows.
        let rows = problem.objective.rows.whole();
        let objective = problem.objective.over(&rows);
        let groups = groups(problem, &rows);
        let mut moves = moves(&groups);
        let mut random = Random::seeded(self.seed);
        let (mut step, mut is_last) = (f64::from(self.first_step.max(1)), false);
        loop {
            if let Some(termination) = log.step(at, self.max_sweeps) {
                return termination;
            }
            random.shuffle(&mut moves);
            let (kept, theta) = (Kept::new(&objective, &at.theta), at.theta.clone());
            let mut sweep = Sweep { problem, kept, theta, step, least: NOTHING * at.loss, is_last };
            let changed = moves.iter().filter(|&&(group, directions)| sweep.improve(group, directions)).count();
            let swept = problem.iterate(sweep.theta);
            log.work.passes += 2;
            let next = stride(problem, at, swept, &mut log.work.passes);
            let gain = 1.0 - next.loss / at.loss;
            *at = next;
            if changed == 0 && step == 1.0 && is_last {
                return Termination::NoProgress;
            }
            if gain < NOTICEABLE && step > 1.0 {
                step = (step / 2.0).max(1.0).floor();
            } else if changed == 0 && step == 1.0 {
                is_last = true;
            }
        }
    }
}

/// A leader or the two leaders of a pair, with their effect on the totals of rows.
#[derive(Default)]
struct MoveGroup {
    leaders: Vec<usize>,
    /// Rows that depend on a leader, ascending.
    rows: Vec<u32>,
    shares: Vec<SlotDelta>,
}

/// The change of a slot's totals if one leader moves by 1.
struct SlotDelta {
    /// Index of the leader in its group.
    leader: usize,
    slot: usize,
    /// Change of the total by index in the group's rows.
    totals: Vec<f32>,
}

impl MoveGroup {
    /// Adds to the change of a total of a row, which is not before the last one.
    fn add(&mut self, row: u32, leader: usize, slot: usize, by: f64) {
        if self.rows.last() != Some(&row) {
            self.rows.push(row);
            self.shares.iter_mut().for_each(|share| share.totals.push(0.0));
        }
        let number = self.shares.iter().position(|share| (share.leader, share.slot) == (leader, slot));
        let number = number.unwrap_or_else(|| {
            self.shares.push(SlotDelta { leader, slot, totals: vec![0.0; self.rows.len()] });
            self.shares.len() - 1
        });
        *self.shares[number].totals.last_mut().expect("a change for each row") += by as f32;
    }

    /// Iterates over the deltas of the leaders that move, each with the step of its leader.
    fn moving(&self, by: [f64; 2]) -> impl Iterator<Item = (&SlotDelta, f64)> {
        self.shares.iter().map(move |share| (share, by[share.leader])).filter(|(_, by)| *by != 0.0)
    }
}

/// Returns the groups of free leaders with their effect on rows, which are all local: the two numbers of a pair
/// together, all others alone.
fn groups(problem: &BoundedProblem<'_>, rows: &Rows) -> Vec<MoveGroup> {
    let (limits, layout) = (problem.limits, &problem.objective.model.layout);
    let mut free = limits.free();
    let leaves = layout.sums.iter().filter(|sum| sum.kind == SumKind::Pair).flat_map(|sum| &sum.leaves);
    let pairs = leaves.map(|leaf| vec![leaf.parameter, leaf.parameter + 1]);
    // The leading pair moves all pairs that are tied to it.
    let mut leaders: Vec<Vec<usize>> = pairs.filter(|pair| pair.iter().all(|number| free.contains(number))).collect();
    free.retain(|number| !leaders.iter().flatten().any(|paired| paired == number));
    leaders.extend(free.into_iter().map(|number| vec![number]));
    // Group, and index of the leader in it, by parameter.
    let mut places = vec![None; layout.parameters];
    for (number, leaders) in leaders.iter().enumerate() {
        for (place, &leader) in leaders.iter().enumerate() {
            limits.tied_to(leader).into_iter().for_each(|member| places[member] = Some((number, place)));
        }
    }
    let group = |leaders| MoveGroup { leaders, ..MoveGroup::default() };
    let mut groups: Vec<MoveGroup> = leaders.into_iter().map(group).collect();
    for block in rows.blocks() {
        each_row(&block, layout, |lane, segments| {
            each_count(layout, segments, |parameter, slot, count| {
                if let Some((number, leader)) = places[parameter] {
                    groups[number].add((block.first + lane) as u32, leader, slot, count);
                }
            });
        });
    }
    groups.iter_mut().for_each(|group| group.shares.sort_by_key(|share| (share.leader, share.slot)));
    groups
}

/// Returns the moves: every leader alone, and the two of a pair in opposite directions. A move is a group with the
/// direction of each of its leaders.
fn moves(groups: &[MoveGroup]) -> Vec<(&MoveGroup, [f64; 2])> {
    const DIRECTIONS: [[f64; 2]; 3] = [[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]];
    let of_group = |group: &MoveGroup| DIRECTIONS.into_iter().take(if group.leaders.len() == 2 { 3 } else { 1 });
    groups.iter().flat_map(|group| of_group(group).map(move |directions| (group, directions))).collect()
}

/// Takes pattern moves along a sweep's displacement, doubling their length while the loss falls.
fn stride(problem: &BoundedProblem<'_>, before: &Iterate, mut next: Iterate, passes: &mut usize) -> Iterate {
    let moved = difference(&next.theta, &before.theta);
    let mut stride = 1.0;
    while stride <= LONGEST_STRIDE && moved.iter().any(|&by| by != 0.0) {
        let further = problem.iterate(problem.along(&next.theta, &moved, stride));
        *passes += 1;
        if further.loss >= next.loss {
            break;
        }
        (next, stride) = (further, 2.0 * stride);
    }
    next
}

/// The state of a sweep over all moves.
struct Sweep<'s> {
    problem: &'s BoundedProblem<'s>,
    kept: Kept<'s>,
    theta: Vec<f64>,
    step: f64,
    /// Smallest decrease of the objective.
    least: f64,
    /// True in the last sweep, which tries every move regardless of the derivatives.
    is_last: bool,
}

impl Sweep<'_> {
    /// Tries a move by a step in both directions, keeps it if the objective falls, and returns true if it did.
    fn improve(&mut self, group: &MoveGroup, directions: [f64; 2]) -> bool {
        let limits = self.problem.limits;
        let slope = self.kept.slope(group, directions);
        [self.step, -self.step].into_iter().any(|step| {
            let by = directions.map(|direction| step * direction);
            // The change of the prior is summed over parameters that move one after the other.
            let mut moved = self.theta.clone();
            let mut of_prior = 0.0;
            for (&leader, by) in group.leaders.iter().zip(by).filter(|(_, by)| *by != 0.0) {
                let new = self.theta[leader] + by;
                if limits.clamp(leader, new) != new {
                    return false;
                }
                for member in limits.tied_to(leader) {
                    of_prior += self.problem.objective.prior.change(&moved, member, new);
                    moved[member] = new;
                }
            }
            // A convex loss lies above its tangent.
            if step * slope + of_prior >= 0.0 && !self.is_last {
                return false;
            }
            let (change, losses) = self.kept.change(group, by);
            let better = change + of_prior < -self.least;
            if better {
                self.kept.take(group, by, losses);
                self.theta = moved;
            }
            better
        })
    }
}

/// The cached totals, losses and derivatives of all rows.
struct Kept<'k> {
    /// The objective over rows that are all local.
    objective: &'k Objective<'k>,
    /// Totals by slot and row.
    totals: Vec<Vec<f64>>,
    /// Facts by fact and row.
    facts: Vec<Vec<f32>>,
    losses: Vec<f64>,
    /// Derivatives of the losses by the totals, by slot and row.
    slopes: Vec<Vec<f64>>,
}

impl<'k> Kept<'k> {
    fn new(objective: &'k Objective<'k>, theta: &[f64]) -> Self {
        let rows = objective.rows;
        let of_fact =
            |fact: usize| rows.blocks().flat_map(|block| block.facts().map(move |facts| facts[fact])).collect();
        let facts = (0..rows.shape().facts).map(of_fact).collect();
        let (losses, slopes) = (Vec::new(), Vec::new());
        let mut kept = Kept { objective, totals: objective.totals(theta), facts, losses, slopes };
        let all: Vec<u32> = (0..rows.len() as u32).collect();
        (kept.losses, kept.slopes) = kept.of_rows(&all, None, true);
        kept
    }

    /// Returns the derivative of the mean loss along a move.
    fn slope(&self, group: &MoveGroup, directions: [f64; 2]) -> f64 {
        let of_share = |(share, by): (&SlotDelta, f64)| -> f64 {
            let slopes = &self.slopes[share.slot];
            let products =
                group.rows.iter().zip(&share.totals).map(|(&row, &total)| slopes[row as usize] * f64::from(total));
            by * products.sum::<f64>()
        };
        group.moving(directions).map(of_share).sum::<f64>() / self.objective.rows.weight(1)
    }

    /// Returns the change of the mean loss if a group moves, and the new losses of its rows.
    fn change(&self, group: &MoveGroup, by: [f64; 2]) -> (f64, Vec<f64>) {
        let (losses, _) = self.of_rows(&group.rows, Some((group, by)), false);
        let change = group.rows.iter().zip(&losses).map(|(&row, new)| new - self.losses[row as usize]).sum::<f64>();
        (change / self.objective.rows.weight(1), losses)
    }

    /// Applies the move of a group, with the given new losses of its rows.
    fn take(&mut self, group: &MoveGroup, by: [f64; 2], losses: Vec<f64>) {
        for (share, by) in group.moving(by) {
            let totals = &mut self.totals[share.slot];
            let changes = group.rows.iter().zip(&share.totals);
            changes.for_each(|(&row, &share)| totals[row as usize] += by * f64::from(share));
        }
        let (_, slopes) = self.of_rows(&group.rows, None, true);
        for (place, (&row, loss)) in group.rows.iter().zip(losses).enumerate() {
            self.losses[row as usize] = loss;
            self.slopes.iter_mut().zip(&slopes).for_each(|(all, own)| all[row as usize] = own[place]);
        }
    }

    /// Returns the losses of some rows, all rows of a group if it moves, and their derivatives by slot if
    /// `wants_slopes` is set.
    fn of_rows(
        &self,
        rows: &[u32],
        shift: Option<(&MoveGroup, [f64; 2])>,
        wants_slopes: bool,
    ) -> (Vec<f64>, Vec<Vec<f64>>) {
        let model = self.objective.model;
        let none = || (Vec::new(), vec![Vec::new(); if wants_slopes { self.totals.len() } else { 0 }]);
        let of_part = |(part, numbers): (usize, &[u32])| {
            let mut work = Work::new(self.totals.len(), self.facts.len());
            let (mut losses, mut slopes) = none();
            for (block, numbers) in numbers.chunks(BLOCK).enumerate() {
                for (lanes, totals) in work.totals.iter_mut().zip(&self.totals) {
                    lanes.iter_mut().zip(numbers).for_each(|(lane, &row)| *lane = totals[row as usize]);
                }
                for (lanes, facts) in work.facts.iter_mut().zip(&self.facts) {
                    lanes.iter_mut().zip(numbers).for_each(|(lane, &row)| *lane = facts[row as usize].into());
                }
                for (share, by) in shift.into_iter().flat_map(|(group, by)| group.moving(by)) {
                    let lanes = work.totals[share.slot][..numbers.len()].iter_mut();
                    let changes = &share.totals[part * PART + block * BLOCK..];
                    lanes.zip(changes).for_each(|(total, &share)| *total += by * f64::from(share));
                }
                let scores = *model.tape.scores(&mut work);
                let cost = |(&score, &row): (&f64, &u32)| self.objective.row_cost(score, row as usize);
                let costs: Vec<(f64, f64)> = scores.iter().zip(numbers).map(cost).collect();
                losses.extend(costs.iter().map(|cost| cost.0));
                if wants_slopes {
                    model.tape.differentiate(&mut work);
                    for (slopes, lanes) in slopes.iter_mut().zip(&work.slopes) {
                        slopes.extend(lanes.iter().zip(&costs).map(|(by_total, cost)| by_total * cost.1));
                    }
                }
            }
            (losses, slopes)
        };
        let (mut losses, mut slopes) = none();
        for (own, of_slots) in parallel::map(rows.chunks(PART).enumerate(), of_part) {
            losses.extend(own);
            slopes.iter_mut().zip(of_slots).for_each(|(all, own): (&mut Vec<f64>, _)| all.extend(own));
        }
        (losses, slopes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::tests::{SIZE, THETA, model, moved, rows};
    use crate::optimize::Limits;

    #[test]
    fn a_trial_predicts_the_change_of_the_loss() {
        let model = model();
        // More rows than one thread evaluates.
        let (rows, _) = rows(&model, 2 * PART + 77);
        let weights = (0..rows.len()).map(|row| [1.0, 0.25, 3.0][row % 3]).collect();
        let rows = rows.with_weights(weights);
        let objective = Objective::new(&rows, &model, 1.2).unwrap();
        let mut limits = Limits::none(SIZE);
        limits.tie(&[1, 8]);
        let mut theta = THETA.to_vec();
        theta[8] = theta[1];
        let problem = BoundedProblem { objective: &objective, limits: &limits, scales: &[] };
        let groups = groups(&problem, &rows);
        let mut kept = Kept::new(&objective, &theta);
        for (group, directions) in moves(&groups) {
            for step in [5.0, -2.0] {
                let along = |step: f64| directions.map(|direction| step * direction);
                let mut next = theta.clone();
                for (&leader, by) in group.leaders.iter().zip(along(step)) {
                    next = limits.tied_to(leader).into_iter().fold(next, |theta, j| moved(&theta, j, by));
                }
                let wanted = objective.data_loss(&next) - objective.data_loss(&theta);
                let (found, losses) = kept.change(group, along(step));
                assert!((found - wanted).abs() < 1e-14, "{:?} by {step}: {found} for {wanted}", group.leaders);
                let slope = kept.slope(group, directions);
                let (above, _) = kept.change(group, along(1e-3));
                let (below, _) = kept.change(group, along(-1e-3));
                assert!((slope - (above - below) / 2e-3).abs() < 1e-9, "{:?}: {slope}", group.leaders);
                kept.take(group, along(step), losses);
                theta = next;
            }
        }
        let anew = Kept::new(&objective, &theta);
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near(&kept.losses, &anew.losses));
        assert!(kept.totals.iter().zip(&anew.totals).all(|(kept, anew)| near(kept, anew)));
    }
}
