//! `qipu diff`: which notes came, went and changed between two commits, or a commit and the files on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::history::short;
use super::note_changes;
use crate::error::Error;
use crate::escape::{one_line, shortened};
use crate::graph::{StandIns, Successions};
use crate::note::NoteId;
use crate::report::{Entry, Report, ReportHead, RowEntry, RowValue, layout};
use crate::request::DiffRequest;
use crate::store::{Location, NoteHandle, NoteIdx, Store};

/// The most characters of a title.
const MAX_TITLE: usize = 100;

/// What became of a note, in the order of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NoteFate {
    Created,
    Deleted,
    Superseded,
    Restored,
    Retitled,
    Renamed,
    Changed,
}

impl NoteFate {
    fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Deleted => "deleted",
            Self::Superseded => "superseded",
            Self::Restored => "restored",
            Self::Retitled => "retitled",
            Self::Renamed => "renamed",
            Self::Changed => "changed",
        }
    }
}

/// The notes at one moment.
struct Side {
    store: Store,
    successions: Successions,
    by_id: BTreeMap<NoteId, NoteIdx>,
}

/// A note that differs between both sides.
struct Difference<'a> {
    fate: NoteFate,
    note: &'a NoteHandle,
    /// The note that replaces it.
    superseded_by: Option<NoteId>,
    changes: Vec<String>,
}

/// Reports the notes that differ, by what became of them, then by id.
pub(super) fn run(request: &DiffRequest, location: &Location, current_dir: &Path) -> Result<Report, Error> {
    let at = |name| Location { at: name, ..location.clone() }.at_commit(current_dir);
    let (before, after) = (at(Some(request.from.clone()))?, at(request.to.clone())?);
    let commit = |location: &Location| location.commit_id().map_or(RowValue::Nothing, |id| RowValue::Name(short(id)));
    let facts = [("from", commit(&before)), ("to", commit(&after))];
    let (old, new) = (Side::open(&before, current_dir)?, Side::open(&after, current_dir)?);
    let ids: BTreeSet<&NoteId> = old.by_id.keys().chain(new.by_id.keys()).collect();
    let mut found: Vec<Difference<'_>> = Vec::new();
    for id in ids {
        found.extend(difference(&old, &new, id)?);
    }
    // The sort is stable: notes with the same fate stay sorted by id.
    found.sort_by_key(|difference| difference.fate);
    let count = found.len();
    found.truncate(request.limit.unwrap_or(count));
    let is_limited = found.len() < count;
    let rows = found.into_iter().map(|difference| Entry::Row(row(difference, new.store.has_several_collections())));
    let head = ReportHead::new(&layout::DIFF, Some(&new.store.shown_path));
    let facts = [head.facts.as_slice(), &facts].concat();
    Ok(Report::new(ReportHead { is_limited, facts, ..head }, rows.collect()))
}

impl Side {
    fn open(location: &Location, current_dir: &Path) -> Result<Self, Error> {
        let store = Store::open(&Location { no_index: true, ..location.clone() }, current_dir)?;
        let successions = StandIns::for_answer(store.notes(), false).successions;
        let by_id = NoteIdx::enumerate(store.notes()).map(|(position, note)| (note.id.clone(), position)).collect();
        Ok(Self { store, successions, by_id })
    }

    fn note(&self, id: &NoteId) -> Option<(NoteIdx, &NoteHandle)> {
        let position = *self.by_id.get(id)?;
        Some((position, &self.store.notes()[position]))
    }

    /// Returns the note that replaces the note at a position.
    fn successor(&self, position: NoteIdx) -> Option<NoteId> {
        let successor = self.successions.is_superseded(position).then(|| self.successions.current(position))?;
        Some(self.store.notes()[successor].id.clone())
    }
}

/// Compares a note on both sides; `None` if it is the same.
fn difference<'a>(old: &'a Side, new: &'a Side, id: &NoteId) -> Result<Option<Difference<'a>>, Error> {
    let one = |fate, note, superseded_by| Difference { fate, note, superseded_by, changes: Vec::new() };
    let ((before_idx, before), (after_idx, after)) = match (old.note(id), new.note(id)) {
        (Some(before), Some(after)) => (before, after),
        (Some((_, note)), None) => return Ok(Some(one(NoteFate::Deleted, note, None))),
        (None, Some((position, note))) => return Ok(Some(one(NoteFate::Created, note, new.successor(position)))),
        (None, None) => return Ok(None),
    };
    let successors = (old.successor(before_idx), new.successor(after_idx));
    let (former, current) = (before.reparsed()?, after.reparsed()?);
    let (former, current) = (former.parsed()?, current.parsed()?);
    let changes = note_changes::lines(former, current);
    let fate = match successors {
        (None, Some(_)) => NoteFate::Superseded,
        (Some(_), None) => NoteFate::Restored,
        _ if former.title != current.title => NoteFate::Retitled,
        _ if before.path != after.path => NoteFate::Renamed,
        _ if changes.is_empty() => return Ok(None),
        _ => NoteFate::Changed,
    };
    Ok(Some(Difference { fate, note: after, superseded_by: successors.1, changes }))
}

fn row(difference: Difference<'_>, has_several: bool) -> RowEntry {
    let Difference { fate, note, superseded_by, changes } = difference;
    let title = shortened(&one_line(note.title()), MAX_TITLE);
    let by = superseded_by.as_ref().map_or_else(String::new, |id| format!(", superseded by {id}"));
    let line = format!("{}: {title} ({}){by}", fate.name(), note.id);
    let collection = if has_several { RowValue::name(note.collection_name()) } else { RowValue::Nothing };
    let fields = vec![
        ("action", RowValue::name(fate.name())),
        ("id", RowValue::name(&note.id)),
        ("title", RowValue::Text(title)),
        ("collection", collection),
        ("superseded_by", superseded_by.map_or(RowValue::Nothing, RowValue::name)),
        ("changes", RowValue::Lines(changes.clone())),
    ];
    let detail = changes.join("\n");
    RowEntry { kind: "difference", list: "differences", line, detail, fields, ..RowEntry::default() }
}
