//! Finds the note of the store that corresponds to a packed note: the one with its id. If several files claim one id,
//! it is the one with the same bytes, else the one at the same path, else the one with the same unique id, else any
//! that is left: however often a pack is loaded, each note is added once.

use std::collections::{HashMap, HashSet};

use crate::error::Error;
use crate::note::NoteId;
use crate::pack::PackedNote;
use crate::store::{NoteHandle, Store};

/// A note of the store that the pack has too.
pub(super) struct Counterpart {
    /// Its index in the store.
    pub(super) index: usize,
    /// The bytes of its file.
    pub(super) bytes: Vec<u8>,
}

/// Tells whether a note of the store, with its bytes, is the counterpart of a packed note.
type MatchRule = fn(&PackedNote, &NoteHandle, &[u8]) -> bool;

/// Finds the counterparts, by the ids of the packed notes: at most one for each note and for each file.
pub(super) fn find(store: &Store, packed: &[PackedNote]) -> Result<HashMap<NoteId, Counterpart>, Error> {
    let wanted: HashSet<&str> = packed.iter().map(|note| note.id.claimed()).collect();
    let mut candidates: HashMap<&str, Vec<Counterpart>> = HashMap::new();
    for (index, note) in store.notes().iter().enumerate() {
        let id = note.id.claimed();
        if wanted.contains(id) {
            candidates.entry(id).or_default().push(Counterpart { index, bytes: store.read_bytes(&note.path)? });
        }
    }
    // The strictest rule first.
    let rules: [MatchRule; 4] = [
        |packed, _, bytes| packed.file.bytes == bytes,
        |packed, note, _| packed.file.path == note.path,
        |packed, note, _| packed.id == note.id,
        |_, _, _| true,
    ];
    let mut found = HashMap::new();
    for is_counterpart in rules {
        for packed in packed {
            let candidates = candidates.get_mut(packed.id.claimed()).filter(|_| !found.contains_key(&packed.id));
            let Some(candidates) = candidates else { continue };
            let is_match = |ours: &Counterpart| is_counterpart(packed, &store.notes()[ours.index], &ours.bytes);
            if let Some(position) = candidates.iter().position(is_match) {
                found.insert(packed.id.clone(), candidates.remove(position));
            }
        }
    }
    Ok(found)
}
