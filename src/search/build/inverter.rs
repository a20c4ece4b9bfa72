//! From the chunks of notes to what is kept of their texts: the words of each in their order, which notes
//! hold each term, and how many paragraphs do.

use std::hint::select_unpredictable;

use serde::{Deserialize, Serialize};

use crate::codec::bits::BitWriter;
use crate::search::build::postings::{FieldTermFreqs, PostingsBuffer, TextField};
use crate::search::build::token_stream::{BLANK, HEADING, HEADING_END, TAG_END, TextEnds, TokenStream, is_mark};
use crate::search::build::vocabulary::{STOP, TIME, VocabularyBuilder, WORD};

/// The inverted form of a batch of notes: postings, statistics and forward entries.
#[derive(Default)]
pub(crate) struct InvertedBatch {
    pub(crate) documents: Vec<CountedDocument>,
    /// Each document's words, as [`crate::search::read::segment::ForwardEntry`] reads them.
    pub(crate) forward: Vec<u8>,
    /// Which terms that say something each note holds; notes are counted from the first of these.
    pub(crate) held: PostingsBuffer,
    pub(crate) totals: Totals,
}

/// What is stored of one note of a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CountedDocument {
    /// FieldNorms, in terms that say something.
    pub(crate) title_len: u32,
    pub(crate) body_len: u32,
    /// Whether the body tells a time.
    pub(crate) has_time: bool,
    /// See [`crate::search::read::segment::FieldNorms::questions`].
    pub(crate) questions: u32,
    /// How many bytes its words take.
    pub(crate) bytes: usize,
}

/// Sums over notes; lengths are in content terms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub(crate) documents: u64,
    pub(crate) title: u64,
    pub(crate) body: u64,
    /// How many bodies say something: a note without text says nothing of how long texts are.
    pub(crate) bodies: u64,
    pub(crate) paragraphs: u64,
    /// The length of all paragraphs.
    pub(crate) paragraph_words: u64,
}

impl Totals {
    pub(crate) fn add(&mut self, other: Self) {
        self.documents += other.documents;
        self.title += other.title;
        self.body += other.body;
        self.bodies += other.bodies;
        self.paragraphs += other.paragraphs;
        self.paragraph_words += other.paragraph_words;
    }

    /// Undoes [`Totals::add`].
    pub(crate) fn take(&mut self, other: Self) {
        self.documents = self.documents.saturating_sub(other.documents);
        self.title = self.title.saturating_sub(other.title);
        self.body = self.body.saturating_sub(other.body);
        self.bodies = self.bodies.saturating_sub(other.bodies);
        self.paragraphs = self.paragraphs.saturating_sub(other.paragraphs);
        self.paragraph_words = self.paragraph_words.saturating_sub(other.paragraph_words);
    }
}

/// What was met of terms and words in notes that were counted one after the other. It goes from run to run,
/// since it takes as much memory as there are words.
#[derive(Default)]
pub(crate) struct TermStatsAccumulator {
    terms: Vec<TermStats>,
    words: Vec<WordStats>,
    /// How many notes and how many paragraphs have begun.
    note: u32,
    paragraph: u32,
    /// What the note at hand holds of each of its terms: so many are in use.
    counts: Vec<DocTermCount>,
    in_use: usize,
    /// The terms of the words at hand, and whether each says something.
    met: Vec<(u32, bool)>,
}

/// The statistics of a term, kept together since every occurrence reads them.
#[derive(Clone, Copy, Default)]
struct TermStats {
    /// The last note that held it, counted from 1, and its place among the counts of that note.
    note: u32,
    count: u32,
    holders: DocFreq,
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
    term: u32,
    /// The last note that held it, and how many do.
    note: u32,
    notes: u32,
}

/// The frequencies of a term in the current note.
#[derive(Clone, Copy, Default)]
struct DocTermCount {
    count: FieldTermFreqs,
    /// Whether it says something.
    says: bool,
    /// The last paragraph that held it, and how many do.
    paragraph: u32,
    paragraphs: u32,
}

impl TermStatsAccumulator {
    /// Makes room for all terms and words that there are.
    fn fit(&mut self, lexicon: &VocabularyBuilder) {
        self.terms.resize(lexicon.terms.len(), TermStats::default());
        let new = lexicon.term_of.get(self.words.len()..).unwrap_or_default();
        self.words.extend(new.iter().map(|term| WordStats { term: *term, note: 0, notes: 0 }));
    }

    /// Returns how many notes and paragraphs held each of the terms.
    pub(crate) fn term_holders(&self) -> impl Iterator<Item = DocFreq> {
        self.terms.iter().map(|term| term.holders)
    }

