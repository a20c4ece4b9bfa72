//! The three-way merge of the comments inside a field: a comment that one side added stays, one that a side removed is
//! removed.
//!
//! Comments are a multiset of texts. The merged multiset is computed first; then the lines of the merged field are brought
//! to it. If that is not possible, there is no result.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::super::list_fields::plain;
use super::super::value::Value;
use super::super::verified_edit::FieldText;
use super::super::yaml::{Yaml, YamlNode};
use super::super::yaml_document::YamlDocument;

/// A line of a field, split into YAML and a comment.
#[derive(Clone)]
struct CommentedLine {
    /// The text before the comment, without white space at its end and the line ending.
    code: String,
    /// The white space before the comment.
    gap: String,
    /// The comment with its `#`; empty if there is none.
    comment: String,
}

impl CommentedLine {
    fn is_comment(&self) -> bool {
        self.code.is_empty() && !self.comment.is_empty()
    }

    fn text(&self) -> String {
        [self.code.as_str(), &self.gap, &self.comment].concat()
    }
}

/// Gives a merged field the merged comments of the three sides. `None` if the sides conflict, or if the lines of the field
/// have no position for a comment; `Some(None)` if the field is removed.
pub(super) fn merge_comments(
    key: &str,
    merged: Option<FieldText>,
    [base, ours, theirs]: [Option<&FieldText>; 3],
) -> Option<Option<FieldText>> {
    let [base, ours, theirs] = [lines_of(base)?, lines_of(ours)?, lines_of(theirs)?];
    let expected = merged_counts([&base, &ours, &theirs].map(|lines| counts(lines)))?;
    let Some(field) = merged else { return expected.is_empty().then_some(None) };
    let mut lines = lines_of(Some(&field))?;
    if counts(&lines) == expected {
        return Some(Some(field));
    }
    remove_comments(&mut lines, |text, count| expected.get(text).is_none_or(|expected| *expected < count))?;
    let lines = with_comments(lines, [&theirs, &ours], &expected);
    let text: String = lines.iter().map(|line| line.text() + field.line_end).collect();
    let document = YamlDocument::parse(&text, field.line_end).ok()?;
    let is_expected = matches!(document.values().as_slice(), [(name, value)] if name == key && plain(value) == plain(&field.value))
        && counts(&split_comments(&document)) == expected;
    is_expected.then_some(Some(FieldText { lines: text, ..field }))
}

/// Removes comments by text and number of occurrences; `None` if it is not known which of several equal ones to remove.
fn remove_comments(lines: &mut Vec<CommentedLine>, is_unwanted: impl Fn(&str, usize) -> bool) -> Option<()> {
    let counts = counts(lines);
    if counts.iter().any(|(text, count)| *count > 1 && is_unwanted(text, *count)) {
        return None;
    }
    let unwanted = counts.iter().filter(|(text, count)| is_unwanted(text, **count));
    let unwanted: HashSet<&String> = unwanted.map(|(text, _)| text).collect();
    let has_unwanted = |line: &CommentedLine| unwanted.contains(&line.comment);
    lines.retain(|line| !(line.is_comment() && has_unwanted(line)));
    for line in lines.iter_mut().filter(|line| has_unwanted(line)) {
        (line.gap, line.comment) = (String::new(), String::new());
    }
    Some(())
}

/// Adds the missing comments at the lines at which the sources have them, if there are such lines.
fn with_comments(
    mut lines: Vec<CommentedLine>,
    sources: [&[CommentedLine]; 2],
    expected: &CommentCounts,
) -> Vec<CommentedLine> {
    let mut counts = counts(&lines);
    let (line_by_code, only_line) = (line_by_code(&lines), only_code(&lines));
    // The comments to insert above and below each line.
    let (mut above, mut below) = (vec![Vec::new(); lines.len()], vec![Vec::new(); lines.len()]);
    for source in sources {
        let next_code = nearest_code(source.iter().rev()).into_iter().rev();
        let codes = next_code.zip(nearest_code(source.iter()));
        let only_line = only_code(source).and(only_line);
        for (line, (next_code, last_code)) in source.iter().zip(codes) {
            let text = &line.comment;
            let count = |counts: &CommentCounts| counts.get(text).copied().unwrap_or_default();
            if text.is_empty() || count(expected) <= count(&counts) {
                continue;
            }
            let host_of = |line: &CommentedLine| line_by_code.get(line.code.trim()).copied().flatten();
            let is_added = if line.is_comment() {
                let inserted = match next_code {
                    Some(next) => host_of(next).and_then(|host| above.get_mut(host)),
                    None => last_code.and_then(host_of).and_then(|host| below.get_mut(host)),
                };
                inserted.map(|inserted| inserted.push(line.clone())).is_some()
            } else {
                let host = host_of(line).or(only_line).and_then(|host| lines.get_mut(host));
                let host = host.filter(|host| host.comment.is_empty());
                host.map(|host| (host.gap, host.comment) = (line.gap.clone(), text.clone())).is_some()
            };
            if is_added {
                *counts.entry(text.clone()).or_default() += 1;
            }
        }
    }
    let lines = above.into_iter().zip(lines).zip(below);
    lines.flat_map(|((above, line), below)| above.into_iter().chain([line]).chain(below)).collect()
}

/// Returns the index of the line of each code; `None` for code that occurs on several lines.
fn line_by_code(lines: &[CommentedLine]) -> HashMap<String, Option<usize>> {
    let mut line_by_code = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        let first = line_by_code.entry(line.code.trim().to_owned());
        first.and_modify(|line| *line = None).or_insert(Some(index));
    }
    line_by_code
}

