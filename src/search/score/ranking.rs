//! How well notes answer a query. specs/ranking.md has the formula, its sources and what each idea
//! in it is worth.
//!
//! Scores are the same on every machine and in every run: sums run in the order of the query, and
//! what does not stand in the query (likeness of notes) is summed in whole numbers.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::note::Note;
use crate::search::build::postings::FieldTermFreqs;
use crate::search::query::plan::{Plan, QueryTerm};
use crate::search::read::composite_index::CompositeIndex;
use crate::search::read::segment::ALL_QUESTIONS;
use crate::search::score::proximity::{covered, paragraph, proximity_score};
use crate::search::score::vectors::{Vector, Vectors, cosine};
use crate::timings;

/// Into how many pieces notes are parted at most where each piece needs room for all terms.
const PIECES: usize = 8;

/// The constants of the ranking formula (specs/ranking.md).
#[derive(Debug, Clone)]
pub struct Weights {
    /// BM25's k1: how soon further occurrences of a term stop adding to the score.
    pub k1: f64,
    /// BM25's b for bodies and for titles, 0 to 1.
    pub b_body: f64,
    /// See `b_body`.
    pub b_title: f64,
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
    pub half_smoothing_notes: f64,
    /// How many like notes count.
    pub neighbours: usize,
    /// How many of the best are compared with one another.
    pub smoothed: usize,
    /// How many of the best are looked at closely: at what is linked with them, and at their texts.
    pub close_looks: usize,
    /// What a score gains, as a share, when a tag is a term of the query.
    pub named: f64,
    /// The same when the query asks for a time and the body tells one.
    pub timed: f64,
    /// What a note of a sequence loses, as a share, of which every sentence is a question: the answer follows it.
    pub asking: f64,
}

/// So many terms the bodies of the hits have together that are looked at closely or compared, and more only where
/// these are fewer than `MIN_CLOSE_LOOKS`. It bounds what long notes cost.
const MAX_CLOSE_TERMS: u64 = 120_000;
/// See `MAX_CLOSE_TERMS`.
const MIN_CLOSE_LOOKS: usize = 20;

/// The bounds of `k1`, and how many terms the average body has for 1 of it.
const K1_BOUNDS: (f64, f64) = (1.2, 2.0);
/// See `K1_BOUNDS`.
const TERMS_PER_K1: f64 = 25.0;

impl Weights {
    /// Returns the usual weights with the `k1` that suits the texts of a store: in short texts a second mention
    /// says little.
    pub(crate) fn of(index: &CompositeIndex) -> Self {
        let k1 = (index.body_average() / TERMS_PER_K1).clamp(K1_BOUNDS.0, K1_BOUNDS.1);
        Self { k1, ..Self::default() }
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            k1: 2.0,
            b_body: 0.5,
            b_title: 0.75,
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
            half_smoothing_notes: 20.0,
            neighbours: 8,
            smoothed: 100,
            close_looks: 200,
            named: 0.8,
            timed: 0.3,
            asking: 0.4,
        }
    }
}

/// Finds the notes that are linked with one.
pub type Linked<'a> = Box<dyn Fn(usize) -> Vec<usize> + Sync + 'a>;

/// The neighbours of each note, for score propagation.
pub struct Neighbourhood<'a> {
    /// Returns the notes that a note links to or that link to it, each once, in order.
    pub linked: Linked<'a>,
    /// The sequences that notes stand in.
    pub sequences: &'a Sequences,
}

/// The predecessor and successor of each note in a sequence.
#[derive(Debug, Default)]
pub struct Sequences {
    /// For each note, the one before it in a sequence.
    pub before: Vec<Option<usize>>,
    /// For each note, the one after it in a sequence.
    pub after: Vec<Option<usize>>,
}

/// The components of a score. Without `times` they add up to it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ScoreBreakdown {
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
    pub parts: ScoreBreakdown,
}

/// All matches of the query, as a ragged array by note.
struct QueryMatches {
    /// Its terms in each note, in the order of the notes, then of the query.
    found: Vec<WeightedMatch>,
    /// For each note, where its terms begin; one more says where the last ones end.
    starts: Vec<u32>,
    /// Terms that are the whole of a tag: the note, the term, and whether the body holds it too.
    tags: Vec<(usize, u32, bool)>,
}

