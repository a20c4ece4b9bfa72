//! Whole numbers in as few bytes as they need: seven bits in each, the lowest first (LEB128).

/// Adds a number to bytes.
pub(crate) fn put(bytes: &mut Vec<u8>, number: u32) {
    let mut rest = number;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// Takes numbers off the beginning of bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VarintReader<'a>(pub(crate) &'a [u8]);

impl VarintReader<'_> {
    /// Takes a byte; `None` at the end.
    #[inline]
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Takes a number; `None` where there is none.
    #[inline]
    pub(crate) fn number(&mut self) -> Option<u32> {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let numbers = [0, 1, 127, 128, 16_383, 16_384, 1 << 21, u32::MAX];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|number| put(&mut bytes, *number));
        for end in 0..=bytes.len() {
            let mut rest = VarintReader(&bytes[..end]);
            let read: Vec<u32> = std::iter::from_fn(|| rest.number()).collect();
            assert!(numbers.starts_with(&read) && (read.len() == numbers.len()) == (end == bytes.len()), "{end}");
        }
        assert_eq!(VarintReader(&[0xff; 9]).number(), None);
    }
}
