//! What is kept of the texts of notes so that they can be searched, and how it is made.
//!
//! Texts are read as chunks by number (reading), while they are at hand for other reasons. Some notes at a time, each
//! different chunk is brought to its words and terms once (lexicon), and these are counted (counting);
//! what is kept of a note is written at once.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::codec::blobs::{ByteChunks, IndexBuilder, IndexWorker, pack};
use crate::codec::varint::put;
use crate::note::Language;
use crate::search::analysis::stems::Stems;
use crate::search::build::inverter::{DocFreq, InvertedBatch, Inverter, TermStatsAccumulator, Totals};
use crate::search::build::postings::{EncodedPostings, PostingsBuffer, PostingsWriter};
use crate::search::build::token_stream::{TextEnds, TokenStream};
use crate::search::build::vocabulary::{SurfaceForm, VocabularyBuilder};
use crate::search::read::segment::{BODY_FLAGS, IndexPart, MAX_COMMON, SegmentCounts, WordKind};

/// How the parts are made. It is part of their name, so that those of another program's version are
/// not read: raise it when anything in here, or in what a term is, changes.
const VERSION: u32 = 4;
/// How many lists are packed one after the other. The first ones are long, since terms that notes often hold come
/// first.
const LISTS: usize = 64;

/// Builds the text index from notes, batch by batch.
pub struct TextIndexer {
    language: Language,
    stems: Stems,
    /// One for each thread.
    readings: Vec<TokenStream>,
    lexicon: VocabularyBuilder,
    /// What is counted with, and what holds the result until it is put on the lists; both are used again.
    tallies: Mutex<Vec<TermStatsAccumulator>>,
    holdings: Mutex<Vec<PostingsBuffer>>,
    documents: Vec<u8>,
    forward: Vec<Vec<u8>>,
    lists: PostingsWriter,
    totals: Totals,
}

impl TextIndexer {
    /// Begins with no notes.
    pub fn new(language: Language) -> Self {
        Self {
            language,
            stems: Stems::new(language),
            readings: Vec::new(),
            lexicon: VocabularyBuilder::default(),
            tallies: Mutex::default(),
            holdings: Mutex::default(),
            documents: Vec::new(),
            forward: Vec::new(),
            lists: PostingsWriter::default(),
            totals: Totals::default(),
        }
    }

    /// Counts the terms of notes that were read.
    fn count(&self, reading: &TokenStream, texts: &[TextEnds]) -> InvertedBatch {
        let mut tally = taken(&self.tallies);
        let counted = Inverter::new(reading, &self.lexicon, &mut tally, taken(&self.holdings)).count_all(texts);
        put_back(&self.tallies, tally);
        counted
    }

    fn add(&mut self, mut counted: InvertedBatch) {
        for document in &counted.documents {
            put(&mut self.documents, document.bytes as u32);
            let flags = document.questions << 1 | u32::from(document.has_time);
            put(&mut self.documents, document.body_len << BODY_FLAGS | flags);
            put(&mut self.documents, document.title_len);
        }
        self.forward.push(counted.forward);
        self.totals.add(counted.totals);
        counted.held.clear();
        put_back(&self.holdings, counted.held);
    }

    /// Returns how many notes and paragraphs hold each term, and how many notes hold each word.
    fn doc_freqs(&mut self) -> (Vec<DocFreq>, Vec<u32>) {
        let mut terms = vec![DocFreq::default(); self.lexicon.terms.len()];
        let mut words = vec![0; self.lexicon.words.len()];
        for tally in std::mem::take(&mut self.tallies).into_inner().unwrap_or_else(PoisonError::into_inner) {
            for (sum, holders) in terms.iter_mut().zip(tally.term_holders()) {
                sum.notes += holders.notes;
                sum.paragraphs += holders.paragraphs;
            }
            words.iter_mut().zip(tally.word_holders()).for_each(|(sum, notes)| *sum += notes);
        }
        (terms, words)
    }

    /// Writes the terms in the order of their texts, each as how much of it is as in the one before, and
    /// the rest. Returns for each term its place, and the lists of the notes that hold them.
    fn write_terms(&self, holders: &[DocFreq], parts: &mut [Vec<u8>]) -> (Vec<u32>, ByteChunks) {
        let terms = &self.lexicon.terms;
        let mut order: Vec<u32> = (0..terms.len() as u32).collect();
        let text = |number: &u32| terms.get(*number as usize).map(|term| &*term.text).unwrap_or_default();
        order.par_sort_unstable_by(|a, b| text(a).cmp(text(b)));
        let mut places = vec![0; terms.len()];
        let mut before = "";
        let holders = |number: u32| holders.get(number as usize).copied().unwrap_or_default();
        let packed = self.packed_lists(&holders);
        let list =
            |number: u32| packed.get(number as usize / LISTS).and_then(|lists| lists.get(number as usize % LISTS));
        let list = |number: &u32| list(*number).unwrap_or_default();
        let together = |numbers: &[u32]| numbers.iter().map(list).collect::<Vec<_>>().concat();
        let lists = order.par_chunks(LISTS).map(together).collect();
        for (place, number) in order.iter().enumerate() {
            let (Some(term), Some(to)) = (terms.get(*number as usize), places.get_mut(*number as usize)) else {
                continue;
            };
            *to = place as u32;
            let rows = &mut parts[IndexPart::Terms as usize];
            let common = before.bytes().zip(term.text.bytes()).take_while(|(a, b)| a == b).take(MAX_COMMON).count();
            put(rows, common as u32);
            put(rows, (term.text.len() - common) as u32);
            let holders = holders(*number);
            put(rows, holders.notes << 1 | u32::from(term.is_stop));
            put(rows, holders.paragraphs);
            put(rows, list(number).len() as u32);
            before = &term.text;
            parts[IndexPart::TermTexts as usize]
                .extend_from_slice(term.text.as_bytes().get(common..).unwrap_or_default());
        }
        (places, lists)
    }

