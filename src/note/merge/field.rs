//! How one field is merged: lists as sets, maps field by field, of two times the later or the
//! earlier; whatever else changed on both sides stays three ways of writing it.

use super::super::Stamp;
use super::super::document::Document;
use super::super::items::{identity, is_list, items as all_items, plain};
use super::super::value::Value;
use super::sheet::Piece;

/// The most items that are added or taken out one by one; more is no work of a person.
const MAX_STEPS: usize = 200;

/// A field in three texts: in ours, in the base, in theirs. Where they are alike the sides agree.
pub(super) type Three = [Option<Piece>; 3];

/// Merges a field; each side may lack it.
pub(super) fn merge(key: &str, base: Option<&Piece>, ours: Option<&Piece>, theirs: Option<&Piece>, end: Ends) -> Three {
    let all = |piece: Option<&Piece>| [piece.cloned(), piece.cloned(), piece.cloned()];
    for same in [same_lines, same_meaning] {
        if same(theirs, base) || same(ours, theirs) {
            return all(ours);
        }
        if same(ours, base) {
            return all(theirs);
        }
    }
    let field = Sides { key, base, ours, theirs, end };
    field
        .as_list()
        .map(|piece| all(piece.as_ref()))
        .or_else(|| field.as_time().map(|piece| all(Some(&piece))))
        .or_else(|| field.as_map())
        .unwrap_or_else(|| [ours.cloned(), base.cloned(), theirs.cloned()])
}

/// What lines end in.
pub(super) type Ends = &'static str;

fn same_lines(a: Option<&Piece>, b: Option<&Piece>) -> bool {
    a.map(|piece| &piece.lines) == b.map(|piece| &piece.lines)
}

fn same_meaning(a: Option<&Piece>, b: Option<&Piece>) -> bool {
    a.map(|piece| plain(&piece.value)) == b.map(|piece| plain(&piece.value))
}

/// A field that changed on both sides.
struct Sides<'a> {
    key: &'a str,
    base: Option<&'a Piece>,
    ours: Option<&'a Piece>,
    theirs: Option<&'a Piece>,
    end: Ends,
}

impl Sides<'_> {
    /// Merges lists as sets: ours, without what theirs took out, with what theirs added.
    fn as_list(&self) -> Option<Option<Piece>> {
        let [base, ours, theirs] = [self.base, self.ours, self.theirs].map(|piece| items(self.key, piece));
        let (base, ours, theirs) = (base?, ours?, theirs?);
        let wanted = merged_items(self.key, &base, &ours, &theirs);
        if self.ours.is_none() || self.theirs.is_none() {
            // A known list that is not there is one without items; another field that is gone is gone.
            if !is_list(self.key) {
                return None;
            }
            if wanted.is_empty() {
                return Some(None);
            }
        }
        let host = self.ours.or(self.theirs)?;
        with_items(self.key, host, &wanted, self.end).map(Some)
    }

    /// Takes the later `updated`, the earlier `created`.
    fn as_time(&self) -> Option<Piece> {
        let (ours, theirs) = (self.ours?, self.theirs?);
        let stamp = |piece: &Piece| match &piece.value {
            Value::Text { text, .. } => Stamp::parse(text),
            _ => None,
        };
        let (our_time, their_time) = (stamp(ours)?, stamp(theirs)?);
        let takes_theirs = match self.key {
            "updated" => their_time > our_time,
            "created" => their_time < our_time,
            _ => return None,
        };
        Some(if takes_theirs { theirs } else { ours }.clone())
    }

    /// Merges maps field by field; where a field in them can't be merged, the texts differ in it.
    fn as_map(&self) -> Option<Three> {
        let nothing = Vec::new();
        let entries = |piece: Option<&Piece>| match piece.map(|piece| &piece.value) {
            Some(Value::Map(entries)) => Some(entries.clone()),
            _ => None,
        };
        let (ours, theirs) = (entries(self.ours)?, entries(self.theirs)?);
        let base = if self.base.is_some() { entries(self.base)? } else { nothing };
        let mut merged = self.ours?.clone();
        let mut conflicts = Vec::new();
        let added = theirs.iter().filter(|(key, _)| get(&ours, key).is_none());
        for key in ours.iter().chain(added).map(|(key, _)| key) {
            let (in_base, in_ours, in_theirs) = (get(&base, key), get(&ours, key), get(&theirs, key));
            match merged_entry(in_base, in_ours, in_theirs) {
                Some(value) if value.as_ref() == in_ours => {}
                Some(value) => merged = with_entry(self.key, &merged, key, value.as_ref(), self.end)?,
                None => conflicts.push((key, in_ours, in_base, in_theirs)),
            }
        }
        let mut three = [merged.clone(), merged.clone(), merged];
        for (key, in_ours, in_base, in_theirs) in conflicts {
            for (piece, value) in three.iter_mut().zip([in_ours, in_base, in_theirs]) {
                if value != in_ours {
                    *piece = with_entry(self.key, piece, key, value, self.end)?;
                }
            }
        }
        Some(three.map(Some))
    }
}

