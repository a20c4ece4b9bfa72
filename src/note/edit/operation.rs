//! The changes that an edit of a note can make.

use super::super::value::Value;
use super::body_edit::BodyEdit;

/// A change of one note. `key` is a top-level field: the text, the list or the map that is edited.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants describe their fields")]
pub enum Edit {
    /// Sets a field to a text.
    SetText { key: String, text: String },
    /// Sets a field to a number, date or boolean in YAML syntax.
    SetPlain { key: &'static str, text: String },
    /// Sets a field to a map, whose entries keep their order.
    SetMap { key: &'static str, entries: Vec<(&'static str, String)> },
    /// Appends a text to a list, unless the list contains it.
    AddItem { key: &'static str, text: String },
    /// Removes every occurrence of a text from a list.
    RemoveItem { key: &'static str, text: String },
    /// Renames a text of a list in its position. If the list contains the new text too, only the first of them stays.
    RenameItem { key: &'static str, from: String, to: String },
    /// Appends a map to a list, unless the list contains an equal one. The entries keep their order.
    AddMap { key: &'static str, entries: Vec<(&'static str, String)> },
    /// Removes the maps of a list that contain all of these entries.
    RemoveMap { key: &'static str, entries: Vec<(&'static str, String)> },
    /// Appends a value of another note to a list, unless the list contains an equal one.
    AddValue { key: &'static str, value: Value },
    /// Replaces the target of the links that contain all of these entries, each in its position. If links become equal,
    /// only the first of them stays.
    Retarget { key: &'static str, entries: Vec<(&'static str, String)>, to: String },
    /// Sets entries of the first item of a list that equals `item`; its other entries stay.
    SetEntries { key: &'static str, item: Value, entries: Vec<(String, Value)> },
    /// Removes a list without items.
    RemoveEmpty { key: &'static str },
    /// Sets the field `key` under `custom` to a value of another note.
    SetCustomValue { key: String, value: Value },
    /// Sets the field `key` under `custom`; a number or boolean keeps its type.
    SetCustom { key: String, text: String },
    /// Removes a field.
    RemoveField(&'static str),
    /// Removes a field under `custom`.
    RemoveCustom(&'static str),
    /// Replaces everything below the frontmatter.
    SetBody(String),
    /// Appends lines, the last one without a line ending, to the body and changes no byte before them. If `is_apart`, a
    /// blank line separates them from the text before.
    Append { lines: String, is_apart: bool },
    /// Changes a part of the body.
    ChangeBody(BodyEdit),
}

impl Edit {
    /// Returns the top-level field that the edit changes, or `body`.
    pub(super) fn key(&self) -> &str {
        match self {
            Self::SetText { key, .. } => key,
            Self::SetPlain { key, .. }
            | Self::SetMap { key, .. }
            | Self::AddItem { key, .. }
            | Self::RemoveItem { key, .. }
            | Self::RenameItem { key, .. }
            | Self::AddMap { key, .. }
            | Self::RemoveMap { key, .. }
            | Self::AddValue { key, .. }
            | Self::SetEntries { key, .. }
            | Self::RemoveEmpty { key }
            | Self::Retarget { key, .. }
            | Self::RemoveField(key) => key,
            Self::SetCustom { .. } | Self::SetCustomValue { .. } | Self::RemoveCustom(_) => "custom",
            Self::SetBody(_) | Self::Append { .. } | Self::ChangeBody(_) => "body",
        }
    }
}
