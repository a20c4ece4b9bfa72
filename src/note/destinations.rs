//! The destinations of markdown links: their byte ranges, and their replacement.
//!
//! The parser borrows a destination from the text unless it contains escapes or character references; the byte range of
//! a borrowed one is that of the slice. The others are scanned by the grammar of CommonMark 0.31, section 6.3 (link
//! destination), from the end of the link text. A changed text is parsed again: its events must be the same up to the
//! changed targets.

use std::cmp::Reverse;
use std::ops::Range;

use pulldown_cmark::{CowStr, Event, LinkType, RefDefs, Tag, TagEnd};

use super::inline_links::InlineLink;
use super::markdown::{MAX_PARSED, parser};
use super::percent::{percent_decoded, percent_encoded};
use super::splice::with_spans;

/// A link, an image, an embed or a link definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Destination {
    /// The bytes of the whole link; of a reference, without its definition.
    pub(crate) range: Range<usize>,
    pub(crate) link: InlineLink,
    /// The decoded text after the `#` of a path.
    fragment: Option<String>,
    /// The bytes of the target; of a path, without the fragment. `None` if they are unknown.
    span: Option<Range<usize>>,
}

impl Destination {
    /// Parses a destination; `None` if it has neither target nor fragment, or is an autolink.
    fn read(
        text: &str,
        link_type: LinkType,
        dest: &CowStr<'_>,
        range: Range<usize>,
        scanned: impl FnOnce() -> Option<Range<usize>>,
    ) -> Option<Self> {
        let is_wiki = matches!(link_type, LinkType::WikiLink { .. });
        // In a table, the bar of `[[id\|label]]` is escaped.
        let source = if is_wiki { dest.trim_end_matches('\\').trim() } else { dest.trim() };
        let (target, fragment) = match source.split_once('#') {
            Some((path, fragment)) if !is_wiki => (path, Some(fragment.to_owned())),
            _ => (source, None),
        };
        let is_empty = target.is_empty() && fragment.is_none();
        if is_empty || matches!(link_type, LinkType::Autolink | LinkType::Email) {
            return None;
        }
        let link =
            if is_wiki { InlineLink::Wiki(target.to_owned()) } else { InlineLink::Path(percent_decoded(target)) };
        let borrowed = matches!(dest, CowStr::Borrowed(_)).then(|| span_of(text, target)).flatten();
        let span = borrowed.or_else(|| without_fragment(text, scanned()?));
        Some(Self { range, link, fragment, span })
    }

    /// Returns the bytes of the target; of a path, without the fragment. `None` if they are unknown.
    pub(crate) fn span(&self) -> Option<Range<usize>> {
        self.span.clone()
    }

    /// Returns the part behind the first `#`.
    pub(crate) fn fragment(&self) -> Option<&str> {
        match &self.link {
            InlineLink::Wiki(target) => target.split_once('#').map(|(_, fragment)| fragment),
            InlineLink::Path(_) => self.fragment.as_deref(),
        }
    }

    /// Tells whether the target is a note, or a file with a path.
    pub(crate) fn is_local(&self) -> bool {
        match &self.link {
            InlineLink::Wiki(_) => true,
            InlineLink::Path(path) => !path.contains(':') && !path.starts_with("//"),
        }
    }

    /// Returns the replacement that makes the link lead to `new`; `None` if the bytes of the target are unknown.
    pub(crate) fn replacement(&self, text: &str, new: &str) -> Option<(Range<usize>, String)> {
        let span = self.span.clone()?;
        let new = match &self.link {
            InlineLink::Wiki(_) => new.to_owned(),
            InlineLink::Path(old) => encoded_path(text.get(span.clone())?, old, new),
        };
        Some((span, new))
    }
}

/// Returns the byte range of a destination with escapes, without its fragment.
fn without_fragment(text: &str, span: Range<usize>) -> Option<Range<usize>> {
    let source = text.get(span.clone())?;
    let is_escaped = |offset: &usize| source.get(..*offset).is_some_and(|before| before.ends_with(['&', '\\']));
    let end = source.match_indices('#').map(|(offset, _)| offset).find(|offset| !is_escaped(offset));
    Some(span.start..span.start + end.unwrap_or(source.len()))
}

fn span_of(text: &str, part: &str) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let span = start..start.checked_add(part.len())?;
    (text.get(span.clone()) == Some(part)).then_some(span)
}

