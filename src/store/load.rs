//! Reads every note of a store, whatever state it is in.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use walkdir::{DirEntry, WalkDir};

use super::{NOTE_FOLDERS, files};
use crate::error::{Error, ErrorKind};
use crate::note::{MAX_BYTES, Note};

/// More than most notes have, in bytes.
const USUAL_BYTES: usize = 32 * 1024;

/// Reads the notes under the store's folders, in the order of their paths' bytes. Hidden files and
/// symbolic links are passed over; so is a file that can't be read (it may just have been removed).
pub(super) fn read_notes(root: &Path) -> Result<Vec<Arc<Note>>, Error> {
    let mut paths = Vec::new();
    for folder in NOTE_FOLDERS {
        paths.extend(note_files(&root.join(folder))?);
    }
    // Comparing paths name by name takes longer than reading some of the files.
    paths.par_sort_unstable_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
    // One buffer for each thread saves asking every file for its length.
    let buffer = || Vec::with_capacity(USUAL_BYTES);
    let notes = paths.par_iter().map_init(buffer, |buffer, path| read_note(root, path, buffer));
    Ok(notes.flatten().collect())
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

/// Lists the note files below a folder; a folder that is not there, or is a link, has none.
fn note_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    match folder.symlink_metadata() {
        Ok(found) if found.is_dir() => {}
        _ => return Ok(Vec::new()),
    }
    if let Err(error) = folder.read_dir() {
        return Err(Error::new(ErrorKind::Store, format!("{} can't be read: {error}", folder.display())));
    }
    let entries = WalkDir::new(folder).follow_links(false).into_iter();
    Ok(entries
        .filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry))
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file() && entry.path().extension().is_some_and(|ending| ending == "md"))
        .map(DirEntry::into_path)
        .collect())
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

fn read_note(root: &Path, path: &Path, buffer: &mut Vec<u8>) -> Option<Arc<Note>> {
    buffer.clear();
    // One byte more than a note may have, so that a longer one is noticed.
    File::open(path).and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(buffer)).ok()?;
    let inside = path.strip_prefix(root).ok()?;
    let names: Vec<_> = inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    Some(Arc::new(Note::parse(&names.join("/"), buffer.as_slice().to_vec())))
}
