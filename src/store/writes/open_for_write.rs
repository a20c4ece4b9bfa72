//! Changing a store: under its lock, with the redo log, each file atomically.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::change::{Change, ChangedFolder};
use super::lock::{Lock, LockState};
use super::redo_log;
use crate::error::{Error, ErrorKind, Remedy};
use crate::escape::one_line;
use crate::note::NOTE_FOLDERS;
use crate::store::collections::collection::CollectionReason;
use crate::store::collections::discover::{Location, relative_to};
use crate::store::collections::find::find_target;
use crate::store::collections::layout::PENDING_FILE;
use crate::store::fs::files;
use crate::store::fs::files::folder_of;
use crate::store::fs::in_progress_writes::{self, FileVersion};
use crate::store::fs::stat::FileStat;
use crate::store::notes::in_progress_notes::InProgressNotes;
use crate::store::notes::store::Store;
use crate::store::notes::text_index_builder::IndexBuilderFactory;
use crate::warnings;

/// The most times that a store is read until no other program seems to be saving what the plan depends on. A file that is
/// written all the time is read, and refused when it is to be changed.
const MAX_READS: usize = 5;

fn recover(folder: ChangedFolder<'_>, location: &Location, current_dir: &Path) -> Result<usize, Error> {
    let cache = location.cache.as_deref();
    redo_log::recover(folder, cache).map_err(|error| {
        let shown = relative_to(&folder.own_dir(cache), current_dir);
        let message = format!("the changes listed in {shown}{PENDING_FILE} can't be completed: {error:#}");
        let failed = Error::new(ErrorKind::Store, message);
        // Without the log, a change that failed for want of space would stay half made.
        if error.chain().any(|cause| cause.is::<io::Error>()) {
            failed.hint(
                "solve that, for example by freeing space, then repeat the command: it completes the changes first",
            )
        } else {
            failed.remedy(Remedy::RemoveRedoLog)
        }
    })
}

/// Returns the folder whose lock guards a collection.
fn lock_dir(folder: ChangedFolder<'_>, location: &Location) -> Result<PathBuf, Error> {
    let dir = folder.own_dir(location.cache.as_deref());
    files::make_folders(&dir.join("lock"))?;
    Ok(dir)
}

/// Finds the notes that another program may still be saving, among the files with the stats from before they were read. What
/// lies in the future counts as complete.
fn in_progress_notes(root: &Path, recent: &[(PathBuf, FileStat)], now: Option<i64>, lock: &Lock) -> InProgressNotes {
    let Some(now) = now.filter(|_| !recent.is_empty()) else { return InProgressNotes::default() };
    // Reading takes time, and notes may be saved meanwhile.
    let until = in_progress_writes::now(root).unwrap_or(now);
    let versions = recent.iter().map(|(path, stat)| (path, FileVersion::of(stat)));
    let (future, past): (Vec<_>, Vec<_>) = versions.partition(|(_, version)| version.is_of_the_future(until));
    lock.count_as_complete(future.into_iter().map(|(_, version)| version));
    let racy = past.into_iter().filter(|(_, version)| lock.is_racy(version, now));
    InProgressNotes::new(racy.map(|(path, version)| {
        let path = path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
        (path, version)
    }))
}

/// The notes that a plan depends on, besides those that it names, reads or changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependence {
    /// No others.
    Named,
    /// All: any could mention what is changed.
    AllNotes,
}

/// The changes that a plan makes, and what the command reports of them.
pub type Planned<T> = Result<(Vec<Change>, T), Error>;

/// The end of one attempt to change a store.
enum AttemptOutcome<T> {
    Done(Box<(Store, Lock, T)>),
    /// Another program may be saving files that the plan depends on, at a time of the file system.
    Unsettled(BTreeSet<FileVersion>, i64),
}

/// What a command changes, and which attempts it has made.
struct ChangeAttempts<'a> {
    location: &'a Location,
    current_dir: &'a Path,
    builder: Option<IndexBuilderFactory>,
    dependence: Dependence,
    left: usize,
    /// The versions that were waited for: unless they changed since, they are complete.
    waited_for: BTreeSet<FileVersion>,
    recovered: usize,
}

impl ChangeAttempts<'_> {
    /// Takes the lock, applies a redo log, reads the notes, plans, and makes the changes; makes none if another program may
    /// still be saving what the plan depends on, unless this is the last attempt.
    fn next<T>(&mut self, plan: impl Fn(&Store) -> Planned<T>) -> Result<AttemptOutcome<T>, Error> {
        self.left -= 1;
        let (store, lock) = self.open()?;
        if self.dependence == Dependence::AllNotes {
            let unsettled = store.all_in_progress(&lock);
            if self.left > 0 && !unsettled.is_empty() {
                return Ok(AttemptOutcome::Unsettled(unsettled, lock.now()));
            }
        }
        let (store, planned) = store.with_corruption_retry(self.location, self.current_dir, plan)?;
        let unsettled = store.needed_in_progress(planned.as_ref().map(|(changes, _)| changes.as_slice()).ok(), &lock);
        if self.left > 0 && !unsettled.is_empty() {
            return Ok(AttemptOutcome::Unsettled(unsettled, lock.now()));
        }
        let (changes, report) = planned?;
        store.apply(&changes, &lock)?;
        Ok(AttemptOutcome::Done(Box::new((store, lock, report))))
    }

    fn open(&mut self) -> Result<(Store, Lock), Error> {
        let Self { location, current_dir, builder, .. } = *self;
        let target = find_target(location, current_dir)?;
        let root = target.root.clone();
        let shown = relative_to(&root, current_dir);
        let folder = ChangedFolder { root: &root, is_source: target.rules.is_some() };
        let lock = Lock::take(&lock_dir(folder, location)?, &shown, location)?;
        lock.count_as_complete(self.waited_for.iter().copied());
        self.recovered += recover(folder, location, current_dir)?;
        let now = in_progress_writes::now(&root);
        lock.set_now(now.unwrap_or(i64::MIN));
        let since = now.map(in_progress_writes::since);
        let (mut store, recent) = Store::open_target_since(location, current_dir, builder, since)?;
        store.in_progress = in_progress_notes(&root, &recent, now, &lock);
        store.recovered = self.recovered;
        Ok((store, lock))
    }
}

