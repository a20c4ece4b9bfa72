//! `qipu update ID --title TITLE`: changes the title of a note, its file's name and the links to it, and keeps the old title as an alias.
//!
//! The plan is checked before it is carried out: in the resulting store, every link must lead where it led before.

use std::collections::BTreeSet;

use super::slug::slug;
use super::{PlannedChange, changes_of, digests_of, plan_edits, plan_linking, plan_text, refuse_change, retargets};
use crate::error::{Error, ErrorKind};
use crate::escape::may_be_harmful;
use crate::graph::{Graph, NameIndex, PathTarget, TargetComparison};
use crate::note::edit::{Edit, apply, relink, relink_properties};
use crate::note::{COLLECTION_MARK, Dialect, InlineLink, NoteId};
use crate::secrets;
use crate::store::{self, NoteHandle, NoteIdx, Store};

/// Plans the new title and file name, the links that use the old ones, and other edits of the note.
pub(super) fn plan(
    store: &Store,
    now: &str,
    position: NoteIdx,
    title: &str,
    others: &[Edit],
) -> Result<Vec<PlannedChange>, Error> {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() {
        return Err(Error::usage("the new title is empty"));
    }
    let note = &store.notes()[position];
    let graph = Graph::of_store(store);
    let path = match store.dialect() {
        Dialect::Qipu => new_path(note, &title),
        Dialect::Obsidian => page_path(store, note, &title)?,
        // The id of a document comes from its path.
        _ => note.path.clone(),
    };
    let renaming = RenamePlanner { store, names: NameIndex::of(store), position, path, title: &title };
    let mut planned = vec![renaming.plan_note(others, now)?];
    let mut linking: BTreeSet<NoteIdx> = graph.backlinks(position).collect();
    linking.extend(digests_of(store, &renaming.names, position));
    for from in linking.into_iter().filter(|from| *from != position) {
        planned.extend(renaming.plan_linking(&store.notes()[from])?);
    }
    renaming.check_links(&planned)?;
    Ok(planned)
}

/// Returns the new path of the file. A journal, and a file that is not named after the id, keep theirs.
fn new_path(note: &NoteHandle, title: &str) -> String {
    let folder = note.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let named_by_id = note.stem() == note.id.as_str() || note.stem().starts_with(&format!("{}-", note.id));
    if note.flags.is_journal || !named_by_id {
        return note.path.clone();
    }
    format!("{folder}/{}{}.md", note.id, slug(title))
}

/// The characters that the name of a page of Obsidian can't contain: links and some file systems have other uses for them.
const NOT_IN_PAGE_NAMES: [char; 13] = ['*', '"', '\\', '/', '<', '>', ':', '|', '?', '#', '^', '[', ']'];
/// The longest name of a page, in bytes.
const MAX_PAGE_NAME: usize = 200;

/// Returns the new path of a page of Obsidian: that of a file with the title as its name, since links and people know a page
/// by its file. A page that has a title of its own beside its file's name keeps the file.
fn page_path(store: &Store, note: &NoteHandle, title: &str) -> Result<String, Error> {
    if note.title() != note.stem() || note.stem() == title {
        return Ok(note.path.clone());
    }
    let is_hidden = title.starts_with('.') || title.chars().any(may_be_harmful);
    if is_hidden || title.contains(NOT_IN_PAGE_NAMES) || title.len() > MAX_PAGE_NAME {
        return Err(Error::usage("the file of a page of Obsidian can't have this title as its name").hint(format!(
            "use at most {MAX_PAGE_NAME} bytes, no dot at the beginning, and none of {}",
            NOT_IN_PAGE_NAMES.iter().collect::<String>()
        )));
    }
    let folder = note.path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    let path = format!("{folder}{title}.md");
    if store.has_place_for(&path) {
        return Ok(path);
    }
    let message = format!("`{}` would not read a file {path}", store.first_collection().name);
    Err(Error::usage(message).hint("its settings or git exclude that name: give another title"))
}

/// Whether two texts are the same title or alias, which links and the command line find in any case.
fn is_same_name(a: &str, b: &str) -> bool {
    a.trim().to_lowercase() == b.trim().to_lowercase()
}

