//! Reads every note of a store, whatever state it is in.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::column_store::{ColumnStore, ColumnStoreWriter};
use super::dir_cache::DirCache;
use super::dir_handle::{DirHandle, FileType, is_unreadable};
use super::index::{FOLDER as CACHE, Index, IndexWriter, MIN_BYTES, MIN_NOTES};
use super::scan::{self, FileEntry, FileStat, Scanned};
use super::sidecar::{LINKS, SidecarFile};
use super::tree::{self, TreeItem};
use super::{FILE_UNREADABLE, FOLDER_UNREADABLE, Facts, NOTE_FOLDERS, PassedOver, files};
use crate::codec::blobs::{BlobSource, MemoryBlobs};
use crate::error::{Error, ErrorKind};
use crate::index_builder::{IndexBuilder, IndexWorker, TextIndex};
use crate::note::{MAX_BYTES, Note, RecordColumns, RecordColumnsBuilder, RecordRef, RecordSource};
use crate::progress;
use crate::timings;

/// More than most notes have, in bytes.
const USUAL_BYTES: usize = 32 * 1024;

/// How many notes are read before what they hold is put together. More at once would be a little
/// faster, and take more memory.
const RUN: usize = 10_240;

/// The root of a store, and where its index may be stored.
pub(super) struct IndexLocation<'a> {
    pub(super) root: &'a Path,
    /// The folder itself.
    pub(super) dir: &'a Arc<DirHandle>,
    /// The user's folder for such things.
    pub(super) cache: Option<&'a Path>,
    /// Whether an index is read and written.
    pub(super) uses_index: bool,
    /// The moment from which on modified files are listed.
    pub(super) since: Option<i64>,
}

/// Files of notes, each with its stat from before it was read.
pub(super) type RecentFiles = Vec<(PathBuf, FileStat)>;

/// The notes of a store in byte order of their paths, and their text index.
pub(super) struct Loaded {
    pub(super) notes: Vec<Arc<Note>>,
    /// What was gathered, where that is asked for and was kept or made in passing. Its places are
    /// those of `notes`.
    pub(super) gathered: Option<TextIndex>,
    /// What is set when something that was kept can't be read.
    pub(super) is_broken: Arc<AtomicBool>,
    /// The files and folders among the notes that can't be read, in the order of their paths.
    pub(super) unreadable: Vec<PassedOver>,
    /// Whether an index was written.
    pub(super) is_written: bool,
    /// Where something that is made of exactly these notes can be kept.
    pub(super) beside: Option<SidecarFile>,
    /// The files that were modified since the moment that is asked for.
    pub(super) recent: RecentFiles,
}

/// Lists the files that were modified since the moment that is asked for.
fn recent(place: &IndexLocation<'_>, files: &[FileEntry]) -> RecentFiles {
    let Some(since) = place.since else { return Vec::new() };
    let recent = files.iter().filter(|found| found.look.modified >= since);
    recent.map(|found| (place.root.join(found.real_path()), found.look)).collect()
}

/// Loads the notes under the store's folders: from the index what did not change, the rest from its
/// files. A file that can't be read is passed over (it may just have been removed).
pub(super) fn notes(place: &IndexLocation<'_>, gather: Option<Box<dyn IndexBuilder>>) -> Result<Loaded, Error> {
    let index = if place.uses_index { Index::open(place) } else { None };
    timings::end("index opened");
    if let Some(index) = index {
        let memory = DirCache::of(place.dir, &index);
        let Scanned { files, folders, unreadable } = scan::notes_known(place.dir, &memory)?;
        let is_listed = folders.iter().any(|folder| !folder.is_held);
        timings::end(if is_listed { "folders listed, files looked at" } else { "files looked at" });
        if let Some(known) = ReusePlan::new(place.dir, &index, &files, gather.as_deref()) {
            timings::end("files compared");
            memory.keep(folders, &files);
            // The files have their paths themselves now.
            drop(index);
            let recent = recent(place, &files);
            return Ok(Loaded { recent, ..known.load(place, files, unreadable) });
        }
    }
    let scanned = scan::notes_to_read(place.dir)?;
    timings::end("folders listed");
    let is_kept = place.uses_index && is_large(place.dir, &scanned.files);
    let begun = is_kept.then(|| IndexWriter::new(place)).flatten();
    Ok(read_all(place, scanned, gather, begun))
}

