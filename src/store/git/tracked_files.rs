//! The index of git ([gitformat-index](https://git-scm.com/docs/index-format)), read without starting git: which files
//! of a working tree git tracks.

/// The bytes of the header, and of the checksum at the end, of an index whose objects have SHA-1 names.
const HEADER: usize = 12;
const CHECKSUM: usize = 20;
/// The bytes of an entry before its path, and of its extended flags.
const FIXED: usize = 62;
const EXTENDED: usize = 2;
/// The offsets of an entry's mode and flags.
const MODE: usize = 24;
const FLAGS: usize = 60;
/// Bits of the flags.
const IS_EXTENDED: u16 = 0x4000;
const STAGE: u16 = 0x3000;
/// The longest path, in bytes, and the most bytes of all paths for each byte of the index: in version 4, an entry of 64
/// bytes can repeat any length of the path before it.
const MAX_PATH: usize = 4_096;
const MAX_EXPANSION: usize = 4;
/// The modes of a regular file.
pub(super) const REGULAR_MODES: [u32; 2] = [0o100_644, 0o100_755];

/// The regular files that git tracks, below one folder of the working tree.
#[derive(Debug, Default)]
pub(in crate::store) struct TrackedFiles {
    /// The paths below the folder, ascending.
    paths: Vec<Box<[u8]>>,
    /// The bytes of all paths.
    len: usize,
}

impl TrackedFiles {
    /// Parses an index. `prefix`: the folder in the working tree, empty or with `/` at its end. `None` for an index that
    /// is damaged, of a form that is not known (split, sparse, or with names of another hash function), or whose paths are
    /// longer than [`MAX_PATH`] or [`MAX_EXPANSION`] allows. O(bytes).
    pub(in crate::store) fn parse(bytes: &[u8], prefix: &str) -> Option<Self> {
        let version = number(bytes, 4).filter(|version| bytes.starts_with(b"DIRC") && (2..=4).contains(version))?;
        let count = number(bytes, 8)?;
        let end = bytes.len().checked_sub(CHECKSUM)?;
        let (mut files, mut offset, mut path) = (Self::default(), HEADER, Vec::new());
        for _ in 0..count {
            let entry = bytes.get(offset..end)?;
            let flags = u16::from_be_bytes(entry.get(FLAGS..FIXED)?.try_into().ok()?);
            let is_extended = flags & IS_EXTENDED != 0 && version > 2;
            let start = FIXED + if is_extended { EXTENDED } else { 0 };
            let (kept, start) = if version == 4 { shared_len(entry, start, path.len())? } else { (0, start) };
            let suffix = entry.get(start..)?;
            let suffix = suffix.get(..suffix.iter().position(|byte| *byte == 0)?)?;
            path.truncate(kept);
            path.extend_from_slice(suffix);
            if path.len() > MAX_PATH || files.len + path.len() > bytes.len() * MAX_EXPANSION {
                return None;
            }
            let len = start + suffix.len();
            // An entry of versions 2 and 3 ends with one to eight zeros, at a multiple of eight bytes.
            offset += if version == 4 { len + 1 } else { (len + 8) & !7 };
            if flags & STAGE == 0 && REGULAR_MODES.contains(&number(entry, MODE)?) {
                files.add(&path, prefix);
            }
        }
        has_known_extensions(bytes.get(offset..end)?).then_some(files)
    }

    /// Makes the list of paths in ascending order.
    pub(in crate::store) fn of_paths<'p>(paths: impl Iterator<Item = &'p [u8]>, prefix: &str) -> Self {
        let mut files = Self::default();
        paths.for_each(|path| files.add(path, prefix));
        files
    }

    fn add(&mut self, path: &[u8], prefix: &str) {
        if let Some(path) = path.strip_prefix(prefix.as_bytes()) {
            self.paths.push(path.into());
            self.len += path.len();
        }
    }

    /// Whether a path below the folder is among them. O(log n).
    pub(in crate::store) fn contains(&self, path: &str) -> bool {
        self.paths.binary_search_by(|file| (**file).cmp(path.as_bytes())).is_ok()
    }
}

/// Whether all extensions are optional ones, which begin with a capital letter, and end at the checksum.
fn has_known_extensions(mut rest: &[u8]) -> bool {
    while let Some(first) = rest.first() {
        let Some(end) = number(rest, 4).and_then(|len| (len as usize).checked_add(8)) else { return false };
        let Some(behind) = rest.get(end..).filter(|_| first.is_ascii_uppercase()) else { return false };
        rest = behind;
    }
    true
}

/// Decodes how many bytes of a path are those of the one before, and where its own bytes begin: an "offset encoded"
/// varint at `start`, the number of bytes to remove.
fn shared_len(entry: &[u8], mut start: usize, before: usize) -> Option<(usize, usize)> {
    let mut removed = 0_usize;
    loop {
        let byte = *entry.get(start)?;
        start += 1;
        removed = removed.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some((before.checked_sub(removed)?, start));
        }
        removed = removed.checked_add(1)?;
    }
}

fn number(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(offset..offset.checked_add(4)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes an index of version 4; each entry keeps the path before it and adds to it.
    fn chained(count: usize, first: &str, suffix: &str) -> Vec<u8> {
        let mut bytes =
            [b"DIRC".as_slice(), &4_u32.to_be_bytes(), &u32::try_from(count).unwrap().to_be_bytes()].concat();
        for index in 0..count {
            let mut fixed = [0; FIXED];
            fixed[MODE..MODE + 4].copy_from_slice(&REGULAR_MODES[0].to_be_bytes());
            bytes.extend(fixed);
            bytes.push(0);
            bytes.extend(if index == 0 { first } else { suffix }.bytes());
            bytes.push(0);
        }
        bytes.extend([0; CHECKSUM]);
        bytes
    }

    #[test]
    fn a_small_index_of_long_paths_is_refused() {
        let files = TrackedFiles::parse(&chained(50, "a", "b"), "").unwrap();
        assert!(files.contains("a") && files.contains("abb") && !files.contains("b"));
        let longest = "a".repeat(MAX_PATH);
        assert!(TrackedFiles::parse(&chained(1, &longest, ""), "").unwrap().contains(&longest));
        assert!(TrackedFiles::parse(&chained(1, &format!("{longest}a"), ""), "").is_none());
        // Each path is short, and all of them are more than the index can hold.
        assert!(TrackedFiles::parse(&chained(1_000, "a", "b"), "").is_none());
        assert!(TrackedFiles::parse(&chained(3_000, "a", "b"), "x/").is_some(), "paths elsewhere are not kept");
    }
}
