//! Several changes as one: what was begun is written down first, so that after a crash the next
//! writer finishes it.
//!
//! The list says what each file held before. A file that holds something else by then was changed
//! by somebody, and is left alone.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::write::{Change, inside};
use super::{PENDING_FILE, files};

/// The list as it is written.
#[derive(Serialize, Deserialize)]
struct Pending {
    version: u32,
    changes: Vec<Change>,
}

/// Carries changes out in their order, all of them or none, as far as the disk lets us.
///
/// # Errors
/// Names the file that could not be written; what was done before it is undone.
pub(super) fn apply(root: &Path, changes: &[Change]) -> Result<()> {
    if let [only] = changes
        && !matches!(only, Change::Move { .. })
    {
        return carry_out(root, only);
    }
    if changes.is_empty() {
        return Ok(());
    }
    for change in changes {
        check_possible(root, change)?;
    }
    let list = root.join(PENDING_FILE);
    let text = serde_json::to_vec(&Pending { version: 1, changes: changes.to_vec() })?;
    files::replace(&list, &text)?;
    run(root, changes)?;
    files::remove(&list)
}

/// Finishes what a writer that died had begun. Returns whether there was anything.
///
/// # Errors
/// Names what can't be read or written.
pub(super) fn finish(root: &Path) -> Result<bool> {
    let list = root.join(PENDING_FILE);
    let Some(bytes) = files::read_bytes_if_there(&list)? else {
        return Ok(false);
    };
    let pending: Pending = serde_json::from_slice(&bytes)
        .with_context(|| format!("{PENDING_FILE} in the store is not a list of changes; remove it"))?;
    if pending.version != 1 {
        bail!("{PENDING_FILE} in the store is of another version of qipu; use that one, or remove the file");
    }
    run(root, &pending.changes)?;
    files::remove(&list)?;
    Ok(true)
}

/// Carries changes out; where one can't be, takes those before it back.
fn run(root: &Path, changes: &[Change]) -> Result<()> {
    for (done, change) in changes.iter().enumerate() {
        if let Err(error) = carry_out_if_due(root, change) {
            let undone: Result<()> =
                changes.iter().take(done).rev().try_for_each(|change| carry_out_if_due(root, &change.inverse()));
            return match undone.and_then(|()| files::remove(&root.join(PENDING_FILE))) {
                Ok(()) => Err(error),
                Err(second) => Err(error.context(format!("and what was done can't be undone: {second:#}"))),
            };
        }
    }
    Ok(())
}

/// Refuses what is known to fail before anything is done.
fn check_possible(root: &Path, change: &Change) -> Result<()> {
    let path = inside(root, change.path())?;
    let is_new = matches!(change, Change::Create { .. } | Change::Move { .. });
    if is_new && path.symlink_metadata().is_ok() {
        bail!("{} is there already", path.display());
    }
    Ok(())
}

/// Carries a change out unless that was done before, or the file is another by now.
fn carry_out_if_due(root: &Path, change: &Change) -> Result<()> {
    let now = |path: &str| files::read_bytes_if_there(&inside(root, path)?);
    let is_due = match change {
        Change::Create { path, .. } => now(path)?.is_none(),
        Change::Replace { path, old, .. } | Change::Delete { path, old } => now(path)?.as_ref() == Some(old),
        Change::Move { from, to, old, new } => {
            now(to)?.is_none() && now(from)?.is_some_and(|now| now == *old || now == *new)
        }
    };
    if is_due { carry_out(root, change) } else { Ok(()) }
}

fn carry_out(root: &Path, change: &Change) -> Result<()> {
    match change {
        Change::Create { path, new } => files::create(&inside(root, path)?, new),
        Change::Replace { path, new, .. } => files::replace(&inside(root, path)?, new),
        Change::Move { from, to, new, .. } => {
            let (from, to) = (inside(root, from)?, inside(root, to)?);
            if fs::read(&from)? != *new {
                files::replace(&from, new)?;
            }
            files::rename(&from, &to)
        }
        Change::Delete { path, .. } => files::remove(&inside(root, path)?),
    }
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
