//! Reading the frontmatter of other tools, in YAML or TOML. A value of another form than that of a note is no defect: the
//! field is then one that qipu does not know.

use std::ops::Range;

use super::super::yaml::{self, Yaml, YamlNode};
use super::super::{Diagnostic, DiagnosticCode, Timestamp, Value};
use super::reader::{FrontmatterReader, entry};
use super::{Frontmatter, TextParts, range_without_bom, split, split_at};

/// Fields that qipu does not know, but that have an effect under this name.
const EFFECTIVE: [&str; 9] = [
    "abstract", "description", "generated", "nav_title", "sidebar_label", "stale_after", "status", "superseded-by",
    "valid_until",
];

/// Finds frontmatter in TOML.
fn split_toml(text: &str) -> TextParts {
    split_at(text, "+++", &["+++"], |toml| toml.trim().is_empty() || toml.contains('='))
}

/// Whether a text of another tool has frontmatter in TOML.
pub(crate) fn has_toml(text: &str) -> bool {
    split_toml(text).yaml.is_some()
}

/// Reads the fields of a text of another tool, and finds its body.
pub(crate) fn read_foreign(text: &str, diagnostics: &mut Vec<Diagnostic>) -> (Frontmatter, Range<usize>) {
    let known = diagnostics.len();
    let toml = split_toml(text);
    let mut reader = FrontmatterReader::new(diagnostics, None);
    reader.is_foreign = true;
    let body = match toml.yaml {
        Some(range) => {
            reader.read_toml(text.get(range).unwrap_or_default());
            toml.body
        }
        None => {
            let parts = split(text);
            reader.read_parts(text, &parts);
            // Without a field, the first line is a thematic break.
            reader.fields.is_text |= parts.is_unclosed && !reader.fields.has_known_field();
            parts.body
        }
    };
    let fields = reader.fields;
    if fields.is_text {
        diagnostics.truncate(known);
        return (fields, range_without_bom(text));
    }
    (fields, body)
}

impl<'a> FrontmatterReader<'a, '_> {
    fn read_toml(&mut self, text: &'a str) {
        let table = match text.len() {
            0..=yaml::MAX_BYTES => toml::from_str::<toml::Table>(text).map_err(|error| {
                let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
                (before.matches('\n').count() + 2, error.message().lines().collect::<Vec<_>>().join(" "))
            }),
            _ => Err((1, format!("it is longer than {} bytes", yaml::MAX_BYTES))),
        };
        match table {
            Ok(table) => self.read_map("", toml_entries(table), 1),
            Err((line, reason)) => {
                self.report(DiagnosticCode::FrontmatterBroken, line, format!("the frontmatter is not TOML: {reason}"));
            }
        }
    }

    /// Reads a field of another tool.
    pub(super) fn foreign_field(&mut self, key: &str, value: &Yaml<'a>, line: usize) {
        let name = key.to_lowercase();
        let known = self.diagnostics.len();
        let is_read = self.foreign_value(&name, value, line);
        self.diagnostics.truncate(known);
        if !is_read {
            let name = if EFFECTIVE.contains(&name.as_str()) { name } else { key.to_owned() };
            self.fields.unknown.push((name, Value::from_yaml(value)));
        }
    }

    /// Reads the value of a field by its name in lower case; false if it has no meaning, or another form.
    fn foreign_value(&mut self, name: &str, value: &Yaml<'a>, line: usize) -> bool {
        let is_text = matches!(value.kind, YamlNode::Scalar { .. });
        match name {
            "id" if is_text => {
                let id = self.text(name, value, line);
                self.fields.aliases.extend(id);
            }
            "title" if self.fields.title.is_none() => self.fields.title = self.text(name, value, line),
            "type" if is_text => self.fields.kind = self.text(name, value, line),
            "summary" if is_text => self.fields.summary = self.text(name, value, line),
            "tags" | "tag" | "keywords" | "categories" | "category" => return self.foreign_tags(value),
            "taxonomies" => return self.taxonomies(value),
            "alias" | "aliases" => return self.foreign_aliases(name, value),
            "links" if !is_list_of_links(value) => return false,
            "compacts" | "custom" | "links" | "sources" | "value" | "verified" => {
                let known = self.diagnostics.len();
                self.own_field(name, value, line);
                return self.diagnostics.iter().skip(known).all(|finding| finding.code == DiagnosticCode::NotAList);
            }
            _ => return self.foreign_date(name, value),
        }
        true
    }

    fn foreign_tags(&mut self, value: &Yaml<'a>) -> bool {
        let Some(texts) = texts(value, true) else { return false };
        self.fields.tags.extend(texts.iter().map(|tag| tag.trim_start_matches('#').trim().to_owned()));
        true
    }

    /// Reads the table in which Zola has its tags.
    fn taxonomies(&mut self, value: &Yaml<'a>) -> bool {
        let YamlNode::Map(entries) = &value.kind else { return false };
        entries.iter().fold(true, |is_read, (_, value)| self.foreign_tags(value) && is_read)
    }

    fn foreign_aliases(&mut self, name: &str, value: &Yaml<'a>) -> bool {
        let texts = texts(value, name == "alias");
        let is_read = texts.is_some();
        self.fields.aliases.extend(texts.unwrap_or_default());
        is_read
    }

    /// Reads a date. The names that notes use have precedence.
    fn foreign_date(&mut self, name: &str, value: &Yaml<'a>) -> bool {
        let text = match &value.kind {
            YamlNode::Scalar { text, .. } => text.to_string(),
            YamlNode::Map(entries) => entry(entries, "date").unwrap_or_default(),
            YamlNode::List(_) => return false,
        };
        let timestamp = || Timestamp::parse_lenient(&text);
        match name {
            "created" | "created_at" | "created-at" => {
                let Some(created) = timestamp() else { return false };
                self.fields.created = Some(created);
            }
            "date" | "pubdate" | "publishdate" => {
                let Some(date) = timestamp() else { return false };
                self.fields.date = Some(date.date());
                self.fields.created.get_or_insert(date);
            }
            "updated" => {
                let Some(updated) = timestamp() else { return false };
                self.fields.updated = Some(updated);
            }
            "lastmod" | "last_update" | "last_updated" | "last_modified_at" | "modified" | "timestamp"
            | "updated_at" | "updateddate" => {
                let Some(updated) = timestamp() else { return false };
                self.fields.updated.get_or_insert(updated);
            }
            _ => return false,
        }
        true
    }
}

