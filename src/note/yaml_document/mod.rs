//! Frontmatter as a document: texts that may say what an edit means, each a splice at the place of
//! a node. Whoever asks for them checks what they say.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::edit::{Edit, FieldValues, holds, named, with_renamed};
use super::items::{items, retargeted_text, with_entries};
use super::merge::item_at;
use super::spans::with_spans;
use super::timestamp::Timestamp;
use super::value::{Value, is_null_text};
use super::yaml::{self, Yaml, YamlNode};

pub(super) fn splice(text: &str, range: Range<usize>, new: &str) -> String {
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    format!("{before}{new}{after}")
}

#[cfg(test)]
thread_local! {
    /// How many bytes this thread has parsed: what the work of an edit is counted in.
    pub(super) static BYTES_PARSED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Bytes of the text, and what takes their place.
type Replacement = (Range<usize>, String);

/// Parsed frontmatter and its text.
pub(super) struct YamlDocument<'a> {
    yaml: &'a str,
    line_end: &'static str,
    pub(super) entries: Vec<(Yaml<'a>, Yaml<'a>)>,
    /// Where the braces open, when all fields stand in one flow map.
    braces: Option<usize>,
}

impl<'a> YamlDocument<'a> {
    pub(super) fn parse(yaml: &'a str, line_end: &'static str) -> Result<Self, String> {
        #[cfg(test)]
        BYTES_PARSED.set(BYTES_PARSED.get() + yaml.len());
        let tree = yaml::parse(yaml)
            .map_err(|broken| format!("the frontmatter is not YAML: line {}: {}", broken.line + 1, broken.reason))?;
        match tree.kind {
            YamlNode::Map(entries) => {
                let opens = yaml.get(tree.span.start..).is_some_and(|rest| rest.starts_with('{'));
                let is_flow = opens && entries.first().is_none_or(|(key, _)| key.span.start > tree.span.start);
                Ok(Self { yaml, line_end, entries, braces: is_flow.then_some(tree.span.start) })
            }
            YamlNode::Scalar { text, .. } if text.is_empty() => {
                Ok(Self { yaml, line_end, entries: Vec::new(), braces: None })
            }
            _ => Err("the frontmatter is not a map of fields".to_owned()),
        }
    }

