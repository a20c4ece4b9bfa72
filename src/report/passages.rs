//! Passages: the parts of a body that answer, in place of the whole.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::note::Fragment;

/// The most bytes between two fragments of one passage that belong to no fragment, such as a comment.
const MAX_BETWEEN: usize = 300;

/// The fragments of a note from which its passages are chosen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Passages {
    /// The written summary, if there is one, then the fragments of the body in the order of the text, without overlaps.
    pub fragments: Vec<Fragment>,
    /// The worth of each fragment beside the fragments of all notes; 0 without a word of the query.
    pub worth: Vec<f64>,
    /// The worth of the whole note if it has at most one fragment; `None` otherwise.
    pub whole: Option<f64>,
    /// Whether a part of the note precedes other notes.
    pub is_first: bool,
}

/// Consecutive fragments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Its first and its last line in the file, from 1.
    pub lines: (usize, usize),
    /// The heading path of its first fragment, without the title of the note.
    pub heading_path: Arc<[String]>,
    /// Its text, verbatim.
    pub text: String,
    /// See [`crate::note::Fragment::opening`].
    pub opening: Option<Arc<str>>,
}

impl Passage {
    /// Returns the text for a reader: code or a comment in which it begins is opened.
    pub fn shown_text(&self) -> Cow<'_, str> {
        match &self.opening {
            Some(opening) => Cow::Owned(format!("{opening}\n{}", self.text)),
            None => Cow::Borrowed(&self.text),
        }
    }
}

impl Passages {
    /// Returns the indices of the fragments by descending worth, then in the order of the text.
    pub fn by_worth(&self) -> Vec<usize> {
        let mut indices: Vec<usize> = (0..self.fragments.len()).collect();
        indices.sort_by(|a, b| self.worth[*b].total_cmp(&self.worth[*a]));
        indices
    }

    /// Returns the index of the fragment that states what the note is about: the first one of a concluding section, such
    /// as `Decision`, else the first one.
    pub fn conclusion(&self) -> Option<usize> {
        let concluding = self.fragments.iter().position(|fragment| fragment.is_conclusion());
        concluding.or_else(|| (!self.fragments.is_empty()).then_some(0))
    }

    /// Returns the written summary, if it is among the chosen fragments.
    pub fn chosen_summary(&self, chosen: &BTreeSet<usize>) -> Option<&str> {
        chosen.iter().find_map(|index| self.fragments.get(*index)?.summary.as_deref())
    }

    /// Joins the chosen fragments of `body` to passages.
    pub fn joined(&self, body: &str, chosen: &BTreeSet<usize>) -> Vec<Passage> {
        let fragment = |index: &usize| Some((*index, self.fragments.get(*index)?));
        let of_body = |(_, fragment): &(usize, &Fragment)| fragment.summary.is_none();
        let fragments: Vec<(usize, &Fragment)> = chosen.iter().filter_map(fragment).filter(of_body).collect();
        let passage = |fragments: &[(usize, &Fragment)]| {
            let (first, last) = (fragments.first()?.1, fragments.last()?.1);
            let text = body.get(first.range.start..last.range.end).unwrap_or_default().to_owned();
            let (lines, heading_path) = ((first.lines.0, last.lines.1), Arc::clone(&first.heading_path));
            Some(Passage { lines, heading_path, text, opening: first.opening.clone() })
        };
        let is_same_passage = |(index, before): &(usize, &Fragment), (next, after): &(usize, &Fragment)| {
            index + 1 == *next && after.range.start <= before.range.end + MAX_BETWEEN
        };
        fragments.chunk_by(is_same_passage).filter_map(passage).collect()
    }
}
