//! The requests of users, as plain values. Those that consist of flags derive the parser of these flags: enums derive
//! `ValueEnum` and structs `Args`, and the doc comments of their variants and fields are help.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::civil::Date;

use crate::calendar::DateRange;
use crate::graph::{Follow, WalkLimits};
use crate::note::edit::BodyEdit;
pub use crate::report::{Format, LineFormat, Score};
use crate::store::{CommitName, Location};
use crate::tokens::{CHARS_PER_TOKEN, Tokenizer};

/// The tokens of a budget for each note that is assessed: no note is shown in fewer.
const TOKENS_PER_CANDIDATE: usize = 10;
/// The least number of notes that are assessed.
pub const MIN_CANDIDATES: usize = 100;

/// One call of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The command.
    pub command: Command,
    /// The location of the project and its store.
    pub location: Location,
    /// The format of the answer.
    pub format: Format,
    /// The form of lines, if the answer consists of them.
    pub lines: LineFormat,
    /// The limits of the answer's length.
    pub budget: Budget,
    /// Whether the phases of the call are timed on standard error.
    pub is_verbose: bool,
    /// Whether the answer has colours; `None` leaves it to the environment.
    pub color: Option<bool>,
    /// Whether the answer goes through a pager if it is longer than the screen.
    pub is_paged: bool,
    /// The day relative to which dates are described in words; `None` for no words.
    pub today: Option<Date>,
}

/// The limits of an answer's length; if both are given, both apply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct Budget {
    /// Maximum number of characters to print
    // Unicode scalar values, final newline included.
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    pub max_chars: Option<usize>,
    /// Maximum number of tokens to print, as counted by --tokenizer
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    pub max_tokens: Option<usize>,
    /// The tokens at which selection by purpose stops; the last note may exceed it.
    #[arg(skip)]
    pub target_tokens: Option<usize>,
    /// How tokens are counted (default: estimate)
    #[arg(long, global = true, value_name = "ENCODING", default_value = "estimate", hide_default_value = true)]
    pub tokenizer: Tokenizer,
}

impl Budget {
    /// Returns the most hits that are assessed, several times as many as could be shown; `None` for no limit.
    pub fn max_candidates(&self) -> Option<usize> {
        let tokens = [self.max_tokens, self.max_chars.map(|chars| chars / CHARS_PER_TOKEN)];
        tokens.into_iter().flatten().min().map(|tokens| (tokens / TOKENS_PER_CANDIDATE).max(MIN_CANDIDATES))
    }

    /// Returns the most notes from which an answer is filled, one for each character; `None` for no limit.
    pub fn max_entries(&self) -> Option<usize> {
        self.most_chars().map(|chars| chars.max(MIN_CANDIDATES))
    }

    /// Returns the approximate limit in characters, tokens counted as [`CHARS_PER_TOKEN`]; `None` without a limit.
    pub fn most_chars(&self) -> Option<usize> {
        let by_tokens = self.max_tokens.map(|tokens| tokens.saturating_mul(CHARS_PER_TOKEN));
        [self.max_chars, by_tokens].into_iter().flatten().min()
    }

    /// Tells whether there is a limit in characters or tokens.
    pub fn is_limited(&self) -> bool {
        self.max_chars.is_some() || self.max_tokens.is_some()
    }
}

