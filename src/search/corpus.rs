//! What is known of a store's texts: which terms stand where, in whole numbers only.
//!
//! Everything that a query needs is here, so that it can be kept in a file. It is made in three steps,
//! each side by side for parts of the store: texts are read as chunks by number (reading), each
//! different chunk is brought to its terms once (lexicon), and the terms are counted (counting). Numbers
//! of terms follow the order in which they are first met; nothing that is computed depends on them.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::chunks::Chunks;
use super::counting::{Counted, Counter};
use super::lexicon::{Lexicon, Term};
use super::reading::Read;
use super::stems::Stems;
use super::words::Chunk;
use crate::note::{Language, Note};

/// The texts of a store as terms.
pub struct Corpus {
    pub(super) stems: Stems,
    /// In the order of the notes.
    pub(super) documents: Vec<Document>,
    /// The terms of the documents, in pieces of the store.
    pieces: Vec<Terms>,
    pub(super) lexicon: Lexicon,
    pub(super) totals: Totals,
}

/// Sums over all notes; lengths are in terms that say something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) title: u64,
    pub(super) body: u64,
    /// How many bodies say something: a note without text says nothing of how long texts are.
    pub(super) bodies: u64,
    pub(super) paragraphs: u64,
    /// The length of all paragraphs.
    pub(super) paragraph_words: u64,
}

/// One note.
#[derive(Debug, Clone, Default)]
pub(super) struct Document {
    /// The piece of the store in which its terms are.
    pub(super) piece: u32,
    /// Where in the piece's counts they are; see [`Corpus::counts`].
    pub(super) counts: Range<usize>,
    /// The terms of title and aliases in their order.
    pub(super) title: Box<[u32]>,
    /// Where in the piece's bodies its body is; see [`Corpus::body`].
    pub(super) body: Range<usize>,
    /// Where in the body its paragraphs end.
    pub(super) paragraphs: Box<[u32]>,
    /// Lengths, in terms that say something.
    pub(super) title_len: u32,
    pub(super) body_len: u32,
    /// Whether the body tells a time.
    pub(super) has_time: bool,
}

/// The terms of some notes, one note behind the other.
#[derive(Debug, Default)]
pub(super) struct Terms {
    pub(super) counts: Vec<Count>,
    pub(super) bodies: Vec<u32>,
}

/// How often a term stands in a note, by field.
#[derive(Debug, Clone, Copy, Default)]
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

impl Corpus {
    /// Reads the texts of notes in a language.
    pub fn new(notes: &[Arc<Note>], language: Language) -> Self {
        let stems = Stems::new(language);
        let size = notes.len().div_ceil(rayon::current_num_threads()).max(1);
        let parts: Vec<Read<'_>> = notes.par_chunks(size).map(Read::new).collect();
        let (parts, chunks) = numbered_as_one(parts);
        let (lexicon, spans) = Lexicon::new(&chunks.all, &stems);
        let terms = lexicon.terms.len();
        let counted: Vec<Counted> = parts
            .par_iter()
            .flat_map(|(read, numbers)| {
                let entry = |number: &u32| spans.of.get(*number as usize).copied().unwrap_or_default();
                let entries: Vec<u32> = numbers.iter().map(entry).collect();
                // Two pieces of each part: a thread that is done early takes another's second one.
                let pieces = read.texts.par_chunks(read.texts.len().div_ceil(2).max(1));
                let count = |texts| Counter::new(read, &entries, &spans, terms).count_all(texts);
                pieces.map(count).collect::<Vec<_>>()
            })
            .collect();
        let mut corpus = Self {
            stems,
            documents: Vec::with_capacity(notes.len()),
            pieces: Vec::new(),
            lexicon,
            totals: Totals::default(),
        };
        counted.into_iter().for_each(|counted| corpus.add(counted));
        corpus
    }

    fn add(&mut self, counted: Counted) {
        let piece = self.pieces.len() as u32;
        self.documents.extend(counted.documents.into_iter().map(|document| Document { piece, ..document }));
        self.pieces.push(counted.terms);
        self.totals.add(counted.totals);
        for (term, (documents, paragraphs)) in self.lexicon.terms.iter_mut().zip(counted.holders) {
            term.documents += documents;
            term.paragraphs += paragraphs;
        }
    }

    /// Returns a term's number, where a note holds it.
    pub(super) fn id(&self, term: &str) -> Option<u32> {
        self.lexicon.id(term)
    }

    /// Returns what is known of a term.
    pub(super) fn term(&self, id: u32) -> Option<&Term> {
        self.lexicon.terms.get(id as usize)
    }

    /// Returns each of a document's terms once, in the order in which they are first met.
    pub(super) fn counts(&self, document: &Document) -> &[Count] {
        let piece = self.pieces.get(document.piece as usize);
        piece.and_then(|piece| piece.counts.get(document.counts.clone())).unwrap_or_default()
    }

    /// Returns the terms of a document's body in their order, then those of a summary in the
    /// frontmatter.
    pub(super) fn body(&self, document: &Document) -> &[u32] {
        let piece = self.pieces.get(document.piece as usize);
        piece.and_then(|piece| piece.bodies.get(document.body.clone())).unwrap_or_default()
    }

    /// Returns how many notes there are.
    pub(super) fn len(&self) -> f64 {
        self.documents.len() as f64
    }

    /// Returns the average length of the bodies that say something, in terms; at least 1.
    pub(super) fn body_average(&self) -> f64 {
        (self.totals.body as f64 / self.totals.bodies.max(1) as f64).max(1.0)
    }

    /// Returns the average length of the titles, in terms; at least 1.
    pub(super) fn title_average(&self) -> f64 {
        (self.totals.title as f64 / self.len().max(1.0)).max(1.0)
    }
}

/// Gives the chunks of all parts the numbers that they would have if all had been read in one; returns
/// for each part the numbers of its chunks.
fn numbered_as_one(parts: Vec<Read<'_>>) -> (Vec<(Read<'_>, Vec<u32>)>, Chunks<'_>) {
    let mut all = Chunks::new();
    let mut numbered = Vec::new();
    for mut part in parts {
        let numbers = if all.all.is_empty() {
            all = std::mem::take(&mut part.chunks);
            (0..all.all.len() as u32).collect()
        } else {
            let chunks = std::mem::take(&mut part.chunks).all;
            let sought = chunks.into_iter().map(|chunk| all.sought(Chunk { start: 0, ..chunk }, chunk.text));
            let (sought, mut numbers): (Vec<_>, _) = (sought.collect(), Vec::new());
            all.add_numbers(&sought, &mut numbers);
            numbers
        };
        numbered.push((part, numbers));
    }
    (numbered, all)
}

impl Totals {
    fn add(&mut self, other: Self) {
        self.title += other.title;
        self.body += other.body;
        self.bodies += other.bodies;
        self.paragraphs += other.paragraphs;
        self.paragraph_words += other.paragraph_words;
    }
}
