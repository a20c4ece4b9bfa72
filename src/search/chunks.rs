//! Chunks of texts by number: each that is spelled differently once.
//!
//! Words of a store come again and again, so that this is looked into once for every word of every
//! text. Most are short: they stand in the table itself, and one look finds them.

use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use super::words::Chunk;

/// The longest chunk that stands in the table, in bytes.
const SHORT: usize = 12;
/// The bits of a place in the table that the chunk takes; the number has those above.
const KEY: u128 = u128::MAX >> 32;
/// How many places a table begins with.
const FIRST_SIZE: usize = 1 << 12;

/// Stands for the number of a chunk that was not met yet.
pub(super) const NEW: u32 = u32::MAX;

/// How many chunks are looked for at once.
const BATCH: usize = 32;

/// A chunk whose number is looked for, or a number that stands for itself.
#[derive(Clone, Copy)]
pub(super) struct Sought<'a> {
    /// The bytes of a short chunk; else 0, and the number above.
    key: u128,
    chunk: Chunk<'a>,
}

impl Sought<'_> {
    /// A number that no chunk has.
    pub(super) fn mark(number: u32) -> Self {
        Self { key: number_alone(number), chunk: Chunk { text: "", start: 0, is_plain: false } }
    }
}

/// The chunks of texts, numbered in the order in which they are met.
pub(super) struct Chunks<'a> {
    /// Each as it was met first.
    pub(super) all: Vec<Chunk<'a>>,
    short: Short,
    long: Numbers,
    random: RandomState,
}

impl<'a> Chunks<'a> {
    pub(super) fn new() -> Self {
        Self { all: Vec::new(), short: Short::default(), long: Numbers::new(), random: RandomState::default() }
    }

