//! One entry in a map of a tool's JSON settings, which may hold comments: put in and taken out as a splice,
//! so that every other byte stays.
//!
//! JSON has no place for a marker. What was there before is told by the form in which our entry is
//! written: each [`Level`] has a form of its own, so that taking it out gives back the bytes.

use anyhow::{Result, bail};
use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use serde_json::Value as Json;

use super::json_item::{LineStyle, cut, expect_once, first, range, range_of, root, written};

/// The name of our entry, whatever the tool calls the map.
pub(super) const NAME: &str = "qipu";

/// How much of what the entry needs a file held before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PriorState {
    /// There was neither a file nor its folder. Our entry: lines, with lists on one line.
    Nothing,
    /// There was no file, but its folder. Our entry: as for [`Level::Nothing`], with spaces inside the brackets of
    /// lists.
    Folder,
    /// There was a file without a value. Our entry: one line, with spaces between things.
    Blank,
    /// There was a map without our key. Our entry: every item on a line of its own; on one line, with spaces
    /// inside its brackets.
    Map,
    /// There was our key in it, which is a map. Our entry: one line, with no spaces.
    Key,
}

/// How our entry stands in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryStatus {
    Missing,
    Current,
    Other,
}

/// A file's text, and what is in it on the way to our entry.
struct EntryFile<'a> {
    text: &'a str,
    root: Option<Object<'a>>,
    key: &'a str,
}

impl<'a> EntryFile<'a> {
    fn parse(text: &'a str, key: &'a str) -> Result<Self> {
        let settings = Self { text, root: root(text)?, key };
        settings.root.as_ref().map_or(Ok(()), |root| expect_once(root, key))?;
        settings.map()?.map_or(Ok(()), |map| expect_once(map, NAME))?;
        Ok(settings)
    }

    /// Finds the map that our entry belongs into, as a property of the root.
    fn place(&self) -> Option<&ObjectProp<'a>> {
        self.root.as_ref().and_then(|root| named(root, self.key))
    }

    fn map(&self) -> Result<Option<&Object<'a>>> {
        match self.place().map(|place| &place.value) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(_) => bail!("`{}` is not a map", self.key),
        }
    }

    fn ours(&self) -> Result<Option<&ObjectProp<'a>>> {
        Ok(self.map()?.and_then(|map| named(map, NAME)))
    }

    /// Returns our entry as it is written.
    fn said(&self) -> Result<Option<&'a str>> {
        Ok(self.ours()?.map(|ours| self.text.get(range(&ours.value)).unwrap_or_default()))
    }
}

fn named<'o, 'a>(object: &'o Object<'a>, name: &str) -> Option<&'o ObjectProp<'a>> {
    object.properties.iter().find(|property| property.name.as_str() == name)
}

/// Tells how our entry stands.
///
/// # Errors
/// When the file is not JSON, or holds something else where entries are expected.
pub(super) fn find(text: &str, key: &str, entry: &Json) -> Result<EntryStatus> {
    let said = EntryFile::parse(text, key)?.said()?.map(|said| serde_json::from_str::<Json>(said).ok());
    Ok(match said {
        None => EntryStatus::Missing,
        Some(Some(said)) if said == *entry => EntryStatus::Current,
        Some(_) => EntryStatus::Other,
    })
}

/// Tells what was there before our entry, where it is there.
///
/// # Errors
/// As [`find`].
pub(super) fn level(text: &str, key: &str) -> Result<Option<PriorState>> {
    Ok(EntryFile::parse(text, key)?.said()?.map(level_told_by))
}

/// Reads the level off the form of our entry.
fn level_told_by(said: &str) -> PriorState {
    let compact = serde_json::from_str::<Json>(said).map(|value| value.to_string());
    let mut lists = said.split('[').skip(1);
    let has_space = said.contains("[ ");
    match said.contains('\n') {
        true if lists.any(|list| list.trim_start_matches([' ', '\t', '\r']).starts_with('\n')) => PriorState::Map,
        true if has_space => PriorState::Folder,
        true => PriorState::Nothing,
        false if compact.is_ok_and(|compact| compact == said) => PriorState::Key,
        false if said.starts_with("{\"") => PriorState::Blank,
        false => PriorState::Map,
    }
}

/// Writes a value in the form that tells of a level, given indent and line end where there is room for lines.
fn formed(value: &Json, level: PriorState, place: LineStyle<'_>) -> String {
    match (level, place) {
        (PriorState::Nothing, Some((indent, line_end))) => short_lists(value, indent, line_end, ""),
        (PriorState::Folder, Some((indent, line_end))) => short_lists(value, indent, line_end, " "),
        (PriorState::Map, Some((indent, line_end))) => written(value, indent, line_end),
        (PriorState::Key, _) => value.to_string(),
        (PriorState::Blank, _) => spaced(value, ""),
        (PriorState::Nothing | PriorState::Folder | PriorState::Map, None) => spaced(value, " "),
    }
}

