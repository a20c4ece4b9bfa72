//! From the chunks of notes to their terms, counted by field.

use super::corpus::{Count, Document, Terms, Totals};
use super::lexicon::{STOP, Spans, TERM, TIME};
use super::reading::{BLANK, HEADING, HEADING_END, Read, TAG_END, Text};

/// How many places the table of one note's terms begins with.
const FIRST_SIZE: usize = 1 << 9;

/// What was counted in some notes.
pub(super) struct Counted {
    pub(super) documents: Vec<Document>,
    pub(super) terms: Terms,
    /// For each term, how many notes and how many paragraphs hold it.
    pub(super) holders: Vec<(u32, u32)>,
    pub(super) totals: Totals,
}

/// The fields that terms are counted in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Title,
    Tag,
    Heading,
    Body,
}

/// Counts the terms of notes, one note after the other.
pub(super) struct Counter<'a> {
    stream: &'a [u32],
    /// For each chunk of the stream, its entry in `spans`.
    entries: &'a [u32],
    spans: &'a Spans,
    counted: Counted,
    /// Of the note at hand: places in `counts`, and one, by term; 0 where there is none. It is small, as
    /// a note is, and stays near.
    places: Vec<u32>,
    counts: Vec<Count>,
    /// For each count, the last paragraph that held it and how many did.
    paragraphs: Vec<(u32, u32)>,
}

impl<'a> Counter<'a> {
    /// Gets ready for notes that were read; `entries` are those of their chunks in `spans`, which
    /// know so many terms.
    pub(super) fn new(read: &'a Read<'_>, entries: &'a [u32], spans: &'a Spans, terms: usize) -> Self {
        Self {
            stream: &read.stream,
            entries,
            spans,
            counted: Counted {
                documents: Vec::new(),
                terms: Terms::default(),
                holders: vec![(0, 0); terms],
                totals: Totals::default(),
            },
            places: vec![0; FIRST_SIZE],
            counts: Vec::new(),
            paragraphs: Vec::new(),
        }
    }

    pub(super) fn count_all(mut self, texts: &[Text]) -> Counted {
        let chunks = texts.first().zip(texts.last()).map_or(0, |(first, last)| last.summary - first.start);
        self.counted.documents.reserve_exact(texts.len());
        // Enough for most, so that nothing has to be moved; what is not used takes no memory.
        self.counted.terms.counts.reserve_exact(chunks);
        self.counted.terms.bodies.reserve_exact(chunks);
        texts.iter().for_each(|text| self.add(text));
        self.counted
    }

    fn add(&mut self, text: &Text) {
        if self.places.len() > FIRST_SIZE {
            // A large note's table is not cleared for each one after it.
            self.places = vec![0; FIRST_SIZE];
        }
        self.places.fill(0);
        self.counts.clear();
        self.paragraphs.clear();
        let body_start = self.counted.terms.bodies.len();
        let mut document = Document::default();
        let mut title = Vec::new();
        document.title_len = self.add_line(self.part(text.start, text.title), Field::Title, &mut title);
        document.title = title.into();
        for tag in self.part(text.title, text.tags).split(|mark| *mark == TAG_END) {
            self.add_tag(tag);
        }
        self.add_body(self.part(text.tags, text.body), &mut document);
        let mut bodies = std::mem::take(&mut self.counted.terms.bodies);
        document.body_len += self.add_line(self.part(text.body, text.summary), Field::Body, &mut bodies);
        document.body = body_start..bodies.len();
        let Terms { counts, .. } = &mut self.counted.terms;
        document.counts = counts.len()..counts.len() + self.counts.len();
        counts.extend_from_slice(&self.counts);
        self.counted.terms.bodies = bodies;
        self.finish(document);
    }

    fn finish(&mut self, document: Document) {
        for (count, (_, paragraphs)) in self.counts.iter().zip(&self.paragraphs) {
            if let Some(holders) = self.counted.holders.get_mut(count.term as usize) {
                holders.0 += 1;
                holders.1 += paragraphs;
            }
        }
        let totals = &mut self.counted.totals;
        totals.title += u64::from(document.title_len);
        totals.body += u64::from(document.body_len);
        totals.bodies += u64::from(document.body_len > 0);
        self.counted.documents.push(document);
    }