    /// Returns how many notes held each of the words.
    pub(crate) fn word_holders(&self) -> impl Iterator<Item = u32> {
        self.words.iter().map(|word| word.notes)
    }

    fn term(&self, word: u32) -> u32 {
        self.words.get((word & WORD) as usize).map_or(0, |word| word.term)
    }

    /// Notes down that the note at hand holds words, and calls `count` with what is counted of the term of each. All
    /// are looked up as words first, then as terms, and nothing branches on what is found: as often as not that would
    /// be foreseen wrongly, and the processor would wait for each word by itself.
    #[inline]
    fn record_occurrences(&mut self, words: &[u32], mut count: impl FnMut(&mut DocTermCount)) {
        let Self { terms, words: known, note, counts, in_use, met: all_met, .. } = self;
        all_met.clear();
        all_met.extend(words.iter().filter_map(|word| {
            let met = known.get_mut((word & WORD) as usize)?;
            met.notes += u32::from(met.note != *note);
            met.note = *note;
            Some((met.term, word & STOP == 0))
        }));
        // One behind those in use is written to for each.
        let room = *in_use + words.len() + 1;
        if counts.len() < room {
            counts.resize(room, DocTermCount::default());
        }
        for (term, says) in all_met {
            let (Some(met), Some(next)) = (terms.get_mut(*term as usize), counts.get_mut(*in_use)) else { continue };
            // Of no account where the term was met: it stands behind those in use.
            let new = FieldTermFreqs { term: *term, ..FieldTermFreqs::default() };
            *next = DocTermCount { count: new, says: *says, paragraph: 0, paragraphs: 0 };
            let is_new = met.note != *note;
            met.count = select_unpredictable(is_new, *in_use as u32, met.count);
            met.note = *note;
            *in_use += usize::from(is_new);
            counts.get_mut(met.count as usize).into_iter().for_each(&mut count);
        }
    }

    /// Counts words of a field; returns how many say something.
    fn count(&mut self, words: &[u32], field: TextField) -> u32 {
        self.record_occurrences(words, |counting| counting.count.add(field));
        saying(words)
    }

    /// Counts words of the paragraph at hand, in which the note says something; returns how many do.
    fn count_in_paragraph(&mut self, words: &[u32]) -> u32 {
        let paragraph = self.paragraph;
        self.record_occurrences(words, |counting| {
            counting.count.body += 1;
            counting.paragraphs += u32::from(counting.paragraph != paragraph);
            counting.paragraph = paragraph;
        });
        saying(words)
    }

    /// Ends the note at hand, and adds what it holds.
    fn end_note(&mut self, held: &mut PostingsBuffer) {
        let counts = self.counts.get(..self.in_use).unwrap_or_default();
        for DocTermCount { count, paragraphs, .. } in counts {
            if let Some(TermStats { holders, .. }) = self.terms.get_mut(count.term as usize) {
                holders.notes += 1;
                holders.paragraphs += paragraphs;
            }
        }
        held.add(counts.iter().filter(|counting| counting.says).map(|counting| &counting.count));
        self.in_use = 0;
    }
}

/// Returns how many words say something.
fn saying(words: &[u32]) -> u32 {
    words.iter().map(|word| u32::from(word & STOP == 0)).sum()
}

/// The words of a note in text order.
#[derive(Default)]
struct DocumentWords {
    title: Vec<u32>,
    /// Those of each tag behind how many they are.
    tags: Vec<u32>,
    headings: Vec<u32>,
    body: Vec<u32>,
    /// Where the paragraphs of the body end.
    ends: Vec<u32>,
    summary: Vec<u32>,
}

/// Inverts token streams: turns the tokens of notes into postings and forward entries.
pub(crate) struct Inverter<'a> {
    stream: &'a [u32],
    /// For each chunk of the stream, its words.
    spans: &'a [u32],
    lexicon: &'a VocabularyBuilder,
    tally: &'a mut TermStatsAccumulator,
    counted: InvertedBatch,
    /// The words of the note at hand.
    words: DocumentWords,
}

impl<'a> Inverter<'a> {
    /// Gets ready for notes that were read; `held` is empty.
    pub(crate) fn new(
        reading: &'a TokenStream,
        lexicon: &'a VocabularyBuilder,
        tally: &'a mut TermStatsAccumulator,
        held: PostingsBuffer,
    ) -> Self {
        tally.fit(lexicon);
        let (counted, words) = (InvertedBatch { held, ..InvertedBatch::default() }, DocumentWords::default());
        Self { stream: &reading.stream, spans: &reading.spans, lexicon, tally, counted, words }
    }

