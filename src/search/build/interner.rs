//! TokenInterner of texts by number: each that is spelled differently once.
//!
//! Words of a store come again and again, so that this is looked into once for every word of every
//! text. Most are short: they stand in the table itself, and one look finds them.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::search::analysis::tokenizer::RawToken;

/// The longest chunk that stands in the table, in bytes.
const SHORT: usize = 12;
/// The bits of a place in the table that the chunk takes; the number has those above.
const KEY: u128 = u128::MAX >> 32;
/// How many places a table begins with.
const FIRST_SIZE: usize = 1 << 12;

/// How many chunks are looked for at once.
const BATCH: usize = 32;

/// A chunk whose number is looked for, or a number that stands for itself: the bytes of a short chunk; else 0, and
/// the number above.
#[derive(Clone, Copy)]
pub(crate) struct InternKey(u128);

impl InternKey {
    /// A number that no chunk has.
    pub(crate) fn mark(number: u32) -> Self {
        Self(u128::from(number) << 96)
    }
}

/// Interns raw tokens: equal tokens get equal ids, numbered in the order of their first occurrence.
pub(crate) struct TokenInterner {
    /// Each as it was met first, a plain word in small letters where it is short, one behind the other; and
    /// where each ends.
    text: String,
    ends: Vec<usize>,
    short: InlineTable,
    long: IdTable,
    random: RandomState,
}

impl Default for TokenInterner {
    fn default() -> Self {
        let (short, long, random) = (InlineTable::default(), IdTable::default(), RandomState::default());
        Self { text: String::new(), ends: Vec::new(), short, long, random }
    }
}

impl TokenInterner {
    /// Returns how many chunks there are: the next one's number.
    pub(crate) fn count(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Returns the chunk with a number.
    pub(crate) fn chunk(&self, number: u32) -> &str {
        let start = number.checked_sub(1).map_or(Some(&0), |before| self.ends.get(before as usize));
        let range = start.zip(self.ends.get(number as usize)).map(|(start, end)| *start..*end);
        range.and_then(|range| self.text.get(range)).unwrap_or_default()
    }

    /// Returns the number of a chunk of other texts, which is the next one where the chunk is new.
    pub(crate) fn number(&mut self, chunk: &str) -> u32 {
        match key(&RawToken { text: chunk, start: 0, is_plain: false }, chunk) {
            Some(key) => self.short_number(key),
            None => self.long_number(chunk),
        }
    }

    /// Returns what there is to look for of a chunk of a text.
    pub(crate) fn sought(&mut self, chunk: &RawToken<'_>, text: &str) -> InternKey {
        key(chunk, text).map_or_else(|| InternKey::mark(self.long_number(chunk.text)), InternKey)
    }

    /// Adds the numbers of chunks to `numbers`, in their order.
    pub(crate) fn add_numbers(&mut self, sought: &[InternKey], numbers: &mut Vec<u32>) {
        for some in sought.chunks(BATCH) {
            // Most of the table is far away. A loop that only looks lets the processor look for
            // several at once.
            let mut seen = [0; BATCH];
            for (seen, sought) in seen.iter_mut().zip(some) {
                *seen = self.short.look(sought.0 & KEY);
            }
            for (seen, sought) in seen.iter().zip(some) {
                let key = sought.0 & KEY;
                numbers.push(match () {
                    () if key == 0 => (sought.0 >> 96) as u32,
                    () if seen & KEY == key => (seen >> 96) as u32,
                    () => self.short_number(key),
                });
            }
        }
    }

    fn short_number(&mut self, key: u128) -> u32 {
        let next = self.count();
        let number = self.short.number(key, next);
        if number == next {
            let bytes = key.to_le_bytes();
            let length = bytes.iter().take_while(|byte| **byte != 0).count();
            let chunk = bytes.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok());
            self.add(chunk.unwrap_or_default());
        }
        number
    }

