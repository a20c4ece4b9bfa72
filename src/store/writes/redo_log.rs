//! The redo log: the changes of one command, written before the first is made, so that after a crash the next command
//! that writes applies the rest.
//!
//! The log has the content of each file before its change. A file with another content was changed by another program
//! since, and is left as it is. As long as no file has been changed, the log is discarded.
//!
//! A log is applied only if the user's cache folder, outside the store, has its hash: one that came with a
//! repository or a copy never is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::change::{Change, ChangedFolder, confine, confine_and_make_folder};
use super::lock::{Heartbeat, Lock};
use crate::progress;
use crate::store::collections::layout::PENDING_FILE;
use crate::store::fs::atomic_write::{Displaced, ExpectedFile, StagedFile};
use crate::store::fs::files;
use crate::store::fs::in_progress_writes::{self, FileVersion};
use crate::store::index::location::user_cache_dir;
use crate::warnings;

/// The file in the user's cache folder with the SHA-256 of the log.
const WITNESS: &str = "pending";

#[derive(Serialize, Deserialize)]
struct RedoLogContent {
    version: u32,
    changes: Vec<Change>,
}

/// Whether another program may be saving a version of a file.
type IsRacy<'a> = &'a dyn Fn(&FileVersion) -> bool;

/// Applies changes in their order, all of them or none.
///
/// # Errors
/// Names a file that could not be written, or that another program changed meanwhile; the changes made so far are undone.
pub(super) fn apply(folder: ChangedFolder<'_>, changes: &[Change], lock: &Lock) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let settled = settled_folders(folder, changes, lock);
    let applied = apply_with_log(folder, changes, lock);
    // The folders change with the files in them. What another program did there before stays in progress.
    let versions: Vec<_> = settled.iter().filter_map(|folder| FileVersion::of_folder(folder)).collect();
    versions.iter().for_each(|version| lock.set_now(version.mtime));
    lock.count_as_complete(versions);
    applied
}

/// Returns the folders of changed files in which no other program is changing anything.
fn settled_folders(folder: ChangedFolder<'_>, changes: &[Change], lock: &Lock) -> BTreeSet<PathBuf> {
    let paths = changes.iter().flat_map(|change| [change.source(), change.path()]);
    let folders = paths.map(|path| files::folder_of(&folder.root.join(path)).to_path_buf());
    let is_settled =
        |folder: &PathBuf| FileVersion::of_folder(folder).is_none_or(|version| !lock.is_racy(&version, lock.now()));
    folders.collect::<BTreeSet<_>>().into_iter().filter(is_settled).collect()
}

fn apply_with_log(folder: ChangedFolder<'_>, changes: &[Change], lock: &Lock) -> Result<()> {
    // Two steps for each change: its file is staged, then renamed.
    let _work = progress::begin("writing files", 2 * changes.len());
    let heartbeat = lock.heartbeat();
    let stage = |change| StagedChange::new(folder, change).inspect(|_| heartbeat.beat());
    let mut staged: Vec<StagedChange> = changes.par_iter().map(stage).collect::<Result<_>>()?;
    let versions = || staged.iter().filter_map(|staged| Some(staged.new.as_ref()?.version));
    let now = versions()
        .next_back()
        .map(|version| version.mtime)
        .or_else(|| in_progress_writes::now(folder.root))
        .unwrap_or(i64::MAX);
    lock.wrote(versions());
    if folder.is_source {
        remove_stale_beside(&staged, now);
    }
    let is_one_step = changes.len() == 1 && !matches!(changes, [Change::Move { .. }]);
    let log = (!is_one_step).then(|| Log::begin(folder, lock.cache.as_deref(), changes)).transpose()?;
    if let Err(error) = apply_staged(&mut staged, &|version| lock.is_racy(version, now), Some(heartbeat)) {
        let undone = undo(&mut staged).and_then(|()| log.map_or(Ok(()), Log::end));
        return match undone {
            Ok(()) => Err(error),
            Err(second) => Err(anyhow!("{error:#}; and the changes made so far can't be undone: {second:#}")),
        };
    }
    if let Some(Err(error)) = log.map(Log::end) {
        // All files are changed and durable: repeating the command would be wrong.
        warnings::add(format!("{error:#}; everything was changed, and the next command that changes notes removes it"));
    }
    Ok(())
}

