//! A small YAML tree with the source range of every node.
//!
//! The event parser implements the grammar; this module builds the tree and limits hostile input. Scalars stay in their
//! spelling: `1.10` is a version to one user and a number to another, so types are decided per field.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{Event, Options, Parser, ScalarStyle, Span};

/// The maximum length of frontmatter, in bytes.
pub(crate) const MAX_BYTES: usize = 256 * 1024;
/// The maximum size of a document with expanded aliases, in nodes; see [`BYTES_OF_A_NODE`] for long texts.
pub(crate) const MAX_NODES: usize = 10_000;
/// The length of a text that counts as a node, in bytes.
const BYTES_OF_A_NODE: usize = 100;
/// The least average length of a node of a long document, in bytes.
const BYTES_PER_NODE: usize = 8;
/// The maximum nesting of lists and maps, separately in block and flow style.
const MAX_DEPTH: usize = 64;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Yaml<'a> {
    pub(crate) kind: YamlNode<'a>,
    /// The byte range; that of a block scalar excludes its `>-` header.
    pub(crate) span: Range<usize>,
    /// The line at which it begins, from 1.
    pub(crate) line: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum YamlNode<'a> {
    /// A text; `plain` if it is written without quotes, block style and the tag `!!str`.
    Scalar { text: Cow<'a, str>, plain: bool },
    /// A list.
    List(Vec<Yaml<'a>>),
    /// A map in the order of the text, including duplicate keys.
    Map(Vec<(Yaml<'a>, Yaml<'a>)>),
}

/// The reason why a text is not YAML, and the line, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct YamlError {
    pub(crate) reason: String,
    pub(crate) line: usize,
}

/// Parses a text of one document; an empty text is an empty map.
pub(crate) fn parse(text: &str) -> Result<Yaml<'_>, YamlError> {
    let mut nodes_left = MAX_NODES;
    parse_within(text, &mut nodes_left)
}

/// Parses a text of one document with at most `nodes_left` nodes, and subtracts its nodes from them.
pub(crate) fn parse_within<'a>(text: &'a str, nodes_left: &mut usize) -> Result<Yaml<'a>, YamlError> {
    if text.len() > MAX_BYTES {
        return Err(YamlError { reason: format!("frontmatter is longer than {MAX_BYTES} bytes"), line: 1 });
    }
    parse_nodes(text, nodes_left)
}

/// Parses a document of at most `max_bytes` bytes with one node for every [`BYTES_PER_NODE`] of them.
pub(crate) fn parse_long(text: &str, max_bytes: usize) -> Result<Yaml<'_>, YamlError> {
    if text.len() > max_bytes {
        return Err(YamlError { reason: format!("it is longer than {max_bytes} bytes"), line: 1 });
    }
    let mut nodes_left = max_bytes / BYTES_PER_NODE;
    parse_nodes(text, &mut nodes_left).map_err(|error_at| match nodes_left {
        0 => YamlError { reason: "it expands to too many values".to_owned(), ..error_at },
        _ => error_at,
    })
}

fn parse_nodes<'a>(text: &'a str, nodes_left: &mut usize) -> Result<Yaml<'a>, YamlError> {
    let mut options = Options::default();
    options.flow_nesting_limit = MAX_DEPTH;
    options.block_nesting_limit = MAX_DEPTH;
    options.disallow_directives = true;
    let mut builder = TreeBuilder { root: None, open: Vec::new(), anchors: HashMap::new(), nodes_left };
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| YamlError { reason: error.info(), line: error.marker().line() })?;
        if matches!(event, Event::DocumentStart(..)) && builder.root.is_some() {
            return Err(error_at("it contains a second document", span.start.line()));
        }
        builder.handle_event(event, &span)?;
    }
    Ok(builder.root.unwrap_or(Yaml { kind: YamlNode::Map(Vec::new()), span: 0..0, line: 1 }))
}

struct OpenCollection<'a> {
    node: Yaml<'a>,
    key: Option<Yaml<'a>>,
    anchor: usize,
}

/// Builds the tree from events without recursion.
struct TreeBuilder<'a, 'n> {
    root: Option<Yaml<'a>>,
    open: Vec<OpenCollection<'a>>,
    anchors: HashMap<usize, Yaml<'a>>,
    nodes_left: &'n mut usize,
}

