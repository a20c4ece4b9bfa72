//! The headings of a note, and the notes of a store, as symbols.

use lsp_types::{
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, Location, SymbolInformation, SymbolKind,
    WorkspaceSymbolParams,
};

use super::completion::matching_notes;
use super::view::View;
use crate::error::Error;
use crate::escape::one_line;
use crate::note::Heading;
use crate::store::NoteIdx;

/// Returns the headings of an open note, as a tree if the client shows one.
pub(super) fn of_document(
    view: &View<'_>,
    params: DocumentSymbolParams,
) -> Result<Option<DocumentSymbolResponse>, Error> {
    let Some(note) = view.open_note(&params.text_document.uri) else { return Ok(None) };
    let headings = view.note(note)?.headings();
    if view.client.has_symbol_tree {
        return tree(view, note, &headings).map(|symbols| Some(DocumentSymbolResponse::Nested(symbols)));
    }
    let symbols = tree(view, note, &headings)?.into_iter().flat_map(flat);
    let information = |symbol: DocumentSymbol| {
        symbol_information(
            symbol.name,
            symbol.kind,
            Location::new(params.text_document.uri.clone(), symbol.range),
            None,
        )
    };
    Ok(Some(DocumentSymbolResponse::Flat(symbols.map(information).collect())))
}

fn flat(mut symbol: DocumentSymbol) -> Vec<DocumentSymbol> {
    let children = symbol.children.take().unwrap_or_default();
    std::iter::once(symbol).chain(children.into_iter().flat_map(flat)).collect()
}

/// Returns headings as a tree: below each those of lower levels up to the next one of its level.
fn tree(view: &View<'_>, note: NoteIdx, headings: &[Heading]) -> Result<Vec<DocumentSymbol>, Error> {
    let parsed = view.note(note)?;
    let (lines, start) = (view.lines(parsed.text()), parsed.body_range().start);
    let mut open: Vec<(usize, DocumentSymbol)> =
        vec![(0, symbol(String::new(), Default::default(), Default::default()))];
    let close_above = |open: &mut Vec<(usize, DocumentSymbol)>, level: usize| {
        while open.last().is_some_and(|(inner, _)| *inner >= level) && open.len() > 1 {
            let closed = open.pop();
            if let (Some((_, closed)), Some((_, parent))) = (closed, open.last_mut()) {
                parent.children.get_or_insert_default().push(closed);
            }
        }
    };
    for heading in headings {
        let whole = lines.range(heading.start + start..heading.section.end + start);
        let name = if heading.text.is_empty() { "#".repeat(heading.level) } else { one_line(&heading.text) };
        close_above(&mut open, heading.level);
        open.push((heading.level, symbol(name, whole, lines.range(parsed.heading_range(heading)))));
    }
    close_above(&mut open, 1);
    Ok(open.pop().and_then(|(_, root)| root.children).unwrap_or_default())
}

#[allow(deprecated, reason = "the type has the field")]
fn symbol(name: String, range: lsp_types::Range, selection_range: lsp_types::Range) -> DocumentSymbol {
    let kind = SymbolKind::STRING;
    DocumentSymbol { name, detail: None, kind, tags: None, deprecated: None, range, selection_range, children: None }
}

#[allow(deprecated, reason = "the type has the field")]
fn symbol_information(
    name: String,
    kind: SymbolKind,
    location: Location,
    container_name: Option<String>,
) -> SymbolInformation {
    SymbolInformation { name, kind, tags: None, deprecated: None, location, container_name }
}

/// Returns the notes whose title, id or alias matches a query, best first.
pub(super) fn of_workspace(view: &View<'_>, params: WorkspaceSymbolParams) -> Result<Vec<SymbolInformation>, Error> {
    let mut symbols = Vec::new();
    for note in matching_notes(view, &params.query) {
        let handle = view.handle(note);
        if let Some(location) = view.location(note, 0..0)? {
            symbols.push(symbol_information(
                one_line(handle.title()),
                SymbolKind::FILE,
                location,
                Some(handle.id.to_string()),
            ));
        }
    }
    Ok(symbols)
}