    /// Returns what there is to look for of a chunk of a text.
    pub(super) fn sought(&mut self, chunk: Chunk<'a>, text: &str) -> Sought<'a> {
        let key = key(&chunk, text).unwrap_or_else(|| number_alone(self.long_number(chunk)));
        Sought { key, chunk }
    }

    /// Adds the numbers of chunks to `numbers`, in their order.
    pub(super) fn add_numbers(&mut self, sought: &[Sought<'a>], numbers: &mut Vec<u32>) {
        for some in sought.chunks(BATCH) {
            // Most of the table is far away. A loop that only looks lets the processor look for
            // several at once.
            let mut seen = [0; BATCH];
            for (seen, sought) in seen.iter_mut().zip(some) {
                *seen = self.short.look(sought.key & KEY);
            }
            for (seen, sought) in seen.iter().zip(some) {
                let key = sought.key & KEY;
                numbers.push(match () {
                    () if key == 0 => (sought.key >> 96) as u32,
                    () if seen & KEY == key => (seen >> 96) as u32,
                    () => self.short_number(key, sought.chunk),
                });
            }
        }
    }

    fn short_number(&mut self, key: u128, chunk: Chunk<'a>) -> u32 {
        let next = self.all.len() as u32;
        let number = self.short.number(key, next);
        self.all.extend((number == next).then_some(chunk));
        number
    }

    fn long_number(&mut self, chunk: Chunk<'a>) -> u32 {
        let hash = self.random.hash_one(chunk.text);
        let is_it = |number: u32| self.all.get(number as usize).is_some_and(|have| have.text == chunk.text);
        if let Some(number) = self.long.find(hash, is_it) {
            return number;
        }
        let number = self.all.len() as u32;
        self.all.push(chunk);
        self.long.insert(hash, number);
        number
    }
}

/// The numbers of short chunks, by their bytes: most are found by one look.
struct Short {
    /// Bytes and number; 0 where there is none. At most half of the places are taken.
    places: Vec<u128>,
    count: usize,
    random: RandomState,
}

impl Default for Short {
    fn default() -> Self {
        Self { places: vec![0; FIRST_SIZE], count: 0, random: RandomState::default() }
    }
}

impl Short {
    /// Returns what stands where a chunk is looked for first, most often the chunk.
    fn look(&self, key: u128) -> u128 {
        self.places.get(self.first_place(key)).copied().unwrap_or_default()
    }

    fn find(&self, key: u128) -> Option<u32> {
        let mut place = self.first_place(key);
        while let Some(have) = self.places.get(place).filter(|have| **have != 0) {
            if have & KEY == key {
                return Some((have >> 96) as u32);
            }
            place = (place + 1) & (self.places.len() - 1);
        }
        None
    }

    /// Returns the number of a chunk, which is the next one where the chunk is new.
    fn number(&mut self, key: u128, next: u32) -> u32 {
        if let Some(number) = self.find(key) {
            return number;
        }
        self.put(key | u128::from(next) << 96);
        self.count += 1;
        if self.count * 2 > self.places.len() {
            let size = self.places.len() * 2;
            let old = std::mem::replace(&mut self.places, vec![0; size]);
            old.into_iter().filter(|have| *have != 0).for_each(|have| self.put(have));
        }
        next
    }

    fn put(&mut self, entry: u128) {
        let mut place = self.first_place(entry & KEY);
        while self.places.get(place).is_some_and(|have| *have != 0) {
            place = (place + 1) & (self.places.len() - 1);
        }
        if let Some(free) = self.places.get_mut(place) {
            *free = entry;
        }
    }

    fn first_place(&self, key: u128) -> usize {
        self.random.hash_one(key) as usize & (self.places.len() - 1)
    }
}

/// The numbers of chunks that were met, without the texts that they stand in.
#[derive(Default)]
pub(super) struct Known {
    short: Short,
    long: HashMap<Box<str>, u32, RandomState>,
    count: u32,
}

impl Known {
    /// Returns how many chunks there are: the next one's number.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Returns the numbers of chunks, [`NEW`] for those that were not met.
    pub(super) fn find_all(&self, chunks: &[Chunk<'_>]) -> Vec<u32> {
        let find = |chunk: &Chunk<'_>| match own_key(chunk) {
            Some(key) => self.short.find(key),
            None => self.long.get(chunk.text).copied(),
        };
        chunks.iter().map(|chunk| find(chunk).unwrap_or(NEW)).collect()
    }

    /// Returns the number of a chunk, which is the next one where the chunk is new.
    pub(super) fn number(&mut self, chunk: &Chunk<'_>) -> u32 {
        let number = match own_key(chunk) {
            Some(key) => self.short.number(key, self.count),
            None => *self.long.entry(chunk.text.into()).or_insert(self.count),
        };
        self.count += u32::from(number == self.count);
        number
    }
}

fn own_key(chunk: &Chunk<'_>) -> Option<u128> {
    key(&Chunk { start: 0, ..*chunk }, chunk.text)
}

/// What has a number without a look into the table.
fn number_alone(number: u32) -> u128 {
    u128::from(number) << 96
}

/// Returns the bytes of a short chunk as a number, of a plain word in small letters. No chunk holds a
/// NUL: what stands behind the last byte says how long it is.
fn key(chunk: &Chunk<'_>, text: &str) -> Option<u128> {
    let length = chunk.text.len();
    if length > SHORT || length == 0 {
        return None;
    }
    // Sixteen bytes at once, and those behind the chunk taken away, are faster than a copy.
    let wide = text.as_bytes().get(chunk.start..).and_then(|rest| rest.first_chunk::<16>().copied());
    let wide = wide.unwrap_or_else(|| {
        let mut copy = [0; 16];
        copy.iter_mut().zip(chunk.text.bytes()).for_each(|(to, from)| *to = from);
        copy
    });
    let key = u128::from_le_bytes(wide) & (u128::MAX >> (128 - 8 * length));
    Some(if chunk.is_plain { key | 0x20 } else { key })
}

/// Numbers that are found by the hash of what they stand for; what that is, the caller knows.
#[derive(Default)]
pub(super) struct Numbers {
    /// The upper half of the hash, and the number and one; 0 where there is none. At most half of the
    /// places are taken.
    places: Vec<u64>,
    count: usize,
}

impl Numbers {
    pub(super) fn new() -> Self {
        Self { places: vec![0; FIRST_SIZE], count: 0 }
    }

    /// Returns the number with this hash that `is_it`.
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mut place = self.first_place(hash);
        while let Some(have) = self.places.get(place).filter(|have| **have != 0) {
            let number = (*have as u32) - 1;
            if have >> 32 == hash >> 32 && is_it(number) {
                return Some(number);
            }
            place = (place + 1) & (self.places.len() - 1);
        }
        None
    }

    /// Adds a number that is not there.
    pub(super) fn insert(&mut self, hash: u64, number: u32) {
        self.put(hash >> 32 << 32 | u64::from(number + 1));
        self.count += 1;
        if self.count * 2 > self.places.len() {
            let size = self.places.len() * 2;
            let old = std::mem::replace(&mut self.places, vec![0; size]);
            old.into_iter().filter(|have| *have != 0).for_each(|have| self.put(have));
        }
    }

    fn put(&mut self, entry: u64) {
        let mut place = self.first_place(entry);
        while self.places.get(place).is_some_and(|have| *have != 0) {
            place = (place + 1) & (self.places.len() - 1);
        }
        if let Some(free) = self.places.get_mut(place) {
            *free = entry;
        }
    }

    /// The upper half of a hash is kept: where a number belongs is known without what it stands for.
    fn first_place(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.places.len().max(1) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::{Piece, for_each_piece};
    use super::*;

    fn numbers(text: &'static str, chunks: &mut Chunks<'static>) -> Vec<u32> {
        let (mut sought, mut numbers) = (Vec::new(), Vec::new());
        for_each_piece(text, |piece| {
            if let Piece::Chunk(chunk) = piece {
                sought.push(chunks.sought(chunk, text));
            }
        });
        chunks.add_numbers(&sought, &mut numbers);
        numbers
    }

    #[test]
    fn a_plain_word_has_one_number() {
        let mut chunks = Chunks::new();
        let text = "Word word. WORD a incomprehensibilities word a_b Incomprehensibilities incomprehensibilities' a_b";
        // Long ones have their numbers first.
        assert_eq!(numbers(text, &mut chunks), [2, 2, 3, 4, 0, 2, 5, 1, 0, 5]);
    }

    #[test]
    fn numbers_stay_when_the_tables_grow() {
        let text: &'static str = Box::leak((0..20_000).map(|n| format!("w{n} longer-than-twelve-{n} ")).collect());
        let mut chunks = Chunks::new();
        let first = numbers(text, &mut chunks);
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..40_000).collect::<Vec<u32>>());
        assert_eq!(numbers(text, &mut chunks), first);
    }

    #[test]
    fn chunks_that_are_known_keep_their_numbers() {
        let mut known = Known::default();
        let mut read = |text: &'static str| {
            let mut chunks = Chunks::new();
            numbers(text, &mut chunks);
            let found = known.find_all(&chunks.all);
            let now: Vec<u32> = chunks.all.iter().map(|chunk| known.number(chunk)).collect();
            (found, now, known.count())
        };
        assert_eq!(read("incomprehensibilities Word a_b"), (vec![NEW; 3], vec![0, 1, 2], 3));
        // Long ones have their numbers first, a plain word has one in small letters.
        assert_eq!(read("a_b new word incomprehensibilities"), (vec![0, 2, NEW, 1], vec![0, 2, 3, 1], 4));
    }
}
