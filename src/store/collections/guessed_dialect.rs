//! The dialect of a folder, by what it contains.

use crate::note::Dialect;
use crate::store::fs::dir_handle::{DirHandle, FileType};

/// Returns the application whose vault a folder is.
pub(super) fn vault_dialect(dir: &DirHandle) -> Option<Dialect> {
    let has = |name: &str| dir.kind(name.as_ref()) == Some(FileType::Folder);
    if has(".obsidian") {
        return Some(Dialect::Obsidian);
    }
    (has("logseq") && has("pages")).then_some(Dialect::Logseq)
}

/// Returns the dialect of a folder that is named without one.
pub(super) fn guessed_dialect(dir: &DirHandle) -> Dialect {
    vault_dialect(dir).unwrap_or(Dialect::Markdown)
}
