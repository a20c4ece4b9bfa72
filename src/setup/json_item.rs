//! Inserts one item into a JSON settings file, which may contain comments, and removes it again. Both are text edits:
//! every other byte stays.
//!
//! The item becomes the first of its map or list, and so does a container that is created for it: text directly behind
//! an opening bracket can be removed again without guessing.

use std::ops::Range;

use anyhow::{Result, anyhow, bail};
use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value as Json;

use super::RecipeState;
use crate::note::edit::line_end;

/// The indent and line end of a value that is written over several lines; `None` if it shares its line with others.
pub(super) type LineStyle<'a> = Option<(&'a str, &'a str)>;

/// An item of a settings file: the keys of the containers around it, outermost first, and how it is recognized.
#[derive(Clone, Copy)]
pub(super) struct JsonItem<'k> {
    pub(super) keys: &'k [&'k str],
    pub(super) kind: ItemKind,
}

/// How an item is recognized in the innermost container.
#[derive(Clone, Copy)]
pub(super) enum ItemKind {
    /// A property with this name; the container is a map.
    Property(&'static str),
    /// The first element that the predicate accepts; the container is a list.
    Element(fn(&Value<'_>) -> bool),
}

/// A map or list on the way to the item.
enum JsonContainer<'o, 'a> {
    Map(&'o Object<'a>),
    List(&'o Array<'a>),
}

impl JsonContainer<'_, '_> {
    fn range(&self) -> Range<usize> {
        match self {
            Self::Map(map) => range_of(*map),
            Self::List(list) => range_of(*list),
        }
    }

    fn first(&self) -> Option<Range<usize>> {
        match self {
            Self::Map(map) => map.properties.first().map(range_of),
            Self::List(list) => list.elements.first().map(range_of),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Map(map) => map.properties.len(),
            Self::List(list) => list.elements.len(),
        }
    }

    /// Returns the ranges of a property and of its value; `None` in a list.
    fn property(&self, name: &str) -> Option<(Range<usize>, Range<usize>)> {
        let Self::Map(map) = self else { return None };
        property(map, name).map(|property| (range_of(property), range_of(&property.value)))
    }
}

impl JsonItem<'_> {
    /// Compares the item of a file with `wanted`: missing, edited or current.
    ///
    /// # Errors
    /// If the file is not JSON, has a key twice, or has another type of value where a container is expected.
    pub(super) fn state(self, text: &str, wanted: &Json) -> Result<RecipeState> {
        let value = self.text(text)?.map(|value| serde_json::from_str::<Json>(value).ok());
        Ok(match value {
            None => RecipeState::Missing,
            Some(Some(value)) if value == *wanted => RecipeState::Current,
            Some(_) => RecipeState::Edited,
        })
    }

    /// Returns the text of the item's value.
    pub(super) fn text(self, text: &str) -> Result<Option<&str>> {
        let root = parse(text)?;
        let item = self.find(&self.containers(root.as_ref())?);
        Ok(item.map(|(_, value)| text.get(value).unwrap_or_default()))
    }

    /// Returns how much of the way to the item exists: 0 without a file, 1 for a file without a value, and 1 more for
    /// each container.
    pub(super) fn depth(self, text: Option<&str>) -> Result<usize> {
        let Some(text) = text else { return Ok(0) };
        let root = parse(text)?;
        Ok(1 + self.containers(root.as_ref())?.len())
    }

    /// Returns the file's text with the element `wanted`.
    pub(super) fn insert_element(self, old: Option<&str>, wanted: &Json) -> Result<String> {
        let write = |style: LineStyle<'_>| match style {
            Some(lines) => format(wanted, Spacing::Lines, Spacing::Lines, lines),
            None => wanted.to_string(),
        };
        let depth = self.depth(old)?;
        self.insert(old, wanted, &write, &|new| self.remove(new, depth))
    }

    /// Returns the file's text with the item, which `write` writes as `wanted`. Fails if `remove` would not restore the
    /// text.
    pub(super) fn insert(
        self,
        old: Option<&str>,
        wanted: &Json,
        write: &dyn Fn(LineStyle<'_>) -> String,
        remove: &dyn Fn(&str) -> Result<Option<String>>,
    ) -> Result<String> {
        let new = self.inserted(old, write)?;
        if self.state(&new, wanted)? != RecipeState::Current || remove(&new)?.as_deref() != old {
            bail!("it is written in a way that qipu can't extend and restore");
        }
        Ok(new)
    }

    fn inserted(self, old: Option<&str>, value: &dyn Fn(LineStyle<'_>) -> String) -> Result<String> {
        let text = old.unwrap_or_default();
        let root = parse(text)?;
        let containers = self.containers(root.as_ref())?;
        let Some(innermost) = containers.last() else {
            let end = if old.is_none() { "\n" } else { "" };
            return Ok(format!("{}{end}{text}", self.nested(0, value, Some(("", "\n")))));
        };
        let depth = containers.len();
        Ok(insert_first(text, innermost, self.key(depth - 1), &|style| self.nested(depth, value, style)))
    }

    /// Returns the file's text without the item and without the containers created for it; `None` if that is the whole
    /// file. `depth` is [`JsonItem::depth`] before the item was inserted.
    pub(super) fn remove(self, text: &str, depth: usize) -> Result<Option<String>> {
        let root = parse(text)?;
        let containers = self.containers(root.as_ref())?;
        let Some((item, _)) = self.find(&containers) else { return Ok(Some(text.to_owned())) };
        for (index, container) in containers.iter().enumerate().rev() {
            if depth >= index + 2 || container.len() > 1 {
                let inner = self.keys.get(index).and_then(|key| container.property(key));
                return Ok(Some(cut(text, inner.map_or(item, |(property, _)| property))));
            }
        }
        let root = containers.first().map(JsonContainer::range).unwrap_or_default();
        let (before, after) = (text.get(..root.start).unwrap_or_default(), text.get(root.end..).unwrap_or_default());
        let rest = format!("{before}{after}");
        Ok((depth > 0 || !rest.trim().is_empty()).then_some(rest))
    }

    /// Returns the containers that exist on the way to the item, outermost first.
    fn containers<'o, 'a>(self, root: Option<&'o Object<'a>>) -> Result<Vec<JsonContainer<'o, 'a>>> {
        let Some(mut map) = root else { return Ok(Vec::new()) };
        let mut containers = vec![JsonContainer::Map(map)];
        for (index, key) in self.keys.iter().enumerate() {
            expect_once(map, key)?;
            let is_list = matches!(self.kind, ItemKind::Element(_)) && index + 1 == self.keys.len();
            match property(map, key).map(|property| &property.value) {
                None => return Ok(containers),
                Some(Value::Array(list)) if is_list => containers.push(JsonContainer::List(list)),
                Some(Value::Object(inner)) if !is_list => {
                    containers.push(JsonContainer::Map(inner));
                    map = inner;
                }
                Some(_) => bail!("`{key}` is not an {}", if is_list { "array" } else { "object" }),
            }
        }
        if let ItemKind::Property(name) = self.kind {
            expect_once(map, name)?;
        }
        Ok(containers)
    }

    /// Returns the ranges of the item and of its value, which are the same in a list.
    fn find(self, containers: &[JsonContainer<'_, '_>]) -> Option<(Range<usize>, Range<usize>)> {
        let innermost = containers.get(self.keys.len())?;
        match (self.kind, innermost) {
            (ItemKind::Property(name), _) => innermost.property(name),
            (ItemKind::Element(is_ours), JsonContainer::List(list)) => {
                let item = list.elements.iter().find(|element| is_ours(element)).map(range_of);
                item.map(|item| (item.clone(), item))
            }
            (ItemKind::Element(_), JsonContainer::Map(_)) => None,
        }
    }

    /// Returns the key in the container at `depth` that leads to the item; `None` in a list.
    fn key(&self, depth: usize) -> Option<&str> {
        self.keys.get(depth).copied().or(match self.kind {
            ItemKind::Property(name) => Some(name),
            ItemKind::Element(_) => None,
        })
    }

    /// Writes the item and the containers around it from `depth` on, where 0 is the root.
    fn nested(&self, depth: usize, value: &dyn Fn(LineStyle<'_>) -> String, style: LineStyle<'_>) -> String {
        if depth > self.keys.len() {
            return value(style);
        }
        let (open, close) = if self.key(depth).is_some() { ('{', '}') } else { ('[', ']') };
        let Some((indent, line_end)) = style else {
            // Older versions wrote the containers of an element without a space after the colon.
            let colon = if matches!(self.kind, ItemKind::Property(_)) { ": " } else { ":" };
            let name = self.key(depth).map(|key| format!("\"{key}\"{colon}")).unwrap_or_default();
            return format!("{open}{name}{}{close}", self.nested(depth + 1, value, None));
        };
        let deeper = format!("{indent}  ");
        let name = self.key(depth).map(|key| format!("\"{key}\": ")).unwrap_or_default();
        let inner = self.nested(depth + 1, value, Some((&deeper, line_end)));
        format!("{open}{line_end}{deeper}{name}{inner}{line_end}{indent}{close}")
    }
}

/// Parses a settings file; `None` if it has no value.
fn parse(text: &str) -> Result<Option<Object<'_>>> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    match parsed.map_err(|error| anyhow!("it is not JSON: {error}"))?.value {
        None => Ok(None),
        Some(Value::Object(root)) => Ok(Some(root)),
        Some(_) => bail!("it is not a JSON object"),
    }
}

fn property<'o, 'a>(map: &'o Object<'a>, name: &str) -> Option<&'o ObjectProp<'a>> {
    map.properties.iter().find(|property| property.name.as_str() == name)
}

/// Rejects a key that occurs twice: tools read the last one, so that an edit of the first has no effect.
fn expect_once(map: &Object<'_>, name: &str) -> Result<()> {
    let count = map.properties.iter().filter(|property| property.name.as_str() == name).count();
    if count > 1 {
        bail!("`{name}` occurs {count} times, and tools read only the last one: combine them");
    }
    Ok(())
}

fn range_of(node: &impl Ranged) -> Range<usize> {
    node.start()..node.end()
}

/// Inserts a child at the start of a container, on a line of its own if the container spans several lines.
fn insert_first(
    text: &str,
    container: &JsonContainer<'_, '_>,
    key: Option<&str>,
    value: &dyn Fn(LineStyle<'_>) -> String,
) -> String {
    let (within, next) = (container.range(), container.first());
    let start = within.start + 1;
    let end = next.as_ref().map_or(within.end.saturating_sub(1), |next| next.start);
    let gap = text.get(start..end).unwrap_or_default();
    let name = key.map(|key| format!("{}: ", Json::from(key))).unwrap_or_default();
    let comma = if next.is_some() { "," } else { "" };
    let Some((line, _)) = gap.split_once('\n') else {
        return insert_text(text, start, &format!("{name}{}{comma}", value(None)));
    };
    let line_end = line_end(text);
    let last = gap.rsplit('\n').next().unwrap_or_default();
    let indent = last.get(..last.len() - last.trim_start().len()).unwrap_or_default();
    let indent = if next.is_some() { indent.to_owned() } else { format!("{indent}  ") };
    // A comment behind the bracket stays on its line.
    let offset = if line.trim().is_empty() { start } else { start + line.trim_end_matches('\r').len() };
    insert_text(text, offset, &format!("{line_end}{indent}{name}{}{comma}", value(Some((&indent, line_end)))))
}

fn insert_text(text: &str, offset: usize, new: &str) -> String {
    let (before, after) = text.split_at_checked(offset).unwrap_or((text, ""));
    format!("{before}{new}{after}")
}

/// Removes a child of a map or list, with its comma and the white space before it.
fn cut(text: &str, child: Range<usize>) -> String {
    let before = text.get(..child.start).unwrap_or_default().trim_end();
    let after = text.get(child.end..).unwrap_or_default();
    match after.strip_prefix(',') {
        Some(rest) => format!("{before}{rest}"),
        None => format!("{}{after}", before.strip_suffix(',').unwrap_or(before)),
    }
}

/// How the items of a map or list are written.
#[derive(Clone, Copy)]
pub(super) enum Spacing {
    /// Each on a line of its own.
    Lines,
    /// On one line, with this text inside the brackets.
    OneLine(&'static str),
}

/// Writes a value. `lines`: the indent of the line on which it begins, and the line end.
pub(super) fn format(value: &Json, maps: Spacing, lists: Spacing, lines: (&str, &str)) -> String {
    let (indent, line_end) = lines;
    let deeper = format!("{indent}  ");
    let inner = |value: &Json| format(value, maps, lists, (&deeper, line_end));
    let property = |(key, value): (&String, &Json)| format!("{}: {}", Json::from(key.as_str()), inner(value));
    let (open, items, close, spacing): (_, Vec<String>, _, _) = match value {
        Json::Array(items) if !items.is_empty() => ('[', items.iter().map(inner).collect(), ']', lists),
        Json::Object(map) if !map.is_empty() => ('{', map.iter().map(property).collect(), '}', maps),
        other => return other.to_string(),
    };
    match spacing {
        Spacing::Lines => {
            let items = items.join(&format!(",{line_end}{deeper}"));
            format!("{open}{line_end}{deeper}{items}{line_end}{indent}{close}")
        }
        Spacing::OneLine(pad) => format!("{open}{pad}{}{pad}{close}", items.join(", ")),
    }
}
