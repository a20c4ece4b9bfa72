//! Builds the segment of a store's texts, batch by batch, while the store reads the notes.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::inverter::{DocFreq, InvertedBatch, Inverter, TermStatsAccumulator};
use super::token_stream::{TextEnds, TokenStream};
use super::vocabulary::{TOKEN_LIMIT, TextTable, VocabularyBuilder};
use crate::codec::blobs::ByteChunks;
use crate::codec::lz4::compress;
use crate::codec::sort_key::sort_key;
use crate::codec::{columns, varint};
use crate::note::Language;
use crate::search::analysis::stems::Stems;
use crate::search::format::{BODY_FLAG_BITS, IndexPart, MAX_SHARED_PREFIX, SegmentCounts, Totals, VERSION, WordKind};
use crate::search::ids::{TermId, TermOrd};
use crate::search::postings::{PostingsBuffer, PostingsWriter};
use crate::store::{TextIndexBuilder, TextIndexWorker};

/// The number of postings lists that one task copies.
const LISTS_PER_CHUNK: usize = 64;
/// The number of columns of the dictionary, and of those before the lengths of its texts: see specs/internals/index.md.
const TERM_COLUMNS: usize = 5;
const NUMBER_COLUMNS: usize = 3;

/// Builds a segment from notes, batch by batch.
pub struct TextIndexer {
    language: Language,
    stems: Stems,
    /// One for each thread.
    streams: Vec<TokenStream>,
    vocabulary: VocabularyBuilder,
    /// Accumulators and buffers that no thread uses now; both are reused.
    stats: Mutex<Vec<TermStatsAccumulator>>,
    buffers: Mutex<Vec<PostingsBuffer>>,
    documents: Vec<u8>,
    forward: Vec<Vec<u8>>,
    postings: PostingsWriter,
    totals: Totals,
}

impl TextIndexer {
    /// Returns an indexer without notes, for texts in a language.
    pub fn new(language: Language) -> Self {
        Self {
            language,
            stems: Stems::new(language),
            streams: Vec::new(),
            vocabulary: VocabularyBuilder::new(TOKEN_LIMIT),
            stats: Mutex::default(),
            buffers: Mutex::default(),
            documents: Vec::new(),
            forward: Vec::new(),
            postings: PostingsWriter::default(),
            totals: Totals::default(),
        }
    }

    fn invert(&self, stream: &TokenStream, documents: &[TextEnds]) -> InvertedBatch {
        let mut stats = pop_or_default(&self.stats);
        let buffer = pop_or_default(&self.buffers);
        let batch = Inverter::new(stream, &self.vocabulary, &mut stats, buffer).invert(documents);
        push(&self.stats, stats);
        batch
    }

    fn add(&mut self, mut batch: InvertedBatch) {
        for (norms, forward_len) in &batch.documents {
            varint::write(&mut self.documents, *forward_len as u32);
            let flags = u32::from(norms.questions) << 1 | u32::from(norms.has_time);
            varint::write(&mut self.documents, norms.body << BODY_FLAG_BITS | flags);
            varint::write(&mut self.documents, norms.title);
        }
        // Copied, since more was reserved.
        self.forward.push(batch.forward.as_slice().to_vec());
        self.totals.add(batch.totals);
        batch.postings.clear();
        push(&self.buffers, batch.postings);
    }

    /// Returns the document frequencies of each term and of each word.
    fn doc_freqs(&mut self) -> (Vec<DocFreq>, Vec<u32>) {
        let mut terms = vec![DocFreq::default(); self.vocabulary.terms.len()];
        let mut words = vec![0; self.vocabulary.words.len()];
        for stats in std::mem::take(&mut self.stats).into_inner().unwrap_or_else(PoisonError::into_inner) {
            for (sum, doc_freq) in terms.iter_mut().zip(stats.term_doc_freqs()) {
                sum.notes += doc_freq.notes;
                sum.paragraphs += doc_freq.paragraphs;
            }
            words.iter_mut().zip(stats.word_doc_freqs()).for_each(|(sum, notes)| *sum += notes);
        }
        (terms, words)
    }

