//! IdTable in as few bits as they need.
//!
//! Two codes: Rice's, for gaps in a list whose length is known (Witten, Moffat, Bell: Managing Gigabytes,
//! 2nd ed., section 3.3); and one of eight classes of numbers, for the numbers of words, which are the
//! smaller the more often a word is met. A tenth above what the frequencies of words allow at best.

/// From how many ones in a row on a number stands as it is: they would take as much room.
const MAX_ONES: u32 = u32::BITS;
/// How many bits say of which class a number is.
const CLASS_BITS: u32 = 3;
/// How many bits the numbers of each class take, and the first number of each.
const WIDTHS: [u32; 8] = [3, 5, 7, 9, 11, 13, 15, 32];
const STARTS: [u32; 8] = starts();

const fn starts() -> [u32; 8] {
    let mut starts = [0; 8];
    let mut class = 1;
    while class < 8 {
        starts[class] = starts[class - 1] + (1 << WIDTHS[class - 1]);
        class += 1;
    }
    starts
}

/// Returns the class of a number: the first of class n is 8 (4ⁿ - 1) / 3.
fn class(number: u32) -> usize {
    let class = (u64::from(number) * 3 / 8 + 1).ilog2() / 2;
    (class as usize).min(WIDTHS.len() - 1)
}

/// Bits in the making, the lowest of each byte first.
#[derive(Default)]
pub(crate) struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that are not among them yet, and how many they are: fewer than 32.
    bits: u64,
    count: u32,
}

impl BitWriter {
    /// Goes on behind bytes.
    pub(crate) fn behind(bytes: Vec<u8>) -> Self {
        Self { bytes, ..Self::default() }
    }

    /// Adds the lowest bits of a number, 32 at most.
    #[inline]
    pub(crate) fn put(&mut self, number: u64, count: u32) {
        self.bits |= number << self.count;
        self.count += count;
        if self.count >= u32::BITS {
            self.bytes.extend_from_slice(&(self.bits as u32).to_le_bytes());
            self.bits >>= u32::BITS;
            self.count -= u32::BITS;
        }
    }

    /// Adds a number in Rice's code: how often a power of two is in it, as ones and a zero, then the rest; one
    /// that is too far from what was expected stands behind ones alone. Behind it the lowest bits of another,
    /// 32 at most, since one step is faster than two.
    #[inline]
    pub(crate) fn put_rice(&mut self, number: u32, low: u32, next: u64, count: u32) {
        let ones = number >> low;
        let rest = u64::from(number) & ((1 << low) - 1);
        if ones >= MAX_ONES {
            self.put((1 << MAX_ONES) - 1, MAX_ONES);
            self.put(u64::from(number), u32::BITS);
            self.put(next, count);
        } else if ones + 1 + low + count <= u32::BITS {
            let own = ones + 1 + low;
            self.put(next << own | rest << (ones + 1) | ((1 << ones) - 1), own + count);
        } else {
            self.put((1 << ones) - 1, ones + 1);
            self.put(rest, low);
            self.put(next, count);
        }
    }

    /// Adds a number that is small more often than large.
    #[inline]
    pub(crate) fn put_number(&mut self, number: u32) {
        let class = class(number);
        let (rest, width) = (u64::from(number - STARTS[class]), WIDTHS[class]);
        if width + CLASS_BITS <= u32::BITS {
            self.put(rest << CLASS_BITS | class as u64, width + CLASS_BITS);
        } else {
            self.put(class as u64, CLASS_BITS);
            self.put(rest, width);
        }
    }

    /// Adds numbers behind how many they are.
    pub(crate) fn put_list(&mut self, list: impl ExactSizeIterator<Item = u32>) {
        self.put_number(list.len() as u32);
        list.for_each(|number| self.put_number(number));
    }

    /// Fills the last byte with zeros; returns how many bytes there are.
    pub(crate) fn end_byte(&mut self) -> usize {
        let last = self.bits.to_le_bytes();
        self.bytes.extend(last.iter().take(self.count.div_ceil(u8::BITS) as usize));
        (self.bits, self.count) = (0, 0);
        self.bytes.len()
    }

