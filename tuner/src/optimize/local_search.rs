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

use super::columns::RowsByLeaf;
use super::iterate::{BoundedProblem, Iterate};
use super::run::{Iteration, Iterative};
use super::{FitWork, Termination};
use crate::model::layout::SumKind;
use crate::model::rows::{BLOCK, Rows};
use crate::model::tape;
use crate::objective::Objective;
use crate::parallel;
use engine::random::Random;
use std::borrow::Cow;
use std::ops::ControlFlow;

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

impl Iterative for LocalSearch {
    const SETTLES: bool = false;

    fn max_steps(&self) -> usize {
        self.max_sweeps
    }

    fn begin<'p>(&'p self, problem: &'p BoundedProblem<'p>, start: Iterate) -> Box<dyn Iteration + 'p> {
        let rows = problem.objective.rows.whole();
        let columns = RowsByLeaf::new(&rows);
        let count = problem.objective.rows.len();
        let groups = parallel::map(groups(problem), |leaders| MoveGroup::new(problem, &columns, count, leaders));
        let moves = moves(&groups);
        let kept = Kept::new(&problem.objective.over(&rows), &start.theta);
        let (step, random) = (f64::from(self.first_step.max(1)), Random::seeded(self.seed));
        Box::new(LocalIteration { problem, groups, moves, at: start, rows, kept, step, is_last: false, random })
    }
}

/// Index of a group, and the direction of each of its leaders.
type Move = (usize, [f64; 2]);

/// Returns the groups of free leaders: the two numbers of a pair together, all others alone.
fn groups(problem: &BoundedProblem<'_>) -> Vec<Vec<usize>> {
    let mut free = problem.limits.free();
    let leaves = problem.objective.model.layout.sums.iter().filter(|sum| sum.kind == SumKind::Pair);
    let pairs = leaves.flat_map(|sum| &sum.leaves).map(|leaf| vec![leaf.parameter, leaf.parameter + 1]);
    // The leading pair moves all pairs that are tied to it.
    let mut groups: Vec<Vec<usize>> = pairs.filter(|pair| pair.iter().all(|number| free.contains(number))).collect();
    free.retain(|number| !groups.iter().flatten().any(|paired| paired == number));
    groups.extend(free.into_iter().map(|number| vec![number]));
    groups
}

/// Returns the moves: every leader alone, and the two of a pair in opposite directions.
fn moves(groups: &[MoveGroup]) -> Vec<Move> {
    const DIRECTIONS: [[f64; 2]; 3] = [[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]];
    let of_group = |(number, group): (usize, &MoveGroup)| {
        let count = if group.leaders.len() == 2 { 3 } else { 1 };
        DIRECTIONS.into_iter().take(count).map(move |directions| (number, directions))
    };
    groups.iter().enumerate().flat_map(of_group).collect()
}

/// The state of the local search.
struct LocalIteration<'p> {
    problem: &'p BoundedProblem<'p>,
    groups: Vec<MoveGroup>,
    /// Moves in the order of the last sweep.
    moves: Vec<Move>,
    at: Iterate,
    /// All rows, including those of other processes, because a move affects few rows.
    rows: Cow<'p, Rows>,
    kept: Kept,
    step: f64,
    /// True in the last sweep, which tries every move regardless of the derivatives.
    is_last: bool,
    random: Random,
}

