//! Surgical edits of a note's text: the bytes of one field change, and no others.
//!
//! An edit is a splice at the place of a YAML node. What comes out is parsed again and compared,
//! value by value, with what the edit means; a splice that would say anything else is refused, and
//! the note stays as it is.

use std::ops::Range;

use super::frontmatter::{Parts, link_target, split};
use super::value::{Value, is_null_text};
use super::yaml::{self, Kind, Yaml};

/// One change of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Gives a top-level field a text.
    SetText {
        /// The field.
        key: String,
        /// Its new text.
        text: String,
    },
    /// Gives a top-level field a number, date or truth value.
    SetPlain {
        /// The field.
        key: &'static str,
        /// The value as YAML writes it.
        text: String,
    },
    /// Adds a text to a list, unless it is there.
    AddItem {
        /// The list's field.
        key: &'static str,
        /// The text.
        text: String,
    },
    /// Takes a text out of a list, wherever it stands in it.
    RemoveItem {
        /// The list's field.
        key: &'static str,
        /// The text.
        text: String,
    },
    /// Adds a map to a list, unless an equal one is there.
    AddMap {
        /// The list's field.
        key: &'static str,
        /// The map's entries, in their order.
        entries: Vec<(&'static str, String)>,
    },
    /// Takes maps out of a list: those that hold all these entries.
    RemoveMap {
        /// The list's field.
        key: &'static str,
        /// What they hold.
        entries: Vec<(&'static str, String)>,
    },
    /// Gives a field under `custom` a value.
    SetCustom {
        /// The field.
        key: String,
        /// The value: a number or truth value stays one.
        text: String,
    },
    /// Replaces everything below the frontmatter.
    SetBody(String),
}

/// Applies edits one after the other. Returns the new text.
///
/// # Errors
/// A sentence that says why an edit can't be made without touching anything else; mostly that
/// the frontmatter is not YAML, with its line.
pub fn apply(text: &str, edits: &[Edit]) -> Result<String, String> {
    let mut text = text.to_owned();
    for edit in edits {
        text = match edit {
            Edit::SetBody(body) => with_body(&text, body),
            edit => with_field(&text, edit)?,
        };
    }
    Ok(text)
}

/// Replaces the body; line ends are those of the file.
fn with_body(text: &str, body: &str) -> String {
    let parts = split(text);
    let front = text.get(..parts.body.start).unwrap_or_default();
    let body = body.replace("\r\n", "\n").replace('\n', line_end(text));
    format!("{front}{body}")
}

fn line_end(text: &str) -> &'static str {
    if text.split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" }
}

fn with_field(text: &str, edit: &Edit) -> Result<String, String> {
    let parts = split(text);
    let Some(range) = parts.yaml.clone() else {
        return with_new_frontmatter(text, &parts, edit);
    };
    let yaml = text.get(range.clone()).unwrap_or_default();
    let document = Document::parse(yaml, line_end(text))?;
    let wanted = meaning(&document.values(), edit);
    if same(&document.values(), &wanted) {
        return Ok(text.to_owned());
    }
    for candidate in document.candidates(edit) {
        let is_right = Document::parse(&candidate, "\n").is_ok_and(|new| same(&new.values(), &wanted));
        let whole = splice(text, range.clone(), &candidate);
        if is_right && split(&whole).body.len() == parts.body.len() {
            return Ok(whole);
        }
    }
    Err(format!("`{}` is written in a way that can't be changed without touching other fields", key_of(edit)))
}

/// Gives frontmatter to a note that has none.
fn with_new_frontmatter(text: &str, parts: &Parts, edit: &Edit) -> Result<String, String> {
    if parts.unclosed {
        return Err("the frontmatter has no closing `---`".to_owned());
    }
    let end = line_end(text);
    let at = parts.body.start;
    let text = splice(text, at..at, &format!("---{end}---{end}"));
    with_field(&text, edit)
}

fn splice(text: &str, range: Range<usize>, new: &str) -> String {
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    format!("{before}{new}{after}")
}