/// The commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Show the primer.
    Prime(PrimeRequest),
    /// Answer a hook of an agent tool.
    Hook(HookRequest),
    /// Show a bundle of notes.
    Context(ContextRequest),
    /// Show more of notes that were shown.
    Expand(ExpandRequest),
    /// Show links.
    Link(LinkRequest),
    /// Export notes and the links between them, as a page or as JSON.
    ExportLinks {
        /// Which notes, the whole store if nothing selects any; and which links.
        selection: Selectors,
        /// The file; `None` for standard output.
        saved: Option<OutputFile>,
    },
    /// Search for notes.
    Search(SearchRequest),
    /// Show the notes that are similar to one.
    Related(RelatedRequest),
    /// Show notes as a list.
    List(ListRequest),
    /// Show notes in full.
    Show(ShowRequest),
    /// Show how a note changed.
    History(HistoryRequest),
    /// Show which notes differ between two commits.
    Diff(DiffRequest),
    /// Show the journals of a day.
    Journal(Date),
    /// List the tasks in notes.
    Tasks(TasksRequest),
    /// Show what there is: stores, sources, types, tags.
    Status {
        /// Whether all tags are shown, and nothing else.
        only_tags: bool,
    },
    /// Report defects of the store.
    Doctor(DoctorRequest),
    /// List the notes that a person should look at.
    Review(ReviewRequest),
    /// Measure how many questions are answered.
    Eval(EvalRequest),
    /// Create a store.
    Init(InitRequest),
    /// Change notes.
    Change(ChangeRequest),
    /// Open a note in the user's editor.
    Edit {
        /// The note.
        id: String,
        /// The new value of `updated`, if the note was changed.
        now: String,
    },
    /// Write notes and attachments into a pack.
    Dump(DumpRequest),
    /// Load a pack into the store.
    Load(LoadRequest),
    /// Write the passages of all notes for a search engine.
    ExportPassages(PassagesRequest),
    /// Import the notes of another app.
    Import(ImportRequest),
    /// Install instructions for agent tools.
    Setup(SetupRequest),
    /// Write manual pages into a folder.
    Pages(ManPagesRequest),
    /// Merge two versions of a note, for git.
    MergeDriver(MergeDriverRequest),
    /// Serve agent tools over MCP.
    Mcp {
        /// The date that counts as today; `None` takes that of the calendar at each call.
        today: Option<String>,
        /// Whether results contain structured content too.
        is_structured: bool,
    },
    /// Serve editors over the Language Server Protocol.
    Lsp {
        /// The date that counts as today; `None` takes that of the calendar at each change.
        today: Option<String>,
    },
    /// Browse the store on a terminal.
    Browse {
        /// The initial query.
        query: String,
        /// The new value of `updated` in notes that are edited; `None` for the time of the edit.
        today: Option<String>,
    },
}

impl Command {
    /// Tells whether it changes files of the store or of the project, so that a dry run is of use. An editor can't be run
    /// dry.
    pub fn changes_files(&self) -> bool {
        match self {
            Self::Change(_) | Self::Load(_) | Self::Import(_) | Self::Init(_) | Self::Pages(_) => true,
            Self::Doctor(doctor) => doctor.is_fix,
            Self::Review(review) => review.is_fix,
            Self::Setup(setup) => setup.action.changes_files(),
            _ => false,
        }
    }

    /// Tells whether it changes notes, so that its answer lists them.
    pub fn changes_notes(&self) -> bool {
        matches!(self, Self::Change(_) | Self::Edit { .. } | Self::Load(_) | Self::Import(_))
    }

    /// Tells whether it runs in a session-start hook, which must not fail.
    pub fn is_hook(&self) -> bool {
        matches!(self, Self::Prime(prime) if prime.is_hook)
    }
}

/// A call of `man --dir`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManPagesRequest {
    /// The folder.
    pub dir: PathBuf,
    /// The pages: file name and text.
    pub pages: Vec<(String, String)>,
    /// Whether nothing is written, only reported.
    pub is_dry_run: bool,
}

/// A call of `prime`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrimeRequest {
    /// Whether the answer begins with the banner; `None` leaves it to the format.
    pub banner: Option<bool>,
    /// Whether this runs in a session-start hook, which must not fail.
    pub is_hook: bool,
    /// Whether only the most useful commands and the latest decisions are shown.
    pub is_brief: bool,
}

/// A call of `hook`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookRequest {
    /// The tool that calls it.
    pub tool: HookTool,
    /// The name of the event, in the spelling of the tool.
    pub event: String,
    /// The JSON that the tool writes to standard input.
    pub input: String,
    /// The limits of the answer.
    pub budget: Budget,
    /// What the session was shown.
    pub shown: ShownInSession,
}

/// The agent tools with hooks.
// A doc comment of a variant would become help.
#[allow(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HookTool {
    Claude,
    Codex,
    Gemini,
    Cursor,
    Copilot,
}

/// Where a hook records what a session was shown, so that it is not shown again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShownInSession {
    /// In a file of the session in the user's cache folder.
    InCache,
    /// In this file, relative to the current directory.
    In(PathBuf),
    /// Nowhere: the answer depends on the store and the input alone.
    Nowhere,
}

