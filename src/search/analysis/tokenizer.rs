//! From a text to its terms, for notes and queries alike.
//!
//! A text falls into *chunks* (what stands between white space, brackets and the like), a chunk into
//! *words* by the rules of UAX #29 as far as they matter here: letters, digits and their marks. A
//! chunk of several words (`snake_case`, `node.js`, `src/main.rs`, `1.2.3`) is a term as a whole too, and
//! so are the split_camel_case of a word (`HashMap`). Where words are written without spaces, every two
//! neighbouring characters are a term.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::search::analysis::stems::{Stems, fold};

/// A chunk of several words is a term as a whole when it is not longer, in bytes, and does not have
/// more words.
const MAX_WHOLE: (usize, usize) = (64, 10);

/// A token of markdown: a raw token, or a mark of structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MarkdownToken<'a> {
    /// What stands between white space, brackets and the like.
    RawToken(RawToken<'a>),
    /// The line that begins is a heading, of markdown's `#` kind.
    Heading,
    /// A heading ends.
    HeadingEnd,
    /// A blank line.
    Blank,
}

/// A run of characters between separators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawToken<'a> {
    /// Its characters, without full stops and the like at their end, which are in no term.
    pub(crate) text: &'a str,
    /// Where in the text it begins.
    pub(crate) start: usize,
    /// Whether it is one word of lower-case ASCII letters, the first one a capital perhaps: so are
    /// most, and their terms are those of the word in small letters.
    pub(crate) is_plain: bool,
}

/// The syntactic class of a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Separator,
    Word,
    Joiner,
}

const CLASSES: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut classes = [Class::Separator; 256];
    let mut byte = 0;
    while byte < 256 {
        let is_word = (byte as u8).is_ascii_alphanumeric() || byte >= 128;
        if is_word {
            classes[byte] = Class::Word;
        } else if matches!(byte as u8, b'_' | b'.' | b'/' | b'-' | b'\'' | b'+' | b'#') {
            classes[byte] = Class::Joiner;
        }
        byte += 1;
    }
    classes
}

/// Calls `take` with the pieces of a markdown text.
pub(crate) fn for_each_piece<'a>(text: &'a str, mut take: impl FnMut(MarkdownToken<'a>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut line = LineScanner::at(bytes, 0, false);
    if line.is_heading {
        take(MarkdownToken::Heading);
    }
    while let Some(byte) = bytes.get(at) {
        if CLASSES[usize::from(*byte)] == Class::Separator {
            at += 1;
            if *byte == b'\n' {
                if line.is_heading {
                    take(MarkdownToken::HeadingEnd);
                }
                line = LineScanner::at(bytes, at, line.is_in_fence);
                match line.is_heading {
                    true => take(MarkdownToken::Heading),
                    false if line.is_blank => take(MarkdownToken::Blank),
                    false => {}
                }
            }
            continue;
        }
        let start = at;
        at += 1;
        at = end_of_lowercase(bytes, at);
        let end_of_letters = at;
        while bytes.get(at).is_some_and(|byte| CLASSES[usize::from(*byte)] != Class::Separator) {
            at += 1;
        }
        let mut end = at;
        while end > start && bytes.get(end - 1).is_some_and(|byte| is_trailing(*byte)) {
            end -= 1;
        }
        if let Some(text) = text.get(start..end).filter(|text| !text.is_empty()) {
            let is_plain = end <= end_of_letters && byte.is_ascii_alphabetic();
            take(MarkdownToken::RawToken(RawToken { text, start, is_plain }));
        }
    }
    if line.is_heading {
        take(MarkdownToken::HeadingEnd);
    }
}