impl QueryMatches {
    fn of(&self, note: usize) -> &[WeightedMatch] {
        let range = self.starts.get(note).zip(self.starts.get(note + 1));
        range.and_then(|(start, end)| self.found.get(*start as usize..*end as usize)).unwrap_or_default()
    }

    /// Returns the notes that hold something.
    fn notes(&self) -> Vec<usize> {
        (0..self.starts.len().saturating_sub(1)).filter(|note| !self.of(*note).is_empty()).collect()
    }
}

/// The weighted frequencies of one query term in one note.
#[derive(Debug, Clone, Copy)]
struct WeightedMatch {
    slot: u32,
    /// How much of it the body holds, given its length.
    body: f64,
    /// How much of it title, headings and body hold.
    fields: f64,
    /// The tags' share.
    tags: f64,
}

/// The boost for tags named in the query. A name of a person seldom occurs in the body of a note, a subject does and
/// counts there already: a tag's boost is the share of its notes whose body does not contain it.
struct TagBoost {
    /// How many notes have the tag, and in how many of them the body does not hold it.
    tagged: HashMap<u32, (u32, u32)>,
    /// How much the slots say that are no such tags, and all of them.
    others: Vec<f64>,
    all: f64,
}

/// Ranks notes for one query.
pub(crate) struct Ranker<'a> {
    pub(crate) index: &'a CompositeIndex,
    pub(crate) notes: &'a [Arc<Note>],
    pub(crate) around: Option<&'a Neighbourhood<'a>>,
    pub(crate) plan: &'a Plan,
    pub(crate) weights: &'a Weights,
    pub(crate) vectors: Vectors<'a>,
}

