//! Compares the targets of links, one by one, before and after a change. Comparing edges would not be enough: when a
//! link moves to another note to which the note links anyway, the edges stay the same.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::{NameIndex, PathTarget};
use crate::note::{EncodedTarget, join_path, rebase_path};
use crate::store::{NoteHandle, NoteIdx, Store};

/// The target of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    /// The index of a note.
    Note(NoteIdx),
    /// No note: the name, or the path in the store.
    Nothing(String),
    /// A file outside the store: its path relative to the store.
    Outside(String),
}

/// The targets of a note's links, in the order of the note.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LinkTargets {
    /// The links of the frontmatter, with their types.
    pub(crate) typed: Vec<(String, LinkTarget)>,
    /// The targets of `compacts`.
    pub(crate) compacts: Vec<LinkTarget>,
    /// The links in the body.
    pub(crate) inline: Vec<LinkTarget>,
}

impl LinkTargets {
    /// Replaces each note index by the one in `indices`, where there is one.
    fn with_new_indices(mut self, indices: &[Option<NoteIdx>]) -> Self {
        let typed = self.typed.iter_mut().map(|(_, target)| target);
        for target in typed.chain(&mut self.compacts).chain(&mut self.inline) {
            if let LinkTarget::Note(index) = target
                && let Some(Some(new_index)) = indices.get(index.index())
            {
                *index = *new_index;
            }
        }
        self
    }
}

fn targets_of(names: &NameIndex<'_>, note: &NoteHandle) -> LinkTargets {
    let named = |name: &str| names.resolve(name).map_or_else(|| LinkTarget::Nothing(name.to_owned()), LinkTarget::Note);
    let links = note.link_fields();
    let inline = |link: &EncodedTarget<'_>| match (names.resolve_link(&note.path, *link), *link) {
        (PathTarget::Note(to), _) => LinkTarget::Note(to),
        (PathTarget::NoLink, EncodedTarget::Path(name)) | (_, EncodedTarget::Wiki(name)) => {
            LinkTarget::Nothing(name.to_owned())
        }
        (_, EncodedTarget::Path(path)) => join_path(&note.path, path)
            .map_or_else(|| LinkTarget::Outside(rebase_path("", &note.path, path)), LinkTarget::Nothing),
    };
    LinkTargets {
        typed: links.typed.iter().map(|(kind, target)| ((*kind).to_owned(), named(target))).collect(),
        compacts: if note.flags.has_compacts {
            note.relations().compacts.iter().map(|name| named(name)).collect()
        } else {
            Vec::new()
        },
        inline: links.inline.iter().map(inline).collect(),
    }
}

/// The notes of a store before and after a change.
pub(crate) struct TargetComparison<'a> {
    before: (&'a [Arc<NoteHandle>], NameIndex<'a>),
    after: (&'a [Arc<NoteHandle>], NameIndex<'a>),
    /// The index of each note after the change; `None` if it was removed.
    indices_after: Vec<Option<NoteIdx>>,
}

impl<'a> TargetComparison<'a> {
    /// Prepares a comparison; `new_path` maps the path of a note to its path after the change.
    pub(crate) fn new(before: &'a Store, after: &'a Store, new_path: impl Fn(&'a str) -> &'a str) -> Self {
        let by_path = NoteIdx::enumerate(after.notes()).map(|(index, note)| (note.path.as_str(), index));
        let by_path: HashMap<&str, NoteIdx> = by_path.collect();
        let indices_after = before.notes().iter().map(|note| by_path.get(new_path(&note.path)).copied()).collect();
        let with_names = |store: &'a Store| (store.notes(), NameIndex::of(store));
        Self { before: with_names(before), after: with_names(after), indices_after }
    }

    /// Returns the link targets of a note before the change, with note indices as of after it.
    pub(crate) fn targets_before(&self, note_index: NoteIdx) -> LinkTargets {
        let (notes, names) = &self.before;
        notes
            .get(note_index.index())
            .map(|note| targets_of(names, note).with_new_indices(&self.indices_after))
            .unwrap_or_default()
    }

    /// Returns the link targets of a note after the change.
    pub(crate) fn targets_after(&self, note_index: NoteIdx) -> LinkTargets {
        let (notes, names) = &self.after;
        let note = self.index_after(note_index).and_then(|index| notes.get(index.index()));
        note.map(|note| targets_of(names, note)).unwrap_or_default()
    }

    /// Returns the index of a note after the change.
    pub(crate) fn index_after(&self, note_index: NoteIdx) -> Option<NoteIdx> {
        self.indices_after.get(note_index.index()).copied().flatten()
    }

    /// Resolves the inline links of `text`, as if it were in the file with `note`, after the change.
    pub(crate) fn targets_of_text(&self, path: &str, text: &str) -> Vec<LinkTarget> {
        targets_of(&self.after.1, &NoteHandle::parse(path, text.as_bytes().to_vec())).inline
    }

    /// Returns the first note, except those in `except`, whose id or link targets the change alters.
    pub(crate) fn first_changed(&self, except: &[NoteIdx]) -> Option<NoteIdx> {
        let (before, after) = (self.before.0, self.after.0);
        let id = |note_index: NoteIdx| {
            self.index_after(note_index).and_then(|index| after.get(index.index())).map(|note| &note.id)
        };
        let is_changed = |note_index: &NoteIdx| {
            !except.contains(note_index)
                && (before.get(note_index.index()).map(|note| &note.id) != id(*note_index)
                    || self.targets_before(*note_index) != self.targets_after(*note_index))
        };
        (0..before.len()).into_par_iter().map(NoteIdx::new).find_first(is_changed)
    }
}
