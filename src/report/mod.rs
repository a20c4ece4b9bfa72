//! Reports: the content of every answer, before a format or a budget is applied.

mod assessment;
mod candidates;
mod edge_entry;
mod entry;
pub(crate) mod layout;
mod level;
mod note_entry;
mod passages;
mod question_match;
mod score;

use std::ops::Range;

use clap::ValueEnum;
use jiff::civil::Date;
use serde::Serialize;

pub use crate::note::Fragment;
pub use assessment::{Assessment, Confidence, DIMENSIONS, LABELS, SelectionStats, TrustBasis, UTILITY_PARTS, Utility};
pub(crate) use candidates::RareTerms;
pub use candidates::{Candidate, Candidates};
pub use edge_entry::EdgeEntry;
pub use entry::{
    ChangeEntry, ComparisonEntry, DiagnosticEntry, Entry, JournalTraits, LinkedNote, OverviewEntry, PatternEntry,
    RecipeEntry, RowEntry, RowValue, Severity, SideEntry,
};
pub use layout::{AnswerFooter, COMPARISON, Header, LINKS, Layout, NoteLayout, PATTERNS, SPANNING_TREE};
pub use level::{DetailLevel, NoteLevel};
pub use note_entry::{
    BlockEntry, EntryRole, EntrySummary, FormatDetail, MatchInfo, NoteContent, NoteEntry, ShownBlocks, SnippetText,
};
pub use passages::{ChosenFragments, Passage, Passages};
pub use question_match::{MAX_WORDS, MatchLevel, QuestionMatch, named_words, no_note_has, quoted_words, why_unsure};
pub use score::Score;

use crate::calendar::Period;
use crate::env::Today;
use crate::error::Error;
use crate::note::NoteId;
/// The handle of a note, which entries carry.
pub use crate::store::{NoteHandle, Tier};
use crate::store::{OWN_FIELDS, near_names};

/// The content of an answer: facts about the whole, and entries in descending order of worth.
#[derive(Debug)]
pub struct Report {
    /// The facts about the whole.
    pub head: ReportHead,
    /// The entries, the most valuable first.
    pub entries: Vec<Entry>,
    /// The error with which the process ends after the answer is written, such as a failed check.
    pub verdict: Option<Error>,
    /// What decides the next entry and its level of detail where these depend on the entries before it. With `None`,
    /// the entries are written in their order.
    pub candidates: Option<Candidates>,
}

impl Report {
    /// Returns a report without a verdict, whose entries are written in their order.
    pub fn new(head: ReportHead, entries: Vec<Entry>) -> Self {
        Self { head, entries, verdict: None, candidates: None }
    }

    /// Expects that the file of each note could be read whose text was needed to write these entries.
    ///
    /// # Errors
    /// `Store`, naming the first file that could not be read.
    pub fn expect_read_notes(&self, indices: Range<usize>) -> Result<(), Error> {
        let entries = self.entries.get(indices).unwrap_or_default();
        let failure = entries.iter().filter_map(Entry::note).find_map(|entry| entry.note.read_failure());
        failure.map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Marks the notes that expired before `today`, that are due, or whose status says that they are no longer valid, those
    /// in which a merge left a conflict, and drafts if `marks_drafts`.
    pub fn mark_retired(&mut self, today: Today, marks_drafts: bool) {
        for entry in self.note_entries_mut() {
            let (retired, due) = (entry.note.retired(|| today.day()), entry.note.due(|| today.day()));
            let is_draft = marks_drafts && entry.note.is_draft();
            let has_conflict = entry.note.has_conflict();
            if retired.is_some() || due.is_some() || is_draft || has_conflict {
                let state = entry.state_mut();
                (state.retired, state.due) = (retired, due);
                (state.is_draft, state.has_conflict) = (is_draft, has_conflict);
            }
        }
    }

    /// Returns the fields of lines that qipu does not know and no note of the answer has, with similar names; none for an
    /// answer without notes.
    pub fn absent_fields(&self) -> Vec<UnknownName> {
        let has = |entry: &Entry, field: &str| match entry {
            Entry::Note(entry) => entry.note.field_texts(field).is_some(),
            Entry::Row(row) => row.has_field(field),
            _ => false,
        };
        let is_absent = |field: &String| {
            !OWN_FIELDS.contains(&field.as_str())
                && !DERIVED_FIELDS.contains(&field.as_str())
                && !self.entries.iter().any(|entry| has(entry, field))
        };
        let fields = self.head.lines.fields.iter().filter(|field| !self.entries.is_empty() && is_absent(field));
        let near = |name: &str| near_names(OWN_FIELDS.into_iter(), name);
        let unknown = |name: &String| UnknownName { sort: "field", name: name.clone(), near: near(name) };
        fields.map(unknown).collect()
    }

    /// Returns the entries that are notes.
    pub fn note_entries_mut(&mut self) -> impl Iterator<Item = &mut NoteEntry> {
        self.entries.iter_mut().filter_map(|entry| if let Entry::Note(entry) = entry { Some(entry) } else { None })
    }

    /// Counts the entries that are notes.
    pub fn count_notes(&self) -> usize {
        self.entries.iter().filter(|entry| entry.note().is_some()).count()
    }
}

/// Returns a count with its noun.
pub fn counted(count: usize, name: &str) -> String {
    if count == 1 { format!("1 {name}") } else { format!("{count} {name}s") }
}

/// The form of an answer. In this and the next enum, the comments of values of flags are help.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Markdown and tree diagrams
    #[default]
    Human,
    /// One JSON object
    Json,
    /// Lines for a model's context
    #[value(alias = "token")]
    Records,
    /// A section of a model's prompt (context, ask, about)
    Prompt,
    /// The ids of the notes, one per line
    Ids,
    /// The paths of their files, one per line
    Paths,
    /// A line for each note: see [`LineFormat`].
    #[value(skip)]
    Lines,
    /// The result object of an MCP tool.
    #[value(skip)]
    ToolResult {
        /// Whether the text for the model is a section of a prompt, else that for people.
        is_prompt: bool,
        /// Whether the JSON format follows, for programs.
        is_structured: bool,
    },
    /// The JSON that an agent tool expects of a hook, with the human format as one string.
    #[value(skip)]
    Hook(HookEnvelope),
    /// A web page of notes and links.
    #[value(skip)]
    Page,
}

