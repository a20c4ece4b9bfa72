//! `qipu history` without a note: which notes came, went and changed between two commits, or a commit and the files on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::history::short;
use super::note_changes;
use rayon::prelude::*;

use crate::codec::named::named;
use crate::error::{Error, ErrorKind};
use crate::escape::{one_line, shortened};
use crate::graph::{Replacements, Successions};
use crate::note::NoteId;
use crate::report::{Entry, Report, ReportHead, RowEntry, RowValue, layout};
use crate::request::DiffRequest;
use crate::store::{Location, NoteHandle, NoteIdx, Store};

/// The most characters of a title.
const MAX_TITLE: usize = 100;

named! {
    /// How a note differs, in the order of the answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    enum DifferenceKind {
        Created = "created",
        Deleted = "deleted",
        Superseded = "superseded",
        Restored = "restored",
        Retitled = "retitled",
        Renamed = "renamed",
        Changed = "changed",
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
    kind: DifferenceKind,
    note: &'a NoteHandle,
    /// The note before, if it is on both sides.
    before: Option<&'a NoteHandle>,
    /// The note that replaces it.
    superseded_by: Option<NoteId>,
}

impl Difference<'_> {
    /// Returns a line for each change of a note that is on both sides.
    fn changes(&self) -> Result<Vec<String>, Error> {
        let Some(before) = self.before else { return Ok(Vec::new()) };
        let (before, after) = (before.reparsed()?, self.note.reparsed()?);
        Ok(note_changes::lines(before.parsed()?, after.parsed()?))
    }
}

/// Reports the notes that differ, by how they differ, then by id.
pub(super) fn run(request: &DiffRequest, location: &Location, current_dir: &Path) -> Result<Report, Error> {
    let at = |name| Location { at: name, ..location.clone() };
    let before = at(Some(request.from.clone())).at_commit_if_any(current_dir)?;
    let after = at(request.to.clone()).at_commit(current_dir)?;
    let commit = |location: &Location| location.commit_id().map_or(RowValue::Nothing, |id| RowValue::Name(short(id)));
    let facts = [("from", before.as_ref().map_or(RowValue::Nothing, commit)), ("to", commit(&after))];
    let new = Side::open(&after, current_dir)?;
    let old = before.map(|before| Side::open_if_any(&before, current_dir)).transpose()?.flatten();
    let before_ids = old.iter().flat_map(|old| old.by_id.keys());
    let ids: BTreeSet<&NoteId> = before_ids.chain(new.by_id.keys()).collect();
    let found = ids.into_par_iter().map(|id| difference(old.as_ref(), &new, id));
    let mut found: Vec<Difference<'_>> = found.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    // The sort is stable: notes with the same kind stay sorted by id.
    found.sort_by_key(|difference| difference.kind);
    let count = found.len();
    found.truncate(request.limit.unwrap_or(count));
    let is_limited = found.len() < count;
    // Only of what is shown, since long texts take time.
    let rows = found.into_par_iter().map(|found| Ok(Entry::Row(row(&new.store, &found, found.changes()?))));
    let rows: Vec<Entry> = rows.collect::<Result<_, Error>>()?;
    let head = ReportHead::new(&layout::DIFF, Some(&new.store.shown_path));
    let facts = [head.facts.as_slice(), &facts].concat();
    Ok(Report::new(ReportHead { is_limited, facts, ..head }, rows))
}

impl Side {
    fn open(location: &Location, current_dir: &Path) -> Result<Self, Error> {
        let store = Store::open(&Location { no_index: true, ..location.clone() }, current_dir)?;
        let successions = Replacements::for_answer(store.notes(), false).successions;
        let by_id = NoteIdx::enumerate(store.notes()).map(|(position, note)| (note.id.clone(), position)).collect();
        Ok(Self { store, successions, by_id })
    }

    /// Opens the notes of a commit; `None` if it has no store.
    fn open_if_any(location: &Location, current_dir: &Path) -> Result<Option<Self>, Error> {
        match Self::open(location, current_dir) {
            Err(error) if error.kind == ErrorKind::NoStore => Ok(None),
            side => side.map(Some),
        }
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
fn difference<'a>(old: Option<&'a Side>, new: &'a Side, id: &NoteId) -> Result<Option<Difference<'a>>, Error> {
    let one = |kind, note, superseded_by| Difference { kind, note, before: None, superseded_by };
    let found = old.and_then(|old| old.note(id).map(|(position, note)| (note, old.successor(position))));
    let ((before, succeeded), (after_idx, after)) = match (found, new.note(id)) {
        (Some(before), Some(after)) => (before, after),
        (Some((note, _)), None) => return Ok(Some(one(DifferenceKind::Deleted, note, None))),
        (None, Some((position, note))) => return Ok(Some(one(DifferenceKind::Created, note, new.successor(position)))),
        (None, None) => return Ok(None),
    };
    let successors = (succeeded, new.successor(after_idx));
    let (former, current) = (before.reparsed()?, after.reparsed()?);
    let (former, current) = (former.parsed()?, current.parsed()?);
    let kind = match successors {
        (None, Some(_)) => DifferenceKind::Superseded,
        (Some(_), None) => DifferenceKind::Restored,
        _ if former.title != current.title => DifferenceKind::Retitled,
        _ if before.path != after.path => DifferenceKind::Renamed,
        _ if former.text() == current.text() => return Ok(None),
        _ => DifferenceKind::Changed,
    };
    Ok(Some(Difference { kind, note: after, before: Some(before), superseded_by: successors.1 }))
}

fn row(store: &Store, difference: &Difference<'_>, changes: Vec<String>) -> RowEntry {
    let Difference { kind, note, superseded_by, .. } = difference;
    let by = superseded_by.as_ref().map_or_else(String::new, |id| format!(" by {id}"));
    let title = shortened(&one_line(note.title()), MAX_TITLE);
    let (draft, status) = super::draft_mark(store, note);
    let line = format!("{}{by}: {title} ({}){draft}", kind.name(), note.id);
    let collection =
        if store.has_several_collections() { RowValue::name(note.collection_name()) } else { RowValue::Nothing };
    let mut fields = vec![
        ("action", RowValue::name(kind.name())),
        ("id", RowValue::name(&note.id)),
        ("title", RowValue::Text(title)),
        ("collection", collection),
        ("superseded_by", superseded_by.as_ref().map_or(RowValue::Nothing, RowValue::name)),
        ("changes", RowValue::Lines(changes.clone())),
    ];
    fields.extend(status);
    let detail = changes.join("\n");
    RowEntry { kind: "difference", list: "differences", line, detail, fields, ..RowEntry::default() }
}
