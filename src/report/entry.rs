//! The entries of a report: the parts that are shown or left out as a whole. The fields of a type that derives
//! `Serialize`, in their order, are its JSON object (specs/reference/json.md).

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;

use super::{EdgeEntry, FormatDetail, NoteEntry, PeriodEntry};
use crate::codec::named::named;
use crate::note::{Diagnostic, NoteId};
use crate::store::NoteHandle;

/// A part of a report that is shown or left out as a whole.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A note.
    Note(NoteEntry),
    /// A link target that does not exist.
    Unresolved {
        /// The note with the link.
        from: NoteId,
        /// The target as it is written.
        target: String,
        /// The index of the entry of the note.
        under: usize,
    },
    /// The description of qipu.
    About(Cow<'static, str>),
    /// A command.
    Command {
        /// The command line.
        line: &'static str,
        /// Its purpose.
        purpose: &'static str,
        /// The index of the more useful command before it, if there is one.
        after: Option<usize>,
    },
    /// The size and the topics of a store.
    Overview(Box<OverviewEntry>),
    /// A set-up recipe.
    Recipe(RecipeEntry),
    /// A link of a note shown before, the entry at the `other` of the edge, and the note at its other end.
    Link(EdgeEntry, LinkedNote),
    /// A tag in use, and the number of notes with it.
    Tag(String, usize),
    /// The name of a count of the store or the index, and the count.
    Fact(String, usize),
    /// A note type in use, and the number of notes of it.
    Kind(String, usize),
    /// A diagnostic.
    Finding(DiagnosticEntry),
    /// A row of a table.
    Row(RowEntry),
    /// A change of a file.
    Change(ChangeEntry),
    /// A text that is the whole answer, written verbatim.
    Text(String),
    /// The comparison of two days or periods.
    Comparison(Box<ComparisonEntry>),
    /// A recurrence in journals.
    Pattern(PatternEntry),
}

/// The size and the topics of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OverviewEntry {
    /// The number of notes, journals included.
    pub(crate) notes: usize,
    pub(crate) journals: usize,
    /// The most frequent tags, each with the number of its notes.
    pub(crate) tags: Vec<(String, usize)>,
    /// The folders with the most notes, each with their number; empty if any note has a tag.
    pub(crate) folders: Vec<(String, usize)>,
}

/// The comparison of two days or periods.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonEntry {
    pub(crate) a: SideEntry,
    pub(crate) b: SideEntry,
    /// The similarity of their words, 0 to 1 with two decimals; `None` if a side has no journal.
    pub(crate) similarity: Option<f64>,
    pub(crate) shared: JournalTraits,
    pub(crate) only_a: JournalTraits,
    pub(crate) only_b: JournalTraits,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideEntry {
    /// The side as a period, which may be one day.
    pub(crate) period: PeriodEntry,
    pub(crate) blocks: usize,
}

/// The traits of journals, each the most frequent first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct JournalTraits {
    pub(crate) tags: Vec<String>,
    /// Content words, tags included.
    pub(crate) keywords: Vec<String>,
    /// Names of fields that have no meaning to qipu.
    pub(crate) fields: Vec<String>,
}

/// A recurrence in journals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PatternEntry {
    /// `tag`, `topic`, `opening` or `weekday`.
    pub(crate) kind: &'static str,
    /// The tag, the word, the first words, or the name of the day.
    pub(crate) pattern: String,
    pub(crate) count: usize,
    /// The latest days with it, at most three.
    pub(crate) dates: Vec<String>,
}

/// The note at the other end of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedNote {
    /// Its title.
    pub title: String,
    /// The name of its collection; `None` if there is one collection.
    pub collection: Option<String>,
    /// Its status, if it is marked as a draft.
    pub status: Option<&'static str>,
}

/// A set-up recipe and its state in this project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecipeEntry {
    /// The argument of `qipu setup`.
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The file that it writes, relative to the root of the project.
    pub(crate) path: String,
    /// The state that was found, or the action.
    pub(crate) state: &'static str,
    /// Whether the project uses the tool of the recipe; `None` outside a list of recipes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fits: Option<bool>,
}

named! {
    /// The severity of a diagnostic.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Severity {
        /// What a note says is lost, or contradicts another note.
        Error = "error",
        /// Anything else that is wrong.
        Warning = "warning",
        /// Nothing is wrong, and more could be had.
        Info = "info",
    }
}

/// A diagnostic of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiagnosticEntry {
    #[serde(rename = "level")]
    pub(crate) severity: Severity,
    /// A short name that never changes.
    pub(crate) code: &'static str,
    /// The id, if the file is a note.
    pub(crate) id: Option<NoteId>,
    /// The file, relative to the current directory.
    pub(crate) path: String,
    /// The line in the file, from 1; `None` if the diagnostic concerns the whole file.
    pub(crate) line: Option<usize>,
    pub(crate) message: String,
}