/// Tells whether an index of these files is read faster than they are.
fn is_large(dir: &DirHandle, files: &[FileEntry]) -> bool {
    let size = |found: &FileEntry| dir.look(found.real_path().as_os_str()).ok().flatten().map_or(0, |look| look.size);
    files.len() >= MIN_NOTES || files.iter().map(size).sum::<u64>() >= MIN_BYTES
}

/// Puts what can't be read in the order of the paths, each once.
fn in_order(mut unreadable: Vec<PassedOver>, more: Unreadable) -> Vec<PassedOver> {
    unreadable.extend(more.into_inner().unwrap_or_else(PoisonError::into_inner));
    unreadable.sort_unstable();
    unreadable.dedup();
    unreadable
}

/// Unreadable files, collected by several threads.
type Unreadable = Mutex<Vec<PassedOver>>;

/// Where a note was taken from: its place in the index, or the hash of its file.
type Origin = Result<usize, Box<[u8; 32]>>;

/// The plan of a load: which slots of the index are reused; the other files are read.
struct ReusePlan {
    /// For each file, its place in the index, where it looks as it did.
    places: Vec<Option<usize>>,
    /// How many files the index has.
    count: usize,
    shelf: ColumnStore,
    gathered: Option<Arc<dyn BlobSource>>,
    is_broken: Arc<AtomicBool>,
    beside: SidecarFile,
}

impl ReusePlan {
    /// `None` where too much changed, or what is to be gathered was not.
    fn new(
        dir: &Arc<DirHandle>,
        index: &Index,
        files: &[FileEntry],
        gather: Option<&dyn IndexBuilder>,
    ) -> Option<Self> {
        let compared = index.compare(files);
        let changed = compared.changed(|| dir.moment().ok());
        // An index that knows nothing of what there is came from somewhere else.
        let is_foreign = compared.known() == 0 && !files.is_empty() && changed >= files.len();
        if is_foreign || Index::needs_rewrite(files.len(), changed) {
            return None;
        }
        let gathered = match gather {
            Some(gather) => Some(index.gathered(&gather.key())?),
            None => None,
        };
        let (places, count) = (compared.places, index.count());
        Some(Self {
            places,
            count,
            shelf: index.notes(),
            gathered,
            is_broken: index.broken(),
            beside: index.beside(LINKS),
        })
    }

    /// Takes what did not change, and reads the rest.
    fn load(self, place: &IndexLocation<'_>, files: Vec<FileEntry>, unreadable: Vec<PassedOver>) -> Loaded {
        let Self { places, count, shelf, gathered, is_broken, beside } = self;
        let kept = Arc::new(RecordColumns::new(count, files_of(place.dir, shelf, &is_broken)));
        let lost = Unreadable::default();
        let note = |(mut found, at): (FileEntry, Option<usize>)| {
            if let Some(at) = at {
                let path = std::mem::take(&mut found.path);
                match Note::from_kept(RecordRef::new(&kept, at), path.into()) {
                    Ok(note) => return Some((Arc::new(note), Ok(at))),
                    Err(path) => found.path = path.into(),
                }
            }
            let mut bytes = Vec::new();
            let note = read_note(place.dir, &mut found, &mut bytes, &lost)?;
            Some((Arc::new(note), Err(Box::new(Sha256::digest(&bytes).into()))))
        };
        let notes = files.into_par_iter().zip(places).with_min_len(64).filter_map(note);
        let (notes, origins): (Vec<Arc<Note>>, Vec<Origin>) = notes.unzip();
        timings::end("notes taken from the index");
        let mut now = vec![None; count];
        let mut read = Vec::new();
        for (place, (note, origin)) in notes.iter().zip(origins).enumerate() {
            match origin {
                Ok(at) => now.get_mut(at).into_iter().for_each(|now| *now = Some(place)),
                Err(hash) => read.push((note.path.as_str(), hash)),
            }
        }
        let gone = now.iter().enumerate().filter(|(_, place)| place.is_none()).map(|(at, _)| at);
        let beside = beside.with_changes(&read, gone.collect());
        let gathered = gathered.map(|blobs| TextIndex { blobs, notes: now });
        let unreadable = in_order(unreadable, lost);
        Loaded { notes, gathered, is_broken, unreadable, is_written: false, beside, recent: Vec::new() }
    }
}

