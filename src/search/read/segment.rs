//! What is kept of the texts of some notes, as it is read: notes, terms and words by their numbers.
//!
//! IdTable of terms are in the order of their texts; words have the smaller numbers the more often
//! they are met. IdTable depend on which notes were taken in together: nothing that a search answers
//! may.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::codec::bits::BitReader;
use crate::codec::blobs::{BlobSource, MemoryBlobs, unpack};
use crate::codec::varint::VarintReader;
use crate::search::build::inverter::Totals;
use crate::search::build::postings::{self, FieldTermFreqs, TextField};

/// The sections of a stored segment.
#[derive(Clone, Copy)]
pub(crate) enum IndexPart {
    Counts,
    /// Of each note: how many bytes its words take, the length of its body and whether that tells a time,
    /// the length of its title.
    Documents,
    /// Of each term: how many bytes of it are as in the one before, how many are not, how many notes and
    /// whether it says nothing, how many paragraphs, how many bytes its list of notes takes.
    Terms,
    TermTexts,
    /// Of each word its term.
    Words,
    /// Of each word how many notes and its kind, the length of its text where it has one.
    WordRows,
    WordTexts,
    /// The words of each note.
    Forward,
    /// Which notes hold each term.
    Postings,
}

impl IndexPart {
    pub(crate) const COUNT: usize = Self::Postings as usize + 1;
}

/// How a word is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordKind {
    /// It is no word by itself.
    NoWord,
    AsTerm,
    Otherwise,
}

/// The sizes of a segment.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct SegmentCounts {
    pub(crate) terms: usize,
    pub(crate) words: usize,
    pub(crate) totals: Totals,
}

/// A segment: the inverted and the forward index of some notes.
pub(crate) struct Segment {
    parts: Arc<dyn BlobSource>,
    pub(crate) totals: Totals,
    documents: Vec<FieldNorms>,
    /// Where the words of each note end.
    ends: Vec<u64>,
    terms: Vec<TermInfo>,
    texts: String,
    /// Of each word its term, and [`STOP_BIT`] where that says nothing.
    words: Vec<u32>,
    /// What else is known of words, once somebody asked: few queries need it.
    spellings: OnceLock<Spellings>,
}

/// What a term's number has above it where a word is looked up: it says nothing.
const STOP_BIT: u32 = 1 << 31;

/// The field norms of a note: lengths in content terms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FieldNorms {
    /// In terms that say something.
    pub(crate) title: u32,
    pub(crate) body: u32,
    /// Whether the body tells a time.
    pub(crate) has_time: bool,
    /// Which share of the sentences of the body end in a question mark, in fifteenths.
    pub(crate) questions: u32,
}

/// How many bits below the length of a body say something else of it.
pub(crate) const BODY_FLAGS: u32 = 5;
/// [`FieldNorms::questions`] of a body that holds nothing but questions.
pub(crate) const ALL_QUESTIONS: u32 = 15;

#[derive(Clone, Copy)]
struct TermInfo {
    text_end: u32,
    documents: u32,
    paragraphs: u32,
    is_stop: bool,
    /// Where its list of notes ends.
    list_end: u32,
}

/// The spellings and document frequencies of words.
#[derive(Default)]
struct Spellings {
    rows: Vec<WordRow>,
    texts: String,
}

#[derive(Clone, Copy)]
struct WordRow {
    documents: u32,
    kind: WordKind,
    text_end: u32,
}

/// A dictionary entry: a term, its document frequencies and its postings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TermEntry<'a> {
    pub(crate) text: &'a str,
    /// How many notes hold it.
    pub(crate) documents: u32,
    /// How many paragraphs hold it.
    pub(crate) paragraphs: u32,
    /// Whether it says nothing.
    pub(crate) is_stop: bool,
}

/// A surface form of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WordEntry<'a> {
    pub(crate) term: u32,
    pub(crate) kind: WordKind,
    /// How it is written, where that is another way than its term.
    pub(crate) text: &'a str,
}

/// The token stream of one note, as word or term ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DocText {
    /// Of title and aliases.
    pub(crate) title: Vec<u32>,
    /// Of each tag.
    pub(crate) tags: Vec<Vec<u32>>,
    /// Of headings that are not the title.
    pub(crate) headings: Vec<u32>,
    /// Where in the body its paragraphs end.
    pub(crate) paragraphs: Vec<u32>,
    /// Of the body, then of a summary in the frontmatter.
    pub(crate) body: Vec<u32>,
    /// How many of them are of the body itself.
    pub(crate) own: usize,
}

