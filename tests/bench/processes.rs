//! Measures whole processes on generated stores.

fn main() {}
