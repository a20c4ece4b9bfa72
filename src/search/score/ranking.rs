//! Ranks notes for a query. specs/internals/ranking.md has the formula, its sources and the effect of each part.
//!
//! Scores are the same on every machine: sums run in the order of the query, similarities are computed from integers.

use std::sync::Arc;

use rayon::prelude::*;

use super::bm25f::{self, k1, saturate};
use super::hit::{Hit, ScoreBreakdown, TASKS};
use super::matches::QueryMatches;
use super::neighbourhood::{Neighbourhood, neighbour_in};
use super::own_notes::{boost_own_notes, has_documents, mark_full_sentences};
use super::proximity::{best_paragraph_score, paragraph_coverage, proximity_score};
use super::query_performance::{
    BROAD_HITS, COVERED_HITS, LOOK_UP_TERMS, QueryPerformance, SURE_MATCH, USUAL_TERMS, mean_share_of_later_scores,
    relevance,
};
use super::scratch::Scratch;
use super::smoothing::smooth;
use super::tag_boost::TagBoost;
use super::vectors::Vectors;
use crate::search::analysis::questions::QUESTION_UNITS;
use crate::search::query::plan::Plan;
use crate::search::read::composite_index::CompositeIndex;
use crate::store::{NoteHandle, NoteIdx};
use crate::timings;

/// The least number of hits that one task scores.
const MIN_HITS_PER_TASK: usize = 64;
/// The most content terms of all bodies that are reranked or compared. It bounds the cost of long notes: a question to 200
/// notes of 50,000 characters takes 17 instead of 41 ms, and no judged set changed.
const MAX_RERANKED_TERMS: u64 = 120_000;
/// The number of hits that are reranked or compared however long they are.
const MIN_RERANKED: usize = 20;
/// The number of best hits that are reranked, and of those whose scores are smoothed. Reranking 400 raises nDCG@10 of
/// citations from .5504 to .5512 only; with 100, long answers of short notes get worse.
const RERANKED: usize = 200;
const SMOOTHED: usize = 100;
/// The shares of the notes before and after in a sequence that are propagated, the nearest first. A turn of a dialogue
/// answers the one before it. Without them, recall@10 of dialogue falls from .804 to .714 (this and the figures below:
/// specs/internals/ranking.md, measured with `k1` 1.6).
const BEFORE: [f64; 3] = [0.5, 0.3, 0.2];
const AFTER: [f64; 3] = [0.4, 0.2, 0.1];
/// The share of all linked notes together that is propagated. Without it, nDCG@10 of citations falls from .548 to .506.
const LINKED: f64 = 0.5;
/// The similarity from which a linked note's whole share is propagated. A wrong link between notes without common terms
/// adds nothing.
const FULL_SIMILARITY: f64 = 0.1;
/// The weight of the best paragraph. Without it, recall@5 of sessions falls from .885 to .881.
const PARAGRAPH: f64 = 0.3;
/// The largest gain of a note, as a share, for a tag that is a term of the query. Without it, recall@10 of dialogue falls
/// from .804 to .780. It must shrink if the bodies already contain the word: with subjects as tags, a constant factor of 1.6
/// lowers nDCG@10 of cranfield from .440 to .339.
const TAG_BOOST: f64 = 0.8;
/// The gain, as a share, of a note whose body names a time if the query asks for one. Without it, recall@10 of dialogue
/// falls from .804 to .799.
const TIME_BOOST: f64 = 0.3;
/// The loss, as a share, of a note in a sequence that consists of questions: the answer comes after it.
const QUESTION_PENALTY: f64 = 0.4;

/// Ranks notes for one query.
pub(crate) struct Ranker<'a> {
    pub(crate) index: &'a CompositeIndex,
    pub(crate) notes: &'a [Arc<NoteHandle>],
    pub(crate) neighbourhood: Option<&'a Neighbourhood<'a>>,
    pub(crate) plan: &'a Plan,
    pub(crate) vectors: &'a Vectors,
}

