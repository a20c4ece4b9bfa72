//! Requests: what the user asks for, as plain values.

use std::path::PathBuf;

use clap::ValueEnum;
use jiff::civil::Date;

use crate::calendar::DateRange;
use crate::graph::{Follow, WalkLimits};
pub use crate::report::{Format, Level, Picture};
use crate::store::Location;
use crate::tokens::{CHARS_PER_TOKEN, Tokenizer};

/// How many tokens of a budget stand for one note that is weighed: none is shown in so few.
const TOKENS_PER_CANDIDATE: usize = 10;
/// The least number of notes that are weighed.
pub const MIN_CANDIDATES: usize = 100;

/// One call of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What to do.
    pub command: Command,
    /// How the answer is written.
    pub format: Format,
    /// How long the answer may be.
    pub budget: Budget,
    /// Whether it is told where the time goes.
    pub is_verbose: bool,
    /// How it is shown on a terminal.
    pub show: OutputOptions,
}

/// How an answer is shown on a terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutputOptions {
    /// Whether it has colours; `None` leaves it to the surroundings.
    pub color: Option<bool>,
    /// Whether it is shown page by page where it is longer than the screen.
    pub is_paged: bool,
    /// The day from which days are told in words.
    pub today: Option<Date>,
}

/// How long an answer may be; both limits count when both are given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// The most Unicode scalar values, final newline included.
    pub max_chars: Option<usize>,
    /// The most tokens.
    pub max_tokens: Option<usize>,
    /// With how many tokens there is enough, where notes are chosen by their use; more may be written
    /// by one note.
    pub target_tokens: Option<usize>,
    /// What counts tokens.
    pub tokenizer: Tokenizer,
}

impl Budget {
    /// Returns how many hits are weighed: several times as many as could be shown.
    pub fn max_candidates(&self) -> Option<usize> {
        let tokens = [self.max_tokens, self.max_chars.map(|chars| chars / CHARS_PER_TOKEN)];
        tokens.into_iter().flatten().min().map(|tokens| (tokens / TOKENS_PER_CANDIDATE).max(MIN_CANDIDATES))
    }

    /// Returns about how many characters the answer may have; `None` without a limit.
    pub fn most_chars(&self) -> Option<usize> {
        let by_tokens = self.max_tokens.map(|tokens| tokens.saturating_mul(CHARS_PER_TOKEN));
        [self.max_chars, by_tokens].into_iter().flatten().min()
    }

    /// Tells whether there is a limit.
    pub fn is_limited(&self) -> bool {
        self.max_chars.is_some() || self.max_tokens.is_some()
    }
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Show the primer.
    Prime(PrimeRequest),
    /// Show a bundle of notes.
    Context(ContextRequest),
    /// Show more of notes that were shown.
    Expand(ExpandRequest),
    /// Show links.
    Link(LinkRequest),
    /// Draw notes and the links between them.
    Graph(GraphRequest),
    /// Search for notes.
    Search(SearchRequest),
    /// Show the notes that are like one.
    Related(RelatedRequest),
    /// Show notes as a list.
    List(ListRequest),
    /// Show notes whole.
    Show(ShowRequest),
    /// Show the journals of a day.
    Journal(JournalRequest),
    /// Show the tags in use.
    Tags(Location),
    /// Show what is in the store.
    Status(Location),
    /// Look for what is wrong or odd.
    Doctor(DoctorRequest),
    /// Measure how many questions are answered.
    Eval(EvalRequest),
    /// Tell of the index, or write it anew.
    Index(IndexRequest),
    /// Make a store.
    Init(InitRequest),
    /// Change notes.
    Change(ChangeRequest),
    /// Open a note in the user's editor.
    Edit(EditRequest),
    /// Write notes and attachments into a pack.
    Dump(DumpRequest),
    /// Take what a pack holds into the store.
    Load(LoadRequest),
    /// Take the notes of another app into the store.
    Import(ImportRequest),
    /// Install instructions for agent tools.
    Setup(SetupRequest),
    /// Write manual pages into a folder.
    Pages(ManPagesRequest),
    /// Merge two versions of a note, for git.
    MergeDriver(MergeDriverRequest),
    /// Serve agent tools over MCP.
    Mcp(McpRequest),
    /// Look around in the store, on a terminal.
    Browse(BrowseRequest),
}

