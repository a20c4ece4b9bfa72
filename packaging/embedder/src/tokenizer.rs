//! Splits texts into tokens of the vocabulary, as BERT does for text without case and accents.
//!
//! The rules are those of `BertNormalizer`, `BertPreTokenizer` and `WordPiece` of the Python package `tokenizers`, except that
//! `[SEP]` and the like in a text are words.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use anyhow::{Context as _, Result};
use serde_json::value::RawValue;
use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

/// The most characters of a word; a longer one is unknown.
const MAX_WORD: usize = 100;

/// What the tokens begin with that continue a word.
const CONTINUED: &str = "##";

/// A vocabulary.
pub(crate) struct Tokenizer {
    tokens: HashMap<String, u32, BuildHasherDefault<Fnv>>,
    /// The bytes of the longest token.
    longest: usize,
    unknown: u32,
    start: u32,
    end: u32,
}

/// The hash function FNV-1a. That of the standard library takes twice the time to load 30,000 tokens; the vocabulary is
/// not made by an attacker.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Tokenizer {
    /// Reads the vocabulary of a `tokenizer.json`.
    pub(crate) fn parse(json: &str) -> Result<Self> {
        let file: BTreeMap<&str, &RawValue> = serde_json::from_str(json)?;
        let model = file.get("model").context("it has no `model`")?;
        let model: BTreeMap<&str, &RawValue> = serde_json::from_str(model.get())?;
        let tokens = model.get("vocab").context("it has no `vocab`")?;
        let tokens: HashMap<String, u32, _> = serde_json::from_str(tokens.get())?;
        let special = |name: &str| tokens.get(name).copied().with_context(|| format!("it has no {name}"));
        let (unknown, start, end) = (special("[UNK]")?, special("[CLS]")?, special("[SEP]")?);
        let longest = tokens.keys().map(String::len).max().unwrap_or(0);
        Ok(Self { tokens, longest, unknown, start, end })
    }

    /// Returns the numbers of a text's tokens, at most `max`, with the first and the last one.
    pub(crate) fn encode(&self, text: &str, max: usize) -> Vec<u32> {
        let mut ids = vec![self.start];
        let mut word = String::new();
        let cleaned = text.chars().filter(|c| !is_removed(*c)).flat_map(separate_ideograph);
        let characters = cleaned.nfd().filter(|c| c.general_category() != GeneralCategory::NonspacingMark);
        for c in characters.flat_map(char::to_lowercase) {
            if ids.len() >= max {
                break;
            }
            let is_punctuation = is_punctuation(c);
            if is_punctuation || c.is_whitespace() {
                self.push_word(&word, &mut ids);
                word.clear();
            } else {
                word.push(c);
            }
            if is_punctuation {
                self.push_word(c.encode_utf8(&mut [0; 4]), &mut ids);
            }
        }
        self.push_word(&word, &mut ids);
        ids.truncate(max - 1);
        ids.push(self.end);
        ids
    }

    /// Adds the tokens of a word: at each place, the longest one that matches.
    fn push_word(&self, word: &str, ids: &mut Vec<u32>) {
        let start = ids.len();
        let is_too_long = word.chars().nth(MAX_WORD).is_some();
        // The rest of the word, after the first token with its prefix.
        let mut rest = word.to_owned();
        let mut prefix = 0;
        while rest.len() > prefix {
            let Some((id, end)) = self.longest_match(&rest, prefix).filter(|_| !is_too_long) else {
                ids.truncate(start);
                ids.push(self.unknown);
                return;
            };
            ids.push(id);
            rest.replace_range(..end, CONTINUED);
            prefix = CONTINUED.len();
        }
    }

    /// Returns the longest token at the start of a text that is longer than a prefix, and its length.
    fn longest_match(&self, text: &str, prefix: usize) -> Option<(u32, usize)> {
        let ends = (prefix + 1..=text.len().min(self.longest)).rev();
        ends.filter_map(|end| Some((*self.tokens.get(text.get(..end)?)?, end))).next()
    }
}

/// Tells whether a character is left out: control characters, but not white space.
fn is_removed(c: char) -> bool {
    let is_control = || {
        let is_other = c.general_category_group() == GeneralCategoryGroup::Other;
        is_other && c.general_category() != GeneralCategory::Unassigned
    };
    c == char::REPLACEMENT_CHARACTER || (!matches!(c, '\t' | '\n' | '\r') && is_control())
}

