//! `key:: value` properties at the head of a Logseq page, and the names of its files.

use std::ops::Range;

use super::Timestamp;
use super::percent::percent_decoded_text;

/// The largest number of properties of a page; a longer run of such lines is text.
const MAX_PROPERTIES: usize = 200;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PageHead {
    /// Keys in lower case, and values.
    pub(crate) properties: Vec<(String, String)>,
    /// The range of bytes with nothing but properties; empty if they can't be removed from the text.
    pub(crate) range: Range<usize>,
}

/// Parses the properties of a page: its first lines, or its first block if that has nothing else.
pub(crate) fn head(text: &str) -> PageHead {
    let Some(first) = text.lines().next() else { return PageHead::default() };
    let is_block = first.starts_with("- ");
    let (mut properties, mut end) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let inside = match end {
            0 if is_block => line.get(2..).unwrap_or_default(),
            _ if is_block && !line.starts_with("  ") => break,
            _ => line,
        };
        let Some(property) = parse_property(inside) else { break };
        if properties.len() == MAX_PROPERTIES {
            return PageHead::default();
        }
        properties.push(property);
        end += line.len();
    }
    let rest = text.get(end..).unwrap_or_default();
    let next = rest.lines().next().unwrap_or_default();
    // A block with more text is no head. One with child blocks is, but stays, as its children would lose their parent.
    if is_block && next.starts_with([' ', '\t']) {
        let has_children = next.trim_start().starts_with("- ");
        return if has_children { PageHead { properties, range: 0..0 } } else { PageHead::default() };
    }
    let blank = rest.split_inclusive('\n').next().filter(|line| line.trim().is_empty() && !properties.is_empty());
    PageHead { properties, range: 0..end + blank.map_or(0, str::len) }
}

fn parse_property(line: &str) -> Option<(String, String)> {
    let (key, value) = line.trim_end_matches(['\n', '\r']).split_once("::")?;
    let key = key.trim_start_matches([' ', '\t']);
    let is_key = !key.is_empty()
        && key.len() <= 100
        && !key.contains(|c: char| c.is_whitespace() || c.is_control() || "#[]`:".contains(c));
    let is_value = value.is_empty() || value.starts_with([' ', '\t']);
    (is_key && is_value).then(|| (key.to_lowercase(), value.trim().to_owned()))
}

/// Splits a value at commas into items; each may be in `[[…]]`, `#…` or quotes.
pub(crate) fn items(value: &str) -> Vec<String> {
    let (mut items, mut item, mut depth) = (Vec::new(), String::new(), 0_usize);
    let mut chars = value.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '[' if chars.peek() == Some(&'[') => depth += 1,
            ']' if chars.peek() == Some(&']') => depth = depth.saturating_sub(1),
            ',' | '，' if depth == 0 => {
                items.push(std::mem::take(&mut item));
                continue;
            }
            _ => {}
        }
        item.push(c);
    }
    items.push(item);
    items.iter().map(|item| plain(item)).filter(|item| !item.is_empty()).collect()
}

/// Removes `#`, `[[…]]` and quotes around an item.
pub(crate) fn plain(item: &str) -> String {
    let item = item.trim();
    let item = item.strip_prefix('#').unwrap_or(item);
    let inside = item.strip_prefix("[[").and_then(|item| item.strip_suffix("]]"));
    let item = inside.filter(|name| !name.contains("]]")).unwrap_or(item);
    let quoted = item.strip_prefix('"').and_then(|item| item.strip_suffix('"'));
    quoted.unwrap_or(item).trim().to_owned()
}

/// Returns the page names in `[[…]]` in a value.
pub(crate) fn pages(value: &str) -> Vec<String> {
    let inside = value.split("[[").skip(1).filter_map(|rest| rest.split_once("]]"));
    let name = |(name, _): (&str, &str)| name.split('|').next().unwrap_or_default().trim().to_owned();
    inside.map(name).filter(|name| !name.is_empty()).collect()
}

/// Returns the title that the name of a file without its extension encodes: `a___b%3Fc` as `a/b?c`.
pub(crate) fn decoded_name(stem: &str) -> String {
    percent_decoded_text(&stem.replace("___", "/"))
}

/// Parses milliseconds since 1970 into a timestamp.
pub(crate) fn timestamp(value: &str) -> Option<Timestamp> {
    let milliseconds: i64 = value.parse().ok()?;
    Timestamp::from_seconds(milliseconds / 1000).filter(|_| milliseconds > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<(String, String)>, &str) {
        let head = head(text);
        (head.properties, text.get(head.range.end..).unwrap())
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn the_head_is_lines_or_a_block_of_properties() {
        let both = vec![pair("title", "A: b"), pair("tags", "x, [[y z]]")];
        assert_eq!(read("title:: A: b\nTags:: x, [[y z]]\n\n- text\n"), (both.clone(), "- text\n"));
        assert_eq!(read("- title:: A: b\n  tags:: x, [[y z]]\n- text\n"), (both.clone(), "- text\n"));
        assert_eq!(read("title:: A: b\r\ntags:: x, [[y z]]\r\ntext"), (both.clone(), "text"));
        let text = "- title:: A: b\n  tags:: x, [[y z]]\n\t- child\n";
        assert_eq!(read(text), (both, text));
        for text in ["- title:: x\n  and text\n", "text\ntitle:: x\n", "- text\n", "", "a::b\n", "http:: //x y\n"] {
            let (properties, rest) = read(text);
            assert!(properties.is_empty() && rest == text || text.starts_with("http"), "{text:?}");
        }
        assert_eq!(read("only::"), (vec![pair("only", "")], ""));
    }

    #[test]
    fn items_are_told_apart() {
        assert_eq!(items("a, [[b, c]], #d, #[[e f]], \"g\", "), ["a", "b, c", "d", "e f", "g"]);
        assert_eq!(items("[[Tool]], [[Whiteboard/Object]]"), ["Tool", "Whiteboard/Object"]);
        assert_eq!(["[[A]]", "[[A]] and [[B]]", "#[[A b]]"].map(plain), ["A", "[[A]] and [[B]]", "A b"]);
        assert_eq!(pages("see [[A]] and [[B|b]] [[]] [["), ["A", "B"]);
    }
}