/// A call of `context`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextRequest {
    /// The selection of notes.
    pub selection: Selectors,
    /// Whether the answer begins with the banner; `None` leaves it to the format.
    pub banner: Option<bool>,
    /// Whether bodies are shown; `None` leaves it to the format.
    pub with_body: Option<bool>,
    /// Whether custom fields are shown.
    pub with_custom: bool,
    /// The limit in characters, if notes that do not fit in full are shown as passages.
    pub passages_within: Option<usize>,
    /// Whether notes in part have their names alone as their heads, so that the room is for passages.
    pub has_brief_heads: bool,
    /// The blocks that are shown in place of bodies; `None` shows bodies.
    pub blocks: Option<BlockOptions>,
    /// The purpose of the answer; `None` shows notes in full, in the order of their selection.
    pub assessment: Option<AssessmentOptions>,
    /// The most hits that are assessed for selection by purpose; `None` for no limit.
    pub max_candidates: Option<usize>,
    /// The most notes from which the answer is filled; `None` for no limit.
    pub max_entries: Option<usize>,
}

/// A call of `eval`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalRequest {
    /// The question file.
    pub questions: TextSource,
    /// The measured answers, in ascending order of budget.
    pub answers: Vec<MeasuredAnswer>,
    /// The least share of hits in every budget; `None` for no check.
    pub min_hit: Option<Score>,
}

/// A request whose answer is measured for every question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredAnswer {
    /// The budget in characters.
    pub chars: usize,
    /// The call of `context`; each question replaces its query.
    pub request: Request,
}

/// The source of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextSource {
    /// A file, relative to the current directory.
    File(PathBuf),
    /// A text that was already read from standard input.
    Text(String),
}

/// The purpose of an answer, and the requirements on its notes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssessmentOptions {
    /// The task by whose utility notes are ranked; `None` keeps the order of relevance.
    pub purpose: Option<Purpose>,
    /// How much of each note is shown; `None`: full notes if everything fits, else passages.
    pub abstraction: Option<Abstraction>,
    /// The tokens after which selection stops.
    pub target_tokens: Option<usize>,
    /// The least confidence of a note.
    pub min_confidence: Option<Score>,
    /// The least trust in the source of a note.
    pub min_trust: Option<Score>,
    /// The share of a note that must be new; `None` for the usual one.
    pub novelty_threshold: Option<Score>,
    /// What is shown after each note.
    pub include: Vec<RelatedKind>,
    /// Whether it is shown how confidence and utility were computed.
    pub explains: bool,
    /// The day that counts as today; `None` without a purpose.
    pub today: Option<Date>,
}

/// The tasks that an answer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Purpose {
    /// Answer a question.
    Answer,
    /// Check a claim.
    Verify,
    /// Get an overview.
    Explore,
    /// Choose between options.
    Decide,
    /// Make something new.
    Create,
}

impl Purpose {
    /// All purposes.
    pub const ALL: [Self; 5] = [Self::Answer, Self::Verify, Self::Explore, Self::Decide, Self::Create];

    /// Returns the name in flags and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Verify => "verify",
            Self::Explore => "explore",
            Self::Decide => "decide",
            Self::Create => "create",
        }
    }
}

/// The levels of detail that can be named, and the choice of one for each note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abstraction {
    /// The body, and what it is derived from.
    Detailed,
    /// The blocks that contain words of the query.
    Extract,
    /// The summary.
    Summary,
    /// One sentence.
    Essence,
    /// As much as importance and budget allow.
    Adaptive,
}

/// A call of `context --expand`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpandRequest {
    /// The notes that an earlier answer showed in part.
    pub ids: Vec<String>,
    /// What is shown beside them.
    pub include: Vec<RelatedKind>,
    /// Whether the answer begins with the banner; `None` leaves it to the format.
    pub banner: Option<bool>,
}

/// What is shown beside notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RelatedKind {
    /// What they are derived from, up to three steps back
    Derivation,
    /// What supports them, and their sources
    Evidence,
    /// What contradicts them
    Contradictions,
}

/// The blocks that are shown in place of bodies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockOptions {
    /// Which blocks; `None` leaves it to the settings.
    pub choice: Option<BlockChoice>,
    /// Whether the default limits apply.
    pub has_defaults: bool,
}

/// Which blocks are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum BlockChoice {
    /// Every block.
    #[default]
    All,
    /// Blocks that contain a word of the query.
    Matched,
    /// Blocks that match the query best.
    Top,
}

/// How a question is understood beyond its words, and which of its hits count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuestionOptions {
    /// Whether the words are only searched for, and not parsed for days, names and intents.
    pub is_plain: bool,
    /// The occasion if nobody asked for notes: only those that are likely to help count.
    pub occasion: Option<Occasion>,
    /// The day that counts as today.
    pub today: Date,
    /// Only hits and journals of periods of this day or later.
    pub since: Option<Date>,
    /// Only those of this day or before.
    pub until: Option<Date>,
    /// The most hits of the search; other selections by the query do not count.
    pub search_limit: Option<usize>,
    /// The least relevance of a hit.
    pub min_relevance: Option<Score>,
    /// Only hits and journals of periods with a block that contains a word of the query, among the first so many of each;
    /// the others are not read.
    pub blocks_within: Option<usize>,
}

