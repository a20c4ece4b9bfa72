//! `qipu prime`: reports what an agent should know when a session starts.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::Arc;

use rayon::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::list::MIN_NOTES_PER_TASK;
use super::status::tag_counts;
use crate::context::{Journals, Session};
use crate::graph::Replacements;
use crate::note::NoteId;
use crate::report::{Entry, EntryRole, EntrySummary, NoteEntry, OverviewEntry, Report, ReportHead, layout};
use crate::request::PrimeRequest;
use crate::setup::{TAUGHT_COMMANDS, WHEN_TO_LOOK};
use crate::store::{NoteHandle, NoteIdx, Store};

/// The description of qipu in the primer, before when to look there.
const ABOUT: &str = "qipu is this project's memory, not a task list: decisions, findings, sources and their links.";

/// The commands of a brief: to ask and to read.
const BRIEF_COMMANDS: usize = 2;

/// The most notes of each role.
const MAX_OF_SESSION: usize = 3;
const MAX_DECISIONS: usize = 5;
const MAX_MAPS: usize = 8;
const MAX_RECENT: usize = 12;
const MAX_LINKED: usize = 8;

/// The most tags or folders that the overview names.
const MAX_NAMES: usize = 12;

/// The most characters of a tag or folder that the overview names. The primer opens every session, and longer names could
/// say anything to its agent.
const MAX_TAG_CHARS: usize = 32;
const MAX_FOLDER_CHARS: usize = 64;

/// The most characters of the latest journal that are shown.
const MAX_JOURNAL_CHARS: usize = 600;

/// The most characters of a decision's summary that are shown.
const MAX_DECISION_CHARS: usize = 240;

/// The most journals that are read to find one with text.
const MAX_EMPTY_JOURNALS: usize = 8;

/// The folders that contain all notes of a type, and so tell nothing about a note's subject.
const STORE_FOLDERS: [&str; 3] = ["notes", "mocs", "journals"];

/// Separates the blocks of a journal that are shown on one line.
const BLOCK_SEPARATOR: &str = " · ";

/// Replaces omitted text.
const ELLIPSIS: &str = "…";

/// Reports the description of qipu, its commands, an overview of the store, the end of the last journal, the latest
/// decisions, the maps of most value and the notes changed last; without any of these, the notes with the most links to
/// them. Each note is reported once. A brief has the description, the most useful commands, the names of the notes of the
/// session, and the latest decisions.
pub(super) fn run(request: &PrimeRequest, session: &Session<'_>) -> Report {
    let store = session.store;
    let replacements = Replacements::for_answer(store.notes(), false);
    let count = if request.is_brief { BRIEF_COMMANDS } else { TAUGHT_COMMANDS.len() };
    let commands = TAUGHT_COMMANDS.iter().take(count);
    let mut entries = vec![Entry::About(format!("{ABOUT} {WHEN_TO_LOOK}").into())];
    let command = |(ordinal, (line, purpose)): (usize, &(&'static str, &'static str))| {
        // Behind the description, the index of the command before is the ordinal.
        Entry::Command { line, purpose, after: (ordinal > 0).then_some(ordinal) }
    };
    entries.extend(commands.enumerate().map(command));
    let mut seen = HashSet::new();
    if request.is_brief {
        for (ids, role) in [(&request.saved, EntryRole::Saved), (&request.shown, EntryRole::Shown)] {
            entries.extend(notes_of_session(store, &replacements, ids, role, &mut seen));
        }
        entries.extend(notes_of_role(store, &replacements, EntryRole::Decision, &mut seen));
    } else {
        let journals = Journals::new(store.notes());
        entries.push(Entry::Overview(Box::new(overview(store, &journals))));
        entries.extend(last_journal(store, &journals, &replacements, &mut seen));
        entries.extend(notes_of_role(store, &replacements, EntryRole::Decision, &mut seen));
        entries.extend(notes_of_role(store, &replacements, EntryRole::Map, &mut seen));
        entries.extend(notes_of_role(store, &replacements, EntryRole::Recent, &mut seen));
        if !entries.iter().any(|entry| entry.note().is_some()) {
            entries.extend(most_linked_notes(session, &replacements));
        }
    }
    // Notes enter a session through the primer, so it has the banner in all formats.
    let head = ReportHead {
        banner: request.banner.or(Some(true)),
        ..ReportHead::new(&layout::PRIME, Some(&store.shown_path))
    };
    let mut report = Report::new(head, entries);
    report.head.matched = report.count_notes();
    report
}

