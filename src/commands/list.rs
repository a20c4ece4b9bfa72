//! `qipu list`, `qipu inbox`, `qipu tags` and `qipu status`: report the content of a store.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rayon::prelude::*;

use super::needs_links;
use crate::context::{NoteFilter, Session};
use crate::error::Error;
use crate::graph::StandIns;
use crate::report::{Entry, EntryRole, Layout, NoteEntry, Report, ReportHead, layout};
use crate::request::{Filters, ListRequest, Sort};
use crate::store::{NoteHandle, NoteIdx, Store};

/// The fewest notes that one task reads.
pub(super) const MIN_NOTES_PER_TASK: usize = 1_024;

/// Reports the notes that pass all filters, in the requested order.
///
/// # Errors
/// See [`NoteFilter::new`].
pub(super) fn run(request: &ListRequest, session: &Session<'_>) -> Result<Report, Error> {
    let mut notes = matching(&request.filters, request.sort, session)?;
    let matched = notes.len();
    notes.truncate(request.limit.unwrap_or(matched));
    let is_limited = notes.len() < matched;
    let entries = notes.into_iter().map(|note| Entry::Note(NoteEntry::alone(note, EntryRole::Selected))).collect();
    let report = report(session.store, &layout::LIST, entries);
    Ok(Report { head: ReportHead { matched, is_limited, ..report.head }, ..report })
}

/// Returns the notes that pass all filters in an order, each one that is replaced behind its successor.
///
/// # Errors
/// See [`NoteFilter::new`].
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
    let successions = StandIns::for_answer(store.notes(), true).successions;
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

/// Reports the tags in use by descending count, then by name.
pub(super) fn run_tags(store: &Store) -> Report {
    let mut counts: Vec<_> = tag_counts(store.notes()).into_iter().collect();
    counts.sort_unstable_by_key(|(tag, count)| (Reverse(*count), *tag));
    let entries = counts.into_iter().map(|(tag, count)| Entry::Tag(tag.to_owned(), count));
    report(store, &layout::TAGS, entries.collect())
}

/// Counts the notes with each tag.
pub(crate) fn tag_counts(notes: &[Arc<NoteHandle>]) -> HashMap<&str, usize> {
    let counts = notes.par_iter().with_min_len(MIN_NOTES_PER_TASK).fold(HashMap::new, |mut counts, note| {
        note.tags().into_iter().for_each(|tag| *counts.entry(tag).or_default() += 1);
        counts
    });
    counts.reduce(HashMap::new, |mut all, counts| {
        counts.into_iter().for_each(|(tag, count)| *all.entry(tag).or_default() += count);
        all
    })
}

/// Reports the numbers of notes, of diagnostics, of notes without links, and of notes of each type.
pub(super) fn run_status(session: &Session<'_>) -> Report {
    let store = session.store;
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for note in store.notes() {
        *kinds.entry(note.list_fields().kind).or_default() += 1;
    }
    let findings = store.notes().iter().map(|note| note.findings().count()).sum();
    let fact = |name: &str, count: usize| Entry::Fact(name.to_owned(), count);
    let mut entries = vec![fact("notes", store.notes().len())];
    entries.push(fact("findings", findings));
    let is_alone =
        |(place, note): &(NoteIdx, &Arc<NoteHandle>)| needs_links(note) && !session.graph().is_linked(*place);
    entries.push(fact("unlinked", NoteIdx::enumerate(store.notes()).filter(is_alone).count()));
    entries.extend(kinds.into_iter().map(|(kind, count)| Entry::Kind(kind.to_owned(), count)));
    report(store, &layout::STATUS, entries)
}

fn report(store: &Store, layout: &'static Layout, entries: Vec<Entry>) -> Report {
    let mut report = Report::new(super::head(store, layout, false, 0), entries);
    report.head.matched = report.count_notes();
    report
}
