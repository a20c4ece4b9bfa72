//! The links of all notes as adjacency lists (compressed sparse row), packed: a large store has half a million links.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};

use crate::codec::columns::{self, ColumnReader};
use crate::codec::offsets::Offsets;
use crate::store::NoteIdx;

/// A link without its source note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutLink {
    pub(super) to: NoteIdx,
    /// The origin bits, and the index of the type above them.
    packed: u32,
}

/// Origin bit of a link in frontmatter, and of a link in a body.
pub(super) const TYPED: u32 = 1;
pub(super) const INLINE: u32 = 1 << 1;
const ORIGIN_BITS: u32 = TYPED | INLINE;

impl OutLink {
    /// Packs a link; `kind` is the index of its type, `origins` a combination of [`TYPED`] and [`INLINE`].
    pub(super) fn new(to: NoteIdx, kind: u32, origins: u32) -> Self {
        Self { to, packed: kind << ORIGIN_BITS.count_ones() | origins }
    }

    pub(super) fn kind(&self) -> u32 {
        self.packed >> ORIGIN_BITS.count_ones()
    }

    /// Returns its origins, a combination of [`TYPED`] and [`INLINE`].
    pub(super) fn origins(&self) -> u32 {
        self.packed & ORIGIN_BITS
    }

    pub(super) fn add_origins(&mut self, origins: u32) {
        self.packed |= origins;
    }
}

/// The links of consecutive notes.
#[derive(Debug, Clone, Default)]
pub(super) struct AdjacencyLists {
    /// The end offset of each note's links in `all`.
    pub(super) ends: Offsets,
    pub(super) all: Vec<OutLink>,
    pub(super) kinds: LinkTypeTable,
    /// Link targets that do not exist.
    pub(super) unresolved: SparseStrings,
    /// Paths that lead outside the store.
    pub(super) outside: SparseStrings,
    /// The notes, ascending, with a link to nothing in their collection that may lead to a note of another one.
    pub(super) open: Vec<NoteIdx>,
    /// Those of `open` with a name that may begin with the name of a collection, be it the note's own.
    pub(super) qualified: Vec<NoteIdx>,
}

/// What [`AdjacencyLists`] has besides the links: the numbers of notes and links, then its other fields in their order.
type EncodedRest = (usize, usize, LinkTypeTable, SparseStrings, SparseStrings, Vec<NoteIdx>, Vec<NoteIdx>);

impl AdjacencyLists {
    /// Encodes the lists: [`EncodedRest`], then columns with the number of links of each note, their targets, and their
    /// types with their origins.
    pub(super) fn encode(&self) -> Vec<u8> {
        let Self { ends, all, kinds, unresolved, outside, open, qualified } = self;
        let rest = (ends.row_count(), all.len(), kinds, unresolved, outside, open, qualified);
        // Writing into memory can't fail; empty bytes would be rejected by `decode`.
        let mut bytes = postcard::to_allocvec(&rest).unwrap_or_default();
        let lengths: Vec<u32> = ends.lengths().collect();
        columns::write(&mut bytes, &lengths);
        columns::write(&mut bytes, &all.iter().map(|link| link.to.0).collect::<Vec<u32>>());
        columns::write(&mut bytes, &all.iter().map(|link| link.packed).collect::<Vec<u32>>());
        bytes
    }

