//! Reading fields from parsed YAML, with a diagnostic for everything that had to be tolerated.

use std::borrow::Cow;

use foldhash::{HashSet, HashSetExt};

use super::super::list_fields::link_target;
use super::super::value::is_null_text;
use super::super::yaml::{self, Yaml, YamlNode};
use super::super::yaml_fast_path;
use super::super::{ContentSource, Diagnostic, DiagnosticCode, NoteId, Timestamp, TypedLink, Value, Verification};
use super::salvage::{chunks, has_key, head, leading_fields, unquoted};
use super::{Frontmatter, TextParts};

pub(super) struct FrontmatterReader<'a, 'f> {
    pub(super) fields: Frontmatter,
    pub(super) diagnostics: &'f mut Vec<Diagnostic>,
    /// Whether the fields are those of another tool.
    pub(super) is_foreign: bool,
    /// The YAML to which the spans of the current nodes refer.
    yaml: &'a str,
    /// The field whose raw items the caller wants.
    raw_key: Option<&'static str>,
    pub(super) raw_items: Vec<Value>,
}

impl<'a, 'f> FrontmatterReader<'a, 'f> {
    pub(super) fn new(diagnostics: &'f mut Vec<Diagnostic>, raw_key: Option<&'static str>) -> Self {
        Self {
            fields: Frontmatter::default(),
            diagnostics,
            is_foreign: false,
            yaml: "",
            raw_key,
            raw_items: Vec::new(),
        }
    }

    pub(super) fn read_parts(&mut self, text: &'a str, parts: &TextParts) {
        match &parts.yaml {
            Some(range) => self.read(text.get(range.clone()).unwrap_or_default()),
            None if parts.is_unclosed => {
                self.report(DiagnosticCode::FrontmatterUnclosed, 1, "the frontmatter has no closing `---`");
                self.salvage(text.get(leading_fields(text, parts.body.start)).unwrap_or_default());
            }
            None => {}
        }
    }

