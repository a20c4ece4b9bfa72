//! The subcommands of `qipu`, and the requests that they become.

use clap::Subcommand;

use super::examples::{ASK, COMPLETIONS, EVAL, HOOK, examples};
use super::globals::Invocation;
use super::{
    about, ask, change, context, eval, export, history, hook, journal, link, list, pack, prime, review, search, setup,
    shell, tasks,
};
use crate::error::Error;
use crate::note::Revision;
use crate::request::{
    Action, Command, DoctorRequest, InitRequest, MergeDriverRequest, Program, ReadCommand, ShowRequest, WriteCommand,
};

#[derive(Debug, Subcommand)]
pub(super) enum Subcommands {
    /// Print what an agent should know when a session starts
    #[command(after_help = examples!(
        "qipu prime",
        "qipu prime --records --max-chars 4000",
    ))]
    Prime(prime::PrimeArgs),
    /// Answer a hook of an agent tool
    #[command(after_help = HOOK)]
    Hook(hook::HookArgs),
    /// Get the passages that answer a question
    #[command(after_help = ASK)]
    Ask(ask::AskArgs),
    /// Bundle notes for a model: by name, tag, map or question
    #[command(after_help = examples!(
        "qipu context --query \"WORDS\" --format records --max-chars 8000",
        "qipu context --query \"what did we decide last week?\"",
        "qipu context --note ID --with-body",
        "qipu context --moc ID --transitive",
        "qipu context --note ID --max-hops 2 --min-value 60",
        "qipu context --tag TAG --json",
        "qipu context --query \"WORDS\" --purpose decide --max-tokens 2000 --format prompt",
        "qipu context --expand ID --include derivation,evidence",
    ))]
    Context(Box<context::ContextArgs>),
    /// Show the notes about a file, a line, a symbol or a folder
    #[command(after_help = examples!(
        "qipu about src/main.rs",
        "qipu about src/main.rs:12",
        "qipu about src/main.rs#main",
        "qipu about src/",
    ))]
    About(about::AboutArgs),
    /// List the notes that match, best first
    #[command(after_help = examples!(
        "qipu search \"WORDS\"",
        "qipu search checksum --without drives --tag TAG",
        "qipu search \"WORDS\" --since \"last month\" -n 5 --explain",
        "qipu search --like ID",
    ))]
    Search(search::SearchArgs),
    /// See, add and remove links: list, tree, path, add, remove
    #[command(after_help = examples!("qipu link list ID", "qipu link tree ID --max-hops 2", "qipu link path ID ID"))]
    #[command(subcommand)]
    Link(link::LinkSub),
    /// Read a note
    #[command(after_help = examples!("qipu show ID", "qipu show ID --links", "qipu show ID --raw"))]
    Show(ShowRequest),
    /// Read today's journal, or add a line
    #[command(after_help = examples!("qipu journal", "qipu journal 'TEXT'", "qipu journal --date yesterday"))]
    Journal(journal::JournalArgs),
    /// Find and read notes in a full-screen browser
    #[command(after_help = examples!("qipu browse", "qipu browse WORDS"))]
    Browse {
        /// Words to search for at the start
        #[arg(value_name = "QUERY")]
        query: Vec<String>,
    },
    /// List notes by a filter, newest first
    #[command(after_help = examples!(
        "qipu list --type permanent --sort value",
        "qipu list --tag TAG --since 2025-01-01",
        "qipu list 'not links-to and not linked-from'",
    ))]
    List(list::ListArgs),
    /// List open tasks, or tick them off
    #[command(after_help = examples!("qipu tasks", "qipu tasks --tag TAG --all", "qipu tasks done ID:LINE"))]
    Tasks(tasks::TasksArgs),
    /// Show stores, documents, types, tags and the index
    #[command(after_help = examples!("qipu status", "qipu status --tags"))]
    Status {
        /// List only the tags, each with its number of notes
        #[arg(long)]
        tags: bool,
        /// Let the embedder of your settings embed all passages, so that questions find them by meaning
        #[arg(long, conflicts_with = "tags")]
        embed: bool,
    },
    /// List what a person should look at, worst first
    #[command(after_help = examples!(
        "qipu review",
        "qipu review --kind draft,due -n 5",
        "qipu review --kind code,due --strict",
        "qipu review --kind code --fix",
    ))]
    Review(review::ReviewArgs),
    /// Show how a note changed, or all changes since a day or commit
    #[command(after_help = examples!(
        "qipu history ID",
        "qipu history --since \"last week\"",
        "qipu history --since v1.0 --until v2.0 --json",
    ))]
    History(history::HistoryArgs),
    /// Report what is broken, and repair it
    #[command(after_help = examples!("qipu doctor", "qipu doctor --fix --dry-run"))]
    Doctor(DoctorRequest),
    /// Measure how many questions in a file are answered
    #[command(after_help = EVAL)]
    Eval(eval::EvalArgs),
    /// Create a store in this project
    #[command(after_help = examples!("qipu init", "qipu init --documents docs"))]
    Init(InitRequest),
    /// Save what you learned or decided
    #[command(after_help = examples!(
        "qipu capture 'TEXT'",
        "qipu capture 'TEXT' --tag idea,draft --title \"A better name\"",
        "qipu capture --title \"Retries hide bugs\" --type permanent --body 'TEXT'",
        "qipu capture --tag TAG <<'QIPU_END'",
        "git log -1 --format=%B | qipu capture",
        "qipu capture --from docs/guide.md#Install",
        "qipu capture -q 'TEXT' --link supports:ID --status accepted",
    ))]
    Capture(change::CaptureArgs),
    /// Change a note's fields, text, title or code, or open your editor
    #[command(after_help = examples!(
        "qipu update ID --title \"A better title\"",
        "qipu update ID --code src/main.rs#main",
        "qipu update ID --type permanent --value 80",
        "qipu update ID --tag reviewed --untag TAG",
        "qipu update ID --set status=accepted --dry-run",
        "qipu update ID --replace 'OLD' 'NEW'",
        "qipu update ID --append 'TEXT'",
        "qipu update --where 'tag = TAG' --untag TAG --tag NEW",
    ))]
    Update(change::UpdateArgs),
    /// Merge two notes into one; names and links then lead to it
    #[command(after_help = examples!("qipu merge ID ID", "qipu merge ID ID --dry-run"))]
    Merge {
        /// The note to keep
        into: String,
        /// The note to merge into it; its file is deleted
        from: String,
    },
    /// Replace notes that are no longer valid
    #[command(after_help = examples!("qipu supersede OLD NEW", "qipu supersede OLD OLD NEW --dry-run"))]
    Supersede {
        /// The notes that are no longer valid
        #[arg(required = true, value_name = "OLD")]
        old: Vec<String>,
        /// The note that replaces them
        new: String,
    },
    /// Delete notes that no other note links to
    #[command(after_help = examples!("qipu delete ID ID", "qipu delete ID --force"))]
    Delete {
        /// The notes
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Delete them even if other notes link to them, and list those notes
        #[arg(long)]
        force: bool,
        /// Refuse if `show --json` no longer gives this revision
        #[arg(long = "if", value_name = "REV", value_parser = Revision::parse)]
        revision: Option<Revision>,
    },
    /// Write a pack: `qipu export pack`
    #[command(hide = true, after_help = examples!("qipu dump notes.pack"))]
    Dump(pack::DumpArgs),
    /// Read a pack: `qipu import FILE`
    #[command(hide = true, after_help = examples!("qipu load notes.pack"))]
    Load(pack::LoadArgs),
    /// Write a pack, a web page, links, or passages for a search engine
    #[command(after_help = examples!(
        "qipu export pack notes.pack",
        "qipu export page notes.html",
        "qipu export links links.json",
        "qipu export passages passages.ndjson",
    ))]
    #[command(subcommand)]
    Export(export::ExportSub),
    /// Import a pack or a folder of Markdown
    #[command(after_help = examples!(
        "qipu import notes.pack",
        "qipu import notes.pack --strategy merge --dry-run",
        "qipu import ../vault --dry-run",
    ))]
    Import(pack::LoadArgs),
    /// Tell agent tools and git about it
    #[command(after_help = examples!(
        "qipu setup",
        "qipu setup --all-detected",
        "qipu setup claude",
        "qipu setup mcp",
        "qipu setup agents-md --print",
    ))]
    Setup(setup::SetupArgs),
    /// Serve agent tools over MCP, on standard input and output
    #[command(after_help = examples!("qipu mcp"))]
    Mcp {
        /// Add structured content to results, for programs; text and structured content share the budget
        #[arg(long)]
        structured: bool,
    },
    /// Serve editors over the Language Server Protocol
    #[command(after_help = examples!("qipu lsp"))]
    Lsp,
    /// Print tab completions for a shell
    #[command(after_help = COMPLETIONS)]
    Completions(shell::CompletionsArgs),
    /// Print a manual page, or write all of them to a folder
    #[command(hide = true, after_help = examples!(
        "qipu man",
        "qipu man link tree",
        "qipu man --dir man1",
        "qipu man context | man -l -",
    ))]
    Man(shell::ManArgs),
    /// Merge two versions of a note; git calls it after `qipu setup git`
    #[command(hide = true)]
    MergeDriver(MergeDriverRequest),
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
    pub(super) fn into_command(self, invocation: &mut Invocation<'_>) -> Result<Command, Error> {
        let is_dry_run = invocation.is_dry_run;
        Ok(match self {
            Self::Prime(args) => args.into_command(invocation),
            Self::Hook(args) => args.into_command(invocation)?,
            Self::Ask(args) => args.into_command(invocation)?,
            Self::Context(args) => args.into_command(invocation)?,
            Self::About(args) => args.into_command(invocation)?,
            Self::Search(args) => args.into_command(invocation)?,
            Self::Link(sub) => sub.into_command(invocation),
            Self::Show(request) => Command::Read(ReadCommand::Show(request)),
            Self::Journal(args) => args.into_command(invocation)?,
            Self::Browse { query } => {
                Command::Run(Program::Browse { query: query.join(" "), today: invocation.today.take() })
            }
            Self::List(args) => args.into_command(invocation)?,
            Self::Tasks(args) => args.into_command(invocation)?,
            Self::Status { embed: true, .. } if invocation.location.at.is_some() => {
                return Err(Error::usage("--embed is for the notes as they are now").hint("omit --at"));
            }
            Self::Status { tags, embed } => Command::Read(ReadCommand::Status { only_tags: tags, embeds: embed }),
            Self::Review(args) => args.into_command(invocation)?,
            Self::History(args) => args.into_command(invocation)?,
            Self::Doctor(request) => Command::Write(WriteCommand::Doctor(DoctorRequest { is_dry_run, ..request })),
            Self::Eval(args) => args.into_command(invocation)?,
            Self::Init(request) => Command::Write(WriteCommand::Init(InitRequest { is_dry_run, ..request })),
            Self::Capture(args) => args.into_command(invocation)?,
            Self::Update(args) => args.into_command(invocation)?,
            Self::Merge { into, from } => invocation.change(Action::Merge { into, from }),
            Self::Supersede { old, new } => invocation.change(Action::Supersede { old, new }),
            Self::Delete { ids, force, revision } => {
                invocation.change_if(revision, Action::Delete { ids, is_forced: force })
            }
            Self::Dump(args) => args.into_command(invocation)?,
            Self::Load(args) => args.into_command(invocation)?,
            Self::Export(sub) => sub.into_command(invocation)?,
            Self::Import(args) => args.into_command(invocation)?,
            Self::Setup(args) => Command::Write(WriteCommand::Setup(args.into_request(invocation)?)),
            Self::Mcp { structured } => {
                Command::Run(Program::Mcp { today: invocation.today.take(), is_structured: structured })
            }
            Self::Lsp => Command::Run(Program::Lsp { today: invocation.today.take() }),
            Self::Man(args) => Command::Write(WriteCommand::Pages(args.into_request(is_dry_run)?)),
            Self::MergeDriver(request) => Command::Write(WriteCommand::MergeDriver(request)),
            Self::Completions(_) => return Err(Error::usage("internal error: `completions` is not a request")),
        })
    }
}
