//! What qipu reads out of a note's markdown: links, lists, and the events that titles and summaries are read from.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

/// How much of a body is parsed at first, and then, when only its beginning is wanted, in bytes.
const BEGINNINGS: [usize; 2] = [512, 4096];

/// How much of a body is parsed at all, in bytes: a parser's tree takes sixty times its text.
pub(crate) const MAX_PARSED: usize = 1024 * 1024;

/// A link in a body, as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum InlineLink {
    /// The target of `[[target]]` or `[[target|label]]`: an id, a title, either with `#heading`.
    Wiki(String),
    /// The path of a markdown link to a file, relative to the note that holds it.
    Path(String),
}

pub(super) fn parser(text: &str) -> Parser<'_> {
    let text = text.get(..text.floor_char_boundary(MAX_PARSED)).unwrap_or(text);
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_WIKILINKS;
    Parser::new_ext(text, options)
}

/// Returns the links to notes in the order of the text: not in code, not in comments.
pub(crate) fn links(body: &str) -> Vec<InlineLink> {
    parser(until_last_link(body)).filter_map(|event| of_event(&event)).collect()
}

/// Leaves away what no link can stand in or depend on: the paragraphs behind the last one that holds
/// the beginning of a link, unless addresses are defined somewhere. What stands behind a blank line
/// never changes what stands before it. Parsing is most of what links cost.
fn until_last_link(body: &str) -> &str {
    if body.contains("]:") {
        return body;
    }
    // By single characters: they are looked for much faster than pairs, from the end.
    let next_is = |place: usize, byte: u8| body.as_bytes().get(place + 1) == Some(&byte);
    let wiki = body.rmatch_indices('[').map(|(place, _)| place).find(|place| next_is(*place, b'['));
    let mut path = body.rmatch_indices(']').map(|(place, _)| place).take_while(|place| Some(*place) > wiki);
    let Some(last) = path.find(|place| next_is(*place, b'(')).or(wiki) else { return "" };
    let rest = body.get(last..).unwrap_or_default();
    let end = rest.find("\n\n").map_or(body.len(), |blank| last + blank + 1);
    body.get(..end).unwrap_or(body)
}

fn of_event(event: &Event<'_>) -> Option<InlineLink> {
    match event {
        Event::Start(Tag::Link { link_type, dest_url, .. }) => link(*link_type, dest_url),
        Event::Start(Tag::Image { link_type, dest_url, .. }) => embed(*link_type, dest_url),
        _ => None,
    }
}

/// Returns the ordered lists, each as the links to notes that its items begin with: the first link
/// of each item, not those of lists inside it.
pub(crate) fn ordered_lists(body: &str) -> Vec<Vec<InlineLink>> {
    if !body.contains("[[") && !body.contains("](") {
        return Vec::new();
    }
    let mut lists = Vec::new();
    // The open lists: their links where they are ordered, and whether the item at hand has its link.
    let mut open: Vec<(Option<Vec<InlineLink>>, bool)> = Vec::new();
    for event in parser(body) {
        match &event {
            Event::Start(Tag::List(number)) => open.push((number.map(|_| Vec::new()), true)),
            Event::End(TagEnd::List(_)) => lists.extend(open.pop().and_then(|(links, _)| links)),
            Event::Start(Tag::Item) => {
                open.iter_mut().next_back().into_iter().for_each(|(_, has_link)| *has_link = false)
            }
            _ => {
                if let (Some(link), Some((Some(links), has_link @ false))) = (of_event(&event), open.last_mut()) {
                    *has_link = true;
                    links.push(link);
                }
            }
        }
    }
    lists.retain(|links| links.len() > 1);
    lists
}

/// Returns where links and images on this machine lead, decoded and without `#heading`, and whether
/// each is written in double brackets.
pub(crate) fn files(body: &str) -> Vec<(String, bool)> {
    let file = |event: Event<'_>| {
        let Event::Start(Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. }) = event else {
            return None;
        };
        let is_wiki = matches!(link_type, LinkType::WikiLink { .. });
        let target = dest_url.trim_end_matches('\\').trim();
        let path = target.split_once('#').map_or(target, |(path, _)| path);
        let is_here = !path.is_empty() && !path.contains("://") && !path.starts_with('/');
        is_here.then(|| (if is_wiki { path.to_owned() } else { percent_decoded(path) }, is_wiki))
    };
    if !body.contains(['[', ']']) { Vec::new() } else { parser(body).filter_map(file).collect() }
}