/// Returns the destinations in the order of the text, without those in code, HTML and comments, and without
/// [`own_sections`].
pub(crate) fn destinations(body: &str) -> Vec<Destination> {
    all_destinations(body).into_iter().filter(|found| !found.link.text().is_empty()).collect()
}

/// Returns the links like `[text](#anchor)`, which lead to a heading of the same text.
pub(crate) fn own_sections(body: &str) -> Vec<Destination> {
    if !body.contains('#') {
        return Vec::new();
    }
    all_destinations(body).into_iter().filter(|found| found.link.text().is_empty()).collect()
}

fn all_destinations(body: &str) -> Vec<Destination> {
    if !body.contains('[') {
        return Vec::new();
    }
    let mut events = parser(body).into_offset_iter();
    let mut destinations = definitions(body, events.reference_definitions());
    // The open links: type, destination, label, and the end of the text so far.
    let mut open: Vec<(LinkType, CowStr<'_>, CowStr<'_>, usize)> = Vec::new();
    while let Some((event, range)) = events.next() {
        if let Event::Start(Tag::Link { link_type, dest_url, id, .. } | Tag::Image { link_type, dest_url, id, .. }) =
            event
        {
            open.push((link_type, dest_url, id, range.start + 1));
            continue;
        }
        if let Event::End(TagEnd::Link | TagEnd::Image) = event
            && let Some((link_type, dest, label, text_end)) = open.pop()
        {
            let scanned = || match link_type {
                LinkType::Inline => scanned_after(body, text_end..range.end, "](", &dest),
                _ => scanned_definition(body, events.reference_definitions().get(&label)?.span.clone(), &dest),
            };
            destinations.extend(Destination::read(body, link_type, &dest, range.clone(), scanned));
        }
        if let Some((.., text_end)) = open.last_mut() {
            *text_end = range.end;
        }
    }
    destinations.sort_by_key(|destination| (destination.range.start, Reverse(destination.range.end)));
    destinations
}

fn definitions(body: &str, definitions: &RefDefs<'_>) -> Vec<Destination> {
    let destinations = definitions.iter().filter_map(|(_, definition)| {
        let span = definition.span.clone();
        let scanned = || scanned_definition(body, span.clone(), &definition.dest);
        Destination::read(body, LinkType::Reference, &definition.dest, span.clone(), scanned)
    });
    destinations.collect()
}

/// Scans the destination of a definition `[label]: destination`.
fn scanned_definition(body: &str, span: Range<usize>, dest: &str) -> Option<Range<usize>> {
    let mut is_escaped = false;
    let is_end = |c: char| {
        let is_end = c == ']' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    };
    let label_end = span.start + body.get(span.clone())?.find(is_end)?;
    scanned_after(body, label_end..span.end, "]:", dest)
}

/// Scans the destination after the first `opening` in a range; `None` if the parser reads it differently from `dest`.
fn scanned_after(body: &str, within: Range<usize>, opening: &str, dest: &str) -> Option<Range<usize>> {
    let mut offset = within.start + body.get(within.clone())?.find(opening)? + opening.len();
    // After a line ending, the markers of block quotes.
    let mut is_after_line_end = false;
    let is_space = |c: char| {
        is_after_line_end |= matches!(c, '\n' | '\r');
        c.is_ascii_whitespace() || (is_after_line_end && c == '>')
    };
    let rest = body.get(offset..within.end)?;
    offset += rest.len() - rest.trim_start_matches(is_space).len();
    let rest = body.get(offset..within.end)?;
    let (start, len) = match rest.strip_prefix('<') {
        Some(inside) => (offset + 1, scanned_len(inside, |c, _| c == '>')),
        None => (offset, scanned_len(rest, |c, depth| c.is_ascii_control() || c == ' ' || (c == ')' && depth == 0))),
    };
    let source = body.get(start..start + len)?;
    let probe = if start > offset { format!("[](<{source}>)") } else { format!("[]({source})") };
    let is_same =
        parser(&probe).any(|event| matches!(event, Event::Start(Tag::Link { dest_url, .. }) if *dest_url == *dest));
    is_same.then_some(start..start + len)
}

