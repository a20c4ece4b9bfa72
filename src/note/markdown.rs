//! The markdown parser and the events from which titles and summaries are read.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The lengths of a body that are parsed first if only its beginning is needed, in bytes.
const BEGINNINGS: [usize; 2] = [512, 4096];

/// The most bytes of a body that are parsed: the parser's tree takes sixty times its text.
pub(crate) const MAX_PARSED: usize = 1024 * 1024;

/// The rest of the events of a text.
pub(super) type Events<'e, 'a> = &'e mut dyn Iterator<Item = Event<'a>>;

pub(crate) fn parser(text: &str) -> Parser<'_> {
    let text = text.get(..text.floor_char_boundary(MAX_PARSED)).unwrap_or(text);
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_WIKILINKS;
    Parser::new_ext(text, options)
}

/// Tells whether no code or comment is unclosed at the end of a body; one longer than [`MAX_PARSED`] counts as closed.
pub(crate) fn is_closed(body: &str) -> bool {
    let whole = format!("{body}\n\n## end\n");
    let offset = body.len() + 2;
    let is_heading = |(event, range): (Event<'_>, Range<usize>)| {
        matches!(event, Event::Start(Tag::Heading { .. })) && range.start == offset
    };
    whole.len() > MAX_PARSED || parser(&whole).into_offset_iter().any(is_heading)
}

/// Returns a text with a space in the position of each span or block of code.
pub(crate) fn without_code(text: &str) -> Cow<'_, str> {
    if !text.contains(['`', '~']) {
        return Cow::Borrowed(text);
    }
    let events = parser(text).into_offset_iter();
    Cow::Owned(without(text, events.filter(|(event, _)| is_code(event)).map(|(_, range)| range)))
}

/// Returns a text with a space in the position of each span or block of code, and of each HTML comment.
pub(crate) fn without_code_and_comments(text: &str) -> String {
    let ranges = parser(text).into_offset_iter().flat_map(|(event, range)| match event {
        Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => comments(text, range),
        event if is_code(&event) => vec![range],
        _ => Vec::new(),
    });
    without(text, ranges)
}

fn is_code(event: &Event<'_>) -> bool {
    matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_)))
}

/// Returns the ranges of the comments in a range of HTML. One that is not closed ends with the HTML.
fn comments(text: &str, html: Range<usize>) -> Vec<Range<usize>> {
    let (mut ranges, mut offset) = (Vec::new(), html.start);
    while let Some(start) = text.get(offset..html.end).and_then(|rest| rest.find("<!--")).map(|at| offset + at) {
        let length = text.get(start..html.end).and_then(|rest| rest.find("-->"));
        offset = length.map_or(html.end, |length| start + length + "-->".len());
        ranges.push(start..offset);
    }
    ranges
}

/// Returns a text with a space in the position of each range. Ranges that begin before the end of an earlier one are
/// ignored.
fn without(text: &str, ranges: impl Iterator<Item = Range<usize>>) -> String {
    let (mut rest, mut offset) = (String::with_capacity(text.len()), 0);
    for range in ranges {
        if range.start >= offset {
            rest.push_str(text.get(offset..range.start).unwrap_or_default());
            rest.push(' ');
            offset = range.end;
        }
    }
    rest.push_str(text.get(offset..).unwrap_or_default());
    rest
}

/// Finds a text of one paragraph in beginnings of a body, and in the whole body only if nothing is found, if the found text
/// may continue, or if the body defines link labels, which change the meaning of brackets.
pub(super) fn find_from_beginning(body: &str, find: impl Fn(Events<'_, '_>) -> Option<String>) -> Option<String> {
    let has_definitions = body.contains("]:");
    let first = first_paragraph(body);
    let longer = BEGINNINGS.into_iter().filter(|length| first.is_none_or(|first| *length > first));
    let lengths = first.into_iter().chain(longer);
    for length in lengths.filter(|length| *length < body.len() && !has_definitions) {
        // Only whole lines, since the beginning of a line may have another meaning.
        let beginning = body.get(..body.floor_char_boundary(length)).unwrap_or_default();
        let beginning = beginning.get(..beginning.rfind('\n').map_or(0, |end| end + 1)).unwrap_or_default();
        let mut events = top_level_events(beginning);
        let found = find(&mut events);
        // Text after a blank line never changes the meaning of the text before.
        if found.is_some() && (beginning.ends_with("\n\n") || events.next().is_some()) {
            return found;
        }
    }
    find(&mut top_level_events(body))
}

