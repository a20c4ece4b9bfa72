//! From the chunks of notes to what is kept of their texts: the words of each in their order, which notes
//! hold each term, and how many paragraphs do.

use serde::{Deserialize, Serialize};

use super::bits::BitWriter;
use super::lexicon::{Lexicon, STOP, Spans, TIME, WORD};
use super::postings::{Count, Field, Holdings};
use super::reading::{BLANK, HEADING, HEADING_END, Read, TAG_END, Text};

/// What was counted in some notes.
pub(super) struct Counted {
    pub(super) documents: Vec<Document>,
    /// Each document's words, as [`super::segment::Document`] reads them.
    pub(super) forward: Vec<u8>,
    /// For each term, how many notes and how many paragraphs hold it.
    pub(super) holders: Vec<(u32, u32)>,
    /// For each word, how many notes hold it.
    pub(super) word_holders: Vec<u32>,
    /// Which terms that say something each note holds; notes are counted from the first of these.
    pub(super) held: Holdings,
    pub(super) totals: Totals,
}

/// One note.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Document {
    /// Lengths, in terms that say something.
    pub(super) title_len: u32,
    pub(super) body_len: u32,
    /// Whether the body tells a time.
    pub(super) has_time: bool,
    /// How many bytes its words take.
    pub(super) bytes: usize,
}

/// Sums over notes; lengths are in terms that say something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Totals {
    pub(super) documents: u64,
    pub(super) title: u64,
    pub(super) body: u64,
    /// How many bodies say something: a note without text says nothing of how long texts are.
    pub(super) bodies: u64,
    pub(super) paragraphs: u64,
    /// The length of all paragraphs.
    pub(super) paragraph_words: u64,
}

impl Totals {
    pub(super) fn add(&mut self, other: Self) {
        self.documents += other.documents;
        self.title += other.title;
        self.body += other.body;
        self.bodies += other.bodies;
        self.paragraphs += other.paragraphs;
        self.paragraph_words += other.paragraph_words;
    }

    /// Undoes [`Totals::add`].
    pub(super) fn take(&mut self, other: Self) {
        self.documents = self.documents.saturating_sub(other.documents);
        self.title = self.title.saturating_sub(other.title);
        self.body = self.body.saturating_sub(other.body);
        self.bodies = self.bodies.saturating_sub(other.bodies);
        self.paragraphs = self.paragraphs.saturating_sub(other.paragraphs);
        self.paragraph_words = self.paragraph_words.saturating_sub(other.paragraph_words);
    }
}

/// Counts the terms of notes, one note after the other.
pub(super) struct Counter<'a> {
    stream: &'a [u32],
    /// For each chunk of the stream, its number in `spans`.
    chunks: &'a [u32],
    spans: &'a Spans,
    counted: Counted,
    terms: Vec<TermSeen>,
    each_word: Vec<WordSeen>,
    /// What the note at hand holds of each of its terms.
    counts: Vec<Count>,
    /// How many notes and how many paragraphs have begun.
    note: u32,
    paragraph: u32,
    /// The words of the note at hand.
    words: Words,
}

/// What is noted down of a term, together: it is looked up at every word.
#[derive(Clone, Copy, Default)]
struct TermSeen {
    /// The last note and the last paragraph that held it, counted from 1 over all of them.
    note: u32,
    paragraph: u32,
    /// Its place among the counts of that note.
    count: u32,
    /// How many notes and how many paragraphs hold it.
    notes: u32,
    paragraphs: u32,
    /// Whether it says something.
    says: bool,
}

/// The same of a word.
#[derive(Clone, Copy, Default)]
struct WordSeen {
    term: u32,
    note: u32,
    notes: u32,
}

/// The words of a note by their numbers, in the order of the text.
#[derive(Default)]
struct Words {
    title: Vec<u32>,
    /// Those of each tag behind how many they are.
    tags: Vec<u32>,
    headings: Vec<u32>,
    body: Vec<u32>,
    /// Where the paragraphs of the body end.
    ends: Vec<u32>,
    summary: Vec<u32>,
}

