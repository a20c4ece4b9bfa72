//! The vocabulary of a segment: maps tokens to words, and words to terms.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rayon::prelude::*;

use super::interner::TokenInterner;
use super::token_stream::TokenStream;
use super::token_words::{FlaggedWord, TokenWords, WordLists};
use crate::codec::offsets::Offsets;
use crate::search::analysis::stems::{STOP_MARK, Stems, fold};
use crate::search::analysis::subtokens::{SubtokenKind, for_each_term};
use crate::search::analysis::time_words::{is_time, time_terms};
use crate::search::format::WordKind;
use crate::search::ids::{TermId, WordId};

/// The number of tokens that one task analyses.
const BATCH: usize = 512;
/// The number of tokens from which on they are forgotten: a store of 100,000 notes has fewer.
pub(crate) const TOKEN_LIMIT: u32 = 300_000;

/// Builds the vocabulary of a segment.
#[derive(Default)]
pub(crate) struct VocabularyBuilder {
    pub(crate) terms: TextTable<IsStop>,
    /// The words, the surface forms of terms. Texts are stored as words, to know which spellings remain after changes.
    pub(crate) words: TextTable<WordKind>,
    /// The term of each word: apart from `words`, since it is looked up so often.
    pub(crate) term_of: Vec<TermId>,
    term_table: HashTable<TermId>,
    word_table: HashTable<WordId>,
    random: RandomState,
    interner: TokenInterner,
    words_of_token: Vec<TokenWords>,
    lists: WordLists,
    token_limit: u32,
}

/// Whether a term is a stop word.
pub(crate) type IsStop = bool;

/// Texts with a property each, one after another.
pub(crate) struct TextTable<T> {
    texts: String,
    ends: Offsets,
    properties: Vec<T>,
}

impl<T> Default for TextTable<T> {
    fn default() -> Self {
        Self { texts: String::new(), ends: Offsets::default(), properties: Vec::new() }
    }
}

impl<T: Copy> TextTable<T> {
    pub(crate) fn len(&self) -> usize {
        self.properties.len()
    }

    /// Returns the text at a position, empty if there is none, and its property.
    pub(crate) fn get(&self, position: usize) -> (&str, Option<T>) {
        (self.ends.text(position, &self.texts), self.properties.get(position).copied())
    }

    /// Iterates over the texts with their properties, in the order of their positions.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, T)> {
        self.properties.iter().enumerate().map(|(position, property)| (self.get(position).0, *property))
    }

    fn push(&mut self, text: &str, property: T) {
        self.texts.push_str(text);
        self.ends.push(self.texts.len() as u32);
        self.properties.push(property);
    }
}

/// How a surface form is spelled, and its text if it differs from its term: in lower case, without accents.
pub(crate) type SurfaceForm = (WordKind, Box<str>);

/// The terms of a batch of tokens.
#[derive(Default)]
struct TermBatch {
    /// The texts of all terms, one after another.
    text: String,
    terms: Vec<TokenTerm>,
    /// The number of terms of each token.
    counts: Vec<usize>,
}

/// A term of a token.
struct TokenTerm {
    /// The end of its text in the batch.
    text_end: usize,
    hash: u64,
    is_stop: bool,
    is_time: bool,
    form: SurfaceForm,
}

impl VocabularyBuilder {
    /// Returns a vocabulary without terms, which forgets tokens beyond a number: see [`VocabularyBuilder::end_batch`].
    pub(crate) fn new(token_limit: u32) -> Self {
        Self { token_limit, ..Self::default() }
    }

    /// Adds the new tokens of a batch, frequent ones first for small ids, and appends the words of each to its stream.
    pub(crate) fn add_batch(&mut self, streams: &mut [TokenStream], stems: &Stems) {
        let first = self.interner.token_count();
        let merged: Vec<Vec<u32>> = streams.iter().map(|stream| self.merge_tokens(stream)).collect();
        let order = by_frequency(streams, &merged, first, self.interner.token_count());
        let time_terms = time_terms(stems);
        let Self { interner, random, .. } = &*self;
        let analyse =
            |ids: &[u32]| TermBatch::new(ids.iter().map(|id| interner.token(*id)), stems, &time_terms, random);
        let batches: Vec<TermBatch> = order.par_chunks(BATCH).map(analyse).collect();
        self.words_of_token.resize(self.interner.token_count() as usize, TokenWords::default());
        for (batch, tokens) in batches.into_iter().zip(order.chunks(BATCH)) {
            self.add_terms(batch, tokens);
        }
        for (stream, merged) in streams.iter_mut().zip(merged) {
            stream.words.extend(merged.iter().filter_map(|id| self.words_of_token.get(*id as usize)));
        }
    }

    /// Removes the notes of the streams. If there are too many tokens, they are forgotten: most of them, such as ids, occur
    /// only once, and the others are analysed again.
    pub(crate) fn end_batch(&mut self, streams: &mut [TokenStream]) {
        streams.iter_mut().for_each(TokenStream::clear);
        if self.interner.token_count() > self.token_limit {
            streams.iter_mut().for_each(|stream| *stream = TokenStream::default());
            (self.interner, self.words_of_token, self.lists) = Default::default();
        }
    }

    /// Frees what is needed only to add tokens.
    pub(crate) fn end(&mut self) {
        let (terms, words) = (std::mem::take(&mut self.terms), std::mem::take(&mut self.words));
        *self = Self { terms, words, term_of: std::mem::take(&mut self.term_of), ..Self::default() };
    }

