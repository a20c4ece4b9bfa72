//! What is known of a store's texts: which terms stand where, in whole numbers only.
//!
//! Everything that a query needs is here, so that it can be kept in a file. Numbers of terms follow the
//! order in which they are first met; nothing that is computed depends on them.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::english;
use super::stems::{STOP_MARK, Stems, fold};
use super::words::{Part, Piece, for_each_piece, for_each_term};
use crate::note::{Language, Note};

/// Longer chunks are not remembered, in bytes: they hardly come again.
const MAX_REMEMBERED: usize = 48;

/// How many chunks are at hand before the others are looked up.
const RECENT: usize = 2048;

/// The texts of a store as terms.
pub struct Corpus {
    pub(super) stems: Stems,
    /// In the order of the notes.
    pub(super) documents: Vec<Document>,
    pub(super) terms: Vec<Term>,
    pub(super) ids: HashMap<Box<str>, u32, RandomState>,
    /// Words that are written in another way than their term, in small letters and folded.
    pub(super) spellings: Vec<(Box<str>, u32)>,
    pub(super) totals: Totals,
}

/// A term and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Term {
    pub(super) text: Box<str>,
    /// How many notes hold it, in title, tags, headings or body.
    pub(super) documents: u32,
    /// How many paragraphs hold it.
    pub(super) paragraphs: u32,
    /// Whether it says nothing.
    pub(super) is_stop: bool,
    /// Whether a word is written as it.
    pub(super) is_written: bool,
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
    /// Each of its terms once, in the order in which they are first met.
    pub(super) counts: Box<[Count]>,
    /// The terms of title and aliases in their order.
    pub(super) title: Box<[u32]>,
    /// The terms of the body in their order, then those of a summary in the frontmatter.
    pub(super) body: Box<[u32]>,
    /// Where in `body` the body's paragraphs end.
    pub(super) paragraphs: Box<[u32]>,
    /// Lengths, in terms that say something.
    pub(super) title_len: u32,
    pub(super) body_len: u32,
    /// Whether the body tells a time.
    pub(super) has_time: bool,
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
        let times = time_terms(&stems);
        let size = notes.len().div_ceil(rayon::current_num_threads()).max(1);
        let parts: Vec<Builder<'_>> = notes
            .par_chunks(size)
            .map(|notes| {
                let mut builder = Builder::new(&stems, &times);
                notes.iter().for_each(|note| builder.add(note));
                builder
            })
            .collect();
        let parts: Vec<Read> = parts.into_iter().map(Builder::finish).collect();
        Self::of_parts(parts, stems)
    }

    /// Puts the parts of a store together; terms are numbered as if all had been read in one.
    fn of_parts(parts: Vec<Read>, stems: Stems) -> Self {
        let mut parts = parts.into_iter();
        let Read { mut documents, mut terms, mut ids, mut spellings, mut totals } = parts.next().unwrap_or_default();
        for mut part in parts {
            let new_ids: Vec<u32> = part.terms.drain(..).map(|term| merged(term, &mut terms, &mut ids)).collect();
            part.documents.par_iter_mut().for_each(|document| document.renumber(&new_ids));
            documents.append(&mut part.documents);
            spellings.extend(part.spellings.into_iter().map(|(word, term)| (word, renumbered(term, &new_ids))));
            totals.add(part.totals);
        }
        Self { stems, documents, terms, ids, spellings, totals }
    }

    /// Returns a term's number, where a note holds it.
    pub(super) fn id(&self, term: &str) -> Option<u32> {
        self.ids.get(term).copied()
    }

    /// Returns what is known of a term.
    pub(super) fn term(&self, id: u32) -> Option<&Term> {
        self.terms.get(id as usize)
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

fn merged(term: Term, terms: &mut Vec<Term>, ids: &mut HashMap<Box<str>, u32, RandomState>) -> u32 {
    if let Some(have) = ids.get(&term.text).and_then(|id| terms.get_mut(*id as usize).map(|have| (*id, have))) {
        have.1.documents += term.documents;
        have.1.paragraphs += term.paragraphs;
        have.1.is_written |= term.is_written;
        return have.0;
    }
    let id = terms.len() as u32;
    ids.insert(term.text.clone(), id);
    terms.push(term);
    id
}

fn renumbered(term: u32, new_ids: &[u32]) -> u32 {
    new_ids.get(term as usize).copied().unwrap_or_default()
}

impl Document {
    fn renumber(&mut self, new_ids: &[u32]) {
        self.counts.iter_mut().for_each(|count| count.term = renumbered(count.term, new_ids));
        self.title.iter_mut().chain(&mut self.body).for_each(|term| *term = renumbered(*term, new_ids));
    }
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

/// The terms by which a text tells a time.
fn time_terms(stems: &Stems) -> Vec<String> {
    let mut terms = Vec::new();
    for word in english::time_words() {
        stems.for_each_term(word, |term| terms.push(term.to_owned()));
    }
    terms
}

/// Tells whether a term is a year that people write about as a date.
fn is_year(term: &str) -> bool {
    term.len() == 4 && (term.starts_with("19") || term.starts_with("20")) && term.bytes().all(|b| b.is_ascii_digit())
}

/// What was read of some notes.
#[derive(Default)]
struct Read {
    documents: Vec<Document>,
    terms: Vec<Term>,
    ids: HashMap<Box<str>, u32, RandomState>,
    spellings: Vec<(Box<str>, u32)>,
    totals: Totals,
}

/// Where a term was met last, and how often; what every word of a text touches stands together.
#[derive(Clone, Copy, Default)]
struct Stamp {
    /// The number of the note, from 1.
    document: u32,
    /// The place of its count in that note.
    place: u32,
    /// The number of the paragraph, from 1.
    paragraph: u32,
    /// How many paragraphs held it.
    paragraphs: u32,
    /// As of the term.
    is_stop: bool,
    is_time: bool,
}

/// The terms of a chunk: one that says something, as most are, or a place in `spans`.
#[derive(Clone, Copy)]
enum Span {
    One(u32),
    Many(u32, u32),
}

/// A chunk of at most fifteen bytes, with its length behind it.
type Short = [u8; 16];

fn short(chunk: &str) -> Option<Short> {
    let mut key = [0; 16];
    key.get_mut(..chunk.len()).filter(|_| chunk.len() < 16)?.copy_from_slice(chunk.as_bytes());
    key[15] = chunk.len() as u8;
    Some(key)
}

/// The fields that terms are counted in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Title,
    Tag,
    Heading,
    Body,
}

/// Reads notes one after the other.
struct Builder<'a> {
    stems: &'a Stems,
    times: &'a [String],
    read: Read,
    /// The chunks met lately, each in the one place that it can have: most words of a text are few.
    recent: Vec<(u128, Span)>,
    /// The terms of the chunks that were met.
    short_chunks: HashMap<u128, Span, RandomState>,
    chunks: HashMap<Box<str>, Span, RandomState>,
    spans: Vec<u32>,
    /// Where the terms of a chunk begin that is not remembered.
    passing: Option<usize>,
    stamps: Vec<Stamp>,
    document: u32,
    paragraph: u32,
    counts: Vec<Count>,
    body: Vec<u32>,
}

