//! The index: what is known of notes, and what was gathered of their texts, kept so that unchanged
//! files need not be read again.
//!
//! It is never a truth. A file that looks in any way other than it did, or that was young when it
//! was read, is read again; an index that can't be used is as if there were none.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::column_store::ColumnStore;
use super::container::{Container, ContainerWriter};
use super::dir_handle::{DirHandle, TempFile};
use super::files::is_temporary;
use super::load::IndexLocation;
use super::scan::{FileEntry, FileStat};
use super::sidecar::{self, SidecarFile};
use crate::codec::blobs::{BlobSource, ByteChunks};
use crate::codec::lz4::{compress, decompress};
use crate::note::PARTS;

/// The folder of what can be made again, and the file in it.
pub(super) const FOLDER: &str = "cache";
pub(super) const FILE: &str = "notes.index";
/// What keeps git away from that folder.
const IGNORED: &str = ".gitignore";
/// Stores of fewer notes are read as fast as an index, if their files have fewer than `MIN_BYTES` bytes together.
pub(super) const MIN_NOTES: usize = 256;
/// See `MIN_NOTES`.
pub(super) const MIN_BYTES: u64 = 512 * 1024;
/// An index is written again when more than this many files, and more than one in fifty, changed.
const MAX_CHANGED: usize = 100;
const CHANGED_SHARE: usize = 50;
/// How far two moments must be apart to tell two changes of a file apart, in nanoseconds: more than a
/// tick of any clock; where moments are whole seconds, as on FAT, two of them.
const TICK: i64 = 100_000_000;
const LONG_TICK: i64 = 2_000_000_000;
/// The same where the index is on another file system than the notes: the clocks of two may differ.
const FOREIGN_TICK: i64 = 3_600_000_000_000;

/// The sections of the file; what was gathered is behind them.
const HEAD: usize = 0;
const FILES: usize = 1;
const NOTES: usize = 2;
const GATHERED: usize = 3;

/// The longest head that is read, in bytes; that of 100,000 notes takes some thousands.
const MAX_HEAD: u64 = 1 << 24;

/// How many files are kept together.
const TOGETHER: usize = 512;

/// What tells the index from others, and how its sections are to be read.
#[derive(Default, Serialize, Deserialize)]
struct IndexHeader {
    /// The file system's time before the first file was looked at.
    begun: i64,
    /// How much older a file must be to be known.
    tick: i64,
    /// What was gathered; empty where nothing was.
    gathered: String,
    /// How long the packed chunks of what is known of the files are.
    files: Vec<u32>,
    /// How long the packed chunks of what is kept of the notes are, part by part.
    chunks: [Vec<u32>; PARTS],
}

/// Files in the order of their paths.
#[derive(Default, Serialize, Deserialize)]
struct PathBlock {
    /// The paths, one behind the other, each without what it has in common with the one before it;
    /// and of each how many bytes are left out, and how many are not.
    paths: String,
    cuts: Vec<(u16, u16)>,
    looks: Vec<FileStat>,
}

impl PathBlock {
    /// Takes files whose moments are told from another one on; `None` where a path is too long.
    fn of(files: &[FileEntry], moment: i64) -> Option<Self> {
        let (mut chunk, mut before) = (Self::default(), "");
        for found in files {
            let both = before.bytes().zip(found.path.bytes()).take_while(|(a, b)| a == b).count();
            let common = found.path.floor_char_boundary(both);
            let own = found.path.get(common..)?;
            chunk.paths.push_str(own);
            chunk.cuts.push((u16::try_from(common).ok()?, u16::try_from(own.len()).ok()?));
            chunk.looks.push(found.look.since(moment));
            before = &found.path;
        }
        Some(chunk)
    }

    /// Reads chunks that are as long as `lengths` says from a section; `None` where one of them is not what it
    /// must be.
    fn read_all(sections: &Container, lengths: &[u32]) -> Option<Vec<Self>> {
        let mut end = 0;
        let range = |length: &u32| {
            let start = end;
            end += u64::from(*length);
            start..end
        };
        let ranges: Vec<Range<u64>> = lengths.iter().map(range).collect();
        let read = |(number, range)| {
            let chunk: Self = postcard::from_bytes(&decompress(&sections.read(FILES, range)?)?).ok()?;
            let is_full = chunk.looks.len() == TOGETHER || number + 1 == lengths.len();
            (is_full && chunk.cuts.len() == chunk.looks.len()).then_some(chunk)
        };
        ranges.into_par_iter().enumerate().map(read).collect()
    }
}

/// Files of an index, one after the other: all paths at once would take as much memory as the store's
/// own.
pub(super) struct FileCursor<'a> {
    begun: i64,
    chunks: std::slice::Iter<'a, PathBlock>,
    /// The chunk at hand, its paths that are left, and the place in it of the next file.
    chunk: Option<&'a PathBlock>,
    rest: &'a str,
    inside: usize,
    /// The path of the file at hand, and the place of the next one.
    pub(super) path: String,
    pub(super) place: usize,
}

