//! What is kept of the texts of notes so that they can be searched, and how it is made.
//!
//! Notes are taken in some at a time. Each time, texts are read as chunks by number (reading), each
//! different chunk is brought to its words and terms once (lexicon), and these are counted (counting);
//! what is kept of a note is written at once, so that its text can be given up.

use std::sync::Arc;

use rayon::prelude::*;

use super::chunks::Chunks;
use super::counting::{Counted, Counter, Totals};
use super::lexicon::{Lexicon, Written};
use super::postings::Lists;
use super::reading::Read;
use super::segment::{MAX_COMMON, Part, Sums, WordKind};
use super::stems::Stems;
use super::varint::put;
use super::words::Chunk;
use crate::note::{Language, Note};
use crate::parts::{Gather, pack};

/// How the parts are made. It is part of their name, so that those of another program's version are
/// not read: raise it when anything in here, or in what a term is, changes.
const VERSION: u32 = 3;
/// How many lists are packed one after the other.
const LISTS: usize = 512;

/// The words of notes.
pub struct Words {
    language: Language,
    stems: Stems,
    lexicon: Lexicon,
    documents: Vec<u8>,
    forward: Vec<u8>,
    lists: Lists,
    totals: Totals,
}

impl Words {
    /// Begins with no notes.
    pub fn new(language: Language) -> Self {
        Self {
            language,
            stems: Stems::new(language),
            lexicon: Lexicon::new(),
            documents: Vec::new(),
            forward: Vec::new(),
            lists: Lists::default(),
            totals: Totals::default(),
        }
    }

    fn add(&mut self, counted: &Counted) {
        for document in &counted.documents {
            put(&mut self.documents, document.bytes as u32);
            put(&mut self.documents, document.body_len << 1 | u32::from(document.has_time));
            put(&mut self.documents, document.title_len);
        }
        self.forward.extend_from_slice(&counted.forward);
        for (term, (documents, paragraphs)) in self.lexicon.terms.iter_mut().zip(&counted.holders) {
            term.documents += documents;
            term.paragraphs += paragraphs;
        }
        for (word, documents) in self.lexicon.words.iter_mut().zip(&counted.word_holders) {
            word.documents += documents;
        }
        self.totals.add(counted.totals);
    }

    /// Writes the terms in the order of their texts, each as how much of it is as in the one before, and
    /// the rest. Returns for each term its place.
    fn write_terms(&self, parts: &mut [Vec<u8>]) -> Vec<u32> {
        let terms = &self.lexicon.terms;
        let mut order: Vec<u32> = (0..terms.len() as u32).collect();
        let text = |number: &u32| terms.get(*number as usize).map(|term| &*term.text).unwrap_or_default();
        order.par_sort_unstable_by(|a, b| text(a).cmp(text(b)));
        let mut places = vec![0; terms.len()];
        let mut before = "";
        let holders = |number: &u32| terms.get(*number as usize).map_or(0, |term| term.documents);
        let packed = |numbers: &[u32]| {
            let terms: Vec<(u32, u32)> = numbers.iter().map(|number| (*number, holders(number))).collect();
            self.lists.packed(&terms, self.totals.documents)
        };
        let (lists, lengths): (Vec<Vec<u8>>, Vec<Vec<usize>>) = order.par_chunks(LISTS).map(packed).unzip();
        parts[Part::Postings as usize] = lists.concat();
        for ((place, number), length) in order.iter().enumerate().zip(lengths.into_iter().flatten()) {
            let (Some(term), Some(to)) = (terms.get(*number as usize), places.get_mut(*number as usize)) else {
                continue;
            };
            *to = place as u32;
            let rows = &mut parts[Part::Terms as usize];
            let common = before.bytes().zip(term.text.bytes()).take_while(|(a, b)| a == b).take(MAX_COMMON).count();
            put(rows, common as u32);
            put(rows, (term.text.len() - common) as u32);
            put(rows, term.documents << 1 | u32::from(term.is_stop));
            put(rows, term.paragraphs);
            put(rows, length as u32);
            before = &term.text;
            parts[Part::TermTexts as usize].extend_from_slice(term.text.as_bytes().get(common..).unwrap_or_default());
        }
        places
    }

