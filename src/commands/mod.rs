//! Commands: one file each, from a request and a store to a report. No printing, no format, no
//! arithmetic of budgets.

mod change;
mod context;
mod doctor;
mod dump;
mod graph;
mod import;
mod index;
mod init;
mod journal;
mod link;
mod list;
mod load;
mod man_pages;
mod merge_driver;
mod prime;
mod search;
mod setup;
mod show;
mod unknown_names;

use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

pub use graph::saved_file;

use crate::context::Session;
use crate::env::Env;
use crate::error::Error;
use crate::graph::Compactions;
use crate::index_builder::IndexBuilder;
use crate::report::{EntryRole, NoteEntry, Report};
use crate::request::{
    Command, ContextRequest, ExpandRequest, GraphRequest, JournalRequest, LinkRequest, ListRequest, PrimeRequest,
    RelatedRequest, SearchRequest, ShowRequest,
};
use crate::search::TextIndexer;
use crate::store::{Config, Location, Store};

/// Runs a command. `None` when there is rightly nothing to say.
///
/// # Errors
/// Whatever keeps the command from answering.
pub fn run(command: &Command, env: &Env) -> Result<Option<Report>, Error> {
    let current_dir = &env.current_dir;
    match command {
        // In a hook, this thread only waits for another one.
        Command::Prime(request) if request.is_hook => Ok(primed_in_time(request, current_dir)),
        Command::Prime(request) => {
            (env.lend_thread)();
            prime_of(request, current_dir).map(Some)
        }
        Command::Setup(request) => setup::run(request, current_dir).map(Some),
        Command::Init(request) => init::run(request, current_dir).map(Some),
        Command::Change(request) => change::run(request, env).map(Some),
        Command::Edit(request) => change::edit(request, env).map(Some),
        Command::Index(request) => index::run(request, current_dir).map(Some),
        Command::Doctor(request) if request.is_fix => doctor::run_fix(request, current_dir).map(Some),
        Command::Doctor(request) => {
            (env.lend_thread)();
            let store = ManuallyDrop::new(doctor::open(request, current_dir)?);
            run_on(command, &store).map(Some)
        }
        Command::MergeDriver(request) => merge_driver::run(request, current_dir).map(|()| None),
        Command::Pages(request) => man_pages::run(request, current_dir).map(Some),
        Command::Dump(request) => dump::run(request, current_dir).map(Some),
        Command::Load(request) => load::run(request, current_dir).map(Some),
        Command::Import(request) => import::run(request, current_dir).map(Some),
        Command::Mcp(_) | Command::Browse(_) | Command::Eval(_) => {
            Err(Error::usage("what asks commands is none of them"))
        }
        Command::Context(ContextRequest { location, .. })
        | Command::Expand(ExpandRequest { location, .. })
        | Command::Link(LinkRequest { location, .. })
        | Command::Graph(GraphRequest { location, .. })
        | Command::List(ListRequest { location, .. })
        | Command::Search(SearchRequest { only: ListRequest { location, .. }, .. })
        | Command::Related(RelatedRequest { location, .. })
        | Command::Show(ShowRequest { location, .. })
        | Command::Journal(JournalRequest { location, .. })
        | Command::Tags(location)
        | Command::Status(location) => {
            (env.lend_thread)();
            let store = match searches(command) {
                true => open_to_search(location, current_dir)?,
                false => Store::open(location, current_dir)?,
            };
            answered(store, location, current_dir, |store| run_on(command, store))?.map(Some)
        }
    }
}

/// Tells whether a command searches the texts of notes.
fn searches(command: &Command) -> bool {
    match command {
        Command::Context(context) => {
            context.need.is_some() || context.selection.query.is_some() || !context.selection.words.is_empty()
        }
        Command::Graph(graph) => graph.selection.as_ref().is_some_and(|selection| selection.query.is_some()),
        Command::Search(_) | Command::Related(_) => true,
        _ => false,
    }
}

/// Opens a store with the words of its texts, for commands that search them.
///
/// # Errors
/// As [`Store::open`].
pub fn open_to_search(location: &Location, current_dir: &Path) -> Result<Store, Error> {
    Store::open_with(location, current_dir, Some(gathering))
}

/// Makes what gathers the words of a store's notes.
pub fn gathering(config: &Config) -> Box<dyn IndexBuilder> {
    Box::new(TextIndexer::new(config.language))
}

