//! The languages of notes.

/// The language of the notes of a store, which selects the stemmer and the stop words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Language {
    Arabic,
    Armenian,
    Basque,
    Catalan,
    Czech,
    Danish,
    Dutch,
    #[default]
    English,
    Esperanto,
    Estonian,
    Finnish,
    French,
    German,
    Greek,
    Hindi,
    Hungarian,
    Indonesian,
    Irish,
    Italian,
    Lithuanian,
    Nepali,
    Norwegian,
    Persian,
    Polish,
    Portuguese,
    Romanian,
    Russian,
    Serbian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
    Ukrainian,
    Yiddish,
    /// No stemming.
    None,
}

/// Every language with its names in a config: the code and the English name.
const NAMES: [(Language, &str, &str); 35] = [
    (Language::Arabic, "ar", "arabic"),
    (Language::Armenian, "hy", "armenian"),
    (Language::Basque, "eu", "basque"),
    (Language::Catalan, "ca", "catalan"),
    (Language::Czech, "cs", "czech"),
    (Language::Danish, "da", "danish"),
    (Language::Dutch, "nl", "dutch"),
    (Language::English, "en", "english"),
    (Language::Esperanto, "eo", "esperanto"),
    (Language::Estonian, "et", "estonian"),
    (Language::Finnish, "fi", "finnish"),
    (Language::French, "fr", "french"),
    (Language::German, "de", "german"),
    (Language::Greek, "el", "greek"),
    (Language::Hindi, "hi", "hindi"),
    (Language::Hungarian, "hu", "hungarian"),
    (Language::Indonesian, "id", "indonesian"),
    (Language::Irish, "ga", "irish"),
    (Language::Italian, "it", "italian"),
    (Language::Lithuanian, "lt", "lithuanian"),
    (Language::Nepali, "ne", "nepali"),
    (Language::Norwegian, "no", "norwegian"),
    (Language::Persian, "fa", "persian"),
    (Language::Polish, "pl", "polish"),
    (Language::Portuguese, "pt", "portuguese"),
    (Language::Romanian, "ro", "romanian"),
    (Language::Russian, "ru", "russian"),
    (Language::Serbian, "sr", "serbian"),
    (Language::Spanish, "es", "spanish"),
    (Language::Swedish, "sv", "swedish"),
    (Language::Tamil, "ta", "tamil"),
    (Language::Turkish, "tr", "turkish"),
    (Language::Ukrainian, "uk", "ukrainian"),
    (Language::Yiddish, "yi", "yiddish"),
    (Language::None, "none", "none"),
];

impl Language {
    /// Returns the English name in lower case.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(language, ..)| *language == self).map_or("none", |(_, _, name)| name)
    }

    /// Returns the language of a code (`de`, `de-AT`) or of an English name (`german`), in any case.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        let code = text.split(['-', '_']).next().unwrap_or_default();
        NAMES.iter().find(|(_, short, long)| code == *short || text == *long).map(|(language, ..)| *language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_are_understood() {
        for (text, language) in [
            ("en", Language::English),
            ("German", Language::German),
            ("de-AT", Language::German),
            ("pt_BR", Language::Portuguese),
            (" none ", Language::None),
        ] {
            assert_eq!(Language::parse(text), Some(language), "{text}");
        }
        assert_eq!(Language::parse("klingon"), None);
        assert_eq!(Language::parse(""), None);
    }
}
