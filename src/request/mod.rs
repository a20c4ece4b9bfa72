//! The requests of users, as plain values. Those that consist of flags derive the parser of these flags: enums derive
//! `ValueEnum` and structs `Args`, and the doc comments of their variants and fields are help.

mod assessment;
mod budget;
mod changing;
mod checking;
mod moving;
mod question;
mod reading;
mod selectors;
mod setting_up;
mod values;

use jiff::civil::Date;

pub use crate::report::{Format, LineFormat, Score};
use crate::store::Location;
pub use assessment::{Abstraction, AssessmentOptions, ContextRequest, ExpandRequest, Purpose, RelatedKind};
pub use budget::{Budget, MIN_CANDIDATES, Room};
pub use changing::{Action, ChangeRequest, GENERATED_BY, MCP, NewFields, SESSION, UNKNOWN_TOOL, generated_by};
pub use checking::{DoctorRequest, EvalRequest, MeasuredAnswer, ReviewKind, ReviewRequest};
pub use moving::{DumpRequest, LoadRequest, PassagesRequest, Strategy, TextSource};
pub use question::{BlockChoice, BlockOptions, NamedSpan, Occasion, QuestionOptions};
pub use reading::{
    DiffRequest, HistoryRequest, LinkRequest, LinkView, ListRequest, OutputFile, RelatedRequest, SearchRequest,
    ShowRequest, Sort, TasksRequest,
};
pub use selectors::{Filters, MAX_PATH_BYTES, MentionTarget, Selectors};
pub use setting_up::{
    HookRequest, HookTool, InitRequest, ManPagesRequest, MergeDriverRequest, PrimeRequest, SetupAction, SetupRequest,
    ShownInSession,
};
pub(crate) use values::{count, share, trimmed, value, whole};

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

/// The commands, by what they need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// One that answers from an open store.
    Read(ReadCommand),
    /// One that changes files, or opens stores by itself.
    Write(WriteCommand),
    /// One that talks to another program or a person, or runs commands in its turn.
    Run(Program),
}

/// The commands that answer from an open store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadCommand {
    /// Show the primer.
    Prime(PrimeRequest),
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
    /// Show the journals of a day.
    Journal(Date),
    /// List the tasks in notes.
    Tasks(TasksRequest),
    /// Show what there is: stores, sources, types, tags.
    Status {
        /// Whether all tags are shown, and nothing else.
        only_tags: bool,
        /// Whether an embedder embeds all passages, and nothing else is shown.
        embeds: bool,
    },
    /// List the notes that a person should look at.
    Review(ReviewRequest),
}

/// The commands that change files, or open stores by themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteCommand {
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
    /// Report defects of the store.
    Doctor(DoctorRequest),
    /// Show which notes differ between two commits.
    Diff(DiffRequest),
    /// Write notes and attachments into a pack.
    Dump(DumpRequest),
    /// Load a pack into the store.
    Load(LoadRequest),
    /// Install instructions for agent tools.
    Setup(SetupRequest),
    /// Write manual pages into a folder.
    Pages(ManPagesRequest),
    /// Merge two versions of a note, for git.
    MergeDriver(MergeDriverRequest),
}

/// The commands that talk to another program or a person, or run commands in their turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// Answer a hook of an agent tool.
    Hook(HookRequest),
    /// Measure how many questions are answered.
    Eval(EvalRequest),
    /// Write the passages of all notes for a search engine.
    ExportPassages(PassagesRequest),
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
            Self::Read(ReadCommand::Review(review)) => review.is_fix,
            Self::Write(command) => match command {
                WriteCommand::Doctor(doctor) => doctor.is_fix,
                WriteCommand::Setup(setup) => setup.action.changes_files(),
                WriteCommand::Init(_) | WriteCommand::Pages(_) => true,
                command => command.changes_notes() && !matches!(command, WriteCommand::Edit { .. }),
            },
            _ => false,
        }
    }

    /// Tells whether it changes notes, so that its answer lists them.
    pub fn changes_notes(&self) -> bool {
        matches!(self, Self::Write(command) if command.changes_notes())
    }

    /// Tells whether it runs in a session-start hook, which must not fail.
    pub fn is_hook(&self) -> bool {
        matches!(self, Self::Read(ReadCommand::Prime(prime)) if prime.is_hook)
    }
}

impl WriteCommand {
    fn changes_notes(&self) -> bool {
        matches!(self, Self::Change(_) | Self::Edit { .. } | Self::Load(_))
    }
}
