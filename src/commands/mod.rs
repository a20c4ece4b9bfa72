//! The commands: one file each, from a request and a store to a report. They print nothing and know neither formats nor
//! budgets.

mod change;
mod code_findings;
mod collections;
mod commit_before_edit;
mod context;
mod diff;
mod doctor;
mod dump;
mod export;
mod history;
mod hook;
mod init;
mod link;
mod list;
mod load;
mod man_pages;
mod merge_driver;
mod note_changes;
mod prime;
mod review;
mod search;
mod secrets;
mod setup;
mod show;
mod status;
mod tasks;
mod unknown_names;

use std::path::Path;

pub use change::{CLAIMS, edit as run_edit, plan_changes, run as run_change};
pub use doctor::{editor_diagnostics, planned_repair};
pub use export::saved_file;
pub use hook::{HOOK_TIMEOUT, SessionDirs, has_store_in_hook};
pub(crate) use hook::{find_notes, hook_text, notes_in_hook, prime_in_hook};
pub(crate) use status::tag_counts;

use crate::context::Session;
use crate::env::Env;
use crate::error::Error;
use crate::graph::{Compactions, Replacements};
use crate::note::{NoteId, Status};
use crate::report::{Body, DiagnosticEntry, EntryRole, Layout, NoteEntry, Report, ReportHead, RowValue, ShownFields};
use crate::request::{MentionTarget, PrimeRequest, ReadCommand, WriteCommand};
use crate::search::{TextIndexer, asks_when};
use crate::store::{
    self, COMMITS, CodeTarget, CollectionScope, Config, Dependence, IndexBuilderFactory, Location, Lock, NoteHandle,
    NoteIdx, Planned, Store, TextIndexBuilder, is_commit,
};

/// Runs a command that reads a store. `None` for one without an answer, such as the primer of a hook in a project without a
/// store.
///
/// # Errors
/// The failure of the command.
pub fn run_read(command: &ReadCommand, location: &Location, env: &Env) -> Result<Option<Report>, Error> {
    let current_dir = &env.current_dir;
    match command {
        // In a hook, this thread only waits for the one that works.
        ReadCommand::Prime(request) if request.is_hook => {
            Ok(prime_in_hook(request.clone(), location, SessionDirs::of_env(env))?.map(|(report, _)| report))
        }
        ReadCommand::Prime(request) => {
            env.join_thread_pool();
            run_prime(request, location, current_dir).map(Some)
        }
        ReadCommand::Review(request) if request.is_fix => review::run_fix(request, location, env).map(Some),
        _ => {
            env.join_thread_pool();
            let location = &with_history(command, location, current_dir);
            let store =
                Store::open_with(location, current_dir, reads_text_index(command).then_some(text_index_builder))?;
            answer_with_retry(store, location, current_dir, |store| run_on(command, store))?.map(Some)
        }
    }
}

/// Runs a command that changes files or opens stores by itself. `None` for one without an answer.
///
/// # Errors
/// The failure of the command.
pub fn run_write(command: &WriteCommand, location: &Location, env: &Env) -> Result<Option<Report>, Error> {
    let current_dir = &env.current_dir;
    let report = match command {
        WriteCommand::Setup(request) => setup::run(request, location, env),
        WriteCommand::Init(request) => init::run(request, location, env),
        WriteCommand::Change(request) => change::run(request, location, env),
        WriteCommand::Edit { id, now } => change::edit(id, now, location, env),
        WriteCommand::Doctor(request) if request.is_fix => doctor::run_fix(request, location, env),
        WriteCommand::Doctor(request) => {
            env.join_thread_pool();
            doctor::run(request, location, current_dir)
        }
        WriteCommand::Diff(request) => diff::run(request, location, current_dir),
        WriteCommand::MergeDriver(request) => return merge_driver::run(request, current_dir).map(|()| None),
        WriteCommand::Pages(request) => man_pages::run(request, current_dir),
        WriteCommand::Dump(request) => dump::run(request, location, current_dir),
        WriteCommand::Load(request) => load::run(request, location, env),
    };
    report.map(Some)
}

/// Returns the location of a command that may read the commits of the repository, too: all of them if it answers a question or
/// shows what is named, those of a piece of code if it asks about that.
pub fn with_history(command: &ReadCommand, location: &Location, current_dir: &Path) -> Location {
    let mentions = match command {
        ReadCommand::Context(context) => &context.selection.mentions[..],
        _ => &[],
    };
    let only_commits = (!mentions.is_empty()).then(|| {
        let mut of_code = store::commits_of_code(location, current_dir, &places(mentions));
        of_code.truncate(MAX_COMMITS_READ);
        of_code
    });
    let names_commits = location.names_commits || names_commits(command);
    // No other command reads them, whatever it names.
    let is_asked = question(command).is_some() || self::names_commits(command) || shows_only_commits(command, location);
    let has_some = only_commits.as_ref().is_some_and(|some| !some.is_empty());
    let is_read = if mentions.is_empty() { is_asked } else { has_some || location.asks_for_commits() };
    let scope = if is_read { CollectionScope::History } else { location.scope };
    Location { scope, only_commits, names_commits, ..location.clone() }
}

