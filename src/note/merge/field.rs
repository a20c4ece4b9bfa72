//! How one field is merged: known lists as sets, maps field by field, of two times the later or the
//! earlier; whatever else changed on both sides stays three ways of writing it.
//!
//! A result is an edit of our lines. Theirs are taken whole only where ours are those of the base,
//! or where nothing of ours is lost by it.

use std::collections::{HashMap, HashSet};

use super::super::Timestamp;
use super::super::items::{is_list, plain};
use super::super::value::Value;
use super::super::yaml_document::YamlDocument;
use super::comments::{settle, with_value_of};
use super::field_lines::FieldText;
use super::list::{appended, merge_sets, with_appended};

/// A field in three texts: in ours, in the base, in theirs. Where they are alike the sides agree.
pub(super) type ThreeWay = [Option<FieldText>; 3];

/// Merges a field; each side may lack it.
pub(super) fn merge(
    key: &str,
    base: Option<&FieldText>,
    ours: Option<&FieldText>,
    theirs: Option<&FieldText>,
    end: LineEnding,
) -> ThreeWay {
    if same_lines(theirs, base) || same_lines(ours, theirs) {
        return all(ours.cloned());
    }
    if same_lines(ours, base) {
        return all(theirs.cloned());
    }
    let field = ChangedField { key, base, ours, theirs, end };
    field.merged().unwrap_or_else(|| [ours.cloned(), base.cloned(), theirs.cloned()])
}

/// What lines end in.
pub(super) type LineEnding = &'static str;

fn all(piece: Option<FieldText>) -> ThreeWay {
    [piece.clone(), piece.clone(), piece]
}

fn same_lines(a: Option<&FieldText>, b: Option<&FieldText>) -> bool {
    a.map(|piece| &piece.lines) == b.map(|piece| &piece.lines)
}

fn same_meaning(a: Option<&FieldText>, b: Option<&FieldText>) -> bool {
    a.map(|piece| plain(&piece.value)) == b.map(|piece| plain(&piece.value))
}

/// A field that changed on both sides.
struct ChangedField<'a> {
    key: &'a str,
    base: Option<&'a FieldText>,
    ours: Option<&'a FieldText>,
    theirs: Option<&'a FieldText>,
    end: LineEnding,
}

impl ChangedField<'_> {
    /// Merges the values, then the comments at them; the first way counts in which neither is lost.
    fn merged(&self) -> Option<ThreeWay> {
        if same_meaning(self.theirs, self.base) || same_meaning(self.ours, self.theirs) {
            return self.settled(all(self.ours.cloned()));
        }
        let ways: [&dyn Fn() -> Option<ThreeWay>; 5] = [
            &|| {
                is_list(self.key).then(|| merge_sets(self.key, [self.base, self.ours, self.theirs], self.end))?.map(all)
            },
            &|| (!is_list(self.key)).then(|| self.as_list().map(Some))?.map(all),
            &|| self.as_time().map(Some).map(all),
            &|| self.as_map(),
            &|| same_meaning(self.ours, self.base).then(|| self.theirs_in_ours()).map(all),
        ];
        let settled = ways.into_iter().find_map(|way| self.settled(way()?));
        settled.or_else(|| same_meaning(self.ours, self.base).then(|| self.settled(all(self.theirs.cloned())))?)
    }

    fn settled(&self, three: ThreeWay) -> Option<ThreeWay> {
        let [ours, base, theirs] =
            three.map(|piece| settle(self.key, piece, [self.base, self.ours, self.theirs], self.end));
        Some([ours?, base?, theirs?])
    }

    /// Writes their value into our lines; theirs as they are where that can't be done.
    fn theirs_in_ours(&self) -> Option<FieldText> {
        let (ours, theirs) = (self.ours?, self.theirs?);
        let value = || theirs.value.clone();
        let in_place = || with_value_of(ours, theirs, self.end);
        edited(self.key, ours, value(), self.end, |_| in_place().into_iter().collect())
            .or_else(|| match theirs.value {
                Value::Text { .. } => {
                    edited(self.key, ours, value(), self.end, |document| document.with_value(self.key, &theirs.value))
                }
                _ => None,
            })
            .or_else(|| Some(theirs.clone()))
    }

    /// Merges lists to which both sides appended.
    fn as_list(&self) -> Option<FieldText> {
        let items = |piece: Option<&FieldText>| match piece.map(|piece| &piece.value) {
            Some(Value::List(items)) => Some(items.clone()),
            _ => None,
        };
        let wanted = appended(&items(self.base)?, &items(self.ours)?, &items(self.theirs)?)?;
        with_appended(self.key, self.ours?, &wanted, self.end)
    }

    /// Takes the later `updated`, the earlier `created`.
    fn as_time(&self) -> Option<FieldText> {
        let (ours, theirs) = (self.ours?, self.theirs?);
        let stamp = |piece: &FieldText| match &piece.value {
            Value::Text { text, .. } => Timestamp::parse(text),
            _ => None,
        };
        let (our_time, their_time) = (stamp(ours)?, stamp(theirs)?);
        let takes_theirs = match self.key {
            "updated" => their_time > our_time,
            "created" => their_time < our_time,
            _ => return None,
        };
        if takes_theirs { self.theirs_in_ours() } else { Some(ours.clone()) }
    }

    /// Merges maps field by field; where a field in them can't be merged, the texts differ in it.
    fn as_map(&self) -> Option<ThreeWay> {
        let entries = |piece: Option<&FieldText>| match piece.map(|piece| &piece.value) {
            Some(Value::Map(entries)) => Some(entries.clone()),
            _ => None,
        };
        let (ours, theirs) = (entries(self.ours)?, entries(self.theirs)?);
        let base = if self.base.is_some() { entries(self.base)? } else { Vec::new() };
        let [in_base, in_ours, in_theirs] = [&base, &ours, &theirs].map(|entries| by_key(entries));
        let mut changes = Vec::new();
        let mut conflicts = Vec::new();
        let added = theirs.iter().filter(|(key, _)| !in_ours.contains_key(key.as_str()));
        for key in ours.iter().chain(added).map(|(key, _)| key.as_str()) {
            let [base, ours, theirs] = [&in_base, &in_ours, &in_theirs].map(|entries| entries.get(key).copied());
            match merged_entry(base, ours, theirs) {
                Some(value) if value.as_ref() == ours => {}
                Some(value) => changes.push((key, value)),
                None => conflicts.push((key, [ours, base, theirs])),
            }
        }
        let merged = with_changes(self.key, self.ours?.clone(), &changes, self.end)?;
        let three = [0, 1, 2].map(|side| {
            let changes = conflicts.iter().filter_map(|(key, values)| {
                let value = values.get(side).copied().flatten();
                (Some(value) != values.first().copied()).then(|| (*key, value.cloned()))
            });
            with_changes(self.key, merged.clone(), &changes.collect::<Vec<_>>(), self.end)
        });
        three.iter().all(Option::is_some).then_some(three)
    }
}

