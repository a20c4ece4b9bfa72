//! The fields that an edit must result in, computed on values instead of text.

use super::super::list_fields::{get, items, link_target, retargeted, with_entries, with_renamed};
use super::super::value::{FieldValues, Value, is_null_text};
use super::super::yaml_emitter::{entries_with_nulls, looks_typed, scalar};
use super::operation::Edit;

pub(super) fn expected_fields(fields: &FieldValues, edit: &Edit) -> FieldValues {
    let mut fields = fields.clone();
    match edit {
        Edit::SetText { key, text } => set(&mut fields, key, Value::text(text)),
        Edit::SetPlain { key, text } => set(&mut fields, key, Value::Text { text: text.clone(), plain: true }),
        Edit::SetMap { key, entries } => set(&mut fields, key, map_of_texts(entries)),
        Edit::AddItem { key, text } => change_list(&mut fields, key, |items| {
            if !items.iter().any(|item| item.to_line().trim() == text) {
                items.push(Value::text(text));
            }
        }),
        Edit::RemoveItem { key, text } => {
            change_list(&mut fields, key, |items| items.retain(|item| item.to_line().trim() != text))
        }
        Edit::RenameItem { key, from, to } => {
            change_value(&mut fields, key, |value| with_renamed(key, value, from, to))
        }
        Edit::AddMap { key, entries } => change_list(&mut fields, key, |items| add(items, map_of_texts(entries))),
        Edit::RemoveMap { key, entries } => {
            change_list(&mut fields, key, |items| items.retain(|item| !contains_entries(item, entries)))
        }
        Edit::AddValue { key, value } => change_list(&mut fields, key, |items| add(items, value.with_nulls())),
        Edit::Retarget { key, entries, to } => change_value(&mut fields, key, |value| with_target(value, entries, to)),
        Edit::SetCustom { key, text } => {
            let plain = !scalar(text, true).starts_with('"');
            set_custom(&mut fields, key, Value::Text { text: text.clone(), plain });
        }
        Edit::SetEntries { key, item, entries } => change_list(&mut fields, key, |items| {
            if let Some(old) = items.iter_mut().find(|old| *old == item) {
                *old = with_entries(key, old, &entries_with_nulls(entries));
            }
        }),
        Edit::RemoveEmpty { key } => fields.retain(|(name, value)| name != key || !items(key, value).is_empty()),
        Edit::SetCustomValue { key, value } => set_custom(&mut fields, key, value.with_nulls()),
        Edit::RemoveField(key) => fields.retain(|(name, _)| name != key),
        Edit::RemoveCustom(key) => {
            for (_, value) in fields.iter_mut().filter(|(name, _)| name == "custom") {
                if let Value::Map(custom) = value {
                    custom.retain(|(name, _)| name != key);
                }
            }
        }
        Edit::SetBody(_) | Edit::Append { .. } | Edit::ChangeBody(_) => {}
    }
    fields
}

pub(super) fn set(fields: &mut FieldValues, key: &str, value: Value) {
    match fields.iter_mut().find(|(name, _)| name == key) {
        Some((_, old)) => *old = value,
        None => fields.push((key.to_owned(), value)),
    }
}

fn set_custom(fields: &mut FieldValues, key: &str, value: Value) {
    let mut custom = match get(fields, "custom") {
        Some(Value::Map(custom)) => custom.clone(),
        _ => Vec::new(),
    };
    set(&mut custom, key, value);
    set(fields, "custom", Value::Map(custom));
}

fn change_value(fields: &mut FieldValues, key: &str, change: impl FnOnce(&Value) -> Value) {
    if let Some((_, value)) = fields.iter_mut().find(|(name, _)| name == key) {
        *value = change(value);
    }
}

/// Changes the items of a list field. A field that stays as it was keeps its form; an absent one stays absent while it
/// has no items.
fn change_list(fields: &mut FieldValues, key: &str, change: impl FnOnce(&mut Vec<Value>)) {
    let old = get(fields, key).map(|value| items(key, value)).unwrap_or_default();
    let mut new = old.clone();
    change(&mut new);
    if new != old {
        set(fields, key, Value::List(new));
    }
}

/// Returns a list, or the single value written in its place, with a new target in the links that contain `entries`.
fn with_target(value: &Value, entries: &[(&'static str, String)], to: &str) -> Value {
    let new = |item: &Value| if contains_entries(item, entries) { retargeted(item, to) } else { item.clone() };
    match value {
        Value::List(items) => Value::List(items.iter().map(new).collect()),
        item => new(item),
    }
}

fn add(items: &mut Vec<Value>, item: Value) {
    if !items.iter().any(|other| is_same_value(other, &item, false)) {
        items.push(item);
    }
}

pub(super) fn map_of_texts(entries: &[(&'static str, String)]) -> Value {
    Value::Map(entries.iter().map(|(key, text)| ((*key).to_owned(), Value::text(text))).collect())
}

/// Tells whether an item of a list contains all entries. A text in the position of a map is the id or the address, and a
/// link without a type has the type `related`.
pub(super) fn contains_entries(item: &Value, entries: &[(&'static str, String)]) -> bool {
    let is_default_type = |key: &str, expected: &str| key == "type" && expected == "related";
    let is_equal = |value: &Value, expected: &str| {
        let line = value.to_line();
        line.trim() == expected || link_target(line.trim()) == expected
    };
    let has_value = |value: &Value| !value.is_null() && !value.to_line().trim().is_empty();
    entries.iter().all(|(key, expected)| match item {
        Value::Map(fields) => match fields.iter().find(|(name, value)| name == key && has_value(value)) {
            Some((_, value)) => is_equal(value, expected),
            None => is_default_type(key, expected),
        },
        text_or_list => is_default_type(key, expected) || (*key != "type" && is_equal(text_or_list, expected)),
    })
}

/// Tells whether two lists of fields are equal; `is_exact` as in [`is_same_value`].
pub(super) fn are_same_fields(a: &FieldValues, b: &FieldValues, is_exact: bool) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|((key, value), (other_key, other))| key == other_key && is_same_value(value, other, is_exact))
}

/// Tells whether two values are equal up to their quotes. With `is_exact`, a number or boolean differs from the text of
/// the same characters.
fn is_same_value(a: &Value, b: &Value, is_exact: bool) -> bool {
    match (a, b) {
        (Value::Text { text: a, plain: p }, Value::Text { text: b, plain: q }) => {
            let is_null = |plain: bool| plain && is_null_text(a);
            a == b && is_null(*p) == is_null(*q) && (!is_exact || p == q || !looks_typed(a))
        }
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same_value(a, b, is_exact))
        }
        (Value::Map(a), Value::Map(b)) => are_same_fields(a, b, is_exact),
        _ => false,
    }
}
