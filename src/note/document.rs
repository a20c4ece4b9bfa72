//! Frontmatter as a document: texts that may say what an edit means, each a splice at the place of
//! a node. Whoever asks for them checks what they say.

use std::ops::Range;

use super::edit::{Edit, Fields, holds, named, with_renamed};
use super::items::{items, retargeted_text};
use super::stamp::Stamp;
use super::value::{Value, is_null_text};
use super::yaml::{self, Kind, Yaml};

pub(super) fn splice(text: &str, range: Range<usize>, new: &str) -> String {
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    format!("{before}{new}{after}")
}

/// Parsed frontmatter and its text.
pub(super) struct Document<'a> {
    yaml: &'a str,
    line_end: &'static str,
    pub(super) entries: Vec<(Yaml<'a>, Yaml<'a>)>,
    /// Where the braces open, when all fields stand in one flow map.
    braces: Option<usize>,
}

impl<'a> Document<'a> {
    pub(super) fn parse(yaml: &'a str, line_end: &'static str) -> Result<Self, String> {
        let tree = yaml::parse(yaml)
            .map_err(|broken| format!("the frontmatter is not YAML: line {}: {}", broken.line + 1, broken.reason))?;
        match tree.kind {
            Kind::Map(entries) => {
                let opens = yaml.get(tree.span.start..).is_some_and(|rest| rest.starts_with('{'));
                let is_flow = opens && entries.first().is_none_or(|(key, _)| key.span.start > tree.span.start);
                Ok(Self { yaml, line_end, entries, braces: is_flow.then_some(tree.span.start) })
            }
            Kind::Scalar { text, .. } if text.is_empty() => {
                Ok(Self { yaml, line_end, entries: Vec::new(), braces: None })
            }
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
    pub(super) fn candidates(&self, edit: &Edit) -> Vec<String> {
        match edit {
            Edit::SetText { key, text } => self.set(key, &scalar(text, false)),
            Edit::SetPlain { key, text } => self.set(key, text),
            Edit::AddItem { key, text } => self.add_item(key, &Item::Text(text)),
            Edit::AddMap { key, entries } => self.add_item(key, &Item::Map(entries)),
            Edit::RemoveItem { key, text } => self.remove_items(key, &|item| item.to_line().trim() == text),
            Edit::RenameItem { key, from, to } => self.rename_item(key, from, to),
            Edit::RemoveMap { key, entries } => self.remove_items(key, &|item| holds(item, entries)),
            Edit::SetCustom { key, text } => self.set_entry("custom", key, &scalar(text, true)),
            Edit::AddValue { key, value } => self.add_item(key, &Item::Value(&named(value))),
            Edit::Retarget { key, entries, to } => self.retarget(key, &|item| holds(item, entries), to),
            Edit::SetCustomValue { key, value } => self.set_entry("custom", key, &flow(&named(value))),
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
        if self.is_flow(node) {
            let spans: Vec<_> =
                fields.iter().map(|(key, value)| key.span.start..self.end_of_entry(key, value)).collect();
            return vec![self.without(self.flow_ranges(&spans, &|other| other == place))];
        }
        vec![
            self.replaced(
                self.line_start(own_key.span.start)..self.next_line(self.end_of_entry(own_key, own_value)),
                "",
            ),
        ]
    }

    /// Replaces a field's value in place, or all that stands after its colon, or adds the field.
    fn set(&self, key: &str, value: &str) -> Vec<String> {
        let Some((name, old)) = self.entry(key) else {
            return self.with_field(&format!("{}: {value}", scalar(key, false)));
        };
        self.with_value_of(name, old, value)
    }

    /// Returns texts in which a key has another value: in place, or instead of all that follows its colon.
    fn with_value_of(&self, key: &Yaml<'_>, old: &Yaml<'_>, value: &str) -> Vec<String> {
        let after = self.after_colon(key, old);
        let comment = self.header_comment(after.start..old.span.start);
        vec![self.replaced(old.span.clone(), value), self.replaced(after, &format!(" {value}{comment}"))]
    }

    /// Returns the comment in the header of a block scalar (`>- # why`), with the space before it.
    fn header_comment(&self, header: Range<usize>) -> &'a str {
        let line = self.yaml.get(header).and_then(|text| text.lines().next()).unwrap_or_default();
        let is_block = line.trim_start().starts_with(['|', '>', '!', '&']);
        let comment = is_block.then(|| line.find(" #")).flatten();
        comment.and_then(|start| line.get(start..)).unwrap_or_default().trim_end()
    }

    /// Adds a field that is not there behind the last, within the braces where there are some.
    fn with_field(&self, field: &str) -> Vec<String> {
        match self.braces {
            Some(open) => {
                let last = self.entries.last().map(|(key, value)| self.end_of_entry(key, value));
                self.with_flow_item(open, last, field)
            }
            None => vec![self.with_line_at(self.yaml.len(), field)],
        }
    }

    /// Tells whether a new value of a field must stand on its key's line.
    fn needs_line(&self, key: &Yaml<'_>, value: &Yaml<'_>) -> bool {
        let end = self.after_colon(key, value).end;
        self.braces.is_some() || self.has_comment(key.span.end..self.next_line(end))
    }

    fn set_entry(&self, map: &str, key: &str, value: &str) -> Vec<String> {
        let line = format!("{}: {value}", scalar(key, false));
        let end = self.line_end;
        let Some((name, custom)) = self.entry(map) else {
            let map = scalar(map, false);
            return self.with_field(&match self.braces {
                Some(_) => format!("{map}: {{{line}}}"),
                None => format!("{map}:{end}  {line}"),
            });
        };
        let Kind::Map(fields) = &custom.kind else {
            let new = if self.needs_line(name, custom) { format!(" {{{line}}}") } else { format!("{end}  {line}") };
            return vec![self.replaced(self.after_colon(name, custom), &new)];
        };
        if let Some((name, old)) = fields.iter().find(|(have, _)| Value::from_yaml(have).to_line() == key) {
            return self.with_value_of(name, old, value);
        }
        if self.is_flow(custom) {
            let last = fields.last().map(|(key, value)| self.end_of_entry(key, value));
            return self.with_flow_item(custom.span.start, last, &line);
        }
        let Some((first, _)) = fields.first() else { return Vec::new() };
        let indent = self.yaml.get(self.line_start(first.span.start)..first.span.start).unwrap_or_default();
        vec![self.with_line_at(self.next_line(self.end(custom)), &format!("{indent}{line}"))]
    }

    fn add_item(&self, key: &str, item: &Item<'_>) -> Vec<String> {
        let on_line = || format!("[{}]", item.as_flow());
        let Some((name, list)) = self.entry(key) else {
            return self.with_field(&match self.braces {
                Some(_) => format!("{key}: {}", on_line()),
                None => item.as_field(key, self.line_end),
            });
        };
        let fresh = || {
            if self.needs_line(name, list) {
                return format!(" {}", on_line());
            }
            item.as_field(key, self.line_end).split_once(':').map(|(_, value)| value.to_owned()).unwrap_or_default()
        };
        match &list.kind {
            Kind::Scalar { text, plain: true } if is_null_text(text) => {
                vec![self.replaced(self.after_colon(name, list), &fresh())]
            }
            Kind::List(items) if items.is_empty() && !self.has_comment(list.span.clone()) => {
                vec![self.replaced(self.after_colon(name, list), &fresh())]
            }
            Kind::List(items) if self.is_flow(list) => {
                self.with_flow_item(list.span.start, items.last().map(|item| self.end(item)), &item.as_flow())
            }
            Kind::List(items) => {
                let Some(last) = items.last() else { return Vec::new() };
                let dash = self.yaml.get(self.line_start(last.span.start)..last.span.start).unwrap_or_default();
                let at = self.next_line(self.end(list));
                [item.as_block(dash, self.line_end), format!("{dash}{}", item.as_flow())]
                    .map(|lines| self.with_line_at(at, &lines))
                    .into()
            }
            // One value where a list is expected becomes the first of the list; of tags, several.
            Kind::Scalar { .. } => {
                let mut all: Vec<String> = items(key, &Value::from_yaml(list)).iter().map(flow).collect();
                all.push(item.as_flow());
                self.with_new_value(name, list, &format!("[{}]", all.join(", ")))
            }
            Kind::Map(_) => Vec::new(),
        }
    }

    /// Adds an item before the closing bracket of a flow list or map.
    fn with_flow_item(&self, open: usize, last_end: Option<usize>, item: &str) -> Vec<String> {
        let Some(at) = last_end else { return vec![self.replaced(open + 1..open + 1, item)] };
        match self.comma_after(at) {
            Some(comma) => vec![self.replaced(comma + 1..comma + 1, &format!(" {item}"))],
            None => vec![self.replaced(at..at, &format!(", {item}"))],
        }
    }

    /// Returns where the comma behind an item of a flow list or map stands; those in comments are none.
    fn comma_after(&self, end: usize) -> Option<usize> {
        let mut at = end;
        loop {
            let rest = self.yaml.get(at..)?;
            at += rest.len() - rest.trim_start().len();
            match rest.trim_start().chars().next()? {
                ',' => return Some(at),
                '#' => at = self.next_line(at),
                _ => return None,
            }
        }
    }

    /// Replaces a whole value, and leaves comments between its key and it alone.
    fn with_new_value(&self, key: &Yaml<'_>, value: &Yaml<'_>, new: &str) -> Vec<String> {
        let whole = self.replaced(self.after_colon(key, value), &format!(" {new}"));
        if self.has_comment(self.after_colon(key, value).start..value.span.start) {
            return vec![self.replaced(value.span.clone(), new)];
        }
        vec![self.replaced(value.span.clone(), new), whole]
    }

    fn has_comment(&self, range: Range<usize>) -> bool {
        self.yaml.get(range).is_some_and(|text| text.contains('#'))
    }

    /// Replaces the targets of links where they stand. Links that say the same then are one link to
    /// every reader, and each line of them is somebody's.
    fn retarget(&self, key: &str, is_meant: &dyn Fn(&Value) -> bool, to: &str) -> Vec<String> {
        let Some((_, node)) = self.entry(key) else { return Vec::new() };
        let items = match &node.kind {
            Kind::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let is_meant: Vec<bool> = items.iter().map(|item| is_meant(&Value::from_yaml(item))).collect();
        let mut text = self.yaml.to_owned();
        for (item, _) in items.iter().zip(&is_meant).rev().filter(|(_, is_meant)| **is_meant) {
            let target = target(item);
            let new = match &target.kind {
                Kind::Scalar { text, plain } => {
                    let text = retargeted_text(text, to);
                    Value::Text { plain: *plain && !looks_typed(&text), text }
                }
                _ => Value::text(to),
            };
            text = splice(&text, target.span.start..self.end(target), &flow(&new));
        }
        vec![text]
    }

    pub(super) fn remove_items(&self, key: &str, is_unwanted: &dyn Fn(&Value) -> bool) -> Vec<String> {
        self.remove_at(key, &|_, item| is_unwanted(item))
    }

    fn remove_at(&self, key: &str, is_unwanted: &dyn Fn(usize, &Value) -> bool) -> Vec<String> {
        let Some((name, list)) = self.entry(key) else { return Vec::new() };
        let Kind::List(nodes) = &list.kind else {
            let kept = items(key, &Value::from_yaml(list));
            let kept = kept.iter().enumerate().filter(|(place, item)| !is_unwanted(*place, item));
            let kept: Vec<String> = kept.map(|(_, item)| flow(item)).collect();
            return self.with_new_value(name, list, &format!("[{}]", kept.join(", ")));
        };
        let is_gone: Vec<bool> =
            nodes.iter().enumerate().map(|(place, item)| is_unwanted(place, &Value::from_yaml(item))).collect();
        let keeps_none = is_gone.iter().all(|is_gone| *is_gone);
        let colon = self.after_colon(name, list);
        if keeps_none && !self.has_comment(colon.clone()) {
            return vec![self.replaced(colon, " []")];
        }
        if self.is_flow(list) {
            let spans: Vec<_> = nodes.iter().map(|item| item.span.start..self.end(item)).collect();
            let is_gone = |place: usize| is_gone.get(place) == Some(&true);
            return vec![self.without(self.flow_ranges(&spans, &is_gone))];
        }
        let gone = nodes.iter().zip(&is_gone).filter(|(_, is_gone)| **is_gone);
        let lines = gone.map(|(item, _)| self.line_start(item.span.start)..self.next_line(self.end(item)));
        let text = self.without(lines.collect());
        let empty = if keeps_none { " []" } else { "" };
        vec![splice(&text, colon.start..colon.start, empty)]
    }

    /// Renames an item where it stands. Of items that are alike then the first stays, and the comments of all.
    fn rename_item(&self, key: &str, from: &str, to: &str) -> Vec<String> {
        let Some((name, list)) = self.entry(key) else { return Vec::new() };
        let Kind::List(nodes) = &list.kind else {
            let renamed = with_renamed(key, &Value::from_yaml(list), from, to);
            return self.with_new_value(name, list, &flow(&renamed));
        };
        let is_meant = |item: &Yaml<'_>| [from, to].contains(&Value::from_yaml(item).to_line().trim());
        let Some(first) = nodes.iter().position(is_meant) else { return Vec::new() };
        let is_gone = |place: usize| place > first && nodes.get(place).is_some_and(is_meant);
        let spans: Vec<_> = nodes.iter().map(|item| item.span.start..self.end(item)).collect();
        let gone = if self.is_flow(list) {
            self.flow_ranges(&spans, &is_gone)
        } else {
            let gone = spans.iter().enumerate().filter(|(place, _)| is_gone(*place));
            gone.map(|(_, span)| self.item_without_comment(span)).collect()
        };
        let text = self.without(gone);
        let is_old = |item: &Yaml<'_>| Value::from_yaml(item).to_line().trim() == from;
        match (nodes.get(first).is_some_and(is_old), spans.get(first)) {
            (true, Some(span)) => vec![splice(&text, span.clone(), &scalar(to, false))],
            _ => vec![text],
        }
    }

    /// Returns the bytes of an item of a block list: its lines, or what precedes a comment that follows it.
    fn item_without_comment(&self, item: &Range<usize>) -> Range<usize> {
        let (start, next_line) = (self.line_start(item.start), self.next_line(item.end));
        let comment = self.yaml.get(item.end..next_line).and_then(|rest| rest.find('#'));
        let dash = self.yaml.get(start..item.start).unwrap_or_default();
        let indent = dash.len() - dash.trim_start().len();
        comment.map_or(start..next_line, |comment| start + indent..item.end + comment)
    }

    /// Returns what goes with elements of a flow list or map: they, a comma each, and the white
    /// space behind it, but no comment.
    fn flow_ranges(&self, spans: &[Range<usize>], is_gone: &dyn Fn(usize) -> bool) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        // Where the last element that stays ends, and whether no comment stands behind it.
        let mut kept: Option<usize> = None;
        let mut last_end = 0;
        for (place, span) in spans.iter().enumerate() {
            if self.has_comment(last_end..span.start) && place > 0 {
                kept = None;
            }
            last_end = span.end;
            if !is_gone(place) {
                kept = Some(span.end);
                continue;
            }
            let comma = self.comma_after(span.end);
            match (comma, kept) {
                (_, Some(before)) if place + 1 == spans.len() => ranges.push(before..span.end),
                (Some(comma), _) if self.has_comment(span.end..comma) => {
                    ranges.extend([span.clone(), comma..comma + 1]);
                }
                (Some(comma), _) => {
                    let rest = self.yaml.get(comma + 1..).unwrap_or_default();
                    let space = rest.len() - rest.trim_start().len();
                    let is_clean = !rest.trim_start().starts_with('#');
                    ranges.push(span.start..comma + 1 + if is_clean { space } else { 0 });
                }
                (None, _) => ranges.push(span.clone()),
            }
        }
        ranges
    }

    /// Returns the text without these ranges, which come in order and may overlap.
    fn without(&self, ranges: Vec<Range<usize>>) -> String {
        let (mut text, mut from) = (self.yaml.to_owned(), self.yaml.len());
        for range in ranges.into_iter().rev() {
            let end = range.end.min(from);
            if range.start < end {
                text = splice(&text, range.start..end, "");
            }
            from = from.min(range.start);
        }
        text
    }

    fn end_of_entry(&self, key: &Yaml<'_>, value: &Yaml<'_>) -> usize {
        // The place of a value that is not there may be behind comments.
        if value.span.is_empty() { self.after_colon(key, value).end } else { self.end(value).max(key.span.end) }
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
        if value.span.is_empty() { start..start } else { start..self.end(value).max(start) }
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

/// Returns the node that holds an item's target.
fn target<'n, 'a>(item: &'n Yaml<'a>) -> &'n Yaml<'a> {
    match &item.kind {
        Kind::Map(entries) => {
            let id = entries.iter().find(|(key, _)| Value::from_yaml(key).to_line() == "id");
            id.map_or(item, |(_, value)| target(value))
        }
        Kind::List(items) => match items.as_slice() {
            [one] => target(one),
            _ => item,
        },
        Kind::Scalar { .. } => item,
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
        Value::Text { text, plain: true } if stands_plain(text) => text.clone(),
        Value::Text { text, plain } => scalar(text, *plain),
        Value::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => {
            let entries: Vec<_> =
                entries.iter().map(|(key, value)| format!("{}: {}", scalar(key, false), flow(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// Tells whether a text is read as a plain scalar wherever it stands in brackets.
fn stands_plain(text: &str) -> bool {
    let listed = format!("[{text}]");
    !text.contains('\n') && yaml::parse(&listed).is_ok_and(|tree| match &tree.kind {
        Kind::List(items) => {
            matches!(items.as_slice(), [Yaml { kind: Kind::Scalar { text: read, plain: true }, .. }] if read == text)
        }
        _ => false,
    })
}

/// Tells whether a text without quotes may be a number, a date, a truth value or nothing to a reader of YAML.
pub(super) fn looks_typed(text: &str) -> bool {
    matches!(
        text.to_ascii_lowercase().as_str(),
        "" | "~" | "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
    ) || text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
}

/// Tells whether some readers of YAML take a text for a number or date that they then can't read: digits
/// with underscores (`0x_`), an impossible date, or the dash of a list.
fn is_misread(text: &str) -> bool {
    let is_date = text.len() == 10 && text.bytes().filter(|byte| *byte == b'-').count() == 2;
    let has_digits = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    text == "-" || (has_digits && text.contains('_')) || (is_date && Stamp::parse(text).is_none())
}

/// Writes a text as a YAML scalar: plain where every reader takes it for that text, else in
/// double quotes. With `typed`, what looks like a number or truth value stays one.
pub(crate) fn scalar(text: &str, typed: bool) -> String {
    let is_plain_char = |c: char| {
        c.is_alphanumeric()
            || matches!(
                c,
                ' ' | '-' | '_' | '.' | '/' | '(' | ')' | '+' | '=' | ';' | '~' | '^' | '$' | '\'' | '!' | '\u{2019}'
            )
    };
    let starts_plain =
        text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '(' | '/' | '_' | '-' | '+' | '.'));
    let has_odd_space = text.starts_with(' ') || text.ends_with(' ') || text.contains("- ");
    let is_plain = starts_plain && !has_odd_space && text.chars().all(is_plain_char);
    let is_url = text.starts_with("http")
        && text.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '#' | '"' | ',' | '?' | '[' | ']' | '{' | '}'))
        && !text.ends_with(':');
    if is_url || (is_plain && (!looks_typed(text) || (typed && !is_misread(text)))) {
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
