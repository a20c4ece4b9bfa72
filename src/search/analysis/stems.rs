//! Stemming: folds a word, maps irregular forms to their base, and removes endings
//! ([Snowball](https://snowballstem.org/)). Stop words are marked instead.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use snowball_stemmers_rs::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

use crate::note::Language;
use crate::search::analysis::english;
use crate::search::analysis::stop_words::StopWords;
use crate::search::bounded_cache::BoundedCache;

/// The number of characters of a word that are stemmed; the rest is dropped.
const MAX_CHARS: usize = 64;

/// The most words whose terms are kept: about seven megabytes.
const MAX_CACHED_WORDS: usize = 65_536;

/// The first character of the term of a stop word, so that it differs from every other term.
pub(crate) const STOP_MARK: char = ' ';

/// Stems words in a language; those of a script that it does not use, in the most frequent language of that script.
#[derive(Debug)]
pub(crate) struct Stems {
    language: Language,
    own: Option<Algorithm>,
    stop_words: StopWords,
    irregular: HashMap<&'static str, &'static str, RandomState>,
    /// The words that were stemmed before; `None` where each is stemmed once.
    cache: Option<BoundedCache<String, Arc<str>>>,
}

impl Stems {
    /// As [`Stems::new`], for texts that share words.
    pub(crate) fn with_cache(language: Language) -> Self {
        Self { cache: Some(BoundedCache::new(MAX_CACHED_WORDS)), ..Self::new(language) }
    }

    pub(crate) fn new(language: Language) -> Self {
        let is_english = language == Language::English;
        Self {
            cache: None,
            language,
            own: algorithm(language),
            stop_words: StopWords::new(language),
            irregular: if is_english { english::irregular_forms().collect() } else { HashMap::default() },
        }
    }

    /// Calls `emit` with the terms of one word, which consists of letters, digits and marks: one term, or two if the
    /// word has accents and its stem differs without them.
    pub(crate) fn for_each_term(&self, word: &str, mut emit: impl FnMut(&str)) {
        let word = first_chars(word);
        if word.is_ascii() {
            let lower = word.to_ascii_lowercase();
            return self.emit_folded(&lower, &mut emit);
        }
        let lower: String = word.to_lowercase().nfc().collect();
        let folded = fold(&lower);
        if folded == lower || matches!(self.language, Language::English | Language::None) || !is_latin(&lower) {
            return self.emit_folded(&folded, &mut emit);
        }
        if self.stop_words.has(&lower) {
            return self.emit_folded(&lower, &mut emit);
        }
        // The stemmer needs the accents of the language; queries without them must match too.
        let precise = fold(&self.stem(&lower));
        emit(&precise);
        let plain = self.stem(&folded);
        if plain != precise {
            emit(&plain);
        }
    }

    /// Whether a word of lower-case letters of ASCII is known to have a term that begins with its first two letters.
    pub(super) fn keeps_beginning(&self, word: &str) -> bool {
        // The stem of `dying` is `die`.
        let is_exception = || word.as_bytes().get(1) == Some(&b'y') || self.irregular.contains_key(word);
        self.language == Language::English && !is_exception()
    }

    pub(super) fn is_stop(&self, word: &str) -> bool {
        self.stop_words.has(word)
    }

    fn emit_folded(&self, word: &str, emit: &mut impl FnMut(&str)) {
        match &self.cache {
            Some(cache) => emit(&cache.get_or_insert(word, || self.term(word).into())),
            None => emit(&self.term(word)),
        }
    }

    fn term(&self, word: &str) -> String {
        if self.stop_words.has(word) {
            return format!("{STOP_MARK}{word}");
        }
        let base = self.irregular.get(word).copied().unwrap_or(word);
        let stem = self.stem(base);
        if stem.is_ascii() { stem } else { fold(&stem) }
    }

