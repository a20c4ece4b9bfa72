//! Scores the blocks of a note for a query; specs/internals/ranking.md, section "Passages", has
//! the formula.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::bm25f::{idf, length_norm, saturate};
use super::neighbours::neighbours;
use crate::report::MAX_WORDS;
use crate::search::analysis::questions::question_share;
use crate::search::analysis::stems::{STOP_MARK, Stems};
use crate::search::analysis::subtokens::for_each_term;
use crate::search::analysis::term_beginnings::TermBeginnings;
use crate::search::analysis::time_words::{is_time, time_terms};
use crate::search::analysis::tokenizer::for_each_raw_token;
use crate::search::ids::QueryTermIdx;
use crate::search::query::plan::Plan;
use crate::search::read::composite_index::CompositeIndex;

/// BM25's `k1` for blocks.
const K1: f64 = 1.2;
/// BM25's `b` for blocks.
const B: f64 = 0.5;
/// The shares of the blocks before that are propagated, the nearest first.
const BEFORE: [f64; 3] = [0.5, 0.3, 0.2];
/// The shares of the blocks after that are propagated, the nearest first.
const AFTER: [f64; 3] = [0.4, 0.2, 0.1];
/// The weight of an occurrence in a heading above a block, relative to one in the block.
const HEADING: f64 = 1.0;
/// The gain of a block, as a share, that names a time if the query asks for one.
const TIME_BOOST: f64 = 0.3;
/// The loss of a block, as a share, that consists of questions.
const QUESTION_PENALTY: f64 = 0.3;

/// The share of an occurrence that counts of a neighbour of a word of the query, times their cosine. Answers of 1,000 characters
/// have the passage of 15 of 30 questions as people ask them, without neighbours of 11; with 0.3, answers to 60 of agents lose one.
const NEIGHBOUR: f64 = 0.2;
/// The most neighbours of a word of the query, of those that notes contain.
const MAX_NEIGHBOURS: usize = 12;

/// The text of a block, with the headings above it.
#[derive(Debug, Clone, Copy)]
pub struct BlockText<'a, 'h> {
    /// The headings above it, the note's title first.
    pub headings: &'h str,
    /// Its markdown.
    pub text: &'a str,
}

/// What a block has of a query.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BlockScore {
    /// How well it matches; 0 without a term of the query.
    pub score: f64,
    /// The words of the query in it and in the headings above it: the bits of their positions among all words.
    pub words: u64,
    /// Whether a term of the query is in its own text.
    pub has_own: bool,
}

/// Scores the blocks of notes for one query. Holds no reference to the index.
#[derive(Debug)]
pub struct BlockScorer {
    stems: Arc<Stems>,
    /// For each term of the query, its query term; for each neighbour of one, theirs.
    shares_of: HashMap<String, Vec<QueryTermShare>, RandomState>,
    beginnings: TermBeginnings,
    /// The weight of each query term times its inverse document frequency over paragraphs.
    weights: Vec<f64>,
    /// The bit of the word of each query term; 0 for others, and behind the first [`MAX_WORDS`].
    bits: Vec<u64>,
    /// The average length of a paragraph, in content terms.
    average: f64,
    /// The terms that name a time, if the query asks for one.
    time_terms: Option<Vec<String>>,
}

/// A query term, and the share of an occurrence of it for which an occurrence of a term counts: 1 for its own terms.
type QueryTermShare = (QueryTermIdx, f64);

/// The query terms of a block.
#[derive(Default)]
struct BlockTerms {
    /// Its query terms in their order, with their frequencies.
    freqs: Vec<(QueryTermIdx, f64)>,
    /// The words of the query in it, as the bits of [`BlockScore::words`].
    words: u64,
    /// Its length in content terms.
    len: u32,
    has_time: bool,
}

/// Caches the query terms of raw tokens: most tokens occur in several notes.
#[derive(Default)]
pub struct TokenCache<'t>(HashMap<&'t str, TokenTerms, RandomState>);

/// The query terms of one raw token.
#[derive(Default, Clone)]
struct TokenTerms {
    shares: Vec<QueryTermShare>,
    /// The number of its content terms.
    len: u32,
    has_time: bool,
}

