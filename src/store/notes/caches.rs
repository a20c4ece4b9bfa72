//! What is derived from the notes of an open store and kept beside its index.

use std::sync::Arc;

use super::collection_reader::CollectionReader;
use super::note_handle::NoteHandle;
use super::note_idx::NoteIdx;
use super::store::Store;
use super::text_index_builder::TextIndex;
use crate::store::collections::collection::Tier;
use crate::store::index::sidecar::SidecarFile;

impl Store {
    /// Returns the text indexes of stores and documents. A collection that is too small for an index has none, as all of a
    /// store that was opened without a builder.
    pub fn text_indexes(&self) -> Vec<&TextIndex> {
        self.without_commits().filter_map(|collection| collection.text_index.as_ref()).collect()
    }

    fn without_commits(&self) -> impl Iterator<Item = &CollectionReader> {
        self.collections.iter().filter(|collection| collection.about.tier() != Tier::History)
    }

    /// Returns all notes but the commits, which stand behind them.
    pub fn notes_without_commits(&self) -> &[Arc<NoteHandle>] {
        self.notes.get(..self.commits_start()).unwrap_or_default()
    }

    /// Returns the position of the first commit; the number of notes if there are none. All commits stand behind the notes.
    pub fn commits_start(&self) -> usize {
        let last = self.collections.last().filter(|last| last.about.tier() == Tier::History);
        last.map_or(self.notes.len(), |commits| commits.notes.start)
    }

    /// Returns the text index of the commits, with positions from the first of them on.
    pub fn commits_index(&self) -> Option<TextIndex> {
        let start = self.commits_start();
        let index = self.collections.last()?.text_index.as_ref().filter(|_| start < self.notes.len())?;
        let shifted = |note: &Option<NoteIdx>| Some(NoteIdx::new((*note)?.index().checked_sub(start)?));
        let notes = index.notes.iter().map(shifted).collect();
        Some(TextIndex { blobs: Arc::clone(&index.blobs), notes, fingerprint: index.fingerprint })
    }

    /// Reads data that was derived from exactly the notes of a collection and cached under a key; `None` if there is none.
    pub fn cached(&self, collection: usize, key: &str) -> Option<Vec<u8>> {
        self.collections.get(collection)?.sidecar.as_ref()?.read(key)
    }

    /// Computes data that is derived from the notes of a collection and caches it under one key. Returns whether it was
    /// written.
    pub fn put_cached(&self, collection: usize, key: &str, compute: impl FnOnce() -> Vec<u8>) -> bool {
        // The index may turn out to be damaged only while the data is computed.
        let compute = || Some(compute()).filter(|_| !self.is_index_corrupt());
        let sidecar = self.collections.get(collection).and_then(|collection| collection.sidecar.as_ref());
        sidecar.is_some_and(|sidecar| sidecar.write(key, compute).is_some())
    }

    /// Returns the key of the merged terms of the text indexes, and where they are cached; `None` unless several are stored.
    fn terms_cache(&self) -> Option<(&SidecarFile, String)> {
        let fingerprints: Option<Vec<_>> = self.text_indexes().iter().map(|index| index.fingerprint).collect();
        let fingerprints = fingerprints.filter(|all| all.len() > 1)?;
        let first = self.without_commits().find(|collection| collection.text_index.is_some())?;
        Some((first.terms.as_ref()?, format!("terms 2 {fingerprints:?}")))
    }

    /// Reads the merged terms of exactly these text indexes; `None` if they are not cached.
    pub fn cached_terms(&self) -> Option<Vec<u8>> {
        let (cache, key) = self.terms_cache()?;
        cache.read(&key)
    }

    /// Caches the merged terms of these text indexes.
    pub fn put_cached_terms(&self, terms: &[u8]) {
        if let Some((cache, key)) = self.terms_cache() {
            // Without the cache, the next call merges them again.
            let _ = cache.write(&key, || Some(terms.to_vec()).filter(|_| !self.is_index_corrupt()));
        }
    }
}
