//! Reports: what every answer is made of, before anybody thinks of a format or a budget.

mod assessment;
mod passages;

use std::borrow::Cow;
use std::sync::Arc;

use jiff::civil::Date;

pub use assessment::{
    Answers, Assessment, Confidence, DIMENSIONS, EntryRanking, LABELS, Level, Presentation, Proposal, ProposalSource,
    SelectionStats, ShownNote, UTILITY_PARTS, Utility,
};

pub use passages::{Fragment, Passage, Passages};

use crate::env::Today;
use crate::error::Error;
use crate::note::{Diagnostic, Note, NoteId, Retired, SummarySource, shown_chars};

/// A command's answer: facts about the whole, and entries in the order in which they deserve
/// their place.
#[derive(Debug)]
pub struct Report {
    /// What is said of the whole.
    pub head: ReportHead,
    /// What is shown, the most deserving first.
    pub entries: Vec<Entry>,
    /// The error that the process ends with after the answer is written: a check that failed.
    pub verdict: Option<Error>,
    /// Which entry comes next and how much of it is shown, where that depends on those before it; else
    /// entries come in their order.
    pub ranking: Option<Box<dyn EntryRanking>>,
}

impl Report {
    /// Makes a report that is no failure.
    pub fn new(head: ReportHead, entries: Vec<Entry>) -> Self {
        Self { head, entries, verdict: None, ranking: None }
    }

    /// Tells whether entries may be left out of it. What was done, or would be, is told whole or
    /// not at all.
    pub fn is_divisible(&self) -> bool {
        !matches!(
            self.head.mode,
            ReportKind::Setup
                | ReportKind::Change { .. }
                | ReportKind::Tags
                | ReportKind::Status
                | ReportKind::Index
                | ReportKind::Doctor
        )
    }

    /// Marks the notes that no longer hold.
    pub fn mark_retired(&mut self, today: Today) {
        for entry in &mut self.entries {
            if let Entry::Note(entry) = entry {
                entry.retired = entry.note.retired(|| today.day());
            }
        }
    }

    /// Returns how many of the entries are notes.
    pub fn count_notes(&self) -> usize {
        self.entries.iter().filter(|entry| entry.note().is_some()).count()
    }
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// Markdown and drawn trees.
    #[default]
    Human,
    /// JSON.
    Json,
    /// Lines for the context of a model.
    Records,
    /// A section of a model's prompt.
    Prompt,
    /// JSON without any text of notes, their ids and numbers alone: for whoever has the text in another format.
    Facts,
    /// What agent tools read from a session-start hook: the human text in JSON.
    Hook,
    /// A drawing of notes and links, for people and for other tools.
    Picture(Picture),
}

/// The forms of a picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Picture {
    /// What Graphviz draws.
    #[default]
    Dot,
    /// What many sites draw from markdown.
    Mermaid,
    /// The same in markdown that holds nothing else.
    Markdown,
    /// XML, for tools that work with graphs.
    Graphml,
    /// A page that a browser shows by itself.
    Html,
}

/// What is said of the whole answer.
#[derive(Debug)]
pub struct ReportHead {
    /// Which answer this is.
    pub mode: ReportKind,
    /// The store's path as it is shown; `None` for answers that are not about a store.
    pub store: Option<String>,
    /// Whether the warning that notes are reference material is given; `None` leaves it to the
    /// format.
    pub banner: Option<bool>,
    /// What of the notes is shown.
    pub show: ShownFields,
    /// How many notes were selected, before any limit.
    pub matched: usize,
    /// Whether a limit other than the budget left something out.
    pub is_limited: bool,
    /// Words that were searched for and that no note holds.
    pub spellings: Vec<UnknownWord>,
    /// Tags that were asked for and that no note has, where no note is shown.
    pub unknown_names: Vec<UnknownName>,
    /// Warnings of the store, for readers who don't see standard error.
    pub warnings: Vec<String>,
    /// What a question was understood to mean.
    pub analysis: Option<Box<Analysis>>,
    /// Whether the parts of utility and confidence are told.
    pub explains: bool,
    /// Why a question selects no note, where no account of the notes says so.
    pub insufficient: Option<String>,
}

impl ReportHead {
    /// Makes the head of an answer that no limit touched and that shows no more than names.
    pub fn new(mode: ReportKind, store: Option<&str>) -> Self {
        Self {
            mode,
            store: store.map(str::to_owned),
            banner: None,
            show: ShownFields::default(),
            matched: 0,
            is_limited: false,
            spellings: Vec::new(),
            unknown_names: Vec::new(),
            warnings: Vec::new(),
            analysis: None,
            explains: false,
            insufficient: None,
        }
    }