    fn write_words(&self, places: &[u32], parts: &mut [Vec<u8>]) {
        for (word, term) in self.lexicon.words.iter().zip(&self.lexicon.term_of) {
            let (kind, text) = match &word.written {
                Written::NoWord => (WordKind::NoWord, ""),
                Written::AsTerm => (WordKind::AsTerm, ""),
                Written::Otherwise(text) => (WordKind::Otherwise, &**text),
            };
            put(&mut parts[Part::Words as usize], places.get(*term as usize).copied().unwrap_or_default());
            let rows = &mut parts[Part::WordRows as usize];
            put(rows, word.documents << 2 | kind as u32);
            if kind == WordKind::Otherwise {
                put(rows, text.len() as u32);
            }
            parts[Part::WordTexts as usize].extend_from_slice(text.as_bytes());
        }
    }
}

impl Gather for Words {
    fn key(&self) -> String {
        format!("{} {VERSION}", self.language.name())
    }

    fn take(&mut self, notes: &[Arc<Note>]) {
        let size = notes.len().div_ceil(rayon::current_num_threads()).max(1);
        let parts: Vec<Read<'_>> = notes.par_chunks(size).map(Read::new).collect();
        let (parts, chunks) = numbered_as_one(parts);
        let order = most_met_first(&parts, chunks.all.len());
        let spans = self.lexicon.spans(&chunks.all, &order, &self.stems);
        let lexicon = &self.lexicon;
        let counted: Vec<Counted> = parts
            .par_iter()
            .flat_map_iter(|(read, numbers)| {
                // Two pieces of each part: a thread that is done early takes another's second one.
                let pieces = read.texts.chunks(read.texts.len().div_ceil(2).max(1));
                pieces.map(|texts| Counter::new(read, numbers, &spans, lexicon).count_all(texts))
            })
            .collect();
        let firsts = counted.iter().scan(self.totals.documents as u32, |next, counted| {
            let first = *next;
            *next += counted.documents.len() as u32;
            Some((first, &counted.held))
        });
        self.lists.add(self.lexicon.terms.len(), &firsts.collect::<Vec<_>>());
        counted.iter().for_each(|counted| self.add(counted));
    }

    fn parts(self: Box<Self>) -> Vec<Vec<u8>> {
        let mut parts = vec![Vec::new(); Part::COUNT];
        let places = self.write_terms(&mut parts);
        self.write_words(&places, &mut parts);
        let (terms, words) = (self.lexicon.terms.len(), self.lexicon.words.len());
        parts[Part::Sums as usize] =
            postcard::to_allocvec(&Sums { terms, words, totals: self.totals }).unwrap_or_default();
        parts[Part::Documents as usize] = self.documents;
        let is_packed = |part: usize| part != Part::Sums as usize && part != Part::Postings as usize;
        let to_pack = parts.par_iter_mut().enumerate().filter(|(part, _)| is_packed(*part));
        to_pack.for_each(|(_, bytes)| *bytes = pack(bytes));
        // Its words are looked up one note at a time, and are in few bits already.
        parts[Part::Forward as usize] = self.forward;
        parts
    }
}

/// Orders chunks so that those which are met most often come first.
fn most_met_first(parts: &[(Read<'_>, Vec<u32>)], chunks: usize) -> Vec<u32> {
    // In each part by its own numbers first.
    let count = |(read, numbers): &(Read<'_>, Vec<u32>)| {
        let mut met = vec![0_u32; numbers.len()];
        read.stream.iter().for_each(|at| met.get_mut(*at as usize).into_iter().for_each(|met| *met += 1));
        met
    };
    let counts: Vec<Vec<u32>> = parts.par_iter().map(count).collect();
    let mut met = vec![0_u32; chunks];
    for (count, (_, numbers)) in counts.iter().zip(parts) {
        for (count, number) in count.iter().zip(numbers) {
            met.get_mut(*number as usize).into_iter().for_each(|met| *met += count);
        }
    }
    // How often and which in one number each: nothing is looked up while they are sorted.
    let mut order: Vec<u64> = (0..).zip(&met).map(|(number, met)| u64::from(u32::MAX - met) << 32 | number).collect();
    order.par_sort_unstable();
    order.into_iter().map(|number| number as u32).collect()
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
