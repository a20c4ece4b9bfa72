//! The link types that qipu knows, and what each is called from the other end.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// The types every store has, each with its inverse.
const BUILT_IN: [(&str, &str); 10] = [
    ("related", "related"),
    ("derived-from", "source-of"),
    ("supports", "supported-by"),
    ("contradicts", "contradicted-by"),
    ("part-of", "has-part"),
    ("same-as", "same-as"),
    ("alias-of", "has-alias"),
    ("follows", "precedes"),
    ("answers", "answered-by"),
    ("refines", "refined-by"),
];

/// Link types and their inverses: the built-in ones and those a store's config adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkTypes {
    inverses: BTreeMap<String, String>,
}

impl Default for LinkTypes {
    fn default() -> Self {
        let mut types = Self { inverses: BTreeMap::new() };
        for (kind, inverse) in BUILT_IN {
            types.add(kind, inverse);
        }
        types
    }
}

impl LinkTypes {
    /// Adds a type and its inverse; the other way round they are a pair too.
    pub fn add(&mut self, kind: &str, inverse: &str) {
        self.inverses.insert(kind.to_owned(), inverse.to_owned());
        self.inverses.insert(inverse.to_owned(), kind.to_owned());
    }

    /// Tells whether a type is one of these.
    pub fn knows(&self, kind: &str) -> bool {
        self.inverses.contains_key(kind)
    }

    /// Returns the types, inverses included, a to z.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.inverses.keys().map(String::as_str)
    }

    /// Returns what a link of this type is called from its other end. A type that nobody
    /// configured gets `inverse-` in front, and loses it again.
    pub fn inverse<'a>(&'a self, kind: &'a str) -> Cow<'a, str> {
        match (self.inverses.get(kind), kind.strip_prefix("inverse-")) {
            (Some(inverse), _) => Cow::Borrowed(inverse),
            (None, Some(kind)) => Cow::Borrowed(kind),
            (None, None) => Cow::Owned(format!("inverse-{kind}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_leads_back() {
        let mut types = LinkTypes::default();
        types.add("implements", "implemented-by");
        for kind in ["supports", "supported-by", "related", "implements", "unheard-of"] {
            assert_eq!(types.inverse(&types.inverse(kind)), kind);
        }
    }
}
