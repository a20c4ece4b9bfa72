//! How one field is merged: known lists as sets, maps field by field, of two times the later or the
//! earlier; whatever else changed on both sides stays three ways of writing it.
//!
//! A result is an edit of our lines. Theirs are taken whole only where ours are those of the base,
//! or where nothing of ours is lost by it.

use super::super::Stamp;
use super::super::document::Document;
use super::super::items::{is_list, plain};
use super::super::value::Value;
use super::comments::{settle, with_value_of};
use super::list::{appended, merge_sets, with_appended};
use super::sheet::Piece;

/// A field in three texts: in ours, in the base, in theirs. Where they are alike the sides agree.
pub(super) type Three = [Option<Piece>; 3];

/// Merges a field; each side may lack it.
pub(super) fn merge(key: &str, base: Option<&Piece>, ours: Option<&Piece>, theirs: Option<&Piece>, end: Ends) -> Three {
    if same_lines(theirs, base) || same_lines(ours, theirs) {
        return all(ours.cloned());
    }
    if same_lines(ours, base) {
        return all(theirs.cloned());
    }
    let field = Sides { key, base, ours, theirs, end };
    field.merged().unwrap_or_else(|| [ours.cloned(), base.cloned(), theirs.cloned()])
}

/// What lines end in.
pub(super) type Ends = &'static str;

fn all(piece: Option<Piece>) -> Three {
    [piece.clone(), piece.clone(), piece]
}

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
    /// Merges the values, then the comments at them; the first way counts in which neither is lost.
    fn merged(&self) -> Option<Three> {
        if same_meaning(self.theirs, self.base) || same_meaning(self.ours, self.theirs) {
            return self.settled(all(self.ours.cloned()));
        }
        let ways: [&dyn Fn() -> Option<Three>; 5] = [
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

    fn settled(&self, three: Three) -> Option<Three> {
        let [ours, base, theirs] =
            three.map(|piece| settle(self.key, piece, [self.base, self.ours, self.theirs], self.end));
        Some([ours?, base?, theirs?])
    }

    /// Writes their value into our lines; theirs as they are where that can't be done.
    fn theirs_in_ours(&self) -> Option<Piece> {
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
    fn as_list(&self) -> Option<Piece> {
        let items = |piece: Option<&Piece>| match piece.map(|piece| &piece.value) {
            Some(Value::List(items)) => Some(items.clone()),
            _ => None,
        };
        let wanted = appended(&items(self.base)?, &items(self.ours)?, &items(self.theirs)?)?;
        with_appended(self.key, self.ours?, &wanted, self.end)
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
        if takes_theirs { self.theirs_in_ours() } else { Some(ours.clone()) }
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

/// Returns the value of a map's field.
pub(super) fn get<'v>(entries: &'v [(String, Value)], key: &str) -> Option<&'v Value> {
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
        (Some(Value::List(base)), Some(Value::List(ours)), Some(Value::List(theirs))) => {
            Some(Some(Value::List(appended(base, ours, theirs)?)))
        }
        _ => None,
    }
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
pub(super) fn edited(
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
