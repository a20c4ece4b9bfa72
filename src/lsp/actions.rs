//! Code actions: repairs, a section as a note of its own, links to similar notes, and supersession.

use lsp_types::{
    CodeAction, CodeActionContext, CodeActionKind, CodeActionParams, CodeActionTriggerKind, Diagnostic, NumberOrString,
    TextDocumentPositionParams,
};

use super::context_at::{Named, NamedAt, heading_at, named_at};
use super::edits::{TargetStore, workspace_edit};
use super::section_links::MovedHeadings;
use super::view::View;
use crate::commands::{self, plan_changes};
use crate::error::Error;
use crate::escape::abbreviated;
use crate::note::{InlineLink, Note, line_end, rebase_path, relinked, with_spans};
use crate::request::{Action, NewFields, ReadCommand, RelatedRequest};
use crate::store::{Change, NoteIdx};

/// The codes of the findings that `qipu doctor --fix` may repair.
const REPAIRABLE: [&str; 3] = ["code-moved", "frontmatter-broken", "no-id"];

/// The most similar notes to which links are proposed.
const MAX_SIMILAR: usize = 3;

/// Returns what can be done at a position. An action that can't be planned is not offered.
pub(super) fn actions(view: &View<'_>, params: CodeActionParams) -> Result<Option<Vec<CodeAction>>, Error> {
    let at = TextDocumentPositionParams::new(params.text_document, params.range.start);
    let Some(at) = named_at(view, &at)? else { return Ok(None) };
    let context = &params.context;
    let mut actions = Vec::new();
    if wants(context, &CodeActionKind::QUICKFIX) {
        actions.extend(repair(view, at.note, &context.diagnostics)?);
    }
    if wants(context, &CodeActionKind::REFACTOR_EXTRACT) && view.client.can_create_files {
        actions.extend(extract(view, &at).ok().flatten());
    }
    if wants(context, &CodeActionKind::REFACTOR_REWRITE) {
        actions.extend(supersede(view, &at));
        // A client that asks by itself asks at each move of the cursor.
        if context.trigger_kind != Some(CodeActionTriggerKind::AUTOMATIC) {
            actions.extend(links_to_similar(view, at.note));
        }
    }
    Ok(Some(actions))
}

fn wants(context: &CodeActionContext, kind: &CodeActionKind) -> bool {
    let covers = |wanted: &CodeActionKind| {
        let rest = kind.as_str().strip_prefix(wanted.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || wanted.as_str().is_empty())
    };
    context.only.as_ref().is_none_or(|only| only.iter().any(covers))
}

/// Returns an action that makes planned changes of files.
fn action(
    view: &View<'_>,
    title: String,
    kind: CodeActionKind,
    target: &TargetStore<'_>,
    changes: &[Change],
) -> Result<CodeAction, Error> {
    let edit = Some(workspace_edit(view, target.store(), changes)?);
    Ok(CodeAction { title, kind: Some(kind), edit, ..CodeAction::default() })
}

/// Returns the repair of a note that `qipu doctor --fix` would make, if one of the diagnostics can be repaired.
fn repair(view: &View<'_>, note: NoteIdx, diagnostics: &[Diagnostic]) -> Result<Option<CodeAction>, Error> {
    let is_repairable = |diagnostic: &&Diagnostic| match &diagnostic.code {
        Some(NumberOrString::String(code)) => REPAIRABLE.contains(&code.as_str()),
        _ => false,
    };
    let repaired: Vec<Diagnostic> = diagnostics.iter().filter(is_repairable).cloned().collect();
    if repaired.is_empty() {
        return Ok(None);
    }
    let Some(change) = commands::planned_repair(view.store(), note) else { return Ok(None) };
    let target = TargetStore::Whole(view.store());
    let title = "Repair, as qipu doctor --fix does".to_owned();
    let fix = action(view, title, CodeActionKind::QUICKFIX, &target, &[change])?;
    Ok(Some(CodeAction { diagnostics: Some(repaired), is_preferred: Some(true), ..fix }))
}

