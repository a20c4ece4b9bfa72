//! Encodings of numbers, bytes and names, without knowledge of notes or files.

pub(crate) mod bits;
pub mod blobs;
pub(crate) mod columns;
pub(crate) mod hex;
pub(crate) mod index_type;
pub(crate) mod lz4;
pub(crate) mod named;
pub(crate) mod offsets;
pub(crate) mod sort_key;
pub mod unit_vector;
pub(crate) mod varint;
