//! The indices of notes.

use std::ops::Index;
use std::sync::Arc;

use super::note_handle::NoteHandle;
use crate::codec::index_type::index_type;

index_type! {
    /// The index of a note in the list of all notes of a store, which is sorted by id.
    pub NoteIdx
}

impl NoteIdx {
    /// Returns the index of the note at a position of the list.
    #[inline]
    pub(crate) fn new(position: usize) -> Self {
        Self(position as u32)
    }

    /// Returns all notes with their indices, in order.
    pub(crate) fn enumerate(
        notes: &[Arc<NoteHandle>],
    ) -> impl ExactSizeIterator<Item = (Self, &Arc<NoteHandle>)> + DoubleEndedIterator + Clone {
        Self::all(notes.len()).zip(notes)
    }
}

/// A set of notes, with a byte for each note up to the last one in it: a query may find a million.
#[derive(Debug, Clone, Default)]
pub struct NoteSet(Vec<bool>);

impl NoteSet {
    /// Adds a note; returns whether it was not in the set.
    pub(crate) fn insert(&mut self, note: NoteIdx) -> bool {
        if self.0.len() <= note.index() {
            self.0.resize(note.index() + 1, false);
        }
        !std::mem::replace(&mut self.0[note.index()], true)
    }

    /// Whether the set contains a note.
    pub fn contains(&self, note: NoteIdx) -> bool {
        self.0.get(note.index()).copied().unwrap_or_default()
    }
}

impl FromIterator<NoteIdx> for NoteSet {
    fn from_iter<T: IntoIterator<Item = NoteIdx>>(notes: T) -> Self {
        let mut set = Self::default();
        for note in notes {
            set.insert(note);
        }
        set
    }
}

impl Index<NoteIdx> for [Arc<NoteHandle>] {
    type Output = Arc<NoteHandle>;

    #[inline]
    fn index(&self, note: NoteIdx) -> &Self::Output {
        &self[note.index()]
    }
}
