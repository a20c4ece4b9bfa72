//! Reading the file of a note: a regular file, at most as much of it as is parsed.

use std::io;
use std::path::Path;

use crate::note::MAX_BYTES;
use crate::store::fs::dir_handle::DirHandle;
use crate::store::fs::stat::FileStat;

/// As much of a file as is read: one more byte than is parsed reveals a longer one.
const MAX_READ: u64 = MAX_BYTES as u64 + 1;

/// Reads a regular file as far as [`MAX_READ`]. Returns the stat from before the read.
///
/// # Errors
/// If the file can't be opened or read, or is not a regular file.
pub(super) fn read_into(dir: &DirHandle, path: &Path, buffer: &mut Vec<u8>) -> io::Result<FileStat> {
    buffer.clear();
    dir.read_start(path, MAX_READ, buffer)
}

/// Announces the files that [`read_into`] will read, in this order.
pub(in crate::store) fn announce<'p>(dir: &DirHandle, paths: impl Iterator<Item = &'p Path>) {
    dir.announce(paths, MAX_READ);
}