fn key_of(edit: &Edit) -> &str {
    match edit {
        Edit::SetText { key, .. } => key,
        Edit::SetPlain { key, .. }
        | Edit::AddItem { key, .. }
        | Edit::RemoveItem { key, .. }
        | Edit::AddMap { key, .. }
        | Edit::RemoveMap { key, .. } => key,
        Edit::SetCustom { .. } => "custom",
        Edit::SetBody(_) => "body",
    }
}

/// Keys and their values, in the order written.
pub(super) type Fields = Vec<(String, Value)>;

/// Says what an edit does to the values, whatever their spelling.
fn meaning(values: &Fields, edit: &Edit) -> Fields {
    let mut values = values.clone();
    match edit {
        Edit::SetText { key, text } => set(&mut values, key, Value::text(text)),
        Edit::SetPlain { key, text } => set(&mut values, key, Value::text(text)),
        Edit::AddItem { key, text } => with_list(&mut values, key, |items| {
            if !items.iter().any(|item| item.to_line().trim() == text) {
                items.push(Value::text(text));
            }
        }),
        Edit::RemoveItem { key, text } => {
            with_list(&mut values, key, |items| items.retain(|item| item.to_line().trim() != text))
        }
        Edit::AddMap { key, entries } => with_list(&mut values, key, |items| add(items, map_value(entries))),
        Edit::RemoveMap { key, entries } => {
            with_list(&mut values, key, |items| items.retain(|item| !holds(item, entries)))
        }
        Edit::SetCustom { key, text } => {
            let mut fields = match values.iter().find(|(name, _)| name == "custom") {
                Some((_, Value::Map(fields))) => fields.clone(),
                _ => Vec::new(),
            };
            set(&mut fields, key, Value::text(text));
            set(&mut values, "custom", Value::Map(fields));
        }
        Edit::SetBody(_) => {}
    }
    values
}

fn set(values: &mut Fields, key: &str, value: Value) {
    match values.iter_mut().find(|(name, _)| name == key) {
        Some((_, old)) => *old = value,
        None => values.push((key.to_owned(), value)),
    }
}

fn with_list(values: &mut Fields, key: &str, change: impl FnOnce(&mut Vec<Value>)) {
    let is_there = values.iter().any(|(name, _)| name == key);
    let mut items = match values.iter().find(|(name, _)| name == key) {
        Some((_, Value::List(items))) => items.clone(),
        Some((_, Value::Text { text, plain })) if !(*plain && is_null_text(text)) => vec![Value::text(text)],
        Some((_, map @ Value::Map(_))) => vec![map.clone()],
        _ => Vec::new(),
    };
    let before = items.len();
    change(&mut items);
    if is_there && items.len() == before {
        return;
    }
    if is_there || !items.is_empty() {
        set(values, key, Value::List(items));
    }
}

fn add(items: &mut Vec<Value>, item: Value) {
    if !items.iter().any(|have| same_value(have, &item)) {
        items.push(item);
    }
}

fn map_value(entries: &[(&'static str, String)]) -> Value {
    Value::Map(entries.iter().map(|(key, text)| ((*key).to_owned(), Value::text(text))).collect())
}

/// Tells whether an item of a list says all of this. A text where a map is expected names the
/// note or address, and as a link its type is `related`.
fn holds(item: &Value, entries: &[(&'static str, String)]) -> bool {
    let is_unsaid_type = |key: &str, wanted: &str| key == "type" && wanted == "related";
    let says = |value: &Value, wanted: &str| value.to_line() == wanted || link_target(&value.to_line()) == wanted;
    entries.iter().all(|(key, wanted)| match item {
        Value::Map(fields) => match fields.iter().find(|(name, _)| name == key) {
            Some((_, value)) => says(value, wanted),
            None => is_unsaid_type(key, wanted),
        },
        text_or_list => is_unsaid_type(key, wanted) || (*key != "type" && says(text_or_list, wanted)),
    })
}

fn same(a: &Fields, b: &Fields) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|((a, x), (b, y))| a == b && same_value(x, y))
}

/// Tells whether two values are the same, however they are quoted.
fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Text { text: a, .. }, Value::Text { text: b, .. }) => a == b,
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b)),
        (Value::Map(a), Value::Map(b)) => same(a, b),
        _ => false,
    }
}

/// Parsed frontmatter and its text.
pub(super) struct Document<'a> {
    yaml: &'a str,
    line_end: &'static str,
    pub(super) entries: Vec<(Yaml<'a>, Yaml<'a>)>,
}

