//! How the rows of a block are reached: each from the row most similar to it, or from nothing.

use super::{Node, STEPS};
use crate::objective::rows::Rows;
use std::ops::Range;

/// Most rows in a block.
pub(super) const BLOCK_ROWS: usize = 128;

/// Most nodes that the rows of a block may need, unless it is a single row; with these any can be named in 16 bits.
const BLOCK_NODES: usize = 32_768;

/// So much more of one feature.
pub(super) type Step = (u16, i16);

/// Divides rows into blocks, by their lengths alone.
pub(super) fn ranges(rows: &Rows) -> Vec<Range<usize>> {
    let mut ranges = Vec::with_capacity(rows.len() / BLOCK_ROWS + 1);
    let (mut start, mut nodes) = (0, 0);
    for row in 0..rows.len() {
        let own = rows.row(row).0.len().div_ceil(STEPS);
        if row - start == BLOCK_ROWS || (row > start && nodes + own > BLOCK_NODES) {
            ranges.push(start..row);
            (start, nodes) = (row, 0);
        }
        nodes += own;
    }
    if start < rows.len() {
        ranges.push(start..rows.len());
    }
    ranges
}

/// How one row is reached.
struct Link {
    /// Counted from the first row of the block.
    row: u16,
    /// The row it is reached from; none for the empty one.
    parent: Option<u16>,
    /// Where its steps end; they begin where those of the link before end.
    end: u32,
}

/// The links to the rows of a block, each after the one to the row it is reached from; `S` is what a link is made of.
pub(super) struct Plan<S> {
    pub(super) rows: Range<usize>,
    links: Vec<Link>,
    steps: Vec<S>,
}

impl Plan<Step> {
    pub(super) fn new(rows: &Rows, range: Range<usize>) -> Self {
        let mut plan = Plan { rows: range.clone(), links: Vec::with_capacity(range.len()), steps: Vec::new() };
        for (row, mut parent) in nearest(rows, range.clone()) {
            let own = rows.row(range.start + row);
            let start = plan.steps.len();
            if let Some(other) = parent {
                difference(own, rows.row(range.start + other), &mut plan.steps);
            }
            if parent.is_none() || plan.steps.len() - start >= own.0.len() {
                parent = None;
                plan.steps.truncate(start);
                plan.steps.extend(own.0.iter().zip(own.1).map(|(&feature, &count)| (feature, i16::from(count))));
            }
            let (parent, end) = (parent.map(|parent| parent as u16), plan.steps.len() as u32);
            plan.links.push(Link { row: row as u16, parent, end });
        }
        plan
    }
}

impl<S: Copy> Plan<S> {
    /// The steps of all links.
    pub(super) fn steps(&self) -> &[S] {
        &self.steps
    }

    /// The steps of every link.
    pub(super) fn links(&self) -> impl Iterator<Item = &[S]> {
        let mut start = 0;
        self.links.iter().map(move |link| {
            let range = start..link.end as usize;
            start = range.end;
            &self.steps[range]
        })
    }

    /// The same plan with other steps: `change` turns those of each link into new ones.
    pub(super) fn with_steps<T>(self, mut change: impl FnMut(&[S], &mut Vec<T>)) -> Plan<T> {
        let mut steps = Vec::with_capacity(self.steps.len());
        let mut start = 0;
        let mut links = self.links;
        for link in &mut links {
            change(&self.steps[start..link.end as usize], &mut steps);
            start = link.end as usize;
            link.end = steps.len() as u32;
        }
        Plan { rows: self.rows, links, steps }
    }
}

