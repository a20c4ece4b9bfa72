//! The record of the notes that hooks have shown in any session, by which `review` finds those that were never shown: an id
//! on each line. It can be deleted at any time.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::shown_record::{append_lines, hash};
use crate::store::fs::files;
use crate::store::git::plain_file::open_plain;
use crate::store::notes::store::Store;

/// The folder of records in the folder of qipu in the user's cache folder.
const FOLDER: &str = "qipu/shown";
/// The bytes from which on nothing is added to a record: it no longer tells which notes were never shown.
const MAX_BYTES: usize = 64 * 1024;

/// The record of a store.
#[derive(Debug)]
pub struct ShownNotes {
    path: PathBuf,
}

impl ShownNotes {
    /// Returns the record of the store in a folder, in the user's cache folder.
    pub fn of_store(cache: &Path, root: &Path) -> Self {
        Self { path: cache.join(FOLDER).join(hash(&[&root.to_string_lossy()])) }
    }

    /// Reads the ids of the notes that were shown. `None` if there is no record, or if it is full or can't be read.
    pub fn read(&self) -> Option<BTreeSet<String>> {
        let text = self.text().ok()?;
        (text.len() < MAX_BYTES).then(|| text.lines().map(str::to_owned).collect())
    }

    /// Adds the ids of notes, unless the record has them or is full.
    ///
    /// # Errors
    /// If the record can't be read or written.
    pub fn add<'a>(&self, ids: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let text = match self.text() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text.with_context(|| format!("can't read {}", self.path.display()))?,
        };
        let known: BTreeSet<&str> = text.lines().collect();
        let new: BTreeSet<&str> = ids.into_iter().filter(|id| !known.contains(id)).collect();
        if new.is_empty() || text.len() >= MAX_BYTES {
            return Ok(());
        }
        files::make_folders(&self.path)?;
        append_lines(&self.path, new)
    }

    fn text(&self) -> io::Result<String> {
        let mut bytes = Vec::new();
        open_plain(&self.path)?.take(MAX_BYTES as u64).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Store {
    /// Returns the ids of the notes that hooks have shown; `None` if that is not known.
    pub fn shown_notes(&self) -> Option<BTreeSet<String>> {
        ShownNotes::of_store(self.cache.as_deref()?, &self.first().root).read()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_each_id_once_until_it_is_full() {
        let cache = tempfile::tempdir().unwrap();
        let record = ShownNotes::of_store(cache.path(), Path::new("/a/.qipu"));
        assert_eq!(record.read(), None);
        record.add(["qp-a", "qp-b", "qp-a"]).unwrap();
        record.add(["qp-b", "qp-c"]).unwrap();
        assert_eq!(std::fs::read_to_string(&record.path).unwrap(), "qp-a\nqp-b\nqp-c\n");
        assert_eq!(record.read().unwrap().len(), 3);
        assert_eq!(ShownNotes::of_store(cache.path(), Path::new("/b/.qipu")).read(), None);
        let many: Vec<String> = (0..10_000).map(|number| format!("qp-{number}")).collect();
        record.add(many.iter().map(String::as_str)).unwrap();
        assert_eq!(record.read(), None);
        let size = std::fs::metadata(&record.path).unwrap().len();
        record.add(["qp-new"]).unwrap();
        assert_eq!(std::fs::metadata(&record.path).unwrap().len(), size);
    }
}
