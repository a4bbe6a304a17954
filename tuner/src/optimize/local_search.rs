//! The classical search of Texel tuning: one parameter a step up or down, kept if the loss falls; smaller steps when none
//! helps any more. The two numbers of a pair are moved against each other, too, as each makes up for much of the other.
//!
//! A trial looks only at the rows that have the parameter: the totals of all rows are kept, and change by the step times a
//! count. Moves come in an order drawn anew for every sweep. Because single steps creep along ridges, where several
//! parameters would have to move together, every sweep is followed by longer strides along all that it moved (Hooke and
//! Jeeves). Steps are whole numbers, so that the outcome needs no rounding.
//! See <https://www.chessprogramming.org/Texel%27s_Tuning_Method>.

use super::columns::Columns;
use super::iterate::{Iterate, Problem};
use super::run::{Iteration, Iterative};
use super::{Termination, Work};
use crate::model::layout::SumKind;
use crate::model::rows::{BLOCK, Rows};
use crate::model::tape;
use crate::objective::Objective;
use crate::parallel;
use engine::random::Random;
use std::borrow::Cow;
use std::ops::ControlFlow;

/// A change that lowers the objective by a smaller share is no change: sums have no more digits.
const NOTHING: f64 = 1e-15;

/// A sweep that lowers the loss by a smaller share than this is followed by smaller steps, or is the last.
const NOTICEABLE: f64 = 1e-6;

/// Strides along what a sweep moved, in multiples of it, while they help.
const LONGEST_STRIDE: f64 = 64.0;

/// Rows of a trial that one thread looks at.
const PART: usize = 64 * BLOCK;

/// Local search within bounds; see the module's description.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalSearch {
    /// The step at first, in units of the parameters (centipawns), halved until it is 1.
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

impl Iterative for LocalSearch {
    const SETTLES: bool = false;

    fn max_steps(&self) -> usize {
        self.max_sweeps
    }

    fn begin<'p>(&'p self, problem: &'p Problem<'p>, start: Iterate) -> Box<dyn Iteration + 'p> {
        let moves = moves(problem);
        let order = (0..moves.len()).collect();
        let rows = problem.objective.rows.whole();
        let columns = Columns::new(&rows);
        let kept = Kept::new(problem.objective, &rows, &start.theta);
        let (step, random) = (f64::from(self.first_step.max(1)), Random::seeded(self.seed));
        Box::new(LocalIteration { problem, moves, at: start, rows, columns, kept, step, order, random })
    }
}

/// Parameters that are moved together, with all that are tied to them: leaders, and in which direction.
type Move = Vec<(usize, f64)>;

/// Every parameter that is free, and every pair of them, one number against the other.
fn moves(problem: &Problem<'_>) -> Vec<Move> {
    let limits = problem.limits;
    let free = limits.free();
    let leaves = problem.objective.model.layout.sums.iter().filter(|sum| sum.kind == SumKind::Pair);
    let pairs = leaves.flat_map(|sum| &sum.leaves).map(|leaf| [leaf.parameter, leaf.parameter + 1]);
    // Of tied pairs, one moves all.
    let pairs = pairs.filter(|pair| pair.iter().all(|parameter| free.contains(parameter)));
    let pairs = pairs.map(|[first, second]| vec![(first, 1.0), (second, -1.0)]);
    free.iter().map(|&parameter| vec![(parameter, 1.0)]).chain(pairs).collect()
}

/// Local search under way.
struct LocalIteration<'p> {
    problem: &'p Problem<'p>,
    moves: Vec<Move>,
    at: Iterate,
    /// All of them, whatever other processes keep: moves touch few rows each.
    rows: Cow<'p, Rows>,
    columns: Columns,
    kept: Kept,
    step: f64,
    /// The moves as they came last.
    order: Vec<usize>,
    random: Random,
}

