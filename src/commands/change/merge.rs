//! `qipu merge`: two notes become one; nothing that the second one says is lost without a word.
//!
//! What is planned is checked before it is done: in the store as it would be, whoever led to either
//! note leads to the one that stays.

use std::collections::BTreeSet;

use super::rename::{with_links, with_pieces};
use super::{Plan, Planned, changes_of, plan_rewritten};
use crate::error::{Error, ErrorKind};
use crate::graph::{Digests, Graph, Names, PathTarget, joined};
use crate::note::edit::Edit;
use crate::note::{InlineLink, Note, Value};
use crate::report::FindingEntry;
use crate::request::Change;
use crate::store::{self, Store};

/// Plans the note that stays, those that link to the other, and the end of the other.
pub(super) fn plan(store: &Store, request: &Change, into: &str, from: &str) -> Result<Plan, Error> {
    let (into, from) = (store.resolve(into)?, store.resolve(from)?);
    if into == from {
        return Err(Error::usage("a note can't be merged into itself"));
    }
    let merging = Merging { store, request, names: Names::new(store.notes()), into, from, keeps_names: true };
    if let Some(reason) = store.notes()[into].bars_text_of(&store.notes()[from]) {
        return Err(Error::new(
            ErrorKind::Failure,
            format!("can't put a text below that of `{}`: {reason}", store.notes()[into].id),
        )
        .hint("nothing was changed; change that by hand first"));
    }
    // What can't be read without loss can't be moved either.
    store.text_of(&store.notes()[from])?;
    // A name that a third note has too means that one, once this note is gone.
    let changes = merging.plan().or_else(|_| Merging { keeps_names: false, ..merging }.plan())?;
    let findings = lost_fields(store, &store.notes()[into], &store.notes()[from]);
    Ok(Plan { changes, findings })
}

struct Merging<'a> {
    store: &'a Store,
    request: &'a Change,
    names: Names<'a>,
    /// The note that stays.
    into: usize,
    /// The note that goes.
    from: usize,
    /// Whether links by a title or alias stay as they are, since these become aliases.
    keeps_names: bool,
}