    pub(super) fn report(&mut self, code: DiagnosticCode, line: usize, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic { code, line: Some(line), message: message.into() });
    }

    fn read(&mut self, yaml: &'a str) {
        let tree = yaml_fast_path::parse(yaml).map_or_else(|| yaml::parse(yaml), Ok);
        let (line, message) = match tree.map(|tree| tree.kind) {
            Ok(YamlNode::Map(entries)) => return self.read_map(yaml, entries, 1),
            Ok(_) if yaml.trim().is_empty() => return,
            Ok(_) => (2, "the frontmatter is not a mapping of fields".to_owned()),
            Err(error) => (error.line + 1, format!("the frontmatter is not YAML: {}", error.reason)),
        };
        self.report(DiagnosticCode::FrontmatterBroken, line, message);
        self.salvage(head(yaml));
        self.fields.is_text = !self.fields.has_known_field();
    }

    /// Reads the fields of a map that `lines_before` lines of the file precede.
    pub(super) fn read_map(&mut self, yaml: &'a str, entries: Vec<(Yaml<'a>, Yaml<'a>)>, lines_before: usize) {
        self.yaml = yaml;
        let mut seen = HashSet::with_capacity(entries.len());
        for (key, value) in entries {
            let line = key.line + lines_before;
            let key = match key.kind {
                YamlNode::Scalar { text, .. } => text,
                _ => Value::from_yaml(&key).to_line().into(),
            };
            if seen.insert(key.clone()) {
                self.field(&key, &value, line);
            } else {
                let message = format!("`{key}` is given twice; the first one is used");
                self.report(DiagnosticCode::DuplicateKey, line, message);
            }
        }
    }

    /// Reads each top-level key with its lines by itself, and as plain text if these are no YAML either.
    fn salvage(&mut self, yaml: &'a str) {
        let mut seen = HashSet::new();
        let mut nodes_left = yaml::MAX_NODES;
        for (lines_before, chunk) in chunks(yaml) {
            let Some((key, rest)) = chunk.split_once(':').filter(|_| has_key(chunk)) else { continue };
            if !seen.insert(key) {
                continue;
            }
            match yaml::parse_within(chunk, &mut nodes_left) {
                Ok(Yaml { kind: YamlNode::Map(entries), .. }) => self.read_map(chunk, entries, lines_before),
                _ => {
                    let text = unquoted(rest.lines().next().unwrap_or_default().trim());
                    self.field_from_text(key, text, lines_before + 1);
                }
            }
        }
    }

    /// Reads a field whose value is not YAML.
    fn field_from_text(&mut self, key: &str, text: &'a str, line: usize) {
        let node = |kind| Yaml { kind, span: 0..0, line: 1 };
        let scalar = |text: &'a str| node(YamlNode::Scalar { text: text.into(), plain: false });
        let list = text.strip_prefix('[').map(|inner| inner.strip_suffix(']').unwrap_or(inner));
        let value = match list {
            Some(inner) if matches!(key, "tags" | "aliases" | "compacts") => {
                node(YamlNode::List(inner.split(',').map(|item| scalar(unquoted(item.trim()))).collect()))
            }
            _ => scalar(text),
        };
        self.yaml = "";
        self.field(key, &value, line);
    }

    fn field(&mut self, key: &str, value: &Yaml<'a>, line: usize) {
        if is_null(value) {
            return;
        }
        if self.is_foreign { self.foreign_field(key, value, line) } else { self.own_field(key, value, line) }
    }

    /// Reads a field as the format of notes has it.
    pub(super) fn own_field(&mut self, key: &str, value: &Yaml<'a>, line: usize) {
        match key {
            "id" => self.id(value, line),
            "title" => self.fields.title = self.text(key, value, line),
            "type" => self.fields.kind = self.text(key, value, line),
            "summary" => self.fields.summary = self.text(key, value, line),
            "created" => self.fields.created = self.timestamp(key, value, line),
            "updated" => self.fields.updated = self.timestamp(key, value, line),
            "date" => self.fields.date = self.timestamp(key, value, line).map(|date| date.date()),
            "value" => self.value(value, line),
            "verified" => self.verified(value, line),
            "tags" => self.fields.tags = self.texts(key, value, line),
            "aliases" => self.fields.aliases = self.texts(key, value, line),
            "compacts" => self.fields.compacts = self.texts(key, value, line),
            "sources" => self.sources(value, line),
            "links" => self.links(value, line),
            "custom" => self.custom(value, line),
            _ => self.fields.unknown.push((key.to_owned(), Value::from_yaml(value))),
        }
    }

    fn id(&mut self, value: &Yaml<'a>, line: usize) {
        let Some(text) = self.text("id", value, line) else { return };
        self.fields.id = NoteId::parse(&text).filter(|id| !id.as_str().contains('~'));
        if self.fields.id.is_none() {
            let message =
                format!("`id: {text}` contains characters that ids can't have; the id is derived from the file's path");
            self.report(DiagnosticCode::ImpossibleId, line, message);
        }
    }

    /// Returns a text; of a list or map, its source.
    pub(super) fn text(&mut self, key: &str, value: &Yaml<'a>, line: usize) -> Option<String> {
        let text = match &value.kind {
            YamlNode::Scalar { text, .. } => text.trim().to_owned(),
            _ => {
                self.report(DiagnosticCode::NotAText, line, format!("`{key}` is a list or mapping; expected a string"));
                let source = self.yaml.get(value.span.clone()).map(str::trim);
                let source = source.filter(|source| !source.is_empty() && !source.contains('\n'));
                source.map_or_else(|| Value::from_yaml(value).to_line(), str::to_owned)
            }
        };
        (!text.is_empty()).then_some(text)
    }

    fn timestamp(&mut self, key: &str, value: &Yaml<'a>, line: usize) -> Option<Timestamp> {
        let text = self.text(key, value, line)?;
        let timestamp = Timestamp::parse(&text);
        if timestamp.is_none() {
            self.report(DiagnosticCode::ImpossibleDate, line, format!("`{key}: {text}` is not a date"));
        }
        timestamp
    }

    /// Returns the distinct texts of a list that are not empty. A single text is a list too, for tags with commas.
    fn texts(&mut self, key: &str, value: &Yaml<'a>, line: usize) -> Vec<String> {
        let texts: Vec<Cow<'_, str>> = match &value.kind {
            YamlNode::List(items) => items.iter().map(line_of).collect(),
            YamlNode::Scalar { text, .. } => {
                self.report(DiagnosticCode::NotAList, line, format!("`{key}` is a string; expected a list"));
                if key == "tags" { text.split(',').map(Cow::Borrowed).collect() } else { vec![Cow::Borrowed(&**text)] }
            }
            YamlNode::Map(_) => {
                self.report(DiagnosticCode::NotAList, line, format!("`{key}` is a mapping; expected a list"));
                Vec::new()
            }
        };
        let mut seen = HashSet::with_capacity(texts.len());
        let texts = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty() && seen.insert(*text));
        texts.map(str::to_owned).collect()
    }

    fn value(&mut self, value: &Yaml<'a>, line: usize) {
        let Some(text) = self.text("value", value, line) else { return };
        self.fields.value = text.parse().ok().filter(|value| *value <= 100);
        if self.fields.value.is_none() {
            self.report(
                DiagnosticCode::ImpossibleValue,
                line,
                format!("`value: {text}` is not a whole number from 0 to 100"),
            );
        }
    }

    /// Reads a boolean, or who has verified the note: a list, or a single mapping.
    fn verified(&mut self, value: &Yaml<'a>, line: usize) {
        let items = match &value.kind {
            YamlNode::Scalar { .. } => return self.verified_flag(value, line),
            YamlNode::List(items) => items.as_slice(),
            YamlNode::Map(_) => std::slice::from_ref(value),
        };
        for item in items {
            let by = match &item.kind {
                YamlNode::Map(entries) => entry(entries, "by").map(|by| Verification { by, at: entry(entries, "at") }),
                _ => None,
            };
            match by {
                Some(verification) => self.fields.verifications.push(verification),
                None => {
                    self.report(DiagnosticCode::EmptyVerification, line, "an entry of `verified` does not say by whom")
                }
            }
        }
        self.fields.verified = (!self.fields.verifications.is_empty()).then_some(true);
    }

    fn verified_flag(&mut self, value: &Yaml<'a>, line: usize) {
        let Some(text) = self.text("verified", value, line) else { return };
        self.fields.verified = match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        };
        if self.fields.verified.is_none() {
            self.report(
                DiagnosticCode::ImpossibleVerified,
                line,
                format!("`verified: {text}` is neither true nor false"),
            );
        }
    }

    fn sources(&mut self, value: &Yaml<'a>, line: usize) {
        for item in self.items("sources", value, line) {
            let (url, title, accessed) = match &item.kind {
                YamlNode::Scalar { text, .. } => (Some(text.trim().to_owned()), None, None),
                YamlNode::Map(entries) => {
                    let url = entry(entries, "url").or_else(|| entry(entries, "resource"));
                    (url, entry(entries, "title"), entry(entries, "accessed"))
                }
                YamlNode::List(_) => (None, None, None),
            };
            let source = ContentSource { url: url.unwrap_or_default(), title, accessed };
            if source.url.is_empty() && source.title.is_none() {
                self.report(DiagnosticCode::EmptySource, line, "a source has no url, resource or title");
            } else {
                self.fields.sources.push(source);
                self.add_raw_item("sources", item);
            }
        }
    }

    fn links(&mut self, value: &Yaml<'a>, line: usize) {
        for item in self.items("links", value, line) {
            let (kind, target) = match &item.kind {
                YamlNode::Scalar { text, .. } => (None, Some(text.trim().to_owned())),
                YamlNode::Map(entries) => (entry(entries, "type"), entry(entries, "id")),
                // `- [[qp-a1b2]]`, written in the position of an id, is a list in a list to YAML.
                YamlNode::List(_) => (None, Some(Value::from_yaml(item).to_line())),
            };
            match target.filter(|target| !target.is_empty()) {
                Some(target) => {
                    self.fields.links.push(TypedLink {
                        kind: kind.unwrap_or_else(|| "related".to_owned()),
                        target: link_target(&target).to_owned(),
                    });
                    self.add_raw_item("links", item);
                }
                None => self.report(DiagnosticCode::EmptyLink, line, "a link has no id"),
            }
        }
    }

    fn add_raw_item(&mut self, key: &str, item: &Yaml<'a>) {
        if self.raw_key == Some(key) {
            self.raw_items.push(Value::from_yaml(item));
        }
    }

    fn custom(&mut self, value: &Yaml<'a>, line: usize) {
        match Value::from_yaml(value) {
            Value::Map(entries) => {
                if matches!(&value.kind, YamlNode::Map(all) if all.len() > entries.len()) {
                    self.report(
                        DiagnosticCode::DuplicateKey,
                        line,
                        "a field under `custom` is given twice; the first one is used",
                    );
                }
                self.fields.custom = entries;
            }
            _ => self.report(DiagnosticCode::NotAMap, line, "`custom` is not a mapping of fields"),
        }
    }

    /// Returns the items of a list; any other value is a list of one.
    fn items<'y>(&mut self, key: &str, value: &'y Yaml<'a>, line: usize) -> Vec<&'y Yaml<'a>> {
        match &value.kind {
            YamlNode::List(items) => items.iter().collect(),
            _ => {
                self.report(DiagnosticCode::NotAList, line, format!("`{key}` is a single value; expected a list"));
                vec![value]
            }
        }
    }
}

fn is_null(value: &Yaml<'_>) -> bool {
    matches!(&value.kind, YamlNode::Scalar { text, plain: true } if is_null_text(text))
}

pub(super) fn entry(entries: &[(Yaml<'_>, Yaml<'_>)], name: &str) -> Option<String> {
    let (_, value) =
        entries.iter().find(|(key, _)| matches!(&key.kind, YamlNode::Scalar { text, .. } if text == name))?;
    let text = line_of(value);
    let text = text.trim();
    (!is_null(value) && !text.is_empty()).then(|| text.to_owned())
}

/// Returns a value as one text, as [`Value::to_line`] does; that of a scalar is not copied.
fn line_of<'y>(value: &'y Yaml<'_>) -> Cow<'y, str> {
    match &value.kind {
        YamlNode::Scalar { text, .. } => Cow::Borrowed(text),
        _ => Cow::Owned(Value::from_yaml(value).to_line()),
    }
}
