//! Semantic search by an embedder: notes that are near to a question though they have other words, and the order of passages by
//! words and vectors together.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::passages::{fragments_of_answers, raise_conclusions, raise_ending};
use crate::codec::unit_vector::cosine;
use crate::embedder::{EmbeddedText, Embedder, NearestPassages};
use crate::escape::shortened;
use crate::note::Fragment;
use crate::report::{NoteEntry, Passages, Tier};
use crate::search::Hit;
use crate::store::{NoteHandle, NoteIdx, Store, TextHash};

/// The passages that are reranked: the best ones by words, and where all were embedded, as many of the nearest.
const RERANKED: usize = 100;
/// The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009), by which a first place counts more than
/// several middle ones. Answers of 4,000 characters have the passage of 27 of 30 questions as people ask them, without vectors of
/// 23; with 5, 20 and 60 of one, one and four less than with 10.
const FUSION_CONSTANT: f64 = 10.0;
/// What the rank of a passage counts that only its vector finds. With 1, answers of 4,000 characters lose one of 27 questions.
const FOUND_BY_ONE: f64 = 0.5;
/// The most characters of a title and of a heading path that are embedded with a passage.
const MAX_ABOUT: usize = 200;

/// What an embedder finds for a question.
#[derive(Debug)]
pub struct SemanticHits {
    /// The vector of the question.
    question: Vec<u8>,
    /// The passages that are near to it; none unless all passages of a collection were embedded.
    nearest: NearestPassages,
}

impl SemanticHits {
    /// Asks an embedder; `None` if it fails. Only notes for which a condition holds are near.
    pub(super) fn of(
        embedder: &Embedder<'_>,
        store: &Store,
        question: &str,
        is_shown: &dyn Fn(NoteIdx) -> bool,
    ) -> Option<Self> {
        let question = embedder.question(question)?;
        let mut nearest = embedder.nearest(&question, RERANKED, is_shown);
        // A note may have other texts by now, or at an earlier commit.
        let mut texts: HashMap<NoteIdx, HashSet<TextHash>> = HashMap::new();
        let texts_of = |note: NoteIdx| texts_of(note, &store.notes()[note]).iter().map(|text| text.hash).collect();
        nearest
            .passages
            .retain(|near| texts.entry(near.note).or_insert_with(|| texts_of(near.note)).contains(&near.text));
        Some(Self { question, nearest })
    }

    /// Whether a passage is near to the question.
    pub(super) fn has_near(&self) -> bool {
        !self.nearest.passages.is_empty()
    }

    /// Merges hits by words with the near notes by reciprocal rank fusion. A note whose title is the question keeps its rank.
    pub(super) fn fused_with(&self, mut hits: Vec<Hit>) -> Vec<Hit> {
        if !self.has_near() {
            return hits;
        }
        let rest = hits.split_off(hits.iter().take_while(|hit| hit.relevance >= 1.0).count());
        let mut scores: HashMap<NoteIdx, f64> = HashMap::new();
        let by_words = rest.iter().map(|hit| hit.note);
        let mut seen = HashSet::new();
        let by_vectors = self.nearest.passages.iter().map(|near| near.note).filter(|note| seen.insert(*note));
        for (rank, note) in (1..).zip(by_words).chain((1..).zip(by_vectors)) {
            *scores.entry(note).or_default() += fusion_share(rank);
        }
        hits.iter().for_each(|named| {
            scores.remove(&named.note);
        });
        let found: HashMap<NoteIdx, Hit> = rest.into_iter().map(|hit| (hit.note, hit)).collect();
        let mut fused: Vec<(NoteIdx, f64)> = scores.into_iter().collect();
        fused.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let hit = |(note, _)| found.get(&note).copied().unwrap_or(Hit { note, ..Hit::default() });
        hits.extend(fused.into_iter().map(hit));
        hits
    }
}

/// Returns what a rank, from 1, counts in a fusion.
fn fusion_share(rank: usize) -> f64 {
    1.0 / (FUSION_CONSTANT + rank as f64)
}

/// A passage that is reranked.
struct RerankedPassage {
    /// The index of its entry.
    entry: usize,
    /// The index of its fragment; `None` for a whole note.
    fragment: Option<usize>,
    tier: Tier,
    /// Its worth by words.
    worth: f64,
    /// The cosine of its vector and that of the question; `None` without a vector.
    cosine: Option<f64>,
}

