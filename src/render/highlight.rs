//! Marks matched words in a snippet where there is no colour: with `**`, as Markdown does.

use std::ops::Range;

use crate::report::SnippetText;

/// Returns the snippet's text with `**` around its marks. Marks that would change a link, code or a word that goes on
/// are left out, since somebody may copy the text.
pub(super) fn in_markdown(snippet: &SnippetText) -> String {
    let text = snippet.text.as_str();
    let fixed = fixed_ranges(text);
    let mut out = String::new();
    let mut at = 0;
    for mark in snippet.marks.iter().filter(|mark| can_be_marked(text, mark, &fixed)) {
        out.push_str(text.get(at..mark.start).unwrap_or_default());
        out.push_str(&format!("**{}**", text.get((*mark).clone()).unwrap_or_default()));
        at = mark.end;
    }
    out + text.get(at..).unwrap_or_default()
}

fn can_be_marked(text: &str, mark: &Range<usize>, fixed: &[Range<usize>]) -> bool {
    let before = text.get(..mark.start).and_then(|before| before.chars().next_back());
    let after = text.get(mark.end..).and_then(|after| after.chars().next());
    // Scripts without spaces have a letter on both sides of most words.
    let goes_on = |c: char| c.is_ascii_alphanumeric() || matches!(c, '*' | '_' | '-' | '/' | '\\');
    let is_inside = fixed.iter().any(|range| range.start < mark.end && mark.start < range.end);
    !is_inside && !before.is_some_and(goes_on) && !after.is_some_and(goes_on)
}

/// Returns the byte ranges of wiki links, of the targets of links, and of code; one that the snippet cuts goes on to
/// its end.
fn fixed_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let opening = [("[[", "]]"), ("](", ")"), ("`", "`")].into_iter();
        let first = opening.filter_map(|(open, close)| Some((rest.find(open)?, open, close))).min();
        let Some((start, open, close)) = first else { break };
        let inside = start + open.len();
        let length = rest.get(inside..).and_then(|rest| rest.find(close));
        let end = length.map_or(rest.len(), |length| inside + length + close.len());
        ranges.push(at + start..at + end);
        at += end;
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
            assert_eq!(in_markdown(&SnippetText { text: text.to_owned(), marks }), expected);
        }
    }
}
