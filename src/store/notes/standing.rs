//! Which notes step back: retired ones, those that were turned down, and drafts.

use super::note_handle::NoteHandle;
use super::note_idx::NoteIdx;
use super::store::Store;

impl Store {
    /// Moves the items whose notes are retired behind the others; both keep their order.
    pub fn retired_last<T>(&self, all: impl IntoIterator<Item = T>, note_of: impl Fn(&T) -> NoteIdx) -> Vec<T> {
        let (retired, mut sorted): (Vec<T>, Vec<T>) = all.into_iter().partition(|item| self.is_retired(note_of(item)));
        sorted.extend(retired);
        sorted
    }

    /// Whether the note at a position is retired.
    pub fn is_retired(&self, position: NoteIdx) -> bool {
        self.notes()[position].retired(|| self.today.day()).is_some()
    }

    /// Whether `context`, `prime` and hooks show a note that the request does not name: it was not turned down, and is no
    /// draft of a store that hides those.
    pub fn is_shown_unasked(&self, position: NoteIdx) -> bool {
        !self.notes()[position].is_turned_down() && !self.is_hidden_draft(position)
    }

    /// Whether a note is a draft, and its store or, in collections with the same authority, the first store hides those.
    pub fn is_hidden_draft(&self, position: NoteIdx) -> bool {
        let collection = self.collection_of(position);
        let is_of_first = collection.authority == self.first().about.authority;
        let hides = collection.hides_drafts || (is_of_first && self.config.review.hides_drafts());
        hides && self.notes()[position].is_draft()
    }

    /// Whether answers mark a note as a draft.
    pub fn marks_as_draft(&self, note: &NoteHandle) -> bool {
        self.config.review.marks_drafts() && note.is_draft()
    }
}
