//! A note in an answer: the note, why it is there, and the parts of it that are shown.

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock};

use jiff::civil::Date;

use super::{Assessment, EdgeEntry, Passages};
use crate::note::{NoteId, Retired, Revision, Status, SummarySource, shown_chars};
use crate::store::{NoteHandle, Tier};

/// Computes the parts of notes that take time, each when its note is written: a note without room costs nothing.
pub trait NoteContent: Debug + Send + Sync {
    /// Returns the part of the body that answers the query best; `None` if the body contains no word of it.
    fn snippet(&self, note: &NoteHandle) -> Option<SnippetText>;

    /// Returns the fragments of the body, each with the worth of its own words.
    fn passages(&self, note: &NoteHandle) -> Passages;

    /// Returns the summed weight of the words of the query in a text; 0 without any.
    fn weight(&self, text: &str) -> f64;

    /// Returns the words of the question in a text, as bits of [`QuestionMatch::words`](super::QuestionMatch::words).
    fn words(&self, text: &str) -> u64;

    /// Returns all blocks of the body in their order, with their scores.
    fn blocks(&self, note: &NoteHandle) -> Vec<BlockEntry>;

    /// Returns the first list items of the body, as the summary of a journal within the limit on blocks.
    fn excerpt(&self, note: &NoteHandle) -> Option<String>;
}

/// A note in an answer, with its edges to entries before it.
#[derive(Debug, Clone)]
pub struct NoteEntry {
    /// The note.
    pub note: Arc<NoteHandle>,
    /// Why the note is in the answer.
    pub role: EntryRole,
    /// The distance from the first note, in hops.
    pub hop: usize,
    /// The index of the entry above it in the tree, without which it is not shown.
    pub parent: Option<usize>,
    /// The edges to entries before it.
    pub edges: Vec<EdgeEntry>,
    /// The notes that this note, a digest, replaces.
    pub compacted: Vec<NoteId>,
    /// How a search found it; `None` without a search.
    pub match_info: Option<Box<MatchInfo>>,
    /// What is shown as its summary.
    pub summary: EntrySummary,
    /// The blocks shown in place of the body; `None` if the body is shown.
    pub shown_blocks: Option<Box<ShownBlocks>>,
    /// The fragments from which passages are chosen if not all notes fit; see [`NoteEntry::passages`].
    pub passages: OnceLock<Arc<Passages>>,
    /// The assessment, with which the note is shown at a level of detail.
    pub assessment: Option<Box<Assessment>>,
    /// Whether it holds; `None` for a note like any other. Apart, since there may be a million entries.
    pub state: Option<Box<NoteState>>,
    /// Whether the collection of the note is shown.
    pub names_collection: bool,
    /// Whether the note's dates are shown, because the question asks when.
    pub shows_dates: bool,
    /// Computes snippet, blocks and excerpt; `None` where none of them is shown.
    pub content: Option<Arc<dyn NoteContent>>,
    /// The cache of [`NoteEntry::blocks`].
    pub blocks: OnceLock<Box<[BlockEntry]>>,
}

/// Whether a note holds, and which notes replace which.
#[derive(Debug, Clone, Default)]
pub struct NoteState {
    /// Why the note is no longer valid.
    pub retired: Option<Retired>,
    /// The day since which the note is due.
    pub due: Option<Date>,
    /// Whether the note is marked as a draft.
    pub is_draft: bool,
    /// Whether a merge left a conflict in the note.
    pub has_conflict: bool,
    /// Whether code that the note refers to is no longer what it was.
    pub has_changed_code: bool,
    /// The note that stands in for the note.
    pub superseded_by: Option<NoteId>,
    /// The notes that the note replaces.
    pub supersedes: Vec<NoteId>,
}

/// The state of a note like any other.
static USUAL_STATE: LazyLock<NoteState> = LazyLock::new(NoteState::default);

/// What is shown as the summary of a note.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EntrySummary {
    /// The summary of the note.
    #[default]
    OfNote,
    /// The first paragraph of the note; of a note that begins with a list, [`NoteContent::excerpt`].
    Excerpt,
    /// This text.
    Text(Box<str>),
}

/// The blocks of a note that are shown in place of its body.
#[derive(Debug, Clone, PartialEq)]
pub enum ShownBlocks {
    /// All of them.
    All,
    /// Some of them, in the order of the text.
    Some(Vec<BlockEntry>),
}