/// Writes a map over several lines, with the lists in it on one, and with `pad` inside their brackets.
fn short_lists(value: &Json, indent: &str, line_end: &str, pad: &str) -> String {
    let map = match value {
        Json::Object(map) => map,
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| spaced(item, "")).collect();
            return format!("[{pad}{}{pad}]", items.join(", "));
        }
        _ => return value.to_string(),
    };
    let deeper = format!("{indent}  ");
    let item = |(key, value): (&String, &Json)| {
        format!("{line_end}{deeper}{}: {}", Json::from(key.as_str()), short_lists(value, &deeper, line_end, pad))
    };
    format!("{{{}{line_end}{indent}}}", map.iter().map(item).collect::<Vec<_>>().join(","))
}

/// Writes a value on one line with spaces between things, and with `pad` inside the brackets of maps.
fn spaced(value: &Json, pad: &str) -> String {
    match value {
        Json::Object(map) => {
            let item = |(key, value): (&String, &Json)| format!("{}: {}", Json::from(key.as_str()), spaced(value, pad));
            format!("{{{pad}{}{pad}}}", map.iter().map(item).collect::<Vec<_>>().join(", "))
        }
        Json::Array(items) => {
            format!("[{}]", items.iter().map(|item| spaced(item, pad)).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Returns the file's text with our entry. `made` is what was there before where another part of ours made it.
///
/// # Errors
/// As [`find`]; or when taking it out would not give back the text as it was.
pub(super) fn with(old: Option<&str>, key: &str, entry: &Json, made: Option<PriorState>) -> Result<String> {
    let text = old.unwrap_or_default();
    let settings = EntryFile::parse(text, key)?;
    let level = match (old, &settings.root, settings.map()?) {
        (None, ..) => made.unwrap_or(PriorState::Nothing),
        (_, None, _) => PriorState::Blank,
        (_, _, Some(_)) => PriorState::Key,
        _ => made.unwrap_or(PriorState::Map),
    };
    let whole = |place: LineStyle<'_>| match place {
        Some((indent, line_end)) => {
            let deeper = format!("{indent}  ");
            let entry = formed(entry, level, Some((&deeper, line_end)));
            format!("{{{line_end}{deeper}\"{NAME}\": {entry}{line_end}{indent}}}")
        }
        None => format!("{{\"{NAME}\": {}}}", formed(entry, level, None)),
    };
    let new = match (&settings.root, settings.map()?) {
        (None, _) => {
            let end = if old.is_none() { "\n" } else { "" };
            format!("{{\n  \"{key}\": {}\n}}{end}{text}", whole(Some(("  ", "\n"))))
        }
        (Some(root), None) => first(text, range_of(&root.range), root.properties.first().map(range), Some(key), &whole),
        (_, Some(map)) => first(text, range_of(&map.range), map.properties.first().map(range), Some(NAME), &|place| {
            formed(entry, level, place)
        }),
    };
    if find(&new, key, entry)? != EntryStatus::Current || without(&new, key)?.as_deref() != old {
        bail!("it is written in a way that nothing can be added to and taken out again");
    }
    Ok(new)
}

/// Returns the file's text without our entry and without what was made for it; nothing where that is the
/// whole file.
///
/// # Errors
/// As [`find`].
pub(super) fn without(text: &str, key: &str) -> Result<Option<String>> {
    let settings = EntryFile::parse(text, key)?;
    let (Some(root), Some(place), Some(map), Some(ours), Some(said)) =
        (&settings.root, settings.place(), settings.map()?, settings.ours()?, settings.said()?)
    else {
        return Ok(Some(text.to_owned()));
    };
    let level = level_told_by(said);
    if level == PriorState::Key || map.properties.len() > 1 {
        return Ok(Some(cut(text, range(ours))));
    }
    if level == PriorState::Map || root.properties.len() > 1 {
        return Ok(Some(cut(text, range(place))));
    }
    let (before, after) = (text.get(..root.start()).unwrap_or_default(), text.get(root.end()..).unwrap_or_default());
    let rest = format!("{before}{after}");
    Ok((level == PriorState::Blank || !rest.trim().is_empty()).then_some(rest))
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
                let new = with(old, "m", &entry, None).unwrap_or_else(|error| panic!("{old:?}: {error}"));
                assert_eq!(find(&new, "m", &entry).unwrap(), EntryStatus::Current, "{new}");
                assert_eq!(without(&new, "m").unwrap().as_deref(), old, "{new}");
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
            assert!(with(Some(text), "m", &entry, None).is_err(), "{text:.40}");
        }
        assert_eq!(find("{\"m\": {\"qipu\": {\"command\": \"other\"}}}", "m", &entry).unwrap(), EntryStatus::Other);
        assert_eq!(find("{\"m\": {\"qipu\": 1 /* c */}}", "m", &entry).unwrap(), EntryStatus::Other);
    }

    #[test]
    fn what_the_user_adds_stays() {
        let [entry, _] = entries();
        let new = with(None, "m", &entry, None).unwrap();
        let added = new.replacen("{\n", "{\n  \"model\": \"x\",\n", 1);
        assert_eq!(without(&added, "m").unwrap().as_deref(), Some("{\n  \"model\": \"x\"\n}\n"));
        let beside = new.replacen("\"qipu\"", "\"o\": {},\n    \"qipu\"", 1);
        assert_eq!(without(&beside, "m").unwrap().as_deref(), Some("{\n  \"m\": {\n    \"o\": {}\n  }\n}\n"));
    }
}
