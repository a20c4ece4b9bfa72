//! Splits raw tokens into terms, for notes and queries alike.
//!
//! A raw token consists of *words* by the rules of [UAX #29](https://www.unicode.org/reports/tr29/), as far as they
//! matter here: letters, digits and their marks. A token of several words (`snake_case`, `node.js`, `src/main.rs`,
//! `1.2.3`) is a term as a whole too, and so are the parts of a word in camel case (`HashMap`). In scripts without
//! spaces, every two adjacent characters are a term, as in Lucene's `CJKBigramFilter`.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::stems::{Stems, fold};
use super::tokenizer::is_trailing;

/// The longest compound token, in bytes, that is a term as a whole.
const MAX_WHOLE_BYTES: usize = 64;
/// The most words of a compound token that is a term as a whole.
const MAX_WHOLE_WORDS: usize = 10;

/// How a term relates to its raw token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubtokenKind {
    /// A word, or a pair of characters.
    Word,
    /// Several words, or several parts of a word in camel case, as one.
    Whole,
}

/// Calls `emit` with each term of a raw token, its byte range and its kind. A whole comes before its parts.
pub(crate) fn for_each_term(token: &str, stems: &Stems, mut emit: impl FnMut(&str, Range<usize>, SubtokenKind)) {
    if let Some(word) = plain_word(token) {
        return stems.for_each_term(word, |term| emit(term, 0..word.len(), SubtokenKind::Word));
    }
    let mut words = Vec::new();
    let mut end_of_last = 0;
    while let Some((class, range)) = next_run(token, end_of_last) {
        let joiner = token.get(end_of_last..range.start).unwrap_or_default();
        if !words.is_empty() && (class != CharClass::Word || !is_joiner(joiner)) {
            emit_joined_words(token, &words, stems, &mut emit);
            words.clear();
        }
        end_of_last = range.end;
        match class {
            CharClass::Word => words.push(range),
            CharClass::Unspaced => script_bigrams(token, range, &mut emit),
            CharClass::Symbol => emit(token.get(range.clone()).unwrap_or_default(), range, SubtokenKind::Word),
        }
    }
    if !words.is_empty() {
        emit_joined_words(token, &words, stems, &mut emit);
    }
}

/// Returns the only word of a token, without what trails it: ASCII letters that are lower-case, except possibly the
/// first one.
pub(super) fn plain_word(token: &str) -> Option<&str> {
    let word = token.trim_end_matches(|c| u8::try_from(c).is_ok_and(is_trailing));
    let (first, rest) = word.as_bytes().split_first()?;
    let is_plain = first.is_ascii_alphabetic() && rest.iter().all(u8::is_ascii_lowercase);
    is_plain.then_some(word)
}

fn is_joiner(text: &str) -> bool {
    matches!(text, "_" | "." | "/" | "-" | "+" | "#" | "./" | "/.")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharClass {
    /// Letters, digits, marks, and apostrophes between them.
    Word,
    /// Characters of a script without spaces.
    Unspaced,
    /// A character that is a word of its own.
    Symbol,
}

/// Returns the first run of one character class in a raw token from an offset on.
fn next_run(token: &str, offset: usize) -> Option<(CharClass, Range<usize>)> {
    let mut chars = token.get(offset..)?.char_indices().peekable();
    let (start, class, first) = chars.find_map(|(start, c)| Some((start, char_class(c)?, c)))?;
    let mut end = start + first.len_utf8();
    if class == CharClass::Symbol {
        return Some((class, offset + start..offset + end));
    }
    while let Some((position, c)) = chars.next() {
        let mut next_is_word = || chars.peek().is_some_and(|(_, next)| char_class(*next) == Some(CharClass::Word));
        let continues = match class {
            _ if is_mark(c) => true,
            CharClass::Word if matches!(c, '\'' | '’') => next_is_word(),
            _ => char_class(c) == Some(class),
        };
        if !continues {
            break;
        }
        end = position + c.len_utf8();
    }
    Some((class, offset + start..offset + end))
}

fn char_class(c: char) -> Option<CharClass> {
    match c {
        _ if c.is_ascii() => c.is_ascii_alphanumeric().then_some(CharClass::Word),
        _ if is_unspaced(c) => Some(CharClass::Unspaced),
        _ if c.is_alphanumeric() => Some(CharClass::Word),
        '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' => Some(CharClass::Symbol),
        _ => None,
    }
}

/// Returns whether a character is a combining mark, or joins or separates letters invisibly.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && (is_combining_mark(c) || is_invisible(c))
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}')
}

/// Whether a character is of a script without spaces (Thai, Lao, Burmese, Khmer, Kana, Han), or Hangul, for particles.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{30ff}' | '\u{3131}'..='\u{318e}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}')
        && (c.is_alphanumeric() || is_combining_mark(c))
}

/// Emits every two adjacent characters of a run, or its only one, in NFKC.
fn script_bigrams(token: &str, range: Range<usize>, emit: &mut impl FnMut(&str, Range<usize>, SubtokenKind)) {
    let text = token.get(range.clone()).unwrap_or_default();
    let visible = text.chars().filter(|c| !is_invisible(*c));
    let chars: Vec<char> = visible.nfkc().collect();
    let mut bigram = String::new();
    if let [only] = chars.as_slice() {
        bigram.push(*only);
        return emit(&bigram, range, SubtokenKind::Word);
    }
    let boundaries: Vec<usize> = text.char_indices().map(|(offset, _)| offset).chain([text.len()]).collect();
    let is_unchanged = boundaries.len() == chars.len() + 1;
    for (first, two) in chars.windows(2).enumerate() {
        bigram.clear();
        bigram.extend(two);
        let written = boundaries.get(first).zip(boundaries.get(first + 2)).filter(|_| is_unchanged);
        let bytes = written.map_or(range.clone(), |(start, end)| range.start + start..range.start + end);
        emit(&bigram, bytes, SubtokenKind::Word);
    }
}

