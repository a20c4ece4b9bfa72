//! Reads every note of a store, whatever state it is in.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use walkdir::{DirEntry, WalkDir};

use super::index::{Begun, Index};
use super::scan::{self, Found};
use super::{Facts, NOTE_FOLDERS, files};
use crate::error::{Error, ErrorKind};
use crate::note::{Files, MAX_BYTES, Note};

/// More than most notes have, in bytes.
const USUAL_BYTES: usize = 32 * 1024;

/// Loads the notes under the store's folders, in the order of their paths' bytes: from the index what
/// did not change, the rest from its files. A file that can't be read is passed over (it may just
/// have been removed).
pub(super) fn notes(root: &Path, uses_index: bool) -> Result<Vec<Arc<Note>>, Error> {
    let files = scan::notes(root)?;
    if !uses_index {
        return Ok(read_all(root, &files, None).into_iter().flatten().collect());
    }
    let index = Index::read(root);
    let changed = index.as_ref().map_or(files.len(), |index| index.changed(&files));
    if Index::is_worth_writing(files.len(), changed)
        && let Some(begun) = Begun::new(root)
    {
        // Only what is looked at from now on can be told from what changes later.
        let files = scan::notes(root)?;
        let notes = read_all(root, &files, index.as_ref());
        begun.write(root, &files, &notes);
        return Ok(notes.into_iter().flatten().collect());
    }
    Ok(read_all(root, &files, index.as_ref()).into_iter().flatten().collect())
}

/// Tells of the index, after it was written anew where that is asked for: how many notes there are, how
/// many of them the index knows as they are, and its length in bytes.
pub(super) fn index_facts(root: &Path, is_rebuilt: bool) -> Result<Facts, Error> {
    if is_rebuilt {
        let begun =
            Begun::new(root).ok_or_else(|| Error::new(ErrorKind::Failure, "the store's cache can't be written"))?;
        let files = scan::notes(root)?;
        let notes = read_all(root, &files, None);
        begun.write(root, &files, &notes);
    }
    let files = scan::notes(root)?;
    let (known, bytes) = match Index::read(root) {
        Some(index) => (index.unchanged(&files).iter().flatten().count(), index.len()),
        None => (0, 0),
    };
    Ok(vec![("notes", files.len() as u64), ("known", known as u64), ("bytes", bytes as u64)])
}

/// Takes each file's note from the index, or reads it.
fn read_all(root: &Path, files: &[(PathBuf, Found)], index: Option<&Index>) -> Vec<Option<Arc<Note>>> {
    let reader: Arc<dyn Files> = Arc::new(StoreFiles { root: root.to_path_buf() });
    let places = index.map_or_else(|| vec![None; files.len()], |index| index.unchanged(files));
    // One buffer for each thread saves asking every file for its length.
    let buffer = || Vec::with_capacity(USUAL_BYTES);
    let note = |buffer: &mut Vec<u8>, (place, (path, found)): (&Option<usize>, &(PathBuf, Found))| {
        let kept = index.zip(*place).and_then(|(index, place)| index.note(place, &found.path, &reader));
        kept.map(Arc::new).or_else(|| read_note(path, &found.path, buffer))
    };
    places.par_iter().zip(files).with_min_len(16).map_init(buffer, note).collect()
}

/// Lists what stands where notes are and is passed over: symbolic links, pipes and the like, and
/// files that can't be read. Paths are inside the store.
pub(super) fn passed_over(root: &Path) -> Vec<(String, &'static str)> {
    let odd = entries(root).filter_map(|entry| {
        let is_note = entry.path().extension().is_some_and(|ending| ending == "md") && !is_hidden(&entry);
        let kind = entry.file_type();
        let why = match (kind.is_symlink(), kind.is_file(), kind.is_dir()) {
            (true, ..) => "a symbolic link is not followed",
            (_, true, _) if is_note && File::open(entry.path()).is_err() => "the file can't be read",
            (_, false, false) if is_note => "it is not a plain file",
            _ => return None,
        };
        Some((inside(root, entry.path())?, why))
    });
    odd.collect()
}

/// Lists the temporary files of writers that died, anywhere in the store.
pub(super) fn left_over(root: &Path) -> Vec<String> {
    let all = WalkDir::new(root).follow_links(false).sort_by_file_name().into_iter().filter_map(Result::ok);
    let ours = all.filter(|entry| entry.file_type().is_file() && files::is_temporary(entry.file_name()));
    ours.filter_map(|entry| inside(root, entry.path())).collect()
}

/// Everything in the folders that hold notes, in the order of the names.
fn entries(root: &Path) -> impl Iterator<Item = DirEntry> {
    let walk = |folder: &&str| WalkDir::new(root.join(folder)).follow_links(false).sort_by_file_name();
    let folders: Vec<_> = NOTE_FOLDERS.iter().map(walk).collect();
    folders.into_iter().flatten().filter_map(Result::ok)
}

fn inside(root: &Path, path: &Path) -> Option<String> {
    Some(path.strip_prefix(root).ok()?.to_string_lossy().replace('\\', "/"))
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

fn read_note(file: &Path, path: &str, buffer: &mut Vec<u8>) -> Option<Arc<Note>> {
    read_into(file, buffer)?;
    Some(Arc::new(Note::parse(path, buffer.as_slice().to_vec())))
}

/// Reads a file, of an over-long one the beginning: one byte more than a note may have, so that it is
/// noticed.
fn read_into(file: &Path, buffer: &mut Vec<u8>) -> Option<()> {
    buffer.clear();
    File::open(file).and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(buffer)).ok()?;
    Some(())
}

/// The files of a store.
#[derive(Debug)]
struct StoreFiles {
    root: PathBuf,
}

impl Files for StoreFiles {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(USUAL_BYTES);
        read_into(&self.root.join(path), &mut bytes)?;
        Some(bytes)
    }
}