impl Command {
    /// Tells whether it changes files of the store or of the project, so that a dry run is of use. An editor can't be run
    /// dry.
    pub fn changes_files(&self) -> bool {
        match self {
            Self::Change(_) | Self::Load(_) | Self::Import(_) | Self::Init(_) | Self::Pages(_) => true,
            Self::Doctor(doctor) => doctor.is_fix,
            Self::Setup(setup) => setup.action.changes_files(),
            _ => false,
        }
    }

    /// Tells whether it runs in a session-start hook, where nothing may go wrong.
    pub fn is_hook(&self) -> bool {
        matches!(self, Self::Prime(prime) if prime.is_hook)
    }
}

/// Manual pages to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManPagesRequest {
    /// The folder.
    pub dir: PathBuf,
    /// The names of their files, and what each says.
    pub pages: Vec<(String, String)>,
    /// Whether it is only told what would be written.
    pub is_dry_run: bool,
}

/// A call of `prime`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrimeRequest {
    /// Where the store is.
    pub location: Location,
    /// Whether the warning is given; `None` leaves it to the format.
    pub banner: Option<bool>,
    /// Whether this runs in a session-start hook, where nothing may go wrong.
    pub is_hook: bool,
    /// Whether notes are shown although a digest stands for them.
    pub no_compaction: bool,
}

/// A call of `context`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextRequest {
    /// Where the store is.
    pub location: Location,
    /// What is selected.
    pub selection: Selectors,
    /// The most notes; `None` for no limit.
    pub max_notes: Option<usize>,
    /// The most notes that a query selects, where the store's config names no other number; `None` for
    /// no limit.
    pub max_hits: Option<usize>,
    /// Whether the warning is given; `None` leaves it to the format.
    pub banner: Option<bool>,
    /// Whether bodies are shown; `None` leaves it to the format.
    pub with_body: Option<bool>,
    /// Whether custom fields are shown.
    pub with_custom: bool,
    /// How many characters the answer has at most, where it shows passages of notes that don't fit whole.
    pub passages_within: Option<usize>,
    /// Whether blocks are shown in place of bodies, and which.
    pub blocks: Option<BlockOptions>,
    /// What the notes are needed for; `None` shows them whole, in the order in which they were selected.
    pub need: Option<NeedOptions>,
    /// The most hits of a search that are weighed, where notes are chosen by their use; `None` for no limit.
    pub max_candidates: Option<usize>,
}

/// A call of `eval`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalRequest {
    /// Where the store is.
    pub location: Location,
    /// The question file.
    pub questions: TextSource,
    /// The search whose ranking is measured, without its query.
    pub search: SearchRequest,
    /// The answers that are measured, in the order of their budgets.
    pub answers: Vec<MeasuredAnswer>,
    /// The least share of hits in every budget, in millionths; `None` checks nothing.
    pub min_hit: Option<u32>,
}

/// A request whose answer is measured for every question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredAnswer {
    /// The budget in characters.
    pub chars: usize,
    /// The call of `context`; the question takes the place of its query.
    pub request: Request,
}

/// Where a text comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextSource {
    /// A file, named from the current directory.
    File(PathBuf),
    /// A text that was read already.
    Text(String),
}

/// What notes are needed for, and what of them counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NeedOptions {
    /// The task; `None` keeps the order of relevance.
    pub purpose: Option<Purpose>,
    /// How much of each note is shown.
    pub abstraction: Abstraction,
    /// The least confidence, in millionths.
    pub min_confidence: u32,
    /// The least trust, in millionths.
    pub min_trust: u32,
    /// The most novelty of a note that is left out since others say the same, in millionths; `None` for
    /// the usual one.
    pub novelty_threshold: Option<u32>,
    /// Whether the notes that notes are derived from are shown behind them.
    pub with_derivations: bool,
    /// Whether the notes that contradict notes are shown behind them.
    pub with_contradictions: bool,
    /// Whether the parts of utility and confidence are told.
    pub explains: bool,
    /// The day that counts as today, where there is a purpose.
    pub today: Option<Date>,
}

