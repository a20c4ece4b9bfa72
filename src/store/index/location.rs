//! Where the index of a store is, and which directories can contain it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::codec::hex::hex;
use crate::note::Dialect;
use crate::store::fs::dir_handle::DirHandle;

/// The folder of derived files in a store.
pub(in crate::store) const FOLDER: &str = "cache";
/// The name of the index file in it.
pub(in crate::store) const FILE: &str = "notes.index";

/// The root of a store, and where its index may be.
pub(in crate::store) struct IndexLocation<'a> {
    pub(crate) root: &'a Path,
    pub(crate) dir: &'a Arc<DirHandle>,
    pub(crate) cache: Option<&'a Path>,
    /// Whether an index is read and written.
    pub(crate) uses_index: bool,
    /// The modification time in nanoseconds from which on files are reported as recent.
    pub(crate) since: Option<i64>,
    /// The dialect of a source; `None` for a store.
    pub(crate) source: Option<Dialect>,
}

impl IndexLocation<'_> {
    pub(crate) fn dialect(&self) -> Dialect {
        self.source.unwrap_or_default()
    }

    /// Whether an index of the notes is read: not for a few commits, which are found without it.
    pub(in crate::store) fn reads_index(&self) -> bool {
        let is_few = matches!(&**self.dir, DirHandle::History(dir) if dir.only.is_some());
        self.uses_index && !is_few
    }

    /// Whether an index is written: not one of the commits up to another than the one that is checked out.
    pub(in crate::store) fn writes_index(&self) -> bool {
        let is_once = matches!(&**self.dir, DirHandle::History(dir) if dir.repository.commit.is_some());
        self.reads_index() && !is_once
    }

    /// Returns the path of the index in the user's cache folder. A source has one for each dialect.
    pub(in crate::store) fn user_cache_dir(&self) -> Option<PathBuf> {
        let dir = user_cache_dir(self.root, self.cache?);
        Some(if self.source.is_some() { dir.join(self.dialect().name()) } else { dir })
    }
}

/// Opens the directories in which an index may be: `cache` in the store, else, for a store that can't be written, one in
/// the user's cache folder. In the store, a symbolic link is not followed.
pub(in crate::store) fn dirs<'a>(location: &'a IndexLocation<'_>) -> impl Iterator<Item = Arc<DirHandle>> + 'a {
    // Nothing is written into the folder of a source.
    let in_store = || location.source.is_none().then(|| location.dir.folder(Path::new(FOLDER)).ok()).flatten();
    let in_cache = || DirHandle::new(&location.user_cache_dir()?).ok();
    let open = move |is_in_store: bool| if is_in_store { in_store() } else { in_cache() };
    [true, false].into_iter().filter_map(open).map(Arc::new)
}

/// Returns the path of the directory for a store in the user's cache folder.
pub(in crate::store) fn user_cache_dir(root: &Path, cache: &Path) -> PathBuf {
    let name = Sha256::digest(root.as_os_str().as_encoded_bytes());
    cache.join("qipu").join(hex(name.get(..8).unwrap_or_default()))
}
