//! What stands at a position of a note.

use std::ops::Range;

use lsp_types::TextDocumentPositionParams;

use super::links::{self, LocatedLink};
use super::view::View;
use crate::error::Error;
use crate::note::Heading;
use crate::store::NoteIdx;

/// What the text at a position names.
pub(super) enum Named {
    /// A link.
    Link(LocatedLink),
    /// A heading of the note, and the bytes of its text.
    Heading(Heading, Range<usize>),
    /// The title of the note: the value of the field.
    Title(Range<usize>),
}

/// What a position names, and the note that contains it.
pub(super) struct NamedAt {
    pub(super) note: NoteIdx,
    pub(super) offset: usize,
    /// `None` for other text.
    pub(super) named: Option<Named>,
}

/// Returns what a position of an open note names; `None` if the text is no note.
pub(super) fn named_at(view: &View<'_>, at: &TextDocumentPositionParams) -> Result<Option<NamedAt>, Error> {
    let Some((note, offset)) = view.offset(at)? else { return Ok(None) };
    let links = links::links(view, note)?.into_iter().filter(|link| is_inside(&link.range, offset));
    // Of links in one another, the inner one.
    let named = match links.min_by_key(|link| link.range.len()) {
        Some(link) => Some(Named::Link(link)),
        None => match heading_at(view, note, offset)? {
            Some((heading, range)) => Some(Named::Heading(heading, range)),
            None => title_range(view, note)?.filter(|range| is_inside(range, offset)).map(Named::Title),
        },
    };
    Ok(Some(NamedAt { note, offset, named }))
}

/// Whether a cursor is in a range or at one of its ends.
pub(super) fn is_inside(range: &Range<usize>, offset: usize) -> bool {
    range.start <= offset && offset <= range.end
}

/// Returns the heading in the lines of an offset, and the bytes of its text.
pub(super) fn heading_at(
    view: &View<'_>,
    note: NoteIdx,
    offset: usize,
) -> Result<Option<(Heading, Range<usize>)>, Error> {
    let parsed = view.note(note)?;
    let (start, body) = (parsed.body_range().start, parsed.body());
    let Some(offset) = offset.checked_sub(start) else { return Ok(None) };
    let is_here = |heading: &Heading| {
        let lines = body.get(heading.start..heading.section.start).unwrap_or_default();
        is_inside(&(heading.start..heading.start + lines.trim_end().len()), offset)
    };
    let heading = parsed.headings().into_iter().find(is_here);
    Ok(heading.map(|heading| {
        let range = parsed.heading_range(&heading);
        (heading, range)
    }))
}

/// Returns the bytes of the value of the field `title`; `None` without one in one line.
pub(super) fn title_range(view: &View<'_>, note: NoteIdx) -> Result<Option<Range<usize>>, Error> {
    let parsed = view.note(note)?;
    let front = parsed.text_to_fields_end();
    let mut offset = 0;
    for line in front.split_inclusive('\n') {
        if let Some(value) = line.strip_prefix("title:") {
            let start = offset + line.len() - value.trim_start().len();
            return Ok(Some(start..start + value.trim().len()).filter(|range| !range.is_empty()));
        }
        offset += line.len();
    }
    Ok(None)
}