impl Ranker<'_> {
    /// Returns the notes that hold a term of the query, the best first: by score, then value, then
    /// place. Notes for which `passes` does not hold lend to others, and are left out.
    pub(crate) fn run(&self, passes: &(dyn Fn(usize) -> bool + Sync)) -> (Vec<Hit>, BestAnswer) {
        let held = self.held();
        timings::end("words found");
        let idf = self.frequencies(&held);
        let slots = self.plan.slots.len();
        let notes = held.notes();
        let mut hits: Vec<Hit> = notes
            .par_iter()
            .with_min_len(notes.len().div_ceil(PIECES).max(64))
            .map_init(|| Scratch::new(slots, 0), |scratch, note| self.hit(*note, &held, &idf, scratch))
            .flatten()
            .filter(|hit| passes(hit.note))
            .collect();
        self.sort(&mut hits);
        timings::end("hits scored");
        self.rerank_with_neighbours(&mut hits, &held, &idf);
        timings::end("links looked at");
        self.rerank_top_hits(&mut hits, &idf);
        timings::end("texts looked at");
        self.sort(&mut hits);
        self.smooth(&mut hits);
        timings::end("hits compared");
        let names = self.names(&held, &idf);
        for hit in &mut hits {
            hit.parts.times = self.times(hit.note, &held, &names);
            hit.score *= hit.parts.times;
        }
        self.sort(&mut hits);
        timings::end("tags counted");
        let full = self.full_score(&idf);
        for hit in &mut hits {
            hit.relevance = (hit.score / (hit.score + full / 2.0)).clamp(0.0, MAX_RELEVANCE);
        }
        let best = self.best_answer(&hits, full, &idf);
        (hits, best)
    }

    /// Returns how well the best hits answer the query as a whole.
    fn best_answer(&self, hits: &[Hit], full: f64, idf: &[f64]) -> BestAnswer {
        let asked = self.asked(idf);
        let all: f64 = asked.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let count = asked.iter().filter(|idf| **idf > 0.0).count();
        let times_longer = (count as f64 / USUAL_TERMS).max(1.0);
        let score = hits.first().map_or(0.0, |hit| hit.score) * times_longer;
        let covered = |hit: &Hit| covered(&self.index.text(hit.note), self.plan, &asked);
        let coverage = hits.par_iter().take(COVERED_HITS).map(covered).reduce(|| 0.0, f64::max);
        BestAnswer {
            relevance: (score / (score + full / 2.0)).clamp(0.0, MAX_RELEVANCE),
            coverage: (coverage / all * times_longer).min(1.0),
        }
    }

    /// Returns the inverse document frequency of each slot that stands for a word of the query. Where other words are
    /// looked for in the place of one that no note holds, these have half of its own each.
    fn asked(&self, idf: &[f64]) -> Vec<f64> {
        let mut asked = vec![0.0; self.plan.slots.len()];
        for (number, slot) in self.plan.slots.iter().enumerate() {
            let idf = idf.get(number).copied().unwrap_or_default();
            if slot.is_guess {
                // It stands right behind the slot of the word that no note holds.
                let halved = asked[number - 1] / 2.0;
                (asked[number - 1], asked[number]) = (halved, halved);
            } else if slot.weight >= 1.0 {
                asked[number] = idf;
            }
        }
        asked
    }

    fn sort(&self, hits: &mut [Hit]) {
        let value = |hit: &Hit| self.notes.get(hit.note).map_or(0, |note| note.value_or_default());
        hits.par_sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| value(b).cmp(&value(a))).then_with(|| a.note.cmp(&b.note))
        });
    }

    /// Finds the terms of the query in all notes.
    fn held(&self) -> QueryMatches {
        let mut held = QueryMatches { found: Vec::new(), starts: Vec::new(), tags: Vec::new() };
        let found = self.index.find(&self.plan.slot_of);
        for same in found.chunk_by(|a, b| (a.place, a.slot) == (b.place, b.slot)) {
            let Some(first) = same.first() else { continue };
            let note = first.place as usize;
            if held.starts.len() <= note {
                held.starts.resize(note + 1, held.found.len() as u32);
            }
            let counts = same.iter().map(|held| &held.count);
            let tags = counts.clone().filter(|count| count.is_tag);
            held.tags.extend(tags.map(|count| (note, count.term, count.body > 0)));
            held.found.push(self.found(note, first.slot, counts));
        }
        held.starts.resize(self.index.len() + 1, held.found.len() as u32);
        held
    }

    /// Adds up what a note holds of the terms that count as one.
    fn found<'b>(&self, note: usize, slot: u32, counts: impl Iterator<Item = &'b FieldTermFreqs>) -> WeightedMatch {
        let mut sum = FieldTermFreqs::default();
        for count in counts {
            sum.body = sum.body.saturating_add(count.body);
            sum.title = sum.title.saturating_add(count.title);
            sum.tags = sum.tags.saturating_add(count.tags);
            sum.headings = sum.headings.saturating_add(count.headings);
        }
        let weights = self.weights;
        let norm = |share: f64, len: u32, average: f64| 1.0 - share + share * f64::from(len) / average;
        let lengths = self.index.lengths(note);
        let body = f64::from(sum.body) / norm(weights.b_body, lengths.body, self.index.body_average());
        let title_norm = norm(weights.b_title, lengths.title, self.index.title_average());
        let title = weights.title * f64::from(sum.title) / title_norm;
        let fields = body + title + weights.heading * f64::from(sum.headings);
        WeightedMatch { slot, body, fields, tags: weights.tag * f64::from(sum.tags) }
    }

    /// Returns how much each slot says: `ln(1 + (N − n + ½) / (n + ½))`, n being the notes that hold
    /// it; for what no note holds, as for what one does.
    fn frequencies(&self, held: &QueryMatches) -> Vec<f64> {
        let mut holders = vec![0_u32; self.plan.slots.len()];
        for found in &held.found {
            if let Some(holders) = holders.get_mut(found.slot as usize) {
                *holders += 1;
            }
        }
        holders
            .into_iter()
            .map(|holders| inverse_frequency(self.index.len() as f64, f64::from(holders.max(1))))
            .collect()
    }

    /// Scores one note by what it holds and what stands before and after it.
    fn hit(&self, note: usize, held: &QueryMatches, idf: &[f64], scratch: &mut Scratch) -> Option<Hit> {
        // What stands around a note lends to it; it finds nothing by itself.
        let own = held.of(note);
        for term in own {
            scratch.add(term.slot, term.fields + term.tags);
        }
        let words = self.sum(scratch, idf);
        let mut score = words;
        if let Some(around) = self.around
            && self.propagate_along_sequence(note, around, held, scratch)
        {
            score = self.sum(scratch, idf);
        }
        scratch.clear();
        let parts = ScoreBreakdown { words, sequence: score - words, ..ScoreBreakdown::default() };
        (score > 0.0).then_some(Hit { note, score, relevance: 0.0, parts })
    }

    /// Adds what linked notes lend to the best.
    fn rerank_with_neighbours(&self, hits: &mut [Hit], held: &QueryMatches, idf: &[f64]) {
        let Some(around) = self.around else { return };
        let best = hits.len().min(self.weights.close_looks);
        let scratch = || Scratch::new(self.plan.slots.len(), self.index.terms());
        let (best, _) = hits.split_at_mut(best);
        let size = best.len().div_ceil(PIECES).max(1);
        best.par_chunks_mut(size).for_each_init(scratch, |scratch, hits| {
            for hit in hits {
                for term in held.of(hit.note) {
                    scratch.add(term.slot, term.fields + term.tags);
                }
                self.propagate_along_sequence(hit.note, around, held, scratch);
                if self.propagate_along_links(hit.note, around, held, scratch) {
                    let score = self.sum(scratch, idf);
                    hit.parts.links = score - hit.score;
                    hit.score = score;
                }
                scratch.clear();
            }
        });
    }

    /// Adds what the notes of the sequence around a note hold; tells whether that is anything.
    fn propagate_along_sequence(
        &self,
        note: usize,
        around: &Neighbourhood<'_>,
        held: &QueryMatches,
        scratch: &mut Scratch,
    ) -> bool {
        let mut lends = false;
        for (steps, weights) in
            [(&around.sequences.before, &self.weights.before), (&around.sequences.after, &self.weights.after)]
        {
            let mut at = note;
            for weight in weights {
                let Some(next) = steps.get(at).copied().flatten().filter(|next| *next != note) else { break };
                at = next;
                for term in held.of(at) {
                    scratch.add(term.slot, weight * term.body);
                    lends = true;
                }
            }
        }
        lends
    }

    /// Adds what linked notes hold, as far as they are like the note; tells whether that is anything.
    fn propagate_along_links(
        &self,
        note: usize,
        around: &Neighbourhood<'_>,
        held: &QueryMatches,
        scratch: &mut Scratch,
    ) -> bool {
        let vectors = &self.vectors;
        let linked = (around.linked)(note);
        let share = self.weights.linked / (linked.len() as f64 + 1.0);
        let mut lends = false;
        for other in linked {
            let terms = held.of(other);
            if terms.is_empty() {
                continue;
            }
            if !lends {
                scratch.spread(vectors.of(note));
            }
            let likeness = scratch.cosine(vectors.of(note), vectors.of(other));
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
        let k = self.weights.k1;
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

    /// Counts the best hits, `most` at most, whose texts are not too long to be looked at.
    fn count_best(&self, hits: &[Hit], most: usize) -> usize {
        let mut terms = 0;
        let is_near = |(number, hit): &(usize, &Hit)| {
            let is_near = *number < MIN_CLOSE_LOOKS || terms < MAX_CLOSE_TERMS;
            terms += u64::from(self.index.lengths(hit.note).body);
            is_near
        };
        hits.iter().take(most).enumerate().take_while(is_near).count()
    }

    /// Adds what only a close look at a text shows: terms that stand together, the best paragraph.
    fn rerank_top_hits(&self, hits: &mut [Hit], idf: &[f64]) {
        let best = self.count_best(hits, self.weights.close_looks);
        hits.par_iter_mut().take(best).for_each(|hit| {
            let text = self.index.text(hit.note);
            let body_len = self.index.lengths(hit.note).body;
            hit.parts.nearness = proximity_score(self.index, (&text, body_len), self.plan, idf, self.weights);
            hit.parts.paragraph = self.weights.paragraph * paragraph(self.index, &text, self.plan, self.weights);
            hit.score += hit.parts.nearness + hit.parts.paragraph;
        });
    }

    /// Draws the scores of the best towards those of the notes that are like them.
    fn smooth(&self, hits: &mut [Hit]) {
        let size = self.index.len() as f64;
        let share = self.weights.smoothing * size / (size + self.weights.half_smoothing_notes);
        let count = self.count_best(hits, self.weights.smoothed);
        let (best, rest) = hits.split_at_mut(count);
        let best_vectors: Vec<_> = best.iter().map(|hit| self.vectors.of(hit.note)).collect();
        let scores: Vec<f64> = best.iter().map(|hit| hit.score).collect();
        let likeness = self.likenesses(&best_vectors);
        for (place, hit) in best.iter_mut().enumerate() {
            let mean = mean_of_like(place, &likeness, &scores, self.weights.neighbours);
            hit.parts.likeness = share * (mean - hit.score);
            hit.score += hit.parts.likeness;
        }
        let least = best.iter().map(|hit| hit.score).min_by(f64::total_cmp).unwrap_or_default();
        for hit in rest.iter_mut().filter(|hit| hit.score > least) {
            hit.parts.likeness = least - hit.score;
            hit.score = least;
        }
    }

    /// Compares each of some notes with those behind it.
    fn likenesses(&self, vectors: &[&Vector]) -> Vec<Vec<f64>> {
        let with_others = |scratch: &mut Scratch, place: usize| {
            let Some((own, others)) = vectors.get(place..).and_then(<[_]>::split_first) else { return Vec::new() };
            scratch.spread(own);
            let likeness = others.iter().map(|other| scratch.cosine(own, other)).collect();
            scratch.gather(own);
            likeness
        };
        let places = (0..vectors.len()).into_par_iter().with_min_len(vectors.len().div_ceil(PIECES));
        places.map_init(|| Scratch::new(0, self.index.terms()), with_others).collect()
    }

    /// Returns what a note's score is multiplied with.
    fn times(&self, note: usize, held: &QueryMatches, names: &TagBoost) -> f64 {
        let tells_when = self.plan.asks_when && self.index.lengths(note).has_time;
        let timed = if tells_when { 1.0 + self.weights.timed } else { 1.0 };
        let asks = f64::from(self.index.lengths(note).questions) / f64::from(ALL_QUESTIONS);
        let asking = if self.stands_in_sequence(note) { 1.0 - self.weights.asking * asks } else { 1.0 };
        timed * asking * (1.0 + self.weights.named * self.named(note, held, names))
    }

    /// Tells whether another note goes before or after one in a sequence.
    fn stands_in_sequence(&self, note: usize) -> bool {
        let has = |steps: &[Option<usize>]| steps.get(note).copied().flatten().is_some();
        self.around.is_some_and(|around| has(&around.sequences.before) || has(&around.sequences.after))
    }

    /// Finds the tags that are terms of the query, and how much each tells what the texts do not.
    fn names(&self, held: &QueryMatches, idf: &[f64]) -> TagBoost {
        let mut tagged: HashMap<u32, (u32, u32)> = HashMap::new();
        for (_, term, is_in_body) in &held.tags {
            let (all, silent) = tagged.entry(*term).or_default();
            (*all, *silent) = (*all + 1, *silent + u32::from(!is_in_body));
        }
        let is_name = |slot: &QueryTerm| slot.terms.iter().any(|term| tagged.contains_key(term));
        let others = self.plan.slots.iter().zip(idf).map(|(slot, idf)| match slot.is_guess || is_name(slot) {
            true => 0.0,
            false => slot.weight * idf,
        });
        let others: Vec<f64> = others.collect();
        TagBoost { tagged, all: others.iter().sum(), others }
    }

    /// Returns how much a note deserves for a tag that the query names, 0 to 1: as much as the tag
    /// tells, half of it for the query's other terms that the note holds.
    fn named(&self, note: usize, held: &QueryMatches, names: &TagBoost) -> f64 {
        let told = |(all, silent): &(u32, u32)| f64::from(*silent) / f64::from(*all);
        let first = held.tags.partition_point(|(other, ..)| *other < note);
        let tags = held.tags.iter().skip(first).take_while(|(other, ..)| *other == note);
        let tags = tags.filter_map(|(_, term, _)| names.tagged.get(term));
        let Some(told) = tags.map(told).max_by(f64::total_cmp).filter(|told| *told > 0.0) else { return 0.0 };
        let held: f64 = held.of(note).iter().filter_map(|found| names.others.get(found.slot as usize)).sum();
        told * if names.all > 0.0 { 0.5 + 0.5 * held / names.all } else { 1.0 }
    }

    /// Returns the score of a note that could say no more of any word of the query:
    /// `Σ q · idf · (k + 1)`.
    fn full_score(&self, idf: &[f64]) -> f64 {
        let asked = self.plan.slots.iter().zip(idf).filter(|(slot, _)| !slot.is_guess);
        let all: f64 = asked.map(|(slot, idf)| slot.weight * idf * (self.weights.k1 + 1.0)).sum();
        all.max(f64::MIN_POSITIVE)
    }
}

/// How well the hits of a query answer it as a whole: a predictor of its performance that looks at what was found
/// (Carmel and Yom-Tov, *Estimating the Query Difficulty for Information Retrieval*, 2010, chapter 4).
/// specs/ranking.md says how well it tells questions with an answer from others.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BestAnswer {
    /// The relevance of the best hit, 0 to 1; for a query of more than twelve terms, as if it had twelve.
    pub relevance: f64,
    /// The largest share of the query, by inverse document frequency, that one paragraph of one of the ten best hits
    /// holds together with the note's title and tags; for long queries as `relevance`.
    pub coverage: f64,
}