/// Tells whether text below a body is text of its own: not inside a block of code or a comment that
/// never ends. A body too long to be parsed is taken for one that does.
pub(crate) fn ends(body: &str) -> bool {
    let whole = format!("{body}\n\n## end\n");
    let at = body.len() + 2;
    let is_heading = |(event, range): (Event<'_>, Range<usize>)| {
        matches!(event, Event::Start(Tag::Heading { .. })) && range.start == at
    };
    whole.len() > MAX_PARSED || parser(&whole).into_offset_iter().any(is_heading)
}

/// Returns a text with a space in the place of all code in it.
pub(crate) fn without_code(text: &str) -> Cow<'_, str> {
    if !text.contains(['`', '~']) {
        return Cow::Borrowed(text);
    }
    let (mut rest, mut at) = (String::with_capacity(text.len()), 0);
    for (event, range) in parser(text).into_offset_iter() {
        if matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_))) && range.start >= at {
            rest.push_str(text.get(at..range.start).unwrap_or_default());
            rest.push(' ');
            at = range.end;
        }
    }
    rest.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(rest)
}

/// Returns the names that link definitions give to addresses, in small letters, with these.
pub(crate) fn definitions(body: &str) -> Vec<(String, String)> {
    let parser = parser(body);
    let named = parser.reference_definitions().iter();
    named.map(|(name, found)| (name.to_lowercase(), found.dest.to_string())).collect()
}

fn link(link_type: LinkType, target: &str) -> Option<InlineLink> {
    // In a table the bar of `[[id\|label]]` is escaped.
    let target = target.trim_end_matches('\\').trim();
    match link_type {
        LinkType::WikiLink { .. } => (!target.is_empty()).then(|| InlineLink::Wiki(target.to_owned())),
        LinkType::Autolink | LinkType::Email => None,
        _ => note_path(target).map(InlineLink::Path),
    }
}

/// `![[note]]` shows a note inside another; `![[image.png]]` is no link to a note.
fn embed(link_type: LinkType, target: &str) -> Option<InlineLink> {
    let file = target.rsplit('/').next().unwrap_or(target);
    let is_attachment = file.contains('.') && !file.ends_with(".md");
    (matches!(link_type, LinkType::WikiLink { .. }) && !is_attachment).then(|| link(link_type, target)).flatten()
}

/// Returns the path of a link to a markdown file on this machine, decoded and without `#heading`.
fn note_path(url: &str) -> Option<String> {
    let path = url.split_once('#').map_or(url, |(path, _)| path);
    let elsewhere = path.contains(':') || path.starts_with('/') || !path.ends_with(".md");
    (!elsewhere).then(|| percent_decoded(path))
}

pub(super) fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let digits = (ahead.next().and_then(hex), ahead.next().and_then(hex));
        match (byte, digits) {
            (b'%', (Some(high), Some(low))) => {
                bytes.push(high * 16 + low);
                rest = ahead;
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

/// Looks for something in the beginning of a body, then in a longer one, and in the whole of it only when what was
/// found may go on, or nothing was found, or addresses are defined somewhere: what a bracket is may depend on them.
pub(super) fn from_beginning(body: &str, find: impl Fn(&mut TopLevelEvents<'_>) -> Option<String>) -> Option<String> {
    let has_definitions = body.contains("]:");
    for length in BEGINNINGS.into_iter().filter(|length| *length < body.len() && !has_definitions) {
        // Whole lines: the beginning of a line may be something else.
        let beginning = body.get(..body.floor_char_boundary(length)).unwrap_or_default();
        let beginning = beginning.get(..beginning.rfind('\n').map_or(0, |end| end + 1)).unwrap_or_default();
        let mut events = TopLevelEvents::new(beginning);
        let found = find(&mut events);
        if found.is_some() && events.next().is_some() {
            return found;
        }
    }
    find(&mut TopLevelEvents::new(body))
}

/// The events of a text that are not inside a list, quote, table or footnote.
pub(super) struct TopLevelEvents<'a> {
    events: Parser<'a>,
    depth: usize,
}

impl<'a> TopLevelEvents<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { events: parser(text), depth: 0 }
    }
}

