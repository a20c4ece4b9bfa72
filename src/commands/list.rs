//! `qipu list`, `qipu inbox`, `qipu tags` and `qipu status`: report the content of a store.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::civil::Date;
use rayon::prelude::*;

use crate::context::{FieldFilter, Session, day_of};
use crate::error::Error;
use crate::graph::StandIns;
use crate::report::{Entry, EntryRole, Layout, NoteEntry, Report, ReportHead, layout};
use crate::request::{ListRequest, Sort};
use crate::store::Store;
use crate::store::{NoteHandle, NoteIdx};

/// The fewest notes that one task reads.
pub(super) const MIN_NOTES_PER_TASK: usize = 1_024;

/// Reports the notes that pass all filters, in the requested order.
pub(super) fn run(request: &ListRequest, session: &Session<'_>) -> Result<Report, Error> {
    let store = session.store;
    let filters = FieldFilter::parse_all(&request.custom_filters)?;
    let links = (request.only_orphans || request.only_broken).then(|| session.graph());
    let has_links_wanted = |position: NoteIdx| {
        links.is_none_or(|graph| {
            let is_orphan = graph.outgoing(position).len() == 0 && graph.backlinks(position).next().is_none();
            (!request.only_orphans || is_orphan)
                && (!request.only_broken || graph.unresolved(position).next().is_some())
        })
    };
    let notes = NoteIdx::enumerate(store.notes()).filter(|(position, note)| {
        passes(request, note) && filters.iter().all(|filter| filter.matches(note)) && has_links_wanted(*position)
    });
    let mut notes: Vec<&Arc<NoteHandle>> = notes.map(|(_, note)| note).collect();
    sort(&mut notes, request.sort);
    let successions = StandIns::for_answer(store.notes(), true).successions;
    if !successions.is_empty() {
        let noted = notes.into_iter().filter_map(|note| Some((store.position(&note.id)?, note))).collect();
        let noted: Vec<(NoteIdx, _)> = successions.behind_successors(noted, |(position, _)| *position);
        notes = noted.into_iter().map(|(_, note)| note).collect();
    }
    let matched = notes.len();
    notes.truncate(request.limit.unwrap_or(matched));
    let is_limited = notes.len() < matched;
    let entries = notes.into_iter().map(|note| Entry::Note(NoteEntry::alone(note, EntryRole::Selected))).collect();
    let report = report(store, &layout::LIST, entries);
    Ok(Report { head: ReportHead { matched, is_limited, ..report.head }, ..report })
}

/// Tells whether a note passes the filters of a list, apart from those on links and custom fields.
pub(super) fn passes(request: &ListRequest, note: &NoteHandle) -> bool {
    let dates = request.since.is_some() || request.until.is_some();
    let day = dates.then(|| day_of(note)).flatten();
    let is_since = |since: Date| day.is_some_and(|day| day >= since);
    let is_until = |until: Date| day.is_some_and(|day| day <= until);
    let has_tag = |tag: &String| note.tags().contains(&tag.as_str());
    (request.kinds.is_empty() || request.kinds.iter().any(|kind| kind == note.list_fields().kind))
        && (request.tags.is_empty() || request.tags.iter().any(has_tag))
        && request.since.is_none_or(is_since)
        && request.until.is_none_or(is_until)
        && request.min_value.is_none_or(|least| note.value_or_default() >= least)
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
pub(super) fn tag_counts(notes: &[Arc<NoteHandle>]) -> HashMap<&str, usize> {
    let counts = notes.par_iter().with_min_len(MIN_NOTES_PER_TASK).fold(HashMap::new, |mut counts, note| {
        note.tags().into_iter().for_each(|tag| *counts.entry(tag).or_default() += 1);
        counts
    });
    counts.reduce(HashMap::new, |mut all, counts| {
        counts.into_iter().for_each(|(tag, count)| *all.entry(tag).or_default() += count);
        all
    })
}

/// Reports the numbers of notes, of diagnostics, and of notes of each type.
pub(super) fn run_status(store: &Store) -> Report {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for note in store.notes() {
        *kinds.entry(note.list_fields().kind).or_default() += 1;
    }
    let findings = store.notes().iter().map(|note| note.findings().count()).sum();
    let fact = |name: &str, count: usize| Entry::Fact(name.to_owned(), count);
    let mut entries = vec![fact("notes", store.notes().len())];
    entries.push(fact("findings", findings));
    entries.extend(kinds.into_iter().map(|(kind, count)| Entry::Kind(kind.to_owned(), count)));
    report(store, &layout::STATUS, entries)
}

fn report(store: &Store, layout: &'static Layout, entries: Vec<Entry>) -> Report {
    let mut report = Report::new(super::head(store, layout, false, 0), entries);
    report.head.matched = report.count_notes();
    report
}