    /// Writes the dictionary: the terms in the order of their texts, front-coded. Returns the ordinal of each term and
    /// the postings lists in the order of the ordinals. Frees the postings.
    fn write_terms(&mut self, doc_freqs: &[DocFreq], parts: &mut [Vec<u8>]) -> (Vec<TermOrd>, ByteChunks) {
        let postings = std::mem::take(&mut self.postings);
        let terms = &self.vocabulary.terms;
        let order = sorted_by_text(terms);
        let doc_freq = |term: TermId| doc_freqs.get(term.index()).copied().unwrap_or_default();
        let encoded = postings.encode(terms.len(), self.totals.documents, |term| doc_freq(term).notes);
        let concat = |terms: &[TermId]| terms.iter().map(|term| encoded.list(*term)).collect::<Vec<_>>().concat();
        let lists = order.par_chunks(LISTS_PER_CHUNK).map(concat).collect();
        let mut ordinals = vec![TermOrd::default(); terms.len()];
        let mut columns = [const { Vec::new() }; TERM_COLUMNS];
        columns.iter_mut().for_each(|column| column.reserve_exact(terms.len()));
        let (mut before, mut suffixes) = ("", Vec::new());
        for (ordinal, id) in TermOrd::all(order.len()).zip(&order) {
            let ((text, Some(is_stop)), Some(of_term)) = (terms.get(id.index()), ordinals.get_mut(id.index())) else {
                continue;
            };
            *of_term = ordinal;
            let same = before.bytes().zip(text.bytes()).take_while(|(a, b)| a == b);
            let shared = same.take(MAX_SHARED_PREFIX).count();
            let doc_freq = doc_freq(*id);
            let notes = doc_freq.notes << 1 | u32::from(is_stop);
            let list_len = encoded.list(*id).len() as u32;
            let row = [notes, doc_freq.paragraphs, list_len, shared as u32, (text.len() - shared) as u32];
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
            before = text;
            let suffix = text.as_bytes().get(shared..).unwrap_or_default();
            suffixes.extend_from_slice(suffix);
        }
        let (numbers, lengths) = columns.split_at(NUMBER_COLUMNS);
        for (part, columns) in [(IndexPart::Terms, numbers), (IndexPart::TermTexts, lengths)] {
            columns.iter().for_each(|column| columns::write(&mut parts[part as usize], column));
        }
        parts[IndexPart::TermTexts as usize].append(&mut suffixes);
        (ordinals, lists)
    }

    fn write_words(&self, doc_freqs: &[u32], ordinals: &[TermOrd], parts: &mut [Vec<u8>]) {
        let is_stop = |term: &TermId| self.vocabulary.terms.get(term.index()).1 == Some(true);
        let ordinal =
            |term: &TermId| ordinals.get(term.index()).copied().unwrap_or_default().0 << 1 | u32::from(is_stop(term));
        let terms: Vec<u32> = self.vocabulary.term_of.iter().map(ordinal).collect();
        columns::write(&mut parts[IndexPart::Words as usize], &terms);
        for ((text, kind), doc_freq) in self.vocabulary.words.iter().zip(doc_freqs) {
            let rows = &mut parts[IndexPart::WordRows as usize];
            varint::write(rows, doc_freq << 2 | kind as u32);
            if kind == WordKind::Other {
                varint::write(rows, text.len() as u32);
                parts[IndexPart::WordTexts as usize].extend_from_slice(text.as_bytes());
            }
        }
    }
}

/// Returns the terms in the order of their texts. Most comparisons need only the first bytes, which are sorted with them.
fn sorted_by_text<T: Copy + Sync>(terms: &TextTable<T>) -> Vec<TermId> {
    let text = |term: TermId| terms.get(term.index()).0;
    let with_key = |term: TermId| (sort_key(text(term).as_bytes()), term);
    let mut order: Vec<(u64, TermId)> = TermId::all(terms.len()).map(with_key).collect();
    order.par_sort_unstable_by(|(a, a_term), (b, b_term)| a.cmp(b).then_with(|| text(*a_term).cmp(text(*b_term))));
    order.into_iter().map(|(_, term)| term).collect()
}

