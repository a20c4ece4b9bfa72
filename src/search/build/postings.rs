//! Which notes hold a term, and how often in which of their fields: a list for each term.
//!
//! A list has for each of its notes, in their order, how many notes are between it and the one before, and
//! whether there is more to say than that its body holds the term once; that follows. Words that say
//! nothing have no list: it would be as long as the store.
//!
//! While notes are taken in, what they hold is put in the order of the terms, run by run; lists are kept in as few
//! bits as they need.

use rayon::prelude::*;

use crate::codec::bits::{BitReader, BitWriter};

/// A count that takes few bits: seven for these, of which the first are for the body.
const SHORT_BITS: u32 = 7;
const BODY_BITS: u32 = 3;
/// Stands where a count takes more bits: no note is on a list for nothing.
const LONG: u64 = 0;
/// There is no more to say than that the body holds the term once.
const PLAIN: u64 = 1;

/// The field of a note that a word belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextField {
    Title,
    /// A tag; whether the word is the whole of it.
    Tag(bool),
    Heading,
    Body,
}

/// The frequencies of a term in a note, by field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FieldTermFreqs {
    pub(crate) term: u32,
    /// In the body, headings included, and in a summary of the frontmatter.
    pub(crate) body: u32,
    /// In title and aliases; at most 255, like the next two.
    pub(crate) title: u8,
    pub(crate) tags: u8,
    /// In headings that are not the title.
    pub(crate) headings: u8,
    /// Whether it is the whole of a tag.
    pub(crate) is_tag: bool,
}

