//! What nodes are made of: steps, and steps that often come together.

use super::plan::{Plan, Step};
use rayon::prelude::*;
use std::cmp::Reverse;

/// Kinds of steps that change nothing and fill up nodes: several, so that not all wait for the sum of one.
const BLANKS: usize = 8;

/// Most kinds, as many as 16 bits can name.
pub(super) const KINDS: usize = 1 << 16;

/// By how much more or less one row may have of a feature than another.
const LARGEST_CHANGE: i32 = 255;

/// Only so many kinds of steps, the most frequent, are joined.
const JOINED: usize = 1024;

/// Steps are joined over so many places of a link at most.
const REACH: usize = 12;

/// What is joined is decided by so many blocks, evenly spread.
const SAMPLE: usize = 1024;

/// A joint that is used less often costs more than it saves.
const FEWEST_USES: usize = 48;

/// No kind.
const NONE: u16 = u16::MAX;

/// A pair of sums by 16-bit number, with which no index can be out of range.
pub(super) type Table = [[f64; 2]; KINDS];

pub(super) fn table() -> Box<Table> {
    vec![[0.0; 2]; KINDS].try_into().expect("a table of that length")
}

/// The kinds, by their numbers: single steps, blanks first, then joints.
pub(super) struct Kinds {
    steps: Vec<Step>,
    /// Two steps together, by their numbers.
    joints: Vec<[u16; 2]>,
}

impl Kinds {
    /// Numbers for all steps, the most frequent first after the blanks, and joints for what often comes together; with
    /// the plans in these numbers. None if there are more kinds of steps than can be told apart.
    pub(super) fn of(features: usize, plans: Vec<Plan<Step>>) -> Option<(Self, Vec<Plan<u16>>)> {
        let mut counts = vec![0_u32; features * (2 * LARGEST_CHANGE + 1) as usize];
        let mut seen: Vec<Step> = Vec::new();
        for &step in plans.iter().flat_map(Plan::steps) {
            let count = &mut counts[place(step)];
            if *count == 0 {
                seen.push(step);
            }
            *count += 1;
        }
        if seen.len() + BLANKS >= usize::from(NONE) {
            return None;
        }
        seen.sort_by_key(|&step| (Reverse(counts[place(step)]), step));
        let mut kind_of = vec![0; counts.len()];
        for (number, &step) in seen.iter().enumerate() {
            kind_of[place(step)] = (BLANKS + number) as u16;
        }
        let mut kinds = Self { steps: vec![(0, 0); BLANKS], joints: Vec::new() };
        kinds.steps.extend(seen);
        let numbered = |plan: Plan<Step>| {
            plan.with_steps(|steps, numbers| numbers.extend(steps.iter().map(|&step| kind_of[place(step)])))
        };
        let plans = plans.into_par_iter().map(numbered).collect();
        Some(kinds.join(plans))
    }

    /// Joins steps of the same link two by two: those of one piece that moves, mostly.
    fn join(mut self, plans: Vec<Plan<u16>>) -> (Self, Vec<Plan<u16>>) {
        let stride = plans.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<&Plan<u16>> = plans.iter().step_by(stride).collect();
        let mut pairs = Pairs::among(self.len(), &sample);
        let matched = |plan: &&Plan<u16>| {
            let (mut matches, mut room) = (Vec::new(), Matching::default());
            plan.links().for_each(|link| pairs.matches(link, &mut room, |pair, _| matches.push(pair)));
            matches
        };
        let all: Vec<Vec<usize>> = sample.par_iter().map(matched).collect();
        pairs.counts.fill(0);
        all.iter().flatten().for_each(|&pair| pairs.counts[pair] += 1);
        let mut chosen: Vec<(Reverse<u32>, usize, [u16; 2])> =
            pairs.all().filter(|&(uses, ..)| uses.0 as usize * stride >= FEWEST_USES).collect();
        chosen.sort_unstable();
        chosen.truncate(usize::from(NONE) - self.len());
        let mut number = vec![NONE; pairs.counts.len()];
        for (_, pair, members) in chosen {
            number[pair] = self.len() as u16;
            self.joints.push(members);
        }
        (0..number.len()).filter(|&pair| number[pair] == NONE).for_each(|pair| pairs.counts[pair] = 0);
        let shortened = |plan: Plan<u16>| {
            let (mut rest, mut room) = (Vec::new(), Matching::default());
            plan.with_steps(|link, joined| {
                rest.clear();
                rest.extend_from_slice(link);
                pairs.matches(link, &mut room, |pair, [a, b]| {
                    rest[a] = number[pair];
                    rest[b] = NONE;
                });
                joined.extend(rest.iter().filter(|&&kind| kind != NONE));
            })
        };
        let plans = plans.into_par_iter().map(shortened).collect();
        (self, plans)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.steps.len() + self.joints.len()
    }

    /// Blanks in turn.
    pub(super) fn blanks() -> impl FnMut() -> u16 {
        let mut blank = 0;
        move || {
            blank = (blank + 1) % BLANKS as u16;
            blank
        }
    }

