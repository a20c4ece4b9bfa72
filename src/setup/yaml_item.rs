//! Inserts one item into a list in a tool's YAML settings if the user sets that list, and removes it again. Both are
//! text edits: every other byte stays.
//!
//! A comment marks the item as ours, and the list if it is ours too. An item without one is the user's.

use std::ops::Range;

use anyhow::{Result, anyhow, bail};

use crate::note::edit::line_end;
use crate::note::{Value, Yaml, YamlKind, parse_yaml};

/// The comment behind an item of ours, or behind the flow list that contains it.
const OUR_ITEM: &str = " # qipu:item";
/// The comment behind a list that was created around the single value, or the missing value, of the user.
const OUR_LIST: &str = " # qipu:list";

/// An item and the key of its list.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListItem {
    /// The key of the list.
    pub(super) key: &'static str,
    /// The item: a scalar that needs no quotes.
    pub(super) value: &'static str,
}

/// The value that the user sets for the key.
struct ExistingValue<'a> {
    text: &'a str,
    /// The offset of the end of the key.
    key_end: usize,
    value: Yaml<'a>,
}

impl ListItem {
    /// Tells whether the item is in the list of the key; `None` if the file does not set the key.
    pub(super) fn is_in(self, text: &str) -> Result<Option<bool>> {
        Ok(self.find(text)?.map(|found| found.items().iter().any(|item| item.to_line() == self.value)))
    }

    /// Returns the file's text with the item as the first of the key's list.
    pub(super) fn with(self, text: &str) -> Result<String> {
        let Some(found) = self.find(text)? else { return Ok(text.to_owned()) };
        if !found.may_be_item() {
            bail!("the value of `{}` may be one value or a list: put quotes or brackets around it", self.key);
        }
        let new = found.with(self.value);
        let mut wanted = values(text)?;
        for (_, value) in wanted.iter_mut().filter(|(key, _)| key == self.key) {
            let item = Value::Text { text: self.value.to_owned(), plain: true };
            *value = Value::List([vec![item], found.items()].concat());
        }
        let is_right = values(&new).is_ok_and(|values| values == wanted);
        if !is_right || self.without(&new)? != text {
            bail!("`{}` is written in a way that qipu can't extend and restore", self.key);
        }
        Ok(new)
    }

    /// Returns the file's text without the item, if it is marked as ours, and without the list if that is.
    pub(super) fn without(self, text: &str) -> Result<String> {
        let mut rest = text.to_owned();
        // A file without our comments is not parsed, so that errors in it do not matter.
        if ![OUR_ITEM, OUR_LIST].iter().any(|mark| text.contains(mark)) {
            return Ok(rest);
        }
        let found = self.find(text)?;
        for range in found.map(|found| found.managed_ranges(self.value)).unwrap_or_default().into_iter().rev() {
            rest.replace_range(range, "");
        }
        Ok(rest)
    }

    fn find(self, text: &str) -> Result<Option<ExistingValue<'_>>> {
        let named = |(key, _): &(Yaml<'_>, Yaml<'_>)| Value::from_yaml(key).to_line() == self.key;
        let mut found = entries(text)?.into_iter().filter(named);
        match (found.next(), found.next()) {
            (_, Some(_)) => bail!("`{}` occurs twice, and tools read only the last one: combine them", self.key),
            (found, None) => Ok(found.map(|(key, value)| ExistingValue { text, key_end: key.span.end, value })),
        }
    }
}

fn entries(text: &str) -> Result<Vec<(Yaml<'_>, Yaml<'_>)>> {
    let tree = parse_yaml(text).map_err(|broken| anyhow!("it is not YAML: line {}: {}", broken.line, broken.reason))?;
    match tree.kind {
        YamlKind::Map(entries) => Ok(entries),
        YamlKind::Scalar { text, .. } if text.is_empty() => Ok(Vec::new()),
        _ => bail!("it is not a mapping of settings"),
    }
}

fn values(text: &str) -> Result<Vec<(String, Value)>> {
    let value = |(key, value): &(Yaml<'_>, Yaml<'_>)| (Value::from_yaml(key).to_line(), Value::from_yaml(value));
    Ok(entries(text)?.iter().map(value).collect())
}

