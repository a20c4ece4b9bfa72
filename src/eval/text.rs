//! Normalised text, in which the sentences, headings and patterns of a question file are looked for.

use std::sync::OnceLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// Links of markdown and wiki links; the group that takes part is the text that a reader sees.
const LINKS: &str =
    r"!?\[\[(?:[^\]|]{1,300}\|)?([^\]]{1,300})\]\]|!?\[([^\]]{0,300})\](?:\([^)\n]{0,1000}\)|\[[^\]\n]{0,300}\])";

/// A text in the two forms that are searched.
pub(super) struct NormalizedText {
    /// Its words in lower case, as [`words`] returns them.
    words: String,
    /// The text in lower case on one line, without emphasis and the destinations of links.
    line: String,
}

impl NormalizedText {
    pub(super) fn new(text: &str) -> Self {
        let text = without_destinations(text);
        Self { words: segmented(&text), line: on_one_line(&text) }
    }

    /// Tells whether the words, as [`words`] returns them, occur one after the other.
    pub(super) fn contains(&self, words: &str) -> bool {
        self.words.contains(words)
    }

    pub(super) fn matches(&self, pattern: &Regex) -> bool {
        pattern.is_match(&self.line)
    }
}

/// Returns the words of a text (UAX #29) in lower case, with a space before, between and behind them. Punctuation and
/// the markup of markdown are in none. Scripts without spaces between words become single characters.
pub(super) fn words(text: &str) -> String {
    segmented(&without_destinations(text))
}

fn segmented(text: &str) -> String {
    let text: String = text.nfc().collect();
    let mut words = String::with_capacity(text.len() + 1);
    words.push(' ');
    // An underscore joins the words of an identifier, and is emphasis at the ends of one.
    for word in text.unicode_words().map(|word| word.trim_matches('_')).filter(|word| !word.is_empty()) {
        words.extend(word.chars().flat_map(char::to_lowercase).map(|c| if c == '’' { '\'' } else { c }));
        words.push(' ');
    }
    words
}

fn on_one_line(text: &str) -> String {
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

/// Replaces links by the text that a reader sees.
fn without_destinations(text: &str) -> String {
    static PATTERN: OnceLock<Option<Regex>> = OnceLock::new();
    let pattern = PATTERN.get_or_init(|| Regex::new(LINKS).ok());
    debug_assert!(pattern.is_some(), "the pattern of links is valid");
    match pattern {
        Some(pattern) if text.contains('[') => pattern.replace_all(text, "$1$2").into_owned(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_found_whatever_their_markup() {
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
    fn scripts_without_spaces_are_matched_anywhere() {
        let text = NormalizedText::new(
            "NFS クライアントは close の時点で、未送信の書き込みをサーバーへ流す。校验和覆盖类型和数据",
        );
        for sentence in ["未送信の書き込みをサーバーへ", "close の時点で未送信", "覆盖类型"] {
            assert!(text.contains(&words(sentence)), "{sentence}");
        }
        assert!(NormalizedText::new("cafe\u{301}").contains(&words("Café")));
    }

    #[test]
    fn patterns_see_one_line_in_lower_case() {
        let text = NormalizedText::new("Wait **30\nseconds**, set `dirty_expire_centisecs`\n= _3000_ in [sysctl](x)");
        let line = "wait 30 seconds, set dirty_expire_centisecs = 3000 in sysctl";
        assert!(text.matches(&Regex::new(&format!("^{}$", regex::escape(line))).unwrap()));
    }
}
