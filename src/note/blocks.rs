//! The blocks of a body: each list item, and every other top-level element of markdown.

use std::ops::Range;
use std::sync::Arc;

use pulldown_cmark::{Event, Tag, TagEnd};

use super::markdown::parser;

/// The most characters of a heading in a heading path, which every block below it repeats.
const MAX_HEADING: usize = 120;
/// The largest indentation of an item, in bytes, that is removed from its lines.
const MAX_COLUMN: usize = 256;

/// The maximum length of a block anchor, in bytes.
const MAX_ANCHOR: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// A paragraph, a quote, or any other text.
    Text,
    Item,
    Table,
    Code,
}

/// A part of a body that can be shown by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) kind: BlockKind,
    /// The byte range in the body, without nested lists unless text of the item follows them.
    pub(crate) range: Range<usize>,
    /// The block anchor: `^anchor` or `id:: x`.
    pub(crate) anchor: Option<String>,
    /// The heading path, the outermost first.
    pub(crate) heading_path: Arc<[String]>,
    /// The markdown without the list marker, the anchor and nested lists.
    pub(crate) text: String,
    /// The nesting depth in lists; 0 outside of any.
    pub(crate) depth: usize,
}

/// The most characters of an outline, and the most bytes of a body from which it is made.
const MAX_OUTLINE: usize = 240;
const OUTLINE_BYTES: usize = 8 * MAX_OUTLINE;

/// Summarises a body by its first list items, at most `limit`, with their texts by `text_of`; `None` if it has none.
pub(super) fn outline(body: &str, limit: usize, text_of: impl Fn(&Block) -> Option<String>) -> Option<String> {
    // Whole lines, since text after a line never changes the items before it.
    let end = body.floor_char_boundary(OUTLINE_BYTES);
    let end = if end == body.len() { end } else { body.get(..end)?.rfind('\n').unwrap_or(end) };
    let items = blocks(body.get(..end)?).into_iter().filter(|block| block.depth > 0);
    Some(joined(items.filter_map(|block| text_of(&block)).take(limit), MAX_OUTLINE))
        .filter(|outline| !outline.is_empty())
}

/// Joins texts on one line with ` · ` up to a number of characters; `…` marks an omission.
fn joined(texts: impl Iterator<Item = String>, limit: usize) -> String {
    let mut joined = String::new();
    for text in texts {
        // A text has no more words than characters.
        let text = text.split_whitespace().take(limit).collect::<Vec<_>>().join(" ");
        let room = limit.saturating_sub(joined.chars().count());
        if joined.is_empty() && text.chars().count() > room {
            joined = text.chars().take(room).collect();
        }
        if text.chars().count() > room {
            joined.push('…');
            break;
        }
        if !joined.is_empty() && !text.is_empty() {
            joined.push_str(" · ");
        }
        joined.push_str(&text);
    }
    joined
}

pub(super) fn blocks(body: &str) -> Vec<Block> {
    let mut reader = BlockReader { body, ..BlockReader::default() };
    let mut depth = 0_usize;
    let mut heading: Option<(usize, String)> = None;
    // The depth of the open quote, table or other container, whose content is one block.
    let mut container_depth: Option<usize> = None;
    for (event, range) in parser(body).into_offset_iter() {
        match event {
            Event::Start(_) if container_depth.is_some() => depth += 1,
            Event::End(_) if container_depth.is_some() => {
                depth = depth.saturating_sub(1);
                container_depth = container_depth.filter(|open| *open < depth);
            }
            Event::Start(tag) => {
                match tag {
                    Tag::List(_) => reader.begin_list(&range),
                    Tag::Item => reader.begin_item(range, depth),
                    Tag::Heading { level, .. } if depth == 0 => heading = Some((level as usize, String::new())),
                    tag => {
                        if depth == 0 {
                            reader.add_top_level(&tag, range);
                        }
                        container_depth = Some(depth);
                    }
                }
                depth += 1;
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                match end {
                    TagEnd::Item => reader.end_item(depth),
                    TagEnd::Heading(_) => reader.set_heading_path(heading.take()),
                    _ => {}
                }
            }
            Event::Text(piece) | Event::Code(piece) => {
                if let Some((_, text)) = &mut heading {
                    text.push_str(&piece);
                }
            }
            _ => {}
        }
    }
    reader.blocks.retain(|block| !block.text.is_empty());
    reader.blocks
}