/// Tells whether a command shows notes that are named, of the commits alone.
fn shows_only_commits(command: &ReadCommand, location: &Location) -> bool {
    let shows = matches!(command, ReadCommand::Show(_) | ReadCommand::Context(_) | ReadCommand::Expand(_));
    shows && location.only.iter().any(|name| name == COMMITS)
}

/// Tells whether a command names a commit.
fn names_commits(command: &ReadCommand) -> bool {
    let names = match command {
        ReadCommand::Context(context) => &context.selection.notes,
        ReadCommand::Show(show) => &show.ids,
        ReadCommand::Expand(expand) => &expand.ids,
        _ => return false,
    };
    names.iter().any(|name| is_commit(name))
}

/// Returns the pieces of code that notes are searched for.
fn places(mentions: &[MentionTarget]) -> Vec<CodeTarget> {
    let place = |mention: &MentionTarget| match mention {
        MentionTarget::File(path) | MentionTarget::Folder(path) | MentionTarget::SymbolOf(path, _) => {
            Some(CodeTarget::Path(path.clone()))
        }
        MentionTarget::Line(path, line) => Some(CodeTarget::Line(path.clone(), *line)),
        MentionTarget::Symbol(_) | MentionTarget::Command(_) => None,
    };
    // A path that may be that of a folder is given twice.
    let mut places: Vec<CodeTarget> = mentions.iter().filter_map(place).collect();
    places.dedup();
    places
}

/// Returns the question that a command answers.
fn question(command: &ReadCommand) -> Option<&str> {
    match command {
        ReadCommand::Context(context) => context.selection.query.as_deref(),
        ReadCommand::Search(search) => Some(&search.query),
        _ => None,
    }
}

/// Tells whether a command searches the text of notes.
fn reads_text_index(command: &ReadCommand) -> bool {
    match command {
        ReadCommand::Context(context) => {
            let selection = &context.selection;
            let has_words = selection.query.is_some() || !selection.mentions.is_empty();
            context.assessment.is_some() || has_words
        }
        ReadCommand::ExportLinks { selection, .. } => selection.query.is_some(),
        ReadCommand::Search(_) | ReadCommand::Related(_) | ReadCommand::Review(_) => true,
        _ => false,
    }
}

/// Opens a store with its text index, for commands that search.
///
/// # Errors
/// As [`Store::open`].
pub fn open_to_search(location: &Location, current_dir: &Path) -> Result<Store, Error> {
    Store::open_with(location, current_dir, Some(text_index_builder))
}

/// Writes a new index of a store of any size, which calls write for large ones when it is out of date.
///
/// # Errors
/// As [`Store::open`]; `Failure` if the index can't be written.
pub fn rebuild_index(location: &Location, current_dir: &Path) -> Result<(), Error> {
    store::rebuild_index(location, current_dir, text_index_builder)
}

/// Returns the builder of a store's text index.
fn text_index_builder(config: &Config) -> Box<dyn TextIndexBuilder> {
    Box::new(TextIndexer::new(config.language))
}

/// Runs a command that reads an open store.
///
/// # Errors
/// The failure of the command.
pub fn run_on(command: &ReadCommand, store: &Store) -> Result<Report, Error> {
    let session = store.leaked_at_exit_with(Session::new(store));
    let report = run_at(command, &session);
    session.end();
    report
}

/// Runs a command that reads the store of an open session.
///
/// # Errors
/// As [`run_on`].
pub fn run_at(command: &ReadCommand, session: &Session<'_>) -> Result<Report, Error> {
    let mut report = report_of(command, session)?;
    mark_state(&mut report, session.store);
    if question(command).is_some_and(asks_when) {
        report.note_entries_mut().for_each(|entry| entry.shows_dates = true);
    }
    Ok(unknown_names::with_unknown_names(report, command, session.store))
}

fn report_of(command: &ReadCommand, session: &Session<'_>) -> Result<Report, Error> {
    let store = session.store;
    match command {
        ReadCommand::Prime(request) => Ok(prime::run(request, session)),
        ReadCommand::Context(request) => context::run(request, session),
        ReadCommand::Expand(request) => context::run_expand(request, session),
        ReadCommand::Link(request) => link::run(request, session),
        ReadCommand::ExportLinks { selection, .. } => export::run(selection, session),
        ReadCommand::List(request) => list::run(request, session),
        ReadCommand::Search(request) => search::run(request, session),
        ReadCommand::Related(request) => search::run_related(request, session),
        ReadCommand::Show(request) => show::run(request, session),
        ReadCommand::Journal(day) => Ok(show::run_journal(*day, store)),
        ReadCommand::Review(request) => review::run(request, session),
        ReadCommand::History(request) => history::run(request, store),
        ReadCommand::Tasks(request) => tasks::run(request, session),
        ReadCommand::Status { only_tags, embeds } => status::run(*only_tags, *embeds, session),
    }
}

