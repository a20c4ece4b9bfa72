//! Draws trees: every line of an entry gets its place and its connector.
//!
//! Each level takes four characters, whatever is drawn there, so a line's length is known before
//! anybody knows which entries have their place.

use super::{EntryText, RenderEntry};
use crate::report::Entry;

/// The characters that a level takes.
const LEVEL: usize = 4;

/// Returns the room that connectors take at a depth.
pub(super) fn indent(depth: usize) -> String {
    " ".repeat(LEVEL * depth)
}

/// A line to draw, or an entry whose lines come here.
enum Branch {
    Line(String),
    Entry(usize),
}

/// Draws the pieces, whose lines begin with their indent: an entry's first line is its own, the
/// others hang on it or on the entry they name, and so do the entries that have it as their parent.
pub(super) fn draw(entries: &[Entry], texts: &[(usize, EntryText)]) -> String {
    let mut place_of = vec![None; entries.len()];
    let mut branches: Vec<Vec<Branch>> = Vec::with_capacity(texts.len());
    let mut own_lines = Vec::with_capacity(texts.len());
    let mut roots = Vec::new();
    for (place, (index, out)) in texts.iter().enumerate() {
        place_of[*index] = Some(place);
        branches.push(Vec::new());
        match entries[*index].parent().and_then(|parent| place_of[parent]) {
            Some(parent) => branches[parent].push(Branch::Entry(place)),
            None => roots.push(place),
        }
        let mut items = out.items.iter();
        own_lines.push(items.next().map(line).unwrap_or_default());
        for item in items {
            let under = item.under.and_then(|entry| place_of[entry]).unwrap_or(place);
            branches[under].push(Branch::Line(line(item)));
        }
    }
    let mut drawing = TreeDrawing { text: String::new(), branches, own_lines };
    for root in roots {
        drawing.draw_from(root);
    }
    drawing.text
}

/// Returns an item's line without its indent. Where it was broken, its other lines have it too.
fn line(item: &RenderEntry) -> String {
    let line = item.text.trim_start_matches(' ');
    let indent = " ".repeat(item.text.len() - line.len());
    let mut lines = line.split_inclusive('\n');
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| text + line.strip_prefix(&indent).unwrap_or(line))
}

struct TreeDrawing {
    text: String,
    branches: Vec<Vec<Branch>>,
    own_lines: Vec<String>,
}

impl TreeDrawing {
    /// Draws an entry and all that hangs on it, without recursion: paths can be long.
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
                Branch::Entry(place) => {
                    let own = std::mem::take(&mut self.own_lines[place]);
                    self.push_lines(&own, &below);
                    open.push((std::mem::take(&mut self.branches[place]).into_iter().peekable(), below));
                }
            }
        }
    }

    /// Writes lines, all but the first of them below a prefix.
    fn push_lines(&mut self, lines: &str, prefix: &str) {
        for (index, line) in lines.split_inclusive('\n').enumerate() {
            self.text.push_str(if index == 0 { "" } else { prefix });
            self.text.push_str(line);
        }
    }
}
