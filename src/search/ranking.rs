//! How well notes answer a query. specs/ranking.md has the formula, its sources and what each idea
//! in it is worth.
//!
//! Scores are the same on every machine and in every run: sums run in the order of the query, and
//! what does not stand in the query (likeness of notes) is summed in whole numbers.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::corpus::{Corpus, Count, Document};
use super::passages::{nearness, paragraph};
use super::plan::{NOWHERE, Plan, Slot};
use super::vectors::{Vectors, cosine};
use crate::note::Note;

/// Into how many pieces notes are parted at most where each piece needs room for all terms.
const PIECES: usize = 16;

/// The numbers of the formula.
#[derive(Debug, Clone)]
pub struct Weights {
    /// Saturation: how soon more of a term says no more (BM25's k1).
    pub saturation: f64,
    /// How much the length of a body counts, 0 to 1 (BM25's b), and of a title.
    pub body_length: f64,
    /// See `body_length`.
    pub title_length: f64,
    /// How much a term counts in a title, a tag and a heading, a body being 1.
    pub title: f64,
    /// See `title`.
    pub tag: f64,
    /// See `title`.
    pub heading: f64,
    /// How much the notes before lend, the nearest first, and those after.
    pub before: [f64; 3],
    /// See `before`.
    pub after: [f64; 3],
    /// How much linked notes lend in all.
    pub linked: f64,
    /// The likeness from which a linked note lends all that.
    pub like_enough: f64,
    /// How much a term right behind the one before it in the query counts, and one not far.
    pub adjacent: f64,
    /// See `adjacent`.
    pub close: f64,
    /// How many words away is not far.
    pub window: u32,
    /// How much the best paragraph counts.
    pub paragraph: f64,
    /// How much the scores of like notes count, in a large store.
    pub smoothing: f64,
    /// The number of notes of a store in which they count half of that.
    pub half_smoothing: f64,
    /// How many like notes count.
    pub neighbours: usize,
    /// How many of the best are compared with one another.
    pub smoothed: usize,
    /// How many of the best are looked at closely.
    pub close_looks: usize,
    /// What a score gains, as a share, when a tag is a term of the query.
    pub named: f64,
    /// The same when the query asks for a time and the body tells one.
    pub timed: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            saturation: 2.0,
            body_length: 0.5,
            title_length: 0.75,
            title: 2.0,
            tag: 2.0,
            heading: 0.5,
            before: [0.5, 0.3, 0.2],
            after: [0.4, 0.2, 0.1],
            linked: 0.5,
            like_enough: 0.1,
            adjacent: 0.10,
            close: 0.05,
            window: 7,
            paragraph: 0.3,
            smoothing: 0.5,
            half_smoothing: 20.0,
            neighbours: 8,
            smoothed: 100,
            close_looks: 400,
            named: 0.6,
            timed: 0.3,
        }
    }
}

/// What stands around each note of a store.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// For each note, the notes that it links to or that link to it, each once, in order.
    pub linked: Vec<Vec<usize>>,
    /// For each note, the one before it in a sequence.
    pub before: Vec<Option<usize>>,
    /// For each note, the one after it in a sequence.
    pub after: Vec<Option<usize>>,
}

/// What a score is made of. The first seven add up to the score without `times`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Parts {
    /// What the note's own title, tags, headings and body hold.
    pub words: f64,
    /// What the notes before and after it in a sequence add.
    pub sequence: f64,
    /// What linked notes add.
    pub links: f64,
    /// Terms that stand together as in the query.
    pub nearness: f64,
    /// The best paragraph.
    pub paragraph: f64,
    /// What the scores of like notes add or take.
    pub likeness: f64,
    /// What all that is multiplied with.
    pub times: f64,
}

/// A note that a query found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The note's place among the notes that were searched.
    pub note: usize,
    /// How well it answers; comparable within one query only.
    pub score: f64,
    /// How well it answers, 0 to 1, whatever else was found.
    pub relevance: f64,
    /// What the score is made of.
    pub parts: Parts,
}

/// A term of the query in a note.
#[derive(Debug, Clone, Copy)]
struct Found {
    slot: u32,
    /// How much of it the body holds, given its length.
    body: f64,
    /// How much of it title, headings and body hold.
    fields: f64,
    /// The tags' share.
    tags: f64,
}

