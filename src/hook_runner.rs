//! The frontend of `qipu hook`: answers a hook of an agent tool, and records what the session was shown. Nothing that goes
//! wrong may break the session: it is a warning on standard error, and the answer is empty.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::commands::{self, SessionDirs};
use crate::env::Env;
use crate::error::Error;
use crate::fit::{self, ShownText};
use crate::hooks::{self, HookAnswer, HookCall, SessionContext};
use crate::note::is_project_path;
use crate::report::{Entry, Report};
use crate::request::{HookRequest, PrimeRequest, ShownInSession};
use crate::store::{
    FileTree, Location, SessionRecord, ShownNotes, ShownRecord, find_root, project_root, shows_receipts,
};
use crate::warnings;

/// The number of files edited last that are not recorded again.
const RECENTLY_EDITED: usize = 3;

/// The most characters of an answer with a commit that no one asked for: about 400 of its message, and the frame.
const MAX_COMMIT_CHARS: usize = 650;

/// A record and what it held.
type ReadRecord = (ShownRecord, SessionRecord);

/// Answers a hook and writes the answer, if there is one.
///
/// # Errors
/// If the input is not that of a hook, the store can't be read, the answer has no room or can't be written.
pub(crate) fn run(request: &HookRequest, location: &Location, env: &Env, out: &mut dyn Write) -> Result<(), Error> {
    let Some(call) = hooks::parse(request)? else { return Ok(()) };
    if let Some(problem) = &call.problem {
        warnings::add(problem.clone());
    }
    let dirs = SessionDirs { given: call.dirs.clone(), edited: call.edited_dirs.clone(), ..SessionDirs::of_env(env) };
    let record = read_record(&request.shown, &call, env);
    if let Some((record, lines)) = &record {
        begin_context(call.context, record, lines);
    }
    let mut write = |text: &str| out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match &call.answer {
        // The reminder names a command that fails without a store.
        HookAnswer::Text(text) => {
            if commands::has_store_in_hook(location, dirs)? {
                write(&whole_text(&commands::hook_text(text), &call)?)?;
            }
        }
        HookAnswer::Primer(request) => {
            let request = with_notes_of_session(request, record.as_ref());
            if let Some((report, _)) = commands::prime_in_hook(request, location, dirs)? {
                write(&whole_text(&report, &call)?)?;
            }
        }
        HookAnswer::Notes(notes) => {
            let found = commands::notes_in_hook((**notes).clone(), location, dirs)?;
            let Some((report, dir)) = found else { return Ok(()) };
            add_edited_files(record.as_ref(), &call, &dir, env);
            if report.entries.iter().any(|entry| matches!(entry, Entry::Text(_))) {
                return Ok(write(&whole_text(&report, &call)?)?);
            }
            let is_seen =
                |(note, text): &ShownText| record.as_ref().is_some_and(|(_, lines)| lines.has_part(note, text));
            let shows_receipts = shows_receipts(location.settings.as_deref());
            let format = if shows_receipts { call.format } else { call.format_without_receipt() };
            let is_commit = |entry: &Entry| entry.note().is_some_and(|entry| entry.note.is_commit());
            let has_commit = report.entries.iter().any(is_commit);
            let budget = if has_commit { call.budget.at_most(MAX_COMMIT_CHARS) } else { call.budget };
            let unseen = fit::fit_unseen(&report, budget, format, &is_seen)?;
            let Some((text, parts)) = unseen else { return Ok(()) };
            write(&text)?;
            if matches!(request.shown, ShownInSession::InCache) {
                add_to_shown_notes(&parts, location, &dir, env);
            }
            add_to_record(record, &parts, env);
        }
    }
    Ok(())
}

/// Returns a report as a text that is not recorded.
fn whole_text(report: &Report, call: &HookCall) -> Result<String, Error> {
    fit::fit(report, call.budget, call.format, crate::Screen::default())
}

/// Reads the record of a session; `None` if nothing is recorded, or if the file is no record, which is then left alone.
fn read_record(shown: &ShownInSession, call: &HookCall, env: &Env) -> Option<ReadRecord> {
    let record = match shown {
        ShownInSession::InCache => ShownRecord::of_session(env.cache_dir.as_deref()?, call.session.as_deref()?),
        ShownInSession::In(file) => ShownRecord::in_file(env.current_dir.join(file)),
        ShownInSession::Nowhere => return None,
    };
    match record.read() {
        Ok(seen) => Some((record, seen)),
        Err(error) => {
            warnings::add(format!("{error:#}"));
            None
        }
    }
}

/// Removes from a record what is no longer in the context of the session. A record that can't be written can't be read, or is
/// read again: nothing else is lost.
fn begin_context(context: SessionContext, record: &ShownRecord, lines: &SessionRecord) {
    match context {
        SessionContext::Kept => {}
        SessionContext::New => record.clear(),
        SessionContext::Compacted => record.compact(lines).unwrap_or_else(|error| warnings::add(format!("{error:#}"))),
    }
}

/// Returns a request with the notes of the session, which a brief names.
fn with_notes_of_session(request: &PrimeRequest, record: Option<&ReadRecord>) -> PrimeRequest {
    let Some((_, lines)) = record.filter(|_| request.is_brief) else { return request.clone() };
    PrimeRequest { saved: lines.saved.clone(), shown: lines.shown.clone(), ..request.clone() }
}

/// Records the files of the project that are about to be edited, from which `capture` takes what a note is about.
fn add_edited_files(record: Option<&ReadRecord>, call: &HookCall, dir: &Path, env: &Env) {
    let Some((record, lines)) = record else { return };
    let root = project_root(&FileTree::default(), dir);
    let known = lines.edited_in(&root);
    let in_project = |file: &PathBuf| Some(file.strip_prefix(&root).ok()?.to_str()?.replace('\\', "/"));
    let files = call.edited_files.iter().filter_map(in_project).filter(|file| is_project_path(file));
    // An agent changes a few files in turn: the order of these says little, and the record is bounded.
    let files: Vec<String> =
        files.filter(|file| !known.iter().take(RECENTLY_EDITED).any(|known| known == file)).collect();
    if files.is_empty() {
        return;
    }
    if let Err(error) = record.add_edited(&root, &files, env.now.as_second()) {
        warnings::add(format!("{error:#}"));
    }
}

/// Records parts that were shown. A session without a record is shown them again.
fn add_to_record(record: Option<ReadRecord>, parts: &[ShownText], env: &Env) {
    let Some((record, _)) = record else { return };
    if let Err(error) = record.add_parts(parts, env.now.as_second()) {
        warnings::add(format!("{error:#}"));
    }
}

/// Records which notes were shown in any session. Without that, `review` does not say which never were.
fn add_to_shown_notes(parts: &[ShownText], location: &Location, current_dir: &Path, env: &Env) {
    let (Some(cache), Ok(root)) = (&env.cache_dir, find_root(location, current_dir)) else { return };
    if let Err(error) = ShownNotes::of_store(cache, &root).add(parts.iter().map(|(note, _)| note.as_str())) {
        warnings::add(format!("{error:#}"));
    }
}
