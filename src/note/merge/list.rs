//! How lists are merged: those that qipu knows as sets, whose items have names and may be maps;
//! others are left alone but for what was appended to them.

use super::super::document::{Document, flow};
use super::super::frontmatter::link_target;
use super::super::items::{items as all_items, plain};
use super::super::value::Value;
use super::super::yaml::{Kind, Yaml};
use super::field::{Ends, edited, get};
use super::sheet::Piece;

/// The most items that are changed one by one; more is no work of a person.
const MAX_STEPS: usize = 200;

/// Merges a field that is a set; `None` where the sides disagree about an item.
pub(super) fn merge_sets(key: &str, [base, ours, theirs]: [Option<&Piece>; 3], end: Ends) -> Option<Option<Piece>> {
    let [in_base, in_ours, in_theirs] = [base, ours, theirs].map(|piece| items(key, piece));
    let names = Names::of(key, [&in_base, &in_ours, &in_theirs]);
    // The order of links has a meaning: if only theirs has another one, it is the one that counts.
    let is_turned =
        key == "links" && names.is_reordered(&in_base, &in_theirs) && !names.is_reordered(&in_base, &in_ours);
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
fn items(key: &str, piece: Option<&Piece>) -> Vec<Value> {
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
    let is_in_both = their_new.iter().any(|item| our_new.contains(item));
    (!is_in_both).then(|| [ours, new].concat())
}

/// Adds items at the end of a list.
pub(super) fn with_appended(key: &str, piece: &Piece, wanted: &[Value], end: Ends) -> Option<Piece> {
    let Value::List(have) = &piece.value else { return None };
    let added = wanted.get(have.len()..).filter(|added| added.len() <= MAX_STEPS)?;
    let (mut piece, mut now) = (piece.clone(), have.clone());
    for item in added {
        now.push(item.clone());
        piece = edited(key, &piece, Value::List(now.clone()), end, |document| document.with_item(key, item))?;
    }
    Some(piece)
}

/// What the items of a set are known by.
struct Names<'k> {
    key: &'k str,
    /// Whether only items that say the same are the same: one side has several of one name.
    are_whole: bool,
}