impl NeedOptions {
    /// Returns the need for passages that answer, in the order of relevance.
    pub fn passages() -> Self {
        Self::default()
    }
}

/// The tasks that an answer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Purpose {
    /// Answer a question.
    Answer,
    /// Check whether something is so.
    Verify,
    /// Find out what there is.
    Explore,
    /// Choose between ways.
    Decide,
    /// Make something new.
    Create,
}

impl Purpose {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Answer, Self::Verify, Self::Explore, Self::Decide, Self::Create];

    /// Returns the name that flags and answers use.
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

/// How much of each note is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Abstraction {
    /// The whole note where everything fits, else its passages.
    #[default]
    Passages,
    /// As much as its importance and the budget allow.
    Adaptive,
    /// One level for all.
    Fixed(Level),
}

/// A call of `context --expand`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExpandRequest {
    /// Where the store is.
    pub location: Location,
    /// The notes.
    pub ids: Vec<String>,
    /// Whether what they are derived from is shown.
    pub derivation: bool,
    /// Whether what supports them is shown, and their sources.
    pub evidence: bool,
    /// Whether what contradicts them is shown.
    pub contradictions: bool,
    /// Whether the warning is given; `None` leaves it to the format.
    pub banner: Option<bool>,
}

/// Which blocks of notes are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockOptions {
    /// By what they are chosen; `None` leaves it to the store's config.
    pub choice: Option<BlockChoice>,
    /// The most blocks of a note, where the user names a number.
    pub max_per_note: Option<usize>,
    /// The most blocks in all, where the user names a number.
    pub max_in_all: Option<usize>,
    /// Whether there are limits where nobody names any.
    pub has_defaults: bool,
}

/// Which blocks are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum BlockChoice {
    /// Every block.
    #[default]
    All,
    /// Those that hold a word of the query.
    Matched,
    /// Those that hold the most of the query.
    Top,
}

/// How a query is read beyond its words, and what of its answers counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuestionOptions {
    /// Whether the words are searched for as they stand.
    pub is_plain: bool,
    /// The day that counts as today.
    pub today: Date,
    /// Only hits and journals of periods of this day or later.
    pub since: Option<Date>,
    /// Only those of this day or before.
    pub until: Option<Date>,
    /// Two days or periods to compare.
    pub comparison: Option<[NamedSpan; 2]>,
    /// Whether patterns are looked for.
    pub wants_patterns: bool,
    /// The most hits, whatever else the query selects.
    pub search_limit: Option<usize>,
    /// The least relevance of a hit, in millionths.
    pub min_relevance: Option<u32>,
    /// Namespaces whose notes are left out.
    pub excluded_namespaces: Vec<String>,
    /// Only hits and journals of periods of which a block holds a word of the query, among so many of each; the
    /// others are not looked at.
    pub blocks_within: Option<usize>,
}

/// A day or period as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSpan {
    /// The user's words.
    pub text: String,
    /// The days.
    pub span: DateRange,
}

/// A call of `journal` that shows a day's journals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRequest {
    /// Where the store is.
    pub location: Location,
    /// The day.
    pub day: Date,
}

