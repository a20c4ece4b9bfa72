//! The notes that may be shown, with what decides their order.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::{Assessment, DetailLevel};
use crate::note::NoteId;
use crate::store::Authority;

/// A note that may be shown.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub(crate) id: NoteId,
    pub(crate) assessment: Assessment,
    pub(crate) value: u8,
    /// On whose word it counts.
    pub(crate) authority: Authority,
    /// Its distinctive terms.
    pub(crate) terms: Vec<u32>,
    /// Its level of detail.
    pub(crate) level: DetailLevel,
    /// Whether it was requested by name, so that it is never redundant.
    pub(crate) is_named: bool,
    /// Whether it precedes those that are not named.
    pub(crate) is_first: bool,
    /// Whether only the query selected it.
    pub(crate) is_answer: bool,
    /// Whether it is retired; it then follows the others, unless it is named.
    pub(crate) is_retired: bool,
    /// Candidates that are the same note.
    pub(crate) same: Vec<usize>,
    /// Candidates that contradict it.
    pub(crate) opponents: Vec<usize>,
    /// Whether a note that is no candidate contradicts it.
    pub(crate) has_opponents_beyond: bool,
    /// Candidates that are shown directly after it.
    pub(crate) followers: Vec<usize>,
    /// Whether it is shown at its level of detail only.
    pub(crate) is_fixed: bool,
}

/// Candidates by descending relevance, then those that may only follow others.
#[derive(Debug, Default)]
pub struct Candidates {
    /// The number of entries before the first candidate, which come first, whole.
    pub(crate) before: usize,
    pub(crate) all: Vec<Candidate>,
    /// The number of candidates that may be shown by themselves.
    pub(crate) chosen: usize,
    pub(crate) is_adaptive: bool,
    /// Whether a note is redundant if another contains its terms; otherwise only the same note and a copy are redundant.
    pub(crate) compares_texts: bool,
    /// The novelty up to which a note is redundant.
    pub(crate) threshold: f64,
    /// The criterion of the order: `for decide`, `by relevance`.
    pub(crate) aim: String,
    /// The numbers of notes that were excluded before, with the reasons.
    pub(crate) left_out: Vec<(usize, &'static str)>,
    /// The number of hits that were not assessed.
    pub(crate) beyond: usize,
    /// The most notes to show of those that only the query selected; `None` for no limit.
    pub(crate) max_answers: Option<usize>,
    /// The most notes to show; `None` for no limit.
    pub(crate) max_notes: Option<usize>,
    /// The reason why no candidate is relevant, if none is.
    pub(crate) insufficient: Option<String>,
    /// Whether hits were excluded before by their properties, such as too low a relevance.
    pub(crate) is_filtered: bool,
    /// The summed relevance of the notes that were excluded before.
    pub(crate) relevance_beyond: f64,
    /// If texts are compared: for each term, by its ordinal among the terms of the candidates, the candidates that contain it.
    pub(crate) holders: Vec<Vec<u32>>,
    /// If they are not: the terms by which copies among the candidates are found.
    pub(crate) rare_terms: RareTerms,
}

/// The rarest terms of some sets. Two sets that share at least a share of the terms of both have one of these in common, if each
/// set has all but so many of its terms (Bayardo, Ma and Srikant, *Scaling up all pairs similarity search*, 2007).
#[derive(Debug, Default)]
pub(crate) struct RareTerms {
    /// For each set, those that another set has among its own, too.
    of_set: Vec<Vec<u32>>,
    /// For each of them, the sets.
    holders: HashMap<u32, Vec<u32>, RandomState>,
}

impl RareTerms {
    /// Finds the terms for sets that share at least the share `least`, 0 to 1, of the terms of both.
    fn new(sets: &[&[u32]], least: f64) -> Self {
        let mut counts: HashMap<u32, u32, RandomState> = HashMap::default();
        sets.iter().copied().flatten().for_each(|term| *counts.entry(*term).or_default() += 1);
        let mut rare = Self::default();
        for (index, set) in (0..).zip(sets) {
            let mut by_rarity: Vec<(u32, u32)> = set.iter().map(|term| (counts[term], *term)).collect();
            let rarest = set.len() - (set.len() as f64 * least.clamp(0.0, 1.0)).floor() as usize + 1;
            if rarest < set.len() {
                by_rarity.select_nth_unstable(rarest);
                by_rarity.truncate(rarest);
            }
            let shared = by_rarity.into_iter().filter(|(count, _)| *count > 1);
            let own: Vec<u32> = shared.map(|(_, term)| term).collect();
            own.iter().for_each(|term| rare.holders.entry(*term).or_default().push(index));
            rare.of_set.push(own);
        }
        rare
    }

    /// Calls `visit` with each other set that may share enough of a set, once or several times.
    fn for_each_near(&self, set: usize, visit: impl FnMut(usize)) {
        let terms = self.of_set.get(set).map_or(&[][..], Vec::as_slice);
        let holders = terms.iter().filter_map(|term| self.holders.get(term)).flatten();
        holders.map(|other| *other as usize).filter(|other| *other != set).for_each(visit);
    }
}

impl Candidates {
    /// Finds the terms that candidates share.
    pub(crate) fn with_shared_terms(mut self) -> Self {
        if self.compares_texts {
            return self.with_holders();
        }
        let chosen = self.all.iter().take(self.chosen);
        let terms: Vec<&[u32]> = chosen.map(|candidate| candidate.terms.as_slice()).collect();
        self.rare_terms = RareTerms::new(&terms, 1.0 - self.threshold);
        self
    }