#[derive(Default)]
struct BlockReader<'a> {
    body: &'a str,
    blocks: Vec<Block>,
    /// The open headings: level and text.
    headings: Vec<(usize, String)>,
    heading_path: Arc<[String]>,
    open: Vec<OpenItem>,
}

struct OpenItem {
    block: usize,
    /// The number of open elements around it.
    depth: usize,
    /// The offset from which its own text continues.
    start: usize,
    end: usize,
    /// In bytes.
    column: usize,
}

impl BlockReader<'_> {
    fn set_heading_path(&mut self, heading: Option<(usize, String)>) {
        let Some((level, text)) = heading else { return };
        while self.headings.last().is_some_and(|(open, _)| *open >= level) {
            self.headings.pop();
        }
        let text = text.trim();
        let mut short: String = text.chars().take(MAX_HEADING).collect();
        if short.len() < text.len() {
            short.push('…');
        }
        self.headings.push((level, short));
        self.heading_path = self.headings.iter().map(|(_, text)| text.clone()).collect();
    }

    fn begin_item(&mut self, range: Range<usize>, depth: usize) {
        // Every nested list is inside an item of the list around it, so half of the open elements are lists.
        let block = Block {
            kind: BlockKind::Item,
            range: range.start..range.start,
            anchor: None,
            heading_path: Arc::clone(&self.heading_path),
            text: String::new(),
            depth: depth.div_ceil(2),
        };
        let line = self.body.get(self.body.floor_char_boundary(range.start.saturating_sub(MAX_COLUMN))..range.start);
        let column = line.map_or(0, |line| line.rfind('\n').map_or(line.len(), |end| line.len() - end - 1));
        let block_index = self.blocks.len();
        self.open.push(OpenItem { block: block_index, depth, start: range.start, end: range.end, column });
        self.blocks.push(block);
    }

    /// Text of an item before a nested list is its own text.
    fn begin_list(&mut self, range: &Range<usize>) {
        let Some(open) = self.open.last_mut() else { return };
        let (block, own) = (open.block, open.start..range.start.max(open.start));
        open.start = range.end.max(open.start);
        self.push_own_text(block, own);
    }

    /// Appends a range of the body to a block and returns the block.
    fn push_own_text(&mut self, block: usize, range: Range<usize>) -> Option<&mut Block> {
        let own = self.body.get(range.clone()).unwrap_or_default();
        let block = self.blocks.get_mut(block)?;
        block.text.push_str(own);
        if !own.trim().is_empty() {
            block.range.end = range.start + own.trim_end().len();
        }
        Some(block)
    }

    fn end_item(&mut self, depth: usize) {
        let Some(open) = self.open.pop_if(|open| open.depth == depth) else { return };
        if let Some(block) = self.push_own_text(open.block, open.start..open.end) {
            let (text, anchor) = without_anchor(&without_marker(&block.text, open.column));
            (block.text, block.anchor) = (text, anchor);
        }
    }

    fn add_top_level(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        let kind = match tag {
            Tag::Table(_) => BlockKind::Table,
            Tag::CodeBlock(_) => BlockKind::Code,
            _ => BlockKind::Text,
        };
        let text = self.body.get(range.clone()).unwrap_or_default().trim_end();
        let range = range.start..range.start + text.len();
        if text.starts_with("<!--") {
            return;
        }
        let (text, anchor) = without_anchor(text);
        // An anchor on a line by itself belongs to the block before it.
        if text.is_empty()
            && let (Some(anchor), Some(before)) = (&anchor, self.blocks.last_mut())
        {
            before.anchor.get_or_insert_with(|| anchor.clone());
            return;
        }
        self.blocks.push(Block { kind, range, anchor, heading_path: Arc::clone(&self.heading_path), text, depth: 0 });
    }
}