/// An occasion on which a hook shows notes that nobody asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// A prompt that gives a task.
    Task,
    /// A prompt that asks something.
    Question,
    /// A command that is about to run.
    Command,
    /// A file that is about to be edited.
    Edit,
}

/// A day or period in the words of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSpan {
    /// The user's words.
    pub text: String,
    /// The days.
    pub span: DateRange,
}

/// A selection of notes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selectors {
    /// Named notes.
    pub notes: Vec<String>,
    /// Notes with one of these tags.
    pub tags: Vec<String>,
    /// Maps of content and the notes that they link to.
    pub mocs: Vec<String>,
    /// Whether maps inside a map are expanded.
    pub transitive: bool,
    /// Notes that answer this.
    pub query: Option<String>,
    /// Whether notes are ranked by words only, without links and sequences.
    pub no_graph: bool,
    /// The most hops of the walks from named notes.
    pub max_hops: usize,
    /// The filters.
    pub filters: Filters,
    /// The most notes.
    pub max_notes: Option<usize>,
    /// Whether the notes that link to the selected ones are selected too.
    pub backlinks: bool,
    /// The most notes that a query selects, unless the store's config sets another limit; `None` for no limit.
    pub max_hits: Option<usize>,
    /// Whether notes were read from standard input, possibly none.
    pub reads_stdin: bool,
    /// Which links a walk follows.
    pub follow: Follow,
    /// Whether notes are selected that a digest replaces.
    pub no_compaction: bool,
    /// How the query is understood; `None` only searches for its words.
    pub asking: Option<QuestionOptions>,
    /// Whether the query is only for passages of the named notes.
    pub within_notes: bool,
    /// What notes are selected for naming.
    pub mentions: Vec<MentionTarget>,
}

/// The most bytes of the path of a mentioned file: Linux allows no more.
pub const MAX_PATH_BYTES: usize = 4_096;

/// Something that notes may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MentionTarget {
    /// A file, by its path with `/` or `\` between the components.
    File(String),
    /// An identifier.
    Symbol(String),
    /// The first words of a command line, such as `cargo publish`.
    Command(String),
    /// A folder with everything in it, by its path.
    Folder(String),
    /// A line of a file: its path, and its number from 1.
    Line(String, usize),
    /// A symbol of a file: its path, and the identifier.
    SymbolOf(String, String),
}

impl MentionTarget {
    /// Returns the path, the identifier or the words.
    pub fn text(&self) -> &str {
        match self {
            Self::File(text) | Self::Symbol(text) | Self::Command(text) | Self::Folder(text) => text,
            Self::Line(text, _) | Self::SymbolOf(_, text) => text,
        }
    }
}

impl Selectors {
    /// Tells whether anything selects notes.
    pub fn selects(&self) -> bool {
        self.has_filters() || self.selects_otherwise()
    }

    /// Tells whether filters select notes, and nothing else does.
    pub fn selects_by_filters_alone(&self) -> bool {
        self.has_filters() && !self.selects_otherwise()
    }

    fn has_filters(&self) -> bool {
        self.filters != Filters::default()
    }

    fn selects_otherwise(&self) -> bool {
        let Self { notes, tags, mocs, .. } = self;
        [notes, tags, mocs].iter().any(|list| !list.is_empty())
            || !self.mentions.is_empty()
            || self.reads_stdin
            || self.query.is_some()
    }
}

/// The filters of a request; a note must pass all of them. specs/reference/search-and-filters.md has the
/// expressions that flags are short for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    /// Only notes with at least this value, 0 to 100.
    pub min_value: Option<u8>,
    /// Only notes that match these filters.
    pub expressions: Vec<String>,
    /// Only notes whose fields pass these tests.
    pub field_tests: Vec<String>,
    /// Only notes of these types; empty for all.
    pub kinds: Vec<String>,
    /// Only notes with any of these tags; empty for all.
    pub tags: Vec<String>,
    /// Only notes changed on this day or later (journals: of it or later).
    pub since: Option<Date>,
    /// Only notes changed on this day or before.
    pub until: Option<Date>,
}

