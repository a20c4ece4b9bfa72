//! Links of notes as those of a bundle: markdown links from its root.

use std::collections::HashSet;
use std::ops::Range;

use super::places::Places;
use crate::escape::one_line;
use crate::graph::{NameIndex, PathTarget};
use crate::import::okf::INDEX;
use crate::note::{Destination, EncodedTarget, InlineLink, Note, destinations, join_path, percent_encoded, with_spans};
use crate::store::{NoteHandle, NoteIdx, Store};

/// The heading of the links that a text does not have.
const RELATED_HEADING: &str = "# Related";

pub(super) struct BundleLinker<'a> {
    store: &'a Store,
    names: NameIndex<'a>,
    places: &'a Places,
}

/// A replaced part of a text, and the target that its link has then.
struct LinkChange {
    range: Range<usize>,
    text: String,
    target: String,
}

impl<'a> BundleLinker<'a> {
    pub(super) fn new(store: &'a Store, places: &'a Places) -> Self {
        Self { store, names: NameIndex::of(store), places }
    }

    /// Returns a note's text with the links of the bundle; an error says why they stay as they are.
    pub(super) fn converted(&self, index: NoteIdx, note: &Note) -> Result<String, String> {
        let body = note.body();
        let (mut spans, mut expected) = (Vec::new(), Vec::new());
        // Links inside a link that is replaced as a whole stay.
        let mut whole = 0..0;
        for destination in destinations(body) {
            let is_inside = whole.contains(&destination.range.start);
            match self.replacement(index, note, &destination).filter(|_| !is_inside) {
                Some(new) => {
                    if new.range == destination.range {
                        whole = new.range.clone();
                    }
                    spans.push((new.range, new.text));
                    expected.push(new.target);
                }
                None => expected.push(target(&destination.link).to_owned()),
            }
        }
        let new = with_spans(body, spans)?;
        let is_same = destinations(&new).iter().map(|destination| target(&destination.link)).eq(&expected);
        if is_same { Ok(new) } else { Err("other links would change how its text is parsed".to_owned()) }
    }

    fn replacement(&self, index: NoteIdx, note: &Note, destination: &Destination) -> Option<LinkChange> {
        match &destination.link {
            InlineLink::Path(path) => {
                let target = self.path_target(index, note, path)?;
                let (range, text) = destination.replacement(note.body(), &target)?;
                Some(LinkChange { range, text, target })
            }
            InlineLink::Wiki(name) => self.wiki_replacement(note, destination, name),
        }
    }

    /// Returns the path from the root for a path in a note; `None` if it stays.
    fn path_target(&self, index: NoteIdx, note: &Note, path: &str) -> Option<String> {
        if let PathTarget::Note(to) = self.names.resolve_path(&note.path, path) {
            return Some(self.path_of(to));
        }
        let inside = join_path(if path.starts_with('/') { "" } else { &note.path }, path)?;
        if let Some(attachment) = self.places.of_attachment(&inside) {
            return Some(format!("/{attachment}"));
        }
        let found = join_path(if path.starts_with('/') { "" } else { self.places.of_note(index)?.path() }, path)?;
        if path.ends_with('/') {
            let index = if found.is_empty() { INDEX.to_owned() } else { format!("{found}/{INDEX}") };
            return self.places.contains(&index).then(|| format!("/{index}"));
        }
        // A path without a file must not lead to one in the bundle.
        (!path.starts_with('/') && self.places.contains(&found)).then(|| format!("/{inside}"))
    }

    fn path_of(&self, index: NoteIdx) -> String {
        format!("/{}", self.places.of_note(index).map_or("", |place| place.path()))
    }

    fn wiki_replacement(&self, note: &Note, destination: &Destination, name: &str) -> Option<LinkChange> {
        let (bare, heading) = name.split_once('#').map_or((name, None), |(bare, heading)| (bare, Some(heading)));
        let fragment =
            |is_needed| heading.filter(|_| is_needed).map(|part| format!("#{}", percent_encoded(part.trim())));
        let source = note.body().get(destination.range.clone())?;
        let is_embed = source.starts_with('!');
        let label = source.strip_suffix("]]").and_then(|source| source.split_once('|')).map(|(_, label)| label.trim());
        let label = label.filter(|label| !label.is_empty()).map(str::to_owned);
        let (target, fragment, label, mark) = match self.names.resolve(name) {
            Some(to) => {
                let has_heading = self.names.resolve(bare) == Some(to);
                let label = label.unwrap_or_else(|| escaped_label(self.store.notes()[to].title()));
                (self.path_of(to), fragment(has_heading), label, "")
            }
            None => {
                let bases = [note.path.as_str(), "", "attachments/"].into_iter();
                let mut paths = bases.filter_map(|base| join_path(base, bare.trim()));
                let path = paths.find_map(|path| self.places.of_attachment(&path))?;
                let label = label.unwrap_or_else(|| escaped_label(bare.trim()));
                (format!("/{path}"), fragment(true), label, if is_embed { "!" } else { "" })
            }
        };
        let text = format!("{mark}[{label}]({}{})", percent_encoded(&target), fragment.unwrap_or_default());
        Some(LinkChange { range: destination.range.clone(), text, target })
    }

    /// Returns the section with those links of the frontmatter to which no link of the text leads; empty if there are
    /// none. `body`: the converted text.
    pub(super) fn related(&self, note: &NoteHandle, index: NoteIdx, body: &str) -> String {
        let links = note.link_fields();
        let resolved = |link: &EncodedTarget<'_>| match self.names.resolve_link(&note.path, *link) {
            PathTarget::Note(to) => Some(to),
            _ => None,
        };
        let mut seen: HashSet<NoteIdx> = links.inline.iter().filter_map(resolved).chain([index]).collect();
        let mut lines = Vec::new();
        for (kind, target) in &links.typed {
            if let Some(to) = self.names.resolve(target).filter(|to| seen.insert(*to)) {
                let label = escaped_label(self.store.notes()[to].title());
                lines.push(format!("* {} [{label}]({})", escaped_label(kind), percent_encoded(&self.path_of(to))));
            }
        }
        if lines.is_empty() {
            return String::new();
        }
        let has_heading = body.lines().rfind(|line| line.starts_with('#')) == Some(RELATED_HEADING);
        let heading = if has_heading { String::new() } else { format!("\n{RELATED_HEADING}\n\n") };
        let line_end = if body.is_empty() || body.ends_with('\n') { "" } else { "\n" };
        format!("{line_end}{heading}{}\n", lines.join("\n"))
    }
}

fn target(link: &InlineLink) -> &str {
    let (InlineLink::Wiki(target) | InlineLink::Path(target)) = link;
    target
}

/// Returns a text as the label of a link, without a meaning in markdown.
pub(super) fn escaped_label(text: &str) -> String {
    let is_special = |c: char| "[]\\`*_<>|&~^".contains(c);
    one_line(text).chars().flat_map(|c| [Some('\\').filter(|_| is_special(c)), Some(c)]).flatten().collect()
}
