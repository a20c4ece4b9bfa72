//! Appending a text to another as a section, so that the markdown of each has the same meaning as by itself.

use std::collections::HashSet;

use pulldown_cmark::{Event, Tag, TagEnd};

use super::destinations::events_with_targets;
use super::inline_links::definitions;
use super::markdown::{MAX_PARSED, is_closed, parser};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    /// The heading and the introduction.
    pub(crate) head: String,
    /// The text, without blank lines around it.
    pub(crate) text: String,
}

impl Section {
    /// Makes a section; `None` without an introduction and a text.
    pub(crate) fn new(title: &str, introduction: &str, text: &str) -> Option<Self> {
        let (introduction, text) = (introduction.trim(), without_blank_lines(text));
        if introduction.is_empty() && text.is_empty() {
            return None;
        }
        let heading = heading(title);
        let head = if introduction.is_empty() { heading } else { format!("{heading}\n\n{introduction}") };
        let [head, text] = [head.as_str(), text].map(|text| text.replace("\r\n", "\n"));
        Some(Self { head, text })
    }

    /// Returns a body with the section appended; `end` is the line ending. An error names the part of either text that
    /// would change its meaning.
    pub(crate) fn below(&self, body: &str, end: &str) -> Result<String, String> {
        if !is_closed(body) {
            return Err("its text ends inside a code block or a comment".to_owned());
        }
        let (body_labels, text_labels) = (definitions(body), definitions(&self.text));
        let is_conflict = |(label, destination): &(String, String)| {
            body_labels.iter().any(|(other, other_destination)| other == label && other_destination != destination)
        };
        if text_labels.iter().any(is_conflict) {
            return Err("both define the same link label with different targets".to_owned());
        }
        if !footnotes(body).is_disjoint(&footnotes(&self.text)) {
            return Err("both have a footnote with the same label".to_owned());
        }
        let with_line_end = |text: &str| {
            let text = text.replace('\n', end);
            if text.is_empty() || text.ends_with('\n') { text } else { text + end }
        };
        let has_line_end = body.is_empty() || body.ends_with('\n');
        let body = if has_line_end { body.to_owned() } else { format!("{body}{end}") };
        let (head, text) = (with_line_end(&self.head), with_line_end(&self.text));
        let between = if text.is_empty() { "" } else { end };
        let whole = format!("{body}{end}{head}{between}{text}");
        if whole.len() > MAX_PARSED {
            return Err(format!(
                "together they are longer than {MAX_PARSED} bytes, and links beyond that are not read"
            ));
        }
        let events = |text: &str| events_with_targets(text, |link| link);
        let parts = [&body, &head, &text].into_iter().flat_map(|part| events(part));
        let is_same = parts.eq(events(&whole));
        is_same.then_some(whole).ok_or_else(|| "one of the two would be parsed differently".to_owned())
    }
}

fn heading(title: &str) -> String {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = format!("## {title}");
    let mut read = String::new();
    let is_plain = parser(&plain).all(|event| match event {
        Event::Text(text) => {
            read.push_str(&text);
            true
        }
        event => matches!(event, Event::Start(Tag::Heading { .. }) | Event::End(TagEnd::Heading(_))),
    });
    if is_plain && read == title {
        return plain;
    }
    let escaped = title.chars().flat_map(|c| [Some('\\').filter(|_| c.is_ascii_punctuation()), Some(c)]);
    format!("## {}", escaped.flatten().collect::<String>())
}

fn footnotes(text: &str) -> HashSet<String> {
    let name = |event: Event<'_>| match event {
        Event::Start(Tag::FootnoteDefinition(name)) => Some(name.to_lowercase()),
        _ => None,
    };
    if text.contains("[^") { parser(text).filter_map(name).collect() } else { HashSet::new() }
}

/// Removes blank lines at the ends. White space in other lines stays, since it may mean code or line breaks.
fn without_blank_lines(text: &str) -> &str {
    let is_blank = |line: &str| line.trim_matches([' ', '\t', '\r', '\n']).is_empty();
    let len = |lines: &mut dyn Iterator<Item = &str>| lines.take_while(|line| is_blank(line)).map(str::len).sum();
    let start: usize = len(&mut text.split_inclusive('\n'));
    let rest = text.get(start..).unwrap_or_default();
    let end: usize = len(&mut rest.split_inclusive('\n').rev());
    rest.get(..rest.len() - end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(body_definitions: &str, title: &str, summary: &str, text: &str) -> Result<String, String> {
        Section::new(title, summary, text).unwrap().below(body_definitions, "\n")
    }

    #[test]
    fn a_text_stays_what_it_is_below_another() {
        for (body, title, introduction, text, whole) in [
            ("own\n", "T", "", "\n\n    code\n\ntext  \n \n", "own\n\n## T\n\n    code\n\ntext  \n"),
            ("own", "C#", " S ", "x", "own\n\n## C#\n\nS\n\nx\n"),
            ("", "[a] *b* #", "", "x", "\n## \\[a\\] \\*b\\* \\#\n\nx\n"),
            ("a\r\n", "T", "S", "", "a\r\n\n## T\n\nS\n"),
            ("    a", "T", "<b>\nS", "x\n\n    c", "    a\n\n## T\n\n<b>\nS\n\nx\n\n    c\n"),
        ] {
            assert_eq!(below(body, title, introduction, text).as_deref(), Ok(whole));
        }
        assert_eq!(
            Section::new("T", "S", "x\r\ny").unwrap().below("a\r\n", "\r\n").unwrap(),
            "a\r\n\r\n## T\r\n\r\nS\r\n\r\nx\r\ny\r\n"
        );
        assert_eq!(Section::new("T", " ", "\n \n"), None);
    }

    #[test]
    fn what_would_be_read_in_another_way_is_refused() {
        for (body_definitions, summary, text) in [
            ("```\n", "", "x"),
            ("[a]: b.md\n", "", "[a]: c.md\n"),
            ("[a] is no link\n", "", "[a]: c.md\n"),
            ("[a]: c.md\n", "", "see [a]\n"),
            ("x[^1]\n\n[^1]: one\n", "", "y[^1]\n\n[^1]: two\n"),
            ("x[^1]\n", "", "y\n\n[^1]: two\n"),
            ("x", "<!-- ", "[[y]]"),
            ("x", "- item", "    code"),
        ] {
            assert!(below(body_definitions, "T", summary, text).is_err(), "{body_definitions:?} {summary:?} {text:?}");
        }
        assert!(below(&"x".repeat(MAX_PARSED), "T", "", "x").is_err());
    }
}
