//! The changes that an edit of a note can make.

use super::super::value::Value;

/// A change of one note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Sets a top-level field to a text.
    SetText {
        /// The field.
        key: String,
        /// Its new text.
        text: String,
    },
    /// Sets a top-level field to a number, date or boolean.
    SetPlain {
        /// The field.
        key: &'static str,
        /// The value in YAML syntax.
        text: String,
    },
    /// Appends a text to a list, unless the list contains it.
    AddItem {
        /// The field of the list.
        key: &'static str,
        /// The text.
        text: String,
    },
    /// Removes every occurrence of a text from a list.
    RemoveItem {
        /// The field of the list.
        key: &'static str,
        /// The text.
        text: String,
    },
    /// Renames a text of a list in its position. If the list contains the new text too, only the first of them stays.
    RenameItem {
        /// The field of the list.
        key: &'static str,
        /// The text.
        from: String,
        /// The new text.
        to: String,
    },
    /// Appends a map to a list, unless the list contains an equal one.
    AddMap {
        /// The field of the list.
        key: &'static str,
        /// The entries of the map, in order.
        entries: Vec<(&'static str, String)>,
    },
    /// Removes the maps of a list that contain all of these entries.
    RemoveMap {
        /// The field of the list.
        key: &'static str,
        /// The entries.
        entries: Vec<(&'static str, String)>,
    },
    /// Appends a value of another note to a list, unless the list contains an equal one.
    AddValue {
        /// The field of the list.
        key: &'static str,
        /// The item.
        value: Value,
    },
    /// Replaces the target of the links that contain all of these entries, each in its position. If links become equal,
    /// only the first of them stays.
    Retarget {
        /// The field of the list.
        key: &'static str,
        /// The entries.
        entries: Vec<(&'static str, String)>,
        /// The new target.
        to: String,
    },
    /// Sets entries of the first item of a list that equals `item`; its other entries stay.
    SetEntries {
        /// The field of the list.
        key: &'static str,
        /// The item before the edit.
        item: Value,
        /// The entries to set.
        entries: Vec<(String, Value)>,
    },
    /// Removes a list without items.
    RemoveEmpty {
        /// The field of the list.
        key: &'static str,
    },
    /// Sets a field under `custom` to a value of another note.
    SetCustomValue {
        /// The field.
        key: String,
        /// The value.
        value: Value,
    },
    /// Sets a field under `custom`.
    SetCustom {
        /// The field.
        key: String,
        /// The value; a number or boolean keeps its type.
        text: String,
    },
    /// Removes a top-level field.
    RemoveField(&'static str),
    /// Removes a field under `custom`.
    RemoveCustom(&'static str),
    /// Replaces everything below the frontmatter.
    SetBody(String),
    /// Appends lines to the body and changes no byte before them.
    Append {
        /// The lines, the last one without a line ending.
        lines: String,
        /// Whether a blank line separates them from the text before.
        is_apart: bool,
    },
}

impl Edit {
    /// Returns the top-level field that the edit changes, or `body`.
    pub(super) fn key(&self) -> &str {
        match self {
            Self::SetText { key, .. } => key,
            Self::SetPlain { key, .. }
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
            Self::SetBody(_) | Self::Append { .. } => "body",
        }
    }
}