impl BlockScorer {
    pub(crate) fn new(plan: &Plan, index: &CompositeIndex) -> Self {
        let total = index.totals.paragraphs as f64;
        let mut shares_of: HashMap<String, Vec<QueryTermShare>, RandomState> = HashMap::default();
        let mut weights = Vec::with_capacity(plan.query_terms.len());
        let mut bits = vec![0; plan.query_terms.len()];
        for ((position, _), bit) in plan.words().zip(0..MAX_WORDS) {
            bits[position.index()] = 1 << bit;
        }
        for (position, query_term) in QueryTermIdx::all(plan.query_terms.len()).zip(&plan.query_terms) {
            let mut paragraph_freq = 0.0;
            for term in query_term.terms.iter().filter_map(|term| index.term(*term)) {
                paragraph_freq += f64::from(term.paragraph_freq);
                shares_of.entry(term.text.to_string()).or_insert_with(|| vec![(position, 1.0)]);
            }
            weights.push(query_term.weight * idf(total, paragraph_freq.clamp(1.0, total.max(1.0))));
        }
        for (neighbour, shares) in neighbour_shares(plan, index) {
            // A word of the query is no neighbour of another one.
            shares_of.entry(neighbour.to_owned()).or_insert(shares);
        }
        let stems = Arc::clone(&index.stems);
        let time_terms = plan.asks_when.then(|| time_terms(&stems));
        let beginnings = TermBeginnings::of(shares_of.keys().map(String::as_str));
        Self { stems, beginnings, shares_of, weights, bits, average: index.average_paragraph_len(), time_terms }
    }

    /// Returns a bound of scores that depends on the words of the query alone, by which scores of two indexes compare.
    pub fn full_score(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// Returns the score of each block of a note. `cache` is that of this scorer only.
    pub fn scores<'t>(&self, blocks: &[BlockText<'t, '_>], cache: &mut TokenCache<'t>) -> Vec<BlockScore> {
        let counts: Vec<BlockTerms> = blocks.iter().map(|block| self.count(block.text, cache, block_freq)).collect();
        let mut amounts = TermAmounts::new(self.weights.len());
        let mut above = ("", BlockTerms::default());
        let mut scores = Vec::with_capacity(blocks.len());
        for (position, block) in blocks.iter().enumerate() {
            if block.headings != above.0 || above.1.freqs.is_empty() {
                above = (block.headings, self.count(block.headings, &mut TokenCache::default(), heading_freq));
            }
            let own = &counts[position];
            if own.freqs.is_empty() && above.1.freqs.is_empty() {
                scores.push(BlockScore::default());
                continue;
            }
            amounts.add(&own.freqs, 1.0 / self.norm(own), |amount| &mut amount.own);
            amounts.add(&above.1.freqs, HEADING, |amount| &mut amount.heading);
            for (distance, share) in (1..).zip(BEFORE) {
                let Some(other) = position.checked_sub(distance).and_then(|before| counts.get(before)) else { break };
                amounts.add(&other.freqs, share / self.norm(other), |amount| &mut amount.before);
            }
            for (other, share) in counts.iter().skip(position + 1).zip(AFTER) {
                amounts.add(&other.freqs, share / self.norm(other), |amount| &mut amount.after);
            }
            let score = amounts.sum_and_clear(|query_term, amount| {
                let weight = self.weights.get(query_term.index()).copied().unwrap_or_default();
                saturate(weight, amount, K1)
            });
            let time = if own.has_time { 1.0 + TIME_BOOST } else { 1.0 };
            let score = score * time * (1.0 - QUESTION_PENALTY * question_share(block.text));
            scores.push(BlockScore { score, words: own.words | above.1.words, has_own: !own.freqs.is_empty() });
        }
        scores
    }

    fn norm(&self, terms: &BlockTerms) -> f64 {
        length_norm(B, terms.len, self.average)
    }

