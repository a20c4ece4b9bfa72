//! The notes whose names match what was typed.

use std::cmp::Reverse;

use lsp_types::CompletionItemKind;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::{CompletionCandidate, MAX_ITEMS, ends_no_link};
use crate::lsp::view::View;
use crate::note::Dialect;
use crate::store::{NoteHandle, NoteIdx};

/// The most bytes of a name that are matched.
const MAX_NAME: usize = 400;

/// Which name of a note matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NameKind {
    Title,
    Id,
    Alias,
}

/// A name that matches, and how well.
struct ScoredName<'s> {
    score: u32,
    note: NoteIdx,
    kind: NameKind,
    name: &'s str,
}

/// Returns the names of notes for a link, best first, and whether there are more.
pub(super) fn names_for_link(
    view: &View<'_>,
    from: NoteIdx,
    typed: &str,
    is_closed: bool,
) -> (Vec<CompletionCandidate>, bool) {
    let end = if is_closed { "" } else { "]]" };
    let (matches, has_more) = matches(view, typed, &[NameKind::Title, NameKind::Id, NameKind::Alias]);
    let candidate = |found: ScoredName<'_>| {
        let target = link_target(view, from, &found)?;
        let note = view.handle(found.note);
        let detail = match found.kind {
            NameKind::Title => note.id.to_string(),
            NameKind::Id => note.title().to_owned(),
            NameKind::Alias => format!("{} {}", note.id, note.title()),
        };
        Some(CompletionCandidate {
            label: found.name.to_owned(),
            new_text: format!("{target}{end}"),
            detail: Some(format!("{detail} · {}", note.list_fields().kind)),
            kind: CompletionItemKind::FILE,
        })
    };
    (matches.into_iter().filter_map(candidate).collect(), has_more)
}

/// Returns the ids of notes whose id or title matches, best first, and whether there are more.
pub(super) fn ids(view: &View<'_>, from: NoteIdx, typed: &str) -> (Vec<CompletionCandidate>, bool) {
    let (matches, has_more) = matches(view, typed, &[NameKind::Id, NameKind::Title]);
    let candidate = |found: ScoredName<'_>| {
        let note = view.handle(found.note);
        Some(CompletionCandidate {
            label: if found.kind == NameKind::Id { note.id.to_string() } else { note.title().to_owned() },
            new_text: id_target(view, from, found.note)?,
            detail: Some(if found.kind == NameKind::Id { note.title().to_owned() } else { note.id.to_string() }),
            kind: CompletionItemKind::REFERENCE,
        })
    };
    (matches.into_iter().filter_map(candidate).collect(), has_more)
}

/// Returns the notes with a name that matches, each once, best first.
pub(in crate::lsp) fn matching_notes(view: &View<'_>, typed: &str) -> Vec<NoteIdx> {
    let (matches, _) = matches(view, typed, &[NameKind::Title, NameKind::Id, NameKind::Alias]);
    let mut notes: Vec<NoteIdx> = Vec::new();
    for found in matches {
        if !notes.contains(&found.note) {
            notes.push(found.note);
        }
    }
    notes
}

/// Returns the best matches, and whether there are more. Without a text, each note has one: its first kind of name.
fn matches<'s>(view: &View<'s>, typed: &str, kinds: &[NameKind]) -> (Vec<ScoredName<'s>>, bool) {
    let pattern = Pattern::parse(typed.trim(), CaseMatching::Ignore, Normalization::Smart);
    let mut config = Config::DEFAULT;
    config.prefer_prefix = true;
    let (mut matcher, mut buffer) = (Matcher::new(config), Vec::new());
    let mut score = |name: &str| {
        let name = name.get(..name.floor_char_boundary(MAX_NAME)).unwrap_or(name);
        pattern.score(Utf32Str::new(name, &mut buffer), &mut matcher)
    };
    let shown_kinds = if pattern.atoms.is_empty() { kinds.get(..1).unwrap_or_default() } else { kinds };
    let mut found = Vec::new();
    for (note, handle) in NoteIdx::enumerate(view.store().notes()) {
        for kind in shown_kinds {
            let names = names_of(handle, *kind).into_iter();
            let scored = names.filter_map(|name| Some(ScoredName { score: score(name)?, note, kind: *kind, name }));
            found.extend(scored);
        }
    }
    let rank = |found: &ScoredName<'_>| {
        let value = view.handle(found.note).value_or_default();
        (Reverse(found.score), Reverse(value), found.note, found.kind)
    };
    let has_more = found.len() > MAX_ITEMS;
    if has_more {
        found.select_nth_unstable_by_key(MAX_ITEMS, rank);
        found.truncate(MAX_ITEMS);
    }
    found.sort_by_key(rank);
    (found, has_more)
}

fn names_of(note: &NoteHandle, kind: NameKind) -> Vec<&str> {
    match kind {
        NameKind::Title => vec![note.title()],
        NameKind::Id => vec![note.id.as_str()],
        NameKind::Alias => note.aliases(),
    }
}

/// Returns the target with which a link leads to a note: the name itself, or the id if the name means another note or would
/// end the link. In a vault of Obsidian, the name of the file.
fn link_target(view: &View<'_>, from: NoteIdx, found: &ScoredName<'_>) -> Option<String> {
    let note = view.handle(found.note);
    let name = match note.dialect() {
        Dialect::Obsidian if found.kind == NameKind::Title => note.stem(),
        _ => found.name,
    };
    let leads_there = || view.names().resolve_from(from, name) == Some(found.note);
    if ends_no_link(name) && leads_there() {
        return Some(name.to_owned());
    }
    id_target(view, from, found.note)
}

/// Returns the id that leads to a note, behind the name of its collection if that is needed; `None` if none does.
fn id_target(view: &View<'_>, from: NoteIdx, to: NoteIdx) -> Option<String> {
    let note = view.handle(to);
    let qualified = note.id.qualified(note.collection_name());
    let mut ids = [note.id.local(), qualified.as_str()].into_iter();
    ids.find(|id| view.names().resolve_from(from, id) == Some(to)).map(str::to_owned)
}
