//! The vectors of the passages of a collection, kept in the user's cache folder by the hashes of their texts.
//!
//! A segment is a file that is written once, under a name that its content determines: processes that write at the same time
//! replace nothing of each other. Behind a head (a mark, and the dimensions in 4 bytes) it has records of one length: the hash
//! of a text, that of its note, the vector, and a checksum. What is damaged or cut counts as missing, and everything can be
//! deleted.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::store::Store;
use crate::codec::hex::hex;
use crate::note::NoteId;
use crate::store::collections::user_settings::{EmbedderSettings, embedder};
use crate::store::fs::dir_handle::{DirHandle, TempFile};
use crate::store::index::location::user_cache_dir;

/// The beginning of a segment. A segment of another version counts as none.
const MARK: &[u8; 8] = b"qipuvec1";
const HEAD: usize = MARK.len() + 4;
/// The end of the names of segments.
const SEGMENT: &str = ".vectors";
/// The file that says that all passages of the collection were embedded.
const COMPLETE: &str = "complete";
/// The segments from which on they are joined.
const MAX_SEGMENTS: usize = 8;
/// The most bytes of a collection's vectors: 600,000 of 384 dimensions. Further ones are not kept.
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// The first bytes of the SHA-256 of a text.
pub type TextHash = [u8; 16];
/// The same of the id of a note.
pub type NoteHash = [u8; 8];

const CHECKSUM: usize = 4;

/// Returns the hash of a text.
pub fn text_hash(text: &str) -> TextHash {
    first_bytes(text.as_bytes())
}

/// Returns the hash of the id of a note.
pub fn note_hash(id: &NoteId) -> NoteHash {
    first_bytes(id.to_string().as_bytes())
}

fn first_bytes<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut first = [0; N];
    first.iter_mut().zip(Sha256::digest(bytes)).for_each(|(to, byte)| *to = byte);
    first
}

/// The vectors of the passages of a collection by one model.
#[derive(Debug, Default)]
pub struct VectorCache {
    /// Where they are kept; `None` if there is no such place.
    folder: Option<PathBuf>,
    /// The names of the segments.
    names: Vec<String>,
    /// The records of all segments and the new ones, one after the other.
    records: Vec<u8>,
    /// The records that are in no segment yet begin here.
    kept: usize,
    /// The offset of a record of each text.
    by_text: HashMap<TextHash, usize>,
    /// The texts of each note that have a record.
    of_notes: HashSet<(TextHash, NoteHash)>,
    /// The numbers of each vector; 0 before the first.
    dimensions: usize,
    /// Whether the segments have records that are no longer of use.
    has_gone: bool,
    /// Whether all passages of the collection were embedded at some time.
    pub is_complete: bool,
}

impl VectorCache {
    /// Reads the vectors in a folder. `is_gone`: whether there is no note with such a hash.
    fn open(folder: PathBuf, is_gone: &dyn Fn(&NoteHash) -> bool) -> Self {
        let mut cache = Self { folder: Some(folder.clone()), ..Self::default() };
        let Ok(dir) = DirHandle::new(&folder) else { return cache };
        let entries = dir.entries().into_iter().flatten().filter_map(Result::ok);
        let names = entries.filter_map(|entry| entry.name.into_string().ok());
        let (mut names, others): (Vec<String>, Vec<String>) = names.partition(|name| name.ends_with(SEGMENT));
        cache.is_complete = others.iter().any(|name| name == COMPLETE);
        names.sort_unstable();
        for name in &names {
            let room = MAX_BYTES - cache.records.len();
            // What can't be read, or is no file, stays as it is.
            let Ok(bytes) = dir.read(Path::new(name), room as u64) else { continue };
            cache.add_segment(&bytes, is_gone);
            cache.names.push(name.clone());
        }
        cache.kept = cache.records.len();
        cache
    }

