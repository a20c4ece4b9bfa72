//! The tasks of a note: the items of task lists (GitHub Flavored Markdown, section 5.3).

use std::ops::Range;

use pulldown_cmark::{Event, TagEnd};

use super::markdown::parser;

/// An item of a task list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskItem {
    /// Its line in the file, from 1.
    pub line: usize,
    /// The offset in the file of the character between its brackets, in bytes.
    pub mark: usize,
    /// Whether it is ticked off.
    pub is_done: bool,
    /// The markdown behind the brackets up to the end of the paragraph, on one line.
    pub text: String,
}

/// Returns the tasks in the body of a file, in their order. Code and comments have none. O(bytes).
pub(super) fn tasks(file: &str, body: Range<usize>) -> Vec<TaskItem> {
    let start = body.start;
    let text = file.get(body).unwrap_or_default();
    // Most notes have none, and parsing takes time.
    let has_mark = |window: &[u8]| matches!(window, [b'[', b' ' | b'\t' | b'\r' | b'\n' | b'x' | b'X', b']']);
    if !text.as_bytes().windows(3).any(has_mark) {
        return Vec::new();
    }
    let newlines = |range: Range<usize>| file.as_bytes().get(range).map_or(0, count_newlines);
    let (mut line, mut counted) = (newlines(0..start) + 1, start);
    let mut tasks = Vec::new();
    let mut events = parser(text).into_offset_iter();
    while let Some((event, range)) = events.next() {
        let Event::TaskListMarker(is_done) = event else { continue };
        let mark = start + range.start + 1;
        line += newlines(counted..mark);
        counted = mark;
        let inline = events.by_ref().take_while(|(event, _)| is_inline(event));
        let end = inline.map(|(_, inline)| inline.end).max().unwrap_or(range.end);
        tasks.push(TaskItem { line, mark, is_done, text: on_one_line(text.get(range.end..end).unwrap_or_default()) });
    }
    tasks
}

/// Tells whether an event is a part of a paragraph.
fn is_inline(event: &Event<'_>) -> bool {
    match event {
        Event::Start(tag) => is_inline_tag(&tag.to_end()),
        Event::End(tag) => is_inline_tag(tag),
        Event::Html(_) | Event::Rule | Event::TaskListMarker(_) => false,
        _ => true,
    }
}

fn is_inline_tag(tag: &TagEnd) -> bool {
    matches!(tag, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image)
}

/// Joins the lines of a paragraph, without the indentation and the marks of quotes before them.
fn on_one_line(paragraph: &str) -> String {
    let lines = paragraph.lines().map(|line| line.trim_start_matches([' ', '\t', '>']).trim_end());
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

fn count_newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::super::Note;

    fn tasks(text: &str) -> Vec<(usize, bool, String)> {
        let note = Note::parse("notes/n.md", text.as_bytes().to_vec());
        let tasks = note.tasks();
        assert!(tasks.iter().all(|task| " \txX".contains(note.text().get(task.mark..=task.mark).unwrap())));
        tasks.into_iter().map(|task| (task.line, task.is_done, task.text)).collect()
    }

    #[test]
    fn every_kind_of_list_item_may_be_a_task() {
        let text = "---\nid: n\ntodo: '- [ ] field'\n---\n\n- [ ] one [[b]]\n  * [x] nested\n    1. [X] deeper\n+ [ ] plus\n\n\
                    1) [ ] number\n\n> - [ ] quoted\n>   *and* more\n\n- [ ] wide 日本語\r\n";
        let expected = [
            (6, false, "one [[b]]"),
            (7, true, "nested"),
            (8, true, "deeper"),
            (9, false, "plus"),
            (11, false, "number"),
            (13, false, "quoted *and* more"),
            (16, false, "wide 日本語"),
        ];
        let found = tasks(text);
        let found: Vec<_> = found.iter().map(|(line, is_done, text)| (*line, *is_done, text.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn code_comments_and_texts_have_no_tasks() {
        for text in "```\n- [ ] code\n```\n|    - [ ] code\n|<!--\n- [ ] comment\n-->\n|`- [ ] code`\n|[ ] no item\n|\
            - [y] another letter\n|- \\[ ] escaped\n|- text [ ] behind\n|- [ ](link)\n|<pre>\n- [ ] html\n</pre>\n"
            .split('|')
        {
            assert_eq!(tasks(text), [], "{text}");
        }
    }
}
