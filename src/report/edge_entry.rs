//! The entries of links.

use serde::Serialize;

use crate::note::NoteId;

/// An edge of the graph as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EdgeEntry {
    pub(crate) from: NoteId,
    pub(crate) to: NoteId,
    /// The link type as seen from `from`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// Those of `typed`, `inline` and `virtual` that apply, in this order.
    #[serde(rename = "source")]
    pub(crate) sources: Vec<&'static str>,
    /// The index of the entry at the other end.
    #[serde(skip)]
    pub(crate) other: usize,
    /// Whether the link is written in `to` alone, under this very type.
    #[serde(skip)]
    pub(crate) is_backward: bool,
}

impl EdgeEntry {
    /// Returns the source and the target of the link as it is written, if its type is the same from both ends.
    pub fn drawn_ends(&self) -> (&NoteId, &NoteId) {
        if self.is_backward { (&self.to, &self.from) } else { (&self.from, &self.to) }
    }
}
