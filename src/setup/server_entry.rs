//! The entry of our server in a map of a tool's JSON settings.
//!
//! JSON has no place for a marker. What existed before is encoded in the white space of the entry: each [`PriorState`]
//! has its own form, so that removing the entry restores every byte.

use anyhow::{Result, bail};
use serde_json::Value as Json;

use super::RecipeState;
use super::json_item::{ItemKind, JsonItem, LineStyle, pretty};

/// The name of our entry in the map, whatever the key of that map.
const NAME: &str = "qipu";

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

impl PriorState {
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
        match (self, style) {
            (Self::NoFolder, Some((indent, line_end))) => with_short_lists(entry, indent, line_end, ""),
            (Self::NoFile, Some((indent, line_end))) => with_short_lists(entry, indent, line_end, " "),
            (Self::NoKey, Some((indent, line_end))) => pretty(entry, indent, line_end),
            (Self::HasKey, _) => entry.to_string(),
            (Self::NoValue, _) => spaced(entry, ""),
            (Self::NoFolder | Self::NoFile | Self::NoKey, None) => spaced(entry, " "),
        }
    }
}

fn item<'k>(keys: &'k [&'k str; 1]) -> JsonItem<'k> {
    JsonItem { keys, kind: ItemKind::Property(NAME) }
}

/// Compares the entry in the map at `key` with `entry`: missing, edited or current.
///
/// # Errors
/// If the file is not JSON, has a key twice, or has another type of value where the map is expected.
pub(super) fn state(text: &str, key: &str, entry: &Json) -> Result<RecipeState> {
    item(&[key]).state(text, entry)
}

/// Returns what existed before the entry was inserted; `None` if there is no entry.
///
/// # Errors
/// See [`state`].
pub(super) fn prior_state(text: &str, key: &str) -> Result<Option<PriorState>> {
    Ok(item(&[key]).text(text)?.map(PriorState::decode))
}

/// Writes a map over several lines with the lists in it on one line each, and with `pad` inside their brackets.
fn with_short_lists(value: &Json, indent: &str, line_end: &str, pad: &str) -> String {
    let map = match value {
        Json::Object(map) => map,
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| spaced(item, "")).collect();
            return format!("[{pad}{}{pad}]", items.join(", "));
        }
        _ => return value.to_string(),
    };
    let deeper = format!("{indent}  ");
    let property = |(key, value): (&String, &Json)| {
        format!("{line_end}{deeper}{}: {}", Json::from(key.as_str()), with_short_lists(value, &deeper, line_end, pad))
    };
    format!("{{{}{line_end}{indent}}}", map.iter().map(property).collect::<Vec<_>>().join(","))
}

/// Writes a value on one line with spaces between items, and with `pad` inside the brackets of maps.
fn spaced(value: &Json, pad: &str) -> String {
    match value {
        Json::Object(map) => {
            let property =
                |(key, value): (&String, &Json)| format!("{}: {}", Json::from(key.as_str()), spaced(value, pad));
            format!("{{{pad}{}{pad}}}", map.iter().map(property).collect::<Vec<_>>().join(", "))
        }
        Json::Array(items) => {
            format!("[{}]", items.iter().map(|item| spaced(item, pad)).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Returns the file's text with the entry. `prior` is what existed before if another step of ours created the file.
///
/// # Errors
/// See [`state`]; also if removing the entry would not restore the text.
pub(super) fn with_entry(old: Option<&str>, key: &str, entry: &Json, prior: Option<PriorState>) -> Result<String> {
    let keys = [key];
    let item = item(&keys);
    let prior = match item.depth(old)? {
        0 => prior.unwrap_or(PriorState::NoFolder),
        1 => PriorState::NoValue,
        2 => prior.unwrap_or(PriorState::NoKey),
        _ => PriorState::HasKey,
    };
    let new = item.insert(old, &|style| prior.encode(entry, style))?;
    if state(&new, key, entry)? != RecipeState::Current || without_entry(&new, key)?.as_deref() != old {
        bail!("it is written in a way that qipu can't extend and restore");
    }
    Ok(new)
}

/// Returns the file's text without the entry and without what was created for it; `None` if that is the whole file.
///
/// # Errors
/// See [`state`].
pub(super) fn without_entry(text: &str, key: &str) -> Result<Option<String>> {
    let depth = prior_state(text, key)?.map_or(0, PriorState::depth);
    item(&[key]).remove(text, depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> [Json; 2] {
        [
            serde_json::json!({"command": "qipu", "args": ["mcp"]}),
            serde_json::json!({"type": "local", "command": ["qipu", "mcp"], "enabled": true}),
        ]
    }

    #[test]
    fn what_is_put_in_is_taken_out_to_the_byte() {
        let texts = [
            "",
            "\n",
            "{}",
            "{ }",
            "{\n}",
            "{\n}\n",
            "{\"a\":1}",
            "{ \"a\": 1 }\n",
            "{\n  \"a\": 1\n}\n",
            "{\r\n\t\"a\": 1,\r\n}\r\n",
            "// mine\n{ // c, }\n  // d\n  \"a\": [1, /* x */ 2],\n  \"b\": {}, // e\n}\n// end",
            "{\"m\":{}}",
            "{\"m\": { }}",
            "{\n  \"m\": {}\n}\n",
            "{\n  \"m\": {\n  }\n}\n",
            "{\n  \"m\": {\n    \"o\": {\n      \"command\": \"x\"\n    }\n  }\n}\n",
            "{\n  \"m\": { // none yet\n  } , \"n\": { \"qipu\": 1 } }",
            "/* only a comment */\n",
        ];
        for entry in entries() {
            for old in texts.into_iter().map(Some).chain([None]) {
                let new = with_entry(old, "m", &entry, None).unwrap_or_else(|error| panic!("{old:?}: {error}"));
                assert_eq!(state(&new, "m", &entry).unwrap(), RecipeState::Current, "{new}");
                assert_eq!(without_entry(&new, "m").unwrap().as_deref(), old, "{new}");
            }
        }
    }

    #[test]
    fn what_holds_something_else_is_refused() {
        let [entry, _] = entries();
        let deep = "[".repeat(100_000);
        for text in
            ["[]", "{", "x", "{\"m\": []}", "{\"m\": {}, \"m\": {}}", "{\"m\": {\"qipu\": 1, \"qipu\": 2}}", &deep]
        {
            assert!(with_entry(Some(text), "m", &entry, None).is_err(), "{text:.40}");
        }
        assert_eq!(state("{\"m\": {\"qipu\": {\"command\": \"other\"}}}", "m", &entry).unwrap(), RecipeState::Edited);
        assert_eq!(state("{\"m\": {\"qipu\": 1 /* c */}}", "m", &entry).unwrap(), RecipeState::Edited);
    }

    #[test]
    fn what_the_user_adds_stays() {
        let [entry, _] = entries();
        let new = with_entry(None, "m", &entry, None).unwrap();
        let added = new.replacen("{\n", "{\n  \"model\": \"x\",\n", 1);
        assert_eq!(without_entry(&added, "m").unwrap().as_deref(), Some("{\n  \"model\": \"x\"\n}\n"));
        let beside = new.replacen("\"qipu\"", "\"o\": {},\n    \"qipu\"", 1);
        assert_eq!(without_entry(&beside, "m").unwrap().as_deref(), Some("{\n  \"m\": {\n    \"o\": {}\n  }\n}\n"));
    }
}