impl<'a> Builder<'a> {
    fn new(stems: &'a Stems, times: &'a [String]) -> Self {
        Self {
            stems,
            times,
            read: Read::default(),
            recent: vec![(0, Span::Many(0, 0)); RECENT],
            short_chunks: HashMap::default(),
            chunks: HashMap::default(),
            spans: Vec::new(),
            passing: None,
            stamps: Vec::new(),
            document: 0,
            paragraph: 0,
            counts: Vec::new(),
            body: Vec::new(),
        }
    }

    fn finish(mut self) -> Read {
        for (term, stamp) in self.read.terms.iter_mut().zip(&self.stamps) {
            term.paragraphs = stamp.paragraphs;
        }
        self.read
    }

    fn add(&mut self, note: &Note) {
        self.document += 1;
        self.counts.clear();
        self.body.clear();
        let mut document = Document::default();
        let mut title = Vec::new();
        for text in std::iter::once(&note.title).chain(&note.aliases) {
            document.title_len += self.add_line(text, Field::Title, &mut title);
        }
        document.title = title.into();
        for tag in &note.tags {
            self.add_tag(tag);
        }
        self.add_body(note.body(), &mut document);
        if let Some(summary) = note.summary_field() {
            let mut terms = std::mem::take(&mut self.body);
            document.body_len += self.add_line(summary, Field::Body, &mut terms);
            self.body = terms;
        }
        document.counts = self.counts.as_slice().into();
        document.body = self.body.as_slice().into();
        for count in &self.counts {
            if let Some(term) = self.read.terms.get_mut(count.term as usize) {
                term.documents += 1;
            }
        }
        self.read.totals.title += u64::from(document.title_len);
        self.read.totals.body += u64::from(document.body_len);
        self.read.totals.bodies += u64::from(document.body_len > 0);
        self.read.documents.push(document);
    }

