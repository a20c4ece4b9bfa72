//! Assessment of selected notes: how reliable each is, how useful for a purpose, at which level of detail it is shown, and
//! whether it is redundant beside others. specs/reference/purpose-and-trust.md has the rules.

mod confidence;
mod expansion;
mod fields;
mod links;
mod selection_assessor;
mod trust;
mod utility;

pub(super) use confidence::ConfidenceSource;
pub use expansion::expand;
pub use fields::invalid_fields;
pub use trust::{DistrustedStatements, distrusted_statements};

use std::collections::HashMap;

use jiff::civil::Date;

use super::{Selection, Session};
use crate::error::Error;
use crate::report::{Assessment, Candidate, Candidates, DetailLevel, NoteEntry};
use crate::request::AssessmentOptions;
use crate::store::NoteIdx;
use confidence::Assessor;
use selection_assessor::SelectionAssessor;

/// Assessed notes.
pub struct RankedNotes {
    /// The notes: those that may be shown by themselves by descending relevance, then the followers of others.
    pub entries: Vec<NoteEntry>,
    /// The order in which they are shown.
    pub candidates: Candidates,
    /// The number of followers.
    pub following: usize,
}

/// Limits on the number of notes that are assessed and shown.
#[derive(Debug, Clone, Copy)]
pub struct CandidateLimits {
    /// The most hits of a search that are assessed, by descending relevance.
    pub candidates: usize,
    /// The most notes to show of those that only the query selected; `None` for no limit.
    pub answers: Option<usize>,
    /// The most notes to show without followers of others; `None` for no limit.
    pub notes: Option<usize>,
}

/// Returns the assessment of a note by itself on a day, and the notes in force that contradict it.
///
/// # Errors
/// `Store` if the user's settings are not valid.
pub fn assess_note(session: &Session<'_>, note: NoteIdx, today: Date) -> Result<(Assessment, Vec<NoteIdx>), Error> {
    let assessor = Assessor::new(session, Some(today), None)?;
    Ok((assessor.assessment(note, 1.0), assessor.opponents(note).into_iter().collect()))
}

/// Assesses selected notes. `entries_before` entries precede them, whole.
///
/// # Errors
/// `Store` if the user's settings are not valid.
pub fn assess(
    session: &Session<'_>,
    selection: &Selection,
    options: &AssessmentOptions,
    entries_before: usize,
    limits: CandidateLimits,
    entry: impl Fn(NoteIdx) -> NoteEntry,
) -> Result<RankedNotes, Error> {
    let highlighter = selection.highlighter.as_deref();
    // Both are initialised before the parallel assessment: a worker that waits for the initialisation could otherwise be
    // the one that has to run it.
    let (_, assessor) = rayon::join(|| session.engine(), || Assessor::new(session, options.today, highlighter));
    let assessor = assessor?;
    let (excluded, assessed) = (Vec::new(), Vec::new());
    let mut pass = SelectionAssessor { assessor: &assessor, selection, options, excluded, beyond: 0, assessed };
    pass.choose(limits.candidates);
    let chosen = pass.assessed.len();
    pass.add_followers();
    Ok(pass.into_ranked_notes(entries_before, chosen, limits, entry))
}

/// The ordinal of each candidate by the index of its note.
type Ordinals = HashMap<NoteIdx, usize>;

fn ordinals_of(notes: impl IntoIterator<Item = NoteIdx>, ordinals: &Ordinals) -> Vec<usize> {
    notes.into_iter().filter_map(|note| ordinals.get(&note).copied()).collect()
}

/// Returns a note as a candidate that is named and has no followers.
fn candidate(
    assessor: &Assessor<'_, '_>,
    index: NoteIdx,
    level: DetailLevel,
    assessment: Assessment,
    ordinals: &Ordinals,
) -> Candidate {
    let note = &assessor.session.store.notes()[index];
    let opponents = assessor.opponents(index);
    Candidate {
        id: note.id.clone(),
        assessment,
        value: note.value_or_default(),
        authority: note.authority(),
        terms: Vec::new(),
        level,
        is_named: true,
        is_first: false,
        is_answer: false,
        is_retired: false,
        same: Vec::new(),
        has_opponents_beyond: opponents.iter().any(|opponent| !ordinals.contains_key(opponent)),
        opponents: ordinals_of(opponents, ordinals),
        followers: Vec::new(),
        is_fixed: false,
    }
}
