//! A file of sections, each of which can be read in part and is never taken for another one.
//!
//! ```text
//! MAGIC  section…  table  (where the table begins, its checksum, MAGIC)      sections begin at whole blocks
//! ```
//! The table names the sections and has a checksum for each block of what is before it: whatever is
//! read was checked, and only that.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::dir_handle::DirHandle;
use crate::codec::lz4::{compress, decompress};

/// What a file of this version begins and ends with. Another version's is not read: the number is
/// raised when what is kept of notes changes, or how they are read.
const MAGIC: &[u8] = concat!("qipu-index 9 ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();
/// How many bytes have one checksum.
const BLOCK: u64 = 4096;
/// The longest sections that are read, in bytes: those of some hundred million notes.
const MAX_LEN: u64 = 1 << 36;
/// The bytes behind the table, without the magic.
const FOOT: usize = 12;

/// Where the sections are, and the checksums of blocks.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Footer {
    /// Where each section begins and ends.
    ranges: Vec<(u64, u64)>,
    sums: Vec<u32>,
}

/// An open file of sections.
#[derive(Debug)]
pub(super) struct Container {
    file: File,
    table: Footer,
    /// Where the table begins, and its checksum.
    end: u64,
    sum: u32,
    len: u64,
}

impl Container {
    /// Opens a file in a folder; `None` where it is not a whole one of this version.
    pub(super) fn open(folder: &DirHandle, name: &str) -> Option<Self> {
        let mut file = folder.file(Path::new(name)).ok()?;
        let len = file.metadata().ok()?.len();
        let mut magic = vec![0; MAGIC.len()];
        file.read_exact(&mut magic).ok()?;
        let foot_start = len.checked_sub((FOOT + MAGIC.len()) as u64)?;
        file.seek(SeekFrom::Start(foot_start)).ok()?;
        let mut foot = Vec::new();
        (&mut file).take((FOOT + MAGIC.len()) as u64).read_to_end(&mut foot).ok()?;
        let (start, rest) = foot.split_first_chunk::<8>()?;
        let (sum, rest) = rest.split_first_chunk::<4>()?;
        let end = u64::from_le_bytes(*start);
        // A checksum takes five bytes at most, and there are few sections.
        let longest = (end / BLOCK + 1).saturating_mul(5).saturating_add(BLOCK);
        if magic != MAGIC || rest != MAGIC || end > foot_start.min(MAX_LEN) || foot_start - end > longest {
            return None;
        }
        let (table, sum) = (read_at(&file, end..foot_start)?, u32::from_le_bytes(*sum));
        if crc32fast::hash(&table) != sum {
            return None;
        }
        let table = postcard::from_bytes(&table).ok()?;
        Some(Self { file, table, end, sum, len })
    }

    /// Returns the length of the file in bytes.
    pub(super) fn file_len(&self) -> u64 {
        self.len
    }

    /// Returns the checksum of the table, which holds those of everything else.
    pub(super) fn sum(&self) -> u32 {
        self.sum
    }

    /// Returns the length of a section in bytes; 0 where there is none.
    pub(super) fn len(&self, section: usize) -> u64 {
        self.range(section).map_or(0, |range| range.end - range.start)
    }

    /// Returns bytes of a section; `None` where they are not there, or not what was written.
    pub(super) fn read(&self, section: usize, range: Range<u64>) -> Option<Vec<u8>> {
        let all = self.range(section)?;
        let wanted = all.start.checked_add(range.start)?..all.start.checked_add(range.end)?;
        if wanted.start > wanted.end || wanted.end > all.end {
            return None;
        }
        let first = wanted.start / BLOCK;
        let start = first * BLOCK;
        let end = wanted.end.div_ceil(BLOCK).saturating_mul(BLOCK).min(self.end);
        let (first, last) = (usize::try_from(first).ok()?, usize::try_from(end.div_ceil(BLOCK)).ok()?);
        // Asked first: a file may be long on paper only.
        let sums = self.table.sums.get(first..last.max(first))?;
        let mut bytes = read_at(&self.file, start..end.max(start))?;
        let mut blocks = bytes.chunks(BLOCK as usize).zip(sums);
        if !blocks.all(|(block, sum)| crc32fast::hash(block) == *sum) {
            return None;
        }
        bytes.truncate(usize::try_from(wanted.end - start).ok()?);
        if wanted.start > start {
            bytes.drain(..usize::try_from(wanted.start - start).ok()?);
        }
        Some(bytes)
    }