impl Merging<'_> {
    fn into(&self) -> &Note {
        &self.store.notes()[self.into]
    }

    fn from(&self) -> &Note {
        &self.store.notes()[self.from]
    }

    fn plan(&self) -> Result<Vec<Planned>, Error> {
        let (store, gone) = (self.store, self.from());
        let graph = Graph::new(store.notes(), &store.config.link_types);
        let mut planned = vec![self.plan_stays()?];
        let mut linking: BTreeSet<usize> = graph.backlinks(self.from).collect();
        linking.extend(Digests::new(store.notes()).digest_of(self.from));
        for place in linking.into_iter().filter(|place| ![self.from, self.into].contains(place)) {
            planned.extend(self.plan_linking(&store.notes()[place])?);
        }
        let change = Some(store::Change::Delete { path: gone.path.clone(), old: store.bytes_of(gone)? });
        planned.push(Planned { id: gone.id.clone(), path: gone.path.clone(), change });
        self.check(&graph, &planned)?;
        Ok(planned)
    }

    /// Plans the note that stays: the other's names, tags, sources and links, and its text below.
    fn plan_stays(&self) -> Result<Planned, Error> {
        let (into, from) = (self.into(), self.from());
        let item = |key: &'static str| move |text: &String| Edit::AddItem { key, text: text.clone() };
        let mut edits: Vec<Edit> = new_aliases(into, from).iter().map(item("aliases")).collect();
        edits.extend(from.tags.iter().map(item("tags")));
        edits.extend(from.compacts.iter().filter(|name| !self.is_either(name)).map(item("compacts")));
        let sources = from.sources.iter().zip(from.source_values());
        let missing = sources.filter(|(source, _)| !into.sources.contains(source));
        edits.extend(missing.map(|(_, value)| Edit::AddValue { key: "sources", value }));
        let own = into.links.iter().filter(|link| self.names.resolve(&link.target) == Some(self.from));
        edits.extend(own.map(|link| Edit::RemoveMap { key: "links", entries: entries(&link.kind, &link.target) }));
        let theirs = from.links.iter().zip(from.link_values());
        let missing =
            theirs.filter(|(link, _)| !self.is_either(&link.target) && !self.has_link(&link.kind, &link.target));
        edits.extend(missing.map(|(_, value)| Edit::AddValue { key: "links", value }));
        let missing = from.custom.iter().filter(|(key, _)| into.custom.iter().all(|(have, _)| have != key));
        edits.extend(missing.map(|(key, value)| Edit::SetCustomValue { key: key.clone(), value: value.clone() }));
        edits.push(Edit::SetPlain { key: "updated", text: self.request.now.clone() });
        let rewrite = |text: &str| {
            let own = with_links(into, text, |link| self.new_target(into, link));
            let end = if own.contains("\r\n") { "\r\n" } else { "\n" };
            own + &self.section(text).replace('\n', end)
        };
        plan_rewritten(self.store, into, rewrite, &edits)
    }

    /// Returns what is put below the text of the note that stays: the other's, under its title.
    fn section(&self, own: &str) -> String {
        let theirs = self.moved_body();
        let parts = [self.from().summary_field().unwrap_or_default(), theirs.as_str()];
        let parts: Vec<&str> = parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect();
        if parts.is_empty() {
            return String::new();
        }
        let title = self.from().title.split_whitespace().collect::<Vec<_>>().join(" ");
        let before = if own.ends_with('\n') { "\n" } else { "\n\n" };
        format!("{before}## {title}\n\n{}\n", parts.join("\n\n").replace("\r\n", "\n"))
    }

    /// Plans a note that names the one that goes.
    fn plan_linking(&self, note: &Note) -> Result<Option<Planned>, Error> {
        let id = self.into().id.to_string();
        let is_gone = |name: &&str| self.names.resolve(name) == Some(self.from) && !self.keeps(name);
        let mut edits = Vec::new();
        for link in note.links.iter().filter(|link| is_gone(&link.target.as_str())) {
            edits.push(Edit::Retarget { key: "links", entries: entries(&link.kind, &link.target), to: id.clone() });
        }
        for name in note.compacts.iter().filter(|name| is_gone(&name.as_str())) {
            edits.push(Edit::Retarget { key: "compacts", entries: vec![("id", name.clone())], to: id.clone() });
        }
        let relinked = |text: &str| with_links(note, text, |link| self.new_target(note, link));
        let planned = plan_rewritten(self.store, note, relinked, &edits)?;
        Ok(planned.change.is_some().then_some(planned))
    }

    /// Returns what a link of a note must say once the other is gone, where that is something else.
    fn new_target(&self, from: &Note, link: &InlineLink) -> Option<String> {
        match link {
            InlineLink::Wiki(name) if self.names.resolve(name) == Some(self.from) => {
                let (name, heading) = match name.split_once('#') {
                    Some((bare, heading)) if self.names.resolve(bare) == Some(self.from) => {
                        (bare, format!("#{heading}"))
                    }
                    _ => (name.as_str(), String::new()),
                };
                (!self.keeps(name)).then(|| format!("{}{heading}", self.into().id))
            }
            InlineLink::Path(path) => match self.names.resolve_path(&from.path, path) {
                PathTarget::Note(to) if to == self.from => Some(relative(&from.path, &self.into().path)),
                _ => None,
            },
            InlineLink::Wiki(_) => None,
        }
    }

    /// Returns the text of the note that goes, as it must be in the other's file.
    fn moved_body(&self) -> String {
        let (into, from) = (self.into(), self.from());
        let links = from.inline_link_places().into_iter().map(|(link, range)| (self.moved_target(&link), range));
        let files = from.file_places().into_iter().map(|(path, range)| {
            let file = joined(&from.path, &path).filter(|file| self.store.is_taken(file));
            let new = file.map(|file| relative(&into.path, &file)).filter(|new| *new != path);
            (new, range)
        });
        with_pieces(from.body(), links.chain(files).collect())
    }

    /// The same for a link in the text that moves to the other note's file.
    fn moved_target(&self, link: &InlineLink) -> Option<String> {
        let InlineLink::Path(path) = link else { return self.new_target(self.from(), link) };
        match self.names.resolve_path(&self.from().path, path) {
            PathTarget::Note(to) => {
                let to = if to == self.from { self.into } else { to };
                let new = relative(&self.into().path, &self.store.notes()[to].path);
                (new != *path).then_some(new)
            }
            _ => None,
        }
    }

    /// Tells whether a name goes on meaning the text, as an alias of the note that stays.
    fn keeps(&self, name: &str) -> bool {
        let from = self.from();
        let is = |other: &str| other.to_lowercase() == name.trim().to_lowercase();
        self.keeps_names
            && name.trim() != from.id.as_str()
            && (is(&from.title) || from.aliases.iter().any(|alias| is(alias)))
    }

    fn is_either(&self, name: &str) -> bool {
        self.names.resolve(name).is_some_and(|place| place == self.into || place == self.from)
    }

    fn has_link(&self, kind: &str, target: &str) -> bool {
        let to = self.names.resolve(target);
        to.is_some() && self.into().links.iter().any(|link| link.kind == kind && self.names.resolve(&link.target) == to)
    }

    /// Refuses a plan after which somebody would lead elsewhere than before.
    fn check(&self, before: &Graph<'_>, planned: &[Planned]) -> Result<(), Error> {
        let changes = changes_of(planned);
        let merged = self.store.after(&changes);
        let after = Graph::new(merged.notes(), &merged.config.link_types);
        let place_after = |place: usize| {
            let place = if place == self.from { self.into } else { place };
            merged.position(&self.store.notes()[place].id)
        };
        for (place, note) in self.store.notes().iter().enumerate() {
            let at = place_after(place);
            let is_well = at.is_some_and(|at| {
                let led_to: BTreeSet<_> = before.written(place).map(|edge| place_after(edge.to)).collect();
                let leads_to: BTreeSet<_> = after.written(at).map(|edge| Some(edge.to)).collect();
                let keeps_all = led_to.iter().all(|to| *to == Some(at) || leads_to.contains(to));
                let is_part = place == self.from || place == self.into;
                keeps_all && (is_part || (led_to == leads_to && before.unresolved(place) == after.unresolved(at)))
            });
            if !is_well {
                let message = format!("merged so, links of `{}` would lead elsewhere", note.id);
                return Err(Error::new(ErrorKind::Failure, message)
                    .hint("change those links to ids first; nothing was changed"));
            }
        }
        Ok(())
    }
}