/// Counts the notes, the journals and the notes with each tag; if there are no tags, those in each folder. Withheld notes
/// name none.
fn overview(store: &Store, journals: &Journals) -> OverviewEntry {
    // A count has no place for the mark of a draft.
    let shown = NoteIdx::enumerate(store.notes())
        .filter(|(position, note)| store.is_shown_unasked(*position) && !store.marks_as_draft(note));
    let shown: Vec<_> = shown.map(|(_, note)| Arc::clone(note)).collect();
    let mut tags = tag_counts(&shown);
    let mut folders: HashMap<&str, usize> = HashMap::new();
    if tags.is_empty() {
        shown.iter().filter_map(|note| folder_of(note)).for_each(|folder| *folders.entry(folder).or_default() += 1);
    }
    tags.retain(|tag, _| is_like_a_tag(tag));
    folders.retain(|folder, _| folder.chars().count() <= MAX_FOLDER_CHARS);
    OverviewEntry {
        notes: store.notes().len(),
        journals: journals.count(),
        tags: most_frequent(tags),
        folders: most_frequent(folders),
    }
}

/// Whether a text is a short name of letters, digits and the signs that tags have, and not a sentence.
fn is_like_a_tag(text: &str) -> bool {
    let is_of_tag = |c: char| c.is_alphanumeric() || "-_/.+#:&@'".contains(c);
    text.chars().count() <= MAX_TAG_CHARS && text.chars().all(is_of_tag)
}

/// Returns the [`MAX_NAMES`] most frequent names by descending count, then by name.
fn most_frequent(counts: HashMap<&str, usize>) -> Vec<(String, usize)> {
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_unstable_by_key(|(name, count)| (Reverse(*count), *name));
    counts.into_iter().take(MAX_NAMES).map(|(name, count)| (name.to_owned(), count)).collect()
}

/// Returns the folder of a note below the one for its type; `None` if it is in that one.
fn folder_of(note: &NoteHandle) -> Option<&str> {
    let (folder, _) = note.local_path().rsplit_once('/')?;
    let below = folder.split_once('/').filter(|(first, _)| STORE_FOLDERS.contains(first)).map(|(_, below)| below);
    below.or_else(|| (!STORE_FOLDERS.contains(&folder)).then_some(folder))
}

/// Returns the entry of the latest journal with text, with its last blocks as the summary.
fn last_journal(
    store: &Store,
    journals: &Journals,
    replacements: &Replacements,
    seen: &mut HashSet<NoteIdx>,
) -> Option<Entry> {
    let notes = store.notes();
    let latest = journals
        .latest_first()
        .filter(|position| replacements.representative(*position) == *position && store.is_shown_unasked(*position))
        .take(MAX_EMPTY_JOURNALS);
    let mut texts = latest.map(|position| (position, last_blocks(&notes[position])));
    let (position, text) = texts.find(|(_, text)| !text.is_empty())?;
    seen.insert(position);
    Some(Entry::Note(with_summary(
        super::note_entry(store, &replacements.digests, position, EntryRole::LastJournal),
        text,
    )))
}

