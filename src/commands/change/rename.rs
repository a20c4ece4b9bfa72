//! `qipu rename`: changes the title of a note, its file's name and the links to it.
//!
//! The plan is checked before it is carried out: in the resulting store, every link must lead where it led before.

use std::collections::BTreeSet;

use super::create::slug;
use super::{PlannedChange, changes_of, digests_of, plan_edits, plan_linking, refuse_change, retargets};
use crate::error::{Error, ErrorKind};
use crate::graph::{Graph, NameIndex, PathTarget, TargetComparison};
use crate::note::edit::{Edit, relink};
use crate::note::{COLLECTION_MARK, Dialect, InlineLink};
use crate::store::{self, NoteHandle, NoteIdx, Store};

/// Plans the new title and file name, and the links that use the old ones.
pub(super) fn plan(store: &Store, now: &str, id: &str, title: &str) -> Result<Vec<PlannedChange>, Error> {
    let position = store.resolve_to_change(id)?;
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() {
        return Err(Error::usage("the new title is empty"));
    }
    let note = &store.notes()[position];
    let graph = Graph::of_store(store);
    let renaming = RenamePlanner {
        store,
        names: NameIndex::of(store),
        position,
        // The id of a document comes from its path.
        path: if store.is_source() { note.path.clone() } else { new_path(note, &title) },
        title: &title,
    };
    let mut planned = vec![renaming.plan_note(now)?];
    let mut linking: BTreeSet<NoteIdx> = graph.backlinks(position).collect();
    linking.extend(digests_of(store, &renaming.names, position));
    for from in linking.into_iter().filter(|from| *from != position) {
        let note = &store.notes()[from];
        let new_target = |link: &InlineLink| renaming.new_target(note, link);
        planned.extend(plan_linking(store, note, new_target, |name| renaming.new_id(name))?);
    }
    renaming.check_links(&planned)?;
    Ok(planned)
}

/// Returns the new path of the file. A journal, and a file that is not named after the id, keep theirs.
fn new_path(note: &NoteHandle, title: &str) -> String {
    let folder = note.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let named_by_id = note.stem() == note.id.as_str() || note.stem().starts_with(&format!("{}-", note.id));
    if note.is_journal() || !named_by_id {
        return note.path.clone();
    }
    format!("{folder}/{}{}.md", note.id, slug(title))
}

/// Plans the renaming of one note.
struct RenamePlanner<'a> {
    store: &'a Store,
    names: NameIndex<'a>,
    /// The position of the note that is renamed.
    position: NoteIdx,
    /// The new path of its file.
    path: String,
    /// Its new title.
    title: &'a str,
}

