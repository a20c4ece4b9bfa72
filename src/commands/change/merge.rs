//! `qipu merge`: merges a note into another. Fields that can't be carried over are reported.
//!
//! The plan is checked before it is carried out: in the resulting store, every link to either note must lead to the one that
//! stays.

use std::collections::{BTreeSet, HashSet};

use super::supersede::without_successor;
use super::{
    ChangePlan, PlannedChange, changes_of, digests_of, expect_no_conflict, link_entry, plan_linking, plan_text,
    refuse_change,
};
use crate::error::{Error, ErrorKind};
use crate::graph::{Compactions, Graph, LinkTarget, NameIndex, PathTarget, Successions, TargetComparison};
use crate::note::edit::{Edit, apply, relink, with_section};
use crate::note::join::{OnConflict, is_life_link, is_same_source, join, kind_and_target};
use crate::note::{
    DiagnosticCode, InlineLink, Note, NoteId, SUPERSEDED_BY, SUPERSEDES, Section, Value, is_life_field, join_path,
    path_like, rebase_path, relinked,
};
use crate::report::DiagnosticEntry;
use crate::store::{self, NoteIdx, Store};

/// Plans the note that stays, the notes that link to the other, and the deletion of the other.
pub(super) fn plan(store: &Store, now: &str, into: &str, from: &str) -> Result<ChangePlan, Error> {
    let (into, from) = (store.resolve_to_change(into)?, store.resolve_to_change(from)?);
    if into == from {
        return Err(Error::usage("a note can't be merged into itself"));
    }
    let names = NameIndex::of(store);
    let (into, from) = (MergeSide::read(store, into)?, MergeSide::read(store, from)?);
    if from.note.has_finding(DiagnosticCode::FrontmatterBroken) {
        let message =
            format!("can't merge `{}`: its frontmatter is not valid YAML and was read only in part", from.note.id);
        return Err(Error::new(ErrorKind::Failure, message).hint("fix it first; nothing was changed"));
    }
    let mut planner = MergePlanner { store, now, names, into, from, keeps_names: true };
    let changes = planner.plan().or_else(|_| {
        // A name that a third note has too means that note once this one is deleted.
        planner.keeps_names = false;
        planner.plan()
    })?;
    let mut findings = lost_fields(store, &planner.into.note, &planner.from.note);
    findings.extend(without_successor(store, &changes));
    Ok(ChangePlan { changes, findings })
}

/// One of the two notes.
struct MergeSide {
    position: NoteIdx,
    text: String,
    note: Note,
}

impl MergeSide {
    /// Reads the file of the note at `position` again: the plan must be made from the text that is replaced or deleted.
    fn read(store: &Store, position: NoteIdx) -> Result<Self, Error> {
        let known = &store.notes()[position];
        let text = store.text_of(known)?;
        expect_no_conflict(known, &text)?;
        let mut note = store.parse(&known.path, text.clone().into_bytes());
        if note.id.claimed() != known.id.claimed() {
            let message = format!("{} changed while it was being read", store.shown(&known.path));
            return Err(Error::new(ErrorKind::Failure, message).hint("try again"));
        }
        note.id = known.id.clone();
        Ok(Self { position, text, note })
    }
}

/// Plans the merge of one note into another.
struct MergePlanner<'a> {
    store: &'a Store,
    now: &'a str,
    names: NameIndex<'a>,
    /// The note to keep.
    into: MergeSide,
    /// The note that is deleted.
    from: MergeSide,
    /// Whether links by a title or alias stay as they are, since these become aliases.
    keeps_names: bool,
}

