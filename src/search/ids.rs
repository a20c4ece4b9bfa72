//! Types for the integers that index notes, terms and words.
//!
//! A segment numbers its documents and terms by itself; the [composite index](super::read::composite_index) has ids of
//! its own for the terms of all segments.

use serde::{Deserialize, Serialize};

/// Defines an index type over `u32`.
macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub(crate) struct $name(pub(crate) u32);

        impl $name {
            /// Returns the id as an index into an array.
            #[inline]
            pub(crate) fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the ids below `count`, in ascending order.
            #[inline]
            pub(crate) fn all(count: usize) -> impl ExactSizeIterator<Item = Self> + Clone {
                (0..count as u32).map(Self)
            }
        }
    };
}

index_type! {
    /// The position of a document in its segment: notes are numbered in the order in which they were indexed.
    DocId
}

index_type! {
    /// The id of a term: in the composite index, or, while a segment is built, in the vocabulary.
    TermId
}

index_type! {
    /// The position of a term in the sorted dictionary of a segment.
    TermOrd
}

index_type! {
    /// The id of a word (a surface form of a term) in its segment. Frequent words have small ids.
    WordId
}

index_type! {
    /// The position of a query term in the plan of a query.
    QueryTermIdx
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
    /// The position of the segment in the composite index: 0 or 1.
    pub(crate) segment: u8,
    /// The document in the segment.
    pub(crate) doc: DocId,
}