impl DocText {
    /// Calls `change` for each word of each field.
    pub(crate) fn for_each_mut(&mut self, mut change: impl FnMut(&mut u32)) {
        let tags = self.tags.iter_mut().flatten();
        let others = [&mut self.title, &mut self.headings, &mut self.body].into_iter().flatten();
        others.chain(tags).for_each(&mut change);
    }

    /// Returns the words of all fields but the headings, which are in the body too.
    pub(crate) fn all(&self) -> Vec<u32> {
        self.title.iter().chain(self.tags.iter().flatten()).chain(&self.body).copied().collect()
    }
}

/// The encoded forward entry of a note.
#[derive(Clone, Copy)]
pub(crate) struct ForwardEntry<'a> {
    pub(crate) number: usize,
    bytes: &'a [u8],
}

impl ForwardEntry<'_> {
    /// Calls `visit` with each word of each field; `None` where this can't be a note.
    pub(crate) fn visit(&self, mut visit: impl FnMut(TextField, u32)) -> Option<()> {
        let mut rest = BitReader::new(self.bytes);
        let mut each = |rest: &mut BitReader<'_>, field| {
            for _ in 0..rest.number()? {
                visit(field, rest.number()?);
            }
            Some(())
        };
        each(&mut rest, TextField::Title)?;
        let mut tags = rest.number()?;
        while tags > 0 {
            let before = rest;
            let count = rest.number()?;
            rest = before;
            each(&mut rest, TextField::Tag(count == 1))?;
            tags = tags.checked_sub(count.checked_add(1)?)?;
        }
        each(&mut rest, TextField::Heading)?;
        for _ in 0..rest.number()? {
            rest.number()?;
        }
        each(&mut rest, TextField::Body)?;
        each(&mut rest, TextField::Body)
    }

    /// Returns the words of all fields.
    pub(crate) fn text(&self) -> Option<DocText> {
        let mut rest = BitReader::new(self.bytes);
        let title = rest.list()?;
        let mut all_tags = rest.list()?.into_iter();
        let mut tags = Vec::new();
        while let Some(count) = all_tags.next() {
            tags.push(all_tags.by_ref().take(count as usize).collect());
        }
        let [headings, lengths, summary, mut body] = [rest.list()?, rest.list()?, rest.list()?, rest.list()?];
        let ends = lengths.into_iter().scan(0_u32, |end, length| {
            *end = end.checked_add(length)?;
            Some(*end)
        });
        let (paragraphs, own) = (ends.collect(), body.len());
        body.extend(summary);
        Some(DocText { title, tags, headings, paragraphs, body, own })
    }
}

impl Default for Segment {
    /// Of no notes.
    fn default() -> Self {
        Self {
            parts: Arc::new(MemoryBlobs::default()),
            totals: Totals::default(),
            documents: Vec::new(),
            ends: Vec::new(),
            terms: Vec::new(),
            texts: String::new(),
            words: Vec::new(),
            spellings: OnceLock::new(),
        }
    }
}

/// How many notes are read at once when all are.
const BATCH: usize = 256;

impl Segment {
    /// Opens what was kept; `None` where it makes no sense.
    pub(crate) fn open(parts: Arc<dyn BlobSource>) -> Option<Self> {
        let whole = |part: IndexPart| parts.whole(part as usize);
        let unpacked = |part: IndexPart| unpack(&whole(part)?);
        let SegmentCounts { terms, words, totals } = postcard::from_bytes(&whole(IndexPart::Counts)?).ok()?;
        let (documents, terms_and_words) = rayon::join(
            || read_documents(&unpacked(IndexPart::Documents)?, usize::try_from(totals.documents).ok()?),
            || {
                let terms = read_terms(&unpacked(IndexPart::Terms)?, &unpacked(IndexPart::TermTexts)?, terms)?;
                let words = read_words(&unpacked(IndexPart::Words)?, words, &terms.0)?;
                Some((terms, words))
            },
        );
        let ((documents, ends), ((terms, texts), words)) = documents.zip(terms_and_words)?;
        let ends_with = |end: Option<u64>, part: IndexPart| end.unwrap_or(0) == parts.len(part as usize);
        let is_whole = ends_with(ends.last().copied(), IndexPart::Forward)
            && ends_with(terms.last().map(|term| u64::from(term.list_end)), IndexPart::Postings);
        let segment = Self { totals, documents, ends, terms, texts, words, spellings: OnceLock::new(), parts };
        is_whole.then_some(segment)
    }

    /// Returns how many notes and terms there are.
    pub(crate) fn documents(&self) -> usize {
        self.documents.len()
    }