fn get<'v>(entries: &'v [(String, Value)], key: &str) -> Option<&'v Value> {
    entries.iter().find(|(have, _)| have == key).map(|(_, value)| value)
}

/// Merges one field of a map; `None` when the sides truly disagree.
fn merged_entry(base: Option<&Value>, ours: Option<&Value>, theirs: Option<&Value>) -> Option<Option<Value>> {
    let same = |a: Option<&Value>, b: Option<&Value>| a.map(plain) == b.map(plain);
    if same(theirs, base) || same(ours, theirs) {
        return Some(ours.cloned());
    }
    if same(ours, base) {
        return Some(theirs.cloned());
    }
    match (base, ours, theirs) {
        (None, Some(Value::List(ours)), Some(Value::List(theirs))) => {
            Some(Some(Value::List(merged_items("", &[], ours, theirs))))
        }
        (Some(Value::List(base)), Some(Value::List(ours)), Some(Value::List(theirs))) => {
            Some(Some(Value::List(merged_items("", base, ours, theirs))))
        }
        _ => None,
    }
}

/// Returns the items of a list; `None` for what is no list.
fn items(key: &str, piece: Option<&Piece>) -> Option<Vec<Value>> {
    match piece.map(|piece| &piece.value) {
        Some(Value::List(items)) => Some(items.clone()),
        None => Some(Vec::new()),
        Some(value) => is_list(key).then(|| all_items(key, value)),
    }
}

fn merged_items(key: &str, base: &[Value], ours: &[Value], theirs: &[Value]) -> Vec<Value> {
    let names = |items: &[Value]| items.iter().map(|item| identity(key, item)).collect::<Vec<_>>();
    let (in_base, in_theirs) = (names(base), names(theirs));
    let is_taken_out = |name: &Value| in_base.contains(name) && !in_theirs.contains(name);
    let mut merged: Vec<Value> = ours.iter().filter(|item| !is_taken_out(&identity(key, item))).cloned().collect();
    let mut known = [names(ours), in_base].concat();
    for (item, name) in theirs.iter().zip(in_theirs) {
        if !known.contains(&name) {
            merged.push(item.clone());
            known.push(name);
        }
    }
    merged
}

/// Writes a list with these items into a field's lines, touching no item that stays.
fn with_items(key: &str, host: &Piece, wanted: &[Value], end: Ends) -> Option<Piece> {
    let mut piece = host.clone();
    let have = items(key, Some(host))?;
    let names = |items: &[Value]| items.iter().map(|item| identity(key, item)).collect::<Vec<_>>();
    let (had, kept) = (names(&have), names(wanted));
    let added: Vec<&Value> = wanted.iter().zip(&kept).filter(|(_, name)| !had.contains(name)).map(|(v, _)| v).collect();
    let mut unwanted: Vec<&Value> = Vec::new();
    for name in &had {
        if !kept.contains(name) && !unwanted.contains(&name) {
            unwanted.push(name);
        }
    }
    if added.len() + unwanted.len() > MAX_STEPS {
        return None;
    }
    let mut now = have;
    if !matches!(piece.value, Value::List(_)) && !now.is_empty() {
        piece = edited(key, &piece, Value::List(now.clone()), end, |document| {
            document.with_value(key, &Value::List(now.clone()))
        })?;
    }
    for item in added {
        now.push(item.clone());
        piece = edited(key, &piece, Value::List(now.clone()), end, |document| document.with_item(key, item))?;
    }
    for name in unwanted {
        let is_unwanted = |item: &Value| identity(key, item) == *name;
        now.retain(|item| !is_unwanted(item));
        piece =
            edited(key, &piece, Value::List(now.clone()), end, |document| document.remove_items(key, &is_unwanted))?;
    }
    Some(piece)
}

/// Gives a field of a map another value, or takes it out.
fn with_entry(map: &str, piece: &Piece, key: &str, value: Option<&Value>, end: Ends) -> Option<Piece> {
    let Value::Map(mut entries) = piece.value.clone() else { return None };
    let place = entries.iter().position(|(have, _)| have == key);
    match (place.and_then(|place| entries.get_mut(place)), value) {
        (Some((_, old)), Some(new)) => *old = new.clone(),
        (None, Some(new)) => entries.push((key.to_owned(), new.clone())),
        (_, None) => entries.retain(|(have, _)| have != key),
    }
    edited(map, piece, Value::Map(entries), end, |document| match value {
        Some(value) => document.with_entry(map, key, value),
        None => document.without_entry(map, key),
    })
}

/// Edits a field's lines; the first text counts that says exactly what is wanted.
fn edited(
    key: &str,
    piece: &Piece,
    wanted: Value,
    end: Ends,
    edit: impl Fn(&Document<'_>) -> Vec<String>,
) -> Option<Piece> {
    let document = Document::parse(&piece.lines, end).ok()?;
    let says = |lines: &String| {
        let values = Document::parse(lines, end).map(|document| document.values()).unwrap_or_default();
        matches!(values.as_slice(), [(have, value)] if have == key && plain(value) == plain(&wanted))
    };
    let lines = edit(&document).into_iter().find(says)?;
    Some(Piece { lines, value: wanted })
}