/// The fields that only lines have.
const DERIVED_FIELDS: [&str; 4] = ["collection", "line", "relevance", "status"];

/// The form of answers whose notes are lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineFormat {
    /// The names of the fields, in the order of the columns.
    pub fields: Vec<String>,
    /// Whether the fields are parts of one name, such as `ID:LINE`, and not columns.
    pub is_name: bool,
    /// Whether a NUL ends each line, so that a path may contain a line end.
    pub ends_with_nul: bool,
}

/// The JSON of a hook's answer around its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookEnvelope {
    /// Up to the quote that opens the text.
    pub before: &'static str,
    /// From the quote that closes it.
    pub after: &'static str,
    /// The member of the object whose text the tool shows to its user; `None` without a receipt.
    pub receipt: Option<&'static str>,
}

impl HookEnvelope {
    /// The envelope of a primer, for most tools.
    pub const SESSION_START: Self = Self {
        before: "{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\",\"additionalContext\":\"",
        after: "\"}}\n",
        receipt: None,
    };

    /// Returns the envelope of an answer with a receipt.
    pub const fn with_receipt(self, member: &'static str) -> Self {
        Self { receipt: Some(member), ..self }
    }
}

/// The facts about a whole answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportHead {
    /// What the kind of the report shows.
    pub layout: &'static Layout,
    /// The facts that JSON and the first record begin with: the `mode`, then what the kind carries. Records leave out a
    /// [`RowValue::Nothing`], which is `null` in JSON.
    pub facts: Vec<(&'static str, RowValue)>,
    /// The path of the store as it is shown; `None` for an answer that is not about a store.
    pub store: Option<String>,
    /// Whether the banner is shown; `None` leaves that to the format.
    pub banner: Option<bool>,
    /// The form of lines, in an answer that consists of them.
    pub lines: LineFormat,
    /// The parts of each note that are shown.
    pub show: ShownFields,
    /// The number of notes selected, before any limit.
    pub matched: usize,
    /// Whether a limit other than the budget left something out.
    pub is_limited: bool,
    /// The words of the query that were read as others, and its phrases that no note contains.
    pub spellings: Vec<UnknownWord>,
    /// How well the answer matches its question; `None` without one.
    pub question_match: Option<QuestionMatch>,
    /// The tags, types and fields of the request that no note has, if no note is shown.
    pub unknown_names: Vec<UnknownName>,
    /// Warnings about the store, for readers who do not see standard error.
    pub warnings: Vec<String>,
    /// The interpretation of a question.
    pub analysis: Option<Box<Analysis>>,
    /// Whether the parts of confidence and utility are shown.
    pub is_explained: bool,
    /// The reason why a question selects no note. A report with a ranking has it in [`SelectionStats`] instead.
    pub insufficient: Option<String>,
}

