//! The neighbours of notes: links and sequences.

/// Returns the notes that are linked with one.
pub type Linked<'a> = Box<dyn Fn(usize) -> Vec<usize> + Sync + 'a>;

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
    pub before: Vec<Option<usize>>,
    /// For each note, its successor in a sequence.
    pub after: Vec<Option<usize>>,
}

impl Sequences {
    /// Returns whether a note has a predecessor or a successor.
    pub(crate) fn has(&self, note: usize) -> bool {
        let has = |steps: &[Option<usize>]| steps.get(note).copied().flatten().is_some();
        has(&self.before) || has(&self.after)
    }
}
