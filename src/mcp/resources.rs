//! The resources: each note as a markdown text at `qipu://ID`.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rmcp::model::ResourceTemplate;
use serde_json::{Value, json};

use crate::commands;
use crate::context::Session;
use crate::error::{Error, ErrorKind};
use crate::escape::{one_line, shortened};
use crate::fit;
use crate::note::NoteId;
use crate::render::Screen;
use crate::request::{Budget, Format, ReadCommand, ShowRequest};
use crate::store::{NoteHandle, NoteIdx, Store};

const SCHEME: &str = "qipu://";
const MARKDOWN: &str = "text/markdown";

/// The most notes in one list. Clients ask for the next ones with its cursor.
const PAGE_NOTES: usize = 100;
/// The most characters of a title and of a description in a list.
const MAX_LISTED_CHARS: usize = 160;
/// The most characters of the text of a note.
const MAX_TEXT_CHARS: usize = 100_000;

/// Returns the template of the addresses of notes.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{SCHEME}{{id}}"), "note")
        .with_title("A note")
        .with_description("A note of this project by its id")
        .with_mime_type(MARKDOWN)
}

/// Returns the id in the address of a note; `None` for another address.
pub(super) fn id_in(uri: &str) -> Option<NoteId> {
    let id = uri.strip_prefix(SCHEME)?;
    // Some clients normalise addresses.
    NoteId::parse_qualified(id.strip_suffix('/').unwrap_or(id))
}

/// Returns the cursor behind a note.
fn cursor(last: &NoteId) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(last.as_str())
}

/// Returns the note before a cursor.
///
/// # Errors
/// `Usage` if it is not a cursor of [`list`].
pub(super) fn note_before(cursor: &str) -> Result<NoteId, Error> {
    let id = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|id| String::from_utf8(id).ok());
    id.and_then(|id| NoteId::parse_qualified(&id)).ok_or_else(|| Error::usage("the cursor is invalid"))
}

/// Lists up to [`PAGE_NOTES`] notes by id, those behind `after`, or from the first, without hidden drafts.
pub(super) fn list(store: &Store, after: Option<&NoteId>) -> Value {
    let notes = store.notes();
    let start = after.map_or(0, |after| store.position_behind(after).index());
    let shown = NoteIdx::enumerate(notes).filter(|(position, _)| !store.is_hidden_draft(*position));
    let mut shown = shown.skip_while(|(position, _)| position.index() < start).map(|(_, note)| note);
    let page: Vec<_> = shown.by_ref().take(PAGE_NOTES).collect();
    let mut result = json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
    result["resources"] = page.iter().map(|note| resource(store, note)).collect();
    if let Some(last) = page.last().filter(|_| shown.next().is_some()) {
        result["nextCursor"] = cursor(&last.id).into();
    }
    result
}

fn resource(store: &Store, note: &NoteHandle) -> Value {
    let mark = if store.marks_as_draft(note) { " [draft]" } else { "" };
    let title = shortened(&one_line(note.title()), MAX_LISTED_CHARS) + mark;
    let uri = format!("{SCHEME}{}", note.id);
    let mut resource = json!({"uri": uri, "name": title, "title": title, "mimeType": MARKDOWN});
    let summary = note.summary().map(|summary| shortened(&one_line(&summary), MAX_LISTED_CHARS));
    if let Some(summary) = summary.filter(|summary| !summary.is_empty()) {
        resource["description"] = summary.into();
    }
    if let Some(changed) = note.list_fields().changed() {
        resource["annotations"] = json!({"lastModified": changed.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()});
    }
    resource
}

/// Reads a note, from the banner on, cut like every answer if it is too long.
///
/// # Errors
/// `NoNote` if no note has the id.
pub(super) fn read(id: &NoteId, session: &Session<'_>) -> Result<Value, Error> {
    if session.store.position(id).is_none() {
        return Err(Error::new(ErrorKind::NoNote, "Resource not found"));
    }
    let show = ShowRequest { ids: vec![id.to_string()], with_links: false, is_raw: false };
    let mut report = commands::run_at(&ReadCommand::Show(show), session)?;
    report.head.banner = Some(true);
    let budget = Budget { max_chars: Some(MAX_TEXT_CHARS), ..Budget::default() };
    let text = fit::fit(&report, budget, Format::Human, Screen::default())?;
    let content = json!({"uri": format!("{SCHEME}{id}"), "mimeType": MARKDOWN, "text": text});
    Ok(json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "contents": [content]}))
}