fn apply_staged(staged: &mut [StagedChange<'_>], is_racy: IsRacy<'_>, heartbeat: Option<Heartbeat<'_>>) -> Result<()> {
    for staged in &mut *staged {
        staged.apply(is_racy)?;
        heartbeat.into_iter().for_each(Heartbeat::beat);
    }
    sync_folders(staged)?;
    // As late as possible, since another program may still write to a replaced file.
    staged.iter().try_for_each(StagedChange::expect_unchanged)
}

/// Undoes the changes in reverse order. All are tried; the first failure is returned.
fn undo(staged: &mut [StagedChange<'_>]) -> Result<()> {
    let failures: Vec<_> = staged.iter_mut().rev().filter_map(|staged| staged.undo().err()).collect();
    failures.into_iter().next().map_or_else(|| sync_folders(staged), Err)
}

struct Log {
    file: PathBuf,
    witness: Option<PathBuf>,
}

impl Log {
    /// Writes the log. It contains texts of notes, so that only the user can read it.
    fn begin(folder: ChangedFolder<'_>, cache: Option<&Path>, changes: &[Change]) -> Result<Self> {
        let text = serde_json::to_vec(&RedoLogContent { version: 1, changes: changes.to_vec() })?;
        let witness = witness(folder.root, cache);
        // A command that was killed may have removed its log, and not durably: a loss of power would bring it back, and
        // its hash is about to be replaced.
        files::sync_folder(&folder.own_dir(cache))?;
        let is_witnessed = witness.as_deref().is_some_and(|witness| write_witness(witness, &text).is_ok());
        let log = Self { file: log_file(folder, cache), witness: witness.filter(|_| is_witnessed) };
        let put = StagedFile::private(&log.file, &text).and_then(StagedFile::put);
        if let Err(error) = put.and_then(|()| files::sync_folder(&folder.own_dir(cache))) {
            // No step was made, so that the log would only be dropped.
            drop(files::remove(&log.file));
            return Err(error);
        }
        Ok(log)
    }

    fn end(self) -> Result<()> {
        files::remove(&self.file)?;
        // The hash of a log that does not exist has no effect.
        drop(self.witness.map(fs::remove_file));
        Ok(())
    }
}

fn log_file(folder: ChangedFolder<'_>, cache: Option<&Path>) -> PathBuf {
    folder.own_dir(cache).join(PENDING_FILE)
}

/// Returns the path of the file with the hash of the log of a store; `None` without a cache folder.
fn witness(root: &Path, cache: Option<&Path>) -> Option<PathBuf> {
    Some(user_cache_dir(root, cache?).join(WITNESS))
}

/// Writes the hash of a log. Without it the log is not applied after a crash.
fn write_witness(witness: &Path, log: &[u8]) -> Result<()> {
    files::make_folders(witness)?;
    StagedFile::private(witness, &Sha256::digest(log))?.put()?;
    witness.parent().map_or(Ok(()), files::sync_folder)
}

/// Applies the rest of the log that a crashed command left. Returns the number of files that were changed.
///
/// # Errors
/// If the log is not this user's, or a file can't be read or written.
pub(super) fn recover(folder: ChangedFolder<'_>, cache: Option<&Path>) -> Result<usize> {
    let Some(changes) = read(folder, cache)? else { return Ok(0) };
    // If no change was made, there is nothing to complete; a person may have undone all of them.
    let mut recovered = 0;
    let has_only_deletions = changes.iter().all(|change| matches!(change, Change::Delete { .. }));
    let is_begun = |change: &Change| {
        if has_only_deletions { Ok(content(folder, change.path())?.is_none()) } else { is_done(folder, change) }
    };
    // All files are read: the log is not dropped because one of them can't be.
    if changes.iter().map(is_begun).collect::<Result<Vec<bool>>>()?.contains(&true) {
        for change in &changes {
            recovered += usize::from(redo(folder, change)?);
        }
    }
    // The crashed command may have made or undone steps that are not durable.
    sync_existing_folders(folder, &changes)?;
    Log { file: log_file(folder, cache), witness: witness(folder.root, cache) }.end()?;
    Ok(recovered)
}

/// Returns the number of changes in the log; `None` if there is no log.
pub(super) fn unfinished(folder: ChangedFolder<'_>, cache: Option<&Path>) -> Result<Option<usize>> {
    Ok(read(folder, cache)?.map(|changes| changes.len()))
}

/// Removes a log that is not this user's. Returns whether there was one.
pub(super) fn remove_foreign(folder: ChangedFolder<'_>, cache: Option<&Path>) -> Result<bool> {
    let is_foreign = is_foreign(folder, cache)?;
    if is_foreign {
        files::remove(&log_file(folder, cache))?;
    }
    Ok(is_foreign)
}

/// Whether there is a log that is not this user's.
pub(in crate::store) fn is_foreign(folder: ChangedFolder<'_>, cache: Option<&Path>) -> Result<bool> {
    Ok(files::is_there(&log_file(folder, cache))? && !is_own(folder, cache)?)
}

/// Whether the log of a store is this user's: its hash is in the user's cache folder.
///
/// # Errors
/// If one of the two can't be read: the log may be this user's.
fn is_own(folder: ChangedFolder<'_>, cache: Option<&Path>) -> Result<bool> {
    let log = log_file(folder, cache);
    let is_regular = files::look_up(&log)?.is_some_and(|found| found.is_file());
    let Some(witness) = witness(folder.root, cache).filter(|_| is_regular) else { return Ok(false) };
    let Some(witness) = files::read_bytes_if_there(&witness)? else { return Ok(false) };
    Ok(files::read_bytes_if_there(&log)?.is_some_and(|log| *Sha256::digest(log) == *witness))
}

fn read(folder: ChangedFolder<'_>, cache: Option<&Path>) -> Result<Option<Vec<Change>>> {
    let file = log_file(folder, cache);
    if !files::is_there(&file)? {
        return Ok(None);
    }
    if !is_own(folder, cache)? {
        bail!("it was not left by a command of yours that died on this machine");
    }
    let Some(bytes) = files::read_bytes_if_there(&file)? else { return Ok(None) };
    let pending: RedoLogContent = serde_json::from_slice(&bytes).context("it is not a list of changes")?;
    if pending.version != 1 {
        bail!("it was written by another version of qipu");
    }
    Ok(Some(pending.changes))
}

/// Reads a file; `None` if there is none, or something that is no regular file.
fn content(folder: ChangedFolder<'_>, path: &str) -> Result<Option<Vec<u8>>> {
    let path = confine(folder, path)?;
    let is_other = files::look_up(&path)?.is_some_and(|found| !found.is_file());
    if is_other { Ok(None) } else { files::read_bytes_if_there(&path) }
}

/// Whether a change was made. `false` for a deletion, since another program may have removed the file.
fn is_done(folder: ChangedFolder<'_>, change: &Change) -> Result<bool> {
    let has = |path: &str, bytes: &Vec<u8>| Ok::<_, anyhow::Error>(content(folder, path)?.as_ref() == Some(bytes));
    Ok(match change {
        Change::Create { path, new } => has(path, new)?,
        Change::Replace { path, old, new } => old != new && has(path, new)?,
        Change::Move { from, to, old, new } => has(to, new)? || (old != new && has(from, new)?),
        Change::Delete { .. } => false,
    })
}

/// Makes the names of files durable in the folders that exist.
fn sync_existing_folders(folder: ChangedFolder<'_>, changes: &[Change]) -> Result<()> {
    let paths = changes.iter().flat_map(|change| [change.source(), change.path()]);
    let paths: Vec<PathBuf> = paths.map(|path| confine(folder, path)).collect::<Result<_>>()?;
    let folders: BTreeSet<&Path> = paths.iter().map(|path| files::folder_of(path)).collect();
    folders.into_iter().filter(|folder| folder.is_dir()).try_for_each(files::sync_folder)
}

/// Makes a change unless it was made before, or the file changed otherwise since. Returns whether it was made.
fn redo(folder: ChangedFolder<'_>, change: &Change) -> Result<bool> {
    let now = |path: &str| files::read_bytes_if_there(&confine_and_make_folder(folder, path)?);
    let is_due = match change {
        Change::Create { path, .. } => now(path)?.is_none(),
        Change::Replace { path, old, new } => old != new && now(path)?.as_ref() == Some(old),
        Change::Delete { path, old } => now(path)?.as_ref() == Some(old),
        Change::Move { from, to, old, new } => {
            now(to)?.is_none() && now(from)?.is_some_and(|now| now == *old || now == *new)
        }
    };
    if is_due {
        let mut staged = [StagedChange { may_be_half_done: true, ..StagedChange::new(folder, change)? }];
        // The file has exactly the content in the log, so that no program is saving it.
        if let Err(error) = apply_staged(&mut staged, &|_| false, None) {
            return Err(undo(&mut staged).err().unwrap_or(error));
        }
    }
    Ok(is_due)
}

/// A change that is ready to be applied: its new content is a staged file.
struct StagedChange<'a> {
    change: &'a Change,
    /// The file; of a move, its path before.
    path: PathBuf,
    /// Of a move, its path after.
    to: Option<PathBuf>,
    new: Option<StagedFile>,
    /// The old version, after the change was made.
    old: Option<Displaced>,
    /// Whether a file was created or moved.
    is_made: bool,
    /// Whether a crashed command may have written the new content of a move to its path before.
    may_be_half_done: bool,
}

impl<'a> StagedChange<'a> {
    fn new(folder: ChangedFolder<'_>, change: &'a Change) -> Result<Self> {
        progress::advance();
        let stage = |path: &Path, bytes: &[u8]| StagedFile::new(path, bytes).map(Some);
        let (path, to, new) = match change {
            Change::Create { path, new } => {
                let path = confine_and_make_folder(folder, path)?;
                expect_free(&path)?;
                let staged = stage(&path, new)?;
                (path, None, staged)
            }
            Change::Replace { path, new, .. } => {
                let path = confine_and_make_folder(folder, path)?;
                let staged = stage(&path, new)?;
                (path, None, staged)
            }
            Change::Move { from, to, old, new } => {
                let (from, to) = (confine_and_make_folder(folder, from)?, confine_and_make_folder(folder, to)?);
                if !files::differ_by_case_alone(&from, &to) {
                    expect_free(&to)?;
                }
                let staged = if old == new { None } else { stage(&from, new)? };
                (from, Some(to), staged)
            }
            Change::Delete { path, .. } => (confine_and_make_folder(folder, path)?, None, None),
        };
        Ok(Self { change, path, to, new, old: None, is_made: false, may_be_half_done: false })
    }

    /// Returns the precondition of the change: the content that the file must have.
    fn expected<'s>(&self, is_racy: IsRacy<'s>) -> ExpectedFile<'s>
    where
        'a: 's,
    {
        let [before, _] = self.change.files();
        let bytes = before.map(|(_, bytes)| bytes).unwrap_or_default();
        ExpectedFile { bytes, is_racy, shown: self.change.source() }
    }

    /// Makes the change, if the file has not changed since it was planned.
    fn apply(&mut self, is_racy: IsRacy<'_>) -> Result<()> {
        progress::advance();
        let expected = self.expected(is_racy);
        match (self.change, self.new.take()) {
            (Change::Create { .. }, Some(new)) => {
                new.create()?;
                self.is_made = true;
            }
            (Change::Delete { .. }, _) => self.old = Some(Displaced::remove(&self.path, &expected)?),
            (Change::Move { .. }, _) if self.is_half_done()? => {}
            (_, Some(new)) => self.old = Some(new.replace(&expected)?),
            (_, None) => drop(expected.find(&self.path)?),
        }
        if let Some(to) = &self.to {
            files::rename(&self.path, to)?;
            self.is_made = true;
        }
        Ok(())
    }

    /// Whether a crashed command wrote the new content of a move and did not rename the file.
    fn is_half_done(&self) -> Result<bool> {
        let Change::Move { new, .. } = self.change else { return Ok(false) };
        Ok(self.may_be_half_done && files::read_bytes_if_there(&self.path)?.as_ref() == Some(new))
    }

    /// Expects that no program wrote to the old version since it was replaced.
    fn expect_unchanged(&self) -> Result<()> {
        let expected = self.expected(&|_| false);
        self.old.as_ref().map_or(Ok(()), |old| old.expect_unchanged(&expected))
    }

    /// Undoes the change as far as it was made; what a person saved since is kept.
    fn undo(&mut self) -> Result<()> {
        if let (Some(to), true) = (&self.to, self.is_made) {
            files::rename(to, &self.path)?;
        }
        match (self.change, self.old.take()) {
            (_, Some(old)) => old.put_back(self.expected(&|_| false).bytes),
            (Change::Create { new, .. }, None) if self.is_made => {
                let expected = ExpectedFile { bytes: new, is_racy: &|_| false, shown: self.change.path() };
                match Displaced::remove(&self.path, &expected) {
                    Err(_) if files::read_bytes_if_there(&self.path)?.as_ref() != Some(new) => Ok(()),
                    removed => removed.map(drop),
                }
            }
            _ => Ok(()),
        }
    }
}

/// Removes the temporary files that crashed commands left beside the files. In a store, `doctor --fix` does.
fn remove_stale_beside(staged: &[StagedChange<'_>], now: i64) {
    let folders: BTreeSet<&Path> = staged.iter().map(|staged| files::folder_of(&staged.path)).collect();
    folders.into_iter().for_each(|folder| files::remove_stale(folder, now));
}

fn expect_free(path: &Path) -> Result<()> {
    if files::is_there(path)? {
        bail!("{} exists already", path.display());
    }
    Ok(())
}

/// Makes the names of files durable, each folder once.
fn sync_folders(prepared: &[StagedChange<'_>]) -> Result<()> {
    let paths = prepared.iter().flat_map(|prepared| [Some(&prepared.path), prepared.to.as_ref()]).flatten();
    let folders: BTreeSet<&Path> = paths.filter_map(|path| path.parent()).collect();
    folders.into_iter().try_for_each(files::sync_folder)
}

#[cfg(test)]
mod tests;
