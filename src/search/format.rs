//! The layout of a stored segment; specs/internals/index.md describes its bytes.

use serde::{Deserialize, Serialize};

/// The version of the layout and of text analysis. It is part of the key of a stored segment, so that a segment of
/// another version is not read. Raise it when the layout or the terms of any text change.
pub(crate) const VERSION: u32 = 5;

/// The number of bits below the length of a body: its share of questions, and whether it names a time.
pub(crate) const BODY_FLAG_BITS: u32 = 5;

/// The longest prefix, in bytes, that a dictionary entry shares with the one before it.
pub(crate) const MAX_SHARED_PREFIX: usize = 255;

/// The blobs of a stored segment.
#[derive(Debug, Clone, Copy)]
pub(crate) enum IndexPart {
    /// The [`SegmentCounts`].
    Counts,
    /// The field norms of each document, and the length of its forward entry.
    Documents,
    /// The dictionary: document frequencies, and the lengths of the term and its postings list.
    Terms,
    /// The texts of the dictionary, front-coded.
    TermTexts,
    /// The term of each word.
    Words,
    /// The document frequency and the kind of each word.
    WordRows,
    /// The texts of the words that differ from their terms.
    WordTexts,
    /// The forward index: the words of each document.
    Forward,
    /// The postings list of each term.
    Postings,
}

impl IndexPart {
    pub(crate) const COUNT: usize = Self::Postings as usize + 1;
}

/// How the text of a word is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum WordKind {
    /// It has none: the term is no word by itself.
    NoWord,
    /// It equals its term.
    AsTerm,
    /// It is stored, since it differs from its term.
    Other,
}

/// The sizes of a segment.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct SegmentCounts {
    pub(crate) terms: usize,
    pub(crate) words: usize,
    pub(crate) totals: Totals,
}

/// The lengths of a document's fields in content terms, and two facts of its body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FieldLengths {
    pub(crate) title: u32,
    pub(crate) body: u32,
    /// Whether the body names a time.
    pub(crate) has_time: bool,
    /// The share of questions among the sentences of the body, in `QUESTION_UNITS`.
    pub(crate) questions: u8,
}

/// Sums over documents; lengths are in content terms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub(crate) documents: u64,
    /// The length of all titles.
    pub(crate) title: u64,
    /// The length of all bodies.
    pub(crate) body: u64,
    /// The number of bodies with a content term: the others do not count for the average length.
    pub(crate) bodies: u64,
    pub(crate) paragraphs: u64,
    /// The length of all paragraphs.
    pub(crate) paragraph_words: u64,
}

impl Totals {
    /// Returns the sums of one document without those of its paragraphs.
    pub(crate) fn of(norms: FieldLengths) -> Self {
        let FieldLengths { title, body, .. } = norms;
        Self { documents: 1, title: title.into(), body: body.into(), bodies: (body > 0).into(), ..Self::default() }
    }

    /// Adds the sums of other documents.
    pub(crate) fn add(&mut self, other: Self) {
        self.documents += other.documents;
        self.title += other.title;
        self.body += other.body;
        self.bodies += other.bodies;
        self.paragraphs += other.paragraphs;
        self.paragraph_words += other.paragraph_words;
    }

    /// Subtracts the sums of documents that were added.
    pub(crate) fn subtract(&mut self, other: Self) {
        debug_assert!(self.documents >= other.documents, "only documents that were added are subtracted");
        self.documents = self.documents.saturating_sub(other.documents);
        self.title = self.title.saturating_sub(other.title);
        self.body = self.body.saturating_sub(other.body);
        self.bodies = self.bodies.saturating_sub(other.bodies);
        self.paragraphs = self.paragraphs.saturating_sub(other.paragraphs);
        self.paragraph_words = self.paragraph_words.saturating_sub(other.paragraph_words);
    }
}
