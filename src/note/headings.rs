//! The headings of a body outside of lists, quotes, tables, footnotes, code and HTML, with the sections below them.

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{Event, Tag, TagEnd};

use super::markdown::parser;

/// Separates the headings of a heading path, as in answers.
const SEPARATOR: &str = " › ";

/// A heading, and the byte range of its section in the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) level: usize,
    /// The texts of the headings around it and its own, the outermost first.
    pub(super) path: String,
    /// Its text on one line, without markup.
    pub(crate) text: String,
    /// From the first byte after the heading up to the next heading of the same or a higher level.
    pub(crate) section: Range<usize>,
    /// The offset of its first line.
    pub(crate) start: usize,
}

impl Heading {
    /// Returns the bytes of its text in the body, with markup. Of a heading that is underlined, its lines above that.
    pub(crate) fn text_range(&self, body: &str) -> Range<usize> {
        let whole = body.get(self.start..self.section.start).unwrap_or_default();
        let lines = whole.trim_end();
        let content = lines.trim_start();
        let start = self.start + lines.len() - content.len();
        let marks = content.len() - content.trim_start_matches('#').len();
        let text = content.get(marks..).unwrap_or_default();
        if (1..=6).contains(&marks) && !content.contains(['\n', '\r']) {
            let inside = text.trim();
            let without_marks = inside.trim_end_matches('#');
            // Marks at the end belong to the text unless a blank is before them.
            let is_closed = without_marks.is_empty() || without_marks.ends_with([' ', '\t']);
            let inside = if is_closed { without_marks.trim_end() } else { inside };
            let start = start + marks + text.len() - text.trim_start().len();
            return start..start + inside.len();
        }
        let above = content.rfind(['\n', '\r']).map_or(content, |end| content.get(..end).unwrap_or_default());
        start..start + above.trim_end().len()
    }

    /// Tells whether a name is the text of the heading, or the end of its path.
    fn has_name(&self, name: &str) -> bool {
        self.path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with(SEPARATOR))
    }
}

/// Returns the headings of a body, in their order. Those behind the first megabyte are not read.
pub(crate) fn headings(body: &str) -> Vec<Heading> {
    let (mut headings, mut open): (Vec<Heading>, Vec<(usize, String)>) = (Vec::new(), Vec::new());
    let (mut depth, mut text) = (0_usize, String::new());
    for (event, range) in parser(body).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 && matches!(tag, Tag::Heading { .. }) {
                    text.clear();
                }
                depth += 1;
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                if let (0, TagEnd::Heading(level)) = (depth, end) {
                    let level = level as usize;
                    open.retain(|(outer, _)| *outer < level);
                    let text = one_line(&text);
                    open.push((level, text.clone()));
                    let path: Vec<&str> = open.iter().map(|(_, text)| text.as_str()).collect();
                    let path = path.join(SEPARATOR);
                    let (start, end) = lines_around(body, &range);
                    headings.push(Heading { level, path, text, section: end..body.len(), start });
                }
            }
            Event::Text(piece) | Event::Code(piece) => text.push_str(&piece),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
    }
    for index in 0..headings.len() {
        let (before, after) = headings.split_at_mut(index + 1);
        let Some(heading) = before.last_mut() else { continue };
        let next = after.iter().find(|next| next.level <= heading.level);
        heading.section.end = next.map_or(body.len(), |next| next.start);
    }
    headings
}

/// Returns the indexes of the headings with a name: a text or a heading path, plain or in markdown.
pub(super) fn with_name(headings: &[Heading], name: &str) -> Vec<usize> {
    let plain = one_line(&plain_text(name));
    let name = one_line(name);
    let has_name = |heading: &Heading| heading.has_name(&name) || (!plain.is_empty() && heading.has_name(&plain));
    headings.iter().enumerate().filter(|(_, heading)| has_name(heading)).map(|(index, _)| index).collect()
}

/// Returns the index of the heading to which the part of a link behind its `#` leads: by its text or path, else by its
/// anchor.
pub(crate) fn find_fragment(headings: &[Heading], fragment: &str) -> Option<usize> {
    let named = with_name(headings, &fragment.replace('#', SEPARATOR)).first().copied();
    named.or_else(|| anchors(headings).iter().position(|anchor| anchor == fragment))
}

/// Returns the anchors that web pages give headings: the text in lower case, its blanks as hyphens, without punctuation;
/// repeated ones are numbered ([GitHub](https://docs.github.com/en/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax#section-links)).
pub(crate) fn anchors(headings: &[Heading]) -> Vec<String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let anchor = |heading: &Heading| {
        let kept = heading.text.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        let anchor: String = kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect();
        let count = counts.entry(anchor.clone()).or_default();
        *count += 1;
        if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
    };
    headings.iter().map(anchor).collect()
}

/// Returns for each heading what leads to it behind the `#` of a link: its text if that can stand there, else its anchor;
/// `None` if both lead to another one.
pub(crate) fn fragments(headings: &[Heading], can_stand: impl Fn(&str) -> bool) -> Vec<Option<String>> {
    let anchors = anchors(headings);
    let (mut by_name, mut by_anchor): (HashMap<&str, usize>, HashMap<&str, usize>) = Default::default();
    for (index, (heading, anchor)) in headings.iter().zip(&anchors).enumerate() {
        by_name.entry(heading.path.rsplit(SEPARATOR).next().unwrap_or_default()).or_insert(index);
        by_anchor.entry(anchor).or_insert(index);
    }
    let named = |name: &str| {
        let plain = one_line(&plain_text(name));
        let found = [name, plain.as_str()].into_iter().filter(|name| !name.is_empty());
        found.filter_map(|name| by_name.get(name).copied()).min()
    };
    let fragment = |(index, (heading, anchor)): (usize, (&Heading, &String))| {
        // A text with a separator may be the path of another heading.
        let is_plain = !heading.text.is_empty() && !heading.text.contains(['#', '›']);
        if is_plain && can_stand(&heading.text) && named(&heading.text) == Some(index) {
            return Some(heading.text.clone());
        }
        let is_first = named(anchor).or_else(|| by_anchor.get(anchor.as_str()).copied()) == Some(index);
        (is_first && !anchor.is_empty()).then(|| anchor.clone())
    };
    headings.iter().zip(&anchors).enumerate().map(fragment).collect()
}

