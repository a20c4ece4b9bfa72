//! The links of a file that was not written for qipu: to documents without an ending or with another one, in HTML too.

use pulldown_cmark::{Event, LinkType, Tag, TagEnd};

use super::inline_links::{InlineLink, link_of_event, ordered_lists_with, until_last_link};
use super::markdown::parser;
use super::percent::percent_decoded;
use super::title::is_markdown_ending;

/// The most bytes of an address after double brackets; addresses that people write are shorter.
const MAX_ADDRESS: usize = 2_000;

/// Returns the links to documents in the order of the text, without those in code and comments. `has_wiki` tells whether
/// `[[name]]` is a link.
pub(crate) fn links(body: &str, has_wiki: bool) -> Vec<InlineLink> {
    let has_html = body.contains("<a") || body.contains("<A");
    let text = if has_html { body } else { until_last_link(body) };
    let (mut links, mut html, mut raw) = (Vec::new(), None::<String>, RawText::default());
    for (event, range) in parser(text).into_offset_iter() {
        match &event {
            Event::Start(Tag::HtmlBlock) => html = Some(String::new()),
            Event::Html(piece) => html.iter_mut().for_each(|html| html.push_str(piece)),
            Event::End(TagEnd::HtmlBlock) => {
                links.extend(html_links(&html.take().unwrap_or_default(), &mut raw));
                raw.end_html_block(text.get(range.end..).unwrap_or_default());
            }
            Event::InlineHtml(tag) => links.extend(html_links(tag, &mut raw)),
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableCell) => raw.end_text(),
            Event::Start(Tag::Link { link_type: LinkType::WikiLink { .. }, .. })
                if text.get(range.end..).is_some_and(|rest| rest.starts_with('(')) =>
            {
                links.extend(cited(text.get(range.end + 1..).unwrap_or_default()));
            }
            event => links.extend(link(event, has_wiki)),
        }
    }
    links
}

/// Returns the ordered lists with at least two links, each as the first links of its own items.
pub(crate) fn ordered_lists(body: &str, has_wiki: bool) -> Vec<Vec<InlineLink>> {
    ordered_lists_with(body, |event| link(event, has_wiki))
}

fn link(event: &Event<'_>, has_wiki: bool) -> Option<InlineLink> {
    match event {
        Event::Start(Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. }) => None,
        Event::Start(Tag::Link { link_type: LinkType::WikiLink { .. }, .. } | Tag::Image { .. }) => {
            link_of_event(event).filter(|_| has_wiki)
        }
        Event::Start(Tag::Link { dest_url, .. }) => document_path(dest_url).map(InlineLink::Path),
        _ => None,
    }
}

/// Returns the link of `[[1]](address)`, which CommonMark reads as a link with the text `[1]`.
fn cited(rest: &str) -> Option<InlineLink> {
    let rest = rest.get(..rest.floor_char_boundary(MAX_ADDRESS)).unwrap_or(rest);
    let (address, _) = rest.split_once(')')?;
    document_path(address.split_whitespace().next()?).map(InlineLink::Path)
}

/// Returns the decoded path of an address without query and fragment; `None` if it is no local document: a markdown or
/// HTML file, or a name without an ending.
pub(super) fn document_path(address: &str) -> Option<String> {
    let path = address.split(['#', '?']).next().unwrap_or_default().trim();
    // Braces are those of a template.
    if path.is_empty() || path.starts_with("//") || path.contains([':', '{', '}', '<', '>', '\\']) {
        return None;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_document = match name.rsplit_once('.') {
        Some((_, ending)) if ending.contains(|c: char| c.is_ascii_alphabetic()) => {
            is_markdown_ending(ending) || ["html", "htm"].iter().any(|html| ending.eq_ignore_ascii_case(html))
        }
        _ => true,
    };
    is_document.then(|| percent_decoded(path))
}

/// The elements of HTML whose body is no HTML.
const RAW_ELEMENTS: [&str; 2] = ["script", "style"];

/// Whether the text is in the body of one of [`RAW_ELEMENTS`].
#[derive(Default)]
struct RawText {
    /// The element, while its body lasts.
    element: Option<&'static str>,
    /// Whether it began in an earlier block of HTML, which ends at an empty line; else it ends with the paragraph.
    is_across_blocks: bool,
    /// The elements that no later text closes.
    unclosed: Vec<&'static str>,
}

impl RawText {
    /// Ends a body with its block of HTML, unless the text behind the block closes it.
    fn end_html_block(&mut self, after: &str) {
        let Some(element) = self.element else { return };
        if self.unclosed.contains(&element) || behind_end_tag(after, element).is_none() {
            self.unclosed.push(element);
            self.element = None;
        }
        self.is_across_blocks = self.element.is_some();
    }

    /// Ends a body that began in a text.
    fn end_text(&mut self) {
        self.element = self.element.filter(|_| self.is_across_blocks);
    }
}

/// Returns the text behind the name of the first end tag of an element.
fn behind_end_tag<'t>(text: &'t str, element: &str) -> Option<&'t str> {
    text.match_indices("</").find_map(|(offset, mark)| {
        let (name, after) = text.get(offset + mark.len()..)?.split_at_checked(element.len())?;
        let is_end = after.is_empty() || after.starts_with(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>'));
        (name.eq_ignore_ascii_case(element) && is_end).then_some(after)
    })
}