impl Filters {
    /// Returns an expression as the only filter.
    pub fn of(expression: impl Into<String>) -> Self {
        Self { expressions: vec![expression.into()], ..Self::default() }
    }
}

/// A call of `search`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchRequest {
    /// The words.
    pub query: String,
    /// Whether they are a question, in which nothing is syntax.
    pub is_question: bool,
    /// Only notes without these words or phrases.
    pub without: Vec<String>,
    /// The filters.
    pub filters: Filters,
    /// The most notes.
    pub limit: Option<usize>,
    /// The least relevance of a note.
    pub min_relevance: Option<Score>,
    /// Whether it is shown how the scores were computed.
    pub explains: bool,
    /// Whether notes are shown that a digest replaces.
    pub no_compaction: bool,
}

/// A call of `search --like`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RelatedRequest {
    /// The note.
    pub id: String,
    /// The filters.
    pub filters: Filters,
    /// The most notes.
    pub limit: Option<usize>,
}

/// A call of `link`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRequest {
    /// Which view.
    pub view: LinkView,
    /// Which links are followed.
    pub follow: Follow,
    /// The limits of the walk.
    pub limits: WalkLimits,
    /// Whether notes are shown that a digest replaces.
    pub no_compaction: bool,
}

/// A file that an answer is written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// The file, relative to the current directory.
    pub file: PathBuf,
    /// The format of the confirmation on standard output.
    pub confirmation_format: Format,
}

/// The views of links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkView {
    /// The links of one note.
    List(String),
    /// The notes around one note.
    Tree(String),
    /// A shortest path between two notes.
    Path(String, String),
}

/// A call of `list`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListRequest {
    /// The filters.
    pub filters: Filters,
    /// The order.
    pub sort: Sort,
    /// The most notes that are listed.
    pub limit: Option<usize>,
}

/// A call of `tasks`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct TasksRequest {
    /// The filters of the notes.
    #[arg(skip)]
    pub filters: Filters,
    /// Only tasks that are done
    #[arg(long = "done")]
    pub only_done: bool,
    /// Tasks that are done too
    #[arg(long = "all", conflicts_with = "only_done")]
    pub with_done: bool,
    /// The most tasks.
    #[arg(skip)]
    pub limit: Option<usize>,
}

/// The orders of a list; the id decides between equals. `Updated` and `Created` put the latest date first and notes
/// without a date last, `Value` puts the most valuable note first, and `Title` ignores case.
// A doc comment of a variant would become help.
#[allow(missing_docs)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    #[default]
    Updated,
    Created,
    Value,
    Title,
    Id,
}

/// A call of `show`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct ShowRequest {
    /// The notes
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
    /// Also show their links
    #[arg(long = "links", conflicts_with = "is_raw")]
    pub with_links: bool,
    /// Show the files as they are
    #[arg(long = "raw")]
    pub is_raw: bool,
}

/// A call of `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct DoctorRequest {
    /// Fail on warnings too
    #[arg(long = "strict")]
    pub is_strict: bool,
    /// Repair what has only one possible repair: missing YAML quotes, missing ids, leftover files, interrupted changes
    #[arg(long = "fix")]
    pub is_fix: bool,
    /// Whether the repairs are only shown.
    #[arg(skip)]
    pub is_dry_run: bool,
}

/// A call of `history` for a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryRequest {
    /// The note.
    pub id: String,
    /// The commit after which the versions are wanted; `None` for all.
    pub since: Option<CommitName>,
    /// The most versions.
    pub limit: Option<usize>,
}

/// A call of `history` without a note: the notes that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffRequest {
    /// The earlier commit.
    pub from: CommitName,
    /// The later commit; `None` for the files on disk.
    pub to: Option<CommitName>,
    /// The most notes.
    pub limit: Option<usize>,
}

/// A call of `review`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct ReviewRequest {
    /// Only these notes
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Only entries with this reason (repeatable, or comma-separated)
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',')]
    pub kinds: Vec<ReviewKind>,
    /// The filters.
    #[arg(skip)]
    pub filters: Filters,
    /// The most entries.
    #[arg(skip)]
    pub limit: Option<usize>,
    /// Fail if there is an entry, other than of code that merely moved
    #[arg(long = "strict")]
    pub is_strict: bool,
    /// Update the code references whose code merely moved
    #[arg(long = "fix")]
    pub is_fix: bool,
    /// Whether the updates are only shown.
    #[arg(skip)]
    pub is_dry_run: bool,
}

