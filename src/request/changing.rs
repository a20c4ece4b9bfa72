//! Requests that change notes.

use clap::Args;
use jiff::civil::Date;

use super::values::{trimmed, value};
use crate::note::edit::BodyEdit;
use crate::note::{ContentSource, Revision};

/// A call of a command that changes notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRequest {
    /// The change.
    pub action: Action,
    /// The revision that the only note must have.
    pub revision: Option<Revision>,
    /// Whether nothing is changed, only shown.
    pub is_dry_run: bool,
    /// Whether the new text may contain secrets.
    pub is_secret_allowed: bool,
    /// The new value of `created` and `updated`: a date, with a time unless today is given.
    pub now: String,
    /// The random number for the id of a new note.
    pub random: u64,
}

/// The changes of notes.
// Fields whose names say it all have no comment.
#[allow(missing_docs)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Create a note.
    Create {
        /// Its fields and body. Without a title, it takes the first line of the body.
        fields: NewFields,
        /// Whether a program creates it. Fields of the template that vouch for the note are then left out.
        is_generated: bool,
        /// Whether it is opened in the user's editor.
        is_opened: bool,
        /// The notes that it replaces.
        supersedes: Vec<String>,
        /// The note of another collection, or a passage of it, that it is made of.
        from: Option<String>,
    },
    /// Change fields of notes.
    Update {
        ids: Vec<String>,
        /// The filters that select them in place of ids; empty for none.
        filters: Vec<String>,
        fields: NewFields,
        /// The change of a part of the body.
        body_edit: Option<BodyEdit>,
        /// Whether a program changes them. With new words, a note loses the fields that vouch for the old ones.
        is_generated: bool,
        /// Whether the filters may select many notes.
        is_confirmed: bool,
    },
    /// Add to the journal of a day.
    Journal { day: Date, text: String },
    /// Add typed links.
    AddLink {
        /// The note that has the links.
        from: String,
        /// The notes that they lead to.
        to: Vec<String>,
        /// Their type; `None` for that of a link without one.
        kind: Option<String>,
        /// Whether a program adds it.
        is_generated: bool,
    },
    /// Delete notes.
    Delete {
        ids: Vec<String>,
        /// Whether other notes may link to them.
        is_forced: bool,
    },
    /// Merge a note into another.
    Merge {
        /// The note to keep.
        into: String,
        /// The note to merge into it; its file is deleted.
        from: String,
    },
    /// Tick off tasks, each `ID:LINE`.
    CompleteTasks { tasks: Vec<String> },
    /// Accept a note: a person has read it, and it holds.
    Accept {
        id: String,
        /// The person, as `human:NAME`.
        by: String,
    },
    /// Say that a note replaces others, which no longer hold.
    Supersede {
        /// The notes that are replaced.
        old: Vec<String>,
        /// Their successor.
        new: String,
    },
    /// Remove typed links.
    RemoveLink {
        /// The note that has the links.
        from: String,
        /// The notes that they lead to.
        to: Vec<String>,
        /// Their type; `None` for all.
        kind: Option<String>,
    },
}

impl Action {
    /// Returns the change of fields of a note. With its title change the name of its file and the links to it.
    pub fn update(id: String, fields: NewFields) -> Self {
        let (ids, filters) = (vec![id], Vec::new());
        Self::Update { ids, filters, fields, body_edit: None, is_generated: false, is_confirmed: false }
    }

    /// Returns the name of the command in answers.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Update { .. } => "update",
            Self::Delete { .. } => "delete",
            Self::Merge { .. } => "merge",
            Self::CompleteTasks { .. } => "tasks.done",
            Self::Accept { .. } => "accept",
            Self::Supersede { .. } => "supersede",
            Self::Journal { .. } => "journal",
            Self::AddLink { .. } => "link.add",
            Self::RemoveLink { .. } => "link.remove",
        }
    }
}

/// The custom field of a generated note with the program that wrote it.
pub const GENERATED_BY: &str = "generated_by";
/// The custom field of a generated note with the session in which it was written.
pub const SESSION: &str = "session";
/// The program that notes written over MCP name.
pub const MCP: &str = "mcp";
/// The program, if only the session is known.
pub const UNKNOWN_TOOL: &str = "agent";

/// Returns the custom field that marks a note as generated, with the program that wrote it.
pub fn generated_by(program: impl Into<String>) -> (String, String) {
    (GENERATED_BY.to_owned(), program.into())
}

/// New values of fields; absent ones stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct NewFields {
    /// The type: fleeting, literature, permanent, moc, journal, decision, or your own
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// A tag to add (repeatable, or comma-separated)
    #[arg(id = "tag", long = "tag", value_name = "TAG", value_delimiter = ',', value_parser = trimmed)]
    pub tags: Vec<String>,
    /// The value of the note, 0 to 100
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = value)]
    pub value: Option<u8>,
    /// A source (repeatable)
    #[arg(id = "source", long = "source", value_name = "URL", value_parser = trimmed)]
    pub sources: Vec<String>,
    /// A summary of one or two sentences
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub summary: Option<String>,
    /// The code that the note is about: a file, or a line or symbol in it (repeatable); `auto`: what the session edited
    #[arg(id = "code", long = "code", value_name = "PATH[:LINE|#SYMBOL]")]
    pub codes: Vec<String>,
    /// The title.
    #[arg(skip)]
    pub title: Option<String>,
    /// Whether a person has checked it.
    #[arg(skip)]
    pub verified: Option<bool>,
    /// Tags to remove.
    #[arg(skip)]
    pub untags: Vec<String>,
    /// Typed links to add: type and note.
    #[arg(skip)]
    pub links: Vec<(String, String)>,
    /// Custom fields to set.
    #[arg(skip)]
    pub custom: Vec<(String, String)>,
    /// The body.
    #[arg(skip)]
    pub body: Option<String>,
    /// Where the text was taken from, if it is that of another collection.
    #[arg(skip)]
    pub origin: Option<ContentSource>,
}
