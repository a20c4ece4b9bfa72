//! Several changes as one: what was begun is written down first, so that after a crash the next
//! writer finishes it.
//!
//! The list says what each file held before. A file that holds something else by then was changed
//! by somebody, and is left alone. Before the first file is changed the list means nothing yet.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::files::Beside;
use super::write::{Change, inside};
use super::{PENDING_FILE, files};
use crate::progress;

/// The list as it is written.
#[derive(Serialize, Deserialize)]
struct Pending {
    version: u32,
    changes: Vec<Change>,
}

/// Carries changes out in their order, all of them or none, as far as the disk lets us.
///
/// # Errors
/// Names the file that could not be written, or that somebody changed meanwhile; what was done
/// before it is undone.
pub(super) fn apply(root: &Path, changes: &[Change]) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    // Each is written beside its place, and then put there.
    let _work = progress::begin("writing files", 2 * changes.len());
    let mut prepared: Vec<Prepared> =
        changes.par_iter().map(|change| Prepared::new(root, change)).collect::<Result<_>>()?;
    let is_one_step = changes.len() == 1 && !matches!(changes, [Change::Move { .. }]);
    if is_one_step {
        prepared.iter_mut().try_for_each(Prepared::carry_out)?;
        return sync_folders(&prepared);
    }
    let list = root.join(PENDING_FILE);
    let text = serde_json::to_vec(&Pending { version: 1, changes: changes.to_vec() })?;
    files::replace(&list, &text)?;
    for place in 0..prepared.len() {
        let Some(Err(error)) = prepared.get_mut(place).map(Prepared::carry_out) else { continue };
        let done = changes.iter().take(place).rev();
        let undone: Result<()> = done.map(Change::inverse).try_for_each(|change| redo(root, &change).map(|_| ()));
        return match undone.and_then(|()| files::remove(&list)) {
            Ok(()) => Err(error),
            Err(second) => Err(error.context(format!("and what was done can't be undone: {second:#}"))),
        };
    }
    sync_folders(&prepared)?;
    files::remove(&list)
}

/// Finishes what a writer that died had begun. Returns how many files that changed now.
///
/// # Errors
/// Names what can't be read or written.
pub(super) fn finish(root: &Path) -> Result<usize> {
    let Some(changes) = read(root)? else { return Ok(0) };
    // Where nothing is done, nothing is half done; a person may have put everything back.
    let mut finished = 0;
    if changes.iter().any(|change| is_done(root, change)) {
        for change in &changes {
            finished += usize::from(redo(root, change)?);
        }
    }
    files::remove(&root.join(PENDING_FILE))?;
    Ok(finished)
}

/// Returns how many files a writer that died was about to change; `None` where there is no such list.
///
/// # Errors
/// When what stands in its place can't be read as one.
pub(super) fn unfinished(root: &Path) -> Result<Option<usize>> {
    Ok(read(root)?.map(|changes| changes.len()))
}

fn read(root: &Path) -> Result<Option<Vec<Change>>> {
    let Some(bytes) = files::read_bytes_if_there(&root.join(PENDING_FILE))? else {
        return Ok(None);
    };
    let pending: Pending = serde_json::from_slice(&bytes).context("it is not a list of changes")?;
    if pending.version != 1 {
        bail!("it is of another version of qipu");
    }
    Ok(Some(pending.changes))
}

/// Tells whether a change was made. That a file is gone tells nothing: anybody may have removed it.
fn is_done(root: &Path, change: &Change) -> bool {
    let now = |path: &str| files::read_bytes_if_there(&inside(root, path).ok()?).ok().flatten();
    match change {
        Change::Create { path, new } => now(path).as_ref() == Some(new),
        Change::Replace { path, old, new } => old != new && now(path).as_ref() == Some(new),
        Change::Move { from, to, old, new } => {
            now(to).as_ref() == Some(new) || (old != new && now(from).as_ref() == Some(new))
        }
        Change::Delete { .. } => false,
    }
}

