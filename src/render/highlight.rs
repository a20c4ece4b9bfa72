//! Marks the words of the query in a snippet without colours: with `**`, as markdown does.

use std::ops::Range;

use crate::report::SnippetText;

/// Returns the text of a snippet with `**` around its marks. Marks that would change a link, code or part of a longer
/// word are left out, so that the text can be copied.
pub(super) fn in_markdown(snippet: &SnippetText) -> String {
    let text = snippet.text.as_str();
    let verbatim = verbatim_ranges(text);
    let marks = snippet.marks.iter().filter(|mark| can_be_marked(text, mark, &verbatim));
    marked(text, marks, |word| format!("**{word}**"))
}

/// Returns a text with the ranges that `marks` gives, ascending, replaced by what `mark` makes of them.
pub(super) fn marked<'a>(
    text: &str,
    marks: impl Iterator<Item = &'a Range<usize>>,
    mark: impl Fn(&str) -> String,
) -> String {
    let mut out = String::new();
    let mut end = 0;
    for range in marks {
        out.push_str(text.get(end..range.start).unwrap_or_default());
        out.push_str(&mark(text.get(range.clone()).unwrap_or_default()));
        end = range.end;
    }
    out + text.get(end..).unwrap_or_default()
}

/// Whether the mark touches no verbatim range and no letter of a longer word.
fn can_be_marked(text: &str, mark: &Range<usize>, verbatim: &[Range<usize>]) -> bool {
    let before = text.get(..mark.start).and_then(|before| before.chars().next_back());
    let after = text.get(mark.end..).and_then(|after| after.chars().next());
    // In scripts without spaces, most words have a letter on both sides.
    let joins = |c: char| c.is_ascii_alphanumeric() || matches!(c, '*' | '_' | '-' | '/' | '\\');
    let is_inside = verbatim.iter().any(|range| range.start < mark.end && mark.start < range.end);
    !is_inside && !before.is_some_and(joins) && !after.is_some_and(joins)
}

/// Returns the byte ranges of wiki links, link targets and code. A range that the snippet cuts ends with the snippet.
fn verbatim_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut offset = 0;
    while let Some(rest) = text.get(offset..) {
        let opening = [("[[", "]]"), ("](", ")"), ("`", "`")].into_iter();
        let first = opening.filter_map(|(open, close)| Some((rest.find(open)?, open, close))).min();
        let Some((start, open, close)) = first else { break };
        let inside = start + open.len();
        let length = rest.get(inside..).and_then(|rest| rest.find(close));
        let end = length.map_or(rest.len(), |length| inside + length + close.len());
        ranges.push(offset + start..offset + end);
        offset += end;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stay_out_of_links_code_and_words() {
        for (text, word, expected) in [
            ("Manage sites here", "sites", "Manage **sites** here"),
            ("[[Manage sites]] and sites", "sites", "[[Manage sites]] and **sites**"),
            ("a [site](my-site.md) and `site` x", "site", "a [**site**](my-site.md) and `site` x"),
            ("my-amazing-site", "site", "my-amazing-site"),
            ("**Linking** to", "Linking", "**Linking** to"),
            ("再起動後に末尾の", "末尾", "再起動後に**末尾**の"),
            ("…a [[cut site", "site", "…a [[cut site"),
            ("site", "site", "**site**"),
        ] {
            let marks = text.match_indices(word).map(|(at, word)| at..at + word.len()).collect();
            assert_eq!(in_markdown(&SnippetText { text: text.to_owned(), marks, line: 1 }), expected);
        }
    }
}
