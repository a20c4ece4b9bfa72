//! The record of a session: a line for each part of a note that hooks have shown, for each note that commands have saved, and
//! for each file that the session was about to edit.
//! It can be deleted at any time; parts are then shown again.
//!
//! A line is a mark and the id of a note. The mark of a part that is in the context of the session is a hash; after a
//! compaction, it becomes [`SHOWN`].

use std::collections::HashSet;
use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use sha2::{Digest, Sha256};

use crate::codec::hex::hex;
use crate::note::{NoteId, is_project_path};
use crate::store::fs::files;
use crate::store::git::plain_file::open_plain;
use crate::store::notes::store::Store;

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
/// The mark of a part that was shown before a compaction.
const SHOWN: &str = "shown";
/// The mark of a note that the session saved or changed.
const SAVED: &str = "saved";

/// The mark of a file that the session was about to edit; behind it are the hash of the project's folder and the path in it.
const EDITED: &str = "edited";
/// The most edited files that a compaction keeps.
const MAX_EDITED: usize = 8;

/// The lines of a record.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SessionRecord {
    /// The hashes of the parts in the context of the session.
    pub parts: HashSet<String>,
    /// The ids of the notes of all parts that were shown, in their order.
    pub shown: Vec<String>,
    /// The ids of the notes that the session saved or changed, in the order of the changes.
    pub saved: Vec<String>,
    /// The files that it was about to edit, in their order: the hash of the project's folder, and the path in it.
    edited: Vec<(String, String)>,
}

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

    /// Reads the record; an empty one without a file, or if it is too long. Nothing may be added to a record, and it may not
    /// be cleared, before it was read: another file may have its name.
    ///
    /// # Errors
    /// If the file can't be read, or is no record.
    pub fn read(&self) -> Result<SessionRecord> {
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
        let Some(record) = SessionRecord::parse(&text) else {
            bail!("{} is not a record of `qipu hook`; name another file", self.path.display());
        };
        Ok(if is_too_long { SessionRecord::default() } else { record })
    }

    /// Adds parts that were shown, each with the id of its note. `now`: seconds since 1970.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn add_parts(&self, parts: &[(String, String)], now: i64) -> Result<()> {
        self.add(parts.iter().map(|(note, text)| format!("{} {note}", hash(&[note, text]))), now)
    }

    /// Adds the ids of notes that were saved or changed.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn add_saved(&self, ids: &[&str], now: i64) -> Result<()> {
        self.add(ids.iter().map(|id| format!("{SAVED} {id}")), now)
    }

    /// Adds the paths of files that are about to be edited, in the project in a folder.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn add_edited(&self, project: &Path, paths: &[String], now: i64) -> Result<()> {
        let project = hash_of_folder(project);
        self.add(paths.iter().map(|path| format!("{EDITED} {project} {path}")), now)
    }

    /// Adds lines, in one write, so that hooks that run at the same time lose nothing.
    fn add(&self, lines: impl Iterator<Item = String>, now: i64) -> Result<()> {
        files::make_folders(&self.path)?;
        let size = fs::symlink_metadata(&self.path).map(|metadata| metadata.len());
        if size.is_err() && self.is_in_cache {
            self.delete_expired(now);
        }
        if size.is_ok_and(|size| size > MAX_BYTES) {
            self.clear();
        }
        append_lines(&self.path, lines)
    }

    /// Records that the context of the session became empty: only the names of the notes are left of `record`.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn compact(&self, record: &SessionRecord) -> Result<()> {
        self.clear();
        let shown = record.shown.iter().map(|id| format!("{SHOWN} {id}"));
        let saved = record.saved.iter().map(|id| format!("{SAVED} {id}"));
        let edited = record.edited.iter().skip(record.edited.len().saturating_sub(MAX_EDITED));
        let lines: Vec<String> =
            shown.chain(saved).chain(edited.map(|(project, path)| format!("{EDITED} {project} {path}"))).collect();
        if lines.is_empty() { Ok(()) } else { append_lines(&self.path, lines) }
    }

    /// Deletes the record: the session begins again.
    pub fn clear(&self) {
        // A record that can't be deleted can't be read, or is read again: nothing else is lost.
        drop(fs::remove_file(&self.path));
    }

    /// Deletes the records of sessions that ended long ago.
    fn delete_expired(&self, now: i64) {
        let expired = records_in(files::folder_of(&self.path)).filter(|(_, changed)| changed + EXPIRES_AFTER < now);
        expired.take(MAX_DELETED).for_each(|(path, _)| drop(fs::remove_file(path)));
    }
}