/// Reorders the passages of entries by words and vectors: they exchange their worths. Returns whether the embedder took part;
/// without it, all stays as it is.
pub fn rerank(entries: &mut [NoteEntry], store: &Store, embedder: &Embedder<'_>, found: &SemanticHits) -> bool {
    let mut candidates = candidates(entries);
    let by_words = candidates.iter().take_while(|passage| passage.worth > 0.0).count().min(RERANKED);
    if !found.has_near() {
        candidates.truncate(by_words);
    }
    let text = |passage: &RerankedPassage| {
        let entry = entries.get(passage.entry)?;
        let fragment = passage.fragment.and_then(|index| entry.passages.get()?.fragments.get(index));
        Some(EmbeddedText::new(store.position(&entry.note.id)?, embedded_text(&entry.note, fragment)))
    };
    let Some(texts) = candidates.iter().map(text).collect::<Option<Vec<EmbeddedText>>>() else { return false };
    let Some(vectors) = embedder.vectors(&texts, by_words) else { return false };
    for (passage, vector) in candidates.iter_mut().zip(vectors) {
        passage.cosine = vector.map(|vector| cosine(&found.question, &vector));
    }
    let is_found = |(index, passage): &(usize, &RerankedPassage)| {
        *index < by_words || passage.cosine.is_some_and(|cosine| found.nearest.is_near(cosine))
    };
    let found_ones = candidates.iter().enumerate().filter(is_found).map(|(index, _)| index).collect();
    let order = fused_order(&candidates, by_words, found_ones);
    let worths: Vec<f64> = candidates.iter().map(|passage| passage.worth).take_while(|worth| *worth > 0.0).collect();
    // What only its vector finds is worth less the further behind it comes.
    let least = |rank: usize| worths.last().unwrap_or(&1.0) * fusion_share(rank) / fusion_share(worths.len().max(1));
    let worths: Vec<f64> = (1..=order.len()).map(|rank| worths.get(rank - 1).copied().unwrap_or(least(rank))).collect();
    for (index, worth) in order.into_iter().zip(worths) {
        let passage = &candidates[index];
        let Some(of_note) = entries[passage.entry].passages.get_mut().map(Arc::make_mut) else { continue };
        match passage.fragment.and_then(|index| of_note.worth.get_mut(index)) {
            Some(of_fragment) => *of_fragment = worth,
            None => of_note.whole = Some(worth),
        }
    }
    // What settles a matter is shown with what matches best, as by words.
    for of_note in entries.iter_mut().filter_map(|entry| entry.passages.get_mut()).map(Arc::make_mut) {
        raise_conclusions(&of_note.fragments, &mut of_note.worth);
        raise_ending(of_note);
    }
    true
}

/// Returns the passages of entries, the best by words first; not those of notes that come behind others whatever they have.
fn candidates(entries: &[NoteEntry]) -> Vec<RerankedPassage> {
    let mut all: Vec<RerankedPassage> = Vec::new();
    for (entry, note) in entries.iter().enumerate() {
        let Some(passages) = note.passages.get().filter(|passages| !passages.is_late) else { continue };
        let tier = note.note.tier();
        let candidate = |fragment, worth| RerankedPassage { entry, fragment, tier, worth, cosine: None };
        match passages.whole {
            Some(worth) => all.push(candidate(None, worth)),
            None => all.extend(passages.worth.iter().enumerate().map(|(index, worth)| candidate(Some(index), *worth))),
        }
    }
    all.sort_by(|a, b| b.worth.total_cmp(&a.worth).then((a.entry, a.fragment).cmp(&(b.entry, b.fragment))));
    all
}

/// Returns the indices of some passages in the order of the fusion of their ranks by words, by which they are sorted, and by
/// vectors. Words find the first `by_words` of all.
fn fused_order(passages: &[RerankedPassage], by_words: usize, mut found: Vec<usize>) -> Vec<usize> {
    let mut scores = vec![0.0; passages.len()];
    (0..by_words).for_each(|index| scores[index] += fusion_share(index + 1));
    let mut by_vectors: Vec<(usize, f64)> =
        found.iter().filter_map(|index| Some((*index, passages[*index].cosine?))).collect();
    by_vectors.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let (mut with_words, mut others) = (VectorRanks::default(), VectorRanks::default());
    for (index, _) in by_vectors {
        let passage = &passages[index];
        if index < by_words {
            scores[index] += fusion_share(with_words.next(passage.tier));
        } else {
            scores[index] += FOUND_BY_ONE * fusion_share(others.next(passage.tier));
        }
    }
    found.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    found
}

/// The ranks of passages by vectors, from 1. Own notes are ranked among themselves: no number of near documents pushes out what the
/// project's people wrote.
#[derive(Default)]
struct VectorRanks {
    all: usize,
    own: usize,
}

impl VectorRanks {
    fn next(&mut self, tier: Tier) -> usize {
        let is_own = tier == Tier::Own;
        (self.all, self.own) = (self.all + 1, self.own + usize::from(is_own));
        if is_own { self.own } else { self.all }
    }
}

/// Returns the text of a passage, or of a whole note, with the title and the headings, which say what it is about.
fn embedded_text(note: &NoteHandle, fragment: Option<&Fragment>) -> String {
    let body = note.parsed_or_empty().body();
    let (text, path) = match fragment {
        Some(fragment) => (fragment.text(body), fragment.heading_path.join(" › ")),
        None => (body, String::new()),
    };
    format!("{}\n{}\n{text}", shortened(note.title(), MAX_ABOUT), shortened(&path, MAX_ABOUT))
}

/// Returns the texts of the passages of a note, as [`rerank`] embeds them.
fn texts_of(index: NoteIdx, note: &NoteHandle) -> Vec<EmbeddedText> {
    let fragments = fragments_of_answers(note);
    let text = |fragment| EmbeddedText::new(index, embedded_text(note, fragment));
    if Passages::has_one_part(&fragments) {
        return vec![text(None)];
    }
    fragments.iter().map(|fragment| text(Some(fragment))).collect()
}

/// Returns the texts of all passages of notes and documents.
pub fn embedded_texts(store: &Store) -> Vec<EmbeddedText> {
    let notes = store.notes_without_commits().par_iter().enumerate();
    notes.flat_map_iter(|(index, note)| texts_of(NoteIdx::new(index), note)).collect()
}
