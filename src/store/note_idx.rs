//! The indices of notes.

use std::ops::Index;
use std::sync::Arc;

use super::NoteHandle;
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

impl Index<NoteIdx> for [Arc<NoteHandle>] {
    type Output = Arc<NoteHandle>;

    #[inline]
    fn index(&self, note: NoteIdx) -> &Self::Output {
        &self[note.index()]
    }
}
