//! What is known of a note, when the cursor rests on its name.
//!
//! Notes are untrusted, and clients follow links of markdown, some of them to commands: the text is plain, and escaped.

use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

use super::context_at::{Named, named_at};
use super::navigation::linking_notes;
use super::view::View;
use crate::commands;
use crate::context::assess_note;
use crate::error::Error;
use crate::escape::{escape_lines, one_line, shortened};
use crate::report::counted;
use crate::request::{ReadCommand, ShowRequest};
use crate::store::NoteIdx;

/// The most characters of a summary, and the most notes that are named for one reason.
const MAX_SUMMARY: usize = 600;
const MAX_NAMED: usize = 5;

/// Describes the note that a link leads to, or the note itself on its title.
pub(super) fn hover(view: &View<'_>, params: HoverParams) -> Result<Option<Hover>, Error> {
    let Some(at) = named_at(view, &params.text_document_position_params)? else { return Ok(None) };
    let (note, range) = match at.named {
        Some(Named::Link(link)) => match link.to {
            Some(to) => (to, link.range),
            None => return Ok(None),
        },
        Some(Named::Title(range)) => (at.note, range),
        Some(Named::Heading(heading, range)) if heading.level == 1 => (at.note, range),
        _ => return Ok(None),
    };
    let range = view.lines(view.note(at.note)?.text()).range(range);
    let value = description(view, note)?;
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::PlainText, value });
    Ok(Some(Hover { contents, range: Some(range) }))
}

/// Describes a note: title, id, type and tags; summary; whether it holds; confidence; contradictions; links to it.
fn description(view: &View<'_>, note: NoteIdx) -> Result<String, Error> {
    let handle = view.handle(note);
    let mut name = format!("{} · {}", handle.id, one_line(handle.list_fields().kind));
    handle.tags().iter().for_each(|tag| name.push_str(&format!(" #{}", one_line(tag))));
    let mut lines = vec![one_line(handle.title()), name];
    if let Some(summary) = handle.summary() {
        lines.extend([String::new(), shortened(&escape_lines(&summary), MAX_SUMMARY)]);
    }
    lines.push(String::new());
    lines.extend(state(view, note)?);
    let (assessment, opponents) = assess_note(&view.session, note, view.store().today.day())?;
    let (confidence, trust) = (assessment.confidence, assessment.trust);
    let (label, basis) = (confidence.label(), assessment.trust_basis.name());
    lines.push(format!("confidence: {:.2} ({label}) · trust: {trust:.2} ({basis})", confidence.overall));
    for other in opponents.iter().take(MAX_NAMED) {
        let other = view.handle(*other);
        lines.push(format!("contradicts: {} · {}", other.id, one_line(other.title())));
    }
    let more = opponents.len().saturating_sub(MAX_NAMED);
    lines.extend((more > 0).then(|| format!("and {}", counted(more, "other contradiction"))));
    lines.push(counted(linking_notes(view, note).len(), "backlink"));
    Ok(lines.join("\n"))
}

/// Returns whether the note holds, as `qipu show` says it; `None` for a note like any other.
fn state(view: &View<'_>, note: NoteIdx) -> Result<Option<String>, Error> {
    let request = ShowRequest { ids: vec![view.handle(note).id.to_string()], with_links: false, is_raw: false };
    let mut report = commands::run_at(&ReadCommand::Show(request), &view.session)?;
    Ok(report.note_entries_mut().next().and_then(|entry| entry.state_in_words()))
}
