//! Packs: notes and attachments in one text file with a checksum, for moving them between stores. Pure: from values to
//! text and back.

mod parse;
mod path;
mod write;

pub use parse::{PackError, parse};
pub use path::path_fault;
pub use write::write;

use crate::note::{ContentSource, NoteId};

/// The prefix of every pack, whatever its version.
pub const MAGIC: &str = "H qipu=1 pack=";

/// The content of a pack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pack {
    /// The path of its store, ending in `/`, as it was printed.
    pub store: String,
    /// The notes, sorted by id.
    pub notes: Vec<PackedNote>,
    /// The attachments, sorted by path.
    pub attachments: Vec<PackedFile>,
}

/// A note in a pack: its file, and what readers of the pack see of it without decoding the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedNote {
    /// Its id in its store.
    pub id: NoteId,
    /// Its type.
    pub kind: String,
    /// Its title.
    pub title: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// The sources of its content.
    pub sources: Vec<ContentSource>,
    /// Its links to notes of its store.
    pub links: Vec<PackedLink>,
    /// Its file, byte for byte.
    pub file: PackedFile,
}

/// A link of a packed note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedLink {
    /// The target note.
    pub to: NoteId,
    /// Its type.
    pub kind: String,
    /// Whether it is only in the body.
    pub is_inline: bool,
}

/// A file in a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedFile {
    /// Its path in the store, with `/` as separator.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}