/// The names by which the note that goes was known.
fn new_aliases(into: &Note, from: &Note) -> Vec<String> {
    let own_id = Some(from.id.to_string()).filter(|id| !id.contains('~'));
    let names = [from.title.clone()].into_iter().chain(own_id).chain(from.aliases.iter().cloned());
    let is_known = |name: &String| {
        let lower = name.to_lowercase();
        into.title.to_lowercase() == lower || into.aliases.iter().any(|alias| alias.to_lowercase() == lower)
    };
    names.filter(|name| !is_known(name)).collect()
}

fn entries(kind: &str, target: &str) -> Vec<(&'static str, String)> {
    vec![("type", kind.to_owned()), ("id", target.to_owned())]
}

/// Returns the path from the folder of one file to another; both are paths in the store.
fn relative(from: &str, to: &str) -> String {
    let folders: Vec<&str> = from.split('/').collect();
    let (folders, names) =
        (folders.split_last().map_or(&[][..], |(_, folders)| folders), to.split('/').collect::<Vec<_>>());
    let shared = folders.iter().zip(&names).take_while(|(a, b)| a == b).count();
    let up = folders.iter().skip(shared).map(|_| "..");
    up.chain(names.into_iter().skip(shared)).collect::<Vec<_>>().join("/").replace(' ', "%20")
}

/// Says which fields of the note that goes are not carried over.
fn lost_fields(store: &Store, into: &Note, from: &Note) -> Vec<FindingEntry> {
    let known = known_fields(from).into_iter().zip(known_fields(into));
    let known = known.filter(|((_, theirs), (_, ours))| theirs.is_some() && theirs != ours);
    let mut lost: Vec<String> = known.filter_map(|((key, text), _)| Some(format!("{key}: {}", text?))).collect();
    let fields = from.custom.iter().map(|(key, value)| (format!("custom.{key}"), value));
    let fields = fields.chain(from.unknown.iter().map(|(key, value)| (key.clone(), value)));
    let is_kept = |key: &str, value: &Value| {
        let same =
            |fields: &[(String, Value)], key: &str| fields.iter().any(|(have, other)| have == key && other == value);
        match key.strip_prefix("custom.") {
            Some(custom) => into.custom.iter().all(|(have, _)| have != custom) || same(&into.custom, custom),
            None => same(&into.unknown, key),
        }
    };
    let others = fields.filter(|(key, value)| !is_kept(key, value));
    lost.extend(others.map(|(key, value)| format!("{key}: {}", value.to_line())));
    let finding = |field: String| FindingEntry {
        is_error: false,
        code: "field-not-merged",
        id: Some(into.id.clone()),
        path: store.shown(&into.path),
        line: None,
        message: format!("`{field}` of `{}` is not carried over", from.id),
    };
    lost.into_iter().map(finding).collect()
}

/// What a note says in fields that hold one value, in a fixed order.
fn known_fields(note: &Note) -> [(&'static str, Option<String>); 5] {
    [
        ("type", Some(note.kind.clone())),
        ("created", note.created.as_ref().map(|stamp| stamp.as_str().to_owned())),
        ("date", note.date.map(|date| date.to_string())),
        ("value", note.value.map(|value| value.to_string())),
        ("verified", note.verified.map(|verified| verified.to_string())),
    ]
}
