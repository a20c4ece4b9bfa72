//! A container file: sections that can be read in part, with a checksum for each block.
//!
//! ```text
//! MAGIC  section…  footer  trailer = (offset of the footer: u64, CRC-32 of the footer: u32, MAGIC)
//! ```
//! Sections begin at multiples of [`BLOCK`]. The footer has the range of each section and a checksum for each block before
//! it, so that a read checks the blocks that it reads and no others. Integers are little-endian.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::store::fs::dir_handle::DirHandle;

/// The first and last bytes of a file of this version; other versions are not read. The number is raised when the format
/// changes, or the way in which notes are parsed.
const MAGIC: &[u8] = concat!("qipu-index 15 ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();
/// The number of bytes that share a checksum.
const BLOCK: u64 = 4096;
/// The greatest offset of a footer, in bytes; a hundred million notes stay below it.
const MAX_LEN: u64 = 1 << 36;
/// The length of the trailer without the magic, in bytes.
const TRAILER_LEN: usize = 12;

/// The directory of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Footer {
    /// The first offset of each section and the one behind it.
    ranges: Vec<(u64, u64)>,
    block_crcs: Vec<u32>,
}

#[derive(Debug)]
pub(in crate::store) struct Container {
    file: File,
    footer: Footer,
    end: u64,
    /// The checksum of the footer, which covers all others.
    pub(super) footer_crc: u32,
    pub(super) file_len: u64,
}

impl Container {
    /// Opens a file; `None` if it is not a complete container of this version.
    pub(crate) fn open(folder: &DirHandle, name: &str) -> Option<Self> {
        let mut file = folder.file(Path::new(name)).ok()?;
        let len = file.metadata().ok()?.len();
        let mut magic = vec![0; MAGIC.len()];
        file.read_exact(&mut magic).ok()?;
        let trailer_start = len.checked_sub((TRAILER_LEN + MAGIC.len()) as u64)?;
        file.seek(SeekFrom::Start(trailer_start)).ok()?;
        let mut trailer = Vec::new();
        (&mut file).take((TRAILER_LEN + MAGIC.len()) as u64).read_to_end(&mut trailer).ok()?;
        let (start, rest) = trailer.split_first_chunk::<8>()?;
        let (crc, rest) = rest.split_first_chunk::<4>()?;
        let end = u64::from_le_bytes(*start);
        // A checksum takes five bytes at most as a varint, and there are few sections.
        let longest = (end / BLOCK + 1).saturating_mul(5).saturating_add(BLOCK);
        if magic != MAGIC || rest != MAGIC || end > trailer_start.min(MAX_LEN) || trailer_start - end > longest {
            return None;
        }
        let (footer, footer_crc) = (read_at(&file, end..trailer_start)?, u32::from_le_bytes(*crc));
        if crc32fast::hash(&footer) != footer_crc {
            return None;
        }
        let footer = postcard::from_bytes(&footer).ok()?;
        Some(Self { file, footer, end, footer_crc, file_len: len })
    }

    /// Returns the length of a section in bytes; 0 if it does not exist.
    pub(crate) fn len(&self, section: usize) -> u64 {
        self.range(section).map_or(0, |range| range.end - range.start)
    }

    /// Reads a byte range of a section; `None` if it is out of bounds or a checksum does not match.
    pub(crate) fn read(&self, section: usize, range: Range<u64>) -> Option<Vec<u8>> {
        let all = self.range(section)?;
        let wanted = all.start.checked_add(range.start)?..all.start.checked_add(range.end)?;
        if wanted.start > wanted.end || wanted.end > all.end {
            return None;
        }
        let first = wanted.start / BLOCK;
        let start = first * BLOCK;
        let end = wanted.end.div_ceil(BLOCK).saturating_mul(BLOCK).min(self.end);
        let (first, last) = (usize::try_from(first).ok()?, usize::try_from(end.div_ceil(BLOCK)).ok()?);
        // Before anything is allocated: a damaged footer may give any length.
        let crcs = self.footer.block_crcs.get(first..last.max(first))?;
        let mut bytes = read_at(&self.file, start..end.max(start))?;
        let mut blocks = bytes.chunks(BLOCK as usize).zip(crcs);
        if !blocks.all(|(block, crc)| crc32fast::hash(block) == *crc) {
            return None;
        }
        bytes.truncate(usize::try_from(wanted.end - start).ok()?);
        if wanted.start > start {
            bytes.drain(..usize::try_from(wanted.start - start).ok()?);
        }
        Some(bytes)
    }

    pub(crate) fn whole(&self, section: usize) -> Option<Vec<u8>> {
        self.read(section, 0..self.len(section))
    }

    fn range(&self, section: usize) -> Option<Range<u64>> {
        let (start, end) = *self.footer.ranges.get(section)?;
        (start <= end && end <= self.end).then_some(start..end)
    }
}

/// Reads a byte range without moving the file's offset, so that several threads can; `None` if that fails.
fn read_at(file: &File, range: Range<u64>) -> Option<Vec<u8>> {
    let len = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).ok()?;
    bytes.resize(len, 0);
    #[cfg(unix)]
    std::os::unix::fs::FileExt::read_exact_at(file, &mut bytes, range.start).ok()?;
    #[cfg(windows)]
    {
        let mut done = 0;
        while done < bytes.len() {
            let rest = bytes.get_mut(done..)?;
            match std::os::windows::fs::FileExt::seek_read(file, rest, range.start + done as u64).ok()? {
                0 => return None,
                count => done += count,
            }
        }
    }
    Some(bytes)
}

pub(super) struct ContainerWriter<'a> {
    file: BufWriter<&'a mut File>,
    /// The first offset of each section and the one behind it.
    ranges: Vec<(u64, u64)>,
    checksums: BlockChecksums,
}

