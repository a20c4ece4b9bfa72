//! The title of a note whose frontmatter gives none: the first level-1 heading, else the name of the file or folder.

use pulldown_cmark::{Event, HeadingLevel, Tag, TagEnd};

use super::id::generated_id;
use super::markdown::{TopLevelEvents, collect, from_beginning};
use super::prose;

/// Names of files that stand for their folder.
const FOLDER_FILES: [&str; 3] = ["index", "_index", "readme"];

/// Returns the text of the first level-1 heading that stands in no list, quote or block of code; `None` where there is
/// none, or where it names a part of a document, such as `Status`, and the file has another name. `Summary` never is one.
pub(super) fn of_body(body: &str, path: &str) -> Option<String> {
    // Parsing a long body in vain is expensive.
    let may_be_heading = |line: &str| {
        let line = line.trim_start();
        line.starts_with('#') || line.starts_with('=') || line.starts_with('<')
    };
    let may_have_heading = body.lines().any(may_be_heading) || body.contains('\r');
    let heading = may_have_heading.then(|| from_beginning(body, first_heading)).flatten();
    let names_file = |heading: &str| !prose::is_summary(heading) && prose::is_same(heading, &of_path(path));
    heading.filter(|heading| !prose::is_part_name(heading) || names_file(heading))
}

/// Returns the title that the path of a file gives: its name made readable, or that of its folder where the file is the
/// folder's `index` or `README`.
pub(super) fn of_path(path: &str) -> String {
    let path = path.strip_suffix(".md").unwrap_or(path);
    let mut names = path.rsplit('/');
    let file = names.next().unwrap_or(path);
    // The first name is `notes`, `mocs` or `journals`, which says nothing.
    let folder = names.next().filter(|_| names.next().is_some());
    let is_folder_file = FOLDER_FILES.iter().any(|name| file.eq_ignore_ascii_case(name));
    readable(folder.filter(|_| is_folder_file).unwrap_or(file))
}

/// Writes a file name as words: `0002-rfc_process` as `0002 rfc process`. A generated id before the words is left out,
/// dates keep their form, and a name that holds spaces is words already.
fn readable(name: &str) -> String {
    let behind_id = generated_id(name).and_then(|id| name.strip_prefix(id)).map(|rest| rest.trim_start_matches('-'));
    if behind_id == Some("") || name.contains(char::is_whitespace) {
        return behind_id.filter(|words| !words.is_empty()).unwrap_or(name).to_owned();
    }
    let name = behind_id.unwrap_or(name);
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let bytes = name.as_bytes();
    let is_space = |(at, c): (usize, char)| {
        let is_in_date =
            is_digit(at.checked_sub(1).and_then(|before| bytes.get(before))) && is_digit(bytes.get(at + 1));
        matches!(c, '-' | '_') && !is_in_date
    };
    let spaced: String = name.char_indices().map(|(at, c)| if is_space((at, c)) { ' ' } else { c }).collect();
    let spaced = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    if spaced.is_empty() { name.to_owned() } else { spaced }
}

pub(super) fn first_heading(events: &mut TopLevelEvents<'_>) -> Option<String> {
    let mut html = String::new();
    loop {
        match events.next()? {
            Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) => {
                if let Some(text) = collect(events) {
                    return Some(without_attributes(&text).to_owned());
                }
            }
            Event::Start(Tag::HtmlBlock) => html.clear(),
            Event::Html(piece) => html.push_str(&piece),
            Event::End(TagEnd::HtmlBlock) => {
                if let Some(text) = html_heading(&html) {
                    return Some(text);
                }
            }
            _ => {}
        }
    }
}

/// Returns a heading without the attributes that some dialects allow behind it: `Title {#anchor}`.
fn without_attributes(heading: &str) -> &str {
    let attributes = heading.strip_suffix('}').and_then(|rest| rest.rfind('{'));
    let text = attributes.and_then(|at| {
        let is_marked = heading.get(at + 1..).is_some_and(|rest| rest.starts_with(['#', '.', ':']));
        heading.get(..at).map(str::trim_end).filter(|text| is_marked && !text.is_empty())
    });
    text.unwrap_or(heading)
}

