//! One item of a list in a tool's YAML settings, where the user sets that list already: put in and taken out as a
//! splice, so that every other byte stays.
//!
//! A comment says that the item is ours, and whether the list is too: an item without one is the user's.

use std::ops::Range;

use anyhow::{Result, anyhow, bail};

use super::managed_section::line_end;
use crate::note::{Value, Yaml, YamlKind, parse_yaml};

/// The comment behind an item of ours, or behind the list it is in.
const OUR_ITEM: &str = " # qipu:item";
/// The comment behind a list that was made around the one value, or none, that stood there.
const OUR_LIST: &str = " # qipu:list";

/// An item and its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListItem {
    /// The key of the list.
    pub(super) key: &'static str,
    /// The item, a text that needs no quotes.
    pub(super) value: &'static str,
}

/// What the user sets under the key.
struct ExistingValue<'a> {
    text: &'a str,
    /// Where the key's name ends.
    key_end: usize,
    value: Yaml<'a>,
}

impl ListItem {
    /// Tells whether a file sets the key; where it does, whether the item is in its list.
    ///
    /// # Errors
    /// When the file can't be understood, or sets the key twice.
    pub(super) fn is_in(self, text: &str) -> Result<Option<bool>> {
        Ok(self.find(text)?.map(|found| found.items().iter().any(|item| item.to_line() == self.value)))
    }

    /// Returns the file's text with the item first in what the key sets.
    ///
    /// # Errors
    /// As [`Item::is_in`]; or when taking it out would not give back the text as it was.
    pub(super) fn with(self, text: &str) -> Result<String> {
        let Some(found) = self.find(text)? else { return Ok(text.to_owned()) };
        if !found.may_be_item() {
            bail!("the value of `{}` can't be told from one of a list: put quotes around it, or brackets", self.key);
        }
        let new = found.with(self.value);
        let mut wanted = values(text)?;
        for (_, value) in wanted.iter_mut().filter(|(key, _)| key == self.key) {
            let ours = Value::Text { text: self.value.to_owned(), plain: true };
            *value = Value::List([vec![ours], found.items()].concat());
        }
        let is_right = values(&new).is_ok_and(|values| values == wanted);
        if !is_right || self.without(&new)? != text {
            bail!("`{}` is written in a way that nothing can be added to and taken out again", self.key);
        }
        Ok(new)
    }

    /// Returns the file's text without the item where it is ours, and without the list where that is.
    ///
    /// # Errors
    /// As [`Item::is_in`].
    pub(super) fn without(self, text: &str) -> Result<String> {
        let mut rest = text.to_owned();
        // Whatever is wrong with a file, nothing of ours is in it.
        if ![OUR_ITEM, OUR_LIST].iter().any(|mark| text.contains(mark)) {
            return Ok(rest);
        }
        let found = self.find(text)?;
        for cut in found.map(|found| found.ours(self.value)).unwrap_or_default().into_iter().rev() {
            rest.replace_range(cut, "");
        }
        Ok(rest)
    }

    fn find(self, text: &str) -> Result<Option<ExistingValue<'_>>> {
        let named = |(key, _): &(Yaml<'_>, Yaml<'_>)| Value::from_yaml(key).to_line() == self.key;
        let mut found = entries(text)?.into_iter().filter(named);
        match (found.next(), found.next()) {
            (_, Some(_)) => bail!("`{}` is there twice; tools read the last one: make one of them", self.key),
            (found, None) => Ok(found.map(|(key, value)| ExistingValue { text, key_end: key.span.end, value })),
        }
    }
}

fn entries(text: &str) -> Result<Vec<(Yaml<'_>, Yaml<'_>)>> {
    let tree = parse_yaml(text).map_err(|broken| anyhow!("it is not YAML: line {}: {}", broken.line, broken.reason))?;
    match tree.kind {
        YamlKind::Map(entries) => Ok(entries),
        YamlKind::Scalar { text, .. } if text.is_empty() => Ok(Vec::new()),
        _ => bail!("it is not a map of settings"),
    }
}

fn values(text: &str) -> Result<Vec<(String, Value)>> {
    let value = |(key, value): &(Yaml<'_>, Yaml<'_>)| (Value::from_yaml(key).to_line(), Value::from_yaml(value));
    Ok(entries(text)?.iter().map(value).collect())
}