/// Returns the last blocks of a journal within [`MAX_JOURNAL_CHARS`]: text is added to a journal at its end.
fn last_blocks(note: &NoteHandle) -> String {
    let blocks = note.parsed_or_empty().blocks();
    let texts: Vec<&str> = blocks.iter().map(|block| block.text.trim()).filter(|text| !text.is_empty()).collect();
    let Some((last, before)) = texts.split_last() else { return String::new() };
    let mut shown = vec![truncated_at_word(last, MAX_JOURNAL_CHARS)];
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

/// Truncates a text to at most `limit` characters, behind a word.
fn truncated_at_word(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let mut end = 0;
    let mut chars = ELLIPSIS.chars().count();
    for segment in text.split_word_bounds() {
        chars += segment.chars().count();
        if chars > limit {
            break;
        }
        end += segment.len();
    }
    let kept = text.get(..end).unwrap_or_default().trim_end();
    format!("{kept}{ELLIPSIS}")
}

fn with_summary(entry: NoteEntry, text: String) -> NoteEntry {
    NoteEntry { summary: EntrySummary::Text(text.into()), ..entry }
}

/// Returns the names of notes of the session that still hold, the latest first, as [`notes_of_role`] returns others.
fn notes_of_session(
    store: &Store,
    replacements: &Replacements,
    ids: &[String],
    role: EntryRole,
    seen: &mut HashSet<NoteIdx>,
) -> Vec<Entry> {
    let notes = ids.iter().rev().filter_map(|id| store.position(&NoteId::parse_qualified(id)?));
    let is_current = |note: &NoteIdx| store.is_shown_unasked(*note) && !store.is_retired(*note);
    let unseen = notes.filter(is_current).filter(|note| seen.insert(*note));
    let entry = |note| with_summary(super::note_entry(store, &replacements.digests, note, role), String::new());
    unseen.take(MAX_OF_SESSION).map(|note| Entry::Note(entry(note))).collect()
}

/// Returns the entries of one role: the latest decisions, the maps of most value, or the other notes changed last. A
/// digest or successor replaces the first of its notes. Leaves out what was turned down, hidden drafts and the notes in
/// `seen`, and adds the others to it.
fn notes_of_role(
    store: &Store,
    replacements: &Replacements,
    role: EntryRole,
    seen: &mut HashSet<NoteIdx>,
) -> Vec<Entry> {
    let (positions, most) = match role {
        EntryRole::Decision => (decisions(store, replacements), MAX_DECISIONS),
        EntryRole::Map => (key_maps(store), MAX_MAPS),
        _ => (recent_notes(store), MAX_RECENT),
    };
    let representatives = positions.map(|position| replacements.representative(position));
    let unseen = representatives.filter(|position| store.is_shown_unasked(*position) && seen.insert(*position));
    let entry = |position| {
        let entry = super::note_entry(store, &replacements.digests, position, role);
        if role != EntryRole::Decision {
            return entry;
        }
        let summary =
            entry.note.summary().map(|summary| truncated_at_word(&summary, MAX_DECISION_CHARS)).unwrap_or_default();
        with_summary(entry, summary)
    };
    unseen.take(most).map(|position| Entry::Note(entry(position))).collect()
}

/// Returns the [`MAX_LINKED`] notes to which most notes link, then by value and id. Hidden drafts count for none.
fn most_linked_notes(session: &Session<'_>, replacements: &Replacements) -> Vec<Entry> {
    let (store, graph) = (session.store, session.graph());
    let links = |position: NoteIdx| {
        let from: HashSet<NoteIdx> = graph.backlinks(position).filter(|from| *from != position).collect();
        from.into_iter().filter(|from| store.is_shown_unasked(*from)).count()
    };
    let is_shown = |position| {
        replacements.representative(position) == position
            && store.is_shown_unasked(position)
            && !store.is_retired(position)
    };
    let found = NoteIdx::enumerate(store.notes()).filter(|(position, _)| is_shown(*position));
    let mut found: Vec<_> = found
        .map(|(position, note)| (Reverse((links(position), note.value_or_default())), position))
        .filter(|(Reverse((links, _)), _)| *links > 0)
        .collect();
    found.sort_unstable();
    let entry = |position| super::note_entry(store, &replacements.digests, position, EntryRole::Linked);
    found.into_iter().take(MAX_LINKED).map(|(_, position)| Entry::Note(entry(position))).collect()
}

/// Returns the decisions and warnings that hold, or whose replacement holds, by their latest change, the newest first, then
/// those without a date in descending order of id: decisions are often numbered.
fn decisions<'a>(store: &'a Store, replacements: &Replacements) -> Box<dyn Iterator<Item = NoteIdx> + 'a> {
    let is_current = |position: NoteIdx| !store.is_retired(replacements.representative(position));
    let is_wanted = |position: NoteIdx, note: &NoteHandle| {
        (note.flags.is_decision || note.flags.is_warning) && is_current(position)
    };
    sorted(store, is_wanted, |position, note| Reverse((note.list_fields().changed(), position)))
}

/// Returns the maps of content by value, then latest change, then id; retired ones last.
fn key_maps(store: &Store) -> Box<dyn Iterator<Item = NoteIdx> + '_> {
    let key = |position, note: &NoteHandle| {
        let (value, changed) = (note.value_or_default(), note.list_fields().changed());
        (store.is_retired(position), Reverse(value), Reverse(changed))
    };
    sorted(store, |_, note| note.flags.is_moc, key)
}

/// Returns the notes with a date that are no maps by latest change, then value, then id; retired ones last.
fn recent_notes(store: &Store) -> Box<dyn Iterator<Item = NoteIdx> + '_> {
    let key = |position, note: &NoteHandle| {
        let (value, changed) = (note.value_or_default(), note.list_fields().changed());
        (store.is_retired(position), Reverse(changed), Reverse(value))
    };
    sorted(store, |_, note| !note.flags.is_moc && note.list_fields().changed().is_some(), key)
}

/// Returns the wanted notes by key, the least first. O(notes), and O(log notes) for each that is taken.
fn sorted<'a, K: Ord + Send + 'a>(
    store: &Store,
    is_wanted: impl Fn(NoteIdx, &NoteHandle) -> bool + Sync,
    key: impl Fn(NoteIdx, &NoteHandle) -> K + Sync,
) -> Box<dyn Iterator<Item = NoteIdx> + 'a> {
    let notes = store.notes().par_iter().enumerate().with_min_len(MIN_NOTES_PER_TASK);
    let notes = notes.map(|(index, note)| (NoteIdx::new(index), note));
    let wanted = notes.filter(|(position, note)| is_wanted(*position, note));
    let found: Vec<_> = wanted.map(|(position, note)| Reverse((key(position, note), position))).collect();
    let mut found = BinaryHeap::from(found);
    Box::new(std::iter::from_fn(move || found.pop().map(|Reverse((_, position))| position)))
}
