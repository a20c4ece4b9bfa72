//! The markers that a merge leaves around the lines on which two sides disagree (git, *git-merge(1)*, "How conflicts are
//! presented").

use super::enclosures::{Enclosures, Surroundings};
use super::frontmatter::split;

/// The number of signs in a marker, which is git's default.
const SIZE: usize = 7;

/// Returns the line, from 1, of the first unresolved conflict in a text: the markers `<<<<<<<`, `=======` and `>>>>>>>`, in
/// this order. Those in a block of code between fences are an example.
pub fn conflict_line(text: &str) -> Option<usize> {
    // Hardly any text has one.
    if !text.contains("<<<<<<<") {
        return None;
    }
    let body = split(text).body;
    let enclosures = Enclosures::of(text.get(body.clone()).unwrap_or_default(), Surroundings::Own);
    let is_example = |offset: usize| offset.checked_sub(body.start).is_some_and(|offset| enclosures.is_in_code(offset));
    let (mut offset, mut begin, mut is_divided) = (0, None, false);
    for (number, whole_line) in text.split_inclusive('\n').enumerate() {
        let line = whole_line.trim_end_matches(['\r', '\n']);
        match begin {
            // What begins outside of a fence is no example, although its lines may close or open one.
            None if is_example(offset) => {}
            _ if is_marker(line, '<') => (begin, is_divided) = (Some(number + 1), false),
            Some(_) if is_marker(line, '=') => is_divided = true,
            Some(line_number) if is_divided && is_marker(line, '>') => return Some(line_number),
            _ => {}
        }
        offset += whole_line.len();
    }
    None
}

/// Tells whether a line is a marker of a sign, with or without a label.
fn is_marker(line: &str, sign: char) -> bool {
    let rest = line.trim_start_matches(sign);
    line.len() - rest.len() == SIZE && (rest.is_empty() || rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_is_found_where_it_begins() {
        let conflict = "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n";
        for (text, line) in [
            (conflict.to_owned(), Some(1)),
            (format!("x\r\n{}", conflict.replace('\n', "\r\n")), Some(2)),
            (conflict.replace("=======", "||||||| base\nc\n======="), Some(1)),
            ("<<<<<<<\n=======\n>>>>>>>".to_owned(), Some(1)),
            (format!("```\n{conflict}```\n"), None),
            (format!("~~~~ diff\n```\n{conflict}~~~~\n"), None),
            (format!("```\nx\n```\n{conflict}"), Some(4)),
            ("<<<<<<< ours\n```\na\n=======\nb\n>>>>>>> theirs\n```\n".to_owned(), Some(1)),
            (conflict.replace("=======", "======"), None),
            ("<<<<<<< ours\n=======\n".to_owned(), None),
            ("Title\n=======\n>>>>>>> x\n<<<<<<< y\n".to_owned(), None),
            (conflict.replace('<', " <"), None),
            (conflict.replace("<<<<<<< ours", "<<<<<<<ours"), None),
        ] {
            assert_eq!(conflict_line(&text), line, "{text}");
        }
    }
}
