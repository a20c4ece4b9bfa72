//! The languages of notes.

/// Defines [`Language`] and the names of each language in a config: the code and the English name.
macro_rules! languages {
    ($($(#[$attribute:meta])* $language:ident $code:literal $name:literal,)*) => {
        /// The language of the notes of a store, which selects the stemmer and the stop words; `None` is no stemming.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum Language {
            $($(#[$attribute])* $language,)*
        }

        const NAMES: &[(Language, &str, &str)] = &[$((Language::$language, $code, $name),)*];
    };
}

languages! {
    Arabic "ar" "arabic",
    Armenian "hy" "armenian",
    Basque "eu" "basque",
    Catalan "ca" "catalan",
    Czech "cs" "czech",
    Danish "da" "danish",
    Dutch "nl" "dutch",
    #[default]
    English "en" "english",
    Esperanto "eo" "esperanto",
    Estonian "et" "estonian",
    Finnish "fi" "finnish",
    French "fr" "french",
    German "de" "german",
    Greek "el" "greek",
    Hindi "hi" "hindi",
    Hungarian "hu" "hungarian",
    Indonesian "id" "indonesian",
    Irish "ga" "irish",
    Italian "it" "italian",
    Lithuanian "lt" "lithuanian",
    Nepali "ne" "nepali",
    Norwegian "no" "norwegian",
    Persian "fa" "persian",
    Polish "pl" "polish",
    Portuguese "pt" "portuguese",
    Romanian "ro" "romanian",
    Russian "ru" "russian",
    Serbian "sr" "serbian",
    Spanish "es" "spanish",
    Swedish "sv" "swedish",
    Tamil "ta" "tamil",
    Turkish "tr" "turkish",
    Ukrainian "uk" "ukrainian",
    Yiddish "yi" "yiddish",
    None "none" "none",
}

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
            ("en", Some(Language::English)),
            ("German", Some(Language::German)),
            ("de-AT", Some(Language::German)),
            ("pt_BR", Some(Language::Portuguese)),
            (" none ", Some(Language::None)),
            ("klingon", None),
            ("", None),
        ] {
            assert_eq!(Language::parse(text), language, "{text}");
        }
    }
}
