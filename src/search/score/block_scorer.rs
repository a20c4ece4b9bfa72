//! How much the blocks of a note are worth as answers to a query. specs/ranking.md has the formula and what each
//! part of it is worth.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::search::analysis::stems::{STOP_MARK, Stems};
use crate::search::analysis::tokenizer::{MarkdownToken, for_each_piece, for_each_term};
use crate::search::build::vocabulary::{is_time, time_terms};
use crate::search::query::plan::Plan;
use crate::search::read::composite_index::CompositeIndex;
use crate::search::score::ranking::inverse_frequency;

/// BM25's k1 for blocks.
const K1: f64 = 1.2;
/// BM25's b for blocks.
const B: f64 = 0.5;
/// How much the blocks before lend to one, the nearest first.
const BEFORE: [f64; 3] = [0.5, 0.3, 0.2];
/// How much the blocks after lend to one, the nearest first.
const AFTER: [f64; 3] = [0.4, 0.2, 0.1];
/// How much a term counts in a heading above a block, the block itself being 1.
const HEADING: f64 = 1.0;
/// What a block gains, as a share, that tells a time where the query asks for one.
const TIMED: f64 = 0.3;
/// What a block loses, as a share, of which every sentence is a question.
const ASKING: f64 = 0.3;

/// The text of a block, with the headings above it.
#[derive(Debug, Clone, Copy)]
pub struct BlockText<'a, 'h> {
    /// The headings above it, the note's title first.
    pub headings: &'h str,
    /// Its markdown.
    pub text: &'a str,
}

/// Scores the blocks of notes for one query. Holds no reference to the index.
pub struct BlockScorer {
    stems: Arc<Stems>,
    /// The slot of each term of the query.
    slots: HashMap<String, u32, RandomState>,
    /// For each slot, how often the query names it times its inverse frequency over blocks.
    weights: Vec<f64>,
    /// The average length of a block, in terms.
    average: f64,
    /// The terms that tell a time, where the query asks for one.
    times: Option<Vec<String>>,
}

impl std::fmt::Debug for BlockScorer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockScorer").field("terms", &self.slots.len()).finish_non_exhaustive()
    }
}

/// The query terms of a block.
#[derive(Default)]
struct BlockTerms {
    /// Its slots in their order, each with how often it holds it.
    slots: Vec<(u32, f64)>,
    /// How many terms it has that say something.
    length: u32,
    has_time: bool,
}

/// Caches the query terms of raw tokens: most tokens occur in several notes.
#[derive(Default)]
pub struct TokenCache<'t>(HashMap<&'t str, TokenTerms, RandomState>);

/// The query terms of one raw token.
#[derive(Default, Clone)]
struct TokenTerms {
    slots: Vec<u32>,
    length: u32,
    has_time: bool,
}

impl BlockScorer {
    pub(crate) fn new(plan: &Plan, index: &CompositeIndex) -> Self {
        let total = index.totals.paragraphs as f64;
        let mut slots = HashMap::default();
        let mut weights = Vec::with_capacity(plan.slots.len());
        for (number, slot) in plan.slots.iter().enumerate() {
            let terms = slot.terms.iter().filter_map(|term| index.term(*term));
            let mut holders = 0.0;
            for term in terms {
                holders += f64::from(term.paragraphs);
                slots.entry(term.text.to_string()).or_insert(number as u32);
            }
            weights.push(slot.weight * inverse_frequency(total, holders.clamp(1.0, total.max(1.0))));
        }
        let average = (index.totals.paragraph_words as f64 / total.max(1.0)).max(1.0);
        let stems = Arc::clone(&index.stems);
        let times = plan.asks_when.then(|| time_terms(&stems));
        Self { stems, slots, weights, average, times }
    }

