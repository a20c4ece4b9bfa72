//! The terms of a store's chunks, and the words that are written as each, by number.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::chunks::Numbers;
use super::english;
use super::stems::{STOP_MARK, Stems, fold};
use super::words::{Chunk, Part, for_each_term};

/// What a word's number has above it where chunks are taken apart: it says nothing.
pub(super) const STOP: u32 = 1 << 30;
/// See [`STOP`]: it tells a time.
pub(super) const TIME: u32 = 1 << 29;
/// The number itself.
pub(super) const WORD: u32 = TIME - 1;
/// The words of a chunk are a place in `many`, since they are not just one.
const MANY: u32 = 1 << 31;

/// How many chunks are brought to their terms at once.
const BATCH: usize = 512;

/// Terms and words.
#[derive(Default)]
pub(super) struct Lexicon {
    pub(super) terms: Vec<Term>,
    pub(super) words: Vec<Word>,
    /// For each word, its term: apart, since it is looked up so often.
    pub(super) term_of: Vec<u32>,
    ids: Numbers,
    word_ids: Numbers,
    random: RandomState,
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
}

/// A way in which a term is written. Texts are kept as words, so that it is known which of them are
/// left when notes change.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) written: Written,
    /// How many notes hold it.
    pub(super) documents: u32,
}

/// The words of chunks, by the chunks' numbers.
#[derive(Default)]
pub(super) struct Spans {
    /// The only word, or a place in `many`.
    of: Vec<u32>,
    /// Lists of words, each behind its length.
    many: Vec<u32>,
}

impl Spans {
    /// Returns the words of a chunk, with what they are above their numbers.
    pub(super) fn words(&self, chunk: u32) -> &[u32] {
        let Some(entry) = self.of.get(chunk as usize) else { return &[] };
        if entry & MANY == 0 {
            return std::slice::from_ref(entry);
        }
        let list = self.many.get((entry & !MANY) as usize..).unwrap_or_default();
        list.split_first().and_then(|(length, words)| words.get(..*length as usize)).unwrap_or_default()
    }

    fn set(&mut self, chunk: u32, words: &[u32]) {
        let entry = match words {
            [only] => *only,
            _ => {
                let place = self.many.len() as u32;
                self.many.push(words.len() as u32);
                self.many.extend_from_slice(words);
                place | MANY
            }
        };
        if let Some(place) = self.of.get_mut(chunk as usize) {
            *place = entry;
        }
    }
}

/// The terms of some chunks.
#[derive(Default)]
struct Batch {
    /// The texts of all terms.
    text: String,
    met: Vec<Met>,
    /// Where the terms of each chunk end in `met`.
    ends: Vec<usize>,
}

/// A term of a chunk.
struct Met {
    /// Where its text ends.
    end: usize,
    hash: u64,
    /// [`STOP`] and [`TIME`].
    flags: u32,
    written: Written,
}

/// How the word of a term is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Written {
    /// It is no word by itself.
    NoWord,
    AsTerm,
    /// In another way than its term, in small letters and folded.
    Otherwise(Box<str>),
}

impl Lexicon {
    pub(super) fn new() -> Self {
        Self { ids: Numbers::new(), word_ids: Numbers::new(), ..Self::default() }
    }

    /// Brings chunks to their words. They are taken in the order given: those that are met most often
    /// first, so that they have the smallest numbers.
    pub(super) fn spans(&mut self, chunks: &[Chunk<'_>], order: &[u32], stems: &Stems) -> Spans {
        let times = time_terms(stems);
        let random = self.random.clone();
        let read = |numbers: &[u32]| Batch::new(chunks, numbers, stems, &times, &random);
        let batches: Vec<Batch> = order.par_chunks(BATCH).map(read).collect();
        let mut spans = Spans { of: vec![0; chunks.len()], many: Vec::new() };
        for (batch, numbers) in batches.into_iter().zip(order.chunks(BATCH)) {
            self.add(batch, numbers, &mut spans);
        }
        spans
    }

    fn find(&self, hash: u64, term: &str) -> Option<u32> {
        self.ids.find(hash, |id| self.terms.get(id as usize).is_some_and(|have| *have.text == *term))
    }

    fn add(&mut self, batch: Batch, numbers: &[u32], spans: &mut Spans) {
        let mut met = batch.met.into_iter();
        let (mut start, mut done) = (0, 0);
        let mut words = Vec::new();
        for (end, number) in batch.ends.into_iter().zip(numbers) {
            words.clear();
            for met in met.by_ref().take(end - done) {
                let text = batch.text.get(start..met.end).unwrap_or_default();
                start = met.end;
                let term = self.intern(text, &met);
                words.push(self.word(term, met.written) | met.flags);
            }
            done = end;
            spans.set(*number, &words);
        }
    }

    fn word(&mut self, term: u32, written: Written) -> u32 {
        let hash = self.random.hash_one((term, &written));
        let is_it = |id: u32| {
            let (word, of) = (self.words.get(id as usize), self.term_of.get(id as usize));
            of == Some(&term) && word.is_some_and(|word| word.written == written)
        };
        if let Some(id) = self.word_ids.find(hash, is_it) {
            return id;
        }
        let id = self.words.len() as u32;
        self.words.push(Word { written, documents: 0 });
        self.term_of.push(term);
        self.word_ids.insert(hash, id);
        id
    }

    fn intern(&mut self, text: &str, met: &Met) -> u32 {
        if let Some(id) = self.find(met.hash, text) {
            return id;
        }
        let id = self.terms.len() as u32;
        let is_stop = met.flags & STOP != 0;
        self.terms.push(Term { text: text.into(), documents: 0, paragraphs: 0, is_stop });
        self.ids.insert(met.hash, id);
        id
    }
}

impl Batch {
    fn new(chunks: &[Chunk<'_>], numbers: &[u32], stems: &Stems, times: &[String], random: &RandomState) -> Self {
        let mut batch = Self::default();
        for number in numbers {
            let Some(chunk) = chunks.get(*number as usize) else { continue };
            for_each_term(chunk.text, stems, |term, range, part| {
                batch.text.push_str(term);
                let is_word = part == Part::Word;
                let written = chunk.text.get(range).filter(|_| is_word && !term.starts_with(STOP_MARK));
                batch.met.push(Met {
                    end: batch.text.len(),
                    hash: random.hash_one(term),
                    flags: flags(term, times),
                    written: written.map_or(Written::NoWord, |word| written_as(word, term)),
                });
            });
            batch.ends.push(batch.met.len());
        }
        batch
    }
}

/// Tells how a word is written, in small letters and folded.
fn written_as(word: &str, term: &str) -> Written {
    if word.eq_ignore_ascii_case(term) && word.is_ascii() {
        return Written::AsTerm;
    }
    let word = fold(&word.to_lowercase());
    if *word == *term { Written::AsTerm } else { Written::Otherwise(word.into()) }
}

fn flags(term: &str, times: &[String]) -> u32 {
    let is_time = is_year(term) || times.iter().any(|time| time == term);
    let is_stop = term.starts_with(STOP_MARK);
    (if is_time { TIME } else { 0 }) | (if is_stop { STOP } else { 0 })
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