/// Returns the links `<a href="path">` of a piece of HTML, without those in comments, scripts and styles.
fn html_links(html: &str, raw: &mut RawText) -> Vec<InlineLink> {
    let (mut links, mut rest) = (Vec::new(), html);
    loop {
        if let Some(element) = raw.element {
            let Some(after) = behind_end_tag(rest, element) else { return links };
            (raw.element, raw.is_across_blocks, rest) = (None, false, after);
        }
        let Some((_, tag)) = rest.split_once('<') else { return links };
        if let Some(comment) = tag.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        if !tag.starts_with(|c: char| c.is_ascii_alphabetic()) {
            rest = tag;
            continue;
        }
        let is_end = |c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>');
        let (name, attributes) = tag.split_at(tag.find(is_end).unwrap_or(tag.len()));
        let (href, after) = href_and_rest(attributes);
        links.extend(href.filter(|_| name.eq_ignore_ascii_case("a")).and_then(document_path).map(InlineLink::Path));
        raw.element = RAW_ELEMENTS.into_iter().find(|element| name.eq_ignore_ascii_case(element));
        rest = after;
    }
}

/// Returns the value of the attribute `href`, the first if there are several, and the text behind the tag. The attributes
/// are read by the grammar of [HTML](https://html.spec.whatwg.org/multipage/syntax.html#attributes-2), so that the value of
/// another attribute contains none.
fn href_and_rest(mut tag: &str) -> (Option<&str>, &str) {
    let mut href = None;
    loop {
        tag = tag.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if tag.is_empty() || tag.starts_with('>') {
            return (href, tag.strip_prefix('>').unwrap_or(tag));
        }
        let is_end = |c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>' | '=');
        // An `=` at the beginning is a part of the name.
        let len = tag.char_indices().skip(1).find(|(_, c)| is_end(*c)).map_or(tag.len(), |(offset, _)| offset);
        let (name, after) = tag.split_at(len);
        let (value, after) = match after.trim_ascii_start().strip_prefix('=') {
            Some(value) => attribute_value(value.trim_ascii_start()),
            None => ("", after),
        };
        if name.eq_ignore_ascii_case("href") {
            href = href.or(Some(value));
        }
        tag = after;
    }
}