/// Returns a character, between spaces if it is a Chinese ideograph.
fn separate_ideograph(c: char) -> impl Iterator<Item = char> {
    let space = is_ideograph(c).then_some(' ');
    space.into_iter().chain([c]).chain(space)
}

/// Tells whether a character is one of the blocks of ideographs that BERT lists.
fn is_ideograph(c: char) -> bool {
    matches!(c,
        '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '\u{20000}'..='\u{2A6DF}' | '\u{2A700}'..='\u{2B73F}'
        | '\u{2B740}'..='\u{2B81F}' | '\u{2B920}'..='\u{2CEAF}' | '\u{F900}'..='\u{FAFF}' | '\u{2F800}'..='\u{2FA1F}')
}

/// Tells whether a character is a word of its own. All of ASCII that is no letter or digit counts, such as `+` and `$`.
fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENS: [&str; 20] = [
        "[UNK]", "[CLS]", "[SEP]", "a", "un", "##aff", "##able", "cafe", "!", "-", "+", "中", "文", "[", "sep", "]",
        "##a", "ss", "\"", "##文",
    ];

    fn encoded(text: &str, max: usize) -> Vec<&'static str> {
        let vocabulary: BTreeMap<_, _> = TOKENS.iter().enumerate().map(|(id, token)| (token, id)).collect();
        let json = serde_json::json!({"version": "1.0", "model": {"type": "WordPiece", "vocab": vocabulary}});
        let tokenizer = Tokenizer::parse(&json.to_string()).unwrap();
        tokenizer.encode(text, max).iter().map(|id| TOKENS[*id as usize]).collect()
    }

    #[test]
    fn words() {
        let cases: [(&str, &[&str]); 16] = [
            ("", &[]),
            (" \t\r\n\u{3000}", &[]),
            ("unaffable", &["un", "##aff", "##able"]),
            ("Unaffable\u{a0}UN", &["un", "##aff", "##able", "un"]),
            ("a unx a", &["a", "[UNK]", "a"]),
            ("a-a!+a", &["a", "-", "a", "!", "+", "a"]),
            ("Café cafe\u{301}", &["cafe", "cafe"]),
            ("a中文a", &["a", "中", "文", "a"]),
            ("[SEP]", &["[", "sep", "]"]),
            ("c\u{200b}a\u{ad}f\0e\u{fffd}", &["cafe"]),
            ("ẞ", &["[UNK]"]),
            ("\"a\"", &["\"", "a", "\""]),
            ("##a", &["[UNK]", "[UNK]", "a"]),
            ("aa", &["a", "##a"]),
            ("。", &["[UNK]"]),
            ("a\u{2028}a\u{85}a", &["a", "a", "##a"]),
        ];
        for (text, expected) in cases {
            let all: Vec<_> = [&["[CLS]"], expected, &["[SEP]"]].concat();
            assert_eq!(encoded(text, 256), all, "{text:?}");
        }
    }

    #[test]
    fn a_word_has_at_most_a_hundred_characters() {
        assert_eq!(encoded(&"a".repeat(MAX_WORD), 256).len(), MAX_WORD + 2);
        assert_eq!(encoded(&"á".repeat(MAX_WORD + 1), 256), ["[CLS]", "[UNK]", "[SEP]"]);
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(encoded("a a a a a", 5), ["[CLS]", "a", "a", "a", "[SEP]"]);
        assert_eq!(encoded("a a a", 5), ["[CLS]", "a", "a", "a", "[SEP]"]);
        assert_eq!(encoded("unaffable", 4), ["[CLS]", "un", "##aff", "[SEP]"]);
        assert_eq!(encoded("aaaaaa", 4), ["[CLS]", "a", "##a", "[SEP]"]);
    }

    #[test]
    fn files_without_a_vocabulary_are_refused() {
        for json in
            ["", "[]", "{}", "{\"model\":{}}", "{\"model\":{\"vocab\":{\"a\":0}}}", "{\"model\":{\"vocab\":[]}}"]
        {
            assert!(Tokenizer::parse(json).is_err(), "{json}");
        }
    }
}
