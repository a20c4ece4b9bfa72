//! What may have been meant where an answer is empty because nothing has a tag.

use crate::report::{Entry, NearTag, Report};
use crate::request::{Command, Context, List, Search};
use crate::store::Store;

/// Names the tags of a request that no note has, in a report that shows no note.
pub(super) fn with_near_tags(mut report: Report, command: &Command, store: &Store) -> Report {
    if report.entries.iter().any(|entry| matches!(entry, Entry::Note(_))) {
        return report;
    }
    let has_notes = |tag: &str| store.notes().iter().any(|note| note.ties().tags.contains(&tag));
    let unknown = tags(command).iter().filter(|tag| !has_notes(tag));
    report.head.near_tags = unknown.map(|tag| NearTag { tag: tag.clone(), near: store.near_tags(tag) }).collect();
    report
}

fn tags(command: &Command) -> &[String] {
    match command {
        Command::List(List { tags, .. }) | Command::Search(Search { only: List { tags, .. }, .. }) => tags,
        Command::Context(Context { selection, .. }) => &selection.tags,
        _ => &[],
    }
}