    /// Returns the score of each block of a note, which are given in their order: 0 for one that holds no term of the
    /// query. Of one `known` only calls of one scorer may make use.
    pub fn scores<'t>(&self, blocks: &[BlockText<'t, '_>], known: &mut TokenCache<'t>) -> Vec<f64> {
        let counts: Vec<BlockTerms> = blocks.iter().map(|block| self.count(block.text, known)).collect();
        let mut sums = TermAmounts::new(self.weights.len());
        let mut above: (&str, Vec<(u32, f64)>) = ("", Vec::new());
        let mut scores = Vec::with_capacity(blocks.len());
        for (number, block) in blocks.iter().enumerate() {
            if block.headings != above.0 || above.1.is_empty() {
                above = (block.headings, self.count(block.headings, &mut TokenCache::default()).slots);
            }
            let own = &counts[number];
            if own.slots.is_empty() && above.1.is_empty() {
                scores.push(0.0);
                continue;
            }
            sums.add(&own.slots, 1.0 / self.norm(own), |sum| &mut sum.own);
            sums.add(&above.1, HEADING, |sum| &mut sum.heading);
            for (steps, share) in (1..).zip(BEFORE) {
                let Some(other) = number.checked_sub(steps).and_then(|before| counts.get(before)) else { break };
                sums.add(&other.slots, share / self.norm(other), |sum| &mut sum.before);
            }
            for (other, share) in counts.iter().skip(number + 1).zip(AFTER) {
                sums.add(&other.slots, share / self.norm(other), |sum| &mut sum.after);
            }
            let score = sums.take(|slot, amount| {
                let weight = self.weights.get(slot as usize).copied().unwrap_or_default();
                weight * (K1 + 1.0) * amount / (amount + K1)
            });
            let timed = if own.has_time { 1.0 + TIMED } else { 1.0 };
            scores.push(score * timed * (1.0 - ASKING * share_of_questions(block.text)));
        }
        scores
    }

    /// Returns BM25's norm for the length of a block.
    fn norm(&self, counts: &BlockTerms) -> f64 {
        1.0 - B + B * f64::from(counts.length) / self.average
    }

    fn count<'t>(&self, text: &'t str, known: &mut TokenCache<'t>) -> BlockTerms {
        let mut counts = BlockTerms::default();
        let mut slots: Vec<u32> = Vec::new();
        for_each_piece(text, |piece| {
            let MarkdownToken::RawToken(chunk) = piece else { return };
            let chunk = known.0.entry(chunk.text).or_insert_with(|| self.read(chunk.text));
            counts.length += chunk.length;
            counts.has_time |= chunk.has_time;
            slots.extend(&chunk.slots);
        });
        slots.sort_unstable();
        let same = slots.chunk_by(|a, b| a == b);
        counts.slots = same.filter_map(|same| Some((*same.first()?, same.len() as f64))).collect();
        counts
    }

    fn read(&self, text: &str) -> TokenTerms {
        let mut chunk = TokenTerms::default();
        for_each_term(text, &self.stems, |term, _, _| {
            chunk.length += u32::from(!term.starts_with(STOP_MARK));
            chunk.has_time |= self.times.as_ref().is_some_and(|times| is_time(term, times));
            chunk.slots.extend(self.slots.get(term));
        });
        chunk
    }
}

/// Accumulates the amount of each query term in a block: its own, of the headings above it, and shares of the blocks
/// around it.
struct TermAmounts {
    sums: Vec<TermAmount>,
    /// The slots of which there is any, in any order.
    slots: Vec<u32>,
}

#[derive(Default, Clone, Copy)]
struct TermAmount {
    own: f64,
    heading: f64,
    before: f64,
    after: f64,
    is_met: bool,
}

impl TermAmounts {
    fn new(slots: usize) -> Self {
        Self { sums: vec![TermAmount::default(); slots], slots: Vec::new() }
    }

    fn add(&mut self, counts: &[(u32, f64)], times: f64, part: impl Fn(&mut TermAmount) -> &mut f64) {
        for (slot, count) in counts {
            let Some(sum) = self.sums.get_mut(*slot as usize) else { continue };
            if !std::mem::replace(&mut sum.is_met, true) {
                self.slots.push(*slot);
            }
            *part(sum) += count * times;
        }
    }

    /// Adds up what each slot is worth by its amount, in the order of the slots, and begins anew.
    fn take(&mut self, worth: impl Fn(u32, f64) -> f64) -> f64 {
        self.slots.sort_unstable();
        let mut score = 0.0;
        for slot in self.slots.drain(..) {
            let sum = self.sums.get_mut(slot as usize).map(std::mem::take).unwrap_or_default();
            score += worth(slot, sum.own + sum.heading + (sum.before + sum.after));
        }
        score
    }
}

/// Returns which share of the sentences of a text end in a question mark, 0 to 1.
pub(crate) fn share_of_questions(text: &str) -> f64 {
    if !text.contains('?') {
        return 0.0;
    }
    let (mut questions, mut sentences) = (0_u32, 0_u32);
    let text = text.trim_end();
    let bytes = text.as_bytes();
    for (place, byte) in bytes.iter().enumerate() {
        let ends = matches!(byte, b'.' | b'!' | b'?')
            && bytes
                .get(place + 1)
                .is_none_or(|next| next.is_ascii_whitespace() || matches!(next, b'"' | b'\'' | b')' | b'*' | b'_'));
        sentences += u32::from(ends);
        questions += u32::from(ends && *byte == b'?');
    }
    // What comes behind the last end is a sentence too.
    sentences += u32::from(text.ends_with(|c: char| c.is_alphanumeric()));
    if sentences == 0 { 0.0 } else { f64::from(questions) / f64::from(sentences) }
}
