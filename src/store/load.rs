//! Reads every note of a store, whatever state it is in.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use walkdir::{DirEntry, WalkDir};

use super::NOTE_FOLDERS;
use crate::error::{Error, ErrorKind};
use crate::note::{MAX_BYTES, Note};

/// How deep folders may lie in one another.
const MAX_DEPTH: usize = 32;

/// Reads the notes under the store's folders, in no particular order. Hidden files and symbolic
/// links are passed over; so is a file that can't be read (it may just have been removed).
pub(super) fn read_notes(root: &Path) -> Result<Vec<Note>, Error> {
    if let Err(error) = root.read_dir() {
        return Err(Error::new(ErrorKind::Store, format!("the store can't be read: {error}")));
    }
    let paths: Vec<PathBuf> = NOTE_FOLDERS.iter().flat_map(|folder| note_files(&root.join(folder))).collect();
    Ok(paths.par_iter().filter_map(|path| read_note(root, path)).collect())
}

fn note_files(folder: &Path) -> Vec<PathBuf> {
    if folder.is_symlink() {
        return Vec::new();
    }
    WalkDir::new(folder)
        .max_depth(MAX_DEPTH)
        .follow_links(false)
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry))
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file() && entry.path().extension().is_some_and(|ending| ending == "md"))
        .map(DirEntry::into_path)
        .collect()
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

fn read_note(root: &Path, path: &Path) -> Option<Note> {
    let bytes = read_beginning(path).ok()?;
    let inside = path.strip_prefix(root).ok()?;
    let names: Vec<_> = inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    Some(Note::parse(&names.join("/"), bytes))
}

/// Reads one byte more than a note may have, so that a longer one is noticed.
fn read_beginning(path: &Path) -> std::io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let len = file.metadata()?.len().min(MAX_BYTES as u64 + 1) as usize;
    let mut bytes = Vec::with_capacity(len);
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
