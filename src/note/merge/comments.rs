//! Comments inside a field are merged as what they stand at is: what one side wrote stays, what one
//! side took out goes. Where that can't be said in a text, it is no result.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::super::document::Document;
use super::super::items::plain;
use super::super::value::Value;
use super::super::yaml::{Kind, Yaml};
use super::field::Ends;
use super::sheet::Piece;

/// A line of a field: what it says, and a comment behind that.
#[derive(Clone)]
struct Line {
    /// What stands before the comment, line end and white space at its end left out.
    code: String,
    /// The white space before the comment.
    gap: String,
    comment: Option<String>,
}

impl Line {
    fn is_comment(&self) -> bool {
        self.code.is_empty() && self.comment.is_some()
    }

    fn written(&self) -> String {
        format!("{}{}{}", self.code, self.gap, self.comment.as_deref().unwrap_or_default())
    }
}

/// Gives a merged field the comments that it is to have: `None` where its lines have no place for
/// them, or the sides disagree.
pub(super) fn settle(
    key: &str,
    merged: Option<Piece>,
    [base, ours, theirs]: [Option<&Piece>; 3],
    end: Ends,
) -> Option<Option<Piece>> {
    let [base, ours, theirs] = [lines_of(base, end)?, lines_of(ours, end)?, lines_of(theirs, end)?];
    let wanted = merged_counts([&base, &ours, &theirs].map(|lines| counts(lines)))?;
    let Some(piece) = merged else { return wanted.is_empty().then_some(None) };
    let mut lines = lines_of(Some(&piece), end)?;
    if counts(&lines) == wanted {
        return Some(Some(piece));
    }
    let unwanted: BTreeSet<String> = counts(&lines)
        .into_iter()
        .filter(|(text, have)| wanted.get(text).is_none_or(|count| count < have))
        .map(|(text, _)| text)
        .collect();
    for text in unwanted {
        take_out(&mut lines, &text)?;
    }
    for source in [&theirs, &ours] {
        for (place, line) in source.iter().enumerate() {
            let Some(text) = &line.comment else { continue };
            let have = counts(&lines).get(text).copied().unwrap_or_default();
            if wanted.get(text).is_some_and(|count| have < *count) {
                put_in(&mut lines, source, place);
            }
        }
    }
    let text: String = lines.iter().map(|line| line.written() + end).collect();
    let document = Document::parse(&text, end).ok()?;
    let is_right = matches!(document.values().as_slice(), [(have, value)] if have == key && plain(value) == plain(&piece.value))
        && counts(&read(&document, &text)) == wanted;
    is_right.then_some(Some(Piece { lines: text, ..piece }))
}

/// Removes a comment that stands in one place.
fn take_out(lines: &mut Vec<Line>, text: &str) -> Option<()> {
    let is_meant = |line: &Line| line.comment.as_deref() == Some(text);
    let place = lines.iter().position(is_meant)?;
    if lines.iter().filter(|line| is_meant(line)).count() > 1 {
        return None;
    }
    match lines.get_mut(place) {
        Some(line) if !line.is_comment() => (line.gap, line.comment) = (String::new(), None),
        _ => drop(lines.remove(place)),
    }
    Some(())
}

/// Puts a comment where it stands in its source: behind the same words, above or below the same line.
fn put_in(lines: &mut Vec<Line>, source: &[Line], place: usize) {
    let Some(line) = source.get(place) else { return };
    let only = |lines: &[Line], code: &str| {
        let mut found = (0..lines.len()).filter(|at| lines.get(*at).is_some_and(|line| line.code.trim() == code));
        found.next().filter(|_| found.next().is_none())
    };
    if !line.is_comment() {
        let is_one_line = |lines: &[Line]| lines.iter().filter(|line| !line.code.is_empty()).count() == 1;
        let same = only(lines, line.code.trim());
        let at = same.or_else(|| (is_one_line(source) && is_one_line(lines)).then_some(0));
        if let Some(host) = at.and_then(|at| lines.get_mut(at)).filter(|host| host.comment.is_none()) {
            (host.gap, host.comment) = (line.gap.clone(), line.comment.clone());
        }
        return;
    }
    let is_code = |line: &&Line| !line.code.is_empty();
    let below = source.get(place..).unwrap_or_default().iter().find(is_code);
    let above = source.get(..place).unwrap_or_default().iter().rev().find(is_code);
    let at = match below {
        Some(next) => only(lines, next.code.trim()),
        None => above.and_then(|last| only(lines, last.code.trim())).map(|at| at + 1),
    };
    if let Some(at) = at {
        lines.insert(at, line.clone());
    }
}

