//! The terms of a store's chunks, each by number.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::chunks::Numbers;
use super::english;
use super::stems::{STOP_MARK, Stems, fold};
use super::words::{Chunk, Part, for_each_term};

/// What a term's number has above it where chunks are taken apart: it says nothing.
pub(super) const STOP: u32 = 1 << 30;
/// See [`STOP`]: it tells a time.
pub(super) const TIME: u32 = 1 << 29;
/// The number itself.
pub(super) const TERM: u32 = TIME - 1;
/// The terms of a chunk are a place in `many`, since they are not just one.
const MANY: u32 = 1 << 31;

/// How many chunks are brought to their terms at once.
const BATCH: usize = 512;

/// Terms and words.
#[derive(Default)]
pub(super) struct Lexicon {
    pub(super) terms: Vec<Term>,
    /// Words that are written in another way than their term, in small letters and folded.
    pub(super) spellings: Vec<(Box<str>, u32)>,
    ids: Numbers,
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
    /// Whether a word is written as it.
    pub(super) is_written: bool,
}

/// The terms of chunks, by the chunks' numbers.
#[derive(Default)]
pub(super) struct Spans {
    /// The only term, or a place in `many`.
    pub(super) of: Vec<u32>,
    /// Lists of terms, each behind its length.
    many: Vec<u32>,
}

impl Spans {
    /// Returns the terms of a chunk by its entry in `of`, with what they are above their numbers.
    pub(super) fn terms<'a>(&'a self, entry: &'a u32) -> &'a [u32] {
        if entry & MANY == 0 {
            return std::slice::from_ref(entry);
        }
        let list = self.many.get((entry & !MANY) as usize..).unwrap_or_default();
        list.split_first().and_then(|(length, terms)| terms.get(..*length as usize)).unwrap_or_default()
    }

    fn add(&mut self, terms: &[u32]) {
        let entry = match terms {
            [only] => *only,
            _ => {
                let place = self.many.len() as u32;
                self.many.push(terms.len() as u32);
                self.many.extend_from_slice(terms);
                place | MANY
            }
        };
        self.of.push(entry);
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
enum Written {
    NoWord,
    AsTerm,
    Otherwise(Box<str>),
}

impl Lexicon {
    /// Brings chunks to their terms.
    pub(super) fn new(chunks: &[Chunk<'_>], stems: &Stems) -> (Self, Spans) {
        let times = time_terms(stems);
        let mut lexicon = Self { ids: Numbers::new(), ..Self::default() };
        let random = lexicon.random.clone();
        let read = |chunks: &[Chunk<'_>]| Batch::new(chunks, stems, &times, &random);
        let batches: Vec<Batch> = chunks.par_chunks(BATCH).map(read).collect();
        let mut spans = Spans { of: Vec::with_capacity(chunks.len()), many: Vec::new() };
        batches.into_iter().for_each(|batch| lexicon.add(batch, &mut spans));
        (lexicon, spans)
    }

    /// Returns a term's number, where a note holds it.
    pub(super) fn id(&self, term: &str) -> Option<u32> {
        self.find(self.random.hash_one(term), term)
    }

    fn find(&self, hash: u64, term: &str) -> Option<u32> {
        self.ids.find(hash, |id| self.terms.get(id as usize).is_some_and(|have| *have.text == *term))
    }

    fn add(&mut self, batch: Batch, spans: &mut Spans) {
        let mut met = batch.met.into_iter();
        let (mut start, mut done) = (0, 0);
        let mut terms = Vec::new();
        for end in batch.ends {
            terms.clear();
            for met in met.by_ref().take(end - done) {
                let text = batch.text.get(start..met.end).unwrap_or_default();
                start = met.end;
                let id = self.intern(text, &met);
                terms.push(id | met.flags);
                match met.written {
                    Written::NoWord => {}
                    Written::AsTerm => {
                        if let Some(term) = self.terms.get_mut(id as usize) {
                            term.is_written = true;
                        }
                    }
                    Written::Otherwise(word) => self.spellings.push((word, id)),
                }
            }
            done = end;
            spans.add(&terms);
        }
    }

    fn intern(&mut self, text: &str, met: &Met) -> u32 {
        if let Some(id) = self.find(met.hash, text) {
            return id;
        }
        let id = self.terms.len() as u32;
        let is_stop = met.flags & STOP != 0;
        self.terms.push(Term { text: text.into(), documents: 0, paragraphs: 0, is_stop, is_written: false });
        self.ids.insert(met.hash, id);
        id
    }
}

impl Batch {
    fn new(chunks: &[Chunk<'_>], stems: &Stems, times: &[String], random: &RandomState) -> Self {
        let mut batch = Self::default();
        for chunk in chunks {
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
