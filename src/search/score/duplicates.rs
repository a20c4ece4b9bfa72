//! Notes that say almost the same.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use rayon::prelude::*;

use crate::search::read::composite_index::CompositeIndex;

/// How many neighbouring words are compared as one.
const SHINGLE: usize = 3;
/// Texts of fewer shingles are too short to tell.
const MIN_SHINGLES: usize = 8;
/// From which part of shared shingles (Jaccard) two texts say almost the same.
const ALIKE: f64 = 0.8;
/// How many of a text's shingles, the smallest by hash, stand for it when partners are looked for.
const SKETCH: usize = 32;
/// The most texts that are compared because they share one shingle.
const MAX_SHARING: usize = 40;

/// Two notes, the first by place first, and which part of their text they share, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alike {
    /// The first note's place.
    pub first: usize,
    /// The second note's place.
    pub second: usize,
    /// The part of their neighbouring words that they share.
    pub share: f64,
}

/// Finds notes whose bodies share most of their runs of three words: each with the first one that
/// it is like.
///
/// Partners are found through the smallest hashes of each text (bottom-k sketches, Broder 1997) and
/// then compared exactly.
pub(crate) fn near_duplicates(index: &CompositeIndex) -> Vec<Alike> {
    // By their texts: numbers of terms depend on which notes were read together.
    let mut hashes = vec![0; index.terms()];
    index.for_each_term(|id, term| hashes[id as usize] = hash(&term.text));
    let texts: Vec<Vec<u64>> = (0..index.len()).into_par_iter().map(|note| shingles(index, note, &hashes)).collect();
    let mut sharing: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut found = Vec::new();
    for (second, text) in texts.iter().enumerate().filter(|(_, text)| text.len() >= MIN_SHINGLES) {
        let mut candidates = Vec::new();
        for shingle in text.iter().take(SKETCH) {
            let holders = sharing.entry(*shingle).or_default();
            candidates.extend_from_slice(holders);
            if holders.len() < MAX_SHARING {
                holders.push(second);
            }
        }
        candidates.sort_unstable();
        // Texts that share four fifths share about as many of the smallest; half is far enough away.
        let enough = text.len().min(SKETCH) / 2;
        let likely =
            candidates.chunk_by(|a, b| a == b).filter(|same| same.len() >= enough).filter_map(|same| same.first());
        let alike = likely.map(|first| Alike { first: *first, second, share: share(&texts[*first], text) });
        found.extend(alike.into_iter().find(|alike| alike.share >= ALIKE));
    }
    found
}

fn hash(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// Returns the hashes of a body's runs of terms, each once, in their order.
fn shingles(index: &CompositeIndex, note: usize, hashes: &[u64]) -> Vec<u64> {
    let text = index.text(note);
    let end = text.paragraphs.last().copied().unwrap_or_default();
    let terms = text.body.get(..end as usize).unwrap_or_default();
    let terms: Vec<u64> = terms.iter().map(|term| hashes.get(*term as usize).copied().unwrap_or_default()).collect();
    let mut shingles: Vec<u64> = terms.windows(SHINGLE).map(|run| hash(&run)).collect();
    shingles.sort_unstable();
    shingles.dedup();
    shingles
}

/// The part of all shingles of two texts that both have.
fn share(a: &[u64], b: &[u64]) -> f64 {
    let both = a.iter().filter(|shingle| b.binary_search(shingle).is_ok()).count();
    both as f64 / (a.len() + b.len() - both).max(1) as f64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::note::{Language, Note};

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
        let note =
            |(n, body): (usize, &String)| Arc::new(Note::parse(&format!("notes/n{n}.md"), body.clone().into_bytes()));
        let notes: Vec<_> = bodies.iter().enumerate().map(note).collect();
        let found: Vec<_> = near_duplicates(&CompositeIndex::new(&notes, Language::English, None))
            .iter()
            .map(|alike| (alike.first, alike.second))
            .collect();
        assert_eq!(found, [(0, 2)]);
    }

    #[test]
    fn a_thousand_copies_are_told_in_little_time() {
        let text: String = (0..500).map(|n| format!("word{n} ")).collect();
        let note = |n: usize| Arc::new(Note::parse(&format!("notes/n{n}.md"), text.clone().into_bytes()));
        let notes: Vec<_> = (0..1000).map(note).collect();
        let found = near_duplicates(&CompositeIndex::new(&notes, Language::English, None));
        assert_eq!(found.len(), 999);
        assert!(found.iter().all(|alike| alike.first == 0 && alike.share == 1.0));
    }
}
