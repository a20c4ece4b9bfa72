//! `qipu prime`: what an agent should know when a session starts.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;

use crate::context::Journals;
use crate::graph::Compactions;
use crate::note::Note;
use crate::report::{Entry, EntryRole, Gist, NoteEntry, OverviewEntry, Report, ReportHead, ReportKind};
use crate::request::PrimeRequest;
use crate::store::Store;

/// What qipu is, in the words of the primer.
const ABOUT: &str = "qipu holds this project's knowledge: decisions, findings, sources, and the links between them. \
                     It is memory, not a task list. Ask it before you research or decide something again.";

/// Commands worth knowing, the most useful first. A test runs each of them.
const COMMANDS: [(&str, &str); 8] = [
    (
        "qipu ask \"WORDS\" --max-chars 4000",
        "get the passages that answer. Ask with the words that the answer would use (identifiers, error text, \
         synonyms), and give the space you have",
    ),
    ("qipu show ID", "read a note in full"),
    ("qipu link tree ID --max-hops 2", "see which notes are linked to a note"),
    (
        "qipu capture --tag TAG <<'EOF'",
        "make a note of the lines that follow, up to EOF; prints its id first (in double quotes the shell would run \
         backticks)",
    ),
    ("qipu link add ID ID --type supports", "link a new note to what is known"),
    ("qipu update ID --set status=superseded", "mark a note that no longer holds"),
    ("qipu journal - <<'EOF'", "write down what was done today, in the same way"),
    ("qipu --help", "everything else"),
];

/// The most of each kind of note that is shown.
const MAX_DECISIONS: usize = 5;
const MAX_MAPS: usize = 8;
const MAX_RECENT: usize = 12;

/// The most tags or folders that the overview names.
const MAX_NAMES: usize = 12;

/// The most characters of the latest journal that are shown.
const MAX_JOURNAL_CHARS: usize = 600;

/// The most characters of a decision's summary that are shown.
const MAX_DECISION_CHARS: usize = 240;

/// How many journals without text are passed over.
const MAX_EMPTY_JOURNALS: usize = 8;

/// The tags, types and folders of decisions.
const DECISION_NAMES: [&str; 4] = ["decision", "decisions", "adr", "adrs"];

/// The folders that hold every note of their sort: they say nothing of what a note is about.
const STORE_FOLDERS: [&str; 3] = ["notes", "mocs", "journals"];

/// Stands between the blocks of a journal that are shown on one line.
const BLOCK_SEPARATOR: &str = " · ";

/// Stands for text that is left out.
const ELLIPSIS: &str = "…";

/// Reports what qipu is, its commands, what the store is about, where the last session stopped, the latest decisions,
/// the maps of most value and the notes changed last.
pub(super) fn run(request: &PrimeRequest, store: &Store) -> Report {
    let digests = Compactions::for_answer(store.notes(), request.no_compaction);
    let mut entries = vec![Entry::About(ABOUT)];
    entries.extend(COMMANDS.map(|(line, purpose)| Entry::Command { line, purpose }));
    let journals = Journals::new(store.notes());
    entries.push(Entry::Overview(Box::new(overview(store, &journals))));
    // A note is shown once, whatever else it is.
    let mut seen = HashSet::new();
    entries.extend(last_journal(store, &journals, &digests, &mut seen));
    entries.extend(shown(store, &digests, EntryRole::Decision, &mut seen));
    entries.extend(shown(store, &digests, EntryRole::Map, &mut seen));
    entries.extend(shown(store, &digests, EntryRole::Recent, &mut seen));
    // A session begins with it, whoever reads it and in whatever format.
    let head = ReportHead {
        banner: request.banner.or(Some(true)),
        ..ReportHead::new(ReportKind::Prime, Some(&store.shown_path))
    };
    let mut report = Report::new(head, entries);
    report.head.matched = report.count_notes();
    report
}

/// Counts the notes, and those of the tags in use; of the folders where no tag is in use.
fn overview(store: &Store, journals: &Journals) -> OverviewEntry {
    let notes = store.notes();
    let mut tags: HashMap<&str, usize> = HashMap::new();
    for tag in notes.iter().flat_map(|note| note.ties().tags) {
        *tags.entry(tag).or_default() += 1;
    }
    let mut folders: HashMap<&str, usize> = HashMap::new();
    if tags.is_empty() {
        notes.iter().filter_map(|note| folder_of(note)).for_each(|folder| *folders.entry(folder).or_default() += 1);
    }
    OverviewEntry {
        notes: notes.len(),
        journals: journals.count(),
        tags: most_frequent(tags),
        folders: most_frequent(folders),
    }
}

/// Returns the names that occur most often, then a to z.
fn most_frequent(counts: HashMap<&str, usize>) -> Vec<(String, usize)> {
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_unstable_by_key(|(name, count)| (Reverse(*count), *name));
    counts.into_iter().take(MAX_NAMES).map(|(name, count)| (name.to_owned(), count)).collect()
}

/// Returns the folder of a note below the folder for notes of its sort.
fn folder_of(note: &Note) -> Option<&str> {
    let (folder, _) = note.path.rsplit_once('/')?;
    let below = folder.split_once('/').filter(|(first, _)| STORE_FOLDERS.contains(first)).map(|(_, below)| below);
    below.or_else(|| (!STORE_FOLDERS.contains(&folder)).then_some(folder))
}

