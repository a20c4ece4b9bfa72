//! Renaming of notes and headings: every link is rewritten.

use std::ops::Range;

use lsp_types::{PrepareRenameResponse, RenameParams, TextDocumentPositionParams, WorkspaceEdit};

use super::context_at::{Named, NamedAt, is_inside, named_at};
use super::edits::{TargetStore, workspace_edit};
use super::links::{LINK_SIGNS, LocatedLink, links_to};
use super::navigation::linking_notes;
use super::view::View;
use crate::commands::plan_changes;
use crate::error::{Error, ErrorKind};
use crate::escape::one_line;
use crate::note::{Heading, InlineLink, find_heading, heading_anchors, percent_encoded, with_spans};
use crate::request::{Action, NewFields};
use crate::store::{Change, NoteIdx};

/// What a position lets rename.
enum Renamed {
    /// The title of a note.
    Note(NoteIdx),
    /// The heading of a note at an index.
    Heading(NoteIdx, usize),
}

/// Returns the bytes that a new name replaces at a position, and what it renames; `None` for other text.
fn renamed(view: &View<'_>, at: &NamedAt) -> Result<Option<(Range<usize>, Renamed)>, Error> {
    let text = view.note(at.note)?.text();
    Ok(match &at.named {
        Some(Named::Link(link)) => {
            let Some(to) = link.to else { return Ok(None) };
            let in_heading = link.fragment_range(text).filter(|range| is_inside(range, at.offset));
            match in_heading.filter(|_| !is_inside(&link.target, at.offset) || link.target.is_empty()) {
                Some(range) => {
                    let headings = view.note(to)?.headings();
                    let index = link.fragment.as_deref().and_then(|fragment| find_heading(&headings, fragment));
                    index.map(|index| (range, Renamed::Heading(to, index)))
                }
                None => Some((link.target.clone(), Renamed::Note(to))),
            }
        }
        Some(Named::Heading(heading, range)) => {
            let headings = view.note(at.note)?.headings();
            let index = headings.iter().position(|other| other == heading);
            index.map(|index| (range.clone(), Renamed::Heading(at.note, index)))
        }
        Some(Named::Title(range)) => Some((range.clone(), Renamed::Note(at.note))),
        None => None,
    })
}

/// Returns the text that can be renamed at a position.
pub(super) fn prepare(
    view: &View<'_>,
    params: TextDocumentPositionParams,
) -> Result<Option<PrepareRenameResponse>, Error> {
    let Some(at) = named_at(view, &params)? else { return Ok(None) };
    let Some((bytes, renamed)) = renamed(view, &at)? else { return Ok(None) };
    let text = view.note(at.note)?.text();
    let placeholder = match renamed {
        Renamed::Note(note) => one_line(view.handle(note).title()),
        Renamed::Heading(..) => one_line(text.get(bytes.clone()).unwrap_or_default()),
    };
    let range = view.lines(text).range(bytes);
    Ok(Some(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder }))
}

/// Returns the edit that renames a note, as `qipu update ID --title TITLE` does, or a heading.
pub(super) fn rename(view: &View<'_>, params: RenameParams) -> Result<Option<WorkspaceEdit>, Error> {
    let Some(at) = named_at(view, &params.text_document_position)? else { return Ok(None) };
    match renamed(view, &at)? {
        None => Err(Error::usage("there is no title, heading or link here")),
        Some((_, Renamed::Note(note))) => {
            let target = TargetStore::of(view, note)?;
            let id = view.handle(note).id.local().to_owned();
            let fields = NewFields { title: Some(params.new_name), ..NewFields::default() };
            let request = view.settings.change(Action::update(id, fields))?;
            let changes = plan_changes(target.store(), &request, view.settings.agent.as_ref())?;
            workspace_edit(view, target.store(), &changes).map(Some)
        }
        Some((_, Renamed::Heading(note, index))) => {
            let changes = plan_heading(view, note, index, params.new_name.trim())?;
            workspace_edit(view, view.store(), &changes).map(Some)
        }
    }
}

