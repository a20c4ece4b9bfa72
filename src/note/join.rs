//! Joins the links or sources of two notes without losing an entry that only one of them has.

use super::edit::Edit;
use super::link_types::SUPERSEDED_BY;
use super::list_fields::{entries_of_item, get, link_target, plain, with_entries};
use super::value::{FieldValues, Value};

/// The treatment of an entry for which two matching items have different values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnConflict {
    /// Keeps both items, theirs after ours.
    KeepBoth,
    TakeTheirs,
    KeepOurs,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct JoinedItems {
    pub(crate) edits: Vec<Edit>,
    /// The keys of entries of theirs that are not taken over.
    pub(crate) not_taken: Vec<String>,
}

/// Joins a list of links or sources with that of another note. Entries that only one of two matching items has are
/// united. If a note has several items that match, they are not united, and theirs are appended unless ours have all of
/// their entries.
pub(crate) fn join(
    key: &'static str,
    ours: Vec<Value>,
    theirs: Vec<Value>,
    is_match: impl Fn(&Value, &Value) -> bool,
    on_conflict: OnConflict,
) -> JoinedItems {
    let (mut all, mut joined) = (ours, JoinedItems::default());
    for item in &theirs {
        let matching = all.iter().enumerate().filter(|(_, our_item)| is_match(our_item, item));
        let matching: Vec<_> =
            matching.map(|(index, our_item)| (index, our_item.clone(), extra_fields(key, our_item, item))).collect();
        if matching.iter().any(|(.., extra)| extra.new.is_empty() && extra.conflicting.is_empty()) {
            continue;
        }
        let is_unique = matching.len() == 1 && theirs.iter().filter(|other| is_match(other, item)).count() == 1;
        let only = matching.into_iter().next().filter(|_| is_unique);
        match only.filter(|(.., extra)| extra.conflicting.is_empty() || on_conflict != OnConflict::KeepBoth) {
            Some((index, old, ExtraFields { mut new, conflicting })) => {
                if on_conflict == OnConflict::TakeTheirs {
                    new.extend(conflicting);
                } else {
                    joined.not_taken.extend(conflicting.into_iter().map(|(key, _)| key));
                }
                if !new.is_empty() {
                    if let Some(our_item) = all.get_mut(index) {
                        *our_item = with_entries(key, &old, &new);
                    }
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

/// Tells whether two items are the same source: with the same URL, or without a URL and with the same title.
pub(crate) fn is_same_source(a: &Value, b: &Value) -> bool {
    let (a, b) = (entries_of_item("sources", a), entries_of_item("sources", b));
    let text = |entries: &[(String, Value)], key: &str| get(entries, key).map(|text| text.to_line().trim().to_owned());
    let (url, other_url) = (text(&a, "url").unwrap_or_default(), text(&b, "url").unwrap_or_default());
    url == other_url && (!url.is_empty() || text(&a, "title") == text(&b, "title"))
}

pub(crate) fn kind_and_target(item: &Value) -> (String, String) {
    let entries = entries_of_item("links", item);
    let text =
        |key: &str| get(&entries, key).map(|text| text.to_line().trim().to_owned()).filter(|text| !text.is_empty());
    let target = text("id").unwrap_or_default();
    (text("type").unwrap_or_else(|| "related".to_owned()), link_target(&target).to_owned())
}

/// Tells whether a link says that its note no longer holds.
pub(crate) fn is_life_link(item: &Value) -> bool {
    kind_and_target(item).0 == SUPERSEDED_BY
}

/// The entries of an item of theirs that our item lacks, and those for which it has another value.
struct ExtraFields {
    new: FieldValues,
    conflicting: FieldValues,
}

fn extra_fields(key: &str, ours: &Value, theirs: &Value) -> ExtraFields {
    let ours = entries_of_item(key, ours);
    let is_name = |name: &str| matches!((key, name), ("links", "id" | "type") | ("sources", "url"));
    let our_value = |name: &str| get(&ours, name).filter(|value| !value.is_null());
    let mut extra = entries_of_item(key, theirs);
    extra.retain(|(name, value)| {
        !is_name(name) && !value.is_null() && our_value(name).is_none_or(|ours| plain(ours) != plain(value))
    });
    let (new, conflicting) = extra.into_iter().partition(|(name, _)| our_value(name).is_none());
    ExtraFields { new, conflicting }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::Note;
    use crate::note::edit::apply;

    fn joined(ours: &str, theirs: &str, on_conflict: OnConflict) -> (String, Vec<String>) {
        let text = |yaml: &str| format!("---\nsources:{yaml}---\n");
        let sources = |yaml: &str| Note::parse("notes/n.md", text(yaml).into_bytes()).source_values();
        let joined = join("sources", sources(ours), sources(theirs), is_same_source, on_conflict);
        let new = apply(&text(ours), &joined.edits).unwrap();
        (new.strip_prefix("---\nsources:").unwrap().strip_suffix("---\n").unwrap().to_owned(), joined.not_taken)
    }

    #[test]
    fn what_both_say_of_a_source_is_said_once_and_nothing_is_lost() {
        use OnConflict::{KeepBoth, KeepOurs, TakeTheirs};
        let (page_1, page_2) = (" [{url: a, page: 1}]\n", " [{url: a, page: 2, n: 3}]\n");
        let both_pages = " [{url: a, page: 1}, {url: a, page: 2, \"n\": 3}]\n";
        for (ours, theirs, on_conflict, new) in [
            ("\n- a # c\n- b\n", " {url: a, page: \"7\"}\n", KeepBoth, "\n- {url: a, page: \"7\"} # c\n- b\n"),
            (" a\n", " [{url: a, page: 7}, b]\n", KeepBoth, " [{url: a, page: 7}, b]\n"),
            (" [{url: a}] # c\n", " [{url: a, q: \"x: y\"}]\n", KeepBoth, " [{url: a, q: \"x: y\"}] # c\n"),
            (
                "\n  - url: a\n    page: 1 # one\n    why:\n  # c\n  - url: b\n",
                "\n- url: a\n  why: z\n- url: b\n  page: 2\n",
                KeepBoth,
                "\n  - url: a\n    page: 1 # one\n    why: z\n  # c\n  - url: b\n    page: 2\n",
            ),
            (page_1, page_2, KeepBoth, both_pages),
            (page_1, page_2, TakeTheirs, " [{url: a, page: 2, \"n\": 3}]\n"),
            (page_1, page_2, KeepOurs, " [{url: a, page: 1, \"n\": 3}]\n"),
            (
                " [{url: a, q: 1}]\n",
                " [{url: a, q: 1}, {url: a, q: 2}]\n",
                TakeTheirs,
                " [{url: a, q: 1}, {url: a, q: 2}]\n",
            ),
            (" [{url: a, q: 1, r: 2}]\n", " [{url: a, r: 2}, {url: a}]\n", KeepBoth, " [{url: a, q: 1, r: 2}]\n"),
        ] {
            let not_taken = if on_conflict == KeepOurs { vec!["page".to_owned()] } else { Vec::new() };
            let case = format!("{ours} {theirs} {on_conflict:?}");
            assert_eq!(joined(ours, theirs, on_conflict), (new.to_owned(), not_taken), "{case}");
            assert_eq!(joined(new, theirs, on_conflict).0, new, "twice is once: {new} {theirs}");
        }
    }
}
