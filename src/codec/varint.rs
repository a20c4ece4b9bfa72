//! Unsigned integers in as few bytes as they need: seven bits in each, the lowest first
//! ([LEB128](https://en.wikipedia.org/wiki/LEB128)).

/// Appends an integer to `bytes`: one byte for each seven bits, at least one.
pub(crate) fn write(bytes: &mut Vec<u8>, value: impl Into<u64>) {
    let mut rest = value.into();
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// Reads integers from the beginning of bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VarintReader<'a>(pub(crate) &'a [u8]);

impl VarintReader<'_> {
    /// Reads a 32-bit integer; `None` at the end, or if it takes more than five bytes.
    #[inline]
    pub(crate) fn read_u32(&mut self) -> Option<u32> {
        // The length of an integer is unpredictable: a branch for each byte would cost more than all else.
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
        self.read_bytewise(u32::BITS).map(|value| value as u32)
    }

    /// Reads a byte; `None` at the end.
    pub(crate) fn read_byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    /// Reads a 64-bit integer; `None` at the end, or if it takes more than ten bytes.
    #[inline]
    pub(crate) fn read_u64(&mut self) -> Option<u64> {
        self.read_bytewise(u64::BITS)
    }

    /// Reads an integer of at most `bits` bits, byte by byte; bits above these are dropped by the caller.
    fn read_bytewise(&mut self, bits: u32) -> Option<u64> {
        let mut value = 0;
        for shift in (0..bits).step_by(7) {
            let byte = self.read_byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_survive_encoding() {
        let values = [0, 1, 127, 128, 16_383, 16_384, 1 << 21, u32::MAX];
        let mut bytes = Vec::new();
        values.iter().for_each(|value| write(&mut bytes, *value));
        for end in 0..=bytes.len() {
            let (mut short, mut long) = (VarintReader(&bytes[..end]), VarintReader(&bytes[..end]));
            let read: Vec<u32> = std::iter::from_fn(|| short.read_u32()).collect();
            assert!(values.starts_with(&read) && (read.len() == values.len()) == (end == bytes.len()), "{end}");
            assert!(std::iter::from_fn(|| long.read_u64()).eq(read.into_iter().map(u64::from)), "{end}");
        }
        assert_eq!((VarintReader(&[0xff; 9]).read_u32(), VarintReader(&[0xff; 11]).read_u64()), (None, None));
        let mut bytes = Vec::new();
        write(&mut bytes, u64::MAX);
        assert_eq!((bytes.len(), VarintReader(&bytes).read_u64()), (10, Some(u64::MAX)));
    }
}
