//! Inverts token streams: the tokens of notes become forward entries, postings and document frequencies.

use std::hint::select_unpredictable;

use super::token_stream::{BLANK_LINE, HEADING_END, HEADING_START, TAG_END, TextEnds, TokenStream, is_mark};
use super::token_words::{FlaggedWord, TokenWords};
use super::vocabulary::VocabularyBuilder;
use crate::codec::bits::BitWriter;
use crate::search::format::{FieldLengths, Totals};
use crate::search::ids::TermId;
use crate::search::postings::{FieldTermFreqs, PostingsBuffer, TextField};

/// The inverted form of a batch of notes.
#[derive(Default)]
pub(crate) struct InvertedBatch {
    /// The norms of each document, and the length of its forward entry in bytes.
    pub(crate) documents: Vec<(FieldLengths, usize)>,
    /// The forward entries, one after another; see [`DocumentWords::write`].
    pub(crate) forward: Vec<u8>,
    /// The postings of content terms; documents are numbered from the first one of the batch.
    pub(crate) postings: PostingsBuffer,
    pub(crate) totals: Totals,
}

/// Accumulates the document frequencies of one thread; reused for many batches, since it is as large as the vocabulary.
#[derive(Default)]
pub(crate) struct TermStatsAccumulator {
    terms: Vec<TermStats>,
    words: Vec<WordStats>,
    /// The number of the current document, and of the current paragraph, from 1.
    doc: u32,
    paragraph: u32,
    /// The frequencies of the terms of the current document: the first `distinct` are in use.
    counts: Vec<DocTermCount>,
    distinct: usize,
    /// The term of each of the current words, and whether it is a content term.
    occurrences: Vec<(TermId, bool)>,
}

/// The statistics of a term, stored together since every occurrence reads them.
#[derive(Clone, Copy, Default)]
struct TermStats {
    /// The last document that contains the term, and the position of its frequencies in `counts`.
    last_doc: u32,
    count: u32,
    doc_freq: DocFreq,
}

/// The document frequencies of a term: in notes and in paragraphs.
#[derive(Clone, Copy, Default)]
pub(crate) struct DocFreq {
    pub(crate) notes: u32,
    pub(crate) paragraphs: u32,
}

/// The statistics of a word.
#[derive(Clone, Copy)]
struct WordStats {
    term: TermId,
    /// The last document that contains the word.
    last_doc: u32,
    doc_freq: u32,
}

/// The frequencies of a term in the current document.
#[derive(Clone, Copy, Default)]
struct DocTermCount {
    term: TermId,
    freqs: FieldTermFreqs,
    is_content: bool,
    /// The last paragraph that contains the term.
    last_paragraph: u32,
    paragraphs: u32,
}

impl TermStatsAccumulator {
    fn grow_to(&mut self, vocabulary: &VocabularyBuilder) {
        self.terms.resize(vocabulary.terms.len(), TermStats::default());
        let new = vocabulary.term_of.get(self.words.len()..).unwrap_or_default();
        self.words.extend(new.iter().map(|term| WordStats { term: *term, last_doc: 0, doc_freq: 0 }));
    }

    pub(crate) fn term_doc_freqs(&self) -> impl Iterator<Item = DocFreq> {
        self.terms.iter().map(|term| term.doc_freq)
    }

    pub(crate) fn word_doc_freqs(&self) -> impl Iterator<Item = u32> {
        self.words.iter().map(|word| word.doc_freq)
    }

    fn term(&self, word: FlaggedWord) -> TermId {
        self.words.get(word.word().index()).map_or(TermId::default(), |word| word.term)
    }

    /// Records the occurrences of `words` in the current document and calls `count` with the frequencies of each word's
    /// term. Two passes (words, then terms), both without branches on what is found: whether a word is new in the
    /// document is unpredictable, and a branch would stall every lookup.
    #[inline]
    fn record_occurrences(&mut self, words: &[FlaggedWord], mut count: impl FnMut(&mut DocTermCount)) {
        let Self { terms, words: stats, doc, counts, distinct, occurrences, .. } = self;
        occurrences.clear();
        occurrences.extend(words.iter().filter_map(|word| {
            let stats = stats.get_mut(word.word().index())?;
            stats.doc_freq += u32::from(stats.last_doc != *doc);
            stats.last_doc = *doc;
            Some((stats.term, !word.is_stop()))
        }));
        // Each occurrence writes to the element behind those in use.
        let capacity = *distinct + words.len() + 1;
        if counts.len() < capacity {
            counts.resize(capacity, DocTermCount::default());
        }
        for (term, is_content) in occurrences {
            let (Some(stats), Some(next)) = (terms.get_mut(term.index()), counts.get_mut(*distinct)) else { continue };
            // Overwritten by the next occurrence if the document already contains the term.
            *next = DocTermCount { term: *term, is_content: *is_content, ..DocTermCount::default() };
            let is_new = stats.last_doc != *doc;
            stats.count = select_unpredictable(is_new, *distinct as u32, stats.count);
            stats.last_doc = *doc;
            *distinct += usize::from(is_new);
            counts.get_mut(stats.count as usize).into_iter().for_each(&mut count);
        }
    }

