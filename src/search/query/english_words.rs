//! A list of English words, which are no typing errors although no note contains them.

use sha2::{Digest, Sha256};

/// The 62,156 words of at least five letters of the Debian packages wamerican and wbritish, which are made from SCOWL, in
/// 74,472 bytes: a filter (Bloom, *Space/time trade-offs in hash coding with allowable errors*, 1970) that takes 1 % of other
/// strings for words. `packaging/english_words.py` makes it.
const FILTER: &[u8] = include_bytes!("english_words.bin");

const HASHES: u64 = 7;

/// Whether a word in lower case is in the list, in American or British spelling. A shorter one than five letters is not.
///
/// All hashes are sums of two (Kirsch and Mitzenmacher, *Less hashing, same performance*, 2006).
pub(super) fn contains(word: &str) -> bool {
    let digest = Sha256::digest(word.as_bytes());
    let [first, step, ..] = digest.as_chunks().0 else { return false };
    let (first, step) = (u64::from_le_bytes(*first), u64::from_le_bytes(*step));
    (0..HASHES).map(|i| first.wrapping_add(step.wrapping_mul(i))).all(is_set)
}

/// Whether the bit of a hash is set.
fn is_set(hash: u64) -> bool {
    let bit = hash % (FILTER.len() as u64 * 8);
    FILTER.get((bit / 8) as usize).is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_both_spellings_are_known() {
        for word in ["folder", "rotate", "mango", "color", "colour", "organize", "organise", "behavior", "behaviour"] {
            assert!(contains(word), "{word}");
        }
    }

    #[test]
    fn typing_errors_are_not() {
        for word in
            ["foldre", "rotaet", "colur", "orgainze", "recieve", "databsae", "serach", "trasnaction", "snapshto"]
        {
            assert!(!contains(word), "{word}");
        }
    }

    #[test]
    fn few_other_strings_are_taken_for_words() {
        let mut state = 1_u64;
        // A linear congruential generator (Knuth's MMIX); its upper bits are used.
        let mut letter = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b'a' + (state >> 33).wrapping_rem(26) as u8)
        };
        let strings = (0..2000).map(|_| (0..9).map(|_| letter()).collect::<String>());
        let taken = strings.filter(|text| contains(text)).count();
        assert!(taken <= 40, "{taken} of 2000");
    }
}