/// Returns where the small ASCII letters end that begin at a place. Eight bytes are looked at at once: where a word
/// ends is as good as random, and a branch for each byte would be foreseen wrongly at each.
fn end_of_lowercase(bytes: &[u8], start: usize) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES << 7;
    let mut at = start;
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let eight = u64::from_le_bytes(*eight);
        let low = eight & !HIGH;
        // The highest bit of each byte that is `a` or above, and of each that is above `z`.
        let (from_a, above_z) = (low + ONES * (0x80 - u64::from(b'a')), low + ONES * (0x7f - u64::from(b'z')));
        let others = !(from_a & !above_z & !eight) & HIGH;
        if others != 0 {
            return at + others.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| byte.is_ascii_lowercase()).count()
}

/// Tells whether a byte at the end of a chunk is in none of its terms.
fn is_trailing(byte: u8) -> bool {
    matches!(byte, b'.' | b'-' | b'/' | b'_' | b'\'')
}

/// Classifies a line of markdown by its first characters.
struct LineScanner {
    is_heading: bool,
    is_blank: bool,
    is_in_fence: bool,
}

impl LineScanner {
    fn at(bytes: &[u8], start: usize, was_in_fence: bool) -> Self {
        let mut at = start;
        while bytes.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            at += 1;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        let is_fence = rest.starts_with(b"```") || rest.starts_with(b"~~~");
        let is_in_fence = was_in_fence != is_fence;
        let marks = rest.iter().take(7).take_while(|byte| **byte == b'#').count();
        let is_heading = !is_in_fence && (1..=6).contains(&marks) && rest.get(marks) == Some(&b' ') && at < start + 4;
        Self { is_heading, is_blank: rest.first().is_none_or(|byte| *byte == b'\n'), is_in_fence }
    }
}

/// Calls `take` with each term of a chunk and the bytes of the chunk that it stands in. A whole
/// comes before its parts and is marked as one.
pub(crate) fn for_each_term(chunk: &str, stems: &Stems, mut take: impl FnMut(&str, Range<usize>, SubtokenKind)) {
    if let Some(word) = plain_word(chunk) {
        return stems.for_each_term(word, |term| take(term, 0..word.len(), SubtokenKind::Word));
    }
    let mut words = Vec::new();
    let mut runs = Runs { chunk, at: 0 };
    let mut end_of_last = 0;
    while let Some((kind, range)) = runs.next_run() {
        let joiner = chunk.get(end_of_last..range.start).unwrap_or_default();
        if !words.is_empty() && (kind != CharClass::Word || !is_joiner(joiner)) {
            group(chunk, &words, stems, &mut take);
            words.clear();
        }
        end_of_last = range.end;
        match kind {
            CharClass::Word => words.push(range),
            CharClass::Unspaced => script_bigrams(chunk, range, &mut take),
            CharClass::Sign => take(chunk.get(range.clone()).unwrap_or_default(), range, SubtokenKind::Word),
        }
    }
    if !words.is_empty() {
        group(chunk, &words, stems, &mut take);
    }
}

/// How a term relates to its raw token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubtokenKind {
    /// A word, or a pair of characters.
    Word,
    /// Several words, or several split_camel_case, as one.
    Whole,
}

/// Returns the one word that a chunk is, but for full stops and the like behind it: lower-case ASCII
/// letters, a capital letter first perhaps.
fn plain_word(chunk: &str) -> Option<&str> {
    let word = chunk.trim_end_matches(|c| u8::try_from(c).is_ok_and(is_trailing));
    let (first, rest) = word.as_bytes().split_first()?;
    let is_plain = first.is_ascii_alphabetic() && rest.iter().all(u8::is_ascii_lowercase);
    is_plain.then_some(word)
}

fn is_joiner(text: &str) -> bool {
    matches!(text, "_" | "." | "/" | "-" | "+" | "#" | "./" | "/.")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharClass {
    /// Letters, digits, marks, apostrophes between them.
    Word,
    /// Characters of a script that is written without spaces.
    Unspaced,
    /// A character that is a word of its own.
    Sign,
}

/// Iterates over the words of a raw token.
struct Runs<'a> {
    chunk: &'a str,
    at: usize,
}