impl LocalIteration<'_> {
    /// Makes a move by a step, in either direction, if the objective falls; whether it did.
    fn improve(&mut self, theta: &mut [f64], number: usize) -> bool {
        let (problem, parts) = (self.problem, &self.moves[number]);
        let touched = Touched::of(problem, &self.columns, parts);
        [self.step, -self.step].into_iter().any(|step| {
            // Parts move one after the other as far as the prior is concerned.
            let mut moved = theta.to_vec();
            let mut of_prior = 0.0;
            for &(leader, sign) in parts {
                let new = theta[leader] + sign * step;
                if problem.limits.clamp(leader, new) != new {
                    return false;
                }
                for member in problem.limits.tied_to(leader) {
                    of_prior += problem.objective.prior_change(&moved, member, new);
                    moved[member] = new;
                }
            }
            let over = problem.objective.over(&self.rows);
            let change = self.kept.change(&over, &touched, step) + of_prior;
            let better = change < -NOTHING * self.at.loss;
            if better {
                self.kept.take(&over, &touched, step);
                theta.copy_from_slice(&moved);
            }
            better
        })
    }

    /// Goes on along what a sweep moved, in strides that double while they help.
    fn stride(&mut self, mut next: Iterate, work: &mut Work) -> Iterate {
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

    fn advance(&mut self, work: &mut Work) -> ControlFlow<Termination> {
        self.random.shuffle(&mut self.order);
        let mut theta = self.at.theta.clone();
        let mut changed = 0;
        for number in self.order.clone() {
            changed += usize::from(self.improve(&mut theta, number));
        }
        let swept = self.problem.iterate(theta);
        work.passes += 2;
        let next = self.stride(swept, work);
        self.kept = Kept::new(self.problem.objective, &self.rows, &next.theta);
        let gain = 1.0 - next.loss / self.at.loss;
        self.at = next;
        if changed == 0 && self.step == 1.0 {
            return ControlFlow::Break(Termination::NoProgress);
        }
        if gain < NOTICEABLE && self.step > 1.0 {
            self.step = (self.step / 2.0).max(1.0).floor();
        }
        ControlFlow::Continue(())
    }
}

/// What a move by 1 does to the totals of the rows it touches.
struct Touched {
    /// Rows, ascending, each once for a slot.
    rows: Vec<u32>,
    /// By slot that it has part in: what is added, by place in `rows`.
    totals: Vec<(usize, Vec<f64>)>,
}

impl Touched {
    fn of(problem: &Problem<'_>, columns: &Columns, parts: &[(usize, f64)]) -> Self {
        let layout = &problem.objective.model.layout;
        let mut signs = vec![0.0; layout.parameters];
        for &(leader, sign) in parts {
            problem.limits.tied_to(leader).into_iter().for_each(|member| signs[member] = sign);
        }
        let mut parts: Vec<(usize, u32, f64)> = Vec::new();
        for segment in 0..layout.segments.len() {
            for (number, leaf) in layout.leaves(segment).iter().enumerate() {
                for (half, slot) in layout.slots_of(segment).enumerate() {
                    let unit = signs[leaf.parameter + half] * leaf.unit;
                    if unit != 0.0 {
                        let of_leaf = columns.of(segment, number);
                        parts.extend(of_leaf.map(|(row, count)| (slot, row as u32, count * unit)));
                    }
                }
            }
        }
        for (number, common) in layout.common.iter().enumerate() {
            let by: f64 = common.iter().map(|&(parameter, count)| signs[parameter] * count).sum();
            if by != 0.0 {
                let slot = layout.row_slots() + number;
                parts.extend((0..problem.objective.rows.len()).map(|row| (slot, row as u32, by)));
            }
        }
        let mut rows: Vec<u32> = parts.iter().map(|&(_, row, _)| row).collect();
        rows.sort_unstable();
        rows.dedup();
        let mut totals: Vec<(usize, Vec<f64>)> = Vec::new();
        for (slot, row, by) in parts {
            let place = rows.binary_search(&row).expect("all rows are there");
            let column = match totals.iter().position(|&(other, _)| other == slot) {
                Some(column) => column,
                None => {
                    totals.push((slot, vec![0.0; rows.len()]));
                    totals.len() - 1
                }
            };
            totals[column].1[place] += by;
        }
        Touched { rows, totals }
    }
}

/// Totals and losses of all rows.
struct Kept {
    /// By slot, by row.
    totals: Vec<Vec<f64>>,
    losses: Vec<f64>,
}

impl Kept {
    fn new(objective: &Objective<'_>, rows: &Rows, theta: &[f64]) -> Self {
        Kept { totals: objective.over(rows).totals(theta), losses: objective.row_losses(theta) }
    }

