//! The subcommands of `qipu`, and the requests that they become.

use clap::Subcommand;

use super::globals::Invocation;
use super::{
    ask, change, context, eval, examples, graph, import, journal, link, list, merge_driver, pack, prime, search, setup,
    shell,
};
use crate::error::Error;
use crate::request::{Action, BrowseRequest, Command, DoctorRequest, EditRequest, IndexRequest, McpRequest};

#[derive(Debug, Subcommand)]
pub(super) enum Subcommands {
    /// Show what an agent should know when a session starts
    #[command(after_help = examples::PRIME)]
    Prime(prime::PrimeArgs),
    /// Get the passages that answer a question, in the space you give
    #[command(after_help = examples::ASK)]
    Ask(ask::AskArgs),
    /// Show a bundle of notes: named, tagged, searched for, or linked
    #[command(after_help = examples::CONTEXT)]
    Context(Box<context::ContextArgs>),
    /// Search for notes: best match first
    #[command(after_help = examples::SEARCH)]
    Search(search::SearchArgs),
    /// Show the notes that are most like one and not linked with it
    #[command(after_help = examples::RELATED)]
    Related(search::RelatedArgs),
    /// Show how notes are linked
    #[command(after_help = examples::LINK)]
    #[command(subcommand)]
    Link(link::LinkSub),
    /// Draw notes and their links: for a browser, Graphviz, Mermaid, or tools that read GraphML
    #[command(after_help = graph::EXAMPLES, mut_args = graph::reword)]
    Graph(graph::GraphArgs),
    /// Read notes
    #[command(after_help = examples::SHOW)]
    Show(list::ShowArgs),
    /// Show today's journal, or add to it
    #[command(after_help = examples::JOURNAL)]
    Journal(journal::JournalArgs),
    /// Look around in the store, full-screen: find, read, walk along links (? shows the keys)
    #[command(after_help = examples::BROWSE)]
    Browse {
        /// What to find at first
        #[arg(value_name = "QUERY")]
        query: Vec<String>,
    },
    /// List notes
    #[command(after_help = examples::LIST)]
    List(list::ListArgs),
    /// List fleeting notes, the newest first: what waits to be worked on
    #[command(after_help = examples::INBOX)]
    Inbox(list::LimitArgs),
    /// List the tags in use, with how many notes have them
    #[command(after_help = examples::TAGS)]
    Tags {
        #[command(subcommand)]
        action: Option<change::TagsSub>,
    },
    /// Tell what is in the store
    #[command(after_help = examples::STATUS)]
    Status,
    /// Look for what is wrong or odd in the store; exit code 3 when there are errors
    #[command(after_help = examples::DOCTOR)]
    Doctor {
        /// Fail for warnings too
        #[arg(long)]
        strict: bool,
        /// Put right what is safe to: quotes that YAML needs, missing ids, left-over files
        #[arg(long)]
        fix: bool,
    },
    /// Measure how well answers contain what answers the questions of a file; exit code 1 below --min-hit
    #[command(after_help = examples::EVAL)]
    Eval(eval::EvalArgs),
    /// Tell of the index that qipu keeps; it tends itself
    #[command(after_help = examples::INDEX)]
    Index {
        /// Write it anew
        #[arg(long, conflicts_with = "status")]
        rebuild: bool,
        /// Tell how much of it is current (usual)
        #[arg(long)]
        status: bool,
    },
    /// Make a store
    #[command(after_help = examples::INIT)]
    Init(change::InitArgs),
    /// Keep a thought: a note from a text
    #[command(after_help = examples::CAPTURE)]
    Capture(change::CaptureArgs),
    /// Make a note
    #[command(after_help = examples::CREATE)]
    #[command(visible_alias = "new")]
    Create(change::CreateArgs),
    /// Open a note in your editor ($VISUAL, else $EDITOR)
    #[command(after_help = examples::EDIT)]
    Edit {
        /// The note
        id: String,
    },
    /// Change fields of notes, and nothing else of them
    #[command(after_help = examples::UPDATE)]
    Update(change::UpdateArgs),
    /// Give a note another title; its file and the links to it follow
    #[command(after_help = examples::RENAME)]
    Rename {
        /// The note
        id: String,
        /// Its new title
        title: String,
    },
    /// Make one note of two: the other becomes an alias of it, and links follow
    #[command(after_help = examples::MERGE)]
    Merge {
        /// The note that stays
        into: String,
        /// The note that becomes an alias of it
        from: String,
    },
    /// Let a digest stand for notes in context, prime and link
    #[command(after_help = examples::COMPACT)]
    Compact {
        /// The digest
        digest: String,
        /// The notes that it stands for
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Let it stand for them no longer
        #[arg(long)]
        undo: bool,
    },
    /// Remove notes that no other notes link to
    #[command(after_help = examples::DELETE)]
    Delete {
        /// The notes
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Remove them although other notes link to them, and list those
        #[arg(long)]
        force: bool,
    },
    /// Write notes and attachments into one file, to load them elsewhere
    #[command(after_help = examples::DUMP)]
    Dump(pack::DumpArgs),
    /// Take the notes and attachments of a dump into the store: all of them or none
    #[command(after_help = examples::LOAD)]
    Load(pack::LoadArgs),
    /// Take the notes of another app into the store; its folder is only read
    #[command(after_help = examples::IMPORT)]
    #[command(subcommand)]
    Import(import::ImportSub),
    /// Teach agent tools and git about qipu
    #[command(after_help = examples::SETUP)]
    Setup(setup::SetupArgs),
    /// Serve agent tools over MCP, on standard input and output
    #[command(after_help = examples::MCP)]
    Mcp,
    /// Print what makes a shell complete commands, ids, tags and types
    #[command(after_help = examples::COMPLETIONS)]
    Completions(shell::CompletionsArgs),
    /// Print a manual page, or write all of them into a folder
    #[command(after_help = examples::MAN)]
    Man(shell::ManArgs),
    /// Merge two versions of a note; git calls it after `qipu setup git`
    #[command(hide = true)]
    MergeDriver(merge_driver::MergeDriverArgs),
}