impl FileCursor<'_> {
    /// Goes to the next file; `None` behind the last one.
    pub(super) fn step(&mut self) -> Option<FileStat> {
        if self.chunk.is_none_or(|chunk| self.inside == chunk.looks.len()) {
            let chunk = self.chunks.next()?;
            (self.chunk, self.rest, self.inside) = (Some(chunk), &chunk.paths, 0);
            self.path.clear();
        }
        let chunk = self.chunk?;
        let (common, own) = *chunk.cuts.get(self.inside)?;
        let look = *chunk.looks.get(self.inside)?;
        let (own, rest) = self.rest.split_at_checked(usize::from(own))?;
        self.path.get(usize::from(common)..)?;
        self.path.truncate(usize::from(common));
        self.path.push_str(own);
        (self.rest, self.inside, self.place) = (rest, self.inside + 1, self.place + 1);
        Some(look.after(self.begun))
    }
}

/// An opened index: the records of notes and the stats of their files.
pub(super) struct Index {
    head: IndexHeader,
    files: Vec<PathBlock>,
    sections: Arc<Container>,
    is_broken: Arc<AtomicBool>,
    folder: Arc<DirHandle>,
}

impl Index {
    /// Opens the first index of a store that can be used, if there is one.
    pub(super) fn open(place: &IndexLocation<'_>) -> Option<Self> {
        folders(place).find_map(|(folder, _)| Self::open_in(folder))
    }

    fn open_in(folder: Arc<DirHandle>) -> Option<Self> {
        let sections = Container::open(&folder, FILE)?;
        if sections.len(HEAD) > MAX_HEAD {
            return None;
        }
        let head: IndexHeader = postcard::from_bytes(&sections.unpacked(HEAD)?).ok()?;
        let files = PathBlock::read_all(&sections, &head.files)?;
        let (sections, is_broken) = (Arc::new(sections), Arc::default());
        Some(Self { head, files, sections, is_broken, folder })
    }

    /// Returns its length in bytes, with that of what is beside it.
    pub(super) fn len(&self) -> u64 {
        self.sections.file_len() + sidecar::len(&self.folder)
    }

    /// Returns the place of a file beside it.
    pub(super) fn beside(&self, file: &'static str) -> SidecarFile {
        SidecarFile::new(
            Arc::clone(&self.folder),
            file,
            (self.head.begun, self.sections.file_len(), self.sections.sum()),
        )
    }

    /// Goes through its files in the order of their paths.
    pub(super) fn files(&self) -> FileCursor<'_> {
        self.files_from(0, &self.files)
    }

    /// Goes through its files too, but many at once.
    pub(super) fn parts_of_files(&self) -> impl IndexedParallelIterator<Item = FileCursor<'_>> {
        let parts = self.files.par_iter().enumerate();
        parts.map(|(number, chunk)| self.files_from(number * TOGETHER, std::slice::from_ref(chunk)))
    }

    fn files_from<'a>(&self, place: usize, chunks: &'a [PathBlock]) -> FileCursor<'a> {
        let (begun, chunks, path) = (self.head.begun, chunks.iter(), String::new());
        FileCursor { begun, chunks, chunk: None, rest: "", inside: 0, path, place }
    }

    /// Returns what is set when a part of it can't be read.
    pub(super) fn broken(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_broken)
    }

    /// Returns what is kept of the notes.
    pub(super) fn notes(&self) -> ColumnStore {
        ColumnStore::of_file(Arc::clone(&self.sections), NOTES, &self.head.chunks)
    }

    /// Returns how many notes it knows.
    pub(super) fn count(&self) -> usize {
        self.files.iter().map(|chunk| chunk.looks.len()).sum()
    }

    /// Returns what was gathered under a name.
    pub(super) fn gathered(&self, key: &str) -> Option<Arc<dyn BlobSource>> {
        let (sections, is_broken) = (Arc::clone(&self.sections), self.broken());
        (self.head.gathered == key).then(|| Arc::new(FileParts { sections, is_broken }) as Arc<dyn BlobSource>)
    }

    /// Finds the place in the index of each file that looks as it did. A file whose real path is not the
    /// one that is shown is none of them.
    pub(super) fn compare(&self, files: &[FileEntry]) -> StatDiff {
        let mut young = Vec::new();
        let mut known = self.files();
        let mut look = known.step();
        let mut same_path = |found: &FileEntry| {
            if let Some(at) = found.at {
                let look = self.files.get(at / TOGETHER)?.looks.get(at % TOGETHER)?;
                return Some((at, look.after(self.head.begun)));
            }
            while look.is_some() && *known.path < *found.path {
                look = known.step();
            }
            let is_it = *known.path == *found.path && found.name.is_none();
            look.filter(|_| is_it).map(|look| (known.place - 1, look))
        };
        let place = |found: &FileEntry| {
            let (at, have) = same_path(found)?;
            // A file that was young when it was read may have changed again within the same tick.
            let racy_until = racy_until(have, self.head.begun, self.head.tick);
            if have != found.look || racy_until >= self.head.begun {
                young.extend((have == found.look).then_some(racy_until));
                return None;
            }
            Some(at)
        };
        let places = files.iter().map(place).collect();
        StatDiff { places, young, count: self.count() }
    }

    /// Tells whether so many files that changed, or are gone, are too many to read each time.
    pub(super) fn needs_rewrite(notes: usize, changed: usize) -> bool {
        changed > MAX_CHANGED.max(notes / CHANGED_SHARE)
    }
}

