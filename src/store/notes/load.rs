//! Loads the notes of a store, from the index what did not change, the rest from the files.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::built_index::{BuiltIndex, IndexSource};
use super::collection_reader::{CollectionReader, IndexUse, OpenedNotes, RecentFiles};
use super::note_file;
use super::note_handle::NoteHandle;
use super::note_idx::NoteIdx;
use super::text_index_builder::{IndexBuilderFactory, NOTES_PER_BATCH, TextIndex, TextIndexBuilder, TextIndexWorker};
use crate::codec::blobs::BlobSource;
use crate::error::{Error, ErrorKind};
use crate::note::{NOTE_FOLDERS, Note};
use crate::progress;
use crate::store::collections::config::Config;
use crate::store::collections::discover::{Location, find_root, open_root};
use crate::store::fs::dir_handle::{DirHandle, FileType, is_unreadable};
use crate::store::fs::read_errors::ReadErrors;
use crate::store::fs::skipped::{FILE_BINARY, FILE_UNREADABLE, FOLDER_UNREADABLE, IgnoredEntry};
use crate::store::fs::stat::FileEntry;
use crate::store::fs::tree::{self, TreeItem};
use crate::store::index::column_store::ColumnStore;
use crate::store::index::commit_scan;
use crate::store::index::dir_cache::DirCache;
use crate::store::index::location::IndexLocation;
use crate::store::index::record_builder::{ColumnStoreWriter, RecordColumnsBuilder};
use crate::store::index::records::RecordColumns;
use crate::store::index::scan::{self, Scanned, Unreadable};
use crate::store::index::sidecar::{IndexFingerprint, LINKS, SidecarFile, TERMS};
use crate::store::index::source_scan::SourceRules;
use crate::store::index::writer::IndexWriter;
use crate::store::index::{Index, MIN_BYTES, MIN_COMMITS, MIN_NOTES};
use crate::timings;

/// The initial size of a read buffer in bytes; most notes are shorter.
const BUFFER_LEN: usize = 32 * 1024;

/// A file of a source with a NUL in its first bytes, as many as these, is binary.
const BINARY_PREFIX: usize = 8 * 1024;

/// Returns where the index of a store is.
pub(super) fn index_location<'a>(location: &'a Location, root: &'a Path, dir: &'a Arc<DirHandle>) -> IndexLocation<'a> {
    IndexLocation {
        root,
        dir,
        cache: location.cache.as_deref(),
        uses_index: !location.no_index,
        since: None,
        source: None,
    }
}

fn recent(location: &IndexLocation<'_>, files: &[FileEntry]) -> RecentFiles {
    let Some(since) = location.since else { return Vec::new() };
    let recent = files.iter().filter(|entry| entry.stat.mtime >= since);
    recent.map(|entry| (location.root.join(entry.real_path()), entry.stat)).collect()
}

/// Loads the notes in the folders of a store, or in a source by its rules. A file that was removed after it was listed is skipped.
///
/// # Errors
/// `Store` if a folder of the store can't be listed.
pub(in crate::store) fn notes(
    location: &IndexLocation<'_>,
    rules: Option<&SourceRules>,
    builder: Option<Box<dyn TextIndexBuilder>>,
) -> Result<OpenedNotes, Error> {
    let index = if location.reads_index() { Index::open(location) } else { None };
    timings::end("index opened");
    if let Some(index) = index {
        // Whether git ignores a file of a source does not depend on its folder alone.
        let cache = if location.source.is_none() { DirCache::open(location.dir, &index) } else { None };
        let Scanned { files, dirs, unreadable } = scanned((location, rules), cache.as_ref(), true)?;
        let is_listed = dirs.iter().any(|dir| !dir.is_cached);
        timings::end(if is_listed { "folders listed, files checked" } else { "files checked" });
        if let Some(plan) = ReusePlan::new(&index, &files, builder.as_deref()) {
            timings::end("files compared");
            if let Some(cache) = cache {
                cache.update(dirs, &files);
            }
            // Frees its paths before the notes get theirs.
            drop(index);
            let recent = recent(location, &files);
            return Ok(OpenedNotes { recent, ..plan.load(location, files, unreadable) });
        }
    }
    let scanned = scanned((location, rules), None, false)?;
    timings::end("folders listed");
    let writes_index = location.writes_index() && is_large(location.dir, &scanned.files);
    let writer = writes_index.then(|| IndexWriter::new(location)).flatten();
    Ok(read_all(location, scanned, builder, writer))
}

