//! One pass over the selected notes: choosing, assessing and ranking them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rayon::prelude::*;

use super::confidence::{Assessor, DERIVED_FROM, SAME_AS, rounded};
use super::links::{LinkFilter, link_entries};
use super::{CandidateLimits, Ordinals, RankedNotes, candidate, fields, ordinals_of, utility};
use crate::context::Selection;
use crate::report::{Assessment, Candidate, Candidates, NoteEntry, RareTerms};
use crate::request::{Abstraction, AssessmentOptions, RelatedKind, Score};
use crate::search::NoteTerms;
use crate::store::NoteIdx;

/// The default of the setting `novelty-threshold`: a note with at most this novelty repeats one that is shown.
const NOVELTY_THRESHOLD: f64 = 0.2;
/// If the best hit has less relevance than this, the answer says that it hardly answers.
const HARDLY_RELEVANT: f64 = 0.1;

/// The reasons why candidates are excluded.
const NOT_VALID: &str = "not valid today";
const UNSURE: &str = "below the least confidence";
const UNTRUSTED: &str = "below the least trust";

/// An assessed note.
pub(super) struct AssessedNote {
    /// The index of the note in the store.
    index: NoteIdx,
    assessment: Assessment,
    content: Arc<NoteTerms>,
    is_named: bool,
}

pub(super) struct SelectionAssessor<'a, 's> {
    pub(super) assessor: &'a Assessor<'a, 's>,
    pub(super) selection: &'a Selection,
    pub(super) options: &'a AssessmentOptions,
    /// The reason of each exclusion.
    pub(super) excluded: Vec<&'static str>,
    /// The number of hits that were not assessed.
    pub(super) beyond: usize,
    pub(super) assessed: Vec<AssessedNote>,
}

impl SelectionAssessor<'_, '_> {
    /// Assesses the notes that may be shown by themselves. An excluded hit does not count towards `max_hits`.
    pub(super) fn choose(&mut self, max_hits: usize) {
        let mut open: Vec<NoteIdx> = self.selection.notes.clone();
        let mut hits = 0;
        loop {
            let (next, rest) = self.split_after_hits(&open, max_hits - hits);
            if next.is_empty() {
                self.beyond = rest.len();
                break;
            }
            let assessed: Vec<AssessedNote> = next.par_iter().map(|index| self.assess(*index)).collect();
            for assessed in assessed {
                match self.exclusion(&assessed) {
                    Some(reason) => self.excluded.push(reason),
                    None => {
                        hits += usize::from(self.is_hit(assessed.index));
                        self.assessed.push(assessed);
                    }
                }
            }
            open = rest;
        }
        let notes = self.selection.notes.iter().enumerate();
        let order: HashMap<NoteIdx, usize> = notes.map(|(ordinal, index)| (*index, ordinal)).collect();
        self.assessed.sort_by_key(|assessed| order.get(&assessed.index).copied());
    }

    fn is_hit(&self, index: NoteIdx) -> bool {
        self.selection.relevance.contains_key(&index)
    }

    /// Splits notes into those with at most `max_hits` hits, and the hits after them.
    fn split_after_hits(&self, notes: &[NoteIdx], max_hits: usize) -> (Vec<NoteIdx>, Vec<NoteIdx>) {
        let mut hits = 0;
        notes.iter().partition(|index| {
            hits += usize::from(self.is_hit(**index));
            hits <= max_hits || !self.is_hit(**index)
        })
    }

    fn assess(&self, index: NoteIdx) -> AssessedNote {
        let is_named = self.selection.named.contains(&index);
        let relevance = self.selection.relevance.get(&index).copied().unwrap_or(1.0);
        let content = self.assessor.session.note_terms(index);
        AssessedNote { index, assessment: self.assessment(index, relevance, &content), content, is_named }
    }