    /// Tells whether a question was understood to want something.
    pub fn intends(&self, intent: &str) -> bool {
        self.analysis.as_ref().is_some_and(|analysis| analysis.intents.contains(&intent))
    }

    /// Returns a file's path relative to the current directory, from its path in the store.
    pub fn shown(&self, path: &str) -> String {
        let store = self.store.as_deref().unwrap_or_default();
        format!("{}{path}", store.strip_prefix("./").unwrap_or(store))
    }
}

/// A tag or type that no note has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// What it names: `tag` or `type`.
    pub sort: &'static str,
    /// The name.
    pub name: String,
    /// Names in use that are similar.
    pub near: Vec<String>,
}

/// A word that no note holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord {
    /// The word, or the words of a phrase.
    pub word: String,
    /// What was searched for in its place; nothing where the words of a phrase were searched for
    /// each by itself.
    pub shown: Vec<String>,
}

/// What a question was understood to mean.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Names of notes, each with the notes.
    pub references: Vec<(String, Vec<NoteId>)>,
    /// Words for days.
    pub dates: Vec<DayEntry>,
    /// Words for periods.
    pub periods: Vec<PeriodEntry>,
    /// What is wanted beside notes.
    pub intents: Vec<&'static str>,
    /// The words that were searched for.
    pub terms: Vec<String>,
    /// What could not be understood, or was in an odd way.
    pub warnings: Vec<String>,
}

impl Analysis {
    /// Tells whether there is more to say than which words were searched for.
    pub fn is_more_than_words(&self) -> bool {
        let Self { references, dates, periods, intents, terms: _, warnings } = self;
        !(references.is_empty() && dates.is_empty() && periods.is_empty() && intents.is_empty() && warnings.is_empty())
    }
}

/// A day as a question names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayEntry {
    /// The words.
    pub text: String,
    /// The day.
    pub day: Date,
    /// How many journals it has.
    pub journals: usize,
}

/// A period as a question names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeriodEntry {
    /// The words.
    pub text: String,
    /// The first day; `None` for everything up to the last.
    pub from: Option<Date>,
    /// The last day.
    pub to: Date,
    /// How many journals it has.
    pub journals: usize,
}

/// Which answer a report is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportKind {
    /// A bundle of notes.
    Context,
    /// More of notes that were shown.
    Expansion,
    /// The primer for the start of a session.
    Prime,
    /// The links at one note.
    LinkList {
        /// The note.
        id: NoteId,
        /// Which way links are followed: `out`, `in` or `both`.
        direction: &'static str,
    },
    /// The notes around one note.
    LinkTree {
        /// The note in the middle.
        root: NoteId,
        /// Which way links are followed.
        direction: &'static str,
        /// The most hops.
        max_hops: usize,
    },
    /// A way from one note to another.
    LinkPath {
        /// Its beginning.
        from: NoteId,
        /// Its end.
        to: NoteId,
        /// Which way links are followed.
        direction: &'static str,
        /// Its length in hops; `None` when there is no way.
        length: Option<usize>,
    },
    /// Notes and the links between them.
    Graph,
    /// A list of notes.
    List,
    /// What words found, best first.
    Search,
    /// The notes that are like one.
    Related {
        /// The note.
        id: NoteId,
    },
    /// Notes, whole.
    Show,
    /// The journals of a day, whole.
    Journal {
        /// The day.
        day: Date,
    },
    /// The tags in use.
    Tags,
    /// What is in the store.
    Status,
    /// What is kept of the notes.
    Index,
    /// What is wrong or odd.
    Doctor,
    /// How many questions the answers answer.
    Eval,
    /// Set-up recipes and their state.
    Setup,
    /// What a command did to files.
    Change {
        /// The command.
        command: &'static str,
        /// Whether it only shows what it would do.
        is_dry_run: bool,
    },
}

/// What of a note is shown beside its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShownFields {
    /// Its body.
    pub body: Body,
    /// Its sources.
    pub sources: bool,
    /// Its custom fields.
    pub custom: bool,
    /// Whether passages of it are shown where not all notes fit whole.
    pub passages: bool,
    /// The word for the confidence that most notes have: beside passages it is told of the others only.
    pub usual_confidence: Option<&'static str>,
    /// Whether its blocks are left out one by one where not all fit, those with the lowest score first.
    pub best_blocks: bool,
}