impl LocalIteration<'_> {
    /// Tries a move by a step in both directions, keeps it if the objective falls, and returns true if it did.
    fn improve(&mut self, theta: &mut [f64], (number, directions): Move) -> bool {
        let (problem, group) = (self.problem, &self.groups[number]);
        let over = problem.objective.over(&self.rows);
        let slope = self.kept.slope(group, directions) / over.rows.weight(1);
        [self.step, -self.step].into_iter().any(|step| {
            let by = directions.map(|direction| step * direction);
            // The change of the prior is summed over parameters that move one after the other.
            let mut moved = theta.to_vec();
            let mut of_prior = 0.0;
            for (&leader, by) in group.leaders.iter().zip(by).filter(|(_, by)| *by != 0.0) {
                let new = theta[leader] + by;
                if problem.limits.clamp(leader, new) != new {
                    return false;
                }
                for member in problem.limits.tied_to(leader) {
                    of_prior += problem.objective.prior_change(&moved, member, new);
                    moved[member] = new;
                }
            }
            // A convex loss lies above its tangent.
            if step * slope + of_prior >= 0.0 && !self.is_last {
                return false;
            }
            let (change, losses) = self.kept.change(&over, group, by);
            let better = change + of_prior < -NOTHING * self.at.loss;
            if better {
                self.kept.take(&over, group, by, losses);
                theta.copy_from_slice(&moved);
            }
            better
        })
    }

    /// Takes pattern moves along a sweep's displacement, doubling their length while the loss falls.
    fn stride(&mut self, mut next: Iterate, work: &mut FitWork) -> Iterate {
        let moved: Vec<f64> = next.theta.iter().zip(&self.at.theta).map(|(new, old)| new - old).collect();
        let mut stride = 1.0;
        while stride <= LONGEST_STRIDE && moved.iter().any(|&by| by != 0.0) {
            let along = |(j, (&value, &by)): (usize, (&f64, &f64))| {
                if by == 0.0 { value } else { self.problem.limits.clamp(j, value + stride * by) }
            };
            let further = self.problem.iterate(next.theta.iter().zip(&moved).enumerate().map(along).collect());
            work.passes += 1;
            if further.loss >= next.loss {
                break;
            }
            (next, stride) = (further, 2.0 * stride);
        }
        next
    }
}

impl Iteration for LocalIteration<'_> {
    fn iterate(&self) -> &Iterate {
        &self.at
    }

    fn advance(&mut self, work: &mut FitWork) -> ControlFlow<Termination> {
        self.random.shuffle(&mut self.moves);
        let mut theta = self.at.theta.clone();
        let mut changed = 0;
        for step in self.moves.clone() {
            changed += usize::from(self.improve(&mut theta, step));
        }
        let swept = self.problem.iterate(theta);
        work.passes += 2;
        let next = self.stride(swept, work);
        self.kept = Kept::new(&self.problem.objective.over(&self.rows), &next.theta);
        let gain = 1.0 - next.loss / self.at.loss;
        self.at = next;
        if changed == 0 && self.step == 1.0 && self.is_last {
            return ControlFlow::Break(Termination::NoProgress);
        }
        if gain < NOTICEABLE && self.step > 1.0 {
            self.step = (self.step / 2.0).max(1.0).floor();
        } else if changed == 0 && self.step == 1.0 {
            self.is_last = true;
        }
        ControlFlow::Continue(())
    }
}

/// A leader or the two leaders of a pair, with their effect on the totals of rows.
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
    fn new(problem: &BoundedProblem<'_>, columns: &RowsByLeaf, count: usize, leaders: Vec<usize>) -> Self {
        let mut entries: Vec<(usize, usize, u32, f64)> = Vec::new();
        for (place, &leader) in leaders.iter().enumerate() {
            let of_leader = entries_of(problem, columns, count, leader);
            entries.extend(of_leader.into_iter().map(|(slot, row, by)| (place, slot, row, by)));
        }
        let mut rows: Vec<u32> = entries.iter().map(|&(_, _, row, _)| row).collect();
        rows.sort_unstable();
        rows.dedup();
        let mut shares: Vec<SlotDelta> = Vec::new();
        for (leader, slot, row, by) in entries {
            let number = shares.iter().position(|share| (share.leader, share.slot) == (leader, slot));
            let number = number.unwrap_or_else(|| {
                shares.push(SlotDelta { leader, slot, totals: vec![0.0; rows.len()] });
                shares.len() - 1
            });
            let place = rows.binary_search(&row).expect("rows holds every row of entries");
            shares[number].totals[place] += by as f32;
        }
        MoveGroup { leaders, rows, shares }
    }

    /// Iterates over the deltas of the leaders that move, each with the step of its leader.
    fn moving(&self, by: [f64; 2]) -> impl Iterator<Item = (&SlotDelta, f64)> {
        self.shares.iter().map(move |share| (share, by[share.leader])).filter(|(_, by)| *by != 0.0)
    }
}