/// Makes a change unless it was made before, or the file is another by now. Returns whether it did.
fn redo(root: &Path, change: &Change) -> Result<bool> {
    let now = |path: &str| files::read_bytes_if_there(&inside(root, path)?);
    let is_due = match change {
        Change::Create { path, .. } => now(path)?.is_none(),
        Change::Replace { path, old, new } => old != new && now(path)?.as_ref() == Some(old),
        Change::Delete { path, old } => now(path)?.as_ref() == Some(old),
        Change::Move { from, to, old, new } => {
            now(to)?.is_none() && now(from)?.is_some_and(|now| now == *old || now == *new)
        }
    };
    if is_due {
        let mut prepared = Prepared::new(root, change)?;
        prepared.may_be_half_done = true;
        prepared.carry_out()?;
        sync_folders(&[prepared])?;
    }
    Ok(is_due)
}

/// A change that is ready to be made: its new text lies beside the file.
struct Prepared<'a> {
    change: &'a Change,
    /// The file; of a move, where it is now.
    path: PathBuf,
    /// Of a move, where it goes.
    to: Option<PathBuf>,
    new: Option<Beside>,
    /// Whether the new text may stand in the old place of a move.
    may_be_half_done: bool,
}

impl<'a> Prepared<'a> {
    fn new(root: &Path, change: &'a Change) -> Result<Self> {
        progress::advance();
        let beside = |path: &Path, bytes: &[u8]| Beside::new(path, bytes).map(Some);
        let (path, to, new) = match change {
            Change::Create { path, new } => {
                let path = inside(root, path)?;
                expect_free(&path)?;
                let beside = beside(&path, new)?;
                (path, None, beside)
            }
            Change::Replace { path, new, .. } => {
                let path = inside(root, path)?;
                let beside = beside(&path, new)?;
                (path, None, beside)
            }
            Change::Move { from, to, old, new } => {
                let (from, to) = (inside(root, from)?, inside(root, to)?);
                expect_free(&to)?;
                let beside = if old == new { None } else { beside(&from, new)? };
                (from, Some(to), beside)
            }
            Change::Delete { path, .. } => (inside(root, path)?, None, None),
        };
        Ok(Self { change, path, to, new, may_be_half_done: false })
    }

    /// Makes the change, if the file still is what it was when the change was planned.
    fn carry_out(&mut self) -> Result<()> {
        progress::advance();
        let old = match self.change {
            Change::Create { .. } => None,
            Change::Replace { old, .. } | Change::Move { old, .. } | Change::Delete { old, .. } => Some(old),
        };
        let now = files::read_bytes_if_there(&self.path)?;
        let is_half_done =
            self.may_be_half_done && matches!(self.change, Change::Move { new, .. } if now.as_ref() == Some(new));
        if now.as_ref() != old && !is_half_done {
            bail!("{} was changed meanwhile; nothing was done, try again", self.change.source());
        }
        match (self.change, self.new.take()) {
            (Change::Create { .. }, Some(new)) => new.create()?,
            (Change::Delete { .. }, _) => files::remove_unsynced(&self.path)?,
            (_, Some(new)) => new.replace()?,
            (_, None) => {}
        }
        match &self.to {
            Some(to) => files::rename(&self.path, to),
            None => Ok(()),
        }
    }
}

fn expect_free(path: &Path) -> Result<()> {
    if path.symlink_metadata().is_ok() {
        bail!("{} is there already", path.display());
    }
    Ok(())
}

/// Makes the names of files durable, each folder once.
fn sync_folders(prepared: &[Prepared<'_>]) -> Result<()> {
    let paths = prepared.iter().flat_map(|prepared| [Some(&prepared.path), prepared.to.as_ref()]).flatten();
    let folders: BTreeSet<&Path> = paths.filter_map(|path| path.parent()).collect();
    folders.into_iter().try_for_each(files::sync_folder)
}

/// Bytes in a list that is text.
pub(super) mod base64_bytes {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in crate::store) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(in crate::store) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map_err(serde::de::Error::custom)
    }
}