/// Returns the length of a text up to an end that is not escaped; `depth` is the number of open parentheses.
fn scanned_len(text: &str, is_end: impl Fn(char, usize) -> bool) -> usize {
    let (mut depth, mut is_escaped) = (0_usize, false);
    for (offset, c) in text.char_indices() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        if is_end(c, depth) {
            return offset;
        }
        match c {
            '\\' => is_escaped = true,
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
}

/// Replaces the targets of links for which `new_target` returns one; no other byte changes. Relative paths are passed
/// and returned decoded, without `#heading`, which stays. An error names the link that can't be changed by itself.
pub(crate) fn relinked(body: &str, new_target: impl Fn(&InlineLink) -> Option<String>) -> Result<String, String> {
    let mut spans = Vec::new();
    for destination in destinations(body).into_iter().filter(Destination::is_local) {
        let Some(new) = new_target(&destination.link).filter(|new| new != destination.link.text()) else { continue };
        let replacement = destination.replacement(body, &new);
        spans.push(replacement.ok_or_else(|| format!("can't locate the link that would become `{new}`"))?);
    }
    if spans.is_empty() {
        return Ok(body.to_owned());
    }
    let text = with_spans(body, spans)?;
    // A longer text is parsed only in part, and the parts of the two texts end at different positions.
    let is_whole = body.len().max(text.len()) <= MAX_PARSED;
    let expected = |link: InlineLink| new_target(&link).map(|new| link.with_text(new)).unwrap_or(link);
    if is_whole && events_with_targets(body, expected) != events_with_targets(&text, |link| link) {
        return Err("other links would change how its text is parsed".to_owned());
    }
    Ok(text)
}

/// Returns the events of a document, with the targets of links mapped by `target`.
pub(super) fn events_with_targets(body: &str, target: impl Fn(InlineLink) -> InlineLink) -> Vec<Event<'static>> {
    let mut is_bare_wiki = false;
    let event = |mut event: Event<'_>| {
        if let Event::Start(Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. }) = &mut event
        {
            is_bare_wiki = *link_type == LinkType::WikiLink { has_pothole: false };
            *dest_url = mapped_destination(*link_type, dest_url, &target);
        } else if matches!(event, Event::Text(_)) && std::mem::take(&mut is_bare_wiki) {
            // A link in double brackets without a label shows its target.
            return Event::Text("".into());
        }
        event.into_static()
    };
    parser(body).map(event).collect()
}

fn mapped_destination(
    link_type: LinkType,
    dest: &CowStr<'_>,
    target: &impl Fn(InlineLink) -> InlineLink,
) -> CowStr<'static> {
    let read = Destination::read("", link_type, dest, 0..0, || None).filter(Destination::is_local);
    let Some(read) = read else { return dest.clone().into_static() };
    let fragment = read.fragment.map(|fragment| format!("#{fragment}")).unwrap_or_default();
    format!("{}{fragment}", target(read.link).text()).into()
}

