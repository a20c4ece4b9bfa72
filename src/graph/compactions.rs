//! Compaction: digests, which are notes that replace other notes in answers.

use std::sync::Arc;

use super::NameIndex;
use crate::store::{NoteHandle, NoteIdx};

/// The digests of a store and the notes that each replaces.
#[derive(Debug, Default)]
pub struct Compactions {
    /// The digest that replaces each note, by note index.
    digests: Vec<Option<NoteIdx>>,
    /// The notes that each note replaces directly, by note index, in the order of its frontmatter.
    members: Vec<Vec<NoteIdx>>,
    /// Entries of `compacts` that can't be used: the index of the digest, and the reason as a sentence.
    pub(crate) refused: Vec<(NoteIdx, String)>,
}

impl Compactions {
    /// Returns the compactions to apply to an answer; none if `no_compaction`.
    pub fn for_answer(notes: &[Arc<NoteHandle>], no_compaction: bool) -> Self {
        if no_compaction { Self::default() } else { Self::new(notes) }
    }

    /// Reads the `compacts` fields of all notes but drafts. A note has at most one digest: the first by id. A digest that
    /// would replace itself, directly or through others, is refused, and one that [may not](NoteHandle::may_replace).
    pub fn new(notes: &[Arc<NoteHandle>]) -> Self {
        let mut digests = Self::default();
        // What nobody has accepted must not hide what was accepted.
        let is_digest = |note: &NoteHandle| note.flags.has_compacts && !note.is_draft();
        if !notes.iter().any(|note| is_digest(note)) {
            return digests;
        }
        digests.digests = vec![None; notes.len()];
        digests.members = vec![Vec::new(); notes.len()];
        let names = NameIndex::new(notes);
        for (digest, note) in NoteIdx::enumerate(notes).filter(|(_, note)| is_digest(note)) {
            for name in note.relations().compacts {
                if let Err(reason) = digests.add(digest, names.resolve_from(digest, name), notes) {
                    digests.refused.push((digest, format!("it can't be a digest of `{name}`: {reason}")));
                }
            }
        }
        digests
    }

    fn add(&mut self, digest: NoteIdx, note: Option<NoteIdx>, notes: &[Arc<NoteHandle>]) -> Result<(), String> {
        let Some(note) = note else {
            return Err("no such note".to_owned());
        };
        if !notes[digest].may_replace(&notes[note]) {
            return Err(barred(&notes[digest], &notes[note]));
        }
        match self.digests[note.index()] {
            Some(other) if other == digest => return Ok(()),
            Some(other) => return Err(format!("`{}` already is", notes[other].id)),
            None if self.representative(digest) == note => return Err("that note is a digest of this one".to_owned()),
            None => {}
        }
        self.digests[note.index()] = Some(digest);
        self.members[digest.index()].push(note);
        Ok(())
    }

    /// Returns the note shown in place of a note: its topmost digest, else the note itself.
    pub fn representative(&self, note_index: NoteIdx) -> NoteIdx {
        let mut current = note_index;
        while let Some(digest) = self.digest_of(current) {
            current = digest;
        }
        current
    }

    /// Returns the digest that directly replaces a note.
    pub fn digest_of(&self, note_index: NoteIdx) -> Option<NoteIdx> {
        self.digests.get(note_index.index()).copied().flatten()
    }

    /// Returns the notes that a digest directly replaces.
    pub fn members(&self, digest: NoteIdx) -> &[NoteIdx] {
        self.members.get(digest.index()).map_or(&[], Vec::as_slice)
    }

    /// Tells whether no note is replaced.
    pub fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }
}

/// Returns the reason why a note replaces no note of another collection: see [`NoteHandle::may_replace`].
pub(super) fn barred(new: &NoteHandle, old: &NoteHandle) -> String {
    format!("notes of `{}` replace none of `{}`", new.collection_name(), old.collection_name())
}
