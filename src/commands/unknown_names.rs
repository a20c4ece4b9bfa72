//! Suggests names if an answer is empty because no note has a tag, a type or a field of the request.

use std::collections::BTreeSet;

use crate::context::parse_filters;
use crate::filter::{Condition, FieldTest, Key};
use crate::report::{Entry, Report, UnknownName};
use crate::request::{Filters, ReadCommand};
use crate::store::{OWN_FIELDS, Store, near_names};

/// Adds the tags, types and fields of a request that no note has to a report without notes. Takes O(notes) for each.
pub(super) fn with_unknown_names(mut report: Report, command: &ReadCommand, store: &Store) -> Report {
    let (filters, selected_tags) = match command {
        ReadCommand::List(list) => (&list.filters, &[][..]),
        ReadCommand::Search(search) => (&search.filters, &[][..]),
        ReadCommand::Review(review) => (&review.filters, &[][..]),
        ReadCommand::Tasks(tasks) => (&tasks.filters, &[][..]),
        ReadCommand::Context(context) => (&context.selection.filters, &context.selection.tags[..]),
        ReadCommand::ExportLinks { selection, .. } => (&selection.filters, &selection.tags[..]),
        _ => return report,
    };
    if !report.entries.iter().any(|entry| matches!(entry, Entry::Note(_) | Entry::Row(_))) {
        report.head.unknown_names = unknown_names(filters, selected_tags, store);
    }
    report
}

fn unknown_names(filters: &Filters, selected_tags: &[String], store: &Store) -> Vec<UnknownName> {
    let mut names: BTreeSet<(&'static str, String)> = selected_tags.iter().map(|tag| ("tag", tag.clone())).collect();
    // An expression that can't be parsed has no answer.
    if let Ok(expression) = parse_filters(store, filters) {
        expression.for_each_test(&mut |test| names.extend(names_in(test)));
    }
    let unknown = names.into_iter().filter(|(sort, name)| !is_in_use(store, sort, name));
    unknown.map(|(sort, name)| UnknownName { sort, near: near(store, sort, &name), name }).collect()
}

/// Returns the tags, the types or the field that a test names.
fn names_in(test: &FieldTest) -> Vec<(&'static str, String)> {
    let field = match &test.key {
        Key::Field(name) => name.as_str(),
        Key::Own(name) => name,
        _ => return Vec::new(),
    };
    let sort = match field {
        "tag" | "tags" => "tag",
        "type" => "type",
        _ if OWN_FIELDS.contains(&field) => return Vec::new(),
        _ => return vec![("field", field.to_owned())],
    };
    let Condition::OneOf(values) = &test.condition else { return Vec::new() };
    values.iter().map(|value| (sort, value.clone())).collect()
}

fn is_in_use(store: &Store, sort: &str, name: &str) -> bool {
    store.notes().iter().any(|note| match sort {
        "tag" => note.tags().contains(&name),
        "type" => note.list_fields().kind == name,
        _ => note.field_texts(name).is_some(),
    })
}

fn near(store: &Store, sort: &str, name: &str) -> Vec<String> {
    match sort {
        "tag" => near_names(store.notes().iter().flat_map(|note| note.tags()), name),
        "type" => near_names(store.notes().iter().map(|note| note.list_fields().kind), name),
        _ => store.near_fields(name),
    }
}