    /// By how much the mean loss changes if the parameter moves.
    fn change(&self, objective: &Objective<'_>, touched: &Touched, by: f64) -> f64 {
        let change: Vec<f64> = self.new_losses(objective, touched, by, |rows, losses| {
            rows.iter().zip(losses).map(|(&row, new)| new - self.losses[row as usize]).sum::<f64>()
        });
        change.iter().sum::<f64>() / objective.rows.weight(1)
    }

    /// Takes the change in.
    fn take(&mut self, objective: &Objective<'_>, touched: &Touched, by: f64) {
        let losses = self.new_losses(objective, touched, by, |_, losses| losses.to_vec()).concat();
        for (place, (&row, loss)) in touched.rows.iter().zip(losses).enumerate() {
            self.losses[row as usize] = loss;
            for (slot, share) in &touched.totals {
                self.totals[*slot][row as usize] += by * share[place];
            }
        }
    }

    /// What comes of the new losses of all rows that are touched, part by part.
    fn new_losses<T: Send>(
        &self,
        objective: &Objective<'_>,
        touched: &Touched,
        by: f64,
        use_losses: impl Fn(&[u32], &[f64]) -> T + Sync,
    ) -> Vec<T> {
        let (model, rows) = (objective.model, objective.rows);
        let parts: Vec<(usize, &[u32])> = touched.rows.chunks(PART).enumerate().collect();
        let of_part = |(part, numbers): (usize, &[u32])| {
            let mut work = tape::Work::new(model.layout.slots(), model.layout.facts.len());
            let mut losses = Vec::with_capacity(numbers.len());
            for (block, numbers) in numbers.chunks(BLOCK).enumerate() {
                let first = part * PART + block * BLOCK;
                for (lane, &row) in numbers.iter().enumerate() {
                    let row = row as usize;
                    work.totals.iter_mut().zip(&self.totals).for_each(|(lanes, totals)| lanes[lane] = totals[row]);
                    work.facts.iter_mut().zip(rows.facts(row)).for_each(|(lanes, &fact)| lanes[lane] = fact.into());
                }
                for (slot, share) in &touched.totals {
                    let share = &share[first..first + numbers.len()];
                    work.totals[*slot].iter_mut().zip(share).for_each(|(total, share)| *total += by * share);
                }
                let scores = model.tape.scores(&mut work);
                losses.extend(scores.iter().zip(numbers).map(|(&s, &row)| objective.row_loss(s, row as usize)));
            }
            use_losses(numbers, &losses)
        };
        parallel::map(parts, of_part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::tests::{SIZE, THETA, model, moved, rows};
    use crate::optimize::Limits;

    #[test]
    fn a_trial_tells_by_how_much_the_loss_changes() {
        let model = model();
        // More than one thread's part.
        let (rows, _) = rows(&model, 2 * PART + 77);
        let weights = (0..rows.len()).map(|row| [1.0, 0.25, 3.0][row % 3]).collect();
        let rows = rows.with_weights(weights);
        let objective = Objective::new(&rows, &model, 1.2).unwrap();
        let mut limits = Limits::none(SIZE);
        limits.tie(&[1, 8]).unwrap();
        let mut theta = THETA.to_vec();
        theta[8] = theta[1];
        let problem = Problem { objective: &objective, limits: &limits, scales: &[] };
        let columns = Columns::new(&rows);
        let mut kept = Kept::new(&objective, &rows, &theta);
        for parameter in limits.free() {
            for by in [5.0, -2.0] {
                let touched = Touched::of(&problem, &columns, &[(parameter, 1.0)]);
                let next = limits.tied_to(parameter).into_iter().fold(theta.clone(), |theta, j| moved(&theta, j, by));
                let wanted = objective.data_loss(&next) - objective.data_loss(&theta);
                let found = kept.change(&objective, &touched, by);
                assert!((found - wanted).abs() < 1e-14, "{parameter} by {by}: {found} for {wanted}");
                kept.take(&objective, &touched, by);
                theta = next;
            }
        }
        let anew = Kept::new(&objective, &rows, &theta);
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near(&kept.losses, &anew.losses));
        assert!(kept.totals.iter().zip(&anew.totals).all(|(kept, anew)| near(kept, anew)));
    }
}
