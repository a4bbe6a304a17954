//! What every row makes of the parameters, kept while they move a few at a time.

use super::columns::{Columns, SPAN};
use crate::objective::{Objective, PHASE_PIECES, Price, Pricing, scores};
use engine::eval::taper::SmoothTaper;
use rayon::prelude::*;

/// Parameters that fewer entries have are looked at by one thread: to share them out would take longer.
const FEW: usize = 16_384;

/// Relative rounding error of a [`Tangent`], with something to spare.
const ROUNDING: f64 = 1e-6;

/// A row and what it adds to the mean loss.
#[derive(Clone, Copy, Default)]
struct Row {
    /// Centipawns, white's view.
    score: f64,
    /// Midgame minus endgame score, centipawns.
    spread: f64,
    /// Midgame fraction.
    fraction: f64,
    cost: f64,
}

/// What is needed of a row to foresee what a change of its score costs, in few bytes.
#[derive(Clone, Copy, Default)]
struct Tangent {
    /// First derivative of the cost by the score.
    slope: f32,
    /// Second derivative.
    bend: f32,
    /// Midgame fraction.
    fraction: f32,
}

impl Row {
    /// Takes over what the row costs now.
    #[inline(always)]
    fn take(&mut self, tangent: &mut Tangent, price: Price) {
        self.cost = price.cost;
        *tangent = Tangent { slope: price.slope as f32, bend: price.bend as f32, fraction: self.fraction as f32 };
    }
}

/// How the mean loss changes with parameters that move together by so much: `slope · by + bend / 2 · by²`, give or take
/// `doubt · |by| + third / 6 · |by|³`.
#[derive(Clone, Copy, Default)]
pub(super) struct Outlook {
    pub(super) slope: f64,
    pub(super) bend: f64,
    doubt: f64,
    third: f64,
}

impl Outlook {
    /// Whether a change by so much, which adds `others` elsewhere, can certainly not lower the loss.
    pub(super) fn rules_out(&self, by: f64, others: f64) -> bool {
        let size = by.abs();
        let rounding = 0.5 * ROUNDING * self.bend.abs() * by * by;
        let doubt = self.doubt * size + rounding + self.third / 6.0 * size.powi(3);
        others + by * (self.slope + 0.5 * self.bend * by) > doubt
    }

    fn plus(self, other: Self) -> Self {
        Self {
            slope: self.slope + other.slope,
            bend: self.bend + other.bend,
            doubt: self.doubt + other.doubt,
            third: self.third + other.third,
        }
    }
}

/// Rows with all that follows from the parameters.
pub(super) struct Tracked<'a> {
    objective: &'a Objective<'a>,
    pricing: Pricing,
    columns: Columns,
    rows: Vec<Row>,
    tangents: Vec<Tangent>,
}

impl<'a> Tracked<'a> {
    /// The rows of an objective at some parameters.
    pub(super) fn new(objective: &'a Objective<'a>, theta: &[f64]) -> Self {
        let size = objective.rows().len();
        let (rows, tangents) = (vec![Row::default(); size], vec![Tangent::default(); size]);
        let columns = Columns::new(objective.rows());
        let mut tracked = Self { objective, pricing: objective.pricing(), columns, rows, tangents };
        tracked.settle(theta);
        tracked
    }

    /// Works every row out anew.
    pub(super) fn settle(&mut self, theta: &[f64]) {
        let rows = self.objective.rows();
        let taper = taper(theta);
        let all = scores(rows, theta);
        // Scores of the midgame alone and of the endgame alone, constants included, tell the spread.
        let of_stage = |stage: usize| {
            let mut theta = theta.to_vec();
            let (pairs, _) = theta[..2 * rows.features()].as_chunks_mut::<2>();
            pairs.iter_mut().for_each(|pair| *pair = [pair[stage]; 2]);
            scores(rows, &theta)
        };
        let (midgame, endgame) = (of_stage(0), of_stage(1));
        let (phases, targets, pricing) = (rows.phases(), rows.targets(), self.pricing);
        let tangents = self.tangents.par_iter_mut();
        self.rows.par_iter_mut().zip(tangents).enumerate().with_min_len(SPAN).for_each(|(i, (row, tangent))| {
            row.score = all[i];
            row.fraction = taper.fraction(&phases[i]);
            row.spread = midgame[i] - endgame[i];
            row.take(tangent, pricing.price(row.score, targets[i]));
        });
    }

