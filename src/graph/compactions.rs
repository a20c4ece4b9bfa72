//! Compaction: which note stands for which others.

use std::sync::Arc;

use super::NameIndex;
use crate::note::Note;

/// The digests of a store and what they stand for.
#[derive(Debug, Default)]
pub struct Compactions {
    /// For each note, the digest that stands for it.
    digests: Vec<Option<usize>>,
    /// For each note, the notes that it stands for itself, in the order in which it names them.
    members: Vec<Vec<usize>>,
    /// What a digest names and can't stand for, and why.
    refused: Vec<(usize, String)>,
}

impl Compactions {
    /// Returns the digests that stand in for notes in an answer: none where it is to show all notes.
    pub fn for_answer(notes: &[Arc<Note>], no_compaction: bool) -> Self {
        if no_compaction { Self::default() } else { Self::new(notes) }
    }

    /// Reads what the notes' `compacts` say. A note has one digest: the first by id; nothing
    /// stands for itself, by way of others neither.
    pub fn new(notes: &[Arc<Note>]) -> Self {
        let mut digests = Self::default();
        if !notes.iter().any(|note| note.has_compacts()) {
            return digests;
        }
        digests.digests = vec![None; notes.len()];
        digests.members = vec![Vec::new(); notes.len()];
        let names = NameIndex::new(notes);
        for (digest, note) in notes.iter().enumerate().filter(|(_, note)| note.has_compacts()) {
            for name in &note.compacts {
                if let Err(reason) = digests.add(digest, names.resolve(name), notes) {
                    digests.refused.push((digest, format!("it can't stand for `{name}`: {reason}")));
                }
            }
        }
        digests
    }

    fn add(&mut self, digest: usize, note: Option<usize>, notes: &[Arc<Note>]) -> Result<(), String> {
        let Some(note) = note else {
            return Err("there is no such note".to_owned());
        };
        match self.digests[note] {
            Some(other) if other == digest => return Ok(()),
            Some(other) => return Err(format!("`{}` does", notes[other].id)),
            None if self.representative(digest) == note => return Err("that stands for it".to_owned()),
            None => {}
        }
        self.digests[note] = Some(digest);
        self.members[digest].push(note);
        Ok(())
    }

    /// Returns the note that is shown for a note: the uppermost digest over it, else itself.
    pub fn representative(&self, note: usize) -> usize {
        let mut at = note;
        while let Some(digest) = self.digest_of(at) {
            at = digest;
        }
        at
    }

    /// Returns the digest that stands for a note.
    pub fn digest_of(&self, note: usize) -> Option<usize> {
        self.digests.get(note).copied().flatten()
    }

    /// Returns the notes that a note stands for itself.
    pub fn members(&self, digest: usize) -> &[usize] {
        self.members.get(digest).map_or(&[], Vec::as_slice)
    }

    /// Returns what digests name and can't stand for: the digest's place, and a sentence.
    pub fn refused(&self) -> &[(usize, String)] {
        &self.refused
    }

    /// Tells whether no note stands for another.
    pub fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }
}
