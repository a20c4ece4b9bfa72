//! Keys by which texts are sorted without looking at them: their memory is far away, and their beginnings decide mostly.

/// Returns the first eight bytes as an integer, with zeros behind the end. Of two different keys, the smaller one belongs to the
/// bytes that come first.
pub(crate) fn sort_key(bytes: &[u8]) -> u64 {
    let mut key = [0; 8];
    key.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
    u64::from_be_bytes(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_keys_are_in_the_order_of_the_bytes() {
        let all: [&[u8]; 7] = [b"", b"\0", b"a", b"ab", b"abcdefgh", b"abcdefgi", b"\xc3"];
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            assert!(sort_key(a) == sort_key(b) || (sort_key(a) < sort_key(b)) == (a < b), "{a:?} {b:?}");
        }
        assert_eq!(sort_key(b"abcdefgh"), sort_key(b"abcdefghi"));
    }
}
