//! `qipu journal`: the journals of a day.

use crate::context::Journals;
use crate::report::{Entry, Head, Mode, NoteEntry, Report, Role, Show};
use crate::request::Journal;
use crate::store::Store;

/// Reports the journals of a day, whole.
pub(super) fn run(request: &Journal, store: &Store) -> Report {
    let notes = store.notes();
    let journals = Journals::new(notes);
    let entry = |place: usize| Some(Entry::Note(NoteEntry::alone(notes.get(place)?, Role::Selected)));
    let entries: Vec<Entry> = journals.on(request.day).filter_map(entry).collect();
    let head = Head {
        show: Show { sources: true, custom: true, ..Show::default() },
        matched: entries.len(),
        ..Head::new(Mode::Journal { day: request.day }, Some(&store.shown_path))
    };
    Report::new(head, entries)
}