/// Lists the files of a store or source; those of a store without their stats if these are not needed yet.
fn scanned(
    (location, rules): (&IndexLocation<'_>, Option<&SourceRules>),
    cache: Option<&DirCache<'_>>,
    takes_stats: bool,
) -> Result<Scanned, Error> {
    match (&**location.dir, rules) {
        (DirHandle::History(dir), _) => commit_scan::commits(location, dir),
        (dir, Some(rules)) => rules.scan(dir),
        (_, None) => scan::notes(location.dir, cache, takes_stats),
    }
}

/// Whether an index of these files is read faster than they are.
fn is_large(dir: &DirHandle, files: &[FileEntry]) -> bool {
    if let DirHandle::History(_) = dir {
        // Reading any commit takes a process.
        return files.len() >= MIN_COMMITS;
    }
    let size = |entry: &FileEntry| {
        let stat = dir.file_stat(entry.real_path().as_os_str()).ok().flatten();
        stat.map_or(0, |stat| stat.size)
    };
    files.len() >= MIN_NOTES || files.iter().map(size).sum::<u64>() >= MIN_BYTES
}

/// Merges two lists of unreadable files, sorted by path and without duplicates.
fn merged(mut unreadable: Vec<IgnoredEntry>, more: Unreadable) -> Vec<IgnoredEntry> {
    unreadable.extend(more.into_inner().unwrap_or_else(PoisonError::into_inner));
    unreadable.sort_unstable();
    unreadable.dedup();
    unreadable
}

/// Where a note comes from.
enum Origin {
    /// The index, with the slot there.
    Indexed(usize),
    /// Its file, with the SHA-256 of the content.
    Parsed(Box<[u8; 32]>),
}

/// The plan of a load: which slots of the index are reused; the other files are read.
struct ReusePlan {
    /// For each file its slot in the index; `None` if it is to be read.
    slots: Vec<Option<usize>>,
    count: usize,
    records: ColumnStore,
    text_index: Option<Arc<dyn BlobSource>>,
    errors: Arc<ReadErrors>,
    sidecar: SidecarFile,
    terms: SidecarFile,
    fingerprint: IndexFingerprint,
}

impl ReusePlan {
    /// Compares files with an index. `None` if too much changed, or if the index lacks the text index of `builder`.
    fn new(index: &Index, files: &[FileEntry], builder: Option<&dyn TextIndexBuilder>) -> Option<Self> {
        let diff = index.compare_stats(files);
        let changed = diff.changed(|| index.now());
        // An index none of whose stats match was copied from another place.
        let is_foreign = diff.unchanged() == 0 && !files.is_empty() && changed >= files.len();
        if is_foreign || Index::needs_rewrite(files.len(), changed) {
            return None;
        }
        let text_index = match builder {
            Some(builder) => Some(index.text_index(&builder.key())?),
            None => None,
        };
        Some(Self {
            slots: diff.slots,
            count: index.count(),
            records: index.records(),
            text_index,
            errors: index.errors(),
            sidecar: index.sidecar(LINKS),
            terms: index.sidecar(TERMS),
            fingerprint: index.fingerprint(),
        })
    }

    /// Makes handles of the reused records and reads the other files.
    fn load(self, location: &IndexLocation<'_>, files: Vec<FileEntry>, unreadable: Vec<IgnoredEntry>) -> OpenedNotes {
        let Self { slots, count, records, text_index, errors, sidecar, terms, fingerprint } = self;
        let chunks = RecordColumns::chunks(count, records, location, &errors);
        let more_unreadable = Unreadable::default();
        let note = |(mut entry, slot): (FileEntry, Option<usize>)| {
            if let Some(slot) = slot {
                let path = std::mem::take(&mut entry.path);
                match NoteHandle::from_record(&chunks, slot, path.into()) {
                    Ok(note) => return Some((Arc::new(note), Origin::Indexed(slot))),
                    Err(path) => entry.path = path.into(),
                }
            }
            let mut bytes = Vec::new();
            let note = read_note(location, &mut entry, &mut bytes, &more_unreadable)?;
            Some((Arc::new(note.into()), Origin::Parsed(Box::new(Sha256::digest(&bytes).into()))))
        };
        let notes = files.into_par_iter().zip(slots).with_min_len(64).filter_map(note);
        let (notes, origins): (Vec<Arc<NoteHandle>>, Vec<Origin>) = notes.unzip();
        timings::end("notes taken from the index");
        let mut documents = vec![None; count];
        let mut read = Vec::new();
        for (position, (note, origin)) in notes.iter().zip(origins).enumerate() {
            match origin {
                Origin::Indexed(slot) => {
                    documents.get_mut(slot).into_iter().for_each(|document| *document = Some(NoteIdx::new(position)))
                }
                Origin::Parsed(hash) => read.push((note.path.as_str(), hash)),
            }
        }
        let unused = documents.iter().enumerate().filter(|(_, position)| position.is_none()).map(|(slot, _)| slot);
        let index = Some(IndexUse { notes: notes.len() - read.len(), bytes: fingerprint.1 });
        let sidecar = sidecar.for_delta(&read, unused.collect());
        let text_index = text_index.map(|blobs| TextIndex { blobs, notes: documents, fingerprint: Some(fingerprint) });
        let (unreadable, terms) = (merged(unreadable, more_unreadable), Some(terms));
        let rest = CollectionReader::default();
        let collection = CollectionReader { text_index, errors, unreadable, index, sidecar, terms, ..rest };
        OpenedNotes { notes, collection, ..OpenedNotes::default() }
    }
}

/// Reads all notes, and writes the index if there is a writer. Without one, few notes stay parsed, without text index.
fn read_all(
    location: &IndexLocation<'_>,
    mut scanned: Scanned,
    builder: Option<Box<dyn TextIndexBuilder>>,
    writer: Option<IndexWriter>,
) -> OpenedNotes {
    let _work = progress::begin("reading notes", scanned.files.len());
    if writer.is_some() || scanned.files.len() > NOTES_PER_BATCH {
        return read_in_runs(location, scanned, builder, writer);
    }
    let unreadable = Unreadable::default();
    let buffer = || Vec::with_capacity(BUFFER_LEN);
    note_file::announce(location.dir, scanned.files.iter().map(FileEntry::real_path));
    let read = |buffer: &mut Vec<u8>, entry: &mut FileEntry| {
        Some(Arc::new(read_note(location, entry, buffer, &unreadable)?.into()))
    };
    let notes = scanned.files.par_iter_mut().with_min_len(16).map_init(buffer, read).flatten().collect();
    timings::end("notes read");
    let (unreadable, recent) = (merged(scanned.unreadable, unreadable), recent(location, &scanned.files));
    let collection = CollectionReader { unreadable, ..CollectionReader::default() };
    OpenedNotes { notes, collection, recent, ..OpenedNotes::default() }
}

/// Reads all notes in runs of [`NOTES_PER_BATCH`], and keeps the record of each, without its text.
fn read_in_runs(
    location: &IndexLocation<'_>,
    scanned: Scanned,
    mut builder: Option<Box<dyn TextIndexBuilder>>,
    writer: Option<IndexWriter>,
) -> OpenedNotes {
    let (mut files, unreadable) = (scanned.files, Unreadable::default());
    let (mut records, mut skipped, mut non_utf8) = (ColumnStoreWriter::default(), Vec::new(), Vec::new());
    let mut batches: Vec<WorkerBatch> = (0..rayon::current_num_threads()).map(|_| WorkerBatch::default()).collect();
    let mut runs = files.chunks_mut(NOTES_PER_BATCH).enumerate().peekable();
    announce(location, runs.peek());
    while let Some((ordinal, run)) = runs.next() {
        // What is read through another process comes while this run is parsed and merged.
        announce(location, runs.peek());
        read_run(location, &unreadable, ordinal * NOTES_PER_BATCH, run, builder.as_deref_mut(), &mut batches);
        // Side by side, since each has steps that use one thread only.
        rayon::join(
            || records.add(batches.iter_mut().map(|batch| &mut batch.records)),
            || builder.iter_mut().for_each(|builder| builder.end_batch()),
        );
        timings::end("notes read");
        for batch in &mut batches {
            skipped.append(&mut batch.skipped);
            non_utf8.append(&mut batch.non_utf8);
        }
    }
    let parts = || builder.map(|builder| (builder.key(), builder.finish()));
    let (text_index, chunks) = rayon::join(parts, || records.finish());
    timings::end("index parts merged");
    // `skipped` is sorted, as the files are.
    let mut positions = 0..;
    files.retain(|_| positions.next().is_none_or(|position| skipped.binary_search(&position).is_err()));
    let recent = recent(location, &files);
    let built = BuiltIndex { records: chunks, text_index };
    let written = writer.and_then(|writer| built.write(writer, &files));
    timings::end("index written");
    // A large index takes memory that its file does not.
    let is_large = files.len() > NOTES_PER_BATCH && non_utf8.is_empty();
    let in_file = written.filter(|_| is_large).and_then(|written| built.in_file(location, written, files.len()));
    let IndexSource { records, text_index, errors, sidecar, terms } =
        in_file.unwrap_or_else(|| built.in_memory(files.len()));
    let chunks = RecordColumns::chunks(files.len(), records, location, &errors);
    let note = |(slot, entry): (usize, FileEntry)| {
        let note = NoteHandle::from_record(&chunks, slot, entry.path.into());
        // Its id was valid when the record was made; only a lack of memory could have lost it.
        Arc::new(note.unwrap_or_else(|path| NoteHandle::parse(&path, Vec::new())))
    };
    let mut notes: Vec<Arc<NoteHandle>> = files.into_par_iter().enumerate().with_min_len(64).map(note).collect();
    for (position, note) in non_utf8 {
        notes[position - skipped.partition_point(|skipped| *skipped < position)] = Arc::new(note.into());
    }
    let unreadable = merged(scanned.unreadable, unreadable);
    let index = written.map(|(_, bytes, _)| IndexUse { notes: notes.len(), bytes });
    let rest = CollectionReader::default();
    let collection = CollectionReader { text_index, errors, unreadable, index, sidecar, terms, ..rest };
    OpenedNotes { notes, collection, recent, ..OpenedNotes::default() }
}

/// The output of one worker for a run of consecutive files; reused for all runs.
#[derive(Default)]
struct WorkerBatch {
    records: RecordColumnsBuilder,
    /// The positions of files that could not be read.
    skipped: Vec<usize>,
    /// Notes whose real paths are not UTF-8, so that they can't be read again by their paths, with their positions.
    non_utf8: Vec<(usize, Note)>,
}

/// Announces the files of a run, if there is one.
fn announce(location: &IndexLocation<'_>, run: Option<&(usize, &mut [FileEntry])>) {
    let files = run.into_iter().flat_map(|(_, run)| run.iter());
    note_file::announce(location.dir, files.map(FileEntry::real_path));
}

/// Reads a run of announced files, divided among the workers, each one note at a time. `first` is the position of the first file.
fn read_run(
    location: &IndexLocation<'_>,
    unreadable: &Unreadable,
    first: usize,
    files: &mut [FileEntry],
    builder: Option<&mut (dyn TextIndexBuilder + 'static)>,
    batches: &mut [WorkerBatch],
) {
    let workers = builder.map(|builder| builder.workers()).into_iter().flatten().map(Some);
    let workers: Vec<Option<&mut dyn TextIndexWorker>> =
        workers.chain(batches.iter().map(|_| None)).take(batches.len()).collect();
    let length = files.len().div_ceil(batches.len().max(1)).max(1);
    let batches = batches.par_iter_mut().zip(workers).zip(files.par_chunks_mut(length)).enumerate();
    batches.for_each(|(ordinal, ((batch, worker), files))| {
        batch.read(location, unreadable, first + ordinal * length, files, worker)
    });
}

impl WorkerBatch {
    fn read(
        &mut self,
        location: &IndexLocation<'_>,
        unreadable: &Unreadable,
        first: usize,
        files: &mut [FileEntry],
        mut worker: Option<&mut dyn TextIndexWorker>,
    ) {
        let mut buffer = Vec::with_capacity(BUFFER_LEN);
        for (position, entry) in (first..).zip(files) {
            let Some(note) = read_note(location, entry, &mut buffer, unreadable) else {
                self.skipped.push(position);
                continue;
            };
            self.records.add(&note);
            worker.iter_mut().for_each(|worker| worker.read(&note));
            if entry.real_path.is_some() {
                self.non_utf8.push((position, note));
            }
        }
    }
}

/// Writes a new index of a store, also of one that is too small to need it.
///
/// # Errors
/// As [`super::store::Store::open`]; `Failure` if the index can't be written.
pub fn rebuild_index(location: &Location, current_dir: &Path, builder: IndexBuilderFactory) -> Result<(), Error> {
    let root = find_root(location, current_dir)?;
    let dir = open_root(&location.files, &root)?;
    let builder = builder(&Config::load(&dir)?);
    let location = index_location(location, &root, &dir);
    let unwritable = || Error::new(ErrorKind::Failure, "can't write the index, cache/notes.index");
    let writer = IndexWriter::new(&location).ok_or_else(unwritable)?;
    let loaded = read_all(&location, scanned((&location, None), None, false)?, Some(builder), Some(writer));
    loaded.collection.index.map(drop).ok_or_else(unwritable)
}

/// Lists the entries of the note folders that are not notes and are ignored, or that can't be read, each with the reason:
/// symbolic links, pipes, unreadable files and directories. Paths are inside the store.
pub(super) fn ignored_entries(dir: &DirHandle) -> Vec<IgnoredEntry> {
    // For another reason than that it is not there.
    let cannot_be_read = |path: &Path| dir.expect_file(path).is_err_and(|error| is_unreadable(&error));
    let reason = |item: &TreeItem| match item.kind {
        None => Some(FOLDER_UNREADABLE),
        Some(FileType::Link) => Some("a symbolic link is not followed"),
        Some(FileType::File) if item.is_note() => cannot_be_read(&item.path).then_some(FILE_UNREADABLE),
        Some(FileType::Other) if item.is_note() => Some("it is not a regular file"),
        _ => None,
    };
    let all = NOTE_FOLDERS.iter().flat_map(|folder| tree::items(dir, folder, |path| !tree::is_hidden(path)));
    all.filter_map(|item| Some((item.shown(), reason(&item)?))).collect()
}

/// Reads and parses a note, and sets the stat of its entry; `None` if it can't be read. `buffer` is reused.
fn read_note(
    location: &IndexLocation<'_>,
    entry: &mut FileEntry,
    buffer: &mut Vec<u8>,
    unreadable: &Unreadable,
) -> Option<Note> {
    progress::advance();
    match note_file::read_into(location.dir, entry.real_path(), buffer) {
        Ok(stat) => entry.stat = stat,
        Err(error) => {
            if is_unreadable(&error) {
                scan::add_unreadable(unreadable, &entry.path, FILE_UNREADABLE);
            }
            return None;
        }
    }
    if location.source.is_some() && buffer.iter().take(BINARY_PREFIX).any(|byte| *byte == 0) {
        scan::add_unreadable(unreadable, &entry.path, FILE_BINARY);
        return None;
    }
    Some(Note::parse_as(location.dialect(), &entry.path, buffer.as_slice().to_vec()))
}
