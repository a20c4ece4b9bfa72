//! The three-way merge of lists: known list fields as sets whose items have keys, other lists by what both sides appended.

use std::collections::{HashMap, HashSet};

use super::super::list_fields::{entries_of_item, get, items as items_of, link_target, plain};
use super::super::splice::with_spans;
use super::super::value::Value;
use super::super::verified_edit::{FieldText, by_key, edited, in_batches, item_replacement};
use super::super::yaml::{Yaml, YamlNode};
use super::super::yaml_emitter::flow;

/// Merges a list field as a set; `None` if the sides conflict in an item, `Some(None)` if the field is removed.
pub(super) fn merge_sets(key: &str, [base, ours, theirs]: [Option<&FieldText>; 3]) -> Option<Option<FieldText>> {
    let sides = [base, ours, theirs].map(|field| items(key, field));
    let keys = ItemKeys::of(key, &sides);
    let [in_base, in_ours, in_theirs] = sides.map(|items| ItemSet::of(&keys, items));
    // The order of links has a meaning: if only theirs changed it, their order is taken.
    let has_their_order = key == "links" && in_theirs.is_reordered(&in_base) && !in_ours.is_reordered(&in_base);
    let (host, merged) = match theirs {
        Some(theirs) if has_their_order => (theirs, keys.merged(&in_base, &in_theirs, &in_ours)?),
        _ => (ours.or(theirs)?, keys.merged(&in_base, &in_ours, &in_theirs)?),
    };
    if merged.entries.is_empty() && (ours.is_none() || theirs.is_none()) {
        return Some(None);
    }
    keys.with_items(host, &merged).map(Some)
}

/// Returns the items of a list field; an absent field has none.
fn items(key: &str, field: Option<&FieldText>) -> Vec<Value> {
    field.map(|field| items_of(key, &field.value)).unwrap_or_default()
}

/// Merges lists whose items have no keys: at least one side appended to the base, the other did the same or nothing else.
/// `None` if both appended a common item in different lists, or changed the base.
pub(super) fn appended(base: &[Value], ours: &[Value], theirs: &[Value]) -> Option<Vec<Value>> {
    let [base, in_ours, in_theirs] = [base, ours, theirs].map(|items| items.iter().map(plain).collect::<Vec<_>>());
    let (our_new, their_new) = (in_ours.strip_prefix(base.as_slice())?, in_theirs.strip_prefix(base.as_slice())?);
    if our_new.starts_with(their_new) {
        return Some(ours.to_vec());
    }
    if their_new.starts_with(our_new) {
        return Some(theirs.to_vec());
    }
    let new = theirs.get(base.len()..).unwrap_or_default();
    let our_new: HashSet<&Value> = our_new.iter().collect();
    let has_common_item = their_new.iter().any(|item| our_new.contains(item));
    (!has_common_item).then(|| [ours, new].concat())
}

pub(super) fn with_appended(key: &str, field: &FieldText, merged: &[Value]) -> Option<FieldText> {
    let Value::List(old) = &field.value else { return None };
    with_added(key, field.clone(), merged.get(old.len()..)?)
}

fn with_added(key: &str, field: FieldText, added: &[Value]) -> Option<FieldText> {
    in_batches(field, added, &|field, added| {
        let all = [items(key, Some(field)), added.to_vec()].concat();
        edited(key, field, Value::List(all), |document| document.add_items(key, added))
    })
}

/// The items of a list, indexed by their keys.
struct ItemSet {
    /// The items, each after its key.
    entries: Vec<(Value, Value)>,
    /// The index of the first item of each key.
    first_by_key: HashMap<Value, usize>,
}

impl ItemSet {
    fn of(keys: &ItemKeys<'_>, items: Vec<Value>) -> Self {
        let entries: Vec<_> = items.into_iter().map(|item| (keys.key_of(&item), item)).collect();
        let mut first_by_key = HashMap::new();
        for (index, (key, _)) in entries.iter().enumerate() {
            first_by_key.entry(key.clone()).or_insert(index);
        }
        Self { entries, first_by_key }
    }

