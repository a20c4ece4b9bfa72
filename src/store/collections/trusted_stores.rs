//! Trusted stores, whose statements on reliability count. The list is in a folder that no repository can write.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::env::WaitPolicy;
use crate::store::fs::{atomic_write, files};

/// The list in the user's configuration folder: on each line the identity of a store's folder, and its absolute path.
pub(super) const LIST: &str = "qipu/trusted-stores";
const HEADER: &str = "# Stores whose own claims about trust and confidence are believed: folder (device:inode:time of creation) and path.\n\
                      # `qipu init` adds the stores that it creates, `qipu init --trust` an existing one.\n";

/// How often the list is read again because another process changed it.
const MAX_TRIES: usize = 16;

pub(super) fn list_in(settings: &Path) -> PathBuf {
    settings.join(LIST)
}

/// Whether a store is in the list; `root` without symbolic links.
pub(in crate::store) fn is_trusted(root: &Path, settings: Option<&Path>) -> bool {
    let text = settings.and_then(|settings| files::read_if_there(&list_in(settings)).ok().flatten());
    text.is_some_and(|text| contains_root(&text, root))
}

/// Whether the list has the folder at a path. A path alone does not suffice: another repository may take its place. No path
/// of the list is followed: a link there could lead to any store.
fn contains_root(list: &str, root: &Path) -> bool {
    let Ok(identity) = identity(root) else { return false };
    entries(list).any(|(listed, path)| listed == identity && Path::new(path) == root)
}

/// Returns the identity and the path on each line.
fn entries(list: &str) -> impl Iterator<Item = (&str, &str)> {
    list.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.trim_end().split_once(' '))
}

/// Returns what tells a folder from another one in its place: device and inode, and the time of creation where the file
/// system has one, since the number of an inode that is free is used again.
fn identity(root: &Path) -> io::Result<String> {
    let metadata = root.symlink_metadata()?;
    let since_1970 = |time: std::time::SystemTime| time.duration_since(std::time::UNIX_EPOCH).ok();
    let created = metadata.created().ok().and_then(since_1970).map_or(0, |time| time.as_nanos());
    let [device, inode] = numbers(&metadata);
    Ok(format!("{device}:{inode}:{created}"))
}

#[cfg(unix)]
fn numbers(metadata: &Metadata) -> [u64; 2] {
    use std::os::unix::fs::MetadataExt;
    [metadata.dev(), metadata.ino()]
}

#[cfg(not(unix))]
fn numbers(_: &Metadata) -> [u64; 2] {
    [0, 0]
}

/// Adds a store to the list. Returns whether the list existed before; `None` if the store was in it.
///
/// The list is replaced as a whole: a part of a path that a full disk leaves could be that of another store.
pub(in crate::store) fn trust(root: &Path, settings: &Path, is_dry_run: bool) -> Result<Option<bool>> {
    let list = list_in(settings);
    let mut tries = 1;
    loop {
        let before = files::read_if_there(&list)?;
        if before.as_deref().is_some_and(|text| contains_root(text, root)) {
            return Ok(None);
        }
        let Some(path) = root.to_str().filter(|path| !path.contains(['\n', '\r'])) else {
            bail!("{} can't list the path of this store", list.display());
        };
        if is_dry_run {
            return Ok(Some(before.is_some()));
        }
        let mut text = before.as_deref().map_or_else(|| HEADER.to_owned(), |text| without_path(text, path));
        text += &format!("{} {path}\n", identity(root)?);
        files::make_folders(&list)?;
        let old = before.as_deref().map(str::as_bytes);
        match atomic_write::replace_if_unchanged(&list, old, text.as_bytes(), WaitPolicy::default()) {
            Ok(()) => return Ok(Some(before.is_some())),
            // Another process added a store at the same time.
            Err(_) if tries < MAX_TRIES && files::read_if_there(&list)? != before => tries += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Returns a list without the folder that a path was before, each line with its end.
fn without_path(list: &str, path: &str) -> String {
    let is_other = |line: &&str| entries(line).all(|(_, listed)| listed != path);
    list.lines().filter(is_other).map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_stores_and_grows_by_one_that_is_new() {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().canonicalize().unwrap();
        let settings = root.join("settings");
        assert!(!is_trusted(&root, None) && !is_trusted(&root, Some(&settings)));
        assert_eq!(trust(&root, &settings, true).unwrap(), Some(false));
        assert!(!settings.exists());
        assert_eq!(trust(&root, &settings, false).unwrap(), Some(false));
        assert_eq!(trust(&root, &settings, false).unwrap(), None);
        assert_eq!(trust(&settings, &settings, false).unwrap(), Some(true));
        assert!(is_trusted(&root, Some(&settings)) && !is_trusted(&root.join("qipu"), Some(&settings)));
        assert!(is_trusted(&settings, Some(&settings)));
        // A path alone, or that of another folder, is none.
        for line in [root.display().to_string(), format!("1:2:3 {}", root.display())] {
            std::fs::write(list_in(&settings), format!("#{line}\n{line}")).unwrap();
            assert!(!is_trusted(&root, Some(&settings)), "{line}");
        }
        assert_eq!(trust(&root, &settings, false).unwrap(), Some(true));
        assert!(is_trusted(&root, Some(&settings)));
    }

    #[cfg(unix)]
    #[test]
    fn another_folder_in_its_place_and_one_behind_a_link_are_not_trusted() {
        let tmp = tempfile::tempdir().unwrap();
        let base = tmp.path().canonicalize().unwrap();
        let (settings, mine, other) = (base.join("settings"), base.join("mine"), base.join("other"));
        std::fs::create_dir(&mine).unwrap();
        trust(&mine, &settings, false).unwrap();
        std::fs::rename(&mine, base.join("moved")).unwrap();
        std::fs::create_dir(&mine).unwrap();
        assert!(!is_trusted(&mine, Some(&settings)));
        trust(&mine, &settings, false).unwrap();
        assert!(is_trusted(&mine, Some(&settings)));
        assert_eq!(entries(&std::fs::read_to_string(list_in(&settings)).unwrap()).count(), 1);
        std::fs::create_dir(&other).unwrap();
        std::fs::remove_dir(&mine).unwrap();
        std::os::unix::fs::symlink(&other, &mine).unwrap();
        assert!(!is_trusted(&other, Some(&settings)) && !is_trusted(&mine, Some(&settings)));
    }
}