/// A block of a note.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockEntry {
    /// Its anchor, else `ID#bN` with the id of the note and its ordinal from 1.
    pub(crate) id: String,
    pub(crate) heading_path: Arc<[String]>,
    pub(crate) text: String,
    /// The number of lists around it.
    pub(crate) depth: usize,
    /// The summed weight of the query terms in it; 0 without any.
    pub(crate) score: f64,
}

/// How a search found a note.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatchInfo {
    /// How well the note answers, 0 to 1.
    pub relevance: f64,
    /// Whether a snippet is shown; the words and notes in common otherwise.
    pub has_snippet: bool,
    /// The score and its parts by name, if they are to be explained.
    pub parts: Vec<(&'static str, f64)>,
    /// The words in common with the note that it is similar to.
    pub shared: Vec<String>,
    /// The notes linked with both.
    pub common: Vec<NoteId>,
}

/// A part of a body on one line, without control characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SnippetText {
    /// The text, with `…` for each omission.
    pub text: String,
    /// The byte ranges of the words of the query, ascending.
    pub marks: Vec<Range<usize>>,
    /// The line of the file with the first of these words that made it the best part, from 1.
    pub line: usize,
}

/// Why a note is in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryRole {
    /// The request selected it.
    Selected,
    /// It is the latest journal.
    LastJournal,
    /// The session saved or changed it.
    Saved,
    /// Hooks showed it in the session.
    Shown,
    /// It is one of the latest decisions and warnings.
    Decision,
    /// It is a map of content.
    Map,
    /// It changed recently.
    Recent,
    /// It is one of the notes with the most links to them.
    Linked,
}

/// How much of the text of a note a format shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatDetail {
    /// Its id and title.
    Name,
    /// Its summary too.
    Summary,
    /// Its body too.
    Body,
}

impl NoteEntry {
    /// Returns the entry of a note without links, search or assessment.
    pub fn alone(note: &Arc<NoteHandle>, role: EntryRole) -> Self {
        Self {
            note: Arc::clone(note),
            role,
            hop: 0,
            parent: None,
            edges: Vec::new(),
            compacted: Vec::new(),
            match_info: None,
            summary: EntrySummary::OfNote,
            shown_blocks: None,
            passages: OnceLock::new(),
            assessment: None,
            state: None,
            names_collection: false,
            shows_dates: false,
            content: None,
            blocks: OnceLock::new(),
        }
    }

    /// Returns whether the note holds.
    pub fn state(&self) -> &NoteState {
        self.state.as_deref().unwrap_or(&USUAL_STATE)
    }

    /// Returns the state for a change.
    pub fn state_mut(&mut self) -> &mut NoteState {
        self.state.get_or_insert_default()
    }