impl Ranker<'_> {
    /// Returns the notes that contain a term of the query, or whose neighbours in a sequence do: the best first, by
    /// score, then value, then position. Notes for which `passes` is false propagate their scores, but are left out. The
    /// performance is that of the hits for which `is_shown` is true.
    pub(crate) fn rank(
        &self,
        passes: &(dyn Fn(NoteIdx) -> bool + Sync),
        is_shown: &dyn Fn(NoteIdx) -> bool,
    ) -> (Vec<Hit>, QueryPerformance) {
        let matches = QueryMatches::new(self.index, self.plan);
        timings::end("words found");
        let idf = matches.idf(self.index, self.plan);
        let query_terms = self.plan.query_terms.len();
        let notes = matches.notes();
        let mut hits: Vec<Hit> = notes
            .par_iter()
            .with_min_len(notes.len().div_ceil(TASKS).max(MIN_HITS_PER_TASK))
            .map_init(|| Scratch::new(query_terms, 0), |scratch, note| self.score(*note, &matches, &idf, scratch))
            .flatten()
            .filter(|hit| passes(hit.note))
            .collect();
        self.sort(&mut hits);
        timings::end("hits scored");
        self.rerank_with_neighbours(&mut hits, &matches, &idf);
        timings::end("scores propagated");
        self.rerank_top_hits(&mut hits, &idf);
        timings::end("top hits reranked");
        self.sort(&mut hits);
        let smoothed = self.count_affordable(&hits, SMOOTHED);
        smooth(&mut hits, smoothed, self.index, self.vectors);
        timings::end("hits compared");
        let tag_boost = TagBoost::new(&matches, self.plan, &idf);
        for hit in &mut hits {
            let factor = self.factor(hit.note, &matches, &tag_boost);
            hit.breakdown.factor = factor as f32;
            hit.score *= factor;
        }
        self.sort(&mut hits);
        timings::end("tags counted");
        let full = self.full_score(&idf);
        // Whose words a note has does not tell whether it answers.
        let mut best = self.query_performance(hits.iter().filter(|hit| is_shown(hit.note)), full, &matches, &idf);
        if has_documents(&hits, self.notes) {
            boost_own_notes(&mut hits, self.notes);
            self.sort(&mut hits);
            mark_full_sentences(&mut hits, self.notes, (self.plan, self.index, &matches));
            if hits.iter().any(|hit| hit.has_full_sentence && is_shown(hit.note)) {
                (best.coverage, best.match_score) = (1.0, 1.0);
            }
        }
        for hit in &mut hits {
            hit.relevance = relevance(hit.score, full);
        }
        timings::end("own notes raised");
        (hits, best)
    }

    /// Returns how well the best hits answer the query as a whole.
    fn query_performance<'h>(
        &self,
        hits: impl Iterator<Item = &'h Hit>,
        full: f64,
        matches: &QueryMatches,
        idf: &[f64],
    ) -> QueryPerformance {
        let hits: Vec<&Hit> = hits.take(BROAD_HITS.end).collect();
        let (idf, parts) = (self.idf_of_words(idf), self.idf_of_parts(idf));
        let sum: f64 = idf.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let count = idf.iter().filter(|idf| **idf > 0.0).count();
        let times_longer = (count as f64 / USUAL_TERMS).max(1.0);
        let relevance = relevance(hits.first().map_or(0.0, |hit| hit.score) * times_longer, full);
        let covered = || hits.iter().take(COVERED_HITS);
        let in_note =
            |hit: &&Hit| matches.of(hit.note).iter().map(|found| parts[found.query_term.index()]).sum::<f64>();
        let in_note = covered().map(in_note).fold(0.0, f64::max) / sum * times_longer;
        let match_score = (relevance * in_note.min(1.0)).sqrt();
        // A long note may have the only word of a look-up once.
        let is_look_up = count <= LOOK_UP_TERMS && in_note >= 1.0;
        let match_score = if is_look_up { match_score.max(SURE_MATCH) } else { match_score };
        let coverage = |hit: &&Hit| paragraph_coverage(&self.index.text(hit.note), self.plan, &idf);
        let coverage = hits.par_iter().take(COVERED_HITS).map(coverage).reduce(|| 0.0, f64::max);
        let evidence = coverage / bm25f::idf(self.index.note_count() as f64, 1.0).max(f64::MIN_POSITIVE);
        let coverage = (coverage / sum * times_longer).min(1.0);
        let breadth = mean_share_of_later_scores(hits.iter().map(|hit| hit.score), self.index.note_count());
        QueryPerformance { relevance, coverage, match_score, evidence, breadth, names_subject: false }
    }

    /// Returns the inverse document frequency of each query term that is a word of the query; 0 for others.
    fn idf_of_words(&self, idf: &[f64]) -> Vec<f64> {
        let terms = self.plan.query_terms.iter().zip(idf);
        terms.map(|(query_term, idf)| if query_term.weight >= 1.0 { *idf } else { 0.0 }).collect()
    }

    /// Returns the same with a share of the word before each term that the word may be part of or composed of.
    fn idf_of_parts(&self, idf: &[f64]) -> Vec<f64> {
        let mut of_word = 0.0;
        let terms = self.plan.query_terms.iter().zip(idf);
        let of_part = terms.map(|(query_term, idf)| {
            of_word = if query_term.weight >= 1.0 { *idf } else { of_word };
            of_word * query_term.weight.min(1.0)
        });
        of_part.collect()
    }

    fn sort(&self, hits: &mut [Hit]) {
        let value = |hit: &Hit| self.notes.get(hit.note.index()).map_or(0, |note| note.value_or_default());
        hits.par_sort_unstable_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| value(b).cmp(&value(a))).then_with(|| a.note.cmp(&b.note))
        });
    }

    /// Scores one note by its own terms and those of its neighbours in a sequence; `None` if the score is 0.
    fn score(&self, note: NoteIdx, matches: &QueryMatches, idf: &[f64], scratch: &mut Scratch) -> Option<Hit> {
        for term in matches.of(note) {
            scratch.add(term.query_term, term.freqs.total());
        }
        let words = self.bm25f_score(scratch, idf);
        let mut score = words;
        if let Some(neighbourhood) = self.neighbourhood
            && self.propagate_along_sequence(note, neighbourhood, matches, scratch)
        {
            score = self.bm25f_score(scratch, idf);
        }
        scratch.clear();
        let sequence = (score - words) as f32;
        let breakdown = ScoreBreakdown { words: words as f32, sequence, ..ScoreBreakdown::default() };
        (score > 0.0).then_some(Hit { note, score, breakdown, ..Hit::default() })
    }

    /// Adds shares of linked notes to the scores of the best hits.
    fn rerank_with_neighbours(&self, hits: &mut [Hit], matches: &QueryMatches, idf: &[f64]) {
        let Some(neighbourhood) = self.neighbourhood else { return };
        let count = hits.len().min(RERANKED);
        let new_scratch = || Scratch::new(self.plan.query_terms.len(), self.index.term_count());
        let (best, _) = hits.split_at_mut(count);
        let size = best.len().div_ceil(TASKS).max(1);
        best.par_chunks_mut(size).for_each_init(new_scratch, |scratch, hits| {
            for hit in hits {
                for term in matches.of(hit.note) {
                    scratch.add(term.query_term, term.freqs.total());
                }
                self.propagate_along_sequence(hit.note, neighbourhood, matches, scratch);
                if self.propagate_along_links(hit.note, neighbourhood, matches, scratch) {
                    let score = self.bm25f_score(scratch, idf);
                    hit.breakdown.links = (score - hit.score) as f32;
                    hit.score = score;
                }
                scratch.clear();
            }
        });
    }

    /// Adds shares of the notes around a note in a sequence. Returns whether there are any matches in them.
    fn propagate_along_sequence(
        &self,
        note: NoteIdx,
        neighbourhood: &Neighbourhood<'_>,
        matches: &QueryMatches,
        scratch: &mut Scratch,
    ) -> bool {
        let mut has_matches = false;
        let sequences = neighbourhood.sequences;
        for (steps, shares) in [(&sequences.before, BEFORE), (&sequences.after, AFTER)] {
            let mut other = note;
            for share in shares {
                let Some(next) = neighbour_in(steps, other).filter(|next| *next != note) else { break };
                other = next;
                for term in matches.of(other) {
                    scratch.add(term.query_term, share * term.freqs.body);
                    has_matches = true;
                }
            }
        }
        has_matches
    }

    /// Adds shares of linked notes by their similarity. Returns whether there are any matches in them.
    fn propagate_along_links(
        &self,
        note: NoteIdx,
        neighbourhood: &Neighbourhood<'_>,
        matches: &QueryMatches,
        scratch: &mut Scratch,
    ) -> bool {
        let own = || self.vectors.of(note, self.index);
        let linked = (neighbourhood.linked)(note);
        let share = LINKED / (linked.len() as f64 + 1.0);
        let mut has_matches = false;
        for other in linked {
            let terms = matches.of(other);
            if terms.is_empty() {
                continue;
            }
            if !has_matches {
                scratch.set_dense(own());
            }
            let similarity = scratch.cosine(own(), self.vectors.of(other, self.index));
            let gate = (similarity / FULL_SIMILARITY).min(1.0);
            for term in terms {
                scratch.add(term.query_term, share * gate * term.freqs.fields);
            }
            has_matches = true;
        }
        if has_matches {
            scratch.clear_dense(own());
        }
        has_matches
    }

    /// Returns the BM25F score of the frequencies in `scratch`.
    fn bm25f_score(&self, scratch: &mut Scratch, idf: &[f64]) -> f64 {
        let (mut score, k1) = (0.0, k1(self.index));
        for (query_term, amount) in scratch.amounts() {
            let position = query_term.index();
            if let (Some(query_term), Some(idf)) = (self.plan.query_terms.get(position), idf.get(position)) {
                score += saturate(query_term.weight * idf, amount, k1);
            }
        }
        score
    }

    /// Returns how many of the best hits, at most `max`, are not too long to be reranked or compared.
    fn count_affordable(&self, hits: &[Hit], max: usize) -> usize {
        let mut terms = 0;
        let is_affordable = |(rank, hit): &(usize, &Hit)| {
            let is_affordable = *rank < MIN_RERANKED || terms < MAX_RERANKED_TERMS;
            terms += u64::from(self.index.norms(hit.note).body);
            is_affordable
        };
        hits.iter().take(max).enumerate().take_while(is_affordable).count()
    }

    /// Adds the proximity of query terms and the best paragraph to the scores of the best hits.
    fn rerank_top_hits(&self, hits: &mut [Hit], idf: &[f64]) {
        let (count, k1) = (self.count_affordable(hits, RERANKED), k1(self.index));
        hits.par_iter_mut().take(count).for_each(|hit| {
            let text = self.index.text(hit.note);
            let body_len = self.index.norms(hit.note).body;
            let proximity = proximity_score(self.index, (&text, body_len), self.plan, idf, k1);
            let paragraph = PARAGRAPH * best_paragraph_score(self.index, &text, self.plan, k1);
            hit.breakdown.proximity = proximity as f32;
            hit.breakdown.paragraph = paragraph as f32;
            hit.score += proximity + paragraph;
        });
    }

    /// Returns the factor of a note's score for tags, times and questions.
    fn factor(&self, note: NoteIdx, matches: &QueryMatches, tag_boost: &TagBoost) -> f64 {
        let norms = self.index.norms(note);
        let has_time = self.plan.asks_when && norms.has_time;
        let time = if has_time { 1.0 + TIME_BOOST } else { 1.0 };
        let questions = f64::from(norms.questions) / f64::from(QUESTION_UNITS);
        let is_in_sequence = self.neighbourhood.is_some_and(|neighbourhood| neighbourhood.sequences.has(note));
        let penalty = if is_in_sequence { 1.0 - QUESTION_PENALTY * questions } else { 1.0 };
        time * penalty * (1.0 + TAG_BOOST * tag_boost.of(note, matches))
    }

    /// Returns the score of a note that is saturated with every term of the query: `Σ q · idf · (k1 + 1)`.
    fn full_score(&self, idf: &[f64]) -> f64 {
        let k1 = k1(self.index);
        let terms = self.plan.query_terms.iter().zip(idf);
        let sum: f64 = terms.map(|(query_term, idf)| query_term.weight * idf * (k1 + 1.0)).sum();
        sum.max(f64::MIN_POSITIVE)
    }
}
