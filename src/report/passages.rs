//! Passages: the parts of a body that answer, in place of the whole.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// The most bytes between two fragments of one passage that belong to no fragment, such as a comment.
const MAX_BETWEEN: usize = 300;

/// The fragments of a note from which its passages are chosen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Passages {
    /// The written summary, if there is one, then the fragments of the body in the order of the text, without overlaps.
    pub fragments: Vec<Fragment>,
    /// The worth of the whole note if it has at most one fragment; `None` otherwise.
    pub whole: Option<f64>,
    /// Whether a part of the note precedes other notes.
    pub is_first: bool,
}

/// The smallest part of a note that is shown by itself: a block, a part of a long one, or the written summary.
#[derive(Debug, Clone, PartialEq)]
pub struct Fragment {
    /// Its bytes in the body; none for the summary.
    pub range: Range<usize>,
    /// The text of the summary on one line; `None` for a part of the body.
    pub summary: Option<Arc<str>>,
    /// Its first and its last line in the file, from 1.
    pub lines: (usize, usize),
    /// A lower bound, in characters, for its length in any format.
    pub chars: usize,
    /// The heading path, the outermost heading first, without the title of the note.
    pub heading_path: Arc<[String]>,
    /// Its worth beside the fragments of all notes; 0 without a word of the query.
    pub worth: f64,
    /// The indices of the fragments without which it is hard to understand, shown with it if they fit.
    pub companions: Vec<usize>,
    /// Whether it can be shown without its companions.
    pub is_alone: bool,
    /// If it begins within code or a comment, the line that opens this, for a reader of the passage.
    pub opening: Option<Arc<str>>,
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
    /// See [`Fragment::opening`].
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

/// The headings of concluding sections.
const CONCLUSIONS: [&str; 8] = ["decision", "summary", "answer", "fix", "tl;dr", "tldr", "solution", "resolution"];

impl Fragment {
    /// Returns its text. `body`: the body of its note.
    pub fn text<'a>(&'a self, body: &'a str) -> &'a str {
        self.summary.as_deref().or_else(|| body.get(self.range.clone())).unwrap_or_default()
    }

    /// Tells whether it is in a section whose heading announces a conclusion.
    pub fn is_conclusion(&self) -> bool {
        let name = self.heading_path.last().map(|name| name.trim().trim_end_matches(':').to_lowercase());
        name.is_some_and(|name| CONCLUSIONS.contains(&name.as_str()))
    }
}

impl Passages {
    /// Returns the indices of the fragments by descending worth, then in the order of the text.
    pub fn by_worth(&self) -> Vec<usize> {
        let mut indices: Vec<usize> = (0..self.fragments.len()).collect();
        indices.sort_by(|a, b| self.fragments[*b].worth.total_cmp(&self.fragments[*a].worth));
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