/// Reads a field's lines; no field has none. `None` where they can't be understood on their own.
fn lines_of(piece: Option<&Piece>, end: Ends) -> Option<Vec<Line>> {
    let Some(Piece { lines, .. }) = piece else { return Some(Vec::new()) };
    Some(read(&Document::parse(lines, end).ok()?, lines))
}

fn read(document: &Document<'_>, text: &str) -> Vec<Line> {
    let mut texts = Vec::new();
    for (key, value) in &document.entries {
        scalars(key, &mut texts);
        scalars(value, &mut texts);
    }
    let mut start = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        let opens = |at: &usize| {
            let is_apart = bare.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t']));
            is_apart && !texts.iter().any(|text: &Range<usize>| text.contains(&(start + at)))
        };
        let (before, comment) = match bare.match_indices('#').map(|(at, _)| at).find(opens) {
            Some(at) => bare.split_at(at),
            None => (bare, ""),
        };
        // White space at the end of a line of a text is the text's.
        let code = if comment.is_empty() { before } else { before.trim_end() };
        let gap = before.get(code.len()..).unwrap_or_default().to_owned();
        let comment = (!comment.is_empty()).then(|| comment.trim_end().to_owned());
        lines.push(Line { code: code.to_owned(), gap, comment });
        start += line.len();
    }
    lines
}

/// Collects where texts stand, in which no comment can.
fn scalars(node: &Yaml<'_>, found: &mut Vec<Range<usize>>) {
    match &node.kind {
        Kind::Scalar { .. } => found.push(node.span.clone()),
        Kind::List(items) => items.iter().for_each(|item| scalars(item, found)),
        Kind::Map(entries) => entries.iter().for_each(|(key, value)| {
            scalars(key, found);
            scalars(value, found);
        }),
    }
}

/// How often each comment stands.
type Counts = BTreeMap<String, usize>;

fn counts(lines: &[Line]) -> Counts {
    let mut counts = Counts::new();
    for text in lines.iter().filter_map(|line| line.comment.clone()) {
        *counts.entry(text).or_default() += 1;
    }
    counts
}

fn merged_counts([base, ours, theirs]: [Counts; 3]) -> Option<Counts> {
    let texts: BTreeSet<&String> = base.keys().chain(ours.keys()).chain(theirs.keys()).collect();
    let mut merged = Counts::new();
    for text in texts {
        let [base, ours, theirs] = [&base, &ours, &theirs].map(|counts| counts.get(text).copied().unwrap_or_default());
        let count = match () {
            () if theirs == base || theirs == ours => ours,
            () if ours == base => theirs,
            () => return None,
        };
        if count > 0 {
            merged.insert(text.clone(), count);
        }
    }
    Some(merged)
}

/// Writes a field's value into the lines of another, as it is written where it comes from.
pub(super) fn with_value_of(piece: &Piece, from: &Piece, end: Ends) -> Option<String> {
    let is_text = |piece: &Piece| matches!(piece.value, Value::Text { .. });
    let place = |piece: &Piece| {
        let document = Document::parse(&piece.lines, end).ok()?;
        let [(_, value)] = document.entries.as_slice() else { return None };
        let written = piece.lines.get(value.span.clone())?.trim_end();
        (!written.is_empty()).then(|| value.span.start..value.span.start + written.len())
    };
    if !is_text(piece) || !is_text(from) {
        return None;
    }
    let (old, new) = (place(piece)?, from.lines.get(place(from)?)?);
    let (before, after) = (piece.lines.get(..old.start)?, piece.lines.get(old.end..)?);
    Some(format!("{before}{new}{after}"))
}