/// What a bundle is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selectors {
    /// Notes by id, in the order given.
    pub notes: Vec<String>,
    /// Whether notes were named on standard input, maybe none.
    pub reads_stdin: bool,
    /// Notes with any of these tags.
    pub tags: Vec<String>,
    /// Maps of content, each with what it links to.
    pub mocs: Vec<String>,
    /// Whether maps inside maps are opened.
    pub transitive: bool,
    /// Words to search for.
    pub query: Option<String>,
    /// Whether links and sequences count for nothing where words are searched for.
    pub no_graph: bool,
    /// Notes around these, by hops.
    pub walks: Vec<String>,
    /// The most hops of a walk.
    pub max_hops: usize,
    /// Which links a walk follows.
    pub follow: Follow,
    /// Notes of at least this value, 0 to 100.
    pub min_value: Option<u8>,
    /// Expressions on custom and other fields; all must hold.
    pub custom_filters: Vec<String>,
    /// Words that are ids where they name notes, and the query where they don't.
    pub words: Vec<String>,
    /// Whether what links to the selected notes is selected too.
    pub backlinks: bool,
    /// Whether notes are selected although a digest stands for them.
    pub no_compaction: bool,
    /// How the query is read; `None` searches for its words and nothing else.
    pub asking: Option<QuestionOptions>,
    /// Whether the query looks for passages of the notes that are named, and selects no others.
    pub within_notes: bool,
}

/// A call of `search`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchRequest {
    /// The words.
    pub query: String,
    /// Where the store is, and which notes may be found; its order does not count.
    pub only: ListRequest,
    /// The most notes; `None` for no limit.
    pub limit: Option<usize>,
    /// The least relevance, in millionths.
    pub min_relevance: u32,
    /// Whether the parts of the scores are told.
    pub explains: bool,
    /// Whether links and sequences count for nothing.
    pub no_graph: bool,
    /// Whether notes are shown although a digest stands for them.
    pub no_compaction: bool,
}

/// A call of `related`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RelatedRequest {
    /// Where the store is.
    pub location: Location,
    /// The note.
    pub id: String,
    /// The most notes; `None` for no limit.
    pub limit: Option<usize>,
}

/// A call of `link`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRequest {
    /// Where the store is.
    pub location: Location,
    /// Which view.
    pub view: LinkView,
    /// Which links are followed.
    pub follow: Follow,
    /// How far.
    pub limits: WalkLimits,
    /// Whether notes are shown although a digest stands for them.
    pub no_compaction: bool,
}

/// A call of `graph`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphRequest {
    /// Where the store is.
    pub location: Location,
    /// Which notes; `None` for the whole store.
    pub selection: Option<Selectors>,
    /// The most notes; `None` for no limit.
    pub max_notes: Option<usize>,
    /// The most notes that a query selects; `None` for no limit.
    pub max_hits: Option<usize>,
    /// Which links are drawn.
    pub follow: Follow,
    /// Whether notes are shown although a digest stands for them.
    pub no_compaction: bool,
    /// The file that the picture goes to; `None` for standard output.
    pub saved: Option<OutputFile>,
}

/// A file that an answer goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// The file, named from the current directory.
    pub file: PathBuf,
    /// The format of the confirmation on standard output.
    pub confirmation_format: Format,
}

/// The views of links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkView {
    /// The links at one note.
    List(String),
    /// The notes around one note.
    Tree(String),
    /// A shortest way between two notes.
    Path(String, String),
}

/// A call of `list`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListRequest {
    /// Where the store is.
    pub location: Location,
    /// Only notes of these types; empty for all.
    pub kinds: Vec<String>,
    /// Only notes with any of these tags; empty for all.
    pub tags: Vec<String>,
    /// Only notes changed on this day or later (journals: of it or later).
    pub since: Option<Date>,
    /// Only notes changed on this day or before.
    pub until: Option<Date>,
    /// Only notes of at least this value.
    pub min_value: Option<u8>,
    /// Expressions on custom and other fields; all must hold.
    pub custom_filters: Vec<String>,
    /// The order.
    pub sort: Sort,
    /// The most notes that are listed.
    pub limit: Option<usize>,
    /// Only notes without any link from or to them.
    pub only_orphans: bool,
    /// Only notes that name a target which does not exist.
    pub only_broken: bool,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowRequest {
    /// Where the store is.
    pub location: Location,
    /// The notes.
    pub ids: Vec<String>,
    /// Whether their links are shown too.
    pub with_links: bool,
    /// Whether the files are shown as they are.
    pub is_raw: bool,
}

