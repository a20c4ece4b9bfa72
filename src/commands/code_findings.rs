//! The references of notes to code that no longer hold, and the updates of those whose code merely moved.

use super::change::{PlannedChange, code_reference};
use super::note_warning;
use crate::code_refs::{self, Marks, Since, Subject, Verdict};
use crate::note::{CodeRef, RefOrigin, Timestamp, code_refs_in};
use crate::report::{DiagnosticEntry, NoteEntry, NoteLayout, Report, counted};
use crate::request::ReviewKind;
use crate::store::{NoteHandle, NoteIdx, ProjectFiles, Store};
use crate::warnings;

/// The most bytes of the project's files that a check reads, and the marking of an answer.
const MAX_CHECKED: u64 = 256 * 1024 * 1024;
const MAX_MARKED: u64 = 8 * 1024 * 1024;
/// The most notes of an answer that are marked, and the most references of each that are read.
const MAX_MARKED_NOTES: usize = 64;
const MAX_MARKED_REFERENCES: usize = 8;
/// The digits of a commit in a message.
const SHOWN_DIGITS: usize = 12;
const DAY_SECONDS: i64 = 86_400;

/// A reference of a note that no longer holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodeFinding {
    pub(super) note: NoteIdx,
    pub(super) reference: CodeRef,
    pub(super) verdict: Verdict,
    pub(super) kind: ReviewKind,
    pub(super) message: String,
    /// The command that settles it.
    pub(super) fix: String,
}

/// Returns the notes that still hold, or whose last day is past.
pub(super) fn notes_in_force(store: &Store) -> Vec<NoteIdx> {
    // References to code are relative to the project of the first collection.
    let notes = NoteIdx::enumerate(store.notes()).filter(|(_, note)| note.is_in_repository());
    let is_retired =
        |note: &NoteHandle| note.retired(|| store.today.day()).is_some_and(|retired| retired.status.is_some());
    notes.filter(|(_, note)| !is_retired(note)).map(|(position, _)| position).collect()
}

/// What a check of references to code found.
#[derive(Default)]
pub(super) struct CheckedCode {
    /// The references that no longer hold, in the order of the notes.
    pub(super) found: Vec<CodeFinding>,
    /// How many references were not compared.
    pub(super) not_compared: usize,
}

/// Checks the references of notes to code. Those in the text of journals, which describe a day, are not checked.
pub(super) fn checked(store: &Store, notes: &[NoteIdx]) -> CheckedCode {
    let Some(mut files) = store.project_files(MAX_CHECKED) else {
        warnings::add("the project's folder can't be read: references to code were not checked".to_owned());
        return CheckedCode::default();
    };
    let mut references: Vec<(NoteIdx, CodeRef)> = Vec::new();
    for position in notes {
        let note = &store.notes()[*position];
        references.extend(note.code_refs().into_iter().map(|found| (*position, found)));
        if !note.flags.is_journal {
            let of_text = note.read_once(|note| code_refs_in(note.body()));
            references.extend(of_text.into_iter().map(|found| (*position, found)));
        }
    }
    if references.is_empty() {
        return CheckedCode::default();
    }
    files.ask_git();
    let subject = |(note, reference): &(NoteIdx, CodeRef)| (reference.clone(), written(&store.notes()[*note]));
    let subjects: Vec<_> = references.iter().map(subject).collect();
    let subjects: Vec<_> = subjects.iter().map(|(reference, time)| Subject { reference, time: *time }).collect();
    let verdicts = code_refs::check(&files, &subjects);
    for path in files.unreadable() {
        warnings::add(format!("{path} can't be read: references to it were not checked"));
    }
    let not_compared = verdicts.iter().flatten().filter(|verdict| **verdict == Verdict::NotCompared).count();
    let found = references.into_iter().zip(verdicts);
    let found = found.filter_map(|((note, reference), verdict)| finding(store, note, reference, verdict?)).collect();
    CheckedCode { found, not_compared }
}

/// Returns the last second of the time at which a note was written: a day without a time ends with its last second.
fn written(note: &NoteHandle) -> Option<i64> {
    let fields = note.list_fields();
    let start = fields.changed()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second();
    let is_day = fields.changed_as_written().as_ref().map(Timestamp::as_str).is_some_and(|text| text.len() <= 10);
    Some(if is_day { start + DAY_SECONDS - 1 } else { start })
}

