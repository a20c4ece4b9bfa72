//! Types for the integers that index notes, terms and words.
//!
//! A segment numbers its documents and terms by itself; the composite index has ids of its own for all terms.

use crate::codec::index_type::index_type;

index_type! {
    /// The position of a document in its segment: notes are numbered in the order in which they were indexed.
    pub(crate) DocId
}

index_type! {
    /// The id of a term: in the composite index, or, while a segment is built, in the vocabulary.
    pub(crate) TermId
}

index_type! {
    /// The position of a term in the sorted dictionary of a segment.
    pub(crate) TermOrd
}

index_type! {
    /// The id of a word (a surface form of a term) in its segment. Frequent words have small ids.
    pub(crate) WordId
}

index_type! {
    /// The position of a query term in the plan of a query.
    pub(crate) QueryTermIdx
}

impl TermId {
    /// A term that occurs in no note.
    pub(crate) const UNKNOWN: Self = Self(u32::MAX);
}

impl QueryTermIdx {
    /// The query term of a term that is not in the query.
    pub(crate) const NONE: Self = Self(u32::MAX);
}

/// The address of a document: its segment and its id there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DocAddress {
    /// The position of the segment in the composite index.
    pub(crate) segment: u16,
    /// The document in the segment.
    pub(crate) doc: DocId,
}

impl DocAddress {
    /// The address of a note that is in no segment.
    pub(crate) const NONE: Self = Self { segment: u16::MAX, doc: DocId(u32::MAX) };
}