/// Returns the index of the only line with code; `None` if there are several or none.
fn only_code(lines: &[CommentedLine]) -> Option<usize> {
    let mut with_code = lines.iter().enumerate().filter(|(_, line)| !line.code.is_empty());
    let (index, _) = with_code.next()?;
    with_code.next().is_none().then_some(index)
}

/// Returns, for each line, the last line with code up to it.
fn nearest_code<'l>(lines: impl Iterator<Item = &'l CommentedLine>) -> Vec<Option<&'l CommentedLine>> {
    let next = |last: &mut Option<&'l CommentedLine>, line: &'l CommentedLine| {
        *last = Some(line).filter(|line| !line.code.is_empty()).or(*last);
        Some(*last)
    };
    lines.scan(None, next).collect()
}

/// Returns the lines of a field; an absent field has none. `None` if they are not YAML by themselves.
fn lines_of(field: Option<&FieldText>) -> Option<Vec<CommentedLine>> {
    let Some(FieldText { lines, line_end, .. }) = field else { return Some(Vec::new()) };
    Some(split_comments(&YamlDocument::parse(lines, line_end).ok()?))
}

fn split_comments(document: &YamlDocument<'_>) -> Vec<CommentedLine> {
    let mut scalars = Vec::new();
    for (key, value) in &document.entries {
        collect_scalars(key, &mut scalars);
        collect_scalars(value, &mut scalars);
    }
    // The children of an alias have the ranges of its anchor, so that ranges may be out of order.
    scalars.sort_by_key(|scalar| scalar.start);
    let is_in_scalar = |offset: usize| {
        let count = scalars.partition_point(|scalar| scalar.start <= offset);
        count.checked_sub(1).and_then(|last| scalars.get(last)).is_some_and(|scalar| scalar.contains(&offset))
    };
    let mut start = 0;
    let mut lines = Vec::new();
    for line in document.yaml.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        let begins_comment = |offset: &usize| {
            let has_space =
                bare.get(..*offset).is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t']));
            has_space && !is_in_scalar(start + offset)
        };
        let hash = bare.match_indices('#').map(|(offset, _)| offset).find(begins_comment);
        let (before, comment) = hash.map_or((bare, ""), |offset| bare.split_at(offset));
        // Without a comment, white space at the end of the line may belong to a text.
        let code = if comment.is_empty() { before } else { before.trim_end() };
        let gap = before.get(code.len()..).unwrap_or_default().to_owned();
        lines.push(CommentedLine { code: code.to_owned(), gap, comment: comment.trim_end().to_owned() });
        start += line.len();
    }
    lines
}

/// Collects the byte ranges of scalars, in which `#` begins no comment.
fn collect_scalars(node: &Yaml<'_>, ranges: &mut Vec<Range<usize>>) {
    match &node.kind {
        YamlNode::Scalar { .. } if node.span.is_empty() => {}
        YamlNode::Scalar { .. } => ranges.push(node.span.clone()),
        YamlNode::List(items) => items.iter().for_each(|item| collect_scalars(item, ranges)),
        YamlNode::Map(entries) => entries.iter().for_each(|(key, value)| {
            collect_scalars(key, ranges);
            collect_scalars(value, ranges);
        }),
    }
}

type CommentCounts = BTreeMap<String, usize>;

fn counts(lines: &[CommentedLine]) -> CommentCounts {
    let mut counts = CommentCounts::new();
    for line in lines.iter().filter(|line| !line.comment.is_empty()) {
        *counts.entry(line.comment.clone()).or_default() += 1;
    }
    counts
}

/// Merges the counts of comments; `None` if both sides changed one of them in different ways.
fn merged_counts([base, ours, theirs]: [CommentCounts; 3]) -> Option<CommentCounts> {
    let texts: BTreeSet<&String> = base.keys().chain(ours.keys()).chain(theirs.keys()).collect();
    let merged_count = |text: &String| {
        let [base, ours, theirs] = [&base, &ours, &theirs].map(|counts| counts.get(text).copied().unwrap_or_default());
        if theirs == base || theirs == ours { Some(ours) } else { (ours == base).then_some(theirs) }
    };
    let merged = texts.into_iter().map(|text| Some((text.clone(), merged_count(text)?)));
    let mut merged = merged.collect::<Option<CommentCounts>>()?;
    merged.retain(|_, count| *count > 0);
    Some(merged)
}

/// Writes the text of one field into the lines of another, in its own spelling; `None` unless both are texts.
pub(super) fn with_value_of(field: &FieldText, from: &FieldText) -> Option<String> {
    let is_text = |field: &FieldText| matches!(field.value, Value::Text { .. });
    let range_of_value = |field: &FieldText| {
        let document = YamlDocument::parse(&field.lines, field.line_end).ok()?;
        let [(_, value)] = document.entries.as_slice() else { return None };
        let source = field.lines.get(value.span.clone())?.trim_end();
        (!source.is_empty()).then(|| value.span.start..value.span.start + source.len())
    };
    if !is_text(field) || !is_text(from) {
        return None;
    }
    let (old, new) = (range_of_value(field)?, from.lines.get(range_of_value(from)?)?);
    let (before, after) = (field.lines.get(..old.start)?, field.lines.get(old.end..)?);
    Some(format!("{before}{new}{after}"))
}
