//! The three-way merge of one field.
//!
//! Known lists are merged as sets, other lists if both sides appended to them, maps field by field; `updated` becomes the
//! later and `created` the earlier time. Every other field that both sides changed stays a conflict. A merged field is an
//! edit of our lines; theirs are taken as a whole only if ours are those of the base, or if no change of ours is lost.

use super::super::Timestamp;
use super::super::join::kind_and_target;
use super::super::link_types::SUPERSEDED_BY;
use super::super::list_fields::{is_list, items, plain};
use super::super::standing::is_life_field;
use super::super::value::Value;
use super::super::verified_edit::{FieldText, by_key, edited, with_changes};
use super::super::yaml_emitter::flow;
use super::comments::{merge_comments, with_value_of};
use super::list::{appended, merge_sets, with_appended};

/// The lines of a field in ours, the base and theirs after the merge; equal unless the field is in conflict.
pub(super) type ThreeWay = [Option<FieldText>; 3];

/// Merges a field. `is_changed`: whether ours changed anything in the note.
pub(super) fn merge(key: &str, [base, ours, theirs]: [Option<&FieldText>; 3], is_changed: bool) -> ThreeWay {
    if has_same_lines(theirs, base) || has_same_lines(ours, theirs) {
        return resolved(ours.cloned());
    }
    let field = ChangedField { key, base, ours, theirs };
    let in_conflict = || [ours.cloned(), base.cloned(), theirs.cloned()];
    if is_changed && field.changes_life() {
        return field.as_map().and_then(|merged| field.with_comments(merged)).unwrap_or_else(in_conflict);
    }
    if has_same_lines(ours, base) {
        return resolved(theirs.cloned());
    }
    field.merged().unwrap_or_else(in_conflict)
}

fn resolved(field: Option<FieldText>) -> ThreeWay {
    [field.clone(), field.clone(), field]
}

fn has_same_lines(a: Option<&FieldText>, b: Option<&FieldText>) -> bool {
    a.map(|field| &field.lines) == b.map(|field| &field.lines)
}

fn has_same_value(a: Option<&FieldText>, b: Option<&FieldText>) -> bool {
    a.map(|field| plain(&field.value)) == b.map(|field| plain(&field.value))
}

struct ChangedField<'a> {
    key: &'a str,
    base: Option<&'a FieldText>,
    ours: Option<&'a FieldText>,
    theirs: Option<&'a FieldText>,
}