    /// Counts the terms of a text; returns how many say something.
    fn add_line(&mut self, text: &str, field: Field, terms: &mut Vec<u32>) -> u32 {
        let mut len = 0;
        for_each_piece(text, |piece| {
            let Piece::Chunk(chunk, _) = piece else { return };
            self.for_each_term(chunk, |builder, term| {
                terms.push(term);
                len += u32::from(builder.count(term, field));
            });
        });
        len
    }

    fn add_tag(&mut self, tag: &str) {
        let mut terms = Vec::new();
        self.add_line(tag, Field::Tag, &mut terms);
        if let [only] = terms.as_slice()
            && let Some(stamp) = self.stamps.get(*only as usize)
            && let Some(count) = self.counts.get_mut(stamp.place as usize)
        {
            count.is_tag = true;
        }
    }

    fn add_body(&mut self, text: &str, document: &mut Document) {
        let mut ends: Vec<u32> = Vec::new();
        let mut heading_start = None;
        let (mut own_words, mut paragraph_words) = (0_u32, 0_u32);
        self.paragraph += 1;
        for_each_piece(text, |piece| match piece {
            Piece::Chunk(chunk, _) => {
                self.for_each_term(chunk, |builder, term| {
                    builder.body.push(term);
                    let says = u32::from(builder.count(term, Field::Body));
                    document.body_len += says;
                    own_words += if heading_start.is_none() { says } else { 0 };
                    paragraph_words += says;
                    builder.see_in_paragraph(term, document);
                });
            }
            Piece::Heading => heading_start = Some(self.body.len()),
            Piece::HeadingEnd => {
                if let Some(start) = heading_start.take() {
                    self.add_heading(start, &document.title);
                }
            }
            // A heading stays with the paragraph below it.
            Piece::Blank if own_words > 0 => {
                ends.push(self.body.len() as u32);
                self.read.totals.paragraph_words += u64::from(std::mem::take(&mut paragraph_words));
                own_words = 0;
                self.paragraph += 1;
            }
            Piece::Blank => {}
        });
        if paragraph_words > 0 {
            ends.push(self.body.len() as u32);
            self.read.totals.paragraph_words += u64::from(paragraph_words);
        }
        self.read.totals.paragraphs += ends.len() as u64;
        document.paragraphs = ends.into();
    }

    /// Counts a heading's terms once more, unless it only says the title again.
    fn add_heading(&mut self, start: usize, title: &[u32]) {
        let heading: Vec<u32> = self.body.get(start..).unwrap_or_default().to_vec();
        if heading != title {
            for term in heading {
                self.count(term, Field::Heading);
            }
        }
    }

    fn see_in_paragraph(&mut self, term: u32, document: &mut Document) {
        if let Some(stamp) = self.stamps.get_mut(term as usize)
            && stamp.paragraph != self.paragraph
        {
            stamp.paragraph = self.paragraph;
            stamp.paragraphs += 1;
            document.has_time |= stamp.is_time;
        }
    }