impl Runs<'_> {
    fn next_run(&mut self) -> Option<(CharClass, Range<usize>)> {
        let rest = self.chunk.get(self.at..)?;
        let (offset, first) = rest.char_indices().find(|(_, c)| kind(*c).is_some())?;
        let start = self.at + offset;
        let kind_of_run = kind(first)?;
        let mut end = start + first.len_utf8();
        if kind_of_run != CharClass::Sign {
            let mut chars = self.chunk.get(end..)?.char_indices().peekable();
            let from = end;
            while let Some((place, c)) = chars.next() {
                let mut next_is_word = || chars.peek().is_some_and(|(_, next)| kind(*next) == Some(CharClass::Word));
                let goes_on = match kind_of_run {
                    _ if is_mark(c) => true,
                    CharClass::Word if matches!(c, '\'' | '’') => next_is_word(),
                    _ => kind(c) == Some(kind_of_run),
                };
                if !goes_on {
                    break;
                }
                end = from + place + c.len_utf8();
            }
        }
        self.at = end;
        Some((kind_of_run, start..end))
    }
}

fn kind(c: char) -> Option<CharClass> {
    match c {
        _ if c.is_ascii() => c.is_ascii_alphanumeric().then_some(CharClass::Word),
        _ if is_unspaced(c) => Some(CharClass::Unspaced),
        _ if c.is_alphanumeric() => Some(CharClass::Word),
        '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' => Some(CharClass::Sign),
        _ => None,
    }
}

/// Marks above and below letters, and what joins letters or parts them without being seen.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && (is_combining_mark(c) || is_invisible(c))
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}')
}

/// Scripts that are written without spaces: Thai, Lao, Burmese, Khmer, Kana, Han; and Hangul, for
/// its particles.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{30ff}' | '\u{3131}'..='\u{318e}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}')
        && (c.is_alphanumeric() || is_combining_mark(c))
}

/// Gives every two neighbouring characters, or the only one, in their common form (NFKC).
fn script_bigrams(chunk: &str, range: Range<usize>, take: &mut impl FnMut(&str, Range<usize>, SubtokenKind)) {
    let text = chunk.get(range.clone()).unwrap_or_default();
    let visible = text.chars().filter(|c| !is_invisible(*c));
    let chars: Vec<char> = visible.nfkc().collect();
    let mut pair = String::new();
    if let [only] = chars.as_slice() {
        pair.push(*only);
        return take(&pair, range, SubtokenKind::Word);
    }
    let bounds: Vec<usize> = text.char_indices().map(|(place, _)| place).chain([text.len()]).collect();
    let is_as_written = bounds.len() == chars.len() + 1;
    for (place, two) in chars.windows(2).enumerate() {
        pair.clear();
        pair.extend(two);
        let written = bounds.get(place).zip(bounds.get(place + 2)).filter(|_| is_as_written);
        let bytes = written.map_or(range.clone(), |(from, to)| range.start + from..range.start + to);
        take(&pair, bytes, SubtokenKind::Word);
    }
}

/// Gives the terms of words that are joined, as in `snake_case`.
fn group(chunk: &str, words: &[Range<usize>], stems: &Stems, take: &mut impl FnMut(&str, Range<usize>, SubtokenKind)) {
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
    let (before, behind) = chunk.split_at_checked(last.end).unwrap_or((chunk, ""));
    let sign = match () {
        () if behind.starts_with("++") => 2,
        () if behind.starts_with('#') && last.len() <= 2 => 1,
        () => 0,
    };
    let is_tag = before.get(..first.start).is_some_and(|start| start.ends_with('#'));
    let range = first.start - usize::from(is_tag)..last.end + sign;
    let text = chunk.get(range.clone()).unwrap_or_default();
    let is_odd = sign > 0 || is_tag;
    if is_abbreviation(chunk, words) {
        let letters: String = words.iter().filter_map(|word| chunk.get(word.clone())).collect();
        return stems.for_each_term(&letters, |term| take(term, range.clone(), SubtokenKind::Word));
    }
    if (words.len() > 1 || is_odd) && is_whole(text, words.len(), is_odd) {
        take(&fold(&normal(text).to_lowercase()), range, SubtokenKind::Whole);
        if is_number(text) {
            return;
        }
    }
    for word in words {
        self::word(chunk.get(word.clone()).unwrap_or_default(), word.clone(), stems, take);
    }
}