/// Whether bodies are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Body {
    /// As is usual for the format.
    #[default]
    ByFormat,
    /// Yes.
    Shown,
    /// No: summaries.
    Hidden,
}

/// One thing that is shown or left out whole.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A note.
    Note(NoteEntry),
    /// A link target that does not exist.
    Unresolved {
        /// The note that names it.
        from: NoteId,
        /// What it names.
        target: String,
        /// The entry of the note that names it.
        under: usize,
    },
    /// What qipu is.
    About(&'static str),
    /// A command and what it is for.
    Command {
        /// The command line.
        line: &'static str,
        /// What it is for.
        purpose: &'static str,
    },
    /// How many notes a store has, and what they are about.
    Overview(Box<OverviewEntry>),
    /// A set-up recipe.
    Recipe(RecipeEntry),
    /// A link of a note shown before, to one that may not be shown.
    Link {
        /// The link; its `other` is the entry of the note that is shown.
        edge: EdgeEntry,
        /// The title of the note at the other end.
        title: String,
    },
    /// A tag and how many notes have it.
    Tag {
        /// The tag.
        tag: String,
        /// How many notes have it.
        count: usize,
    },
    /// A number that is told of the store.
    Fact {
        /// What is counted.
        name: String,
        /// How many there are.
        count: usize,
    },
    /// A type that notes have.
    Kind {
        /// The type.
        kind: String,
        /// How many notes have it.
        count: usize,
    },
    /// Something that is wrong or odd.
    Finding(DiagnosticEntry),
    /// A row of a table.
    Row(RowEntry),
    /// A change of a file.
    Change(ChangeEntry),
    /// A text that is the whole answer, written as it is.
    Text(String),
    /// How two days or periods differ.
    Comparison(Box<ComparisonEntry>),
    /// Something that comes again and again in journals.
    Pattern(PatternEntry),
}

/// How many notes a store has, and what they are about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OverviewEntry {
    /// How many notes there are, journals included.
    pub notes: usize,
    /// How many of them are journals.
    pub journals: usize,
    /// The tags that most notes have, each with how many have it.
    pub tags: Vec<(String, usize)>,
    /// The folders with the most notes, each with how many it has; only where no note has a tag.
    pub folders: Vec<(String, usize)>,
}

/// How two days or periods differ.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ComparisonEntry {
    /// The first side.
    pub a: SideEntry,
    /// The second side.
    pub b: SideEntry,
    /// How alike their words are, 0 to 1 with two decimals; `None` where a side has no journal.
    pub similarity: Option<f64>,
    /// What both have.
    pub shared: JournalTraits,
    /// What only the first has.
    pub only_a: JournalTraits,
    /// What only the second has.
    pub only_b: JournalTraits,
}

/// One side of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SideEntry {
    /// How it was named.
    pub text: String,
    /// Its first day.
    pub from: Option<Date>,
    /// Its last day.
    pub to: Date,
    /// How many journals it has.
    pub journals: usize,
    /// How many blocks these have.
    pub blocks: usize,
}

/// What journals have in them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalTraits {
    /// Tags.
    pub tags: Vec<String>,
    /// Words that say something, tags included.
    pub keywords: Vec<String>,
    /// Names of fields that qipu gives no meaning.
    pub fields: Vec<String>,
}

/// Something that comes again and again in journals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternEntry {
    /// `tag`, `topic`, `opening` or `weekday`.
    pub kind: &'static str,
    /// The tag, the word, the words, or the day's name.
    pub pattern: String,
    /// In how many journals.
    pub count: usize,
    /// The latest days, at most three.
    pub dates: Vec<Date>,
}

/// A note with its lines, and with the edges that tie it to notes ranked before it.
#[derive(Debug, Clone)]
pub struct NoteEntry {
    /// The note.
    pub note: Arc<Note>,
    /// Why it is here, where an answer has more than one kind of note.
    pub role: EntryRole,
    /// Its distance from the first note, in hops.
    pub hop: usize,
    /// The entry it hangs on; it is not shown without it.
    pub parent: Option<usize>,
    /// Links between it and entries before it.
    pub edges: Vec<EdgeEntry>,
    /// The notes that it is shown for.
    pub compacts: Vec<NoteId>,
    /// How and why it was found, where it was searched for.
    pub found: Option<Box<MatchInfo>>,
    /// The blocks that are shown in place of its body, where blocks are shown.
    pub blocks: Option<ShownBlocks>,
    /// The parts of its body that are shown in place of the whole where not everything fits.
    pub passages: Option<Arc<Passages>>,
    /// Sums the note up, where it has no summary of its own.
    pub gist: Option<Gist>,
    /// What is known of it, where notes are chosen by their use; then it is shown at a level.
    pub belief: Option<Box<Assessment>>,
    /// Why it no longer holds, where it doesn't.
    pub retired: Option<Retired>,
}

