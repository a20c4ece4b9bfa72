//! Completion of links, headings, tags, types and the keys of frontmatter.

mod cursor;
mod names;

use std::collections::BTreeSet;
use std::ops::Range;

use lsp_types::{CompletionItem, CompletionItemKind, CompletionList, CompletionParams, CompletionTextEdit, TextEdit};

use super::links::LINK_SIGNS;
use super::view::View;
use crate::commands::tag_counts;
use crate::error::Error;
use crate::escape::one_line;
use crate::note::{Dialect, Heading, NOTE_KINDS, Status, heading_fragments};
use crate::report::counted;
use crate::store::NoteIdx;
use cursor::{Cursor, Wanted};
pub(super) use names::matching_notes;

/// The most items of an answer: a client asks again with more letters.
const MAX_ITEMS: usize = 100;

/// The fields of a note, as specs/reference/notes-and-links.md and specs/reference/purpose-and-trust.md have them.
const KEYS: [&str; 23] = [
    "aliases", "author", "code", "compacts", "confidence", "created", "custom", "date", "id", "links", "sources",
    "stale_after", "status", "subject", "summary", "tags", "title", "trust", "type", "updated", "valid_until", "value",
    "verified",
];

/// An item before it has a place: what is shown, what is inserted, and what is said of it.
struct CompletionCandidate {
    label: String,
    new_text: String,
    detail: Option<String>,
    kind: CompletionItemKind,
}

impl CompletionCandidate {
    fn plain(text: impl Into<String>, kind: CompletionItemKind) -> Self {
        let text = text.into();
        Self { label: text.clone(), new_text: text, detail: None, kind }
    }

    fn value(text: &str) -> Self {
        Self::plain(text, CompletionItemKind::ENUM_MEMBER)
    }
}

/// Returns what can stand at a position.
pub(super) fn complete(view: &View<'_>, params: CompletionParams) -> Result<Option<CompletionList>, Error> {
    let Some((note, offset)) = view.offset(&params.text_document_position)? else { return Ok(None) };
    let text = view.note(note)?.text();
    let has_inline_tags = matches!(view.handle(note).dialect(), Dialect::Obsidian | Dialect::Logseq);
    let Some(Cursor { wanted, typed, replaced }) = cursor::read(text, offset, has_inline_tags) else { return Ok(None) };
    let typed = text.get(typed).unwrap_or_default();
    let (candidates, is_incomplete) = match &wanted {
        Wanted::Link { is_closed } => names::names_for_link(view, note, typed, *is_closed),
        Wanted::Id => names::ids(view, note, typed),
        Wanted::Heading { name, is_closed } => (headings(view, note, name, *is_closed)?, false),
        Wanted::Tag => (tags(view, typed), false),
        Wanted::Kind => (kinds(view), false),
        Wanted::LinkType => (view.store().config.link_types.names().map(CompletionCandidate::value).collect(), false),
        Wanted::Status => (Status::ALL.map(|status| CompletionCandidate::value(status.name())).into(), false),
        Wanted::Key => (keys(text), false),
    };
    let range = view.lines(text).range(replaced);
    let items = candidates.into_iter().enumerate().map(|(rank, candidate)| item(candidate, rank, range)).collect();
    Ok(Some(CompletionList { is_incomplete, items }))
}

fn item(candidate: CompletionCandidate, rank: usize, range: lsp_types::Range) -> CompletionItem {
    CompletionItem {
        filter_text: Some(one_line(&candidate.label)),
        label: one_line(&candidate.label),
        kind: Some(candidate.kind),
        detail: candidate.detail.map(|detail| one_line(&detail)),
        sort_text: Some(format!("{rank:04}")),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text: candidate.new_text })),
        ..CompletionItem::default()
    }
}

/// Returns the headings of the note that a link names; without a name, of the note itself. One whose text would end the link
/// or leads to another heading is named by its anchor, and left out if that leads to another one too.
fn headings(view: &View<'_>, note: NoteIdx, name: &str, is_closed: bool) -> Result<Vec<CompletionCandidate>, Error> {
    let named = if name.trim().is_empty() { Some(note) } else { view.names().resolve_from(note, name) };
    let Some(to) = named else { return Ok(Vec::new()) };
    let headings = view.note(to)?.headings();
    let targets = heading_fragments(&headings, ends_no_link);
    let end = if is_closed { "" } else { "]]" };
    let candidate = |(heading, target): (Heading, Option<String>)| {
        Some(CompletionCandidate {
            new_text: format!("{}{end}", target?),
            detail: Some("#".repeat(heading.level)),
            kind: CompletionItemKind::REFERENCE,
            label: heading.text,
        })
    };
    let is_named = |(heading, _): &(Heading, Option<String>)| !heading.text.is_empty();
    Ok(headings.into_iter().zip(targets).filter(is_named).filter_map(candidate).collect())
}

/// Returns the tags in use that contain the typed text, the most frequent first.
fn tags(view: &View<'_>, typed: &str) -> Vec<CompletionCandidate> {
    let lower = typed.to_lowercase();
    // The typed text itself is one of the tags already.
    let is_other = |(tag, count): &(&str, usize)| (*count > 1 || *tag != typed) && is_plain_scalar(tag);
    let mut counts: Vec<(&str, usize)> = tag_counts(view.store().notes())
        .into_iter()
        .filter(is_other)
        .filter(|(tag, _)| tag.to_lowercase().contains(&lower))
        .collect();
    counts.sort_by(|(a, a_count), (b, b_count)| b_count.cmp(a_count).then_with(|| a.cmp(b)));
    let candidate = |(tag, count): (&str, usize)| CompletionCandidate {
        detail: Some(counted(count, "note")),
        ..CompletionCandidate::plain(tag, CompletionItemKind::KEYWORD)
    };
    counts.into_iter().take(MAX_ITEMS).map(candidate).collect()
}

/// Returns the types in use, and those that qipu knows.
fn kinds(view: &View<'_>) -> Vec<CompletionCandidate> {
    let used = view.store().notes().iter().map(|note| note.list_fields().kind);
    let all: BTreeSet<&str> = used.chain(NOTE_KINDS).collect();
    let plain = all.into_iter().filter(|kind| is_plain_scalar(kind));
    plain.take(MAX_ITEMS).map(CompletionCandidate::value).collect()
}

/// Returns the keys that the frontmatter does not have yet.
fn keys(text: &str) -> Vec<CompletionCandidate> {
    let front = text.get(cursor::frontmatter(text)).unwrap_or_default();
    let is_new =
        |key: &&str| !front.lines().any(|line| line.strip_prefix(*key).is_some_and(|rest| rest.starts_with(':')));
    let candidate = |key: &str| CompletionCandidate {
        new_text: format!("{key}: "),
        ..CompletionCandidate::plain(key, CompletionItemKind::PROPERTY)
    };
    KEYS.into_iter().filter(is_new).map(candidate).collect()
}

/// Whether a name of an untrusted note is shown as it is and means itself in frontmatter, also inside of brackets.
fn is_plain_scalar(text: &str) -> bool {
    !text.contains(['[', ']', '{', '}', ',', ':', '#', '"', '\'', '&', '*', '!', '|', '>', '%', '@', '`'])
        && !text.is_empty()
        && one_line(text) == text
}

/// Whether a name of an untrusted note is shown as it is and does not end a link in double brackets.
fn ends_no_link(text: &str) -> bool {
    !text.contains(LINK_SIGNS) && one_line(text) == text
}

/// Returns a range of bytes from the begin of a text to its end.
fn span(start: usize, end: usize) -> Range<usize> {
    start..end.max(start)
}