impl Store {
    /// Changes a store: under its lock, applies a redo log, reads the notes, plans, and makes the changes. While another
    /// program may be saving a file that the plan depends on, the lock is given back, and all of it begins again later.
    /// Returns the store as it was read, with the lock.
    ///
    /// # Errors
    /// As [`Store::open`] and [`Store::apply`], and those of the plan; `Busy` if another command holds the lock for too
    /// long, `Failure` if it can't be taken.
    pub fn change<T>(
        location: &Location,
        current_dir: &Path,
        builder: Option<IndexBuilderFactory>,
        dependence: Dependence,
        plan: impl Fn(&Self) -> Planned<T>,
    ) -> Result<(Self, Lock, T), Error> {
        let (left, waited_for) = (MAX_READS, BTreeSet::new());
        let mut attempts =
            ChangeAttempts { location, current_dir, builder, dependence, left, waited_for, recovered: 0 };
        loop {
            match attempts.next(&plan)? {
                AttemptOutcome::Done(done) => return Ok(*done),
                AttemptOutcome::Unsettled(versions, now) => {
                    let rest = versions.iter().map(|version| version.remaining_quiet_time(now)).max();
                    (location.waits.pause)(rest.unwrap_or_default());
                    attempts.waited_for.extend(versions);
                }
            }
        }
    }

    /// Returns the state of the lock that [`Store::change`] takes; `None` if it was never taken.
    pub(crate) fn lock_state(location: &Location, current_dir: &Path) -> Option<LockState> {
        let target = find_target(location, current_dir).ok()?;
        let folder = ChangedFolder { root: &target.root, is_source: target.rules.is_some() };
        LockState::at(&folder.own_dir(location.cache.as_deref()))
    }

    /// Returns the versions of notes, and of their folders, that another program may still be changing: one that moves a
    /// file away to replace it changes the folder.
    fn all_in_progress(&self, lock: &Lock) -> BTreeSet<FileVersion> {
        self.in_progress.need_all_in("");
        let first = self.first();
        let own = NOTE_FOLDERS.iter().filter(|_| !self.is_source()).map(|folder| first.root.join(folder));
        let notes = self.notes.get(first.notes.clone()).unwrap_or_default();
        let folders = notes.iter().map(|note| folder_of(&first.root.join(&*note.path)).to_path_buf());
        let folders: BTreeSet<PathBuf> = own.chain(folders).collect();
        let versions = folders.iter().filter_map(|folder| FileVersion::of_folder(folder));
        let mut all = self.in_progress.needed();
        all.extend(versions.filter(|version| lock.is_in_progress(version)));
        all
    }

    /// Returns the versions of files that a plan depends on and another program may still be saving; all of such notes if
    /// there is no plan, for they may be the reason.
    fn needed_in_progress(&self, changes: Option<&[Change]>, lock: &Lock) -> BTreeSet<FileVersion> {
        if changes.is_none() {
            self.in_progress.need_all_in("");
        }
        let root = &self.first().root;
        let changed = changes.into_iter().flatten().filter_map(|change| change.files()[0]);
        let changed = changed.filter_map(|(path, _)| FileVersion::at(&root.join(path)));
        let mut needed = self.in_progress.needed();
        needed.extend(changed.filter(|version| lock.is_in_progress(version)));
        needed
    }

    /// Applies changes in their order, all or none. After a crash the next command that writes applies the rest.
    ///
    /// # Errors
    /// `Failure`, naming a file that could not be written; `Store`, naming a note that could not be read for the plan.
    pub fn apply(&self, changes: &[Change], lock: &Lock) -> Result<(), Error> {
        self.expect_read_notes()?;
        redo_log::apply(self.changed_folder(), changes, lock)?;
        if !changes.is_empty() && self.first().about.reason == CollectionReason::MainWorktree {
            let note = format!("note: this changed the store of the main worktree, {}", self.shown_path);
            warnings::add_line(one_line(&note));
        }
        Ok(())
    }

    /// Returns the folder of the first collection, which commands change.
    pub(super) fn changed_folder(&self) -> ChangedFolder<'_> {
        ChangedFolder { root: &self.first().root, is_source: self.is_source() }
    }
}
