//! Text normalised for matching with the sentences, headings and patterns of a question file.

use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// Matches markdown links and wiki links. The capture group that participates is the visible text.
const LINK_PATTERN: &str =
    r"!?\[\[(?:[^\]|]{1,300}\|)?([^\]]{1,300})\]\]|!?\[([^\]]{0,300})\](?:\([^)\n]{0,1000}\)|\[[^\]\n]{0,300}\])";

/// A text in its two normal forms.
pub(super) struct NormalizedText {
    /// The words of the text, as [`words`] returns them.
    words: String,
    /// The text in lower case on one line, without emphasis and link destinations.
    line: String,
}

impl NormalizedText {
    pub(super) fn new(text: &str) -> Self {
        let text = replace_links(text);
        Self { words: to_words(&text), line: to_plain_line(&text) }
    }

    /// Returns whether the text contains a sequence of words, given as [`words`] returns them.
    pub(super) fn contains(&self, words: &str) -> bool {
        self.words.contains(words)
    }

    pub(super) fn matches(&self, pattern: &Regex) -> bool {
        pattern.is_match(&self.line)
    }
}

/// Returns the words of a text (UAX #29) in lower case, with a space before, between and after them. Punctuation and
/// markdown syntax are dropped. In scripts without spaces between words, each character is a word.
pub(super) fn words(text: &str) -> String {
    to_words(&replace_links(text))
}

fn to_words(text: &str) -> String {
    let text: String = text.nfc().collect();
    let mut words = String::with_capacity(text.len() + 1);
    words.push(' ');
    // Underscores join the words of an identifier; around a word they are emphasis.
    for word in text.unicode_words().map(|word| word.trim_matches('_')).filter(|word| !word.is_empty()) {
        words.extend(word.chars().flat_map(char::to_lowercase).map(|c| if c == '’' { '\'' } else { c }));
        words.push(' ');
    }
    words
}

fn to_plain_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        let mut before = None;
        let mut chars = word.chars().peekable();
        while let Some(c) = chars.next() {
            let is_inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let is_emphasis = match c {
                '*' | '`' => true,
                '_' => !is_inside(before) || !is_inside(chars.peek().copied()),
                _ => false,
            };
            if !is_emphasis {
                line.extend(c.to_lowercase());
            }
            before = Some(c);
        }
    }
    line
}

fn replace_links(text: &str) -> String {
    static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(LINK_PATTERN).ok());
    debug_assert!(PATTERN.is_some(), "the link pattern is valid");
    match &*PATTERN {
        Some(pattern) if text.contains('[') => pattern.replace_all(text, "$1$2").into_owned(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_found_despite_markup() {
        let text = NormalizedText::new(
            "> The *error* is told **once**\n> per [descriptor](https://x.test/a_(b)), see [[qp-a1|the rule]] and\n> [[qp-b2]]. \
             `data_sync_retry = on` doesn’t help; _never_.",
        );
        for sentence in [
            "the error is told once per descriptor",
            "Once per [descriptor](elsewhere).",
            "see the rule and qp-b2",
            "data_sync_retry = on doesn't help",
            "help; never",
        ] {
            assert!(text.contains(&words(sentence)), "{sentence}");
        }
        for sentence in ["error is told once per desc", "rror is told", "sync retry on", "x test"] {
            assert!(!text.contains(&words(sentence)), "{sentence}");
        }
    }

    #[test]
    fn scripts_without_spaces_match_at_any_character() {
        let text = NormalizedText::new(
            "NFS クライアントは close の時点で、未送信の書き込みをサーバーへ流す。校验和覆盖类型和数据",
        );
        for sentence in ["未送信の書き込みをサーバーへ", "close の時点で未送信", "覆盖类型"] {
            assert!(text.contains(&words(sentence)), "{sentence}");
        }
        assert!(NormalizedText::new("cafe\u{301}").contains(&words("Café")));
    }

    #[test]
    fn patterns_match_one_line_in_lower_case() {
        let text = NormalizedText::new("Wait **30\nseconds**, set `dirty_expire_centisecs`\n= _3000_ in [sysctl](x)");
        let line = "wait 30 seconds, set dirty_expire_centisecs = 3000 in sysctl";
        assert!(text.matches(&Regex::new(&format!("^{}$", regex::escape(line))).unwrap()));
    }
}