    /// Returns the ids of the new tokens of a stream in the interner of the vocabulary.
    fn merge_tokens(&mut self, stream: &TokenStream) -> Vec<u32> {
        let new = stream.words.len() as u32..stream.interner.token_count();
        new.map(|id| self.interner.intern(stream.interner.token(id))).collect()
    }

    /// Expands token ids to words, and appends them to `words`. `words_of_token` is that of the tokens' stream.
    pub(crate) fn expand_tokens(&self, tokens: &[u32], words_of_token: &[TokenWords], words: &mut Vec<FlaggedWord>) {
        for token in tokens.iter().filter_map(|id| words_of_token.get(*id as usize)) {
            self.lists.decode(*token, words);
        }
    }

    fn add_terms(&mut self, batch: TermBatch, tokens: &[u32]) {
        let mut terms = batch.terms.into_iter();
        let mut start = 0;
        let mut words = Vec::new();
        for (count, token) in batch.counts.into_iter().zip(tokens) {
            words.clear();
            for term in terms.by_ref().take(count) {
                let text = batch.text.get(start..term.text_end).unwrap_or_default();
                start = term.text_end;
                let id = self.intern_term(text, term.hash, term.is_stop);
                words.push(FlaggedWord::new(self.intern_word(id, term.form), term.is_stop, term.is_time));
            }
            if let Some(words_of_token) = self.words_of_token.get_mut(*token as usize) {
                *words_of_token = self.lists.encode(&words);
            }
        }
    }

    fn intern_word(&mut self, term: TermId, form: SurfaceForm) -> WordId {
        let Self { words, term_of, word_table, random, .. } = self;
        let (kind, text) = &form;
        let own = (Some(&term), (&**text, Some(*kind)));
        let word = |id: &WordId| (term_of.get(id.index()), words.get(id.index()));
        let next = WordId(words.len() as u32);
        let hash = |id: &WordId| random.hash_one(word(id));
        match word_table.entry(random.hash_one(own), |id| word(id) == own, hash) {
            Entry::Occupied(id) => return *id.get(),
            Entry::Vacant(slot) => slot.insert(next),
        };
        self.words.push(text, *kind);
        self.term_of.push(term);
        next
    }

    fn intern_term(&mut self, text: &str, hash: u64, is_stop: bool) -> TermId {
        let Self { terms, term_table, random, .. } = self;
        let text_of = |id: &TermId| terms.get(id.index()).0;
        let next = TermId(terms.len() as u32);
        match term_table.entry(hash, |id| text_of(id) == text, |id| random.hash_one(text_of(id))) {
            Entry::Occupied(id) => return *id.get(),
            Entry::Vacant(slot) => slot.insert(next),
        };
        self.terms.push(text, is_stop);
        next
    }
}

impl TermBatch {
    fn new<'a>(
        tokens: impl Iterator<Item = &'a str>,
        stems: &Stems,
        time_terms: &[String],
        random: &RandomState,
    ) -> Self {
        let mut batch = Self::default();
        for token in tokens {
            let before = batch.terms.len();
            for_each_term(token, stems, |term, range, kind| {
                batch.text.push_str(term);
                let is_stop = term.starts_with(STOP_MARK);
                let word = token.get(range).filter(|_| kind == SubtokenKind::Word && !is_stop);
                batch.terms.push(TokenTerm {
                    text_end: batch.text.len(),
                    hash: random.hash_one(term),
                    is_stop,
                    is_time: is_time(term, time_terms),
                    form: word.map_or((WordKind::NoWord, "".into()), |word| surface_form(word, term)),
                });
            });
            batch.counts.push(batch.terms.len() - before);
        }
        batch
    }
}

/// Sorts the tokens from `first` to `end` by descending frequency, then by id; `merged` has their ids by stream.
fn by_frequency(streams: &[TokenStream], merged: &[Vec<u32>], first: u32, end: u32) -> Vec<u32> {
    let count = |(stream, merged): (&TokenStream, &Vec<u32>)| {
        let (known, mut counts) = (stream.words.len() as u32, vec![0_u32; merged.len()]);
        let new = stream.elements.iter().filter_map(|id| id.checked_sub(known));
        new.for_each(|new| counts.get_mut(new as usize).into_iter().for_each(|count| *count += 1));
        counts
    };
    let counts: Vec<Vec<u32>> = streams.par_iter().zip(merged).map(count).collect();
    let mut sums = vec![0_u32; (end - first) as usize];
    for (count, id) in counts.iter().flatten().zip(merged.iter().flatten()) {
        let sum = id.checked_sub(first).and_then(|new| sums.get_mut(new as usize));
        sum.into_iter().for_each(|sum| *sum += count);
    }
    // The frequency and the id in one integer each: sorting looks nothing up.
    let mut order: Vec<u64> =
        (first..).zip(&sums).map(|(id, sum)| u64::from(u32::MAX - sum) << 32 | u64::from(id)).collect();
    order.par_sort_unstable();
    order.into_iter().map(|id| id as u32).collect()
}

/// Returns how a word is spelled relative to its term, in lower case and without accents.
fn surface_form(word: &str, term: &str) -> SurfaceForm {
    if word.eq_ignore_ascii_case(term) && word.is_ascii() {
        return (WordKind::AsTerm, "".into());
    }
    let word = fold(&word.to_lowercase());
    if *word == *term { (WordKind::AsTerm, "".into()) } else { (WordKind::Other, word.into()) }
}