impl Plan<u16> {
    /// Adds the block's nodes, in the order of their depth, filled up with steps from `blank`; and of each row its node,
    /// counted in the block from 1.
    pub(super) fn lay_out(&self, mut blank: impl FnMut() -> u16, nodes: &mut Vec<Node>, node_of: &mut Vec<u16>) {
        // Node 0 is the empty row.
        let mut order: Vec<(u16, u16, Node)> = vec![(0, 0, Node::default())];
        let mut own = vec![0; self.links.len()];
        for (link, steps) in self.links.iter().zip(self.links()) {
            let mut node = link.parent.map_or(0, |parent| own[usize::from(parent)]);
            for chunk in steps.chunks(STEPS) {
                let mut filled = Node::default();
                filled[0] = node;
                for (place, kind) in filled[1..].iter_mut().enumerate() {
                    *kind = chunk.get(place).copied().unwrap_or_else(&mut blank);
                }
                let depth = order[usize::from(node)].0 + 1;
                node = order.len() as u16;
                order.push((depth, node, filled));
            }
            own[usize::from(link.row)] = node;
        }
        order.sort_by_key(|&(depth, node, _)| (depth, node));
        let mut number = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &(_, node, _))| number[usize::from(node)] = place as u16);
        nodes.extend(order[1..].iter().map(|&(_, _, mut node)| {
            node[0] = number[usize::from(node[0])];
            node
        }));
        node_of.extend(own.iter().map(|&node| number[usize::from(node)]));
    }
}

/// A set of bits that stands for a row: similar for similar rows.
type Print = [u64; 4];

fn print(rows: &Rows, row: usize) -> Print {
    let (index, count) = rows.row(row);
    let mut print = [0; 4];
    for (&index, &count) in index.iter().zip(count) {
        let entry = u64::from(index) << 8 | u64::from(count as u8);
        let bit = entry.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
        print[(bit >> 6) as usize] |= 1 << (bit & 63);
    }
    print
}

fn distance(a: &Print, b: &Print) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// A row that is not in the tree yet.
#[derive(Clone, Copy)]
struct Waiting {
    print: Print,
    row: u32,
    /// The least distance to a row of the tree.
    distance: u32,
    /// That row; none for the empty one.
    parent: Option<u32>,
}

/// The rows of a block, counted from its first, in an order in which each comes after that it is nearest to among
/// those before, named with it: a least spanning tree of the empty row and all others.
/// See <https://en.wikipedia.org/wiki/Prim%27s_algorithm>.
fn nearest(rows: &Rows, range: Range<usize>) -> Vec<(usize, Option<usize>)> {
    let mut waiting: Vec<Waiting> = (0..range.len())
        .map(|row| {
            let print = print(rows, range.start + row);
            Waiting { print, row: row as u32, distance: distance(&print, &[0; 4]), parent: None }
        })
        .collect();
    let key = |waiting: &Waiting| u64::from(waiting.distance) << 32 | u64::from(waiting.row);
    let mut order = Vec::with_capacity(waiting.len());
    let mut next = (0..waiting.len()).min_by_key(|&place| key(&waiting[place]));
    while let Some(place) = next {
        let added = waiting.swap_remove(place);
        order.push((added.row as usize, added.parent.map(|parent| parent as usize)));
        // The one to be added next is found on the way.
        let mut least = u64::MAX;
        next = None;
        for (place, other) in waiting.iter_mut().enumerate() {
            let found = distance(&added.print, &other.print);
            if found < other.distance {
                (other.distance, other.parent) = (found, Some(added.row));
            }
            if key(other) < least {
                (least, next) = (key(other), Some(place));
            }
        }
    }
    order
}

/// Steps from another row to a row; entries are sorted by feature.
fn difference(own: (&[u16], &[i8]), other: (&[u16], &[i8]), steps: &mut Vec<Step>) {
    let mut own = own.0.iter().zip(own.1).map(|(&f, &count)| (f, i16::from(count))).peekable();
    let mut other = other.0.iter().zip(other.1).map(|(&f, &count)| (f, i16::from(count))).peekable();
    loop {
        match (own.peek().copied(), other.peek().copied()) {
            (Some((mine, count)), Some((theirs, less))) if mine == theirs => {
                if count != less {
                    steps.push((mine, count - less));
                }
                own.next();
                other.next();
            }
            (Some((mine, count)), theirs) if theirs.is_none_or(|(theirs, _)| mine < theirs) => {
                steps.push((mine, count));
                own.next();
            }
            (_, Some((theirs, less))) => {
                steps.push((theirs, -less));
                other.next();
            }
            (_, None) => break,
        }
    }
}
