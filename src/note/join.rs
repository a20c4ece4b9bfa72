//! Joining what two notes say of one link or source: nothing that only one of them says is lost.

use super::edit::Edit;
use super::items::{get, link_target, map_of, plain, with_entries};
use super::value::Value;

/// What becomes of an entry that two items of one name say differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnConflict {
    /// Both items are kept, one behind the other.
    KeepBoth,
    /// Theirs counts.
    TakeTheirs,
    /// Ours counts.
    KeepOurs,
}

/// How the items of two lists become those of one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct JoinedItems {
    /// The edits of our list.
    pub(crate) edits: Vec<Edit>,
    /// Entries of theirs that are not in it: their keys.
    pub(crate) left: Vec<String>,
}

/// Joins the items of a list of links or sources with those of another note. Of items of one name, entries that
/// only one of them has are united; where a note has several items of a name, each of them is one of its own.
/// Items that say the same have one name too.
pub(crate) fn join(
    key: &'static str,
    ours: Vec<Value>,
    theirs: Vec<Value>,
    have_one_name: impl Fn(&Value, &Value) -> bool,
    on_conflict: OnConflict,
) -> JoinedItems {
    let (mut all, mut joined) = (ours, JoinedItems::default());
    for item in &theirs {
        let alike: Vec<usize> =
            (0..all.len()).filter(|place| all.get(*place).is_some_and(|have| have_one_name(have, item))).collect();
        let more = |place: &usize| all.get(*place).map(|have| more_of(key, have, item)).unwrap_or_default();
        if alike.iter().any(|place| more(place).is_nothing()) {
            continue;
        }
        let is_only = theirs.iter().filter(|other| have_one_name(other, item)).count() == 1;
        let only = match alike.as_slice() {
            [place] if is_only => all.get(*place).cloned().map(|old| (*place, old, more(place))),
            _ => None,
        };
        match only.filter(|(.., more)| more.other.is_empty() || on_conflict != OnConflict::KeepBoth) {
            Some((place, old, ExtraFields { mut new, other })) => {
                match on_conflict {
                    OnConflict::TakeTheirs => new.extend(other),
                    OnConflict::KeepBoth | OnConflict::KeepOurs => {
                        joined.left.extend(other.into_iter().map(|(key, _)| key))
                    }
                }
                if !new.is_empty() {
                    all.iter_mut().skip(place).take(1).for_each(|have| *have = with_entries(key, &old, &new));
                    joined.edits.push(Edit::SetEntries { key, item: old, entries: new });
                }
            }
            None => {
                all.push(item.clone());
                joined.edits.push(Edit::AddValue { key, value: item.clone() });
            }
        }
    }
    joined
}

/// Tells whether two items are of one source: of one address, or without any of one title.
pub(crate) fn is_one_source(a: &Value, b: &Value) -> bool {
    let (a, b) = (map_of("sources", a), map_of("sources", b));
    let text = |entries: &[(String, Value)], key: &str| get(entries, key).map(|text| text.to_line().trim().to_owned());
    let (url, other) = (text(&a, "url").unwrap_or_default(), text(&b, "url").unwrap_or_default());
    url == other && (!url.is_empty() || text(&a, "title") == text(&b, "title"))
}

/// Returns the type of a link and the name of the note that it leads to.
pub(crate) fn kind_and_target(item: &Value) -> (String, String) {
    let entries = map_of("links", item);
    let text =
        |key: &str| get(&entries, key).map(|text| text.to_line().trim().to_owned()).filter(|text| !text.is_empty());
    let target = text("id").unwrap_or_default();
    (text("type").unwrap_or_else(|| "related".to_owned()), link_target(&target).to_owned())
}

/// What an item says beside what another of its name does.
#[derive(Default)]
struct ExtraFields {
    /// Entries that the other lacks.
    new: Vec<(String, Value)>,
    /// Entries that the other has, with another value.
    other: Vec<(String, Value)>,
}

