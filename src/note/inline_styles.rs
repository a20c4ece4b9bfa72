//! What stands out in a body: headings, emphasis, code, links. The text itself stays as it is written.

use pulldown_cmark::{Event, Tag};

use super::markdown::parser;

/// Something that stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InlineStyle {
    /// A heading.
    Heading,
    /// Strong emphasis.
    Strong,
    /// Emphasis.
    Emphasis,
    /// Struck out.
    Struck,
    /// Code, in a line or in a block.
    Code,
    /// A link or image.
    Link,
    /// A quote.
    Quote,
    /// The mark that an item of a list begins with.
    Bullet,
}

/// How many marks there are.
const KINDS: usize = 8;

/// The marks that a piece of text has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StyleSet(u8);

impl StyleSet {
    /// Tells whether a mark is among them.
    pub fn has(self, mark: InlineStyle) -> bool {
        self.0 & (1 << mark as u8) != 0
    }

    /// Adds a mark.
    #[must_use]
    pub fn with(self, mark: InlineStyle) -> Self {
        Self(self.0 | 1 << mark as u8)
    }
}

/// Returns where the marks of a body change, in bytes, and what they are from there on.
pub(super) fn marks(body: &str) -> Vec<(usize, StyleSet)> {
    let mut turns: Vec<(usize, i32, InlineStyle)> = Vec::new();
    for (event, range) in parser(body).into_offset_iter() {
        let (mark, range) = match event {
            Event::Start(Tag::Item) => {
                (InlineStyle::Bullet, range.start..range.start + bullet(body.get(range.start..)))
            }
            Event::TaskListMarker(_) => (InlineStyle::Bullet, range),
            Event::Code(_) => (InlineStyle::Code, range),
            Event::Start(tag) => match of_tag(&tag) {
                Some(mark) => (mark, range),
                None => continue,
            },
            _ => continue,
        };
        turns.push((range.start, 1, mark));
        turns.push((range.end, -1, mark));
    }
    turns.sort_by_key(|(at, ..)| *at);
    // Counted, since marks nest: a text of many nested ones costs no more than another.
    let mut open = [0; KINDS];
    let mut changes: Vec<(usize, StyleSet)> = Vec::new();
    let mut now = StyleSet::default();
    for (at, step, mark) in turns {
        let count: &mut i32 = &mut open[mark as usize];
        *count += step;
        let bit = 1 << mark as u8;
        now = StyleSet(if *count > 0 { now.0 | bit } else { now.0 & !bit });
        match changes.last_mut() {
            Some((last, marks)) if *last == at => *marks = now,
            _ => changes.push((at, now)),
        }
    }
    changes
}

fn of_tag(tag: &Tag<'_>) -> Option<InlineStyle> {
    match tag {
        Tag::Heading { .. } => Some(InlineStyle::Heading),
        Tag::Strong => Some(InlineStyle::Strong),
        Tag::Emphasis => Some(InlineStyle::Emphasis),
        Tag::Strikethrough => Some(InlineStyle::Struck),
        Tag::CodeBlock(_) => Some(InlineStyle::Code),
        Tag::Link { .. } | Tag::Image { .. } => Some(InlineStyle::Link),
        Tag::BlockQuote(_) => Some(InlineStyle::Quote),
        _ => None,
    }
}

/// Returns the length of what an item begins with: `-`, `*`, `+`, or a number with its `.` or `)`.
fn bullet(item: Option<&str>) -> usize {
    let digits = item.unwrap_or_default().bytes().take_while(u8::is_ascii_digit).count();
    digits + usize::from(item.is_some_and(|item| item.len() > digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces of a text that have a mark.
    fn marked(body: &str, mark: InlineStyle) -> Vec<&str> {
        let changes = marks(body);
        let ends = changes.iter().skip(1).map(|(at, _)| *at).chain([body.len()]);
        let pieces = changes.iter().zip(ends).filter(|((_, marks), _)| marks.has(mark));
        pieces.map(|((start, _), end)| body.get(*start..end).unwrap()).collect()
    }

    #[test]
    fn what_stands_out_is_found_where_it_is_written() {
        let body =
            "# Head\n\nSome *very **strong*** `code` and [[link|x]].\n\n1. one\n- [ ] two\n\n```\nlet\n```\n> q\n";
        assert_eq!(marked(body, InlineStyle::Heading), ["# Head\n"]);
        assert_eq!(marked(body, InlineStyle::Emphasis).concat(), "*very **strong***");
        assert_eq!(marked(body, InlineStyle::Strong), ["**strong**"]);
        assert_eq!(marked(body, InlineStyle::Code), ["`code`", "```\nlet\n```"]);
        assert_eq!(marked(body, InlineStyle::Link), ["[[link|x]]"]);
        assert_eq!(marked(body, InlineStyle::Bullet), ["1.", "-", "[ ]"]);
        assert_eq!(marked(body, InlineStyle::Quote), ["> q\n"]);
    }

    #[test]
    fn nested_marks_end_where_the_outermost_ends() {
        assert_eq!(marked("*a *b* c* d", InlineStyle::Emphasis).concat(), "*a *b* c*");
        assert!(marks("").is_empty());
        assert!(marks("plain").is_empty());
    }
}