    /// Returns the status, if it has an effect.
    pub fn status(&self) -> Option<&'static str> {
        let retired = self.state().retired.and_then(|retired| retired.status);
        retired.or_else(|| self.state().is_draft.then(|| Status::Draft.name()))
    }

    /// Returns the revision of the note's file. Reads it, if the text was not needed before.
    pub fn revision(&self) -> Option<Revision> {
        self.note.parsed_or_empty().revision()
    }

    /// Returns the name of the note's collection, if it is shown. The id of a commit begins with it.
    pub fn collection(&self) -> Option<&str> {
        (self.names_collection && !self.note.is_commit()).then(|| self.note.collection_name())
    }

    /// Returns the days of the note that are shown, each with its field: of a commit always that of the commit and the first
    /// release with it.
    pub fn dates(&self) -> Vec<(&'static str, String)> {
        let is_commit = self.note.is_commit();
        if !is_commit && !self.shows_dates {
            return Vec::new();
        }
        let fields = self.note.list_fields();
        let days = [("created", fields.created_as_written()), ("updated", fields.updated_as_written())];
        let mut dates: Vec<(&'static str, String)> =
            days.into_iter().filter_map(|(name, stamp)| Some((name, stamp?.date().to_string()))).collect();
        let release = self.note.field("release").filter(|_| is_commit);
        dates.extend(release.map(|release| ("release", crate::escape::one_line(&release.to_line()))));
        dates
    }

    /// Returns the name of the note's tier; `None` for an own note.
    pub fn tier(&self) -> Option<&'static str> {
        let tier = self.note.tier();
        (tier != Tier::Own).then(|| tier.name())
    }

    /// Returns in words the day of a journal whose title does not contain it, where the note lies, whether it holds, and
    /// which notes it replaces: `2025-03-30`, `rejected`, `superseded by qp-1`. `None` for a note like any other.
    pub fn state_in_words(&self) -> Option<String> {
        let state = self.state();
        let mut words: Vec<String> = Vec::new();
        words.extend(self.note.untitled_day().map(|day| day.to_string()));
        words.extend(self.collection().map(|name| format!("in {name}")));
        words.extend(self.dates().into_iter().map(|(word, day)| match self.note.tier() {
            Tier::History => day,
            _ => format!("{word} {day}"),
        }));
        words.extend(state.has_conflict.then(|| "unresolved merge conflict".to_owned()));
        words.extend(state.is_draft.then(|| Status::Draft.name().to_owned()));
        let is_superseded = state.superseded_by.is_some();
        let retired = state.retired.map(|retired| Retired {
            status: retired.status.filter(|status| !is_superseded || *status != Status::Superseded.name()),
            ..retired
        });
        words.extend(retired.map(Retired::words).filter(|words| !words.is_empty()));
        words.extend(state.superseded_by.as_ref().map(|id| format!("superseded by {id}")));
        let has_expired = state.retired.is_some_and(|retired| retired.expired.is_some());
        words.extend(state.due.filter(|_| !has_expired).map(|day| format!("due since {day}")));
        words.extend(state.has_changed_code.then(|| "code changed".to_owned()));
        if !state.supersedes.is_empty() {
            let ids: Vec<&str> = state.supersedes.iter().map(NoteId::as_str).collect();
            words.push(format!("supersedes {}", ids.join(", ")));
        }
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Returns why the note is due to be checked: `code` if code that it refers to changed, the day since which it is
    /// due, or both, separated by a comma.
    pub fn due_mark(&self) -> Option<String> {
        let code = self.state().has_changed_code.then(|| "code".to_owned());
        let marks: Vec<String> = code.into_iter().chain(self.state().due.map(|day| day.to_string())).collect();
        (!marks.is_empty()).then(|| marks.join(","))
    }

    /// Returns the summary to be shown; `None` if there is none.
    pub fn summary(&self) -> Option<Cow<'_, str>> {
        match &self.summary {
            EntrySummary::OfNote => self.note.summary(),
            EntrySummary::Text(text) => Some(Cow::Borrowed(text)),
            EntrySummary::Excerpt => {
                let paragraph = self.note.summary_from(SummarySource::Paragraph);
                paragraph.or_else(|| self.content.as_ref()?.excerpt(&self.note).map(Cow::Owned))
            }
        }
    }

    /// Returns the snippet; `None` if none is shown, or the body contains no word of the query.
    pub fn snippet(&self) -> Option<SnippetText> {
        self.match_info.as_ref().filter(|found| found.has_snippet)?;
        self.content.as_ref()?.snippet(&self.note)
    }

    /// Returns the fragments of the body, with their worth; of a note without [`NoteEntry::content`] none.
    pub fn passages(&self) -> &Passages {
        let passages = || self.content.as_ref().map(|content| content.passages(&self.note)).unwrap_or_default().into();
        self.passages.get_or_init(passages)
    }

    /// Returns all blocks of the body, with their scores; none without [`NoteEntry::content`].
    pub fn blocks(&self) -> &[BlockEntry] {
        let blocks = || self.content.as_ref().map(|content| content.blocks(&self.note).into()).unwrap_or_default();
        self.blocks.get_or_init(blocks)
    }

    /// Returns the blocks shown in place of the body; none if the body is shown.
    pub fn shown_blocks(&self) -> &[BlockEntry] {
        match self.shown_blocks.as_deref() {
            None => &[],
            Some(ShownBlocks::All) => self.blocks(),
            Some(ShownBlocks::Some(blocks)) => blocks,
        }
    }

    /// Whether the entry may fit into `room` characters at this detail. A `false` is certain.
    ///
    /// Counts the stored lengths only, the cheapest first, so that an entry without room is never rendered.
    pub(super) fn may_fit(&self, detail: FormatDetail, room: usize) -> bool {
        let (note, name) = (&self.note, self.note.identity());
        let has_text = self.shown_blocks.is_none() && detail != FormatDetail::Name;
        let text = match detail {
            _ if !has_text => 0,
            FormatDetail::Body => name.body_chars.unwrap_or_else(|| note.body_chars()),
            // Another summary may be shorter than that of the note.
            _ if self.summary != EntrySummary::OfNote => 0,
            _ => name.summary_chars.unwrap_or_default(),
        };
        let least = note.id.as_str().len() + shown_chars(name.title) + text;
        let tags = || note.tags().iter().map(|tag| shown_chars(tag)).sum::<usize>();
        least <= room && (!has_text || least + shown_chars(note.list_fields().kind) + tags() <= room)
    }
}
