//! Offsets of ragged arrays: rows of different lengths that are stored one after another.

use std::ops::{Add, Range};

use serde::{Deserialize, Serialize};

/// The ends of the rows of a ragged array, ascending. The first row begins at 0, each other row at the end of the
/// one before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offsets<T = u32> {
    ends: Vec<T>,
}

impl<T: Copy + Default + Ord + TryInto<usize>> Offsets<T> {
    pub(crate) fn with_capacity(rows: usize) -> Self {
        Self { ends: Vec::with_capacity(rows) }
    }

    /// Returns the offsets of rows with these ends, which ascend.
    pub(crate) fn from_ends(ends: Vec<T>) -> Self {
        debug_assert!(ends.is_sorted(), "the ends of rows ascend");
        Self { ends }
    }

    /// Returns the ends of the rows.
    pub(crate) fn ends(&self) -> &[T] {
        &self.ends
    }

    pub(crate) fn push(&mut self, end: T) {
        self.ends.push(end);
    }

    pub(crate) fn reserve_exact(&mut self, rows: usize) {
        self.ends.reserve_exact(rows);
    }

    pub(crate) fn row_count(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of elements of all rows: the end of the last one.
    pub(crate) fn total(&self) -> T {
        self.ends.last().copied().unwrap_or_default()
    }

    /// Returns the range of a row; `None` if it does not exist.
    #[inline]
    pub(crate) fn range(&self, row: usize) -> Option<Range<T>> {
        let start = row.checked_sub(1).map_or(Some(T::default()), |before| self.ends.get(before).copied())?;
        Some(start..*self.ends.get(row)?)
    }

    /// Returns the elements of a row; none if the row does not exist or ends behind `elements`.
    #[inline]
    pub(crate) fn row<'a, E>(&self, row: usize, elements: &'a [E]) -> &'a [E] {
        self.position_range(row).and_then(|range| elements.get(range)).unwrap_or_default()
    }

    /// Returns the text of a row; empty if the row does not exist or ends behind `text`.
    #[inline]
    pub(crate) fn text<'a>(&self, row: usize, text: &'a str) -> &'a str {
        self.position_range(row).and_then(|range| text.get(range)).unwrap_or_default()
    }

    /// Returns the row of the element at `position`: the first row that ends behind it. O(log rows).
    pub(crate) fn row_at(&self, position: usize) -> usize {
        self.ends.partition_point(|end| (*end).try_into().is_ok_and(|end| end <= position))
    }

    /// Returns whether these can be the offsets of `rows` rows with `elements` elements in all.
    pub(crate) fn fits(&self, rows: usize, elements: usize) -> bool {
        self.ends.len() == rows && self.ends.is_sorted() && self.total().try_into().is_ok_and(|total| total == elements)
    }

    #[inline]
    fn position_range(&self, row: usize) -> Option<Range<usize>> {
        let range = self.range(row)?;
        Some(range.start.try_into().ok()?..range.end.try_into().ok()?)
    }
}

impl Offsets {
    /// Returns the lengths of the rows.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = u32> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        self.ends.iter().zip(starts).map(|(end, start)| end - start)
    }

    /// Returns the offsets of rows with these lengths; `None` if they have more than `u32::MAX` elements.
    pub(crate) fn of_lengths(mut lengths: Vec<u32>) -> Option<Self> {
        let mut end = 0_u64;
        for length in &mut lengths {
            end += u64::from(*length);
            *length = end as u32;
        }
        u32::try_from(end).ok().map(|_| Self { ends: lengths })
    }
}

impl<T: Copy + Default + Ord + TryInto<usize> + Add<Output = T>> Offsets<T> {
    /// Appends the rows of another ragged array, whose elements are appended to those of this one.
    pub(crate) fn append(&mut self, other: &Self) {
        let total = self.total();
        self.ends.extend(other.ends.iter().map(|end| total + *end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_lie_between_their_offsets() {
        let mut offsets = Offsets::from_ends(vec![2_u32, 2, 5]);
        assert_eq!([0, 1, 2, 3].map(|row| offsets.row(row, b"abcde")), [&b"ab"[..], b"", b"cde", b""]);
        assert_eq!((offsets.text(2, "abcde"), offsets.text(2, "abc")), ("cde", ""));
        assert_eq!([0, 1, 2, 4, 5].map(|position| offsets.row_at(position)), [0, 0, 2, 2, 3]);
        assert!(offsets.fits(3, 5) && !offsets.fits(2, 5) && !offsets.fits(3, 4));
        assert_eq!(
            (Offsets::of_lengths(vec![2, 0, 3]), Offsets::of_lengths(vec![u32::MAX, 1])),
            (Some(offsets.clone()), None)
        );
        offsets.append(&Offsets::from_ends(vec![1]));
        assert_eq!((offsets.row_count(), offsets.total(), offsets.range(3)), (4, 6, Some(5..6)));
        assert_eq!((Offsets::<u64>::default().total(), Offsets::<u64>::default().range(0)), (0, None));
    }
}
