//! The fuzzy finder: matches notes against typed letters by title, id, tags and aliases.

use std::cmp::Reverse;
use std::sync::Arc;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32String};
use rayon::prelude::*;

use super::text::one_line;
use crate::store::NoteHandle;

/// The most bytes that are matched of a title, tag or alias. Typed text is shorter.
const MAX_NAME_BYTES: usize = 400;

/// The most tags, and the most aliases, that are matched of a note.
const MAX_NAMES: usize = 64;

/// The notes to search, in the order in which an empty text lists them.
#[derive(Debug, Default)]
pub(super) struct Finder {
    pub(super) notes: Vec<Arc<NoteHandle>>,
    /// The text that is matched for each note. Empty until the first letter is typed.
    haystacks: Vec<Utf32String>,
    /// The previous text and the ascending indices of the notes that it found.
    previous: Option<(String, Vec<u32>)>,
}

impl Finder {
    pub(super) fn new(notes: Vec<Arc<NoteHandle>>) -> Self {
        Self { notes, haystacks: Vec::new(), previous: None }
    }

    /// Returns the indices of the notes that a text finds, best first. A text that extends the previous one searches
    /// only what that one found. O(haystack bytes), in parallel.
    pub(super) fn find(&mut self, text: &str) -> Vec<u32> {
        let pattern = pattern(text);
        if pattern.atoms.is_empty() {
            return (0..self.notes.len() as u32).collect();
        }
        if self.haystacks.len() != self.notes.len() {
            self.haystacks = self.notes.par_iter().with_min_len(256).map(|note| haystack(note)).collect();
        }
        let previous = self.previous.take().filter(|(previous_text, _)| is_narrower(previous_text, text));
        let candidates = previous.map_or_else(|| (0..self.notes.len() as u32).collect(), |(_, note_idxs)| note_idxs);
        let score = |matcher: &mut Matcher, note_idx: u32| {
            let haystack = self.haystacks.get(note_idx as usize)?;
            Some((Reverse(pattern.score(haystack.slice(..), matcher)?), note_idx))
        };
        let candidates = candidates.into_par_iter().with_min_len(1024);
        let mut scored: Vec<(Reverse<u32>, u32)> = candidates.map_init(matcher, score).flatten_iter().collect();
        self.previous = Some((text.to_owned(), scored.iter().map(|(_, note_idx)| *note_idx).collect()));
        scored.par_sort_unstable();
        scored.into_iter().map(|(_, note_idx)| note_idx).collect()
    }
}

/// Finds the clusters of titles that match the typed text.
pub(super) struct TitleHighlighter {
    pattern: Pattern,
    matcher: Matcher,
}

impl TitleHighlighter {
    pub(super) fn new(text: &str) -> Self {
        Self { pattern: pattern(text), matcher: matcher() }
    }

    /// Returns the ascending ordinals of the grapheme clusters of a title that match.
    pub(super) fn matched_clusters(&mut self, title: &str) -> Vec<u32> {
        let mut ordinals = Vec::new();
        let title = Utf32String::from(title);
        for atom in self.pattern.atoms.iter().filter(|atom| !atom.negative) {
            atom.indices(title.slice(..), &mut self.matcher, &mut ordinals);
        }
        ordinals.sort_unstable();
        ordinals.dedup();
        ordinals
    }
}

fn pattern(text: &str) -> Pattern {
    Pattern::parse(text.trim(), CaseMatching::Smart, Normalization::Smart)
}

fn matcher() -> Matcher {
    let mut config = Config::DEFAULT;
    // A haystack starts with the title, and people type the beginnings of titles.
    config.prefer_prefix = true;
    Matcher::new(config)
}

/// Returns whether each note that `text` finds is one that `previous` finds.
fn is_narrower(previous: &str, text: &str) -> bool {
    // After one of these operators a longer text may find other notes.
    text.starts_with(previous) && !text.contains(['!', '^', '$', '\'', '\\'])
}

/// Returns the text that is matched for a note: its title as the list shows it, id, tags and aliases.
fn haystack(note: &NoteHandle) -> Utf32String {
    let ties = note.relations();
    let mut names = one_line(truncated_name(note.title()));
    names.push_str("  ");
    names.push_str(note.id.as_str());
    for tag in ties.tags.iter().take(MAX_NAMES) {
        names.push_str(" #");
        names.push_str(truncated_name(tag));
    }
    for alias in ties.aliases.iter().take(MAX_NAMES) {
        names.push_str("  ");
        names.push_str(truncated_name(alias));
    }
    Utf32String::from(names)
}

/// Returns the first [`MAX_NAME_BYTES`] of a name.
pub(super) fn truncated_name(name: &str) -> &str {
    name.get(..name.floor_char_boundary(MAX_NAME_BYTES)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn finder(notes: &[(&str, &str)]) -> Finder {
        let note = |(id, front): &(&str, &str)| {
            Arc::new(NoteHandle::parse(
                &format!("notes/{id}.md"),
                format!("---\nid: {id}\n{front}\n---\n").into_bytes(),
            ))
        };
        Finder::new(notes.iter().map(note).collect())
    }

    fn four_notes() -> Finder {
        finder(&[
            ("qp-aaaa", "title: Retry fsync until it succeeds\ntags: [myth]"),
            ("qp-bbbb", "title: Rename is atomic\ntags: [fsync]"),
            ("qp-cccc", "title: Étude\naliases: [Old name]"),
            ("qp-dddd", "title: 日本語のメモ"),
        ])
    }

    #[test]
    fn titles_ids_tags_and_aliases_are_found_by_a_few_letters() {
        let mut finder = four_notes();
        let mut find = |text| finder.find(text);
        assert_eq!(find(""), [0, 1, 2, 3]);
        assert_eq!(find("fsync"), [0, 1], "a title goes before a tag");
        assert_eq!(find("rtry"), [0]);
        assert_eq!(find("qp-bb"), [1]);
        assert_eq!(find("etude"), [2]);
        assert_eq!(find("old name"), [2]);
        assert_eq!(find("本語"), [3]);
        assert_eq!(find("fsync !myth"), [1]);
        assert_eq!(find("zzzz"), [] as [u32; 0]);
        assert_eq!(find("   "), [0, 1, 2, 3]);
    }

    #[test]
    fn matches_are_ordinals_of_clusters_in_the_title() {
        let matched = |text, title| TitleHighlighter::new(text).matched_clusters(title);
        assert_eq!(matched("rf", "Retry fsync"), [0, 6]);
        assert_eq!(matched("本", "日本語"), [1]);
        assert_eq!(matched("zz", "Retry"), [] as [u32; 0]);
        assert_eq!(matched("!retry", "Retry"), [] as [u32; 0]);
    }

    proptest! {
        /// The notes found by a shorter text never change what a longer one finds.
        #[test]
        fn text_typed_in_two_parts_finds_the_same_as_at_once(text in "[a-eq!^' -]{1,8}", cut in 0_usize..8) {
            let mut typed = four_notes();
            let cut = text.floor_char_boundary(cut.min(text.len()));
            typed.find(text.get(..cut).unwrap());
            prop_assert_eq!(typed.find(&text), four_notes().find(&text));
        }
    }
}