impl DiagnosticEntry {
    /// Returns a warning about a file as a whole. `path`: the file, relative to the current directory.
    pub fn warning(code: &'static str, path: String, message: String) -> Self {
        Self { severity: Severity::Warning, code, id: None, path, line: None, message }
    }

    /// Returns the entry of a diagnostic of a note. `path`: the file, relative to the current directory.
    pub fn of_note(path: String, note: &NoteHandle, finding: &Diagnostic) -> Self {
        Self {
            severity: if finding.is_error() { Severity::Error } else { Severity::Warning },
            code: finding.code.name(),
            id: Some(note.id.clone()),
            path,
            line: finding.line,
            message: finding.message.clone(),
        }
    }
}

/// A row of a table whose columns the command declares, so that renderers need not know the table.
#[derive(Debug, Clone, Default)]
pub struct RowEntry {
    /// The name behind `D` in records.
    pub kind: &'static str,
    /// The array in JSON, one of [`Layout::lists`](super::Layout::lists).
    pub list: &'static str,
    /// The number before the line for people; empty for none.
    pub figure: String,
    /// The line for people.
    pub line: String,
    /// The lines below it; empty for none.
    pub detail: String,
    /// The note that the row is about; `None` for another row.
    pub note: Option<Arc<NoteHandle>>,
    /// The columns by their names.
    pub fields: Vec<(&'static str, RowValue)>,
}

/// A value in a row.
#[derive(Debug, Clone, PartialEq)]
pub enum RowValue {
    /// A name, without quotes in records if possible.
    Name(String),
    /// A text, always quoted in records.
    Text(String),
    /// A whole number.
    Count(usize),
    /// Whole numbers.
    Counts(Vec<usize>),
    /// A number from 0 to 1, shown with three digits.
    Share(f64),
    /// A truth value.
    Flag(bool),
    /// Texts of one line each, in records one text of lines.
    Lines(Vec<String>),
    /// No value: left out of records, and `null` in JSON.
    Nothing,
}

impl RowEntry {
    /// Whether it has a column of this name, or its note a field.
    pub fn has_field(&self, name: &str) -> bool {
        self.fields.iter().any(|(column, _)| *column == name)
            || self.note.as_ref().is_some_and(|note| note.field_texts(name).is_some())
    }
}

impl RowValue {
    /// Returns the name of something, such as an id.
    pub fn name(text: impl ToString) -> Self {
        Self::Name(text.to_string())
    }

    /// Returns the value as plain text; empty for [`RowValue::Nothing`].
    pub fn to_text(&self) -> String {
        match self {
            Self::Name(text) | Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Counts(counts) => counts.iter().map(usize::to_string).collect::<Vec<_>>().join(","),
            Self::Share(share) => format!("{share:.3}"),
            Self::Flag(flag) => flag.to_string(),
            Self::Lines(lines) => lines.join("\n"),
            Self::Nothing => String::new(),
        }
    }
}

/// The change of one file that a command made, or would make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangeEntry {
    /// The id, if the file is a note.
    pub id: Option<NoteId>,
    /// `created`, `changed`, `renamed`, `deleted`, or `unchanged`.
    pub action: &'static str,
    /// The file, relative to the current directory.
    pub path: String,
    /// The revision of the note after the change; `None` of a dry run, of a deleted and of an unchanged note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The unified diff, in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The old title of a renamed note, if it became an alias.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
}

impl ChangeEntry {
    /// Returns the change of a file that is no note, and without a diff. `path`: relative to the current directory.
    pub fn of_file(action: &'static str, path: String) -> Self {
        Self { id: None, action, path, revision: None, diff: None, alias: None }
    }
}

impl Entry {
    /// Returns the note; `None` for other entries.
    pub fn note(&self) -> Option<&NoteEntry> {
        match self {
            Self::Note(entry) => Some(entry),
            _ => None,
        }
    }

    /// Whether it is derived from several notes: a comparison or a pattern.
    pub fn is_derived(&self) -> bool {
        matches!(self, Self::Comparison(_) | Self::Pattern(_))
    }

    /// Returns the index of the entry without which this one is not shown.
    pub fn parent(&self) -> Option<usize> {
        match self {
            Self::Note(entry) => entry.parent,
            Self::Unresolved { under, .. } => Some(*under),
            Self::Link(edge, _) => Some(edge.other),
            // A small budget drops the least useful commands, not the longest lines.
            Self::Command { after, .. } => *after,
            _ => None,
        }
    }

    /// Whether the entry may fit into `room` characters at this detail. A `false` is certain.
    pub fn may_fit(&self, detail: FormatDetail, room: usize) -> bool {
        self.note().is_none_or(|entry| entry.may_fit(detail, room))
    }
}
