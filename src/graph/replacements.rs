//! The notes that answers show in place of others: successors and digests.

use std::sync::Arc;

use super::{Compactions, Successions};
use crate::store::{NoteHandle, NoteIdx};

/// The successors and the digests of a store.
#[derive(Debug, Default)]
pub struct Replacements {
    /// Digests; none if compaction is off.
    pub digests: Compactions,
    /// Successors.
    pub successions: Successions,
}

impl Replacements {
    /// Returns the replacements of an answer; without digests if `no_compaction`.
    pub fn for_answer(notes: &[Arc<NoteHandle>], no_compaction: bool) -> Self {
        let digests = Compactions::new(notes);
        let successions = Successions::new(notes, &digests);
        Self { digests: if no_compaction { Compactions::default() } else { digests }, successions }
    }

    /// Returns the digests of an answer that shows replaced notes as they are; none if `no_compaction`.
    pub fn only_digests(notes: &[Arc<NoteHandle>], no_compaction: bool) -> Self {
        Self { digests: Compactions::for_answer(notes, no_compaction), ..Self::default() }
    }

    /// Returns the note shown in place of a note: the end of its successors and digests, else the note itself.
    pub fn representative(&self, note: NoteIdx) -> NoteIdx {
        let mut note = self.successions.current(note);
        while let Some(digest) = self.digests.digest_of(note) {
            note = self.successions.current(digest);
        }
        note
    }
}
