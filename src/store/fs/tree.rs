//! Lists all entries below a folder of the store. Symbolic links are listed and never followed.

use std::path::{Path, PathBuf};

use super::dir_handle::{DirHandle, FileType, is_unreadable};

/// An entry in a tree of directories.
#[derive(Debug)]
pub(in crate::store) struct TreeItem {
    /// Its real path, relative to the directory handle.
    pub(crate) path: PathBuf,
    /// Its type; `None` for a directory that can't be read.
    pub(crate) kind: Option<FileType>,
}

impl TreeItem {
    /// Returns the path as it is shown, with `/` between names.
    pub(crate) fn shown(&self) -> String {
        shown(&self.path)
    }

    /// Whether its name is one that a note may have.
    pub(in crate::store) fn is_note(&self) -> bool {
        self.path.extension().is_some_and(|ending| ending == "md") && !is_hidden(&self.path)
    }
}

/// Returns a path as it is shown, with `/` between names; bytes that are not UTF-8 are replaced.
pub(in crate::store) fn shown(path: &Path) -> String {
    path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}

pub(in crate::store) fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Lists the entries below a folder, in the order of their names. The path is relative to the directory handle, `""` for
/// its own directory, which is listed itself only if it can't be read; any other folder always is. Only directories whose
/// paths pass `enters` are entered.
pub(in crate::store) fn items(dir: &DirHandle, folder: &str, enters: impl Fn(&Path) -> bool) -> Vec<TreeItem> {
    let mut all = Vec::new();
    let mut waiting = vec![(PathBuf::from(folder), Some(FileType::Folder))];
    if !folder.is_empty() {
        waiting = match dir.stat(folder.as_ref()) {
            Ok((kind, _)) => vec![(PathBuf::from(folder), Some(kind))],
            Err(error) if is_unreadable(&error) => return vec![TreeItem { path: PathBuf::from(folder), kind: None }],
            Err(_) => Vec::new(),
        };
    }
    while let Some((path, mut kind)) = waiting.pop() {
        if kind == Some(FileType::Folder) && enters(&path) {
            match inside(dir, &path) {
                Ok(names) => waiting.extend(names.into_iter().rev()),
                Err(error) if is_unreadable(&error) => kind = None,
                Err(_) => continue,
            }
        }
        if kind.is_none() || !path.as_os_str().is_empty() {
            all.push(TreeItem { path, kind });
        }
    }
    all
}

/// Lists the entries of one directory, in the order of their names.
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