/// Removes the list marker, and its width from the indentation of the lines below.
fn without_marker(item: &str, column: usize) -> String {
    let item = item.trim_start();
    let marker = item.find(char::is_whitespace).unwrap_or(item.len());
    let rest = item.get(marker..).unwrap_or_default();
    let first = rest.trim_start_matches([' ', '\t']);
    let width = column + item.len() - first.len();
    let mut text = String::with_capacity(first.len());
    for (index, line) in first.split_inclusive('\n').enumerate() {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        text.push_str(if index == 0 { line } else { line.get(indent.min(width)..).unwrap_or(line) });
    }
    text.trim().to_owned()
}

/// Removes `^anchor` at the end of a line, or a line `id:: x`, from a text, and returns both.
fn without_anchor(text: &str) -> (String, Option<String>) {
    if !text.contains('^') && !text.contains("id::") {
        return (text.to_owned(), None);
    }
    let mut anchor = None;
    let mut is_in_fence = false;
    let mut kept_lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        is_in_fence ^= line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        match anchor_of(line).filter(|_| anchor.is_none() && !is_in_fence) {
            Some((before, id)) => {
                anchor = Some(id.to_owned());
                kept_lines.extend(Some(before.trim_end()).filter(|before| !before.is_empty()));
            }
            None => kept_lines.push(line),
        }
    }
    (kept_lines.join("\n").trim().to_owned(), anchor)
}

/// Returns the text before an anchor in a line, and the anchor.
fn anchor_of(line: &str) -> Option<(&str, &str)> {
    let property = line.trim().strip_prefix("id::").map(|id| ("", id.trim())).filter(|(_, id)| is_anchor(id));
    let is_apart = |before: &str| before.is_empty() || before.ends_with(char::is_whitespace);
    property.or_else(|| line.trim_end().rsplit_once('^').filter(|(before, id)| is_anchor(id) && is_apart(before)))
}

fn is_anchor(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_ANCHOR
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(body: &str) -> Vec<String> {
        let line = |block: &Block| {
            let anchor = block.anchor.as_ref().map_or(String::new(), |anchor| format!(" ^{anchor}"));
            format!("{}{}|{}{anchor}", "  ".repeat(block.depth), block.heading_path.join("/"), block.text)
        };
        blocks(body).iter().map(line).collect()
    }

    #[test]
    fn blocks_are_list_items_and_top_level_pieces() {
        let body = "First\nparagraph.\n\n# A\n\n- one\n  - two *b*\n\n    more\n- three\n\n## B\n\n| a |\n|---|\n| b |\n\n\
                    > quote\n> - inside\n\n# C\n\n```rust\n# no heading\n\nlet a;\n```\n\n1. x\n   y\n\n<!-- gone -->\n\n---\n";
        assert_eq!(
            described(body),
            [
                "|First\nparagraph.",
                "  A|one",
                "    A|two *b*\n\nmore",
                "  A|three",
                "A/B|| a |\n|---|\n| b |",
                "A/B|> quote\n> - inside",
                "C|```rust\n# no heading\n\nlet a;\n```",
                "  C|x\ny",
            ]
        );
        let long = format!("# {}\n\n{}", "h".repeat(400_000), "- x\n".repeat(1_000));
        assert!(blocks(&long).iter().all(|block| block.heading_path[0].len() < 200));
    }

    #[test]
    fn anchors_name_blocks_and_are_no_part_of_their_text() {
        let body = "A paragraph. ^one\n\n- item ^two\n  - inner\n    id:: 65f-3\n- 2^10 stays\n\n| a |\n|---|\n\n^table\n\n```\nx ^no\n```\n";
        let anchors: Vec<_> = blocks(body).into_iter().map(|block| (block.text, block.anchor)).collect();
        let expected = [
            ("A paragraph.", Some("one")),
            ("item", Some("two")),
            ("inner", Some("65f-3")),
            ("2^10 stays", None),
            ("| a |\n|---|", Some("table")),
            ("```\nx ^no\n```", None),
        ];
        let expected = expected.map(|(text, anchor)| (text.to_owned(), anchor.map(str::to_owned)));
        assert_eq!(anchors, expected);
    }
}