impl<'a> Iterator for TopLevelEvents<'a> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        loop {
            let event = self.events.next()?;
            match &event {
                Event::Start(tag) if is_container(&tag.to_end()) => self.depth += 1,
                Event::End(tag) if is_container(tag) => self.depth -= 1,
                _ if self.depth == 0 => return Some(event),
                _ => {}
            }
        }
    }
}

fn is_container(tag: &TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::List(_) | TagEnd::BlockQuote(_) | TagEnd::Table | TagEnd::FootnoteDefinition | TagEnd::CodeBlock
    )
}

/// Collects the text of a heading that has just begun, on one line. What images show is left out, unless there is
/// nothing else.
pub(super) fn collect(events: &mut TopLevelEvents<'_>) -> Option<String> {
    let (mut text, mut shown, mut images) = (String::new(), String::new(), 0_usize);
    for event in events {
        match event {
            Event::Start(Tag::Image { .. }) => images += 1,
            Event::End(TagEnd::Image) => images = images.saturating_sub(1),
            Event::Text(piece) | Event::Code(piece) if images > 0 => shown.push_str(&piece),
            Event::Text(piece) | Event::Code(piece) => text.push_str(&piece),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            Event::End(TagEnd::Heading(_)) => break,
            _ => {}
        }
    }
    let text = [text.trim(), shown.trim()].into_iter().find(|text| !text.is_empty())?;
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::summary::{self, of_body};
    use super::super::title;
    use super::*;

    fn targets(body: &str) -> Vec<String> {
        links(body)
            .into_iter()
            .map(|link| match link {
                InlineLink::Wiki(target) => target,
                InlineLink::Path(path) => format!("path {path}"),
            })
            .collect()
    }

    #[test]
    fn finds_links_in_their_order() {
        let body = "See [[qp-1]], [[qp-2|two]], [[A title#part]].\n\n\
                    | a | b |\n|---|---|\n| [[qp-3\\|x]] | [d](../mocs/qp-4-x.md#h) |\n\n\
                    [e](<b c.md>) [f](b%20d.md) [ref]\n\n[ref]: e.md\n\n![[qp-5]] ![[pic.png]] ![x](y.md)\n";
        assert_eq!(
            targets(body),
            [
                "qp-1",
                "qp-2",
                "A title#part",
                "qp-3",
                "path ../mocs/qp-4-x.md",
                "path b c.md",
                "path b d.md",
                "path e.md",
                "qp-5"
            ]
        );
    }

    #[test]
    fn what_is_left_away_holds_no_links() {
        let pieces = [
            "[[a]]",
            "[b](b.md)",
            "[c]",
            "[c]: c.md",
            "`",
            "```\n",
            "~~~",
            "    ",
            "\t",
            "<!--",
            "-->",
            "<div>",
            "</div>",
            "<a ",
            "\\",
            "\n",
            "\n\n",
            "\n\n",
            "\n \n",
            "\r\n",
            "\r",
            "\r```\n",
            "\r<!--",
            "- ",
            "1. ",
            "> ",
            "# ",
            "---",
            "| ",
            "|-|-|\n",
            "x",
            "*",
            "![[d]]",
            "](",
            "[[",
            "]]",
            "[^1]",
            "[^1]: ",
            "\"",
            "(",
            ")",
            "<?",
            "?>",
            "<![CDATA[",
            "=== ",
            "<script>",
            "- [ ] ",
            "e.md)",
        ];
        let mut state = 1_u64;
        for _ in 0..30_000 {
            let mut text = String::new();
            for _ in 0..24 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
            }
            let all: Vec<_> = parser(&text).filter_map(|event| of_event(&event)).collect();
            assert_eq!(links(&text), all, "{text:?}");
        }
    }

    #[test]
    fn finds_none_in_code_comments_and_addresses() {
        let body = "`[[a]]` <!-- [[b]] -->\n\n    [[c]]\n\n```\n[[d]]\n```\n<https://x.org/e.md> \
                    [f](https://x.org/f.md) [g](/etc/g.md) [h](mailto:h.md) [[]]\n\n<!--\n[[i]]\n-->\n";
        assert_eq!(targets(body), Vec::<String>::new());
    }

    #[test]
    fn summary_is_the_property_the_section_the_first_prose_or_the_first_items() {
        let summary = |body: &str| of_body(body, "T").map(|summary| summary.text);
        assert_eq!(
            summary("# T\n\n- item\n\n> quote\n\nFirst *one*\nwith [[qp-1|a label]].\n\nSecond.").as_deref(),
            Some("First one with a label.")
        );
        assert_eq!(summary("Intro.\n\n## Summary\n\nThe `point` of it.\n\nMore.").as_deref(), Some("The point of it."));
        assert_eq!(summary("Intro.\n\nSummary\n---\n\nThe point.\n").as_deref(), Some("The point."));
        assert_eq!(summary("Intro.\n\n## Summary\n\n## Next\n\nOther.").as_deref(), Some("Intro."));
        assert_eq!(
            summary("title:: T\ndescription:: What it is.\n\n## Summary\n\nNo.").as_deref(),
            Some("What it is.")
        );
        assert_eq!(summary("- title:: T\n  description:: What it is.\n- No.").as_deref(), Some("What it is."));
        assert_eq!(summary("Text.\ndescription:: late").as_deref(), Some("Text. description:: late"));
        assert_eq!(summary("# A heading\n\n- and\n  - *items* ^x\n").as_deref(), Some("and · items"));
        assert_eq!(summary("- [A](#a)\n- [B](#b)\n\n- T\n- [x](x.md): y\n").as_deref(), Some("x: y"));
        assert_eq!(summary("## License\n\n- MIT\n\n## More\n\n- Item\n").as_deref(), Some("Item"));
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
    fn the_beginning_of_a_body_says_what_the_whole_says() {
        let pieces = [
            "Text that goes on",
            "\n",
            "\n",
            "\n\n",
            "#tag",
            "# Heading",
            "-x",
            "- item",
            "***b*** c",
            "a | b",
            "---|---",
            "===",
            "> quote",
            "```",
            "<div>",
            "[[a|b]]",
            "[a][b]",
            "1. one",
            "    code",
            "é",
            "\r",
            "\r```",
        ];
        let mut random = 7_u64;
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize
        };
        for _ in 0..3_000 {
            let before = "\n".repeat(next() % (BEGINNINGS[next() % 2] + 20));
            let rest: String = (0..40).map(|_| pieces[next() % pieces.len()]).collect();
            let body = format!("{before}{rest}{}", "\n\nMore text.".repeat(next() % 50));
            let whole =
                |find: &dyn Fn(&mut TopLevelEvents<'_>) -> Option<String>| find(&mut TopLevelEvents::new(&body));
            let heading = |events: &mut TopLevelEvents<'_>| title::first_heading(events);
            let paragraph = |events: &mut TopLevelEvents<'_>| summary::first_prose(events, "Heading");
            assert_eq!(from_beginning(&body, heading), whole(&heading), "{body:?}");
            assert_eq!(from_beginning(&body, paragraph), whole(&paragraph), "{body:?}");
        }
    }

    #[test]
    fn ordered_lists_are_the_first_links_of_their_items() {
        let body = "1. [[a]] and [[b]]\n2. text\n   - [[c]]\n3. see [d](d.md)\n\nText [[e]].\n\n- [[f]]\n- [[g]]\n\n1. [[h]]\n";
        let wiki = |name: &str| InlineLink::Wiki(name.to_owned());
        assert_eq!(ordered_lists(body), [vec![wiki("a"), InlineLink::Path("d.md".to_owned())]]);
        assert_eq!(ordered_lists("1. none\n2. none\n"), Vec::<Vec<InlineLink>>::new());
    }

    #[test]
    fn hostile_markdown_takes_no_time_to_speak_of() {
        for unit in [
            "[", "[[", "![[", "[a](", "*", "_a ", "> ", "- ", "`", "<", "&", "|a", "[^1", "<!--", "\\", "](x.md)",
            "[[a|",
        ] {
            let text = unit.repeat(60_000);
            let start = std::time::Instant::now();
            let _ = (
                links(&format!("[[x]]{text}")),
                of_body(&text, "T"),
                title::of_body(&format!("{text}\n===\n"), "notes/x.md"),
            );
            assert!(start.elapsed().as_secs() < 10, "{unit:?} took {:?}", start.elapsed());
        }
    }
}