/// A call of `doctor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoctorRequest {
    /// Where the store is.
    pub location: Location,
    /// Whether warnings fail the check too.
    pub is_strict: bool,
    /// Whether what is safe to put right is put right.
    pub is_fix: bool,
    /// Whether that is only shown.
    pub is_dry_run: bool,
}

/// A call of `index`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexRequest {
    /// Where the store is.
    pub location: Location,
    /// Whether it is written anew.
    pub is_rebuilt: bool,
}

/// A call of `init`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InitRequest {
    /// The project, where the user names one.
    pub root: Option<PathBuf>,
    /// The store itself, where the user names it.
    pub store: Option<PathBuf>,
    /// Keep it out of git.
    pub is_stealth: bool,
    /// Name it `qipu/`, which everybody sees.
    pub is_visible: bool,
    /// Let it say how far its notes can be relied on, although it was there before.
    pub is_trusted: bool,
    /// The user's folder for settings.
    pub settings: Option<PathBuf>,
    /// Whether it is only shown.
    pub is_dry_run: bool,
}

/// A call of `edit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditRequest {
    /// Where the store is.
    pub location: Location,
    /// The note.
    pub id: String,
    /// What `updated` becomes, where the note was changed.
    pub now: String,
}

/// A call of a command that changes notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRequest {
    /// Where the store is.
    pub location: Location,
    /// What is done.
    pub action: Action,
    /// Whether it is only shown.
    pub is_dry_run: bool,
    /// What `created` and `updated` become: a date, with a time where today is not given.
    pub now: String,
    /// A random number that makes a new note's id.
    pub random: u64,
    /// Whether a note that was made is opened in the user's editor.
    pub opens_editor: bool,
}

/// What is done to notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Make a note.
    Create(NewNote),
    /// Change fields of notes.
    Update {
        /// The notes.
        ids: Vec<String>,
        /// What changes.
        fields: NewFields,
    },
    /// Add to the journal of a day.
    Journal {
        /// The day.
        day: Date,
        /// What is added.
        text: String,
    },
    /// Add a typed link.
    AddLink {
        /// From which note.
        from: String,
        /// To which.
        to: String,
        /// Its type.
        kind: String,
    },
    /// Remove notes.
    Delete {
        /// The notes.
        ids: Vec<String>,
        /// Whether other notes may link to them.
        is_forced: bool,
    },
    /// Give a note another title; its file and the links to it follow.
    Rename {
        /// The note.
        id: String,
        /// Its new title.
        title: String,
    },
    /// Make one note of two.
    Merge {
        /// The note that stays.
        into: String,
        /// The note that becomes an alias of it.
        from: String,
    },
    /// Give a tag another name in every note.
    RenameTag {
        /// The tag.
        from: String,
        /// Its new name.
        to: String,
    },
    /// Let a digest stand for notes, or no longer.
    Compact {
        /// The digest.
        digest: String,
        /// The notes.
        ids: Vec<String>,
        /// Whether it no longer stands for them.
        is_undone: bool,
    },
    /// Take typed links away.
    RemoveLink {
        /// From which note.
        from: String,
        /// To which.
        to: String,
        /// Their type; `None` for all.
        kind: Option<String>,
    },
}

impl Action {
    /// Returns the name of the command.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Create(_) => "create",
            Self::Update { .. } => "update",
            Self::Delete { .. } => "delete",
            Self::Rename { .. } => "rename",
            Self::Merge { .. } => "merge",
            Self::RenameTag { .. } => "tags.rename",
            Self::Compact { .. } => "compact",
            Self::Journal { .. } => "journal",
            Self::AddLink { .. } => "link.add",
            Self::RemoveLink { .. } => "link.remove",
        }
    }
}

/// A note to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewNote {
    /// The title; `None` takes it from the body's first line.
    pub title: Option<String>,
    /// Its fields and body.
    pub fields: NewFields,
    /// Whether a program makes it: what a template says of who stands behind the note is left away then.
    pub is_generated: bool,
}

