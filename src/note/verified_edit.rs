//! Verified edits of the lines of one frontmatter field.
//!
//! An edit returns a field only if its lines, parsed again, have exactly the expected value.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::list_fields::plain;
use super::value::Value;
use super::yaml::{Yaml, YamlNode};
use super::yaml_document::YamlDocument;
use super::yaml_emitter::flow;

#[derive(Debug, Clone)]
pub(super) struct FieldText {
    /// The lines from that of the key to the last one of the value.
    pub(super) lines: String,
    pub(super) value: Value,
    /// The line ending of new lines.
    pub(super) line_end: &'static str,
}

pub(super) fn by_key(entries: &[(String, Value)]) -> HashMap<&str, &Value> {
    entries.iter().map(|(key, value)| (key.as_str(), value)).collect()
}

/// New values for fields of a map; `None` removes a field.
type FieldChanges<'k> = [(&'k str, Option<Value>)];

/// Sets and removes fields of a map. `None` if no candidate has exactly these fields.
pub(super) fn with_changes(map: &str, field: FieldText, changes: &FieldChanges<'_>) -> Option<FieldText> {
    let all_at_once = |field: &FieldText, changes: &FieldChanges<'_>| {
        let field = with_set_fields(map, field.clone(), changes)?;
        let removed: HashSet<&str> = changes.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| *key).collect();
        if removed.is_empty() {
            return Some(field);
        }
        let Value::Map(mut entries) = field.value.clone() else { return None };
        entries.retain(|(key, _)| !removed.contains(key.as_str()));
        edited(map, &field, Value::Map(entries), |document| document.without_entries(map, &removed))
    };
    in_batches(field, changes, &all_at_once)
}

/// Sets the fields of a map that have a new value in `changes`.
fn with_set_fields(map: &str, field: FieldText, changes: &FieldChanges<'_>) -> Option<FieldText> {
    let Value::Map(mut entries) = field.value.clone() else { return None };
    let set: Vec<(&str, &Value)> = changes.iter().filter_map(|(key, value)| Some((*key, value.as_ref()?))).collect();
    if set.is_empty() {
        return Some(field);
    }
    let mut added: HashMap<&str, &Value> = set.iter().copied().collect();
    for (key, old) in &mut entries {
        if let Some(new) = added.remove(key.as_str()) {
            *old = new.clone();
        }
    }
    let new = set.iter().filter(|(key, _)| added.contains_key(key));
    entries.extend(new.map(|(key, value)| ((*key).to_owned(), (*value).clone())));
    edited(map, &field, Value::Map(entries), |document| {
        document.set_in_map(map, &set.iter().map(|(key, value)| (*key, flow(value))).collect::<Vec<_>>())
    })
}

/// The most divisions of the changes of one field before the merge gives up; fields edited by people need fewer.
const MAX_SPLITS: usize = 100;

/// Makes changes of a field all at once, or in two halves if the result is not as expected, so that the work grows with
/// the length of the field only. `None` if a change can't be made, or after [`MAX_SPLITS`] divisions.
pub(super) fn in_batches<C>(
    field: FieldText,
    changes: &[C],
    all_at_once: &dyn Fn(&FieldText, &[C]) -> Option<FieldText>,
) -> Option<FieldText> {
    let (mut field, mut pending, mut splits_left) = (field, vec![changes], MAX_SPLITS);
    while let Some(changes) = pending.pop().filter(|changes| !changes.is_empty()) {
        if let Some(changed) = all_at_once(&field, changes) {
            field = changed;
            continue;
        }
        splits_left = splits_left.checked_sub(1).filter(|_| changes.len() > 1)?;
        let (first, rest) = changes.split_at(changes.len() / 2);
        pending.extend([rest, first]);
    }
    Some(field)
}

/// Edits the lines of a field. Returns the first candidate with exactly the expected value.
pub(super) fn edited(
    key: &str,
    field: &FieldText,
    expected: Value,
    candidates: impl Fn(&YamlDocument<'_>) -> Vec<String>,
) -> Option<FieldText> {
    let line_end = field.line_end;
    let document = YamlDocument::parse(&field.lines, line_end).ok()?;
    let has_expected_value = |lines: &String| {
        let fields = YamlDocument::parse(lines, line_end).map(|document| document.values()).unwrap_or_default();
        matches!(fields.as_slice(), [(name, value)] if name == key && plain(value) == plain(&expected))
    };
    let lines = candidates(&document).into_iter().find(has_expected_value)?;
    Some(FieldText { lines, value: expected, line_end })
}

/// Returns the replacement that gives the item `nodes[index]` of a list other entries. `lines` is the text of the document
/// up to the end of the list. `None` if the syntax of the item has no room for them.
pub(super) fn item_replacement(
    document: &YamlDocument<'_>,
    lines: &str,
    nodes: &[Yaml<'_>],
    index: usize,
    new: &Value,
) -> Option<(Range<usize>, String)> {
    let Value::Map(expected) = new else { return None };
    let line_end = document.line_end;
    let node = nodes.get(index)?;
    let source = lines.get(node.span.clone())?.trim_end();
    let span = node.span.start..node.span.start + source.len();
    if !matches!(node.kind, YamlNode::Map(_)) {
        return Some((span, flow(new)));
    }
    if source.starts_with('{') {
        let item = with_entries(format!("k: {source}{line_end}"), expected, line_end)?;
        return Some((span, item.strip_prefix("k: ")?.trim_end().to_owned()));
    }
    let start = document.line_start(node.span.start);
    let end = nodes.get(index + 1).map_or(lines.len(), |next| document.line_start(next.span.start));
    let (dash, rest) = (lines.get(start..node.span.start)?, lines.get(node.span.start..end)?);
    let indent = " ".repeat(dash.len());
    if dash.replacen('-', " ", 1) != indent {
        return None;
    }
    let head = format!("k:{line_end}");
    let item = with_entries(format!("{head}{indent}{rest}"), expected, line_end)?;
    let item = item.strip_prefix(&head)?.strip_prefix(&indent)?;
    Some((start..end, format!("{dash}{item}")))
}

/// Returns the lines of the field `k`, a map, with exactly the expected entries.
fn with_entries(lines: String, expected: &[(String, Value)], line_end: &'static str) -> Option<String> {
    let (_, value) = YamlDocument::parse(&lines, line_end).ok()?.values().into_iter().next()?;
    let Value::Map(old) = &value else { return None };
    let (old_by_key, expected_by_key) = (by_key(old), by_key(expected));
    let is_new =
        |(key, value): &&(String, Value)| old_by_key.get(key.as_str()).map(|old| plain(old)) != Some(plain(value));
    let set = expected.iter().filter(is_new).map(|(key, value)| (key.as_str(), Some(value.clone())));
    let removed =
        old.iter().filter(|(key, _)| !expected_by_key.contains_key(key.as_str())).map(|(key, _)| (key.as_str(), None));
    let changes: Vec<_> = set.chain(removed).collect();
    let field = FieldText { lines, value: value.clone(), line_end };
    with_changes("k", field, &changes).map(|field| field.lines)
}
