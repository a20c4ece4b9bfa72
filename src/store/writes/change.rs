//! Changes of files in a store, as values.

use std::path::{Component, Path, PathBuf};

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use crate::diff::unified;
use crate::note::NOTE_FOLDERS;
use crate::store::collections::layout::ATTACHMENTS;
use crate::store::fs::files;
use crate::store::index::location::user_cache_dir;
use crate::store::index::source_scan::is_markdown;

/// A change of a file, with its bytes before (`old`) and after (`new`). Paths are in the store, with `/` between names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the enum describes its fields")]
pub enum Change {
    /// Creates a file that does not exist yet.
    Create {
        path: String,
        #[serde(with = "base64_bytes")]
        new: Vec<u8>,
    },
    /// Replaces the content of a file.
    Replace {
        path: String,
        #[serde(with = "base64_bytes")]
        old: Vec<u8>,
        #[serde(with = "base64_bytes")]
        new: Vec<u8>,
    },
    /// Renames a file, and may replace its content. The new path must not exist yet.
    Move {
        from: String,
        to: String,
        #[serde(with = "base64_bytes")]
        old: Vec<u8>,
        #[serde(with = "base64_bytes")]
        new: Vec<u8>,
    },
    /// Deletes a file.
    Delete {
        path: String,
        #[serde(with = "base64_bytes")]
        old: Vec<u8>,
    },
}

impl Change {
    /// Returns the file's path and bytes before and after the change; `None` if there is no file.
    pub(crate) fn files(&self) -> [Option<(&str, &[u8])>; 2] {
        match self {
            Self::Create { path, new } => [None, Some((path, new))],
            Self::Replace { path, old, new } => [Some((path, old)), Some((path, new))],
            Self::Move { from, to, old, new } => [Some((from, old)), Some((to, new))],
            Self::Delete { path, old } => [Some((path, old)), None],
        }
    }

    /// Returns the file's path after the change; of a deletion that before.
    pub fn path(&self) -> &str {
        let [before, after] = self.files();
        after.or(before).map_or("", |(path, _)| path)
    }

    /// Returns the file's path before the change; of a new file that after.
    pub(in crate::store) fn source(&self) -> &str {
        let [before, after] = self.files();
        before.or(after).map_or("", |(path, _)| path)
    }

    /// Returns the word for the change in an answer.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Create { .. } => "created",
            Self::Replace { .. } => "changed",
            Self::Move { .. } => "renamed",
            Self::Delete { .. } => "deleted",
        }
    }

    /// Returns the change as a unified diff; `store` is the shown path of the store.
    pub fn diff(&self, store: &str) -> String {
        let [(from, old), (to, new)] = self.files().map(|file| {
            file.map_or(("/dev/null".to_owned(), "".into()), |(path, bytes)| {
                (format!("{store}{path}"), String::from_utf8_lossy(bytes))
            })
        });
        unified(&from, &to, &old, &new)
    }
}

/// Returns the difference between two texts of a file as a unified diff; `None` means that there is no file.
pub(crate) fn diff(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    let name = |text: Option<&str>| if text.is_some() { path } else { "/dev/null" };
    unified(name(old), name(new), old.unwrap_or_default(), new.unwrap_or_default())
}

/// The folder of a collection whose files are changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChangedFolder<'a> {
    pub(in crate::store) root: &'a Path,
    /// Whether it is that of a source, in which each file of markdown is a note.
    pub(in crate::store) is_source: bool,
}

impl ChangedFolder<'_> {
    /// Returns the folder for files of qipu's own, such as locks: the user's cache folder for a source, in which nothing
    /// else is created.
    pub(super) fn own_dir(self, cache: Option<&Path>) -> PathBuf {
        let cache = cache.filter(|_| self.is_source);
        cache.map_or_else(|| self.root.to_path_buf(), |cache| user_cache_dir(self.root, cache))
    }

    /// Whether a path may be that of a file that a change makes; its names are plain.
    fn has_place_for(self, path: &str) -> bool {
        if self.is_source {
            return is_markdown(path.as_bytes());
        }
        let (folder, name) = path.split_once('/').unwrap_or_default();
        let is_note = NOTE_FOLDERS.contains(&folder) && name.ends_with(".md");
        (is_note || folder == ATTACHMENTS) && !name.is_empty()
    }
}

/// Returns the real path of a note or attachment, as [`confine`] does, and creates its folder.
///
/// # Errors
/// As there; if the folder can't be created.
pub(super) fn confine_and_make_folder(target: ChangedFolder<'_>, path: &str) -> Result<PathBuf> {
    let path = confine(target, path)?;
    files::make_folders(&path)?;
    Ok(path)
}

/// Returns the real path of a note or attachment from its path in the collection.
///
/// # Errors
/// If the path is not that of a note or an attachment, or leads out of the collection.
pub(super) fn confine(target: ChangedFolder<'_>, path: &str) -> Result<PathBuf> {
    let root = target.root;
    let is_plain = |part: Component<'_>| match part {
        Component::Normal(name) => !name.as_encoded_bytes().starts_with(b"."),
        _ => false,
    };
    if !target.has_place_for(path) || !Path::new(path).components().all(is_plain) {
        bail!("`{path}` is not a place for a note or an attachment");
    }
    let path = root.join(path);
    let folder = path.parent().unwrap_or(root);
    // Checked before anything is created: an existing folder may be a symbolic link.
    if !files::canonical(files::nearest_folder(folder)?)?.starts_with(root) {
        let kind = if target.is_source { "source" } else { "store" };
        bail!("{} leads out of the {kind}", folder.display());
    }
    Ok(path)
}

/// Bytes as base64 in a text format.
mod base64_bytes {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map_err(serde::de::Error::custom)
    }
}
