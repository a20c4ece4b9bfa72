//! The title of a note without a title in its frontmatter: the first level-1 heading, else the name of the file or
//! folder.

use pulldown_cmark::{Event, HeadingLevel, Tag, TagEnd};

use super::id::generated_id;
use super::markdown::{Events, find_from_beginning, heading_text};
use super::prose;

const FOLDER_FILES: [&str; 3] = ["index", "_index", "readme"];

/// Returns the text of the first level-1 heading outside of lists, quotes and code; `None` if there is none, or if it
/// names a part of a document, such as `Status`, and the file has another name. `Summary` is never a title.
pub(super) fn of_body(body: &str, path: &str) -> Option<String> {
    of_body_named(body, || of_path(path))
}

/// Does the same as [`of_body`] for a file with this name.
pub(super) fn of_body_named(body: &str, file_name: impl Fn() -> String) -> Option<String> {
    // Parsing a long body without a heading is expensive.
    let may_be_heading = |line: &str| line.trim_start().starts_with(['#', '=', '<']);
    let may_have_heading = body.lines().any(may_be_heading) || body.contains('\r');
    let heading = may_have_heading.then(|| find_from_beginning(body, first_heading)).flatten();
    let is_file_name = |heading: &str| !prose::is_summary(heading) && prose::is_same_text(heading, &file_name());
    heading.filter(|heading| !prose::is_part_name(heading) || is_file_name(heading))
}

/// Returns the readable name of a file, or of its folder if the file is the folder's `index` or `README`.
pub(super) fn of_path(path: &str) -> String {
    let path = path.strip_suffix(".md").unwrap_or(path);
    let mut names = path.rsplit('/');
    let file = names.next().unwrap_or(path);
    // The first name is `notes`, `mocs` or `journals`, and thus no title.
    let folder = names.next().filter(|_| names.next().is_some());
    of_names(file, folder)
}

/// Returns the readable name of a file in a folder that is no store, or of its folder.
pub(super) fn of_source_path(path: &str) -> String {
    let (folder, _) = path.rsplit_once('/').unwrap_or_default();
    of_names(source_stem(path), folder.rsplit('/').next().filter(|name| !name.is_empty()))
}

/// Returns the name of a file without its folder and the ending of a markdown file.
pub(super) fn source_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').filter(|(stem, ending)| !stem.is_empty() && is_markdown_ending(ending));
    stem.map_or(name, |(stem, _)| stem)
}

/// The endings of markdown files.
pub(crate) const MARKDOWN_ENDINGS: [&str; 3] = ["md", "markdown", "mdx"];

/// Tells whether files with an ending are markdown, in any case.
pub(super) fn is_markdown_ending(ending: &str) -> bool {
    MARKDOWN_ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// Tells whether a file describes its folder: `index`, `_index` or `README`.
pub(super) fn is_folder_file(stem: &str) -> bool {
    FOLDER_FILES.iter().any(|name| stem.eq_ignore_ascii_case(name))
}

fn of_names(file: &str, folder: Option<&str>) -> String {
    readable_name(folder.filter(|_| is_folder_file(file)).unwrap_or(file))
}

/// Returns a file name as words: `0002-rfc_process` as `0002 rfc process`. A generated id before the words is omitted,
/// dates keep their form, and a name with spaces is returned unchanged.
fn readable_name(name: &str) -> String {
    let after_id = generated_id(name).and_then(|id| name.strip_prefix(id)).map(|rest| rest.trim_start_matches('-'));
    if after_id == Some("") || name.contains(char::is_whitespace) {
        return after_id.filter(|words| !words.is_empty()).unwrap_or(name).to_owned();
    }
    let name = after_id.unwrap_or(name);
    let is_digit = |offset: usize| name.as_bytes().get(offset).is_some_and(u8::is_ascii_digit);
    let is_in_date = |offset: usize| offset > 0 && is_digit(offset - 1) && is_digit(offset + 1);
    let is_space = |offset: usize, c: char| matches!(c, '-' | '_') && !is_in_date(offset);
    let spaced: String = name.char_indices().map(|(offset, c)| if is_space(offset, c) { ' ' } else { c }).collect();
    let spaced = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    if spaced.is_empty() { name.to_owned() } else { spaced }
}

pub(super) fn first_heading(events: Events<'_, '_>) -> Option<String> {
    let mut html = String::new();
    loop {
        match events.next()? {
            Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) => {
                if let Some(text) = heading_text(events) {
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

/// Returns a heading without the attributes of some dialects: `Title {#anchor}`.
fn without_attributes(heading: &str) -> &str {
    let attributes = heading.strip_suffix('}').and_then(|rest| rest.rfind('{'));
    let text = attributes.and_then(|offset| {
        let is_marked = heading.get(offset + 1..).is_some_and(|rest| rest.starts_with(['#', '.', ':']));
        heading.get(..offset).map(str::trim_end).filter(|text| is_marked && !text.is_empty())
    });
    text.unwrap_or(heading)
}

fn html_heading(html: &str) -> Option<String> {
    if html.starts_with("<!--") {
        return None;
    }
    let lower = html.to_ascii_lowercase();
    let start =
        lower.find("<h1").filter(|offset| matches!(lower.as_bytes().get(offset + 3), Some(b'>' | b' ' | b'\n')))?;
    let end = start + lower.get(start..)?.find("</h1")?;
    // The text after each tag.
    let text: String = html.get(start..end)?.split('<').filter_map(|tag| Some(tag.split_once('>')?.1)).collect();
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
