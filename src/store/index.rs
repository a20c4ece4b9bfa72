//! The index: what is known of notes, kept so that unchanged files need not be read again.
//!
//! It is never a truth. A file that looks in any way other than it did, or that was young when it
//! was read, is read again; an index that can't be used is as if there were none.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::files::{TEMPORARY, TEMPORARY_CHARS};
use super::scan::{Found, Look};
use crate::note::{Files, Note, Stored};

/// What an index of this program begins with. Another version's is not read.
const MAGIC: &[u8] = concat!("qipu-index 1 ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();
/// The folder of what can be made again, and the file in it.
const FOLDER: &str = "cache";
const FILE: &str = "notes.index";
/// Smaller stores are read as fast as an index.
const MIN_NOTES: usize = 256;
/// An index is written again when more than this many files, and more than one in fifty, changed.
const MAX_CHANGED: usize = 100;
const CHANGED_SHARE: usize = 50;
/// How far two moments must be apart to tell two changes of a file apart, in nanoseconds: more than a
/// tick of any clock; where moments are whole seconds, as on FAT, two of them.
const TICK: i128 = 100_000_000;
const LONG_TICK: i128 = 2_000_000_000;

/// The notes of a store as they were when the index was written.
pub(super) struct Index {
    head: Head,
    bytes: Vec<u8>,
    /// Where the notes begin.
    body: usize,
}

/// Which notes there are, by the order of their paths.
#[derive(Serialize, Deserialize)]
struct Head {
    /// The file system's time before the first file was looked at.
    begun: i128,
    files: Vec<Found>,
    /// Where each note ends, counted from where the notes begin.
    ends: Vec<u64>,
}

/// A file that is a note: its real path, and how it looks.
type File = (PathBuf, Found);

impl Index {
    /// Reads the index of a store; `None` where there is none that can be used.
    pub(super) fn read(root: &Path) -> Option<Self> {
        let path = root.join(FOLDER).join(FILE);
        let bytes = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file).and_then(|_| fs::read(path).ok())?;
        let rest = bytes.strip_prefix(MAGIC)?;
        let (sum, rest) = rest.split_first_chunk::<4>()?;
        if crc32fast::hash(rest) != u32::from_le_bytes(*sum) {
            return None;
        }
        let (head, notes): (Head, &[u8]) = postcard::take_from_bytes(rest).ok()?;
        let body = bytes.len() - notes.len();
        (head.files.len() == head.ends.len()).then_some(Self { head, bytes, body })
    }

    /// Returns its length in bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Counts the files that the index does not know as they are, and those that are gone.
    pub(super) fn changed(&self, files: &[File]) -> usize {
        let known = self.unchanged(files).iter().flatten().count();
        (files.len() - known) + (self.head.files.len() - known)
    }

    /// Returns the note at a place of the index; `None` where it can't be read.
    pub(super) fn note(&self, place: usize, path: &str, reader: &Arc<dyn Files>) -> Option<Note> {
        let start = match place.checked_sub(1) {
            Some(before) => *self.head.ends.get(before)?,
            None => 0,
        };
        let end = *self.head.ends.get(place)?;
        let range = self.body + usize::try_from(start).ok()?..self.body + usize::try_from(end).ok()?;
        let stored: Stored = postcard::from_bytes(self.bytes.get(range)?).ok()?;
        stored.into_note(path, reader)
    }

    /// Finds the place in the index of each file that looks as it did.
    pub(super) fn unchanged(&self, files: &[File]) -> Vec<Option<usize>> {
        let tick = if self.head.begun % 1_000_000_000 == 0 { LONG_TICK } else { TICK };
        let mut known = self.head.files.iter().enumerate().peekable();
        let place = |(_, found): &File| {
            while known.next_if(|(_, have)| have.path < found.path).is_some() {}
            let (place, have) = known.next_if(|(_, have)| have.path == found.path)?;
            // A file that was young when it was read may have changed again within the same tick.
            let was_settled = have.look.latest() + tick < self.head.begun;
            (was_settled && have.look == found.look).then_some(place)
        };
        files.iter().map(place).collect()
    }

    /// Tells whether an index is worth writing for so many notes, so many of which it did not know.
    pub(super) fn is_worth_writing(notes: usize, changed: usize) -> bool {
        notes >= MIN_NOTES && changed > MAX_CHANGED.max(notes / CHANGED_SHARE)
    }
}

/// An index in the making. It is begun before the store is looked at.
pub(super) struct Begun {
    file: tempfile::NamedTempFile,
    moment: i128,
}

impl Begun {
    /// Begins an index; `None` where none can be written.
    pub(super) fn new(root: &Path) -> Option<Self> {
        let folder = root.join(FOLDER);
        if !folder.is_dir() {
            fs::create_dir(&folder).ok()?;
        }
        let ignored = folder.join(".gitignore");
        if !ignored.exists() {
            fs::write(ignored, "*\n").ok()?;
        }
        let file = tempfile::Builder::new().prefix(TEMPORARY).rand_bytes(TEMPORARY_CHARS).tempfile_in(folder).ok()?;
        let moment = Look::of(&file.as_file().metadata().ok()?).modified;
        Some(Self { file, moment })
    }

    /// Writes the index, in place of any other. Nothing depends on whether it works out.
    pub(super) fn write(self, root: &Path, files: &[File], notes: &[Option<Arc<Note>>]) -> Option<()> {
        let (files, notes): (Vec<&File>, Vec<&Arc<Note>>) =
            files.iter().zip(notes).filter_map(|(file, note)| Some((file, note.as_ref()?))).unzip();
        let stored: Vec<Vec<u8>> =
            notes.par_iter().map(|note| postcard::to_allocvec(&Stored::of(note)).unwrap_or_default()).collect();
        let mut end = 0;
        let ends = stored.iter().map(|note| {
            end += note.len() as u64;
            end
        });
        let files = files.iter().map(|(_, found)| found.clone()).collect();
        let head = postcard::to_allocvec(&Head { begun: self.moment, files, ends: ends.collect() }).ok()?;
        let mut sum = crc32fast::Hasher::new();
        std::iter::once(&head).chain(&stored).for_each(|part| sum.update(part));
        let parts = [MAGIC, &sum.finalize().to_le_bytes(), &head, &stored.concat()].concat();
        self.file.as_file().write_all(&parts).ok()?;
        self.file.persist(root.join(FOLDER).join(FILE)).ok()?;
        Some(())
    }
}
