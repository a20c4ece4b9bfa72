//! How lists are merged: those that qipu knows as sets, whose items have names and may be maps;
//! others are left alone but for what was appended to them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::super::frontmatter::link_target;
use super::super::items::{get, items as all_items, map_of, plain};
use super::super::spans::with_spans;
use super::super::value::Value;
use super::super::yaml::{Yaml, YamlNode};
use super::super::yaml_document::{YamlDocument, flow};
use super::field::{LineEnding, MAX_SPLITS, by_key, edited, in_batches, with_changes};
use super::field_lines::FieldText;

/// Merges a field that is a set; `None` where the sides disagree about an item.
pub(super) fn merge_sets(
    key: &str,
    [base, ours, theirs]: [Option<&FieldText>; 3],
    end: LineEnding,
) -> Option<Option<FieldText>> {
    let sides = [base, ours, theirs].map(|piece| items(key, piece));
    let names = ItemKeys::of(key, &sides);
    let [in_base, in_ours, in_theirs] = sides.map(|items| ItemSet::of(&names, items));
    // The order of links has a meaning: if only theirs has another one, it is the one that counts.
    let is_turned = key == "links" && in_theirs.is_reordered(&in_base) && !in_ours.is_reordered(&in_base);
    let (host, wanted) = match theirs {
        Some(theirs) if is_turned => (theirs, names.merged(&in_base, &in_theirs, &in_ours)?),
        _ => (ours.or(theirs)?, names.merged(&in_base, &in_ours, &in_theirs)?),
    };
    if wanted.is_empty() && (ours.is_none() || theirs.is_none()) {
        return Some(None);
    }
    names.written(host, &wanted, end).map(Some)
}

/// Returns the items of a set.
fn items(key: &str, piece: Option<&FieldText>) -> Vec<Value> {
    piece.map(|piece| all_items(key, &piece.value)).unwrap_or_default()
}

/// Merges lists whose items have no names: both sides appended to them, or one did.
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
    let is_in_both = their_new.iter().any(|item| our_new.contains(item));
    (!is_in_both).then(|| [ours, new].concat())
}

/// Adds items at the end of a list.
pub(super) fn with_appended(key: &str, piece: &FieldText, wanted: &[Value], end: LineEnding) -> Option<FieldText> {
    let Value::List(have) = &piece.value else { return None };
    with_added(key, piece.clone(), wanted.get(have.len()..)?, end)
}

fn with_added(key: &str, piece: FieldText, added: &[Value], end: LineEnding) -> Option<FieldText> {
    in_batches(piece, added, &mut MAX_SPLITS.clone(), &|piece, added| {
        let now = [items(key, Some(piece)), added.to_vec()].concat();
        edited(key, piece, Value::List(now), end, |document| document.with_items(key, added))
    })
}

/// The items of a list, found by their names.
struct ItemSet {
    items: Vec<Value>,
    names: Vec<Value>,
    /// Where the first item of each name is.
    places: HashMap<Value, usize>,
}

impl ItemSet {
    fn of(names: &ItemKeys<'_>, items: Vec<Value>) -> Self {
        let names: Vec<Value> = items.iter().map(|item| names.name(item)).collect();
        let mut places = HashMap::new();
        for (place, name) in names.iter().enumerate() {
            places.entry(name.clone()).or_insert(place);
        }
        Self { items, names, places }
    }

    fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the items, each below its name.
    fn named(&self) -> impl Iterator<Item = (&Value, &Value)> {
        self.names.iter().zip(&self.items)
    }

    /// Returns the first item of a name.
    fn get(&self, name: &Value) -> Option<&Value> {
        self.places.get(name).and_then(|place| self.items.get(*place))
    }

    /// Tells whether items that both have stand in another order.
    fn is_reordered(&self, base: &Self) -> bool {
        let common = |items: &Self, others: &Self| -> Vec<Value> {
            items.names.iter().filter(|name| others.get(name).is_some()).cloned().collect()
        };
        common(base, self) != common(self, base)
    }
}

/// What the items of a set are known by.
struct ItemKeys<'k> {
    key: &'k str,
    /// Whether only items that say the same are the same: one side has several of one name.
    are_whole: bool,
}

