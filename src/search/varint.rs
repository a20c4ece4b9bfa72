//! Whole numbers in as few bytes as they need: seven bits in each, the lowest first (LEB128). And in
//! pairs of bytes, which take little more room where most are large, and a third of the time to read.

/// Adds a number to bytes.
pub(super) fn put(bytes: &mut Vec<u8>, number: u32) {
    let mut rest = number;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// Takes numbers off the beginning of bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl Reader<'_> {
    /// Takes a byte; `None` at the end.
    #[inline]
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Takes a number; `None` where there is none.
    #[inline]
    pub(super) fn number(&mut self) -> Option<u32> {
        // How long numbers are is as good as random: to branch on it is what would cost the most.
        if let Some(four) = self.0.first_chunk::<4>() {
            let four = u32::from_le_bytes(*four);
            let ends = !four & 0x8080_8080;
            if ends != 0 {
                let own = four & (ends ^ ends.wrapping_sub(1));
                self.0 = self.0.get(ends.trailing_zeros() as usize / 8 + 1..)?;
                let bits = |shift: u32| own >> shift & 0x7f << (7 * shift);
                return Some(bits(0) | bits(1) | bits(2) | bits(3));
            }
        }
        self.long_number()
    }

    /// The same for a number near the end, or of five bytes.
    #[cold]
    fn long_number(&mut self) -> Option<u32> {
        let mut number = 0;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            number |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Takes as many numbers as the first one says.
    pub(super) fn list(&mut self) -> Option<Vec<u32>> {
        let count = self.number()? as usize;
        // Each takes a byte at least: no list is longer than what is left.
        let mut list = Vec::with_capacity(count.min(self.0.len()));
        for _ in 0..count {
            list.push(self.number()?);
        }
        Some(list)
    }
}

/// What stands before a number that needs two pairs of bytes.
pub(super) const LONG: u16 = u16::MAX;

/// Adds a number to bytes, as a pair of them or, where it is too large, as three.
pub(super) fn put_pair(bytes: &mut Vec<u8>, number: u32) {
    match u16::try_from(number).ok().filter(|short| *short != LONG) {
        Some(short) => bytes.extend_from_slice(&short.to_le_bytes()),
        None => {
            bytes.extend_from_slice(&LONG.to_le_bytes());
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }
}

/// Takes the pairs of bytes themselves.
pub(super) fn shorts(bytes: &[u8]) -> impl Iterator<Item = u16> {
    let (pairs, _) = bytes.as_chunks::<2>();
    pairs.iter().map(|pair| u16::from_le_bytes(*pair))
}

/// Takes all numbers of pairs of bytes.
pub(super) fn pairs(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let mut pairs = shorts(bytes);
    std::iter::from_fn(move || match pairs.next()? {
        LONG => Some(u32::from(pairs.next()?) | u32::from(pairs.next()?) << 16),
        short => Some(u32::from(short)),
    })
}

/// Adds numbers behind how many they are.
pub(super) fn put_list(bytes: &mut Vec<u8>, list: impl ExactSizeIterator<Item = u32>) {
    put(bytes, list.len() as u32);
    list.for_each(|number| put(bytes, number));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_as_they_were_written() {
        let numbers = [0, 1, 65_534, 65_535, 65_536, u32::MAX, 7];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|number| put_pair(&mut bytes, *number));
        assert_eq!(pairs(&bytes).collect::<Vec<u32>>(), numbers);
        assert_eq!(pairs(&bytes[..7]).collect::<Vec<u32>>(), [0, 1, 65_534]);
    }

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let numbers = [0, 1, 127, 128, 16_383, 16_384, 1 << 21, u32::MAX];
        let mut bytes = Vec::new();
        put_list(&mut bytes, numbers.into_iter());
        assert_eq!(Reader(&bytes).list().as_deref(), Some(numbers.as_slice()));
        for end in 0..bytes.len() {
            assert_eq!(Reader(&bytes[..end]).list(), None);
        }
        assert_eq!(Reader(&[0xff; 9]).number(), None);
    }
}