/// The tags that a query names. Who wrote a note seldom stands in it; what it is about does, and
/// counts by that already: a tag tells as much as the part of its notes whose body does not hold it.
struct Names {
    /// How many notes have the tag, and in how many of them the body does not hold it.
    tagged: HashMap<u32, (u32, u32)>,
    /// How much the slots say that are no such tags, and all of them.
    others: Vec<f64>,
    all: f64,
}

/// Ranks notes for one query.
pub(super) struct Ranker<'a> {
    pub(super) corpus: &'a Corpus,
    pub(super) notes: &'a [Arc<Note>],
    pub(super) around: Option<&'a Surroundings>,
    pub(super) plan: &'a Plan,
    pub(super) weights: &'a Weights,
}

impl Ranker<'_> {
    /// Returns the notes that hold a term of the query, the best first: by score, then value, then
    /// place. Notes for which `passes` does not hold lend to others, and are left out.
    pub(super) fn run(&self, passes: &(dyn Fn(usize) -> bool + Sync)) -> Vec<Hit> {
        let found: Vec<Vec<Found>> = self.corpus.documents.par_iter().map(|document| self.find(document)).collect();
        let idf = self.frequencies(&found);
        let vectors = Vectors::new(self.corpus, self.weights);
        let scratch = || Scratch::new(self.plan.slots.len(), self.corpus.lexicon.terms.len());
        let mut hits: Vec<Hit> = (0..found.len())
            .into_par_iter()
            .with_min_len(found.len().div_ceil(PIECES))
            .map_init(scratch, |scratch, note| self.hit(note, &found, &idf, &vectors, scratch))
            .flatten()
            .filter(|hit| passes(hit.note))
            .collect();
        self.sort(&mut hits);
        self.look_closely(&mut hits, &idf);
        self.sort(&mut hits);
        self.smooth(&mut hits, &vectors);
        let names = self.names(&found, &idf);
        for hit in &mut hits {
            hit.parts.times = self.times(hit.note, &names);
            hit.score *= hit.parts.times;
        }
        self.sort(&mut hits);
        let full = self.full_score(&idf);
        for hit in &mut hits {
            hit.relevance = (hit.score / (hit.score + full / 2.0)).clamp(0.0, MAX_RELEVANCE);
        }
        hits
    }

    fn sort(&self, hits: &mut [Hit]) {
        let value = |hit: &Hit| self.notes.get(hit.note).map_or(0, |note| note.value_or_default());
        hits.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| value(b).cmp(&value(a))).then_with(|| a.note.cmp(&b.note))
        });
    }

    /// Returns the terms of the query that a note holds, in the order of the query.
    fn find(&self, document: &Document) -> Vec<Found> {
        let weights = self.weights;
        let norm = |share: f64, len: u32, average: f64| 1.0 - share + share * f64::from(len) / average;
        let mut found: Vec<(u32, Count)> = Vec::new();
        for count in self.corpus.counts(document) {
            let slot = self.plan.slot_of.get(count.term as usize).copied().unwrap_or(NOWHERE);
            if slot == NOWHERE {
                continue;
            }
            match found.iter_mut().find(|(have, _)| *have == slot) {
                Some((_, have)) => {
                    have.body = have.body.saturating_add(count.body);
                    have.title = have.title.saturating_add(count.title);
                    have.tags = have.tags.saturating_add(count.tags);
                    have.headings = have.headings.saturating_add(count.headings);
                }
                None => found.push((slot, *count)),
            }
        }
        found.sort_unstable_by_key(|(slot, _)| *slot);
        let body_norm = norm(weights.body_length, document.body_len, self.corpus.body_average());
        let title_norm = norm(weights.title_length, document.title_len, self.corpus.title_average());
        let of_count = |(slot, count): (u32, Count)| {
            let body = f64::from(count.body) / body_norm;
            let title = weights.title * f64::from(count.title) / title_norm;
            let fields = body + title + weights.heading * f64::from(count.headings);
            Found { slot, body, fields, tags: weights.tag * f64::from(count.tags) }
        };
        found.into_iter().map(of_count).collect()
    }

    /// Returns how much each slot says: `ln(1 + (N − n + ½) / (n + ½))`, n being the notes that hold
    /// it; for what no note holds, as for what one does.
    fn frequencies(&self, found: &[Vec<Found>]) -> Vec<f64> {
        let mut holders = vec![0_u32; self.plan.slots.len()];
        for found in found.iter().flatten() {
            if let Some(holders) = holders.get_mut(found.slot as usize) {
                *holders += 1;
            }
        }
        holders.into_iter().map(|holders| inverse_frequency(self.corpus.len(), f64::from(holders.max(1)))).collect()
    }

    /// Scores one note by what it holds and what stands around it.
    fn hit(
        &self,
        note: usize,
        found: &[Vec<Found>],
        idf: &[f64],
        vectors: &Vectors<'_>,
        scratch: &mut Scratch,
    ) -> Option<Hit> {
        // What stands around a note lends to it; it finds nothing by itself.
        let own = found.get(note).filter(|own| !own.is_empty())?;
        for term in own {
            scratch.add(term.slot, term.fields + term.tags);
        }
        let words = self.sum(scratch, idf);
        let (mut in_sequence, mut with_links) = (words, words);
        if let Some(around) = self.around {
            if self.lend_sequence(note, around, found, scratch) {
                in_sequence = self.sum(scratch, idf);
            }
            with_links = in_sequence;
            if self.lend_links(note, around, found, vectors, scratch) {
                with_links = self.sum(scratch, idf);
            }
        }
        scratch.clear();
        let parts = Parts { words, sequence: in_sequence - words, links: with_links - in_sequence, ..Parts::default() };
        (with_links > 0.0).then_some(Hit { note, score: with_links, relevance: 0.0, parts })
    }

    /// Adds what the notes of the sequence around a note hold; tells whether that is anything.
    fn lend_sequence(&self, note: usize, around: &Surroundings, found: &[Vec<Found>], scratch: &mut Scratch) -> bool {
        let mut lends = false;
        for (steps, weights) in [(&around.before, &self.weights.before), (&around.after, &self.weights.after)] {
            let mut at = note;
            for weight in weights {
                let Some(next) = steps.get(at).copied().flatten().filter(|next| *next != note) else { break };
                at = next;
                for term in found.get(at).into_iter().flatten() {
                    scratch.add(term.slot, weight * term.body);
                    lends = true;
                }
            }
        }
        lends
    }

    /// Adds what linked notes hold, as far as they are like the note; tells whether that is anything.
    fn lend_links(
        &self,
        note: usize,
        around: &Surroundings,
        found: &[Vec<Found>],
        vectors: &Vectors<'_>,
        scratch: &mut Scratch,
    ) -> bool {
        let linked = around.linked.get(note).map(Vec::as_slice).unwrap_or_default();
        let share = self.weights.linked / (linked.len() as f64 + 1.0);
        let mut lends = false;
        for other in linked {
            let terms = found.get(*other).map(Vec::as_slice).unwrap_or_default();
            if terms.is_empty() {
                continue;
            }
            if !lends {
                scratch.spread(vectors.of(note));
            }
            let likeness = scratch.cosine(vectors.of(note), vectors.of(*other));
            let gate = (likeness / self.weights.like_enough).min(1.0);
            for term in terms {
                scratch.add(term.slot, share * gate * term.fields);
            }
            lends = true;
        }
        if lends {
            scratch.gather(vectors.of(note));
        }
        lends
    }

    /// Returns the score of what was added up for a note.
    fn sum(&self, scratch: &mut Scratch, idf: &[f64]) -> f64 {
        scratch.slots.sort_unstable();
        let k = self.weights.saturation;
        let mut score = 0.0;
        for slot in &scratch.slots {
            let place = *slot as usize;
            if let (Some(slot), Some(idf), Some(amount)) =
                (self.plan.slots.get(place), idf.get(place), scratch.amounts.get(place))
            {
                score += slot.weight * idf * (k + 1.0) * amount / (amount + k);
            }
        }
        score
    }

    /// Adds what only a close look at a text shows: terms that stand together, the best paragraph.
    fn look_closely(&self, hits: &mut [Hit], idf: &[f64]) {
        let best = hits.len().min(self.weights.close_looks);
        hits.par_iter_mut().take(best).for_each(|hit| {
            let Some(document) = self.corpus.documents.get(hit.note) else { return };
            hit.parts.nearness = nearness(self.corpus, document, self.plan, idf, self.weights);
            hit.parts.paragraph = self.weights.paragraph * paragraph(self.corpus, document, self.plan, self.weights);
            hit.score += hit.parts.nearness + hit.parts.paragraph;
        });
    }

    /// Draws the scores of the best towards those of the notes that are like them.
    fn smooth(&self, hits: &mut [Hit], vectors: &Vectors<'_>) {
        let size = self.corpus.len();
        let share = self.weights.smoothing * size / (size + self.weights.half_smoothing);
        let count = hits.len().min(self.weights.smoothed);
        let (best, rest) = hits.split_at_mut(count);
        let best_vectors: Vec<_> = best.iter().map(|hit| vectors.of(hit.note)).collect();
        let scores: Vec<f64> = best.iter().map(|hit| hit.score).collect();
        let means: Vec<f64> = (0..count)
            .into_par_iter()
            .with_min_len(count.div_ceil(PIECES))
            .map_init(
                || Scratch::new(0, self.corpus.lexicon.terms.len()),
                |scratch, place| mean_of_like(place, &best_vectors, &scores, self.weights.neighbours, scratch),
            )
            .collect();
        for (hit, mean) in best.iter_mut().zip(means) {
            hit.parts.likeness = share * (mean - hit.score);
            hit.score += hit.parts.likeness;
        }
        let least = best.iter().map(|hit| hit.score).min_by(f64::total_cmp).unwrap_or_default();
        for hit in rest.iter_mut().filter(|hit| hit.score > least) {
            hit.parts.likeness = least - hit.score;
            hit.score = least;
        }
    }

    /// Returns what a note's score is multiplied with.
    fn times(&self, note: usize, names: &Names) -> f64 {
        let Some(document) = self.corpus.documents.get(note) else { return 1.0 };
        let tells_when = self.plan.asks_when && document.has_time;
        let timed = if tells_when { 1.0 + self.weights.timed } else { 1.0 };
        timed * (1.0 + self.weights.named * self.named(document, names))
    }

    fn slot(&self, term: u32) -> Option<u32> {
        self.plan.slot_of.get(term as usize).copied().filter(|slot| *slot != NOWHERE)
    }

    /// Finds the tags that are terms of the query, and how much each tells what the texts do not.
    fn names(&self, found: &[Vec<Found>], idf: &[f64]) -> Names {
        let mut tagged: HashMap<u32, (u32, u32)> = HashMap::new();
        let holders = self.corpus.documents.iter().zip(found).filter(|(_, found)| !found.is_empty());
        for count in holders.flat_map(|(document, _)| self.corpus.counts(document)).filter(|count| count.is_tag) {
            if self.slot(count.term).is_some() {
                let (all, silent) = tagged.entry(count.term).or_default();
                (*all, *silent) = (*all + 1, *silent + u32::from(count.body == 0));
            }
        }
        let is_name = |slot: &Slot| slot.terms.iter().any(|term| tagged.contains_key(term));
        let others = self.plan.slots.iter().zip(idf).map(|(slot, idf)| match slot.is_guess || is_name(slot) {
            true => 0.0,
            false => slot.weight * idf,
        });
        let others: Vec<f64> = others.collect();
        Names { tagged, all: others.iter().sum(), others }
    }

    /// Returns how much a note deserves for a tag that the query names, 0 to 1: as much as the tag
    /// tells, half of it for the query's other terms that the note holds.
    fn named(&self, document: &Document, names: &Names) -> f64 {
        let told = |(all, silent): &(u32, u32)| f64::from(*silent) / f64::from(*all);
        let tags = self
            .corpus
            .counts(document)
            .iter()
            .filter(|count| count.is_tag)
            .filter_map(|count| names.tagged.get(&count.term));
        let Some(told) = tags.map(told).max_by(f64::total_cmp).filter(|told| *told > 0.0) else { return 0.0 };
        let mut held: Vec<u32> =
            self.corpus.counts(document).iter().filter_map(|count| self.slot(count.term)).collect();
        held.sort_unstable();
        held.dedup();
        let held: f64 = held.iter().filter_map(|slot| names.others.get(*slot as usize)).sum();
        told * if names.all > 0.0 { 0.5 + 0.5 * held / names.all } else { 1.0 }
    }

    /// Returns the score of a note that could say no more of any word of the query:
    /// `Σ q · idf · (k + 1)`.
    fn full_score(&self, idf: &[f64]) -> f64 {
        let asked = self.plan.slots.iter().zip(idf).filter(|(slot, _)| !slot.is_guess);
        let all: f64 = asked.map(|(slot, idf)| slot.weight * idf * (self.weights.saturation + 1.0)).sum();
        all.max(f64::MIN_POSITIVE)
    }
}

