//! Directions in parameter space along which no score changes, and the choice of canonical parameters along them.
//!
//! If the counts of a table add up, in every row, to those of another parameter (a piece's squares to its material), a
//! common bonus of the table is equivalent to a bonus of that parameter, and the data do not determine its place. So
//! tables are centred: the mean of the tuned numbers becomes 0, and the other parameter takes it over. If the counts
//! add up to 0 (the two kings' squares), no parameter needs to take it over. Shifts are whole numbers, so scores do not
//! change. The tables are found in the rows. Numbers that are not tuned keep their values: a table is centred only if
//! no row depends on those among its numbers.
//!
//! Another kind of such directions are scales that a score does not depend on, such as that of the phase weights. They
//! are found on the tape.

use super::Model;
use super::rows::{Part, Rows};
use super::tape::{LANES, Work};
use crate::processes::Shared;

/// A shift: numbers of the parameter vector that can move against one another without changing a score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shift {
    /// The midgame or endgame numbers of a table.
    pub table: Vec<usize>,
    /// The number that takes over their mean, if there is one.
    pub counterpart: Option<usize>,
}

impl Shift {
    /// Returns the mean of the table's numbers.
    fn mean(&self, vector: &[f64]) -> f64 {
        self.table.iter().map(|&j| vector[j]).sum::<f64>() / self.table.len() as f64
    }
}

/// The candidates for a table's counterpart, according to the counts in some rows.
#[derive(Clone)]
struct Candidates {
    /// Flag per leaf of the sum: true if it is in the table, or its count differs from the table's total in a row.
    is_out: Vec<bool>,
    /// Leaves whose counts equal the table's totals in all rows so far; none before the first total other than 0.
    leaves: Option<Vec<usize>>,
    /// True if a leaf of the table occurs.
    occurs: bool,
}

impl Candidates {
    /// Intersects the candidates with those of other rows.
    fn and(&mut self, others: Candidates) {
        self.occurs |= others.occurs;
        self.is_out.iter_mut().zip(&others.is_out).for_each(|(is_out, other)| *is_out |= other);
        self.leaves = match (self.leaves.take(), others.leaves) {
            (Some(mut own), Some(others)) => {
                own.retain(|leaf| others.contains(leaf));
                Some(own)
            }
            (own, others) => own.or(others),
        };
        if let Some(leaves) = &mut self.leaves {
            leaves.retain(|&leaf| !self.is_out[leaf]);
        }
    }
}

/// The candidates by table.
#[derive(Default)]
struct OfTables(Vec<Candidates>);

impl Shared for OfTables {
    fn pack(&self, bytes: &mut Vec<u8>) {
        vec![self.0.len()].pack(bytes);
        for Candidates { is_out, leaves, occurs } in &self.0 {
            is_out.iter().map(|&is_out| u8::from(is_out)).collect::<Vec<u8>>().pack(bytes);
            vec![u8::from(leaves.is_some()), u8::from(*occurs)].pack(bytes);
            leaves.iter().for_each(|leaves| leaves.pack(bytes));
        }
    }

    fn unpack(bytes: &mut &[u8]) -> Self {
        let tables = Vec::<usize>::unpack(bytes)[0];
        let table = |_| {
            let is_out = Vec::<u8>::unpack(bytes).into_iter().map(|byte| byte == 1).collect();
            let flags = Vec::<u8>::unpack(bytes);
            Candidates { is_out, leaves: (flags[0] == 1).then(|| Vec::unpack(bytes)), occurs: flags[1] == 1 }
        };
        OfTables((0..tables).map(table).collect())
    }
}