impl ExtraFields {
    fn is_nothing(&self) -> bool {
        self.new.is_empty() && self.other.is_empty()
    }
}

fn more_of(key: &str, ours: &Value, theirs: &Value) -> ExtraFields {
    let ours = map_of(key, ours);
    let mut more = ExtraFields::default();
    let is_name = |name: &str| matches!((key, name), ("links", "id" | "type") | ("sources", "url"));
    for (name, value) in map_of(key, theirs).into_iter().filter(|(name, value)| !is_name(name) && !value.is_null()) {
        match get(&ours, &name).filter(|have| !have.is_null()) {
            None => more.new.push((name, value)),
            Some(have) if plain(have) == plain(&value) => {}
            Some(_) => more.other.push((name, value)),
        }
    }
    more
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::Note;
    use crate::note::edit::apply;

    fn joined(ours: &str, theirs: &str, on_conflict: OnConflict) -> (String, Vec<String>) {
        let text = |yaml: &str| format!("---\nsources:{yaml}---\n");
        let sources = |yaml: &str| Note::parse("notes/n.md", text(yaml).into_bytes()).source_values();
        let joined = join("sources", sources(ours), sources(theirs), is_one_source, on_conflict);
        let new = apply(&text(ours), &joined.edits).unwrap();
        (new.strip_prefix("---\nsources:").unwrap().strip_suffix("---\n").unwrap().to_owned(), joined.left)
    }

    #[test]
    fn what_both_say_of_a_source_is_said_once_and_nothing_is_lost() {
        use OnConflict::{KeepBoth, KeepOurs, TakeTheirs};
        for (ours, theirs, on_conflict, new, left) in [
            (
                " [{url: a}] # c\n",
                " [{url: a, page: 7, quote: \"x: y\"}]\n",
                KeepBoth,
                " [{url: a, page: 7, quote: \"x: y\"}] # c\n",
                "",
            ),
            ("\n- a # c\n- b\n", " {url: a, page: \"7\"}\n", KeepBoth, "\n- {url: a, page: \"7\"} # c\n- b\n", ""),
            (" a\n", " [{url: a, page: 7}, b]\n", KeepBoth, " [{url: a, page: 7}, b]\n", ""),
            (
                "\n  - url: a\n    page: 1 # one\n    why:\n  # c\n  - url: b\n",
                "\n- url: a\n  why: z\n- url: b\n  page: 2\n",
                KeepBoth,
                "\n  - url: a\n    page: 1 # one\n    why: z\n  # c\n  - url: b\n    page: 2\n",
                "",
            ),
            (
                " [{url: a, page: 1}]\n",
                " [{url: a, page: 2, n: 3}]\n",
                KeepBoth,
                " [{url: a, page: 1}, {url: a, page: 2, \"n\": 3}]\n",
                "",
            ),
            (
                " [{url: a, page: 1}]\n",
                " [{url: a, page: 2, n: 3}]\n",
                TakeTheirs,
                " [{url: a, page: 2, \"n\": 3}]\n",
                "",
            ),
            (
                " [{url: a, page: 1}]\n",
                " [{url: a, page: 2, n: 3}]\n",
                KeepOurs,
                " [{url: a, page: 1, \"n\": 3}]\n",
                "page",
            ),
            (
                " [{url: a, q: 1}]\n",
                " [{url: a, q: 1}, {url: a, q: 2}]\n",
                TakeTheirs,
                " [{url: a, q: 1}, {url: a, q: 2}]\n",
                "",
            ),
            (" [{url: a, q: 1, r: 2}]\n", " [{url: a, r: 2}, {url: a}]\n", KeepBoth, " [{url: a, q: 1, r: 2}]\n", ""),
        ] {
            let left: Vec<String> = left.split_whitespace().map(str::to_owned).collect();
            assert_eq!(joined(ours, theirs, on_conflict), (new.to_owned(), left), "{ours} {theirs} {on_conflict:?}");
            assert_eq!(joined(new, theirs, on_conflict).0, new, "twice is once: {new} {theirs}");
        }
    }
}