/// The relevance of the best note whose title is not the query.
pub(super) const MAX_RELEVANCE: f64 = 0.99;

/// Returns `ln(1 + (N − n + ½) / (n + ½))`, above 0: what a term says that n of N texts hold.
pub(super) fn inverse_frequency(total: f64, holders: f64) -> f64 {
    (1.0 + (total - holders + 0.5).max(0.0) / (holders + 0.5)).ln()
}

/// Returns the mean score of the notes that are most like one, weighted by their likeness; its own
/// where there are none.
fn mean_of_like(
    place: usize,
    vectors: &[&super::vectors::Vector<'_>],
    scores: &[f64],
    neighbours: usize,
    scratch: &mut Scratch,
) -> f64 {
    let own_score = scores.get(place).copied().unwrap_or_default();
    let Some(own) = vectors.get(place) else { return own_score };
    scratch.spread(own);
    let others = vectors.iter().zip(scores).enumerate().filter(|(other, _)| *other != place);
    let mut like: Vec<(f64, usize, f64)> = others
        .map(|(other, (vector, score))| (scratch.cosine(own, vector), other, *score))
        .filter(|(likeness, ..)| *likeness > 0.0)
        .collect();
    scratch.gather(own);
    like.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    like.truncate(neighbours);
    let weight: f64 = like.iter().map(|(likeness, ..)| likeness).sum();
    let sum: f64 = like.iter().map(|(likeness, _, score)| likeness * score).sum();
    if weight > 0.0 { sum / weight } else { own_score }
}

/// Room for the numbers of one note at a time.
pub(super) struct Scratch {
    /// How much of each slot there is.
    amounts: Vec<f64>,
    /// The slots of which there is any.
    slots: Vec<u32>,
    /// A vector, by term.
    spread: Vec<u32>,
}

impl Scratch {
    pub(super) fn new(slots: usize, terms: usize) -> Self {
        Self { amounts: vec![0.0; slots], slots: Vec::new(), spread: vec![0; terms] }
    }

    fn add(&mut self, slot: u32, amount: f64) {
        if let Some(have) = self.amounts.get_mut(slot as usize)
            && amount > 0.0
        {
            if *have == 0.0 {
                self.slots.push(slot);
            }
            *have += amount;
        }
    }

    fn clear(&mut self) {
        for slot in self.slots.drain(..) {
            if let Some(amount) = self.amounts.get_mut(slot as usize) {
                *amount = 0.0;
            }
        }
    }

    /// Lays a vector out, so that others can be compared with it.
    pub(super) fn spread(&mut self, vector: &super::vectors::Vector<'_>) {
        for (term, weight) in vector.entries() {
            if let Some(place) = self.spread.get_mut(term as usize) {
                *place = weight;
            }
        }
    }

    /// Takes a vector up again.
    pub(super) fn gather(&mut self, vector: &super::vectors::Vector<'_>) {
        for (term, _) in vector.entries() {
            if let Some(place) = self.spread.get_mut(term as usize) {
                *place = 0;
            }
        }
    }

    /// Returns the cosine of the vector that is laid out, `own`, and another.
    pub(super) fn cosine(&self, own: &super::vectors::Vector<'_>, other: &super::vectors::Vector<'_>) -> f64 {
        let product = |(term, weight): (u32, u32)| {
            u64::from(self.spread.get(term as usize).copied().unwrap_or_default()) * u64::from(weight)
        };
        cosine(other.entries().map(product).sum(), own, other)
    }
}
