//! Semantic search by an embedder: notes that are near to a question though they have other words, and the order of passages by
//! words and vectors together.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::passages::{fragments_of_answers, raise_conclusions, raise_ending};
use crate::codec::unit_vector::cosine;
use crate::embedder::{EmbeddedText, Embedder, NearestNotes};
use crate::escape::shortened;
use crate::note::Fragment;
use crate::report::{NoteEntry, Passages, Tier};
use crate::search::Hit;
use crate::store::{NoteHandle, NoteIdx, Store};

/// The passages that are reranked: the best ones by words, and where all were embedded, as many of the nearest.
const RERANKED: usize = 100;
/// The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009), by which a first place counts more than
/// several middle ones. With 5, 20 and 60, answers of 4,000 characters have the passage of 26, 26 and 23 of 30 questions as
/// people ask them; with 10 of 27, and without vectors of 23.
const FUSION_CONSTANT: f64 = 10.0;
/// The least nearness of the best passage from which on a question in words that no note has is answered weakly: none of 57
/// questions that three stores can't answer is as near, near misses aside.
const MIN_NEARNESS: f64 = 0.42;
/// The most characters of a title and of a heading path that are embedded with a passage.
const MAX_ABOUT: usize = 200;

/// What an embedder finds for a question.
#[derive(Debug)]
pub struct SemanticHits {
    /// The vector of the question.
    question: Vec<u8>,
    /// The notes that are nearest to it; none unless all passages of a collection were embedded.
    nearest: NearestNotes,
}

impl SemanticHits {
    /// Asks an embedder; `None` if it fails.
    pub(super) fn of(embedder: &Embedder<'_>, question: &str) -> Option<Self> {
        let question = embedder.question(question)?;
        let nearest = embedder.nearest(&question, RERANKED);
        Some(Self { question, nearest })
    }

    /// Whether a passage is clearly nearer to the question than others would be by chance.
    pub(super) fn is_near(&self) -> bool {
        self.nearest.nearness() >= MIN_NEARNESS
    }

    /// Merges hits by words with the nearest notes by reciprocal rank fusion. A note whose title is the question keeps its rank.
    pub(super) fn fused_with(&self, mut hits: Vec<Hit>) -> Vec<Hit> {
        if self.nearest.notes.is_empty() {
            return hits;
        }
        let rest = hits.split_off(hits.iter().take_while(|hit| hit.relevance >= 1.0).count());
        let mut scores: HashMap<NoteIdx, f64> = HashMap::new();
        let by_words = rest.iter().map(|hit| hit.note);
        let by_vectors = self.nearest.notes.iter().map(|(note, _)| *note);
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
    if found.nearest.notes.is_empty() {
        candidates.truncate(by_words);
    }
    let text = |passage: &RerankedPassage| {
        let entry = entries.get(passage.entry)?;
        let fragment = passage.fragment.and_then(|index| entry.passages.get()?.fragments.get(index));
        Some(EmbeddedText { note: store.position(&entry.note.id)?, text: embedded_text(&entry.note, fragment) })
    };
    let Some(texts) = candidates.iter().map(text).collect::<Option<Vec<EmbeddedText>>>() else { return false };
    let Some(vectors) = embedder.vectors(&texts, by_words) else { return false };
    for (passage, vector) in candidates.iter_mut().zip(vectors) {
        passage.cosine = vector.map(|vector| cosine(&found.question, &vector));
    }
    let mut worths: Vec<f64> = candidates.iter().map(|passage| passage.worth).filter(|worth| *worth > 0.0).collect();
    // What only its vector finds is worth no less than what words alone find.
    let least = worths.last().copied().unwrap_or(1.0);
    let order = fused_order(&candidates);
    worths.resize(order.len().max(worths.len()), least);
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

/// Returns the indices of candidates in the order of the fusion of their ranks by words, which they have, and by vectors.
fn fused_order(candidates: &[RerankedPassage]) -> Vec<usize> {
    let mut scores = vec![0.0; candidates.len()];
    let with_words = candidates.iter().take_while(|passage| passage.worth > 0.0).count();
    (0..with_words).for_each(|index| scores[index] += fusion_share(index + 1));
    let mut by_vectors: Vec<(usize, f64)> =
        candidates.iter().enumerate().filter_map(|(index, passage)| Some((index, passage.cosine?))).collect();
    by_vectors.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let (mut all, mut own) = (0, 0);
    for (index, _) in by_vectors.into_iter().take(RERANKED) {
        // No number of near documents pushes out what the project's people wrote.
        let is_own = candidates[index].tier == Tier::Own;
        (all, own) = (all + 1, own + usize::from(is_own));
        scores[index] += fusion_share(if is_own { own } else { all });
    }
    let mut order: Vec<usize> = (0..candidates.len()).filter(|index| scores[*index] > 0.0).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    order
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

/// Returns the texts of all passages of notes and documents, as [`rerank`] embeds them.
pub fn embedded_texts(store: &Store) -> Vec<EmbeddedText> {
    let of_note = |(index, note): (usize, &Arc<NoteHandle>)| {
        let fragments = fragments_of_answers(note);
        let text = |fragment| EmbeddedText { note: NoteIdx::new(index), text: embedded_text(note, fragment) };
        let is_whole = Passages::has_one_part(&fragments);
        let of_fragments = fragments.iter().filter(|_| !is_whole).map(|fragment| text(Some(fragment)));
        is_whole.then(|| text(None)).into_iter().chain(of_fragments).collect::<Vec<_>>()
    };
    store.notes_without_commits().par_iter().enumerate().flat_map_iter(of_note).collect()
}
