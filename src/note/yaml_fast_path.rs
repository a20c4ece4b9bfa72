//! A line-based parser of the YAML subset that nearly all frontmatter uses.
//!
//! Loading a store parses the frontmatter of every note, and the full grammar takes two fifths of that time. The subset
//! is `key: value`, quoted texts without escapes, flow lists on one line, and block lists of texts or small maps; any
//! other line makes the parser give up, and the full grammar is used. Its tree equals that of the full grammar, which a
//! test verifies on a hundred thousand mutated frontmatters. Edits always use the full grammar.

use super::yaml::{Yaml, YamlNode};

/// The maximum lengths of a line and of a text that this parser accepts, in bytes; the full grammar has its own limits.
const MAX_LINE: usize = 1_000;
const MAX_BYTES: usize = 16 * 1024;

struct LineCursor<'a> {
    text: &'a str,
    offset: usize,
    line_number: usize,
}

impl<'a> LineCursor<'a> {
    /// Reads the next line if `select` returns a part at its end. Returns this part, its offset and the line number.
    fn next_if(&mut self, select: impl FnOnce(&'a str) -> Option<&'a str>) -> Option<(&'a str, usize, usize)> {
        let rest = self.text.get(self.offset..).filter(|rest| !rest.is_empty())?;
        let line = rest.get(..rest.as_bytes().iter().position(|b| *b == b'\n').unwrap_or(rest.len()))?;
        let part = select(line)?;
        let (end, line_number) = (self.offset + line.len(), self.line_number);
        self.offset = (end + 1).min(self.text.len());
        self.line_number += 1;
        Some((part, end - part.len(), line_number))
    }
}

/// Parses frontmatter; `None` if it needs the full grammar.
pub(super) fn parse(text: &str) -> Option<Yaml<'_>> {
    if text.len() > MAX_BYTES || !has_only_plain_chars(text) {
        return None;
    }
    let mut lines = LineCursor { text, offset: 0, line_number: 1 };
    let mut entries = Vec::with_capacity(12);
    while let Some((text, start, line)) = lines.next_if(Some) {
        let (key, value) = split_key(text).filter(|_| text.len() <= MAX_LINE)?;
        let key = Yaml { kind: plain(key), span: start..start + key.len(), line };
        let start = start + text.len() - value.len();
        let value = if value.is_empty() {
            block_list(&mut lines)?
        } else {
            Yaml { kind: flow(value, start, line)?, span: start..start + value.trim_end().len(), line }
        };
        entries.push((key, value));
    }
    (!entries.is_empty()).then_some(Yaml { kind: YamlNode::Map(entries), span: 0..text.len(), line: 1 })
}

/// Tells whether a text has no character with a special meaning to YAML in every position.
fn has_only_plain_chars(text: &str) -> bool {
    // To the end, without a branch for each byte: many bytes are looked at at once, and nearly all texts are plain.
    let is_plain_byte = |b: u8| (b.wrapping_sub(b' ') < 0x7f - b' ') | (b == b'\n');
    if text.bytes().fold(true, |are_plain, b| are_plain & is_plain_byte(b)) {
        return true;
    }
    text.chars()
        .all(|c| c == '\n' || !(c.is_control() || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{fff0}'..)))
}

fn plain(text: &str) -> YamlNode<'_> {
    YamlNode::Scalar { text: text.into(), plain: true }
}

/// Splits `key: value` or `key:`.
fn split_key(line: &str) -> Option<(&str, &str)> {
    let end = line.as_bytes().iter().position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')))?;
    let (key, rest) = line.split_at_checked(end)?;
    let begins_with_letter = key.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    let value = rest.strip_prefix(':')?;
    let value = if value.is_empty() { value } else { value.strip_prefix(' ')? };
    begins_with_letter.then_some((key, value.trim_start_matches(' ')))
}

/// Parses a scalar or a flow list on one line.
fn flow(text: &str, start: usize, line: usize) -> Option<YamlNode<'_>> {
    let trimmed = text.trim_end_matches(' ');
    let Some(inner) = trimmed.strip_prefix('[') else { return scalar(trimmed) };
    let inner = inner.strip_suffix(']')?;
    let mut offset = start + 1;
    let mut items = Vec::with_capacity(4);
    for piece in inner.split(',') {
        let item = piece.trim_matches(' ');
        let is_plain = item
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b >= 0x80 || matches!(b, b'-' | b'_' | b'.' | b'/' | b' '));
        if !is_plain || !begins_plain(item) {
            return None;
        }
        let begin = offset + piece.len() - piece.trim_start_matches(' ').len();
        items.push(Yaml { kind: plain(item), span: begin..begin + item.len(), line });
        offset += piece.len() + 1;
    }
    Some(YamlNode::List(items))
}