impl ExistingValue<'_> {
    /// Returns the items of the list; one value is a list of one, and nothing is an empty one.
    fn items(&self) -> Vec<Value> {
        match Value::from_yaml(&self.value) {
            Value::List(items) => items,
            value if value.is_null() => Vec::new(),
            value => vec![value],
        }
    }

    /// Tells whether the value is a list, nothing, or what every reader of YAML takes for the same text inside of
    /// brackets: one in quotes, or of letters, digits and what paths have beside these.
    fn may_be_item(&self) -> bool {
        let text = self.says(self.span());
        let is_path = |c: char| c.is_alphanumeric() || "._-/~ \n\r".contains(c);
        let is_plain =
            text.starts_with(|c: char| c.is_alphanumeric() || "._/~".contains(c)) && text.chars().all(is_path);
        // A tag or an anchor stands before the value.
        let is_alone = self.says(self.after_colon()..self.span().start).trim().is_empty();
        let is_text = is_alone && (is_plain || text.starts_with(['"', '\'']));
        matches!(self.value.kind, YamlKind::List(_)) || text.is_empty() || is_text
    }

    /// Returns the text with an item before all others.
    fn with(&self, item: &str) -> String {
        let Range { start, end } = self.span();
        let put = |pieces: [(usize, &str); 2]| {
            let mut text = self.text.to_owned();
            pieces.iter().rev().for_each(|(at, piece)| text.insert_str(*at, piece));
            text
        };
        match &self.value.kind {
            YamlKind::List(items) if self.is_flow() => {
                let comma = if items.is_empty() { "" } else { ", " };
                put([(start + 1, &format!("{item}{comma}")), (end, OUR_ITEM)])
            }
            YamlKind::List(items) => {
                let line = self.line(items.first().map_or(start, |first| first.span.start));
                let first = self.text.get(line.clone()).unwrap_or_default();
                let indent = first.get(..first.len() - first.trim_start().len()).unwrap_or_default();
                let ours = format!("{indent}- {item}{OUR_ITEM}{}", line_end(self.text));
                put([(line.start, &ours), (line.start, "")])
            }
            _ if self.value.span.is_empty() => {
                put([(self.after_colon(), &format!(" [{item}]{OUR_LIST}")), (self.after_colon(), "")])
            }
            _ => put([(start, &format!("[{item}, ")), (end, &format!("]{OUR_LIST}"))]),
        }
    }

    /// Returns what is ours: where the item stands, its comment, and the brackets around the user's value.
    fn ours(&self, item: &str) -> Vec<Range<usize>> {
        let YamlKind::List(items) = &self.value.kind else { return Vec::new() };
        if !self.is_flow() {
            let lines = items.iter().map(|item| self.line(item.span.start));
            let is_ours = |line: &Range<usize>| self.says(line.clone()).trim() == format!("- {item}{OUR_ITEM}");
            return lines.filter(is_ours).collect();
        }
        let Range { start, end } = self.span();
        let begins = |at: usize, piece: &str| self.says(at..self.text.len()).starts_with(piece);
        let Some(mark) = [OUR_ITEM, OUR_LIST].into_iter().find(|mark| begins(end, mark)) else { return Vec::new() };
        let (first, end_of_mark) = (start + 1, end + mark.len());
        let ours =
            items.iter().position(|have| begins(have.span.start, item) && Value::from_yaml(have).to_line() == item);
        let Some(ours) = ours else { return Vec::new() };
        let item_start = items[ours].span.start;
        let item_end = item_start + item.len();
        // With the comma behind it, or of the last one before it.
        let cut = match (begins(item_end, ", "), ours.checked_sub(1)) {
            (true, _) => item_start..item_end + 2,
            (false, None) => item_start..item_end,
            (false, Some(_)) => self.says(0..item_start).trim_end().trim_end_matches(',').len()..item_end,
        };
        match items.as_slice() {
            [_] if mark == OUR_LIST && self.says(self.after_colon()..start) == " " => {
                std::iter::once(self.after_colon()..end_of_mark).collect()
            }
            [_, rest] if mark == OUR_LIST && cut.start == first && !matches!(rest.kind, YamlKind::List(_)) => {
                vec![start..cut.end, end - 1..end_of_mark]
            }
            _ => vec![cut, end..end_of_mark],
        }
    }

    /// Returns where the value stands, without white space behind it.
    fn span(&self) -> Range<usize> {
        let Range { start, end } = self.value.span.clone();
        start..start + self.says(start..end).trim_end().len()
    }

    fn is_flow(&self) -> bool {
        let YamlKind::List(items) = &self.value.kind else { return false };
        // A block list without an indent begins, for the parser, where its first item does.
        let is_before_items = items.first().is_none_or(|item| item.span.start > self.value.span.start);
        is_before_items && self.says(self.span()).starts_with('[')
    }

    fn after_colon(&self) -> usize {
        let rest = self.says(self.key_end..self.text.len());
        rest.find(':').map_or(self.key_end, |colon| self.key_end + colon + 1)
    }

    /// Returns the line that a byte is in, its end included.
    fn line(&self, at: usize) -> Range<usize> {
        let start = self.says(0..at).rfind('\n').map_or(0, |end| end + 1);
        let end = self.says(at..self.text.len()).find('\n').map_or(self.text.len(), |end| at + end + 1);
        start..end
    }

    fn says(&self, range: Range<usize>) -> &str {
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
            "read: ~\n",
            "read: what?.md\n",
            "read: ?a\n",
            "read: !!str a\n",
            "read: a:b\n",
            "read: |\n  a.md\n",
            "read: a, b.md\n",
            "read: &a\n- x\nfiles: *a\n",
            "{read: a.md, x: y}\n",
            "read: a\nread: b\n",
            "read: [a\n",
            "- read\n",
        ] {
            assert!(ITEM.with(text).is_err(), "{text}: {:?}", ITEM.with(text));
        }
    }
}