/// Runs a command that reads a store which is already open.
///
/// # Errors
/// Whatever keeps the command from answering; `Usage` for a command that needs no store.
pub fn run_on(command: &Command, store: &Store) -> Result<Report, Error> {
    // Like the store, what is made of it is left to the end of the process.
    run_at(command, &ManuallyDrop::new(Session::new(store)))
}

/// Runs a command that reads a store which lies on the desk.
///
/// # Errors
/// As [`run_on`].
pub fn run_at(command: &Command, desk: &Session<'_>) -> Result<Report, Error> {
    let mut report = reported(command, desk)?;
    report.mark_retired(desk.store.today);
    Ok(unknown_names::with_unknown_names(report, command, desk.store))
}

fn reported(command: &Command, desk: &Session<'_>) -> Result<Report, Error> {
    let store = desk.store;
    match command {
        Command::Prime(request) => Ok(prime::run(request, store)),
        Command::Context(request) => context::run(request, desk),
        Command::Expand(request) => context::run_expand(request, desk),
        Command::Link(request) => link::run(request, desk),
        Command::Graph(request) => graph::run(request, desk),
        Command::List(request) => list::run(request, desk),
        Command::Search(request) => search::run(request, desk),
        Command::Related(request) => search::run_related(request, desk),
        Command::Show(request) => show::run(request, desk),
        Command::Journal(request) => Ok(journal::run(request, store)),
        Command::Tags(_) => Ok(list::run_tags(store)),
        Command::Doctor(request) => Ok(doctor::run(request, store)),
        Command::Status(_) => Ok(list::run_status(store)),
        Command::Setup(_)
        | Command::Init(_)
        | Command::Pages(_)
        | Command::Change(_)
        | Command::Edit(_)
        | Command::Index(_)
        | Command::MergeDriver(_)
        | Command::Mcp(_)
        | Command::Eval(_)
        | Command::Dump(_)
        | Command::Load(_)
        | Command::Import(_)
        | Command::Browse(_) => Err(Error::usage("this command does not read an open store")),
    }
}

/// How long a session waits for its hook.
const HOOK_PATIENCE: Duration = Duration::from_secs(5);

/// Runs `prime` in a hook. A project without a store, with a broken one, or with one on a disk that does not
/// answer is nothing to speak of.
fn primed_in_time(request: &PrimeRequest, current_dir: &Path) -> Option<Report> {
    let (request, current_dir) = (request.clone(), current_dir.to_path_buf());
    within(HOOK_PATIENCE, move || prime_of(&request, &current_dir).ok()).flatten()
}

fn prime_of(request: &PrimeRequest, current_dir: &Path) -> Result<Report, Error> {
    let store = Store::open(&request.location, current_dir)?;
    answered(store, &request.location, current_dir, |store| {
        let mut report = prime::run(request, store);
        report.mark_retired(store.today);
        report
    })
}

/// Returns what some work comes to, unless it takes too long. The process does not wait for it then.
fn within<T: Send + 'static>(patience: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = channel();
    // Nobody may be listening any more; and a machine without room for a thread has no answer either.
    let worker = std::thread::Builder::new().spawn(move || sender.send(work()).ok());
    worker.ok().and_then(|_| receiver.recv_timeout(patience).ok())
}

/// Makes the entry of a note; a digest names the notes that it stands for.
fn note_entry(store: &Store, digests: &Compactions, place: usize, role: EntryRole) -> NoteEntry {
    let notes = store.notes();
    let compacts = digests.members(place).iter().map(|member| notes[*member].id.clone()).collect();
    NoteEntry { compacts, ..NoteEntry::alone(&notes[place], role) }
}

/// Returns one answer of a store, which is never freed: the process ends after the answer, and
/// giving ten thousand notes back one by one would take a tenth of its time.
fn answered<T>(
    store: Store,
    location: &Location,
    current_dir: &Path,
    answer: impl Fn(&Store) -> T,
) -> Result<T, Error> {
    let (store, answer) = store.trusted(location, current_dir, answer)?;
    let _ = ManuallyDrop::new(store);
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_does_not_wait_for_a_slow_disk() {
        assert_eq!(within(Duration::from_secs(60), || 1), Some(1));
        let never = || std::thread::sleep(Duration::from_secs(60));
        assert_eq!(within(Duration::from_millis(10), never), None);
    }
}