/// Returns the action that moves the section of a heading to a new note and leaves a link to it; `None` if a link to a
/// heading would lead to another one or to none.
fn extract(view: &View<'_>, at: &NamedAt) -> Result<Option<CodeAction>, Error> {
    let Some((heading, _)) = heading_at(view, at.note, at.offset)? else { return Ok(None) };
    let (handle, parsed) = (view.handle(at.note), view.note(at.note)?);
    let section = parsed.body().get(heading.section.clone()).unwrap_or_default();
    if section.trim().is_empty() || heading.text.is_empty() || !means_the_same(parsed, section, &heading.section) {
        return Ok(None);
    }
    let target = TargetStore::of(view, at.note)?;
    let kind = Some(handle.list_fields().kind.to_owned()).filter(|_| !handle.flags.is_moc && !handle.flags.is_journal);
    let fields = NewFields {
        kind,
        title: Some(heading.text.clone()),
        body: Some(section.trim().to_owned()),
        ..NewFields::default()
    };
    let create = Action::Create { fields, is_generated: false, is_opened: false, supersedes: Vec::new(), from: None };
    let request = view.settings.change(create)?;
    let planned = plan_changes(target.store(), &request, view.settings.agent.as_ref())?;
    let Some(Change::Create { path, new }) = planned.into_iter().next() else { return Ok(None) };
    let new_note = target.store().parse_at(&path, &String::from_utf8_lossy(&new));
    let moved = MovedHeadings::new(parsed, &heading.section);
    // Paths in the section are relative to the folder of its note, and headings without a note are those of its note.
    let rebased = |link: &InlineLink| match link {
        // One from the root leads to the same file from everywhere.
        InlineLink::Path(link) if link.starts_with('/') => None,
        InlineLink::Path(link) => Some(rebase_path(&path, handle.local_path(), link)).filter(|new| new != link),
        InlineLink::Wiki(_) => moved.heading_left(link).map(|heading| format!("{}#{heading}", handle.id.local())),
    };
    let new_parsed = new_note.parsed()?;
    let body = relinked(new_parsed.body(), rebased).map_err(Error::failure)?;
    let front = new_parsed.text().get(..new_parsed.body_range().start).unwrap_or_default();
    let created = Change::Create { new: format!("{front}{body}").into_bytes(), path: path.clone() };
    let end = line_end(parsed.text());
    let start = parsed.body_range().start;
    let rest = if start + heading.section.end < parsed.text().len() { end } else { "" };
    let link = format!("{end}[[{}]]{end}{rest}", new_note.id);
    let section_range = heading.section.start + start..heading.section.end + start;
    let shortened = with_spans(parsed.text(), vec![(section_range, link)]).map_err(Error::failure)?;
    let path = handle.local_path().to_owned();
    let rest = target.store().parse_at(&path, &shortened);
    if !moved.keep_their_links(view, at.note, rest.parsed()?, new_parsed)? {
        return Ok(None);
    }
    let replaced = Change::Replace { path, old: parsed.text().into(), new: shortened.into_bytes() };
    let title = format!("Extract the section “{}” to a new note", abbreviated(&heading.text));
    action(view, title, CodeActionKind::REFACTOR_EXTRACT, &target, &[created, replaced]).map(Some)
}

/// Whether the links of a section are the same without the rest of its note, whose definitions they may use.
fn means_the_same(note: &Note, section: &str, range: &std::ops::Range<usize>) -> bool {
    let is_inside = |span: &std::ops::Range<usize>| range.start <= span.start && span.end <= range.end;
    let inside = note.located_links().into_iter().filter(|link| is_inside(&link.range)).map(|link| link.link);
    let alone = Note::parse_as(note.dialect(), &note.path, section.as_bytes().to_vec());
    inside.eq(alone.located_links().into_iter().map(|link| link.link))
}

/// Returns the action that marks the note of a link as superseded by this one.
fn supersede(view: &View<'_>, at: &NamedAt) -> Option<CodeAction> {
    let Some(Named::Link(link)) = &at.named else { return None };
    let (old, new) = (view.handle(link.to.filter(|to| *to != at.note)?), view.handle(at.note));
    let (old_id, new_id) = (old.id.local().to_owned(), new.id.local().to_owned());
    if old.collection_ordinal() != new.collection_ordinal() {
        return None;
    }
    let title = format!("Mark “{}” as superseded by this note", abbreviated(old.title()));
    planned(view, at.note, title, Action::Supersede { old: vec![old_id], new: new_id })
}

/// Returns the actions that link a note to those that `qipu search --like` lists.
fn links_to_similar(view: &View<'_>, note: NoteIdx) -> Vec<CodeAction> {
    let id = view.handle(note).id.to_string();
    let request = RelatedRequest { id: id.clone(), limit: Some(MAX_SIMILAR), ..RelatedRequest::default() };
    // A note that was never saved is not known there.
    let Ok(mut report) = (view.run_saved)(&ReadCommand::Related(request)) else { return Vec::new() };
    let link = |other: &crate::store::NoteHandle| {
        let title = format!("Link to “{}”", abbreviated(other.title()));
        let (from, to) = (view.handle(note).id.local().to_owned(), other.id.to_string());
        let add = Action::AddLink { from, to: vec![to], kind: None, is_generated: false };
        planned(view, note, title, add)
    };
    report.note_entries_mut().filter_map(|entry| link(&entry.note)).collect()
}

/// Returns the action that makes the changes of an action of the command line; `None` if it refuses or changes nothing.
fn planned(view: &View<'_>, note: NoteIdx, title: String, change: Action) -> Option<CodeAction> {
    let target = TargetStore::of(view, note).ok()?;
    let request = view.settings.change(change).ok()?;
    let changes = plan_changes(target.store(), &request, view.settings.agent.as_ref()).ok()?;
    let made = || action(view, title, CodeActionKind::REFACTOR_REWRITE, &target, &changes).ok();
    if changes.is_empty() { None } else { made() }
}
