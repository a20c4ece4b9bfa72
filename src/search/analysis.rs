//! From text to terms, for notes and questions alike.

use std::collections::HashMap;

/// English words that a question holds without being about them.
const STOP_WORDS: [&str; 72] = [
    "a", "about", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do", "does",
    "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "no", "not",
    "of", "on", "or", "our", "should", "so", "such", "that", "the", "their", "then", "there", "these", "they", "this",
    "those", "to", "us", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would",
    "you", "your", "he", "she", "his", "her", "am", "any", "know",
];

/// Returns the terms of a query in their order, each with how often it stands there. Words that
/// say nothing count only when there are no others.
pub(super) fn query_terms(query: &str) -> Vec<(String, f64)> {
    let mut terms: Vec<(String, f64)> = Vec::new();
    let mut place_of: HashMap<String, usize> = HashMap::new();
    for_each_term(query, |term| match place_of.get(term) {
        Some(place) => terms[*place].1 += 1.0,
        None => {
            place_of.insert(term.to_owned(), terms.len());
            terms.push((term.to_owned(), 1.0));
        }
    });
    let says_something = |(term, _): &(String, f64)| !STOP_WORDS.contains(&term.as_str());
    if terms.iter().any(says_something) {
        terms.retain(says_something);
    }
    terms
}

/// Calls `take` with each term: runs of letters and digits in lower case; where words are written
/// without spaces, every two neighbouring characters.
pub(super) fn for_each_term(text: &str, mut take: impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut lower = String::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        while bytes.get(at).is_some_and(u8::is_ascii_alphanumeric) {
            at += 1;
        }
        if bytes.get(at).is_some_and(|byte| !byte.is_ascii()) {
            at = start + for_each_unusual_term(text.get(start..).unwrap_or_default(), &mut take);
        } else if at > start {
            take_ascii(text.get(start..at).unwrap_or_default(), &mut lower, &mut take);
        } else {
            at += 1;
        }
    }
}

/// Takes a term that most often is in lower case already.
fn take_ascii(term: &str, lower: &mut String, take: &mut impl FnMut(&str)) {
    if !term.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return take(term);
    }
    lower.clear();
    lower.push_str(term);
    lower.make_ascii_lowercase();
    take(lower);
}

/// Takes terms up to an ASCII character that is no letter or digit; returns where that is.
fn for_each_unusual_term(text: &str, take: &mut impl FnMut(&str)) -> usize {
    let mut term = String::new();
    let mut before: Option<char> = None;
    for (place, c) in text.char_indices() {
        if is_unspaced(c) {
            end_term(&mut term, take);
            if let Some(before) = before {
                term.extend([before, c]);
                end_term(&mut term, take);
            }
            before = Some(c);
            continue;
        }
        before = None;
        if c.is_alphanumeric() {
            term.extend(c.to_lowercase());
            continue;
        }
        end_term(&mut term, take);
        if c.is_ascii() {
            return place;
        }
    }
    end_term(&mut term, take);
    text.len()
}

fn end_term(term: &mut String, take: &mut impl FnMut(&str)) {
    if !term.is_empty() {
        take(term);
        term.clear();
    }
}

/// Scripts that are written without spaces: Thai to Khmer, Kana, Han; Hangul for its particles.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
        && c.is_alphanumeric()
}
