//! Counts tokens: at [`CHARS_PER_TOKEN`], or with the encoding of a model.

use clap::ValueEnum;

/// The characters of one token without an encoding.
pub const CHARS_PER_TOKEN: usize = 4;

/// The ways to count tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Tokenizer {
    /// Four characters per token.
    #[default]
    Estimate,
    /// The encoding of GPT-3.5 and GPT-4.
    #[cfg(feature = "tokenizers")]
    #[value(name = "cl100k_base", alias = "cl100k")]
    Cl100k,
    /// The encoding of GPT-4o and later.
    #[cfg(feature = "tokenizers")]
    #[value(name = "o200k_base", alias = "o200k")]
    O200k,
}

impl Tokenizer {
    /// Counts the tokens of a text. The first call for an encoding decodes its table, which takes some time.
    pub fn count(self, text: &str) -> usize {
        match self {
            Self::Estimate => text.chars().count().div_ceil(CHARS_PER_TOKEN),
            #[cfg(feature = "tokenizers")]
            Self::Cl100k => encodings::cl100k().count(text),
            #[cfg(feature = "tokenizers")]
            Self::O200k => encodings::o200k().count(text),
        }
    }

    /// Tells whether tokens are those of an encoding, whose count is known only for a whole text.
    pub fn is_encoding(self) -> bool {
        self != Self::Estimate
    }
}

/// The encodings, one static each: a reference to all encodings of the crate would link the tables of all of them.
#[cfg(feature = "tokenizers")]
mod encodings {
    use std::sync::OnceLock;

    use tiktoken::{CoreBpe, encoding};

    pub(super) fn cl100k() -> &'static CoreBpe {
        static CL100K: OnceLock<CoreBpe> = OnceLock::new();
        CL100K.get_or_init(encoding::cl100k_base)
    }

    pub(super) fn o200k() -> &'static CoreBpe {
        static O200K: OnceLock<CoreBpe> = OnceLock::new();
        O200K.get_or_init(encoding::o200k_base)
    }
}

#[cfg(all(test, feature = "tokenizers"))]
mod tests {
    use super::*;

    #[test]
    fn counts_as_the_encodings_do() {
        // The counts of the published encodings.
        for (text, estimate, cl100k, o200k) in
            [("", 0, 0, 0), ("hello world", 3, 2, 2), ("tiktoken is great!", 5, 6, 6), ("お誕生日おめでとう", 3, 9, 8)]
        {
            let counts = [Tokenizer::Estimate, Tokenizer::Cl100k, Tokenizer::O200k].map(|by| by.count(text));
            assert_eq!(counts, [estimate, cl100k, o200k], "{text}");
        }
    }
}