    /// Counts words of a field. Returns the number of content words.
    fn count(&mut self, words: &[FlaggedWord], field: TextField) -> u32 {
        self.record_occurrences(words, |count| count.freqs.add(field));
        content_word_count(words)
    }

    /// Counts words of the current paragraph of the body. Returns the number of content words.
    fn count_in_paragraph(&mut self, words: &[FlaggedWord]) -> u32 {
        let paragraph = self.paragraph;
        self.record_occurrences(words, |count| {
            count.freqs.body += 1;
            count.paragraphs += u32::from(count.last_paragraph != paragraph);
            count.last_paragraph = paragraph;
        });
        content_word_count(words)
    }

    /// Ends the current document, and adds its postings.
    fn end_document(&mut self, postings: &mut PostingsBuffer) {
        let counts = self.counts.get(..self.distinct).unwrap_or_default();
        for DocTermCount { term, paragraphs, .. } in counts {
            if let Some(TermStats { doc_freq, .. }) = self.terms.get_mut(term.index()) {
                doc_freq.notes += 1;
                doc_freq.paragraphs += paragraphs;
            }
        }
        postings.add(counts.iter().filter(|count| count.is_content).map(|count| (count.term, &count.freqs)));
        self.distinct = 0;
    }
}

fn content_word_count(words: &[FlaggedWord]) -> u32 {
    words.iter().map(|word| u32::from(!word.is_stop())).sum()
}

/// The words of a document, in text order.
#[derive(Default)]
struct DocumentWords {
    title: Vec<FlaggedWord>,
    /// The word ids of each tag behind their number.
    tags: Vec<u32>,
    /// The words of the current tag.
    tag: Vec<FlaggedWord>,
    headings: Vec<FlaggedWord>,
    body: Vec<FlaggedWord>,
    /// The ends of the paragraphs in the body.
    paragraph_ends: Vec<u32>,
    summary: Vec<FlaggedWord>,
}

/// Inverts the documents of one thread and batch.
pub(crate) struct Inverter<'a> {
    elements: &'a [u32],
    /// The words of each token of the stream.
    words_of_token: &'a [TokenWords],
    vocabulary: &'a VocabularyBuilder,
    stats: &'a mut TermStatsAccumulator,
    batch: InvertedBatch,
    /// The words of the current document.
    words: DocumentWords,
}

impl<'a> Inverter<'a> {
    /// Returns an inverter for documents of `stream`. `postings` is an empty buffer, whose capacity is reused.
    pub(crate) fn new(
        stream: &'a TokenStream,
        vocabulary: &'a VocabularyBuilder,
        stats: &'a mut TermStatsAccumulator,
        postings: PostingsBuffer,
    ) -> Self {
        stats.grow_to(vocabulary);
        let batch = InvertedBatch { postings, ..InvertedBatch::default() };
        let words = DocumentWords::default();
        Self { elements: &stream.elements, words_of_token: &stream.words, vocabulary, stats, batch, words }
    }

    pub(crate) fn invert(mut self, documents: &[TextEnds]) -> InvertedBatch {
        let tokens = documents.first().zip(documents.last()).map_or(0, |(first, last)| last.summary - first.start);
        self.batch.documents.reserve_exact(documents.len());
        // Enough for most batches, so that nothing is moved; pages that are not written take no memory.
        self.batch.forward.reserve_exact(2 * tokens);
        self.batch.postings.reserve(tokens / 4 * 3);
        documents.iter().for_each(|document| self.add(document));
        self.batch
    }

    fn add(&mut self, ends: &TextEnds) {
        self.stats.doc += 1;
        self.words.clear();
        let mut norms = FieldLengths { questions: ends.questions, ..FieldLengths::default() };
        let title = self.slice(ends.start, ends.title);
        self.vocabulary.expand_tokens(title, self.words_of_token, &mut self.words.title);
        norms.title = self.stats.count(&self.words.title, TextField::Title);
        for tag in self.slice(ends.title, ends.tags).split_inclusive(|element| *element == TAG_END) {
            self.add_tag(tag.strip_suffix(&[TAG_END]).unwrap_or(tag));
        }
        self.add_body(self.slice(ends.tags, ends.body), &mut norms);
        let summary = self.slice(ends.body, ends.summary);
        self.vocabulary.expand_tokens(summary, self.words_of_token, &mut self.words.summary);
        norms.body += self.stats.count(&self.words.summary, TextField::Body);
        self.stats.end_document(&mut self.batch.postings);
        let before = self.batch.forward.len();
        self.words.write(&mut self.batch.forward);
        self.batch.totals.add(Totals::of(norms));
        self.batch.documents.push((norms, self.batch.forward.len() - before));
    }