/// Reads all notes, and writes the index that was begun. Few that are not to be kept stay as they are, and are gathered
/// by whoever wants it.
fn read_all(
    place: &IndexLocation<'_>,
    mut scanned: Scanned,
    gather: Option<Box<dyn IndexBuilder>>,
    begun: Option<IndexWriter>,
) -> Loaded {
    let _work = progress::begin("reading notes", scanned.files.len());
    if begun.is_some() || scanned.files.len() > RUN {
        return rebuild_index(place, scanned, gather, begun);
    }
    let lost = Unreadable::default();
    let buffer = || Vec::with_capacity(USUAL_BYTES);
    let read =
        |buffer: &mut Vec<u8>, found: &mut FileEntry| Some(Arc::new(read_note(place.dir, found, buffer, &lost)?));
    let notes = scanned.files.par_iter_mut().with_min_len(16).map_init(buffer, read).flatten().collect();
    timings::end("notes read");
    let (recent, unreadable) = (recent(place, &scanned.files), in_order(scanned.unreadable, lost));
    Loaded { notes, gathered: None, is_broken: Arc::default(), unreadable, is_written: false, beside: None, recent }
}

/// Reads all notes, run by run, and keeps of each what is needed without its text.
fn rebuild_index(
    place: &IndexLocation<'_>,
    scanned: Scanned,
    mut gather: Option<Box<dyn IndexBuilder>>,
    begun: Option<IndexWriter>,
) -> Loaded {
    let (mut files, unreadable) = (scanned.files, Unreadable::default());
    let (mut packer, mut lost, mut odd) = (ColumnStoreWriter::default(), Vec::new(), Vec::new());
    let mut spans: Vec<WorkerBatch> = (0..rayon::current_num_threads()).map(|_| WorkerBatch::default()).collect();
    for (number, run) in files.chunks_mut(RUN).enumerate() {
        read_run(place.dir, &unreadable, number * RUN, run, gather.as_deref_mut(), &mut spans);
        // Each has steps in which it can use one thread only.
        rayon::join(
            || packer.add(spans.iter().map(|span| &span.kept)),
            || gather.iter_mut().for_each(|gather| gather.end_batch()),
        );
        timings::end("notes read");
        for span in &mut spans {
            lost.append(&mut span.lost);
            odd.append(&mut span.odd);
            span.kept.clear();
        }
    }
    let parts = || gather.map(|gather| (gather.key(), gather.finish()));
    let (gathered, chunks) = rayon::join(parts, || packer.finish());
    timings::end("parts put together");
    // In order, as the files are.
    let mut places = 0..;
    files.retain(|_| places.next().is_none_or(|place| lost.binary_search(&place).is_err()));
    let recent = recent(place, &files);
    let mut is_written = false;
    if let Some(begun) = begun {
        let parts = gathered.as_ref().map(|(key, parts)| (key.clone(), parts.as_slice()));
        is_written = begun.write(&files, &chunks, parts).is_some();
        timings::end("index written");
    }
    let is_broken = Arc::default();
    let kept =
        Arc::new(RecordColumns::new(files.len(), files_of(place.dir, ColumnStore::DirCache(chunks), &is_broken)));
    let note = |(at, found): (usize, &FileEntry)| {
        let kept = Note::from_kept(RecordRef::new(&kept, at), found.path.to_string());
        // It was made of a note that has an id; only a lack of memory could have lost it.
        Arc::new(kept.unwrap_or_else(|path| Note::parse(&path, Vec::new())))
    };
    let mut notes: Vec<Arc<Note>> = files.par_iter().enumerate().with_min_len(64).map(note).collect();
    for (place, note) in odd {
        notes[place - lost.partition_point(|lost| *lost < place)] = Arc::new(note);
    }
    let places = (0..notes.len()).map(Some).collect();
    let gathered = gathered.map(|(_, parts)| TextIndex { blobs: Arc::new(MemoryBlobs(parts)), notes: places });
    let unreadable = in_order(scanned.unreadable, unreadable);
    Loaded { notes, gathered, is_broken, unreadable, is_written, beside: None, recent }
}

