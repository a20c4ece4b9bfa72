//! The worklist of `qipu review` in the browser: its entries, and the changes that settle them.

use crate::note::NoteId;
use crate::report::{Entry, Report, RowEntry, RowValue};
use crate::request::{Action, ChangeRequest, NewFields};

/// The most entries that are listed.
pub(super) const MAX_ENTRIES: usize = 200;

/// A note that a person should look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WorklistEntry {
    pub(super) kind: String,
    pub(super) id: NoteId,
    pub(super) title: String,
    pub(super) reason: String,
    /// The other note that the reason names.
    pub(super) other: Option<NoteId>,
}

/// The worklist as an overlay.
#[derive(Debug, Default)]
pub(super) struct Worklist {
    pub(super) entries: Vec<WorklistEntry>,
    pub(super) cursor: usize,
    pub(super) first_row: usize,
    /// The key that was pressed once and changes the store if it is pressed again.
    pub(super) pending: Option<char>,
}

/// What a person decides about a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// It holds.
    Accept(NoteId),
    /// It is turned down.
    Reject(NoteId),
    /// It becomes a part of another note.
    Merge { from: NoteId, into: NoteId },
    /// Another note replaces it.
    Supersede { old: NoteId, new: NoteId },
}

impl Decision {
    /// Returns the request that carries the decision out. `person`: the name of who decides.
    pub(super) fn request(&self, person: &str, now: String) -> ChangeRequest {
        let action = match self {
            Self::Accept(id) => Action::Accept { id: id.to_string(), by: format!("human:{person}") },
            Self::Reject(id) => {
                let custom = vec![("status".to_owned(), "rejected".to_owned())];
                Action::update(id.to_string(), NewFields { custom, ..NewFields::default() })
            }
            Self::Merge { from, into } => Action::Merge { into: into.to_string(), from: from.to_string() },
            Self::Supersede { old, new } => Action::Supersede { old: vec![old.to_string()], new: new.to_string() },
        };
        ChangeRequest { action, revision: None, is_dry_run: false, is_secret_allowed: false, now, random: 0 }
    }
}

/// Returns the entries of the report of `qipu review`.
pub(super) fn entries(report: &Report) -> Vec<WorklistEntry> {
    let rows = report.entries.iter().filter_map(|entry| if let Entry::Row(row) = entry { Some(row) } else { None });
    rows.filter_map(entry).collect()
}

fn entry(row: &RowEntry) -> Option<WorklistEntry> {
    let text = |name: &str| match &row.fields.iter().find(|(field, _)| *field == name)?.1 {
        RowValue::Name(text) | RowValue::Text(text) => Some(text.clone()),
        _ => None,
    };
    let id = |name: &str| NoteId::parse_qualified(&text(name)?);
    Some(WorklistEntry {
        kind: text("kind")?,
        id: id("id")?,
        title: text("title")?,
        reason: text("reason")?,
        other: id("other"),
    })
}
