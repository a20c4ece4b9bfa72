//! The markers that a merge leaves around the lines on which two sides disagree (git, *git-merge(1)*, "How conflicts are
//! presented").

/// The number of signs in a marker, which is git's default.
const SIZE: usize = 7;

/// Returns the line, from 1, of the first unresolved conflict in a text: the markers `<<<<<<<`, `=======` and `>>>>>>>`, in
/// this order. Those in a block of code between fences are an example.
pub fn conflict_line(text: &str) -> Option<usize> {
    // Hardly any text has one.
    if !text.contains("<<<<<<<") {
        return None;
    }
    let (mut fence, mut begin, mut is_divided) = (None, None, false);
    for (number, line) in text.lines().enumerate() {
        if is_fence(line, &mut fence) || fence.is_some() {
            // What begins outside of a fence is no example, although its lines may close or open one.
            if begin.is_none() {
                continue;
            }
        }
        match begin {
            _ if is_marker(line, '<') => (begin, is_divided) = (Some(number + 1), false),
            Some(_) if is_marker(line, '=') => is_divided = true,
            Some(line_number) if is_divided && is_marker(line, '>') => return Some(line_number),
            _ => {}
        }
    }
    None
}

/// Tells whether a line is a marker of a sign, with or without a label.
fn is_marker(line: &str, sign: char) -> bool {
    let rest = line.trim_start_matches(sign);
    line.len() - rest.len() == SIZE && (rest.is_empty() || rest.starts_with(' '))
}

/// Tells whether a line opens or closes a fence, and updates the open one: its sign and length.
fn is_fence(line: &str, open: &mut Option<(char, usize)>) -> bool {
    let text = line.trim_start_matches(' ');
    let Some(sign) = text.chars().next().filter(|sign| matches!(sign, '`' | '~')) else { return false };
    let rest = text.trim_start_matches(sign);
    let length = text.len() - rest.len();
    if length < 3 {
        return false;
    }
    match *open {
        None => *open = Some((sign, length)),
        Some((other, least)) if other == sign && length >= least && rest.trim().is_empty() => *open = None,
        Some(_) => return false,
    }
    true
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
