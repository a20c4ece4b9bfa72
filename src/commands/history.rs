//! `qipu history`: how a note changed, the latest change first.

use jiff::Timestamp;

use super::note_changes;
use crate::error::Error;
use crate::escape::{one_line, shortened};
use crate::note::{Note, Status};
use crate::report::{Entry, Report, ReportHead, RowEntry, RowValue, layout};
use crate::request::HistoryRequest;
use crate::store::{CommitInfo, NoteVersion, Store};

/// The digits of a commit that an answer shows.
pub(super) const SHOWN_DIGITS: usize = 12;
/// The most characters of the name of an author.
const MAX_AUTHOR: usize = 60;

/// Reports the versions of a note.
pub(super) fn run(request: &HistoryRequest, store: &Store) -> Result<Report, Error> {
    let note = store.resolve(&request.id)?;
    let (versions, is_limited) =
        store.note_history(note, request.since.as_ref(), request.limit.unwrap_or(usize::MAX))?;
    let rows = versions.iter().map(|version| Entry::Row(row(store, version))).collect();
    let head = ReportHead::new(&layout::HISTORY, Some(&store.shown_path));
    let id = ("id", RowValue::name(&store.notes()[note].id));
    let facts = [head.facts.as_slice(), &[id]].concat();
    Ok(Report::new(ReportHead { is_limited, facts, ..head }, rows))
}

fn row(store: &Store, version: &NoteVersion) -> RowEntry {
    let NoteVersion { commit, before, after } = version;
    let (action, changes) = match (before, after) {
        (Some(before), Some(after)) if before.path != after.path => ("renamed", note_changes::lines(before, after)),
        (Some(before), Some(after)) => ("changed", note_changes::lines(before, after)),
        (None, _) => ("created", Vec::new()),
        (_, None) => ("deleted", Vec::new()),
    };
    let by = commit.as_ref().map_or_else(|| "not committed".to_owned(), in_words);
    let file = after.as_ref().or(before.as_ref()).map_or(RowValue::Nothing, |note| RowValue::name(&note.path));
    let field = |value: fn(&CommitInfo) -> RowValue| commit.as_ref().map_or(RowValue::Nothing, value);
    let is_draft = |note: &Note| note.extra_fields().status() == Some(Status::Draft);
    let is_marked = store.config.review.marks_drafts() && after.as_ref().or(before.as_ref()).is_some_and(is_draft);
    let mut fields = vec![
        ("commit", field(|commit| RowValue::Name(short(&commit.id)))),
        ("time", field(|commit| RowValue::Name(time(commit)))),
        ("author", field(|commit| RowValue::Text(author(commit)))),
        ("action", RowValue::name(action)),
        ("file", file),
        ("changes", RowValue::Lines(changes.clone())),
    ];
    let (draft, status) = super::draft_words(is_marked);
    fields.extend(status);
    let (line, detail) = (format!("{by}: {action}{draft}"), changes.join("\n"));
    RowEntry { kind: "version", list: "versions", line, detail, fields, ..RowEntry::default() }
}

fn in_words(commit: &CommitInfo) -> String {
    format!("{} {} {}", short(&commit.id), time(commit), author(commit))
}

/// Returns the digits by which an answer names a commit.
pub(super) fn short(id: &str) -> String {
    id.get(..SHOWN_DIGITS).unwrap_or(id).to_owned()
}

/// Returns the time of a commit in UTC; git allows times that no calendar has.
fn time(commit: &CommitInfo) -> String {
    Timestamp::from_second(commit.time).map_or_else(|_| commit.time.to_string(), |time| time.to_string())
}

fn author(commit: &CommitInfo) -> String {
    shortened(&one_line(&commit.author), MAX_AUTHOR)
}
