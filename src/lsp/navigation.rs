//! Definition and references.

use lsp_types::{GotoDefinitionParams, Location, ReferenceParams};

use super::context_at::{Named, named_at};
use super::links::{self, heading_of};
use super::view::View;
use crate::error::Error;
use crate::note::{Heading, find_heading};
use crate::store::NoteIdx;

/// Returns the place that a link leads to: its heading, else the beginning of the note.
pub(super) fn definition(view: &View<'_>, params: GotoDefinitionParams) -> Result<Option<Location>, Error> {
    let Some(at) = named_at(view, &params.text_document_position_params)? else { return Ok(None) };
    let Some(Named::Link(link)) = at.named else { return Ok(None) };
    let Some(to) = link.to else { return Ok(None) };
    let heading = match &link.fragment {
        Some(fragment) => heading_of(view.note(to)?, fragment),
        None => None,
    };
    view.location(to, heading.unwrap_or_default())
}

/// Returns the links to what a position names: to a heading, to the note of a link, else to the note itself.
pub(super) fn references(view: &View<'_>, params: ReferenceParams) -> Result<Option<Vec<Location>>, Error> {
    let Some(at) = named_at(view, &params.text_document_position)? else { return Ok(None) };
    let (note, heading) = match at.named {
        Some(Named::Link(link)) => match link.to {
            Some(to) => (to, None),
            None => return Ok(Some(Vec::new())),
        },
        Some(Named::Heading(heading, range)) => (at.note, Some((heading, range))),
        _ => (at.note, None),
    };
    let mut found = Vec::new();
    if params.context.include_declaration {
        let declaration = heading.as_ref().map_or(0..0, |(_, range)| range.clone());
        found.extend(view.location(note, declaration)?);
    }
    found.extend(match heading {
        Some((heading, _)) => links_to_heading(view, note, &heading)?,
        None => links_to_note(view, note)?,
    });
    Ok(Some(found))
}

/// Returns the notes that link to a note, each once, by their ids.
pub(super) fn linking_notes(view: &View<'_>, to: NoteIdx) -> Vec<NoteIdx> {
    let mut from: Vec<NoteIdx> = view.graph().backlinks(to).collect();
    from.dedup();
    from
}

/// Returns the links to a note in all others. A link that can't be located stands at the beginning of its note.
fn links_to_note(view: &View<'_>, to: NoteIdx) -> Result<Vec<Location>, Error> {
    let mut found = Vec::new();
    for from in linking_notes(view, to) {
        let links = links::links_to(view, from, to)?;
        let ranges = links.into_iter().map(|link| link.range);
        let mut locations = locations(view, from, ranges)?;
        if locations.is_empty() {
            locations.extend(view.location(from, 0..0)?);
        }
        found.extend(locations);
    }
    Ok(found)
}

/// Returns the links to a heading, those of its own note last.
fn links_to_heading(view: &View<'_>, to: NoteIdx, heading: &Heading) -> Result<Vec<Location>, Error> {
    let headings = view.note(to)?.headings();
    let mut found = Vec::new();
    for from in linking_notes(view, to).into_iter().chain([to]) {
        let links = links::links_to(view, from, to)?.into_iter();
        let is_meant = |link: &links::LocatedLink| {
            let named = link.fragment.as_deref().and_then(|fragment| find_heading(&headings, fragment));
            named.and_then(|index| headings.get(index)) == Some(heading)
        };
        found.extend(locations(view, from, links.filter(is_meant).map(|link| link.range))?);
    }
    Ok(found)
}

fn locations(
    view: &View<'_>,
    note: NoteIdx,
    ranges: impl Iterator<Item = std::ops::Range<usize>>,
) -> Result<Vec<Location>, Error> {
    let lines = view.lines(view.note(note)?.text());
    let Some(uri) = view.uri(&view.handle(note).path) else { return Ok(Vec::new()) };
    Ok(ranges.map(|range| Location::new(uri.clone(), lines.range(range))).collect())
}
