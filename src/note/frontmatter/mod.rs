//! Frontmatter: from text to typed fields, forgiving in everything, silent about nothing.
//!
//! What had to be tolerated becomes a [`Finding`]; a note always comes out.

use std::ops::Range;

use foldhash::{HashSet, HashSetExt};
use jiff::civil::Date;

use super::items::{link_target, tags};
use super::value::is_null_text;
use super::yaml::{self, Yaml, YamlNode};
use super::yaml_fast_path;
use super::{ContentSource, Diagnostic, NoteId, Timestamp, TypedLink, Value};

/// What frontmatter says; everything may be absent.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Frontmatter {
    pub(crate) id: Option<NoteId>,
    pub(crate) title: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) created: Option<Timestamp>,
    pub(crate) updated: Option<Timestamp>,
    pub(crate) date: Option<Date>,
    pub(crate) tags: Vec<String>,
    pub(crate) summary: Option<String>,
    pub(crate) value: Option<u8>,
    pub(crate) verified: Option<bool>,
    pub(crate) sources: Vec<ContentSource>,
    pub(crate) links: Vec<TypedLink>,
    pub(crate) aliases: Vec<String>,
    pub(crate) compacts: Vec<String>,
    pub(crate) custom: Vec<(String, Value)>,
    pub(crate) unknown: Vec<(String, Value)>,
    /// Whether what stands between the markers is no YAML and holds no field that anybody knows:
    /// it is text between two rules.
    pub(crate) is_text: bool,
}

impl Frontmatter {
    fn has_known(&self) -> bool {
        let known = Self { unknown: Vec::new(), is_text: false, ..self.clone() };
        known != Self::default()
    }
}

/// Where the parts of a note's text stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextParts {
    /// The YAML between the markers, when there are markers.
    pub(crate) yaml: Option<Range<usize>>,
    /// What follows.
    pub(crate) body: Range<usize>,
    /// Whether the first marker has no second one.
    pub(crate) unclosed: bool,
}

/// Returns where a text without frontmatter stands: all of it but a BOM.
pub(crate) fn whole(text: &str) -> Range<usize> {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    start..text.len()
}

/// Finds the frontmatter of a text that begins with a line `---` (a BOM before it is passed over).
pub(crate) fn split(text: &str) -> TextParts {
    let none = |unclosed| TextParts { yaml: None, body: whole(text), unclosed };
    let mut lines = lines_from(text, whole(text).start);
    let Some(first) = lines.next().filter(|line| is_marker(text, line, "---")) else {
        return none(false);
    };
    for line in lines {
        if is_marker(text, &line, "---") || is_marker(text, &line, "...") {
            if !may_be_fields(text.get(first.end..line.start).unwrap_or_default()) {
                return none(false);
            }
            return TextParts { yaml: Some(first.end..line.start), body: line.end..text.len(), unclosed: false };
        }
    }
    none(true)
}

/// Tells whether the text between two rules may be frontmatter: nothing, comments, or a field.
fn may_be_fields(text: &str) -> bool {
    let mut lines =
        text.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with('#')).peekable();
    let is_field = |line: &str| line.starts_with('{') || line.contains(": ") || line.ends_with(':');
    lines.peek().is_none() || lines.any(is_field)
}

/// Yields the ranges of lines, line ends included.
fn lines_from(text: &str, start: usize) -> impl Iterator<Item = Range<usize>> {
    let mut at = start;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let end = rest.find('\n').map_or(text.len(), |n| at + n + 1);
        let line = at..end;
        at = end;
        Some(line)
    })
}

fn is_marker(text: &str, line: &Range<usize>, marker: &str) -> bool {
    text.get(line.clone()).is_some_and(|line| line.trim_end() == marker)
}

/// Reads the fields of a note's text. Findings name lines of the whole file, from 1.
pub(crate) fn read(text: &str, parts: &TextParts, findings: &mut Vec<Diagnostic>) -> Frontmatter {
    let mut reader = FrontmatterReader { fields: Frontmatter::default(), findings, yaml: "", written: None };
    reader.read_parts(text, parts);
    reader.fields
}

/// Items of lists with all they say, also what qipu gives no meaning to.
#[derive(Default)]
pub(super) struct RawItems {
    pub(super) links: Vec<Value>,
    pub(super) sources: Vec<Value>,
}

