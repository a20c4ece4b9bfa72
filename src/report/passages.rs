//! Passages: the parts of a body that answer, in place of the whole.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
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
    /// Whether the note is a talk, or a turn of one: it says little of what is asked for in each place.
    pub is_talk: bool,
    /// The worth of the whole note if it has at most one fragment; `None` otherwise.
    pub whole: Option<f64>,
    /// The words of the question in each fragment and in the headings above it, as bits of [`QuestionMatch::words`].
    ///
    /// [`QuestionMatch::words`]: super::QuestionMatch::words
    pub words: Vec<u64>,
    /// The index of the first fragment of an ending that settles what the note is about, which is worth as much as its best.
    pub ending: Option<usize>,
    /// Whether it is of a commit that matches the question weakly.
    pub is_weak: bool,
    /// Whether a part of the note precedes other notes.
    pub is_first: bool,
    /// Whether its fragments come behind those of all notes for which this is false, whatever their worth.
    pub is_late: bool,
}

/// The fragments of a note that are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChosenFragments {
    /// Their indices.
    pub all: BTreeSet<usize>,
    /// The only part that is shown of one of them, as a range of the body.
    pub part: Option<(usize, Range<usize>)>,
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

impl From<BTreeSet<usize>> for ChosenFragments {
    fn from(all: BTreeSet<usize>) -> Self {
        Self { all, part: None }
    }
}

impl Passages {
    /// Returns the indices of the fragments by descending worth, then in the order of the text.
    pub fn by_worth(&self) -> Vec<usize> {
        let mut indices: Vec<usize> = (0..self.fragments.len()).collect();
        indices.sort_by(|a, b| self.worth[*b].total_cmp(&self.worth[*a]));
        indices
    }

    /// Whether fragments of a body are a single one, which is then shown as the whole note.
    pub fn has_one_part(fragments: &[Fragment]) -> bool {
        fragments.iter().filter(|fragment| fragment.summary.is_none()).count() < 2
    }

    /// Returns the index of the fragment that states what the note is about: the first one of a concluding section, such
    /// as `Decision`, else the first one.
    pub fn conclusion(&self) -> Option<usize> {
        let concluding = self.fragments.iter().position(|fragment| fragment.is_conclusion());
        concluding.or_else(|| (!self.fragments.is_empty()).then_some(0))
    }

    /// Returns the written summary, if it is among the chosen fragments.
    pub fn chosen_summary(&self, chosen: &ChosenFragments) -> Option<&str> {
        chosen.all.iter().find_map(|index| self.fragments.get(*index)?.summary.as_deref())
    }

    /// Joins the chosen fragments of `body` to passages.
    pub fn joined(&self, body: &str, chosen: &ChosenFragments) -> Vec<Passage> {
        let shown = |index: &usize| {
            let fragment = self.fragments.get(*index).filter(|fragment| fragment.summary.is_none())?;
            let part = chosen.part.as_ref().filter(|(of, _)| of == index).map(|(_, part)| part.clone());
            Some(ShownFragment { index: *index, range: part.unwrap_or_else(|| fragment.range.clone()), fragment })
        };
        let fragments: Vec<ShownFragment> = chosen.all.iter().filter_map(shown).collect();
        let is_same_passage = |before: &ShownFragment, after: &ShownFragment| {
            before.index + 1 == after.index && after.range.start <= before.range.end + MAX_BETWEEN
        };
        let passages = fragments.chunk_by(is_same_passage);
        passages.filter_map(|fragments| passage(body, fragments.first()?, fragments.last()?)).collect()
    }
}

/// A fragment with the range of the body that is shown.
struct ShownFragment<'a> {
    index: usize,
    range: Range<usize>,
    fragment: &'a Fragment,
}

/// Returns the passage from one fragment to another.
fn passage(body: &str, first: &ShownFragment<'_>, last: &ShownFragment<'_>) -> Option<Passage> {
    let lines_within = |range: Range<usize>| body.get(range).map(|text| text.matches('\n').count());
    let first_line = first.fragment.lines.0 + lines_within(first.fragment.range.start..first.range.start)?;
    let last_line = last.fragment.lines.1 - lines_within(last.range.end..last.fragment.range.end)?;
    let starts_within = first.range.start > first.fragment.range.start;
    Some(Passage {
        lines: (first_line, last_line),
        heading_path: Arc::clone(&first.fragment.heading_path),
        text: body.get(first.range.start..last.range.end)?.to_owned(),
        opening: if starts_within {
            Fragment::opening_at(body, first.range.start)
        } else {
            first.fragment.opening.clone()
        },
    })
}
