//! Near-duplicates: notes whose bodies share most of their runs of words.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

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

/// The smallest hashes of a text that may be in another one too.
#[derive(Default)]
struct Sketch {
    /// The number of smallest hashes, at most [`SKETCH`]; 0 for a text that is too short to be compared.
    len: usize,
    /// Those of them that may be in another text too, ascending.
    repeated: Box<[u64]>,
}

/// Hashes that were added at least twice, and few others: one bit for each residue of a hash (Bloom, *Space/time trade-offs
/// in hash coding with allowable errors*, 1970, with one hash function).
struct RepeatedHashes {
    once: Vec<AtomicU64>,
    twice: Vec<AtomicU64>,
}

impl RepeatedHashes {
    /// Returns an empty set for up to `count` hashes. It takes 2 to 4 bytes for each.
    fn with_room_for(count: usize) -> Self {
        let words = || (0..(count / 8).next_power_of_two()).map(|_| AtomicU64::new(0)).collect();
        Self { once: words(), twice: words() }
    }

    fn add(&self, hash: u64) {
        let (word, bit) = self.position(hash);
        if self.once[word].fetch_or(bit, Relaxed) & bit != 0 {
            self.twice[word].fetch_or(bit, Relaxed);
        }
    }

    /// Whether a hash was added twice. A `false` is certain.
    fn may_contain(&self, hash: u64) -> bool {
        let (word, bit) = self.position(hash);
        self.twice[word].load(Relaxed) & bit != 0
    }

    fn position(&self, hash: u64) -> (usize, u64) {
        // The number of words is a power of two. The smallest hashes differ in their lower bits.
        ((hash >> 6) as usize & (self.once.len() - 1), 1 << (hash & 63))
    }
}

/// Returns the notes that are near-duplicates of earlier ones, each with the first of these, in order.
///
/// Candidates share at least half of the smallest hashes (bottom-k sketches: Broder, *On the resemblance and containment
/// of documents*, 1997) and are then compared exactly. The texts are hashed twice, first to learn which hashes occur in
/// several: few do, and only these are kept.
pub(crate) fn near_duplicates(index: &CompositeIndex) -> Vec<NearDuplicate> {
    // Hashes of texts, since term ids depend on which notes were indexed together.
    let mut hashes = vec![0; index.term_count()];
    index.terms().for_each(|(id, term)| hashes[id.index()] = hash(&term.text));
    let shingles_of = |note: NoteIdx| shingles(&index.text(note), &hashes);
    let smallest = |note| {
        let mut shingles = shingles_of(note);
        let is_long = shingles.len() >= MIN_SHINGLES;
        shingles.truncate(if is_long { SKETCH } else { 0 });
        shingles
    };
    let notes = || (0..index.note_count()).into_par_iter().map(NoteIdx::new);
    let in_several = RepeatedHashes::with_room_for(index.note_count() * SKETCH);
    notes().for_each(|note| smallest(note).into_iter().for_each(|hash| in_several.add(hash)));
    let sketch = |note| {
        let smallest = smallest(note);
        let len = smallest.len();
        Sketch { len, repeated: smallest.into_iter().filter(|hash| in_several.may_contain(*hash)).collect() }
    };
    let sketches: Vec<Sketch> = notes().map(sketch).collect();
    let mut notes_with: HashMap<u64, Vec<NoteIdx>> = HashMap::new();
    let mut duplicates = Vec::new();
    for (second, sketch) in NoteIdx::all(sketches.len()).zip(&sketches) {
        let mut candidates = Vec::new();
        for shingle in &sketch.repeated {
            let notes = notes_with.entry(*shingle).or_default();
            candidates.extend_from_slice(notes);
            if notes.len() < MAX_CANDIDATES {
                notes.push(second);
            }
        }
        candidates.sort_unstable();
        // Near-duplicates share about `MIN_SIMILARITY` of the smallest hashes; half leaves a margin.
        let mut runs = candidates.chunk_by(|a, b| a == b).filter(|same| same.len() >= sketch.len / 2).peekable();
        let text = if runs.peek().is_some() { shingles_of(second) } else { Vec::new() };
        let firsts = runs.filter_map(|same| same.first().copied());
        let pairs = firsts.map(|first| NearDuplicate { first, second, share: jaccard(&shingles_of(first), &text) });
        duplicates.extend(pairs.into_iter().find(|pair| pair.share >= MIN_SIMILARITY));
    }
    duplicates
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
    fn the_duplicates_of_short_texts_are_those_of_a_comparison_of_all() {
        let mut random = Random::new(5);
        let mut found = [0; 2];
        for _ in 0..60 {
            // The sketch of such a text has all of its shingles.
            let length = random.between(5, SKETCH - 1);
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
            let text = |note| shingles(&index.text(note), &hashes);
            let is_alike = |first: &NoteIdx, second| {
                let (first, second) = (text(*first), text(second));
                first.len().min(second.len()) >= MIN_SHINGLES && jaccard(&first, &second) >= MIN_SIMILARITY
            };
            let first = |second: NoteIdx| NoteIdx::all(second.index()).find(|first| is_alike(first, second));
            let expected: Vec<_> =
                NoteIdx::all(notes.len()).filter_map(|second| Some((first(second)?, second))).collect();
            let pairs = near_duplicates(&index).into_iter().map(|pair| (pair.first, pair.second));
            assert_eq!(pairs.collect::<Vec<_>>(), expected, "{bodies:#?}");
            found[usize::from(!expected.is_empty())] += 1;
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