/// Fields as the user gives them; absent ones stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewFields {
    /// The title.
    pub title: Option<String>,
    /// The type.
    pub kind: Option<String>,
    /// The value, 0 to 100.
    pub value: Option<u8>,
    /// Whether a person has checked it.
    pub verified: Option<bool>,
    /// The summary.
    pub summary: Option<String>,
    /// Tags to add.
    pub tags: Vec<String>,
    /// Tags to take away.
    pub untags: Vec<String>,
    /// Addresses of sources to add.
    pub sources: Vec<String>,
    /// Typed links to add: type and note.
    pub links: Vec<(String, String)>,
    /// Custom fields to set.
    pub custom: Vec<(String, String)>,
    /// The body.
    pub body: Option<String>,
}

/// A call of `browse`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowseRequest {
    /// Where the store is.
    pub location: Location,
    /// What is typed at first.
    pub query: String,
    /// What `updated` of a note becomes that is edited there; `None` for the moment at which it is.
    pub today: Option<String>,
}

/// A call of `dump`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DumpRequest {
    /// Where the store is.
    pub location: Location,
    /// Which notes; `None` for the whole store.
    pub selection: Option<Selectors>,
    /// The most notes; `None` for no limit.
    pub max_notes: Option<usize>,
    /// The most notes that a query selects; `None` for no limit.
    pub max_hits: Option<usize>,
    /// The pack's file; `None` for standard output.
    pub file: Option<PathBuf>,
}

/// A call of `load`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadRequest {
    /// Where the store is.
    pub location: Location,
    /// The pack.
    pub pack: TextSource,
    /// What becomes of notes that both have.
    pub strategy: Strategy,
    /// Whether it is only shown what would be done.
    pub is_dry_run: bool,
}

/// What becomes of notes that differ between the store and a pack. Attachments that differ stay as they are, unless they
/// are overwritten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Strategy {
    /// The store's stay as they are.
    #[default]
    Skip,
    /// The pack's take their place.
    Overwrite,
    /// They become what both say; the later one has the last word.
    Merge,
}

/// A call of `import`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportRequest {
    /// Where the store is.
    pub location: Location,
    /// The app.
    pub from: ImportFrom,
    /// Its folder.
    pub dir: PathBuf,
    /// What the folder is called; `None` takes its own name.
    pub name: Option<String>,
    /// Whether a folder that contains the store is imported though it is not marked as a vault.
    pub is_forced: bool,
    /// Whether it is only shown what would be done.
    pub is_dry_run: bool,
}

/// Apps whose notes are understood.
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
    /// Where the project and its store are.
    pub location: Location,
    /// What to do.
    pub action: SetupAction,
    /// Whether what somebody changed may be written over.
    pub is_forced: bool,
    /// Whether it is only shown.
    pub is_dry_run: bool,
}

/// What `setup` does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetupAction {
    /// Tell which recipes there are, and their state here.
    List,
    /// Write what a recipe says.
    Install(String),
    /// Show what a recipe would write.
    Print(String),
    /// Tell whether a recipe is installed and current.
    Check(String),
    /// Take a recipe's text out again.
    Remove(String),
    /// Take the texts of all recipes out again.
    RemoveAll,
    /// Write what the recipes say that fit the project.
    InstallFitting,
}

impl SetupAction {
    /// Tells whether it changes files.
    pub fn changes_files(&self) -> bool {
        !matches!(self, Self::List | Self::Print(_) | Self::Check(_))
    }
}

/// A call of `mcp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpRequest {
    /// Where the store is.
    pub location: Location,
    /// The date that counts as today, where it is given; else each call asks the calendar.
    pub today: Option<String>,
}

/// A call of `merge-driver`: three files, of which the second gets the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeDriverRequest {
    /// What both sides come from.
    pub base: PathBuf,
    /// Our side.
    pub ours: PathBuf,
    /// Their side.
    pub theirs: PathBuf,
    /// How many characters a conflict marker has.
    pub marker_size: u16,
}
