//! The links to the headings of a note when a section of it becomes a note of its own.

use std::ops::Range;

use super::links::links_to;
use super::navigation::linking_notes;
use super::view::View;
use crate::error::Error;
use crate::note::{Heading, InlineLink, Note, find_heading};
use crate::store::NoteIdx;

/// The headings of a note before and after a section has moved.
pub(super) struct MovedHeadings {
    old: Vec<Heading>,
    /// The indexes of those that move.
    moved: Range<usize>,
    /// The bytes of the section in the body.
    section: Range<usize>,
}

impl MovedHeadings {
    pub(super) fn new(note: &Note, section: &Range<usize>) -> Self {
        let old = note.headings();
        let moved = old.partition_point(|heading| heading.start < section.start)
            ..old.partition_point(|heading| heading.start < section.end);
        Self { old, moved, section: section.clone() }
    }

    /// Returns the heading of a link like `[[#heading]]` in the section, if that heading does not move with it.
    pub(super) fn heading_left<'l>(&self, link: &'l InlineLink) -> Option<&'l str> {
        let InlineLink::Wiki(target) = link else { return None };
        let fragment = target.strip_prefix('#')?;
        find_heading(&self.old, fragment).filter(|index| !self.moved.contains(index)).map(|_| fragment)
    }

    /// Whether every link to a heading of the note leads to the same heading when `rest` is the note and `new` the section.
    pub(super) fn keep_their_links(
        &self,
        view: &View<'_>,
        note: NoteIdx,
        rest: &Note,
        new: &Note,
    ) -> Result<bool, Error> {
        let (rest, new) = (rest.headings(), new.headings());
        let is_kept_in_rest = |fragment: &str| match find_heading(&self.old, fragment) {
            None => true,
            Some(index) if self.moved.contains(&index) => false,
            Some(index) => {
                let before = if index < self.moved.start { 0 } else { self.moved.len() };
                find_heading(&rest, fragment) == Some(index - before)
            }
        };
        let is_kept_in_new = |fragment: &str| {
            let index = find_heading(&self.old, fragment).filter(|index| self.moved.contains(index));
            index.is_some_and(|index| find_heading(&new, fragment) == Some(index - self.moved.start))
        };
        let (parsed, section) = (view.note(note)?, &self.section);
        let start = parsed.body_range().start;
        let is_inside = |offset: usize| section.contains(&offset);
        let others = linking_notes(view, note).into_iter().filter(|other| *other != note);
        for from in std::iter::once(note).chain(others) {
            for link in links_to(view, from, note)? {
                let Some(fragment) = &link.fragment else { continue };
                let is_moved = from == note && link.range.start.checked_sub(start).is_some_and(is_inside);
                let moves_along = is_moved && link.target.is_empty() && is_kept_in_new(fragment);
                // A link like `[text](#anchor)` gets no other target when it moves.
                let is_anchor = matches!(&link.inline, Some(InlineLink::Path(path)) if path.is_empty());
                let is_lost = is_moved && is_anchor && find_heading(&self.old, fragment).is_some();
                if !moves_along && (is_lost || !is_kept_in_rest(fragment)) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