impl ExistingValue<'_> {
    /// Returns the items of the list. A single value counts as a list of one, and null as an empty list.
    fn items(&self) -> Vec<Value> {
        match Value::from_yaml(&self.value) {
            Value::List(items) => items,
            value if value.is_null() => Vec::new(),
            value => vec![value],
        }
    }

    /// Tells whether the value can be put in brackets: a list, nothing, or a scalar with the same meaning inside of a
    /// flow list, which is one in quotes, or one of letters, digits and the characters of paths.
    fn may_be_item(&self) -> bool {
        let text = self.slice(self.span());
        let is_path = |c: char| c.is_alphanumeric() || "._-/~ \n\r".contains(c);
        let is_plain =
            text.starts_with(|c: char| c.is_alphanumeric() || "._/~".contains(c)) && text.chars().all(is_path);
        // A tag or an anchor is before the value.
        let is_alone = self.slice(self.after_colon()..self.span().start).trim().is_empty();
        let is_text = is_alone && (is_plain || text.starts_with(['"', '\'']));
        matches!(self.value.kind, YamlKind::List(_)) || text.is_empty() || is_text
    }

    /// Returns the text with an item inserted before all others.
    fn with(&self, item: &str) -> String {
        let Range { start, end } = self.span();
        let insert_all = |insertions: [(usize, &str); 2]| {
            let mut text = self.text.to_owned();
            insertions.iter().rev().for_each(|(offset, new)| text.insert_str(*offset, new));
            text
        };
        match &self.value.kind {
            YamlKind::List(items) if self.is_flow() => {
                let comma = if items.is_empty() { "" } else { ", " };
                insert_all([(start + 1, &format!("{item}{comma}")), (end, OUR_ITEM)])
            }
            YamlKind::List(items) => {
                let line = self.line(items.first().map_or(start, |first| first.span.start));
                let first = self.text.get(line.clone()).unwrap_or_default();
                let indent = first.get(..first.len() - first.trim_start().len()).unwrap_or_default();
                let new_line = format!("{indent}- {item}{OUR_ITEM}{}", line_end(self.text));
                insert_all([(line.start, &new_line), (line.start, "")])
            }
            _ if self.value.span.is_empty() => {
                insert_all([(self.after_colon(), &format!(" [{item}]{OUR_LIST}")), (self.after_colon(), "")])
            }
            _ => insert_all([(start, &format!("[{item}, ")), (end, &format!("]{OUR_LIST}"))]),
        }
    }

    /// Returns the ranges that are ours: the item, its comment, and the brackets around the user's value.
    fn managed_ranges(&self, item: &str) -> Vec<Range<usize>> {
        let YamlKind::List(items) = &self.value.kind else { return Vec::new() };
        if !self.is_flow() {
            let lines = items.iter().map(|item| self.line(item.span.start));
            let is_ours = |line: &Range<usize>| self.slice(line.clone()).trim() == format!("- {item}{OUR_ITEM}");
            return lines.filter(is_ours).collect();
        }
        let Range { start, end } = self.span();
        let begins = |offset: usize, prefix: &str| self.slice(offset..self.text.len()).starts_with(prefix);
        let Some(mark) = [OUR_ITEM, OUR_LIST].into_iter().find(|mark| begins(end, mark)) else { return Vec::new() };
        let (first, end_of_mark) = (start + 1, end + mark.len());
        let is_item = |other: &Yaml<'_>| begins(other.span.start, item) && Value::from_yaml(other).to_line() == item;
        let Some(position) = items.iter().position(is_item) else { return Vec::new() };
        let item_start = items[position].span.start;
        let item_end = item_start + item.len();
        // The range includes the comma behind the item, or before it if it is the last one.
        let range = match position {
            _ if begins(item_end, ", ") => item_start..item_end + 2,
            0 => item_start..item_end,
            _ => self.slice(0..item_start).trim_end().trim_end_matches(',').len()..item_end,
        };
        match items.as_slice() {
            [_] if mark == OUR_LIST && self.slice(self.after_colon()..start) == " " => {
                std::iter::once(self.after_colon()..end_of_mark).collect()
            }
            [_, rest] if mark == OUR_LIST && range.start == first && !matches!(rest.kind, YamlKind::List(_)) => {
                vec![start..range.end, end - 1..end_of_mark]
            }
            _ => vec![range, end..end_of_mark],
        }
    }

    /// Returns the range of the value, without white space behind it.
    fn span(&self) -> Range<usize> {
        let Range { start, end } = self.value.span.clone();
        start..start + self.slice(start..end).trim_end().len()
    }

    fn is_flow(&self) -> bool {
        let YamlKind::List(items) = &self.value.kind else { return false };
        // The parser reports a block list without indent as beginning at its first item.
        let is_before_items = items.first().is_none_or(|item| item.span.start > self.value.span.start);
        is_before_items && self.slice(self.span()).starts_with('[')
    }

    fn after_colon(&self) -> usize {
        let rest = self.slice(self.key_end..self.text.len());
        rest.find(':').map_or(self.key_end, |colon| self.key_end + colon + 1)
    }

    /// Returns the range of the line that contains an offset, including its line end.
    fn line(&self, offset: usize) -> Range<usize> {
        let start = self.slice(0..offset).rfind('\n').map_or(0, |end| end + 1);
        let end = self.slice(offset..self.text.len()).find('\n').map_or(self.text.len(), |end| offset + end + 1);
        start..end
    }

    fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITEM: ListItem = ListItem { key: "read", value: "OURS.md" };

    #[test]
    fn what_is_put_in_is_taken_out_to_the_byte() {
        for (old, new) in [
            ("read: a.md", "read: [OURS.md, a.md] # qipu:list"),
            ("read: a.md   # mine\nx: y\n", "read: [OURS.md, a.md] # qipu:list   # mine\nx: y\n"),
            ("x: y\nread:   'a b.md'\r\n", "x: y\nread:   [OURS.md, 'a b.md'] # qipu:list\r\n"),
            ("read: \"a, b\"\n", "read: [OURS.md, \"a, b\"] # qipu:list\n"),
            ("read: a\n  b.md\nx: y", "read: [OURS.md, a\n  b.md] # qipu:list\nx: y"),
            ("read:", "read: [OURS.md] # qipu:list"),
            ("read: # c\nx: y\n", "read: [OURS.md] # qipu:list # c\nx: y\n"),
            ("\"read\" : a.md\n", "\"read\" : [OURS.md, a.md] # qipu:list\n"),
            ("read: []\n", "read: [OURS.md] # qipu:item\n"),
            ("read: [a.md]\n", "read: [OURS.md, a.md] # qipu:item\n"),
            ("read: [ a.md , b.md, ]  # c", "read: [OURS.md,  a.md , b.md, ] # qipu:item  # c"),
            ("read: [ # c\n  a.md, # d\n]\n", "read: [OURS.md,  # c\n  a.md, # d\n] # qipu:item\n"),
            (
                "read:\n  - a.md # c\n  # d\n  - b.md\n",
                "read:\n  - OURS.md # qipu:item\n  - a.md # c\n  # d\n  - b.md\n",
            ),
            ("read: # c\n\n  # d\n  -   a.md", "read: # c\n\n  # d\n  - OURS.md # qipu:item\n  -   a.md"),
            ("x: y\r\nread:\r\n- 'a.md'\r\nz: [q]", "x: y\r\nread:\r\n- OURS.md # qipu:item\r\n- 'a.md'\r\nz: [q]"),
            ("---\nread:\n- [a]\n", "---\nread:\n- OURS.md # qipu:item\n- [a]\n"),
        ] {
            assert_eq!(ITEM.with(old).unwrap(), new);
            assert_eq!((ITEM.is_in(old).unwrap(), ITEM.is_in(new).unwrap()), (Some(false), Some(true)), "{new}");
            assert_eq!(ITEM.without(new).unwrap(), old);
            assert_eq!(ITEM.without(old).unwrap(), old, "nothing there is ours");
        }
    }

    #[test]
    fn what_the_user_has_or_adds_is_not_taken_out() {
        for theirs in ["read: OURS.md\n", "read: [OURS.md]\n", "read:\n- OURS.md\n", "read: ['OURS.md', a]\n"] {
            assert_eq!(ITEM.is_in(theirs).unwrap(), Some(true));
            assert_eq!(ITEM.without(theirs).unwrap(), theirs);
        }
        for (edited, rest) in [
            ("read: [OURS.md, a, b] # qipu:list\n", "read: [a, b]\n"),
            ("read: [OURS.md] # qipu:item\n", "read: []\n"),
            ("read:\n- a\n- OURS.md # qipu:item\n", "read:\n- a\n"),
            ("read: [a, OURS.md] # qipu:item\n", "read: [a]\n"),
            ("read: [a, OURS.md, b] # qipu:item\n", "read: [a, b]\n"),
            ("read: [a, OURS.md] # qipu:list\n", "read: [a]\n"),
        ] {
            assert_eq!(ITEM.without(edited).unwrap(), rest);
        }
        assert_eq!(ITEM.is_in("# read: a\nmodel: x\nmore:\n  read: b\n").unwrap(), None);
        assert_eq!(ITEM.is_in("# nothing\n").unwrap(), None);
    }

    #[test]
    fn what_cant_be_edited_alone_is_refused() {
        for text in [
            "read: ~\n", "read: what?.md\n", "read: ?a\n", "read: !!str a\n", "read: a:b\n", "read: |\n  a.md\n",
            "read: a, b.md\n", "{read: a.md, x: y}\n", "read: a\nread: b\n", "read: [a\n", "- read\n",
            "read: &a\n- x\nb: *a\n",
        ] {
            assert!(ITEM.with(text).is_err(), "{text}: {:?}", ITEM.with(text));
        }
    }
}
