//! `qipu list`: reports the notes that pass filters.

use std::cmp::Reverse;
use std::sync::Arc;

use rayon::prelude::*;

use crate::context::{NoteFilter, Session};
use crate::error::Error;
use crate::graph::Replacements;
use crate::report::{Entry, EntryRole, NoteEntry, Report, ReportHead, layout};
use crate::request::{Filters, ListRequest, Sort};
use crate::store::{NoteHandle, NoteIdx};

/// The fewest notes that one task reads.
pub(super) const MIN_NOTES_PER_TASK: usize = 1_024;

/// Reports the notes that pass all filters, in the requested order.
pub(super) fn run(request: &ListRequest, session: &Session<'_>) -> Result<Report, Error> {
    let mut notes = matching(&request.filters, request.sort, session)?;
    let matched = notes.len();
    notes.truncate(request.limit.unwrap_or(matched));
    let is_limited = notes.len() < matched;
    let entries = notes.into_iter().map(|note| Entry::Note(NoteEntry::alone(note, EntryRole::Selected))).collect();
    let head = ReportHead { matched, is_limited, ..super::head(session.store, &layout::LIST, false, 0) };
    Ok(Report::new(head, entries))
}

/// Returns the notes that pass all filters in an order, each one that is replaced behind its successor.
pub(super) fn matching<'s>(
    filters: &Filters,
    order: Sort,
    session: &Session<'s>,
) -> Result<Vec<&'s Arc<NoteHandle>>, Error> {
    let store = session.store;
    let filter = NoteFilter::new(session, filters)?;
    let notes = NoteIdx::enumerate(store.notes()).filter(|(position, _)| filter.matches(*position));
    let mut notes: Vec<&Arc<NoteHandle>> = notes.map(|(_, note)| note).collect();
    sort(&mut notes, order);
    let successions = Replacements::for_answer(store.notes(), true).successions;
    if successions.is_empty() {
        return Ok(notes);
    }
    let noted = notes.into_iter().filter_map(|note| Some((store.position(&note.id)?, note))).collect();
    let noted: Vec<(NoteIdx, _)> = successions.behind_successors(noted, |(position, _)| *position);
    Ok(noted.into_iter().map(|(_, note)| note).collect())
}

/// Sorts notes that are in the order of their ids. The keys are decoded in parallel.
fn sort(notes: &mut [&Arc<NoteHandle>], order: Sort) {
    match order {
        // Many imported notes have no date; sorted by id they would look unsorted.
        Sort::Updated => notes.par_sort_by_cached_key(|note| newest(note, note.list_fields().changed())),
        Sort::Created => notes.par_sort_by_cached_key(|note| newest(note, note.list_fields().created())),
        Sort::Value => notes.sort_by_key(|note| Reverse(note.value_or_default())),
        Sort::Title => notes.par_sort_by_cached_key(|note| note.title().to_lowercase()),
        Sort::Id => {}
    }
}

/// Returns the key that sorts notes by a date, the latest first, and then those without a date by title.
fn newest<T: Ord>(note: &NoteHandle, date: Option<T>) -> (Reverse<Option<T>>, Option<String>) {
    let title = date.is_none().then(|| note.title().to_lowercase());
    (Reverse(date), title)
}
