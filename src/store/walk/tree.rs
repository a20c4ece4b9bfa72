//! Lists everything below a folder of the store, of whatever kind. Links are listed and never followed.

use std::path::{Path, PathBuf};

use super::dir_handle::{DirHandle, FileType, is_unreadable};

/// A name in a tree of folders.
#[derive(Debug)]
pub(super) struct TreeItem {
    /// Its real path, from the folder that the tree was asked of.
    pub(super) path: PathBuf,
    /// What it is; `None` for a folder that can't be read.
    pub(super) kind: Option<FileType>,
}

impl TreeItem {
    /// Returns the path as it is shown, with `/` between names.
    pub(super) fn shown(&self) -> String {
        self.path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
    }

    /// Tells whether it has a name that a note has.
    pub(super) fn is_note(&self) -> bool {
        self.path.extension().is_some_and(|ending| ending == "md") && !is_hidden(&self.path)
    }
}

/// Tells whether the last name of a path begins with a dot.
pub(super) fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Lists what is below a folder that is named from a directory handle, `""` for the handle's own, in the order of the
/// names: the folder itself unless that is the handle, and all in folders that `enters` agrees to by their paths.
pub(super) fn items(dir: &DirHandle, folder: &str, enters: impl Fn(&Path) -> bool) -> Vec<TreeItem> {
    let mut all = Vec::new();
    let mut waiting = vec![(PathBuf::from(folder), None)];
    if !folder.is_empty() {
        waiting = dir.kind(folder.as_ref()).map(|kind| (PathBuf::from(folder), Some(kind))).into_iter().collect();
    }
    while let Some((path, mut kind)) = waiting.pop() {
        if kind.is_none_or(|kind| kind == FileType::Folder) && enters(&path) {
            match inside(dir, &path) {
                Ok(names) => waiting.extend(names.into_iter().rev()),
                Err(error) if is_unreadable(&error) => kind = None,
                Err(_) => continue,
            }
        }
        if !path.as_os_str().is_empty() {
            all.push(TreeItem { path, kind });
        }
    }
    all
}

/// Lists what is in one folder, in the order of the names.
fn inside(dir: &DirHandle, path: &Path) -> std::io::Result<Vec<(PathBuf, Option<FileType>)>> {
    let below = if path.as_os_str().is_empty() { None } else { Some(dir.folder(path)?) };
    let entries = below.as_ref().unwrap_or(dir).entries()?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        names.push((path.join(&entry.name), Some(entry.kind)));
    }
    names.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    Ok(names)
}
