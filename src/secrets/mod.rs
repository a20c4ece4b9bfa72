//! Finds secrets in a text as answers show it: keys and tokens of services by the shape of their values, private keys, passwords in URLs, and
//! random values beside a word such as `password`.
//!
//! A secret is reported by its kind and position. Its value leaves this module in no form: callers can't print it.
//!
//! Every rule has literal anchors of at least three bytes. One pass over the text looks up each window of three bytes in a
//! hash table of the anchors, and only an anchor that occurs starts an attempt of its rule. No rule reads a byte twice, so
//! that the time is linear in the text for any input.

mod assignments;
mod checks;
mod credentials;
mod private_keys;
mod rules;
mod shape;
mod url_passwords;
mod visible_text;

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::LazyLock;

use rules::{RULES, Rule};
use visible_text::VisibleText;

/// Comments that exempt the secrets that begin on their line: ours, and that of gitleaks.
const EXEMPTIONS: [&str; 2] = ["qipu:allow-secret", "gitleaks:allow"];

/// A secret in a text, without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// What it is, such as `GitHub token`.
    pub kind: &'static str,
    /// The byte at which it begins.
    pub offset: usize,
    /// Its line, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
}

/// The secrets that texts contained before a change, as hashes of their values.
#[derive(Debug, Default)]
pub struct KnownSecrets {
    hasher: RandomState,
    hashes: HashSet<u64>,
}

impl KnownSecrets {
    /// Adds the secrets of a text, including those that a comment exempts.
    pub fn add(&mut self, text: &str) {
        let visible = VisibleText::of(text);
        let values = occurrences(&visible.text).into_iter().filter_map(|found| visible.text.get(found.range));
        self.hashes.extend(values.map(|value| self.hasher.hash_one(value)));
    }

    fn contains(&self, value: &str) -> bool {
        self.hashes.contains(&self.hasher.hash_one(value))
    }
}

/// Finds the secrets in a text, in their order. O(length).
pub fn find(text: &str) -> Vec<Secret> {
    find_new(text, &KnownSecrets::default())
}

/// Finds the secrets in a text that are not among the known ones, in their order. O(length).
pub fn find_new(text: &str, known: &KnownSecrets) -> Vec<Secret> {
    secrets_of(text, known, exempt_lines)
}

/// Finds them like [`find_new`], also on lines with a comment that exempts.
pub fn find_new_in_spite_of_comments(text: &str, known: &KnownSecrets) -> Vec<Secret> {
    secrets_of(text, known, |_| Vec::new())
}

/// Returns the secrets outside of exempt lines. The lines are looked up only if there is a secret.
fn secrets_of(text: &str, known: &KnownSecrets, exempt_lines: fn(&str) -> Vec<Range<usize>>) -> Vec<Secret> {
    let visible = VisibleText::of(text);
    let found = occurrences(&visible.text);
    if found.is_empty() {
        return Vec::new();
    }
    let exempt = exempt_lines(text);
    let mut cursor = PositionCursor { text, offset: 0, line: 1, column: 1 };
    let mut secrets = Vec::new();
    for Occurrence { rule, range } in found {
        let offset = visible.original_offset(range.start);
        let line = exempt.partition_point(|line| line.end <= offset);
        let is_exempt = exempt.get(line).is_some_and(|line| line.contains(&offset));
        if is_exempt || visible.text.get(range).is_some_and(|value| known.contains(value)) {
            continue;
        }
        cursor.advance(offset);
        let Rule { kind, .. } = rule;
        secrets.push(Secret { kind, offset, line: cursor.line, column: cursor.column });
    }
    secrets
}

/// Returns the kind of each rule, and the texts of its table: a value begins with one of them, or contains it. A kind may
/// have more than one rule.
pub fn rules() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    RULES.iter().map(|rule| (rule.kind, rule.anchors))
}

/// A place where a rule matches.
struct Occurrence {
    rule: &'static Rule,
    range: Range<usize>,
}

/// The outcome of an attempt to match a rule at an anchor.
struct Attempt {
    matched: Option<Range<usize>>,
    /// The end of what was read. The rule does not start again before it.
    end: usize,
}

/// Returns the matches of all rules, sorted, without overlaps. Where two overlap, the one with a format of its own wins over
/// a random value beside a word, and else the first.
fn occurrences(text: &str) -> Vec<Occurrence> {
    let mut found = Vec::new();
    let mut read_to = vec![0; RULES.len()];
    ANCHORS.for_each(text.as_bytes(), |start, anchor| {
        let rule = &RULES[anchor.rule];
        if start < read_to[anchor.rule] {
            return;
        }
        let attempt = rule.attempt(text, start..start + anchor.literal.len());
        read_to[anchor.rule] = attempt.end;
        found.extend(attempt.matched.map(|range| Occurrence { rule, range }));
    });
    found.sort_by_key(|occurrence| occurrence.range.start);
    let mut kept: Vec<Occurrence> = Vec::new();
    for next in found {
        match kept.last_mut().filter(|last| next.range.start < last.range.end) {
            Some(last) if last.rule.is_generic && !next.rule.is_generic => *last = next,
            Some(_) => {}
            None => kept.push(next),
        }
    }
    kept
}

