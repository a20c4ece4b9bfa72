//! Passages: the parts of a note's body that answer, in place of the whole of it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Fragments that follow one another are not joined where more than this stands between them that is no fragment, in
/// bytes, such as a comment.
const MAX_BETWEEN: usize = 300;

/// The parts of a note's body from which its passages are chosen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Passages {
    /// In the order of the text. They do not overlap.
    pub fragments: Vec<Fragment>,
    /// What the note is worth whole, where it has no text or a single fragment; `None` for others.
    pub whole: Option<f64>,
    /// Whether the note was asked for by name, so that some of it is shown before others.
    pub is_named: bool,
}

/// The smallest part of a body that is shown by itself: a block, or a part of a long one.
#[derive(Debug, Clone, PartialEq)]
pub struct Fragment {
    /// Its bytes in the body.
    pub range: Range<usize>,
    /// The lines of the file in which it begins and ends, from 1.
    pub lines: (usize, usize),
    /// How many characters every format shows of it at least.
    pub chars: usize,
    /// The headings above it, the outermost first, without the note's title.
    pub path: Arc<[String]>,
    /// How much it is worth beside the fragments of all notes, from 0; 0 where it holds nothing of the query.
    pub worth: f64,
    /// The numbers of the fragments that come with it where there is room: what it can't be understood without.
    pub with: Vec<usize>,
    /// Whether it says something without these.
    pub is_alone: bool,
}

/// Fragments that follow one another without a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The lines of the file in which it begins and ends, from 1.
    pub lines: (usize, usize),
    /// The headings above its beginning, the outermost first, without the note's title.
    pub path: Arc<[String]>,
    /// Its text, as it stands in the file.
    pub text: String,
}

impl Passages {
    /// Returns the numbers of the fragments, the one that is worth the most first; of those that are worth as much, the
    /// first in the text.
    pub fn by_worth(&self) -> Vec<usize> {
        let mut numbers: Vec<(usize, f64)> = self.fragments.iter().map(|fragment| fragment.worth).enumerate().collect();
        numbers.sort_by(|a, b| b.1.total_cmp(&a.1));
        numbers.into_iter().map(|(number, _)| number).collect()
    }

    /// Counts the bytes of all fragments.
    pub fn bytes(&self) -> usize {
        self.fragments.iter().map(|fragment| fragment.range.len()).sum()
    }

    /// Joins chosen fragments of a body to passages.
    pub fn joined(&self, body: &str, chosen: &BTreeSet<usize>) -> Vec<Passage> {
        let mut passages: Vec<(usize, Range<usize>, Passage)> = Vec::new();
        for number in chosen {
            let Some(fragment) = self.fragments.get(*number) else { continue };
            match passages.last_mut() {
                Some((last, range, passage))
                    if *last + 1 == *number && fragment.range.start <= range.end + MAX_BETWEEN =>
                {
                    *last = *number;
                    range.end = fragment.range.end;
                    passage.lines.1 = fragment.lines.1;
                }
                _ => {
                    let passage =
                        Passage { lines: fragment.lines, path: Arc::clone(&fragment.path), text: String::new() };
                    passages.push((*number, fragment.range.clone(), passage));
                }
            }
        }
        let with_text = |(_, range, passage): (usize, Range<usize>, Passage)| {
            let text = body.get(range).unwrap_or_default().to_owned();
            Passage { text, ..passage }
        };
        passages.into_iter().map(with_text).collect()
    }
}