/// Returns the text of a heading that is written in markdown, with or without its `#`.
fn plain_text(name: &str) -> String {
    let name = name.trim();
    let line = if name.starts_with('#') { name.to_owned() } else { format!("# {name}") };
    let texts = parser(&line).filter_map(|event| match event {
        Event::Text(piece) | Event::Code(piece) => Some(piece.into_string()),
        Event::SoftBreak | Event::HardBreak => Some(" ".to_owned()),
        _ => None,
    });
    texts.collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the start of the first line and the end of the last line of a range.
fn lines_around(body: &str, range: &Range<usize>) -> (usize, usize) {
    let before = body.get(..range.start).unwrap_or_default();
    let start = before.rfind(['\n', '\r']).map_or(0, |line_end| line_end + 1);
    let text = body.get(range.clone()).unwrap_or_default().trim_end_matches([' ', '\t', '\r', '\n']);
    let last = range.start + text.len();
    let rest = body.get(last..).unwrap_or_default();
    let end = rest.find(['\n', '\r']).map_or(body.len(), |offset| {
        let is_crlf = rest.get(offset..).is_some_and(|end| end.starts_with("\r\n"));
        last + offset + if is_crlf { 2 } else { 1 }
    });
    (start, end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headings_are_read_outside_of_code_lists_and_quotes() {
        let body = "# A *b*\ntext\n\n```\n# no\n```\n- # no\n\n> # no\n\nTwo\nlines\n---\n<!--\n# no\n-->\n\n   ### C `d` ##\r\n\r\n# A b\rx";
        let found: Vec<_> =
            headings(body).into_iter().map(|heading| (heading.level, heading.path, heading.section.len())).collect();
        let end = body.len();
        let after = |text: &str| body.find(text).unwrap() + text.len();
        let start = |text: &str| body.find(text).unwrap();
        assert_eq!(
            found,
            [
                (1, "A b".to_owned(), start("# A b\r") - after("*b*\n")),
                (2, "A b › Two lines".to_owned(), start("# A b\r") - after("---\n")),
                (3, "A b › Two lines › C d".to_owned(), "\r\n".len()),
                (1, "A b".to_owned(), end - after("# A b\r")),
            ]
        );
    }

    #[test]
    fn the_text_of_a_heading_is_without_its_marks() {
        let body = "# A *b* #\n  ## C#\n\n####### no\n\nTwo\nlines\n---\n#\n# D ##\r\nlast `x`\n===";
        let texts: Vec<&str> =
            headings(body).iter().map(|heading| body.get(heading.text_range(body)).unwrap()).collect();
        assert_eq!(texts, ["A *b*", "C#", "Two\nlines", "", "D", "last `x`"]);
    }

    #[test]
    fn a_fragment_is_a_text_a_path_or_an_anchor() {
        let all = headings("# A b\n## Why, `x`?\n# B\n## Why, x?\n");
        assert_eq!(anchors(&all), ["a-b", "why-x", "b", "why-x-1"]);
        for (fragment, index) in [
            ("Why, x?", Some(1)),
            ("why-x", Some(1)),
            ("why-x-1", Some(3)),
            ("B#Why, x?", Some(3)),
            ("nothing", None),
            ("", None),
        ] {
            assert_eq!(find_fragment(&all, fragment), index, "{fragment}");
        }
    }

    #[test]
    fn a_fragment_of_a_heading_leads_to_it() {
        let all = headings("# A\n## A\n# a-1\n# B › A\n# `b`\n# b\n# C#\n# !\n# !\n# \\*x*\n# x\n");
        let found = fragments(&all, |text| text != "C#");
        let expected = ["A", "", "a-1", "b--a", "b", "b-1", "c", "!", "-1", "*x*", "x"];
        assert_eq!(found.iter().map(|found| found.as_deref().unwrap_or_default()).collect::<Vec<_>>(), expected);
    }

    proptest! {
        #[test]
        fn every_fragment_leads_to_its_heading(body in "(#{1,3} [aAx*`_&#!›\\\\ 1-]{0,6}\n){0,8}") {
            let all = headings(&body);
            for (index, fragment) in fragments(&all, |_| true).into_iter().enumerate() {
                if let Some(fragment) = fragment {
                    prop_assert_eq!(find_fragment(&all, &fragment), Some(index), "{:?}", fragment);
                }
            }
        }
    }

    #[test]
    fn a_heading_is_named_by_its_text_or_the_end_of_its_path() {
        let all = headings("# A\n## Why `x`\n# B\n## Why `x`\n### C# #\n");
        for (name, indexes) in [
            ("Why x", &[1, 3][..]),
            (" Why `x` ", &[1, 3]),
            ("## Why `x`", &[1, 3]),
            ("A › Why x", &[1]),
            ("B › Why `x`", &[3]),
            ("Why x › C#", &[4]),
            ("B › C#", &[]),
            ("hy x", &[]),
            ("why x", &[]),
            ("C#", &[4]),
            ("", &[]),
        ] {
            assert_eq!(with_name(&all, name), indexes, "{name:?}");
        }
    }
}
