//! The items of list fields: links, sources, tags, aliases and compacted notes.

use super::value::Value;

/// Fields that are lists even if a single value, or none, is written.
const LISTS: [&str; 5] = ["aliases", "compacts", "links", "sources", "tags"];

/// Tells whether a field is a list, in whatever form it is written.
pub(super) fn is_list(key: &str) -> bool {
    LISTS.contains(&key)
}

/// Returns the target of a link that may be written as `[[target|label]]`.
pub(super) fn link_target(text: &str) -> &str {
    let inner = text.trim_start_matches('[').trim_end_matches(']');
    inner.split_once('|').map_or(inner, |(target, _label)| target).trim()
}

/// Returns the items of a list field. A single value is a list of one item, and a text of tags a list of several.
pub(super) fn items(key: &str, value: &Value) -> Vec<Value> {
    match value {
        Value::List(items) => items.clone(),
        value if value.is_null() => Vec::new(),
        Value::Text { text, plain } if key == "tags" => {
            // A part of a text is a text: `2024, yes` contains no number and no boolean.
            let plain = *plain && !text.contains(',');
            let tag = |tag: &str| Value::Text { text: tag.to_owned(), plain };
            text.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(tag).collect()
        }
        one => vec![one.clone()],
    }
}

pub(super) fn get<'v>(entries: &'v [(String, Value)], key: &str) -> Option<&'v Value> {
    entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// Returns the entries of a link or source; a text in its position is the id or the address.
pub(super) fn entries_of_item(key: &str, item: &Value) -> Vec<(String, Value)> {
    match (key, item) {
        (_, Value::Map(entries)) => entries.clone(),
        ("sources", item) => vec![("url".to_owned(), Value::text(item.to_line().trim()))],
        (_, item) => vec![("id".to_owned(), Value::text(link_target(&item.to_line())))],
    }
}

/// Returns a link or source with new values for some entries, in their positions; other new entries follow.
pub(super) fn with_entries(key: &str, item: &Value, new: &[(String, Value)]) -> Value {
    let mut entries = entries_of_item(key, item);
    for (name, value) in new {
        match entries.iter_mut().find(|(own_name, _)| own_name == name) {
            Some((_, old)) => *old = value.clone(),
            None => entries.push((name.clone(), value.clone())),
        }
    }
    Value::Map(entries)
}

/// Returns a value independent of its spelling: quotes, and the order of the entries of a map.
pub(super) fn plain(value: &Value) -> Value {
    match value {
        Value::Text { text, .. } => Value::text(text),
        Value::List(items) => Value::List(items.iter().map(plain).collect()),
        Value::Map(entries) => {
            let mut entries: Vec<_> = entries.iter().map(|(key, value)| (key.clone(), plain(value))).collect();
            entries.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Map(entries)
        }
    }
}

/// Returns a link with another target; its other entries stay.
pub(super) fn retargeted(item: &Value, to: &str) -> Value {
    match item {
        Value::Text { text, .. } => Value::text(retargeted_text(text, to)),
        Value::List(items) => match items.as_slice() {
            [one] => Value::List(vec![retargeted(one, to)]),
            _ => Value::text(to),
        },
        Value::Map(entries) => {
            let entry = |(key, value): &(String, Value)| {
                (key.clone(), if key == "id" { retargeted(value, to) } else { value.clone() })
            };
            Value::Map(entries.iter().map(entry).collect())
        }
    }
}

/// Returns a text with another target; brackets and label stay.
pub(super) fn retargeted_text(text: &str, to: &str) -> String {
    match link_target(text.trim()) {
        "" => to.to_owned(),
        target => text.replacen(target, to, 1),
    }
}

/// Returns a list with a renamed text; of items that become equal, the first stays.
pub(super) fn with_renamed(key: &str, value: &Value, from: &str, to: &str) -> Value {
    let mut renamed: Vec<Value> = Vec::new();
    for item in items(key, value) {
        let line = item.to_line().trim().to_owned();
        let is_new = line == from || line == to;
        if !is_new || renamed.iter().all(|name| name.to_line().trim() != to) {
            renamed.push(if line == from { Value::text(to) } else { item });
        }
    }
    Value::List(renamed)
}