impl ReportHead {
    /// Returns the head of an answer without limits that shows the names of notes only.
    pub fn new(layout: &'static Layout, store: Option<&str>) -> Self {
        let facts = vec![("mode", RowValue::name(layout.name))];
        Self { layout, facts, store: store.map(str::to_owned), ..Self::default() }
    }

    /// Returns the head of the changes of files that a command made, or would make in a dry run.
    pub fn of_change(command: &'static str, is_dry_run: bool, store: Option<&str>) -> Self {
        let facts = vec![("mode", RowValue::name(command)), ("dry_run", RowValue::Flag(is_dry_run))];
        Self { facts, ..Self::new(&layout::CHANGE, store) }
    }

    /// Whether the command changed files, or would have if there had been anything to change.
    pub(crate) fn is_change_made(&self) -> bool {
        self.facts.iter().any(|(name, fact)| *name == "dry_run" && matches!(fact, RowValue::Flag(false)))
    }

    /// Whether the command creates one note.
    pub(crate) fn creates(&self) -> bool {
        self.facts
            .iter()
            .any(|(name, fact)| *name == "mode" && matches!(fact, RowValue::Name(mode) if mode == "create"))
    }

    /// Returns the text for people in place of entries.
    pub fn empty_text(&self) -> String {
        // Limits may have ended the search for a path.
        let within = if self.is_limited { " within the limits" } else { "" };
        let text = self.layout.empty_text.replace("{within}", within);
        self.facts.iter().fold(text, |text, (name, fact)| match fact {
            RowValue::Name(fact) => text.replace(&format!("{{{name}}}"), fact),
            _ => text,
        })
    }

    /// Returns the path of a note's file relative to the current directory; the id of a commit, which has no file.
    pub fn path_of(&self, note: &NoteHandle) -> String {
        match note.tier() {
            Tier::History => note.id.to_string(),
            _ => crate::store::shown_in(self.store.as_deref().unwrap_or_default(), &note.path),
        }
    }
}

/// A tag, type or field that no note has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// `tag`, `type` or `field`.
    pub(crate) sort: &'static str,
    pub(crate) name: String,
    /// Similar names that notes have, the most similar first.
    pub(crate) near: Vec<String>,
}

/// A word of the query that was read as another, or a phrase that no note contains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnknownWord {
    /// The word, or the words of the phrase.
    pub word: String,
    /// The word in its place; `None` for a phrase whose words were searched for separately.
    pub read_as: Option<String>,
}

/// The interpretation of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// The phrases that name notes, each with the notes.
    pub(crate) references: Vec<(String, Vec<NoteId>)>,
    pub(crate) dates: Vec<DayEntry>,
    pub(crate) periods: Vec<PeriodEntry>,
    /// What the question asks for beside notes, such as `comparison`.
    pub(crate) intents: Vec<&'static str>,
    /// The words that were searched for.
    pub(crate) terms: Vec<String>,
    /// Phrases that were not understood, or in an unusual way.
    pub(crate) warnings: Vec<String>,
}

impl Analysis {
    /// Whether it contains more than the words that were searched for.
    pub fn is_more_than_words(&self) -> bool {
        let Self { references, dates, periods, intents, terms: _, warnings } = self;
        !(references.is_empty() && dates.is_empty() && periods.is_empty() && intents.is_empty() && warnings.is_empty())
    }
}

/// A day that a question names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayEntry {
    pub(crate) text: String,
    pub(crate) day: Date,
    /// The number of its journals.
    pub(crate) journals: usize,
}

/// A period that a question names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeriodEntry {
    pub(crate) text: String,
    pub(crate) period: Period,
    /// The number of its journals.
    pub(crate) journals: usize,
}

/// The parts of each note that an answer shows beside its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShownFields {
    pub(crate) body: Body,
    pub(crate) has_sources: bool,
    pub(crate) has_custom: bool,
    /// Whether the revision is shown, by which a change says which text it means. `show` has it in JSON and records only:
    /// a person's change goes through an editor.
    pub(crate) has_revision: bool,
    /// Whether passages replace bodies if the budget has no room for all notes.
    pub(crate) has_passages: bool,
    /// Whether the answer is passages, read in pages: each below a line that names its place, without any other frame.
    pub(crate) has_pages: bool,
    /// The characters of an answer whose passages are left out, because pages before show them.
    pub(crate) after: Option<usize>,
    /// Whether the room that matching passages leave stays empty.
    pub(crate) has_only_matches: bool,
    /// Whether blocks are fitted one by one, those with the highest score first.
    pub(crate) has_best_blocks: bool,
}

/// Whether bodies are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Body {
    /// As the layout says for the format.
    #[default]
    ByFormat,
    /// In every format.
    Shown,
    /// In no format: summaries are shown.
    Hidden,
}