/// Returns the changes of totals if a leader, with all tied to it, moves by 1: slot, row and change.
fn entries_of(
    problem: &BoundedProblem<'_>,
    columns: &RowsByLeaf,
    count: usize,
    leader: usize,
) -> Vec<(usize, u32, f64)> {
    let layout = &problem.objective.model.layout;
    let mut moves = vec![0.0; layout.parameters];
    problem.limits.tied_to(leader).into_iter().for_each(|member| moves[member] = 1.0);
    let mut entries = Vec::new();
    for segment in 0..layout.segments.len() {
        for (number, leaf) in layout.leaves(segment).iter().enumerate() {
            for (half, slot) in layout.slots_of(segment).enumerate() {
                let unit = moves[leaf.parameter + half] * leaf.unit;
                if unit != 0.0 {
                    let of_leaf = columns.of(segment, number);
                    entries.extend(of_leaf.map(|(row, count)| (slot, row as u32, count * unit)));
                }
            }
        }
    }
    for (number, common) in layout.common.iter().enumerate() {
        let by: f64 = common.iter().map(|&(parameter, count)| moves[parameter] * count).sum();
        if by != 0.0 {
            let slot = layout.row_slots() + number;
            entries.extend((0..count).map(|row| (slot, row as u32, by)));
        }
    }
    entries
}

/// The cached totals, losses and derivatives of all rows.
struct Kept {
    /// Totals by slot and row.
    totals: Vec<Vec<f64>>,
    /// Facts by fact and row.
    facts: Vec<Vec<f32>>,
    losses: Vec<f64>,
    /// Derivatives of the losses by the totals, by slot and row.
    slopes: Vec<Vec<f64>>,
}