/// Returns the items that links and sources are read from.
pub(super) fn written_items(text: &str) -> RawItems {
    let mut findings = Vec::new();
    let written = Some(RawItems::default());
    let mut reader = FrontmatterReader { fields: Frontmatter::default(), findings: &mut findings, yaml: "", written };
    reader.read_parts(text, &split(text));
    reader.written.unwrap_or_default()
}

struct FrontmatterReader<'a, 'f> {
    fields: Frontmatter,
    findings: &'f mut Vec<Diagnostic>,
    /// The YAML that the spans in hand refer to.
    yaml: &'a str,
    /// Where the items of links and sources are kept as they stand, if they are asked for.
    written: Option<RawItems>,
}

impl<'a> FrontmatterReader<'a, '_> {
    fn read_parts(&mut self, text: &'a str, parts: &TextParts) {
        match &parts.yaml {
            Some(range) => self.read(text.get(range.clone()).unwrap_or_default()),
            None if parts.unclosed => {
                self.find("frontmatter-unclosed", 1, "the frontmatter has no closing `---`");
                self.salvage(leading_fields(text.get(parts.body.clone()).unwrap_or_default()));
            }
            None => {}
        }
    }

    fn find(&mut self, code: &'static str, line: usize, message: impl Into<String>) {
        self.findings.push(Diagnostic { code, line: Some(line), message: message.into() });
    }

    fn read(&mut self, yaml: &'a str) {
        match yaml_fast_path::parse(yaml).map_or_else(|| yaml::parse(yaml), Ok) {
            Ok(tree) => match tree.kind {
                YamlNode::Map(entries) => self.take_map(yaml, entries, 1),
                _ if yaml.trim().is_empty() => {}
                _ => {
                    self.find("frontmatter-broken", 2, "the frontmatter is not a map of fields");
                    self.salvage(yaml);
                    self.fields.is_text = !self.fields.has_known();
                }
            },
            Err(broken) => {
                let message = format!("the frontmatter is not YAML: {}", broken.reason);
                self.find("frontmatter-broken", broken.line + 1, message);
                self.salvage(head(yaml));
                self.fields.is_text = !self.fields.has_known();
            }
        }
    }

    /// Takes the fields of a map whose first line is line `first + 1` of the file.
    fn take_map(&mut self, yaml: &'a str, entries: Vec<(Yaml<'a>, Yaml<'a>)>, first: usize) {
        self.yaml = yaml;
        let mut seen = HashSet::new();
        for (key, value) in entries {
            let line = key.line + first;
            let key = match key.kind {
                YamlNode::Scalar { text, .. } => text,
                _ => Value::from_yaml(&key).to_line().into(),
            };
            if seen.insert(key.clone()) {
                self.field(&key, &value, line);
            } else {
                let message = format!("`{key}` is given twice; the first one counts");
                self.find("duplicate-key", line, message);
            }
        }
    }

    /// Reads YAML that does not parse as a whole: each top-level key with the lines that belong
    /// to it on its own, and as plain text where even that fails.
    fn salvage(&mut self, yaml: &'a str) {
        let mut taken = HashSet::new();
        let mut nodes_left = yaml::MAX_NODES;
        for (first, chunk) in chunks(yaml) {
            let Some((key, rest)) = chunk.split_once(':').filter(|_| has_key(chunk)) else {
                continue;
            };
            if !taken.insert(key) {
                continue;
            }
            match yaml::parse_within(chunk, &mut nodes_left) {
                Ok(Yaml { kind: YamlNode::Map(entries), .. }) => self.take_map(chunk, entries, first),
                _ => {
                    let line = rest.lines().next().unwrap_or_default().trim();
                    let text = unquoted(line);
                    self.field_from_text(key, text, first + 1);
                }
            }
        }
    }

    /// Takes a field whose value is no YAML.
    fn field_from_text(&mut self, key: &str, text: &'a str, line: usize) {
        let scalar =
            |text: &'a str| Yaml { kind: YamlNode::Scalar { text: text.into(), plain: false }, span: 0..0, line: 1 };
        let list = text.strip_prefix('[').map(|inner| inner.strip_suffix(']').unwrap_or(inner));
        let value = match list {
            Some(inner) if matches!(key, "tags" | "aliases" | "compacts") => Yaml {
                kind: YamlNode::List(inner.split(',').map(|item| scalar(unquoted(item.trim()))).collect()),
                span: 0..0,
                line: 1,
            },
            _ => scalar(text),
        };
        self.yaml = "";
        self.field(key, &value, line);
    }

    fn field(&mut self, key: &str, value: &Yaml<'a>, line: usize) {
        if is_null(value) {
            return;
        }
        match key {
            "id" => self.id(value, line),
            "title" => self.fields.title = self.text(key, value, line),
            "type" => self.fields.kind = self.text(key, value, line),
            "summary" => self.fields.summary = self.text(key, value, line),
            "created" => self.fields.created = self.stamp(key, value, line),
            "updated" => self.fields.updated = self.stamp(key, value, line),
            "date" => self.fields.date = self.stamp(key, value, line).map(|stamp| stamp.date()),
            "tags" => self.fields.tags = self.texts(key, value, line),
            "aliases" => self.fields.aliases = self.texts(key, value, line),
            "compacts" => self.fields.compacts = self.texts(key, value, line),
            "value" => self.value(value, line),
            "verified" => self.verified(value, line),
            "sources" => self.sources(value, line),
            "links" => self.links(value, line),
            "custom" => self.custom(value, line),
            _ => self.fields.unknown.push((key.to_owned(), Value::from_yaml(value))),
        }
    }

    fn id(&mut self, value: &Yaml<'a>, line: usize) {
        let Some(text) = self.text("id", value, line) else {
            return;
        };
        self.fields.id = NoteId::parse(&text).filter(|id| !id.as_str().contains('~'));
        if self.fields.id.is_none() {
            let message = format!("`id: {text}` holds characters that an id can't; the file's path gives one");
            self.find("impossible-id", line, message);
        }
    }

    /// Returns a text; a list or map where one is expected is taken as it is written.
    fn text(&mut self, key: &str, value: &Yaml<'a>, line: usize) -> Option<String> {
        let text = match &value.kind {
            YamlNode::Scalar { text, .. } => text.trim().to_owned(),
            _ => {
                self.find("not-a-text", line, format!("`{key}` is a list or map where a text is expected"));
                let written = self.yaml.get(value.span.clone()).unwrap_or_default().trim();
                if written.is_empty() || written.contains('\n') {
                    Value::from_yaml(value).to_line()
                } else {
                    written.to_owned()
                }
            }
        };
        (!text.is_empty()).then_some(text)
    }

    fn stamp(&mut self, key: &str, value: &Yaml<'a>, line: usize) -> Option<Timestamp> {
        let text = self.text(key, value, line)?;
        let stamp = Timestamp::parse(&text);
        if stamp.is_none() {
            self.find("impossible-date", line, format!("`{key}: {text}` is not a date"));
        }
        stamp
    }

    /// Returns a list of texts; a single text (or several with commas between) counts as one.
    fn texts(&mut self, key: &str, value: &Yaml<'a>, line: usize) -> Vec<String> {
        let texts: Vec<String> = match &value.kind {
            YamlNode::List(items) => items.iter().map(|item| Value::from_yaml(item).to_line()).collect(),
            YamlNode::Scalar { text, .. } => {
                self.find("not-a-list", line, format!("`{key}` is a text where a list is expected"));
                if key == "tags" { tags(text).map(str::to_owned).collect() } else { vec![text.to_string()] }
            }
            YamlNode::Map(_) => {
                self.find("not-a-list", line, format!("`{key}` is a map where a list is expected"));
                Vec::new()
            }
        };
        let mut kept: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        for text in texts {
            let text = text.trim();
            if !text.is_empty() && seen.insert(text.to_owned()) {
                kept.push(text.to_owned());
            }
        }
        kept
    }

    fn value(&mut self, value: &Yaml<'a>, line: usize) {
        let Some(text) = self.text("value", value, line) else {
            return;
        };
        self.fields.value = text.parse().ok().filter(|value| *value <= 100);
        if self.fields.value.is_none() {
            self.find("impossible-value", line, format!("`value: {text}` is not a whole number from 0 to 100"));
        }
    }

    fn verified(&mut self, value: &Yaml<'a>, line: usize) {
        let Some(text) = self.text("verified", value, line) else {
            return;
        };
        self.fields.verified = match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        };
        if self.fields.verified.is_none() {
            self.find("impossible-verified", line, format!("`verified: {text}` is neither true nor false"));
        }
    }

    fn sources(&mut self, value: &Yaml<'a>, line: usize) {
        for item in self.items("sources", value, line) {
            let source = match &item.kind {
                YamlNode::Scalar { text, .. } => {
                    ContentSource { url: text.trim().to_owned(), title: None, accessed: None }
                }
                YamlNode::Map(entries) => ContentSource {
                    url: entry(entries, "url").unwrap_or_default(),
                    title: entry(entries, "title"),
                    accessed: entry(entries, "accessed"),
                },
                YamlNode::List(_) => ContentSource { url: String::new(), title: None, accessed: None },
            };
            if source.url.is_empty() && source.title.is_none() {
                self.find("empty-source", line, "a source has neither url nor title");
            } else {
                self.fields.sources.push(source);
                if let Some(written) = &mut self.written {
                    written.sources.push(Value::from_yaml(item));
                }
            }
        }
    }

    fn links(&mut self, value: &Yaml<'a>, line: usize) {
        for item in self.items("links", value, line) {
            let (kind, target) = match &item.kind {
                YamlNode::Scalar { text, .. } => (None, Some(text.trim().to_owned())),
                YamlNode::Map(entries) => (entry(entries, "type"), entry(entries, "id")),
                // `- [[qp-a1b2]]`: what people type where an id is expected.
                YamlNode::List(_) => (None, Some(Value::from_yaml(item).to_line())),
            };
            match target.filter(|target| !target.is_empty()) {
                Some(target) => {
                    self.fields.links.push(TypedLink {
                        kind: kind.unwrap_or_else(|| "related".to_owned()),
                        target: link_target(&target).to_owned(),
                    });
                    if let Some(written) = &mut self.written {
                        written.links.push(Value::from_yaml(item));
                    }
                }
                None => self.find("empty-link", line, "a link names no id"),
            }
        }
    }

    fn custom(&mut self, value: &Yaml<'a>, line: usize) {
        match Value::from_yaml(value) {
            Value::Map(entries) => {
                if matches!(&value.kind, YamlNode::Map(written) if written.len() > entries.len()) {
                    self.find("duplicate-key", line, "a field under `custom` is given twice; the first one counts");
                }
                self.fields.custom = entries;
            }
            _ => self.find("not-a-map", line, "`custom` is not a map of fields"),
        }
    }

    /// Returns the items of a list; anything else counts as a list of one.
    fn items<'y>(&mut self, key: &str, value: &'y Yaml<'a>, line: usize) -> Vec<&'y Yaml<'a>> {
        match &value.kind {
            YamlNode::List(items) => items.iter().collect(),
            _ => {
                self.find("not-a-list", line, format!("`{key}` is one value where a list is expected"));
                vec![value]
            }
        }
    }
}

