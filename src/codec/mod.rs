//! Encodings of numbers and bytes: pure functions, without files.

pub(crate) mod bits;
pub mod blobs;
pub(crate) mod varint;
