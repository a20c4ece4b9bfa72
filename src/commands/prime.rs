//! `qipu prime`: what an agent should know when a session starts.

use std::cmp::Reverse;
use std::collections::HashSet;

use crate::graph::Digests;
use crate::note::Note;
use crate::report::{Entry, Head, Mode, Report, Role};
use crate::request::Prime;
use crate::store::Store;

/// What qipu is, in the words of the primer.
const ABOUT: &str = "qipu holds this project's knowledge: decisions, findings, sources, and how they hang together. \
                     It is memory, not a task list. Look here before you research or decide something again. In records, `H` says how much \
                     was found, `W` warns, `N` is a note, `S` its summary, `B` to `B-END` its text, `E` a link, `D` a detail.";

/// Commands worth knowing, the most useful first. A test runs each of them.
pub(crate) const COMMANDS: [(&str, &str); 11] = [
    (
        "qipu context --query \"WORDS\" --format records --max-chars 8000",
        "find notes on a subject, as an index of summaries",
    ),
    ("qipu context --note ID --format records --with-body --max-chars 16000", "read notes whole (repeat --note)"),
    ("qipu context --moc ID --format records --max-chars 8000", "see what a map of content holds"),
    ("qipu link tree ID --max-hops 2 --format records --max-chars 8000", "see what hangs together with a note"),
    ("qipu link path ID ID", "see how two notes are connected"),
    ("qipu context --tag TAG --format records --max-chars 8000", "list notes by tag, the most valuable first"),
    (
        "qipu capture --tag TAG <<'EOF'",
        "keep a thought: its text on the next lines, then EOF (a shell runs backticks in double quotes); prints the id first",
    ),
    ("qipu link add ID ID --type supports", "link what you keep with what is known"),
    ("qipu update ID --set status=superseded", "mark a note that no longer holds"),
    ("qipu journal - <<'EOF'", "write down what was done today, in the same way"),
    ("qipu --help", "everything else"),
];

/// The most maps and the most recent notes that are shown.
const MAX_MAPS: usize = 8;
const MAX_RECENT: usize = 12;

/// Reports what qipu is, its commands, the maps of most value and the notes changed last.
pub(super) fn run(request: &Prime, store: &Store) -> Report {
    let digests = Digests::in_answer(store.notes(), request.no_compaction);
    let mut entries = vec![Entry::About(ABOUT)];
    entries.extend(COMMANDS.map(|(line, purpose)| Entry::Command { line, purpose }));
    // A map that is the digest of another note is shown once.
    let mut seen = HashSet::new();
    entries.extend(shown(store, &digests, Role::Map, &mut seen));
    entries.extend(shown(store, &digests, Role::Recent, &mut seen));
    // A session begins with it, whoever reads it and in whatever format.
    let head = Head { banner: request.banner.or(Some(true)), ..Head::new(Mode::Prime, Some(&store.shown_path)) };
    let mut report = Report::new(head, entries);
    report.head.matched = report.count_notes();
    report
}

/// Returns the maps of most value, or the other notes that changed last; a digest stands in for
/// its notes, at the place of the first. None was seen before.
fn shown(store: &Store, digests: &Digests, role: Role, seen: &mut HashSet<usize>) -> Vec<Entry> {
    let (places, most) = match role {
        Role::Map => (key_maps(store), MAX_MAPS),
        _ => (recent_notes(store), MAX_RECENT),
    };
    let stand_ins = places.into_iter().map(|place| digests.stand_in(place));
    let stand_ins: Vec<usize> = stand_ins.filter(|place| !seen.contains(place)).collect();
    let unseen = stand_ins.into_iter().filter(|place| seen.insert(*place));
    unseen.take(most).map(|place| Entry::Note(super::note_entry(store, digests, place, role))).collect()
}

/// Returns the maps of content by value, then the latest change, then id; those that no longer hold last.
fn key_maps(store: &Store) -> Vec<usize> {
    sorted(store, Note::is_moc, |note| (Reverse(note.value_or_default()), Reverse(note.head().changed())))
}

/// Returns the other notes by their latest change, then value, then id; those without a date behind them, those
/// that no longer hold last.
fn recent_notes(store: &Store) -> Vec<usize> {
    let is_other = |note: &Note| !note.is_moc();
    sorted(store, is_other, |note| (Reverse(note.head().changed()), Reverse(note.value_or_default())))
}

fn sorted<K: Ord>(store: &Store, is_wanted: fn(&Note) -> bool, key: fn(&Note) -> K) -> Vec<usize> {
    let notes = store.notes().iter().enumerate().filter(|(_, note)| is_wanted(note));
    let is_retired = |note: &Note| note.retired(|| store.today.day()).is_some();
    let mut found: Vec<(bool, K, usize)> = notes.map(|(place, note)| (is_retired(note), key(note), place)).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, _, place)| place).collect()
}