/// Returns the edit that removes an alias.
fn removal(alias: &str) -> Edit {
    Edit::RemoveItem { key: "aliases", text: alias.trim().to_owned() }
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

    /// Whether the note is a page whose file gets another name, and with it another id.
    fn is_moved_page(&self) -> bool {
        self.is_named_by_file() && self.path != self.note().path
    }

    /// Plans the links of another note to the renamed one.
    fn plan_linking(&self, from: &NoteHandle) -> Result<Option<PlannedChange>, Error> {
        if !self.is_moved_page() {
            return plan_linking(self.store, from, |link| self.new_target(from, link), |name| self.new_id(name));
        }
        let edits = retargets(from, |name| self.new_id(name));
        let planned = plan_text(self.store, from, |old| apply(&self.relinked(from, old)?, &edits))?;
        Ok(planned.change.is_some().then_some(planned))
    }

    /// Returns the text of a note with the links in its body to the new names, and those in the properties of a page.
    fn relinked(&self, from: &NoteHandle, text: &str) -> Result<String, String> {
        let text = relink(text, |link| self.new_target(from, link))?;
        let new_name = |name: &str| self.renamed(name, &self.new_name()).filter(|_| self.is_moved_page());
        Ok(relink_properties(&text, new_name))
    }

    /// Whether the title has to be written: that of a page is the name of its file, unless a field gives another.
    fn needs_title(&self, text: &str) -> bool {
        let moved = self.store.parse_handle(&self.path, text.as_bytes().to_vec());
        !self.is_moved_page() || moved.title() != self.title
    }

    /// Returns the old title if it becomes an alias, since people, agents and texts outside of the store still use it. If
    /// another note has that name, the name means that note from now on, unless that is a draft: nobody accepted it.
    fn former_title(&self) -> Option<&str> {
        let (note, old) = (self.note(), self.note().title().trim());
        let own = note.aliases().into_iter().chain([self.title, note.id.local()]);
        // The title may be changed because of a secret in it.
        if own.into_iter().any(|name| is_same_name(name, old)) || !secrets::find(old).is_empty() {
            return None;
        }
        let others = NoteIdx::enumerate(self.store.notes()).filter(|(other, _)| *other != self.position);
        let mut rivals = others.map(|(_, other)| other).filter(|other| note.is_draft() || !other.is_draft());
        let has_old = |other: &NoteHandle| {
            let names = [other.title(), other.id.local(), other.stem()];
            names.into_iter().chain(other.aliases()).any(|name| is_same_name(name, old))
        };
        (!rivals.any(|other| has_old(other))).then_some(old)
    }

    /// Returns the edits that add `former`, an old title, to the aliases, and remove the new title from them.
    fn alias_edits(&self, former: Option<&str>) -> Vec<Edit> {
        let added = former.map(|text| Edit::AddItem { key: "aliases", text: text.to_owned() });
        let aliases = self.note().aliases();
        let is_title = |alias: &&&str| is_same_name(alias, self.title);
        let removed: Vec<Edit> = aliases.iter().filter(is_title).map(|alias| removal(alias)).collect();
        let is_emptied = former.is_none() && !removed.is_empty() && removed.len() == aliases.len();
        let cleared = is_emptied.then_some(Edit::RemoveEmpty { key: "aliases" });
        // The new item comes first: a list that was empty in between would lose its form, such as one item on each line.
        added.into_iter().chain(removed).chain(cleared).collect()
    }

    /// Returns the edits of the fields of the note with a text, and the old title if they make it an alias.
    fn field_edits(&self, text: &str) -> (Vec<Edit>, Option<String>) {
        let note = self.note();
        let id = Edit::SetText { key: "id".into(), text: note.id.to_string() };
        let mut edits: Vec<Edit> = (!self.store.is_source()).then_some(id).into_iter().collect();
        if self.needs_title(text) {
            edits.push(Edit::SetText { key: "title".into(), text: self.title.to_owned() });
        }
        edits.extend(retargets(note, |name| self.new_id(name)));
        // The fields of a document belong to its author and another application: Obsidian's own renaming adds no alias.
        if self.store.is_source() || self.title == note.title() {
            return (edits, None);
        }
        let former = self.former_title();
        let aliases = self.alias_edits(former);
        // A list in a form that can't be edited is no reason to refuse the title.
        if apply(text, &aliases).is_err() {
            return (edits, None);
        }
        edits.extend(aliases);
        (edits, former.map(str::to_owned))
    }

    /// Plans the note itself: its title, aliases and date, the links to itself, its path, and other edits.
    fn plan_note(&self, others: &[Edit], now: &str) -> Result<PlannedChange, Error> {
        let note = self.note();
        let (mut edits, alias) = self.field_edits(&self.store.text_of(note)?);
        edits.extend_from_slice(others);
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
        let relinked = self.relinked(note, &String::from_utf8_lossy(&new));
        let relinked = relinked.map_err(|reason| refuse_change(note, &reason))?;
        let new = self.with_heading(relinked).into_bytes();
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
        let id = if self.is_moved_page() { NoteId::from_source_path(&self.path) } else { planned.id };
        Ok(PlannedChange { id, change: Some(change), alias, ..planned })
    }

    /// Returns the text with the new title as its first heading of level 1, if that was the old title. A title with a sign of
    /// Markdown would be another text in a heading.
    fn with_heading(&self, text: String) -> String {
        const SIGNS: [char; 11] = ['[', ']', '<', '`', '#', '\\', '*', '_', '!', '&', '$'];
        if self.store.is_source() || self.title.contains(SIGNS) {
            return text;
        }
        let parsed = self.store.parse(&self.note().path, text.clone().into_bytes());
        let headings = parsed.headings();
        let first = headings.iter().find(|heading| heading.level == 1).map(|heading| parsed.heading_range(heading));
        match first.filter(|range| text.get(range.clone()) == Some(self.note().title())) {
            Some(range) => {
                [text.get(..range.start), Some(self.title), text.get(range.end..)].into_iter().flatten().collect()
            }
            None => text,
        }
    }

    /// Returns the id for a field that uses an old name.
    fn new_id(&self, name: &str) -> Option<String> {
        if self.is_moved_page() {
            // A property has the link in double brackets.
            return self.renamed(name, NoteId::from_source_path(&self.path).as_str());
        }
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
            InlineLink::Wiki(target) => self.renamed(target, &self.new_name()),
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
        let folder = name.rsplit_once('/').filter(|_| self.is_moved_page() && !new.contains('/'));
        let folder = folder.map_or(String::new(), |(folder, _)| format!("{folder}/"));
        self.is_old_name(name).then(|| format!("{folder}{new}{heading}"))
    }

    /// Tells whether a name is the old title or file name. Ids and aliases are not.
    fn is_old_name(&self, name: &str) -> bool {
        let (note, name) = (self.note(), name.trim());
        let stem = name.strip_suffix(".md").unwrap_or(name);
        if self.is_moved_page() {
            let last = stem.rsplit('/').next().unwrap_or(stem);
            return name == note.id.as_str() || last.to_lowercase() == note.stem().to_lowercase();
        }
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
    fn new_name(&self) -> String {
        let stem = self.note().stem();
        let is_free = self.names.resolve(self.title).is_none_or(|to| to == self.position);
        if self.is_moved_page() {
            let path = self.path.strip_suffix(".md").unwrap_or(&self.path);
            return if is_free { self.title } else { path }.to_owned();
        }
        if self.is_named_by_file() && self.names.resolve(stem) == Some(self.position) {
            return stem.to_owned();
        }
        let is_linkable = !self.title.contains(['[', ']', '|', '#', '\\', '`', '<']);
        if is_linkable && is_free { self.title.to_owned() } else { self.note().id.to_string() }
    }

    /// Refuses a plan that would make a link lead elsewhere.
    fn check_links(&self, planned: &[PlannedChange]) -> Result<(), Error> {
        let (store, old) = (self.store, self.note().path.as_str());
        let renamed = store.after(&changes_of(planned));
        let new_path = |path| if path == old { self.path.as_str() } else { path };
        let comparison = TargetComparison::new(store, &renamed, new_path);
        // The id of a page comes from its file, and changes with that.
        let moved: Vec<NoteIdx> = self.is_moved_page().then_some(self.position).into_iter().collect();
        let is_misled = |note: &NoteIdx| comparison.targets_before(*note) != comparison.targets_after(*note);
        let misled = comparison.first_changed(&moved).or_else(|| moved.iter().copied().find(is_misled));
        let Some(misled) = misled else { return Ok(()) };
        let message = format!("with this title, links of `{}` would lead to other notes", store.notes()[misled].id);
        Err(Error::new(ErrorKind::Failure, message).hint("replace those links by ids first; nothing was changed"))
    }
}
