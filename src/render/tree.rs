//! Draws trees: puts each line of an entry below its parent, with a connector.
//!
//! Each level takes the same number of characters, whatever is drawn there, so that the length of a line is known before
//! it is known which entries are included.

use super::{EntryText, RenderEntry};
use crate::report::Entry;

/// The characters of a level.
const LEVEL_CHARS: usize = 4;

/// Returns an indent as long as the connectors at a depth.
pub(super) fn indent(depth: usize) -> String {
    " ".repeat(LEVEL_CHARS * depth)
}

/// A line of a drawing, with the indices of the lines below it.
struct TreeNode {
    text: String,
    children: Vec<usize>,
}

/// Draws entries, whose lines begin with an indent. The first line of an entry is its own. Its other lines are branches
/// of it or of [`RenderEntry::under`], and so are its child entries.
pub(super) fn draw(entries: &[Entry], texts: &[(usize, EntryText)]) -> String {
    let mut node_of = vec![None; entries.len()];
    let mut nodes: Vec<TreeNode> = Vec::with_capacity(texts.len());
    let mut roots = Vec::new();
    for (index, text) in texts {
        let own = nodes.len();
        node_of[*index] = Some(own);
        let mut items = text.items.iter();
        nodes.push(TreeNode { text: items.next().map(line).unwrap_or_default(), children: Vec::new() });
        match entries[*index].parent().and_then(|parent| node_of[parent]) {
            Some(parent) => nodes[parent].children.push(own),
            None => roots.push(own),
        }
        for item in items {
            let under = item.under.and_then(|entry| node_of[entry]).unwrap_or(own);
            let leaf = nodes.len();
            nodes[under].children.push(leaf);
            nodes.push(TreeNode { text: line(item), children: Vec::new() });
        }
    }
    let mut drawing = String::new();
    // The lines to draw, the next one last, each with the prefixes of itself and of what is below it. No recursion, since
    // paths can be long.
    let mut open: Vec<(usize, String, String)> =
        roots.into_iter().rev().map(|root| (root, String::new(), String::new())).collect();
    while let Some((node, prefix, below)) = open.pop() {
        let TreeNode { text, children } = &nodes[node];
        for (index, line) in text.split_inclusive('\n').enumerate() {
            drawing.push_str(if index == 0 { &prefix } else { &below });
            drawing.push_str(line);
        }
        let mut connectors = ("└── ", "    ");
        for child in children.iter().rev() {
            open.push((*child, format!("{below}{}", connectors.0), format!("{below}{}", connectors.1)));
            connectors = ("├── ", "│   ");
        }
    }
    drawing
}

/// Returns the line of an item without its indent, also of its continuation lines.
fn line(item: &RenderEntry) -> String {
    let line = item.text.trim_start_matches(' ');
    let indent = " ".repeat(item.text.len() - line.len());
    let mut lines = line.split_inclusive('\n');
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| text + line.strip_prefix(&indent).unwrap_or(line))
}
