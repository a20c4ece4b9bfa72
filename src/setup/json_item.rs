//! Putting things into JSON with comments and taking them out again, as splices: every other byte stays.

use std::ops::Range;

use anyhow::{Result, anyhow, bail};
use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::managed_section::line_end;

/// How a value may be written over several lines: its indent and their end. Nothing where it stands on a line
/// with others.
pub(super) type LineStyle<'a> = Option<(&'a str, &'a str)>;

pub(super) fn property<'o, 'a>(object: &'o Object<'a>, name: &str) -> Option<&'o Value<'a>> {
    object.properties.iter().find(|property| property.name.as_str() == name).map(|property| &property.value)
}

/// Reads a file of settings, with comments or without; `None` where it holds no value.
pub(super) fn root(text: &str) -> Result<Option<Object<'_>>> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    match parsed.map_err(|error| anyhow!("it is not JSON: {error}"))?.value {
        None => Ok(None),
        Some(Value::Object(root)) => Ok(Some(root)),
        Some(_) => bail!("it is not a map of settings"),
    }
}

/// Refuses a key that is there twice: tools read the last one, and what is put into the other has no effect.
pub(super) fn expect_once(object: &Object<'_>, name: &str) -> Result<()> {
    let count = object.properties.iter().filter(|property| property.name.as_str() == name).count();
    if count > 1 { bail!("`{name}` is there {count} times; tools read the last one: make one of them") } else { Ok(()) }
}

pub(super) fn range(node: &impl Ranged) -> Range<usize> {
    node.start()..node.end()
}

pub(super) fn range_of(range: &jsonc_parser::common::Range) -> Range<usize> {
    range.start..range.end
}

/// Puts an item first into a map or list; `next` is the one that is first so far.
pub(super) fn first(
    text: &str,
    within: Range<usize>,
    next: Option<Range<usize>>,
    key: Option<&str>,
    value: &dyn Fn(LineStyle<'_>) -> String,
) -> String {
    let open = within.start + 1;
    let end = next.as_ref().map_or(within.end.saturating_sub(1), |next| next.start);
    let gap = text.get(open..end).unwrap_or_default();
    let name = key.map(|key| format!("{}: ", serde_json::Value::from(key))).unwrap_or_default();
    let comma = if next.is_some() { "," } else { "" };
    let Some((line, _)) = gap.split_once('\n') else {
        return spliced(text, open, &format!("{name}{}{comma}", value(None)));
    };
    let line_end = line_end(text);
    let last = gap.rsplit('\n').next().unwrap_or_default();
    let indent = last.get(..last.len() - last.trim_start().len()).unwrap_or_default();
    let indent = if next.is_some() { indent.to_owned() } else { format!("{indent}  ") };
    // A comment behind the bracket stays on its line.
    let at = if line.trim().is_empty() { open } else { open + line.trim_end_matches('\r').len() };
    spliced(text, at, &format!("{line_end}{indent}{name}{}{comma}", value(Some((&indent, line_end)))))
}

fn spliced(text: &str, at: usize, new: &str) -> String {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    format!("{before}{new}{after}")
}

/// Takes an item out of a map or list, with the white space before it and its comma.
pub(super) fn cut(text: &str, item: Range<usize>) -> String {
    let before = text.get(..item.start).unwrap_or_default().trim_end();
    let after = text.get(item.end..).unwrap_or_default();
    match after.strip_prefix(',') {
        Some(rest) => format!("{before}{rest}"),
        None => format!("{}{after}", before.strip_suffix(',').unwrap_or(before)),
    }
}

/// Writes a value over several lines.
pub(super) fn written(value: &serde_json::Value, indent: &str, line_end: &str) -> String {
    let deeper = format!("{indent}  ");
    let block = |open: char, items: Vec<String>, close: char| {
        let items: Vec<String> = items.iter().map(|item| format!("{line_end}{deeper}{item}")).collect();
        format!("{open}{}{line_end}{indent}{close}", items.join(","))
    };
    match value {
        serde_json::Value::Array(items) if !items.is_empty() => {
            block('[', items.iter().map(|item| written(item, &deeper, line_end)).collect(), ']')
        }
        serde_json::Value::Object(map) if !map.is_empty() => {
            let item = |(key, value): (&String, &serde_json::Value)| {
                format!("{}: {}", serde_json::Value::from(key.as_str()), written(value, &deeper, line_end))
            };
            block('{', map.iter().map(item).collect(), '}')
        }
        other => other.to_string(),
    }
}