/// Returns the length of the first paragraph, and of the one behind it if the first is a heading, with the blank line behind
/// them, if it is short: often no more is needed.
fn first_paragraph(body: &str) -> Option<usize> {
    let beginning = body.get(..body.floor_char_boundary(BEGINNINGS[1])).unwrap_or_default();
    let text = beginning.trim_start_matches('\n');
    let start = beginning.len() - text.len();
    let is_blank = |end: &usize| text.as_bytes().get(*end) == Some(&b'\n');
    let mut paragraph_ends = text.match_indices('\n').map(|(at, _)| at + 1).filter(is_blank);
    Some(start + paragraph_ends.nth(usize::from(text.starts_with('#')))? + 1)
}

/// Iterates the events of a text outside of lists, quotes, tables, footnotes and blocks of code.
pub(super) fn top_level_events(text: &str) -> impl Iterator<Item = Event<'_>> {
    let mut depth = 0_usize;
    parser(text).filter(move |event| {
        match event {
            Event::Start(tag) if is_container(&tag.to_end()) => depth += 1,
            Event::End(tag) if is_container(tag) => depth -= 1,
            _ => return depth == 0,
        }
        false
    })
}

/// Tells whether an element has a content that is no top-level text.
pub(super) fn is_container(tag: &TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::List(_) | TagEnd::BlockQuote(_) | TagEnd::Table | TagEnd::FootnoteDefinition | TagEnd::CodeBlock
    )
}

