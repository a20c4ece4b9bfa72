//! Integers in as few bits as they need.
//!
//! Two codes. Rice's code, for gaps in a list of known length (Witten, Moffat and Bell, *Managing Gigabytes*, 2nd ed.,
//! section 3.3). And a selector code, for word ids, which are the smaller the more frequent the word is: a selector
//! chooses one of eight payload widths. It takes a tenth more than the entropy of word frequencies.

/// The number of ones from which on a Rice-coded integer is stored verbatim: its quotient would take as many bits.
const RICE_ESCAPE: u32 = u32::BITS;
const SELECTOR_BITS: u32 = 3;
const PAYLOAD_BITS: [u32; 8] = [3, 5, 7, 9, 11, 13, 15, 32];
const SELECTOR_STARTS: [u32; 8] = selector_starts();

const fn selector_starts() -> [u32; 8] {
    let mut starts = [0; 8];
    let mut selector = 1;
    while selector < 8 {
        starts[selector] = starts[selector - 1] + (1 << PAYLOAD_BITS[selector - 1]);
        selector += 1;
    }
    starts
}

/// What follows each selector: the bits of the whole code, the mask of the payload, and the smallest integer.
const CODES: [(u32, u64, u32); 8] = codes();
/// The bits that [`BitReader::peek`] returns at least.
const PEEKED_BITS: u32 = 57;

const fn codes() -> [(u32, u64, u32); 8] {
    let mut codes = [(0, 0, 0); 8];
    let mut selector = 0;
    while selector < 8 {
        let width = PAYLOAD_BITS[selector];
        codes[selector] = (SELECTOR_BITS + width, (1 << width) - 1, SELECTOR_STARTS[selector]);
        selector += 1;
    }
    codes
}

/// Returns the selector of an integer. The smallest integer of selector n is 8 (4ⁿ - 1) / 3.
fn selector(value: u32) -> usize {
    let selector = (u64::from(value) * 3 / 8 + 1).ilog2() / 2;
    (selector as usize).min(PAYLOAD_BITS.len() - 1)
}

/// Writes bits, beginning with the lowest of each byte.
#[derive(Default)]
pub(crate) struct BitWriter {
    bytes: Vec<u8>,
    /// The bits that are not in `bytes` yet.
    pending: u64,
    /// The number of pending bits, below 32.
    pending_count: u32,
}

impl BitWriter {
    pub(crate) fn append_to(bytes: Vec<u8>) -> Self {
        Self { bytes, ..Self::default() }
    }

    /// Writes the lowest `count` bits of an integer, which has no others. `count` is at most 32.
    #[inline]
    pub(crate) fn write(&mut self, bits: u64, count: u32) {
        self.pending |= bits << self.pending_count;
        self.pending_count += count;
        if self.pending_count >= u32::BITS {
            self.bytes.extend_from_slice(&(self.pending as u32).to_le_bytes());
            self.pending >>= u32::BITS;
            self.pending_count -= u32::BITS;
        }
    }

    /// Writes an integer in Rice's code, then `count` bits of `next`, at most 32: one step is faster than two.
    ///
    /// The code is the quotient by `2^low_bits` in unary (ones, then a zero) and the remainder in `low_bits` bits. An
    /// integer with a quotient of [`RICE_ESCAPE`] or more is stored verbatim behind as many ones.
    #[inline]
    pub(crate) fn write_rice(&mut self, value: u32, low_bits: u32, next: u64, count: u32) {
        let ones = value >> low_bits;
        let remainder = u64::from(value) & ((1 << low_bits) - 1);
        if ones >= RICE_ESCAPE {
            self.write((1 << RICE_ESCAPE) - 1, RICE_ESCAPE);
            self.write(u64::from(value), u32::BITS);
            self.write(next, count);
        } else if ones + 1 + low_bits + count <= u32::BITS {
            let own = ones + 1 + low_bits;
            self.write(next << own | remainder << (ones + 1) | ((1 << ones) - 1), own + count);
        } else {
            self.write((1 << ones) - 1, ones + 1);
            self.write(remainder, low_bits);
            self.write(next, count);
        }
    }

    /// Writes an integer in the selector code: the selector, then the distance from its smallest integer.
    #[inline]
    pub(crate) fn write_int(&mut self, value: u32) {
        let selector = selector(value);
        let (payload, width) = (u64::from(value - SELECTOR_STARTS[selector]), PAYLOAD_BITS[selector]);
        if width + SELECTOR_BITS <= u32::BITS {
            self.write(payload << SELECTOR_BITS | selector as u64, width + SELECTOR_BITS);
        } else {
            self.write(selector as u64, SELECTOR_BITS);
            self.write(payload, width);
        }
    }

    /// Writes the length of a list, then its integers, in the selector code.
    pub(crate) fn write_list(&mut self, list: impl ExactSizeIterator<Item = u32>) {
        self.write_int(list.len() as u32);
        list.for_each(|value| self.write_int(value));
    }

    /// Fills the last byte with zeros. Returns the number of bytes.
    pub(crate) fn align_to_byte(&mut self) -> usize {
        let last = self.pending.to_le_bytes();
        self.bytes.extend(last.iter().take(self.pending_count.div_ceil(u8::BITS) as usize));
        (self.pending, self.pending_count) = (0, 0);
        self.bytes.len()
    }