    /// Adds the undamaged records of a segment.
    fn add_segment(&mut self, bytes: &[u8], is_gone: &dyn Fn(&NoteHash) -> bool) {
        let Some((head, records)) = bytes.split_at_checked(HEAD) else {
            self.has_gone = true;
            return;
        };
        let (mark, dimensions) = head.split_at(MARK.len());
        let dimensions = dimensions.try_into().map_or(0, u32::from_le_bytes) as usize;
        let is_first = self.dimensions == 0;
        if mark != MARK || dimensions == 0 || !(is_first || self.dimensions == dimensions) {
            self.has_gone = true;
            return;
        }
        self.dimensions = dimensions;
        for record in records.chunks(self.record_len()) {
            match Record::parse(record, dimensions).filter(|record| !is_gone(&record.note)) {
                // Another process may have embedded the same text.
                Some(parsed) => self.push(parsed.text, parsed.note, &[record]),
                None => self.has_gone = true,
            }
        }
    }

    fn record_len(&self) -> usize {
        size_of::<TextHash>() + size_of::<NoteHash>() + self.dimensions + CHECKSUM
    }

    /// Removes all vectors of other dimensions, which are of another model.
    pub fn expect_dimensions(&mut self, dimensions: usize) {
        if self.dimensions != dimensions {
            self.retain(|_, _| false);
            (self.dimensions, self.is_complete) = (dimensions, false);
        }
    }

    /// Whether the text of a note has a vector. One of another note with the same text is copied.
    pub fn has(&mut self, text: TextHash, note: NoteHash) -> bool {
        if !self.of_notes.contains(&(text, note))
            && let Some(vector) = self.get(&text).map(<[u8]>::to_vec)
        {
            self.add(text, note, &vector);
        }
        self.of_notes.contains(&(text, note))
    }

    /// Returns the vector of a text.
    pub fn get(&self, text: &TextHash) -> Option<&[u8]> {
        let record = self.records.get(*self.by_text.get(text)?..)?;
        Some(Record::parse_unchecked(record, self.dimensions)?.vector)
    }

    /// Iterates over all vectors with the hashes of their notes and texts.
    pub fn records(&self) -> impl Iterator<Item = Record<'_>> {
        let records = self.records.chunks(self.record_len());
        records.filter_map(|record| Record::parse_unchecked(record, self.dimensions))
    }

    /// Adds the vector of a text in a note, which has the dimensions of the others.
    pub fn add(&mut self, text: TextHash, note: NoteHash, vector: &[u8]) {
        if vector.len() == self.dimensions {
            let content = [&text[..], &note, vector].concat();
            self.push(text, note, &[&content, &crc32fast::hash(&content).to_le_bytes()]);
        }
    }

    /// Adds a record, given in parts, unless the text of the note has one.
    fn push(&mut self, text: TextHash, note: NoteHash, record: &[&[u8]]) {
        if self.of_notes.insert((text, note)) {
            self.by_text.insert(text, self.records.len());
            record.iter().for_each(|part| self.records.extend_from_slice(part));
        }
    }

    /// Keeps only the vectors of the texts of notes for which a condition holds.
    pub fn retain(&mut self, is_kept: impl Fn(&TextHash, &NoteHash) -> bool) {
        let (len, dimensions) = (self.record_len(), self.dimensions);
        let all = std::mem::take(&mut self.records);
        self.by_text.clear();
        self.of_notes.clear();
        for record in all.chunks(len) {
            match Record::parse_unchecked(record, dimensions).filter(|one| is_kept(&one.text, &one.note)) {
                Some(parsed) => self.push(parsed.text, parsed.note, &[record]),
                None => self.has_gone = true,
            }
        }
        self.kept = if self.has_gone { 0 } else { self.kept };
    }

    /// Writes what is new, and removes what is of no use. Returns whether all is kept; what is not is made again by a later call.
    pub fn save(&mut self) -> bool {
        let has_new = self.records.len() > self.kept;
        if !self.has_gone && !has_new {
            return true;
        }
        if self.records.len() > MAX_BYTES {
            return false;
        }
        let is_saved = self.write(self.has_gone || self.names.len() >= MAX_SEGMENTS).is_some();
        if is_saved {
            (self.kept, self.has_gone) = (self.records.len(), false);
        }
        is_saved
    }

    /// Writes a segment of the new records, or one of all in place of the others.
    fn write(&mut self, joins: bool) -> Option<()> {
        let folder = self.folder.as_ref()?;
        std::fs::create_dir_all(folder).ok()?;
        let dir = Arc::new(DirHandle::new(folder).ok()?);
        if !self.is_complete {
            let _ = dir.remove(COMPLETE.as_ref());
        }
        let records = self.records.get(if joins { 0 } else { self.kept }..)?;
        let mut name = None;
        if !records.is_empty() {
            let dimensions = u32::try_from(self.dimensions).ok()?.to_le_bytes();
            let segment = [MARK, &dimensions[..], records].concat();
            let new = format!("{}{SEGMENT}", hex(&first_bytes::<16>(&segment)));
            write_file(&dir, &new, &segment)?;
            name = Some(new);
        }
        let old = if joins { std::mem::take(&mut self.names) } else { Vec::new() };
        old.iter().filter(|old| Some(*old) != name.as_ref()).for_each(|old| drop(dir.remove(old.as_ref())));
        self.names.extend(name);
        Some(())
    }

    /// Records that all passages of the collection were embedded.
    pub fn set_complete(&mut self) {
        let dir = self.folder.as_ref().and_then(|folder| DirHandle::new(folder).ok());
        self.is_complete = dir.is_some_and(|dir| write_file(&Arc::new(dir), COMPLETE, b"").is_some());
    }

    /// Returns the number of passages with a vector, and the bytes of their records.
    pub fn size(&self) -> (usize, usize) {
        (self.of_notes.len(), self.records.len())
    }
}