/// Finds the shifts of tables that change no score of the rows. A table is given as a sum and leaves of it.
pub fn shifts(model: &Model, rows: &Rows, tables: &[(usize, Vec<usize>)]) -> Vec<Shift> {
    let layout = &model.layout;
    let mut parts = rows.each_part(|part| OfTables(candidates(model, part, tables))).into_iter();
    let OfTables(mut found) = parts.next().unwrap_or_default();
    for OfTables(others) in parts {
        found.iter_mut().zip(others).for_each(|(own, others)| own.and(others));
    }
    let mut shifts = Vec::new();
    for ((sum, leaves), candidates) in tables.iter().zip(found) {
        if !candidates.occurs {
            continue;
        }
        let counterpart = match candidates.leaves {
            None => None,
            Some(same) => match same.first() {
                Some(&leaf) => Some(leaf),
                None => continue,
            },
        };
        let of = &layout.sums[*sum];
        // Shifts by whole numbers need equal units.
        if leaves.iter().chain(&counterpart).any(|&leaf| of.leaves[leaf].unit != 1.0) {
            continue;
        }
        for half in 0..of.kind.width() {
            let number = |leaf: usize| of.leaves[leaf].parameter + half;
            shifts.push(Shift {
                table: leaves.iter().map(|&leaf| number(leaf)).collect(),
                counterpart: counterpart.map(number),
            });
        }
    }
    shifts
}

/// Returns the candidates of tables according to the rows of a part.
fn candidates(model: &Model, part: Part<'_>, tables: &[(usize, Vec<usize>)]) -> Vec<Candidates> {
    let layout = &model.layout;
    let none = |(sum, leaves): &(usize, Vec<usize>)| {
        let mut is_member = vec![false; layout.sums[*sum].leaves.len()];
        leaves.iter().for_each(|&leaf| is_member[leaf] = true);
        (Candidates { is_out: is_member.clone(), leaves: None, occurs: false }, is_member)
    };
    let mut found: Vec<(Candidates, Vec<bool>)> = tables.iter().map(none).collect();
    let mut counts: Vec<Vec<i32>> = layout.sums.iter().map(|sum| vec![0; sum.leaves.len()]).collect();
    let sum_of: Vec<usize> = layout.segments.iter().map(|segment| segment.sum).collect();
    for block in part.blocks() {
        for (place, segment) in block.segments().enumerate() {
            let sum = sum_of[place % sum_of.len()];
            let own = &mut counts[sum];
            let entries = || segment.leaves.iter().map(|&leaf| usize::from(leaf)).zip(segment.counts);
            entries().for_each(|(leaf, &count)| own[leaf] += i32::from(count));
            for ((Candidates { is_out, leaves, occurs }, is_member), _) in
                found.iter_mut().zip(tables).filter(|(_, table)| table.0 == sum)
            {
                *occurs |= entries().any(|(leaf, _)| is_member[leaf]);
                let total: i32 =
                    entries().filter(|&(leaf, _)| is_member[leaf]).map(|(_, &count)| i32::from(count)).sum();
                match leaves {
                    Some(leaves) => leaves.retain(|&leaf| own[leaf] == total),
                    None if total == 0 => entries().for_each(|(leaf, _)| is_out[leaf] = true),
                    None => {
                        *leaves = Some((0..own.len()).filter(|&leaf| !is_out[leaf] && own[leaf] == total).collect())
                    }
                }
            }
            entries().for_each(|(leaf, _)| own[leaf] = 0);
        }
    }
    found.into_iter().map(|(candidates, _)| candidates).collect()
}

/// Finds the scales that no score depends on. A scale is given by the power with which it multiplies each parameter.
///
/// A score that does not change when totals `z` become `s^d z` satisfies `Σ d z ∂q/∂z = 0` everywhere. The powers `d`
/// are the null space of these equations at random totals.
pub fn scales(model: &Model) -> Vec<Vec<f64>> {
    let slots = model.layout.slots();
    let equations = equations(model, false).into_iter().map(|mut row| {
        row.truncate(slots);
        row
    });
    null_space(equations.collect(), slots).into_iter().filter_map(|powers| by_parameter(model, &powers)).collect()
}

