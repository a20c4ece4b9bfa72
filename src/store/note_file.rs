//! Reading the file of a note: a regular file, at most as much of it as is parsed.

use std::io::{self, Read};
use std::path::Path;

use super::walk::dir_handle::DirHandle;
use super::walk::stat::FileStat;
use crate::note::MAX_BYTES;

/// Reads a regular file up to `MAX_BYTES + 1` bytes, which reveals longer ones. Returns the stat from before the read.
///
/// # Errors
/// If the file can't be opened or read, or is not a regular file.
pub(super) fn read_into(dir: &DirHandle, path: &Path, buffer: &mut Vec<u8>) -> io::Result<FileStat> {
    buffer.clear();
    let (file, metadata) = dir.file_and_metadata(path)?;
    // With room for one more byte than the stat says, most files are read by one call.
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
