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

use std::collections::HashMap;

use engine::random::{Random, split_mix};

use super::Model;
use super::layout::Leaf;
use super::rows::{Part, Rows};
use super::tape::{LANES, Work};

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

/// Returns the name of the table that a parameter belongs to by its own name, such as `a[2]` to `a`.
pub(crate) fn table_name(name: &str) -> Option<&str> {
    Some(&name[..name.rfind(['.', '['])?])
}

/// Groups the leaves of sums, given in order by their sums and the names of their tables, into tables. Returns the sum of
/// each table, and the indices of its leaves in the sum.
pub(crate) fn tables<'n>(leaves: impl Iterator<Item = (usize, Option<&'n str>)>) -> Vec<(usize, Vec<usize>)> {
    let mut indices = HashMap::new();
    let indexed = |(sum, name)| (sum, indices.entry(sum).or_insert(0..).next().expect("endless"), name);
    let leaves: Vec<(usize, usize, Option<&str>)> = leaves.map(indexed).collect();
    let tables = leaves.chunk_by(|a, b| a.2.is_some() && (a.0, a.2) == (b.0, b.2)).filter(|table| table.len() > 1);
    tables.map(|table| (table[0].0, table.iter().map(|leaf| leaf.1).collect())).collect()
}

/// Finds the shifts of tables that change no score of the rows. A table is given as a sum and leaves of it.
pub fn shifts(model: &Model, rows: &Rows, tables: &[(usize, Vec<usize>)]) -> Vec<Shift> {
    let layout = &model.layout;
    let mut hashes: Vec<Vec<u64>> = layout.sums.iter().map(|sum| vec![0; sum.leaves.len()]).collect();
    for part in rows.each_part(|part| count_hashes(model, part)) {
        let all = hashes.iter_mut().flatten().zip(part);
        all.for_each(|(hash, part)| *hash = hash.wrapping_add(part));
    }
    let mut shifts = Vec::new();
    for (sum, table) in tables {
        let (of, hashes) = (&layout.sums[*sum], &hashes[*sum]);
        let total = table.iter().fold(0_u64, |total, &leaf| total.wrapping_add(hashes[leaf]));
        let counterpart = (0..hashes.len()).find(|leaf| total != 0 && hashes[*leaf] == total && !table.contains(leaf));
        let is_settled = total != 0 && counterpart.is_none() || table.iter().all(|&leaf| hashes[leaf] == 0);
        // Shifts by whole numbers need equal units.
        if is_settled || table.iter().chain(&counterpart).any(|&leaf| of.leaves[leaf].unit != 1.0) {
            continue;
        }
        for half in 0..of.kind.width() {
            let number = |leaf: usize| of.leaves[leaf].parameter + half;
            shifts.push(Shift {
                table: table.iter().map(|&leaf| number(leaf)).collect(),
                counterpart: counterpart.map(number),
            });
        }
    }
    shifts
}

/// Returns a hash of the counts of each leaf in the rows of a part, sum after sum: the sum of the counts, each times a
/// random number of its segment of its row. So hashes add up like the counts themselves, and those of different counts are
/// equal by chance only, once in 2⁶⁴.
fn count_hashes(model: &Model, part: Part<'_>) -> Vec<u64> {
    let layout = &model.layout;
    let mut hashes: Vec<Vec<u64>> = layout.sums.iter().map(|sum| vec![0; sum.leaves.len()]).collect();
    let sums: Vec<usize> = layout.segments.iter().map(|segment| segment.sum).collect();
    for block in part.blocks() {
        for (place, segment) in block.segments().enumerate() {
            let random = split_mix(&mut ((block.first * sums.len() + place) as u64));
            let hashes = &mut hashes[sums[place % sums.len()]];
            for (&leaf, &count) in segment.leaves.iter().zip(segment.counts) {
                let hash = &mut hashes[usize::from(leaf)];
                *hash = hash.wrapping_add(random.wrapping_mul(count as u64));
            }
        }
    }
    hashes.concat()
}

/// Finds the scales that multiply the score without the row's constant by their power `degree`: 1, or 0 for those that no
/// score depends on. A scale is given by the power with which it multiplies each parameter.
///
/// A score that becomes `s^n q` when totals `z` become `s^d z` satisfies `Σ d z ∂q/∂z = n q` everywhere (Euler's theorem
/// on homogeneous functions). The powers `d` and `n` are the null space of these equations at random totals.
pub fn scales(model: &Model, degree: f64) -> Vec<Vec<f64>> {
    let slots = model.layout.slots();
    let powers = null_space(equations(model), slots + 1).into_iter();
    powers.filter(|powers| powers[slots] == degree).filter_map(|powers| by_parameter(model, &powers)).collect()
}

/// Returns equations at random totals and facts, without the row's constant: `z ∂q/∂z` by slot, normalised to length 1,
/// followed by `−q` divided by the same norm.
fn equations(model: &Model) -> Vec<Vec<f64>> {
    let slots = model.layout.slots();
    let mut random = Random::seeded(1);
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
        work.facts.iter_mut().take(1).for_each(|constant| constant.fill(0.0));
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

/// Converts powers by slot to powers by parameter; `None` if a parameter would have two different powers, or all are 0.
fn by_parameter(model: &Model, powers: &[f64]) -> Option<Vec<f64>> {
    let layout = &model.layout;
    let of_segments = (0..layout.segments.len()).flat_map(|segment| {
        let numbers = move |leaf: &Leaf| layout.slots_of(segment).zip(leaf.parameter..);
        layout.leaves(segment).iter().flat_map(numbers)
    });
    let common = (layout.row_slots()..).zip(&layout.common);
    let of_common = common.flat_map(|(slot, parts)| parts.iter().map(move |&(parameter, _)| (slot, parameter)));
    let mut found: Vec<Option<f64>> = vec![None; layout.parameters];
    for (slot, parameter) in of_segments.chain(of_common) {
        let known = *found[parameter].get_or_insert(powers[slot]);
        if (known - powers[slot]).abs() >= 1e-9 {
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
