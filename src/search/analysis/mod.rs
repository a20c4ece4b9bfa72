//! Text analysis: from a text to its tokens, and from these to terms.

pub(crate) mod english;
pub(crate) mod questions;
pub(crate) mod stems;
pub(crate) mod stop_words;
pub(crate) mod subtokens;
pub(crate) mod term_beginnings;
pub(crate) mod time_words;
pub(crate) mod tokenizer;
