//! Lib.
pub mod error;
pub mod note;
pub mod store;