impl<'a> Document<'a> {
    pub(super) fn parse(yaml: &'a str, line_end: &'static str) -> Result<Self, String> {
        let tree = yaml::parse(yaml)
            .map_err(|broken| format!("the frontmatter is not YAML: line {}: {}", broken.line + 1, broken.reason))?;
        match tree.kind {
            Kind::Map(entries) => Ok(Self { yaml, line_end, entries }),
            Kind::Scalar { text, .. } if text.is_empty() => Ok(Self { yaml, line_end, entries: Vec::new() }),
            _ => Err("the frontmatter is not a map of fields".to_owned()),
        }
    }

    pub(super) fn values(&self) -> Fields {
        self.entries.iter().map(|(key, value)| (Value::from_yaml(key).to_line(), Value::from_yaml(value))).collect()
    }

    fn entry(&self, key: &str) -> Option<&(Yaml<'a>, Yaml<'a>)> {
        self.entries.iter().find(|(have, _)| Value::from_yaml(have).to_line() == key)
    }

    /// Returns texts that may be what an edit means, the least change first.
    fn candidates(&self, edit: &Edit) -> Vec<String> {
        match edit {
            Edit::SetText { key, text } => self.set(key, &scalar(text, false)),
            Edit::SetPlain { key, text } => self.set(key, text),
            Edit::AddItem { key, text } => self.add_item(key, &Item::Text(text)),
            Edit::AddMap { key, entries } => self.add_item(key, &Item::Map(entries)),
            Edit::RemoveItem { key, text } => self.remove_items(key, &|item| item.to_line().trim() == text),
            Edit::RemoveMap { key, entries } => self.remove_items(key, &|item| holds(item, entries)),
            Edit::SetCustom { key, text } => self.set_entry("custom", key, &scalar(text, true)),
            Edit::SetBody(_) => Vec::new(),
        }
    }

    /// Returns texts that may have a field with this value, written on one line.
    pub(super) fn with_value(&self, key: &str, value: &Value) -> Vec<String> {
        self.set(key, &flow(value))
    }

    /// Returns texts that may have one more item in a list, in the list's style.
    pub(super) fn with_item(&self, key: &str, item: &Value) -> Vec<String> {
        self.add_item(key, &Item::Value(item))
    }

    /// Returns texts that may have a map's field with this value.
    pub(super) fn with_entry(&self, map: &str, key: &str, value: &Value) -> Vec<String> {
        self.set_entry(map, key, &flow(value))
    }

    /// Returns texts that may lack a map's field.
    pub(super) fn without_entry(&self, map: &str, key: &str) -> Vec<String> {
        let Some((name, node)) = self.entry(map) else { return Vec::new() };
        let Kind::Map(fields) = &node.kind else { return Vec::new() };
        let is_meant = |(have, _): &(Yaml<'_>, Yaml<'_>)| Value::from_yaml(have).to_line() == key;
        let Some(place) = fields.iter().position(is_meant) else { return Vec::new() };
        let Some((own_key, own_value)) = fields.get(place) else { return Vec::new() };
        if fields.len() == 1 {
            return vec![self.replaced(self.after_colon(name, node), " {}")];
        }
        let range = match (self.is_flow(node), fields.get(place + 1), fields.get(..place).and_then(<[_]>::last)) {
            (true, Some((next, _)), _) => own_key.span.start..next.span.start,
            (true, None, Some((_, before))) => self.end(before)..self.end(own_value),
            _ => self.line_start(own_key.span.start)..self.next_line(self.end(own_value).max(own_key.span.end)),
        };
        vec![self.replaced(range, "")]
    }

    /// Replaces a field's value in place, or all that stands after its colon, or adds the field.
    fn set(&self, key: &str, value: &str) -> Vec<String> {
        let Some((name, old)) = self.entry(key) else {
            return vec![self.with_line_at(self.yaml.len(), &format!("{}: {value}", scalar(key, false)))];
        };
        vec![self.replaced(old.span.clone(), value), self.replaced(self.after_colon(name, old), &format!(" {value}"))]
    }

