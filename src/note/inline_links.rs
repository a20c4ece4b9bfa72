//! The links of a body to notes and files.

use pulldown_cmark::{Event, LinkType, Tag, TagEnd};
use serde::{Deserialize, Serialize};

use super::markdown::parser;
use super::percent::percent_decoded;
use super::plain_links::{self, LinkSource};
use super::title::MARKDOWN_ENDINGS;

/// A link in a body; `T` is the type of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InlineLink<T = String> {
    /// The target of `[[target]]` or `[[target|label]]`: an id or a title, with an optional `#heading`.
    Wiki(T),
    /// The path of a markdown link to a file, relative to the note, or, with `/` first, to the store.
    Path(T),
}

/// A link in a body, borrowed.
pub type EncodedTarget<'a> = InlineLink<&'a str>;

impl<T> InlineLink<T> {
    pub(crate) fn text(&self) -> &T {
        let (Self::Wiki(text) | Self::Path(text)) = self;
        text
    }

    /// Returns a link of the same kind with another text.
    pub(super) fn with_text<U>(&self, text: U) -> InlineLink<U> {
        match self {
            Self::Wiki(_) => InlineLink::Wiki(text),
            Self::Path(_) => InlineLink::Path(text),
        }
    }
}

impl<'a> EncodedTarget<'a> {
    /// Borrows a link.
    pub fn of(link: &'a InlineLink) -> Self {
        link.with_text(link.text())
    }

    /// Copies the link.
    pub fn to_link(self) -> InlineLink {
        self.with_text((*self.text()).to_owned())
    }
}

/// Returns the links to notes in the order of the text, without those in code and comments.
pub(crate) fn links(body: &str) -> Vec<InlineLink> {
    let text = until_last_link(body);
    let Some(sources) = plain_links::sources(text) else { return parsed(text).collect() };
    let mut links = Vec::with_capacity(sources.len());
    for source in sources {
        match source {
            LinkSource::Target(target) => links.push(InlineLink::Wiki(target.to_owned())),
            LinkSource::Unparsed(paragraph) => links.extend(parsed(paragraph)),
        }
    }
    links
}

fn parsed(text: &str) -> impl Iterator<Item = InlineLink> {
    parser(text).filter_map(|event| link_of_event(&event))
}

/// Returns the part of a body that its links depend on: up to the end of the paragraph with the last beginning of a
/// link, or all of it if it defines link labels. Text after a blank line never changes the meaning of the text before.
/// Parsing is most of the cost of links.
pub(super) fn until_last_link(body: &str) -> &str {
    if body.contains("]:") {
        return body;
    }
    // Searching single characters from the end is much faster than searching pairs.
    let next_is = |offset: usize, byte: u8| body.as_bytes().get(offset + 1) == Some(&byte);
    let wiki = body.rmatch_indices('[').map(|(offset, _)| offset).find(|offset| next_is(*offset, b'['));
    let mut path = body.rmatch_indices(']').map(|(offset, _)| offset).take_while(|offset| Some(*offset) > wiki);
    let Some(last) = path.find(|offset| next_is(*offset, b'(')).or(wiki) else { return "" };
    let rest = body.get(last..).unwrap_or_default();
    let end = rest.find("\n\n").map_or(body.len(), |blank| last + blank + 1);
    body.get(..end).unwrap_or(body)
}

pub(super) fn link_of_event(event: &Event<'_>) -> Option<InlineLink> {
    match event {
        Event::Start(Tag::Link { link_type, dest_url, .. }) => link(*link_type, dest_url),
        Event::Start(Tag::Image { link_type, dest_url, .. }) => embed(*link_type, dest_url),
        _ => None,
    }
}

/// Returns the targets of `![[target]]`, in the order of the text.
pub(crate) fn embeds(body: &str) -> Vec<String> {
    let target = |event: Event<'_>| match &event {
        Event::Start(Tag::Image { .. }) => link_of_event(&event).map(|link| link.text().clone()),
        _ => None,
    };
    if body.contains("![[") { parser(body).filter_map(target).collect() } else { Vec::new() }
}