/// Splits a text that begins with the value of an attribute, in quotes or without, behind the value.
fn attribute_value(text: &str) -> (&str, &str) {
    match text.strip_prefix('"').map(|value| (value, '"')).or_else(|| Some((text.strip_prefix('\'')?, '\''))) {
        Some((value, quote)) => value.split_once(quote).unwrap_or((value, "")),
        None => text.split_at(text.find(|c: char| c.is_ascii_whitespace() || c == '>').unwrap_or(text.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(body: &str) -> Vec<String> {
        let text = |link| match link {
            InlineLink::Path(path) => path,
            InlineLink::Wiki(name) => format!("[[{name}]]"),
        };
        links(body, true).into_iter().map(text).collect()
    }

    #[test]
    fn links_to_documents_have_any_form() {
        for (body, expected) in [
            ("[x](../guide) [y](guide/) [z](../)", vec!["../guide", "guide/", "../"]),
            ("[x](page.html#a) [y](page.markdown#sec) [z](page.mdx)", vec!["page.html", "page.markdown", "page.mdx"]),
            ("[x](a.md?raw=true) [y](v1.2) [z](my%20page.MD \"t\")", vec!["a.md", "v1.2", "my page.MD"]),
            ("[one][1] [two]\n\n[1]: ./one.md\n[two]: <two words.md> 'Two'\n", vec!["./one.md", "two words.md"]),
            (
                "<p align=\"center\">\n<a\n  class=\"x\" href=\"docs/a.md\">A</a>\n<!-- <a href=\"no.md\"> -->\n</p>\n",
                vec!["docs/a.md"],
            ),
            ("Text <a href='b.md#x'>b</a> <abbr href=\"no.md\"> <A HREF = \"c\">", vec!["b.md", "c"]),
            (
                "<a class=\"href\" href=\"a.md\"> <a data-href=\"no.md\" href=\"b.md\"> <a title='href=\"no.md\"' href=c.md>",
                vec!["a.md", "b.md", "c.md"],
            ),
            (
                "<a href=\"a.md\" href=\"no.md\"> <a title=\"x > y\" href=\"b.md\"/> <a hrefs=\"no.md\"> <a href>",
                vec!["a.md", "b.md"],
            ),
            (
                "Text <abbr title=\"<a href='no.md'>\">x</abbr> <a href=\"a.md\"> 1 < 2 <!-- <a href=\"no.md\"> -->",
                vec!["a.md"],
            ),
            ("<p title=\"<a href='no.md'>\">\n< a href=\"no.md\"> <a href=\"a.md\">\n</p>\n", vec!["a.md"]),
            ("<p>\n<a x/href=\"c.md\"> <a/href=d.md>\n</p>\n", vec!["c.md", "d.md"]),
            ("<p>\n<a\nid=x\nhref = 'a.md'>A</a><a href=\"b.md\"\n</p>\n", vec!["a.md", "b.md"]),
            (
                "<script>\nx = '<a href=\"no.md\">';\n\ny = '<a href=\"no.md\">';\n</script>\n\n<a href=\"a.md\">",
                vec!["a.md"],
            ),
            ("<div>\n<STYLE media=x>\n<a href=\"no.md\"></styles>\n</Style ><a href=\"a.md\">\n</div>\n", vec!["a.md"]),
            (
                "<div>\n<script>\n\n'<a href=\"no.md\">'\n\n- <a href=\"no.md\">\n\n</script>\n</div>\n\n<a href=\"a.md\">",
                vec!["a.md"],
            ),
            ("Text <script>'<a href=\"no.md\">'</script> <a href=\"a.md\">", vec!["a.md"]),
            // Without an end, it lasts as long as its block.
            ("The <script> tag <a href=\"no.md\">.\n\n<a href=\"a.md\">", vec!["a.md"]),
            ("<div>\n<script>\n<a href=\"no.md\">\n\nText <a href=\"a.md\"> </style>", vec!["a.md"]),
            (
                "Text <!-- <script> --> <a href=\"a.md\"> `<script>` <a href=\"b.md\"> <scripts> <a href=c>",
                vec!["a.md", "b.md", "c"],
            ),
            ("See [[1]](https://x.org) and [[2]](two.md) and [[Three]].", vec!["two.md", "[[Three]]"]),
            ("[![badge](badge.svg)](./ci.md) ![image](image.md)", vec!["./ci.md"]),
            (
                "[a](#part) [b](https://x.org/a.md) [c](mailto:x@y.z) [d](//x.org) [e](?q) [f](a.png) [g](x/main.rs)",
                vec![],
            ),
            (
                "[t]({{ site.url }}/a) `[c](c.md)` <https://x.org> <!-- [d](d.md) -->\n\n```\n[e](e.md)\n<a href=\"f.md\">\n```\n",
                vec![],
            ),
        ] {
            assert_eq!(paths(body), expected, "{body:?}");
        }
        assert_eq!(links("[[x]] ![[y]] [z](z.md)", false), [InlineLink::Path("z.md".into())]);
        assert_eq!(
            ordered_lists("1. [a](a)\n2. [b](b.html)\n", false),
            [vec![InlineLink::Path("a".into()), InlineLink::Path("b.html".into())]]
        );
    }
}