    fn part(&self, start: usize, end: usize) -> &'a [u32] {
        self.stream.get(start..end).unwrap_or_default()
    }

    fn terms(&self, chunk: u32) -> &'a [u32] {
        self.entries.get(chunk as usize).map(|entry| self.spans.terms(entry)).unwrap_or_default()
    }

    /// Counts the terms of a text; returns how many say something.
    fn add_line(&mut self, chunks: &[u32], field: Field, terms: &mut Vec<u32>) -> u32 {
        let mut len = 0;
        for chunk in chunks {
            for term in self.terms(*chunk) {
                terms.push(term & TERM);
                len += u32::from(term & STOP == 0);
                self.count(term & TERM, field);
            }
        }
        len
    }

    fn add_tag(&mut self, chunks: &[u32]) {
        let mut terms = Vec::new();
        self.add_line(chunks, Field::Tag, &mut terms);
        if let [only] = terms.as_slice() {
            let place = self.place(*only);
            if let Some(count) = self.counts.get_mut(place) {
                count.is_tag = true;
            }
        }
    }

    fn add_body(&mut self, stream: &[u32], document: &mut Document) {
        let mut ends: Vec<u32> = Vec::new();
        let body_start = self.counted.terms.bodies.len();
        let mut heading_start = None;
        let (mut own_words, mut paragraph_words) = (0_u32, 0_u32);
        let mut paragraph = 1;
        for piece in stream {
            match *piece {
                HEADING => heading_start = Some(self.counted.terms.bodies.len()),
                HEADING_END => {
                    if let Some(start) = heading_start.take() {
                        self.add_heading(start, &document.title);
                    }
                }
                // A heading stays with the paragraph below it.
                BLANK if own_words > 0 => {
                    ends.push((self.counted.terms.bodies.len() - body_start) as u32);
                    self.counted.totals.paragraph_words += u64::from(std::mem::take(&mut paragraph_words));
                    own_words = 0;
                    paragraph += 1;
                }
                BLANK => {}
                chunk => {
                    for term in self.terms(chunk) {
                        let says = u32::from(term & STOP == 0);
                        document.body_len += says;
                        own_words += if heading_start.is_none() { says } else { 0 };
                        paragraph_words += says;
                        document.has_time |= term & TIME != 0;
                        self.add_body_term(term & TERM, paragraph);
                    }
                }
            }
        }
        if paragraph_words > 0 {
            ends.push((self.counted.terms.bodies.len() - body_start) as u32);
            self.counted.totals.paragraph_words += u64::from(paragraph_words);
        }
        self.counted.totals.paragraphs += ends.len() as u64;
        document.paragraphs = ends.into();
    }

    fn add_body_term(&mut self, term: u32, paragraph: u32) {
        self.counted.terms.bodies.push(term);
        let place = self.count(term, Field::Body);
        if let Some((last, count)) = self.paragraphs.get_mut(place).filter(|(last, _)| *last != paragraph) {
            *last = paragraph;
            *count += 1;
        }
    }

    /// Counts a heading's terms once more, unless it only says the title again.
    fn add_heading(&mut self, start: usize, title: &[u32]) {
        let bodies = std::mem::take(&mut self.counted.terms.bodies);
        let heading = bodies.get(start..).unwrap_or_default();
        if heading != title {
            for term in heading {
                self.count(*term, Field::Heading);
            }
        }
        self.counted.terms.bodies = bodies;
    }

    /// Counts a term in a field of the note at hand; returns the place of its count.
    fn count(&mut self, term: u32, field: Field) -> usize {
        let place = self.place(term);
        if let Some(count) = self.counts.get_mut(place) {
            match field {
                Field::Title => count.title = count.title.saturating_add(1),
                Field::Tag => count.tags = count.tags.saturating_add(1),
                Field::Heading => count.headings = count.headings.saturating_add(1),
                Field::Body => count.body = count.body.saturating_add(1),
            }
        }
        place
    }

    /// Returns where the count of a term is; a new one where there was none.
    fn place(&mut self, term: u32) -> usize {
        let mut at = self.first_place(term);
        while let Some(next) = self.places.get(at).filter(|next| **next != 0) {
            let place = *next as usize - 1;
            if self.counts.get(place).is_some_and(|count| count.term == term) {
                return place;
            }
            at = (at + 1) & (self.places.len() - 1);
        }
        let place = self.counts.len();
        if let Some(free) = self.places.get_mut(at) {
            *free = place as u32 + 1;
        }
        self.counts.push(Count { term, ..Count::default() });
        self.paragraphs.push((0, 0));
        if self.counts.len() * 2 > self.places.len() {
            self.grow();
        }
        place
    }

    fn grow(&mut self) {
        self.places = vec![0; self.places.len() * 2];
        for place in 0..self.counts.len() {
            let mut at = self.first_place(self.counts.get(place).map_or(0, |count| count.term));
            while self.places.get(at).is_some_and(|have| *have != 0) {
                at = (at + 1) & (self.places.len() - 1);
            }
            if let Some(free) = self.places.get_mut(at) {
                *free = place as u32 + 1;
            }
        }
    }

    fn first_place(&self, term: u32) -> usize {
        (term.wrapping_mul(0x9e37_79b9) >> 8) as usize & (self.places.len() - 1)
    }
}