    fn get(&self, key: &Value) -> Option<&Value> {
        self.entries.get(*self.first_by_key.get(key)?).map(|(_, item)| item)
    }

    /// Tells whether the items common with the base are in another order.
    fn is_reordered(&self, base: &Self) -> bool {
        let common = |set: &Self, other: &Self| -> Vec<Value> {
            set.entries.iter().map(|(key, _)| key).filter(|key| other.get(key).is_some()).cloned().collect()
        };
        common(base, self) != common(self, base)
    }
}

/// The keys by which the items of a list field are matched between the sides.
struct ItemKeys<'k> {
    field: &'k str,
    /// Whether the key is the whole item, since one side has several items of one id or URL.
    are_whole: bool,
}

impl<'k> ItemKeys<'k> {
    fn of(field: &'k str, sides: &[Vec<Value>; 3]) -> Self {
        let keys = Self { field, are_whole: false };
        let is_ambiguous = |items: &Vec<Value>| {
            let mut first_by_key = HashMap::new();
            let differs = |item: &Value| {
                let item_value = normalized(field, item);
                *first_by_key.entry(keys.key_of(item)).or_insert_with(|| item_value.clone()) != item_value
            };
            items.iter().any(differs)
        };
        let are_whole = matches!(field, "links" | "sources") && sides.iter().any(is_ambiguous);
        Self { are_whole, ..keys }
    }

    fn key_of(&self, item: &Value) -> Value {
        let whole = normalized(self.field, item);
        let parts: &[&str] = match self.field {
            "links" => &["id", "type"],
            "sources" => &["url"],
            _ => return whole,
        };
        match &whole {
            Value::Map(entries) if !self.are_whole && parts.iter().all(|part| get(entries, part).is_some()) => {
                Value::Map(entries.iter().filter(|(key, _)| parts.contains(&key.as_str())).cloned().collect())
            }
            _ => whole,
        }
    }

    /// Merges sets: our items without those that theirs removed, then the items that theirs added. `None` on a conflict.
    fn merged(&self, base: &ItemSet, ours: &ItemSet, theirs: &ItemSet) -> Option<ItemSet> {
        let is_same = |a: &Value, b: &Value| normalized(self.field, a) == normalized(self.field, b);
        let mut merged: Vec<Value> = Vec::new();
        for (key, item) in &ours.entries {
            match (base.get(key), theirs.get(key)) {
                (Some(old), None) if is_same(old, item) => {}
                // One side changed an item that the other removed.
                (Some(_), None) => return None,
                (old, Some(other)) => merged.push(self.merged_item(old, item, other)?),
                (None, None) => merged.push(item.clone()),
            }
        }
        for (index, (key, item)) in theirs.entries.iter().enumerate().filter(|(_, (key, _))| ours.get(key).is_none()) {
            match base.get(key) {
                Some(old) if is_same(old, item) => {}
                Some(_) => return None,
                None if theirs.first_by_key.get(key) != Some(&index) => {}
                None => merged.push(item.clone()),
            }
        }
        Some(ItemSet::of(self, merged))
    }

    /// Merges an item of both sides entry by entry; `None` on a conflict.
    fn merged_item(&self, base: Option<&Value>, ours: &Value, theirs: &Value) -> Option<Value> {
        let entries = |item: &Value| match normalized(self.field, item) {
            Value::Map(entries) => entries,
            _ => Vec::new(),
        };
        let (in_base, in_ours, in_theirs) = (base.map(entries).unwrap_or_default(), entries(ours), entries(theirs));
        let (mut merged, their_entries) = (entries_of_item(self.field, ours), entries_of_item(self.field, theirs));
        let [base_by_key, ours_by_key, theirs_by_key] = [&in_base, &in_ours, &in_theirs].map(|entries| by_key(entries));
        let removed = in_base.iter().filter(|(key, _)| !theirs_by_key.contains_key(key.as_str()));
        let mut has_changes = false;
        for (key, _) in in_theirs.iter().chain(removed) {
            let values = [&base_by_key, &ours_by_key, &theirs_by_key];
            let [old, our, their] = values.map(|entries| entries.get(key.as_str()).copied());
            if their == old || their == our {
                continue;
            }
            if our != old {
                return None;
            }
            has_changes = true;
            match (merged.iter_mut().find(|(name, _)| name == key), get(&their_entries, key)) {
                (Some((_, value)), Some(new)) => *value = new.clone(),
                (None, Some(new)) => merged.push((key.clone(), new.clone())),
                (_, None) => merged.retain(|(name, _)| name != key),
            }
        }
        Some(if has_changes { Value::Map(merged) } else { ours.clone() })
    }

