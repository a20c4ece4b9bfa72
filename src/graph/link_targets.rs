//! Where the links of a note lead, one by one: what a change must leave as it is. Edges say less: a link that
//! comes to lead to another note is no other edge where the note links to both.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::{NameIndex, PathTarget, join_path, rebase_path};
use crate::note::{EncodedTarget, Note};

/// Where a link leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    /// To a note.
    Note(usize),
    /// To no note: the name, or the path in the store.
    Nothing(String),
    /// Out of the store: the path from its folder.
    Outside(String),
}

/// Where the links of a note lead, each in its turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LinkTargets {
    /// The links of the frontmatter, with their types.
    pub(crate) typed: Vec<(String, LinkTarget)>,
    /// The notes that it stands for.
    pub(crate) compacts: Vec<LinkTarget>,
    /// The links in the body.
    pub(crate) inline: Vec<LinkTarget>,
}

impl LinkTargets {
    /// Gives notes other places.
    fn with_new_indices(mut self, now: &[Option<usize>]) -> Self {
        let typed = self.typed.iter_mut().map(|(_, lead)| lead);
        for lead in typed.chain(&mut self.compacts).chain(&mut self.inline) {
            if let LinkTarget::Note(place) = lead
                && let Some(Some(place_now)) = now.get(*place)
            {
                *place = *place_now;
            }
        }
        self
    }
}

/// Finds where the links of a note lead.
fn targets_of(names: &NameIndex<'_>, note: &Note) -> LinkTargets {
    let named = |name: &str| names.resolve(name).map_or_else(|| LinkTarget::Nothing(name.to_owned()), LinkTarget::Note);
    let links = note.all_links();
    let inline = |link: &EncodedTarget<'_>| match (names.resolve_link(&note.path, *link), *link) {
        (PathTarget::Note(to), _) => LinkTarget::Note(to),
        (_, EncodedTarget::Wiki(name)) => LinkTarget::Nothing(name.to_owned()),
        (_, EncodedTarget::Path(path)) => join_path(&note.path, path)
            .map_or_else(|| LinkTarget::Outside(rebase_path("", &note.path, path)), LinkTarget::Nothing),
    };
    LinkTargets {
        typed: links.typed.iter().map(|(kind, target)| ((*kind).to_owned(), named(target))).collect(),
        compacts: if note.has_compacts() {
            note.ties().compacts.iter().map(|name| named(name)).collect()
        } else {
            Vec::new()
        },
        inline: links.inline.iter().map(inline).collect(),
    }
}

/// The notes of a store, and the same notes as a change would leave them.
pub(crate) struct TargetComparison<'a> {
    before: (&'a [Arc<Note>], NameIndex<'a>),
    after: (&'a [Arc<Note>], NameIndex<'a>),
    /// Where each note stands afterwards.
    now: Vec<Option<usize>>,
}

impl<'a> TargetComparison<'a> {
    /// Prepares a comparison; `new_path` says where the note of a path stands afterwards.
    pub(crate) fn new(before: &'a [Arc<Note>], after: &'a [Arc<Note>], new_path: impl Fn(&'a str) -> &'a str) -> Self {
        let by_path: HashMap<&str, usize> =
            after.iter().enumerate().map(|(place, note)| (note.path.as_str(), place)).collect();
        let now = before.iter().map(|note| by_path.get(new_path(&note.path)).copied()).collect();
        Self { before: (before, NameIndex::new(before)), after: (after, NameIndex::new(after)), now }
    }

    /// Returns where the links of a note led, and where they must lead afterwards.
    pub(crate) fn targets_before(&self, place: usize) -> LinkTargets {
        let (notes, names) = &self.before;
        notes.get(place).map(|note| targets_of(names, note).with_new_indices(&self.now)).unwrap_or_default()
    }

    /// Returns where the links of a note lead afterwards.
    pub(crate) fn targets_after(&self, place: usize) -> LinkTargets {
        let (notes, names) = &self.after;
        let now = self.now.get(place).copied().flatten().and_then(|now| notes.get(now));
        now.map(|note| targets_of(names, note)).unwrap_or_default()
    }

    /// Returns the place of a note afterwards.
    pub(crate) fn index_after(&self, place: usize) -> Option<usize> {
        self.now.get(place).copied().flatten()
    }

    /// Finds where links lead that stand in no note, afterwards: those of `text` in the file of `note`.
    pub(crate) fn targets_of_text(&self, note: &Note, text: &str) -> Vec<LinkTarget> {
        targets_of(&self.after.1, &Note::parse(&note.path, text.as_bytes().to_vec())).inline
    }

    /// Finds the first note, but for those that are compared in another way, that has another id or a link
    /// that leads elsewhere.
    pub(crate) fn first_changed(&self, except: &[usize]) -> Option<usize> {
        let (before, after) = (self.before.0, self.after.0);
        let id = |place: usize| self.index_after(place).and_then(|now| after.get(now)).map(|note| &note.id);
        let is_astray = |place: &usize| {
            !except.contains(place)
                && (before.get(*place).map(|note| &note.id) != id(*place)
                    || self.targets_before(*place) != self.targets_after(*place))
        };
        (0..before.len()).into_par_iter().find_first(is_astray)
    }
}
