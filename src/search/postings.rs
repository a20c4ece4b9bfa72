//! Which notes hold a term, and how often in which of their fields: a list for each term.
//!
//! A list has for each of its notes, in their order, how many notes are between it and the one before, and
//! whether there is more to say than that its body holds the term once; that follows. Words that say
//! nothing have no list: it would be as long as the store.
//!
//! While lists grow, these are numbers in whole bytes. They are kept in as few bits as they need: the
//! numbers in Rice's code, whose parameter comes from how long the list is (Witten, Moffat, Bell: Managing
//! Gigabytes, 2nd ed., section 3.3).

use super::varint::{Reader, put};

/// A count that takes few bits: seven for these, of which the first are for the body.
const SHORT_BITS: u32 = 7;
const BODY_BITS: u32 = 3;
/// Stands where a count takes more bits: no note is on a list for nothing.
const LONG: u64 = 0;
/// How many ones in a row a code may have: there are no longer gaps than a number can tell.
const MAX_ONES: u32 = u32::BITS;

/// A field of a note, as its words are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Title,
    /// A tag; whether the word is the whole of it.
    Tag(bool),
    Heading,
    Body,
}

/// How often a term stands in a note, by field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) term: u32,
    /// In the body, headings included, and in a summary of the frontmatter.
    pub(super) body: u32,
    /// In title and aliases; at most 255, like the next two.
    pub(super) title: u8,
    pub(super) tags: u8,
    /// In headings that are not the title.
    pub(super) headings: u8,
    /// Whether it is the whole of a tag.
    pub(super) is_tag: bool,
}

impl Count {
    /// Counts a word.
    pub(super) fn add(&mut self, field: Field) {
        match field {
            Field::Title => self.title = self.title.saturating_add(1),
            Field::Tag(is_whole) => {
                self.tags = self.tags.saturating_add(1);
                self.is_tag |= is_whole;
            }
            Field::Heading => self.headings = self.headings.saturating_add(1),
            Field::Body => self.body = self.body.saturating_add(1),
        }
    }

    fn is_in_fields(&self) -> bool {
        self.title > 0 || self.tags > 0 || self.headings > 0
    }

    fn put(&self, bytes: &mut Vec<u8>) {
        put(bytes, self.body << 1 | u32::from(self.is_in_fields()));
        if self.is_in_fields() {
            put(bytes, u32::from(self.title));
            put(bytes, u32::from(self.tags) << 1 | u32::from(self.is_tag));
            put(bytes, u32::from(self.headings));
        }
    }

    /// Returns it in few bits, where it is small.
    fn short(&self) -> Option<u64> {
        let is_small = self.body < 1 << BODY_BITS && self.title < 2 && self.tags < 2 && self.headings < 2;
        let bits = [u64::from(self.title), u64::from(self.tags), u64::from(self.headings), u64::from(self.is_tag)];
        let bits = bits.into_iter().rev().fold(0, |bits, bit| bits << 1 | bit);
        is_small.then_some(bits << BODY_BITS | u64::from(self.body))
    }

    fn of_short(term: u32, bits: u64) -> Self {
        let bit = |place: u32| (bits >> (BODY_BITS + place) & 1) as u8;
        let body = (bits & ((1 << BODY_BITS) - 1)) as u32;
        Self { term, body, title: bit(0), tags: bit(1), headings: bit(2), is_tag: bit(3) == 1 }
    }

    fn put_bits(&self, bits: &mut BitWriter) {
        if let Some(short) = self.short() {
            return bits.put(short, SHORT_BITS);
        }
        bits.put(LONG, SHORT_BITS);
        bits.put(u64::from(self.body), u32::BITS);
        for number in [self.title, self.tags, self.headings, u8::from(self.is_tag)] {
            bits.put(u64::from(number), u8::BITS);
        }
    }