/// Yields the records in a folder, each with the time of its last change in seconds since 1970.
fn records_in(folder: &Path) -> impl Iterator<Item = (PathBuf, i64)> {
    let changed = |entry: fs::DirEntry| {
        let changed = entry.metadata().and_then(|metadata| metadata.modified()).ok()?;
        let changed = changed.duration_since(std::time::UNIX_EPOCH).ok()?;
        (entry.file_name().len() == DIGITS).then(|| (entry.path(), changed.as_secs() as i64))
    };
    fs::read_dir(folder).into_iter().flatten().filter_map(io::Result::ok).filter_map(changed)
}

impl SessionRecord {
    /// Parses the lines of a record; `None` if one is of another kind. Former versions recorded hashes alone.
    fn parse(text: &str) -> Option<Self> {
        let mut record = Self::default();
        for line in text.lines() {
            let (mark, id) = line.split_once(' ').map_or((line, None), |(mark, id)| (mark, Some(id)));
            let edited = id.filter(|_| mark == EDITED).and_then(|rest| rest.split_once(' '));
            if let Some((project, path)) = edited.filter(|(project, path)| is_hash(project) && is_project_path(path)) {
                record.edited.push((project.to_owned(), path.to_owned()));
                continue;
            }
            if id.is_some_and(|id| NoteId::parse_qualified(id).is_none()) {
                return None;
            }
            let is_part = is_hash(mark);
            let ids = match mark {
                SAVED if id.is_some() => &mut record.saved,
                SHOWN if id.is_some() => &mut record.shown,
                _ if is_part => &mut record.shown,
                _ => return None,
            };
            ids.extend(id.map(str::to_owned));
            if is_part {
                record.parts.insert(mark.to_owned());
            }
        }
        Some(record)
    }

    /// Returns the paths in a project of the files that the session was about to edit last, each once, the last first.
    pub fn edited_in(&self, project: &Path) -> Vec<&str> {
        let project = hash_of_folder(project);
        let mut seen = HashSet::new();
        let paths = self.edited.iter().rev().filter(|(of, _)| *of == project).map(|(_, path)| path.as_str());
        paths.filter(|path| seen.insert(*path)).take(MAX_EDITED).collect()
    }

    /// Whether a part of a note is in the context of the session. Another text is another part.
    pub fn has_part(&self, note: &str, text: &str) -> bool {
        self.parts.contains(&hash(&[note, text]))
    }
}

impl Store {
    /// Counts the sessions that were shown notes of this store in the last seven days, by the times of their records, and the
    /// parts of notes; `None` if there are no records.
    pub fn shown_lately(&self) -> Option<(usize, usize)> {
        let folder = self.cache.as_deref()?.join(FOLDER);
        let mut records = records_in(&folder).peekable();
        records.peek()?;
        let today = self.today.day();
        let (first, last) = (today.saturating_sub(6.days()), today.saturating_add(1.day()));
        // Times are of another time zone than the day.
        let day = |seconds| Some(Timestamp::from_second(seconds).ok()?.to_zoned(TimeZone::UTC).date());
        let lately = records.filter(|(_, changed)| day(*changed).is_some_and(|day| (first..=last).contains(&day)));
        let is_of_store = |id: &&String| NoteId::parse_qualified(id).is_some_and(|id| self.position(&id).is_some());
        let shown = lately.filter_map(|(path, _)| ShownRecord { path, is_in_cache: true }.read().ok());
        let counts = shown.map(|record| record.shown.iter().filter(is_of_store).count()).filter(|count| *count > 0);
        Some(counts.fold((0, 0), |(sessions, parts), count| (sessions + 1, parts + count)))
    }
}

