//! From what a link says to the note it means.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;

use crate::note::Note;

/// The names that notes go by.
#[derive(Debug, Clone)]
pub(crate) struct Names<'a> {
    notes: &'a [Arc<Note>],
    by_id: HashMap<&'a str, usize, RandomState>,
    by_text: OnceLock<ByText<'a>>,
    by_path: OnceLock<HashMap<&'a str, usize, RandomState>>,
}

/// Names other than ids; where several notes share one, the first id has it.
#[derive(Debug, Clone)]
struct ByText<'a> {
    titles: HashMap<&'a str, usize, RandomState>,
    titles_any_case: HashMap<String, usize, RandomState>,
    aliases: HashMap<String, usize, RandomState>,
    stems: HashMap<&'a str, usize, RandomState>,
}

/// What a path leads to.
pub(crate) enum PathTarget {
    /// A note's file.
    Note(usize),
    /// A place in the store where no note is.
    Nothing,
    /// A place outside the store.
    Outside,
}

impl<'a> Names<'a> {
    pub(crate) fn new(notes: &'a [Arc<Note>]) -> Self {
        let by_id = notes.iter().enumerate().map(|(place, note)| (note.id.as_str(), place)).collect();
        Self { notes, by_id, by_text: OnceLock::new(), by_path: OnceLock::new() }
    }

    /// Finds a note by id, title, title in any case, alias, or the stem of its file, in this
    /// order; a `#heading` behind the name is left away when the whole text names nothing.
    pub(crate) fn resolve(&self, target: &str) -> Option<usize> {
        let target = target.trim();
        self.named(target).or_else(|| {
            let (name, _heading) = target.split_once('#')?;
            self.named(name.trim())
        })
    }

    fn named(&self, name: &str) -> Option<usize> {
        if name.is_empty() {
            return None;
        }
        if let Some(found) = self.by_id.get(name) {
            return Some(*found);
        }
        let texts = self.by_text.get_or_init(|| ByText::new(self.notes));
        let lower = || name.to_lowercase();
        let stem = name.strip_suffix(".md").unwrap_or(name);
        texts
            .titles
            .get(name)
            .or_else(|| texts.titles_any_case.get(&lower()))
            .or_else(|| texts.aliases.get(&lower()))
            .or_else(|| texts.stems.get(stem))
            .copied()
    }

    /// Finds the note whose file a path leads to, from the folder of the note at `from`.
    pub(crate) fn resolve_path(&self, from: &str, path: &str) -> PathTarget {
        let Some(path) = joined(from, path) else {
            return PathTarget::Outside;
        };
        let by_path = self.by_path.get_or_init(|| {
            let paths = self.notes.iter().enumerate();
            paths.map(|(place, note)| (note.path.as_str(), place)).collect()
        });
        by_path.get(path.as_str()).map_or(PathTarget::Nothing, |place| PathTarget::Note(*place))
    }
}

impl<'a> ByText<'a> {
    fn new(notes: &'a [Arc<Note>]) -> Self {
        let mut texts = Self {
            titles: HashMap::default(),
            titles_any_case: HashMap::default(),
            aliases: HashMap::default(),
            stems: HashMap::default(),
        };
        for (place, note) in notes.iter().enumerate() {
            let head = note.head();
            texts.titles.entry(head.title).or_insert(place);
            texts.titles_any_case.entry(head.title.to_lowercase()).or_insert(place);
            texts.stems.entry(note.stem()).or_insert(place);
            if note.has_aliases() {
                for alias in note.ties().aliases {
                    texts.aliases.entry(alias.to_lowercase()).or_insert(place);
                }
            }
        }
        texts
    }
}

/// Joins a relative path to the folder of `from`; `None` when it leaves the store.
pub(crate) fn joined(from: &str, path: &str) -> Option<String> {
    let mut names: Vec<&str> = from.split('/').collect();
    names.pop();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop()?;
            }
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}
