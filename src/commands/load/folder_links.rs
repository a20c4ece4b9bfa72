//! Keeps the links of copied notes: each leads to the note or file to which it leads in the folder.
//!
//! A name that means nothing in the store becomes an alias, so that the text stays. What means another note there is
//! replaced by the id, and a path that no longer fits by one that does.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{MAIN_SEPARATOR, Path};

use crate::graph::{NameIndex, PathTarget};
use crate::note::edit::{Edit, apply};
use crate::note::{
    Destination, EncodedTarget, InlineLink, Note, NoteId, RELATED, destinations, path_like, percent_encoded,
    relative_path, with_spans,
};
use crate::pack::{PackedFile, path_fault};
use crate::store::{Change, NoteHandle, NoteIdx, Store};

/// The largest file that is copied, and all of one import, in bytes: planned changes are in memory.
const MAX_FILE: u64 = 64 * 1024 * 1024;
const MAX_FILES: u64 = 512 * 1024 * 1024;

/// A note of the folder, and what it becomes.
pub(super) struct CopiedNote {
    /// Its position in the folder.
    pub(super) from: NoteIdx,
    pub(super) id: NoteId,
    /// The path of its file in the store.
    pub(super) path: String,
    /// Whether the store does not have it yet.
    pub(super) is_new: bool,
    pub(super) text: String,
}

/// Gives the copies the names that links use for them and that mean nothing in the store. Where that can't be, the links
/// are replaced.
pub(super) fn add_aliases(store: &Store, folder: &Store, names: &NameIndex<'_>, copies: &mut [Option<CopiedNote>]) {
    let mut aliases: BTreeMap<usize, Vec<Edit>> = BTreeMap::new();
    let after = store_after(store, copies);
    let links = FolderLinks::new(store, folder, names, &after, copies);
    for copy in copies.iter().flatten().filter(|copy| copy.is_new) {
        for (to, text) in links.unknown_names(copy) {
            aliases.entry(to.index()).or_default().push(Edit::AddItem { key: "aliases", text });
        }
    }
    for (to, edits) in aliases {
        let Some(copy) = copies.get_mut(to).and_then(Option::as_mut) else { continue };
        if let Ok(text) = apply(&copy.text, &edits) {
            copy.text = text;
        }
    }
}

/// Returns the store with the new notes, in memory.
pub(super) fn store_after(store: &Store, copies: &[Option<CopiedNote>]) -> Store {
    let new = copies.iter().flatten().filter(|copy| copy.is_new);
    let creation = |copy: &CopiedNote| Change::Create { path: copy.path.clone(), new: copy.text.clone().into_bytes() };
    store.after(&new.map(creation).collect::<Vec<_>>())
}

/// The links of the notes of a folder, there and in the store.
pub(super) struct FolderLinks<'a, 'n> {
    store: &'a Store,
    folder: &'a Store,
    /// The store with the new notes.
    after: &'a Store,
    copies: &'a [Option<CopiedNote>],
    names_there: &'a NameIndex<'n>,
    names_after: NameIndex<'a>,
    /// The files that the notes link to, by their paths in the folder: each as it becomes, or why it is not copied.
    pub(super) files: BTreeMap<String, Result<PackedFile, String>>,
    /// How many bytes of files may still be copied.
    left: u64,
}

impl<'a, 'n> FolderLinks<'a, 'n> {
    pub(super) fn new(
        store: &'a Store,
        folder: &'a Store,
        names_there: &'a NameIndex<'n>,
        after: &'a Store,
        copies: &'a [Option<CopiedNote>],
    ) -> Self {
        let names_after = NameIndex::of(after);
        Self { store, folder, after, copies, names_there, names_after, files: BTreeMap::new(), left: MAX_FILES }
    }

    /// Returns the copy of a note of the folder, with its position in the store.
    fn copy_of(&self, there: NoteIdx) -> Option<(&'a CopiedNote, NoteIdx)> {
        let copy = self.copies.get(there.index())?.as_ref()?;
        Some((copy, self.after.position(&copy.id)?))
    }

    /// Returns the names in a note that mean a new note in the folder and nothing in the store.
    fn unknown_names(&self, copy: &CopiedNote) -> Vec<(NoteIdx, String)> {
        let note = Note::parse(&copy.path, copy.text.clone().into_bytes());
        let inline = destinations(note.body()).into_iter().filter_map(|found| match found.link {
            InlineLink::Wiki(name) => Some(name),
            InlineLink::Path(_) => None,
        });
        let names = inline.chain(note.links.iter().map(|link| link.target.clone()));
        let unknown = names.filter_map(|name| {
            let meant = |name: &str| self.names_there.resolve_from(copy.from, name);
            let to = meant(&name).filter(|_| self.names_after.resolve(&name).is_none())?;
            let without_heading =
                name.split_once('#').map(|(name, _)| name.trim()).filter(|name| meant(name) == Some(to));
            self.copy_of(to)?.0.is_new.then(|| (to, without_heading.unwrap_or(&name).to_owned()))
        });
        unknown.collect()
    }