    fn set_entry(&self, map: &str, key: &str, value: &str) -> Vec<String> {
        let line = format!("{}: {value}", scalar(key, false));
        let end = self.line_end;
        let Some((name, custom)) = self.entry(map) else {
            return vec![self.with_line_at(self.yaml.len(), &format!("{}:{end}  {line}", scalar(map, false)))];
        };
        let Kind::Map(fields) = &custom.kind else {
            return vec![self.replaced(self.after_colon(name, custom), &format!("{end}  {line}"))];
        };
        if let Some((name, old)) = fields.iter().find(|(have, _)| Value::from_yaml(have).to_line() == key) {
            return vec![
                self.replaced(old.span.clone(), value),
                self.replaced(self.after_colon(name, old), &format!(" {value}")),
            ];
        }
        let Some((first, _)) = fields.first() else {
            return vec![self.replaced(custom.span.clone(), &format!("{{{line}}}"))];
        };
        if self.is_flow(custom) {
            return self.with_flow_item(custom, fields.last().map(|(_, value)| self.end(value)), &line);
        }
        let indent = self.yaml.get(self.line_start(first.span.start)..first.span.start).unwrap_or_default();
        vec![self.with_line_at(self.next_line(self.end(custom)), &format!("{indent}{line}"))]
    }

    fn add_item(&self, key: &str, item: &Item<'_>) -> Vec<String> {
        let Some((name, list)) = self.entry(key) else {
            return vec![self.with_line_at(self.yaml.len(), &item.as_field(key, self.line_end))];
        };
        let fresh =
            || item.as_field(key, self.line_end).split_once(':').map(|(_, value)| value.to_owned()).unwrap_or_default();
        match &list.kind {
            Kind::Scalar { text, plain: true } if is_null_text(text) => {
                vec![self.replaced(self.after_colon(name, list), &fresh())]
            }
            Kind::List(items) if items.is_empty() => vec![self.replaced(self.after_colon(name, list), &fresh())],
            Kind::List(items) if self.is_flow(list) => {
                self.with_flow_item(list, items.last().map(|item| self.end(item)), &item.as_flow())
            }
            Kind::List(items) => {
                let Some(last) = items.last() else { return Vec::new() };
                let dash = self.yaml.get(self.line_start(last.span.start)..last.span.start).unwrap_or_default();
                let at = self.next_line(self.end(list));
                [item.as_block(dash, self.line_end), format!("{dash}{}", item.as_flow())]
                    .map(|lines| self.with_line_at(at, &lines))
                    .into()
            }
            // One value where a list is expected becomes the first of the list.
            Kind::Scalar { text, .. } => {
                let both = format!("[{}, {}]", scalar(text, true), item.as_flow());
                vec![
                    self.replaced(list.span.clone(), &both),
                    self.replaced(self.after_colon(name, list), &format!(" {both}")),
                ]
            }
            Kind::Map(_) => Vec::new(),
        }
    }

    /// Adds an item before the closing bracket of a flow list or map.
    fn with_flow_item(&self, node: &Yaml<'_>, last_end: Option<usize>, item: &str) -> Vec<String> {
        let at = last_end.unwrap_or(node.span.start + 1);
        let tail = self.yaml.get(at..node.span.end).unwrap_or_default();
        match tail.find(',') {
            Some(comma) => vec![self.replaced(at + comma + 1..at + comma + 1, &format!(" {item}"))],
            None => vec![self.replaced(at..at, &format!(", {item}"))],
        }
    }

    pub(super) fn remove_items(&self, key: &str, is_unwanted: &dyn Fn(&Value) -> bool) -> Vec<String> {
        let Some((name, list)) = self.entry(key) else { return Vec::new() };
        let Kind::List(items) = &list.kind else {
            return vec![self.replaced(self.after_colon(name, list), " []")];
        };
        let keeps = |item: &Yaml<'_>| !is_unwanted(&Value::from_yaml(item));
        if !items.iter().any(keeps) {
            return vec![self.replaced(self.after_colon(name, list), " []")];
        }
        let mut text = self.yaml.to_owned();
        for (place, item) in items.iter().enumerate().rev().filter(|(_, item)| !keeps(item)) {
            let range = if self.is_flow(list) {
                match (items.get(..place).and_then(<[_]>::last), items.get(place + 1)) {
                    (_, Some(next)) => item.span.start..next.span.start,
                    (Some(before), None) => self.end(before)..self.end(item),
                    (None, None) => item.span.clone(),
                }
            } else {
                self.line_start(item.span.start)..self.next_line(self.end(item))
            };
            // Two unwanted items at the end of a flow list would both take the comma between.
            if range.end <= text.len() {
                text = splice(&text, range, "");
            }
        }
        vec![text]
    }

