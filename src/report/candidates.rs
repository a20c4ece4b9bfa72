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
    /// If they are not: for each candidate those that may be copies of it, with the number of terms that both have.
    pub(crate) copies: Vec<Vec<(u32, u32)>>,
}

impl Candidates {
    /// Finds the terms that candidates share.
    pub(crate) fn with_shared_terms(mut self) -> Self {
        if self.compares_texts {
            return self.with_holders();
        }
        let terms: Vec<&[u32]> = self.all.iter().take(self.chosen).map(|candidate| candidate.terms.as_slice()).collect();
        self.copies = near_copies(&terms, 1.0 - self.threshold);
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
            candidate.terms.sort_unstable();
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
            let count = || count_shared(&one.terms, &self.all[opponent].terms);
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
        let mut counts = vec![0_u32; self.chosen];
        self.copies.get(of).into_iter().flatten().for_each(|(other, count)| counts[*other as usize] = *count);
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

/// Returns, for each of some sets of terms, the sets that may share at least the share `least` of the terms of both with it, itself
/// among them, and the number of terms that both have. Two sets share, if each lacks at most `n` of its terms in the other,
/// one of the `n + 1` rarest terms of both (Bayardo, Ma and Srikant, *Scaling up all pairs similarity search*, 2007).
fn near_copies(sets: &[&[u32]], least: f64) -> Vec<Vec<(u32, u32)>> {
    let mut counts: HashMap<u32, u32, RandomState> = HashMap::default();
    sets.iter().copied().flatten().for_each(|term| *counts.entry(*term).or_default() += 1);
    let mut copies: Vec<Vec<(u32, u32)>> = vec![Vec::new(); sets.len()];
    let mut holders: HashMap<u32, Vec<usize>, RandomState> = HashMap::default();
    for (index, set) in sets.iter().enumerate() {
        let mut by_rarity: Vec<(u32, u32)> = set.iter().map(|term| (counts[term], *term)).collect();
        let rarest = set.len() - (set.len() as f64 * least.clamp(0.0, 1.0)).floor() as usize + 1;
        if rarest < set.len() {
            by_rarity.select_nth_unstable(rarest);
            by_rarity.truncate(rarest);
        }
        copies[index].push((index as u32, set.len() as u32));
        // A term that no other set has leads to none.
        for (_, term) in by_rarity.into_iter().filter(|(count, _)| *count > 1) {
            let sharing = holders.entry(term).or_default();
            for other in sharing.iter().copied() {
                if copies[index].iter().all(|(known, _)| *known != other as u32) {
                    let shared = count_shared(set, sets[other]);
                    copies[index].push((other as u32, shared));
                    copies[other].push((index as u32, shared));
                }
            }
            sharing.push(index);
        }
    }
    copies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_copy_is_among_those_that_share_a_rare_term() {
        let mut state = 7_u32;
        let mut below = |bound: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % bound
        };
        for round in 0..200 {
            let mut sets: Vec<Vec<u32>> = Vec::new();
            for _ in 0..12 {
                // Some are nearly equal to an earlier one.
                let mut set = match below(3) {
                    0 if !sets.is_empty() => sets[below(sets.len() as u32) as usize].clone(),
                    _ => (0..below(20)).map(|_| below(30)).collect(),
                };
                set.extend((0..below(3)).map(|_| below(30)));
                set.sort_unstable();
                set.dedup();
                sets.push(set);
            }
            let least = f64::from(below(11)) / 10.0;
            let copies = near_copies(&sets.iter().map(Vec::as_slice).collect::<Vec<_>>(), least);
            for of in 0..12 {
                for index in 0..12 {
                    let found = copies[of].iter().find(|(other, _)| *other == index as u32);
                    let found = found.map_or(0, |(_, shared)| *shared);
                    let shared = sets[of].iter().filter(|term| sets[index].contains(term)).count() as u32;
                    let longest = sets[of].len().max(sets[index].len()).max(1);
                    if f64::from(shared) / longest as f64 >= least {
                        assert_eq!(found, shared, "round {round}, {of} and {index}, {least}");
                    } else {
                        assert!([0, shared].contains(&found));
                    }
                }
            }
        }
    }
}
