//! What is known of a collection of an open store.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::files_by_name::FilesByName;
use super::note_handle::NoteHandle;
use super::text_index_builder::TextIndex;
use crate::store::collections::collection::Collection;
use crate::store::fs::dir_handle::DirHandle;
use crate::store::fs::read_errors::ReadErrors;
use crate::store::fs::skipped::IgnoredEntry;
use crate::store::fs::stat::FileStat;
use crate::store::index::sidecar::SidecarFile;
use crate::store::index::source_scan::SourceRules;

/// A collection of an open store.
#[derive(Debug, Default)]
pub(in crate::store) struct CollectionReader {
    pub(in crate::store) about: Arc<Collection>,
    /// Its folder; empty for a store that is only in memory.
    pub(in crate::store) root: PathBuf,
    /// The folder, open; everything in it is read through it.
    pub(in crate::store) dir: Option<Arc<DirHandle>>,
    /// The rules of a source.
    pub(in crate::store) rules: Option<Arc<SourceRules>>,
    /// The positions of its notes.
    pub(in crate::store) notes: Range<usize>,
    /// The files and folders among its notes that could not be read, sorted by path.
    pub(in crate::store) unreadable: Vec<IgnoredEntry>,
    /// The text index, if one was asked for and is in the index or was built, with positions in the list of all notes.
    pub(in crate::store) text_index: Option<TextIndex>,
    /// Where failed reads of the notes and of the index are recorded.
    pub(in crate::store) errors: Arc<ReadErrors>,
    /// The use of its index; `None` without one.
    pub(in crate::store) index: Option<IndexUse>,
    /// The cache for data that is derived from exactly these notes.
    pub(in crate::store) sidecar: Option<SidecarFile>,
    /// The cache for the merged terms of several text indexes, this one first.
    pub(in crate::store) terms: Option<SidecarFile>,
    /// The files of an Obsidian vault, listed when a link names one.
    pub(super) files_by_name: OnceLock<FilesByName>,
}

/// The notes of one collection, before they are put behind those of others.
#[derive(Default)]
pub(in crate::store) struct OpenedNotes {
    /// In byte order of their paths when they were read, then by id.
    pub(in crate::store) notes: Vec<Arc<NoteHandle>>,
    /// The hash of the id of each note, by which few are compared with those of other collections.
    pub(super) id_hashes: Vec<u64>,
    pub(in crate::store) collection: CollectionReader,
    /// The files modified since [`crate::store::index::location::IndexLocation::since`].
    pub(in crate::store) recent: RecentFiles,
}

/// What is known of an index: the number of notes that were taken from it or written to it, and its length in bytes.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) struct IndexUse {
    pub(in crate::store) notes: usize,
    pub(in crate::store) bytes: u64,
}

/// Files of notes, each with its stat from before it was read.
pub(super) type RecentFiles = Vec<(PathBuf, FileStat)>;
