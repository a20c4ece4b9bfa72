//! The inline styles of a body, such as headings, emphasis, code and links, by byte ranges of its source.

use pulldown_cmark::{Event, Tag};

use super::markdown::parser;

/// An inline style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InlineStyle {
    Heading,
    Strong,
    Emphasis,
    Struck,
    /// A code span or block of code.
    Code,
    /// A link or image.
    Link,
    Quote,
    /// The marker of a list item.
    Bullet,
}

const STYLES: usize = 8;

/// The set of styles of a piece of text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StyleSet(u8);

impl StyleSet {
    /// Tells whether the set contains a style.
    pub(crate) fn has(self, style: InlineStyle) -> bool {
        self.0 & (1 << style as u8) != 0
    }
}

/// Returns the byte offsets at which the styles of a body change, in order, with the styles from there on.
pub(crate) fn style_spans(body: &str) -> Vec<(usize, StyleSet)> {
    let mut boundaries: Vec<(usize, i32, InlineStyle)> = Vec::new();
    for (event, range) in parser(body).into_offset_iter() {
        let style = match &event {
            Event::Start(Tag::Item) | Event::TaskListMarker(_) => InlineStyle::Bullet,
            Event::Code(_) | Event::Start(Tag::CodeBlock(_)) => InlineStyle::Code,
            Event::Start(Tag::Heading { .. }) => InlineStyle::Heading,
            Event::Start(Tag::Strong) => InlineStyle::Strong,
            Event::Start(Tag::Emphasis) => InlineStyle::Emphasis,
            Event::Start(Tag::Strikethrough) => InlineStyle::Struck,
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => InlineStyle::Link,
            Event::Start(Tag::BlockQuote(_)) => InlineStyle::Quote,
            _ => continue,
        };
        let is_item = matches!(event, Event::Start(Tag::Item));
        let end = if is_item { range.start + marker_len(body.get(range.start..)) } else { range.end };
        boundaries.extend([(range.start, 1, style), (end, -1, style)]);
    }
    boundaries.sort_by_key(|(offset, ..)| *offset);
    // Counting the open styles makes nested ones cost no more than others.
    let mut open = [0; STYLES];
    let mut changes: Vec<(usize, StyleSet)> = Vec::new();
    let mut current = StyleSet::default();
    for (offset, step, style) in boundaries {
        let count: &mut i32 = &mut open[style as usize];
        *count += step;
        let bit = 1 << style as u8;
        current = StyleSet(if *count > 0 { current.0 | bit } else { current.0 & !bit });
        match changes.last_mut() {
            Some((last, styles)) if *last == offset => *styles = current,
            _ => changes.push((offset, current)),
        }
    }
    changes
}

/// Returns the length of a list marker: `-`, `*`, `+`, or a number with `.` or `)`.
fn marker_len(item: Option<&str>) -> usize {
    let digits = item.unwrap_or_default().bytes().take_while(u8::is_ascii_digit).count();
    digits + usize::from(item.is_some_and(|item| item.len() > digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces_with(body: &str, style: InlineStyle) -> Vec<&str> {
        let changes = style_spans(body);
        let ends = changes.iter().skip(1).map(|(offset, _)| *offset).chain([body.len()]);
        let pieces = changes.iter().zip(ends).filter(|((_, marks), _)| marks.has(style));
        pieces.map(|((start, _), end)| body.get(*start..end).unwrap()).collect()
    }

    #[test]
    fn what_stands_out_is_found_where_it_is_written() {
        let body =
            "# Head\n\nSome *very **strong*** `code` and [[link|x]].\n\n1. one\n- [ ] two\n\n```\nlet\n```\n> q\n";
        assert_eq!(pieces_with(body, InlineStyle::Heading), ["# Head\n"]);
        assert_eq!(pieces_with(body, InlineStyle::Emphasis).concat(), "*very **strong***");
        assert_eq!(pieces_with(body, InlineStyle::Strong), ["**strong**"]);
        assert_eq!(pieces_with(body, InlineStyle::Code), ["`code`", "```\nlet\n```"]);
        assert_eq!(pieces_with(body, InlineStyle::Link), ["[[link|x]]"]);
        assert_eq!(pieces_with(body, InlineStyle::Bullet), ["1.", "-", "[ ]"]);
        assert_eq!(pieces_with(body, InlineStyle::Quote), ["> q\n"]);
    }

    #[test]
    fn nested_marks_end_where_the_outermost_ends() {
        assert_eq!(pieces_with("*a *b* c* d", InlineStyle::Emphasis).concat(), "*a *b* c*");
        assert!(style_spans("").is_empty());
        assert!(style_spans("plain").is_empty());
    }
}
