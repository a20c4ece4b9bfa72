//! Values that a process which ends with its answer does not free.

use std::mem::ManuallyDrop;
use std::ops::Deref;

use super::store::Store;

/// A value that is freed at its end only if the process goes on.
pub(crate) enum Unfreed<T> {
    /// The process ends soon.
    Leaked(ManuallyDrop<T>),
    /// The process goes on.
    Owned(T),
}

impl<T> Unfreed<T> {
    fn new(is_only_call: bool, value: T) -> Self {
        if is_only_call { Self::Leaked(ManuallyDrop::new(value)) } else { Self::Owned(value) }
    }
}

impl<T> Deref for Unfreed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Leaked(value) => value,
            Self::Owned(value) => value,
        }
    }
}

impl Store {
    /// Returns the store for the rest of a call. If the process ends with the call, the store is not freed: freeing ten
    /// thousand notes one by one would take a tenth of the time.
    pub(crate) fn unfreed(self) -> Unfreed<Self> {
        Unfreed::new(self.is_only_call, self)
    }

    /// Returns a value of this call that is freed as the store is.
    pub(crate) fn unfreed_with<T>(&self, value: T) -> Unfreed<T> {
        Unfreed::new(self.is_only_call, value)
    }
}