/// The result of comparing the stats of files with the index.
pub(super) struct StatDiff {
    /// For each file, its place in the index, where it looks as it did and was settled.
    pub(super) places: Vec<Option<usize>>,
    /// Of those that look as they did and were too young, the moments from which they can be known.
    young: Vec<i64>,
    /// How many files the index has.
    count: usize,
}

impl StatDiff {
    /// Returns how many files are known as they are.
    pub(super) fn known(&self) -> usize {
        self.places.iter().flatten().count()
    }

    /// Counts the files that are new, changed or gone. One that only was too young when the index was
    /// written counts where a new index, begun at `now`, would know it.
    pub(super) fn changed(&self, now: impl FnOnce() -> Option<i64>) -> usize {
        let known = self.known() + self.young.len();
        let changed = (self.places.len() - known).max(self.count.saturating_sub(known));
        if self.young.is_empty() {
            return changed;
        }
        let now = now().unwrap_or(i64::MIN);
        changed + self.young.iter().filter(|racy_until| **racy_until < now).count()
    }
}

/// Opens the folders where an index may be, and tells whether that is beside the notes: in the store, else, for one
/// that can't be written, in the user's own folder for such things. In the store, a link is no such folder.
fn folders<'a>(place: &'a IndexLocation<'_>) -> impl Iterator<Item = (Arc<DirHandle>, bool)> + 'a {
    let open = |is_beside: bool| match is_beside {
        true => place.dir.folder(Path::new(FOLDER)).ok(),
        false => DirHandle::new(&own_folder(place.root, place.cache?)).ok(),
    };
    [true, false].into_iter().filter_map(move |is_beside| Some((Arc::new(open(is_beside)?), is_beside)))
}

/// Returns the path of the user's own folder for a store.
pub(super) fn own_folder(root: &Path, cache: &Path) -> PathBuf {
    let name = Sha256::digest(root.as_os_str().as_encoded_bytes());
    let name: String = name.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    cache.join("qipu").join(name)
}

/// Removes the indexes of a store, with what is beside them: one that can't be read is made anew.
pub(super) fn discard(place: &IndexLocation<'_>) {
    for (folder, _) in folders(place) {
        drop(folder.remove(FILE.as_ref()));
        sidecar::remove(&folder);
    }
}

/// What was gathered, in the file of the index.
#[derive(Debug)]
struct FileParts {
    sections: Arc<Container>,
    is_broken: Arc<AtomicBool>,
}

impl BlobSource for FileParts {
    fn len(&self, part: usize) -> u64 {
        self.sections.len(GATHERED + part)
    }

    fn read(&self, part: usize, range: Range<u64>) -> Option<Vec<u8>> {
        let bytes = self.sections.read(GATHERED + part, range);
        if bytes.is_none() {
            self.mark_corrupt();
        }
        bytes
    }

    fn mark_corrupt(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
    }
}

/// An index file being written. Created before the first stat, so that racy timestamps can be recognised.
pub(super) struct IndexWriter {
    staged: TempFile,
    folder: Arc<DirHandle>,
    moment: i64,
    tick: i64,
}

/// Returns the first time, in nanoseconds, at which `look` is no longer racy: a later write is then guaranteed to change
/// the modification or change time. The rule of git's racy-clean check (git, `Documentation/technical/racy-git`).
/// `begun` is a time of the file system before the stat, `tick` the assumed granularity of its timestamps.
pub(super) fn racy_until(look: FileStat, begun: i64, tick: i64) -> i64 {
    let latest = look.latest();
    // Of whole seconds may be either, for a file system may be mounted in another one.
    latest.saturating_add(tick.max(tick_at(begun)).max(tick_at(latest)))
}

/// Returns the least tick of a file system on which there is such a moment.
fn tick_at(moment: i64) -> i64 {
    if moment % 1_000_000_000 == 0 { LONG_TICK } else { TICK }
}