/// The reasons for which a person should look at a note, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum ReviewKind {
    /// Another note may say the opposite
    Contradiction,
    /// Code that it refers to no longer exists
    CodeGone,
    /// Code that it refers to has changed
    CodeChanged,
    /// Code that it refers to is elsewhere (only if asked for)
    CodeMoved,
    /// The three kinds of code
    Code,
    /// It has expired, or is to be looked at again
    Due,
    /// Nobody has accepted it yet
    Draft,
    /// Another note has almost the same text
    NearDuplicate,
    /// No hook has ever shown it
    NeverShown,
    /// No link leads to it or from it (only if asked for)
    Orphan,
}

impl ReviewKind {
    /// Whether the reason is code that a note refers to.
    pub fn is_code(self) -> bool {
        matches!(self, Self::CodeGone | Self::CodeChanged | Self::CodeMoved)
    }

    /// Returns the name in flags and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Contradiction => "contradiction",
            Self::CodeGone => "code-gone",
            Self::CodeChanged => "code-changed",
            Self::CodeMoved => "code-moved",
            Self::Code => "code",
            Self::Due => "due",
            Self::Draft => "draft",
            Self::NearDuplicate => "near-duplicate",
            Self::NeverShown => "never-shown",
            Self::Orphan => "orphan",
        }
    }
}

/// A call of `init`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct InitRequest {
    /// The project (default: that of this folder)
    pub dir: Option<PathBuf>,
    /// Read the Markdown in this folder with the store, where it lies (repeatable)
    #[arg(long, value_name = "DIR")]
    pub documents: Vec<PathBuf>,
    /// Keep the store out of git
    #[arg(long = "stealth")]
    pub is_stealth: bool,
    /// Name it `qipu/`, a visible folder, instead of `.qipu/`
    #[arg(long = "visible")]
    pub is_visible: bool,
    /// Trust what an existing store says about its notes: trust, confidence, verified
    #[arg(long = "trust")]
    pub is_trusted: bool,
    /// Create your own store, which is read with that of every project
    #[arg(long = "user", conflicts_with_all = ["dir", "documents", "is_stealth", "is_visible"])]
    pub is_user: bool,
    /// Whether nothing is changed, only shown.
    #[arg(skip)]
    pub is_dry_run: bool,
}

/// A call of a command that changes notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRequest {
    /// The change.
    pub action: Action,
    /// Whether nothing is changed, only shown.
    pub is_dry_run: bool,
    /// Whether the new text may contain secrets.
    pub is_secret_allowed: bool,
    /// The new value of `created` and `updated`: a date, with a time unless today is given.
    pub now: String,
    /// The random number for the id of a new note.
    pub random: u64,
}

/// The changes of notes.
// Fields whose names say it all have no comment.
#[allow(missing_docs)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Create a note.
    Create {
        /// Its fields and body. Without a title, it takes the first line of the body.
        fields: NewFields,
        /// Whether a program creates it. Fields of the template that vouch for the note are then left out.
        is_generated: bool,
        /// Whether it is opened in the user's editor.
        is_opened: bool,
        /// The notes that it replaces.
        supersedes: Vec<String>,
    },
    /// Change fields of notes.
    Update {
        ids: Vec<String>,
        /// The filters that select them in place of ids; empty for none.
        filters: Vec<String>,
        fields: NewFields,
        /// The change of a part of the body.
        body_edit: Option<BodyEdit>,
        /// Whether a program changes them. With new words, a note loses the fields that vouch for the old ones.
        is_generated: bool,
        /// Whether the filters may select many notes.
        is_confirmed: bool,
    },
    /// Add to the journal of a day.
    Journal { day: Date, text: String },
    /// Add typed links.
    AddLink {
        /// The note that has the links.
        from: String,
        /// The notes that they lead to.
        to: Vec<String>,
        /// Their type; `None` for that of a link without one.
        kind: Option<String>,
        /// Whether a program adds it.
        is_generated: bool,
    },
    /// Delete notes.
    Delete {
        ids: Vec<String>,
        /// Whether other notes may link to them.
        is_forced: bool,
    },
    /// Merge a note into another.
    Merge {
        /// The note to keep.
        into: String,
        /// The note to merge into it; its file is deleted.
        from: String,
    },
    /// Tick off tasks, each `ID:LINE`.
    CompleteTasks { tasks: Vec<String> },
    /// Accept a note: a person has read it, and it holds.
    Accept {
        id: String,
        /// The person, as `human:NAME`.
        by: String,
    },
    /// Say that a note replaces others, which no longer hold.
    Supersede {
        /// The notes that are replaced.
        old: Vec<String>,
        /// Their successor.
        new: String,
    },
    /// Remove typed links.
    RemoveLink {
        /// The note that has the links.
        from: String,
        /// The notes that they lead to.
        to: Vec<String>,
        /// Their type; `None` for all.
        kind: Option<String>,
    },
}