    fn read_bits(term: u32, bits: &mut BitReader<'_>) -> Option<Self> {
        let short = bits.take(SHORT_BITS)?;
        if short != LONG {
            return Some(Self::of_short(term, short));
        }
        let body = bits.take(u32::BITS)? as u32;
        let mut number = || bits.take(u8::BITS).map(|number| number as u8);
        Some(Self { term, body, title: number()?, tags: number()?, headings: number()?, is_tag: number()? != 0 })
    }

    fn read(term: u32, rest: &mut Reader<'_>) -> Option<Self> {
        let body = rest.number()?;
        let mut count = Self { term, body: body >> 1, ..Self::default() };
        if body & 1 == 1 {
            count.title = rest.number()?.try_into().ok()?;
            let tags = rest.number()?;
            count.tags = (tags >> 1).try_into().ok()?;
            count.is_tag = tags & 1 == 1;
            count.headings = rest.number()?.try_into().ok()?;
        }
        Some(count)
    }
}

/// The lists of all terms in the making, by the terms' numbers.
#[derive(Default)]
pub(super) struct Lists {
    lists: Vec<List>,
}

#[derive(Clone, Default)]
struct List {
    bytes: Vec<u8>,
    /// The note behind the last one.
    next: u32,
}

impl Lists {
    /// Makes room for so many terms.
    pub(super) fn reach(&mut self, terms: usize) {
        if self.lists.len() < terms {
            self.lists.resize(terms, List::default());
        }
    }

    /// Adds a note to the list of a term. Notes come in their order.
    pub(super) fn add(&mut self, note: u32, count: &Count) {
        let Some(list) = self.lists.get_mut(count.term as usize) else { return };
        let is_plain = count.body == 1 && !count.is_in_fields();
        put(&mut list.bytes, note.saturating_sub(list.next) << 1 | u32::from(!is_plain));
        if !is_plain {
            count.put(&mut list.bytes);
        }
        list.next = note + 1;
    }

    /// Adds lists whose notes are counted from `first`.
    pub(super) fn append(&mut self, others: &Self, first: u32) {
        for (list, other) in self.lists.iter_mut().zip(&others.lists) {
            let mut rest = Reader(&other.bytes);
            let Some(number) = rest.number() else { continue };
            let note = first + (number >> 1);
            put(&mut list.bytes, note.saturating_sub(list.next) << 1 | number & 1);
            list.bytes.extend_from_slice(rest.0);
            list.next = first + other.next;
        }
    }

    /// Returns the list of a term as it is kept: of so many of all notes.
    pub(super) fn packed(&self, term: u32, holders: u32, notes: u64) -> Vec<u8> {
        let list = self.lists.get(term as usize).map(|list| list.bytes.as_slice()).unwrap_or_default();
        let (mut rest, mut bits) = (Reader(list), BitWriter::default());
        let low = low_bits(holders, notes);
        while let Some(number) = rest.number() {
            bits.put_rice(number >> 1, low);
            bits.put(u64::from(number & 1), 1);
            if number & 1 == 1 {
                Count::read(term, &mut rest).unwrap_or_default().put_bits(&mut bits);
            }
        }
        bits.finish()
    }
}

/// Calls `take` with each note of a term's list, of so many of all notes; `None` where this can't be one.
pub(super) fn read(list: &[u8], term: u32, holders: u32, notes: u64, mut take: impl FnMut(u32, Count)) -> Option<()> {
    let (mut bits, mut next) = (BitReader { bytes: list, place: 0 }, 0_u32);
    let low = low_bits(holders, notes);
    for _ in 0..holders {
        let note = next.checked_add(bits.take_rice(low)?)?;
        let count = match bits.take(1)? {
            0 => Count { term, body: 1, ..Count::default() },
            _ => Count::read_bits(term, &mut bits)?,
        };
        take(note, count);
        next = note.checked_add(1)?;
    }
    Some(())
}

/// Returns how many bits of a gap are written as they are: the others, in unary, are few where the gaps of
/// a list are as they are by chance.
fn low_bits(holders: u32, notes: u64) -> u32 {
    let gap = (notes.saturating_sub(u64::from(holders))) / u64::from(holders.max(1));
    // The parameter is the power of two at or below 0.69 of the mean gap.
    (gap * 11 / 16).max(1).ilog2().min(u32::BITS - 1)
}

