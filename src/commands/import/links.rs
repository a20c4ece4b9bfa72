//! What links of pages need, so that each leads to the same page as before: names as aliases, other
//! kinds of links in frontmatter, the new places of files.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::SourceFolder;
use super::drafts::{Draft, ImportAction};
use crate::graph::{NameIndex, PathTarget, join_path};
use crate::import::{AddedFields, ReferenceTarget, ResolvedName, TextReference, markdown_path};
use crate::note::{EncodedTarget as NoteTarget, InlineLink, NoteId};
use crate::progress;
use crate::request::ImportRequest;
use crate::store::{Change, Store};

/// The type of a link of which nothing more is known.
const RELATED: &str = "related";

/// What is told: a path in the folder, a code, a sentence.
pub(super) type ImportRemark = Vec<(String, &'static str, String)>;

/// Completes drafts and returns what is odd about their links.
pub(super) fn carry_over(
    store: &Store,
    source: &SourceFolder,
    request: &ImportRequest,
    drafts: &mut [Draft<'_>],
) -> ImportRemark {
    let _work = progress::begin("carrying over links", 2 * drafts.len());
    for place in 0..drafts.len() {
        progress::advance();
        write(source, request, drafts, place, |_| {});
    }
    let aliases = missing_names(&after(store, drafts), source, drafts);
    for (place, names) in aliases {
        write(source, request, drafts, place, |extra| extra.aliases = names);
    }
    let store = after(store, drafts);
    let mut linker = Linker::new(&store, source, drafts);
    let missing = |draft: &Draft<'_>| {
        progress::advance();
        linker.missing(draft)
    };
    let links: Vec<LinkSet> = drafts.iter().map(missing).collect();
    let told = linker.told();
    for (place, links) in links.into_iter().enumerate().filter(|(_, links)| !links.is_empty()) {
        write(source, request, drafts, place, |extra| extra.links = links);
    }
    told
}

/// Writes a note anew with more in it. Links are adapted in the text that it gets: its page's, or all that the
/// file says where its fields can't be kept as such.
fn write(
    source: &SourceFolder,
    request: &ImportRequest,
    drafts: &mut [Draft<'_>],
    place: usize,
    add: impl FnOnce(&mut AddedFields),
) {
    let Some(draft) = drafts.get_mut(place) else { return };
    add(&mut draft.extra);
    rewrite(source, request, drafts, place);
    let Some(draft) = drafts.get_mut(place) else { return };
    if draft.composed.as_text.is_some() && draft.extra.as_text.is_none() {
        (draft.extra.as_text, draft.extra.replaced) = (draft.composed.as_text.clone(), None);
        rewrite(source, request, drafts, place);
    }
}

fn rewrite(source: &SourceFolder, request: &ImportRequest, drafts: &mut [Draft<'_>], place: usize) {
    let Some(draft) = drafts.get(place) else { return };
    let is_whole = draft.extra.as_text.is_some();
    let new = || moved(source, drafts, place, &draft.page.targets(is_whole));
    let replaced = draft.extra.replaced.clone().unwrap_or_else(new);
    let Some(draft) = drafts.get_mut(place) else { return };
    draft.extra.replaced = Some(replaced);
    draft.write(request);
}

/// Returns the store as it would be.
fn after(store: &Store, drafts: &[Draft<'_>]) -> Store {
    let change = |draft: &Draft<'_>| {
        let (path, new) = (draft.path.clone(), draft.composed.text.clone().into_bytes());
        match &draft.fate {
            ImportAction::New => Some(Change::Create { path, new }),
            ImportAction::Follows { .. } => Some(Change::Replace { path, old: Vec::new(), new }),
            ImportAction::Kept { .. } => None,
        }
    };
    store.after(&drafts.iter().filter_map(change).collect::<Vec<_>>())
}

/// Returns the bytes of a page's text that name a place which is another now, with what stands there then.
fn moved(
    source: &SourceFolder,
    drafts: &[Draft<'_>],
    place: usize,
    references: &[TextReference],
) -> Vec<(Range<usize>, String)> {
    let Some(draft) = drafts.get(place) else { return Vec::new() };
    let mut replaced = Vec::new();
    // What stands in a link that is written anew as a whole goes with it.
    let mut whole = 0..0;
    for reference in references {
        if let Some((range, new)) = new_place(source, drafts, draft, reference)
            && !whole.contains(&range.start)
        {
            if range == reference.range {
                whole = range.clone();
            }
            replaced.push((range, new));
        }
    }
    replaced
}

/// Returns the bytes of a reference that name a place which is another now, with what stands there then.
fn new_place(
    source: &SourceFolder,
    drafts: &[Draft<'_>],
    draft: &Draft<'_>,
    reference: &TextReference,
) -> Option<(Range<usize>, String)> {
    let found = source.resolve(draft.page, &reference.target)?;
    let to = match &found {
        ResolvedName::Page(page) => drafts.get(*page)?.path.as_str(),
        ResolvedName::File(path) => source.attachment(path)?,
    };
    match (&reference.target, &found) {
        (ReferenceTarget::Path(path), _) => {
            let stays = join_path(&draft.path, path).as_deref() == Some(to);
            reference.replacement(draft.text(), &crate::graph::relative_path(&draft.path, to)).filter(|_| !stays)
        }
        (ReferenceTarget::Wiki(name), ResolvedName::File(_)) => attached(draft, reference, name, to),
        _ => None,
    }
}

/// Returns what `[[file]]` or `![[file]]` becomes, where it does not lead to the file as it stands.
fn attached(draft: &Draft<'_>, reference: &TextReference, name: &str, to: &str) -> Option<(Range<usize>, String)> {
    let (file, part) = name.split_once('#').map_or((name, None), |(file, part)| (file, Some(part)));
    let inside = to.strip_prefix("attachments/")?;
    let part = part.map(|part| format!("#{part}")).unwrap_or_default();
    if reference.is_embed {
        let is_name = !inside.contains(['[', ']', '|', '#']);
        let is_as_it_should = !is_name || file.trim() == inside || file.trim() == to;
        return reference.replacement(draft.text(), &format!("{inside}{part}")).filter(|_| !is_as_it_should);
    }
    // Only an embed names a file; a link in double brackets names a note.
    let label = reference.label.as_deref().unwrap_or(name);
    let label: String =
        label.chars().flat_map(|c| [Some('\\').filter(|_| "[]\\`*_<>".contains(c)), Some(c)]).flatten().collect();
    Some((reference.range.clone(), format!("[{label}]({}{part})", markdown_path(&draft.path, to))))
}

/// Returns for pages the names that links give them and that lead nowhere yet.
fn missing_names(after: &Store, source: &SourceFolder, drafts: &[Draft<'_>]) -> BTreeMap<usize, Vec<String>> {
    let names = NameIndex::new(after.notes());
    let mut missing: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for draft in drafts {
        for reference in draft.page.references() {
            let ReferenceTarget::Wiki(target) = &reference.target else { continue };
            let Some(ResolvedName::Page(place)) = source.resolve(draft.page, &reference.target) else { continue };
            let name = target.split('#').next().unwrap_or_default().trim();
            if name.is_empty() || names.resolve(target).is_some() {
                continue;
            }
            let known = missing.entry(place).or_default();
            if !known.iter().any(|have| have.to_lowercase() == name.to_lowercase()) {
                known.push(name.to_owned());
            }
        }
    }
    missing
}

/// Finds what the notes as they would be don't say of their pages' links.
struct Linker<'a> {
    after: &'a Store,
    names: NameIndex<'a>,
    source: &'a SourceFolder,
    drafts: &'a [Draft<'a>],
    /// Names that lead to nothing, with the first page that has one and how often it stands there.
    nothing: BTreeMap<(&'static str, String), (String, usize)>,
    told: ImportRemark,
}

/// Links of a note's frontmatter: type, note, block.
type LinkSet = Vec<(String, NoteId, Option<String>)>;

impl<'a> Linker<'a> {
    fn new(after: &'a Store, source: &'a SourceFolder, drafts: &'a [Draft<'a>]) -> Self {
        let names = NameIndex::new(after.notes());
        Self { after, names, source, drafts, nothing: BTreeMap::new(), told: Vec::new() }
    }

    /// Links that a page makes and its note does not: in properties, to blocks, or by a name that another
    /// note has.
    fn missing(&mut self, draft: &Draft<'_>) -> LinkSet {
        let mut have = self.linked(draft);
        let mut links = Vec::new();
        for reference in draft.page.references() {
            let found = self.source.resolve(draft.page, &reference.target);
            self.look(draft, reference, found.as_ref());
            let Some(ResolvedName::Page(to)) = found else { continue };
            let Some(to) = self.drafts.get(to).filter(|to| have.insert(to.id.clone())) else { continue };
            let block = match &reference.target {
                ReferenceTarget::Block(block) => Some(block.clone()),
                _ => None,
            };
            links.push((RELATED.to_owned(), to.id.clone(), block));
        }
        for (property, name) in &draft.page.property_links {
            let Some(ResolvedName::Page(to)) = self.source.resolve(draft.page, &ReferenceTarget::Wiki(name.clone()))
            else {
                continue;
            };
            let Some(to) = self.drafts.get(to).filter(|to| to.id != draft.id) else { continue };
            let is_kind = property != RELATED && self.after.config.link_types.knows(property);
            let kind = if is_kind { property.as_str() } else { RELATED };
            let is_said = links.iter().any(|(have, id, _): &(String, NoteId, _)| have == kind && *id == to.id);
            if (have.insert(to.id.clone()) || is_kind) && !is_said {
                links.push((kind.to_owned(), to.id.clone(), None));
            }
        }
        links
    }

    /// Returns the notes that a note links to as it stands, itself among them.
    fn linked(&self, draft: &Draft<'_>) -> HashSet<NoteId> {
        let notes = self.after.notes();
        let Some(note) = self.after.position(&draft.id).and_then(|place| notes.get(place)) else {
            return HashSet::new();
        };
        let lead = |link: &InlineLink| match self.names.resolve_link(&note.path, NoteTarget::of(link)) {
            PathTarget::Note(to) => Some(to),
            PathTarget::Nothing | PathTarget::Outside => None,
        };
        let inline = note.inline_links().iter().filter_map(lead);
        let typed = note.links.iter().filter_map(|link| self.names.resolve(&link.target));
        let id = |place: usize| notes.get(place).map(|note| note.id.clone());
        inline.chain(typed).filter_map(id).chain([draft.id.clone()]).collect()
    }

    /// Looks whether a reference leads where it did.
    fn look(&mut self, draft: &Draft<'_>, reference: &TextReference, found: Option<&ResolvedName>) {
        match (&reference.target, found) {
            (ReferenceTarget::Wiki(target), Some(ResolvedName::Page(place))) => {
                let there = self.names.resolve(target).and_then(|place| self.after.notes().get(place));
                let meant = self.drafts.get(*place).map(|to| &to.id);
                if let Some(there) = there.filter(|there| Some(&there.id) != meant) {
                    let message = format!(
                        "`[[{target}]]` leads to `{}` here; the frontmatter links the page that is meant",
                        there.id
                    );
                    self.told.push((draft.page.source.clone(), "link-elsewhere", message));
                }
                let anchor = target.split_once("#^").map(|(_, anchor)| anchor);
                if let Some(anchor) = anchor.filter(|anchor| !self.source.vault.has_block(*place, anchor)) {
                    self.lost("broken-block", anchor, draft);
                }
            }
            (ReferenceTarget::Wiki(target), None)
                if !target.starts_with('#') && self.names.resolve(target).is_none() =>
            {
                self.lost("broken-link", target, draft);
            }
            (ReferenceTarget::Block(block), None) => self.lost("broken-block", block, draft),
            (ReferenceTarget::Path(path), None) => self.lost("broken-link", path, draft),
            (ReferenceTarget::Path(path), Some(found)) if self.source.vault.is_by_name(&draft.page.source, path) => {
                let to = match found {
                    ResolvedName::Page(place) => self.drafts.get(*place).map_or("", |to| &to.page.source),
                    ResolvedName::File(path) => path,
                };
                let message = format!("no file at `{path}`; the link leads to `{to}`, which has the name");
                self.told.push((draft.page.source.clone(), "link-by-name", message));
            }
            _ => {}
        }
    }

    fn lost(&mut self, code: &'static str, name: &str, draft: &Draft<'_>) {
        let name = (code, name.to_owned());
        self.nothing.entry(name).or_insert_with(|| (draft.page.source.clone(), 0)).1 += 1;
    }

    /// Returns what is told: one line for each name that leads to nothing.
    fn told(self) -> ImportRemark {
        let nothing = self.nothing.into_iter().map(|((code, name), (path, count))| {
            let times = if count > 1 { format!(", in {count} places") } else { String::new() };
            (path, code, format!("broken link: no note named `{name}`{times}"))
        });
        let mut told: ImportRemark = self.told.into_iter().chain(nothing).collect();
        told.sort();
        told.dedup();
        told
    }
}
