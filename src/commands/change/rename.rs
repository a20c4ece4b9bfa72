//! `qipu rename`: another title for a note; its file's name and the links to it follow.
//!
//! What is planned is checked before it is done: in the store as it would be, every link must lead
//! where it led before.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use super::create::slug;
use super::{Planned, changes_of, plan_edits, plan_rewritten};
use crate::error::{Error, ErrorKind};
use crate::graph::{Graph, Names, PathTarget};
use crate::note::edit::Edit;
use crate::note::{InlineLink, Note};
use crate::request::Change;
use crate::store::{self, Store};

/// Plans the new title, the new file name, and the new text of links that use the old ones.
pub(super) fn plan(store: &Store, request: &Change, id: &str, title: &str) -> Result<Vec<Planned>, Error> {
    let place = store.resolve(id)?;
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() {
        return Err(Error::usage("the new title is empty"));
    }
    let note = &store.notes()[place];
    let graph = Graph::new(store.notes(), &store.config.link_types);
    let renaming =
        Renaming { store, names: Names::new(store.notes()), place, path: new_path(note, &title), title: &title };
    let mut planned = vec![renaming.plan_note(request)?];
    let linking: BTreeSet<usize> = graph.backlinks(place).filter(|from| *from != place).collect();
    for from in linking {
        planned.extend(renaming.plan_linking(&store.notes()[from])?);
    }
    check_links_stay(store, &graph, &planned)?;
    Ok(planned)
}

/// Returns the file's new path; a journal's name is its day and stays.
fn new_path(note: &Note, title: &str) -> String {
    let folder = note.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let named_by_id = note.stem() == note.id.as_str() || note.stem().starts_with(&format!("{}-", note.id));
    if note.is_journal() || !named_by_id {
        return note.path.clone();
    }
    format!("{folder}/{}{}.md", note.id, slug(title))
}

struct Renaming<'a> {
    store: &'a Store,
    names: Names<'a>,
    /// The note that is renamed.
    place: usize,
    path: String,
    title: &'a str,
}