/// Returns equations at random totals and facts: `z ∂q/∂z` by slot, normalised to length 1, followed by `−q` divided by
/// the same norm. `without_constant` sets the row's constant, the first fact, to 0.
fn equations(model: &Model, without_constant: bool) -> Vec<Vec<f64>> {
    let slots = model.layout.slots();
    let mut random = engine::random::Random::seeded(1);
    let mut equations: Vec<Vec<f64>> = Vec::new();
    let mut work = Work::new(slots, model.layout.facts.len());
    let mut number = || {
        let size = 1.0 + random.below(1 << 20) as f64 / 1e4;
        if random.below(2) == 0 { size } else { -size }
    };
    for _ in 0..1 + slots / LANES {
        let drawn = work.totals.iter_mut().chain(&mut work.facts);
        drawn.for_each(|lanes| lanes.iter_mut().for_each(|lane| *lane = number()));
        // Sums of single numbers and facts mostly have one sign.
        let others = work.totals.iter_mut().skip(1).step_by(2);
        others.for_each(|lanes| lanes.iter_mut().for_each(|lane| *lane = lane.abs()));
        if without_constant {
            work.facts.iter_mut().take(1).for_each(|constant| constant.fill(0.0));
        }
        let scores = *model.tape.scores(&mut work);
        model.tape.differentiate(&mut work);
        for (lane, score) in scores.into_iter().enumerate() {
            let mut row: Vec<f64> = (0..slots).map(|slot| work.totals[slot][lane] * work.slopes[slot][lane]).collect();
            let norm = row.iter().map(|part| part * part).sum::<f64>().sqrt();
            row.push(-score);
            if norm.is_finite() && norm > 0.0 && score.is_finite() {
                equations.push(row.iter().map(|part| part / norm).collect());
            }
        }
    }
    equations
}

/// Finds the powers of a scale, by parameter, by which the score without the row's constant is multiplied by that
/// scale; `None` if there are none.
///
/// A score that becomes `s q` when totals `z` become `s^d z` satisfies `Σ d z ∂q/∂z = q` everywhere (Euler's theorem on
/// homogeneous functions).
pub fn homogeneity(model: &Model) -> Option<Vec<f64>> {
    let slots = model.layout.slots();
    let powers = null_space(equations(model, true), slots + 1).pop().filter(|powers| powers[slots] == 1.0)?;
    by_parameter(model, &powers[..slots])
}

/// Converts powers by slot to powers by parameter; `None` if a parameter would have two different powers, or all are 0.
fn by_parameter(model: &Model, powers: &[f64]) -> Option<Vec<f64>> {
    let layout = &model.layout;
    let mut found: Vec<Option<f64>> = vec![None; layout.parameters];
    let mut take = |parameter: usize, power: f64| {
        let known = *found[parameter].get_or_insert(power);
        (known - power).abs() < 1e-9
    };
    for segment in 0..layout.segments.len() {
        for leaf in layout.leaves(segment) {
            for (half, slot) in layout.slots_of(segment).enumerate() {
                if !take(leaf.parameter + half, powers[slot]) {
                    return None;
                }
            }
        }
    }
    for (total, parts) in layout.common.iter().enumerate() {
        if !parts.iter().all(|&(parameter, _)| take(parameter, powers[layout.row_slots() + total])) {
            return None;
        }
    }
    let powers: Vec<f64> = found.into_iter().map(|power| power.unwrap_or(0.0)).collect();
    powers.iter().any(|&power| power != 0.0).then_some(powers)
}

