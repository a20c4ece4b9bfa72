//! The words of a segment: the surface forms of its terms.

use super::dictionary::bounded_capacity;
use crate::codec::offsets::Offsets;
use crate::codec::varint::VarintReader;
use crate::search::format::WordKind;
use crate::search::ids::WordId;

/// The spellings and document frequencies of words.
#[derive(Default)]
pub(crate) struct SurfaceForms {
    pub(super) doc_freqs: Vec<u32>,
    kinds: Vec<WordKind>,
    texts: String,
    text_ends: Offsets,
}

impl SurfaceForms {
    /// Decodes the rows and the texts of `count` words; `None` if these are corrupt.
    pub(crate) fn decode(rows: &[u8], texts: Vec<u8>, count: usize) -> Option<Self> {
        let mut rest = VarintReader(rows);
        let capacity = bounded_capacity(count, rows, 1);
        let (mut doc_freqs, mut kinds) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
        let (mut text_ends, mut text_end) = (Offsets::with_capacity(capacity), 0_u32);
        while !rest.0.is_empty() {
            let row = rest.read_u32()?;
            let kind = match row & 3 {
                0 => WordKind::NoWord,
                1 => WordKind::AsTerm,
                _ => WordKind::Other,
            };
            if kind == WordKind::Other {
                text_end = text_end.checked_add(rest.read_u32()?)?;
            }
            doc_freqs.push(row >> 2);
            kinds.push(kind);
            text_ends.push(text_end);
        }
        (kinds.len() == count).then_some(Self { doc_freqs, kinds, texts: String::from_utf8(texts).ok()?, text_ends })
    }

    /// Returns the text of a word of a kind, empty unless it differs from its term; `None` for other words.
    pub(crate) fn text(&self, word: WordId, kind: WordKind) -> Option<&str> {
        (self.kinds.get(word.index()) == Some(&kind)).then(|| self.text_ends.text(word.index(), &self.texts))
    }
}