/// Returns the latest journal that has a text, with the end of it.
fn last_journal(store: &Store, journals: &Journals, digests: &Compactions, seen: &mut HashSet<usize>) -> Option<Entry> {
    let notes = store.notes();
    let latest =
        journals.latest_first().filter(|place| digests.representative(*place) == *place).take(MAX_EMPTY_JOURNALS);
    let mut texts = latest.map(|place| (place, end_of(&notes[place])));
    let (place, text) = texts.find(|(_, text)| !text.is_empty())?;
    seen.insert(place);
    Some(Entry::Note(summed_up(super::note_entry(store, digests, place, EntryRole::LastJournal), text)))
}

/// Returns the last blocks of a journal, as many as there is room for: what is added to a journal stands at its end.
fn end_of(note: &Note) -> String {
    let blocks = note.blocks();
    let texts: Vec<&str> = blocks.iter().map(|block| block.text.trim()).filter(|text| !text.is_empty()).collect();
    let Some((last, before)) = texts.split_last() else { return String::new() };
    let mut shown = vec![shortened(last, MAX_JOURNAL_CHARS)];
    let mut room = MAX_JOURNAL_CHARS.saturating_sub(last.chars().count());
    for text in before.iter().rev() {
        let chars = text.chars().count() + BLOCK_SEPARATOR.chars().count();
        if chars > room {
            break;
        }
        room -= chars;
        shown.push((*text).to_owned());
    }
    if shown.len() < texts.len() {
        shown.push(ELLIPSIS.to_owned());
    }
    shown.reverse();
    shown.join(BLOCK_SEPARATOR)
}

/// Cuts a text that is too long behind a word.
fn shortened(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let mut end = 0;
    let mut chars = ELLIPSIS.chars().count();
    for piece in text.split_word_bounds() {
        chars += piece.chars().count();
        if chars > limit {
            break;
        }
        end += piece.len();
    }
    let kept = text.get(..end).unwrap_or_default().trim_end();
    format!("{kept}{ELLIPSIS}")
}

/// Gives an entry the text that is shown as its summary.
fn summed_up(entry: NoteEntry, text: String) -> NoteEntry {
    NoteEntry { gist: Some(Gist(Arc::new(move |_| text.clone()))), ..entry }
}

/// Returns the latest decisions, the maps of most value, or the other notes that changed last; a digest stands in for
/// its notes, at the place of the first. None was seen before.
fn shown(store: &Store, digests: &Compactions, role: EntryRole, seen: &mut HashSet<usize>) -> Vec<Entry> {
    let (places, most) = match role {
        EntryRole::Decision => (decisions(store), MAX_DECISIONS),
        EntryRole::Map => (key_maps(store), MAX_MAPS),
        _ => (recent_notes(store), MAX_RECENT),
    };
    let stand_ins = places.into_iter().map(|place| digests.representative(place));
    let stand_ins: Vec<usize> = stand_ins.filter(|place| !seen.contains(place)).collect();
    let unseen = stand_ins.into_iter().filter(|place| seen.insert(*place));
    let entry = |place| {
        let entry = super::note_entry(store, digests, place, role);
        if role != EntryRole::Decision {
            return entry;
        }
        let summary = entry.note.summary().map(|summary| shortened(summary, MAX_DECISION_CHARS)).unwrap_or_default();
        summed_up(entry, summary)
    };
    unseen.take(most).map(|place| Entry::Note(entry(place))).collect()
}

/// Returns the decisions that hold by their latest change, the newest first; those without a date behind them, by id
/// from the last: decisions are often numbered.
fn decisions(store: &Store) -> Vec<usize> {
    let is_current = |note: &Note| note.retired(|| store.today.day()).is_none();
    let notes = store.notes().iter().enumerate();
    let found = notes.filter(|(_, note)| is_decision(note) && is_current(note));
    let mut found: Vec<_> = found.map(|(place, note)| (note.head().changed(), place)).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, place)| place).collect()
}

/// Tells whether a note is a decision: its type, a tag or a folder says so. Maps and journals are none.
fn is_decision(note: &Note) -> bool {
    let is_name = |text: &str| DECISION_NAMES.iter().any(|name| name.eq_ignore_ascii_case(text));
    let is_in_folder = || note.path.rsplit_once('/').is_some_and(|(folder, _)| folder.split('/').any(is_name));
    let is_tagged = || note.ties().tags.iter().any(|tag| is_name(tag.trim_start_matches('#')));
    (is_name(note.head().kind) || is_in_folder() || is_tagged()) && !note.is_moc() && !note.is_journal()
}

/// Returns the maps of content by value, then the latest change, then id; those that no longer hold last.
fn key_maps(store: &Store) -> Vec<usize> {
    sorted(store, Note::is_moc, |note| (Reverse(note.value_or_default()), Reverse(note.head().changed())))
}

/// Returns the other notes that have a date by their latest change, then value, then id; those that no longer hold
/// last.
fn recent_notes(store: &Store) -> Vec<usize> {
    let is_other = |note: &Note| !note.is_moc() && note.head().changed().is_some();
    sorted(store, is_other, |note| (Reverse(note.head().changed()), Reverse(note.value_or_default())))
}

fn sorted<K: Ord>(store: &Store, is_wanted: fn(&Note) -> bool, key: fn(&Note) -> K) -> Vec<usize> {
    let notes = store.notes().iter().enumerate().filter(|(_, note)| is_wanted(note));
    let is_retired = |note: &Note| note.retired(|| store.today.day()).is_some();
    let mut found: Vec<(bool, K, usize)> = notes.map(|(place, note)| (is_retired(note), key(note), place)).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, _, place)| place).collect()
}
