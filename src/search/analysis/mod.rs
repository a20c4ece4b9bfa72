//! From text to terms: tokens, stems and stop words.

pub(crate) mod english;
pub(crate) mod other_languages;
pub(crate) mod stems;
pub(crate) mod stop_words;
pub(crate) mod tokenizer;