/// Returns the ordered lists with at least two links, each as the first links of its own items.
pub(crate) fn ordered_lists(body: &str) -> Vec<Vec<InlineLink>> {
    ordered_lists_with(body, link_of_event)
}

/// Does the same as [`ordered_lists`] for the events that `link_of_event` reads as links.
pub(super) fn ordered_lists_with(
    body: &str,
    link_of_event: impl Fn(&Event<'_>) -> Option<InlineLink>,
) -> Vec<Vec<InlineLink>> {
    if !body.contains("[[") && !body.contains("](") {
        return Vec::new();
    }
    let mut lists = Vec::new();
    // The open lists: their links if they are ordered, and whether the current item has a link already.
    let mut open: Vec<(Option<Vec<InlineLink>>, bool)> = Vec::new();
    for event in parser(body) {
        match &event {
            Event::Start(Tag::List(number)) => open.push((number.map(|_| Vec::new()), true)),
            Event::End(TagEnd::List(_)) => lists.extend(open.pop().and_then(|(links, _)| links)),
            Event::Start(Tag::Item) => {
                open.iter_mut().next_back().into_iter().for_each(|(_, has_link)| *has_link = false)
            }
            _ => {
                if let (Some(link), Some((Some(links), has_link @ false))) = (link_of_event(&event), open.last_mut()) {
                    *has_link = true;
                    links.push(link);
                }
            }
        }
    }
    lists.retain(|links| links.len() > 1);
    lists
}

/// Returns the decoded paths of links to local files without `#heading`, and whether each is in double brackets.
pub(crate) fn file_links(body: &str) -> Vec<(String, bool)> {
    let file = |event: Event<'_>| {
        let Event::Start(Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. }) = event else {
            return None;
        };
        let is_wiki = matches!(link_type, LinkType::WikiLink { .. });
        let target = dest_url.trim_end_matches('\\').trim();
        let path = target.split_once('#').map_or(target, |(path, _)| path);
        let is_local = !path.is_empty() && !path.contains("://") && !path.starts_with('/');
        is_local.then(|| (if is_wiki { path.to_owned() } else { percent_decoded(path) }, is_wiki))
    };
    if !body.contains(['[', ']']) { Vec::new() } else { parser(body).filter_map(file).collect() }
}

/// Returns the labels of link definitions, in lower case, with their destinations.
pub(crate) fn definitions(body: &str) -> Vec<(String, String)> {
    let parser = parser(body);
    let named = parser.reference_definitions().iter();
    named.map(|(name, definition)| (name.to_lowercase(), definition.dest.to_string())).collect()
}

fn link(link_type: LinkType, target: &str) -> Option<InlineLink> {
    // In a table, the bar of `[[id\|label]]` is escaped.
    let target = target.trim_end_matches('\\').trim();
    match link_type {
        LinkType::WikiLink { .. } => (!target.is_empty()).then(|| InlineLink::Wiki(target.to_owned())),
        LinkType::Autolink | LinkType::Email => None,
        _ => note_path(target).map(InlineLink::Path),
    }
}

/// Returns the note that `![[note]]` embeds; `![[image.png]]` is no link to a note.
fn embed(link_type: LinkType, target: &str) -> Option<InlineLink> {
    let file = target.rsplit('/').next().unwrap_or(target);
    let is_attachment = file.contains('.') && !has_markdown_ending(file);
    (matches!(link_type, LinkType::WikiLink { .. }) && !is_attachment).then(|| link(link_type, target)).flatten()
}

/// Returns the path of a link to a local markdown file, decoded and without `#heading`.
fn note_path(url: &str) -> Option<String> {
    let path = url.split_once('#').map_or(url, |(path, _)| path);
    let is_elsewhere = path.contains(':') || path.starts_with("//") || !has_markdown_ending(path);
    (!is_elsewhere).then(|| percent_decoded(path))
}

