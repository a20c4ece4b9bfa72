//! Columns of integers, each in as many whole bytes as the largest of its column: many are decoded at a time, without the
//! branches of [varints](super::varint).

/// The most bytes of an integer.
const MAX_WIDTH: usize = u32::BITS as usize / 8;

/// Appends a column: the bytes of an integer, 1 to 4, then each integer, its lowest byte first.
pub(crate) fn write(bytes: &mut Vec<u8>, values: &[u32]) {
    let bits = u32::BITS - values.iter().copied().max().unwrap_or_default().leading_zeros();
    let width = bits.div_ceil(8).max(1) as usize;
    bytes.push(width as u8);
    bytes.reserve(values.len() * width);
    values.iter().for_each(|value| bytes.extend_from_slice(value.to_le_bytes().get(..width).unwrap_or_default()));
}

/// Reads columns from the beginning of bytes.
pub(crate) struct ColumnReader<'a>(pub(crate) &'a [u8]);

impl ColumnReader<'_> {
    /// Reads a column of `count` integers; `None` if there are not as many.
    pub(crate) fn read(&mut self, count: usize) -> Option<Vec<u32>> {
        let (width, rest) = self.0.split_first()?;
        let width = usize::from(*width);
        // At least a byte for each integer: a corrupt count can't exhaust the memory.
        let is_valid = (1..=MAX_WIDTH).contains(&width);
        let (column, rest) = rest.split_at_checked(count.checked_mul(width)?).filter(|_| is_valid)?;
        self.0 = rest;
        Some(match width {
            1 => column.iter().map(|byte| u32::from(*byte)).collect(),
            2 => integers(column, |[a, b]: [u8; 2]| [a, b, 0, 0]),
            3 => integers(column, |[a, b, c]: [u8; 3]| [a, b, c, 0]),
            _ => integers(column, |bytes: [u8; 4]| bytes),
        })
    }
}

fn integers<const WIDTH: usize>(column: &[u8], widen: impl Fn([u8; WIDTH]) -> [u8; MAX_WIDTH]) -> Vec<u32> {
    column.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(widen(*bytes))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_as_they_were_written() {
        let columns = [vec![], vec![0, 0], vec![1, 255], vec![256, 3, 65_535], vec![65_536, 7], vec![u32::MAX, 0, 5]];
        let mut bytes = Vec::new();
        columns.iter().for_each(|column| write(&mut bytes, column));
        let mut reader = ColumnReader(&bytes);
        columns.iter().for_each(|column| assert_eq!(reader.read(column.len()).as_ref(), Some(column)));
        assert!(reader.0.is_empty() && reader.read(0).is_none());
    }

    #[test]
    fn damaged_columns_are_none() {
        for bytes in [&[2, 1][..], &[5, 1, 1, 1, 1, 1], &[1], &[0], &[]] {
            assert_eq!(ColumnReader(bytes).read(1), None);
        }
        assert_eq!(ColumnReader(&[4, 0]).read(usize::MAX), None);
        assert_eq!(ColumnReader(&[0]).read(usize::MAX), None);
    }
}