    /// Returns a whole section.
    pub(super) fn whole(&self, section: usize) -> Option<Vec<u8>> {
        self.read(section, 0..self.len(section))
    }

    /// Returns a whole section that was written packed.
    pub(super) fn unpacked(&self, section: usize) -> Option<Vec<u8>> {
        decompress(&self.whole(section)?)
    }

    fn range(&self, section: usize) -> Option<Range<u64>> {
        let (start, end) = *self.table.ranges.get(section)?;
        (start <= end && end <= self.end).then_some(start..end)
    }
}

/// Reads bytes of a file without moving in it, so that several threads can.
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

/// A container file being written.
pub(super) struct ContainerWriter<'a> {
    file: BufWriter<&'a mut File>,
    /// Where each section begins and ends.
    ranges: Vec<(u64, u64)>,
    sums: BlockChecksums,
}

/// The checksums of what was written.
#[derive(Default)]
struct BlockChecksums {
    blocks: Vec<u32>,
    /// How many bytes were written.
    place: u64,
    block: crc32fast::Hasher,
}

impl BlockChecksums {
    fn add(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = (BLOCK - self.place % BLOCK) as usize;
            let (now, later) = rest.split_at(room.min(rest.len()));
            self.block.update(now);
            self.place += now.len() as u64;
            if self.place.is_multiple_of(BLOCK) {
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
    /// Begins with an empty file.
    pub(super) fn new(file: &'a mut File) -> io::Result<Self> {
        let file = BufWriter::with_capacity(1 << 18, file);
        let mut writer = Self { file, ranges: Vec::new(), sums: BlockChecksums::default() };
        writer.write(&[MAGIC])?;
        Ok(writer)
    }

    /// Writes a whole section.
    pub(super) fn section(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.section_of(std::iter::once(bytes))
    }

    /// Writes a whole section that is in pieces.
    pub(super) fn section_of<'b>(&mut self, pieces: impl Iterator<Item = &'b [u8]>) -> io::Result<()> {
        let padding = self.sums.place.next_multiple_of(BLOCK) - self.sums.place;
        self.write(&[&vec![0; padding as usize]])?;
        let start = self.sums.place;
        self.write(&pieces.collect::<Vec<_>>())?;
        self.ranges.push((start, self.sums.place));
        Ok(())
    }

    /// Writes a whole section packed: smaller, and it can be read as a whole only.
    pub(super) fn packed(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.section(&compress(bytes))
    }

    fn write(&mut self, pieces: &[&[u8]]) -> io::Result<()> {
        let Self { file, sums, .. } = self;
        let write = || pieces.iter().try_for_each(|bytes| file.write_all(bytes));
        rayon::join(write, || pieces.iter().for_each(|bytes| sums.add(bytes))).0
    }

    /// Writes the table.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if !self.sums.place.is_multiple_of(BLOCK) {
            self.sums.end_block();
        }
        let table = Footer { ranges: self.ranges, sums: self.sums.blocks };
        let table = postcard::to_allocvec(&table).map_err(io::Error::other)?;
        self.file.write_all(&table)?;
        self.file.write_all(&self.sums.place.to_le_bytes())?;
        self.file.write_all(&crc32fast::hash(&table).to_le_bytes())?;
        self.file.write_all(MAGIC)?;
        self.file.flush()
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
    fn packed_sections_are_read_whole() {
        let text = "a text of some length, and again ".repeat(1000).into_bytes();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut writer = ContainerWriter::new(file.as_file_mut()).unwrap();
        [text.as_slice(), b"", b"x"].iter().for_each(|bytes| writer.packed(bytes).unwrap());
        writer.section(&[255, 255, 255, 127, 0]).unwrap();
        writer.finish().unwrap();
        let read = open(file.path()).unwrap();
        assert_eq!([0, 1, 2].map(|number| read.unpacked(number)), [Some(text), Some(Vec::new()), Some(b"x".to_vec())]);
        assert_eq!([3, 4].map(|number| read.unpacked(number)), [None, None]);
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
            let is_padding = !(0..all.len()).any(|number| {
                let range = read.range(number).unwrap();
                range.contains(&(place as u64))
            });
            assert!(!is_read || is_padding, "{place}");
        }
        for len in [0, 5, good.len() / 2, good.len() - 1] {
            fs::write(file.path(), &good[..len]).unwrap();
            assert!(open(file.path()).is_none(), "{len}");
        }
    }
}
