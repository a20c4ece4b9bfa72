//! Expansion of notes that were shown before: their bodies, and the notes that support, contradict or precede them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::confidence::{Assessor, SUPPORTED_BY};
use super::links::{LinkFilter, link_entries};
use super::{Ordinals, RankedNotes, candidate};
use crate::context::Session;
use crate::error::Error;
use crate::report::{Candidate, Candidates, DetailLevel, EntryRole, NoteEntry};
use crate::request::{ExpandRequest, RelatedKind};
use crate::store::{NoteHandle, NoteIdx};

/// Selects more content of notes: each body that has more than its summary, then the related notes, the most reliable
/// first.
///
/// # Errors
/// `NoNote` for an id that does not exist.
pub fn expand(session: &Session<'_>, request: &ExpandRequest) -> Result<RankedNotes, Error> {
    let requested = session.store.positions(&request.ids)?;
    let assessor = Assessor::new(session, Some(session.store.today.day()), None);
    let mut expansion = Expansion { assessor: &assessor, chosen: Vec::new(), ordinals: HashMap::new() };
    let related = requested.iter().map(|index| expansion.related(*index, request)).collect::<Vec<_>>();
    for (index, related) in requested.iter().zip(&related) {
        let note = &session.store.notes()[*index];
        // A note without more content is listed if its sources or its links to other notes are shown.
        let has_context =
            !related.is_empty() || (request.include.contains(&RelatedKind::Evidence) && !note.sources().is_empty());
        if has_more_than_summary(note) {
            expansion.add(*index, DetailLevel::Detailed);
        } else if has_context {
            expansion.add(*index, DetailLevel::Essence);
        }
    }
    let related = related.into_iter().flatten().filter(|related| !requested.contains(related));
    related.for_each(|related| expansion.add(related, DetailLevel::Summary));
    Ok(expansion.into_ranked_notes(request))
}

/// Tells whether the body of a note differs from its summary in more than white space.
fn has_more_than_summary(note: &NoteHandle) -> bool {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let body = words(note.parsed_or_empty().body());
    !body.is_empty() && body != words(note.summary().unwrap_or_default())
}

struct Expansion<'a, 's> {
    assessor: &'a Assessor<'a, 's>,
    /// The chosen notes by their indices in the store, with their levels.
    chosen: Vec<(NoteIdx, DetailLevel)>,
    /// The ordinal of each chosen note.
    ordinals: Ordinals,
}

impl Expansion<'_, '_> {
    fn add(&mut self, index: NoteIdx, level: DetailLevel) {
        if !self.ordinals.contains_key(&index) {
            self.ordinals.insert(index, self.chosen.len());
            self.chosen.push((index, level));
        }
    }

    /// Returns the requested kinds of notes related to a note, by descending confidence, then by id.
    fn related(&self, index: NoteIdx, request: &ExpandRequest) -> Vec<NoteIdx> {
        let assessor = self.assessor;
        let mut related: BTreeSet<NoteIdx> = BTreeSet::new();
        if request.include.contains(&RelatedKind::Derivation) {
            related.extend(assessor.origins(index));
        }
        if request.include.contains(&RelatedKind::Evidence) {
            related.extend(assessor.linked(index, SUPPORTED_BY));
        }
        if request.include.contains(&RelatedKind::Contradictions) {
            related.extend(assessor.opponents(index));
        }
        let mut related: Vec<(f64, NoteIdx)> =
            related.into_iter().map(|index| (assessor.confidence(index).overall, index)).collect();
        related.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        related.into_iter().map(|(_, index)| index).collect()
    }

    fn into_ranked_notes(self, request: &ExpandRequest) -> RankedNotes {
        let session = self.assessor.session;
        let kinds = [RelatedKind::Derivation, RelatedKind::Evidence, RelatedKind::Contradictions];
        let [derivation, evidence, contradictions] = kinds.map(|kind| request.include.contains(&kind));
        let filter = LinkFilter { derivation, evidence, contradictions };
        let (mut entries, mut all) = (Vec::new(), Vec::new());
        for (index, level) in &self.chosen {
            let assessment = self.assessor.assessment(*index, 1.0);
            let edges = link_entries(session, *index, filter, |other| self.ordinals.get(&other).copied());
            let note = Arc::clone(&session.store.notes()[*index]);
            let entry = NoteEntry::alone(&note, EntryRole::Selected);
            entries.push(NoteEntry { edges, assessment: Some(Box::new(assessment.clone())), ..entry });
            // A long body may be cut to its first blocks; related notes are always summaries.
            let is_fixed = *level < DetailLevel::Detailed;
            all.push(Candidate { is_fixed, ..candidate(self.assessor, *index, *level, assessment, &self.ordinals) });
        }
        let ranking = Candidates {
            chosen: all.len(),
            is_adaptive: true,
            compares_texts: true,
            aim: "to expand".to_owned(),
            insufficient: entries.is_empty().then(|| "there is nothing to add".to_owned()),
            all,
            ..Candidates::default()
        };
        RankedNotes { entries, ranking, following: 0 }
    }
}
