//! The links of notes with their places in the text.

use std::ops::Range;

use super::view::View;
use crate::error::Error;
use crate::graph::PathTarget;
use crate::note::{EncodedTarget, InlineLink, Note, find_heading, own_sections};
use crate::store::NoteIdx;

/// The characters that have a meaning in double brackets or before them, so that no name in a link has them.
pub(super) const LINK_SIGNS: [char; 7] = ['[', ']', '|', '#', '\\', '`', '<'];

/// A link of a note to a note or to nothing.
#[derive(Debug, Clone)]
pub(super) struct LocatedLink {
    /// The bytes of the whole link in the text.
    pub(super) range: Range<usize>,
    /// The bytes of its target, without the heading.
    pub(super) target: Range<usize>,
    /// The link as the body has it, decoded; `None` for one of the frontmatter.
    pub(super) inline: Option<InlineLink>,
    /// The note that it leads to.
    pub(super) to: Option<NoteIdx>,
    /// The heading or anchor behind `#`, as it is decoded.
    pub(super) fragment: Option<String>,
}

impl LocatedLink {
    /// Returns the bytes of the text behind `#`, if it is written as it is decoded.
    pub(super) fn fragment_range(&self, text: &str) -> Option<Range<usize>> {
        let (fragment, start) = (self.fragment.as_deref()?, self.target.end + 1);
        let range = start..start + fragment.len();
        (text.get(self.target.end..range.end)?.strip_prefix('#')? == fragment).then_some(range)
    }
}

/// Returns the links of a note that are located: those of its frontmatter, then those of its body.
pub(super) fn links(view: &View<'_>, from: NoteIdx) -> Result<Vec<LocatedLink>, Error> {
    let note = view.note(from)?;
    let mut links = typed_links(view, from, note);
    links.extend(field_links(view, from, note, "compacts:", note.compacts.iter().map(String::as_str)));
    links.extend(body_links(view, from, note));
    Ok(links)
}

/// Returns the links that make a note one of those that link to another: without those in the field `compacts`.
pub(super) fn links_to(view: &View<'_>, from: NoteIdx, to: NoteIdx) -> Result<Vec<LocatedLink>, Error> {
    let note = view.note(from)?;
    let links = typed_links(view, from, note).into_iter().chain(body_links(view, from, note));
    Ok(links.filter(|link| link.to == Some(to)).collect())
}

fn typed_links(view: &View<'_>, from: NoteIdx, note: &Note) -> Vec<LocatedLink> {
    field_links(view, from, note, "links:", note.links.iter().map(|link| link.target.as_str()))
}

fn body_links(view: &View<'_>, from: NoteIdx, note: &Note) -> Vec<LocatedLink> {
    let start = note.body_range().start;
    let own_sections = own_sections(note.body()).into_iter().map(|found| (Some(from), found));
    let to_notes = note.located_links().into_iter().map(|found| (target_of(view, from, &found.link), found));
    let located = to_notes.chain(own_sections).map(|(to, found)| {
        let span = found.span().unwrap_or_else(|| found.range.clone());
        let name_length = match &found.link {
            InlineLink::Wiki(target) => target.find('#').unwrap_or(span.len()),
            InlineLink::Path(_) => span.len(),
        };
        LocatedLink {
            range: found.range.start + start..found.range.end + start,
            target: span.start + start..span.start + start + name_length.min(span.len()),
            to,
            fragment: found.fragment().map(str::to_owned),
            inline: Some(found.link),
        }
    });
    located.collect()
}

/// Returns the note that a link leads to; `[[#heading]]` leads to the note itself.
fn target_of(view: &View<'_>, from: NoteIdx, link: &InlineLink) -> Option<NoteIdx> {
    match view.names().resolve_link_in(from, EncodedTarget::of(link)) {
        PathTarget::Note(to) => Some(to),
        PathTarget::Nothing if matches!(link, InlineLink::Wiki(target) if target.starts_with('#')) => Some(from),
        PathTarget::Nothing | PathTarget::Outside | PathTarget::NoLink => None,
    }
}

/// Finds the targets of a field in the lines behind its key. One that is written with escapes is located at the key.
fn field_links<'t>(
    view: &View<'_>,
    from: NoteIdx,
    note: &'t Note,
    key: &str,
    targets: impl Iterator<Item = &'t str>,
) -> Vec<LocatedLink> {
    let front = note.text_to_fields_end();
    let is_line = |offset: &usize| *offset == 0 || front.as_bytes().get(offset - 1) == Some(&b'\n');
    let start = front.match_indices(key).map(|(offset, _)| offset).find(is_line).unwrap_or_default();
    let mut offset = start + key.len();
    let locate = |name: &'t str| {
        let found = find_name(front, name, offset).or_else(|| find_name(front, name, start));
        let range = found.unwrap_or(start..start + key.len().min(front.len()));
        offset = range.end;
        let to = view.names().resolve_from(from, name);
        let length = name.find('#').filter(|_| to.is_some()).unwrap_or(range.len()).min(range.len());
        let fragment = name.split_once('#').map(|(_, fragment)| fragment.to_owned());
        LocatedLink { target: range.start..range.start + length, range, inline: None, to, fragment }
    };
    targets.map(locate).collect()
}

/// Finds a name that is not part of a longer word, at or behind an offset.
fn find_name(text: &str, name: &str, from: usize) -> Option<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_' || c == '~';
    let is_whole = |range: &Range<usize>| {
        let before = text.get(..range.start).and_then(|before| before.chars().next_back());
        let after = text.get(range.end..).and_then(|after| after.chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    };
    if name.is_empty() {
        return None;
    }
    let found = text.get(from..)?.match_indices(name);
    found.map(|(offset, _)| from + offset..from + offset + name.len()).find(is_whole)
}

/// Returns the bytes of the text of the heading that a link leads to, in the text of its note; `None` if it names none.
pub(super) fn heading_of(note: &Note, fragment: &str) -> Option<Range<usize>> {
    let headings = note.headings();
    Some(note.heading_range(headings.get(find_heading(&headings, fragment)?)?))
}