/// Tells whether a text begins like a plain scalar and nothing else.
fn begins_plain(text: &str) -> bool {
    text.as_bytes().first().is_some_and(|b| b.is_ascii_alphanumeric() || *b >= 0x80)
}

/// Parses a scalar: quoted without escapes, or plain without a character that could end it.
fn scalar(text: &str) -> Option<YamlNode<'_>> {
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            let inner = rest.strip_suffix(quote)?;
            let is_simple = !inner.contains([quote, '\\']);
            return is_simple.then(|| YamlNode::Scalar { text: inner.into(), plain: false });
        }
    }
    let bytes = text.as_bytes();
    let ends_scalar = |a: u8, b: u8| ((a == b':') & (b == b' ')) | ((a == b' ') & (b == b'#'));
    let pairs = bytes.iter().zip(bytes.get(1..).unwrap_or_default());
    // To the end, as in `has_only_plain_chars`.
    let is_broken =
        bytes.last() == Some(&b':') || pairs.fold(false, |is_broken, (a, b)| is_broken | ends_scalar(*a, *b));
    (begins_plain(text) && !is_broken).then(|| plain(text))
}

/// Parses a list of scalars, or of maps of scalars with one entry per line.
fn block_list<'a>(lines: &mut LineCursor<'a>) -> Option<Yaml<'a>> {
    let rest = lines.text.get(lines.offset..)?;
    let indent = rest.len() - rest.trim_start_matches(' ').len();
    let (start, line) = (lines.offset + indent, lines.line_number);
    let mut items = Vec::with_capacity(4);
    while let Some((item, offset, line)) = lines.next_if(|text| indented(text, indent)?.strip_prefix("- ")) {
        if indent + 2 + item.len() > MAX_LINE || item.starts_with(' ') {
            return None;
        }
        if split_key(item).is_none() {
            let item = item.trim_end_matches(' ');
            items.push(Yaml { kind: scalar(item)?, span: offset..offset + item.len(), line });
            continue;
        }
        let mut entries = vec![entry(item, offset, line)?];
        let next_entry = |text| indented(text, indent + 2).filter(|rest| !rest.starts_with([' ', '-']));
        while let Some((text, offset, line)) = lines.next_if(next_entry) {
            entries.push(entry(text, offset, line)?);
        }
        items.push(Yaml { kind: YamlNode::Map(entries), span: offset..lines.offset, line });
    }
    (!items.is_empty()).then_some(Yaml { kind: YamlNode::List(items), span: start..lines.offset, line })
}

/// Returns a line without its indentation; `None` if it has less.
fn indented(line: &str, indent: usize) -> Option<&str> {
    line.get(indent..).filter(|_| line.bytes().take(indent).all(|b| b == b' '))
}

fn entry(text: &str, offset: usize, line: usize) -> Option<(Yaml<'_>, Yaml<'_>)> {
    let (key, value) = split_key(text).filter(|_| text.len() <= MAX_LINE)?;
    let start = offset + text.len() - value.len();
    let value = value.trim_end_matches(' ');
    let kind = scalar(value)?;
    Some((
        Yaml { kind: plain(key), span: offset..offset + key.len(), line },
        Yaml { kind, span: start..start + value.len(), line },
    ))
}