impl IndexWriter {
    /// Begins an index; `None` where none can be written.
    pub(super) fn new(place: &IndexLocation<'_>) -> Option<Self> {
        Self::new_beside(place).or_else(|| {
            let folder = own_folder(place.root, place.cache?);
            fs::create_dir_all(&folder).ok()?;
            Self::new_in(DirHandle::new(&folder).ok()?, FOREIGN_TICK)
        })
    }

    fn new_beside(place: &IndexLocation<'_>) -> Option<Self> {
        if place.dir.kind(FOLDER.as_ref()).is_none() {
            place.dir.make_folder(FOLDER).ok()?;
        }
        let folder = Arc::new(place.dir.folder(Path::new(FOLDER)).ok()?);
        // An index that git would see is not written.
        ensure_ignored(&folder).ok()?;
        Self::new_in(folder, TICK)
    }

    fn new_in(folder: impl Into<Arc<DirHandle>>, tick: i64) -> Option<Self> {
        let folder = folder.into();
        let staged = TempFile::new(Arc::clone(&folder)).ok()?;
        let moment = FileStat::of(&staged.file.metadata().ok()?).modified;
        remove_left_over(&folder, moment);
        Some(Self { staged, folder, moment, tick })
    }

    /// Writes the index, in place of any other: what is kept of the notes in packed chunks, and what was
    /// gathered under a name. Nothing depends on whether it works out.
    pub(super) fn write(
        mut self,
        files: &[FileEntry],
        notes: &[Vec<Vec<u8>>; PARTS],
        gathered: Option<(String, &[ByteChunks])>,
    ) -> Option<()> {
        let (key, parts) = gathered.unwrap_or_default();
        let pack_files = |files| Some(compress(&postcard::to_allocvec(&PathBlock::of(files, self.moment)?).ok()?));
        let files: Vec<Vec<u8>> = files.par_chunks(TOGETHER).map(pack_files).collect::<Option<_>>()?;
        let lengths = files.iter().map(|chunk| chunk.len() as u32).collect();
        let chunks = notes.each_ref().map(|chunks| chunks.iter().map(|chunk| chunk.len() as u32).collect());
        let head = IndexHeader { begun: self.moment, tick: self.tick, gathered: key, files: lengths, chunks };
        let mut writer = ContainerWriter::new(&mut self.staged.file).ok()?;
        writer.packed(&postcard::to_allocvec(&head).ok()?).ok()?;
        writer.section_of(files.iter().map(Vec::as_slice)).ok()?;
        writer.section_of(notes.iter().flatten().map(Vec::as_slice)).ok()?;
        parts.iter().try_for_each(|pieces| writer.section_of(pieces.iter().map(Vec::as_slice))).ok()?;
        writer.finish().ok()?;
        self.staged.replace(FILE).ok()?;
        // What belongs to another index is of no use any more.
        sidecar::remove(&self.folder);
        Some(())
    }
}

/// Keeps git away from a folder, whatever else ignores it. A file of the user's that says something stays; an empty
/// one was left by a disk that was full. The file gets its name when it is whole.
fn ensure_ignored(folder: &Arc<DirHandle>) -> io::Result<()> {
    let is_there = match folder.look(IGNORED.as_ref())? {
        Some(look) => look.size > 0,
        // A folder or a link that came with the notes is not replaced.
        None => folder.kind(IGNORED.as_ref()).is_some(),
    };
    if is_there {
        return Ok(());
    }
    let mut staged = TempFile::new(Arc::clone(folder))?;
    staged.file.write_all(b"*\n")?;
    staged.set_shared()?;
    staged.replace(IGNORED)
}

/// Removes what processes left behind that died while they wrote an index, an hour ago or more.
fn remove_left_over(folder: &DirHandle, now: i64) {
    let is_old = |name: &OsStr| {
        folder.look(name).is_ok_and(|look| look.is_some_and(|look| look.modified.saturating_add(FOREIGN_TICK) < now))
    };
    let names = folder.entries().into_iter().flatten().filter_map(|entry| Some(entry.ok()?.name));
    let old: Vec<OsString> = names.filter(|name| is_temporary(name) && is_old(name)).collect();
    old.iter().for_each(|name| drop(folder.remove(name)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_is_kept_away_by_a_whole_file() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, file) = (Arc::new(DirHandle::new(dir.path()).unwrap()), dir.path().join(IGNORED));
        let ensured = || {
            ensure_ignored(&folder).unwrap();
            fs::read_to_string(&file).unwrap()
        };
        assert_eq!(ensured(), "*\n");
        fs::write(&file, "").unwrap();
        assert_eq!(ensured(), "*\n", "one that a full disk left empty is filled");
        fs::write(&file, "*.index\n").unwrap();
        assert_eq!(ensured(), "*.index\n");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
