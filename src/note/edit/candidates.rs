//! Candidate texts of an edit: each may result in the expected fields, which the caller verifies.

use std::collections::HashSet;

use super::super::list_fields::{items, with_entries};
use super::super::splice::with_spans;
use super::super::value::Value;
use super::super::verified_edit::item_replacement;
use super::super::yaml::YamlNode;
use super::super::yaml_document::YamlDocument;
use super::super::yaml_emitter::{entries_with_nulls, flow, scalar};
use super::expected::{contains_entries, map_of_texts};
use super::operation::Edit;

/// Returns texts that may have the fields of an edit, the smallest change first.
pub(super) fn candidates(document: &YamlDocument<'_>, edit: &Edit) -> Vec<String> {
    match edit {
        Edit::SetText { key, text } => document.set(key, &scalar(text, false)),
        Edit::SetPlain { key, text } => document.set(key, text),
        Edit::SetMap { key, entries } => document.set(key, &flow(&map_of_texts(entries))),
        Edit::AddItem { key, text } => document.add_items(key, &[Value::text(text)]),
        Edit::AddMap { key, entries } => document.add_items(key, &[map_of_texts(entries)]),
        Edit::AddValue { key, value } => document.add_items(key, &[value.with_nulls()]),
        Edit::RemoveItem { key, text } => document.remove_items(key, &|item| item.to_line().trim() == text),
        Edit::RemoveMap { key, entries } => document.remove_items(key, &|item| contains_entries(item, entries)),
        Edit::RenameItem { key, from, to } => document.rename_item(key, from, to),
        Edit::Retarget { key, entries, to } => document.retarget(key, &|item| contains_entries(item, entries), to),
        Edit::SetEntries { key, item, entries } => set_entries(document, key, item, entries),
        Edit::SetCustom { key, text } => document.set_in_map("custom", &[(key, scalar(text, true))]),
        Edit::SetCustomValue { key, value } => document.set_in_map("custom", &[(key, flow(&value.with_nulls()))]),
        Edit::RemoveEmpty { key } if !document.has_removable_lines(key) => Vec::new(),
        Edit::RemoveEmpty { key } | Edit::RemoveField(key) => document.without_field(key),
        Edit::RemoveCustom(key) => document.without_entries("custom", &HashSet::from([*key])),
        Edit::SetBody(_) | Edit::Append { .. } | Edit::ChangeBody(_) => Vec::new(),
    }
}

fn set_entries(document: &YamlDocument<'_>, key: &str, item: &Value, entries: &[(String, Value)]) -> Vec<String> {
    let Some((name, list)) = document.entry(key) else { return Vec::new() };
    let all = items(key, &Value::from_yaml(list));
    let Some(index) = all.iter().position(|other| other == item) else { return Vec::new() };
    let new = with_entries(key, item, &entries_with_nulls(entries));
    match &list.kind {
        YamlNode::List(nodes) => {
            let lines = document.text_up_to_end_of(list);
            let replacement = item_replacement(document, lines, nodes, index, &new);
            replacement.and_then(|new| with_spans(document.yaml, vec![new]).ok()).into_iter().collect()
        }
        _ => document.with_new_value(name, list, &flow(&Value::List(vec![new]))),
    }
}