    /// Writes the merged items into the lines of a field without touching an item that stays.
    fn with_items(&self, host: &FieldText, merged: &ItemSet) -> Option<FieldText> {
        let key = self.field;
        let mut field = host.clone();
        let old = ItemSet::of(self, items(key, Some(host)));
        if !matches!(field.value, Value::List(_)) && !old.entries.is_empty() {
            let list = Value::List(old.entries.iter().map(|(_, item)| item.clone()).collect());
            field = edited(key, &field, list.clone(), |document| document.set(key, &flow(&list)))?;
        }
        let changed = old.entries.iter().enumerate().filter_map(|(index, (item_key, item))| {
            let new = merged.get(item_key)?;
            (normalized(key, new) != normalized(key, item)).then(|| (index, new.clone()))
        });
        field = with_changed_items(key, field, &changed.collect::<Vec<_>>())?;
        let added =
            merged.entries.iter().filter(|(item_key, _)| old.get(item_key).is_none()).map(|(_, item)| item.clone());
        field = with_added(key, field, &added.collect::<Vec<_>>())?;
        let mut seen = HashSet::new();
        let unwanted =
            old.entries.iter().map(|(key, _)| key).filter(|key| merged.get(key).is_none() && seen.insert(*key));
        let unwanted: Vec<&Value> = unwanted.collect();
        in_batches(field, &unwanted, &|field, unwanted| {
            let unwanted: HashSet<&Value> = unwanted.iter().copied().collect();
            let is_unwanted = |item: &Value| unwanted.contains(&self.key_of(item));
            let mut left = items(key, Some(field));
            left.retain(|item| !is_unwanted(item));
            edited(key, field, Value::List(left), |document| document.remove_items(key, &is_unwanted))
        })
    }
}

fn with_changed_items(key: &str, field: FieldText, changed: &[(usize, Value)]) -> Option<FieldText> {
    in_batches(field, changed, &|field, changed| {
        let mut all = items(key, Some(field));
        for (index, new) in changed {
            *all.get_mut(*index)? = new.clone();
        }
        edited(key, field, Value::List(all), |document| {
            let [(_, Yaml { kind: YamlNode::List(nodes), .. })] = document.entries.as_slice() else {
                return Vec::new();
            };
            let replacement =
                |(index, new): &(usize, Value)| item_replacement(document, document.yaml, nodes, *index, new);
            let replacements: Option<Vec<_>> = changed.iter().map(replacement).collect();
            replacements.and_then(|new| with_spans(document.yaml, new).ok()).into_iter().collect()
        })
    })
}

/// Returns an item of a set independent of its spelling: quotes, order of entries, brackets of a link, default type.
fn normalized(field: &str, item: &Value) -> Value {
    match (field, item) {
        ("tags" | "aliases", item) => Value::text(item.to_line().trim()),
        ("compacts", item) => Value::text(link_target(&item.to_line())),
        ("links", item) => {
            let mut entries = entries_of_item(field, item);
            for (_, target) in entries.iter_mut().filter(|(key, _)| key == "id") {
                *target = Value::text(link_target(&target.to_line()));
            }
            if get(&entries, "type").is_none() {
                entries.push(("type".to_owned(), Value::text("related")));
            }
            plain(&Value::Map(entries))
        }
        ("sources", Value::Map(_) | Value::Text { .. }) => plain(&Value::Map(entries_of_item(field, item))),
        (_, item) => plain(item),
    }
}