/// Returns the texts of a list, or of a single text, at whose commas it may be split; `None` if there are other values.
fn texts(value: &Yaml<'_>, is_split: bool) -> Option<Vec<String>> {
    let texts: Vec<String> = match &value.kind {
        YamlNode::List(items) => items.iter().map(item_text).collect::<Option<_>>()?,
        YamlNode::Scalar { text, .. } if is_split => text.split(',').map(str::to_owned).collect(),
        YamlNode::Scalar { text, .. } => vec![text.to_string()],
        YamlNode::Map(_) => return None,
    };
    Some(texts.iter().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect())
}

/// Returns the text of an item, or the name that it has if it is a mapping.
fn item_text(item: &Yaml<'_>) -> Option<String> {
    match &item.kind {
        YamlNode::Map(entries) => ["label", "name", "title"].iter().find_map(|name| entry(entries, name)),
        _ => Some(Value::from_yaml(item).to_line()),
    }
}

/// Tells whether a value is a list of links as notes have them; other tools list addresses under the same name.
fn is_list_of_links(value: &Yaml<'_>) -> bool {
    let is_link = |item: &Yaml<'_>| matches!(&item.kind, YamlNode::Map(entries) if entry(entries, "id").is_some());
    matches!(&value.kind, YamlNode::List(items) if items.iter().all(is_link))
}

fn toml_entries<'a>(table: toml::Table) -> Vec<(Yaml<'a>, Yaml<'a>)> {
    let key = |key: String| node(YamlNode::Scalar { text: key.into(), plain: false });
    table.into_iter().map(|(name, value)| (key(name), toml_node(value))).collect()
}

fn toml_node<'a>(value: toml::Value) -> Yaml<'a> {
    let plain = |text: String| YamlNode::Scalar { text: text.into(), plain: true };
    node(match value {
        toml::Value::Array(items) => YamlNode::List(items.into_iter().map(toml_node).collect()),
        toml::Value::Table(table) => YamlNode::Map(toml_entries(table)),
        toml::Value::String(text) => YamlNode::Scalar { text: text.into(), plain: false },
        toml::Value::Integer(number) => plain(number.to_string()),
        toml::Value::Float(number) => plain(number.to_string()),
        toml::Value::Boolean(flag) => plain(flag.to_string()),
        toml::Value::Datetime(time) => plain(time.to_string()),
    })
}

fn node(kind: YamlNode<'_>) -> Yaml<'_> {
    Yaml { kind, span: 0..0, line: 1 }
}
