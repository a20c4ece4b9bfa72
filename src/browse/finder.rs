//! Finds notes while somebody types: by title, id, tags and aliases, a few letters of each being enough.

use std::cmp::Reverse;
use std::sync::Arc;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32String};
use rayon::prelude::*;

use super::text::one_line;
use crate::note::Note;

/// The most bytes of each name of a note that are looked at, and the most names: more is nothing that
/// anybody types.
const MAX_NAME: usize = 400;
const MAX_NAMES: usize = 64;

/// Notes, in the order in which they stand where nothing is typed.
#[derive(Debug, Default)]
pub(super) struct Finder {
    notes: Vec<Arc<Note>>,
    /// What is looked at of each; made when the first letter is typed.
    names: Vec<Utf32String>,
    /// What was typed last, and what it found, in the order of the notes.
    last: Option<(String, Vec<u32>)>,
}

impl Finder {
    pub(super) fn new(notes: Vec<Arc<Note>>) -> Self {
        Self { notes, names: Vec::new(), last: None }
    }

    /// Returns the notes that it looks through.
    pub(super) fn notes(&self) -> &[Arc<Note>] {
        &self.notes
    }

    /// Returns the places of the notes that a text finds, the best first.
    pub(super) fn find(&mut self, text: &str) -> Vec<u32> {
        let pattern = pattern(text);
        if pattern.atoms.is_empty() {
            return (0..self.notes.len() as u32).collect();
        }
        if self.names.len() != self.notes.len() {
            self.names = self.notes.par_iter().with_min_len(256).map(|note| names(note)).collect();
        }
        let before = self.last.take().filter(|(last, _)| narrows(last, text));
        let candidates = before.map_or_else(|| (0..self.notes.len() as u32).collect(), |(_, found)| found);
        let score = |matcher: &mut Matcher, place: u32| {
            let name = self.names.get(place as usize)?;
            Some((Reverse(pattern.score(name.slice(..), matcher)?), place))
        };
        let found = candidates.into_par_iter().with_min_len(1024);
        let mut found: Vec<(Reverse<u32>, u32)> = found.map_init(matcher, score).flatten_iter().collect();
        self.last = Some((text.to_owned(), found.iter().map(|(_, place)| *place).collect()));
        found.par_sort_unstable();
        found.into_iter().map(|(_, place)| place).collect()
    }
}

/// Finds in titles what was typed.
pub(super) struct TitleHighlighter {
    pattern: Pattern,
    matcher: Matcher,
}

impl TitleHighlighter {
    pub(super) fn new(text: &str) -> Self {
        Self { pattern: pattern(text), matcher: matcher() }
    }

    /// Returns which clusters of a title were typed.
    pub(super) fn marks(&mut self, title: &str) -> Vec<u32> {
        let mut found = Vec::new();
        let title = Utf32String::from(title);
        for atom in self.pattern.atoms.iter().filter(|atom| !atom.negative) {
            atom.indices(title.slice(..), &mut self.matcher, &mut found);
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn pattern(text: &str) -> Pattern {
    Pattern::parse(text.trim(), CaseMatching::Smart, Normalization::Smart)
}

fn matcher() -> Matcher {
    let mut config = Config::DEFAULT;
    // Titles come first, and people type the beginnings of things.
    config.prefer_prefix = true;
    Matcher::new(config)
}

/// Tells whether all that a text finds was found by the one before it already.
fn narrows(before: &str, text: &str) -> bool {
    // Behind these signs, more letters may find more, or something else.
    text.starts_with(before) && !text.contains(['!', '^', '$', '\'', '\\'])
}

/// Returns what is looked at of a note; its title first, as it is shown.
fn names(note: &Note) -> Utf32String {
    let ties = note.ties();
    let mut names = one_line(short(note.title()));
    names.push_str("  ");
    names.push_str(note.id.as_str());
    for tag in ties.tags.iter().take(MAX_NAMES) {
        names.push_str(" #");
        names.push_str(short(tag));
    }
    for alias in ties.aliases.iter().take(MAX_NAMES) {
        names.push_str("  ");
        names.push_str(short(alias));
    }
    Utf32String::from(names)
}

/// Returns the beginning of a name.
pub(super) fn short(name: &str) -> &str {
    name.get(..name.floor_char_boundary(MAX_NAME)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn finder(notes: &[(&str, &str)]) -> Finder {
        let note = |(id, front): &(&str, &str)| {
            Arc::new(Note::parse(&format!("notes/{id}.md"), format!("---\nid: {id}\n{front}\n---\n").into_bytes()))
        };
        Finder::new(notes.iter().map(note).collect())
    }

    fn some() -> Finder {
        finder(&[
            ("qp-aaaa", "title: Retry fsync until it succeeds\ntags: [myth]"),
            ("qp-bbbb", "title: Rename is atomic\ntags: [fsync]"),
            ("qp-cccc", "title: Étude\naliases: [Old name]"),
            ("qp-dddd", "title: 日本語のメモ"),
        ])
    }

    #[test]
    fn titles_ids_tags_and_aliases_are_found_by_a_few_letters() {
        let mut finder = some();
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
    fn marks_are_places_in_the_title() {
        let marks = |text, title| TitleHighlighter::new(text).marks(title);
        assert_eq!(marks("rf", "Retry fsync"), [0, 6]);
        assert_eq!(marks("本", "日本語"), [1]);
        assert_eq!(marks("zz", "Retry"), [] as [u32; 0]);
        assert_eq!(marks("!retry", "Retry"), [] as [u32; 0]);
    }

    proptest! {
        /// What was found before never changes what is found now.
        #[test]
        fn typing_on_finds_what_typing_at_once_finds(text in "[a-eq!^' -]{1,8}", cut in 0_usize..8) {
            let mut typed = some();
            let cut = text.floor_char_boundary(cut.min(text.len()));
            typed.find(text.get(..cut).unwrap());
            prop_assert_eq!(typed.find(&text), some().find(&text));
        }
    }
}