/// Sums a note up; only notes that are shown.
pub type SumUp = dyn Fn(&Note) -> String + Send + Sync;

/// Sums up a note that has no summary.
#[derive(Clone)]
pub struct Gist(pub Arc<SumUp>);

impl std::fmt::Debug for Gist {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Gist")
    }
}

/// A piece of a note that is shown by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockEntry {
    /// Its anchor, else the note's id and its number.
    pub id: String,
    /// The headings that it stands below.
    pub path: Arc<[String]>,
    /// Its markdown.
    pub text: String,
    /// In how many lists it stands.
    pub depth: usize,
    /// How much of the query it holds.
    pub score: f64,
}

/// Finds the blocks of a note that are shown.
pub type FindBlocks = dyn Fn(&Note) -> Vec<BlockEntry> + Send + Sync;

/// Finds the blocks of a note that are shown; only for notes that are.
#[derive(Clone)]
pub struct ShownBlocks(pub Arc<FindBlocks>);

impl std::fmt::Debug for ShownBlocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ShownBlocks")
    }
}

impl NoteEntry {
    /// Returns the note's summary; what sums it up goes before the first items of an outline. The last journal and a
    /// decision of the primer say what sums them up, and nothing else.
    pub fn summary(&self) -> Option<Cow<'_, str>> {
        let Some(gist) = &self.gist else { return self.note.summary().map(Cow::Borrowed) };
        if matches!(self.role, EntryRole::LastJournal | EntryRole::Decision) {
            return Some(Cow::Owned((gist.0)(&self.note)));
        }
        let prose = self.note.summary_from(SummarySource::Paragraph).map(Cow::Borrowed);
        prose.or_else(|| Some(Cow::Owned((gist.0)(&self.note))))
    }

    /// Makes an entry that stands for itself.
    pub fn alone(note: &Arc<Note>, role: EntryRole) -> Self {
        Self {
            note: Arc::clone(note),
            role,
            hop: 0,
            parent: None,
            edges: Vec::new(),
            compacts: Vec::new(),
            found: None,
            blocks: None,
            passages: None,
            gist: None,
            belief: None,
            retired: None,
        }
    }
}

/// How and why a note was found.
#[derive(Debug, Clone, Default)]
pub struct MatchInfo {
    /// How well it answers, 0 to 1.
    pub relevance: f64,
    /// Finds the place in its body that answers.
    pub excerpt: Option<Excerpt>,
    /// What its score is made of, where that is asked for: the score, then each part.
    pub parts: Vec<(&'static str, f64)>,
    /// Words that it shares with the note it is like.
    pub shared: Vec<String>,
    /// Notes that both are linked with.
    pub common: Vec<NoteId>,
}

/// Finds a snippet in a note.
pub type FindSnippet = dyn Fn(&Note) -> Option<SnippetText> + Send + Sync;

/// Finds the place in a note's body that answers; only for notes that are shown.
#[derive(Clone)]
pub struct Excerpt(pub Arc<FindSnippet>);

impl std::fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Excerpt")
    }
}

/// A piece of a body on one line, without control characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SnippetText {
    /// The text; `…` stands where it was cut.
    pub text: String,
    /// The bytes of the words that were searched for, in their order.
    pub marks: Vec<std::ops::Range<usize>>,
}

/// Why a note is in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryRole {
    /// It was selected.
    Selected,
    /// It is the latest journal: where the last session stopped.
    LastJournal,
    /// It is one of the latest decisions.
    Decision,
    /// It is a map of content worth starting from.
    Map,
    /// It changed lately.
    Recent,
}

/// A link as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeEntry {
    /// The note at its beginning.
    pub from: NoteId,
    /// The link type, as seen from `from`.
    pub kind: String,
    /// The note at its end.
    pub to: NoteId,
    /// The words `typed`, `inline`, `virtual` that apply, in this order.
    pub sources: Vec<&'static str>,
    /// The entry at its other end.
    pub other: usize,
    /// Whether it is written in `to` alone, under this very type.
    pub is_backward: bool,
}

impl EdgeEntry {
    /// Returns its ends as the link is written, where its type is the same from both.
    pub fn drawn_ends(&self) -> (&NoteId, &NoteId) {
        if self.is_backward { (&self.to, &self.from) } else { (&self.from, &self.to) }
    }
}

