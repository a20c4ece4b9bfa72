//! The terms of a store's chunks, and the words that are written as each, by number.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use rayon::prelude::*;

use crate::search::analysis::english;
use crate::search::analysis::stems::{STOP_MARK, Stems, fold};
use crate::search::analysis::tokenizer::{SubtokenKind, for_each_term};
use crate::search::build::interner::{IdTable, TokenInterner};
use crate::search::build::token_stream::TokenStream;

/// What a word's number has above it where chunks are taken apart: it says nothing.
pub(crate) const STOP: u32 = 1 << 30;
/// See [`STOP`]: it tells a time.
pub(crate) const TIME: u32 = 1 << 29;
/// The number itself.
pub(crate) const WORD: u32 = TIME - 1;
/// The words of a chunk are a place in `many`, since they are not just one.
const MANY: u32 = 1 << 31;

/// How many chunks are brought to their terms at once.
const BATCH: usize = 512;

/// Builds the vocabulary: maps tokens to surface forms (words) and these to terms.
#[derive(Default)]
pub(crate) struct VocabularyBuilder {
    pub(crate) terms: Vec<VocabularyTerm>,
    /// A word is a way in which a term is written. Texts are kept as words, so that it is known which of them
    /// are left when notes change.
    pub(crate) words: Vec<SurfaceForm>,
    /// For each word, its term: apart, since it is looked up so often.
    pub(crate) term_of: Vec<u32>,
    ids: IdTable,
    word_ids: IdTable,
    random: RandomState,
    chunks: TokenInterner,
    spans: Spans,
}

/// A term of the vocabulary.
#[derive(Debug, Clone)]
pub(crate) struct VocabularyTerm {
    pub(crate) text: Box<str>,
    /// Whether it says nothing.
    pub(crate) is_stop: bool,
}

/// The words of each token, by token id.
#[derive(Default)]
struct Spans {
    /// The only word, or a place in `many`.
    of: Vec<u32>,
    /// PostingsWriter of words, each behind its length.
    many: Vec<u32>,
}

impl Spans {
    fn list(&self, span: u32) -> &[u32] {
        let list = self.many.get((span & !MANY) as usize..).unwrap_or_default();
        list.split_first().and_then(|(length, words)| words.get(..*length as usize)).unwrap_or_default()
    }

    fn set(&mut self, chunk: u32, words: &[u32]) {
        let span = match words {
            [only] => *only,
            _ => {
                let place = self.many.len() as u32;
                self.many.push(words.len() as u32);
                self.many.extend_from_slice(words);
                place | MANY
            }
        };
        if let Some(place) = self.of.get_mut(chunk as usize) {
            *place = span;
        }
    }
}

/// The terms of a batch of tokens.
#[derive(Default)]
struct Batch {
    /// The texts of all terms.
    text: String,
    met: Vec<TokenEvent>,
    /// Where the terms of each chunk end in `met`.
    ends: Vec<usize>,
}

/// A term of a token.
struct TokenEvent {
    /// Where its text ends.
    end: usize,
    hash: u64,
    /// [`STOP`] and [`TIME`].
    flags: u32,
    written: SurfaceForm,
}

/// How a surface form is spelled, relative to its term.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum SurfaceForm {
    /// It is no word by itself.
    NoWord,
    AsTerm,
    /// In another way than its term, in small letters and folded.
    Otherwise(Box<str>),
}

impl VocabularyBuilder {
    /// Brings the chunks that are new in what was read to their words. Those that are met most often come first,
    /// so that their words have the smallest numbers.
    pub(crate) fn take(&mut self, readings: &mut [TokenStream], stems: &Stems) {
        let first = self.chunks.count();
        let numbers: Vec<Vec<u32>> = readings.iter().map(|reading| self.numbers(reading)).collect();
        let order = most_met_first(readings, &numbers, first, self.chunks.count());
        let times = time_terms(stems);
        let Self { chunks, random, .. } = &*self;
        let read = |some: &[u32]| Batch::new(some.iter().map(|number| chunks.chunk(*number)), stems, &times, random);
        let batches: Vec<Batch> = order.par_chunks(BATCH).map(read).collect();
        self.spans.of.resize(self.chunks.count() as usize, 0);
        for (batch, chunks) in batches.into_iter().zip(order.chunks(BATCH)) {
            self.add(batch, chunks);
        }
        for (reading, numbers) in readings.iter_mut().zip(numbers) {
            reading.spans.extend(numbers.iter().filter_map(|number| self.spans.of.get(*number as usize)));
        }
    }

    /// Gives the chunks that are new in what was read the numbers that they would have if all had been read in one.
    fn numbers(&mut self, reading: &TokenStream) -> Vec<u32> {
        let new = reading.spans.len() as u32..reading.chunks.count();
        new.map(|number| self.chunks.number(reading.chunks.chunk(number))).collect()
    }

    /// Adds the words of chunks, of which `spans` tells, with what they are above their numbers.
    pub(crate) fn spell(&self, chunks: &[u32], spans: &[u32], words: &mut Vec<u32>) {
        for span in chunks.iter().filter_map(|chunk| spans.get(*chunk as usize)) {
            if span & MANY == 0 {
                words.push(*span);
            } else {
                words.extend_from_slice(self.spans.list(*span));
            }
        }
    }