impl Renaming<'_> {
    fn note(&self) -> &Note {
        &self.store.notes()[self.place]
    }

    /// Plans the note itself: its title and date, the links to itself, its place.
    fn plan_note(&self, request: &Change) -> Result<Planned, Error> {
        let note = self.note();
        let edits = [
            Edit::SetText { key: "id".into(), text: note.id.to_string() },
            Edit::SetText { key: "title".into(), text: self.title.to_owned() },
        ];
        let planned = plan_edits(self.store, note, &edits, &request.now)?;
        let (old, new) = match planned.change {
            Some(store::Change::Replace { old, new, .. }) => (old, new),
            _ if self.path == note.path => return Ok(Planned { change: None, ..planned }),
            // The title is right already, and the file's name is not.
            _ => {
                let text = self.store.text_of(note)?.into_bytes();
                (text.clone(), text)
            }
        };
        let new = self.relinked(note, &String::from_utf8_lossy(&new)).into_bytes();
        let (from, to) = (note.path.clone(), self.path.clone());
        if from != to && self.store.is_taken(&to) {
            let message = format!("{} is there already", self.store.shown(&to));
            return Err(Error::new(ErrorKind::Failure, message).hint("give another title, or move that file"));
        }
        let change = if from == to {
            store::Change::Replace { path: from, old, new }
        } else {
            store::Change::Move { from, to, old, new }
        };
        Ok(Planned { change: Some(change), ..planned })
    }

    /// Plans a note that links to it; only the bytes of such links change.
    fn plan_linking(&self, note: &Note) -> Result<Option<Planned>, Error> {
        let planned = plan_rewritten(self.store, note, |text| self.relinked(note, text), &self.typed_edits(note))?;
        Ok(planned.change.is_some().then_some(planned))
    }

    /// Typed links that use the old title become links to the id.
    fn typed_edits(&self, note: &Note) -> Vec<Edit> {
        let by_title = note
            .links
            .iter()
            .filter(|link| self.names.resolve(&link.target) == Some(self.place) && self.is_old_name(&link.target));
        let edits = by_title.map(|link| Edit::Retarget {
            key: "links",
            entries: vec![("type", link.kind.clone()), ("id", link.target.clone())],
            to: self.note().id.to_string(),
        });
        edits.collect()
    }

    fn relinked(&self, note: &Note, text: &str) -> String {
        with_links(note, text, |link| self.new_target(note, link))
    }

    /// Returns what a link must say from now on, where that is something else than it says.
    fn new_target(&self, from: &Note, link: &InlineLink) -> Option<String> {
        match link {
            InlineLink::Path(path) => {
                let PathTarget::Note(to) = self.names.resolve_path(&from.path, path) else { return None };
                let file = self.path.rsplit('/').next()?;
                let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
                (to == self.place && self.path != self.note().path)
                    .then(|| format!("{folder}{file}").replace(' ', "%20"))
            }
            InlineLink::Wiki(target) => {
                if self.names.resolve(target) != Some(self.place) {
                    return None;
                }
                let (name, heading) = match target.split_once('#') {
                    Some((name, heading)) if !self.is_old_name(target) => (name, format!("#{heading}")),
                    _ => (target.as_str(), String::new()),
                };
                self.is_old_name(name).then(|| format!("{}{heading}", self.new_name()))
            }
        }
    }

    /// Tells whether a name is the title or file name that goes away; ids and aliases stay.
    fn is_old_name(&self, name: &str) -> bool {
        let (note, name) = (self.note(), name.trim());
        let stem = name.strip_suffix(".md").unwrap_or(name);
        name != note.id.as_str() && (name.to_lowercase() == note.title.to_lowercase() || stem == note.stem())
    }

    /// The name by which links know the note from now on: the title, where it can stand in a link
    /// and means no other note.
    fn new_name(&self) -> &str {
        let can_stand = !self.title.contains(['[', ']', '|', '#', '\\']);
        let is_free = self.names.resolve(self.title).is_none_or(|to| to == self.place);
        if can_stand && is_free { self.title } else { self.note().id.as_str() }
    }
}

/// Rewrites the inline links of a note, whose body ends the text, where there is another target.
pub(super) fn with_links(note: &Note, text: &str, new_target: impl Fn(&InlineLink) -> Option<String>) -> String {
    let start = text.len() - note.body().len().min(text.len());
    let places = note.inline_link_places().into_iter();
    let places = places.map(|(link, range)| (new_target(&link), range.map(|at| start + at.start..start + at.end)));
    with_pieces(text, places.collect())
}

/// Puts pieces in the places of others; those without a text or a place of their own are passed over.
pub(super) fn with_pieces(text: &str, pieces: Vec<(Option<String>, Option<Range<usize>>)>) -> String {
    let mut pieces: Vec<_> = pieces.into_iter().filter_map(|(piece, range)| Some((piece?, range?))).collect();
    pieces.sort_by_key(|(_, range)| Reverse(range.start));
    let mut new = text.to_owned();
    for (piece, range) in pieces {
        new.replace_range(range, &piece);
    }
    new
}

/// Refuses a plan after which a link would lead elsewhere than before.
fn check_links_stay(store: &Store, before: &Graph<'_>, planned: &[Planned]) -> Result<(), Error> {
    let changes = changes_of(planned);
    let renamed = store.after(&changes);
    let after = Graph::new(renamed.notes(), &renamed.config.link_types);
    for (place, note) in store.notes().iter().enumerate() {
        let is_same = renamed.notes().get(place).is_some_and(|other| other.id == note.id)
            && before.written(place).len() == after.written(place).len()
            && before.written(place).all(|edge| after.written(place).any(|other| other == edge))
            && before.unresolved(place) == after.unresolved(place);
        if !is_same {
            let message = format!("with this title, links of `{}` would lead elsewhere", note.id);
            return Err(
                Error::new(ErrorKind::Failure, message).hint("change those links to ids first; nothing was changed")
            );
        }
    }
    Ok(())
}