    fn assessment(&self, index: NoteIdx, relevance: f64, content: &NoteTerms) -> Assessment {
        let assessment = self.assessor.assessment(index, relevance);
        let utility = self.options.purpose.map(|purpose| {
            let recency = self.assessor.recency(index);
            let parts = [relevance, assessment.confidence.overall, assessment.trust, recency, content.density];
            utility::utility(purpose, parts.map(rounded))
        });
        Assessment { utility, ..assessment }
    }

    /// Returns the reason why a note is excluded; `None` if it is valid and reliable enough, or named.
    fn exclusion(&self, assessed: &AssessedNote) -> Option<&'static str> {
        let AssessmentOptions { min_confidence, min_trust, today, .. } = *self.options;
        let [min_confidence, min_trust] = [min_confidence, min_trust].map(|least| least.map_or(0.0, Score::get));
        let note = &self.assessor.session.store.notes()[assessed.index];
        if assessed.is_named {
            None
        } else if self.is_hit(assessed.index) && today.is_some_and(|today| !fields::is_valid(note, today)) {
            Some(NOT_VALID)
        } else if assessed.assessment.confidence.overall < min_confidence {
            Some(UNSURE)
        } else {
            (assessed.assessment.trust < min_trust).then_some(UNTRUSTED)
        }
    }

    /// Adds the notes that are shown after others and are not chosen themselves.
    pub(super) fn add_followers(&mut self) {
        let mut known: BTreeSet<NoteIdx> = self.assessed.iter().map(|assessed| assessed.index).collect();
        let followers = self.assessed.iter().flat_map(|assessed| self.followers(assessed.index));
        let followers: BTreeSet<NoteIdx> = followers.filter(|index| known.insert(*index)).collect();
        let follower = |index: &NoteIdx| {
            let content = Arc::<NoteTerms>::default();
            let relevance = self.selection.relevance.get(index).copied().unwrap_or_default();
            let assessment = self.assessment(*index, relevance, &content);
            AssessedNote { index: *index, assessment, content, is_named: true }
        };
        let added: Vec<AssessedNote> = followers.iter().map(follower).collect();
        self.assessed.extend(added);
    }

    /// Returns the origins, supporters and opponents of a note that no other replaces and that are no hidden drafts, as far as the
    /// request wants them.
    fn followers(&self, index: NoteIdx) -> Vec<NoteIdx> {
        let (assessor, options) = (self.assessor, self.options);
        let wants = |kind| options.include.contains(&kind);
        let origins = wants(RelatedKind::Derivation).then(|| assessor.linked(index, DERIVED_FROM));
        let supporters = wants(RelatedKind::Evidence).then(|| assessor.supporters(index));
        let opponents = wants(RelatedKind::Contradictions).then(|| assessor.opponents(index));
        let is_hidden = |other: &NoteIdx| {
            self.selection.replacements.successions.is_superseded(*other)
                || assessor.session.store.is_hidden_draft(*other)
        };
        origins.into_iter().chain(supporters).chain(opponents).flatten().filter(|other| !is_hidden(other)).collect()
    }

    /// Ranks the assessed notes. The first `chosen` may be shown by themselves.
    pub(super) fn into_ranked_notes(
        self,
        entries_before: usize,
        chosen: usize,
        limits: CandidateLimits,
        entry: impl Fn(NoteIdx) -> NoteEntry,
    ) -> RankedNotes {
        let ordinals: Ordinals =
            self.assessed.iter().enumerate().map(|(ordinal, assessed)| (assessed.index, ordinal)).collect();
        let filter = LinkFilter::new(&self.options.include);
        let entry_of = |other: NoteIdx| ordinals.get(&other).map(|ordinal| entries_before + ordinal);
        let entry = |assessed: &AssessedNote| NoteEntry {
            assessment: Some(Box::new(assessed.assessment.clone())),
            edges: link_entries(self.assessor.session, assessed.index, filter, entry_of),
            ..entry(assessed.index)
        };
        let entries: Vec<NoteEntry> = self.assessed.iter().map(entry).collect();
        let candidates = self.candidates(entries_before, chosen, limits, &ordinals);
        let following = entries.len() - chosen;
        RankedNotes { entries, candidates: candidates.with_shared_terms(), following }
    }

    fn candidates(&self, before: usize, chosen: usize, limits: CandidateLimits, ordinals: &Ordinals) -> Candidates {
        let options = self.options;
        let count = |reason: &'static str| (self.excluded.iter().filter(|other| **other == reason).count(), reason);
        let beyond_selection = self.selection.matched.saturating_sub(self.selection.notes.len());
        Candidates {
            before,
            chosen,
            is_adaptive: options.abstraction == Abstraction::Adaptive,
            // A passage of a note may have content that another note has only in other passages.
            compares_texts: options.abstraction != Abstraction::Passages || options.novelty_threshold.is_some(),
            threshold: options.novelty_threshold.map_or(NOVELTY_THRESHOLD, Score::get),
            aim: options.purpose.map_or("by relevance".to_owned(), |purpose| format!("for {}", purpose.name())),
            left_out: [NOT_VALID, UNSURE, UNTRUSTED].map(count).to_vec(),
            beyond: self.beyond + beyond_selection,
            max_answers: limits.answers,
            max_notes: limits.notes,
            // A comparison or pattern before the notes is an answer too.
            insufficient: if before > 0 { None } else { self.insufficient(chosen) },
            is_filtered: self.selection.has_filtered,
            relevance_beyond: self.relevance_beyond(ordinals),
            holders: Vec::new(),
            rare_terms: RareTerms::default(),
            all: self.assessed.iter().map(|assessed| self.candidate(assessed, ordinals)).collect(),
        }
    }

    fn candidate(&self, assessed: &AssessedNote, ordinals: &Ordinals) -> Candidate {
        let (index, store) = (assessed.index, self.assessor.session.store);
        let may_replace = |other: &NoteIdx| store.notes()[index].may_replace(&store.notes()[*other]);
        let same = self.assessor.linked(index, SAME_AS).into_iter().filter(may_replace);
        let assessment = assessed.assessment.clone();
        let value = store.notes()[index].value_or_default();
        let level = utility::level_by_importance(self.options.abstraction, assessment.relevance, value);
        Candidate {
            is_named: assessed.is_named,
            is_first: self.selection.full_sentences.contains(&index),
            is_answer: self.selection.answers.contains(index),
            is_retired: store.is_retired(index) || self.selection.replacements.successions.is_superseded(index),
            same: ordinals_of(same, ordinals),
            followers: ordinals_of(self.followers(index), ordinals),
            terms: assessed.content.terms.clone(),
            ..candidate(self.assessor, index, level, assessment, ordinals)
        }
    }

    /// Returns the summed relevance of the hits that were not assessed or were excluded.
    fn relevance_beyond(&self, ordinals: &Ordinals) -> f64 {
        let hits = self.selection.relevance.iter();
        let mut beyond: Vec<(&NoteIdx, &f64)> = hits.filter(|(index, _)| !ordinals.contains_key(index)).collect();
        // A fixed order of summation, so that the sum is the same in every run.
        beyond.sort_by_key(|(index, _)| **index);
        beyond.into_iter().fold(0.0, |sum, (_, relevance)| sum + relevance)
    }

    /// Returns the reason why there is no relevant note; `None` if there is one.
    fn insufficient(&self, chosen: usize) -> Option<String> {
        let best = self.assessed.iter().take(chosen).map(|assessed| assessed.assessment.relevance).reduce(f64::max);
        match best {
            None if self.selection.notes.is_empty() => {
                Some(self.selection.insufficient.clone().unwrap_or_else(|| "no note answers this".to_owned()))
            }
            None => Some("no note that answers this is both valid and reliable enough".to_owned()),
            Some(best) if best < HARDLY_RELEVANT => {
                Some(format!("the best match hardly answers this (relevance {best:.2})"))
            }
            Some(_) => None,
        }
    }
}