impl Action {
    /// Returns the change of the title of a note, and with it of its file's name and the links to it.
    pub fn rename(id: String, title: String) -> Self {
        let fields = NewFields { title: Some(title), ..NewFields::default() };
        let (ids, filters) = (vec![id], Vec::new());
        Self::Update { ids, filters, fields, body_edit: None, is_generated: false, is_confirmed: false }
    }

    /// Returns the name of the command in answers.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Update { .. } => "update",
            Self::Delete { .. } => "delete",
            Self::Merge { .. } => "merge",
            Self::CompleteTasks { .. } => "tasks.done",
            Self::Accept { .. } => "accept",
            Self::Supersede { .. } => "supersede",
            Self::Journal { .. } => "journal",
            Self::AddLink { .. } => "link.add",
            Self::RemoveLink { .. } => "link.remove",
        }
    }
}

/// The custom field of a generated note with the program that wrote it.
pub const GENERATED_BY: &str = "generated_by";
/// The custom field of a generated note with the session in which it was written.
pub const SESSION: &str = "session";
/// The program that notes written over MCP name.
pub const MCP: &str = "mcp";
/// The program, if only the session is known.
pub const UNKNOWN_TOOL: &str = "agent";

/// Returns the custom field that marks a note as generated, with the program that wrote it.
pub fn generated_by(program: impl Into<String>) -> (String, String) {
    (GENERATED_BY.to_owned(), program.into())
}

/// New values of fields; absent ones stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct NewFields {
    /// The type: fleeting, literature, permanent, moc, journal, decision, or your own
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// A tag to add (repeatable, or comma-separated)
    #[arg(id = "tag", long = "tag", value_name = "TAG", value_delimiter = ',', value_parser = trimmed)]
    pub tags: Vec<String>,
    /// Its value, 0 to 100
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = value)]
    pub value: Option<u8>,
    /// A source (repeatable)
    #[arg(id = "source", long = "source", value_name = "URL", value_parser = trimmed)]
    pub sources: Vec<String>,
    /// A summary of one or two sentences
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub summary: Option<String>,
    /// The code that it is about: a file, with a line or a symbol (repeatable)
    #[arg(id = "code", long = "code", value_name = "PATH[:LINE|#SYMBOL]")]
    pub codes: Vec<String>,
    /// The title.
    #[arg(skip)]
    pub title: Option<String>,
    /// Whether a person has checked it.
    #[arg(skip)]
    pub verified: Option<bool>,
    /// Tags to remove.
    #[arg(skip)]
    pub untags: Vec<String>,
    /// Typed links to add: type and note.
    #[arg(skip)]
    pub links: Vec<(String, String)>,
    /// Custom fields to set.
    #[arg(skip)]
    pub custom: Vec<(String, String)>,
    /// The body.
    #[arg(skip)]
    pub body: Option<String>,
}

/// A call of `load`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadRequest {
    /// The pack.
    pub pack: TextSource,
    /// What becomes of notes that differ.
    pub strategy: Strategy,
    /// Whether nothing is changed, only shown.
    pub is_dry_run: bool,
    /// Whether the pack may contain secrets.
    pub is_secret_allowed: bool,
}

/// A call of `dump`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DumpRequest {
    /// Which notes; `None` for the whole store.
    pub selection: Option<Selectors>,
    /// The pack's file; `None` for standard output.
    pub file: Option<PathBuf>,
    /// Whether it may contain secrets.
    pub is_secret_allowed: bool,
}

/// A call of `export passages`. The doc comments of the fields are the help of the flags.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct PassagesRequest {
    /// The file to write (default, and `-`: standard output)
    pub file: Option<PathBuf>,
    /// Write only what changed since the last call with this file, which records it (new file: everything)
    #[arg(long = "since-index", value_name = "STATE")]
    pub state_file: Option<PathBuf>,
    /// Write pairs of lines, an action and a document, for this index of OpenSearch or Elasticsearch (their bulk API)
    #[arg(long = "bulk", value_name = "INDEX", value_parser = index_name)]
    pub bulk_index: Option<String>,
}

