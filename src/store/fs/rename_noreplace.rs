//! Renames that overwrite no file: renameat2(2) on Linux, `renameatx_np` on macOS, and the closest substitutes elsewhere.

use std::fs;
use std::io;
use std::path::Path;

/// Exchanges two names atomically. Returns `false` without a change if the file system can't.
pub(in crate::store) fn exchange(first: &Path, second: &Path) -> io::Result<bool> {
    match with_flag(first, second, Flag::Exchange) {
        Err(error) if is_unsupported(&error) => Ok(false),
        result => result.map(|()| true),
    }
}

/// Renames a file atomically without replacing another. On a file system without such a rename a hard link is made; on one
/// without hard links the target is checked before the rename.
///
/// # Errors
/// `AlreadyExists` if the new name exists.
pub(in crate::store) fn rename_noreplace(from: &Path, to: &Path) -> io::Result<()> {
    match with_flag(from, to, Flag::NoReplace) {
        Err(error) if is_unsupported(&error) => {}
        result => return result,
    }
    match hard_link(from, to) {
        // Without the old name gone, the new one is taken back: a rename is whole or not made.
        Ok(()) => fs::remove_file(from).inspect_err(|_| drop(fs::remove_file(to))),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) if to.symlink_metadata().is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

fn hard_link(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(test)]
    if HAS_NO_LINKS.get() {
        return Err(rustix::io::Errno::PERM.into());
    }
    fs::hard_link(from, to)
}

/// Whether an error means that the file system does not support an operation.
pub(super) fn is_unsupported(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let unsupported = [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOTTY, Errno::BADF];
        Errno::from_io_error(error).is_some_and(|errno| unsupported.contains(&errno))
    }
    #[cfg(not(unix))]
    {
        error.kind() == io::ErrorKind::Unsupported
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Exchange,
    NoReplace,
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn with_flag(from: &Path, to: &Path, flag: Flag) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    #[cfg(test)]
    if IS_OLD_FILE_SYSTEM.get() {
        return Err(rustix::io::Errno::INVAL.into());
    }
    let flags = match flag {
        Flag::Exchange => RenameFlags::EXCHANGE,
        Flag::NoReplace => RenameFlags::NOREPLACE,
    };
    Ok(renameat_with(CWD, from, CWD, to, flags)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn with_flag(_: &Path, _: &Path, _: Flag) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
pub(in crate::store) use tests::{HAS_NO_LINKS, IS_OLD_FILE_SYSTEM};

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// Whether this thread finds a file system that knows no flags of `renameat2`.
        pub(in crate::store) static IS_OLD_FILE_SYSTEM: Cell<bool> = const { Cell::new(false) };
        /// Whether this thread finds a file system that refuses hard links.
        pub(in crate::store) static HAS_NO_LINKS: Cell<bool> = const { Cell::new(false) };
    }

    #[test]
    fn a_rename_overwrites_nothing_on_any_file_system() {
        for (is_old, has_no_links) in [(false, false), (true, false), (true, true)] {
            IS_OLD_FILE_SYSTEM.set(is_old);
            HAS_NO_LINKS.set(has_no_links);
            let dir = tempfile::tempdir().unwrap();
            let [from, to] = ["from", "to"].map(|name| dir.path().join(name));
            fs::write(&from, "one").unwrap();
            fs::write(&to, "two").unwrap();
            assert_eq!(rename_noreplace(&from, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert_eq!((fs::read(&from).unwrap(), fs::read(&to).unwrap()), (b"one".to_vec(), b"two".to_vec()));
            fs::remove_file(&to).unwrap();
            rename_noreplace(&from, &to).unwrap();
            assert_eq!((from.exists(), fs::read(&to).unwrap()), (false, b"one".to_vec()));
            fs::write(&from, "two").unwrap();
            assert_eq!(exchange(&from, &to).unwrap(), !is_old);
            assert_eq!(fs::read(&from).unwrap(), if is_old { b"two" } else { b"one" });
        }
        IS_OLD_FILE_SYSTEM.set(false);
        HAS_NO_LINKS.set(false);
    }
}
