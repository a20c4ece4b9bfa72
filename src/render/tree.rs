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

enum Branch {
    Line(String),
    /// The index of the text of another entry.
    Entry(usize),
}

/// Draws entries, whose lines begin with an indent. The first line of an entry is its own. Its other lines are branches
/// of it or of [`RenderEntry::under`], and so are its child entries.
pub(super) fn draw(entries: &[Entry], texts: &[(usize, EntryText)]) -> String {
    let mut position_of = vec![None; entries.len()];
    let mut branches: Vec<Vec<Branch>> = Vec::with_capacity(texts.len());
    let mut own_lines = Vec::with_capacity(texts.len());
    let mut roots = Vec::new();
    for (position, (index, text)) in texts.iter().enumerate() {
        position_of[*index] = Some(position);
        branches.push(Vec::new());
        match entries[*index].parent().and_then(|parent| position_of[parent]) {
            Some(parent) => branches[parent].push(Branch::Entry(position)),
            None => roots.push(position),
        }
        let mut items = text.items.iter();
        own_lines.push(items.next().map(line).unwrap_or_default());
        for item in items {
            let under = item.under.and_then(|entry| position_of[entry]).unwrap_or(position);
            branches[under].push(Branch::Line(line(item)));
        }
    }
    let mut drawing = TreeDrawing { text: String::new(), branches, own_lines };
    for root in roots {
        drawing.draw_from(root);
    }
    drawing.text
}

/// Returns the line of an item without its indent, also of its continuation lines.
fn line(item: &RenderEntry) -> String {
    let line = item.text.trim_start_matches(' ');
    let indent = " ".repeat(item.text.len() - line.len());
    let mut lines = line.split_inclusive('\n');
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| text + line.strip_prefix(&indent).unwrap_or(line))
}

/// A drawing under construction.
struct TreeDrawing {
    text: String,
    /// The branches of each entry that are not drawn yet.
    branches: Vec<Vec<Branch>>,
    /// The first line of each entry.
    own_lines: Vec<String>,
}

impl TreeDrawing {
    /// Draws an entry and its branches, without recursion, since paths can be long.
    fn draw_from(&mut self, root: usize) {
        let own = std::mem::take(&mut self.own_lines[root]);
        self.push_lines(&own, "");
        let mut open = vec![(std::mem::take(&mut self.branches[root]).into_iter().peekable(), String::new())];
        while let Some((branches, prefix)) = open.last_mut() {
            let Some(branch) = branches.next() else {
                open.pop();
                continue;
            };
            let is_last = branches.peek().is_none();
            let connector = if is_last { "└── " } else { "├── " };
            self.text.push_str(prefix);
            self.text.push_str(connector);
            let below = format!("{prefix}{}", if is_last { "    " } else { "│   " });
            match branch {
                Branch::Line(line) => self.push_lines(&line, &below),
                Branch::Entry(position) => {
                    let own = std::mem::take(&mut self.own_lines[position]);
                    self.push_lines(&own, &below);
                    open.push((std::mem::take(&mut self.branches[position]).into_iter().peekable(), below));
                }
            }
        }
    }

    /// Adds lines, with a prefix before all but the first.
    fn push_lines(&mut self, lines: &str, prefix: &str) {
        for (index, line) in lines.split_inclusive('\n').enumerate() {
            self.text.push_str(if index == 0 { "" } else { prefix });
            self.text.push_str(line);
        }
    }
}