fn is_hash(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the hash of a folder by its path without symbolic links.
fn hash_of_folder(folder: &Path) -> String {
    let resolved = folder.canonicalize();
    hash(&[&resolved.as_deref().unwrap_or(folder).to_string_lossy()])
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

    fn part(number: usize) -> (String, String) {
        ("qp-a".to_owned(), number.to_string())
    }

    #[test]
    fn a_record_keeps_parts_until_it_is_cleared() {
        let cache = tempfile::tempdir().unwrap();
        let record = ShownRecord::of_session(cache.path(), "../../a session\0");
        assert!(record.path.starts_with(cache.path().join(FOLDER)));
        assert_eq!(record.read().unwrap(), SessionRecord::default());
        record.add_parts(&[part(1), part(2)], 0).unwrap();
        record.add_parts(&[part(3)], 0).unwrap();
        let seen = record.read().unwrap();
        assert!((1..4).all(|number| seen.has_part("qp-a", &number.to_string())) && !seen.has_part("qp-b", "1"));
        assert_eq!(ShownRecord::of_session(cache.path(), "another").read().unwrap(), SessionRecord::default());
        record.clear();
        assert_eq!(record.read().unwrap(), SessionRecord::default());
    }

    #[test]
    fn a_compaction_leaves_the_names_of_notes() {
        let cache = tempfile::tempdir().unwrap();
        let record = ShownRecord::of_session(cache.path(), "s");
        record.compact(&SessionRecord::default()).unwrap();
        assert!(!record.path.exists());
        record.add_parts(&[part(1), part(2)], 0).unwrap();
        record.add_saved(&["docs:b"], 0).unwrap();
        let before = record.read().unwrap();
        assert_eq!((before.parts.len(), before.saved.as_slice()), (2, ["docs:b".to_owned()].as_slice()));
        let after = SessionRecord { parts: HashSet::new(), ..before };
        for _ in 0..2 {
            record.compact(&record.read().unwrap()).unwrap();
            assert_eq!(record.read().unwrap(), after);
        }
        record.add_parts(&[part(1)], 0).unwrap();
        assert_eq!(record.read().unwrap().shown, ["qp-a"; 3]);
    }

    #[test]
    fn a_record_is_bounded_and_old_ones_are_deleted() {
        let cache = tempfile::tempdir().unwrap();
        let record = ShownRecord::of_session(cache.path(), "long");
        let many: Vec<(String, String)> = (0..4_000).map(part).collect();
        record.add_parts(&many, 0).unwrap();
        assert_eq!(record.read().unwrap(), SessionRecord::default());
        record.add_parts(&[part(1)], 0).unwrap();
        assert_eq!(record.read().unwrap().parts.len(), 1);
        ShownRecord::of_session(cache.path(), "new").add_parts(&[part(1)], i64::MAX / 2).unwrap();
        assert_eq!(record.read().unwrap(), SessionRecord::default());
    }

    #[test]
    fn a_file_of_another_kind_is_neither_read_nor_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let long = "# A long text.\n".repeat(10_000);
        for text in [
            "# readme\n", "0123456789abcdef\n\n", "0123456789abcdeg\n", "\u{e9}", "shown\n", "saved a note\n",
            "shown  a\n", &long,
        ] {
            fs::write(&path, text).unwrap();
            assert!(ShownRecord::in_file(path.clone()).read().is_err(), "{text}");
        }
        fs::write(&path, "0123456789abcdef\nsaved qp-a\n").unwrap();
        assert_eq!(ShownRecord::in_file(path).read().unwrap().parts.len(), 1);
    }
}
