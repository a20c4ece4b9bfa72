//! Suggests tags and types if an answer is empty because no note has those of the request.

use crate::report::{Entry, Report, UnknownName};
use crate::request::{Command, ContextRequest, ListRequest, SearchRequest};
use crate::store::Store;

/// Adds the tags and types of a request that no note has to a report without notes. Takes O(notes).
pub(super) fn with_unknown_names(mut report: Report, command: &Command, store: &Store) -> Report {
    if report.entries.iter().any(|entry| matches!(entry, Entry::Note(_))) {
        return report;
    }
    let (tags, kinds) = names(command);
    let has_tag = |tag: &str| store.notes().iter().any(|note| note.tags().contains(&tag));
    let has_kind = |kind: &str| store.notes().iter().any(|note| note.list_fields().kind == kind);
    let tags = tags.iter().filter(|tag| !has_tag(tag)).map(|tag| ("tag", tag, store.near_tags(tag)));
    let kinds = kinds.iter().filter(|kind| !has_kind(kind)).map(|kind| ("type", kind, store.near_kinds(kind)));
    let unknown = tags.chain(kinds).map(|(sort, name, near)| UnknownName { sort, name: name.clone(), near });
    report.head.unknown_names = unknown.collect();
    report
}

/// Returns the tags and the types in a request.
fn names(command: &Command) -> (&[String], &[String]) {
    match command {
        Command::List(ListRequest { tags, kinds, .. })
        | Command::Search(SearchRequest { only: ListRequest { tags, kinds, .. }, .. }) => (tags, kinds),
        Command::Context(ContextRequest { selection, .. }) | Command::Graph { selection, .. } => (&selection.tags, &[]),
        _ => (&[], &[]),
    }
}