impl MergePlanner<'_> {
    /// Plans all changes.
    fn plan(&self) -> Result<Vec<PlannedChange>, Error> {
        let (store, deleted) = (self.store, &self.from.note);
        let graph = Graph::of_store(store);
        let section = self.section()?;
        let mut planned = vec![self.plan_into(section.as_ref())?];
        let mut linking: BTreeSet<NoteIdx> = graph.backlinks(self.from.position).collect();
        linking.extend(digests_of(store, &self.names, self.from.position));
        let both = [self.from.position, self.into.position];
        for position in linking.into_iter().filter(|position| !both.contains(position)) {
            let note = &store.notes()[position];
            let new_target = |link: &InlineLink| self.new_target(&note.path, link);
            planned.extend(plan_linking(store, note, new_target, |name| self.renamed(name))?);
        }
        let change =
            Some(store::Change::Delete { path: deleted.path.clone(), old: self.from.text.clone().into_bytes() });
        planned.push(PlannedChange::new(&deleted.id, &deleted.path, change));
        self.check(section.as_ref(), &planned)?;
        Ok(planned)
    }

    /// Plans the note that stays: it gets the names, tags, sources and links of the other, and its text as a section.
    fn plan_into(&self, section: Option<&Section>) -> Result<PlannedChange, Error> {
        let (old, into) = (&self.into.text, &self.into.note);
        let own = relink(old, |link| self.new_target(&into.path, link))
            .map_err(|reason| refuse_change(&self.store.notes()[self.into.position], &reason))?;
        let whole = section.map_or_else(|| Ok(own.clone()), |section| with_section(&own, section));
        let whole = whole.map_err(|reason| {
            let message = format!("can't append to the text of `{}`: {reason}", into.id);
            Error::new(ErrorKind::Failure, message).hint("nothing was changed; edit the note by hand first")
        })?;
        plan_text(self.store, &self.store.notes()[self.into.position], |now| {
            if now != old {
                return Err("it changed in the meantime".to_owned());
            }
            let new = apply(&whole, &self.edits())?;
            let is_left_empty = !into.links.is_empty();
            let cleared = is_left_empty.then(|| apply(&new, &[Edit::RemoveEmpty { key: "links" }]).ok()).flatten();
            Ok(cleared.unwrap_or(new))
        })
    }

    /// Returns the edits of the fields of the note that stays.
    fn edits(&self) -> Vec<Edit> {
        let (into, from) = (&self.into.note, &self.from.note);
        let item = |key: &'static str| move |text: &String| Edit::AddItem { key, text: text.clone() };
        let mut edits: Vec<Edit> = new_aliases(into, from).iter().map(item("aliases")).collect();
        edits.extend(from.tags.iter().map(item("tags")));
        edits.extend(from.compacts.iter().filter(|name| !self.is_either(name)).map(item("compacts")));
        let sources = join("sources", into.source_values(), from.source_values(), is_same_source, OnConflict::KeepBoth);
        edits.extend(sources.edits);
        let is_deleted = |name: &str| self.names.resolve(name) == Some(self.from.position);
        let own = into.links.iter().filter(|link| is_deleted(&link.target));
        edits.extend(own.map(|link| Edit::RemoveMap { key: "links", entries: link_entry(&link.kind, &link.target) }));
        let links_of = |note: &Note, is_meant: &dyn Fn(&str) -> bool| -> Vec<Value> {
            let links = note.links.iter().zip(note.link_values());
            links.filter(|(link, _)| is_meant(&link.target)).map(|(_, value)| value).collect()
        };
        let ours = links_of(into, &|name| !is_deleted(name));
        let mut theirs = links_of(from, &|name| !self.is_either(name));
        theirs.retain(|link| !is_life_link(link));
        edits.extend(join("links", ours, theirs, |a, b| self.is_one_link(a, b), OnConflict::KeepBoth).edits);
        let is_missing = |key: &str| !is_life_field(key) && into.custom.iter().all(|(have, _)| have != key);
        let missing = from.custom.iter().filter(|(key, _)| is_missing(key));
        edits.extend(missing.map(|(key, value)| Edit::SetCustomValue { key: key.clone(), value: value.clone() }));
        edits.push(Edit::SetPlain { key: "updated", text: self.now.to_owned() });
        edits
    }

    /// Tells whether two links are of one type and lead to one note.
    fn is_one_link(&self, a: &Value, b: &Value) -> bool {
        let ((kind, target), (other_kind, other)) = (kind_and_target(a), kind_and_target(b));
        let leads_to = |name: &str| self.names.resolve(name).ok_or_else(|| name.to_owned());
        kind == other_kind && leads_to(&target) == leads_to(&other)
    }

    /// Returns the section for the end of the note that stays: the text of the other under its title; `None` if it is empty.
    fn section(&self) -> Result<Option<Section>, Error> {
        let from = &self.from.note;
        let text = relinked(from.body(), |link| self.moved_target(link));
        let text = text.map_err(|reason| refuse_change(&self.store.notes()[self.from.position], &reason))?;
        Ok(Section::new(&from.title, from.summary_field.as_deref().unwrap_or_default(), &text))
    }

    /// Returns the new target of an inline link; `None` if it stays.
    fn new_target(&self, from: &str, link: &InlineLink) -> Option<String> {
        match link {
            InlineLink::Wiki(name) => self.renamed(name),
            InlineLink::Path(path) => {
                let is_gone = self.names.resolve_path(from, path) == PathTarget::Note(self.from.position);
                is_gone.then(|| path_like(path, from, &self.into.note.path))
            }
        }
    }

    /// Returns a name of the deleted note as one of the note that stays, its heading kept; `None` if the name is another
    /// note's, or becomes an alias.
    fn renamed(&self, name: &str) -> Option<String> {
        if self.names.resolve(name) != Some(self.from.position) {
            return None;
        }
        let (name, heading) = match name.split_once('#') {
            Some((bare, heading)) if self.names.resolve(bare) == Some(self.from.position) => {
                (bare, format!("#{heading}"))
            }
            _ => (name, String::new()),
        };
        (!self.keeps(name)).then(|| format!("{}{heading}", self.into.note.id))
    }

    /// Returns the new target of a link in the text that moves to the other file; `None` if it stays.
    fn moved_target(&self, link: &InlineLink) -> Option<String> {
        let (into, from) = (&self.into.note.path, &self.from.note.path);
        let path = match link {
            InlineLink::Wiki(name) => return self.renamed(name).or_else(|| self.moved_file(name)),
            InlineLink::Path(path) => path,
        };
        let target = self.names.resolve_path(from, path);
        if target == PathTarget::Note(self.from.position) {
            return Some(path_like(path, into, into));
        }
        if path.starts_with('/') {
            return None;
        }
        let (old, new) = (rebase_path("", from, path), rebase_path("", into, path));
        let is_there = |file: &str| self.store.is_taken(file);
        // A target that leads nowhere may only look like a path.
        let is_path = target != PathTarget::Nothing || path.ends_with(".md") || is_there(&old) || is_there(&new);
        (is_path && old != new).then(|| rebase_path(into, from, path))
    }

    /// Returns the new target of a `[[file]]` in the text that moves; `None` if it stays. Such a file is also searched for
    /// beside its note.
    fn moved_file(&self, name: &str) -> Option<String> {
        let (file, part) =
            name.split_once('#').map_or((name, String::new()), |(file, part)| (file, format!("#{part}")));
        let found = |note: &Note, file: &str| {
            let bases = [note.path.as_str(), "", "attachments/"];
            bases.into_iter().filter_map(|base| join_path(base, file)).find(|file| self.store.is_taken(file))
        };
        if self.names.resolve(name).is_some() || file.trim().is_empty() {
            return None;
        }
        let old = found(&self.from.note, file)?;
        let is_lost = found(&self.into.note, file).as_ref() != Some(&old);
        let stays = || found(&self.into.note, &old).as_ref() == Some(&old);
        (is_lost && stays()).then(|| format!("{old}{part}"))
    }

    /// Tells whether a name becomes an alias of the note that stays.
    fn keeps(&self, name: &str) -> bool {
        let from = &self.from.note;
        let is = |other: &str| other.to_lowercase() == name.trim().to_lowercase();
        self.keeps_names
            && name.trim() != from.id.as_str()
            && (is(&from.title) || from.aliases.iter().any(|alias| is(alias)))
    }

    /// Tells whether a name is one of either note.
    fn is_either(&self, name: &str) -> bool {
        self.names
            .resolve(name)
            .is_some_and(|position| position == self.into.position || position == self.from.position)
    }

    /// Refuses a plan that would make a link lead elsewhere.
    fn check(&self, section: Option<&Section>, planned: &[PlannedChange]) -> Result<(), Error> {
        let merged = self.store.after(&changes_of(planned));
        let (into, from) = (self.into.note.path.as_str(), self.from.note.path.as_str());
        let new_path = |path| if path == from { into } else { path };
        self.expect_same_successions(&merged)?;
        let comparison = TargetComparison::new(self.store, &merged, new_path);
        let astray = comparison.first_changed(&[self.into.position, self.from.position]);
        let astray = astray.or_else(|| (!self.is_whole(&comparison, section)).then_some(self.from.position));
        let Some(astray) = astray else { return Ok(()) };
        let message =
            format!("after this merge, links of `{}` would lead to other notes", self.store.notes()[astray].id);
        Err(Error::new(ErrorKind::Failure, message).hint("replace those links by ids first; nothing was changed"))
    }

    /// Refuses a plan after which a note would be superseded that is not: a link that replaces the deleted note is not
    /// about the one that stays, and one of a draft has no effect until the draft is accepted.
    fn expect_same_successions(&self, merged: &Store) -> Result<(), Error> {
        let readings: [fn(&Store) -> Successions; 2] = [
            |store| Successions::as_written(store.notes()),
            |store| Successions::new(store.notes(), &Compactions::new(store.notes())),
        ];
        for read in readings {
            let (before, after) = (read(self.store), read(merged));
            let new = NoteIdx::enumerate(merged.notes()).find_map(|(note, handle)| {
                let successor = *after.successors(note).last()?;
                let old = self.store.position(&handle.id)?;
                before.successors(old).is_empty().then_some((&merged.notes()[successor].id, &handle.id))
            });
            let Some((new, old)) = new else { continue };
            let (into, from) = (&self.into.note.id, &self.from.note.id);
            let own = |id: &NoteId| if id == into { from.clone() } else { id.clone() };
            let link = format!("qipu link remove {} {SUPERSEDES} {}", own(new), own(old));
            let message = format!("after this merge, `{new}` would supersede `{old}`");
            return Err(Error::new(ErrorKind::Failure, message)
                .hint(format!("nothing was changed; `{link}` removes the link first")));
        }
        Ok(())
    }

    /// Tells whether the note that stays gets the links of both, except those between them.
    fn is_whole(&self, comparison: &TargetComparison<'_>, section: Option<&Section>) -> bool {
        let (own, theirs) =
            (comparison.targets_before(self.into.position), comparison.targets_before(self.from.position));
        let (now, position) =
            (comparison.targets_after(self.into.position), comparison.index_after(self.into.position));
        let head = section.map_or("", |section| section.head.as_str());
        let inline = [own.inline, comparison.targets_of_text(&self.into.note.path, head), theirs.inline].concat();
        let is_other = |lead: &LinkTarget| !matches!(lead, LinkTarget::Note(to) if Some(*to) == position);
        let theirs_typed = theirs.typed.into_iter().filter(|(kind, _)| *kind != SUPERSEDED_BY);
        let typed: Vec<_> = own.typed.into_iter().chain(theirs_typed).collect();
        let compacts = [own.compacts, theirs.compacts].concat();
        now.inline == inline
            && typed.iter().all(|link| !is_other(&link.1) || now.typed.contains(link))
            && now.typed.iter().all(|link| typed.contains(link))
            && compacts.iter().all(|lead| !is_other(lead) || now.compacts.contains(lead))
            && now.compacts.iter().all(|lead| compacts.contains(lead))
    }
}

