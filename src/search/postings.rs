//! Which notes hold a term, and how often in which of their fields: a list for each term.
//!
//! A list has a number for each of its notes, in their order: how many notes are between it and the one
//! before, and whether there is more to say than that its body holds the term once; that follows. Words
//! that say nothing have no list: it would be as long as the store.

use super::varint::{Reader, put};

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

    /// Returns the list of a term as it is kept.
    pub(super) fn list(&self, term: u32) -> &[u8] {
        self.lists.get(term as usize).map(|list| list.bytes.as_slice()).unwrap_or_default()
    }
}

/// Calls `take` with each note of a term's list; `None` where this can't be one.
pub(super) fn read(list: &[u8], term: u32, mut take: impl FnMut(u32, Count)) -> Option<()> {
    let (mut rest, mut next) = (Reader(list), 0_u32);
    while !rest.0.is_empty() {
        let number = rest.number()?;
        let note = next.checked_add(number >> 1)?;
        let count = match number & 1 {
            0 => Count { term, body: 1, ..Count::default() },
            _ => Count::read(term, &mut rest)?,
        };
        take(note, count);
        next = note.checked_add(1)?;
    }
    Some(())
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
            let mut found = Vec::new();
            assert_eq!(read(all.list(1), 1, |note, count| found.push((note, count))), Some(()));
            assert_eq!(found, notes);
            assert_eq!((all.list(0), all.list(9)), (&[][..], &[][..]));
        }
        let mut cut = Lists::default();
        cut.reach(2);
        cut.add(3, &full);
        let whole = cut.list(1);
        (1..whole.len()).for_each(|end| assert_eq!(read(&whole[..end], 1, |_, _| {}), None, "{end}"));
        assert_eq!(read(&[0xff; 12], 1, |_, _| {}), None);
    }
}