    pub(super) fn values(&self) -> FieldValues {
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
            Edit::AddItem { key, text } => self.add_items(key, &[NewItem::Text(text)]),
            Edit::AddMap { key, entries } => self.add_items(key, &[NewItem::Map(entries)]),
            Edit::RemoveItem { key, text } => self.remove_items(key, &|item| item.to_line().trim() == text),
            Edit::RenameItem { key, from, to } => self.rename_item(key, from, to),
            Edit::RemoveMap { key, entries } => self.remove_items(key, &|item| holds(item, entries)),
            Edit::SetCustom { key, text } => self.set_in_map("custom", &[(key, scalar(text, true))]),
            Edit::AddValue { key, value } => self.add_items(key, &[NewItem::Value(&named(value))]),
            Edit::Retarget { key, entries, to } => self.retarget(key, &|item| holds(item, entries), to),
            Edit::SetCustomValue { key, value } => self.set_in_map("custom", &[(key, flow(&named(value)))]),
            Edit::SetEntries { key, item, entries } => self.set_entries(key, item, entries),
            Edit::RemoveEmpty { key } => self.remove_field(key),
            Edit::RemoveField(key) => self.without_field(key),
            Edit::RemoveCustom(key) => self.without_entries("custom", &HashSet::from([*key])),
            Edit::SetBody(_) | Edit::Append { .. } => Vec::new(),
        }
    }

    /// Returns texts that may have a field with this value, written on one line.
    pub(super) fn with_value(&self, key: &str, value: &Value) -> Vec<String> {
        self.set(key, &flow(value))
    }

    /// Returns texts that may have more items in a list, in the list's style.
    pub(super) fn with_items(&self, key: &str, items: &[Value]) -> Vec<String> {
        self.add_items(key, &items.iter().map(NewItem::Value).collect::<Vec<_>>())
    }

    /// Returns texts that may have a map's fields with these values.
    pub(super) fn with_entries(&self, map: &str, entries: &[(&str, &Value)]) -> Vec<String> {
        self.set_in_map(map, &entries.iter().map(|(key, value)| (*key, flow(value))).collect::<Vec<_>>())
    }

    /// Returns texts that may lack a field.
    fn without_field(&self, key: &str) -> Vec<String> {
        let is_meant = |(have, _): &(Yaml<'_>, Yaml<'_>)| Value::from_yaml(have).to_line() == key;
        let Some(place) = self.entries.iter().position(is_meant) else { return Vec::new() };
        let spans = self.entries.iter().map(|(key, value)| key.span.start..self.end_of_entry(key, value));
        let spans: Vec<Range<usize>> = spans.collect();
        let Some(own) = spans.get(place) else { return Vec::new() };
        if self.braces.is_some() {
            return vec![self.without(self.flow_ranges(&spans, &|other| other == place))];
        }
        vec![self.replaced(self.line_start(own.start)..self.next_line(own.end), "")]
    }

    /// Returns texts that may lack some of a map's fields.
    pub(super) fn without_entries(&self, map: &str, keys: &HashSet<&str>) -> Vec<String> {
        let Some((name, node)) = self.entry(map) else { return Vec::new() };
        let YamlNode::Map(fields) = &node.kind else { return Vec::new() };
        let is_gone: Vec<bool> =
            fields.iter().map(|(have, _)| keys.contains(Value::from_yaml(have).to_line().as_str())).collect();
        if is_gone.iter().all(|is_gone| *is_gone) {
            return vec![self.replaced(self.after_colon(name, node), " {}")];
        }
        let spans: Vec<_> = fields.iter().map(|(key, value)| key.span.start..self.end_of_entry(key, value)).collect();
        if self.is_flow(node) {
            return vec![self.without(self.flow_ranges(&spans, &|place| is_gone.get(place) == Some(&true)))];
        }
        let gone = spans.iter().zip(&is_gone).filter(|(_, is_gone)| **is_gone);
        vec![self.without(gone.map(|(span, _)| self.line_start(span.start)..self.next_line(span.end)).collect())]
    }

    /// Replaces a field's value in place, or all that stands after its colon, or adds the field.
    fn set(&self, key: &str, value: &str) -> Vec<String> {
        let Some((name, old)) = self.entry(key) else {
            return self.with_field(&format!("{}: {value}", scalar(key, false)));
        };
        self.value_spans(name, old, value).map(|span| self.spliced(span)).into()
    }

    /// Returns how a key gets another value: in place, or instead of all that follows its colon.
    fn value_spans(&self, key: &Yaml<'_>, old: &Yaml<'_>, value: &str) -> [Replacement; 2] {
        let after = self.after_colon(key, old);
        let comment = self.header_comment(after.start..old.span.start);
        [(old.span.clone(), value.to_owned()), (after, format!(" {value}{comment}"))]
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
                vec![self.spliced(self.flow_item(open, last, field))]
            }
            None => vec![self.with_line_at(self.yaml.len(), field)],
        }
    }

    /// Tells whether a new value of a field must stand on its key's line.
    fn needs_line(&self, key: &Yaml<'_>, value: &Yaml<'_>) -> bool {
        let end = self.after_colon(key, value).end;
        self.braces.is_some() || self.has_comment(key.span.end..self.next_line(end))
    }

    /// Gives fields of a map other values, or adds them. Texts differ in how much of the old values they replace.
    fn set_in_map(&self, map: &str, entries: &[(&str, String)]) -> Vec<String> {
        let line = |(key, value): &(&str, String)| format!("{}: {value}", scalar(key, false));
        let lines = || entries.iter().map(line).collect::<Vec<_>>();
        let (end, on_line) = (self.line_end, || format!("{{{}}}", lines().join(", ")));
        let Some((name, custom)) = self.entry(map) else {
            let map = scalar(map, false);
            return self.with_field(&match self.braces {
                Some(_) => format!("{map}: {}", on_line()),
                None => format!("{map}:{end}  {}", lines().join(&format!("{end}  "))),
            });
        };
        let YamlNode::Map(fields) = &custom.kind else {
            let new = if self.needs_line(name, custom) {
                format!(" {}", on_line())
            } else {
                format!("{end}  {}", lines().join(&format!("{end}  ")))
            };
            return vec![self.replaced(self.after_colon(name, custom), &new)];
        };
        let mut there = HashMap::new();
        for (key, value) in fields {
            there.entry(Value::from_yaml(key).to_line()).or_insert((key, value));
        }
        let (mut in_place, mut after_colon, mut new) = (Vec::new(), Vec::new(), Vec::new());
        for entry in entries {
            match there.get(entry.0) {
                Some((key, old)) => {
                    let [value, whole] = self.value_spans(key, old, &entry.1);
                    in_place.push(value);
                    after_colon.push(whole);
                }
                None => new.push(line(entry)),
            }
        }
        let new = if new.is_empty() { None } else { self.new_fields(custom, fields, &new) };
        let ways = if in_place.is_empty() { vec![in_place] } else { vec![in_place, after_colon] };
        ways.into_iter()
            .filter_map(|spans| with_spans(self.yaml, [spans, new.clone().into_iter().collect()].concat()).ok())
            .collect()
    }

    /// Returns where new fields of a map go, and how they are written there.
    fn new_fields(&self, map: &Yaml<'_>, fields: &[(Yaml<'_>, Yaml<'_>)], new: &[String]) -> Option<Replacement> {
        if self.is_flow(map) {
            let last = fields.last().map(|(key, value)| self.end_of_entry(key, value));
            return Some(self.flow_item(map.span.start, last, &new.join(", ")));
        }
        let (first, _) = fields.first()?;
        let indent = self.yaml.get(self.line_start(first.span.start)..first.span.start).unwrap_or_default();
        let at = self.next_line(self.end(map));
        Some((at..at, new.iter().map(|line| format!("{indent}{line}{}", self.line_end)).collect()))
    }

    fn add_items(&self, key: &str, new: &[NewItem<'_>]) -> Vec<String> {
        let in_brackets = || new.iter().map(NewItem::as_flow).collect::<Vec<_>>().join(", ");
        let on_line = || format!("[{}]", in_brackets());
        let as_field = || as_field(new, key, self.line_end);
        let Some((name, list)) = self.entry(key) else {
            return self.with_field(&match self.braces {
                Some(_) => format!("{key}: {}", on_line()),
                None => as_field(),
            });
        };
        let fresh = || {
            if self.needs_line(name, list) {
                return format!(" {}", on_line());
            }
            as_field().split_once(':').map(|(_, value)| value.to_owned()).unwrap_or_default()
        };
        match &list.kind {
            YamlNode::Scalar { text, plain: true } if is_null_text(text) => {
                vec![self.replaced(self.after_colon(name, list), &fresh())]
            }
            YamlNode::List(items) if items.is_empty() && !self.has_comment(list.span.clone()) => {
                vec![self.replaced(self.after_colon(name, list), &fresh())]
            }
            YamlNode::List(items) if self.is_flow(list) => {
                let last = items.last().map(|item| self.end(item));
                vec![self.spliced(self.flow_item(list.span.start, last, &in_brackets()))]
            }
            YamlNode::List(items) => {
                let Some(last) = items.last() else { return Vec::new() };
                let dash = self.yaml.get(self.line_start(last.span.start)..last.span.start).unwrap_or_default();
                let at = self.next_line(self.end(list));
                let lines = |line: &dyn Fn(&NewItem<'_>) -> String| new.iter().map(line).collect::<Vec<_>>();
                [lines(&|item| item.as_block(dash, self.line_end)), lines(&|item| format!("{dash}{}", item.as_flow()))]
                    .map(|lines| self.with_line_at(at, &lines.join(self.line_end)))
                    .into()
            }
            // One value where a list is expected becomes the first of the list; of tags, several.
            YamlNode::Scalar { .. } => {
                let mut all: Vec<String> = items(key, &Value::from_yaml(list)).iter().map(flow).collect();
                all.push(in_brackets());
                self.with_new_value(name, list, &format!("[{}]", all.join(", ")))
            }
            YamlNode::Map(_) => Vec::new(),
        }
    }

    /// Returns where an item, or several with commas between, goes before the closing bracket of a flow list or map.
    fn flow_item(&self, open: usize, last_end: Option<usize>, item: &str) -> Replacement {
        let Some(at) = last_end else { return (open + 1..open + 1, item.to_owned()) };
        match self.comma_after(at) {
            Some(comma) => (comma + 1..comma + 1, format!(" {item}")),
            None => (at..at, format!(", {item}")),
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
            YamlNode::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let is_meant: Vec<bool> = items.iter().map(|item| is_meant(&Value::from_yaml(item))).collect();
        let mut spans = Vec::new();
        for (item, _) in items.iter().zip(&is_meant).filter(|(_, is_meant)| **is_meant) {
            let target = target(item);
            let new = match &target.kind {
                YamlNode::Scalar { text, plain } => {
                    let text = retargeted_text(text, to);
                    Value::Text { plain: *plain && !looks_typed(&text), text }
                }
                _ => Value::text(to),
            };
            spans.push((target.span.start..self.end(target), flow(&new)));
        }
        with_spans(self.yaml, spans).into_iter().collect()
    }

    pub(super) fn remove_items(&self, key: &str, is_unwanted: &dyn Fn(&Value) -> bool) -> Vec<String> {
        self.remove_at(key, &|_, item| is_unwanted(item))
    }

    fn remove_at(&self, key: &str, is_unwanted: &dyn Fn(usize, &Value) -> bool) -> Vec<String> {
        let Some((name, list)) = self.entry(key) else { return Vec::new() };
        let YamlNode::List(nodes) = &list.kind else {
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
        let YamlNode::List(nodes) = &list.kind else {
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
        let (mut text, mut from) = (String::with_capacity(self.yaml.len()), 0);
        for range in ranges {
            text.push_str(self.yaml.get(from..range.start).unwrap_or_default());
            from = from.max(range.end);
        }
        text.push_str(self.yaml.get(from..).unwrap_or_default());
        text
    }

    /// Gives the first item that is just this other entries beside its own.
    fn set_entries(&self, key: &str, item: &Value, entries: &[(String, Value)]) -> Vec<String> {
        let Some((name, list)) = self.entry(key) else { return Vec::new() };
        let all = items(key, &Value::from_yaml(list));
        let Some(place) = all.iter().position(|have| have == item) else { return Vec::new() };
        let new = with_entries(
            key,
            item,
            &entries.iter().map(|(key, value)| (key.clone(), named(value))).collect::<Vec<_>>(),
        );
        match &list.kind {
            YamlNode::List(nodes) => self.with_item_at(list, nodes, place, &new).into_iter().collect(),
            _ => self.with_new_value(name, list, &format!("[{}]", flow(&new))),
        }
    }

    /// Removes a field with its lines; a comment in it is somebody's.
    fn remove_field(&self, key: &str) -> Vec<String> {
        let Some((name, value)) = self.entry(key) else { return Vec::new() };
        let end = self.next_line(self.end_of_entry(name, value));
        if self.braces.is_some() || self.has_comment(name.span.end..end) {
            return Vec::new();
        }
        self.without_field(key)
    }

    /// Returns a text in which one item of a list has other entries, where it stands; `None` where it is written
    /// in a way that has no place for them.
    fn with_item_at(&self, list: &Yaml<'_>, nodes: &[Yaml<'_>], place: usize, new: &Value) -> Option<String> {
        let lines = self.yaml.get(..self.next_line(self.end(list)))?;
        let span = item_at(self, lines, nodes, place, new, self.line_end)?;
        with_spans(self.yaml, vec![span]).ok()
    }

    fn end_of_entry(&self, key: &Yaml<'_>, value: &Yaml<'_>) -> usize {
        // The place of a value that is not there may be behind comments.
        if value.span.is_empty() { self.after_colon(key, value).end } else { self.end(value).max(key.span.end) }
    }

    fn replaced(&self, range: Range<usize>, new: &str) -> String {
        splice(self.yaml, range, new)
    }

    fn spliced(&self, (range, new): Replacement) -> String {
        self.replaced(range, &new)
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
            YamlNode::List(items) => items.iter().map(|item| self.end(item)).max().unwrap_or(node.span.start),
            YamlNode::Map(entries) => {
                entries.iter().map(|(key, value)| self.end(key).max(self.end(value))).max().unwrap_or(node.span.start)
            }
            YamlNode::Scalar { .. } => {
                let written = self.yaml.get(node.span.clone()).unwrap_or_default();
                node.span.start + written.trim_end().len()
            }
        }
    }

    fn is_flow(&self, node: &Yaml<'_>) -> bool {
        let opens = |mark: char| self.yaml.get(node.span.start..).is_some_and(|rest| rest.starts_with(mark));
        match &node.kind {
            // A block list without an indent begins, for the parser, where its first item does.
            YamlNode::List(items) => opens('[') && items.first().is_none_or(|item| item.span.start > node.span.start),
            YamlNode::Map(_) => opens('{'),
            YamlNode::Scalar { .. } => false,
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
        YamlNode::Map(entries) => {
            let id = entries.iter().find(|(key, _)| Value::from_yaml(key).to_line() == "id");
            id.map_or(item, |(_, value)| target(value))
        }
        YamlNode::List(items) => match items.as_slice() {
            [one] => target(one),
            _ => item,
        },
        YamlNode::Scalar { .. } => item,
    }
}

/// An item to add to a list.
enum NewItem<'a> {
    Text(&'a str),
    Map(&'a [(&'static str, String)]),
    Value(&'a Value),
}

impl NewItem<'_> {
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
}

/// Writes a new field with these items, in lines where the first of them is a map.
fn as_field(items: &[NewItem<'_>], key: &str, line_end: &str) -> String {
    if let Some(NewItem::Map(_) | NewItem::Value(Value::Map(_))) = items.first() {
        let lines: Vec<String> = items.iter().map(|item| item.as_block("  - ", line_end)).collect();
        return format!("{key}:{line_end}{}", lines.join(line_end));
    }
    format!("{key}: [{}]", items.iter().map(NewItem::as_flow).collect::<Vec<_>>().join(", "))
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
        YamlNode::List(items) => {
            matches!(items.as_slice(), [Yaml { kind: YamlNode::Scalar { text: read, plain: true }, .. }] if read == text)
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
    text == "-" || (has_digits && text.contains('_')) || (is_date && Timestamp::parse(text).is_none())
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