impl FieldTermFreqs {
    /// Counts a word.
    pub(crate) fn add(&mut self, field: TextField) {
        match field {
            TextField::Title => self.title = self.title.saturating_add(1),
            TextField::Tag(is_whole) => {
                self.tags = self.tags.saturating_add(1);
                self.is_tag |= is_whole;
            }
            TextField::Heading => self.headings = self.headings.saturating_add(1),
            TextField::Body => self.body = self.body.saturating_add(1),
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

    /// Adds what stands behind [`LONG`].
    fn put_long(&self, bits: &mut BitWriter) {
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
}

/// Among how many shares terms are divided: as many threads can put them in order.
const SHARES: usize = 4;

fn share(term: u32) -> (usize, usize) {
    (term as usize % SHARES, term as usize / SHARES)
}

/// A packed posting: the low 25 bits hold the term id within its shard (after sorting: the document id), the high 7
/// bits the field frequencies, or [`LONG`] where these overflow and are stored apart.
type PackedPosting = u32;

/// The most notes that are taken in at once, and the most terms of a share: a run has far fewer notes, and so many
/// terms would take more memory than there is.
const MAX_HELD: u32 = 1 << (u32::BITS - SHORT_BITS);

/// Collects postings and writes the lists of all terms.
#[derive(Default)]
pub(crate) struct PostingsWriter {
    /// By the terms' shares, then run by run.
    shares: [Vec<SortedRun>; SHARES],
}

/// Postings of some documents, sorted by (term of the shard, document).
struct SortedRun {
    /// The notes are counted from this one.
    first: u32,
    /// Where the entries of each term end.
    ends: Vec<u32>,
    held: Vec<PackedPosting>,
    /// Counts that are not short: the place of the term, the note.
    long: Vec<(u32, u32, FieldTermFreqs)>,
}

impl SortedRun {
    /// Puts in order what notes hold of so many terms; of each piece the notes are counted from its first one.
    fn new(terms: usize, first: u32, pieces: &[(u32, &ShardBuffer)]) -> Self {
        let mut ends = vec![0; terms];
        for held in pieces.iter().flat_map(|(_, pile)| &pile.held) {
            // Terms that came up with these notes are counted in.
            ends[(held % MAX_HELD) as usize] += 1;
        }
        let mut end = 0;
        for have in &mut ends {
            end += std::mem::replace(have, end);
        }
        // What is a beginning becomes an end.
        let (mut ordered, mut long) = (vec![0; end as usize], Vec::new());
        for (start, pile) in pieces {
            let start = start - first;
            for (note, held) in (start..).zip(pile.notes()) {
                for held in held {
                    let end = &mut ends[(held % MAX_HELD) as usize];
                    ordered[*end as usize] = held / MAX_HELD * MAX_HELD + note;
                    *end += 1;
                }
            }
            long.extend(pile.long.iter().map(|(place, note, count)| (*place, start + note, *count)));
        }
        long.sort_unstable_by_key(|(place, note, _)| (*place, *note));
        Self { first, ends, held: ordered, long }
    }

    /// Returns the entries of the term at a place.
    fn entries(&self, place: usize) -> &[PackedPosting] {
        let start = place.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default();
        let end = self.ends.get(place).copied().unwrap_or(start);
        self.held.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Returns a count that is not short.
    fn long_count(&self, place: usize, note: u32) -> FieldTermFreqs {
        let found = self.long.binary_search_by_key(&(place as u32, note), |(place, note, _)| (*place, *note));
        found.ok().and_then(|at| self.long.get(at)).map(|(_, _, count)| *count).unwrap_or_default()
    }
}

impl PostingsWriter {
    /// Adds to the lists of so many terms what the next notes hold: some at a time, whose numbers are counted
    /// from the first of them.
    pub(crate) fn add(&mut self, terms: usize, held: &[(u32, &PostingsBuffer)]) {
        let Some((first, _)) = held.first() else { return };
        self.shares.par_iter_mut().enumerate().for_each(|(share, runs)| {
            let pieces: Vec<_> = held.iter().map(|(start, holdings)| (*start, &holdings.shares[share])).collect();
            runs.push(SortedRun::new(terms.div_ceil(SHARES), *first, &pieces));
        });
    }

    /// Returns the lists of terms, of so many of all notes, as they are kept.
    pub(crate) fn packed(&self, terms: impl Iterator<Item = (u32, u32)>, notes: u64) -> EncodedPostings {
        let (mut bits, mut ends) = (BitWriter::default(), Vec::new());
        for (term, holders) in terms {
            let ((share, place), low, mut next) = (share(term), low_bits(holders, notes), 0);
            for run in &self.shares[share] {
                for entry in run.entries(place) {
                    let (note, short) = (entry % MAX_HELD, u64::from(entry / MAX_HELD));
                    let gap = (run.first + note).saturating_sub(next);
                    match short {
                        PLAIN => bits.put_rice(gap, low, 0, 1),
                        short => bits.put_rice(gap, low, short << 1 | 1, 1 + SHORT_BITS),
                    }
                    if short == LONG {
                        run.long_count(place, note).put_long(&mut bits);
                    }
                    next = run.first + note + 1;
                }
            }
            ends.push(bits.end_byte());
        }
        EncodedPostings { bytes: bits.finish(), ends }
    }
}

/// PostingsWriter as they are kept, one behind the other.
pub(crate) struct EncodedPostings {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl EncodedPostings {
    /// Returns one of the lists.
    pub(crate) fn get(&self, number: usize) -> Option<&[u8]> {
        let start = number.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.bytes.get(start..*self.ends.get(number)?)
    }
}

/// Unsorted postings, by shard of the vocabulary.
#[derive(Default)]
pub(crate) struct PostingsBuffer {
    shares: [ShardBuffer; SHARES],
    notes: u32,
}

/// Unsorted postings of one shard.
#[derive(Default)]
struct ShardBuffer {
    held: Vec<PackedPosting>,
    /// Where that of each note ends.
    ends: Vec<usize>,
    long: Vec<(u32, u32, FieldTermFreqs)>,
}

impl ShardBuffer {
    /// Goes through what each note holds.
    fn notes(&self) -> impl Iterator<Item = &[PackedPosting]> {
        let mut start = 0;
        self.ends.iter().map(move |end| self.held.get(std::mem::replace(&mut start, *end)..*end).unwrap_or_default())
    }
}

impl PostingsBuffer {
    /// Makes room for what about so many terms need.
    pub(crate) fn reserve(&mut self, terms: usize) {
        self.shares.iter_mut().for_each(|pile| pile.held.reserve_exact(terms / SHARES));
    }

    /// Takes all notes away, but not the room that they took.
    pub(crate) fn clear(&mut self) {
        for ShardBuffer { held, ends, long } in &mut self.shares {
            held.clear();
            ends.clear();
            long.clear();
        }
        self.notes = 0;
    }

    /// Adds what the next note holds of each of its terms.
    pub(crate) fn add<'a>(&mut self, counts: impl Iterator<Item = &'a FieldTermFreqs>) {
        for count in counts {
            let (share, place) = share(count.term);
            let pile = &mut self.shares[share];
            let short = count.short().unwrap_or(LONG) as u32;
            pile.held.push(short * MAX_HELD + place as u32);
            if short == LONG as u32 {
                pile.long.push((place as u32, self.notes, *count));
            }
        }
        self.shares.iter_mut().for_each(|pile| pile.ends.push(pile.held.len()));
        self.notes += 1;
    }
}

/// Calls `take` with each note of a term's list, of so many of all notes; `None` where this can't be one.
pub(crate) fn read(
    list: &[u8],
    term: u32,
    holders: u32,
    notes: u64,
    mut take: impl FnMut(u32, FieldTermFreqs),
) -> Option<()> {
    let (mut bits, mut next) = (BitReader::new(list), 0_u32);
    let low = low_bits(holders, notes);
    for _ in 0..holders {
        let note = next.checked_add(bits.take_rice(low)?)?;
        let count = match bits.take(1)? {
            0 => FieldTermFreqs { term, body: 1, ..FieldTermFreqs::default() },
            _ => FieldTermFreqs::read_bits(term, &mut bits)?,
        };
        take(note, count);
        next = note.checked_add(1)?;
    }
    Some(())
}

/// Returns how many bits of a gap are written as they are: the others, in unary, are few where the gaps of
/// a list are as they are by chance.
fn low_bits(holders: u32, notes: u64) -> u32 {
    // The power of two at or below 0.69 of the mean gap.
    let gaps = u128::from(notes.saturating_sub(u64::from(holders)));
    (gaps * 11 / (16 * u128::from(holders.max(1)))).max(1).ilog2().min(u32::BITS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_they_were_written() {
        let full = FieldTermFreqs { term: 1, body: u32::MAX >> 1, title: 255, tags: 255, headings: 1, is_tag: true };
        let title = FieldTermFreqs { term: 1, title: 1, ..FieldTermFreqs::default() };
        let once = FieldTermFreqs { term: 1, body: 1, ..FieldTermFreqs::default() };
        let notes = [(0, once), (1, full), (70, once), (71, title), (5000, once), (5001, full)];
        for split in 0..notes.len() {
            let first = notes[split].0;
            let holdings = |notes: &[(u32, FieldTermFreqs)], first: u32| {
                let mut holdings = PostingsBuffer::default();
                for (note, count) in notes {
                    (holdings.notes..note - first).for_each(|_| holdings.add([].iter()));
                    holdings.add([*count].iter());
                }
                holdings
            };
            let (early, later) = (holdings(&notes[..split], 0), holdings(&notes[split..], first));
            let (mut one_run, mut two_runs) = (PostingsWriter::default(), PostingsWriter::default());
            one_run.add(3, &[(0, &early), (first, &later)]);
            two_runs.add(2, &[(0, &early)]);
            two_runs.add(3, &[(first, &later)]);
            for (all, all_notes) in [(&one_run, 6), (&two_runs, 6_000), (&one_run, u64::MAX), (&two_runs, 7)] {
                let lists = all.packed([(0, 0), (1, 6), (9, 0)].into_iter(), all_notes);
                let lengths = [0, 1, 2, 3].map(|number| lists.get(number).map(<[u8]>::len));
                assert_eq!(lengths, [Some(0), Some(lists.bytes.len()), Some(0), None]);
                let (list, mut found) = (lists.bytes, Vec::new());
                assert_eq!(read(&list, 1, 6, all_notes, |note, count| found.push((note, count))), Some(()));
                assert_eq!(found, notes, "{all_notes}");
                (0..list.len()).for_each(|end| assert_eq!(read(&list[..end], 1, 6, all_notes, |_, _| {}), None));
            }
        }
        assert_eq!(read(&[0xff; 24], 1, 3, 9, |_, _| {}), None);
    }
}