/// Whether a path is that of a file that a source reads.
fn has_markdown_ending(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| MARKDOWN_ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn targets(body: &str) -> Vec<String> {
        let target = |link| match link {
            InlineLink::Wiki(target) => target,
            InlineLink::Path(path) => format!("path {path}"),
        };
        links(body).into_iter().map(target).collect()
    }

    #[test]
    fn finds_links_in_their_order() {
        let body = "See [[qp-1]], [[qp-2|two]], [[A title#part]].\n\n\
                    | a | b |\n|---|---|\n| [[qp-3\\|x]] | [d](../mocs/qp-4-x.md#h) |\n\n\
                    [e](<b c.md>) [f](b%20d.md) [ref]\n\n[ref]: e.md\n\n![[qp-5]] ![[pic.png]] ![[p.mdx]] ![x](y.md) [g](f.mdx#h) [h](g.markdown) [i](h.txt)\n";
        assert_eq!(
            targets(body),
            [
                "qp-1", "qp-2", "A title#part", "qp-3", "path ../mocs/qp-4-x.md", "path b c.md", "path b d.md",
                "path e.md", "qp-5", "p.mdx", "path f.mdx", "path g.markdown"
            ]
        );
    }

    #[test]
    fn what_is_left_away_holds_no_links() {
        let pieces = [
            "[[a]]", "[b](b.md)", "[c]", "[c]: c.md", "`", "```\n", "~~~", "    ", "\t", "<!--", "-->", "<div>",
            "</div>", "<a ", "\\", "\n", "\n\n", "\n\n", "\n \n", "\r\n", "\r", "\r```\n", "\r<!--", "- ", "1. ", "> ",
            "# ", "---", "| ", "|-|-|\n", "x", "*", "![[d]]", "](", "[[", "]]", "[^1]", "[^1]: ", "\"", "(", ")", "<?",
            "?>", "<![CDATA[", "=== ", "<script>", "- [ ] ", "e.md)",
        ];
        // Without what makes the whole text be parsed.
        let simple = [
            "[[a]]", "[b](b.md)", "[c]", "`", "`d`", "\n", "\n\n", "\n\n", "\n \n", "\n\n  ", "- ", "1. ", "> ", "# ",
            "---", "| ", "|-|-|\n", "x", "*", "_", "~", "!", "\\", "[[d e#f|g]]", "[[", "]]", "[", "]", "(", ")", "|",
            "&amp;", "[^1]", "- [ ] ", "===\n", " ", "é", "[[h]]", "words of a sentence ", "words of a sentence ",
            "\n```\n", "\n```rs\n", "```", "~~~", "<b>", "\n<div>", "    ", "\t", ":", "[c]: c.md", "2) ", "<!--",
            "-->",
        ];
        let (mut random, mut unparsed) = (Random::new(1), 0);
        for round in 0..60_000 {
            let pieces = if round % 2 == 0 { pieces.as_slice() } else { simple.as_slice() };
            let text: String = (0..24).map(|_| random.choice(pieces)).collect();
            let all: Vec<_> = parser(&text).filter_map(|event| link_of_event(&event)).collect();
            assert_eq!(links(&text), all, "{text:?}");
            unparsed += usize::from(!all.is_empty() && plain_links::sources(&text).is_some());
        }
        assert!(unparsed > 1_000, "{unparsed}");
    }

    #[test]
    fn finds_none_in_code_comments_and_addresses() {
        let body = "`[[a]]` <!-- [[b]] -->\n\n    [[c]]\n\n```\n[[d]]\n```\n<https://x.org/e.md> \
                    [f](https://x.org/f.md) [g](//x.org/g.md) [h](mailto:h.md) [[]]\n\n<!--\n[[i]]\n-->\n";
        assert_eq!(targets(body), Vec::<String>::new());
    }

    #[test]
    fn ordered_lists_are_the_first_links_of_their_items() {
        let body = "1. [[a]] and [[b]]\n2. text\n   - [[c]]\n3. see [d](d.md)\n\nText [[e]].\n\n- [[f]]\n- [[g]]\n\n1. [[h]]\n";
        let wiki = |name: &str| InlineLink::Wiki(name.to_owned());
        assert_eq!(ordered_lists(body), [vec![wiki("a"), InlineLink::Path("d.md".to_owned())]]);
        assert_eq!(ordered_lists("1. none\n2. none\n"), Vec::<Vec<InlineLink>>::new());
    }
}