    /// Returns the lists of the notes that hold each term, some behind one another: in the order of the terms'
    /// numbers, in which they were noted down.
    fn packed_lists(&self, holders: &(impl Fn(u32) -> DocFreq + Sync)) -> Vec<EncodedPostings> {
        let numbers: Vec<u32> = (0..self.lexicon.terms.len() as u32).collect();
        let packed = |numbers: &[u32]| {
            let terms = numbers.iter().map(|number| (*number, holders(*number).notes));
            self.lists.packed(terms, self.totals.documents)
        };
        numbers.par_chunks(LISTS).map(packed).collect()
    }

    fn write_words(&self, holders: &[u32], places: &[u32], parts: &mut [Vec<u8>]) {
        for ((word, term), notes) in self.lexicon.words.iter().zip(&self.lexicon.term_of).zip(holders) {
            let (kind, text) = match word {
                SurfaceForm::NoWord => (WordKind::NoWord, ""),
                SurfaceForm::AsTerm => (WordKind::AsTerm, ""),
                SurfaceForm::Otherwise(text) => (WordKind::Otherwise, &**text),
            };
            put(&mut parts[IndexPart::Words as usize], places.get(*term as usize).copied().unwrap_or_default());
            let rows = &mut parts[IndexPart::WordRows as usize];
            put(rows, notes << 2 | kind as u32);
            if kind == WordKind::Otherwise {
                put(rows, text.len() as u32);
            }
            parts[IndexPart::WordTexts as usize].extend_from_slice(text.as_bytes());
        }
    }
}

/// Takes something that was put back, or something new.
fn taken<T: Default>(pool: &Mutex<Vec<T>>) -> T {
    pool.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
}

fn put_back<T>(pool: &Mutex<Vec<T>>, used: T) {
    pool.lock().unwrap_or_else(PoisonError::into_inner).push(used);
}

impl IndexBuilder for TextIndexer {
    fn key(&self) -> String {
        format!("{} {VERSION}", self.language.name())
    }

    fn readers(&mut self) -> Vec<&mut dyn IndexWorker> {
        let count = rayon::current_num_threads().max(self.readings.len());
        self.readings.resize_with(count, TokenStream::default);
        self.readings.iter_mut().map(|reading| reading as &mut dyn IndexWorker).collect()
    }

    fn take(&mut self) {
        self.lexicon.take(&mut self.readings, &self.stems);
        let counted: Vec<InvertedBatch> = self
            .readings
            .par_iter()
            .flat_map_iter(|reading| {
                // Two pieces of each: a thread that is done early takes another's second one.
                let pieces = reading.texts.chunks(reading.texts.len().div_ceil(2).max(1));
                pieces.map(|texts| self.count(reading, texts))
            })
            .collect();
        let firsts = counted.iter().scan(self.totals.documents as u32, |next, counted| {
            let first = *next;
            *next += counted.documents.len() as u32;
            Some((first, &counted.held))
        });
        self.lists.add(self.lexicon.terms.len(), &firsts.collect::<Vec<_>>());
        counted.into_iter().for_each(|counted| self.add(counted));
        self.readings.iter_mut().for_each(TokenStream::clear);
    }

    fn parts(mut self: Box<Self>) -> Vec<ByteChunks> {
        let mut parts = vec![Vec::new(); IndexPart::COUNT];
        let (term_holders, word_holders) = self.doc_freqs();
        let (places, lists) = self.write_terms(&term_holders, &mut parts);
        self.write_words(&word_holders, &places, &mut parts);
        parts[IndexPart::Documents as usize] = self.documents;
        let mut parts: Vec<ByteChunks> = parts.into_par_iter().map(|bytes| vec![pack(&bytes)]).collect();
        let (terms, words) = (self.lexicon.terms.len(), self.lexicon.words.len());
        let sums = SegmentCounts { terms, words, totals: self.totals };
        parts[IndexPart::Counts as usize] = vec![postcard::to_allocvec(&sums).unwrap_or_default()];
        parts[IndexPart::Postings as usize] = lists;
        // Its words are looked up one note at a time, and are in few bits already.
        parts[IndexPart::Forward as usize] = self.forward;
        parts
    }
}
