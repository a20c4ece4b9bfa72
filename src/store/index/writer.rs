//! Writes the index file, and keeps its folder out of git.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::IndexHeader;
use super::column_store::COLUMN_GROUPS;
use super::container::ContainerWriter;
use super::file_table::{FILES_PER_BLOCK, PathBlock};
use super::location::{FILE, FOLDER, IndexLocation};
use super::racy_timestamps::{FOREIGN_GRANULARITY, TIMESTAMP_GRANULARITY};
use super::sidecar::{self, IndexFingerprint};
use crate::codec::blobs::ByteChunks;
use crate::codec::lz4::compress;
use crate::store::fs::dir_handle::{DirHandle, TempFile, is_temporary};
use crate::store::fs::stat::{FileEntry, FileStat};

/// The file that keeps git away from the folder of the index.
const GITIGNORE: &str = ".gitignore";

/// An index file being written. Created before the first stat, so that racy timestamps can be recognised.
pub(in crate::store) struct IndexWriter {
    staged: TempFile,
    dir: Arc<DirHandle>,
    /// The time of the file system when the file was created, in nanoseconds.
    begun: i64,
    granularity: i64,
}

impl IndexWriter {
    /// Creates the file; `None` if no index can be written.
    pub(crate) fn new(location: &IndexLocation<'_>) -> Option<Self> {
        Self::in_store(location).or_else(|| {
            let dir = location.user_cache_dir()?;
            fs::create_dir_all(&dir).ok()?;
            let dir = Arc::new(DirHandle::new(&dir).ok()?);
            let device = |dir: &DirHandle| dir.dir_stat().map(|stat| stat.device);
            let is_same_device = device(&dir).is_some_and(|own| device(location.dir) == Some(own));
            Self::in_dir(dir, if is_same_device { TIMESTAMP_GRANULARITY } else { FOREIGN_GRANULARITY })
        })
    }

    fn in_store(location: &IndexLocation<'_>) -> Option<Self> {
        if location.source.is_some() {
            return None;
        }
        if location.dir.kind(FOLDER.as_ref()).is_none() {
            location.dir.make_folder(FOLDER).ok()?;
        }
        let dir = Arc::new(location.dir.folder(Path::new(FOLDER)).ok()?);
        // An index that git would see is not written.
        ensure_ignored(&dir).ok()?;
        Self::in_dir(dir, TIMESTAMP_GRANULARITY)
    }

    fn in_dir(dir: Arc<DirHandle>, granularity: i64) -> Option<Self> {
        let staged = TempFile::new(Arc::clone(&dir)).ok()?;
        let begun = FileStat::of(&staged.file.metadata().ok()?).mtime;
        remove_stale(&dir, begun);
        Some(Self { staged, dir, begun, granularity })
    }

    /// Writes the index and replaces the one before. `records` are the compressed chunks of each column group,
    /// `text_index` is the key of the text index with its sections. Returns which index it is; `None` if it can't be
    /// written.
    pub(crate) fn write(
        mut self,
        files: &[FileEntry],
        records: &[Vec<Vec<u8>>; COLUMN_GROUPS],
        text_index: Option<(String, &[ByteChunks])>,
    ) -> Option<IndexFingerprint> {
        let (key, text_sections) = text_index.unwrap_or_default();
        let block = |files| Some(compress(&postcard::to_allocvec(&PathBlock::of(files, self.begun)?).ok()?));
        let blocks: Vec<Vec<u8>> = files.par_chunks(FILES_PER_BLOCK).map(block).collect::<Option<_>>()?;
        let header = IndexHeader {
            begun: self.begun,
            granularity: self.granularity,
            text_index: key,
            block_lens: blocks.iter().map(|block| block.len() as u32).collect(),
            chunk_lens: records.each_ref().map(|chunks| chunks.iter().map(|chunk| chunk.len() as u32).collect()),
        };
        let mut writer = ContainerWriter::new(&mut self.staged.file).ok()?;
        writer.section(&compress(&postcard::to_allocvec(&header).ok()?)).ok()?;
        writer.section_of(blocks.iter().map(Vec::as_slice)).ok()?;
        writer.section_of(records.iter().flatten().map(Vec::as_slice)).ok()?;
        text_sections.iter().try_for_each(|chunks| writer.section_of(chunks.iter().map(Vec::as_slice))).ok()?;
        let (len, crc) = writer.finish().ok()?;
        self.staged.replace(FILE).ok()?;
        // The sidecar files belong to the index before.
        sidecar::remove(&self.dir);
        Some((self.begun, len, crc))
    }
}

/// Keeps git away from a folder, whatever else ignores it. A file of the user's that is not empty stays; a full disk may
/// have left an empty one. The file gets its name when it is complete.
fn ensure_ignored(dir: &Arc<DirHandle>) -> io::Result<()> {
    let is_ignored = match dir.file_stat(GITIGNORE.as_ref())? {
        Some(stat) => stat.size > 0,
        // A folder or a link that came with the notes is not replaced.
        None => dir.kind(GITIGNORE.as_ref()).is_some(),
    };
    if is_ignored {
        return Ok(());
    }
    let mut staged = TempFile::new(Arc::clone(dir))?;
    staged.file.write_all(b"*\n")?;
    staged.set_shared()?;
    staged.replace(GITIGNORE)
}

/// Removes temporary files that processes left behind which died while they wrote an index, an hour ago or more.
fn remove_stale(dir: &DirHandle, now: i64) {
    let is_stale = |name: &OsStr| {
        let stat = dir.file_stat(name);
        stat.is_ok_and(|stat| stat.is_some_and(|stat| stat.mtime.saturating_add(FOREIGN_GRANULARITY) < now))
    };
    let names = dir.entries().into_iter().flatten().filter_map(|entry| Some(entry.ok()?.name));
    let stale: Vec<OsString> = names.filter(|name| is_temporary(name) && is_stale(name)).collect();
    stale.iter().for_each(|name| drop(dir.remove(name)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_is_kept_away_by_a_whole_file() {
        let dir = tempfile::tempdir().unwrap();
        let (handle, file) = (Arc::new(DirHandle::new(dir.path()).unwrap()), dir.path().join(GITIGNORE));
        let ensured = || {
            ensure_ignored(&handle).unwrap();
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