impl Subcommands {
    /// Returns the text that `completions` and `man` print; `None` for a command that becomes a request.
    pub(super) fn text(&self) -> Option<Result<String, Error>> {
        match self {
            Self::Completions(args) => Some(args.text()),
            Self::Man(args) => args.text(),
            _ => None,
        }
    }

    /// Returns the request of the command. Commands with a format or budget of their own set it in `invocation`.
    ///
    /// # Errors
    /// `Usage` for flags or values that exclude one another; `Failure` when standard input can't be read.
    pub(super) fn into_command(self, invocation: &mut Invocation<'_>) -> Result<Command, Error> {
        let (location, is_dry_run) = (invocation.location.clone(), invocation.is_dry_run);
        Ok(match self {
            Self::Prime(args) => args.into_command(invocation)?,
            Self::Ask(args) => args.into_command(invocation)?,
            Self::Context(args) => args.into_command(invocation)?,
            Self::Search(args) => args.into_command(invocation)?,
            Self::Related(args) => args.into_command(invocation),
            Self::Link(sub) => sub.into_command(invocation),
            Self::Graph(args) => args.into_command(invocation)?,
            Self::Show(args) => args.into_command(invocation),
            Self::Journal(args) => args.into_command(invocation)?,
            Self::Browse { query } => {
                Command::Browse(BrowseRequest { location, query: query.join(" "), today: invocation.today.take() })
            }
            Self::List(args) => args.into_command(invocation)?,
            Self::Inbox(limit) => Command::List(list::inbox(location, limit)),
            Self::Tags { action: None } => Command::Tags(location),
            Self::Tags { action: Some(change::TagsSub::Rename { from, to }) } => {
                invocation.change(Action::RenameTag { from, to })
            }
            Self::Status => Command::Status(location),
            Self::Doctor { strict, fix } => {
                Command::Doctor(DoctorRequest { location, is_strict: strict, is_fix: fix, is_dry_run })
            }
            Self::Eval(args) => args.into_command(invocation)?,
            Self::Index { rebuild, status: _ } => Command::Index(IndexRequest { location, is_rebuilt: rebuild }),
            Self::Init(args) => Command::Init(args.into_request(location, is_dry_run)),
            Self::Capture(args) => args.into_command(invocation)?,
            Self::Create(args) => args.into_command(invocation)?,
            Self::Edit { id } => Command::Edit(EditRequest { location, id, now: invocation.now() }),
            Self::Update(args) => args.into_command(invocation)?,
            Self::Rename { id, title } => invocation.change(Action::Rename { id, title }),
            Self::Merge { into, from } => invocation.change(Action::Merge { into, from }),
            Self::Compact { digest, ids, undo } => invocation.change(Action::Compact { digest, ids, is_undone: undo }),
            Self::Delete { ids, force } => invocation.change(Action::Delete { ids, is_forced: force }),
            Self::Dump(args) => args.into_command(invocation)?,
            Self::Load(args) => args.into_command(invocation)?,
            Self::Import(sub) => Command::Import(sub.into_request(location, is_dry_run)),
            Self::Setup(args) => Command::Setup(args.into_request(location, is_dry_run)?),
            Self::Mcp => Command::Mcp(McpRequest { location, today: invocation.today.take() }),
            Self::Man(args) => Command::Pages(args.into_request(is_dry_run)?),
            Self::MergeDriver(args) => Command::MergeDriver(args.into_request()),
            Self::Completions(_) => return Err(Error::usage("that is no request")),
        })
    }
}