/// The checksums of the bytes that were written.
#[derive(Default)]
struct BlockChecksums {
    blocks: Vec<u32>,
    len: u64,
    block: crc32fast::Hasher,
}

impl BlockChecksums {
    fn add(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = (BLOCK - self.len % BLOCK) as usize;
            let (now, later) = rest.split_at(room.min(rest.len()));
            self.block.update(now);
            self.len += now.len() as u64;
            if self.len.is_multiple_of(BLOCK) {
                self.end_block();
            }
            rest = later;
        }
    }

    fn end_block(&mut self) {
        self.blocks.push(std::mem::take(&mut self.block).finalize());
    }
}

impl<'a> ContainerWriter<'a> {
    pub(crate) fn new(file: &'a mut File) -> io::Result<Self> {
        let file = BufWriter::with_capacity(1 << 18, file);
        let mut writer = Self { file, ranges: Vec::new(), checksums: BlockChecksums::default() };
        writer.write(&[MAGIC])?;
        Ok(writer)
    }

    pub(crate) fn section(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.section_of(std::iter::once(bytes))
    }

    pub(super) fn section_of<'b>(&mut self, chunks: impl Iterator<Item = &'b [u8]>) -> io::Result<()> {
        let padding = self.checksums.len.next_multiple_of(BLOCK) - self.checksums.len;
        self.write(&[&vec![0; padding as usize]])?;
        let start = self.checksums.len;
        self.write(&chunks.collect::<Vec<_>>())?;
        self.ranges.push((start, self.checksums.len));
        Ok(())
    }

    fn write(&mut self, chunks: &[&[u8]]) -> io::Result<()> {
        let Self { file, checksums, .. } = self;
        let write = || chunks.iter().try_for_each(|bytes| file.write_all(bytes));
        rayon::join(write, || chunks.iter().for_each(|bytes| checksums.add(bytes))).0
    }

    /// Ends the file. Returns its length and the checksum of its footer.
    pub(crate) fn finish(mut self) -> io::Result<(u64, u32)> {
        if !self.checksums.len.is_multiple_of(BLOCK) {
            self.checksums.end_block();
        }
        let footer = Footer { ranges: self.ranges, block_crcs: self.checksums.blocks };
        let footer = postcard::to_allocvec(&footer).map_err(io::Error::other)?;
        self.file.write_all(&footer)?;
        self.file.write_all(&self.checksums.len.to_le_bytes())?;
        let crc = crc32fast::hash(&footer);
        self.file.write_all(&crc.to_le_bytes())?;
        self.file.write_all(MAGIC)?;
        self.file.flush()?;
        Ok((self.checksums.len + (footer.len() + TRAILER_LEN + MAGIC.len()) as u64, crc))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn written(sections: &[Vec<u8>]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut writer = ContainerWriter::new(file.as_file_mut()).unwrap();
        sections.iter().for_each(|section| writer.section(section).unwrap());
        writer.finish().unwrap();
        file
    }

    fn open(path: &Path) -> Option<Container> {
        let folder = DirHandle::new(path.parent().unwrap()).unwrap();
        Container::open(&folder, path.file_name().unwrap().to_str().unwrap())
    }

    fn sections() -> Vec<Vec<u8>> {
        let bytes = |len: usize| (0..len).map(|n| (n * n % 251) as u8).collect::<Vec<u8>>();
        vec![bytes(10), Vec::new(), bytes(9000), bytes(4096 * 3), bytes(1)]
    }

    #[test]
    fn every_part_of_a_section_is_what_was_written() {
        let all = sections();
        let file = written(&all);
        let read = open(file.path()).unwrap();
        for (number, section) in all.iter().enumerate() {
            assert_eq!(read.whole(number).as_ref(), Some(section));
            for start in [0, 1, 4000, 4096, 8999] {
                for end in [start, start + 1, start + 5000] {
                    let part = section.get(start..end).map(<[u8]>::to_vec);
                    assert_eq!(read.read(number, start as u64..end as u64), part, "{number} {start} {end}");
                }
            }
        }
        assert_eq!((read.whole(5), read.len(5)), (None, 0));
        assert_eq!(read.read(2, u64::MAX - 1..u64::MAX), None);
    }

    #[test]
    fn sections_are_read_whole() {
        let text = "a text of some length, and again ".repeat(1000).into_bytes();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut writer = ContainerWriter::new(file.as_file_mut()).unwrap();
        [text.as_slice(), b"", b"x"].iter().for_each(|bytes| writer.section(bytes).unwrap());
        writer.finish().unwrap();
        let read = open(file.path()).unwrap();
        assert_eq!(
            [0, 1, 2, 3].map(|number| read.whole(number)),
            [Some(text), Some(Vec::new()), Some(b"x".to_vec()), None]
        );
    }

    #[test]
    fn what_was_changed_is_not_read() {
        let all = sections();
        let file = written(&all);
        let good = fs::read(file.path()).unwrap();
        for place in (0..good.len()).step_by(7) {
            let mut bad = good.clone();
            bad[place] ^= 1;
            fs::write(file.path(), &bad).unwrap();
            let Some(read) = open(file.path()) else { continue };
            for (number, section) in all.iter().enumerate() {
                assert!(read.whole(number).is_none_or(|read| read == *section), "{place}");
            }
            let is_read = (0..all.len()).all(|number| read.whole(number).is_some());
            let is_padding = !(0..all.len()).any(|number| read.range(number).unwrap().contains(&(place as u64)));
            assert!(!is_read || is_padding, "{place}");
        }
        for len in [0, 5, good.len() / 2, good.len() - 1] {
            fs::write(file.path(), &good[..len]).unwrap();
            assert!(open(file.path()).is_none(), "{len}");
        }
    }
}
