//! How targets read their bytes: numbers first, then texts between lines of `%%%`, so that an input stays readable.

use std::borrow::Cow;

/// The line between two texts.
const SEPARATOR: &[u8] = b"\n%%%\n";

/// The number of bytes to which an input is repeated.
const MAX_REPEATED: usize = 96 * 1024;

/// An input that is read from its beginning.
pub(crate) struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Reads a number below `count`: a byte, where `0` is 0, `1` is 1 and so on.
    pub(crate) fn number(&mut self, count: usize) -> usize {
        let Some((first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        usize::from(first.wrapping_sub(b'0')) % count
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.number(2) == 1
    }

    /// Chooses one of some values.
    pub(crate) fn choose<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.number(values.len())]
    }

    /// Reads a budget: often small, seldom large.
    pub(crate) fn budget(&mut self) -> usize {
        let (scale, digit) = (self.number(10), self.number(64));
        match scale {
            0..=3 => digit * 10,
            4..=7 => digit * 40,
            _ => digit * 200,
        }
    }

    /// Returns the rest, many times if its first byte is `R`: what takes more than linear time then takes too long.
    pub(crate) fn repeated(&self) -> Cow<'a, [u8]> {
        match self.rest.split_first() {
            Some((b'R', rest)) if !rest.is_empty() => Cow::Owned(rest.repeat(MAX_REPEATED.div_ceil(rest.len()))),
            _ => Cow::Borrowed(self.rest),
        }
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns the rest as one text.
    pub(crate) fn text(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.rest)
    }

    /// Returns the parts of the rest, at most `most`; the last has what is left.
    pub(crate) fn parts(&self, most: usize) -> Vec<&'a [u8]> {
        let mut parts = Vec::new();
        let mut rest = self.rest;
        while parts.len() + 1 < most {
            let Some(end) = rest.windows(SEPARATOR.len()).position(|window| window == SEPARATOR) else { break };
            parts.push(&rest[..end]);
            rest = &rest[end + SEPARATOR.len()..];
        }
        parts.push(rest);
        parts
    }

    /// Returns the parts of the rest as texts.
    pub(crate) fn texts(&self, most: usize) -> Vec<String> {
        self.parts(most).into_iter().map(|part| String::from_utf8_lossy(part).into_owned()).collect()
    }
}
