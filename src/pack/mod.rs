//! Packs: notes and attachments in one checked text, to carry them from store to store. Pure: from
//! values to text and back.

mod parse;
mod path;
mod write;

pub use parse::{PackError, parse};
pub use path::path_fault;
pub use write::write;

use crate::note::{ContentSource, NoteId};

/// How every pack begins, whatever its version.
pub const MAGIC: &str = "H qipu=1 pack=";

/// What a pack holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pack {
    /// The path of the store that it was made from, ending in `/`, as it was shown.
    pub store: String,
    /// The notes, in the order of their ids.
    pub notes: Vec<PackedNote>,
    /// The attachments, in the order of their paths.
    pub attachments: Vec<PackedFile>,
}

/// A note in a pack: its file, and what a reader should see of it without decoding that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedNote {
    /// Its id, as its store knew it.
    pub id: NoteId,
    /// Its type.
    pub kind: String,
    /// Its title.
    pub title: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Where its content comes from.
    pub sources: Vec<ContentSource>,
    /// Its links to notes of its store.
    pub links: Vec<PackedLink>,
    /// Its file, in every byte.
    pub file: PackedFile,
}

/// A link of a packed note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedLink {
    /// The note it leads to.
    pub to: NoteId,
    /// Its type.
    pub kind: String,
    /// Whether it stands in the body only.
    pub is_inline: bool,
}

/// A file in a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedFile {
    /// Its path in the store, with `/` between names.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}
