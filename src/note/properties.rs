//! `key:: value` properties at the head of a Logseq page, and the names of its files.

use super::Timestamp;
use super::percent::percent_decoded_text;

/// The largest number of properties of a page; a longer run of such lines is text.
const MAX_PROPERTIES: usize = 200;

/// Parses the properties of a page, keys in lower case: its first lines, or its first block if that has nothing else but child
/// blocks.
pub(crate) fn head(text: &str) -> Vec<(String, String)> {
    let Some(first) = text.lines().next() else { return Vec::new() };
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
            return Vec::new();
        }
        properties.push(property);
        end += line.len();
    }
    let next = text.get(end..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let has_more_text = next.starts_with([' ', '\t']) && !next.trim_start().starts_with("- ");
    if is_block && has_more_text { Vec::new() } else { properties }
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

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn the_head_is_lines_or_a_block_of_properties() {
        let both = [pair("title", "A: b"), pair("tags", "x, [[y z]]")];
        for text in [
            "title:: A: b\nTags:: x, [[y z]]\n\n- text\n",
            "- title:: A: b\n  tags:: x, [[y z]]\n- text\n",
            "title:: A: b\r\ntags:: x, [[y z]]\r\ntext",
            "- title:: A: b\n  tags:: x, [[y z]]\n\t- child\n",
        ] {
            assert_eq!(head(text), both, "{text:?}");
        }
        for text in ["- title:: x\n  and text\n", "text\ntitle:: x\n", "- text\n", "", "a::b\n"] {
            assert_eq!(head(text), [], "{text:?}");
        }
        assert_eq!(head("only::"), [pair("only", "")]);
    }

    #[test]
    fn items_are_told_apart() {
        assert_eq!(items("a, [[b, c]], #d, #[[e f]], \"g\", "), ["a", "b, c", "d", "e f", "g"]);
        assert_eq!(items("[[Tool]], [[Whiteboard/Object]]"), ["Tool", "Whiteboard/Object"]);
        assert_eq!(["[[A]]", "[[A]] and [[B]]", "#[[A b]]"].map(plain), ["A", "[[A]] and [[B]]", "A b"]);
        assert_eq!(pages("see [[A]] and [[B|b]] [[]] [["), ["A", "B"]);
    }
}
