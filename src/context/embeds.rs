//! The notes that a note embeds with `![[note]]`: a reader of the note sees them as parts of it.

use super::Session;
use crate::graph::NameIndex;
use crate::note::Note;
use crate::store::NoteIdx;

/// The most embedded notes of one note that are selected with it.
const MAX_EMBEDDED: usize = 20;

/// Returns the notes that notes embed, in the order of their texts. Parses the bodies of these notes; what an embedded note
/// embeds in turn is not followed.
pub(super) fn embedded_notes(session: &Session<'_>, notes: &[NoteIdx]) -> Vec<NoteIdx> {
    let all = session.store.notes();
    let embeds = |note: &NoteIdx| (*note, all[*note].read_once(Note::embeds));
    let embeds: Vec<(NoteIdx, Vec<String>)> = notes.iter().map(embeds).filter(|(_, names)| !names.is_empty()).collect();
    if embeds.is_empty() {
        return Vec::new();
    }
    let names = NameIndex::of(session.store);
    let targets = |(from, targets): &(NoteIdx, Vec<String>)| {
        let found = targets.iter().filter_map(|target| names.resolve_from(*from, target));
        found.take(MAX_EMBEDDED).collect::<Vec<_>>()
    };
    embeds.iter().flat_map(targets).collect()
}