    fn replaced(&self, range: Range<usize>, new: &str) -> String {
        splice(self.yaml, range, new)
    }

    fn with_line_at(&self, at: usize, line: &str) -> String {
        splice(self.yaml, at..at, &format!("{line}{}", self.line_end))
    }

    /// Returns what stands between a key's colon and the end of its value.
    fn after_colon(&self, key: &Yaml<'_>, value: &Yaml<'_>) -> Range<usize> {
        let rest = self.yaml.get(key.span.end..).unwrap_or_default();
        let start = rest.find(':').map_or(key.span.end, |colon| key.span.end + colon + 1);
        start..self.end(value).max(start)
    }

    /// Returns where a node's last character ends.
    fn end(&self, node: &Yaml<'_>) -> usize {
        match &node.kind {
            _ if self.is_flow(node) => node.span.end,
            Kind::List(items) => items.iter().map(|item| self.end(item)).max().unwrap_or(node.span.start),
            Kind::Map(entries) => {
                entries.iter().map(|(key, value)| self.end(key).max(self.end(value))).max().unwrap_or(node.span.start)
            }
            Kind::Scalar { .. } => {
                let written = self.yaml.get(node.span.clone()).unwrap_or_default();
                node.span.start + written.trim_end().len()
            }
        }
    }

    fn is_flow(&self, node: &Yaml<'_>) -> bool {
        let opens = |mark: char| self.yaml.get(node.span.start..).is_some_and(|rest| rest.starts_with(mark));
        match &node.kind {
            // A block list without an indent begins, for the parser, where its first item does.
            Kind::List(items) => opens('[') && items.first().is_none_or(|item| item.span.start > node.span.start),
            Kind::Map(_) => opens('{'),
            Kind::Scalar { .. } => false,
        }
    }

    pub(super) fn line_start(&self, at: usize) -> usize {
        self.yaml.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
    }

    fn next_line(&self, at: usize) -> usize {
        self.yaml.get(at..).and_then(|rest| rest.find('\n')).map_or(self.yaml.len(), |end| at + end + 1)
    }
}

/// An item to add to a list.
enum Item<'a> {
    Text(&'a str),
    Map(&'a [(&'static str, String)]),
    Value(&'a Value),
}

impl Item<'_> {
    fn as_flow(&self) -> String {
        match self {
            Self::Text(text) => scalar(text, false),
            Self::Map(entries) => {
                let entries: Vec<_> =
                    entries.iter().map(|(key, text)| format!("{key}: {}", scalar(text, false))).collect();
                format!("{{{}}}", entries.join(", "))
            }
            Self::Value(value) => flow(value),
        }
    }

    /// Writes the item below others whose lines begin with `dash` (white space and a dash).
    fn as_block(&self, dash: &str, line_end: &str) -> String {
        match self {
            Self::Text(text) => format!("{dash}{}", scalar(text, false)),
            Self::Map(entries) => {
                let indent = " ".repeat(dash.len());
                let entries: Vec<_> =
                    entries.iter().map(|(key, text)| format!("{key}: {}", scalar(text, false))).collect();
                format!("{dash}{}", entries.join(&format!("{line_end}{indent}")))
            }
            Self::Value(Value::Map(entries)) if !entries.is_empty() => {
                let indent = " ".repeat(dash.len());
                let entries: Vec<_> =
                    entries.iter().map(|(key, value)| format!("{}: {}", scalar(key, false), flow(value))).collect();
                format!("{dash}{}", entries.join(&format!("{line_end}{indent}")))
            }
            Self::Value(value) => format!("{dash}{}", flow(value)),
        }
    }

    /// Writes a new field with the item as its only one.
    fn as_field(&self, key: &str, line_end: &str) -> String {
        match self {
            Self::Text(_) | Self::Value(Value::Text { .. } | Value::List(_)) => format!("{key}: [{}]", self.as_flow()),
            Self::Map(_) | Self::Value(Value::Map(_)) => format!("{key}:{line_end}{}", self.as_block("  - ", line_end)),
        }
    }
}