#[cfg(test)]
mod tests {
    use super::super::yaml;
    use super::*;
    use crate::random::Random;

    /// Frontmatter to mutate, as people write it.
    const SEEDS: [&str; 5] = [
        "id: qp-a1b2\ntitle: rename() is atomic, not durable\ntype: permanent\ncreated: 2025-02-11T09:30:00Z\ntags: [rename, posix]\nvalue: 85\nverified: true\n",
        "id: \"qp-1\"\ntitle: 'It is: quoted'\nsources:\n  - url: https://x.org/a#b\n    title: A title\n    accessed: 2025-02-11\nlinks:\n  - type: supports\n    id: qp-2\n",
        "tags:\n- a\n- b c\nlinks:\n- type: related\n  id: x\n- type: follows\n  id: y\nsummary: One sentence, and more.\n",
        "custom:\n  status: decided\n  effort: 3\naliases: [Ein Name, 日本語]\n# a comment\nvalue:\n",
        "title: été\nsummary: >-\n  folded\n  text\ntags: [\n  a\n]\n",
    ];

    const PIECES: [&str; 44] = [
        "a", "b c", "-", " ", "\n", "\n  ", ":", ": ", "- ", "#", " #", "[", "]", ",", "\"", "'", "k: v\n",
        "l:\n  - x\n", "l:\n- x: 1\n  y: 2\n", "\\", "é", "~", "null", "{", "}", "|", "?", "! ", "&a", "*a", "%", "@",
        "`", "...", "---", "\t", "\r", "0", "  id: q\n", "    z: 1\n", "t: [a, b]\n", "t: [a,\n b]\n", "s: \"q\"\n",
        ">-",
    ];

    fn mutated(dice: &mut Random, from_nothing: bool) -> String {
        let mut text = if from_nothing { String::new() } else { dice.choice(&SEEDS).to_owned() };
        for _ in 0..=dice.below(if from_nothing { 12 } else { 3 }) {
            let offset = if from_nothing { text.len() } else { text.floor_char_boundary(dice.below(text.len() + 1)) };
            if dice.below(3) == 0 && offset < text.len() {
                let end = text.floor_char_boundary(offset + 1 + dice.below(6));
                text.replace_range(offset..end.max(offset), "");
            } else {
                text.insert_str(offset, dice.choice(&PIECES));
            }
        }
        text
    }

    /// Describes a tree with its lines, and with the ranges of nodes on one line.
    fn shape(node: &Yaml<'_>, text: &str) -> String {
        let source = text.get(node.span.clone()).unwrap_or_default();
        let range = if source.contains('\n') || source.is_empty() { String::new() } else { format!("{:?}", node.span) };
        let (line, all) = (node.line, |nodes: Vec<String>| nodes.join(","));
        match &node.kind {
            YamlNode::Scalar { text, plain } => format!("{text:?} {plain} {line} {range}"),
            YamlNode::List(items) => {
                let range = if source.starts_with('[') { range } else { String::new() };
                format!("[{}] {line} {range}", all(items.iter().map(|item| shape(item, text)).collect()))
            }
            YamlNode::Map(entries) => {
                let entries =
                    entries.iter().map(|(key, value)| format!("{}: {}", shape(key, text), shape(value, text)));
                format!("{{{}}}", all(entries.collect()))
            }
        }
    }

    #[test]
    fn it_answers_as_the_grammar_does_or_not_at_all() {
        let mut dice = Random::new(7);
        let mut answered = 0;
        for round in 0..100_000 {
            let text = mutated(&mut dice, round % 3 == 0);
            let Some(tree) = parse(&text) else { continue };
            answered += 1;
            let grammar = yaml::parse(&text).unwrap_or_else(|error| panic!("{text:?}: {error:?}"));
            assert_eq!(shape(&tree, &text), shape(&grammar, &text), "{text:?}");
        }
        assert!(answered > 5_000, "only {answered} texts were answered");
        assert!(SEEDS.iter().take(3).all(|seed| parse(seed).is_some()));
    }
}
