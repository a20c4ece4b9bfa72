//! `qipu prime`: what an agent should know when a session starts.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::note::{MOC, Note};
use crate::report::{Entry, Head, Mode, NoteEntry, Report, Role};
use crate::request::Prime;
use crate::store::Store;

/// What qipu is, in the words of the primer.
const ABOUT: &str = "qipu holds this project's knowledge: decisions, findings, sources, and how they hang together. \
                     It is memory, not a task list. Look here before you research or decide something again.";

/// Commands worth knowing, the most useful first. A test runs each of them.
pub(crate) const COMMANDS: [(&str, &str); 8] = [
    (
        "qipu context --query \"WORDS\" --format records --max-chars 8000",
        "find notes on a subject, as an index of summaries",
    ),
    ("qipu context --note ID --format records --with-body --max-chars 16000", "read notes whole (repeat --note)"),
    ("qipu context --moc ID --format records --max-chars 8000", "see what a map of content holds"),
    ("qipu link tree ID --max-hops 2 --format records --max-chars 8000", "see what hangs together with a note"),
    ("qipu link path ID ID", "see how two notes are connected"),
    ("qipu context --tag TAG --format records --max-chars 8000", "list notes by tag, the most valuable first"),
    ("qipu capture \"TEXT\" --tag TAG", "keep a thought; prints the new note's id first"),
    ("qipu --help", "everything else"),
];

/// The most maps and the most recent notes that are shown.
const MAX_MAPS: usize = 8;
const MAX_RECENT: usize = 12;

/// Reports what qipu is, its commands, the maps of most value and the notes changed last.
pub(super) fn run(request: &Prime, store: &Store) -> Report {
    let mut entries = vec![Entry::About(ABOUT)];
    entries.extend(COMMANDS.map(|(line, purpose)| Entry::Command { line, purpose }));
    entries.extend(key_maps(store).into_iter().map(|note| note_entry(note, Role::Map)));
    entries.extend(recent_notes(store).into_iter().map(|note| note_entry(note, Role::Recent)));
    let head = Head { banner: request.banner, ..Head::new(Mode::Prime, Some(&store.shown_path)) };
    let mut report = Report::new(head, entries);
    report.head.matched = report.count_notes();
    report
}

fn note_entry(note: &Arc<Note>, role: Role) -> Entry {
    Entry::Note(NoteEntry::alone(note, role))
}

/// Returns the maps of content by value, then the latest change, then id.
fn key_maps(store: &Store) -> Vec<&Arc<Note>> {
    let mut maps: Vec<_> = store.notes().iter().filter(|note| note.kind == MOC).collect();
    maps.sort_by_key(|note| (Reverse(note.value_or_default()), Reverse(note.changed())));
    maps.truncate(MAX_MAPS);
    maps
}

/// Returns the other notes by their latest change, then value, then id; those without a date last.
fn recent_notes(store: &Store) -> Vec<&Arc<Note>> {
    let mut notes: Vec<_> = store.notes().iter().filter(|note| note.kind != MOC).collect();
    notes.sort_by_key(|note| (Reverse(note.changed()), Reverse(note.value_or_default())));
    notes.truncate(MAX_RECENT);
    notes
}