/// Returns the text of a heading on one line, from the events after its start. The text of images is used only if there
/// is no other.
pub(super) fn heading_text(events: Events<'_, '_>) -> Option<String> {
    let (mut text, mut image_text, mut images) = (String::new(), String::new(), 0_usize);
    for event in events {
        match event {
            Event::Start(Tag::Image { .. }) => images += 1,
            Event::End(TagEnd::Image) => images = images.saturating_sub(1),
            Event::Text(piece) | Event::Code(piece) if images > 0 => image_text.push_str(&piece),
            Event::Text(piece) | Event::Code(piece) => text.push_str(&piece),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            Event::End(TagEnd::Heading(_)) => break,
            _ => {}
        }
    }
    let text = [text.trim(), image_text.trim()].into_iter().find(|text| !text.is_empty())?;
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::blocks::blocks;
    use super::super::inline_links::{InlineLink, links};
    use super::super::summary::{self, of_body};
    use super::super::title;
    use super::*;
    use crate::random::Random;

    #[test]
    fn summary_is_the_property_the_section_the_first_prose_or_the_first_items() {
        let summary = |body: &str| of_body(body, "T").map(|summary| summary.text);
        for (body, text) in [
            ("# T\n\n- item\n\n> quote\n\nFirst *one*\nwith [[qp-1|a label]].\n\nSecond.", "First one with a label."),
            ("Intro.\n\n## Summary\n\nThe `point` of it.\n\nMore.", "The point of it."),
            ("Intro.\n\nSummary\n---\n\nThe point.\n", "The point."),
            ("Intro.\n\n## Summary\n\n## Next\n\nOther.", "Intro."),
            ("Intro.\n\n## Summary\n\n- One *thing*.\n- Two.\n\nMore.\n\n- Three", "One thing. · Two."),
            ("Intro.\n\n## Summary\n\n- [ ]\n\n> - quoted\n\nThe [point][1].\n\n- Item\n\n[1]: x.md", "The point."),
            ("Intro.\n\n- ## Summary\n  - One\n- Two", "Intro."),
            ("title:: T\ndescription:: What it is.\n\n## Summary\n\nNo.", "What it is."),
            ("- title:: T\n  description:: What it is.\n- No.", "What it is."),
            ("Text.\ndescription:: late", "Text. description:: late"),
            ("# A heading\n\n- and\n  - *items* ^x\n", "and · items"),
            ("- [A](#a)\n- [B](#b)\n\n- T\n- [x](x.md): y\n", "x: y"),
            ("## License\n\n- MIT\n\n## More\n\n- Item\n", "Item"),
        ] {
            assert_eq!(summary(body).as_deref(), Some(text), "{body:?}");
        }
        assert_eq!(summary("# Only a heading\n\n| a |\n|---|\n\n```\ncode\n```\n"), None);
        assert_eq!(summary(""), None);
        let long = "word ".repeat(10_000);
        assert_eq!(summary(&long).as_deref(), Some(long.trim()));
        let late = format!("{}\n\nFirst.\n\nSecond.", "- item\n".repeat(5_000));
        assert_eq!(summary(&late).as_deref(), Some("First."));
    }

    #[test]
    fn code_is_taken_out_of_a_text() {
        assert_eq!(without_code("a `code word` b ``x ` y`` ` c"), "a   b   ` c");
        assert_eq!(without_code("item\n\n```rust\nlet a;\n```\nmore"), "item\n\n \nmore");
        assert_eq!(without_code("~~~\nall\n~~~\n").trim(), "");
        assert_eq!(without_code("no code"), "no code");
    }

    #[test]
    fn comments_are_taken_out_of_a_text_with_its_code() {
        for (text, rest) in [
            ("a <!-- b --> c `<!--` d", "a c d"),
            ("<!-- a --> b <!-- c --> d\n", "b d"),
            ("<div>\na <!-- b -->\n</div>\n", "<div> a </div>"),
            ("<!-- a\n\nb -->\n\nc\n", "c"),
            ("a\n\n<!-- b\n\nc\n", "a"),
            ("a\n\n    b\n\nc", "a c"),
            ("```\n<!--\n```\nb\n", "b"),
            ("a <!-- b", "a <!-- b"),
        ] {
            let words = without_code_and_comments(text).split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(words, rest, "{text:?}");
        }
    }

    #[test]
    fn the_beginning_of_a_body_says_what_the_whole_says() {
        let pieces = [
            "Text that goes on", "\n", "\n", "\n\n", "#tag", "# Heading", "-x", "- item", "***b*** c", "a | b",
            "---|---", "===", "> quote", "```", "<div>", "[[a|b]]", "[a][b]", "1. one", "    code", "é", "\r", "\r```",
        ];
        let mut random = Random::new(7);
        for _ in 0..3_000 {
            let longest = BEGINNINGS[random.below(2)] + 20;
            let before = "\n".repeat(random.below(longest));
            let rest: String = (0..40).map(|_| random.choice(&pieces)).collect();
            let body = format!("{before}{rest}{}", "\n\nMore text.".repeat(random.below(50)));
            let whole = |find: &dyn Fn(Events<'_, '_>) -> Option<String>| find(&mut top_level_events(&body));
            let paragraph = |events: Events<'_, '_>| summary::first_prose(events, "Heading");
            assert_eq!(find_from_beginning(&body, title::first_heading), whole(&title::first_heading), "{body:?}");
            assert_eq!(find_from_beginning(&body, paragraph), whole(&paragraph), "{body:?}");
        }
    }

    #[test]
    fn long_hostile_markdown_is_read() {
        for unit in [
            "[", "[[", "![[", "[a](", "*", "_a ", "> ", "- ", "`", "<", "&", "|a", "[^1", "<!--", "\\", "](x.md)",
            "[[a|", "> - ", "# a\n- b\n", "  - x\n", "* ^a\n", "id:: a\n\n", "- a\n - b\n  - c\n", "^", "1. ",
        ] {
            let text = unit.repeat(60_000);
            let blocks = blocks(&text);
            assert!(blocks.iter().all(|block| text.get(block.range.clone()).is_some()), "{unit}");
            assert!(blocks.is_sorted_by_key(|block| block.range.start), "{unit}");
            assert_eq!(links(&format!("[[x]]\n\n{text}")).first(), Some(&InlineLink::Wiki("x".to_owned())), "{unit}");
            let title = title::of_body(&format!("{text}\n===\n"), "notes/x.md");
            assert!(title.is_none_or(|title| title.len() <= text.len()), "{unit}");
            assert!(of_body(&text, "T").is_none_or(|summary| summary.text.len() <= text.len()), "{unit}");
        }
    }
}