/// Returns the byte ranges of the lines with a comment that exempts, sorted.
fn exempt_lines(text: &str) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    if !EXEMPTIONS.iter().any(|comment| text.contains(comment)) {
        return lines;
    }
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        if EXEMPTIONS.iter().any(|comment| line.contains(comment)) {
            lines.push(start..end);
        }
        start = end;
    }
    lines
}

/// A position in a text that moves forward.
struct PositionCursor<'t> {
    text: &'t str,
    offset: usize,
    line: usize,
    column: usize,
}

impl PositionCursor<'_> {
    fn advance(&mut self, offset: usize) {
        for c in self.text.get(self.offset..offset).unwrap_or_default().chars() {
            self.column += 1;
            if c == '\n' {
                (self.line, self.column) = (self.line + 1, 1);
            }
        }
        self.offset = offset;
    }
}

/// A literal that starts an attempt of a rule.
struct Anchor {
    literal: &'static str,
    /// The index of its rule.
    rule: usize,
    /// The index of the next anchor in the same slot of the table.
    next: Option<usize>,
}

/// A hash table of the anchors by their first three bytes, ASCII letters in lower case.
struct AnchorTable {
    anchors: Vec<Anchor>,
    slots: Vec<Option<usize>>,
}

/// The number of slots: many more than there are anchors, so that most lookups end at once.
const SLOTS: usize = 4096;

static ANCHORS: LazyLock<AnchorTable> = LazyLock::new(|| {
    let mut table = AnchorTable { anchors: Vec::new(), slots: vec![None; SLOTS] };
    for (rule, Rule { anchors, .. }) in RULES.iter().enumerate() {
        for literal in *anchors {
            let Some(slot) = literal.as_bytes().first_chunk().map(slot_of) else { continue };
            let next = table.slots[slot].replace(table.anchors.len());
            table.anchors.push(Anchor { literal, rule, next });
        }
    }
    table
});

fn slot_of(window: &[u8; 3]) -> usize {
    let [a, b, c] = window.map(|byte| u32::from(byte | 0x20));
    // Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, section 6.4); the upper twelve bits count.
    let hash = (a | b << 8 | c << 16).wrapping_mul(0x9e37_79b1) >> 20;
    hash as usize % SLOTS
}

impl AnchorTable {
    /// Calls `visit` with the start of each anchor in a text.
    fn for_each(&self, text: &[u8], mut visit: impl FnMut(usize, &Anchor)) {
        for (start, window) in text.windows(3).enumerate() {
            let Some(window) = window.first_chunk() else { continue };
            let mut slot = self.slots[slot_of(window)];
            while let Some(anchor) = slot.map(|index| &self.anchors[index]) {
                if RULES[anchor.rule].begins(&text[start..], anchor.literal) {
                    visit(start, anchor);
                }
                slot = anchor.next;
            }
        }
    }

    /// Tells whether the value at an offset has the shape of a token, but not its checksum.
    fn is_refuted(&self, text: &str, start: usize) -> bool {
        let value = text.as_bytes().get(start..).unwrap_or_default();
        let mut slot = value.first_chunk().and_then(|window| self.slots[slot_of(window)]);
        while let Some(anchor) = slot.map(|index| &self.anchors[index]) {
            let rule = &RULES[anchor.rule];
            if rule.begins(value, anchor.literal) && rule.refutes(text, start..start + anchor.literal.len()) {
                return true;
            }
            slot = anchor.next;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_anchor_is_in_the_table() {
        let anchors: Vec<&str> = RULES.iter().flat_map(|rule| rule.anchors).copied().collect();
        assert_eq!(ANCHORS.anchors.len(), anchors.len(), "an anchor has at least three bytes");
        for literal in anchors {
            let mut seen = 0;
            ANCHORS.for_each(literal.as_bytes(), |start, anchor| {
                seen += usize::from(start == 0 && anchor.literal == literal);
            });
            assert!(seen > 0, "{literal}");
        }
    }

    #[test]
    fn lines_and_columns_count_from_one() {
        let mut cursor = PositionCursor { text: "é\nab\r\n\nc", offset: 0, line: 1, column: 1 };
        let mut at = |offset| {
            cursor.advance(offset);
            (cursor.line, cursor.column)
        };
        assert_eq!([at(0), at(2), at(3), at(4), at(7), at(8)], [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (4, 1)]);
    }
}
