//! Suggestions for names of notes and tags that do not exist.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::note_handle::NoteHandle;
use crate::escape::one_line;

/// The most suggestions.
const MAX_SUGGESTIONS: usize = 3;
/// The number of characters of a name that are compared.
const MAX_COMPARED: usize = 80;
/// The least similarity of a title, 0 to 1.
const MIN_SIMILARITY: f64 = 0.7;
/// The least number of characters for a part of a title to match it.
const MIN_PART: usize = 4;

/// Returns the notes whose id or title is similar to a name, the most similar first, as they are shown.
pub(super) fn notes(notes: &[Arc<NoteHandle>], name: &str) -> Vec<String> {
    let name = folded(name);
    let score = |note: &NoteHandle| {
        let title = folded(note.title());
        let by_id = if is_typo(&folded(note.id.as_str()), &name) { 1.0 } else { 0.0 };
        let by_part = if name.chars().count() >= MIN_PART && title.contains(&name) { 0.9 } else { 0.0 };
        f64::max(by_id, f64::max(by_part, strsim::normalized_levenshtein(&title, &name)))
    };
    let scored = notes.iter().map(|note| (score(note), note));
    let mut near: Vec<_> = scored.filter(|(score, _)| *score >= MIN_SIMILARITY).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter()
        .take(MAX_SUGGESTIONS)
        .map(|(_, note)| format!("{} ({})", note.id, one_line(note.title())))
        .collect()
}

/// Returns the tags or types in use that are similar to one that is not, the most similar first.
pub(super) fn names<'a>(in_use: impl Iterator<Item = &'a str>, name: &str) -> Vec<String> {
    let tags: BTreeSet<&str> = in_use.collect();
    let name = folded(name);
    let score = |tag: &str| {
        let tag = folded(tag);
        let is_part = name.chars().count() >= MIN_PART && (tag.contains(&name) || name.contains(&tag));
        let is_similar = is_typo(&tag, &name) || (is_part && tag.chars().count() >= MIN_PART);
        let similarity = strsim::normalized_levenshtein(&tag, &name);
        if is_similar { similarity.max(MIN_SIMILARITY) } else { similarity }
    };
    let mut near: Vec<_> =
        tags.into_iter().map(|tag| (score(tag), tag)).filter(|(score, _)| *score >= MIN_SIMILARITY).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().take(MAX_SUGGESTIONS).map(|(_, tag)| one_line(tag)).collect()
}

/// Whether a name is another one with one typing error, two in names of more than eight characters.
fn is_typo(a: &str, b: &str) -> bool {
    let allowed = if a.chars().count() > 8 { 2 } else { 1 };
    a.chars().count().abs_diff(b.chars().count()) <= allowed && strsim::osa_distance(a, b) <= allowed
}

fn folded(name: &str) -> String {
    name.chars().take(MAX_COMPARED).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_and_parts_are_near_and_strangers_are_not() {
        let note = |id: &str, title: &str, tag: &str| {
            let text = format!("---\nid: {id}\ntitle: {title}\ntags: [{tag}]\n---\n");
            Arc::new(NoteHandle::parse(&format!("notes/{id}.md"), text.into_bytes()))
        };
        let notes = [
            note("qp-1a2b", "Retry fsync until it succeeds", "errors"),
            note("qp-9z9z", "Deploy windows", "deployment"),
            note("journal-2025-03-05", "2025-03-05", "api"),
        ];
        assert_eq!(super::notes(&notes, "qp-1a2c"), ["qp-1a2b (Retry fsync until it succeeds)"]);
        assert_eq!(super::notes(&notes, "Deploy Window"), ["qp-9z9z (Deploy windows)"]);
        assert_eq!(super::notes(&notes, "until it"), ["qp-1a2b (Retry fsync until it succeeds)"]);
        assert!(super::notes(&notes, "qp-zzzz").is_empty() && super::notes(&notes, "").is_empty());
        let tags = |name: &str| names(notes.iter().flat_map(|note| note.relations().tags), name);
        assert_eq!(tags("eror"), Vec::<String>::new());
        assert_eq!(tags("error"), ["errors"]);
        assert_eq!(tags("deploy"), ["deployment"]);
        assert_eq!(tags("apis"), ["api"]);
        assert!(tags("xyz").is_empty());
    }
}
