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
    /// For each term, by its ordinal among the terms of the candidates, the candidates that contain it.
    pub(crate) holders: Vec<Vec<u32>>,
}

impl Candidates {
    /// Sets `holders`, and renumbers the terms of the candidates consecutively.
    pub(crate) fn with_holders(mut self) -> Self {
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
        let mut counts = vec![0_u32; self.chosen];
        for term in &self.all[of].terms {
            for holder in self.holders.get(*term as usize).into_iter().flatten() {
                counts[*holder as usize] += 1;
            }
        }
        let one = &self.all[of];
        let covered_share = |index: usize| f64::from(counts[index]) / self.all[index].terms.len().max(1) as f64;
        // A note with the content of an opponent contradicts the candidate too.
        let is_opponent = |index: usize| {
            let opponents = &self.all[index].opponents;
            opponents.iter().any(|opponent| {
                *opponent == of || (*opponent < self.chosen && covered_share(*opponent) >= 1.0 - self.threshold)
            })
        };
        let is_copy = |index: usize| {
            let shared = f64::from(counts[index]) / one.terms.len().max(1) as f64;
            shared.min(covered_share(index)) >= 1.0 - self.threshold && one.authority >= self.all[index].authority
        };
        let share = |index: usize| {
            if one.opponents.contains(&index) || is_opponent(index) {
                0.0
            } else if one.same.contains(&index) {
                1.0
            } else if self.compares_texts || is_copy(index) {
                covered_share(index)
            } else {
                0.0
            }
        };
        (0..self.chosen).map(share).collect()
    }

    /// Tells whether a candidate adds nothing to notes that contain a share of `covered` of its terms.
    pub(crate) fn is_redundant(&self, index: usize, covered: f64) -> bool {
        !self.all[index].is_named && covered > 0.0 && 1.0 - covered <= self.threshold
    }
}
