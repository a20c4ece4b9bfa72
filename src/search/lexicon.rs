//! The terms of a store's chunks, and the words that are written as each, by number.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::chunks::{Known, NEW, Numbers};
use super::english;
use super::reading::Read;
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

/// Terms and words, and the chunks that were brought to them.
#[derive(Default)]
pub(super) struct Lexicon {
    pub(super) terms: Vec<Term>,
    /// A word is a way in which a term is written. Texts are kept as words, so that it is known which of them
    /// are left when notes change.
    pub(super) words: Vec<Written>,
    /// For each word, its term: apart, since it is looked up so often.
    pub(super) term_of: Vec<u32>,
    ids: Numbers,
    word_ids: Numbers,
    random: RandomState,
    chunks: Known,
    spans: Spans,
}

/// A term.
#[derive(Debug, Clone)]
pub(super) struct Term {
    pub(super) text: Box<str>,
    /// Whether it says nothing.
    pub(super) is_stop: bool,
}

/// The words of chunks, by the chunks' numbers.
#[derive(Default)]
struct Spans {
    /// The only word, or a place in `many`.
    of: Vec<u32>,
    /// Lists of words, each behind its length.
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

    /// Brings chunks to their words; returns for each part that was read, for each of its chunks, what
    /// [`Lexicon::spell`] needs. Of the chunks that are new, those that are met most often come first, so that
    /// their words have the smallest numbers.
    pub(super) fn take(&mut self, parts: &[Read<'_>], stems: &Stems) -> Vec<Vec<u32>> {
        let first = self.chunks.count();
        let (numbers, new) = self.numbers(parts);
        let order = most_met_first(parts, &numbers, first, new.len());
        let times = time_terms(stems);
        let random = self.random.clone();
        let read = |places: &[u32]| Batch::new(&new, places, stems, &times, &random);
        let batches: Vec<Batch> = order.par_chunks(BATCH).map(read).collect();
        self.spans.of.resize(first as usize + new.len(), 0);
        for (batch, places) in batches.into_iter().zip(order.chunks(BATCH)) {
            self.add(batch, places.iter().map(|place| first + place));
        }
        let spans = |numbers: Vec<u32>| numbers.into_iter().map(|number| self.spans.of[number as usize]).collect();
        numbers.into_par_iter().map(spans).collect()
    }

    /// Gives the chunks of all parts the numbers that they would have if all had been read in one; returns for
    /// each part those of its chunks, and the chunks that are new.
    fn numbers<'a>(&mut self, parts: &[Read<'a>]) -> (Vec<Vec<u32>>, Vec<Chunk<'a>>) {
        let known = &self.chunks;
        let mut numbers: Vec<Vec<u32>> = parts.par_iter().map(|part| known.find_all(&part.chunks.all)).collect();
        let mut new = Vec::new();
        for (numbers, part) in numbers.iter_mut().zip(parts) {
            for (number, chunk) in numbers.iter_mut().zip(&part.chunks.all).filter(|(number, _)| **number == NEW) {
                let count = self.chunks.count();
                *number = self.chunks.number(chunk);
                new.extend((*number == count).then_some(*chunk));
            }
        }
        (numbers, new)
    }

    /// Adds the words of chunks, of which `spans` tells, with what they are above their numbers.
    pub(super) fn spell(&self, chunks: &[u32], spans: &[u32], words: &mut Vec<u32>) {
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

    fn add(&mut self, batch: Batch, chunks: impl Iterator<Item = u32>) {
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
            self.spans.set(chunk, &words);
        }
    }

    fn word(&mut self, term: u32, written: Written) -> u32 {
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

    fn intern(&mut self, text: &str, met: &Met) -> u32 {
        if let Some(id) = self.find(met.hash, text) {
            return id;
        }
        let id = self.terms.len() as u32;
        let is_stop = met.flags & STOP != 0;
        self.terms.push(Term { text: text.into(), is_stop });
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

/// Puts chunks that are new in order, by their places among them: those that are met most often come first. Of
/// each part, `numbers` has the chunks' numbers; `first` is that of the first new one.
fn most_met_first(parts: &[Read<'_>], numbers: &[Vec<u32>], first: u32, new: usize) -> Vec<u32> {
    // In each part by its own numbers first.
    let count = |part: &Read<'_>| {
        let mut met = vec![0_u32; part.chunks.all.len()];
        part.stream.iter().for_each(|at| met.get_mut(*at as usize).into_iter().for_each(|met| *met += 1));
        met
    };
    let counts: Vec<Vec<u32>> = parts.par_iter().map(count).collect();
    let mut met = vec![0_u32; new];
    for (count, number) in counts.iter().flatten().zip(numbers.iter().flatten()) {
        let place = number.checked_sub(first).and_then(|place| met.get_mut(place as usize));
        place.into_iter().for_each(|met| *met += count);
    }
    // How often and which in one number each: nothing is looked up while they are sorted.
    let mut order: Vec<u64> = (0..).zip(&met).map(|(place, met)| u64::from(u32::MAX - met) << 32 | place).collect();
    order.par_sort_unstable();
    order.into_iter().map(|place| place as u32).collect()
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