impl<'a> Counter<'a> {
    /// Gets ready for notes that were read; `chunks` are the numbers of their chunks in `spans`.
    pub(super) fn new(read: &'a Read<'_>, chunks: &'a [u32], spans: &'a Spans, lexicon: &'a Lexicon) -> Self {
        Self {
            stream: &read.stream,
            chunks,
            spans,
            counted: Counted {
                documents: Vec::new(),
                forward: Vec::new(),
                holders: Vec::new(),
                word_holders: Vec::new(),
                held: Holdings::default(),
                totals: Totals::default(),
            },
            terms: lexicon.terms.iter().map(|term| TermSeen { says: !term.is_stop, ..TermSeen::default() }).collect(),
            each_word: lexicon.term_of.iter().map(|term| WordSeen { term: *term, ..WordSeen::default() }).collect(),
            counts: Vec::new(),
            note: 0,
            paragraph: 0,
            words: Words::default(),
        }
    }

    pub(super) fn count_all(mut self, texts: &[Text]) -> Counted {
        let chunks = texts.first().zip(texts.last()).map_or(0, |(first, last)| last.summary - first.start);
        self.counted.documents.reserve_exact(texts.len());
        // Enough for most, so that nothing has to be moved; what is not used takes no memory.
        self.counted.forward.reserve_exact(2 * chunks);
        texts.iter().for_each(|text| self.add(text));
        let holders = self.terms.iter().map(|term| (term.notes, term.paragraphs)).collect();
        let word_holders = self.each_word.iter().map(|word| word.notes).collect();
        Counted { holders, word_holders, ..self.counted }
    }

    fn add(&mut self, text: &Text) {
        self.note += 1;
        self.words.clear();
        let mut document = Document::default();
        let mut words = std::mem::take(&mut self.words);
        document.title_len = self.add_line(self.part(text.start, text.title), &mut words.title);
        self.count(&words.title, Field::Title);
        let tags = self.part(text.title, text.tags);
        for tag in tags.split_inclusive(|mark| *mark == TAG_END) {
            self.add_tag(tag, &mut words.tags);
        }
        self.add_body(self.part(text.tags, text.body), &mut document, &mut words);
        document.body_len += self.add_line(self.part(text.body, text.summary), &mut words.summary);
        self.count(&words.summary, Field::Body);
        self.list_terms();
        let before = self.counted.forward.len();
        words.write(&mut self.counted.forward);
        document.bytes = self.counted.forward.len() - before;
        self.words = words;
        let totals = &mut self.counted.totals;
        totals.documents += 1;
        totals.title += u64::from(document.title_len);
        totals.body += u64::from(document.body_len);
        totals.bodies += u64::from(document.body_len > 0);
        self.counted.documents.push(document);
    }

