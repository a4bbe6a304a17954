//! The evaluation as a sparse row: how often each parameter occurs in a position.

use super::params::{Feature, Features, PAIRS};
use super::{Accumulate, accumulate};
use crate::chess::Position;

const WORDS: usize = PAIRS.div_ceil(64);

/// Collects the coefficients of a position's pair parameters; made once, used for many positions.
///
/// Counts of White and Black on one parameter are added up, so what cancels leaves no entry.
#[derive(Clone, Debug)]
pub struct Trace {
    counts: [i8; PAIRS],
    /// One bit a parameter that was touched: walking them yields the entries in order without sorting.
    touched: [u64; WORDS],
}

impl Default for Trace {
    fn default() -> Self {
        Trace { counts: [0; PAIRS], touched: [0; WORDS] }
    }
}

impl Accumulate<Feature> for Trace {
    #[inline(always)]
    fn add(&mut self, param: Feature, count: i32) {
        let index = param.index();
        let sum = i32::from(self.counts[index]) + count;
        // No term of a legal position occurs more than some dozens of times.
        self.counts[index] = i8::try_from(sum).expect("a coefficient fits eight bits");
        self.touched[index / 64] |= 1 << (index % 64);
    }
}

impl Trace {
    /// Shows every (pair index, coefficient) of a position, indices ascending, coefficients in White's view and not 0.
    pub fn for_each(&mut self, position: &Position, mut see: impl FnMut(u16, i8)) {
        accumulate(position, Features::indices(), self);
        for (word, touched) in self.touched.iter_mut().enumerate() {
            let mut bits = std::mem::take(touched);
            while bits != 0 {
                let index = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let count = std::mem::take(&mut self.counts[index]);
                if count != 0 {
                    see(index as u16, count);
                }
            }
        }
    }
}