/// Writes a value on one line. A number or truth value that stood without quotes stays one.
pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::Text { text, plain: true } if is_null_text(text) && !text.is_empty() => text.clone(),
        Value::Text { text, plain } => scalar(text, *plain),
        Value::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => {
            let entries: Vec<_> =
                entries.iter().map(|(key, value)| format!("{}: {}", scalar(key, false), flow(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// Writes a text as a YAML scalar: plain where every reader takes it for that text, else in
/// double quotes. With `typed`, what looks like a number or truth value stays one.
pub(crate) fn scalar(text: &str, typed: bool) -> String {
    let looks_typed = matches!(
        text.to_ascii_lowercase().as_str(),
        "" | "~" | "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
    ) || text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    let is_plain_char = |c: char| {
        c.is_alphanumeric()
            || matches!(
                c,
                ' ' | '-'
                    | '_'
                    | '.'
                    | '/'
                    | '('
                    | ')'
                    | '+'
                    | '='
                    | ';'
                    | '~'
                    | '^'
                    | '$'
                    | '\''
                    | '?'
                    | '!'
                    | '\u{2019}'
            )
    };
    let starts_plain =
        text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '(' | '/' | '_' | '-' | '+' | '.'));
    let has_odd_space = text.starts_with(' ') || text.ends_with(' ') || text.contains("- ");
    let is_plain = starts_plain && !has_odd_space && text.chars().all(is_plain_char);
    let is_url = text.starts_with("http")
        && text.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '#' | '"' | ',' | '[' | ']' | '{' | '}'))
        && !text.ends_with(':');
    if is_url || (is_plain && (typed || !looks_typed)) {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') => {
                quoted.push_str(&format!("\\u{:04x}", c as u32))
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(yaml: &str) -> String {
        format!("---\n{yaml}---\nBody\n")
    }

    fn edited(yaml: &str, edit: Edit) -> String {
        let text = apply(&note(yaml), &[edit]).unwrap_or_else(|error| panic!("{error}: {yaml}"));
        text.strip_prefix("---\n").unwrap().strip_suffix("---\nBody\n").unwrap().to_owned()
    }

    fn set(text: &str) -> Edit {
        Edit::SetText { key: "title".into(), text: text.into() }
    }

    #[test]
    fn setting_a_text_changes_its_bytes_alone() {
        let cases = [
            ("id: a\ntitle: Old # why\ntags: []\n", "id: a\ntitle: New # why\ntags: []\n"),
            ("title:   'Old'\n# c\nid: a\n", "title:   New\n# c\nid: a\n"),
            ("title:\nid: a\n", "title: New\nid: a\n"),
            ("title: >-\n  Old\n  lines\n\nid: a\n", "title: New\n\nid: a\n"),
            ("title: old\n  goes on # c\nid: a\n", "title: New # c\nid: a\n"),
            ("title: [[old]]\nid: a\n", "title: New\nid: a\n"),
            ("id: a\n", "id: a\ntitle: New\n"),
            ("", "title: New\n"),
            ("# only a comment\n", "# only a comment\ntitle: New\n"),
            ("\"title\": Old\n", "\"title\": New\n"),
        ];
        for (before, after) in cases {
            assert_eq!(edited(before, set("New")), after);
        }
        assert_eq!(edited("title: a\n", set("b: \"c\" #d")), "title: \"b: \\\"c\\\" #d\"\n");
        assert_eq!(
            apply("Body\r\n", &[set("New")]).unwrap(),
            "Body\r\n".replace("Body", "---\r\ntitle: New\r\n---\r\nBody")
        );
        assert_eq!(
            apply("\u{feff}---\r\nid: a\r\n---\r\nB", &[set("New")]).unwrap(),
            "\u{feff}---\r\nid: a\r\ntitle: New\r\n---\r\nB"
        );
    }

    #[test]
    fn lists_keep_their_style() {
        let add = |text: &str| Edit::AddItem { key: "tags", text: text.into() };
        let remove = |text: &str| Edit::RemoveItem { key: "tags", text: text.into() };
        for (before, edit, after) in [
            ("tags: [a, b] # c\n", add("x"), "tags: [a, b, x] # c\n"),
            ("tags: [a, b,]\n", add("x"), "tags: [a, b, x]\n"),
            ("tags: []\n", add("x"), "tags: [x]\n"),
            ("tags: one\n", add("x"), "tags: [one, x]\n"),
            ("tags: ~\n", add("x"), "tags: [x]\n"),
            ("id: a\n", add("x y: z"), "id: a\ntags: [\"x y: z\"]\n"),
            ("tags:\n  - a # 1\n  - b # 2\nid: q\n", add("x"), "tags:\n  - a # 1\n  - b # 2\n  - x\nid: q\n"),
            ("tags:\n- a\n# end\nid: q\n", add("x"), "tags:\n- a\n- x\n# end\nid: q\n"),
            ("tags: [a, b]\n", add("b"), "tags: [a, b]\n"),
            ("tags: [a, b, c]\n", remove("a"), "tags: [b, c]\n"),
            ("tags: [a, b, c]\n", remove("c"), "tags: [a, b]\n"),
            ("tags: [a]\n", remove("a"), "tags: []\n"),
            ("tags: a\n", remove("a"), "tags: []\n"),
            ("tags:\n  - a # 1\n  - b # 2\nid: q\n", remove("a"), "tags:\n  - b # 2\nid: q\n"),
            ("tags:\n  - a\nid: q\n", remove("a"), "tags: []\nid: q\n"),
            ("tags: [a]\n", remove("z"), "tags: [a]\n"),
        ] {
            assert_eq!(edited(before, edit.clone()), after, "{before} {edit:?}");
        }
    }

    #[test]
    fn maps_in_lists_and_custom_fields() {
        let link = |kind: &str, id: &str| vec![("type", kind.to_owned()), ("id", id.to_owned())];
        let add = |kind, id| Edit::AddMap { key: "links", entries: link(kind, id) };
        for (before, edit, after) in [
            ("id: a\n", add("supports", "b"), "id: a\nlinks:\n  - type: supports\n    id: b\n"),
            (
                "links:\n- type: x\n  id: y # c\nid: q\n",
                add("t", "b"),
                "links:\n- type: x\n  id: y # c\n- type: t\n  id: b\nid: q\n",
            ),
            ("links: [{type: x, id: y}]\n", add("t", "b"), "links: [{type: x, id: y}, {type: t, id: b}]\n"),
            ("links:\n  - {type: x, id: y}\n", add("t", "b"), "links:\n  - {type: x, id: y}\n  - type: t\n    id: b\n"),
            (
                "links:\n- type: x\n  id: y\n- type: z\n  id: y\n",
                Edit::RemoveMap { key: "links", entries: link("x", "y") },
                "links:\n- type: z\n  id: y\n",
            ),
            (
                "custom:\n  a: 1\n  b: 2 # c\nid: q\n",
                Edit::SetCustom { key: "c".into(), text: "3".into() },
                "custom:\n  a: 1\n  b: 2 # c\n  c: 3\nid: q\n",
            ),
            ("custom: {a: 1}\n", Edit::SetCustom { key: "c".into(), text: "x".into() }, "custom: {a: 1, c: x}\n"),
            ("custom:\n  a: 1 # c\n", Edit::SetCustom { key: "a".into(), text: "2".into() }, "custom:\n  a: 2 # c\n"),
            ("id: q\n", Edit::SetCustom { key: "a".into(), text: "2".into() }, "id: q\ncustom:\n  a: 2\n"),
        ] {
            assert_eq!(edited(before, edit.clone()), after, "{before} {edit:?}");
        }
    }

    #[test]
    fn what_can_not_be_changed_alone_is_refused() {
        assert!(apply("---\ntitle: Paper: X\n---\n", &[set("New")]).unwrap_err().contains("line 2"));
        assert!(apply("---\ntitle: X\nno end", &[set("New")]).is_err());
        assert!(apply(&note("title: &a Old\nother: *a\n"), &[set("New")]).is_err());
    }
}
