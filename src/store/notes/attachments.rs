//! The files of a store that are not notes: attachments and templates.

use std::io::ErrorKind as IoErrorKind;
use std::path::Path;

use super::store::Store;
use crate::error::{Error, ErrorKind};
use crate::note::NoteId;
use crate::store::collections::layout::{ATTACHMENTS, TEMPLATES};
use crate::store::fs::dir_handle::{FileType, is_link};
use crate::store::fs::files;
use crate::store::fs::skipped::{FOLDER_UNREADABLE, IgnoredEntry};
use crate::store::fs::tree::{self, TreeItem};

/// The greatest length of a template that is read, in bytes: a parser takes many times as much memory.
const MAX_TEMPLATE: u64 = 256 * 1024;

impl Store {
    /// Lists the paths of the attachments in the store, sorted. Hidden files and symbolic links are skipped.
    ///
    /// # Errors
    /// `Store` if a name is not UTF-8 or a folder can't be read.
    pub fn attachments(&self) -> Result<Vec<String>, Error> {
        let mut paths = Vec::new();
        for item in self.attachment_items() {
            match item.kind {
                Some(FileType::File) => paths.push(path_inside(&item.path)?),
                None => {
                    let message = format!("{} can't be read", self.shown(&item.shown()));
                    return Err(Error::new(ErrorKind::Store, message).hint("it contains attachments"));
                }
                Some(_) => {}
            }
        }
        paths.sort_unstable();
        Ok(paths)
    }

    /// Lists what in the attachments folder is neither an attachment nor hidden: paths in the store, with the reason.
    pub fn ignored_attachments(&self) -> Vec<IgnoredEntry> {
        let reason = |item: &TreeItem| match item.kind {
            Some(FileType::File | FileType::Folder) => None,
            Some(FileType::Link) => Some("a symbolic link is not followed"),
            Some(FileType::Other) => Some("it is not a regular file"),
            None => Some(FOLDER_UNREADABLE),
        };
        self.attachment_items().iter().filter_map(|item| Some((item.shown(), reason(item)?))).collect()
    }

    /// Lists all entries in the folder of attachments that are not hidden. If the folder is a symbolic link, that.
    fn attachment_items(&self) -> Vec<TreeItem> {
        let all = self.first().dir.iter().flat_map(|dir| tree::items(dir, ATTACHMENTS, |path| !tree::is_hidden(path)));
        all.filter(|item| !tree::is_hidden(&item.path)).collect()
    }

    /// Reads a file of the store; `None` if there is none.
    ///
    /// # Errors
    /// `Failure` if it can't be read, is not a regular file, or a symbolic link is on the way to it.
    pub fn file(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        self.file_of(path, u64::MAX)
    }

    /// Reads a file as [`Store::file`] does; `None` also if it is longer than `max_bytes` bytes.
    pub(crate) fn file_of(&self, path: &str, max_bytes: u64) -> Result<Option<Vec<u8>>, Error> {
        let (collection, local_path) = self.locate(path);
        let Some(dir) = &collection.dir else { return Ok(None) };
        let why = match dir.read(Path::new(local_path), max_bytes) {
            Ok(bytes) => return Ok(Some(bytes)),
            Err(error) if matches!(error.kind(), IoErrorKind::NotFound | IoErrorKind::FileTooLarge) => return Ok(None),
            Err(error) if is_link(&error) => "it is a symbolic link, or its folder leads out of the store".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(Error::new(ErrorKind::Failure, format!("can't read {}: {why}", self.shown(path))))
    }

    /// Whether a file can get another path in the store: nothing has it, or it is its own in another case.
    pub fn can_move(&self, from: &str, to: &str) -> bool {
        let [before, after] = [from, to].map(|path| self.first().root.join(path));
        !self.is_taken(to) || files::differ_by_case_alone(&before, &after)
    }

    /// Whether a file, directory or symbolic link has this path in the store.
    pub fn is_taken(&self, path: &str) -> bool {
        self.first().root.join(path).symlink_metadata().is_ok()
    }

    /// Reads the template for new notes of a type; `None` if there is none.
    ///
    /// # Errors
    /// `Failure` if it can't be read.
    pub fn template(&self, kind: &str) -> Result<Option<String>, Error> {
        if self.is_source() || NoteId::parse(kind).is_none() {
            return Ok(None);
        }
        let path = format!("{TEMPLATES}/{kind}.md");
        let Some(bytes) = self.file_of(&path, MAX_TEMPLATE)? else { return Ok(None) };
        let text = String::from_utf8(bytes);
        text.map(Some).map_err(|_| Error::new(ErrorKind::Store, format!("{} is not UTF-8", self.shown(&path))))
    }
}

/// Returns the path of an attachment in the store.
fn path_inside(path: &Path) -> Result<String, Error> {
    let names: Option<Vec<&str>> = path.components().map(|part| part.as_os_str().to_str()).collect();
    let message = || format!("the name of {} is not UTF-8", path.display());
    names.map(|names| names.join("/")).ok_or_else(|| Error::new(ErrorKind::Store, message()))
}
