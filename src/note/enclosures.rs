//! The parts of a markdown text between two marks: fenced code, HTML comments and other HTML that ends with a mark of its
//! own. What is open where a text is cut changes the meaning of everything behind it.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Tag};

use super::markdown::{MAX_PARSED, parser};

/// The bytes that are parsed with a text, at most.
const MARGIN: usize = 64;

/// The HTML blocks that end with a mark and not with a blank line (CommonMark 0.31, 4.6), each with that mark. The first
/// of those with the same beginning counts.
const HTML: [(&str, &str); 8] = [
    ("<!--", "-->"),
    ("<?", "?>"),
    ("<![cdata[", "]]>"),
    ("<!", ">"),
    ("<pre", "</pre>"),
    ("<script", "</script>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
];
const COMMENT: (&str, &str) = HTML[0];
const DETAILS: (&str, &str) = ("<details", "</details>");

/// The most characters of the first line of fenced code that are repeated where the code continues.
const MAX_OPENING: usize = 80;

/// Where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surroundings {
    /// Behind a blank line.
    Own,
    /// Right below a line of a paragraph, which less can end.
    BelowLine,
    /// In a block quote, with the marks of it.
    Quote,
}

impl Surroundings {
    /// Returns the text before.
    fn before(self) -> &'static str {
        if self == Self::BelowLine { "x\n" } else { "" }
    }

    /// Returns a heading behind the text, which ends every block but one that is open.
    fn sentinel(self) -> &'static str {
        if self == Self::Quote { "\n>\n> ## end\n" } else { "\n\n## end\n" }
    }

    /// Returns what each line begins with.
    pub(crate) fn prefix(self) -> &'static str {
        if self == Self::Quote { "> " } else { "" }
    }
}

/// A part of a text between two marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Enclosure {
    /// Its bytes, both marks included.
    range: Range<usize>,
    /// Whether it is fenced code, in which nothing is markdown.
    is_code: bool,
    /// The line with which it begins in another place, without its line end.
    opening: String,
    /// The line that ends it, without its line end.
    closing: String,
}

/// The enclosures of a text, in their order, and the marks that its end lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Enclosures {
    all: Vec<Enclosure>,
    /// The lines that close what is open at the end of the text, the innermost first.
    pub(crate) missing: Vec<String>,
    /// The most `<details>` that are open at the same time.
    pub(crate) details: usize,
    /// Whether the last line of the text is code, or ends it.
    pub(crate) ends_with_code: bool,
}

/// Whether a text may have enclosures. A `false` is certain.
pub(crate) fn may_have_enclosures(text: &str) -> bool {
    let begins = |(offset, _): (usize, &str)| {
        let behind = text.as_bytes().get(offset..).unwrap_or_default();
        HTML.iter().chain([&DETAILS]).any(|(mark, _)| begins_with(behind, mark))
    };
    text.contains("```") || text.contains("~~~") || text.match_indices('<').any(begins)
}

fn begins_with(text: &[u8], lower_case: &str) -> bool {
    text.get(..lower_case.len()).is_some_and(|start| start.eq_ignore_ascii_case(lower_case.as_bytes()))
}

/// Whether a text begins with the mark that opens a comment, `<details>` or other HTML that ends with a mark of its own.
pub(crate) fn begins_enclosure(text: &str) -> bool {
    let is_of = |mark: &(&str, &str)| begins_html(text.as_bytes(), mark);
    begins_with(text.as_bytes(), DETAILS.0) || HTML.iter().any(is_of)
}

/// Whether a text begins with the first mark of HTML, of a tag its whole name.
fn begins_html(text: &[u8], (open, _): &(&str, &str)) -> bool {
    let is_name = open.ends_with(|c: char| c.is_ascii_alphabetic());
    let goes_on = text.get(open.len()).is_some_and(|byte| !b" \t\r\n>".contains(byte));
    begins_with(text, open) && !(is_name && goes_on)
}

impl Enclosures {
    /// Finds the enclosures of a text. None are found in a text longer than about [`MAX_PARSED`]. Linear.
    pub(crate) fn of(text: &str, surroundings: Surroundings) -> Self {
        if text.len() > MAX_PARSED - MARGIN || !may_have_enclosures(text) {
            return Self::default();
        }
        let before = surroundings.before();
        let whole = format!("{before}{text}{}", surroundings.sentinel());
        let (start, last) = (before.len(), before.len() + text.trim_end_matches([' ', '\t', '\n', '\r', '>']).len());
        let mut reader = Reader { whole: &whole, start, end: start + text.len(), last, ..Reader::default() };
        parser(&whole).into_offset_iter().for_each(|(event, range)| reader.read(&event, range));
        reader.finish(surroundings.prefix())
    }

