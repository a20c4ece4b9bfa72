//! A lossless view of YAML frontmatter with byte ranges, and candidate texts with other fields.
//!
//! A candidate replaces the source ranges of nodes. Its fields are unverified: the caller parses it again.

mod lists;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::splice::{splice, with_spans};
use super::value::{FieldValues, Value};
use super::yaml::{self, Yaml, YamlNode};
use super::yaml_emitter::scalar;

#[cfg(test)]
thread_local! {
    /// The bytes that this thread has parsed, as the measure of the work of an edit.
    pub(super) static BYTES_PARSED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// A byte range of the text and its new text.
type Replacement = (Range<usize>, String);

type YamlEntry<'a> = (Yaml<'a>, Yaml<'a>);

pub(super) struct YamlDocument<'a> {
    pub(super) yaml: &'a str,
    pub(super) line_end: &'static str,
    pub(super) entries: Vec<YamlEntry<'a>>,
    /// The offset of the opening brace, if all fields are in one flow map.
    brace: Option<usize>,
}

impl<'a> YamlDocument<'a> {
    /// Parses frontmatter; an empty text has no fields. `line_end` is the line ending of new lines. An error names the
    /// line (from 1, of the file) at which the text is not YAML, or says that it is not a map.
    pub(super) fn parse(yaml: &'a str, line_end: &'static str) -> Result<Self, String> {
        #[cfg(test)]
        BYTES_PARSED.set(BYTES_PARSED.get() + yaml.len());
        let tree = yaml::parse(yaml)
            .map_err(|error| format!("the frontmatter is not YAML: line {}: {}", error.line + 1, error.reason))?;
        match tree.kind {
            YamlNode::Map(entries) => {
                let opens = yaml.get(tree.span.start..).is_some_and(|rest| rest.starts_with('{'));
                let is_flow = opens && entries.first().is_none_or(|(key, _)| key.span.start > tree.span.start);
                Ok(Self { yaml, line_end, entries, brace: is_flow.then_some(tree.span.start) })
            }
            YamlNode::Scalar { text, .. } if text.is_empty() => {
                Ok(Self { yaml, line_end, entries: Vec::new(), brace: None })
            }
            _ => Err("the frontmatter is not a mapping of fields".to_owned()),
        }
    }

    /// Returns the keys and values of the top-level fields, in order.
    pub(super) fn values(&self) -> FieldValues {
        self.entries.iter().map(|(key, value)| (name_of(key), Value::from_yaml(value))).collect()
    }