/// Bits in the making, the lowest of each byte first.
#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that do not fill a byte yet, and how many they are.
    bits: u64,
    count: u32,
}

impl BitWriter {
    /// Adds the lowest bits of a number, 32 at most.
    fn put(&mut self, number: u64, count: u32) {
        self.bits |= number << self.count;
        self.count += count;
        while self.count >= u8::BITS {
            self.bytes.push(self.bits as u8);
            self.bits >>= u8::BITS;
            self.count -= u8::BITS;
        }
    }

    /// Adds a number: how often the power of two is in it, as ones and a zero, then the rest. One that is
    /// too far from what was expected stands behind ones alone.
    fn put_rice(&mut self, number: u32, low: u32) {
        let ones = number >> low;
        if ones < MAX_ONES {
            self.put((1 << ones) - 1, ones + 1);
            self.put(u64::from(number) & ((1 << low) - 1), low);
        } else {
            self.put((1 << MAX_ONES) - 1, MAX_ONES);
            self.put(u64::from(number), u32::BITS);
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.bits as u8);
        }
        self.bytes
    }
}

/// Takes bits off bytes.
struct BitReader<'a> {
    bytes: &'a [u8],
    place: usize,
}

impl BitReader<'_> {
    /// Returns the bits that come next, 57 at least; zeros behind the end.
    fn ahead(&self) -> u64 {
        let rest = self.bytes.get(self.place / 8..).unwrap_or_default();
        let eight = rest.first_chunk::<8>().copied().unwrap_or_else(|| {
            let mut eight = [0; 8];
            eight.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            eight
        });
        u64::from_le_bytes(eight) >> (self.place % 8)
    }

    fn skip(&mut self, count: u32) -> Option<()> {
        self.place += count as usize;
        (self.place <= self.bytes.len() * 8).then_some(())
    }

    /// Takes so many bits, 32 at most.
    fn take(&mut self, count: u32) -> Option<u64> {
        let bits = self.ahead() & ((1 << count) - 1);
        self.skip(count)?;
        Some(bits)
    }

    fn take_rice(&mut self, low: u32) -> Option<u32> {
        let ones = self.ahead().trailing_ones().min(MAX_ONES);
        if ones == MAX_ONES {
            self.skip(MAX_ONES)?;
            return self.take(u32::BITS).map(|number| number as u32);
        }
        self.skip(ones + 1)?;
        let rest = self.take(low)? as u32;
        ones.checked_shl(low)?.checked_add(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_they_were_written() {
        let full = Count { term: 1, body: u32::MAX >> 1, title: 255, tags: 255, headings: 1, is_tag: true };
        let title = Count { term: 1, title: 1, ..Count::default() };
        let once = Count { term: 1, body: 1, ..Count::default() };
        let notes = [(0, once), (1, full), (70, once), (71, title), (5000, once), (5001, full)];
        for split in 0..notes.len() {
            let (mut all, mut later) = (Lists::default(), Lists::default());
            [&mut all, &mut later].into_iter().for_each(|lists| lists.reach(3));
            let first = notes[split].0;
            notes[..split].iter().for_each(|(note, count)| all.add(*note, count));
            notes[split..].iter().for_each(|(note, count)| later.add(note - first, count));
            all.append(&later, first);
            for all_notes in [6, 6_000, u64::MAX] {
                let (list, mut found) = (all.packed(1, 6, all_notes), Vec::new());
                assert_eq!(read(&list, 1, 6, all_notes, |note, count| found.push((note, count))), Some(()));
                assert_eq!(found, notes, "{all_notes}");
                (0..list.len()).for_each(|end| assert_eq!(read(&list[..end], 1, 6, all_notes, |_, _| {}), None));
            }
            assert_eq!((all.packed(0, 0, 9), all.packed(9, 0, 9)), (Vec::new(), Vec::new()));
        }
        assert_eq!(read(&[0xff; 24], 1, 3, 9, |_, _| {}), None);
    }
}