    /// How the mean loss changes if pair parameters move together.
    pub(super) fn outlook(&self, members: &[usize]) -> Outlook {
        let part = |(span, tangents): (usize, &[Tangent])| {
            let mut sum = Outlook::default();
            self.each(members, span, |place, mg, eg| {
                let tangent = tangents[place];
                let fraction = f64::from(tangent.fraction);
                let by_score = mg * fraction + eg * (1.0 - fraction);
                let (slope, square) = (f64::from(tangent.slope) * by_score, by_score * by_score);
                sum.slope += slope;
                sum.bend += f64::from(tangent.bend) * square;
                sum.doubt += slope.abs();
                sum.third += square * by_score.abs();
            });
            sum
        };
        let parts: Vec<Outlook> = if self.are_few(members) {
            self.tangents.chunks(SPAN).enumerate().map(part).collect()
        } else {
            self.tangents.par_chunks(SPAN).enumerate().map(part).collect()
        };
        let sum = parts.into_iter().fold(Outlook::default(), Outlook::plus);
        Outlook { doubt: ROUNDING * sum.doubt, third: self.pricing.third() * sum.third, ..sum }
    }

    /// Moves pair parameters together; by how much the mean loss changes.
    pub(super) fn shift(&mut self, members: &[usize], by: f64) -> f64 {
        let (mut rows, mut tangents) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.tangents));
        let all_targets = self.objective.rows().targets();
        let part = |(span, (rows, tangents)): (usize, (&mut [Row], &mut [Tangent]))| {
            let targets = &all_targets[span * SPAN..];
            let mut change = 0.0;
            self.each(members, span, |place, mg, eg| {
                let row = &mut rows[place];
                row.score += by * (mg * row.fraction + eg * (1.0 - row.fraction));
                row.spread += by * (mg - eg);
                let price = self.pricing.price(row.score, targets[place]);
                change += price.cost - row.cost;
                row.take(&mut tangents[place], price);
            });
            change
        };
        let parts: Vec<f64> = if self.are_few(members) {
            rows.chunks_mut(SPAN).zip(tangents.chunks_mut(SPAN)).enumerate().map(part).collect()
        } else {
            rows.par_chunks_mut(SPAN).zip(tangents.par_chunks_mut(SPAN)).enumerate().map(part).collect()
        };
        (self.rows, self.tangents) = (rows, tangents);
        parts.iter().sum()
    }

    /// By how much the mean loss would change with the phase weights of `theta`.
    pub(super) fn weight_change(&self, theta: &[f64]) -> f64 {
        let taper = taper(theta);
        let (phases, targets) = (self.objective.rows().phases(), self.objective.rows().targets());
        let part = |(span, rows): (usize, &[Row])| -> f64 {
            let change = |(place, row): (usize, &Row)| {
                let index = span * SPAN + place;
                let by = (taper.fraction(&phases[index]) - row.fraction) * row.spread;
                self.pricing.cost(row.score + by, targets[index]) - row.cost
            };
            rows.iter().enumerate().map(change).sum()
        };
        let parts: Vec<f64> = self.rows.par_chunks(SPAN).enumerate().map(part).collect();
        parts.iter().sum()
    }

    /// Takes over the phase weights of `theta`.
    pub(super) fn set_weights(&mut self, theta: &[f64]) {
        let taper = taper(theta);
        let (phases, targets) = (self.objective.rows().phases(), self.objective.rows().targets());
        let pricing = self.pricing;
        let tangents = self.tangents.par_iter_mut();
        self.rows.par_iter_mut().zip(tangents).enumerate().with_min_len(SPAN).for_each(|(i, (row, tangent))| {
            let fraction = taper.fraction(&phases[i]);
            row.score += (fraction - row.fraction) * row.spread;
            row.fraction = fraction;
            row.take(tangent, pricing.price(row.score, targets[i]));
        });
    }

    fn are_few(&self, members: &[usize]) -> bool {
        members.iter().map(|&member| self.columns.len(member / 2)).sum::<usize>() < FEW
    }

    /// Shows the rows of a span that have some of the parameters, counted from its first, with how often they have
    /// midgame and endgame values of them in all.
    #[inline(always)]
    fn each(&self, members: &[usize], span: usize, mut take: impl FnMut(usize, f64, f64)) {
        let part = |member: usize| self.columns.part(member / 2, span);
        let is_midgame = |member: usize| member.is_multiple_of(2);
        match *members {
            [member] if is_midgame(member) => part(member).for_each(|(row, count)| take(row, count, 0.0)),
            [member] => part(member).for_each(|(row, count)| take(row, 0.0, count)),
            _ => {
                let entry = |member: usize, (row, count): (usize, f64)| {
                    if is_midgame(member) { (row, count, 0.0) } else { (row, 0.0, count) }
                };
                let mut entries: Vec<(usize, f64, f64)> =
                    members.iter().flat_map(|&member| part(member).map(move |found| entry(member, found))).collect();
                entries.sort_by_key(|&(row, ..)| row);
                for row in entries.chunk_by(|a, b| a.0 == b.0) {
                    take(row[0].0, row.iter().map(|entry| entry.1).sum(), row.iter().map(|entry| entry.2).sum());
                }
            }
        }
    }
}

fn taper(theta: &[f64]) -> SmoothTaper {
    let weights: [f64; PHASE_PIECES] = std::array::from_fn(|piece| theta[theta.len() - PHASE_PIECES + piece]);
    SmoothTaper::new(&weights)
}