impl ChangedField<'_> {
    /// Merges the value, then its comments. Returns the result of the first strategy that loses neither.
    fn merged(&self) -> Option<ThreeWay> {
        if has_same_value(self.theirs, self.base) || has_same_value(self.ours, self.theirs) {
            return self.with_comments(resolved(self.ours.cloned()));
        }
        let sides = [self.base, self.ours, self.theirs];
        let is_unchanged = has_same_value(self.ours, self.base);
        let strategies: [&dyn Fn() -> Option<ThreeWay>; 6] = [
            &|| is_list(self.key).then(|| merge_sets(self.key, sides))?.map(resolved),
            &|| (!is_list(self.key)).then(|| self.as_list())?.map(Some).map(resolved),
            &|| self.as_time().map(Some).map(resolved),
            &|| self.as_map(),
            &|| is_unchanged.then(|| self.theirs_in_ours()).map(resolved),
            &|| is_unchanged.then(|| resolved(self.theirs.cloned())),
        ];
        strategies.into_iter().find_map(|strategy| self.with_comments(strategy()?))
    }

    /// Tells whether theirs differs from the base and from ours in what it states about the life of the note. What was said of their
    /// text is not true of what ours made of it, so a person decides.
    fn changes_life(&self) -> bool {
        let new = |field: Option<&FieldText>| match (self.key, field.map(|field| &field.value)) {
            (_, None) => Vec::new(),
            ("custom", Some(Value::Map(entries))) => {
                let of_life = entries.iter().filter(|(key, _)| is_life_field(key));
                of_life.map(|(key, value)| (key.clone(), plain(value))).collect()
            }
            ("links", Some(links)) => {
                let links = items(self.key, links).into_iter().map(|link| kind_and_target(&link));
                links.filter(|(kind, _)| kind == SUPERSEDED_BY).map(|(kind, to)| (kind, Value::text(&to))).collect()
            }
            (key, Some(value)) if is_life_field(key) => vec![(key.to_owned(), plain(value))],
            _ => Vec::new(),
        };
        let [base, ours, theirs] = [self.base, self.ours, self.theirs].map(new);
        theirs != base && theirs != ours
    }

    fn with_comments(&self, merged: ThreeWay) -> Option<ThreeWay> {
        let sides = [self.base, self.ours, self.theirs];
        let [ours, base, theirs] = merged.map(|field| merge_comments(self.key, field, sides));
        Some([ours?, base?, theirs?])
    }

    /// Writes their value into our lines, or returns their lines if that is not possible.
    fn theirs_in_ours(&self) -> Option<FieldText> {
        let (ours, theirs) = (self.ours?, self.theirs?);
        let in_place =
            edited(self.key, ours, theirs.value.clone(), |_| with_value_of(ours, theirs).into_iter().collect());
        let on_line = || match theirs.value {
            Value::Text { .. } => {
                edited(self.key, ours, theirs.value.clone(), |document| document.set(self.key, &flow(&theirs.value)))
            }
            _ => None,
        };
        in_place.or_else(on_line).or_else(|| Some(theirs.clone()))
    }

    fn as_list(&self) -> Option<FieldText> {
        let items = |field: Option<&FieldText>| match field.map(|field| &field.value) {
            Some(Value::List(items)) => Some(items.clone()),
            _ => None,
        };
        let merged = appended(&items(self.base)?, &items(self.ours)?, &items(self.theirs)?)?;
        with_appended(self.key, self.ours?, &merged)
    }

    fn as_time(&self) -> Option<FieldText> {
        let (ours, theirs) = (self.ours?, self.theirs?);
        let time = |field: &FieldText| match &field.value {
            Value::Text { text, .. } => Timestamp::parse(text),
            _ => None,
        };
        let (our_time, their_time) = (time(ours)?, time(theirs)?);
        let is_theirs = match self.key {
            "updated" => their_time > our_time,
            "created" => their_time < our_time,
            _ => return None,
        };
        if is_theirs { self.theirs_in_ours() } else { Some(ours.clone()) }
    }

    /// Merges maps field by field; the result is in conflict only in the fields that can't be merged.
    fn as_map(&self) -> Option<ThreeWay> {
        let entries = |field: Option<&FieldText>| match field.map(|field| &field.value) {
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
            match merged_entry(key, base, ours, theirs) {
                Some(value) if value.as_ref() == ours => {}
                Some(value) => changes.push((key, value)),
                None => conflicts.push((key, [ours, base, theirs])),
            }
        }
        let merged = with_changes(self.key, self.ours?.clone(), &changes)?;
        let versions = [0, 1, 2].map(|side| {
            let changes = conflicts.iter().filter_map(|(key, values)| {
                let value = values.get(side).copied().flatten();
                (Some(value) != values.first().copied()).then(|| (*key, value.cloned()))
            });
            with_changes(self.key, merged.clone(), &changes.collect::<Vec<_>>())
        });
        versions.iter().all(Option::is_some).then_some(versions)
    }
}

/// Merges one field of a map; `None` on a conflict, `Some(None)` if the field is removed.
fn merged_entry(
    key: &str,
    base: Option<&Value>,
    ours: Option<&Value>,
    theirs: Option<&Value>,
) -> Option<Option<Value>> {
    let is_same = |a: Option<&Value>, b: Option<&Value>| a.map(plain) == b.map(plain);
    if is_same(theirs, base) || is_same(ours, theirs) {
        return Some(ours.cloned());
    }
    if is_life_field(key) {
        return None;
    }
    if is_same(ours, base) {
        return Some(theirs.cloned());
    }
    match (base, ours, theirs) {
        (Some(Value::List(base)), Some(Value::List(ours)), Some(Value::List(theirs))) => {
            Some(Some(Value::List(appended(base, ours, theirs)?)))
        }
        _ => None,
    }
}