    fn find(&self, hash: u64, term: &str) -> Option<u32> {
        self.ids.find(hash, |id| self.terms.get(id as usize).is_some_and(|have| *have.text == *term))
    }

    fn add(&mut self, batch: Batch, chunks: &[u32]) {
        let mut met = batch.met.into_iter();
        let (mut start, mut done) = (0, 0);
        let mut words = Vec::new();
        for (end, chunk) in batch.ends.into_iter().zip(chunks) {
            words.clear();
            for met in met.by_ref().take(end - done) {
                let text = batch.text.get(start..met.end).unwrap_or_default();
                start = met.end;
                let term = self.intern(text, &met);
                words.push(self.word(term, met.written) | met.flags);
            }
            done = end;
            self.spans.set(*chunk, &words);
        }
    }

    fn word(&mut self, term: u32, written: SurfaceForm) -> u32 {
        let hash = self.random.hash_one((term, &written));
        let is_it = |id: u32| {
            let (have, of) = (self.words.get(id as usize), self.term_of.get(id as usize));
            of == Some(&term) && have == Some(&written)
        };
        if let Some(id) = self.word_ids.find(hash, is_it) {
            return id;
        }
        let id = self.words.len() as u32;
        self.words.push(written);
        self.term_of.push(term);
        self.word_ids.insert(hash, id);
        id
    }

    fn intern(&mut self, text: &str, met: &TokenEvent) -> u32 {
        if let Some(id) = self.find(met.hash, text) {
            return id;
        }
        let id = self.terms.len() as u32;
        let is_stop = met.flags & STOP != 0;
        self.terms.push(VocabularyTerm { text: text.into(), is_stop });
        self.ids.insert(met.hash, id);
        id
    }
}

impl Batch {
    fn new<'a>(chunks: impl Iterator<Item = &'a str>, stems: &Stems, times: &[String], random: &RandomState) -> Self {
        let mut batch = Self::default();
        for chunk in chunks {
            for_each_term(chunk, stems, |term, range, part| {
                batch.text.push_str(term);
                let is_word = part == SubtokenKind::Word;
                let written = chunk.get(range).filter(|_| is_word && !term.starts_with(STOP_MARK));
                batch.met.push(TokenEvent {
                    end: batch.text.len(),
                    hash: random.hash_one(term),
                    flags: flags(term, times),
                    written: written.map_or(SurfaceForm::NoWord, |word| written_as(word, term)),
                });
            });
            batch.ends.push(batch.met.len());
        }
        batch
    }
}

/// Puts the chunks from `first` to `end` in order: those that are met most often come first. `numbers` has those of the
/// chunks that are new in each reading.
fn most_met_first(readings: &[TokenStream], numbers: &[Vec<u32>], first: u32, end: u32) -> Vec<u32> {
    // In each reading by its own numbers first.
    let count = |(reading, numbers): (&TokenStream, &Vec<u32>)| {
        let (known, mut met) = (reading.spans.len() as u32, vec![0_u32; numbers.len()]);
        let met_at = |at: &u32| at.checked_sub(known).map(|new| new as usize);
        reading.stream.iter().filter_map(met_at).for_each(|new| met.get_mut(new).into_iter().for_each(|met| *met += 1));
        met
    };
    let counts: Vec<Vec<u32>> = readings.par_iter().zip(numbers).map(count).collect();
    let mut met = vec![0_u32; (end - first) as usize];
    for (count, number) in counts.iter().flatten().zip(numbers.iter().flatten()) {
        let place = number.checked_sub(first).and_then(|place| met.get_mut(place as usize));
        place.into_iter().for_each(|met| *met += count);
    }
    // How often and which in one number each: nothing is looked up while they are sorted.
    let mut order: Vec<u64> =
        (first..).zip(&met).map(|(chunk, met)| u64::from(u32::MAX - met) << 32 | u64::from(chunk)).collect();
    order.par_sort_unstable();
    order.into_iter().map(|chunk| chunk as u32).collect()
}

/// Tells how a word is written, in small letters and folded.
fn written_as(word: &str, term: &str) -> SurfaceForm {
    if word.eq_ignore_ascii_case(term) && word.is_ascii() {
        return SurfaceForm::AsTerm;
    }
    let word = fold(&word.to_lowercase());
    if *word == *term { SurfaceForm::AsTerm } else { SurfaceForm::Otherwise(word.into()) }
}

/// Tells whether a term in small letters and without endings tells a time: a year, or a word of
/// [`english::time_words`] as [`time_terms`] has it.
pub(crate) fn is_time(term: &str, times: &[String]) -> bool {
    is_year(term) || times.iter().any(|time| time == term)
}

fn flags(term: &str, times: &[String]) -> u32 {
    let is_time = is_time(term, times);
    let is_stop = term.starts_with(STOP_MARK);
    (if is_time { TIME } else { 0 }) | (if is_stop { STOP } else { 0 })
}

/// The terms by which a text tells a time.
pub(crate) fn time_terms(stems: &Stems) -> Vec<String> {
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