/// Returns what to report of a verdict; `None` if the reference holds.
fn finding(store: &Store, note: NoteIdx, reference: CodeRef, verdict: Verdict) -> Option<CodeFinding> {
    let is_permalink = reference.commit.is_some() && matches!(reference.origin, RefOrigin::Text { .. });
    let shown = reference.shown();
    let (kind, message) = match &verdict {
        Verdict::Unchanged | Verdict::NotCompared => return None,
        // A permalink names the place at its commit, which stays what it was.
        Verdict::Moved(_) | Verdict::MovedPerhaps(_) if is_permalink => return None,
        Verdict::MovedPerhaps(place) => (ReviewKind::CodeMoved, format!("`{shown}` is perhaps now {}", place.shown())),
        Verdict::Moved(place) => (ReviewKind::CodeMoved, format!("`{shown}` is now {}", place.shown())),
        Verdict::Changed { place, lines, since } => {
            let has_place = reference.symbol.is_some() || place.path != reference.path;
            let place = if has_place { format!("; it is now in {}", place.shown()) } else { String::new() };
            let lines = lines.map_or_else(String::new, |lines| format!(" ({})", counted(lines, "line")));
            (ReviewKind::CodeChanged, format!("`{shown}` changed{lines}{}{place}", in_words(since)))
        }
        Verdict::Gone { since } => (ReviewKind::CodeGone, format!("`{shown}` is gone{}", in_words(since))),
    };
    let fix = fix(&store.notes()[note], &reference, &verdict);
    Some(CodeFinding { note, reference, verdict, kind, message, fix })
}

fn in_words(since: &Since) -> String {
    match since {
        Since::Commit(id) => format!(" in commit {}", id.get(..SHOWN_DIGITS).unwrap_or(id)),
        Since::NotCommitted => " and is not committed".to_owned(),
        Since::Unknown => String::new(),
    }
}

/// Returns the command that settles a finding.
fn fix(note: &NoteHandle, reference: &CodeRef, verdict: &Verdict) -> String {
    let id = &note.id;
    // A command must be safe to paste into a shell.
    let is_plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_./-@+:#".contains(c));
    match (verdict, &reference.origin) {
        (Verdict::Moved(_), RefOrigin::Field(_)) if reference.is_stored() => {
            format!("qipu review {id} --kind code --fix")
        }
        (Verdict::Moved(place), RefOrigin::Text { written, .. }) if is_plain(written) && is_plain(&place.path) => {
            let place = CodeRef { path: place.path.clone(), line: place.line, ..reference.clone() };
            format!("qipu update {id} --replace {written} {}", place.shown())
        }
        (Verdict::Changed { .. }, RefOrigin::Field(_)) if reference.is_stored() => {
            format!("qipu update {id} --verified true")
        }
        _ => format!("qipu update {id}"),
    }
}

impl CodeFinding {
    /// Whether it concerns a reference whose code merely moved.
    pub(super) fn is_fixable(&self) -> bool {
        matches!(self.verdict, Verdict::Moved(_)) && self.reference.is_stored()
    }

    /// Returns the entry of a report.
    pub(super) fn entry(&self, store: &Store) -> DiagnosticEntry {
        let note = &store.notes()[self.note];
        let line = match &self.reference.origin {
            RefOrigin::Text { line, .. } => Some(note.parsed_or_empty().body_line() + line),
            RefOrigin::Field(_) => None,
        };
        let message = format!("{}; `{}`", self.message, self.fix);
        DiagnosticEntry { line, ..note_warning(store, note, self.kind.name(), message) }
    }
}

/// Plans the updates of the references whose code merely moved. A note that can't be changed stays as it is.
pub(super) fn plan_moved(store: &Store, found: &[CodeFinding]) -> Vec<PlannedChange> {
    let fixable: Vec<&CodeFinding> = found.iter().filter(|finding| finding.is_fixable()).collect();
    if fixable.is_empty() {
        return Vec::new();
    }
    // Without its folder, it is not known which commit the new lines are of.
    let Some(files) = store.project_files(0) else {
        warnings::add("the project's folder can't be read: no reference was updated".to_owned());
        return Vec::new();
    };
    let head = files.head();
    let of_note = |same: &[&CodeFinding]| {
        let moved = same.iter().filter_map(|finding| match &finding.verdict {
            Verdict::Moved(place) => Some((&finding.reference, place)),
            _ => None,
        });
        code_reference::plan_moved(store, same.first()?.note, moved, &files, head.as_deref()).ok()
    };
    fixable.chunk_by(|a, b| a.note == b.note).filter_map(of_note).collect()
}

/// Marks the notes that are shown in full and refer to code that is no longer what it was. Reads files of the project
/// within limits and starts no process; what can't be read within them is not marked.
pub(super) fn mark_changed_code(report: &mut Report, store: &Store) {
    if !matches!(report.head.layout.note, NoteLayout::Section | NoteLayout::Document | NoteLayout::Item) {
        return;
    }
    // The files of a commit are what it changed.
    let refers = |entry: &&mut NoteEntry| entry.note.flags.has_code && !entry.note.is_commit();
    let mut entries = report.note_entries_mut().filter(refers).peekable();
    if entries.peek().is_none() {
        return;
    }
    let Some(files) = store.project_files(MAX_MARKED).filter(ProjectFiles::is_known) else { return };
    let marks = Marks::new(files);
    for entry in entries.take(MAX_MARKED_NOTES) {
        let references = entry.note.code_refs();
        let mut references = references.iter().take(MAX_MARKED_REFERENCES);
        if references.any(|reference| !marks.is_in_its_file(reference)) {
            entry.state_mut().has_changed_code = true;
        }
    }
}
