//! `qipu tasks`: lists the items of task lists in notes, each with its line.

use std::sync::Arc;

use rayon::prelude::*;

use super::list::matching;
use crate::context::Session;
use crate::error::Error;
use crate::escape::{one_line, shortened};
use crate::note::{Note, TaskItem};
use crate::report::{Entry, Report, ReportHead, RowEntry, RowValue, layout};
use crate::request::{Sort, TasksRequest};
use crate::store::{NoteHandle, Store};

/// The fewest notes that one thread parses.
const MIN_NOTES: usize = 64;

/// The most characters of a task and of a title that are shown.
const MAX_TEXT: usize = 500;
const MAX_TITLE: usize = 100;

/// Reports the tasks of the notes that pass all filters, in the order of a list, then of their lines. Parses these notes.
pub(super) fn run(request: &TasksRequest, session: &Session<'_>) -> Result<Report, Error> {
    let notes = matching(&request.filters, Sort::Updated, session)?;
    let is_wanted = |task: &TaskItem| request.with_done || task.is_done == request.only_done;
    let rows_of = |note: &&Arc<NoteHandle>| {
        let tasks = note.read_once(Note::tasks).into_iter().filter(is_wanted);
        tasks.map(|task| Entry::Row(row(session.store, note, task))).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<Entry>> = notes.par_iter().with_min_len(MIN_NOTES).map(rows_of).collect();
    let mut entries: Vec<Entry> = rows.into_iter().flatten().collect();
    let count = entries.len();
    entries.truncate(request.limit.unwrap_or(count));
    let is_limited = entries.len() < count;
    let head = ReportHead { is_limited, ..ReportHead::new(&layout::TASKS, Some(&session.store.shown_path)) };
    Ok(Report::new(head, entries))
}

fn row(store: &Store, note: &Arc<NoteHandle>, task: TaskItem) -> RowEntry {
    let title = shortened(&one_line(note.title()), MAX_TITLE);
    let text = shortened(&one_line(&task.text), MAX_TEXT);
    let mark = if task.is_done { 'x' } else { ' ' };
    let (draft, status) = super::draft_mark(store, note);
    let line = format!("{}:{} [{mark}] {text} ({title}){draft}", note.id, task.line);
    let mut fields = vec![
        ("id", RowValue::name(&note.id)),
        ("line", RowValue::Count(task.line)),
        ("done", RowValue::Flag(task.is_done)),
        ("text", RowValue::Text(text)),
        ("title", RowValue::Text(title)),
    ];
    fields.extend(status);
    RowEntry { kind: "task", list: "tasks", line, note: Some(Arc::clone(note)), fields, ..RowEntry::default() }
}