    /// Returns the text of a new note with links that lead where they do in the folder, and the reason why a link of its
    /// fields can't.
    pub(super) fn adapted(&mut self, copy: &CopiedNote) -> (String, Option<String>) {
        let note = Note::parse(&copy.path, copy.text.clone().into_bytes());
        let body = note.body();
        let (mut spans, mut end) = (Vec::new(), 0);
        for found in destinations(body).iter().filter(|found| found.is_local()) {
            // What stands in the label of a link that is replaced as a whole is gone.
            if let Some((range, new)) = self.replacement(copy, body, found).filter(|(range, _)| range.start >= end) {
                end = if range == found.range { range.end } else { end };
                spans.push((range, new));
            }
        }
        let head = copy.text.get(..copy.text.len() - body.len()).unwrap_or_default();
        let text = head.to_owned() + &with_spans(body, spans).unwrap_or_else(|_| body.to_owned());
        match apply(&text, &self.missing_links(copy, &text)) {
            Ok(text) => (text, None),
            Err(reason) => (text, Some(reason)),
        }
    }

    /// Returns the replacement of a link, or of its target, that would lead elsewhere in the store.
    fn replacement(&mut self, copy: &CopiedNote, body: &str, found: &Destination) -> Option<(Range<usize>, String)> {
        let link = EncodedTarget::of(&found.link);
        let PathTarget::Note(there) = self.names_there.resolve_link_in(copy.from, link) else {
            return self.file_link(copy, body, found);
        };
        let (to, position) = self.copy_of(there)?;
        if self.names_after.resolve_link(&copy.path, link) == PathTarget::Note(position) {
            return None;
        }
        let new = match &found.link {
            InlineLink::Path(old) => path_like(old, &copy.path, &to.path),
            InlineLink::Wiki(_) => format!("{}{}", to.id, fragment(found)),
        };
        found.replacement(body, &new)
    }

    /// Returns the path in the store of a file of the folder; `None` if it is not copied.
    fn copied(&mut self, path: String) -> Option<String> {
        if !self.files.contains_key(&path) {
            let file = self.read(&path);
            self.left -= file.as_ref().map_or(0, |file| file.bytes.len() as u64);
            self.files.insert(path.clone(), file);
        }
        self.files.get(&path)?.as_ref().ok().map(|file| file.path.clone())
    }

    fn read(&self, path: &str) -> Result<PackedFile, String> {
        let to = format!("attachments/{}/{path}", self.folder.first_collection().name);
        if let Some(fault) = path_fault(&to, false) {
            return Err(format!("its path {fault}"));
        }
        let read = self.folder.file_of(path, MAX_FILE.min(self.left)).map_err(|error| error.message)?;
        let too_long = || format!("it is longer than {MAX_FILE} bytes, or all files are than {MAX_FILES}");
        Ok(PackedFile { path: to, bytes: read.ok_or_else(too_long)? })
    }

    /// Returns the replacement of a link to a file; one that is not copied is linked where it is. One in double brackets
    /// becomes a link of Markdown: in a store, the brackets name a note.
    fn file_link(&mut self, copy: &CopiedNote, body: &str, found: &Destination) -> Option<(Range<usize>, String)> {
        let file = self.folder.linked_file(&self.folder.notes()[copy.from], found.link.text())?;
        let inside = file.strip_prefix(self.folder.real_path("")).ok().and_then(slashed);
        let to = match inside.and_then(|inside| self.copied(inside)) {
            Some(to) => relative_path(&copy.path, &to),
            None => relative_path(&slashed(&self.store.real_path(&copy.path))?, &slashed(&file)?),
        };
        let InlineLink::Wiki(name) = &found.link else { return found.replacement(body, &to) };
        let whole = body.get(found.range.clone())?;
        let mark = if whole.starts_with('!') { "!" } else { "" };
        let label = whole.strip_suffix("]]")?.split_once('|').map_or(name.as_str(), |(_, label)| label.trim());
        let escape = |c: char| Some('\\').filter(|_| "[]\\`*_<>".contains(c)).into_iter().chain([c]);
        let label: String = label.chars().flat_map(escape).collect();
        Some((found.range.clone(), format!("{mark}[{label}]({}{})", percent_encoded(&to), fragment(found))))
    }

    /// Returns the edits that add the links which a note has in the folder and would not have in the store, such as those of
    /// Obsidian's properties.
    fn missing_links(&self, copy: &CopiedNote, text: &str) -> Vec<Edit> {
        let note = NoteHandle::parse(&copy.path, text.as_bytes().to_vec());
        let links = note.link_fields();
        let inline = links.inline.iter().map(|link| (RELATED, self.names_after.resolve_link(&copy.path, *link).note()));
        let typed = links.typed.iter().map(|(kind, name)| (*kind, self.names_after.resolve(name)));
        let known: Vec<(&str, Option<NoteIdx>)> = inline.chain(typed).collect();
        let there = self.folder.notes()[copy.from].link_fields();
        let typed = there.typed.iter().map(|(kind, name)| (*kind, self.names_there.resolve_from(copy.from, name)));
        let inline =
            there.inline.iter().map(|link| (RELATED, self.names_there.resolve_link_in(copy.from, *link).note()));
        let missing = typed.chain(inline).filter_map(|(kind, to)| {
            let (to, position) = self.copy_of(to.filter(|to| *to != copy.from)?)?;
            let is_known = |(other, known): &(&str, Option<NoteIdx>)| {
                *known == Some(position) && (*other == kind || kind == RELATED)
            };
            let entries = vec![("type", kind.to_owned()), ("id", to.id.to_string())];
            (!known.iter().any(is_known)).then_some(Edit::AddMap { key: "links", entries })
        });
        missing.collect()
    }
}

/// Returns the part of a target from its `#` on.
fn fragment(found: &Destination) -> String {
    found.fragment().map(|fragment| format!("#{fragment}")).unwrap_or_default()
}

/// Returns a path with `/` between names.
fn slashed(path: &Path) -> Option<String> {
    Some(path.to_str()?.replace(MAIN_SEPARATOR, "/"))
}
