//! The links of all notes, in as little room as they need: a large store has half a million.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};

/// A link without the note that makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OutLink {
    pub(super) to: u32,
    /// Where it stands, one bit each, and the number of its type above them.
    how: u32,
}

/// A link stands in frontmatter; in a body.
pub(super) const TYPED: u32 = 1;
pub(super) const INLINE: u32 = 1 << 1;
const PLACES: u32 = TYPED | INLINE;

impl OutLink {
    /// Makes a link that stands in some places.
    pub(super) fn new(to: usize, kind: u32, places: u32) -> Self {
        Self { to: to as u32, how: kind << PLACES.count_ones() | places }
    }

    /// Returns the number of its type.
    pub(super) fn kind(&self) -> u32 {
        self.how >> PLACES.count_ones()
    }

    /// Returns where it stands: of [`TYPED`] and [`INLINE`].
    pub(super) fn places(&self) -> u32 {
        self.how & PLACES
    }

    /// Lets it stand in more places.
    pub(super) fn add_places(&mut self, places: u32) {
        self.how |= places;
    }
}

/// The links of some notes that stand one behind the other.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct AdjacencyLists {
    /// Where the links of each note end.
    pub(super) ends: Vec<u32>,
    pub(super) all: Vec<OutLink>,
    pub(super) kinds: LinkTypeTable,
    /// The targets that do not exist.
    pub(super) unresolved: SparseStrings,
    /// Paths that lead out of the store.
    pub(super) outside: SparseStrings,
}

impl AdjacencyLists {
    /// Returns the links of a note; none of a note that is not there.
    pub(super) fn of(&self, note: usize) -> &[OutLink] {
        let start = note.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let range = start.zip(self.ends.get(note).copied());
        range.and_then(|(start, end)| self.all.get(start as usize..end as usize)).unwrap_or_default()
    }

    /// Returns a link by its place among all, with the note that makes it.
    pub(super) fn with_note(&self, place: usize) -> Option<(usize, &OutLink)> {
        Some((self.ends.partition_point(|end| *end as usize <= place), self.all.get(place)?))
    }

    /// Tells whether these can be the links of so many notes.
    pub(super) fn are_of(&self, notes: usize) -> bool {
        let is_one = |link: &OutLink| (link.to as usize) < notes && (link.kind() as usize) < self.kinds.texts.len();
        self.ends.len() == notes
            && self.ends.is_sorted()
            && self.ends.last().copied().unwrap_or_default() as usize == self.all.len()
            && self.all.iter().all(is_one)
            && [&self.unresolved, &self.outside].iter().all(|texts| texts.are_of(notes))
    }

    /// Adds the next note with its links.
    pub(super) fn push(&mut self, links: impl IntoIterator<Item = OutLink>) {
        self.all.extend(links);
        self.ends.push(self.all.len() as u32);
    }

    /// Adds the notes that stand behind these.
    pub(super) fn append(&mut self, next: Self) {
        let (notes, before) = (self.ends.len(), self.all.len() as u32);
        let numbers: Vec<u32> = next.kinds.texts.iter().map(|kind| self.kinds.number(kind)).collect();
        let known = |link: OutLink| {
            let kind = numbers.get(link.kind() as usize)?;
            Some(OutLink::new(link.to as usize, *kind, link.places()))
        };
        self.all.extend(next.all.into_iter().filter_map(known));
        self.ends.extend(next.ends.into_iter().map(|end| before + end));
        self.unresolved.append(next.unresolved, notes);
        self.outside.append(next.outside, notes);
    }
}

/// The types of links, each with a number.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct LinkTypeTable {
    texts: Vec<Box<str>>,
    /// Empty where the types were kept: none is added then.
    #[serde(skip)]
    numbers: HashMap<Box<str>, u32, RandomState>,
}

impl LinkTypeTable {
    /// Returns the number of a type, which may be a new one.
    pub(super) fn number(&mut self, kind: &str) -> u32 {
        if let Some(number) = self.numbers.get(kind) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(kind.into());
        self.numbers.insert(kind.into(), number);
        number
    }

    /// Returns the type that has a number.
    pub(super) fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map(|kind| &**kind).unwrap_or_default()
    }
}

/// Texts of notes, most of which have none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SparseStrings {
    pub(super) all: Vec<String>,
    /// The note that each belongs to, in order.
    pub(super) notes: Vec<u32>,
}

impl SparseStrings {
    /// Returns the texts of a note.
    pub(super) fn of(&self, note: usize) -> &[String] {
        let start = self.notes.partition_point(|have| (*have as usize) < note);
        let rest = self.notes.get(start..).unwrap_or_default();
        let count = rest.partition_point(|have| *have as usize == note);
        self.all.get(start..start + count).unwrap_or_default()
    }

    /// Adds a text of a note behind which no other has one.
    pub(super) fn push(&mut self, note: usize, text: &str) {
        self.all.push(text.to_owned());
        self.notes.push(note as u32);
    }

    fn are_of(&self, notes: usize) -> bool {
        let is_note = |note: &u32| (*note as usize) < notes;
        self.all.len() == self.notes.len() && self.notes.is_sorted() && self.notes.iter().all(is_note)
    }

    fn append(&mut self, next: Self, notes: usize) {
        self.all.extend(next.all);
        self.notes.extend(next.notes.into_iter().map(|note| note + notes as u32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(of: &[&[(u32, &str)]]) -> AdjacencyLists {
        let mut links = AdjacencyLists::default();
        for (note, of) in of.iter().enumerate() {
            let all: Vec<OutLink> =
                of.iter().map(|(to, kind)| OutLink::new(*to as usize, links.kinds.number(kind), TYPED)).collect();
            links.push(all);
            if note % 2 == 1 {
                links.unresolved.push(note, &format!("{note} a"));
                links.unresolved.push(note, &format!("{note} b"));
            }
        }
        links
    }

    #[test]
    fn what_is_put_together_is_as_if_it_was_made_at_once() {
        let all: [&[(u32, &str)]; 6] =
            [&[(1, "a"), (2, "b")], &[], &[(0, "c")], &[(5, "b"), (4, "d"), (1, "c")], &[], &[(0, "a")]];
        let whole = links(&all);
        for cut in [0, 2, 4, 6] {
            let mut parts = links(&all[..cut]);
            let mut rest = links(&all[cut..]);
            for text in &mut rest.unresolved.all {
                let (note, letter) = text.split_once(' ').unwrap();
                *text = format!("{} {letter}", note.parse::<usize>().unwrap() + cut);
            }
            parts.append(rest);
            for note in 0..=all.len() {
                let said = |links: &AdjacencyLists| {
                    links
                        .of(note)
                        .iter()
                        .map(|link| (link.to, links.kinds.text(link.kind()).to_owned()))
                        .collect::<Vec<_>>()
                };
                assert_eq!(said(&parts), said(&whole), "{cut} {note}");
                assert_eq!(parts.unresolved.of(note), whole.unresolved.of(note), "{cut} {note}");
            }
        }
        assert_eq!(whole.unresolved.of(3), ["3 a", "3 b"]);
        assert!(whole.unresolved.of(2).is_empty() && whole.of(6).is_empty());
    }
}