/// Returns a basis of the null space of equations, by Gauss–Jordan elimination with partial pivoting. Each vector has a
/// 1 in its own free column, in which the others have 0.
fn null_space(mut equations: Vec<Vec<f64>>, size: usize) -> Vec<Vec<f64>> {
    const TINY: f64 = 1e-8;
    let mut pivots: Vec<usize> = Vec::new();
    for column in 0..size {
        let rank = pivots.len();
        let best =
            (rank..equations.len()).max_by(|&a, &b| equations[a][column].abs().total_cmp(&equations[b][column].abs()));
        let Some(best) = best.filter(|&row| equations[row][column].abs() > TINY) else { continue };
        equations.swap(rank, best);
        let pivot = equations[rank].clone();
        for (row, equation) in equations.iter_mut().enumerate() {
            let times = if row == rank { 1.0 - 1.0 / pivot[column] } else { equation[column] / pivot[column] };
            equation.iter_mut().zip(&pivot).for_each(|(entry, part)| *entry -= times * part);
        }
        pivots.push(column);
    }
    let free = (0..size).filter(|column| !pivots.contains(column));
    free.map(|free| {
        let mut vector = vec![0.0; size];
        vector[free] = 1.0;
        for (row, &column) in pivots.iter().enumerate() {
            let entry: f64 = -equations[row][free];
            vector[column] = if entry.abs() < 1e-6 { 0.0 } else { (entry * 1e6).round() / 1e6 };
        }
        vector
    })
    .collect()
}

/// The shifts that are open with the tuned numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Centring {
    open: Vec<Shift>,
}

impl Centring {
    /// Restricts each table to its tuned numbers. A shift is open if its counterpart is tuned and all numbers that are
    /// left out may be ignored. To keep scores unchanged, only numbers on which no row depends may be ignored.
    ///
    /// `is_tuned` is true for a number that may move, `is_ignored` for one that may be left out.
    pub fn new(shifts: Vec<Shift>, is_tuned: impl Fn(usize) -> bool, is_ignored: impl Fn(usize) -> bool) -> Self {
        let narrowed = shifts.into_iter().filter_map(|Shift { table, counterpart }| {
            let (table, left_out): (Vec<usize>, Vec<usize>) = table.into_iter().partition(|&j| is_tuned(j));
            let is_open =
                !table.is_empty() && counterpart.is_none_or(&is_tuned) && left_out.into_iter().all(&is_ignored);
            is_open.then_some(Shift { table, counterpart })
        });
        Centring { open: narrowed.collect() }
    }

    /// Shifts by whole numbers; the tables' means become at most ½ in magnitude. A shift that would leave `ranges`, or
    /// move a number away from a bound that holds it, is skipped.
    pub fn apply(&self, vector: &mut [f64], ranges: impl Fn(usize) -> (f64, f64)) {
        for shift in &self.open {
            let mean = shift.mean(vector);
            // A mean of ½ stays, so that centring is idempotent.
            let by = mean.signum() * (mean.abs() - 0.5).ceil();
            let fits = |(j, value): (usize, f64)| (ranges(j).0..=ranges(j).1).contains(&value);
            let lower = shift.table.iter().map(|&j| (j, vector[j] - by));
            let raised = shift.counterpart.iter().map(|&j| (j, vector[j] + by));
            let moved: Vec<(usize, f64)> = lower.chain(raised).collect();
            let is_held = |j: usize| vector[j] == ranges(j).0 || vector[j] == ranges(j).1;
            if moved.iter().copied().all(fits) && !shift.table.iter().chain(&shift.counterpart).any(|&j| is_held(j)) {
                moved.into_iter().for_each(|(j, value)| vector[j] = value);
            }
        }
    }

    /// Shifts unrounded parameters; the tables' means become 0.
    pub(crate) fn shift(&self, theta: &mut [f64]) {
        for shift in &self.open {
            let mean = shift.mean(theta);
            shift.table.iter().for_each(|&j| theta[j] -= mean);
            shift.counterpart.iter().for_each(|&j| theta[j] += mean);
        }
    }

    /// Converts derivatives by the centred parameters to derivatives by the original ones, for unrounded shifts.
    pub(crate) fn project_back(&self, v: &mut [f64]) {
        for Shift { table, counterpart } in &self.open {
            let sum: f64 = table.iter().map(|&j| v[j]).sum();
            let change = counterpart.map_or(0.0, |j| v[j]) - sum;
            table.iter().for_each(|&j| v[j] += change / table.len() as f64);
        }
    }
}

#[cfg(test)]
mod tests;