    /// Counts a term in a field of the note at hand; returns whether it says something.
    fn count(&mut self, term: u32, field: Field) -> bool {
        let Some(stamp) = self.stamps.get_mut(term as usize) else { return false };
        if stamp.document != self.document {
            stamp.document = self.document;
            stamp.place = self.counts.len() as u32;
            self.counts.push(Count { term, ..Count::default() });
        }
        if let Some(count) = self.counts.get_mut(stamp.place as usize) {
            match field {
                Field::Title => count.title = count.title.saturating_add(1),
                Field::Tag => count.tags = count.tags.saturating_add(1),
                Field::Heading => count.headings = count.headings.saturating_add(1),
                Field::Body => count.body = count.body.saturating_add(1),
            }
        }
        !stamp.is_stop
    }

    /// Calls `take` with the terms of a chunk.
    fn for_each_term(&mut self, chunk: &str, mut take: impl FnMut(&mut Self, u32)) {
        let key = short(chunk).map(u128::from_ne_bytes);
        let span = match key {
            Some(key) => self.short_span(chunk, key),
            None => self.chunks.get(chunk).copied().unwrap_or_else(|| self.read_chunk(chunk, key)),
        };
        match span {
            Span::One(term) => take(self, term),
            Span::Many(start, end) => {
                for place in start..end {
                    let term = self.spans.get(place as usize).copied().unwrap_or_default();
                    take(self, term);
                }
            }
        }
    }

    fn short_span(&mut self, chunk: &str, key: u128) -> Span {
        let mixed = ((key as u64) ^ (key >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = (mixed >> 32) as usize % RECENT;
        if let Some((have, span)) = self.recent.get(place)
            && *have == key
        {
            return *span;
        }
        let span = self.short_chunks.get(&key).copied().unwrap_or_else(|| self.read_chunk(chunk, Some(key)));
        if let Some(recent) = self.recent.get_mut(place) {
            *recent = (key, span);
        }
        span
    }

    /// Finds the terms of a chunk that is new.
    fn read_chunk(&mut self, chunk: &str, key: Option<u128>) -> Span {
        if let Some(passing) = self.passing.take() {
            self.spans.truncate(passing);
        }
        let start = self.spans.len();
        let Self { stems, times, read, spans, stamps, .. } = self;
        for_each_term(chunk, stems, |term, range, part| {
            let id = read.intern(term, times, stamps);
            spans.push(id);
            if part == Part::Word
                && let Some(written) = chunk.get(range)
            {
                read.remember_spelling(written, term, id);
            }
        });
        let span = match self.spans.get(start..) {
            Some([only]) => Span::One(*only),
            _ => Span::Many(start as u32, self.spans.len() as u32),
        };
        if let Span::One(_) = span {
            self.spans.truncate(start);
        }
        match key {
            Some(key) => drop(self.short_chunks.insert(key, span)),
            None if chunk.len() <= MAX_REMEMBERED => drop(self.chunks.insert(chunk.into(), span)),
            None => self.passing = Some(start),
        }
        span
    }
}

impl Read {
    fn intern(&mut self, text: &str, times: &[String], stamps: &mut Vec<Stamp>) -> u32 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = self.terms.len() as u32;
        let is_time = is_year(text) || times.iter().any(|time| time == text);
        let is_stop = text.starts_with(STOP_MARK);
        self.terms.push(Term { text: text.into(), documents: 0, paragraphs: 0, is_stop, is_written: false });
        stamps.push(Stamp { is_stop, is_time, ..Stamp::default() });
        self.ids.insert(text.into(), id);
        id
    }

    /// Keeps a word in small letters and folded where its term is written in another way.
    fn remember_spelling(&mut self, written: &str, term: &str, id: u32) {
        if term.starts_with(STOP_MARK) {
            return;
        }
        let word = fold(&written.to_lowercase());
        if *word != *term {
            self.spellings.push((word.into(), id));
        } else if let Some(term) = self.terms.get_mut(id as usize) {
            term.is_written = true;
        }
    }
}
