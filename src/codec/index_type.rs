//! Types for the integers that index arrays.

/// Defines an index type over `u32`.
macro_rules! index_type {
    ($(#[$doc:meta])* $vis:vis $name:ident) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        $vis struct $name(pub(crate) u32);

        impl $name {
            /// Returns the id as an index into an array.
            #[inline]
            $vis fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the ids below `count`, in ascending order.
            #[inline]
            $vis fn all(count: usize) -> impl ExactSizeIterator<Item = Self> + DoubleEndedIterator + Clone {
                (0..count as u32).map(Self)
            }
        }
    };
}

pub(crate) use index_type;