/// Emits the terms of joined words, such as `snake_case`: the whole if it is a name, then each word.
fn emit_joined_words(
    token: &str,
    words: &[Range<usize>],
    stems: &Stems,
    emit: &mut impl FnMut(&str, Range<usize>, SubtokenKind),
) {
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
    let (before, behind) = token.split_at_checked(last.end).unwrap_or((token, ""));
    // The suffix of a programming language, as in `C++` and `F#`.
    let suffix = if behind.starts_with("++") {
        2
    } else if behind.starts_with('#') && last.len() <= 2 {
        1
    } else {
        0
    };
    let is_tag = before.get(..first.start).is_some_and(|start| start.ends_with('#'));
    let range = first.start - usize::from(is_tag)..last.end + suffix;
    let text = token.get(range.clone()).unwrap_or_default();
    let has_signs = suffix > 0 || is_tag;
    if is_abbreviation(token, words) {
        let letters: String = words.iter().filter_map(|word| token.get(word.clone())).collect();
        return stems.for_each_term(&letters, |term| emit(term, range.clone(), SubtokenKind::Word));
    }
    if (words.len() > 1 || has_signs) && is_name(text, words.len(), has_signs) {
        emit(&fold(&normalize(text).to_lowercase()), range, SubtokenKind::Whole);
        if is_number(text) {
            return;
        }
    }
    for word in words {
        emit_word(token.get(word.clone()).unwrap_or_default(), word.clone(), stems, emit);
    }
}

/// Returns whether joined words are one name. Hyphenated words are only if they contain a digit.
fn is_name(text: &str, words: usize, has_signs: bool) -> bool {
    let is_short = text.len() <= MAX_WHOLE_BYTES && words <= MAX_WHOLE_WORDS;
    let is_hyphenated = text.contains('-') && !text.contains(['_', '.', '/', '+', '#']);
    is_short && (has_signs || !is_hyphenated || text.bytes().any(|byte| byte.is_ascii_digit()))
}

/// Returns whether words are the letters of an abbreviation, as in `U.S.A.` and `e.g.`.
fn is_abbreviation(token: &str, words: &[Range<usize>]) -> bool {
    let is_letter = |word: &Range<usize>| {
        let text = token.get(word.clone()).unwrap_or_default();
        text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let has_stops = |two: &[Range<usize>]| matches!(two, [a, b] if token.get(a.end..b.start) == Some("."));
    words.len() > 1 && words.iter().all(is_letter) && words.windows(2).all(has_stops)
}

/// Returns whether joined words are a number or a version: digits and full stops only.
fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Normalizes a text to NFKC, without invisible characters and with straight apostrophes.
fn normalize(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    text.chars().filter(|c| !is_invisible(*c)).map(|c| if c == '’' { '\'' } else { c }).nfkc().collect()
}

/// Emits the terms of one word, without possessives and contractions: the whole if it is in camel case, then its parts.
fn emit_word(text: &str, range: Range<usize>, stems: &Stems, emit: &mut impl FnMut(&str, Range<usize>, SubtokenKind)) {
    let is_simple = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if is_simple {
        return stems.for_each_term(text, |term| emit(term, range.clone(), SubtokenKind::Word));
    }
    let normalized = normalize(text);
    for word in without_apostrophes(&normalized) {
        let parts = split_camel_case(word);
        if parts.len() > 1 {
            stems.for_each_term(word, |term| emit(term, range.clone(), SubtokenKind::Whole));
        }
        for part in parts {
            stems.for_each_term(part, |term| emit(term, range.clone(), SubtokenKind::Word));
        }
    }
}

/// Splits off possessives and contractions: `note's` becomes `note`, `don't` becomes `do`, `l'eau` becomes `eau`.
fn without_apostrophes(word: &str) -> Vec<&str> {
    let Some((head, tail)) = word.split_once('\'') else { return vec![word] };
    let is_negated = tail.eq_ignore_ascii_case("t") && head.len() > 2 && head.ends_with(['n', 'N']);
    if is_negated {
        let verb = head.get(..head.len() - 1).unwrap_or(head);
        return vec![match verb.to_ascii_lowercase().as_str() {
            "ca" => "can",
            "wo" => "will",
            "sha" => "shall",
            "ai" => "be",
            _ => verb,
        }];
    }
    let is_ending = ["s", "re", "ve", "ll", "d", "m", "t"].iter().any(|ending| tail.eq_ignore_ascii_case(ending));
    if is_ending {
        return vec![head];
    }
    let is_elision = head.chars().count() == 1 || head.eq_ignore_ascii_case("qu");
    if is_elision { vec![tail.trim_matches('\'')] } else { word.split('\'').filter(|part| !part.is_empty()).collect() }
}

/// Splits a word in camel case, such as `HashMap` or `HTTPServer`, into its parts; most words have one.
fn split_camel_case(word: &str) -> Vec<&str> {
    let mut starts = vec![0];
    let mut chars = word.char_indices().peekable();
    let mut before: Option<char> = None;
    while let Some((offset, c)) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
        let begins_part = c.is_uppercase()
            && before.is_some_and(|before| before.is_lowercase() || (before.is_uppercase() && next_is_lower));
        if begins_part {
            starts.push(offset);
        }
        before = Some(c);
    }
    if starts.len() == 1 || starts.len() > MAX_WHOLE_WORDS {
        return vec![word];
    }
    let ends = starts.iter().skip(1).copied().chain([word.len()]);
    starts.iter().zip(ends).filter_map(|(start, end)| word.get(*start..end)).collect()
}
