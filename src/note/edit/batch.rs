//! Several edits of one field at once: each alone parses the frontmatter again, so that thousands would take quadratic time.

use std::collections::{HashMap, HashSet};

use super::super::list_fields::{get, items};
use super::super::value::{FieldValues, Value, is_null_text};
use super::super::yaml_document::YamlDocument;
use super::super::yaml_emitter::{flow, scalar};
use super::expected::{map_of_texts, set};
use super::operation::Edit;

/// The fields that edits must result in, and texts that may have them.
pub(super) struct BatchPlan {
    pub(super) expected: FieldValues,
    pub(super) candidates: Vec<String>,
}

/// Returns the number of edits at the beginning that can be made at once: of one kind and field.
pub(super) fn batch_len(edits: &[Edit]) -> usize {
    let kind = |edit: &Edit| match edit {
        Edit::AddItem { .. } => Some(0),
        Edit::RemoveItem { .. } => Some(1),
        Edit::AddMap { .. } | Edit::AddValue { .. } => Some(2),
        Edit::SetCustom { .. } | Edit::SetCustomValue { .. } => Some(3),
        _ => None,
    };
    let Some(first) = edits.first().filter(|edit| kind(edit).is_some()) else { return edits.len().min(1) };
    edits.iter().take_while(|edit| kind(edit) == kind(first) && edit.key() == first.key()).count()
}

/// Plans edits of [`batch_len`].
pub(super) fn plan(document: &YamlDocument<'_>, fields: &FieldValues, edits: &[Edit]) -> Option<BatchPlan> {
    let key = edits.first()?.key();
    match edits.first()? {
        Edit::RemoveItem { .. } => Some(plan_removal(document, fields, key, edits)),
        Edit::SetCustom { .. } | Edit::SetCustomValue { .. } => plan_custom(document, fields, edits),
        _ => Some(plan_addition(document, fields, key, edits)),
    }
}

fn plan_addition(document: &YamlDocument<'_>, fields: &FieldValues, key: &str, edits: &[Edit]) -> BatchPlan {
    let mut all = get(fields, key).map(|value| items(key, value)).unwrap_or_default();
    let mut lines: HashSet<String> = HashSet::new();
    let mut values: HashSet<Value> = HashSet::new();
    for item in &all {
        lines.insert(item.to_line().trim().to_owned());
        values.insert(unquoted(item));
    }
    let mut new = Vec::new();
    for edit in edits {
        let (value, is_new) = match edit {
            Edit::AddItem { text, .. } => (Value::text(text), lines.insert(text.clone())),
            Edit::AddMap { entries, .. } => with_novelty(map_of_texts(entries), &mut values),
            Edit::AddValue { value, .. } => with_novelty(value.with_nulls(), &mut values),
            _ => continue,
        };
        new.extend(is_new.then_some(value));
    }
    all.extend(new.iter().cloned());
    let mut expected = fields.clone();
    if !new.is_empty() {
        set(&mut expected, key, Value::List(all));
    }
    BatchPlan { expected, candidates: document.add_items(key, &new) }
}

fn with_novelty(value: Value, known: &mut HashSet<Value>) -> (Value, bool) {
    let is_new = known.insert(unquoted(&value));
    (value, is_new)
}

fn plan_removal(document: &YamlDocument<'_>, fields: &FieldValues, key: &str, edits: &[Edit]) -> BatchPlan {
    let mut unwanted = HashSet::new();
    for edit in edits {
        if let Edit::RemoveItem { text, .. } = edit {
            unwanted.insert(text.as_str());
        }
    }
    let is_unwanted = |item: &Value| unwanted.contains(item.to_line().trim());
    let old = get(fields, key).map(|value| items(key, value)).unwrap_or_default();
    let mut left = old.clone();
    left.retain(|item| !is_unwanted(item));
    let mut expected = fields.clone();
    if left.len() != old.len() {
        set(&mut expected, key, Value::List(left));
    }
    BatchPlan { expected, candidates: document.remove_items(key, &is_unwanted) }
}

fn plan_custom(document: &YamlDocument<'_>, fields: &FieldValues, edits: &[Edit]) -> Option<BatchPlan> {
    let mut custom = match get(fields, "custom") {
        Some(Value::Map(custom)) => custom.clone(),
        _ => Vec::new(),
    };
    let mut indices: HashMap<String, usize> =
        custom.iter().enumerate().map(|(index, (key, _))| (key.clone(), index)).collect();
    let mut written: Vec<(&str, String)> = Vec::new();
    let mut seen = HashSet::new();
    for edit in edits {
        let (key, value, text) = match edit {
            Edit::SetCustom { key, text } => {
                let written = scalar(text, true);
                (key, Value::Text { text: text.clone(), plain: !written.starts_with('"') }, written)
            }
            Edit::SetCustomValue { key, value } => {
                let value = value.with_nulls();
                let written = flow(&value);
                (key, value, written)
            }
            _ => return None,
        };
        // Two values for one field are set one after the other.
        if !seen.insert(key.as_str()) {
            return None;
        }
        match indices.get(key).and_then(|index| custom.get_mut(*index)) {
            Some((_, old)) => *old = value,
            None => {
                indices.insert(key.clone(), custom.len());
                custom.push((key.clone(), value));
            }
        }
        written.push((key, text));
    }
    let mut expected = fields.clone();
    set(&mut expected, "custom", Value::Map(custom));
    Some(BatchPlan { expected, candidates: document.set_in_map("custom", &written) })
}

/// Returns a value without its quotes, but with a null that differs from the text of the same characters.
fn unquoted(value: &Value) -> Value {
    match value {
        Value::Text { text, plain } => Value::Text { text: text.clone(), plain: *plain && is_null_text(text) },
        Value::List(items) => Value::List(items.iter().map(unquoted).collect()),
        Value::Map(entries) => Value::Map(entries.iter().map(|(key, value)| (key.clone(), unquoted(value))).collect()),
    }
}
