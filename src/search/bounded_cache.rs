//! A cache of what does not depend on the question, with a bound: the questions of a session meet the same words and notes.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::sync::{Mutex, PoisonError};

use foldhash::fast::RandomState;

/// The number of parts, so that threads seldom wait for each other.
const SHARDS: usize = 16;

/// Values by their keys. A part that is full is emptied.
#[derive(Debug)]
pub(super) struct BoundedCache<K, V> {
    hasher: RandomState,
    shards: [Mutex<HashMap<K, V, RandomState>>; SHARDS],
    max_per_shard: usize,
}

impl<K: Hash + Eq, V: Clone> BoundedCache<K, V> {
    /// Makes a cache of at most about `max` values.
    pub(super) fn new(max: usize) -> Self {
        Self { hasher: RandomState::default(), shards: Default::default(), max_per_shard: max.div_ceil(SHARDS) }
    }

    /// Returns the value of a key, which `compute` makes if it is not known. Two threads may make it at once.
    pub(super) fn get_or_insert<Q>(&self, key: &Q, compute: impl FnOnce() -> V) -> V
    where
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
        K: Borrow<Q>,
    {
        let shard = &self.shards[self.hasher.hash_one(key) as usize % SHARDS];
        let lock = || shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(key) {
            return known.clone();
        }
        let value = compute();
        let mut values = lock();
        if values.len() >= self.max_per_shard {
            values.clear();
        }
        values.insert(key.to_owned(), value.clone());
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_its_value_however_many_were_asked_for() {
        let cache: BoundedCache<String, usize> = BoundedCache::new(1_000);
        for _ in 0..3 {
            for number in 0..5_000 {
                assert_eq!(cache.get_or_insert(number.to_string().as_str(), || number), number);
            }
        }
        let count: usize = cache.shards.iter().map(|shard| shard.lock().unwrap().len()).sum();
        assert!(count <= 1_000 + SHARDS);
        assert_eq!(cache.get_or_insert("4999", || 1), 4_999);
    }
}