/// Returns the text of the first `<h1>` of a block of HTML.
fn html_heading(html: &str) -> Option<String> {
    if html.starts_with("<!--") {
        return None;
    }
    let lower = html.to_ascii_lowercase();
    let start = lower.find("<h1").filter(|at| matches!(lower.as_bytes().get(at + 3), Some(b'>' | b' ' | b'\n')))?;
    let end = start + lower.get(start..)?.find("</h1")?;
    let (mut text, mut is_tag) = (String::new(), false);
    for c in html.get(start..end)?.chars() {
        match c {
            '<' => is_tag = true,
            '>' if is_tag => is_tag = false,
            _ if !is_tag => text.push(c),
            _ => {}
        }
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", " ").replace("&amp;", "&");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_level_1_heading_is_the_title() {
        for (body, title) in [
            ("# A *title*\n\nText", Some("A title")),
            ("## Two\n\n# One\n", Some("One")),
            ("Text.\n\nSetext title\n===\n\nMore.", Some("Setext title")),
            ("## Two\n\nSetext of two\n---\n", None),
            ("> # Quoted\n\n- # Item\n\n```\n# Code\n```\n\n    # Code\n", None),
            ("```sh\n# comment\n```\n\n# Real\n", Some("Real")),
            ("#\n\n# ![](logo.png)\n\n# Real\n", Some("Real")),
            ("# Name [![Build](a.svg)](a) ![Docs](b.svg)\n", Some("Name")),
            ("# ![Name](logo.png)\n", Some("Name")),
            ("# [Linked](x.md) `code` {#anchor}\n", Some("Linked code")),
            ("# Use {braces}\n", Some("Use {braces}")),
            ("- Feature Name: x\n\n# Summary\n[summary]: #summary\n\nText.\n\n# Motivation\n", None),
            ("# summary:\n\nText", None),
            ("# Table of Contents\n", None),
            (
                "<p align=\"center\">\n<h1 class=\"x\"><a>Name</a> &amp; more</h1>\n</p>\n\n# Other\n",
                Some("Name & more"),
            ),
            ("<!-- <h1>No</h1> -->\n\ntext\n", None),
            ("#tag\n\nText", None),
            ("Text.\r# Title\r\rText", Some("Title")),
            ("", None),
        ] {
            assert_eq!(of_body(body, "notes/x.md").as_deref(), title, "{body:?}");
        }
        assert_eq!(of_body("# License\n", "notes/policies/license.md").as_deref(), Some("License"));
        assert_eq!(of_body("# Summary\n", "notes/SUMMARY.md"), None);
        let late = format!("{}# Late\n\nText", "Text.\n\n".repeat(2_000));
        assert_eq!(of_body(&late, "notes/x.md").as_deref(), Some("Late"));
    }

    #[test]
    fn a_file_name_is_made_readable() {
        for (path, title) in [
            ("notes/0002-rfc_process.md", "0002 rfc process"),
            ("notes/guides/docker/README.md", "docker"),
            ("notes/getting-started/Index.md", "getting started"),
            ("notes/README.md", "README"),
            ("mocs/index.md", "index"),
            ("notes/qp-a1b2-some-title.md", "some title"),
            ("notes/qp-a1b2.md", "qp-a1b2"),
            ("journals/2025-03-05.md", "2025-03-05"),
            ("journals/2025_03_05.md", "2025_03_05"),
            ("notes/2025-03-05-stand-up.md", "2025-03-05 stand up"),
            ("notes/My note - part_2.md", "My note - part_2"),
            ("notes/v1.2-changes.md", "v1.2 changes"),
            ("notes/日本語_メモ.md", "日本語 メモ"),
            ("notes/--.md", "--"),
        ] {
            assert_eq!(of_path(path), title, "{path}");
        }
    }
}