    /// Returns the bytes; the last one is filled with zeros.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.end_byte();
        self.bytes
    }
}

/// Takes bits off bytes.
#[derive(Clone, Copy)]
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    place: usize,
}

impl<'a> BitReader<'a> {
    /// Begins with the first bit.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, place: 0 }
    }

    /// Returns the bits that come next, 57 at least; zeros behind the end.
    fn ahead(&self) -> u64 {
        let rest = self.bytes.get(self.place / 8..).unwrap_or_default();
        let eight = rest.first_chunk::<8>().copied().unwrap_or_else(|| {
            let mut eight = [0; 8];
            eight.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            eight
        });
        u64::from_le_bytes(eight) >> (self.place % 8)
    }

    fn skip(&mut self, count: u32) -> Option<()> {
        self.place += count as usize;
        (self.place <= self.bytes.len() * 8).then_some(())
    }

    /// Takes so many bits, 32 at most.
    pub(crate) fn take(&mut self, count: u32) -> Option<u64> {
        let bits = self.ahead() & ((1 << count) - 1);
        self.skip(count)?;
        Some(bits)
    }

    pub(crate) fn take_rice(&mut self, low: u32) -> Option<u32> {
        let ones = self.ahead().trailing_ones().min(MAX_ONES);
        if ones == MAX_ONES {
            self.skip(MAX_ONES)?;
            return self.take(u32::BITS).map(|number| number as u32);
        }
        self.skip(ones + 1)?;
        let rest = self.take(low)? as u32;
        ones.checked_shl(low)?.checked_add(rest)
    }

    /// Takes a number that [`BitWriter::put_number`] added.
    #[inline]
    pub(crate) fn number(&mut self) -> Option<u32> {
        let bits = self.ahead();
        let class = (bits & ((1 << CLASS_BITS) - 1)) as usize;
        let width = *WIDTHS.get(class)?;
        let number = bits >> CLASS_BITS & ((1 << width) - 1);
        self.skip(CLASS_BITS + width)?;
        STARTS.get(class)?.checked_add(number as u32)
    }

    /// Takes as many numbers as the first one says.
    pub(crate) fn list(&mut self) -> Option<Vec<u32>> {
        let count = self.number()? as usize;
        // Each takes some bits at least: no list is longer than what is left.
        let mut list = Vec::with_capacity(count.min(self.bytes.len() * 8 / (CLASS_BITS + WIDTHS[0]) as usize));
        for _ in 0..count {
            list.push(self.number()?);
        }
        Some(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_begins_with_its_first_number() {
        for (number, start) in STARTS.into_iter().enumerate() {
            assert_eq!((class(start), class(start.saturating_sub(1))), (number, number.saturating_sub(1)));
        }
        assert_eq!(class(u32::MAX), 7);
    }

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let numbers = [0, 7, 8, 39, 40, 167, 168, 679, 2727, 10_919, 43_687, 43_688, u32::MAX, 1];
        let mut bits = BitWriter::behind(vec![9]);
        bits.put(1, 1);
        bits.put_list(numbers.into_iter());
        for low in [0, 5, 31] {
            numbers.iter().for_each(|number| bits.put_rice(*number, low, 5, 3));
        }
        let bytes = bits.finish();
        let mut read = BitReader::new(&bytes[1..]);
        assert_eq!((read.take(1), read.list().as_deref()), (Some(1), Some(numbers.as_slice())));
        for low in [0, 5, 31] {
            for number in numbers {
                assert_eq!((read.take_rice(low), read.take(3)), (Some(number), Some(5)), "{low}");
            }
        }
        assert_eq!(read.take(32), None);
        assert_eq!(BitReader::new(&[0xff; 4]).number(), None);
        assert_eq!(BitReader::new(&[0xff; 5]).number(), None);
        assert_eq!(BitReader::new(&[0x07; 64]).list(), None);
    }
}
