//! `prime` and `context` in a hook of an agent tool: they find the project of the session, and never take long.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use super::commit_before_edit;
use super::{answer_with_retry, open_to_search, run_on, run_prime};
use crate::env::Env;
use crate::error::{Error, ErrorKind};
use crate::report::{Entry, MatchLevel, Report, ReportHead, layout};
use crate::request::{ContextRequest, Occasion, PrimeRequest, ReadCommand};
use crate::store::{CollectionScope, Location, find_root, reads_commits};

/// The longest time that a session waits for its hook after the input: with [`crate::env::INPUT_TIMEOUT`] less than the five
/// seconds after which tools end those that recipes install.
pub const HOOK_TIMEOUT: Duration = Duration::from_secs(3);

/// What an agent reads when a person asked for memory where there is none.
const NOTHING_KNOWN: &str = "qipu has no note on this.";
/// The same where commits, which hooks do not search, may have something.
const NO_NOTE_BESIDE_COMMITS: &str = "qipu has no note on this; `qipu ask` searches the commits, too.";

/// The factor on [`HOOK_TIMEOUT`] in a debug build, which is many times slower.
const TIMEOUT_FACTOR: u32 = if cfg!(debug_assertions) { 20 } else { 1 };

/// The folders of a session. An agent may leave the project with `cd`; one of the others is still in it.
#[derive(Debug, Clone, Default)]
pub struct SessionDirs {
    /// The current directory that the tool gives, and the roots of its workspace.
    pub given: Vec<PathBuf>,
    /// The current directory of the hook, in place of one that is given.
    pub current: PathBuf,
    /// The folder of the project that the tool gives in a variable.
    pub project: Vec<PathBuf>,
    /// The folders of the files that are about to be edited.
    pub edited: Vec<PathBuf>,
}

impl SessionDirs {
    /// Returns those of a hook without input.
    pub fn of_env(env: &Env) -> Self {
        Self { current: env.current_dir.clone(), project: env.project_dirs().collect(), ..Self::default() }
    }

    /// Returns the first folder in a project with a store, else the first one.
    fn choose(&self, location: &Location) -> PathBuf {
        let given: Vec<&Path> = self.given.iter().map(PathBuf::as_path).filter(|dir| dir.is_dir()).collect();
        let current = given.is_empty().then_some(self.current.as_path());
        let named = location.store.is_some();
        let mut dirs = given.into_iter().chain(current);
        let Some(first) = dirs.next().filter(|_| !named) else { return self.current.clone() };
        let others = self.project.iter().chain(&self.edited).map(PathBuf::as_path);
        // A store that can't be opened is the session's too: its error says why.
        let has_store =
            |dir: &&Path| !matches!(find_root(location, dir), Err(error) if error.kind == ErrorKind::NoStore);
        let found = std::iter::once(first).chain(dirs).chain(others).find(has_store);
        found.unwrap_or(first).to_path_buf()
    }
}

/// Runs `prime` in a hook, and returns the folder of the session that is in the project, too. `None` for a session without a
/// store.
///
/// # Errors
/// If the store can't be read, or not in time; `NoStore` only for one that the call names.
pub(crate) fn prime_in_hook(
    request: PrimeRequest,
    location: &Location,
    dirs: SessionDirs,
) -> Result<Option<(Report, PathBuf)>, Error> {
    in_hook(location, dirs, move |location, current_dir| run_prime(&request, location, current_dir))
}

/// Looks for the notes of a hook, as [`prime_in_hook`].
///
/// # Errors
/// As [`prime_in_hook`].
pub(crate) fn notes_in_hook(
    request: ContextRequest,
    location: &Location,
    dirs: SessionDirs,
) -> Result<Option<(Report, PathBuf)>, Error> {
    in_hook(location, dirs, move |location, current_dir| find_notes(&request, location, current_dir))
}