    /// Sets `holders`, and renumbers the terms of the candidates consecutively.
    fn with_holders(mut self) -> Self {
        let mut ordinals: HashMap<u32, u32, RandomState> = HashMap::default();
        for (index, candidate) in self.all.iter_mut().enumerate().take(self.chosen) {
            for term in &mut candidate.terms {
                let next = self.holders.len() as u32;
                *term = *ordinals.entry(*term).or_insert(next);
                if *term == next {
                    self.holders.push(Vec::new());
                }
                self.holders[*term as usize].push(index as u32);
            }
        }
        self
    }

    /// Returns, for each candidate, the share of its terms that the candidate `of` contains.
    pub(crate) fn shares(&self, of: usize) -> Vec<f64> {
        let one = &self.all[of];
        let counts = if self.compares_texts { self.shared_terms(of) } else { self.shared_terms_of_copies(of) };
        let share_of = |index: usize, count: u32| f64::from(count) / self.all[index].terms.len().max(1) as f64;
        // A note with the content of an opponent contradicts the candidate too.
        let has_opponent = |opponent: usize| {
            // Opponents are few, and need not be near copies.
            let count = || {
                if self.compares_texts { counts[opponent] } else { count_shared(&one.terms, &self.all[opponent].terms) }
            };
            opponent == of || (opponent < self.chosen && share_of(opponent, count()) >= 1.0 - self.threshold)
        };
        let is_opponent = |index: usize| self.all[index].opponents.iter().any(|opponent| has_opponent(*opponent));
        let is_copy = |index: usize| {
            let (shared, covered) = (share_of(of, counts[index]), share_of(index, counts[index]));
            shared.min(covered) >= 1.0 - self.threshold && one.authority >= self.all[index].authority
        };
        let share = |index: usize| {
            if one.opponents.contains(&index) || is_opponent(index) {
                0.0
            } else if one.same.contains(&index) {
                1.0
            } else if self.compares_texts || is_copy(index) {
                share_of(index, counts[index])
            } else {
                0.0
            }
        };
        (0..self.chosen).map(share).collect()
    }

    /// Returns, for each candidate, the number of its terms that the candidate `of` contains.
    fn shared_terms(&self, of: usize) -> Vec<u32> {
        let mut counts = vec![0_u32; self.chosen];
        for term in &self.all[of].terms {
            for holder in self.holders.get(*term as usize).into_iter().flatten() {
                counts[*holder as usize] += 1;
            }
        }
        counts
    }

    /// Does the same for those that may be copies of it, and returns 0 for others.
    fn shared_terms_of_copies(&self, of: usize) -> Vec<u32> {
        let terms = |index: usize| self.all[index].terms.as_slice();
        let mut counts = vec![0_u32; self.chosen];
        counts.get_mut(of).into_iter().for_each(|count| *count = terms(of).len() as u32);
        self.rare_terms.for_each_near(of, |other| {
            if counts[other] == 0 {
                counts[other] = count_shared(terms(of), terms(other));
            }
        });
        counts
    }

    /// Tells whether a candidate adds nothing to notes that contain a share of `covered` of its terms.
    pub(crate) fn is_redundant(&self, index: usize, covered: f64) -> bool {
        !self.all[index].is_named && covered > 0.0 && 1.0 - covered <= self.threshold
    }
}

/// Counts the terms that two ascending lists share.
fn count_shared(a: &[u32], b: &[u32]) -> u32 {
    let (mut shared, mut rest) = (0, b);
    for term in a {
        while let Some((_, behind)) = rest.split_first().filter(|(first, _)| *first < term) {
            rest = behind;
        }
        shared += u32::from(rest.first() == Some(term));
    }
    shared
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::random::Random;

    #[test]
    fn every_copy_is_among_those_that_share_a_rare_term() {
        let mut random = Random::new(7);
        let mut below = |bound: usize| random.below(bound) as u32;
        let mut skipped = 0;
        for round in 0..200 {
            let mut sets: Vec<Vec<u32>> = Vec::new();
            for _ in 0..12 {
                // Some are nearly equal to an earlier one.
                let mut set = match below(3) {
                    0 if !sets.is_empty() => sets[below(sets.len()) as usize].clone(),
                    _ => (0..below(20)).map(|_| below(30)).collect(),
                };
                set.extend((0..below(3)).map(|_| below(30)));
                set.sort_unstable();
                set.dedup();
                sets.push(set);
            }
            let least = f64::from(below(11)) / 10.0;
            let rare = RareTerms::new(&sets.iter().map(Vec::as_slice).collect::<Vec<_>>(), least);
            for of in 0..12 {
                let mut near = HashSet::new();
                rare.for_each_near(of, |other| {
                    near.insert(other);
                });
                for index in (0..12).filter(|index| *index != of) {
                    let shared = sets[of].iter().filter(|term| sets[index].contains(term)).count() as u32;
                    let longest = sets[of].len().max(sets[index].len()).max(1);
                    let is_near = shared > 0 && f64::from(shared) / longest as f64 >= least;
                    assert!(!is_near || near.contains(&index), "round {round}, {of} and {index}, {least}");
                    assert_eq!(count_shared(&sets[of], &sets[index]), shared);
                    skipped += usize::from(!near.contains(&index));
                }
            }
        }
        assert!(skipped > 1_000, "{skipped}");
    }
}
