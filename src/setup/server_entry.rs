//! The entry of our server in a map of a tool's JSON settings.
//!
//! JSON has no place for a marker. What existed before is encoded in the white space of the entry: each [`PriorState`]
//! has its own form, so that removing the entry restores every byte.

use anyhow::Result;
use serde_json::Value as Json;

use super::json_item::Spacing::{Lines, OneLine};
use super::json_item::{ItemKind, JsonItem, LineStyle, format};

/// How much of a settings file existed before the entry was inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PriorState {
    /// Neither the file nor its folder. The entry spans lines, with lists on one line.
    NoFolder,
    /// The folder, but no file. The entry is as for [`PriorState::NoFolder`], with spaces inside the brackets of lists.
    NoFile,
    /// A file without a value. The entry is on one line, with spaces between items.
    NoValue,
    /// A map without the key. Every item of the entry is on a line of its own; if the entry is on one line, it has
    /// spaces inside its brackets.
    NoKey,
    /// The key, with a map as its value. The entry is on one line, without spaces.
    HasKey,
}

/// Returns the entry in the map at `keys`: `qipu`, whatever the map.
pub(super) const fn server_item(keys: &'static [&'static str]) -> JsonItem<'static> {
    JsonItem { keys, kind: ItemKind::Property("qipu") }
}

impl PriorState {
    /// Returns what existed before the entry was inserted; `None` if there is no entry.
    pub(super) fn find(item: JsonItem<'_>, text: &str) -> Result<Option<Self>> {
        Ok(item.text(text)?.map(Self::decode))
    }

    /// Returns the file's text with `entry`. `prior` is what existed before if another step of ours created the file.
    pub(super) fn insert(item: JsonItem<'_>, old: Option<&str>, entry: &Json, prior: Option<Self>) -> Result<String> {
        let prior = match item.depth(old)? {
            0 => prior.unwrap_or(Self::NoFolder),
            1 => Self::NoValue,
            2 => prior.unwrap_or(Self::NoKey),
            _ => Self::HasKey,
        };
        item.insert(old, entry, &|style| prior.encode(entry, style), &|new| Self::remove(item, new))
    }

    /// Returns the file's text without the entry and without what was created for it; `None` if that is the whole file.
    pub(super) fn remove(item: JsonItem<'_>, text: &str) -> Result<Option<String>> {
        item.remove(text, Self::find(item, text)?.map_or(0, Self::depth))
    }

    /// Returns the state as [`JsonItem::depth`] counts it.
    fn depth(self) -> usize {
        match self {
            Self::NoFolder | Self::NoFile => 0,
            Self::NoValue => 1,
            Self::NoKey => 2,
            Self::HasKey => 3,
        }
    }

    /// Decodes the state from the form of an entry.
    fn decode(entry: &str) -> Self {
        let has_line_break = |list: &str| list.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        if entry.contains('\n') {
            return match entry {
                _ if entry.split('[').skip(1).any(has_line_break) => Self::NoKey,
                _ if entry.contains("[ ") => Self::NoFile,
                _ => Self::NoFolder,
            };
        }
        match serde_json::from_str::<Json>(entry) {
            Ok(value) if serde_json::to_string(&value).is_ok_and(|compact| compact == entry) => Self::HasKey,
            _ if entry.starts_with("{\"") => Self::NoValue,
            _ => Self::NoKey,
        }
    }

    /// Writes an entry in the form that encodes the state.
    fn encode(self, entry: &Json, style: LineStyle<'_>) -> String {
        let (maps, lists) = match (self, style) {
            (Self::HasKey, _) => return entry.to_string(),
            (Self::NoValue, _) => (OneLine(""), OneLine("")),
            (Self::NoFolder, Some(_)) => (Lines, OneLine("")),
            (Self::NoFile, Some(_)) => (Lines, OneLine(" ")),
            (Self::NoKey, Some(_)) => (Lines, Lines),
            (Self::NoFolder | Self::NoFile | Self::NoKey, None) => (OneLine(" "), OneLine("")),
        };
        format(entry, maps, lists, style.unwrap_or_default())
    }
}
