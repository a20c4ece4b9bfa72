//! Pseudorandom numbers for tests and benchmarks. The same seed gives the same numbers on every machine.

#![allow(dead_code)]

/// A generator of pseudorandom numbers: SplitMix64 (Steele, Lea and Flood, *Fast Splittable Pseudorandom Number Generators*,
/// 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number for the generators of a test: the same one in every run; that of `PROPTEST_RNG_SEED` if
    /// `QIPU_RANDOM_CASES` is set.
    #[cfg(test)]
    pub(crate) fn seed(usual: u64) -> u64 {
        let seed = std::env::var_os("QIPU_RANDOM_CASES").and_then(|_| std::env::var("PROPTEST_RNG_SEED").ok());
        seed.map_or(usual, |seed| seed.parse().expect("PROPTEST_RNG_SEED is a number"))
    }

    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `end`, exclusive.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next_u64()) * end as u128) >> 64) as usize
    }

    /// Returns a number from `low` to `high`, inclusive.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// Returns `true` with a probability in percent.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns one of several texts.
    pub(crate) fn choice<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }
}