    /// See [`Segment::documents`].
    pub(crate) fn terms(&self) -> usize {
        self.terms.len()
    }

    pub(crate) fn lengths(&self, document: usize) -> FieldNorms {
        self.documents.get(document).copied().unwrap_or_default()
    }

    pub(crate) fn term(&self, number: u32) -> TermEntry<'_> {
        let Some(row) = self.terms.get(number as usize) else { return TermEntry::default() };
        let start =
            number.checked_sub(1).and_then(|before| self.terms.get(before as usize)).map_or(0, |row| row.text_end);
        let text = self.texts.get(start as usize..row.text_end as usize).unwrap_or_default();
        TermEntry { text, documents: row.documents, paragraphs: row.paragraphs, is_stop: row.is_stop }
    }

    pub(crate) fn is_stop(&self, number: u32) -> bool {
        self.terms.get(number as usize).is_none_or(|row| row.is_stop)
    }

    /// Returns the number of a term.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.terms.len() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.term(middle).text.cmp(text) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    pub(crate) fn word(&self, number: u32) -> Option<WordEntry<'_>> {
        let (term, Spellings { rows, texts }) = (self.term_of(number), self.spellings());
        let row = rows.get(number as usize)?;
        let start = number.checked_sub(1).and_then(|before| rows.get(before as usize)).map_or(0, |row| row.text_end);
        let text = texts.get(start as usize..row.text_end as usize).unwrap_or_default();
        Some(WordEntry { term, kind: row.kind, text })
    }

    /// Returns how many notes hold each word.
    pub(crate) fn word_holders(&self) -> Vec<u32> {
        self.spellings().rows.iter().map(|row| row.documents).collect()
    }

    fn spellings(&self) -> &Spellings {
        self.spellings.get_or_init(|| {
            let unpacked = |part: IndexPart| unpack(&self.parts.whole(part as usize)?);
            let read = || {
                let rows = read_word_rows(&unpacked(IndexPart::WordRows)?, self.words.len())?;
                Some(Spellings { rows, texts: String::from_utf8(unpacked(IndexPart::WordTexts)?).ok()? })
            };
            read().unwrap_or_else(|| {
                self.parts.tell_broken();
                Spellings::default()
            })
        })
    }

    /// Returns the term of a word.
    pub(crate) fn term_of(&self, word: u32) -> u32 {
        self.words.get(word as usize).map_or(0, |term| term & !STOP_BIT)
    }

    /// Returns the term of a word, where it says something.
    pub(crate) fn content_term_of(&self, word: u32) -> Option<u32> {
        self.words.get(word as usize).copied().filter(|term| term & STOP_BIT == 0)
    }

    /// Calls `take` with each note that holds a term, in their order. Terms that say nothing have no list.
    pub(crate) fn for_each_posting(&self, term: u32, mut take: impl FnMut(u32, FieldTermFreqs)) {
        let row = |term: u32| self.terms.get(term as usize).copied();
        let Some(TermInfo { list_end, documents, is_stop: false, .. }) = row(term) else { return };
        let start = term.checked_sub(1).and_then(row).map_or(0, |before| before.list_end);
        let list = self.read(IndexPart::Postings, u64::from(start)..u64::from(list_end));
        if postings::read(&list, term, documents, self.totals.documents, &mut take).is_none() {
            self.parts.tell_broken();
        }
    }

    /// Returns what `look` finds in each note, in the order of the notes. They are read some at a time,
    /// side by side.
    pub(crate) fn scan<T: Send>(&self, look: impl Fn(ForwardEntry<'_>, &mut Vec<T>) -> Option<()> + Sync) -> Vec<T> {
        let batches = (0..self.documents.len()).into_par_iter().step_by(BATCH);
        let look = |first: usize| {
            let last = (first + BATCH).min(self.documents.len());
            let start = self.start(first);
            let bytes = self.read(IndexPart::Forward, start..self.ends.get(last - 1).copied().unwrap_or(start));
            let mut found = Vec::new();
            for number in first..last {
                let range = (self.start(number) - start) as usize
                    ..(self.ends.get(number).map_or(start, |end| *end) - start) as usize;
                let document = ForwardEntry { number, bytes: bytes.get(range).unwrap_or_default() };
                if look(document, &mut found).is_none() {
                    self.parts.tell_broken();
                }
            }
            found
        };
        batches.flat_map_iter(look).collect()
    }

    /// Returns the words of a note.
    pub(crate) fn text(&self, document: usize) -> DocText {
        self.look_at(document, |document| document.text()).unwrap_or_default()
    }

    /// Calls `visit` with each word of each field of a note.
    pub(crate) fn visit(&self, document: usize, visit: impl FnMut(TextField, u32)) {
        self.look_at(document, |document| document.visit(visit));
    }

    /// Reads a note for `look`, which tells by `None` that it can't be one.
    fn look_at<T>(&self, number: usize, look: impl FnOnce(ForwardEntry<'_>) -> Option<T>) -> Option<T> {
        let end = self.ends.get(number).copied().unwrap_or_default();
        let bytes = self.read(IndexPart::Forward, self.start(number)..end);
        let found = look(ForwardEntry { number, bytes: &bytes });
        if found.is_none() {
            self.parts.tell_broken();
        }
        found
    }

    /// Returns where the words of a note begin.
    fn start(&self, document: usize) -> u64 {
        document.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default()
    }

    fn read(&self, part: IndexPart, range: Range<u64>) -> Vec<u8> {
        if range.is_empty() {
            return Vec::new();
        }
        self.parts.read(part as usize, range).unwrap_or_else(|| {
            self.parts.tell_broken();
            Vec::new()
        })
    }
}

/// Makes room for so many rows of so many bytes at least: no more than what there is may need.
fn room<T>(count: usize, bytes: &[u8], least: usize) -> Vec<T> {
    Vec::with_capacity(count.min(bytes.len() / least))
}

fn read_documents(bytes: &[u8], count: usize) -> Option<(Vec<FieldNorms>, Vec<u64>)> {
    let mut rest = VarintReader(bytes);
    let (mut documents, mut ends, mut end) = (room(count, bytes, 3), room(count, bytes, 3), 0_u64);
    while !rest.0.is_empty() {
        end += u64::from(rest.number()?);
        let body = rest.number()?;
        let (has_time, questions) = (body & 1 == 1, body >> 1 & ALL_QUESTIONS);
        documents.push(FieldNorms { body: body >> BODY_FLAGS, has_time, questions, title: rest.number()? });
        ends.push(end);
    }
    (documents.len() == count).then_some((documents, ends))
}

fn read_terms(bytes: &[u8], texts: &[u8], count: usize) -> Option<(Vec<TermInfo>, String)> {
    let (mut rest, mut left) = (VarintReader(bytes), texts);
    // A term is no longer than all texts: what is made of little stays little.
    let (mut rows, mut all) = (room(count, bytes, 5), Vec::with_capacity(texts.len() * 2));
    let (mut before, mut list_end) = (0, 0_u32);
    while !rest.0.is_empty() {
        let (common, own) = (rest.number()? as usize, rest.number()? as usize);
        let (start, documents, paragraphs) = (all.len(), rest.number()?, rest.number()?);
        list_end = list_end.checked_add(rest.number()?)?;
        let (own, others) = left.split_at_checked(own)?;
        left = others;
        if common > start - before || common > MAX_COMMON {
            return None;
        }
        all.extend_from_within(before..before + common);
        all.extend_from_slice(own);
        before = start;
        let text_end = u32::try_from(all.len()).ok()?;
        rows.push(TermInfo { text_end, documents: documents >> 1, paragraphs, is_stop: documents & 1 == 1, list_end });
    }
    (rows.len() == count && left.is_empty()).then_some((rows, String::from_utf8(all).ok()?))
}

/// The most bytes that two terms begin alike with; more is no word.
pub(crate) const MAX_COMMON: usize = 255;

fn read_words(bytes: &[u8], count: usize, terms: &[TermInfo]) -> Option<Vec<u32>> {
    let (mut rest, mut words) = (VarintReader(bytes), room(count, bytes, 1));
    while !rest.0.is_empty() {
        let term = rest.number().filter(|term| *term < STOP_BIT)?;
        let is_silent = terms.get(term as usize)?.is_stop;
        words.push(if is_silent { term | STOP_BIT } else { term });
    }
    (words.len() == count).then_some(words)
}

fn read_word_rows(bytes: &[u8], count: usize) -> Option<Vec<WordRow>> {
    let (mut rest, mut rows, mut text_end) = (VarintReader(bytes), room(count, bytes, 1), 0_u32);
    while !rest.0.is_empty() {
        let documents = rest.number()?;
        let kind = match documents & 3 {
            0 => WordKind::NoWord,
            1 => WordKind::AsTerm,
            _ => WordKind::Otherwise,
        };
        if kind == WordKind::Otherwise {
            text_end = text_end.checked_add(rest.number()?)?;
        }
        rows.push(WordRow { documents: documents >> 2, kind, text_end });
    }
    (rows.len() == count).then_some(rows)
}