impl<'k> ItemKeys<'k> {
    fn of(key: &'k str, sides: &[Vec<Value>; 3]) -> Self {
        let names = Self { key, are_whole: false };
        let is_ambiguous = |items: &Vec<Value>| {
            let mut first = HashMap::new();
            let is_other = |item: &Value| {
                let said = said(key, item);
                *first.entry(names.name(item)).or_insert_with(|| said.clone()) != said
            };
            items.iter().any(is_other)
        };
        let are_whole = matches!(key, "links" | "sources") && sides.iter().any(is_ambiguous);
        Self { are_whole, ..names }
    }

    fn name(&self, item: &Value) -> Value {
        let whole = said(self.key, item);
        let parts: &[&str] = match self.key {
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

    /// Merges lists as sets: ours, without what theirs took out, with what theirs added.
    fn merged(&self, base: &ItemSet, ours: &ItemSet, theirs: &ItemSet) -> Option<ItemSet> {
        let is_same = |a: &Value, b: &Value| said(self.key, a) == said(self.key, b);
        let mut merged: Vec<Value> = Vec::new();
        for (name, item) in ours.named() {
            match (base.get(name), theirs.get(name)) {
                (Some(old), None) if is_same(old, item) => {}
                // One side changed what the other took out.
                (Some(_), None) => return None,
                (old, Some(other)) => merged.push(self.united(old, item, other)?),
                (None, None) => merged.push(item.clone()),
            }
        }
        for (place, (name, item)) in theirs.named().enumerate().filter(|(_, (name, _))| ours.get(name).is_none()) {
            match base.get(name) {
                Some(old) if is_same(old, item) => {}
                Some(_) => return None,
                None if theirs.places.get(name) != Some(&place) => {}
                None => merged.push(item.clone()),
            }
        }
        Some(ItemSet::of(self, merged))
    }

    /// Merges an item that both have, entry by entry.
    fn united(&self, base: Option<&Value>, ours: &Value, theirs: &Value) -> Option<Value> {
        let entries = |item: &Value| match said(self.key, item) {
            Value::Map(entries) => entries,
            _ => Vec::new(),
        };
        let (in_base, in_ours, in_theirs) = (base.map(entries).unwrap_or_default(), entries(ours), entries(theirs));
        let (mut merged, spelled) = (map_of(self.key, ours), map_of(self.key, theirs));
        let sides = [&in_base, &in_ours, &in_theirs].map(|entries| by_key(entries));
        let gone =
            in_base.iter().filter(|(key, _)| sides.last().is_some_and(|theirs| !theirs.contains_key(key.as_str())));
        let mut is_done = false;
        for (key, _) in in_theirs.iter().chain(gone) {
            let [old, our, their] = sides.each_ref().map(|entries| entries.get(key.as_str()).copied());
            if their == old || their == our {
                continue;
            }
            if our != old {
                return None;
            }
            is_done = true;
            match (merged.iter_mut().find(|(have, _)| have == key), get(&spelled, key)) {
                (Some((_, value)), Some(new)) => *value = new.clone(),
                (None, Some(new)) => merged.push((key.clone(), new.clone())),
                (_, None) => merged.retain(|(have, _)| have != key),
            }
        }
        Some(if is_done { Value::Map(merged) } else { ours.clone() })
    }

    /// Writes a list with these items into a field's lines, touching no item that stays.
    fn written(&self, host: &FieldText, wanted: &ItemSet, end: LineEnding) -> Option<FieldText> {
        let key = self.key;
        let mut piece = host.clone();
        let now = ItemSet::of(self, items(key, Some(host)));
        if !matches!(piece.value, Value::List(_)) && !now.is_empty() {
            let list = Value::List(now.items.clone());
            piece = edited(key, &piece, list.clone(), end, |document| document.with_value(key, &list))?;
        }
        let changed = now.named().enumerate().filter_map(|(place, (name, item))| {
            let new = wanted.get(name)?;
            (said(key, new) != said(key, item)).then(|| (place, new.clone()))
        });
        let changed: Vec<(usize, Value)> = changed.collect();
        piece = in_batches(piece, &changed, &mut MAX_SPLITS.clone(), &|piece, changed| {
            let mut now = items(key, Some(piece));
            for (place, new) in changed {
                *now.get_mut(*place)? = new.clone();
            }
            let lines = with_items_at(&piece.lines, changed, end)?;
            edited(key, piece, Value::List(now), end, |_| vec![lines.clone()])
        })?;
        let added = wanted.named().filter(|(name, _)| now.get(name).is_none()).map(|(_, item)| item.clone());
        piece = with_added(key, piece, &added.collect::<Vec<_>>(), end)?;
        let mut seen = HashSet::new();
        let unwanted = now.names.iter().filter(|name| wanted.get(name).is_none() && seen.insert(*name));
        let unwanted: Vec<&Value> = unwanted.collect();
        in_batches(piece, &unwanted, &mut MAX_SPLITS.clone(), &|piece, unwanted| {
            let unwanted: HashSet<&Value> = unwanted.iter().copied().collect();
            let is_unwanted = |item: &Value| unwanted.contains(&self.name(item));
            let mut now = items(key, Some(piece));
            now.retain(|item| !is_unwanted(item));
            edited(key, piece, Value::List(now), end, |document| document.remove_items(key, &is_unwanted))
        })
    }
}

/// Returns what an item of a set says, whatever its spelling.
fn said(key: &str, item: &Value) -> Value {
    match (key, item) {
        ("tags" | "aliases", item) => Value::text(item.to_line().trim()),
        ("compacts", item) => Value::text(link_target(&item.to_line())),
        ("links", item) => {
            let mut entries = map_of(key, item);
            for (_, target) in entries.iter_mut().filter(|(key, _)| key == "id") {
                *target = Value::text(link_target(&target.to_line()));
            }
            if get(&entries, "type").is_none() {
                entries.push(("type".to_owned(), Value::text("related")));
            }
            plain(&Value::Map(entries))
        }
        ("sources", Value::Map(_) | Value::Text { .. }) => plain(&Value::Map(map_of(key, item))),
        (_, item) => plain(item),
    }
}

/// Gives items of a list other entries, where they stand.
fn with_items_at(lines: &str, changed: &[(usize, Value)], end: LineEnding) -> Option<String> {
    let document = YamlDocument::parse(lines, end).ok()?;
    let [(_, Yaml { kind: YamlNode::List(nodes), .. })] = document.entries.as_slice() else { return None };
    let spans: Option<Vec<_>> =
        changed.iter().map(|(place, new)| item_at(&document, lines, nodes, *place, new, end)).collect();
    with_spans(lines, spans?).ok()
}

/// Returns where an item stands and how it is written with other entries; `lines` end with the list.
pub(in super::super) fn item_at(
    document: &YamlDocument<'_>,
    lines: &str,
    nodes: &[Yaml<'_>],
    place: usize,
    new: &Value,
    end: LineEnding,
) -> Option<(Range<usize>, String)> {
    let Value::Map(wanted) = new else { return None };
    let node = nodes.get(place)?;
    let written = lines.get(node.span.clone())?.trim_end();
    let span = node.span.start..node.span.start + written.len();
    if !matches!(node.kind, YamlNode::Map(_)) {
        return Some((span, flow(new)));
    }
    if written.starts_with('{') {
        let item = with_entries(format!("k: {written}{end}"), wanted, end)?;
        return Some((span, item.strip_prefix("k: ")?.trim_end().to_owned()));
    }
    let start = document.line_start(node.span.start);
    let stop = nodes.get(place + 1).map_or(lines.len(), |next| document.line_start(next.span.start));
    let (dash, rest) = (lines.get(start..node.span.start)?, lines.get(node.span.start..stop)?);
    let indent = " ".repeat(dash.len());
    if dash.replacen('-', " ", 1) != indent {
        return None;
    }
    let head = format!("k:{end}");
    let item = with_entries(format!("{head}{indent}{rest}"), wanted, end)?;
    let item = item.strip_prefix(&head)?.strip_prefix(&indent)?;
    Some((start..stop, format!("{dash}{item}")))
}

/// Gives the map in the field `k` these entries.
fn with_entries(text: String, wanted: &[(String, Value)], end: LineEnding) -> Option<String> {
    let (_, value) = YamlDocument::parse(&text, end).ok()?.values().into_iter().next()?;
    let Value::Map(have) = &value else { return None };
    let (in_have, in_wanted) = (by_key(have), by_key(wanted));
    let is_new =
        |(key, value): &&(String, Value)| in_have.get(key.as_str()).map(|old| plain(old)) != Some(plain(value));
    let set = wanted.iter().filter(is_new).map(|(key, value)| (key.as_str(), Some(value.clone())));
    let gone =
        have.iter().filter(|(key, _)| !in_wanted.contains_key(key.as_str())).map(|(key, _)| (key.as_str(), None));
    let changes: Vec<_> = set.chain(gone).collect();
    let piece = FieldText { lines: text, value: value.clone() };
    with_changes("k", piece, &changes, end).map(|piece| piece.lines)
}
