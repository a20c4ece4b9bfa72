//! Assessment of selected notes: how reliable each is, how useful for a purpose, at which level of detail it is shown, and
//! whether it is redundant beside others. specs/context-query.md has the rules.

mod confidence;
mod expansion;
mod fields;
mod links;
mod pass;
mod utility;

pub use expansion::expand;
pub use fields::invalid_fields;

use super::{Selection, Session};
use crate::report::{Candidates, NoteEntry};
use crate::request::NeedOptions;
use crate::store::NoteIdx;
use confidence::Assessor;
use pass::{AssessmentPass, ExclusionCounts};

/// Assessed notes.
pub struct RankedNotes {
    /// The notes: those that may be shown by themselves by descending relevance, then the followers of others.
    pub entries: Vec<NoteEntry>,
    /// The order in which they are shown.
    pub ranking: Candidates,
    /// The number of followers.
    pub following: usize,
}

/// Limits on the number of notes that are assessed and shown.
#[derive(Debug, Clone, Copy)]
pub struct NeedLimits {
    /// The most hits of a search that are assessed, by descending relevance.
    pub candidates: usize,
    /// The most notes to show of those that only the query selected; `None` for no limit.
    pub answers: Option<usize>,
    /// The most notes to show without followers of others; `None` for no limit.
    pub notes: Option<usize>,
}

/// Assesses selected notes. `entries_before` entries precede them, whole.
pub fn assess(
    session: &Session<'_>,
    selection: &Selection,
    need: &NeedOptions,
    entries_before: usize,
    limits: NeedLimits,
    entry: impl Fn(NoteIdx) -> NoteEntry,
) -> RankedNotes {
    let highlighter = selection.highlighter.as_deref();
    // Both are initialised before the parallel assessment: a worker that waits for the initialisation could otherwise be
    // the one that has to run it.
    let (engine, assessor) = rayon::join(|| session.engine(), || Assessor::new(session, need.today, highlighter));
    let (excluded, assessed) = (ExclusionCounts::default(), Vec::new());
    let mut pass = AssessmentPass { assessor: &assessor, engine, selection, need, excluded, assessed };
    pass.choose(limits.candidates);
    let chosen = pass.assessed.len();
    pass.add_followers();
    pass.into_ranked_notes(entries_before, chosen, limits, entry)
}
