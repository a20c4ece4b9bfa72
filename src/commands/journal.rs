//! `qipu journal`: reports the journals of a day.

use crate::context::Journals;
use crate::report::{Entry, EntryRole, NoteEntry, Report, ReportHead, ReportKind, ShownFields};
use crate::request::JournalRequest;
use crate::store::Store;

/// Reports the journals of a day in full.
pub(super) fn run(request: &JournalRequest, store: &Store) -> Report {
    let notes = store.notes();
    let journals = Journals::new(notes);
    let entry = |position: usize| Some(Entry::Note(NoteEntry::alone(notes.get(position)?, EntryRole::Selected)));
    let entries: Vec<Entry> = journals.on(request.day).filter_map(entry).collect();
    let head = ReportHead {
        show: ShownFields { has_sources: true, has_custom: true, ..ShownFields::default() },
        matched: entries.len(),
        ..ReportHead::new(ReportKind::Journal { day: request.day }, Some(&store.shown_path))
    };
    Report::new(head, entries)
}