    fn slice(&self, start: usize, end: usize) -> &'a [u32] {
        self.elements.get(start..end).unwrap_or_default()
    }

    fn add_tag(&mut self, tokens: &[u32]) {
        let DocumentWords { tags, tag, .. } = &mut self.words;
        tag.clear();
        self.vocabulary.expand_tokens(tokens, self.words_of_token, tag);
        tags.push(tag.len() as u32);
        tags.extend(tag.iter().map(|word| word.word().0));
        self.stats.count(tag, TextField::Tag { is_whole: tag.len() == 1 });
    }

    fn add_body(&mut self, elements: &[u32], norms: &mut FieldLengths) {
        let Self { stats, words, batch: InvertedBatch { totals, .. }, .. } = self;
        let mut heading_start = None;
        // The content words of the paragraph, without and with its headings.
        let (mut text_words, mut paragraph_words) = (0, 0);
        stats.paragraph += 1;
        for run in elements.split_inclusive(|element| is_mark(*element)) {
            let (mark, tokens) = match run.split_last() {
                Some((mark, tokens)) if is_mark(*mark) => (Some(*mark), tokens),
                _ => (None, run),
            };
            let start = words.body.len();
            self.vocabulary.expand_tokens(tokens, self.words_of_token, &mut words.body);
            let new = words.body.get(start..).unwrap_or_default();
            let content_words = stats.count_in_paragraph(new);
            norms.body += content_words;
            norms.has_time |= new.iter().fold(false, |has_time, word| has_time | word.is_time());
            text_words += if heading_start.is_none() { content_words } else { 0 };
            paragraph_words += content_words;
            match mark {
                Some(HEADING_START) => heading_start = Some(words.body.len()),
                Some(HEADING_END) => {
                    if let Some(start) = heading_start.take() {
                        words.add_heading(start, stats);
                    }
                }
                // A heading belongs to the paragraph below it.
                Some(BLANK_LINE) if text_words > 0 => {
                    words.paragraph_ends.push(words.body.len() as u32);
                    totals.paragraph_words += u64::from(std::mem::take(&mut paragraph_words));
                    text_words = 0;
                    stats.paragraph += 1;
                }
                _ => {}
            }
        }
        if paragraph_words > 0 {
            words.paragraph_ends.push(words.body.len() as u32);
            totals.paragraph_words += u64::from(paragraph_words);
        }
        totals.paragraphs += words.paragraph_ends.len() as u64;
    }
}

impl DocumentWords {
    fn clear(&mut self) {
        let Self { title, tags, tag, headings, body, paragraph_ends, summary } = self;
        [title, tag, headings, body, summary].into_iter().for_each(Vec::clear);
        [tags, paragraph_ends].into_iter().for_each(Vec::clear);
    }

    /// Adds the heading at the end of the body, from `start` on, to the headings, unless it equals the title.
    fn add_heading(&mut self, start: usize, stats: &mut TermStatsAccumulator) {
        let heading = self.body.get(start..).unwrap_or_default();
        let term = |word: &FlaggedWord| stats.term(*word);
        if !heading.iter().map(term).eq(self.title.iter().map(term)) {
            self.headings.extend_from_slice(heading);
            stats.count(heading, TextField::Heading);
        }
    }

    /// Appends the forward entry of the document to `bytes`: lists of word ids in the selector code, in the order that
    /// specs/internals/index.md gives. The entry begins at a whole byte.
    fn write(&self, bytes: &mut Vec<u8>) {
        let mut bits = BitWriter::append_to(std::mem::take(bytes));
        let mut before = 0;
        let paragraph_len = |end: &u32| *end - std::mem::replace(&mut before, *end);
        let paragraph_lens: Vec<u32> = self.paragraph_ends.iter().map(paragraph_len).collect();
        write_words(&self.title, &mut bits);
        bits.write_list(self.tags.iter().copied());
        write_words(&self.headings, &mut bits);
        bits.write_list(paragraph_lens.into_iter());
        write_words(&self.summary, &mut bits);
        write_words(&self.body, &mut bits);
        *bytes = bits.finish();
    }
}

fn write_words(words: &[FlaggedWord], bits: &mut BitWriter) {
    bits.write_list(words.iter().map(|word| word.word().0));
}
