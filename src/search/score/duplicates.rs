//! Near-duplicates: notes whose bodies share most of their runs of words.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use rayon::prelude::*;

use crate::search::ids::TermId;
use crate::search::read::composite_index::CompositeIndex;
use crate::search::read::forward::DocText;
use crate::store::NoteIdx;

/// The number of adjacent terms that are compared as one.
const SHINGLE: usize = 3;
/// The least number of distinct shingles of a text that is compared: shorter ones are equal by chance.
const MIN_SHINGLES: usize = 8;
/// The least Jaccard similarity of near-duplicates.
const MIN_SIMILARITY: f64 = 0.8;
/// The number of smallest hashes by which candidates are found.
const SKETCH: usize = 32;
/// The most texts that are compared because of one shingle.
const MAX_CANDIDATES: usize = 40;

/// Two near-duplicates and their similarity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearDuplicate {
    /// The position of the first note.
    pub first: NoteIdx,
    /// The position of the second note.
    pub second: NoteIdx,
    /// The Jaccard similarity of their shingles, 0 to 1.
    pub share: f64,
}

/// Returns the notes that are near-duplicates of earlier ones, each with the first of these, in order.
///
/// Candidates share at least half of the smallest hashes (bottom-k sketches: Broder, *On the resemblance and containment
/// of documents*, 1997) and are then compared exactly.
pub(crate) fn near_duplicates(index: &CompositeIndex) -> Vec<NearDuplicate> {
    // Hashes of texts, since term ids depend on which notes were indexed together.
    let mut hashes = vec![0; index.term_count()];
    index.terms().for_each(|(id, term)| hashes[id.index()] = hash(&term.text));
    let texts: Vec<Vec<u64>> = (0..index.note_count())
        .into_par_iter()
        .map(|note| shingles(&index.text(NoteIdx::new(note)), &hashes))
        .collect();
    let mut notes_with: HashMap<u64, Vec<NoteIdx>> = HashMap::new();
    let mut duplicates = Vec::new();
    for (second, text) in NoteIdx::all(texts.len()).zip(&texts).filter(|(_, text)| text.len() >= MIN_SHINGLES) {
        let mut candidates = Vec::new();
        for shingle in text.iter().take(SKETCH) {
            let notes = notes_with.entry(*shingle).or_default();
            candidates.extend_from_slice(notes);
            if notes.len() < MAX_CANDIDATES {
                notes.push(second);
            }
        }
        candidates.sort_unstable();
        // Near-duplicates share about `MIN_SIMILARITY` of the smallest hashes; half leaves a margin.
        let min_shared = text.len().min(SKETCH) / 2;
        let runs = candidates.chunk_by(|a, b| a == b).filter(|same| same.len() >= min_shared);
        let pairs = runs.filter_map(|same| same.first()).map(|first| NearDuplicate {
            first: *first,
            second,
            share: jaccard(&texts[first.index()], text),
        });
        duplicates.extend(pairs.into_iter().find(|pair| pair.share >= MIN_SIMILARITY));
    }
    duplicates
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the distinct hashes of a body's shingles, in ascending order.
fn shingles(text: &DocText<TermId>, hashes: &[u64]) -> Vec<u64> {
    let terms = text.body.get(..text.paragraphs.total() as usize).unwrap_or_default();
    let terms: Vec<u64> = terms.iter().map(|term| hashes.get(term.index()).copied().unwrap_or_default()).collect();
    let mut shingles: Vec<u64> = terms.windows(SHINGLE).map(|run| hash(&run)).collect();
    shingles.sort_unstable();
    shingles.dedup();
    shingles
}

/// Returns the Jaccard similarity of two sorted sets, 0 to 1.
fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let both = a.iter().filter(|shingle| b.binary_search(shingle).is_ok()).count();
    both as f64 / (a.len() + b.len() - both).max(1) as f64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::note::Language;
    use crate::store::NoteHandle;

    #[test]
    fn finds_texts_that_differ_in_little() {
        let text: String = (0..100).map(|n| format!("word{n} ")).collect();
        let bodies = [
            text.clone(),
            "Something else altogether, of a dozen words or so, and then some more of them.".to_owned(),
            text.replace("word50", "changed"),
            text.replace("word3", "other"),
            "too short".to_owned(),
            "too short".to_owned(),
        ];
        let note = |(n, body): (usize, &String)| {
            Arc::new(NoteHandle::parse(&format!("notes/n{n}.md"), body.clone().into_bytes()))
        };
        let notes: Vec<_> = bodies.iter().enumerate().map(note).collect();
        let found: Vec<_> = near_duplicates(&CompositeIndex::new(&notes, Language::English, None))
            .iter()
            .map(|pair| (pair.first, pair.second))
            .collect();
        assert_eq!(found, [(NoteIdx(0), NoteIdx(2))]);
    }

    #[test]
    fn a_thousand_copies_are_compared_in_little_time() {
        let text: String = (0..500).map(|n| format!("word{n} ")).collect();
        let note = |n: usize| Arc::new(NoteHandle::parse(&format!("notes/n{n}.md"), text.clone().into_bytes()));
        let notes: Vec<_> = (0..1000).map(note).collect();
        let found = near_duplicates(&CompositeIndex::new(&notes, Language::English, None));
        assert_eq!(found.len(), 999);
        assert!(found.iter().all(|pair| pair.first == NoteIdx(0) && pair.share == 1.0));
    }
}