    fn long_number(&mut self, chunk: &str) -> u32 {
        let hash = self.random.hash_one(chunk);
        if let Some(number) = self.long.find(hash, |number| self.chunk(number) == chunk) {
            return number;
        }
        let number = self.count();
        self.add(chunk);
        self.long.insert(hash, number);
        number
    }

    fn add(&mut self, chunk: &str) {
        self.text.push_str(chunk);
        self.ends.push(self.text.len());
    }
}

/// Ids of tokens of at most 12 bytes, stored inline with their bytes; open addressing, linear probing.
struct InlineTable {
    /// Bytes and number; 0 where there is none. At most half of the places are taken.
    places: Vec<u128>,
    count: usize,
    random: RandomState,
}

impl Default for InlineTable {
    fn default() -> Self {
        Self { places: vec![0; FIRST_SIZE], count: 0, random: RandomState::default() }
    }
}

impl InlineTable {
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

/// Returns the bytes of a short chunk as a number, of a plain word in small letters. No chunk holds a
/// NUL: what stands behind the last byte says how long it is.
fn key(chunk: &RawToken<'_>, text: &str) -> Option<u128> {
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

/// IdTable that are found by the hash of what they stand for; what that is, the caller knows.
pub(crate) struct IdTable {
    /// The upper half of the hash, and the number and one; 0 where there is none. At most half of the
    /// places are taken.
    places: Vec<u64>,
    count: usize,
}

impl Default for IdTable {
    fn default() -> Self {
        Self { places: vec![0; FIRST_SIZE], count: 0 }
    }
}

impl IdTable {
    /// Returns the number with this hash that `is_it`.
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
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
    pub(crate) fn insert(&mut self, hash: u64, number: u32) {
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
        (hash >> 32) as usize & (self.places.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::analysis::tokenizer::{MarkdownToken, for_each_piece};

    fn numbers(text: &str, chunks: &mut TokenInterner) -> Vec<u32> {
        let (mut sought, mut numbers) = (Vec::new(), Vec::new());
        for_each_piece(text, |piece| {
            if let MarkdownToken::RawToken(chunk) = piece {
                sought.push(chunks.sought(&chunk, text));
            }
        });
        chunks.add_numbers(&sought, &mut numbers);
        numbers
    }

    #[test]
    fn a_plain_word_has_one_number() {
        let mut chunks = TokenInterner::default();
        let text = "Word word. WORD a incomprehensibilities word a_b Incomprehensibilities incomprehensibilities' a_b";
        // Long ones have their numbers first.
        assert_eq!(numbers(text, &mut chunks), [2, 2, 3, 4, 0, 2, 5, 1, 0, 5]);
    }

    #[test]
    fn numbers_stay_when_the_tables_grow() {
        let text: String = (0..20_000).map(|n| format!("w{n} longer-than-twelve-{n} ")).collect();
        let mut chunks = TokenInterner::default();
        let first = numbers(&text, &mut chunks);
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..40_000).collect::<Vec<u32>>());
        assert_eq!(numbers(&text, &mut chunks), first);
    }

    #[test]
    fn chunks_of_other_texts_keep_their_numbers() {
        let mut known = TokenInterner::default();
        let mut read = |text: &str| {
            let mut chunks = TokenInterner::default();
            numbers(text, &mut chunks);
            let now: Vec<u32> = (0..chunks.count()).map(|number| known.number(chunks.chunk(number))).collect();
            (now, known.count())
        };
        assert_eq!(read("incomprehensibilities Word a_b été"), (vec![0, 1, 2, 3], 4));
        // Long ones have their numbers first, a plain word has one in small letters.
        assert_eq!(read("a_b new word incomprehensibilities"), (vec![0, 2, 4, 1], 5));
        assert_eq!(
            [0, 1, 3, 4, 5].map(|number| known.chunk(number)),
            ["incomprehensibilities", "word", "été", "new", ""]
        );
    }
}