impl<'k> Names<'k> {
    fn of(key: &'k str, sides: [&Vec<Value>; 3]) -> Self {
        let names = Self { key, are_whole: false };
        let is_ambiguous = |items: &[Value]| {
            items.iter().enumerate().any(|(place, item)| {
                let before = items.get(..place).unwrap_or_default();
                names.find(before, item).is_some_and(|other| said(key, other) != said(key, item))
            })
        };
        let are_whole = matches!(key, "links" | "sources") && sides.into_iter().any(|items| is_ambiguous(items));
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

    fn find<'v>(&self, items: &'v [Value], like: &Value) -> Option<&'v Value> {
        let name = self.name(like);
        items.iter().find(|item| self.name(item) == name)
    }

    /// Tells whether items that both have stand in another order.
    fn is_reordered(&self, base: &[Value], side: &[Value]) -> bool {
        let common = |items: &[Value], others: &[Value]| {
            let kept = items.iter().filter(|item| self.find(others, item).is_some());
            kept.map(|item| self.name(item)).collect::<Vec<_>>()
        };
        common(base, side) != common(side, base)
    }

    /// Merges lists as sets: ours, without what theirs took out, with what theirs added.
    fn merged(&self, base: &[Value], ours: &[Value], theirs: &[Value]) -> Option<Vec<Value>> {
        let is_same = |a: &Value, b: &Value| said(self.key, a) == said(self.key, b);
        let mut merged: Vec<Value> = Vec::new();
        for item in ours {
            match (self.find(base, item), self.find(theirs, item)) {
                (Some(old), None) if is_same(old, item) => {}
                // One side changed what the other took out.
                (Some(_), None) => return None,
                (old, Some(other)) => merged.push(self.united(old, item, other)?),
                (None, None) => merged.push(item.clone()),
            }
        }
        for item in theirs.iter().filter(|item| self.find(ours, item).is_none()) {
            match self.find(base, item) {
                Some(old) if is_same(old, item) => {}
                Some(_) => return None,
                None if self.find(&merged, item).is_some() => {}
                None => merged.push(item.clone()),
            }
        }
        Some(merged)
    }

    /// Merges an item that both have, entry by entry.
    fn united(&self, base: Option<&Value>, ours: &Value, theirs: &Value) -> Option<Value> {
        let entries = |item: &Value| match said(self.key, item) {
            Value::Map(entries) => entries,
            _ => Vec::new(),
        };
        let (in_base, in_ours, in_theirs) = (base.map(entries).unwrap_or_default(), entries(ours), entries(theirs));
        let (mut merged, spelled) = (map_of(self.key, ours), map_of(self.key, theirs));
        let gone = in_base.iter().filter(|(key, _)| get(&in_theirs, key).is_none());
        let mut is_done = false;
        for (key, _) in in_theirs.iter().chain(gone) {
            let [old, our, their] = [&in_base, &in_ours, &in_theirs].map(|entries| get(entries, key));
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
    fn written(&self, host: &Piece, wanted: &[Value], end: Ends) -> Option<Piece> {
        let key = self.key;
        let mut piece = host.clone();
        let mut now = items(key, Some(host));
        let added: Vec<&Value> = wanted.iter().filter(|item| self.find(&now, item).is_none()).collect();
        let mut unwanted: Vec<Value> = Vec::new();
        for item in &now {
            let name = self.name(item);
            if self.find(wanted, item).is_none() && !unwanted.contains(&name) {
                unwanted.push(name);
            }
        }
        let changed: Vec<(usize, Value)> = now
            .iter()
            .enumerate()
            .filter_map(|(place, item)| {
                let new = self.find(wanted, item)?;
                (said(key, new) != said(key, item)).then(|| (place, new.clone()))
            })
            .collect();
        if added.len() + unwanted.len() + changed.len() > MAX_STEPS {
            return None;
        }
        if !matches!(piece.value, Value::List(_)) && !now.is_empty() {
            piece = edited(key, &piece, Value::List(now.clone()), end, |document| {
                document.with_value(key, &Value::List(now.clone()))
            })?;
        }
        for (place, new) in changed {
            *now.get_mut(place)? = new.clone();
            let lines = with_item_at(&piece.lines, place, &new, end)?;
            piece = edited(key, &piece, Value::List(now.clone()), end, |_| vec![lines.clone()])?;
        }
        for item in added {
            now.push(item.clone());
            piece = edited(key, &piece, Value::List(now.clone()), end, |document| document.with_item(key, item))?;
        }
        for name in unwanted {
            let is_unwanted = |item: &Value| self.name(item) == name;
            now.retain(|item| !is_unwanted(item));
            piece = edited(key, &piece, Value::List(now.clone()), end, |document| {
                document.remove_items(key, &is_unwanted)
            })?;
        }
        Some(piece)
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

/// Returns the entries of a link or source; one that is a text names a note or an address.
fn map_of(key: &str, item: &Value) -> Vec<(String, Value)> {
    match (key, item) {
        (_, Value::Map(entries)) => entries.clone(),
        ("sources", item) => vec![("url".to_owned(), Value::text(item.to_line().trim()))],
        (_, item) => vec![("id".to_owned(), Value::text(link_target(&item.to_line())))],
    }
}

/// Gives one item of a list other entries, where it stands.
fn with_item_at(lines: &str, place: usize, new: &Value, end: Ends) -> Option<String> {
    let Value::Map(wanted) = new else { return None };
    let document = Document::parse(lines, end).ok()?;
    let [(_, Yaml { kind: Kind::List(nodes), .. })] = document.entries.as_slice() else { return None };
    let node = nodes.get(place)?;
    let splice = |range: std::ops::Range<usize>, new: &str| {
        Some(format!("{}{new}{}", lines.get(..range.start)?, lines.get(range.end..)?))
    };
    let written = lines.get(node.span.clone())?.trim_end();
    if !matches!(node.kind, Kind::Map(_)) {
        return splice(node.span.start..node.span.start + written.len(), &flow(new));
    }
    if written.starts_with('{') {
        let item = with_entries(&format!("k: {written}{end}"), wanted, end)?;
        return splice(node.span.start..node.span.start + written.len(), item.strip_prefix("k: ")?.trim_end());
    }
    let start = document.line_start(node.span.start);
    let stop = nodes.get(place + 1).map_or(lines.len(), |next| document.line_start(next.span.start));
    let (dash, rest) = (lines.get(start..node.span.start)?, lines.get(node.span.start..stop)?);
    let indent = " ".repeat(dash.len());
    if dash.replacen('-', " ", 1) != indent {
        return None;
    }
    let head = format!("k:{end}");
    let item = with_entries(&format!("{head}{indent}{rest}"), wanted, end)?;
    let item = item.strip_prefix(&head)?.strip_prefix(&indent)?;
    splice(start..stop, &format!("{dash}{item}"))
}

/// Gives the map in the field `k` these entries, one after the other.
fn with_entries(text: &str, wanted: &[(String, Value)], end: Ends) -> Option<String> {
    let read = |text: &str| match Document::parse(text, end).ok()?.values().as_slice() {
        [(_, Value::Map(entries))] => Some(entries.clone()),
        _ => None,
    };
    let have = read(text)?;
    let mut text = text.to_owned();
    for (key, value) in wanted {
        if get(&have, key).map(plain) != Some(plain(value)) {
            let lines = Document::parse(&text, end).ok()?.with_entry("k", key, value);
            let says = |text: &String| read(text).is_some_and(|now| get(&now, key).map(plain) == Some(plain(value)));
            text = lines.into_iter().find(says)?;
        }
    }
    for (key, _) in have.iter().filter(|(key, _)| get(wanted, key).is_none()) {
        let lines = Document::parse(&text, end).ok()?.without_entry("k", key);
        text = lines.into_iter().next()?;
    }
    Some(text)
}
