//! Comments inside a field are merged as what they stand at is: what one side wrote stays, what one
//! side took out goes. Where that can't be said in a text, it is no result.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::super::items::plain;
use super::super::value::Value;
use super::super::yaml::{Yaml, YamlNode};
use super::super::yaml_document::YamlDocument;
use super::field::LineEnding;
use super::field_lines::FieldText;

/// A line of a field: what it says, and a comment behind that.
#[derive(Clone)]
struct CommentedLine {
    /// What stands before the comment, line end and white space at its end left out.
    code: String,
    /// The white space before the comment.
    gap: String,
    comment: Option<String>,
}

impl CommentedLine {
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
    merged: Option<FieldText>,
    [base, ours, theirs]: [Option<&FieldText>; 3],
    end: LineEnding,
) -> Option<Option<FieldText>> {
    let [base, ours, theirs] = [lines_of(base, end)?, lines_of(ours, end)?, lines_of(theirs, end)?];
    let wanted = merged_counts([&base, &ours, &theirs].map(|lines| counts(lines)))?;
    let Some(piece) = merged else { return wanted.is_empty().then_some(None) };
    let mut lines = lines_of(Some(&piece), end)?;
    if counts(&lines) == wanted {
        return Some(Some(piece));
    }
    take_out(&mut lines, |text, have| wanted.get(text).is_none_or(|count| *count < have))?;
    let lines = with_comments(lines, [&theirs, &ours], &wanted);
    let text: String = lines.iter().map(|line| line.written() + end).collect();
    let document = YamlDocument::parse(&text, end).ok()?;
    let is_right = matches!(document.values().as_slice(), [(have, value)] if have == key && plain(value) == plain(&piece.value))
        && counts(&read(&document, &text)) == wanted;
    is_right.then_some(Some(FieldText { lines: text, ..piece }))
}

/// Removes the comments that are unwanted, given how often each stands; `None` where one of them stands in several
/// places.
fn take_out(lines: &mut Vec<CommentedLine>, is_unwanted: impl Fn(&str, usize) -> bool) -> Option<()> {
    let have = counts(lines);
    let unwanted: HashSet<&String> =
        have.iter().filter(|(text, count)| is_unwanted(text, **count)).map(|(text, _)| text).collect();
    if unwanted.iter().any(|text| have.get(*text).is_some_and(|count| *count > 1)) {
        return None;
    }
    let is_meant = |line: &CommentedLine| line.comment.as_ref().is_some_and(|text| unwanted.contains(text));
    lines.retain(|line| !(line.is_comment() && is_meant(line)));
    for line in lines.iter_mut().filter(|line| is_meant(line)) {
        (line.gap, line.comment) = (String::new(), None);
    }
    Some(())
}

/// Adds the comments that are wanted and not there, where they stand in their sources. One without such a place is
/// not added.
fn with_comments(
    mut lines: Vec<CommentedLine>,
    sources: [&[CommentedLine]; 2],
    wanted: &CommentCounts,
) -> Vec<CommentedLine> {
    let mut have = counts(&lines);
    let (places, only_line) = (places(&lines), only_code(&lines));
    // Comments that come above a line and below it.
    let mut added = vec![(Vec::new(), Vec::new()); lines.len()];
    for source in sources {
        let next_code = code_around(source.iter().enumerate().rev());
        let last_code = code_around(source.iter().enumerate());
        let only_line = only_code(source).and(only_line);
        for (place, line) in source.iter().enumerate() {
            let Some(text) = &line.comment else { continue };
            if wanted.get(text).copied().unwrap_or_default() <= have.get(text).copied().unwrap_or_default() {
                continue;
            }
            let place_of = |line: &CommentedLine| places.get(line.code.trim()).copied().flatten();
            let at = |around: &[Option<usize>]| around.get(place).copied().flatten().and_then(|at| source.get(at));
            let is_put = if !line.is_comment() {
                let host = place_of(line).or(only_line);
                put_behind(host.and_then(|host| lines.get_mut(host)), line)
            } else if let Some(next) = at(&next_code) {
                let above = place_of(next).and_then(|place| added.get_mut(place)).map(|(above, _)| above);
                above.map(|above| above.push(line.clone())).is_some()
            } else {
                let last = at(&last_code).and_then(place_of);
                let below = last.and_then(|place| added.get_mut(place)).map(|(_, below)| below);
                below.map(|below| below.push(line.clone())).is_some()
            };
            if is_put {
                *have.entry(text.clone()).or_default() += 1;
            }
        }
    }
    let with_added = |(line, (mut above, below)): (CommentedLine, (Vec<CommentedLine>, Vec<CommentedLine>))| {
        above.push(line);
        above.extend(below);
        above
    };
    lines.into_iter().zip(added).flat_map(with_added).collect()
}

