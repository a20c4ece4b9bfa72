//! Keeps the links of pages intact: missing names become aliases, other kinds of links go into the frontmatter, and
//! paths are updated.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::SourceFolder;
use super::drafts::{Draft, ImportAction};
use crate::graph::{NameIndex, PathTarget};
use crate::import::{AddedFields, ReferenceTarget, ResolvedName, TextReference, markdown_path};
use crate::note::{EncodedTarget as NoteTarget, InlineLink, NoteId, join_path, relative_path};
use crate::progress;
use crate::request::ImportRequest;
use crate::store::{Change, NoteIdx, Store};

/// The type of a link without a type.
const RELATED: &str = "related";

/// Remarks: path in the folder, code, sentence.
pub(super) type ImportRemarks = Vec<(String, &'static str, String)>;

/// Completes the drafts so that their links resolve as before, and returns remarks about those that do not.
pub(super) fn import_links(
    store: &Store,
    source: &SourceFolder,
    request: &ImportRequest,
    drafts: &mut [Draft<'_>],
) -> ImportRemarks {
    let _work = progress::begin("carrying over links", 2 * drafts.len());
    for index in 0..drafts.len() {
        progress::advance();
        add_fields(source, request, drafts, index, |_| {});
    }
    let aliases = missing_names(&after(store, drafts), source, drafts);
    for (index, names) in aliases {
        add_fields(source, request, drafts, index, |extra| extra.aliases = names);
    }
    let store = after(store, drafts);
    let mut linker = Linker::new(&store, source, drafts);
    let links: Vec<LinkSet> = drafts.iter().map(|draft| linker.missing_links(draft)).collect();
    let remarks = linker.remarks();
    for (index, links) in links.into_iter().enumerate().filter(|(_, links)| !links.is_empty()) {
        add_fields(source, request, drafts, index, |extra| extra.links = links);
    }
    remarks
}

/// Composes a note again with more fields. Links are replaced in the text that it gets: the body of the page, or the
/// whole file if its fields can't be kept as such.
fn add_fields(
    source: &SourceFolder,
    request: &ImportRequest,
    drafts: &mut [Draft<'_>],
    index: usize,
    add: impl FnOnce(&mut AddedFields),
) {
    add(&mut drafts[index].extra);
    recompose(source, request, drafts, index);
    let Draft { extra, composed, .. } = &mut drafts[index];
    if composed.as_text.is_some() && extra.as_text.is_none() {
        (extra.as_text, extra.replacements) = (composed.as_text.clone(), None);
        recompose(source, request, drafts, index);
    }
}

fn recompose(source: &SourceFolder, request: &ImportRequest, drafts: &mut [Draft<'_>], index: usize) {
    let draft = &drafts[index];
    if draft.extra.replacements.is_none() {
        let references = draft.page.targets(draft.extra.as_text.is_some());
        drafts[index].extra.replacements = Some(replacements(source, drafts, draft, &references));
    }
    drafts[index].compose_again(request);
}

fn after(store: &Store, drafts: &[Draft<'_>]) -> Store {
    let change = |draft: &Draft<'_>| {
        let (path, new) = (draft.path.clone(), draft.composed.text.clone().into_bytes());
        match &draft.action {
            ImportAction::New => Some(Change::Create { path, new }),
            ImportAction::Follows { .. } => Some(Change::Replace { path, old: Vec::new(), new }),
            ImportAction::Kept { .. } => None,
        }
    };
    store.after(&drafts.iter().filter_map(change).collect::<Vec<_>>())
}

/// Returns the replacements for references to moved files: range in bytes, new text.
fn replacements(
    source: &SourceFolder,
    drafts: &[Draft<'_>],
    draft: &Draft<'_>,
    references: &[TextReference],
) -> Vec<(Range<usize>, String)> {
    let mut replacements = Vec::new();
    // References inside a link that is replaced as a whole are skipped.
    let mut whole = 0..0;
    for reference in references {
        if let Some((range, new)) = replacement(source, drafts, draft, reference)
            && !whole.contains(&range.start)
        {
            if range == reference.range {
                whole = range.clone();
            }
            replacements.push((range, new));
        }
    }
    replacements
}

/// Returns the replacement for a reference to a moved file; `None` if none is needed.
fn replacement(
    source: &SourceFolder,
    drafts: &[Draft<'_>],
    draft: &Draft<'_>,
    reference: &TextReference,
) -> Option<(Range<usize>, String)> {
    let found = source.vault.resolve(&draft.page.source, &reference.target)?;
    let to = match &found {
        ResolvedName::Page(page) => drafts.get(*page)?.path.as_str(),
        ResolvedName::File(path) => source.attachment(path)?,
    };
    match (&reference.target, &found) {
        (ReferenceTarget::Path(path), _) => {
            let stays = join_path(&draft.path, path).as_deref() == Some(to);
            reference.replacement(draft.text(), &relative_path(&draft.path, to)).filter(|_| !stays)
        }
        (ReferenceTarget::Wiki(name), ResolvedName::File(_)) => attachment_link(draft, reference, name, to),
        _ => None,
    }
}

/// Returns the replacement for `[[file]]` or `![[file]]`; `None` if it leads to the file unchanged.
fn attachment_link(
    draft: &Draft<'_>,
    reference: &TextReference,
    name: &str,
    to: &str,
) -> Option<(Range<usize>, String)> {
    let (file, part) = name.split_once('#').map_or((name, None), |(file, part)| (file, Some(part)));
    let inside = to.strip_prefix("attachments/")?;
    let part = part.map(|part| format!("#{part}")).unwrap_or_default();
    if reference.is_embed {
        let is_name = !inside.contains(['[', ']', '|', '#']);
        let is_current = !is_name || file.trim() == inside || file.trim() == to;
        return reference.replacement(draft.text(), &format!("{inside}{part}")).filter(|_| !is_current);
    }
    // Only an embed may name a file; a link in double brackets names a note.
    let label = reference.label.as_deref().unwrap_or(name);
    let label: String =
        label.chars().flat_map(|c| [Some('\\').filter(|_| "[]\\`*_<>".contains(c)), Some(c)]).flatten().collect();
    Some((reference.range.clone(), format!("[{label}]({}{part})", markdown_path(&draft.path, to))))
}

/// Returns, by page index, the names that links use for the page and that do not resolve yet.
fn missing_names(after: &Store, source: &SourceFolder, drafts: &[Draft<'_>]) -> BTreeMap<usize, Vec<String>> {
    let names = NameIndex::new(after.notes());
    let mut missing: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for draft in drafts {
        for reference in &draft.page.scan.references {
            let ReferenceTarget::Wiki(target) = &reference.target else { continue };
            let found = source.vault.resolve(&draft.page.source, &reference.target);
            let Some(ResolvedName::Page(index)) = found else { continue };
            let name = target.split('#').next().unwrap_or_default().trim();
            if name.is_empty() || names.resolve(target).is_some() {
                continue;
            }
            let known = missing.entry(index).or_default();
            if !known.iter().any(|known| known.to_lowercase() == name.to_lowercase()) {
                known.push(name.to_owned());
            }
        }
    }
    missing
}

/// Finds links of pages that are missing in the composed notes.
struct Linker<'a> {
    after: &'a Store,
    names: NameIndex<'a>,
    source: &'a SourceFolder,
    drafts: &'a [Draft<'a>],
    /// Unresolved names by code: the first page that has the name, and the number of references.
    unresolved: BTreeMap<(&'static str, String), (String, usize)>,
    remarks: ImportRemarks,
}

/// Links in a note's frontmatter: type, target, block.
type LinkSet = Vec<(String, NoteId, Option<String>)>;

impl<'a> Linker<'a> {
    fn new(after: &'a Store, source: &'a SourceFolder, drafts: &'a [Draft<'a>]) -> Self {
        let names = NameIndex::new(after.notes());
        Self { after, names, source, drafts, unresolved: BTreeMap::new(), remarks: Vec::new() }
    }

    /// Returns the links of a page that its note lacks: those in properties, to blocks, or by a name that belongs to
    /// another note.
    fn missing_links(&mut self, draft: &Draft<'_>) -> LinkSet {
        progress::advance();
        let mut known = self.self_and_linked(draft);
        let mut links = Vec::new();
        for reference in &draft.page.scan.references {
            let found = self.source.vault.resolve(&draft.page.source, &reference.target);
            self.check(draft, reference, found.as_ref());
            let Some(ResolvedName::Page(to)) = found else { continue };
            let Some(to) = self.drafts.get(to).filter(|to| known.insert(to.id.clone())) else { continue };
            let block = match &reference.target {
                ReferenceTarget::Block(block) => Some(block.clone()),
                _ => None,
            };
            links.push((RELATED.to_owned(), to.id.clone(), block));
        }
        for (property, name) in &draft.page.property_links {
            let found = self.source.vault.resolve(&draft.page.source, &ReferenceTarget::Wiki(name.clone()));
            let Some(ResolvedName::Page(to)) = found else { continue };
            let Some(to) = self.drafts.get(to).filter(|to| to.id != draft.id) else { continue };
            let is_kind = property != RELATED && self.after.config.link_types.knows(property);
            let kind = if is_kind { property.as_str() } else { RELATED };
            let is_duplicate = links.iter().any(|(known, id, _): &(String, NoteId, _)| known == kind && *id == to.id);
            if (known.insert(to.id.clone()) || is_kind) && !is_duplicate {
                links.push((kind.to_owned(), to.id.clone(), None));
            }
        }
        links
    }

    /// Returns the note itself and the notes to which it links.
    fn self_and_linked(&self, draft: &Draft<'_>) -> HashSet<NoteId> {
        let notes = self.after.notes();
        let Some(note) = self.after.position(&draft.id).map(|index| &notes[index]) else { return HashSet::new() };
        let lead = |link: &InlineLink| match self.names.resolve_link(&note.path, NoteTarget::of(link)) {
            PathTarget::Note(to) => Some(to),
            PathTarget::Nothing | PathTarget::Outside | PathTarget::NoLink => None,
        };
        let links = note.link_fields();
        let inline = links.inline.iter().map(|link| link.to_link()).collect::<Vec<_>>();
        let inline = inline.iter().filter_map(lead);
        let typed = links.typed.iter().filter_map(|(_, target)| self.names.resolve(target));
        let id = |index: NoteIdx| notes[index].id.clone();
        inline.chain(typed).map(id).chain([draft.id.clone()]).collect()
    }

    /// Checks whether a reference still has the same target, and adds a remark if not.
    fn check(&mut self, draft: &Draft<'_>, reference: &TextReference, found: Option<&ResolvedName>) {
        match (&reference.target, found) {
            (ReferenceTarget::Wiki(target), Some(ResolvedName::Page(index))) => {
                let actual = self.names.resolve(target).map(|index| &self.after.notes()[index]);
                let intended = self.drafts.get(*index).map(|to| &to.id);
                if let Some(actual) = actual.filter(|actual| Some(&actual.id) != intended) {
                    let message = format!(
                        "`[[{target}]]` leads to `{}` here; a link in the frontmatter leads to the page that was meant",
                        actual.id
                    );
                    self.remarks.push((draft.page.source.clone(), "link-elsewhere", message));
                }
                let anchor = target.split_once("#^").map(|(_, anchor)| anchor);
                if let Some(anchor) = anchor.filter(|anchor| !self.source.vault.has_block(*index, anchor)) {
                    self.add_unresolved("broken-block", anchor, draft);
                }
            }
            (ReferenceTarget::Wiki(target), None)
                if !target.starts_with('#') && self.names.resolve(target).is_none() =>
            {
                self.add_unresolved("broken-link", target, draft);
            }
            (ReferenceTarget::Block(block), None) => self.add_unresolved("broken-block", block, draft),
            // A bundle's folder without an index.
            (ReferenceTarget::Path(path), None) if path.ends_with('/') => {}
            (ReferenceTarget::Path(path), None) => self.add_unresolved("broken-link", path, draft),
            (ReferenceTarget::Path(path), Some(found)) if self.source.vault.is_by_name(&draft.page.source, path) => {
                let to = match found {
                    ResolvedName::Page(index) => self.drafts.get(*index).map_or("", |to| &to.page.source),
                    ResolvedName::File(path) => path,
                };
                let message = format!("no file at `{path}`; the link leads to `{to}`, which has the same name");
                self.remarks.push((draft.page.source.clone(), "link-by-name", message));
            }
            _ => {}
        }
    }

    fn add_unresolved(&mut self, code: &'static str, name: &str, draft: &Draft<'_>) {
        let name = (code, name.to_owned());
        self.unresolved.entry(name).or_insert_with(|| (draft.page.source.clone(), 0)).1 += 1;
    }

    /// Returns the remarks, with one for each unresolved name.
    fn remarks(self) -> ImportRemarks {
        let unresolved = self.unresolved.into_iter().map(|((code, name), (path, count))| {
            let times = if count > 1 { format!(", in {count} places") } else { String::new() };
            (path, code, format!("broken link: no note named `{name}`{times}"))
        });
        let mut remarks: ImportRemarks = self.remarks.into_iter().chain(unresolved).collect();
        remarks.sort();
        remarks.dedup();
        remarks
    }
}