/// Looks for the notes of a hook among what is the project's own word. Where that hardly answers a prompt that asks for memory
/// in so many words, documents are read, too. At other questions they are not: they answer 3 of 60 prompts about which no
/// own note has anything, and all of these with a high match.
///
/// # Errors
/// If the store can't be read.
pub(crate) fn find_notes(request: &ContextRequest, location: &Location, current_dir: &Path) -> Result<Report, Error> {
    let run = |scope| {
        let location = &Location { scope, ..location.clone() };
        let store = open_to_search(location, current_dir)?;
        let command = ReadCommand::Context(request.clone());
        answer_with_retry(store, location, current_dir, |store| run_on(&command, store))?
    };
    match request.selection.asking.as_ref().and_then(|asking| asking.occasion) {
        // Documents may name the file.
        Some(Occasion::Edit) => {
            let found = run(CollectionScope::All)?;
            let of_commit = Some(()).filter(|()| found.entries.is_empty());
            let of_commit = of_commit.and_then(|()| commit_before_edit::run(request, location, current_dir).ok()?);
            return Ok(of_commit.unwrap_or(found));
        }
        Some(Occasion::Memory) => {}
        _ => return run(CollectionScope::Own),
    }
    let level = |report: &Report| match &report.head.question_match {
        Some(matched) if !report.entries.is_empty() => matched.level,
        _ => MatchLevel::Nothing,
    };
    let own = match run(CollectionScope::Own) {
        Err(error) if error.kind != ErrorKind::NoStore => return Err(error),
        own => own.ok(),
    };
    let best = match own {
        Some(own) if level(&own) == MatchLevel::Answer => own,
        own => {
            let all = run(CollectionScope::All)?;
            own.filter(|own| level(own) >= level(&all)).unwrap_or(all)
        }
    };
    if level(&best) != MatchLevel::Nothing {
        return Ok(best);
    }
    Ok(hook_text(if reads_commits(location, current_dir) { NO_NOTE_BESIDE_COMMITS } else { NOTHING_KNOWN }))
}

/// Returns a report that is one line of a hook.
pub(crate) fn hook_text(text: &str) -> Report {
    Report::new(ReportHead::new(&layout::HOOK_TEXT, None), vec![Entry::Text(text.to_owned())])
}

/// Tells whether a session has a store.
///
/// # Errors
/// As [`prime_in_hook`].
pub fn has_store_in_hook(location: &Location, dirs: SessionDirs) -> Result<bool, Error> {
    in_hook(location, dirs, find_root).map(|found| found.is_some())
}

/// Does work on a store in a hook, with [`HOOK_TIMEOUT`].
fn in_hook<T: Send + 'static>(
    location: &Location,
    dirs: SessionDirs,
    work: impl FnOnce(&Location, &Path) -> Result<T, Error> + Send + 'static,
) -> Result<Option<(T, PathBuf)>, Error> {
    let is_named = location.store.is_some();
    let location = location.clone();
    let in_time = run_with_timeout(HOOK_TIMEOUT * TIMEOUT_FACTOR, move || {
        let dir = dirs.choose(&location);
        work(&location, &dir).map(|result| (result, dir))
    });
    match in_time {
        Some(Err(error)) if error.kind == ErrorKind::NoStore && !is_named => Ok(None),
        Some(result) => result.map(Some),
        None => {
            let seconds = HOOK_TIMEOUT.as_secs();
            let message = format!("no answer from the store in {seconds} seconds; deleting `.qipu/cache/` may help");
            Err(Error::failure(message))
        }
    }
}

/// Returns the result of `work`; `None` if it takes longer than `timeout`, or no thread can be started. The work is then
/// abandoned.
fn run_with_timeout<T: Send + 'static>(timeout: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = channel();
    // Sending fails if the receiver has given up.
    let worker = std::thread::Builder::new().spawn(move || sender.send(work()).ok());
    worker.ok().and_then(|_| receiver.recv_timeout(timeout).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_does_not_wait_for_a_slow_disk() {
        assert_eq!(run_with_timeout(Duration::from_secs(60), || 1), Some(1));
        let never = || std::thread::sleep(Duration::from_secs(60));
        assert_eq!(run_with_timeout(Duration::from_millis(10), never), None);
    }
}
