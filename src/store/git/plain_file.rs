//! Regular files by their paths: opened without following a symbolic link in their place and without blocking, and read up
//! to a length.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

#[cfg(unix)]
pub(in crate::store) use unix::*;

#[cfg(unix)]
mod unix {
    use std::fs::Metadata;
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::fs::{Mode, OFlags};
    use rustix::io::{Errno, retry_on_intr};

    use super::{File, Path, io, not_plain};

    /// The most attempts to open a file on which another process holds a lease, and the pause between them; the kernel breaks
    /// a lease after 45 seconds (`/proc/sys/fs/lease-break-time`).
    const LEASE_TRIES: usize = 6_000;
    const LEASE_PAUSE: Duration = Duration::from_millis(10);

    /// Flags that neither follow a symbolic link nor block on a pipe.
    pub(in crate::store) const FILE_FLAGS: OFlags =
        OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

    /// Opens a regular file by its path for reading; anything else is an error. Only links on the way to it are followed.
    pub(in crate::store) fn open_plain(path: &Path) -> io::Result<File> {
        plain_file(|flags| retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))).map(|(file, _)| file)
    }

    /// Opens a regular file by a call that takes flags; returns its metadata too. Anything else is an error.
    pub(in crate::store) fn plain_file(
        open: impl Fn(OFlags) -> rustix::io::Result<OwnedFd>,
    ) -> io::Result<(File, Metadata)> {
        let mut tries = 0;
        let file = loop {
            match open(FILE_FLAGS) {
                // The attempt made the kernel ask the holder to give the lease back.
                Err(Errno::WOULDBLOCK) if tries < LEASE_TRIES => std::thread::sleep(LEASE_PAUSE),
                opened => break File::from(opened?),
            }
            tries += 1;
        };
        let metadata = file.metadata()?;
        if metadata.is_file() { Ok((file, metadata)) } else { Err(not_plain()) }
    }
}

/// Opens a regular file by its path for reading; anything else is an error. Only links on the way to it are followed.
#[cfg(not(unix))]
pub(in crate::store) fn open_plain(path: &Path) -> io::Result<File> {
    if path.symlink_metadata()?.is_file() { File::open(path) } else { Err(not_plain()) }
}

/// Reads an open file.
///
/// # Errors
/// `FileTooLarge` if it is longer than `max_bytes`.
pub(in crate::store) fn read_whole(file: File, max_bytes: u64) -> io::Result<Vec<u8>> {
    let len = file.metadata()?.len();
    if len > max_bytes {
        return Err(too_long(max_bytes));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(len).unwrap_or_default())?;
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { Err(too_long(max_bytes)) } else { Ok(bytes) }
}

pub(in crate::store) fn not_plain() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

pub(in crate::store) fn too_long(max_bytes: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {max_bytes} bytes"))
}