/// Encodes a new path; an unchanged folder keeps its spelling.
fn encoded_path(source: &str, old: &str, new: &str) -> String {
    if let (Some((old_source, _)), Some((folder, _)), Some((new_folder, file))) =
        (source.rsplit_once('/'), old.rsplit_once('/'), new.rsplit_once('/'))
        && folder == new_folder
        && percent_decoded(old_source) == folder
    {
        return format!("{old_source}/{}", percent_encoded(file));
    }
    percent_encoded(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Pieces that form or break links in any order. A target has one spelling.
    const PIECES: [&str; 63] = [
        "[a](a.md)", "[a](<a.md> 'a.md')", "[a](a.md#a.md)", "![i](1.png \"1.png\")", "![i](11.png)", "[m]( a.md )",
        "[m](\na.md\n\"t\")", "[![i](1.png)](a.md)", "[r]", "[r][s]", "![x][r]", "[x][t]", "[u]", "\n[r]: a.md\n",
        "\n[t]: 1.png#1.png\n", "\n> [r]:\n> a.md\n", "[e](d\\_e.md)", "[e](<f&amp;g.md>#x)", "[[Note A]]",
        "[[Note A|a.md]]", "![[Note A]]", "[[Note A#h]]", "[[Note A\\|x]]", "\n[^1]: [f](a.md)\n", "[^1]",
        "`[a](a.md)`", "`", "``", "\n```\n", "\n~~~\n", "    ", "\t", "<!--", "-->", "<a href=\"a.md\">", "\n<div>\n",
        "</div>\n", "<?", "\n", "\n", "\n\n", "\r\n", "\r\n\r\n", "\r", "> ", "- ", "1. ", "| ", "|-|-|\n", "# ",
        "\n===\n", "é", "日本", "\\", "a.md", "1.png", "https://x.org/a.md", "](", "[", "]", "(", ")", "**",
    ];

    const LONG_PIECES: [&str; 5] = [
        "[n [o](a.md) p](11.png)",
        "\n[s]: <11.png> \"a.md\"\n",
        "\n[u]: d\\_e.md 'd\\_e.md'\n",
        "[e](<f&amp;g.md#x> \"f&amp;g.md\")",
        "[h](https://x.org/a.md)",
    ];

    /// Other targets, each a text that occurs nowhere else. Without its space, `[a]([[Note A]])` would be a link.
    fn other(link: &InlineLink) -> Option<String> {
        let new = match link {
            InlineLink::Wiki(name) => return name.strip_prefix("Note A").map(|rest| format!("Q W{rest}")),
            InlineLink::Path(path) => match path.as_str() {
                "a.md" => "QA.md",
                "1.png" => "QB/longer.png",
                "11.png" => "Q",
                "d_e.md" => "QD.md",
                "f&g.md" => "QF.md",
                _ => return None,
            },
        };
        Some(new.to_owned())
    }

    #[test]
    fn other_targets_change_their_bytes_and_no_others() {
        let (mut random, pieces, mut changed) = (Random::new(1), [&PIECES[..], &LONG_PIECES].concat(), 0);
        for _ in 0..10_000 {
            let body: String = (0..random.between(1, 30)).map(|_| random.choice(&pieces)).collect();
            let mut spans: Vec<Range<usize>> = destinations(&body).into_iter().filter_map(|found| found.span).collect();
            spans.sort_by_key(|span| (span.start, span.end));
            spans.dedup();
            assert!(spans.windows(2).all(|two| two[0].end <= two[1].start), "{body:?}");
            let new = relinked(&body, other).unwrap_or_else(|error| panic!("{error}: {body:?}"));
            let back = [
                ("QF.md", "f&amp;g.md"),
                ("QD.md", "d\\_e.md"),
                ("QB/longer.png", "1.png"),
                ("QA.md", "a.md"),
                ("Q W", "Note A"),
                ("Q", "11.png"),
            ];
            let back = back.iter().fold(new.clone(), |text, (new, old)| text.replace(new, old));
            assert_eq!(back, body, "{new:?}");
            let targets = |body: &str| destinations(body).into_iter().map(|found| found.link).collect::<Vec<_>>();
            let expected = targets(&body).into_iter();
            let expected = expected.map(|link| other(&link).map(|new| link.with_text(new)).unwrap_or(link));
            assert!(expected.eq(targets(&new)), "{body:?} {new:?}");
            changed += usize::from(new != body);
        }
        assert!(changed > 6_000, "only {changed} documents had links");
    }

    #[test]
    fn targets_are_found_however_they_are_written() {
        let to = |new: &'static str| move |_: &InlineLink| Some(new.to_owned());
        for (body, new, text) in [
            ("[p](my%20notes/%61.md#h)", "my notes/b.md", "[p](my%20notes/b.md#h)"),
            ("[p](<my notes/a.md>)", "other/b (1).md", "[p](<other/b%20%281%29.md>)"),
            ("[p](a\\_b.md#x&amp;y)", "b.md", "[p](b.md#x&amp;y)"),
            ("[`](`](a\\_b.md \"a\\_b.md\")", "b.md", "[`](`](b.md \"a\\_b.md\")"),
            ("> [p\n> ](\n> <a\\_b.md>)", "b.md", "> [p\n> ](\n> <b.md>)"),
            ("[p](a\\(\\).md)", "é.md", "[p](é.md)"),
            ("[e\\]f]\n\n[e\\]f]: a\\_b.md (t)", "b.md", "[e\\]f]\n\n[e\\]f]: b.md (t)"),
            ("|a|\n|-|\n|[[x y\\|z]]|", "w", "|a|\n|-|\n|[[w\\|z]]|"),
            ("[[ x |z]] é", "w", "[[ w |z]] é"),
        ] {
            assert_eq!(relinked(body, to(new)).as_deref(), Ok(text));
        }
        assert!(relinked("[[x]] `", to("a ` b")).is_err(), "what would be read in another way is refused");
    }
}
