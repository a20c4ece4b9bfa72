//! Rules words out without stemming them: few words of a text begin like a term of a query.
//!
//! The English stem of a word of lower-case letters is its first letter, or begins with its first two, which Snowball's
//! endings do not reach, but for the exceptions that [`Stems::keeps_beginning`] knows.

use super::stems::{STOP_MARK, Stems};
use super::subtokens::plain_word;

/// The number of letters of the alphabet.
const LETTERS: usize = 26;

/// The first two letters of some terms.
#[derive(Debug)]
pub(crate) struct TermBeginnings {
    /// By the first letter, then by the second one.
    pairs: [[bool; LETTERS]; LETTERS],
}

impl TermBeginnings {
    pub(crate) fn of<'t>(terms: impl Iterator<Item = &'t str>) -> Self {
        let mut pairs = [[false; LETTERS]; LETTERS];
        for term in terms.map(|term| term.trim_start_matches(STOP_MARK)) {
            if let Some((first, second)) = pair(term) {
                pairs[first][second] = true;
            } else if let [only] = term.as_bytes() {
                // The stem of `oed` is `o`.
                letter(*only).into_iter().for_each(|only| pairs[only].fill(true));
            }
        }
        Self { pairs }
    }

    /// Returns the number of content terms of a token, 0 or 1, if it is one word that has none of the terms; `None` for any
    /// other token, and where that is not known.
    pub(crate) fn content_terms_without(&self, token: &str, stems: &Stems) -> Option<u32> {
        let word = plain_word(token)?;
        pair(word).filter(|(first, second)| !self.pairs[*first][*second])?;
        let is_stop = |word: &str| stems.keeps_beginning(word).then(|| stems.is_stop(word));
        let is_lower = word.starts_with(|c: char| c.is_ascii_lowercase());
        let is_stop = if is_lower { is_stop(word) } else { is_stop(&word.to_ascii_lowercase()) };
        is_stop.map(|is_stop| u32::from(!is_stop))
    }
}

/// Returns the places of the first two letters of a word in the alphabet; `None` if it does not begin with two.
fn pair(word: &str) -> Option<(usize, usize)> {
    let mut bytes = word.bytes();
    Some((letter(bytes.next()?)?, letter(bytes.next()?)?))
}

/// Returns the place of a letter in the alphabet, in any case; `None` for another byte.
fn letter(byte: u8) -> Option<usize> {
    byte.is_ascii_alphabetic().then(|| usize::from(byte.to_ascii_lowercase() - b'a'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::Language;
    use crate::search::analysis::subtokens::for_each_term;

    const ENDINGS: [&str; 29] = [
        "d", "dly", "ng", "ngs", "ngly", "", "s", "es", "ies", "ied", "ed", "eed", "ing", "ings", "y", "ly", "ily",
        "er", "est", "e", "ness", "ment", "ation", "ational", "fully", "ous", "ive", "izing", "'s",
    ];

    #[test]
    fn a_word_that_is_ruled_out_has_none_of_the_terms() {
        let stems = Stems::new(Language::English);
        let letters: Vec<char> = ('a'..='z').collect();
        let mut ruled_out = 0;
        for first in &letters {
            for second in &letters {
                for middle in ["", "a", "e", "y", "t", "in", "oc", "str", "ll", "yi"] {
                    for token in ENDINGS.map(|ending| format!("{first}{second}{middle}{ending}")) {
                        let mut terms: Vec<String> = Vec::new();
                        for_each_term(&token, &stems, |term, _, _| terms.push(term.to_owned()));
                        let own = TermBeginnings::of(terms.iter().map(String::as_str));
                        assert_eq!(own.content_terms_without(&token, &stems), None, "{token}: {terms:?}");
                        let others = TermBeginnings::of(["qqq", " zz"].into_iter());
                        if let Some(count) = others.content_terms_without(&token, &stems) {
                            ruled_out += 1;
                            let content = terms.iter().filter(|term| !term.starts_with(STOP_MARK)).count();
                            assert_eq!((terms.len(), count as usize), (1, content), "{token}");
                        }
                    }
                }
            }
        }
        assert!(ruled_out > 100_000, "{ruled_out}");
    }

    #[test]
    fn words_that_change_at_the_beginning_are_not_ruled_out() {
        let (stems, none) = (Stems::new(Language::English), TermBeginnings::of(std::iter::empty()));
        for token in ["dying", "Lying", "tying", "went", "x", "über", "3rd", "snake_case", "HashMap", ""] {
            assert_eq!(none.content_terms_without(token, &stems), None, "{token}");
        }
        let counts = ["cache", "The", "caches."].map(|token| none.content_terms_without(token, &stems));
        assert_eq!(counts, [Some(1), Some(0), Some(1)]);
        assert_eq!(TermBeginnings::of(["o"].into_iter()).content_terms_without("oed", &stems), None);
        let german = Stems::new(Language::German);
        assert_eq!(none.content_terms_without("haus", &german), None);
    }
}