/// Gives a line the comment of another, unless it has one.
fn put_behind(host: Option<&mut CommentedLine>, line: &CommentedLine) -> bool {
    let Some(host) = host.filter(|host| host.comment.is_none()) else { return false };
    (host.gap, host.comment) = (line.gap.clone(), line.comment.clone());
    true
}

/// Returns where each code stands; `None` for one that stands in several places.
fn places(lines: &[CommentedLine]) -> HashMap<String, Option<usize>> {
    let mut places = HashMap::new();
    for (place, line) in lines.iter().enumerate() {
        places.entry(line.code.trim().to_owned()).and_modify(|place| *place = None).or_insert(Some(place));
    }
    places
}

/// Returns the place of the one line that is not a comment or blank.
fn only_code(lines: &[CommentedLine]) -> Option<usize> {
    let mut found = lines.iter().enumerate().filter(|(_, line)| !line.code.is_empty());
    let (place, _) = found.next()?;
    found.next().is_none().then_some(place)
}

/// Returns, for each line, the place of the last line with code that was passed on the way to it.
fn code_around<'l>(lines: impl ExactSizeIterator<Item = (usize, &'l CommentedLine)>) -> Vec<Option<usize>> {
    let mut around = vec![None; lines.len()];
    let mut last = None;
    for (place, line) in lines {
        if !line.code.is_empty() {
            last = Some(place);
        }
        if let Some(slot) = around.get_mut(place) {
            *slot = last;
        }
    }
    around
}

/// Reads a field's lines; no field has none. `None` where they can't be understood on their own.
fn lines_of(piece: Option<&FieldText>, end: LineEnding) -> Option<Vec<CommentedLine>> {
    let Some(FieldText { lines, .. }) = piece else { return Some(Vec::new()) };
    Some(read(&YamlDocument::parse(lines, end).ok()?, lines))
}

fn read(document: &YamlDocument<'_>, text: &str) -> Vec<CommentedLine> {
    let mut texts = Vec::new();
    for (key, value) in &document.entries {
        scalars(key, &mut texts);
        scalars(value, &mut texts);
    }
    // An alias has the place of what it stands for.
    texts.sort_by_key(|text| text.start);
    let is_text = |at: usize| {
        let begun = texts.partition_point(|text| text.start <= at);
        begun.checked_sub(1).and_then(|last| texts.get(last)).is_some_and(|text| text.contains(&at))
    };
    let mut start = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        let opens = |at: &usize| {
            let is_apart = bare.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t']));
            is_apart && !is_text(start + at)
        };
        let (before, comment) = match bare.match_indices('#').map(|(at, _)| at).find(opens) {
            Some(at) => bare.split_at(at),
            None => (bare, ""),
        };
        // White space at the end of a line of a text is the text's.
        let code = if comment.is_empty() { before } else { before.trim_end() };
        let gap = before.get(code.len()..).unwrap_or_default().to_owned();
        let comment = (!comment.is_empty()).then(|| comment.trim_end().to_owned());
        lines.push(CommentedLine { code: code.to_owned(), gap, comment });
        start += line.len();
    }
    lines
}

/// Collects where texts stand, in which no comment can.
fn scalars(node: &Yaml<'_>, found: &mut Vec<Range<usize>>) {
    match &node.kind {
        YamlNode::Scalar { .. } if node.span.is_empty() => {}
        YamlNode::Scalar { .. } => found.push(node.span.clone()),
        YamlNode::List(items) => items.iter().for_each(|item| scalars(item, found)),
        YamlNode::Map(entries) => entries.iter().for_each(|(key, value)| {
            scalars(key, found);
            scalars(value, found);
        }),
    }
}

/// How often each comment stands.
type CommentCounts = BTreeMap<String, usize>;

fn counts(lines: &[CommentedLine]) -> CommentCounts {
    let mut counts = CommentCounts::new();
    for text in lines.iter().filter_map(|line| line.comment.clone()) {
        *counts.entry(text).or_default() += 1;
    }
    counts
}

fn merged_counts([base, ours, theirs]: [CommentCounts; 3]) -> Option<CommentCounts> {
    let texts: BTreeSet<&String> = base.keys().chain(ours.keys()).chain(theirs.keys()).collect();
    let mut merged = CommentCounts::new();
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
pub(super) fn with_value_of(piece: &FieldText, from: &FieldText, end: LineEnding) -> Option<String> {
    let is_text = |piece: &FieldText| matches!(piece.value, Value::Text { .. });
    let place = |piece: &FieldText| {
        let document = YamlDocument::parse(&piece.lines, end).ok()?;
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