/// Removes an unused value from a pool; a new one if there is none.
fn pop_or_default<T: Default>(pool: &Mutex<Vec<T>>) -> T {
    pool.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
}

fn push<T>(pool: &Mutex<Vec<T>>, unused: T) {
    pool.lock().unwrap_or_else(PoisonError::into_inner).push(unused);
}

impl TextIndexBuilder for TextIndexer {
    fn key(&self) -> String {
        format!("{} {VERSION}", self.language.name())
    }

    fn workers(&mut self) -> Vec<&mut dyn TextIndexWorker> {
        let count = rayon::current_num_threads().max(self.streams.len());
        self.streams.resize_with(count, TokenStream::default);
        self.streams.iter_mut().map(|stream| stream as &mut dyn TextIndexWorker).collect()
    }

    fn end_batch(&mut self) {
        self.vocabulary.add_batch(&mut self.streams, &self.stems);
        let batches: Vec<InvertedBatch> = self
            .streams
            .par_iter()
            .flat_map_iter(|stream| {
                // Two tasks for each stream: a thread that is done early takes over another's second one.
                let tasks = stream.documents.chunks(stream.documents.len().div_ceil(2).max(1));
                tasks.map(|documents| self.invert(stream, documents))
            })
            .collect();
        let buffers = batches.iter().scan(self.totals.documents as u32, |next, batch| {
            let first = *next;
            *next += batch.documents.len() as u32;
            Some((first, &batch.postings))
        });
        self.postings.add(self.vocabulary.terms.len(), &buffers.collect::<Vec<_>>());
        batches.into_iter().for_each(|batch| self.add(batch));
        self.vocabulary.end_batch(&mut self.streams);
    }

    fn finish(mut self: Box<Self>) -> Vec<ByteChunks> {
        let mut parts = vec![Vec::new(); IndexPart::COUNT];
        // What only new notes need is freed before the lists take their memory.
        drop((std::mem::take(&mut self.streams), std::mem::take(&mut self.buffers)));
        self.vocabulary.end();
        let (term_doc_freqs, word_doc_freqs) = self.doc_freqs();
        let (ordinals, lists) = self.write_terms(&term_doc_freqs, &mut parts);
        self.write_words(&word_doc_freqs, &ordinals, &mut parts);
        parts[IndexPart::Documents as usize] = self.documents;
        let plain = [IndexPart::Terms, IndexPart::Words].map(|part| part as usize);
        let encode = |(part, bytes): (usize, Vec<u8>)| {
            // Columns get only a little smaller, and every search reads them.
            vec![if plain.contains(&part) { bytes } else { compress(&bytes) }]
        };
        let mut parts: Vec<ByteChunks> = parts.into_par_iter().enumerate().map(encode).collect();
        let (terms, words) = (self.vocabulary.terms.len(), self.vocabulary.words.len());
        let counts = SegmentCounts { terms, words, totals: self.totals };
        parts[IndexPart::Counts as usize] = vec![postcard::to_allocvec(&counts).unwrap_or_default()];
        parts[IndexPart::Postings as usize] = lists;
        // Read one document at a time, and in few bits already.
        parts[IndexPart::Forward as usize] = self.forward;
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::Note;

    /// Returns the parts of the index of notes in batches of seven.
    fn parts(token_limit: u32) -> Vec<Vec<u8>> {
        let mut indexer = Box::new(TextIndexer::new(Language::English));
        indexer.vocabulary = VocabularyBuilder::new(token_limit);
        for batch in 0..9 {
            for worker in indexer.workers() {
                for note in 0..7 {
                    let text =
                        format!("# Note {note}\n\nThe engines of batch{batch} run-{note} and ran, engine {batch}.\n");
                    worker.read(&Note::parse(&format!("notes/{batch}-{note}.md"), text.into_bytes()));
                }
            }
            indexer.end_batch();
        }
        indexer.finish().into_iter().map(|chunks| chunks.concat()).collect()
    }

    #[test]
    fn forgotten_tokens_change_nothing() {
        assert_eq!(parts(0), parts(u32::MAX));
        assert_eq!(parts(20), parts(u32::MAX));
    }
}
