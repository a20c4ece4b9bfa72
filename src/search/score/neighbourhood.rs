//! The neighbours of notes: links and sequences.

use crate::store::NoteIdx;

/// Returns the notes that are linked with one.
pub type Linked<'a> = Box<dyn Fn(NoteIdx) -> Vec<NoteIdx> + Sync + 'a>;

/// The neighbours of each note, for score propagation.
pub struct Neighbourhood<'a> {
    /// Returns the notes that a note links to or that link to it, each once, in order.
    pub linked: Linked<'a>,
    /// The sequences that notes belong to.
    pub sequences: &'a Sequences,
}

/// The predecessor and successor of each note in a sequence.
#[derive(Debug, Default)]
pub struct Sequences {
    /// For each note, its predecessor in a sequence.
    pub before: Vec<Option<NoteIdx>>,
    /// For each note, its successor in a sequence.
    pub after: Vec<Option<NoteIdx>>,
}

impl Sequences {
    pub(crate) fn has(&self, note: NoteIdx) -> bool {
        neighbour_in(&self.before, note).is_some() || neighbour_in(&self.after, note).is_some()
    }
}

/// Returns the note that follows one in `steps`, which are those in one direction.
pub fn neighbour_in(steps: &[Option<NoteIdx>], note: NoteIdx) -> Option<NoteIdx> {
    steps.get(note.index()).copied().flatten()
}