/// Returns the names of the deleted note that become aliases.
fn new_aliases(into: &Note, from: &Note) -> Vec<String> {
    let own_id = Some(from.id.to_string()).filter(|id| !id.contains('~'));
    let names = [from.title.clone()].into_iter().chain(own_id).chain(from.aliases.iter().cloned());
    let known: HashSet<String> =
        std::iter::once(&into.title).chain(&into.aliases).map(|name| name.to_lowercase()).collect();
    names.filter(|name| !known.contains(&name.to_lowercase())).collect()
}

/// Reports the fields of the deleted note that are not carried over.
fn lost_fields(store: &Store, into: &Note, from: &Note) -> Vec<DiagnosticEntry> {
    let known = known_fields(from).into_iter().zip(known_fields(into));
    let known = known.filter(|((_, theirs), (_, ours))| theirs.is_some() && theirs != ours);
    let mut lost: Vec<String> = known.filter_map(|((key, text), _)| Some(format!("{key}: {}", text?))).collect();
    let fields = from.custom.iter().map(|(key, value)| (format!("custom.{key}"), value));
    let fields = fields.chain(from.unknown.iter().map(|(key, value)| (key.clone(), value)));
    let is_kept = |key: &str, value: &Value| {
        let same =
            |fields: &[(String, Value)], key: &str| fields.iter().any(|(have, other)| have == key && other == value);
        match key.strip_prefix("custom.") {
            Some(custom) => {
                let is_free = !is_life_field(custom) && into.custom.iter().all(|(have, _)| have != custom);
                is_free || same(&into.custom, custom)
            }
            None => same(&into.unknown, key),
        }
    };
    let others = fields.filter(|(key, value)| !is_kept(key, value));
    lost.extend(others.map(|(key, value)| format!("{key}: {}", value.to_line())));
    lost.extend(from.link_values().iter().filter(|link| is_life_link(link)).map(|link| {
        let (kind, target) = kind_and_target(link);
        format!("links: {kind} {target}")
    }));
    let lost = lost.into_iter().map(|field| format!("`{field}` of `{}` is not carried over", from.id));
    // A value that could not be parsed can't be carried over either.
    let unparsed = from.findings.iter().filter(|finding| finding.code.is_lost_value());
    let unparsed = unparsed.map(|finding| format!("not carried over from `{}`: {}", from.id, finding.message));
    let finding = |message: String| DiagnosticEntry {
        id: Some(into.id.clone()),
        ..DiagnosticEntry::warning("field-not-merged", store.shown(&into.path), message)
    };
    lost.chain(unparsed).map(finding).collect()
}

/// Returns the field `verified` as text: who verified the note, else the boolean.
fn verified_line(note: &Note) -> Option<String> {
    let by: Vec<&str> = note.verifications.iter().map(|verification| verification.by.as_str()).collect();
    if by.is_empty() { note.verified.map(|verified| verified.to_string()) } else { Some(by.join(", ")) }
}

/// Returns the known fields with a single value as text, in a fixed order.
fn known_fields(note: &Note) -> [(&'static str, Option<String>); 5] {
    [
        ("type", Some(note.kind.clone())),
        ("created", note.created.as_ref().map(|stamp| stamp.as_str().to_owned())),
        ("date", note.date.map(|date| date.to_string())),
        ("value", note.value.map(|value| value.to_string())),
        ("verified", verified_line(note)),
    ]
}