    pub(crate) fn count_all(mut self, texts: &[TextEnds]) -> InvertedBatch {
        let chunks = texts.first().zip(texts.last()).map_or(0, |(first, last)| last.summary - first.start);
        self.counted.documents.reserve_exact(texts.len());
        // Enough for most, so that nothing has to be moved; what is not used takes no memory.
        self.counted.forward.reserve_exact(2 * chunks);
        self.counted.held.reserve(chunks / 4 * 3);
        texts.iter().for_each(|text| self.add(text));
        self.counted
    }

    fn add(&mut self, text: &TextEnds) {
        self.tally.note += 1;
        self.words.clear();
        let mut document = CountedDocument { questions: text.questions, ..CountedDocument::default() };
        self.lexicon.spell(self.part(text.start, text.title), self.spans, &mut self.words.title);
        document.title_len = self.tally.count(&self.words.title, TextField::Title);
        for tag in self.part(text.title, text.tags).split_inclusive(|mark| *mark == TAG_END) {
            self.add_tag(tag.strip_suffix(&[TAG_END]).unwrap_or(tag));
        }
        self.add_body(self.part(text.tags, text.body), &mut document);
        self.lexicon.spell(self.part(text.body, text.summary), self.spans, &mut self.words.summary);
        document.body_len += self.tally.count(&self.words.summary, TextField::Body);
        self.tally.end_note(&mut self.counted.held);
        let before = self.counted.forward.len();
        self.words.write(&mut self.counted.forward);
        document.bytes = self.counted.forward.len() - before;
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

    fn add_tag(&mut self, chunks: &[u32]) {
        let tags = &mut self.words.tags;
        let place = tags.len();
        tags.push(0);
        self.lexicon.spell(chunks, self.spans, tags);
        let count = tags.len() - place - 1;
        if let Some(have) = tags.get_mut(place) {
            *have = count as u32;
        }
        self.tally.count(tags.get(place + 1..).unwrap_or_default(), TextField::Tag(count == 1));
    }

    fn add_body(&mut self, stream: &[u32], document: &mut CountedDocument) {
        let Self { tally, words, counted: InvertedBatch { totals, .. }, .. } = self;
        let mut heading_start = None;
        let (mut own_words, mut paragraph_words) = (0, 0);
        tally.paragraph += 1;
        for piece in stream.split_inclusive(|piece| is_mark(*piece)) {
            let (mark, chunks) = match piece.split_last() {
                Some((mark, chunks)) if is_mark(*mark) => (Some(*mark), chunks),
                _ => (None, piece),
            };
            let start = words.body.len();
            self.lexicon.spell(chunks, self.spans, &mut words.body);
            let new = words.body.get(start..).unwrap_or_default();
            let says = tally.count_in_paragraph(new);
            document.body_len += says;
            document.has_time |= new.iter().fold(0, |flags, word| flags | word) & TIME != 0;
            own_words += if heading_start.is_none() { says } else { 0 };
            paragraph_words += says;
            match mark {
                Some(HEADING) => heading_start = Some(words.body.len()),
                Some(HEADING_END) => {
                    if let Some(start) = heading_start.take() {
                        words.add_heading(start, tally);
                    }
                }
                // A heading stays with the paragraph below it.
                Some(BLANK) if own_words > 0 => {
                    words.ends.push(words.body.len() as u32);
                    totals.paragraph_words += u64::from(std::mem::take(&mut paragraph_words));
                    own_words = 0;
                    tally.paragraph += 1;
                }
                _ => {}
            }
        }
        if paragraph_words > 0 {
            words.ends.push(words.body.len() as u32);
            totals.paragraph_words += u64::from(paragraph_words);
        }
        totals.paragraphs += words.ends.len() as u64;
    }
}

impl DocumentWords {
    fn clear(&mut self) {
        let Self { title, tags, headings, body, ends, summary } = self;
        [title, tags, headings, body, ends, summary].into_iter().for_each(Vec::clear);
    }

    /// Notes a heading at the end of the body down once more, unless it only says the title again.
    fn add_heading(&mut self, start: usize, tally: &mut TermStatsAccumulator) {
        let heading = self.body.get(start..).unwrap_or_default();
        let term = |word: &u32| tally.term(*word);
        if !heading.iter().map(term).eq(self.title.iter().map(term)) {
            self.headings.extend_from_slice(heading);
            tally.count(heading, TextField::Heading);
        }
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        let Self { title, tags, headings, body, ends, summary } = self;
        let mut bits = BitWriter::behind(std::mem::take(bytes));
        let lengths = ends.iter().scan(0, |before, end| Some(end - std::mem::replace(before, *end)));
        let lengths: Vec<u32> = lengths.collect();
        for list in [title, tags, headings, &lengths, summary, body] {
            bits.put_list(list.iter().map(|word| word & WORD));
        }
        *bytes = bits.finish();
    }
}