/// Plans another text for a heading, and for the links that name it.
fn plan_heading(view: &View<'_>, note: NoteIdx, index: usize, new_text: &str) -> Result<Vec<Change>, Error> {
    let parsed = view.note(note)?;
    let old = parsed.headings();
    let heading = old.get(index).ok_or_else(|| Error::failure("the heading is gone"))?;
    let own_edit = (parsed.heading_range(heading), new_text.to_owned());
    let renamed = with_spans(parsed.text(), vec![own_edit.clone()]).map_err(Error::failure)?;
    let new = view.store().parse_at(&view.handle(note).path, &renamed).parsed()?.headings();
    let is_alone = |(position, (old, new)): (usize, (&Heading, &Heading))| {
        old.level == new.level && (position == index || old.text == new.text)
    };
    let names_one = new.len() == old.len() && old.iter().zip(&new).enumerate().all(is_alone);
    if !names_one || new_text.is_empty() || new_text.contains(['\n', '\r']) {
        return Err(Error::usage(format!("`{new_text}` is no text for one heading")));
    }
    let fragments = Fragments { old_anchors: heading_anchors(&old), new_anchors: heading_anchors(&new), old, new };
    let mut from = linking_notes(view, note);
    from.retain(|other| *other != note);
    let mut changes = Vec::new();
    for from in std::iter::once(note).chain(from) {
        let mut spans = if from == note { vec![own_edit.clone()] } else { Vec::new() };
        for link in links_to(view, from, note)? {
            let Some(index) = fragments.changed(&link) else { continue };
            let new = fragments.renamed(&link, index);
            let new = new.ok_or_else(|| refusal(view, from, "a link would lead to another heading"))?;
            let range = link.fragment_range(view.note(from)?.text());
            spans.push((range.ok_or_else(|| refusal(view, from, "a link is written with escapes"))?, new));
        }
        changes.extend(plan_spans(view, from, spans)?);
    }
    Ok(changes)
}

/// Plans replacements in the text of a note.
fn plan_spans(view: &View<'_>, note: NoteIdx, mut spans: Vec<(Range<usize>, String)>) -> Result<Option<Change>, Error> {
    // The uses of a label share the target of its definition.
    spans.sort_unstable_by_key(|(range, _)| (range.start, range.end));
    spans.dedup();
    if spans.is_empty() {
        return Ok(None);
    }
    let collection = view.store().collection_of(note);
    if !collection.is_writable {
        let reason = format!("it is only read: {}", collection.reason.how_to_write());
        return Err(refusal(view, note, &reason));
    }
    let old = view.note(note)?.text();
    let new = with_spans(old, spans).map_err(|reason| refusal(view, note, &reason))?;
    let path = view.handle(note).path.clone();
    Ok(Some(Change::Replace { path, old: old.as_bytes().to_vec(), new: new.into_bytes() }))
}

fn refusal(view: &View<'_>, note: NoteIdx, reason: &str) -> Error {
    let message = format!("can't change `{}`: {reason}", view.handle(note).id);
    Error::new(ErrorKind::Store, message).hint("nothing was changed; edit the file by hand")
}

/// The headings of a note before and after one has another text.
struct Fragments {
    old: Vec<Heading>,
    new: Vec<Heading>,
    old_anchors: Vec<String>,
    new_anchors: Vec<String>,
}

impl Fragments {
    /// Returns the index of the heading that a link led to, if it does not any more.
    fn changed(&self, link: &LocatedLink) -> Option<usize> {
        let index = find_heading(&self.old, link.fragment.as_deref()?)?;
        (find_heading(&self.new, link.fragment.as_deref()?) != Some(index)).then_some(index)
    }

    /// Returns the part behind `#` with which a link leads to the heading at an index: its text, else its anchor; `None` if
    /// both lead to another one.
    fn renamed(&self, link: &LocatedLink, index: usize) -> Option<String> {
        let fragment = link.fragment.as_deref()?;
        let (heading, anchor) = (self.new.get(index)?, self.new_anchors.get(index)?);
        let is_path = matches!(link.inline, Some(InlineLink::Path(_)));
        let is_anchor = self.old_anchors.get(index).is_some_and(|anchor| anchor == fragment)
            && (is_path || self.old.get(index).is_some_and(|heading| heading.text != fragment));
        let can_be_text = !is_anchor && !heading.text.contains(LINK_SIGNS);
        // A path of headings keeps those above.
        let above = fragment.rsplit_once('#').map(|(above, _)| format!("{above}#")).unwrap_or_default();
        let text = if is_path { percent_encoded(&heading.text) } else { heading.text.clone() };
        let text = can_be_text.then(|| format!("{above}{text}"));
        text.into_iter().chain([anchor.clone()]).find(|new| find_heading(&self.new, new) == Some(index))
    }
}
