//! The markdown of a note as HTML in which nothing is active but links to the web.

use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};

use crate::escape::escape_lines;

/// The schemes of links that lead out of the page. Other targets are names of notes.
const SCHEMES: [&str; 3] = ["http://", "https://", "mailto:"];

/// Returns the HTML of a body. HTML in the body becomes text and images become their descriptions, so that nothing in it
/// can name an element, run a script, or make a browser fetch anything.
pub(super) fn to_html(body: &str) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_WIKILINKS;
    let body = escape_lines(body);
    let mut out = String::with_capacity(body.len() * 3 / 2);
    html::push_html(&mut out, Parser::new_ext(&body, options).map(harmless));
    // The parser decodes entities such as `&#x202e;`.
    escape_lines(&out)
}

/// Replaces an event that could become active.
fn harmless(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        // A block of HTML gets no element of its own from the writer.
        Event::Start(Tag::HtmlBlock) => Event::InlineHtml("<p>".into()),
        Event::End(TagEnd::HtmlBlock) => Event::InlineHtml("</p>\n".into()),
        Event::Start(Tag::Link { link_type, dest_url, .. }) => Event::InlineHtml(opened(link_type, &dest_url)),
        Event::End(TagEnd::Link) => Event::InlineHtml("</a>".into()),
        Event::Start(Tag::Image { .. }) => Event::InlineHtml("<span class=\"image\">".into()),
        Event::End(TagEnd::Image) => Event::InlineHtml("</span>".into()),
        event => event,
    }
}

/// Returns the opening tag of a link.
fn opened(link_type: LinkType, target: &str) -> CowStr<'static> {
    let lower = target.to_ascii_lowercase();
    let scheme = SCHEMES.iter().find(|scheme| lower.starts_with(**scheme));
    let target = escaped(target);
    let tag = match (scheme, link_type) {
        (_, LinkType::Email) => format!("<a href=\"mailto:{target}\" rel=\"noreferrer\">"),
        (Some(_), _) => format!("<a href=\"{target}\" rel=\"noreferrer\" target=\"_blank\">"),
        (None, _) => format!("<a data-to=\"{target}\">"),
    };
    tag.into()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_live_but_links_to_the_web() {
        for (body, html) in [
            ("a *b*", "<p>a <em>b</em></p>\n"),
            ("x <b onclick=\"a()\">y</b>", "<p>x &lt;b onclick=\"a()\"&gt;y&lt;/b&gt;</p>\n"),
            ("<script>a()</script>", "<p>&lt;script&gt;a()&lt;/script&gt;</p>\n"),
            (
                "[w](https://a.b/?c&d \"t\")",
                "<p><a href=\"https://a.b/?c&amp;d\" rel=\"noreferrer\" target=\"_blank\">w</a></p>\n",
            ),
            ("[x](javascript:a())", "<p><a data-to=\"javascript:a()\">x</a></p>\n"),
            ("[x](JaVaScRiPt:a())", "<p><a data-to=\"JaVaScRiPt:a()\">x</a></p>\n"),
            ("<javascript:a()>", "<p><a data-to=\"javascript:a()\">javascript:a()</a></p>\n"),
            ("<data:text/html,a>", "<p><a data-to=\"data:text/html,a\">data:text/html,a</a></p>\n"),
            ("[[a\"b|c]]", "<p><a data-to=\"a&quot;b\">c</a></p>\n"),
            ("![alt *x*](https://a.b/c.png \"t\")", "<p><span class=\"image\">alt <em>x</em></span></p>\n"),
            ("<a@b.c>", "<p><a href=\"mailto:a@b.c\" rel=\"noreferrer\">a@b.c</a></p>\n"),
            ("# h {#id}", "<h1>h {#id}</h1>\n"),
        ] {
            assert_eq!(to_html(body), html, "{body}");
        }
    }
}