    /// `[mg, eg]` of every kind, from those of every feature.
    pub(super) fn values(&self, features: &[[f64; 2]]) -> Box<Table> {
        let mut values = table();
        for (value, &(feature, change)) in values.iter_mut().zip(&self.steps).skip(BLANKS) {
            *value = features[usize::from(feature)].map(|value| f64::from(change) * value);
        }
        for (number, joint) in (self.steps.len()..).zip(&self.joints) {
            let [a, b] = joint.map(|kind| values[usize::from(kind)]);
            values[number] = [a[0] + b[0], a[1] + b[1]];
        }
        values
    }

    /// Hands sums by kind down to the features, and leaves zeros behind.
    pub(super) fn hand_down(&self, sums: &mut Table, features: &mut [[f64; 2]]) {
        for (place, joint) in self.joints.iter().enumerate().rev() {
            let number = self.steps.len() + place;
            let [mg, eg] = std::mem::take(&mut sums[number]);
            for kind in joint.map(usize::from) {
                sums[kind][0] += mg;
                sums[kind][1] += eg;
            }
        }
        for (sum, &(feature, change)) in sums.iter_mut().zip(&self.steps) {
            let [mg, eg] = std::mem::take(sum);
            if change != 0 {
                let sum = &mut features[usize::from(feature)];
                sum[0] += f64::from(change) * mg;
                sum[1] += f64::from(change) * eg;
            }
        }
    }
}

/// Where a step stands in a table of all steps of a number of features.
fn place((feature, change): Step) -> usize {
    usize::from(feature) * (2 * LARGEST_CHANGE + 1) as usize + (i32::from(change) + LARGEST_CHANGE) as usize
}

/// Where pairs are matched.
#[derive(Default)]
struct Matching {
    /// Count, number and places of each pair there is.
    candidates: Vec<(Reverse<u32>, usize, [usize; 2])>,
    /// By place: whether it belongs to a pair that was taken.
    is_taken: Vec<bool>,
}

/// How often two of the most frequent kinds come in one link, or are joined in it.
struct Pairs {
    /// By rank, the most frequent first: the kind.
    frequent: Vec<u16>,
    /// By kind: its rank; [`NONE`] if it is not frequent.
    rank: Vec<u16>,
    /// By the ranks of both, the larger first.
    counts: Vec<u32>,
}

impl Pairs {
    /// Counts them in the links of plans.
    fn among(kinds: usize, plans: &[&Plan<u16>]) -> Self {
        let mut counts = vec![0_u32; kinds];
        plans.iter().flat_map(|plan| plan.steps()).for_each(|&kind| counts[usize::from(kind)] += 1);
        let mut frequent: Vec<u16> = (0..kinds as u16).filter(|&kind| counts[usize::from(kind)] > 0).collect();
        frequent.sort_by_key(|&kind| (Reverse(counts[usize::from(kind)]), kind));
        frequent.truncate(JOINED);
        let mut rank = vec![NONE; kinds];
        frequent.iter().enumerate().for_each(|(place, &kind)| rank[usize::from(kind)] = place as u16);
        let size = frequent.len() * (frequent.len() + 1) / 2;
        let mut pairs = Pairs { frequent, rank, counts: vec![0; size] };
        for link in plans.iter().flat_map(|plan| plan.links()) {
            for (place, &kind) in link.iter().enumerate() {
                for &other in link[place + 1..].iter().take(REACH) {
                    if let Some(pair) = pairs.pair(kind, other) {
                        pairs.counts[pair] += 1;
                    }
                }
            }
        }
        pairs
    }

    /// The number of a pair, if both are frequent.
    fn pair(&self, one: u16, other: u16) -> Option<usize> {
        let (a, b) = (self.rank[usize::from(one)], self.rank[usize::from(other)]);
        let (small, large) = (usize::from(a.min(b)), a.max(b));
        (large != NONE).then(|| usize::from(large) * (usize::from(large) + 1) / 2 + small)
    }

    /// Every pair: its count, its number and its kinds.
    fn all(&self) -> impl Iterator<Item = (Reverse<u32>, usize, [u16; 2])> {
        let members = (0..self.frequent.len()).flat_map(|large| (0..=large).map(move |small| [large, small]));
        let kinds = members.map(|members| members.map(|rank| self.frequent[rank]));
        self.counts.iter().enumerate().zip(kinds).map(|((pair, &count), kinds)| (Reverse(count), pair, kinds))
    }

    /// The pairs that a link is divided into, those that count most first, and their places in it; kinds that come
    /// together nowhere else stay single.
    fn matches(&self, link: &[u16], room: &mut Matching, mut take: impl FnMut(usize, [usize; 2])) {
        let Matching { candidates, is_taken } = room;
        candidates.clear();
        for (place, &kind) in link.iter().enumerate() {
            for (next, &other) in link.iter().enumerate().skip(place + 1).take(REACH) {
                let pair = self.pair(kind, other).filter(|&pair| self.counts[pair] > 0);
                candidates.extend(pair.map(|pair| (Reverse(self.counts[pair]), pair, [place, next])));
            }
        }
        candidates.sort_unstable();
        is_taken.clear();
        is_taken.resize(link.len(), false);
        for &(_, pair, places) in candidates.iter() {
            if places.iter().all(|&place| !is_taken[place]) {
                places.iter().for_each(|&place| is_taken[place] = true);
                take(pair, places);
            }
        }
    }
}
