//! The lines in which `qipu history` and `qipu diff` show what changed in a note.

use crate::escape::{one_line, shortened};
use crate::note::{Note, NoteChange, changes};

/// The most lines for one note, and the most characters of a value or a block.
const MAX_LINES: usize = 20;
const MAX_TEXT: usize = 100;
/// The blanks before a difference from which on long texts are shown.
const CONTEXT_WORDS: usize = 4;

/// Returns a line for each difference between two versions of a note: its file, fields, headings, blocks.
pub(super) fn lines(before: &Note, after: &Note) -> Vec<String> {
    let mut lines = Vec::new();
    if before.path != after.path {
        lines.push(format!("file: {} → {}", text(&before.path), text(&after.path)));
    }
    lines.extend(changes(before, after).iter().map(line));
    let more = lines.len().saturating_sub(MAX_LINES);
    if more > 0 {
        lines.truncate(MAX_LINES);
        lines.push(format!("and {more} more"));
    }
    lines
}

fn line(change: &NoteChange) -> String {
    match change {
        NoteChange::Field { name, before, after } => format!("{}: {}", text(name), both(before, after)),
        NoteChange::Heading { before, after } => format!("heading {}", both(before, after)),
        NoteChange::Block { under, before, after } if under.is_empty() => format!("block {}", both(before, after)),
        NoteChange::Block { under, before, after } => format!("block under {}: {}", text(under), both(before, after)),
        NoteChange::Text => "text: changed".to_owned(),
    }
}

/// Returns a value before and after a change.
fn both(before: &Option<String>, after: &Option<String>) -> String {
    match (before, after) {
        (Some(before), Some(after)) => {
            let (before, after) = from_difference(before, after);
            format!("{} → {}", text(&before), text(&after))
        }
        (None, Some(after)) => format!("added {}", text(after)),
        (Some(before), None) => format!("removed {}", text(before)),
        (None, None) => String::new(),
    }
}

/// Leaves out the beginning that two long texts share, so that the difference is in what is shown of them.
fn from_difference(before: &str, after: &str) -> (String, String) {
    let (before, after) = (one_line(before), one_line(after));
    let shared = before.char_indices().zip(after.chars()).take_while(|((_, a), b)| a == b);
    let words = shared.filter(|((_, c), _)| *c == ' ').map(|((start, _), _)| start);
    let words: Vec<usize> = words.filter(|start| *start > MAX_TEXT / 2).collect();
    let Some(start) = words.len().checked_sub(CONTEXT_WORDS).and_then(|index| words.get(index)) else {
        return (before, after);
    };
    let rest = |line: &str| format!("…{}", line.get(*start..).unwrap_or_default());
    (rest(&before), rest(&after))
}

fn text(text: &str) -> String {
    shortened(&one_line(text), MAX_TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_each_difference() {
        let note = |path: &str, text: String| Note::parse(path, text.into_bytes());
        let long = "word ".repeat(60);
        let before = note("notes/a.md", format!("---\nid: a\nstatus: draft\n---\n# A\n\n{long} old\n"));
        let after = note("notes/b.md", format!("---\nid: a\ntags: [x]\n---\n# A\n\n{long} new\n\nmore\n"));
        let expected = [
            "file: notes/a.md → notes/b.md",
            "tags: added x",
            "status: removed draft",
            "block under A: … word word word old → … word word word new",
            "block under A: added more",
        ];
        assert_eq!(lines(&before, &after), expected);
        let many = note("notes/a.md", "# A\n\nx\n\n".to_owned() + &"- item\n".repeat(50));
        assert_eq!(lines(&note("notes/a.md", "# A\n\nx\n".to_owned()), &many).last().unwrap(), "and 30 more");
    }
}