    /// Returns the bytes; the last one is filled with zeros.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.align_to_byte();
        self.bytes
    }
}

/// Reads what a [`BitWriter`] wrote. All methods return `None` behind the end.
#[derive(Clone, Copy)]
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    bit_offset: usize,
}

impl<'a> BitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, bit_offset: 0 }
    }

    /// Returns the next bits, at least [`PEEKED_BITS`]; zeros behind the end.
    #[inline]
    fn peek(&self) -> u64 {
        let rest = self.bytes.get(self.bit_offset / 8..).unwrap_or_default();
        let eight = rest.first_chunk::<8>().copied().unwrap_or_else(|| {
            let mut eight = [0; 8];
            eight.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            eight
        });
        u64::from_le_bytes(eight) >> (self.bit_offset % 8)
    }

    #[inline]
    fn skip(&mut self, count: u32) -> Option<()> {
        self.bit_offset += count as usize;
        (self.bit_offset <= self.bytes.len() * 8).then_some(())
    }

    /// Reads `count` bits, at most 32.
    pub(crate) fn read(&mut self, count: u32) -> Option<u64> {
        let bits = self.peek() & ((1 << count) - 1);
        self.skip(count)?;
        Some(bits)
    }

    /// Reads an integer in Rice's code; see [`BitWriter::write_rice`].
    pub(crate) fn read_rice(&mut self, low_bits: u32) -> Option<u32> {
        let ones = self.peek().trailing_ones().min(RICE_ESCAPE);
        if ones == RICE_ESCAPE {
            self.skip(RICE_ESCAPE)?;
            return self.read(u32::BITS).map(|value| value as u32);
        }
        self.skip(ones + 1)?;
        let remainder = self.read(low_bits)? as u32;
        ones.checked_shl(low_bits)?.checked_add(remainder)
    }

    /// Reads an integer in the selector code; see [`BitWriter::write_int`].
    pub(crate) fn read_int(&mut self) -> Option<u32> {
        let mut read = None;
        self.read_ints(1, |value| {
            read = Some(value);
            Some(())
        })?;
        read
    }

    /// Calls `visit` with each of the next `count` integers in the selector code. `None` behind the end, where `visit` may be
    /// called with integers that are not there, or if `visit` returns it. Eight bytes, which are read at a time, have three
    /// integers or more, unless these are large.
    #[inline]
    pub(crate) fn read_ints(&mut self, count: u32, mut visit: impl FnMut(u32) -> Option<()>) -> Option<()> {
        let mut left = count;
        while left > 0 {
            let (mut bits, mut used) = (self.peek(), 0);
            while left > 0 {
                let (width, mask, start) = CODES[(bits & ((1 << SELECTOR_BITS) - 1)) as usize];
                // No sum here overflows, and no shift has more than 35 bits: checks would take a third of the time.
                let end = u32::wrapping_add(used, width);
                if end > PEEKED_BITS {
                    break;
                }
                let payload = bits >> SELECTOR_BITS & mask;
                visit(u32::try_from(payload.wrapping_add(u64::from(start))).ok()?)?;
                (bits, used, left) = (bits.wrapping_shr(width), end, left.wrapping_sub(1));
            }
            self.skip(used)?;
        }
        Some(())
    }

    /// Returns how many of `count` integers the bytes can hold: a corrupt count can't exhaust the memory.
    pub(crate) fn max_ints(&self, count: u32) -> usize {
        (count as usize).min(self.bytes.len() * 8 / (SELECTOR_BITS + PAYLOAD_BITS[0]) as usize)
    }

    /// Reads a list; see [`BitWriter::write_list`]. Allocates no more than the remaining bits can hold.
    pub(crate) fn read_list(&mut self) -> Option<Vec<u32>> {
        let count = self.read_int()?;
        let mut list = Vec::with_capacity(self.max_ints(count));
        self.read_ints(count, |value| {
            list.push(value);
            Some(())
        })?;
        Some(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_begin_with_their_smallest_integer() {
        for (index, start) in SELECTOR_STARTS.into_iter().enumerate() {
            assert_eq!((selector(start), selector(start.saturating_sub(1))), (index, index.saturating_sub(1)));
        }
        assert_eq!(selector(u32::MAX), 7);
    }

    #[test]
    fn integers_survive_encoding() {
        let values = [0, 7, 8, 39, 40, 167, 168, 679, 2727, 10_919, 43_687, 43_688, u32::MAX, 1];
        let mut bits = BitWriter::append_to(vec![9]);
        bits.write(1, 1);
        bits.write_list(values.into_iter());
        for low_bits in [0, 5, 31] {
            values.iter().for_each(|value| bits.write_rice(*value, low_bits, 5, 3));
        }
        let bytes = bits.finish();
        let mut reader = BitReader::new(&bytes[1..]);
        assert_eq!((reader.read(1), reader.read_list().as_deref()), (Some(1), Some(values.as_slice())));
        for low_bits in [0, 5, 31] {
            for value in values {
                assert_eq!((reader.read_rice(low_bits), reader.read(3)), (Some(value), Some(5)), "{low_bits}");
            }
        }
        assert_eq!(reader.read(32), None);
        assert_eq!(BitReader::new(&[0xff; 4]).read_int(), None);
        assert_eq!(BitReader::new(&[0xff; 5]).read_int(), None);
        assert_eq!(BitReader::new(&[0x07; 64]).read_list(), None);
    }
}
