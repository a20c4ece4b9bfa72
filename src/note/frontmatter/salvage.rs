//! Finding the fields of frontmatter that is not YAML, or is not closed.

use std::ops::Range;

use super::super::yaml;
use super::lines_from;

/// Returns the first [`yaml::MAX_BYTES`] bytes of a text, in which fields are searched for.
pub(super) fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(yaml::MAX_BYTES)).unwrap_or_default()
}

/// Returns the bytes of the lines after the opening marker at an offset that may be fields: keys and the indented lines below
/// them.
pub(crate) fn leading_fields(text: &str, marker: usize) -> Range<usize> {
    let mut lines = lines_from(text, marker);
    let start = lines.next().map_or(marker, |first| first.end);
    let is_field = |line: &Range<usize>| {
        let line = text.get(line.clone()).unwrap_or_default();
        line.starts_with([' ', '-']) || has_key(line)
    };
    let end = lines.take_while(is_field).last().map_or(start, |line| line.end);
    start..start + head(text.get(start..end).unwrap_or_default()).len()
}

pub(super) fn has_key(line: &str) -> bool {
    let is_key = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    line.split_once(':').is_some_and(|(key, _)| is_key(key.trim_matches(['"', '\''])))
}

pub(super) fn unquoted(text: &str) -> &str {
    ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(text)
}

/// Splits YAML before each top-level key. Returns chunks with the number of lines of the file before them.
pub(super) fn chunks(yaml: &str) -> Vec<(usize, &str)> {
    let mut starts = Vec::new();
    for (index, line) in lines_from(yaml, 0).enumerate() {
        let text = yaml.get(line.clone()).unwrap_or_default();
        if has_key(text) || starts.is_empty() {
            starts.push((index + 1, line.start));
        }
    }
    let ends = starts.iter().skip(1).map(|(_, start)| *start).chain([yaml.len()]);
    let chunks = starts.iter().zip(ends);
    chunks.filter_map(|((lines_before, start), end)| Some((*lines_before, yaml.get(*start..end)?))).collect()
}