    fn part(&self, start: usize, end: usize) -> &'a [u32] {
        self.stream.get(start..end).unwrap_or_default()
    }

    fn words_of(&self, chunk: u32) -> &'a [u32] {
        self.chunks.get(chunk as usize).map(|chunk| self.spans.words(*chunk)).unwrap_or_default()
    }

    /// Counts the terms of a text; returns how many say something.
    fn add_line(&mut self, chunks: &[u32], words: &mut Vec<u32>) -> u32 {
        let mut len = 0;
        for chunk in chunks {
            for word in self.words_of(*chunk) {
                words.push(word & WORD);
                len += u32::from(word & STOP == 0);
                self.meet(word & WORD);
            }
        }
        len
    }

    fn add_tag(&mut self, chunks: &[u32], words: &mut Vec<u32>) {
        let place = words.len();
        words.push(0);
        self.add_line(chunks, words);
        let count = (words.len() - place - 1) as u32;
        if let Some(have) = words.get_mut(place) {
            *have = count;
        }
        self.count(words.get(place + 1..).unwrap_or_default(), Field::Tag(count == 1));
    }

    fn add_body(&mut self, stream: &[u32], document: &mut Document, words: &mut Words) {
        let mut heading_start = None;
        let (mut own_words, mut paragraph_words) = (0_u32, 0_u32);
        self.paragraph += 1;
        for piece in stream {
            match *piece {
                HEADING => heading_start = Some(words.body.len()),
                HEADING_END => {
                    if let Some(start) = heading_start.take() {
                        self.add_heading(start, words);
                    }
                }
                // A heading stays with the paragraph below it.
                BLANK if own_words > 0 => {
                    words.ends.push(words.body.len() as u32);
                    self.counted.totals.paragraph_words += u64::from(std::mem::take(&mut paragraph_words));
                    own_words = 0;
                    self.paragraph += 1;
                }
                BLANK => {}
                chunk => {
                    for word in self.words_of(chunk) {
                        let says = u32::from(word & STOP == 0);
                        document.body_len += says;
                        own_words += if heading_start.is_none() { says } else { 0 };
                        paragraph_words += says;
                        document.has_time |= word & TIME != 0;
                        words.body.push(word & WORD);
                        self.add_body_word(word & WORD);
                    }
                }
            }
        }
        if paragraph_words > 0 {
            words.ends.push(words.body.len() as u32);
            self.counted.totals.paragraph_words += u64::from(paragraph_words);
        }
        self.counted.totals.paragraphs += words.ends.len() as u64;
    }

    fn add_body_word(&mut self, word: u32) {
        self.meet(word);
        let paragraph = self.paragraph;
        if let Some(seen) = self.count_one(word, Field::Body)
            && seen.paragraph != paragraph
        {
            seen.paragraph = paragraph;
            seen.paragraphs += 1;
        }
    }

    /// Notes a heading down once more, unless it only says the title again.
    fn add_heading(&mut self, start: usize, words: &mut Words) {
        let heading = words.body.get(start..).unwrap_or_default();
        let terms = |words: &[u32]| words.iter().map(|word| self.term(*word)).collect::<Vec<u32>>();
        if terms(heading) != terms(&words.title) {
            words.headings.extend_from_slice(heading);
            self.count(heading, Field::Heading);
        }
    }

    fn term(&self, word: u32) -> u32 {
        self.each_word.get(word as usize).map_or(0, |word| word.term)
    }

    /// Notes down that the note at hand holds a word.
    fn meet(&mut self, word: u32) {
        if let Some(seen) = self.each_word.get_mut(word as usize)
            && seen.note != self.note
        {
            seen.note = self.note;
            seen.notes += 1;
        }
    }

    /// Counts words of a field of the note at hand.
    fn count(&mut self, words: &[u32], field: Field) {
        for word in words {
            self.count_one(*word, field);
        }
    }

    /// Counts a word of a field; returns what is noted down of its term.
    fn count_one(&mut self, word: u32, field: Field) -> Option<&mut TermSeen> {
        let term = self.term(word);
        let seen = self.terms.get_mut(term as usize)?;
        if seen.note != self.note {
            (seen.note, seen.count) = (self.note, self.counts.len() as u32);
            seen.notes += 1;
            self.counts.push(Count { term, ..Count::default() });
        }
        if let Some(count) = self.counts.get_mut(seen.count as usize) {
            count.add(field);
        }
        Some(seen)
    }

    /// Notes down what the note at hand holds.
    fn list_terms(&mut self) {
        self.counts.retain(|count| self.terms.get(count.term as usize).is_some_and(|term| term.says));
        self.counted.held.add(&self.counts);
        self.counts.clear();
    }
}

impl Words {
    fn clear(&mut self) {
        let Self { title, tags, headings, body, ends, summary } = self;
        [title, tags, headings, body, ends, summary].into_iter().for_each(Vec::clear);
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        let Self { title, tags, headings, body, ends, summary } = self;
        let mut bits = BitWriter::behind(std::mem::take(bytes));
        let lengths = ends.iter().scan(0, |before, end| Some(end - std::mem::replace(before, *end)));
        let lengths: Vec<u32> = lengths.collect();
        for list in [title, tags, headings, &lengths, summary, body] {
            bits.put_list(list.iter().copied());
        }
        *bytes = bits.finish();
    }
}