impl<'a> TreeBuilder<'a, '_> {
    fn handle_event(&mut self, event: Event<'a>, span: &Span) -> Result<(), YamlError> {
        let line = span.start.line();
        let span = span.byte_range().unwrap_or(0..0);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                // `!!str 007` is a text, although it looks like a number.
                let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
                let plain = style == ScalarStyle::Plain && !is_text;
                // The parser reports an absent value as `~`; its source is empty.
                let text = if plain && span.is_empty() { "".into() } else { text };
                let node = Yaml { kind: YamlNode::Scalar { text, plain }, span, line };
                self.spend_nodes(weight(&node), line)?;
                self.close(node, anchor);
            }
            Event::SequenceStart(_, anchor, _) => {
                self.begin(Yaml { kind: YamlNode::List(Vec::new()), span, line }, anchor)?
            }
            Event::MappingStart(_, anchor, _) => {
                self.begin(Yaml { kind: YamlNode::Map(Vec::new()), span, line }, anchor)?
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let open = self.open.pop();
                debug_assert!(open.is_some(), "a list or map ends that is not open");
                if let Some(OpenCollection { mut node, anchor, .. }) = open {
                    node.span.end = node.span.end.max(span.end);
                    self.close(node, anchor);
                }
            }
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned();
                let node = node.ok_or_else(|| error_at("an alias refers to a node that contains it", line))?;
                self.spend_nodes(weight(&node), line)?;
                self.close(Yaml { span, line, ..node }, 0);
            }
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, node: Yaml<'a>, anchor: usize) -> Result<(), YamlError> {
        self.spend_nodes(1, node.line)?;
        self.open.push(OpenCollection { node, key: None, anchor });
        Ok(())
    }

    fn spend_nodes(&mut self, nodes: usize, line: usize) -> Result<(), YamlError> {
        let left = self.nodes_left.checked_sub(nodes);
        *self.nodes_left = left.unwrap_or(0);
        left.map(|_| ()).ok_or_else(|| error_at("frontmatter expands to too many values", line))
    }

    /// Adds a finished node to the open list or map, or makes it the root.
    fn close(&mut self, node: Yaml<'a>, anchor: usize) {
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root.get_or_insert(node);
            return;
        };
        match &mut open.node.kind {
            YamlNode::List(items) => items.push(node),
            YamlNode::Map(entries) => match open.key.take() {
                Some(key) => entries.push((key, node)),
                None => open.key = Some(node),
            },
            YamlNode::Scalar { .. } => {}
        }
    }
}

fn error_at(reason: &str, line: usize) -> YamlError {
    YamlError { reason: reason.to_owned(), line }
}

fn weight(node: &Yaml<'_>) -> usize {
    match &node.kind {
        YamlNode::Scalar { text, .. } => 1 + text.len() / BYTES_OF_A_NODE,
        YamlNode::List(items) => 1 + items.iter().map(weight).sum::<usize>(),
        YamlNode::Map(entries) => 1 + entries.iter().map(|(key, value)| weight(key) + weight(value)).sum::<usize>(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::value::Value;
    use super::*;

    fn shape(node: &Yaml<'_>) -> String {
        Value::from_yaml(node).to_json().to_string()
    }

    #[test]
    fn builds_the_tree_with_aliases_and_places() {
        let text = "a: 1.10\nb: [x, 'y z']\nc: &c\n  - k: v\nd: *c\ne:\n";
        let tree = parse(text).unwrap();
        assert_eq!(shape(&tree), r#"{"a":"1.10","b":["x","y z"],"c":[{"k":"v"}],"d":[{"k":"v"}],"e":null}"#);
        let YamlNode::Map(entries) = &tree.kind else { panic!() };
        assert_eq!(text.get(entries[1].1.span.clone()), Some("[x, 'y z']"));
        assert_eq!(entries[3].0.line, 5);
        assert!(matches!(&entries[4].1.kind, YamlNode::Scalar { text, .. } if text.is_empty()));
        assert_eq!(shape(&parse("").unwrap()), "{}");
    }

    #[test]
    fn hostile_yaml_is_refused_at_once() {
        let mut laughs = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for i in 1..30 {
            let last = i - 1;
            laughs.push_str(&format!("a{i}: &a{i} [*a{last},*a{last},*a{last},*a{last}]\n"));
        }
        for text in [
            laughs,
            format!("a: &a {}\nb: [{}]", "x".repeat(200_000), "*a, ".repeat(4_900)),
            "[".repeat(100_000),
            "- ".repeat(100_000),
            "? ".repeat(100_000),
            "a: *a".into(),
            "&a [*a]".into(),
            "{".repeat(500),
        ] {
            assert!(parse(&text).is_err(), "{:.20}", text);
        }
    }
}