    pub(super) fn entry(&self, key: &str) -> Option<&YamlEntry<'a>> {
        self.entries.iter().find(|(name, _)| name_of(name) == key)
    }

    pub(super) fn without_field(&self, key: &str) -> Vec<String> {
        let Some(index) = self.entries.iter().position(|(name, _)| name_of(name) == key) else { return Vec::new() };
        let spans = self.spans_of(&self.entries);
        let Some(own) = spans.get(index) else { return Vec::new() };
        if self.brace.is_some() {
            return vec![self.without(self.flow_ranges(&spans, &|other| other == index))];
        }
        vec![self.replaced(self.line_start(own.start)..self.next_line(own.end), "")]
    }

    /// Tells whether a field occupies whole lines without a comment, so that removing them loses nothing else.
    pub(super) fn has_removable_lines(&self, key: &str) -> bool {
        let has_own_lines = |(name, value): &YamlEntry<'_>| {
            let end = self.next_line(self.end_of_entry(name, value));
            self.brace.is_none() && !self.has_comment(name.span.end..end)
        };
        self.entry(key).is_some_and(has_own_lines)
    }

    pub(super) fn without_entries(&self, map: &str, keys: &HashSet<&str>) -> Vec<String> {
        let Some((name, node)) = self.entry(map) else { return Vec::new() };
        let YamlNode::Map(fields) = &node.kind else { return Vec::new() };
        let is_removed: Vec<bool> = fields.iter().map(|(key, _)| keys.contains(name_of(key).as_str())).collect();
        if is_removed.iter().all(|is_removed| *is_removed) {
            return vec![self.replaced(self.after_colon(name, node), " {}")];
        }
        let spans = self.spans_of(fields);
        vec![self.without_elements(node, &spans, &is_removed)]
    }

    /// Returns the text without some elements of a list or map: in flow style with their commas, else their lines.
    fn without_elements(&self, node: &Yaml<'_>, spans: &[Range<usize>], is_removed: &[bool]) -> String {
        if self.is_flow(node) {
            return self.without(self.flow_ranges(spans, &|index| is_removed.get(index) == Some(&true)));
        }
        let removed = spans.iter().zip(is_removed).filter(|(_, is_removed)| **is_removed);
        self.without(removed.map(|(span, _)| self.line_start(span.start)..self.next_line(span.end)).collect())
    }

    /// Returns candidates in which a field has a value in YAML syntax, in place of the old one or added.
    pub(super) fn set(&self, key: &str, value: &str) -> Vec<String> {
        let Some((name, old)) = self.entry(key) else {
            return self.with_field(&format!("{}: {value}", scalar(key, false)));
        };
        self.value_replacements(name, old, value).map(|(range, new)| self.replaced(range, &new)).into()
    }

    /// Returns the two replacements that set the value of a key: of the old value, and of everything after the colon.
    fn value_replacements(&self, key: &Yaml<'_>, old: &Yaml<'_>, value: &str) -> [Replacement; 2] {
        let after = self.after_colon(key, old);
        let comment = self.header_comment(after.start..old.span.start);
        let whole = (after, format!(" {value}{comment}"));
        // A tag such as `!!str` goes with the value that it is about.
        let in_place = (old.span.clone(), value.to_owned());
        if self.tag(key, old).is_some() { [whole.clone(), whole] } else { [in_place, whole] }
    }

    /// Returns the tag of a value, such as `!!str`.
    fn tag(&self, key: &Yaml<'_>, value: &Yaml<'_>) -> Option<&'a str> {
        let before = self.yaml.get(self.after_colon(key, value).start..value.span.start)?;
        before
            .lines()
            .next()?
            .split_whitespace()
            .take_while(|word| !word.starts_with('#'))
            .find(|word| word.starts_with('!'))
    }

    /// Returns the comment in the header of a block scalar (`>- # why`), with the space before it.
    fn header_comment(&self, header: Range<usize>) -> &'a str {
        let line = self.yaml.get(header).and_then(|text| text.lines().next()).unwrap_or_default();
        let is_block = line.trim_start().starts_with(['|', '>', '!', '&']);
        let comment = is_block.then(|| line.find(" #")).flatten();
        comment.and_then(|start| line.get(start..)).unwrap_or_default().trim_end()
    }

    /// Appends a new field; in a flow map inside its braces.
    fn with_field(&self, field: &str) -> Vec<String> {
        match self.brace {
            Some(open) => {
                let last = self.entries.last().map(|(key, value)| self.end_of_entry(key, value));
                let (range, new) = self.flow_insertion(open, last, field);
                vec![self.replaced(range, &new)]
            }
            None => vec![self.with_line_at(self.yaml.len(), field)],
        }
    }

    /// Tells whether a new value of a field must be on the line of its key.
    fn needs_line(&self, key: &Yaml<'_>, value: &Yaml<'_>) -> bool {
        let end = self.after_colon(key, value).end;
        self.brace.is_some() || self.has_comment(key.span.end..self.next_line(end))
    }

    /// Returns candidates in which fields of a map have values in YAML syntax; see [`Self::value_replacements`].
    pub(super) fn set_in_map(&self, map: &str, entries: &[(&str, String)]) -> Vec<String> {
        let lines = || entries.iter().map(|(key, value)| entry_line(key, value)).collect::<Vec<_>>();
        let end = self.line_end;
        let whole = |is_on_line: bool| {
            let block = || format!("{end}  {}", lines().join(&format!("{end}  ")));
            if is_on_line { format!(" {{{}}}", lines().join(", ")) } else { block() }
        };
        let Some((name, node)) = self.entry(map) else {
            return self.with_field(&format!("{}:{}", scalar(map, false), whole(self.brace.is_some())));
        };
        let YamlNode::Map(fields) = &node.kind else {
            return vec![self.replaced(self.after_colon(name, node), &whole(self.needs_line(name, node)))];
        };
        let mut old_fields = HashMap::new();
        for (key, value) in fields {
            old_fields.entry(name_of(key)).or_insert((key, value));
        }
        let (mut in_place, mut after_colon, mut new) = (Vec::new(), Vec::new(), Vec::new());
        for (key, value) in entries {
            match old_fields.get(*key) {
                Some((key, old)) => {
                    let [value_only, whole] = self.value_replacements(key, old, value);
                    in_place.push(value_only);
                    after_colon.push(whole);
                }
                None => new.push(entry_line(key, value)),
            }
        }
        let new = if new.is_empty() { None } else { self.new_fields(node, fields, &new) };
        let choices = if in_place.is_empty() { vec![in_place] } else { vec![in_place, after_colon] };
        let candidate = |spans| with_spans(self.yaml, [spans, new.clone().into_iter().collect()].concat()).ok();
        choices.into_iter().filter_map(candidate).collect()
    }

    /// Returns the insertion of new fields into a map; `None` for a block map without fields.
    fn new_fields(&self, map: &Yaml<'_>, fields: &[YamlEntry<'_>], new: &[String]) -> Option<Replacement> {
        if self.is_flow(map) {
            let last = fields.last().map(|(key, value)| self.end_of_entry(key, value));
            return Some(self.flow_insertion(map.span.start, last, &new.join(", ")));
        }
        let (first, _) = fields.first()?;
        let indent = self.yaml.get(self.line_start(first.span.start)..first.span.start).unwrap_or_default();
        let offset = self.next_line(self.end(map));
        Some((offset..offset, new.iter().map(|line| format!("{indent}{line}{}", self.line_end)).collect()))
    }

    /// Returns the insertion of items with commas between them at the end of a flow list or map that opens at `open`.
    fn flow_insertion(&self, open: usize, last_end: Option<usize>, item: &str) -> Replacement {
        let Some(end) = last_end else { return (open + 1..open + 1, item.to_owned()) };
        match self.comma_after(end) {
            Some(comma) => (comma + 1..comma + 1, format!(" {item}")),
            None => (end..end, format!(", {item}")),
        }
    }

    /// Returns the offset of the comma after an item of a flow list or map; commas in comments do not count.
    fn comma_after(&self, end: usize) -> Option<usize> {
        let mut offset = end;
        loop {
            let rest = self.yaml.get(offset..)?;
            offset += rest.len() - rest.trim_start().len();
            match rest.trim_start().chars().next()? {
                ',' => return Some(offset),
                '#' => offset = self.next_line(offset),
                _ => return None,
            }
        }
    }

    /// Returns candidates in which a value is replaced; comments between its key and the value stay.
    pub(super) fn with_new_value(&self, key: &Yaml<'_>, value: &Yaml<'_>, new: &str) -> Vec<String> {
        let after = self.after_colon(key, value);
        if self.tag(key, value).is_some() {
            let comment = self.header_comment(after.start..value.span.start);
            return vec![self.replaced(after, &format!(" {new}{comment}"))];
        }
        let in_place = self.replaced(value.span.clone(), new);
        if self.has_comment(after.start..value.span.start) {
            return vec![in_place];
        }
        vec![in_place, self.replaced(after, &format!(" {new}"))]
    }

    fn has_comment(&self, range: Range<usize>) -> bool {
        self.yaml.get(range).is_some_and(|text| text.contains('#'))
    }

    /// Returns the ranges to delete for elements of a flow list or map: each element, one comma, and the white space
    /// after it, but no comment.
    fn flow_ranges(&self, spans: &[Range<usize>], is_removed: &dyn Fn(usize) -> bool) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        // The end of the last element that stays, unless a comment follows it.
        let mut kept: Option<usize> = None;
        let mut last_end = 0;
        for (index, span) in spans.iter().enumerate() {
            if self.has_comment(last_end..span.start) && index > 0 {
                kept = None;
            }
            last_end = span.end;
            if !is_removed(index) {
                kept = Some(span.end);
                continue;
            }
            let comma = self.comma_after(span.end);
            match (comma, kept) {
                (_, Some(before)) if index + 1 == spans.len() => ranges.push(before..span.end),
                (Some(comma), _) if self.has_comment(span.end..comma) => {
                    ranges.extend([span.clone(), comma..comma + 1]);
                }
                (Some(comma), _) => {
                    let rest = self.yaml.get(comma + 1..).unwrap_or_default();
                    let space = rest.len() - rest.trim_start().len();
                    let has_comment = rest.trim_start().starts_with('#');
                    ranges.push(span.start..comma + 1 + if has_comment { 0 } else { space });
                }
                (None, _) => ranges.push(span.clone()),
            }
        }
        ranges
    }

    /// Returns the text without these ranges, which are sorted by their start and may overlap.
    fn without(&self, ranges: Vec<Range<usize>>) -> String {
        let (mut text, mut from) = (String::with_capacity(self.yaml.len()), 0);
        for range in ranges {
            text.push_str(self.yaml.get(from..range.start).unwrap_or_default());
            from = from.max(range.end);
        }
        text.push_str(self.yaml.get(from..).unwrap_or_default());
        text
    }

    fn spans_of(&self, entries: &[YamlEntry<'_>]) -> Vec<Range<usize>> {
        entries.iter().map(|(key, value)| key.span.start..self.end_of_entry(key, value)).collect()
    }

    fn end_of_entry(&self, key: &Yaml<'_>, value: &Yaml<'_>) -> usize {
        // The parser may put the position of an absent value after comments.
        if value.span.is_empty() { self.after_colon(key, value).end } else { self.end(value).max(key.span.end) }
    }

    fn replaced(&self, range: Range<usize>, new: &str) -> String {
        splice(self.yaml, range, new)
    }

    fn with_line_at(&self, offset: usize, line: &str) -> String {
        splice(self.yaml, offset..offset, &format!("{line}{}", self.line_end))
    }

    /// Returns the range from the colon of a key to the end of its value.
    fn after_colon(&self, key: &Yaml<'_>, value: &Yaml<'_>) -> Range<usize> {
        let rest = self.yaml.get(key.span.end..).unwrap_or_default();
        let start = rest.find(':').map_or(key.span.end, |colon| key.span.end + colon + 1);
        if value.span.is_empty() { start..start } else { start..self.end(value).max(start) }
    }

    pub(super) fn text_up_to_end_of(&self, node: &Yaml<'_>) -> &'a str {
        self.yaml.get(..self.next_line(self.end(node))).unwrap_or_default()
    }

    /// Returns the offset after the last character of a node.
    fn end(&self, node: &Yaml<'_>) -> usize {
        match &node.kind {
            _ if self.is_flow(node) => node.span.end,
            YamlNode::List(items) => items.iter().map(|item| self.end(item)).max().unwrap_or(node.span.start),
            YamlNode::Map(entries) => {
                entries.iter().map(|(key, value)| self.end(key).max(self.end(value))).max().unwrap_or(node.span.start)
            }
            YamlNode::Scalar { .. } => {
                let source = self.yaml.get(node.span.clone()).unwrap_or_default();
                node.span.start + source.trim_end().len()
            }
        }
    }

    fn is_flow(&self, node: &Yaml<'_>) -> bool {
        let opens_with = |bracket: char| self.yaml.get(node.span.start..).is_some_and(|rest| rest.starts_with(bracket));
        match &node.kind {
            // For the parser, a block list without indentation begins at its first item.
            YamlNode::List(items) => {
                opens_with('[') && items.first().is_none_or(|item| item.span.start > node.span.start)
            }
            YamlNode::Map(_) => opens_with('{'),
            YamlNode::Scalar { .. } => false,
        }
    }

    pub(super) fn line_start(&self, offset: usize) -> usize {
        self.yaml.get(..offset).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
    }

    fn next_line(&self, offset: usize) -> usize {
        self.yaml.get(offset..).and_then(|rest| rest.find('\n')).map_or(self.yaml.len(), |end| offset + end + 1)
    }
}

fn name_of(key: &Yaml<'_>) -> String {
    Value::from_yaml(key).to_line()
}

fn entry_line(key: &str, value: &str) -> String {
    format!("{}: {value}", scalar(key, false))
}
