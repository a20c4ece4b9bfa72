//! Fitting for a reader who has seen parts of notes before: what would be shown is chosen first, then the parts that were
//! seen are left out. Nothing takes their room, so that the same request shows nothing the second time.

use std::collections::BTreeSet;

use super::budget::{OutputLimits, TextSize};
use super::document::DocumentBuilder;
use super::{packed, too_small};
use crate::error::Error;
use crate::render::{self, AnswerTail, EntryText, Renderer, Screen, ShownPart};
use crate::report::{ChosenFragments, NoteEntry, Report};
use crate::request::{Budget, Format};

/// A part of a note that an answer shows: the id of the note, and its text.
pub type ShownText = (String, String);

/// The unseen parts of an entry.
struct UnseenParts {
    entry: usize,
    /// The indices of its fragments; `None` for an entry that is shown as it would be for a new reader.
    fragments: Option<BTreeSet<usize>>,
    texts: Vec<ShownText>,
}

/// Writes the notes of a report in a format within a budget, without the parts for which `is_seen` is true, and with a receipt
/// if the format has one.
/// Returns also the parts that the text shows; `None` if there are none.
///
/// # Errors
/// As [`fit`](super::fit).
pub fn fit_unseen(
    report: &Report,
    budget: Budget,
    format: Format,
    is_seen: &dyn Fn(&ShownText) -> bool,
) -> Result<Option<(String, Vec<ShownText>)>, Error> {
    let renderer = render::renderer(report, format, Screen::default(), budget.tokenizer);
    let failed = |least| too_small(least, budget);
    let document = document_for_new_reader(report, &*renderer, OutputLimits::new(budget)).map_err(failed)?;
    let unseen = document.texts.iter().filter_map(|(entry, text)| unseen_parts(&document, *entry, text, is_seen));
    let unseen: Vec<UnseenParts> = unseen.collect();
    let is_new_reader = unseen.len() == document.texts.len() && unseen.iter().all(|parts| parts.fragments.is_none());
    let (document, shown) = if is_new_reader {
        (document, unseen.into_iter().flat_map(|parts| parts.texts).collect())
    } else {
        without_seen(document, unseen)
    };
    if document.texts.is_empty() {
        return Ok(None);
    }
    let notes = document.texts.iter().filter_map(|(entry, _)| report.entries.get(*entry)?.note());
    let titles: Vec<&str> = notes.map(|entry| entry.note.title()).collect();
    let text = document.finish().map_err(failed)?;
    report.expect_read_notes(0..report.entries.len())?;
    // Notes go first.
    let limits = OutputLimits::new(budget);
    let with_receipt = render::with_receipts(&text, &titles, format).find(|text| limits.has_room(text));
    Ok(Some((with_receipt.unwrap_or(text), shown)))
}

/// Returns the document for a reader who has seen nothing.
fn document_for_new_reader<'a>(
    report: &'a Report,
    renderer: &'a dyn Renderer,
    limits: OutputLimits,
) -> Result<DocumentBuilder<'a>, TextSize> {
    let document = DocumentBuilder::new(report, renderer, limits);
    match document.clone().with_everything() {
        Ok(_) => {
            let mut document = document;
            for entry in 0..report.entries.len() {
                let text = renderer.render(entry, ShownPart::Whole, &document.included);
                document.accept(entry, text);
            }
            document.is_complete = true;
            Ok(document)
        }
        Err(everything) => packed(document, everything),
    }
}

/// Returns the parts of an entry that a reader has not seen; `None` if there are none.
fn unseen_parts(
    document: &DocumentBuilder<'_>,
    entry: usize,
    text: &EntryText,
    is_seen: &dyn Fn(&ShownText) -> bool,
) -> Option<UnseenParts> {
    let note = document.note(entry)?;
    let fragments = note.passages.get().filter(|passages| !passages.fragments.is_empty() && !text.is_cut);
    let Some(passages) = fragments else {
        let items = text.items.iter().map(|item| item.text.as_str());
        let whole = (note.note.id.to_string(), items.collect::<String>());
        return (!is_seen(&whole)).then(|| UnseenParts { entry, fragments: None, texts: vec![whole] });
    };
    let chosen = document.included.fragments.get(&entry);
    let chosen = chosen.map_or_else(|| (0..passages.fragments.len()).collect(), |chosen| chosen.all.clone());
    let part = |index: &usize| (*index, (note.note.id.to_string(), fragment_text(note, *index).to_owned()));
    let unseen: Vec<(usize, ShownText)> = chosen.iter().map(part).filter(|(_, part)| !is_seen(part)).collect();
    let is_changed = unseen.len() < chosen.len();
    let (indices, texts): (BTreeSet<usize>, Vec<ShownText>) = unseen.into_iter().unzip();
    (!indices.is_empty()).then(|| UnseenParts { entry, fragments: is_changed.then_some(indices), texts })
}

/// Returns the text of a fragment of a note that is shown in passages; empty for an unknown one.
fn fragment_text(entry: &NoteEntry, index: usize) -> &str {
    let fragment = entry.passages.get().and_then(|passages| passages.fragments.get(index));
    fragment.map(|fragment| fragment.text(entry.note.parsed_or_empty().body())).unwrap_or_default()
}

/// Returns a document with the unseen parts of another one, as far as they fit, and these parts: behind a gap, the
/// lines of a passage need more room.
fn without_seen<'a>(document: DocumentBuilder<'a>, unseen: Vec<UnseenParts>) -> (DocumentBuilder<'a>, Vec<ShownText>) {
    let mut rest = DocumentBuilder::new(document.report, document.renderer, document.limits);
    rest.is_brief = document.is_brief;
    let mut shown = Vec::new();
    for parts in unseen {
        let text = match parts.fragments {
            None => document.texts.iter().find(|(entry, _)| *entry == parts.entry).map(|(_, text)| text.clone()),
            Some(fragments) => {
                let part = document.included.fragments.get(&parts.entry).and_then(|chosen| chosen.part.clone());
                let part = part.filter(|(index, _)| fragments.contains(index));
                rest.included.fragments.insert(parts.entry, ChosenFragments { all: fragments, part });
                Some(rest.renderer.render(parts.entry, ShownPart::Passages(1.0), &rest.included))
            }
        };
        let has_room =
            |text: &EntryText| rest.has_room(rest.truncated_state(rest.notes + 1), Some((parts.entry, text)));
        if let Some(text) = text.filter(has_room) {
            rest.accept(parts.entry, text);
            shown.extend(parts.texts);
        }
    }
    // It fits beside everything, but may not beside the other lines of less.
    rest.tail = document.tail.clone();
    if !rest.has_room(rest.frame_state(true), None) {
        rest.tail = AnswerTail::default();
    }
    (rest, shown)
}