/// Indexes the fields of a map.
pub(super) fn by_key(entries: &[(String, Value)]) -> HashMap<&str, &Value> {
    entries.iter().map(|(key, value)| (key.as_str(), value)).collect()
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
        (Some(Value::List(base)), Some(Value::List(ours)), Some(Value::List(theirs))) => {
            Some(Some(Value::List(appended(base, ours, theirs)?)))
        }
        _ => None,
    }
}

/// Fields of a map that get another value, or go.
type FieldChanges<'k> = [(&'k str, Option<Value>)];

/// Gives fields of a map other values, or takes them out.
pub(super) fn with_changes(
    map: &str,
    piece: FieldText,
    changes: &FieldChanges<'_>,
    end: LineEnding,
) -> Option<FieldText> {
    let at_once = |piece: &FieldText, changes: &FieldChanges<'_>| {
        let Value::Map(entries) = &piece.value else { return None };
        let mut entries = entries.clone();
        let mut set: HashMap<&str, &Value> =
            changes.iter().filter_map(|(key, value)| Some((*key, value.as_ref()?))).collect();
        let gone: HashSet<&str> = changes.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| *key).collect();
        let mut piece = piece.clone();
        if !set.is_empty() {
            let given: Vec<(&str, &Value)> =
                changes.iter().filter_map(|(key, _)| Some((*key, *set.get(key)?))).collect();
            for (key, old) in &mut entries {
                if let Some(new) = set.remove(key.as_str()) {
                    *old = new.clone();
                }
            }
            let new = given.iter().filter(|(key, _)| set.contains_key(key));
            entries.extend(new.map(|(key, value)| ((*key).to_owned(), (*value).clone())));
            piece =
                edited(map, &piece, Value::Map(entries.clone()), end, |document| document.with_entries(map, &given))?;
        }
        if gone.is_empty() {
            return Some(piece);
        }
        entries.retain(|(key, _)| !gone.contains(key.as_str()));
        edited(map, &piece, Value::Map(entries), end, |document| document.without_entries(map, &gone))
    };
    in_batches(piece, changes, &mut MAX_SPLITS.clone(), &at_once)
}

/// How often changes of one field are divided before they are given up; what needs more is no work of a person.
pub(super) const MAX_SPLITS: usize = 100;

/// Makes changes of a field's lines all at once; where the text then says something else than it is to, in two
/// halves. So the work grows with the length of the field, and not with that times the number of changes.
pub(super) fn in_batches<C>(
    piece: FieldText,
    changes: &[C],
    splits: &mut usize,
    at_once: &dyn Fn(&FieldText, &[C]) -> Option<FieldText>,
) -> Option<FieldText> {
    if changes.is_empty() {
        return Some(piece);
    }
    if let Some(done) = at_once(&piece, changes) {
        return Some(done);
    }
    if changes.len() == 1 {
        return None;
    }
    *splits = splits.checked_sub(1)?;
    let (first, rest) = changes.split_at(changes.len() / 2);
    let piece = in_batches(piece, first, splits, at_once)?;
    in_batches(piece, rest, splits, at_once)
}

/// Edits a field's lines; the first text counts that says exactly what is wanted.
pub(super) fn edited(
    key: &str,
    piece: &FieldText,
    wanted: Value,
    end: LineEnding,
    edit: impl Fn(&YamlDocument<'_>) -> Vec<String>,
) -> Option<FieldText> {
    let document = YamlDocument::parse(&piece.lines, end).ok()?;
    let says = |lines: &String| {
        let values = YamlDocument::parse(lines, end).map(|document| document.values()).unwrap_or_default();
        matches!(values.as_slice(), [(have, value)] if have == key && plain(value) == plain(&wanted))
    };
    let lines = edit(&document).into_iter().find(says)?;
    Some(FieldText { lines, value: wanted })
}