    fn count<'t>(&self, text: &'t str, cache: &mut TokenCache<'t>, freq: fn(&[QueryTermShare]) -> f64) -> BlockTerms {
        let mut terms = BlockTerms::default();
        let mut shares: Vec<QueryTermShare> = Vec::new();
        for_each_raw_token(text, |token| {
            let token = cache.0.entry(token.text).or_insert_with(|| self.analyse(token.text));
            terms.len += token.len;
            terms.has_time |= token.has_time;
            shares.extend(&token.shares);
        });
        let own = shares.iter().filter(|(_, share)| *share >= 1.0);
        let bits = own.filter_map(|(query_term, _)| self.bits.get(query_term.index()));
        terms.words = bits.fold(0, |all, bit| all | bit);
        shares.sort_by_key(|(query_term, _)| *query_term);
        let same = shares.chunk_by(|a, b| a.0 == b.0);
        terms.freqs = same.filter_map(|same| Some((same.first()?.0, freq(same)))).collect();
        terms
    }

    fn analyse(&self, token: &str) -> TokenTerms {
        let mut terms = TokenTerms::default();
        // Whether a word names a time depends on its term.
        if self.time_terms.is_none()
            && let Some(len) = self.beginnings.content_terms_without(token, &self.stems)
        {
            return TokenTerms { len, ..terms };
        }
        for_each_term(token, &self.stems, |term, _, _| {
            terms.len += u32::from(!term.starts_with(STOP_MARK));
            terms.has_time |= self.time_terms.as_ref().is_some_and(|time_terms| is_time(term, time_terms));
            terms.shares.extend(self.shares_of.get(term).into_iter().flatten());
        });
        terms
    }
}

/// Returns the neighbours of the words of a query that notes contain, each with its shares, in the order of the words.
fn neighbour_shares(plan: &Plan, index: &CompositeIndex) -> BTreeMap<&'static str, Vec<QueryTermShare>> {
    let mut shares: BTreeMap<&str, Vec<QueryTermShare>> = BTreeMap::new();
    for (position, query_term) in QueryTermIdx::all(plan.query_terms.len()).zip(&plan.query_terms) {
        let stem = query_term.stem.as_deref().unwrap_or_default();
        let known = neighbours(stem).filter(|(neighbour, _)| index.term_id(neighbour).is_some());
        for (neighbour, cosine) in known.take(MAX_NEIGHBOURS) {
            shares.entry(neighbour).or_default().push((position, NEIGHBOUR * cosine));
        }
    }
    shares
}

/// Returns the frequency of a query term in a block: that of its own terms and the shares of their neighbours.
fn block_freq(same: &[QueryTermShare]) -> f64 {
    same.iter().map(|(_, share)| share).sum()
}

/// Returns the frequency of a query term in headings: that of its own terms, or else the share of the nearest neighbour.
fn heading_freq(same: &[QueryTermShare]) -> f64 {
    let own = same.iter().filter(|(_, share)| *share >= 1.0).count() as f64;
    same.iter().fold(own, |freq, (_, share)| freq.max(*share))
}

/// Accumulates the amount of each query term in a block: its own, and shares of headings and blocks around it.
struct TermAmounts {
    amounts: Vec<TermAmount>,
    /// The query terms with an amount, in any order.
    used: Vec<QueryTermIdx>,
}

#[derive(Default, Clone, Copy)]
struct TermAmount {
    own: f64,
    heading: f64,
    before: f64,
    after: f64,
    is_used: bool,
}

impl TermAmounts {
    fn new(query_terms: usize) -> Self {
        Self { amounts: vec![TermAmount::default(); query_terms], used: Vec::new() }
    }

    fn add(&mut self, freqs: &[(QueryTermIdx, f64)], factor: f64, part: impl Fn(&mut TermAmount) -> &mut f64) {
        for (query_term, freq) in freqs {
            let Some(amount) = self.amounts.get_mut(query_term.index()) else { continue };
            if !std::mem::replace(&mut amount.is_used, true) {
                self.used.push(*query_term);
            }
            *part(amount) += freq * factor;
        }
    }

    /// Returns the sum of the scores of the amounts, in the order of the query terms, and clears the amounts.
    fn sum_and_clear(&mut self, score: impl Fn(QueryTermIdx, f64) -> f64) -> f64 {
        self.used.sort_unstable();
        let mut sum = 0.0;
        for query_term in self.used.drain(..) {
            let amount = self.amounts.get_mut(query_term.index()).map(std::mem::take).unwrap_or_default();
            sum += score(query_term, amount.own + amount.heading + (amount.before + amount.after));
        }
        sum
    }
}