fn write_file(dir: &Arc<DirHandle>, name: &str, bytes: &[u8]) -> Option<()> {
    use std::io::Write;

    let mut staged = TempFile::new(Arc::clone(dir)).ok()?;
    staged.file.write_all(bytes).ok()?;
    staged.replace(name).ok()
}

/// A vector of a text in a note.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// The hash of the text.
    pub text: TextHash,
    /// The hash of the note.
    pub note: NoteHash,
    /// The vector; see [`crate::codec::unit_vector`].
    pub vector: &'a [u8],
}

impl<'a> Record<'a> {
    /// Returns the record at the beginning of some bytes, if its checksum is right.
    fn parse(bytes: &'a [u8], dimensions: usize) -> Option<Self> {
        let (content, checksum) = bytes.split_at_checked(bytes.len().checked_sub(CHECKSUM)?)?;
        let is_whole = checksum == crc32fast::hash(content).to_le_bytes();
        is_whole.then(|| Self::parse_unchecked(bytes, dimensions))?
    }

    fn parse_unchecked(bytes: &'a [u8], dimensions: usize) -> Option<Self> {
        let (text, rest) = bytes.split_first_chunk()?;
        let (note, rest) = rest.split_first_chunk()?;
        Some(Self { text: *text, note: *note, vector: rest.get(..dimensions)? })
    }
}

impl Store {
    /// Reads the vectors by a model of the passages of a collection. `is_gone`: whether no note of the store has such a hash.
    pub fn vector_cache(&self, collection: usize, model: &str, is_gone: &dyn Fn(&NoteHash) -> bool) -> VectorCache {
        let Some(collection) = self.collections.get(collection) else { return VectorCache::default() };
        let is_on_disk = !collection.root.as_os_str().is_empty();
        let Some(cache) = self.cache.as_deref().filter(|_| is_on_disk) else { return VectorCache::default() };
        // Projects may read different files of a folder outside of them.
        let project = self.files.repository_root(&self.current_dir).unwrap_or(&self.current_dir);
        let is_shared = collection.about.is_source() && !collection.root.starts_with(project);
        let reader = if is_shared { project.to_string_lossy() } else { "".into() };
        let key = first_bytes::<8>(format!("{model}\n{reader}").as_bytes());
        let folder = user_cache_dir(&collection.root, cache).join("vectors").join(hex(&key));
        // An earlier commit, and some commits alone, do not tell what is gone.
        let is_part = self.files.is_commit()
            || matches!(collection.dir.as_deref(), Some(DirHandle::History(dir)) if dir.only.is_some());
        VectorCache::open(folder, &|note| !is_part && is_gone(note))
    }

    /// Returns the program that turns texts into vectors, which only the user's settings name; `None` for a call without it.
    pub fn embedder(&self) -> Option<EmbedderSettings> {
        embedder(self.settings.as_deref()).filter(|_| !self.no_embedder)
    }
}