fn run_prime(request: &PrimeRequest, location: &Location, current_dir: &Path) -> Result<Report, Error> {
    let store = Store::open(location, current_dir)?;
    answer_with_retry(store, location, current_dir, |store| {
        let mut report = prime::run(request, &Session::new(store));
        mark_state(&mut report, store);
        report
    })
}

/// Plans changes of a store and makes them, unless this is a dry run. Returns the store as it was read, with the lock. If the
/// index turns out to be corrupt, plans again from the files; as the plan is made again if another program saves a note.
fn change_store<T>(
    is_dry_run: bool,
    (location, current_dir): (&Location, &Path),
    builder: Option<IndexBuilderFactory>,
    dependence: Dependence,
    plan: impl Fn(&Store) -> Planned<T>,
) -> Result<(Store, Option<Lock>, T), Error> {
    if is_dry_run {
        let store = Store::open_target(location, current_dir, builder)?;
        let (store, planned) = store.with_corruption_retry(location, current_dir, plan)?;
        return Ok((store, None, planned?.1));
    }
    let (store, lock, report) = Store::change(location, current_dir, builder, dependence, plan)?;
    Ok((store, Some(lock), report))
}

/// Returns the diagnostics of a note.
fn note_findings(store: &Store, note: &NoteHandle) -> impl Iterator<Item = DiagnosticEntry> {
    note.findings().map(|finding| DiagnosticEntry::of_note(store.shown(&note.path), note, finding))
}

/// Returns a warning about a note.
fn note_warning(store: &Store, note: &NoteHandle, code: &'static str, message: String) -> DiagnosticEntry {
    let id = Some(note.id.clone());
    DiagnosticEntry { id, ..DiagnosticEntry::warning(code, store.shown(&note.path), message) }
}

/// Returns the head of a report that shows the fields of notes in full, or none of their text.
fn head(store: &Store, layout: &'static Layout, is_full: bool, matched: usize) -> ReportHead {
    let body = if is_full { Body::default() } else { Body::Hidden };
    let show = ShownFields {
        body,
        has_sources: is_full,
        has_custom: is_full,
        has_revision: is_full,
        ..ShownFields::default()
    };
    ReportHead { show, matched, ..ReportHead::new(layout, Some(&store.shown_path)) }
}

/// The most commits of a piece of code that are read, those with the longest messages.
const MAX_COMMITS_READ: usize = 30;
/// The most replaced notes that an entry names.
const MAX_SUPERSEDED: usize = 8;

/// Marks the notes that no longer hold or are due, and which note replaces which.
fn mark_state(report: &mut Report, store: &Store) {
    report.mark_retired(store.today, store.config.review.marks_drafts());
    if store.has_several_collections() {
        report.note_entries_mut().for_each(|entry| entry.names_collection = true);
    }
    code_findings::mark_changed_code(report, store);
    let successions = Replacements::for_answer(store.notes(), false).successions;
    if successions.is_empty() {
        return;
    }
    let id = |note: NoteIdx| store.notes()[note].id.clone();
    for entry in report.note_entries_mut() {
        let Some(note) = store.position(&entry.note.id) else { continue };
        let superseded_by = successions.is_superseded(note).then(|| id(successions.current(note)));
        let supersedes: Vec<NoteId> = successions.all_replaced(note, MAX_SUPERSEDED).into_iter().map(id).collect();
        if superseded_by.is_some() || !supersedes.is_empty() {
            let state = entry.state_mut();
            (state.superseded_by, state.supersedes) = (superseded_by, supersedes);
        }
    }
}

/// Returns what a row shows of a note that is marked as a draft: the words behind its name, and a field.
fn draft_mark(store: &Store, note: &NoteHandle) -> (&'static str, Option<(&'static str, RowValue)>) {
    draft_words(store.marks_as_draft(note))
}

/// Returns what a row shows of a draft, if it is marked as one.
fn draft_words(is_marked: bool) -> (&'static str, Option<(&'static str, RowValue)>) {
    if is_marked { (" [draft]", Some(("status", RowValue::name(Status::Draft.name())))) } else { ("", None) }
}

/// Returns the entry of the note, with the notes that it replaces if it is a digest.
fn note_entry(store: &Store, digests: &Compactions, position: NoteIdx, role: EntryRole) -> NoteEntry {
    let notes = store.notes();
    let compacted = digests.members(position).iter().map(|member| notes[*member].id.clone()).collect();
    NoteEntry { compacted, ..NoteEntry::alone(&notes[position], role) }
}

/// Returns an answer from a store; on a corrupt index, from the notes themselves.
fn answer_with_retry<T>(
    store: Store,
    location: &Location,
    current_dir: &Path,
    answer: impl Fn(&Store) -> T,
) -> Result<T, Error> {
    let (store, answer) = store.with_corruption_retry(location, current_dir, answer)?;
    drop(store.leaked_at_exit());
    Ok(answer)
}