impl RenamePlanner<'_> {
    fn note(&self) -> &NoteHandle {
        &self.store.notes()[self.position]
    }

    /// Plans the note itself: its title and date, the links to itself, its path.
    fn plan_note(&self, now: &str) -> Result<PlannedChange, Error> {
        let note = self.note();
        let id = Edit::SetText { key: "id".into(), text: note.id.to_string() };
        let mut edits: Vec<Edit> = (!self.store.is_source()).then_some(id).into_iter().collect();
        edits.push(Edit::SetText { key: "title".into(), text: self.title.to_owned() });
        edits.extend(retargets(note, |name| self.new_id(name)));
        let planned = plan_edits(self.store, note, &edits, now)?;
        let (old, new) = match planned.change {
            Some(store::Change::Replace { old, new, .. }) => (old, new),
            _ if self.path == note.path => return Ok(PlannedChange { change: None, ..planned }),
            // The title is right already, but not the file's name.
            _ => {
                let text = self.store.text_of(note)?.into_bytes();
                (text.clone(), text)
            }
        };
        let relinked = relink(&String::from_utf8_lossy(&new), |link| self.new_target(note, link));
        let new = relinked.map_err(|reason| refuse_change(note, &reason))?.into_bytes();
        let (from, to) = (note.path.clone(), self.path.clone());
        if from != to && !self.store.can_move(&from, &to) {
            let message = format!("{} exists already", self.store.shown(&to));
            return Err(Error::new(ErrorKind::Failure, message).hint("give another title, or move that file"));
        }
        let change = if from == to {
            store::Change::Replace { path: from, old, new }
        } else {
            store::Change::Move { from, to, old, new }
        };
        Ok(PlannedChange { change: Some(change), ..planned })
    }

    /// Returns the id for a field that uses an old name.
    fn new_id(&self, name: &str) -> Option<String> {
        self.renamed(name, self.note().id.as_str())
    }

    /// Returns the new target of an inline link; `None` if it stays.
    fn new_target(&self, from: &NoteHandle, link: &InlineLink) -> Option<String> {
        match link {
            InlineLink::Path(path) => {
                let to = self.names.resolve_path(&from.path, path);
                let file = self.path.rsplit('/').next()?;
                // A path from the root keeps its form, and is unambiguous with the folder of notes.
                if path.starts_with('/') && to == PathTarget::Note(self.position) {
                    return (self.path != self.note().path).then(|| format!("/{}", self.path));
                }
                let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
                (to == PathTarget::Note(self.position) && self.path != self.note().path)
                    .then(|| format!("{folder}{file}"))
            }
            InlineLink::Wiki(target) => self.renamed(target, self.new_name()),
        }
    }

    /// Returns a target with its old name replaced by `new`, its heading kept; `None` if it uses no old name.
    fn renamed(&self, target: &str, new: &str) -> Option<String> {
        if self.names.resolve(target) != Some(self.position) {
            return None;
        }
        // Behind a name of the collection, the note has the same names.
        if let Some((collection, local)) = target.split_once(COLLECTION_MARK)
            && !self.is_old_name(target)
            && self.names.resolve(local) == Some(self.position)
        {
            return self.renamed(local, new).map(|renamed| format!("{collection}{COLLECTION_MARK}{renamed}"));
        }
        let (name, heading) = match target.split_once('#') {
            Some((name, heading)) if !self.is_old_name(target) => (name, format!("#{heading}")),
            _ => (target, String::new()),
        };
        self.is_old_name(name).then(|| format!("{new}{heading}"))
    }

    /// Tells whether a name is the old title or file name. Ids and aliases are not.
    fn is_old_name(&self, name: &str) -> bool {
        let (note, name) = (self.note(), name.trim());
        let stem = name.strip_suffix(".md").unwrap_or(name);
        // Obsidian knows a note by its file, which keeps its name. That is an alias, in any case, unless it is the id.
        let is_in_any_case = note.stem() != note.id.local() && stem.to_lowercase() == note.stem().to_lowercase();
        let is_file = self.is_named_by_file() && (stem == note.stem() || is_in_any_case);
        let is_title = !is_file && self.title != note.title() && name.to_lowercase() == note.title().to_lowercase();
        name != note.id.as_str() && (is_title || (self.path != note.path && stem == note.stem()))
    }

    /// Whether links of the application that the note is written for name its file, and not its title.
    fn is_named_by_file(&self) -> bool {
        self.store.dialect() == Dialect::Obsidian
    }

    /// Returns the name for links: in a vault of Obsidian that of the file, else the new title, or the id if the title can't
    /// be part of a link or means another note.
    fn new_name(&self) -> &str {
        let stem = self.note().stem();
        if self.is_named_by_file() && self.names.resolve(stem) == Some(self.position) {
            return stem;
        }
        let is_linkable = !self.title.contains(['[', ']', '|', '#', '\\', '`', '<']);
        let is_free = self.names.resolve(self.title).is_none_or(|to| to == self.position);
        if is_linkable && is_free { self.title } else { self.note().id.as_str() }
    }

    /// Refuses a plan that would make a link lead elsewhere.
    fn check_links(&self, planned: &[PlannedChange]) -> Result<(), Error> {
        let (store, old) = (self.store, self.note().path.as_str());
        let renamed = store.after(&changes_of(planned));
        let new_path = |path| if path == old { self.path.as_str() } else { path };
        let Some(misled) = TargetComparison::new(store, &renamed, new_path).first_changed(&[]) else {
            return Ok(());
        };
        let message = format!("with this title, links of `{}` would lead to other notes", store.notes()[misled].id);
        Err(Error::new(ErrorKind::Failure, message).hint("replace those links by ids first; nothing was changed"))
    }
}
