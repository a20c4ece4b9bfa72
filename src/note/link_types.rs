//! Link types and their inverses.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// The type of a link from a note to one that it replaces because that one no longer holds, and its inverse.
pub const SUPERSEDES: &str = "supersedes";
/// See [`SUPERSEDES`].
pub const SUPERSEDED_BY: &str = "superseded-by";

/// The type of inline links, and of links without one.
pub const RELATED: &str = "related";

/// The field of a digest with the notes in whose place it is shown; in calls, the type of a link to them.
pub const COMPACTS: &str = "compacts";

/// The link types of every store, each with its inverse.
const BUILT_IN: [(&str, &str); 11] = [
    (RELATED, RELATED),
    ("derived-from", "source-of"),
    ("supports", "supported-by"),
    ("contradicts", "contradicted-by"),
    ("part-of", "has-part"),
    ("same-as", "same-as"),
    ("alias-of", "has-alias"),
    ("follows", "precedes"),
    ("answers", "answered-by"),
    ("refines", "refined-by"),
    (SUPERSEDES, SUPERSEDED_BY),
];

/// The built-in link types and those of the config, with their inverses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkTypes {
    inverses: BTreeMap<String, String>,
}

impl Default for LinkTypes {
    fn default() -> Self {
        let mut types = Self { inverses: BTreeMap::new() };
        BUILT_IN.into_iter().for_each(|(kind, inverse)| types.add(kind, inverse));
        types
    }
}

impl LinkTypes {
    /// Adds a type and its inverse, in both directions.
    pub fn add(&mut self, kind: &str, inverse: &str) {
        self.inverses.insert(kind.to_owned(), inverse.to_owned());
        self.inverses.insert(inverse.to_owned(), kind.to_owned());
    }

    /// Adds the pairs of other types whose names are both unknown.
    pub(crate) fn add_missing(&mut self, other: &Self) {
        for (kind, inverse) in &other.inverses {
            if !self.knows(kind) && !self.knows(inverse) {
                self.add(kind, inverse);
            }
        }
    }

    /// Tells whether a type is built in or configured.
    pub fn knows(&self, kind: &str) -> bool {
        self.inverses.contains_key(kind)
    }

    /// Tells whether two types are a pair that is known already, in either order.
    pub fn has_pair(&self, kind: &str, inverse: &str) -> bool {
        self.inverses.get(kind).is_some_and(|known| known == inverse)
    }

    /// Returns the types and inverses in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.inverses.keys().map(String::as_str)
    }

    /// Returns the inverse of a type. The inverse of an unknown type has the prefix `inverse-`.
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