/// Tells whether joined words are one name. Words with hyphens are, when they hold a digit.
fn is_whole(text: &str, words: usize, is_odd: bool) -> bool {
    let is_short = text.len() <= MAX_WHOLE.0 && words <= MAX_WHOLE.1;
    let is_hyphened = text.contains('-') && !text.contains(['_', '.', '/', '+', '#']);
    is_short && (is_odd || !is_hyphened || text.bytes().any(|byte| byte.is_ascii_digit()))
}

/// Tells whether words are the letters of an abbreviation, as in `U.S.A.` and `e.g.`.
fn is_abbreviation(chunk: &str, words: &[Range<usize>]) -> bool {
    let is_letter = |word: &Range<usize>| {
        let text = chunk.get(word.clone()).unwrap_or_default();
        text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let has_stops = |two: &[Range<usize>]| matches!(two, [a, b] if chunk.get(a.end..b.start) == Some("."));
    words.len() > 1 && words.iter().all(is_letter) && words.windows(2).all(has_stops)
}

/// Tells whether joined words are a number or a version: digits with full stops between.
fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Puts a text into its common form: full-width letters become ordinary ones, and so on (NFKC).
fn normal(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    text.chars().filter(|c| !is_invisible(*c)).map(|c| if c == '’' { '\'' } else { c }).nfkc().collect()
}

/// Gives the terms of one word: without what an apostrophe adds, and its split_camel_case.
fn word(text: &str, range: Range<usize>, stems: &Stems, take: &mut impl FnMut(&str, Range<usize>, SubtokenKind)) {
    let normal = normal(text);
    for word in without_apostrophes(&normal) {
        let split_camel_case = split_camel_case(word);
        if split_camel_case.len() > 1 {
            stems.for_each_term(word, |term| take(term, range.clone(), SubtokenKind::Whole));
        }
        for hump in split_camel_case {
            stems.for_each_term(hump, |term| take(term, range.clone(), SubtokenKind::Word));
        }
    }
}

/// Takes possessives and contractions apart: `note's` is `note`, `don't` is `do`, `l'eau` is `eau`.
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

/// Returns the split_camel_case of a word such as `HashMap` or `HTTPServer`; one for most words.
fn split_camel_case(word: &str) -> Vec<&str> {
    let mut starts = vec![0];
    let mut chars = word.char_indices().peekable();
    let mut before: Option<char> = None;
    while let Some((place, c)) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
        let begins = c.is_uppercase()
            && before.is_some_and(|before| before.is_lowercase() || (before.is_uppercase() && next_is_lower));
        if begins {
            starts.push(place);
        }
        before = Some(c);
    }
    if starts.len() == 1 || starts.len() > MAX_WHOLE.1 {
        return vec![word];
    }
    let ends = starts.iter().skip(1).copied().chain([word.len()]);
    starts.iter().zip(ends).filter_map(|(start, end)| word.get(*start..end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_letters_end_where_they_end_one_by_one() {
        let bytes =
            [b'a', b'z', b'm', b'q', b'`', b'{', b'A', b'Z', b' ', 0, 0x7f, 0x80, b'a' | 0x80, b'z' | 0x80, 0xff];
        let mut random = 1_u64;
        for _ in 0..20_000 {
            let mut next = || {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (random >> 33) as usize
            };
            let length = next() % 24;
            // Mostly letters, so that many are in a row.
            let pick =
                |number: usize| if number % 8 < 7 { bytes[number / 8 % 4] } else { bytes[number / 8 % bytes.len()] };
            let text: Vec<u8> = (0..length).map(|_| pick(next())).collect();
            for start in 0..=length {
                let slowly = start + text[start..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
                assert_eq!(end_of_lowercase(&text, start), slowly, "{text:?} {start}");
            }
        }
    }
}
