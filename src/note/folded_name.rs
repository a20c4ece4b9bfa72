//! Names in any case and with any white space, such as a title in a query.

use unicode_normalization::UnicodeNormalization;

/// A name that others are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoldedName {
    text: String,
    is_ascii: bool,
    /// Equal for equal names: most names differ in it from a given one, so that they need not be read.
    pub(crate) hash: u16,
}

impl FoldedName {
    /// Folds a name. O(bytes).
    pub(crate) fn of(name: &str) -> Self {
        let is_ascii = name.is_ascii();
        let text = if is_ascii { folded_ascii(name) } else { folded(name) };
        // FNV-1a (Fowler, Noll and Vo) of 32 bits, whose halves are combined.
        let next = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let hash = text.bytes().fold(0x811c_9dc5, next);
        Self { text, is_ascii, hash: (hash >> 16 ^ hash & 0xffff) as u16 }
    }

    /// Whether a name is equal except for case and white space.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.is_ascii == name.is_ascii() && *self == Self::of(name)
    }
}

fn folded_ascii(name: &str) -> String {
    let mut text = name.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    text.make_ascii_lowercase();
    text
}

fn folded(name: &str) -> String {
    let words = name.split_whitespace().flat_map(|word| word.chars().chain([' ']));
    words.nfc().flat_map(char::to_lowercase).nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_white_space_do_not_matter() {
        for (a, b) in [("Some  Title", " some TITLE "), ("École", "école"), ("E\u{301}cole", "École"), ("", " ")] {
            assert!(FoldedName::of(a).is(b) && FoldedName::of(b).is(a), "{a:?} {b:?}");
            assert_eq!(FoldedName::of(a).hash, FoldedName::of(b).hash);
        }
        for (a, b) in [("Some title", "Sometitle"), ("Ecole", "École"), ("\u{212a}", "k"), ("a b", "a")] {
            assert!(!FoldedName::of(a).is(b) && !FoldedName::of(b).is(a), "{a:?} {b:?}");
        }
    }
}
