//! Near-duplicates: notes whose bodies share most of their runs of words.

use std::collections::{HashMap, HashSet};
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

/// Returns the note whose text is most similar to that of `note`, of equal ones the first; `None` if none is a
/// near-duplicate.
///
/// A near-duplicate has at least [`MIN_SIMILARITY`] of the shingles of the note. If some terms are part of more than the
/// rest of the shingles, it contains one of these terms. So only notes with one of the rarest such terms are compared
/// (prefix filtering: Bayardo, Ma and Srikant, *Scaling up all pairs similarity search*, 2007).
pub(crate) fn near_duplicate_of(index: &CompositeIndex, note: NoteIdx) -> Option<NearDuplicate> {
    // The notes are compared in one index, so that the ids of terms serve as their hashes.
    let hashes: Vec<u64> = (0..index.term_count() as u64).collect();
    let text = index.text(note);
    let own = shingles(&text, &hashes);
    if own.len() < MIN_SHINGLES {
        return None;
    }
    let compared = |other: NoteIdx| NearDuplicate {
        first: other,
        second: note,
        share: jaccard(&shingles(&index.text(other), &hashes), &own),
    };
    let candidates: Vec<NoteIdx> = match indicative_terms(index, &text, own.len()) {
        Some(terms) => index.notes_with_any(&terms),
        None => NoteIdx::all(index.note_count()).collect(),
    };
    let pairs: Vec<NearDuplicate> = candidates.into_par_iter().filter(|other| *other != note).map(compared).collect();
    pairs.into_iter().filter(|pair| pair.share >= MIN_SIMILARITY).reduce(|a, b| if b.share > a.share { b } else { a })
}

/// Returns terms of a text such that each near-duplicate contains at least one, the rarest possible; `None` if its content
/// terms are part of too few of its `count` shingles. O(terms).
fn indicative_terms(index: &CompositeIndex, text: &DocText<TermId>, count: usize) -> Option<Vec<TermId>> {
    let terms = body_terms(text);
    let mut content: Vec<TermId> = terms.iter().copied().filter(|term| !index.is_stop(*term)).collect();
    content.sort_unstable_by_key(|term| (index.doc_freq(*term), *term));
    content.dedup();
    let mut occurrences: HashMap<TermId, Vec<usize>> = HashMap::new();
    for (position, term) in terms.iter().enumerate() {
        occurrences.entry(*term).or_default().push(position);
    }
    let mut covered: HashSet<&[TermId]> = HashSet::new();
    // Rounded so that a near-duplicate can't lack as many.
    let needed = count - (count as f64 * MIN_SIMILARITY).floor() as usize + 1;
    let mut chosen = Vec::new();
    for term in content {
        let starts = occurrences.get(&term).into_iter().flatten();
        let starts = starts.flat_map(|position| (position + 1).saturating_sub(SHINGLE)..=*position);
        covered.extend(starts.filter_map(|start| terms.get(start..start + SHINGLE)));
        chosen.push(term);
        if covered.len() >= needed {
            return Some(chosen);
        }
    }
    None
}

fn body_terms(text: &DocText<TermId>) -> &[TermId] {
    text.body.get(..text.paragraphs.total() as usize).unwrap_or_default()
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the distinct hashes of a body's shingles, in ascending order.
fn shingles(text: &DocText<TermId>, hashes: &[u64]) -> Vec<u64> {
    let terms: Vec<u64> =
        body_terms(text).iter().map(|term| hashes.get(term.index()).copied().unwrap_or_default()).collect();
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
    use crate::random::Random;
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
        let found: Vec<_> = near_duplicates(&CompositeIndex::new(&notes, Language::English, &[], None))
            .iter()
            .map(|pair| (pair.first, pair.second))
            .collect();
        assert_eq!(found, [(NoteIdx(0), NoteIdx(2))]);
    }

    #[test]
    fn the_nearest_duplicate_is_that_of_a_comparison_with_every_note() {
        let mut random = Random::new(5);
        let mut found = [0; 2];
        for _ in 0..60 {
            let length = random.between(5, 60);
            // Few different words, so that shingles and terms repeat; some are stop words.
            let word = |random: &mut Random| {
                if random.chance(30) {
                    random.choice(&["the", "of", "and", "is"]).to_owned()
                } else {
                    format!("word{}", random.below(40))
                }
            };
            let text: Vec<String> = (0..length).map(|_| word(&mut random)).collect();
            let variant = |random: &mut Random| {
                let mut text = text.clone();
                for _ in 0..random.between(1, length.div_ceil(8)) {
                    let at = random.below(text.len());
                    text[at] = word(random);
                }
                text.join(" ")
            };
            let bodies: Vec<String> = (0..4).map(|_| variant(&mut random)).chain([text.join(" ")]).collect();
            let note = |(n, body): (usize, &String)| {
                Arc::new(NoteHandle::parse(&format!("notes/n{n:02}.md"), body.clone().into_bytes()))
            };
            let notes: Vec<_> = bodies.iter().enumerate().map(note).collect();
            let index = CompositeIndex::new(&notes, Language::English, &[], None);
            let hashes: Vec<u64> = (0..index.term_count() as u64).collect();
            let last = NoteIdx::new(notes.len() - 1);
            let own = shingles(&index.text(last), &hashes);
            let shares = NoteIdx::all(last.index()).map(|note| jaccard(&shingles(&index.text(note), &hashes), &own));
            let best = shares.fold(0.0, f64::max);
            let expected = (own.len() >= MIN_SHINGLES && best >= MIN_SIMILARITY).then_some(best);
            assert_eq!(near_duplicate_of(&index, last).map(|pair| pair.share), expected, "{bodies:#?}");
            found[usize::from(expected.is_some())] += 1;
        }
        assert!(found.iter().all(|count| *count > 5), "{found:?}");
    }

    #[test]
    fn a_thousand_copies_are_compared_in_little_time() {
        let text: String = (0..500).map(|n| format!("word{n} ")).collect();
        let note = |n: usize| Arc::new(NoteHandle::parse(&format!("notes/n{n}.md"), text.clone().into_bytes()));
        let notes: Vec<_> = (0..1000).map(note).collect();
        let found = near_duplicates(&CompositeIndex::new(&notes, Language::English, &[], None));
        assert_eq!(found.len(), 999);
        assert!(found.iter().all(|pair| pair.first == NoteIdx(0) && pair.share == 1.0));
    }
}
