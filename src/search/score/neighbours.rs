//! The neighbours of English word stems: the stems of words that are used alike, such as those of "delete" and "remove".
//!
//! `neighbours.bin` is made by `packaging/neighbours.py` from the vectors of a language model. Its numbers are little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 0 to 4·B | for each of B blocks, the offset of its first entry in the file, 4 bytes; the first one is therefore 4·B |
//! | 4·B to the end | the entries in the order of their stems, 16 in each block, fewer in the last one |
//!
//! and those of an entry:
//!
//! | bytes | content |
//! |---|---|
//! | 1 | the length of the stem |
//! | length | the stem, in ASCII |
//! | 1 | the number N of its neighbours |
//! | 2·N | their positions among all entries, the nearest first |
//! | N/2, rounded up | their cosines in fifteenths, two in a byte, the low half first |
//!
//! Nothing is decoded in advance: a process asks for a few words.

use std::iter;

static TABLE: &[u8] = include_bytes!("neighbours.bin");
/// The number of entries of a block.
const BLOCK_LEN: usize = 16;
/// The cosine 1, as the table has it.
const FULL_COSINE: f64 = 15.0;

/// A stem, with the positions and cosines of its neighbours as the table has them.
struct Neighbours {
    stem: &'static str,
    positions: &'static [u8],
    cosines: &'static [u8],
}

/// Returns the neighbours of a stem with their cosines, the nearest first; none for a stem that is not in the table.
pub(super) fn neighbours(stem: &str) -> impl Iterator<Item = (&'static str, f64)> + use<> {
    find(stem).into_iter().flat_map(|entry| {
        let (positions, _) = entry.positions.as_chunks();
        let cosines = entry.cosines.iter().flat_map(|two| [two & 15, two >> 4]);
        positions.iter().zip(cosines).filter_map(|(position, cosine)| {
            let stem = entry_at(usize::from(u16::from_le_bytes(*position)))?.stem;
            Some((stem, f64::from(cosine) / FULL_COSINE))
        })
    })
}

fn find(stem: &str) -> Option<Neighbours> {
    let blocks = block_offsets();
    let behind = blocks.partition_point(|offset| entries(*offset).next().is_some_and(|first| first.stem <= stem));
    let block = blocks.get(behind.checked_sub(1)?)?;
    entries(*block).find(|entry| entry.stem == stem)
}

fn entry_at(position: usize) -> Option<Neighbours> {
    let block = block_offsets().get(position / BLOCK_LEN)?;
    entries(*block).nth(position % BLOCK_LEN)
}

fn block_offsets() -> &'static [[u8; 4]] {
    let end = TABLE.first_chunk().map(|first| u32::from_le_bytes(*first) as usize);
    let (offsets, _) = end.and_then(|end| TABLE.get(..end)).unwrap_or_default().as_chunks();
    offsets
}

/// Returns the entries of the block at an offset.
fn entries(offset: [u8; 4]) -> impl Iterator<Item = Neighbours> {
    let mut rest = TABLE.get(u32::from_le_bytes(offset) as usize..).unwrap_or_default();
    iter::from_fn(move || next_entry(&mut rest)).take(BLOCK_LEN)
}

fn next_entry(rest: &mut &'static [u8]) -> Option<Neighbours> {
    let stem = split_off(rest, 1)?.first().and_then(|len| split_off(rest, usize::from(*len)))?;
    let count = split_off(rest, 1)?.first().map(|count| usize::from(*count))?;
    let (positions, cosines) = (split_off(rest, 2 * count)?, split_off(rest, count.div_ceil(2))?);
    Some(Neighbours { stem: str::from_utf8(stem).ok()?, positions, cosines })
}

fn split_off(rest: &mut &'static [u8], len: usize) -> Option<&'static [u8]> {
    rest.split_off(..len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::Language;
    use crate::search::analysis::stems::Stems;

    fn stems() -> Vec<&'static str> {
        (0..).map_while(entry_at).map(|entry| entry.stem).collect()
    }

    #[test]
    fn the_table_is_whole() {
        let stems = stems();
        assert!(stems.len() > 8000, "{}", stems.len());
        assert!(stems.is_sorted_by(|before, after| before < after));
        assert_eq!(block_offsets().len(), stems.len().div_ceil(BLOCK_LEN));
        let mut end = 4 * block_offsets().len();
        for stem in &stems {
            let entry = find(stem).unwrap();
            end += 2 + entry.stem.len() + entry.positions.len() + entry.cosines.len();
            let found: Vec<_> = neighbours(stem).collect();
            assert_eq!(found.len() * 2, entry.positions.len(), "{stem}");
            assert!(found.iter().all(|(other, _)| other != stem && stems.binary_search(other).is_ok()), "{stem}");
            assert!(found.iter().all(|(_, cosine)| (0.35..=1.0).contains(cosine)), "{stem}: {found:?}");
            assert!(found.is_sorted_by(|before, after| before.1 >= after.1), "{stem}: {found:?}");
        }
        assert_eq!(end, TABLE.len());
    }

    /// The table has the stems of this stemmer: those of another version would not be found.
    #[test]
    fn words_that_are_used_alike_are_neighbours() {
        let stems = Stems::new(Language::English);
        let stem = |word: &str| {
            let mut found = String::new();
            stems.for_each_term(word, |term| term.clone_into(&mut found));
            found
        };
        for (word, other) in [
            ("deletion", "removed"),
            ("remove", "delete"),
            ("errors", "failures"),
            ("restarting", "reboot"),
            ("password", "credentials"),
            ("color", "colour"),
            ("rotate", "spinning"),
            ("laptop", "notebooks"),
            ("configuration", "settings"),
            ("config", "configured"),
            ("database", "sql"),
            ("authentication", "login"),
            ("timeout", "pauses"),
            ("slow", "fast"),
        ] {
            let found: Vec<_> = neighbours(&stem(word)).collect();
            assert!(found.iter().any(|(found, _)| *found == stem(other)), "{word}, {other}: {found:?}");
        }
    }

    #[test]
    fn other_texts_have_no_neighbours() {
        for text in ["", "\0", "a", "the", " the", "Delet", "zzzzzz", "停電", "ÿ", "delet remov", &"x".repeat(1000)]
        {
            assert_eq!(neighbours(text).next(), None, "{text}");
        }
    }
}