    fn stem(&self, word: &str) -> String {
        let algorithm = match (self.language, word.chars().next().and_then(of_script)) {
            (Language::None, _) => None,
            (Language::Arabic | Language::Persian, _)
            | (Language::Ukrainian | Language::Serbian, Some(Algorithm::Russian))
            | (Language::Nepali, Some(Algorithm::Hindi)) => self.own,
            (_, by_script) => by_script.or(self.own),
        };
        algorithm.map_or_else(|| word.to_owned(), |algorithm| Stemmer::create(algorithm).stem(word).into_owned())
    }
}

/// Returns the algorithm of the most frequent language of a script that few languages use.
fn of_script(c: char) -> Option<Algorithm> {
    match c {
        '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' => Some(Algorithm::Arabic),
        '\u{400}'..='\u{52f}' => Some(Algorithm::Russian),
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Some(Algorithm::Greek),
        '\u{900}'..='\u{97f}' => Some(Algorithm::Hindi),
        _ => None,
    }
}

fn is_latin(word: &str) -> bool {
    word.chars().next().is_some_and(|c| matches!(c, 'a'..='z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}'))
}

fn first_chars(word: &str) -> &str {
    match word.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => word.get(..end).unwrap_or(word),
        None => word,
    }
}

/// Removes accents from a lower-case word: the marks of Latin, Greek and Cyrillic letters (except that of й) and the
/// vowel signs of Arabic and Hebrew. Marks that make another letter, as in Kana, Thai or Hindi, remain.
pub(crate) fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    let mut folded = String::with_capacity(word.len());
    let mut base = ' ';
    for c in word.nfd() {
        let is_short_i = c == '\u{306}' && base == 'и';
        if !is_short_i && is_dropped_mark(c) {
            continue;
        }
        base = c;
        match c {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' | 'ð' => folded.push('d'),
            'þ' => folded.push_str("th"),
            'ı' => folded.push('i'),
            'ς' => folded.push('σ'),
            'ـ' => {}
            'أ' | 'إ' | 'آ' | 'ٱ' => folded.push('ا'),
            'ى' => folded.push('ي'),
            _ => folded.push(c),
        }
    }
    folded.nfc().collect()
}

fn is_dropped_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{655}' | '\u{670}')
}

fn algorithm(language: Language) -> Option<Algorithm> {
    Some(match language {
        Language::Arabic => Algorithm::Arabic,
        Language::Armenian => Algorithm::Armenian,
        Language::Basque => Algorithm::Basque,
        Language::Catalan => Algorithm::Catalan,
        Language::Czech => Algorithm::Czech,
        Language::Danish => Algorithm::Danish,
        Language::Dutch => Algorithm::Dutch,
        Language::English => Algorithm::English,
        Language::Esperanto => Algorithm::Esperanto,
        Language::Estonian => Algorithm::Estonian,
        Language::Finnish => Algorithm::Finnish,
        Language::French => Algorithm::French,
        Language::German => Algorithm::German,
        Language::Greek => Algorithm::Greek,
        Language::Hindi => Algorithm::Hindi,
        Language::Hungarian => Algorithm::Hungarian,
        Language::Indonesian => Algorithm::Indonesian,
        Language::Irish => Algorithm::Irish,
        Language::Italian => Algorithm::Italian,
        Language::Lithuanian => Algorithm::Lithuanian,
        Language::Nepali => Algorithm::Nepali,
        Language::Norwegian => Algorithm::Norwegian,
        Language::Persian => Algorithm::Persian,
        Language::Polish => Algorithm::Polish,
        Language::Portuguese => Algorithm::Portuguese,
        Language::Romanian => Algorithm::Romanian,
        Language::Russian => Algorithm::Russian,
        Language::Serbian => Algorithm::Serbian,
        Language::Spanish => Algorithm::Spanish,
        Language::Swedish => Algorithm::Swedish,
        Language::Tamil => Algorithm::Tamil,
        Language::Turkish => Algorithm::Turkish,
        Language::Ukrainian => Algorithm::Ukrainian,
        Language::Yiddish => Algorithm::Yiddish,
        Language::None => return None,
    })
}
