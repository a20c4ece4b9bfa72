//! Which note of the store a packed note is: the one with its id. Where several files claim one id,
//! the one with the same bytes, else the one at the same path, else the one that goes by it, else
//! one that is left; so a note comes into the store once, however often it is loaded.

use std::collections::{HashMap, HashSet};

use crate::error::Error;
use crate::note::NoteId;
use crate::pack::PackedNote;
use crate::store::Store;

/// A note of the store that the pack has too.
pub(super) struct Counterpart {
    /// Its place in the store.
    pub(super) place: usize,
    /// Its file's bytes.
    pub(super) bytes: Vec<u8>,
}

/// The notes of the store that the pack has too, by their ids in the pack.
pub(super) struct Counterparts(HashMap<NoteId, Counterpart>);

impl Counterparts {
    /// Finds the counterparts, at most one for each note and for each file.
    ///
    /// # Errors
    /// `Failure` when a file of the store can't be read.
    pub(super) fn find(store: &Store, packed: &[PackedNote]) -> Result<Self, Error> {
        let wanted: HashSet<&str> = packed.iter().map(|note| note.id.claimed()).collect();
        let mut open: HashMap<&str, Vec<Counterpart>> = HashMap::new();
        for (place, note) in store.notes().iter().enumerate() {
            let id = note.id.claimed();
            if wanted.contains(id) {
                open.entry(id).or_default().push(Counterpart { place, bytes: store.bytes_of(note)? });
            }
        }
        let mut found = HashMap::new();
        for way in [MatchRule::Bytes, MatchRule::Path, MatchRule::Id, MatchRule::Any] {
            for note in packed {
                let Some(open) = open.get_mut(note.id.claimed()).filter(|_| !found.contains_key(&note.id)) else {
                    continue;
                };
                if let Some(at) = open.iter().position(|ours| way.leads(store, note, ours)) {
                    found.insert(note.id.clone(), open.remove(at));
                }
            }
        }
        Ok(Self(found))
    }

    /// Returns the store's note for a packed one.
    pub(super) fn of(&self, packed: &PackedNote) -> Option<&Counterpart> {
        self.0.get(&packed.id)
    }
}

/// What makes a file the counterpart of a note, the surest first.
#[derive(Clone, Copy)]
enum MatchRule {
    Bytes,
    Path,
    Id,
    Any,
}

impl MatchRule {
    fn leads(self, store: &Store, note: &PackedNote, ours: &Counterpart) -> bool {
        let known = &store.notes()[ours.place];
        match self {
            Self::Bytes => note.file.bytes == ours.bytes,
            Self::Path => note.file.path == known.path,
            Self::Id => note.id == known.id,
            Self::Any => true,
        }
    }
}
