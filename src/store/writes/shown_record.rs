//! The record of what hooks have shown in a session: a line with a hash for each part of a note. It can be deleted at any
//! time; parts are then shown again.

use std::collections::HashSet;
use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::codec::hex::hex;
use crate::store::fs::files;
use crate::store::git::plain_file::open_plain;

/// The folder of records in the folder of qipu in the user's cache folder.
const FOLDER: &str = "qipu/hooks";
/// The most bytes of a record. A longer one begins again.
const MAX_BYTES: u64 = 64 * 1024;
/// The age from which on the record of another session is deleted, in seconds.
const EXPIRES_AFTER: i64 = 7 * 24 * 3600;
/// The most records that one call deletes.
const MAX_DELETED: usize = 64;
/// The number of hexadecimal digits of a hash.
const DIGITS: usize = 16;

/// The record of a session.
#[derive(Debug)]
pub struct ShownRecord {
    path: PathBuf,
    /// Whether it is in the user's cache folder, where old records are deleted.
    is_in_cache: bool,
}

impl ShownRecord {
    /// Returns the record of a session in the user's cache folder. The id may be any text.
    pub fn of_session(cache: &Path, session: &str) -> Self {
        Self { path: cache.join(FOLDER).join(hash(&[session])), is_in_cache: true }
    }

    /// Returns the record in a file that the user names.
    pub fn in_file(path: PathBuf) -> Self {
        Self { path, is_in_cache: false }
    }

    /// Reads the hashes of the parts that were shown; none without a file, or if the record is too long. Nothing may be
    /// added to a record, and it may not be cleared, before it was read: another file may have its name.
    ///
    /// # Errors
    /// If the file can't be read, or is no record.
    pub fn read(&self) -> Result<HashSet<String>> {
        let mut bytes = Vec::new();
        let read = open_plain(&self.path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
        if let Err(error) =
            read.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(0) } else { Err(error) })
        {
            return Err(error).with_context(|| format!("can't read {}", self.path.display()));
        }
        let is_too_long = bytes.len() as u64 > MAX_BYTES;
        if is_too_long {
            // Up to the last whole line.
            bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1));
        }
        let text = String::from_utf8(bytes).unwrap_or_else(|_| "?".to_owned());
        let is_hash = |line: &str| line.len() == DIGITS && line.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !text.lines().all(is_hash) {
            bail!("{} is not a record of `qipu hook`; name another file", self.path.display());
        }
        Ok(if is_too_long { HashSet::new() } else { text.lines().map(str::to_owned).collect() })
    }

    /// Adds parts, in one write, so that hooks that run at the same time lose nothing. `now`: seconds since 1970.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn add(&self, parts: &[String], now: i64) -> Result<()> {
        files::make_folders(&self.path)?;
        let size = fs::symlink_metadata(&self.path).map(|metadata| metadata.len());
        if size.is_err() && self.is_in_cache {
            self.delete_expired(now);
        }
        if size.is_ok_and(|size| size > MAX_BYTES) {
            self.clear();
        }
        append_lines(&self.path, parts)
    }

    /// Deletes the record: the session begins again.
    pub fn clear(&self) {
        // A record that can't be deleted can't be read, or is read again: nothing else is lost.
        drop(fs::remove_file(&self.path));
    }

    /// Deletes the records of sessions that ended long ago.
    fn delete_expired(&self, now: i64) {
        let folder = fs::read_dir(files::folder_of(&self.path));
        let is_expired = |entry: &fs::DirEntry| {
            let changed = entry.metadata().and_then(|metadata| metadata.modified()).ok();
            let changed = changed.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
            entry.file_name().len() == DIGITS
                && changed.is_some_and(|changed| changed.as_secs() as i64 + EXPIRES_AFTER < now)
        };
        let expired = folder.into_iter().flatten().filter_map(io::Result::ok).filter(is_expired);
        expired.take(MAX_DELETED).for_each(|entry| drop(fs::remove_file(entry.path())));
    }
}

/// Appends lines to a file in one write, and creates it for the user alone.
pub(super) fn append_lines(path: &Path, lines: impl IntoIterator<Item = impl Display>) -> Result<()> {
    let text: String = lines.into_iter().map(|line| format!("{line}\n")).collect();
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("can't write {}", path.display()))
}

/// Returns the hash of a part of a note. It differs if the text does.
pub fn hash_of_part(note: &str, text: &str) -> String {
    hash(&[note, text])
}

/// Returns the first digits of the SHA-256 of texts, with a NUL behind each.
pub(in crate::store) fn hash(texts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update(text.as_bytes());
        digest.update([0]);
    }
    hex(digest.finalize().get(..DIGITS / 2).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(number: usize) -> String {
        hash_of_part("qp-a", &number.to_string())
    }

    #[test]
    fn a_record_keeps_parts_until_it_is_cleared() {
        let cache = tempfile::tempdir().unwrap();
        let record = ShownRecord::of_session(cache.path(), "../../a session\0");
        assert!(record.path.starts_with(cache.path().join(FOLDER)) && record.read().unwrap().is_empty());
        record.add(&[part(1), part(2)], 0).unwrap();
        record.add(&[part(3)], 0).unwrap();
        assert_eq!(record.read().unwrap(), HashSet::from([part(1), part(2), part(3)]));
        assert!(ShownRecord::of_session(cache.path(), "another").read().unwrap().is_empty());
        record.clear();
        assert!(record.read().unwrap().is_empty());
    }

    #[test]
    fn a_record_is_bounded_and_old_ones_are_deleted() {
        let cache = tempfile::tempdir().unwrap();
        let record = ShownRecord::of_session(cache.path(), "long");
        let many: Vec<String> = (0..4_000).map(part).collect();
        record.add(&many, 0).unwrap();
        assert!(record.read().unwrap().is_empty());
        record.add(&[part(1)], 0).unwrap();
        assert_eq!(record.read().unwrap().len(), 1);
        ShownRecord::of_session(cache.path(), "new").add(&[part(1)], i64::MAX / 2).unwrap();
        assert!(record.read().unwrap().is_empty());
    }

    #[test]
    fn a_file_of_another_kind_is_neither_read_nor_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let long = "# A long text.\n".repeat(10_000);
        for text in ["# readme\n", "0123456789abcdef\n\n", "0123456789abcdeg\n", "\u{e9}", &long] {
            let path = dir.path().join("file");
            fs::write(&path, text).unwrap();
            assert!(ShownRecord::in_file(path).read().is_err(), "{text}");
        }
    }
}
