//! Values that a process which ends with its answer does not free.

use std::mem;
use std::sync::Arc;

use super::store::Store;

impl Store {
    /// Returns the store for the rest of a call. If the process ends with the call, the store is not freed: freeing ten
    /// thousand notes one by one would take a tenth of the time.
    pub(crate) fn leaked_at_exit(self) -> Arc<Self> {
        let is_only_call = self.is_only_call;
        leaked_at_exit(is_only_call, self)
    }

    /// Returns a value of this call that is freed as the store is.
    pub(crate) fn leaked_at_exit_with<T>(&self, value: T) -> Arc<T> {
        leaked_at_exit(self.is_only_call, value)
    }
}

fn leaked_at_exit<T>(is_only_call: bool, value: T) -> Arc<T> {
    let value = Arc::new(value);
    if is_only_call {
        mem::forget(Arc::clone(&value));
    }
    value
}
