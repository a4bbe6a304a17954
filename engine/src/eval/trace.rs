//! The evaluation as a sparse row: how often each parameter occurs in a position.

use std::marker::PhantomData;

use super::accumulate;
use super::params::{Indices, LeafIndex, ParamSet, Sink, Sum, SumSet, Weights, leaves_of};
use crate::chess::{Color, Position};

/// The count of a leaf in a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<U = Sum> {
    /// The sum that the leaf belongs to.
    pub sum: U,
    /// The side it counts for; White in an unsided sum, where Black's occurrences have been taken off.
    pub side: Color,
    /// The leaf.
    pub leaf: LeafIndex,
    /// The count, not 0.
    pub count: i32,
}

/// Collects the counts of a position's parameters; made once, used for many positions.
///
/// Counts of one leaf, and of one side in a sided sum, are added up; entries that cancel are dropped.
pub type Trace = Recorder<Weights>;

/// The trace of any declaration.
#[derive(Clone, Debug)]
pub struct Recorder<P: ParamSet> {
    /// The current entries, ordered by sum, side and leaf.
    places: Vec<Entry<P::Sum>>,
    /// By side and leaf: where its place is.
    place: [Vec<u32>; Color::COUNT],
    /// One bit a place that was touched: walking them yields the entries in order without sorting.
    touched: Vec<u64>,
    parameters: PhantomData<P>,
}

impl<P: ParamSet> Default for Recorder<P> {
    fn default() -> Self {
        let leaves = leaves_of::<P>();
        let (mut places, mut place) = (Vec::new(), [(); Color::COUNT].map(|()| vec![0; leaves.len()]));
        for &sum in P::Sum::ALL {
            for &side in sum.sides() {
                for (index, _) in leaves.iter().enumerate().filter(|(_, leaf)| leaf.field.sum == sum.index()) {
                    place[side.index()][index] = places.len() as u32;
                    places.push(Entry { sum, side, leaf: LeafIndex::new(index), count: 0 });
                }
            }
        }
        let touched = vec![0; places.len().div_ceil(64)];
        Recorder { places, place, touched, parameters: PhantomData }
    }
}

impl<P: ParamSet> Recorder<P> {
    #[inline(always)]
    fn record(&mut self, sum: P::Sum, side: Color, leaf: LeafIndex, count: i32) {
        let place = self.place[side.index()][leaf.index()] as usize;
        debug_assert!(self.places[place].sum == sum, "a leaf in a sum that it does not belong to");
        self.places[place].count += count;
        self.touched[place / 64] |= 1 << (place % 64);
    }

    /// Shows every entry that has been recorded, by sum, side and leaf, and forgets them.
    pub fn drain(&mut self, mut see: impl FnMut(Entry<P::Sum>)) {
        for (word, touched) in self.touched.iter_mut().enumerate() {
            let mut bits = std::mem::take(touched);
            while bits != 0 {
                let place = &mut self.places[64 * word + bits.trailing_zeros() as usize];
                bits &= bits - 1;
                if place.count != 0 {
                    see(*place);
                    place.count = 0;
                }
            }
        }
    }
}

impl<P: ParamSet> Sink<P::Sum, LeafIndex, LeafIndex> for Recorder<P> {
    #[inline(always)]
    fn pair(&mut self, sum: P::Sum, side: Color, leaf: LeafIndex, count: i32) {
        self.record(sum, side, leaf, count);
    }

    #[inline(always)]
    fn single(&mut self, sum: P::Sum, side: Color, leaf: LeafIndex, count: i32) {
        self.record(sum, side, leaf, count);
    }
}

impl Trace {
    /// Shows every entry of a position, by sum, side and leaf.
    pub fn for_each(&mut self, position: &Position, see: impl FnMut(Entry)) {
        accumulate(position, Indices::get(), self);
        self.drain(see);
    }
}