/// What was read of files that follow one another; one for each thread does for all runs.
#[derive(Default)]
struct WorkerBatch {
    kept: RecordColumnsBuilder,
    /// The places of files that could not be read.
    lost: Vec<usize>,
    /// Notes whose files can't be found again by the paths that they are shown by, with their places.
    odd: Vec<(usize, Note)>,
}

/// Reads files, of which the first has the place `first`. The text of a note is given up before the next one is read:
/// what it takes is at hand.
fn read_run(
    dir: &DirHandle,
    unreadable: &Unreadable,
    first: usize,
    files: &mut [FileEntry],
    gather: Option<&mut (dyn IndexBuilder + 'static)>,
    spans: &mut [WorkerBatch],
) {
    let readers = gather.map(|gather| gather.workers()).into_iter().flatten().map(Some);
    let readers: Vec<Option<&mut dyn IndexWorker>> =
        readers.chain(spans.iter().map(|_| None)).take(spans.len()).collect();
    let length = files.len().div_ceil(spans.len().max(1)).max(1);
    let spans = spans.par_iter_mut().zip(readers).zip(files.par_chunks_mut(length)).enumerate();
    spans.for_each(|(number, ((span, reader), files))| {
        span.read(dir, unreadable, first + number * length, files, reader)
    });
}

impl WorkerBatch {
    fn read(
        &mut self,
        dir: &DirHandle,
        unreadable: &Unreadable,
        first: usize,
        files: &mut [FileEntry],
        mut reader: Option<&mut dyn IndexWorker>,
    ) {
        let mut buffer = Vec::with_capacity(USUAL_BYTES);
        for (place, found) in (first..).zip(files) {
            let Some(note) = read_note(dir, found, &mut buffer, unreadable) else {
                self.lost.push(place);
                continue;
            };
            self.kept.add(&note);
            reader.iter_mut().for_each(|reader| reader.read(&note));
            if found.name.is_some() {
                self.odd.push((place, note));
            }
        }
    }
}

/// Tells of the index, after it was written anew where that is asked for: how many notes there are, how
/// many of them the index knows as they are, and its length in bytes.
pub(super) fn index_facts(
    place: &IndexLocation<'_>,
    rebuilt_with: Option<Box<dyn IndexBuilder>>,
) -> Result<Facts, Error> {
    if let Some(gather) = rebuilt_with {
        let unwritable = || Error::new(ErrorKind::Failure, "no index can be written");
        let begun = IndexWriter::new(place).ok_or_else(unwritable)?;
        if !read_all(place, scan::notes_to_read(place.dir)?, Some(gather), Some(begun)).is_written {
            return Err(unwritable().hint("is there a folder in the place of cache/notes.index?"));
        }
    }
    let files = scan::notes(place.dir)?.files;
    let (known, bytes) = match Index::open(place) {
        Some(index) => (index.compare(&files).known(), index.len()),
        None => (0, 0),
    };
    Ok(vec![("notes", files.len() as u64), ("known", known as u64), ("bytes", bytes)])
}

/// Lists what stands where notes are and is passed over: symbolic links, pipes and the like, and
/// files and folders that can't be read. Paths are inside the store.
pub(super) fn passed_over(dir: &DirHandle) -> Vec<PassedOver> {
    let why = |item: &TreeItem| match item.kind {
        None => Some(FOLDER_UNREADABLE),
        Some(FileType::Link) => Some("a symbolic link is not followed"),
        Some(FileType::File) if item.is_note() => {
            let error = dir.file(&item.path).err()?;
            is_unreadable(&error).then_some(FILE_UNREADABLE)
        }
        Some(FileType::Other) if item.is_note() => Some("it is not a plain file"),
        _ => None,
    };
    let all = NOTE_FOLDERS.iter().flat_map(|folder| tree::items(dir, folder, |path| !tree::is_hidden(path)));
    all.filter_map(|item| Some((item.shown(), why(&item)?))).collect()
}

/// Lists the temporary files of writers that died, anywhere in the store.
pub(super) fn left_over(dir: &DirHandle) -> Vec<String> {
    // An index may just be written; what is left over of one goes away by itself.
    let all = tree::items(dir, "", |path| path != Path::new(CACHE));
    let ours = all
        .into_iter()
        .filter(|item| item.kind == Some(FileType::File) && item.path.file_name().is_some_and(files::is_temporary));
    ours.map(|item| item.shown()).collect()
}

/// Reads a note, and notes down how its file looked before; one buffer does for many.
fn read_note(dir: &DirHandle, found: &mut FileEntry, buffer: &mut Vec<u8>, unreadable: &Unreadable) -> Option<Note> {
    progress::advance();
    match read_into(dir, found.real_path(), buffer) {
        Ok(look) => found.look = look,
        Err(error) => {
            if is_unreadable(&error) {
                let lost = (found.path.to_string(), FILE_UNREADABLE);
                unreadable.lock().unwrap_or_else(PoisonError::into_inner).push(lost);
            }
            return None;
        }
    }
    Some(Note::parse(&found.path, buffer.as_slice().to_vec()))
}

/// Reads a plain file, of an over-long one the beginning: one byte more than a note may have, so that it is noticed.
/// Returns how it looked before.
fn read_into(dir: &DirHandle, path: &Path, buffer: &mut Vec<u8>) -> io::Result<FileStat> {
    buffer.clear();
    let (file, metadata) = dir.file_and_metadata(path)?;
    // One byte more than there seem to be: most files then end where they seemed to.
    let expected = metadata.len().min(MAX_BYTES as u64) as usize;
    let mut file = file.take(MAX_BYTES as u64 + 1);
    buffer.resize(expected + 1, 0);
    let read = match file.read(buffer) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
        read => read?,
    };
    buffer.truncate(read);
    if read != expected || read == 0 {
        file.read_to_end(buffer)?;
    }
    Ok(FileStat::of(&metadata))
}

/// The files of a store, and what was kept of them.
#[derive(Debug)]
struct StoreFiles {
    dir: Arc<DirHandle>,
    shelf: ColumnStore,
    is_broken: Arc<AtomicBool>,
}

fn files_of(dir: &Arc<DirHandle>, shelf: ColumnStore, is_broken: &Arc<AtomicBool>) -> Arc<dyn RecordSource> {
    Arc::new(StoreFiles { dir: Arc::clone(dir), shelf, is_broken: Arc::clone(is_broken) })
}

impl RecordSource for StoreFiles {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        // Many may be held at once: each takes the room that it needs.
        let mut bytes = Vec::new();
        read_into(&self.dir, Path::new(path), &mut bytes).ok()?;
        Some(bytes)
    }

    fn chunk(&self, part: usize, number: usize) -> Option<Vec<u8>> {
        self.shelf.chunk(part, number)
    }

    fn tell_broken(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
    }
}