    /// Decodes the output of [`AdjacencyLists::encode`]; `None` if it is corrupt.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (rest, columns): (EncodedRest, &[u8]) = postcard::take_from_bytes(bytes).ok()?;
        let (notes, links, kinds, unresolved, outside, open, qualified) = rest;
        let mut columns = ColumnReader(columns);
        let ends = Offsets::of_lengths(columns.read(notes)?)?;
        let targets = columns.read(links)?.into_iter();
        let all = targets.zip(columns.read(links)?).map(|(to, packed)| OutLink { to: NoteIdx(to), packed }).collect();
        columns.0.is_empty().then_some(Self { ends, all, kinds, unresolved, outside, open, qualified })
    }

    /// Returns the links of a note; none if the index is out of range.
    pub(super) fn of(&self, note: NoteIdx) -> &[OutLink] {
        self.ends.row(note.index(), &self.all)
    }

    /// Returns a link by its index in `all`, with the index of its source note. O(log notes).
    pub(super) fn with_source(&self, index: usize) -> Option<(NoteIdx, &OutLink)> {
        Some((NoteIdx::new(self.ends.row_at(index)), self.all.get(index)?))
    }

    /// Tells whether offsets and indices are consistent and within a store of `notes` notes.
    pub(super) fn is_in_bounds(&self, notes: usize) -> bool {
        let is_valid = |link: &OutLink| link.to.index() < notes && (link.kind() as usize) < self.kinds.names.len();
        self.ends.fits(notes, self.all.len())
            && self.all.iter().all(is_valid)
            && [&self.unresolved, &self.outside].iter().all(|strings| strings.is_in_bounds(notes))
            && [&self.open, &self.qualified]
                .iter()
                .all(|rows| rows.is_sorted() && rows.last().is_none_or(|last| last.index() < notes))
    }

    /// Appends the next note with its links.
    pub(super) fn push(&mut self, links: impl IntoIterator<Item = OutLink>) {
        self.all.extend(links);
        self.ends.push(self.all.len() as u32);
    }

    /// Adds a number to the indices of all targets, for lists that will follow as many notes.
    pub(super) fn shift(&mut self, notes: usize) {
        self.all.iter_mut().for_each(|link| link.to = NoteIdx::new(link.to.index() + notes));
    }

    /// Copies the links of a note from other lists behind the last note.
    pub(super) fn push_copy(&mut self, other: &Self, note: NoteIdx) {
        let row = NoteIdx::new(self.ends.row_count());
        other.unresolved.of(note).for_each(|text| self.unresolved.push(row, text));
        other.outside.of(note).for_each(|text| self.outside.push(row, text));
        let kinds = &mut self.kinds;
        let copy = |link: &OutLink| OutLink::new(link.to, kinds.intern(other.kinds.name(link.kind())), link.origins());
        let copied: Vec<OutLink> = other.of(note).iter().map(copy).collect();
        self.push(copied);
    }

    /// Appends lists whose first note follows the last one of these.
    pub(super) fn append(&mut self, next: Self) {
        let notes = self.ends.row_count();
        let kinds: Vec<u32> = next.kinds.names.iter().map(|kind| self.kinds.intern(kind)).collect();
        let with_own_kind = |link: OutLink| {
            let kind = kinds.get(link.kind() as usize)?;
            Some(OutLink::new(link.to, *kind, link.origins()))
        };
        self.all.extend(next.all.into_iter().filter_map(with_own_kind));
        self.ends.append(&next.ends);
        self.unresolved.append(&next.unresolved, notes);
        self.outside.append(&next.outside, notes);
        let shifted = |note: NoteIdx| NoteIdx::new(note.index() + notes);
        self.open.extend(next.open.into_iter().map(shifted));
        self.qualified.extend(next.qualified.into_iter().map(shifted));
    }
}

/// The link types, interned.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct LinkTypeTable {
    names: Vec<Box<str>>,
    /// The index of each type; empty in a decoded table, to which no type is added.
    #[serde(skip)]
    indices: HashMap<Box<str>, u32, RandomState>,
}

impl LinkTypeTable {
    /// Returns the index of a type, which is added if it is new.
    pub(super) fn intern(&mut self, kind: &str) -> u32 {
        if let Some(index) = self.indices.get(kind) {
            return *index;
        }
        let index = self.names.len() as u32;
        self.names.push(kind.into());
        self.indices.insert(kind.into(), index);
        index
    }

    pub(super) fn len(&self) -> u32 {
        self.names.len() as u32
    }

