//! Random numbers that are the same on every machine for the same seed, and seeds that differ from run to run.

use std::hash::{BuildHasher, RandomState};

/// The next number of splitmix64, all 64 bits of it random. See <https://prng.di.unimi.it/splitmix64.c>.
pub const fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A source of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of a seed: the same for ever.
    pub fn seeded(seed: u64) -> Self {
        Random(seed)
    }

    /// The seed of the numbers that are still to come.
    pub fn state(&self) -> u64 {
        self.0
    }

    /// Other numbers in every run.
    pub fn unpredictable() -> Self {
        // The standard library keys its hash tables with randomness of the system.
        Random(RandomState::new().hash_one(std::process::id()))
    }

    /// A number from 0 to `bound` − 1, each as likely as any other; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The high half of the product is uneven by less than one part in 2⁶⁴ / bound.
        ((u128::from(split_mix(&mut self.0)) * u128::from(bound)) >> 64) as u64
    }

    /// A number from 0 to below 1, a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        self.below(1 << 53) as f64 / (1_u64 << 53) as f64
    }

    /// Puts the items into an order that is as likely as any other.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_from_the_seed_and_stay_below_the_bound() {
        let draw = |seed| {
            let mut random = Random::seeded(seed);
            (0..100).map(|_| random.below(6)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!((0..6).all(|side| draw(1).contains(&side)) && draw(1).iter().all(|&side| side < 6));
        assert_eq!(Random::seeded(1).below(0), 0);
        let mut random = Random::seeded(1);
        random.below(6);
        let mut copy = Random::seeded(random.state());
        assert_eq!(random.below(u64::MAX), copy.below(u64::MAX));
    }

    #[test]
    fn every_order_comes_up() {
        let mut random = Random::seeded(3);
        let mut seen = std::collections::HashMap::new();
        for _ in 0..600 {
            let mut items = [1, 2, 3];
            random.shuffle(&mut items);
            *seen.entry(items).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|&count| (60..140).contains(&count)), "{seen:?}");
    }

    #[test]
    fn runs_differ() {
        let draw = || Random::unpredictable().below(u64::MAX);
        assert_ne!(draw(), draw());
    }
}