/// The least relevance of an answer.
const LEAST_RELEVANCE: f64 = 0.18;
/// The least coverage of an answer.
const LEAST_COVERAGE: f64 = 0.18;
/// From which coverage on a hit of any relevance is an answer: a long note says a rare word once.
const SURE_COVERAGE: f64 = 0.5;
/// The most terms of a query of which a note is expected to hold its share.
const USUAL_TERMS: f64 = 12.0;
/// How many of the best hits are looked at for their coverage.
const COVERED_HITS: usize = 10;

impl BestAnswer {
    /// What is known to answer, such as a note whose title is the query.
    pub const CERTAIN: Self = Self { relevance: 1.0, coverage: 1.0 };

    /// Tells whether the hits answer the query at all.
    pub fn is_answer(&self) -> bool {
        self.coverage >= SURE_COVERAGE || (self.relevance >= LEAST_RELEVANCE && self.coverage >= LEAST_COVERAGE)
    }
}

/// The relevance of the best note whose title is not the query.
pub(crate) const MAX_RELEVANCE: f64 = 0.99;

/// Returns `ln(1 + (N − n + ½) / (n + ½))`, above 0: what a term says that n of N texts hold.
pub(crate) fn inverse_frequency(total: f64, holders: f64) -> f64 {
    (1.0 + (total - holders + 0.5).max(0.0) / (holders + 0.5)).ln()
}