/// Parses the name of an index by the rules of OpenSearch and Elasticsearch, in ASCII.
fn index_name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
    let is_name =
        text.len() <= 255 && text.chars().all(is_plain) && text.starts_with(|c: char| c.is_ascii_alphanumeric());
    let expected = || "expected lower-case letters, digits, `.`, `_` and `-`, the first a letter or digit".to_owned();
    if is_name { Ok(text.to_owned()) } else { Err(expected()) }
}

/// What becomes of notes that differ between the store and a pack. Attachments that differ stay as they are, unless they
/// are overwritten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Strategy {
    /// Keep the store's notes.
    #[default]
    Skip,
    /// Replace them by the pack's notes.
    Overwrite,
    /// Merge both; where they conflict, the one changed later wins.
    Merge,
}

/// A call of `import`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct ImportRequest {
    /// The app.
    #[arg(skip = ImportFrom::Logseq)]
    pub from: ImportFrom,
    /// The folder of the graph or vault
    pub dir: PathBuf,
    /// The name of the folder in the imported notes (default: its own name)
    #[arg(long)]
    pub name: Option<String>,
    /// Import a folder that contains this store, although its documents may be no notes
    #[arg(long = "force")]
    pub is_forced: bool,
    /// Whether nothing is changed, only shown.
    #[arg(skip)]
    pub is_dry_run: bool,
    /// Whether the imported files may contain secrets.
    #[arg(skip)]
    pub is_secret_allowed: bool,
}

/// The apps whose notes can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportFrom {
    /// Logseq: a graph of pages and journals.
    Logseq,
    /// Obsidian: a vault of notes.
    Obsidian,
}

impl ImportFrom {
    /// Returns the app's name in commands and notes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logseq => "logseq",
            Self::Obsidian => "obsidian",
        }
    }
}

/// A call of `setup`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupRequest {
    /// The action.
    pub action: SetupAction,
    /// Whether the project is that of the store that the call names.
    pub is_at_store: bool,
    /// Whether text that was edited by hand may be overwritten.
    pub is_forced: bool,
    /// Whether nothing is changed, only shown.
    pub is_dry_run: bool,
}

/// The actions of `setup`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetupAction {
    /// List the recipes and their state in the project.
    List,
    /// Print the text of a recipe.
    Print(String),
    /// Check whether a recipe is installed and current.
    Check(String),
    /// Install a recipe; `None` for those that fit the project.
    Install(Option<String>),
    /// Remove a recipe; `None` for all that are installed.
    Remove(Option<String>),
}

impl SetupAction {
    /// Tells whether it changes files.
    pub fn changes_files(&self) -> bool {
        !matches!(self, Self::List | Self::Print(_) | Self::Check(_))
    }

    /// Returns the name of its recipe, if it names one.
    pub fn recipe(&self) -> Option<&str> {
        match self {
            Self::List => None,
            Self::Print(name) | Self::Check(name) => Some(name),
            Self::Install(name) | Self::Remove(name) => name.as_deref(),
        }
    }
}

/// A call of `merge-driver`, which writes the result to `ours`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct MergeDriverRequest {
    /// The common ancestor (%O)
    pub base: PathBuf,
    /// Our side; the result is written here (%A)
    pub ours: PathBuf,
    /// Their side (%B)
    pub theirs: PathBuf,
    /// The length of conflict markers (%L)
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 7)]
    pub marker_size: u16,
}

// Parsers of the values of flags; each error says what is expected.

/// The highest value of a note.
const MAX_VALUE: u8 = 100;

/// Parses a whole number, 0 included. Suffixes such as `k` have two meanings, 1000 and 1024, so they are refused.
pub(crate) fn whole(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected a whole number in digits, such as 10000".to_owned())
}

/// Parses a whole number that is not 0.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    let count = text.parse::<NonZeroUsize>().map(Into::into);
    count.map_err(|_| "expected a whole number, 1 or more".to_owned())
}

/// Parses the value of a note, 0 to 100.
pub(crate) fn value(text: &str) -> Result<u8, String> {
    let value = text.parse().ok().filter(|value| *value <= MAX_VALUE);
    value.ok_or_else(|| format!("expected a whole number from 0 to {MAX_VALUE}"))
}

/// Parses a number from 0 to 1.
pub(crate) fn share(text: &str) -> Result<Score, String> {
    let number: Option<f64> = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.map(Score::new).ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// Parses an item of a list with commas: trims it.
pub(crate) fn trimmed(text: &str) -> Result<String, Infallible> {
    Ok(text.trim().to_owned())
}