/// A set-up recipe and its state in this project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipeEntry {
    /// The name that `qipu setup` takes.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The file it writes, relative to the project's root.
    pub path: String,
    /// What was found, or done.
    pub state: &'static str,
    /// Whether the project shows signs of what it is for, in a list of recipes.
    pub fits: Option<bool>,
}

/// Something that is wrong or odd in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiagnosticEntry {
    /// Whether it is an error; a warning otherwise.
    pub is_error: bool,
    /// A short name that never changes.
    pub code: &'static str,
    /// The note, where the file is one.
    pub id: Option<NoteId>,
    /// The file, relative to the current directory.
    pub path: String,
    /// The line of the file, from 1, where one can be named.
    pub line: Option<usize>,
    /// One sentence.
    pub message: String,
}

impl DiagnosticEntry {
    /// Makes the entry of what was tolerated in a note; `path` is the file's as it is shown.
    pub fn of_note(path: String, note: &Note, finding: &Diagnostic) -> Self {
        Self {
            is_error: finding.is_error(),
            code: finding.code,
            id: Some(note.id.clone()),
            path,
            line: finding.line,
            message: finding.message.clone(),
        }
    }

    /// Returns the word for how bad it is.
    pub fn level(&self) -> &'static str {
        if self.is_error { "error" } else { "warning" }
    }
}

/// A row of a table whose columns the command names: a renderer writes it without knowing what it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct RowEntry {
    /// The name of such a row, which stands behind `D` in records.
    pub kind: &'static str,
    /// The name of the table, which is a list in JSON: one of those that the report's mode has.
    pub list: &'static str,
    /// The number that people read before the line; nothing where there is none.
    pub figure: String,
    /// The line that people read.
    pub line: String,
    /// The columns by their names.
    pub fields: Vec<(&'static str, RowValue)>,
}

/// A value in a row.
#[derive(Debug, Clone, PartialEq)]
pub enum RowValue {
    /// A name, which is bare in records where it can be.
    Name(String),
    /// A text, which is quoted there.
    Text(String),
    /// A whole number.
    Count(usize),
    /// Several.
    Counts(Vec<usize>),
    /// A number from 0 to 1, shown with three digits.
    Share(f64),
    /// None: it is left out of records, and `null` in JSON.
    Nothing,
}

/// What was done, or would be, to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeEntry {
    /// The note in the file, where it is one.
    pub id: Option<NoteId>,
    /// `created`, `changed`, `renamed`, `deleted`, or `unchanged`.
    pub action: &'static str,
    /// The file, relative to the current directory.
    pub path: String,
    /// The difference, as a unified diff, where only that is shown.
    pub diff: Option<String>,
}

impl Entry {
    /// Returns the note, where the entry is one.
    pub fn note(&self) -> Option<&NoteEntry> {
        match self {
            Self::Note(entry) => Some(entry),
            _ => None,
        }
    }

    /// Tells whether it is no note but what was found out about several.
    pub fn is_finding_out(&self) -> bool {
        matches!(self, Self::Comparison(_) | Self::Pattern(_))
    }

    /// Returns the entry that this one is not shown without.
    pub fn parent(&self) -> Option<usize> {
        match self {
            Self::Note(entry) => entry.parent,
            Self::Unresolved { under, .. } => Some(*under),
            Self::Link { edge, .. } => Some(edge.other),
            _ => None,
        }
    }

    /// Tells whether the entry may fit into so many characters, when it is shown down to this detail.
    ///
    /// Cheap, so that an entry which can't fit is never turned into text; the cheapest is looked at first.
    pub fn may_fit(&self, detail: Detail, room: usize) -> bool {
        let Self::Note(entry) = self else {
            return true;
        };
        let (note, name) = (&entry.note, entry.note.name());
        let has_text = entry.blocks.is_none() && detail != Detail::Name;
        let text = match detail {
            _ if !has_text => 0,
            Detail::Body => name.body_chars.unwrap_or_else(|| note.body_chars()),
            // What sums the note up may be shorter than its own summary.
            _ if entry.gist.is_some() => 0,
            _ => name.summary_chars.unwrap_or_default(),
        };
        let least = note.id.as_str().len() + shown_chars(name.title) + text;
        let tags = || note.ties().tags.iter().map(|tag| shown_chars(tag)).sum::<usize>();
        least <= room && (!has_text || least + shown_chars(note.head().kind) + tags() <= room)
    }
}

/// How much of a note's text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Its id and title.
    Name,
    /// Its summary too.
    Summary,
    /// Its body too.
    Body,
}