/// Rows, and the move that changes their totals.
type Shifted<'t> = (&'t [u32], Option<(&'t MoveGroup, [f64; 2])>);

impl Kept {
    /// Computes the cache of rows that are all local.
    fn new(objective: &Objective<'_>, theta: &[f64]) -> Self {
        let (rows, layout) = (objective.rows, &objective.model.layout);
        let of_fact =
            |fact: usize| rows.blocks().flat_map(|block| block.facts().map(move |facts| facts[fact])).collect();
        let mut kept = Kept {
            totals: objective.totals(theta),
            facts: (0..layout.facts.len()).map(of_fact).collect(),
            losses: Vec::new(),
            slopes: Vec::new(),
        };
        let all: Vec<u32> = (0..rows.len() as u32).collect();
        (kept.losses, kept.slopes) = kept.of_rows(objective, (&all, None), true);
        kept
    }

    /// Returns the derivative of the sum of the losses along a move.
    fn slope(&self, group: &MoveGroup, directions: [f64; 2]) -> f64 {
        let of_share = |(share, by): (&SlotDelta, f64)| -> f64 {
            let slopes = &self.slopes[share.slot];
            let products =
                group.rows.iter().zip(&share.totals).map(|(&row, &total)| slopes[row as usize] * f64::from(total));
            by * products.sum::<f64>()
        };
        group.moving(directions).map(of_share).sum()
    }

    /// Returns the change of the mean loss if a group moves, and the new losses of its rows.
    fn change(&self, objective: &Objective<'_>, group: &MoveGroup, by: [f64; 2]) -> (f64, Vec<f64>) {
        let (losses, _) = self.of_rows(objective, (&group.rows, Some((group, by))), false);
        let change = group.rows.iter().zip(&losses).map(|(&row, new)| new - self.losses[row as usize]).sum::<f64>();
        (change / objective.rows.weight(1), losses)
    }

    /// Applies the move of a group, with the given new losses of its rows.
    fn take(&mut self, objective: &Objective<'_>, group: &MoveGroup, by: [f64; 2], losses: Vec<f64>) {
        for (share, by) in group.moving(by) {
            let totals = &mut self.totals[share.slot];
            group
                .rows
                .iter()
                .zip(&share.totals)
                .for_each(|(&row, &share)| totals[row as usize] += by * f64::from(share));
        }
        let (_, slopes) = self.of_rows(objective, (&group.rows, None), true);
        for (place, (&row, loss)) in group.rows.iter().zip(losses).enumerate() {
            self.losses[row as usize] = loss;
            self.slopes.iter_mut().zip(&slopes).for_each(|(all, own)| all[row as usize] = own[place]);
        }
    }

    /// Returns the losses of some rows, and their derivatives by slot if `wants_slopes` is set.
    fn of_rows(
        &self,
        objective: &Objective<'_>,
        (rows, shift): Shifted<'_>,
        wants_slopes: bool,
    ) -> (Vec<f64>, Vec<Vec<f64>>) {
        let (model, slots) = (objective.model, objective.model.layout.slots());
        let parts: Vec<(usize, &[u32])> = rows.chunks(PART).enumerate().collect();
        let of_part = |(part, numbers): (usize, &[u32])| {
            let mut work = tape::Work::new(slots, model.layout.facts.len());
            let mut losses = Vec::with_capacity(numbers.len());
            let mut slopes = vec![Vec::new(); if wants_slopes { slots } else { 0 }];
            for (block, numbers) in numbers.chunks(BLOCK).enumerate() {
                let first = part * PART + block * BLOCK;
                for (lanes, totals) in work.totals.iter_mut().zip(&self.totals) {
                    lanes.iter_mut().zip(numbers).for_each(|(lane, &row)| *lane = totals[row as usize]);
                }
                for (lanes, facts) in work.facts.iter_mut().zip(&self.facts) {
                    lanes.iter_mut().zip(numbers).for_each(|(lane, &row)| *lane = facts[row as usize].into());
                }
                for (share, by) in shift.into_iter().flat_map(|(group, by)| group.moving(by)) {
                    let lanes = work.totals[share.slot].iter_mut().zip(&share.totals[first..first + numbers.len()]);
                    lanes.for_each(|(total, &share)| *total += by * f64::from(share));
                }
                let scores = *model.tape.scores(&mut work);
                let costs = scores.iter().zip(numbers).map(|(&score, &row)| objective.row_cost(score, row as usize));
                let costs: Vec<(f64, f64)> = costs.collect();
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
        let (mut losses, mut slopes) = (Vec::new(), vec![Vec::new(); if wants_slopes { slots } else { 0 }]);
        for (own, of_slots) in parallel::map(parts, of_part) {
            losses.extend(own);
            slopes.iter_mut().zip(of_slots).for_each(|(all, own)| all.extend(own));
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
        limits.tie(&[1, 8]).unwrap();
        let mut theta = THETA.to_vec();
        theta[8] = theta[1];
        let problem = BoundedProblem { objective: &objective, limits: &limits, scales: &[] };
        let columns = RowsByLeaf::new(&rows);
        let groups: Vec<MoveGroup> = groups(&problem)
            .into_iter()
            .map(|leaders| MoveGroup::new(&problem, &columns, rows.len(), leaders))
            .collect();
        let mut kept = Kept::new(&objective, &theta);
        for (number, directions) in moves(&groups) {
            let group = &groups[number];
            for step in [5.0, -2.0] {
                let along = |step: f64| directions.map(|direction| step * direction);
                let mut next = theta.clone();
                for (&leader, by) in group.leaders.iter().zip(along(step)) {
                    next = limits.tied_to(leader).into_iter().fold(next, |theta, j| moved(&theta, j, by));
                }
                let wanted = objective.data_loss(&next) - objective.data_loss(&theta);
                let (found, losses) = kept.change(&objective, group, along(step));
                assert!((found - wanted).abs() < 1e-14, "{:?} by {step}: {found} for {wanted}", group.leaders);
                let slope = kept.slope(group, directions) / rows.weight(1);
                let (above, _) = kept.change(&objective, group, along(1e-3));
                let (below, _) = kept.change(&objective, group, along(-1e-3));
                assert!((slope - (above - below) / 2e-3).abs() < 1e-9, "{:?}: {slope}", group.leaders);
                kept.take(&objective, group, along(step), losses);
                theta = next;
            }
        }
        let anew = Kept::new(&objective, &theta);
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near(&kept.losses, &anew.losses));
        assert!(kept.totals.iter().zip(&anew.totals).all(|(kept, anew)| near(kept, anew)));
    }
}