    /// Whether the byte at an offset is in fenced code, behind its first line.
    pub(crate) fn is_in_code(&self, offset: usize) -> bool {
        self.around(offset).is_some_and(|enclosure| enclosure.is_code)
    }

    /// Returns the line with which the enclosure around an offset begins; `None` if there is none.
    pub(crate) fn opening_at(&self, offset: usize) -> Option<&str> {
        self.around(offset).map(|enclosure| enclosure.opening.as_str())
    }

    fn around(&self, offset: usize) -> Option<&Enclosure> {
        let behind = self.all.partition_point(|enclosure| enclosure.range.start < offset);
        self.all.get(behind.checked_sub(1)?).filter(|enclosure| offset < enclosure.range.end)
    }
}

#[derive(Default)]
struct Reader<'a> {
    whole: &'a str,
    /// The bytes of the text in the whole.
    start: usize,
    end: usize,
    /// The end of the text without the white space and quotation marks there.
    last: usize,
    all: Vec<Enclosure>,
    missing: Vec<String>,
    /// The bytes of code and of HTML.
    verbatim: Vec<Range<usize>>,
    details: usize,
    most_details: usize,
    is_in_comment: bool,
}

impl Reader<'_> {
    fn read(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                if matches!(kind, CodeBlockKind::Fenced(_)) {
                    self.add_code(range.clone());
                }
                self.verbatim.push(range);
            }
            Event::Code(_) => self.verbatim.push(range),
            Event::Start(Tag::HtmlBlock) => {
                self.is_in_comment = false;
                self.add_html(range.clone());
                self.verbatim.push(range);
            }
            Event::Html(html) => self.count_details(html, &range),
            Event::InlineHtml(html) => {
                self.is_in_comment = false;
                self.count_details(html, &range);
                self.verbatim.push(range);
            }
            _ => {}
        }
    }

    fn text(&self, range: Range<usize>) -> &str {
        self.whole.get(range).unwrap_or_default()
    }

    /// Returns the marks of quotes and the indentation before an offset in its line; list markers become blanks.
    fn prefix(&self, offset: usize) -> String {
        let before = self.text(self.start..offset);
        let line = before.rfind('\n').map_or(before, |end| before.get(end + 1..).unwrap_or_default());
        line.chars().map(|c| if matches!(c, '>' | '\t') { c } else { ' ' }).collect()
    }

    fn add_code(&mut self, range: Range<usize>) {
        let code = self.text(range.clone());
        let Some(mark) = code.chars().next() else { return };
        let first = code.lines().next().unwrap_or_default();
        let count = first.len() - first.trim_start_matches(mark).len();
        let prefix = self.prefix(range.start);
        let closing = format!("{prefix}{}", mark.to_string().repeat(count));
        let is_fence = |line: &str| {
            let line = line.trim_matches([' ', '\t', '>']);
            line.len() >= count && line.chars().all(|c| c == mark)
        };
        let is_closed = code.trim_end().lines().skip(1).last().is_some_and(is_fence);
        let opening = format!("{prefix}{}", first.chars().take(MAX_OPENING.max(count)).collect::<String>());
        self.add(Enclosure { range, is_code: true, opening, closing }, is_closed);
    }

    fn add_html(&mut self, range: Range<usize>) {
        let html = self.text(range.clone());
        let Some((open, close)) = HTML.iter().find(|mark| begins_html(html.as_bytes(), mark)) else { return };
        let behind = html.get(open.len()..).unwrap_or_default();
        let is_closed = behind.to_ascii_lowercase().contains(close);
        let prefix = self.prefix(range.start);
        let (opening, closing) = (html.get(..open.len()).unwrap_or(open), format!("{prefix}{close}"));
        let opening = format!("{prefix}{opening}{}", if open.starts_with("<!") || *open == "<?" { "" } else { ">" });
        self.add(Enclosure { range, is_code: false, opening, closing }, is_closed);
    }

    /// Adds an enclosure. One that reaches to the end without its mark, or beyond, is open.
    fn add(&mut self, enclosure: Enclosure, is_closed: bool) {
        let reaches_end = enclosure.range.end >= self.last;
        if enclosure.range.end > self.end + 1 || (reaches_end && !is_closed) {
            self.missing.push(enclosure.closing.clone());
        }
        let range = enclosure.range.start.saturating_sub(self.start)..enclosure.range.end.saturating_sub(self.start);
        self.all.push(Enclosure { range, ..enclosure });
    }

    /// Counts the `<details>` of HTML outside of comments.
    fn count_details(&mut self, html: &str, range: &Range<usize>) {
        let html = if range.start < self.end { html } else { "" };
        let bytes = html.as_bytes();
        for (offset, _) in html.match_indices(['<', '-']) {
            let tag = bytes.get(offset..).unwrap_or_default();
            if self.is_in_comment {
                self.is_in_comment = !begins_with(tag, COMMENT.1);
            } else if begins_with(tag, COMMENT.0) {
                self.is_in_comment = true;
            } else if begins_with(tag, DETAILS.0) {
                self.details += 1;
                self.most_details = self.most_details.max(self.details);
            } else if begins_with(tag, "</details") {
                self.details = self.details.saturating_sub(1);
            }
        }
    }

    /// Whether a paragraph has a comment that is not closed, which is none to markdown, but may be one to a reader.
    fn has_open_comment(&self) -> bool {
        let text = self.text(self.start..self.end);
        let is_outside = |offset: &usize| {
            let offset = self.start + offset;
            let behind = self.verbatim.partition_point(|range| range.start <= offset);
            behind.checked_sub(1).and_then(|last| self.verbatim.get(last)).is_none_or(|range| range.end <= offset)
        };
        let last = text.match_indices(COMMENT.0).map(|(offset, _)| offset).filter(is_outside).last();
        last.is_some_and(|offset| !text.get(offset..).is_some_and(|behind| behind.contains(COMMENT.1)))
    }

    fn finish(mut self, prefix: &str) -> Enclosures {
        self.verbatim.sort_unstable_by_key(|range| range.start);
        let open_comment = self.has_open_comment().then(|| format!("{prefix}{}", COMMENT.1));
        let last = self.last.saturating_sub(self.start);
        let ends_with_code = self.all.iter().any(|enclosure| enclosure.is_code && enclosure.range.end >= last);
        let mut missing = self.missing;
        // Containers end before the text does, so that only the last enclosure can be open.
        missing.truncate(1);
        missing.extend(open_comment);
        missing.extend(std::iter::repeat_n(format!("{prefix}{}", DETAILS.1), self.details));
        self.all.sort_by_key(|enclosure| enclosure.range.start);
        Enclosures { all: self.all, missing, details: self.most_details, ends_with_code }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_at_the_end_is_found() {
        for (text, missing) in [
            ("text", &[][..]),
            ("```sh\nls", &["```"]),
            ("```sh\nls\n```\n", &[]),
            ("````\n```\nls\n```", &["````"]),
            ("~~~\n```", &["~~~"]),
            ("- a\n\n  ```\n  ls", &["  ```"]),
            ("> 1. ```\n>    ls", &[">    ```"]),
            ("  ```\nls\n     ```", &["  ```"]),
            ("<!-- a\n\nb", &["-->"]),
            ("<!-- a -->\n\nb", &[]),
            ("a <!-- b", &["-->"]),
            ("a `<!--` b", &[]),
            ("<details>\n<summary>a</summary>\n\n```\nb", &["```", "</details>"]),
            ("<details>\n\n<details>\n\n</details>", &["</details>"]),
            ("<pre>\n\na", &["</pre>"]),
            ("<![CDATA[ a", &["]]>"]),
            ("```\n<details>\n```", &[]),
        ] {
            assert_eq!(Enclosures::of(text, Surroundings::Own).missing, missing, "{text}");
        }
        for (text, missing) in [
            ("> ```\n> a", &["> ```"][..]),
            ("> <details>\n>\n> \t```", &["> ```", "> </details>"]),
            ("> ```\n> a\n>      ```", &["> ```"]),
            ("> a", &[]),
        ] {
            assert_eq!(
                Enclosures::of(text, Surroundings::Quote)
                    .missing
                    .iter()
                    .map(|line| line.replace('\t', ""))
                    .collect::<Vec<_>>(),
                missing,
                "{text}"
            );
        }
        assert_eq!(Enclosures::of("    ```\na", Surroundings::BelowLine).missing, [] as [&str; 0]);
    }

    #[test]
    fn code_is_found_where_it_is() {
        let text = "a\n\n- ```rust\n  b\n  ```\n\nc\n";
        let enclosures = Enclosures::of(text, Surroundings::Own);
        let at = |piece: &str| text.find(piece).unwrap();
        assert_eq!(enclosures.opening_at(at("b")), Some("  ```rust"));
        assert!(enclosures.is_in_code(at("b")) && !enclosures.is_in_code(at("c\n")) && !enclosures.is_in_code(0));
        let comment = Enclosures::of("<!-- a\n\nb -->\n\nc", Surroundings::Own);
        assert_eq!((comment.opening_at(8), comment.opening_at(15)), (Some("<!--"), None));
    }
}
