//! Finds the note of the store that corresponds to a packed note: the one with its id. If several files claim one id,
//! it is the one with the same bytes, else the one at the same path, else the one with the same unique id, else any
//! that is left: however often a pack is loaded, each note is added once.

use std::collections::{HashMap, HashSet};

use crate::error::Error;
use crate::note::NoteId;
use crate::pack::PackedNote;
use crate::store::Store;

/// A note of the store that the pack has too.
pub(super) struct Counterpart {
    /// Its index in the store.
    pub(super) index: usize,
    /// The bytes of its file.
    pub(super) bytes: Vec<u8>,
}

/// The counterparts, by the ids of the packed notes.
pub(super) struct Counterparts(HashMap<NoteId, Counterpart>);

impl Counterparts {
    /// Finds the counterparts: at most one for each note and for each file.
    pub(super) fn find(store: &Store, packed: &[PackedNote]) -> Result<Self, Error> {
        let wanted: HashSet<&str> = packed.iter().map(|note| note.id.claimed()).collect();
        let mut candidates: HashMap<&str, Vec<Counterpart>> = HashMap::new();
        for (index, note) in store.notes().iter().enumerate() {
            let id = note.id.claimed();
            if wanted.contains(id) {
                candidates.entry(id).or_default().push(Counterpart { index, bytes: store.bytes_of(note)? });
            }
        }
        let mut found = HashMap::new();
        for rule in [MatchRule::Bytes, MatchRule::Path, MatchRule::Id, MatchRule::Any] {
            for note in packed {
                let Some(candidates) = candidates.get_mut(note.id.claimed()).filter(|_| !found.contains_key(&note.id))
                else {
                    continue;
                };
                if let Some(position) = candidates.iter().position(|ours| rule.matches(store, note, ours)) {
                    found.insert(note.id.clone(), candidates.remove(position));
                }
            }
        }
        Ok(Self(found))
    }

    /// Returns the counterpart of a packed note.
    pub(super) fn of(&self, packed: &PackedNote) -> Option<&Counterpart> {
        self.0.get(&packed.id)
    }
}

/// The rule by which a file is the counterpart of a note, the strictest first.
#[derive(Clone, Copy)]
enum MatchRule {
    Bytes,
    Path,
    Id,
    Any,
}

impl MatchRule {
    fn matches(self, store: &Store, note: &PackedNote, ours: &Counterpart) -> bool {
        let note_of_store = &store.notes()[ours.index];
        match self {
            Self::Bytes => note.file.bytes == ours.bytes,
            Self::Path => note.file.path == note_of_store.path,
            Self::Id => note.id == note_of_store.id,
            Self::Any => true,
        }
    }
}