/// Returns as much of a text as is ever searched for fields.
fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(yaml::MAX_BYTES)).unwrap_or_default()
}

/// Returns the lines after the first that can be fields: keys and what is indented below them.
fn leading_fields(text: &str) -> &str {
    let mut lines = lines_from(text, 0);
    let start = lines.next().map_or(0, |first| first.end);
    let is_field = |line: &Range<usize>| {
        let line = text.get(line.clone()).unwrap_or_default();
        line.starts_with([' ', '-']) || has_key(line)
    };
    let end = lines.take_while(is_field).last().map_or(start, |line| line.end);
    head(text.get(start..end).unwrap_or_default())
}

/// Tells whether a line begins with a key.
fn has_key(line: &str) -> bool {
    line.split_once(':').is_some_and(|(key, _)| is_key(key.trim_matches(['"', '\''])))
}

fn is_null(value: &Yaml<'_>) -> bool {
    matches!(&value.kind, YamlNode::Scalar { text, plain: true } if is_null_text(text))
}

/// Returns one entry of a map as text; `None` when it is absent or nothing.
fn entry(entries: &[(Yaml<'_>, Yaml<'_>)], name: &str) -> Option<String> {
    let (_, value) =
        entries.iter().find(|(key, _)| matches!(&key.kind, YamlNode::Scalar { text, .. } if text == name))?;
    let text = Value::from_yaml(value).to_line().trim().to_owned();
    (!is_null(value) && !text.is_empty()).then_some(text)
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

fn unquoted(text: &str) -> &str {
    ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(text)
}

/// Cuts YAML before every line that begins a top-level key. Yields each piece with the number of
/// lines before it, the opening marker included.
fn chunks(yaml: &str) -> Vec<(usize, &str)> {
    let mut starts = Vec::new();
    for (number, line) in lines_from(yaml, 0).enumerate() {
        let text = yaml.get(line.clone()).unwrap_or_default();
        if has_key(text) || starts.is_empty() {
            starts.push((number + 1, line.start));
        }
    }
    let ends = starts.iter().skip(1).map(|(_, at)| *at).chain([yaml.len()]);
    starts.iter().zip(ends).filter_map(|((number, start), end)| Some((*number, yaml.get(*start..end)?))).collect()
}
