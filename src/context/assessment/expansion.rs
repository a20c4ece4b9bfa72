//! Expansion of notes that were shown before: their bodies, and the notes that support, contradict or precede them.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::confidence::Assessor;
use super::links::{LinkFilter, link_entries};
use super::{Ordinals, RankedNotes, candidate};
use crate::context::Session;
use crate::error::Error;
use crate::report::{Candidate, Candidates, DetailLevel, EntryRole, NoteEntry};
use crate::request::ExpandRequest;
use crate::store::{NoteHandle, NoteIdx};

/// Selects more content of notes: each body that has more than its summary, then the related notes, the most reliable
/// first.
///
/// # Errors
/// `NoNote` for an id that does not exist, `Store` if the user's settings are not valid.
pub fn expand(session: &Session<'_>, request: &ExpandRequest) -> Result<RankedNotes, Error> {
    let requested = session.store.positions(&request.ids)?;
    let assessor = Assessor::new(session, Some(session.store.today.day()), None)?;
    let filter = LinkFilter::new(&request.include);
    let related = requested.iter().map(|index| related(&assessor, *index, filter)).collect::<Vec<_>>();
    let mut chosen: Vec<(NoteIdx, DetailLevel)> = Vec::new();
    for (index, related) in requested.iter().zip(&related) {
        let note = &session.store.notes()[*index];
        // A note without more content is listed if its sources or its links to other notes are shown.
        let has_context = !related.is_empty() || (filter.evidence && !note.sources().is_empty());
        if has_more_than_summary(note) {
            chosen.push((*index, DetailLevel::Detailed));
        } else if has_context {
            chosen.push((*index, DetailLevel::Essence));
        }
    }
    let is_shown = |note: &NoteIdx| !requested.contains(note) && !session.store.is_hidden_draft(*note);
    let related = related.into_iter().flatten().filter(is_shown);
    chosen.extend(related.map(|related| (related, DetailLevel::Summary)));
    let mut seen = HashSet::new();
    chosen.retain(|(index, _)| seen.insert(*index));
    Ok(ranked_notes(&assessor, &chosen, filter))
}

/// Tells whether the body of a note differs from its summary in more than white space.
fn has_more_than_summary(note: &NoteHandle) -> bool {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let body = words(note.parsed_or_empty().body());
    !body.is_empty() && body != words(&note.summary().unwrap_or_default())
}

/// Returns the requested kinds of notes related to a note, by descending confidence, then by id.
fn related(assessor: &Assessor<'_, '_>, index: NoteIdx, filter: LinkFilter) -> Vec<NoteIdx> {
    let mut related: BTreeSet<NoteIdx> = BTreeSet::new();
    if filter.derivation {
        related.extend(assessor.origins(index));
    }
    if filter.evidence {
        related.extend(assessor.supporters(index));
    }
    if filter.contradictions {
        related.extend(assessor.opponents(index));
    }
    let mut related: Vec<(f64, NoteIdx)> =
        related.into_iter().map(|index| (assessor.confidence(index).overall, index)).collect();
    related.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    related.into_iter().map(|(_, index)| index).collect()
}

fn ranked_notes(assessor: &Assessor<'_, '_>, chosen: &[(NoteIdx, DetailLevel)], filter: LinkFilter) -> RankedNotes {
    let session = assessor.session;
    let ordinals: Ordinals = chosen.iter().enumerate().map(|(ordinal, (index, _))| (*index, ordinal)).collect();
    let (mut entries, mut all) = (Vec::new(), Vec::new());
    for (index, level) in chosen {
        let assessment = assessor.assessment(*index, 1.0);
        let edges = link_entries(session, *index, filter, |other| ordinals.get(&other).copied());
        let note = Arc::clone(&session.store.notes()[*index]);
        let entry = NoteEntry::alone(&note, EntryRole::Selected);
        entries.push(NoteEntry { edges, assessment: Some(Box::new(assessment.clone())), ..entry });
        // A long body may be cut to its first blocks; related notes are always summaries.
        let is_fixed = *level < DetailLevel::Detailed;
        all.push(Candidate { is_fixed, ..candidate(assessor, *index, *level, assessment, &ordinals) });
    }
    let candidates = Candidates {
        chosen: all.len(),
        is_adaptive: true,
        compares_texts: true,
        aim: "to expand".to_owned(),
        insufficient: entries.is_empty().then(|| "there is nothing to add".to_owned()),
        all,
        ..Candidates::default()
    };
    RankedNotes { entries, candidates, following: 0 }
}