    /// Returns the index of a type; `None` if no link has it. O(types).
    pub(super) fn index(&self, kind: &str) -> Option<u32> {
        self.names.iter().zip(0..).find(|(name, _)| &***name == kind).map(|(_, index)| index)
    }

    /// Returns the type with an index; empty if the index is out of range.
    pub(super) fn name(&self, index: u32) -> &str {
        self.names.get(index as usize).map(|kind| &**kind).unwrap_or_default()
    }
}

/// Strings per note, for fields that most notes lack: a sparse map from note index to strings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SparseStrings {
    /// The strings, one after another.
    text: String,
    ends: Offsets,
    /// The note index of each string, sorted.
    notes: Vec<NoteIdx>,
}

impl SparseStrings {
    /// Returns the strings of a note. O(log strings).
    pub(super) fn of(&self, note: NoteIdx) -> impl Iterator<Item = &str> + Clone {
        let start = self.notes.partition_point(|owner| *owner < note);
        let rest = self.notes.get(start..).unwrap_or_default();
        let count = rest.partition_point(|owner| *owner == note);
        (start..start + count).map(|row| self.ends.text(row, &self.text))
    }

    /// Appends a string; `note` must not be less than the last note that has one.
    pub(super) fn push(&mut self, note: NoteIdx, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
        self.notes.push(note);
    }

    fn is_in_bounds(&self, notes: usize) -> bool {
        let is_note = |note: &NoteIdx| note.index() < notes;
        self.ends.fits(self.notes.len(), self.text.len()) && self.notes.is_sorted() && self.notes.iter().all(is_note)
    }

    fn append(&mut self, next: &Self, notes: usize) {
        self.text.push_str(&next.text);
        self.ends.append(&next.ends);
        self.notes.extend(next.notes.iter().map(|note| NoteIdx::new(note.index() + notes)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the links of notes; `first` is the index of the first one in the whole.
    fn links(of: &[&[(u32, &str)]], first: u32) -> AdjacencyLists {
        let mut links = AdjacencyLists::default();
        for (note, of) in NoteIdx::all(of.len()).zip(of) {
            let all: Vec<OutLink> =
                of.iter().map(|(to, kind)| OutLink::new(NoteIdx(*to), links.kinds.intern(kind), TYPED)).collect();
            links.push(all);
            if note.0 % 2 == 1 {
                links.unresolved.push(note, &format!("{} a", first + note.0));
                links.unresolved.push(note, &format!("{} b", first + note.0));
                links.open.push(note);
            }
        }
        links
    }

    #[test]
    fn what_is_put_together_is_as_if_it_was_made_at_once() {
        let all: [&[(u32, &str)]; 6] =
            [&[(1, "a"), (2, "b")], &[], &[(0, "c")], &[(5, "b"), (4, "d"), (1, "c")], &[], &[(0, "a")]];
        let whole = links(&all, 0);
        let lost = |links: &AdjacencyLists, note: u32| -> Vec<String> {
            links.unresolved.of(NoteIdx(note)).map(str::to_owned).collect()
        };
        for cut in [0, 2, 4, 6] {
            let mut parts = links(&all[..cut], 0);
            parts.append(links(&all[cut..], cut as u32));
            assert_eq!(parts.open, whole.open);
            for note in NoteIdx::all(all.len() + 1) {
                let said = |links: &AdjacencyLists| {
                    links
                        .of(note)
                        .iter()
                        .map(|link| (link.to.0, links.kinds.name(link.kind()).to_owned()))
                        .collect::<Vec<_>>()
                };
                assert_eq!(said(&parts), said(&whole), "{cut} {note:?}");
                assert_eq!(lost(&parts, note.0), lost(&whole, note.0), "{cut} {note:?}");
            }
        }
        assert_eq!(lost(&whole, 3), ["3 a", "3 b"]);
        assert!(lost(&whole, 2).is_empty() && whole.of(NoteIdx(6)).is_empty());
    }
}