/// Returns the mean score of the notes that are most like one, weighted by their likeness; its own where there
/// are none. Of each note there is the likeness to those behind it.
fn mean_of_like(place: usize, likeness: &[Vec<f64>], scores: &[f64], neighbours: usize) -> f64 {
    let to = |other: usize| {
        let behind = place.abs_diff(other).checked_sub(1)?;
        likeness.get(place.min(other))?.get(behind).copied()
    };
    let others = scores.iter().enumerate().filter_map(|(other, score)| Some((to(other)?, other, *score)));
    let mut like: Vec<(f64, usize, f64)> = others.filter(|(likeness, ..)| *likeness > 0.0).collect();
    like.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    like.truncate(neighbours);
    let weight: f64 = like.iter().map(|(likeness, ..)| likeness).sum();
    let sum: f64 = like.iter().map(|(likeness, _, score)| likeness * score).sum();
    if weight > 0.0 { sum / weight } else { scores.get(place).copied().unwrap_or_default() }
}

/// Scratch buffers of one thread, for one note at a time.
pub(crate) struct Scratch {
    /// How much of each slot there is.
    amounts: Vec<f64>,
    /// The slots of which there is any.
    slots: Vec<u32>,
    /// A vector, by term.
    spread: Vec<u32>,
}

impl Scratch {
    pub(crate) fn new(slots: usize, terms: usize) -> Self {
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
    pub(crate) fn spread(&mut self, vector: &Vector) {
        for (term, weight) in vector.entries() {
            if let Some(place) = self.spread.get_mut(term as usize) {
                *place = weight;
            }
        }
    }

    /// Takes a vector up again.
    pub(crate) fn gather(&mut self, vector: &Vector) {
        for (term, _) in vector.entries() {
            if let Some(place) = self.spread.get_mut(term as usize) {
                *place = 0;
            }
        }
    }

    /// Returns the cosine of the vector that is laid out, `own`, and another.
    pub(crate) fn cosine(&self, own: &Vector, other: &Vector) -> f64 {
        let product = |(term, weight): (u32, u32)| {
            u64::from(self.spread.get(term as usize).copied().unwrap_or_default()) * u64::from(weight)
        };
        cosine(other.entries().map(product).sum(), own, other)
    }
}
