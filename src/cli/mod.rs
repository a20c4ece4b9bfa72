//! The command line: words become a request, and nothing else happens here.

mod command_table;
mod ask;
mod change;
mod context;
mod days;
mod eval;
mod examples;
mod graph;
mod import;
mod journal;
mod link;
mod list;
mod merge_driver;
mod misuse;
mod need;

mod pack;
mod prime;
mod search;
mod setup;
mod shell;
mod values;

pub use shell::{COMPLETE, command};

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind as ClapKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::env::{Env, Today};
use crate::error::Error;
use crate::request::{
    Action, BrowseRequest, Budget, ChangeRequest, Command, DoctorRequest, EditRequest, Format, IndexRequest,
    McpRequest, OutputOptions, Request, SetupAction,
};
use crate::store::Location;
use crate::tokens::Tokenizer;

/// What the words of a call come to.
#[derive(Debug)]
pub enum ParsedCli {
    /// Something to do.
    Request(Box<Request>),
    /// A text that was asked for: help or the version.
    Help(String),
}

#[derive(Debug, Parser)]
#[command(
    name = "qipu",
    version,
    about = "Memory for coding agents: linked notes in your repository, context in an exact budget",
    after_help = examples::TASKS,
    arg_required_else_help = true,
    args_override_self = true,
    max_term_width = 100
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
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
    #[command(after_help = graph::EXAMPLES)]
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

/// Flags that every command understands; its help lists those that are of use there.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common options")]
struct Global {
    /// How the answer is written
    #[arg(long, global = true, value_name = "FORMAT")]
    format: Option<FormatName>,
    /// Short for --format json
    #[arg(long, global = true)]
    json: bool,
    /// Short for --format records
    #[arg(long, global = true)]
    records: bool,
    /// Older name of --records
    #[arg(long, global = true, hide = true)]
    token: bool,
    /// The version of the records format to write; there is one: 1
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true)]
    records_version: Option<u32>,
    /// The most characters that are written
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, value_parser = numbers::whole)]
    max_chars: Option<usize>,
    /// The most tokens that are written, as --tokenizer counts them
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, value_parser = numbers::whole)]
    max_tokens: Option<usize>,
    /// What counts tokens (four characters are one)
    #[arg(long, global = true, value_name = "ENCODING")]
    tokenizer: Option<TokenizerName>,
    /// The store (else QIPU_STORE, else .qipu/ here or above)
    #[arg(long, global = true, value_name = "PATH")]
    store: Option<PathBuf>,
    /// The project that holds the store
    #[arg(long, global = true, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Read every note, whatever the index in the store's cache knows; answers are the same
    #[arg(long, global = true)]
    no_index: bool,
    /// Tell on standard error where the time goes
    #[arg(long, global = true)]
    verbose: bool,
    /// The date that counts as today (else QIPU_TODAY, else the calendar's)
    #[arg(long, global = true, value_name = "YYYY-MM-DD")]
    today: Option<String>,
    /// Show what would change, and change nothing
    #[arg(long, global = true)]
    dry_run: bool,
    /// Whether words are shown in colour
    #[arg(long, global = true, value_name = "WHEN")]
    color: Option<ColorName>,
    /// Write to the terminal what is longer than it, and not through $QIPU_PAGER, $PAGER or less
    #[arg(long, global = true)]
    no_pager: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ColorName {
    /// On a terminal
    Auto,
    /// In a pipe too
    Always,
    /// Nowhere
    Never,
}

impl ColorName {
    fn choice(self) -> Option<bool> {
        match self {
            Self::Auto => None,
            Self::Always => Some(true),
            Self::Never => Some(false),
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatName {
    /// Markdown, drawn trees
    Human,
    /// One JSON object
    Json,
    /// Lines for a model's context
    #[value(alias = "token")]
    Records,
    /// A section of a model's prompt (context only)
    Prompt,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum TokenizerName {
    /// Four characters a token
    Estimate,
    /// The encoding of GPT-3.5 and GPT-4
    #[value(name = "cl100k_base", alias = "cl100k")]
    Cl100k,
    /// The encoding of GPT-4o and later
    #[value(name = "o200k_base", alias = "o200k")]
    O200k,
}

/// Parses the words of a call, the program's name first.
///
/// # Errors
/// `Usage`, with what was wrong and what is expected.
pub fn parse(args: &[OsString], env: &Env) -> Result<ParsedCli, Error> {
    let words = search::with_marked_words(args, Cli::command);
    let cli = match Cli::try_parse_from(&words).map_err(|error| with_fitted_help(error, &words)) {
        Ok(cli) => cli,
        Err(error) if matches!(error.kind(), ClapKind::DisplayHelp | ClapKind::DisplayVersion) => {
            return Ok(ParsedCli::Help(error.to_string()));
        }
        // Nothing was asked for, so nothing was asked for wrongly: help is the answer.
        Err(error) if words.len() < 2 && error.kind() == ClapKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            return Ok(ParsedCli::Help(error.to_string()));
        }
        Err(error) => return Err(misuse::error(&error, &Cli::command(), args)),
    };
    if let Some(text) = shell_text(&cli.command) {
        return text.map(ParsedCli::Help);
    }
    let mut format = cli.global.format()?;
    let today = match &cli.command {
        // A primer in a hook must not fail for a variable.
        Sub::Prime(_) => cli.global.today(env).unwrap_or_default(),
        _ => cli.global.today(env)?,
    };
    let today_is = Today::new(today.as_deref().and_then(|today| today.parse().ok()), env.today);
    let day = || today_is.day();
    let location = Location { today: today_is, ..cli.global.location(env) };
    let given = cli.global.budget();
    let has_budget = given.is_limited();
    let is_dry_run = cli.global.dry_run;
    let mut budget = given;
    let change = |location, action| {
        let now = stamp(today.as_deref(), env);
        Command::Change(ChangeRequest { location, action, is_dry_run, now, random: env.random, opens_editor: false })
    };
    let command = match cli.command {
        Sub::Prime(args) => {
            args.check(env.is_terminal)?;
            budget = args.default_budget(budget);
            format = args.format(format);
            Command::Prime(args.into_request(location))
        }
        Sub::Context(args) => {
            budget = args.budget(budget)?;
            args.into_command(location, format, budget, &day, env)?
        }
        Sub::Link(sub) => match sub.into_request(location.clone()) {
            link::ParsedLink::View(view) => Command::Link(view),
            link::ParsedLink::Action(action) => change(location, action),
        },
        Sub::Graph(args) => {
            let (graph, picture) =
                args.into_request(location, cli.global.is_format_named(), format, has_budget, env)?;
            format = picture;
            Command::Graph(graph)
        }
        Sub::Ask(args) => {
            budget = ask::budget(budget);
            Command::Context(args.into_request(location, format, budget, &day)?)
        }
        Sub::Show(args) => {
            if args.has_query() {
                budget = ask::budget(budget);
            }
            args.into_command(location, format, budget)
        }
        Sub::Journal(args) => match args.into_request(location.clone(), day(), env)? {
            journal::ParsedJournal::View(view) => Command::Journal(view),
            journal::ParsedJournal::Action(action) => change(location, action),
        },
        Sub::List(args) => Command::List(args.into_request(location, &day)?),
        Sub::Search(args) => Command::Search(args.into_request(location, has_budget, &day)?),
        Sub::Related(args) => Command::Related(args.into_request(location, has_budget)),
        Sub::Inbox(limit) => Command::List(list::inbox(location, limit)),
        Sub::Tags { action: None } => Command::Tags(location),
        Sub::Tags { action: Some(change::TagsSub::Rename { from, to }) } => {
            change(location, Action::RenameTag { from, to })
        }
        Sub::Rename { id, title } => change(location, Action::Rename { id, title }),
        Sub::Merge { into, from } => change(location, Action::Merge { into, from }),
        Sub::Compact { digest, ids, undo } => change(location, Action::Compact { digest, ids, is_undone: undo }),
        Sub::Delete { ids, force } => change(location, Action::Delete { ids, is_forced: force }),
        Sub::Status => Command::Status(location),
        Sub::Doctor { strict, fix } => {
            Command::Doctor(DoctorRequest { location, is_strict: strict, is_fix: fix, is_dry_run })
        }
        Sub::Eval(args) => Command::Eval(args.into_request(location, today.as_deref(), env)?),
        Sub::Index { rebuild, status: _ } => Command::Index(IndexRequest { location, is_rebuilt: rebuild }),
        Sub::Init(args) => Command::Init(args.into_request(location, is_dry_run)),
        Sub::Capture(args) => change(location, args.into_action(env)?),
        Sub::Create(args) => {
            let opens_editor = args.opens_editor();
            match change(location, args.into_action(env)?) {
                Command::Change(made) => Command::Change(ChangeRequest { opens_editor, ..made }),
                other => other,
            }
        }
        Sub::Edit { id } => Command::Edit(EditRequest { location, id, now: stamp(today.as_deref(), env) }),
        Sub::Update(args) => change(location, args.into_action(env)?),
        Sub::Setup(args) => Command::Setup(args.into_request(location, is_dry_run)?),
        Sub::Mcp => Command::Mcp(McpRequest { location, today }),
        Sub::MergeDriver(args) => Command::MergeDriver(args.into_request()),
        Sub::Dump(args) => Command::Dump(args.into_request(location, format, env)?),
        Sub::Import(sub) => Command::Import(sub.into_request(location, is_dry_run)),
        Sub::Browse { query } => Command::Browse(BrowseRequest { location, query: query.join(" "), today }),
        Sub::Load(args) => Command::Load(args.into_request(location, is_dry_run, env)?),
        Sub::Man(args) => Command::Pages(args.into_request(is_dry_run)?),
        Sub::Completions(_) => return Err(Error::usage("that is no request")),
    };
    check_fits_command(&command, has_budget, is_dry_run)?;
    if format == Format::Prompt && !matches!(command, Command::Context(_) | Command::Expand(_)) {
        return Err(Error::usage("--format prompt is for context").hint("use --format human, json or records"));
    }
    if matches!(command, Command::Browse(_)) && format != Format::default() {
        return Err(Error::usage("`qipu browse` fills a terminal, so it has no --format"));
    }
    let is_verbose = cli.global.verbose;
    let today = env.is_terminal.then(day);
    let show = cli.global.showing(today, format == Format::Human && may_be_paged(&command));
    Ok(ParsedCli::Request(Box::new(Request { command, format, budget, is_verbose, show })))
}

/// Returns the text for a shell or for `man`, where one was asked for.
fn shell_text(command: &Sub) -> Option<Result<String, Error>> {
    match command {
        Sub::Completions(args) => Some(args.text()),
        Sub::Man(args) => args.text(),
        _ => None,
    }
}

/// Tells whether an answer is to be read, and not told of what was done.
fn may_be_paged(command: &Command) -> bool {
    match command {
        Command::Setup(setup) => matches!(setup.action, SetupAction::List | SetupAction::Print(_)),
        Command::Doctor(doctor) => !doctor.is_fix,
        Command::Change(_) | Command::Load(_) | Command::Import(_) | Command::Init(_) | Command::Edit(_) => false,
        Command::Pages(_) => false,
        _ => true,
    }
}

/// Refuses global flags that a command could not keep.
fn check_fits_command(command: &Command, has_budget: bool, is_dry_run: bool) -> Result<(), Error> {
    let prints_notes = match command {
        Command::Prime(_)
        | Command::Context(_)
        | Command::Expand(_)
        | Command::Link(_)
        | Command::Graph(_)
        | Command::List(_)
        | Command::Search(_)
        | Command::Journal(_)
        | Command::Eval(_)
        | Command::Related(_) => true,
        Command::Show(show) => !show.is_raw,
        _ => false,
    };
    if has_budget && !prints_notes {
        return Err(Error::usage("--max-chars and --max-tokens are for commands that print notes"));
    }
    let writes = match command {
        Command::Change(_) | Command::Load(_) | Command::Import(_) | Command::Init(_) | Command::Pages(_) => true,
        Command::Doctor(doctor) => doctor.is_fix,
        Command::Setup(setup) => {
            !matches!(setup.action, SetupAction::List | SetupAction::Print(_) | SetupAction::Check(_))
        }
        _ => false,
    };
    if is_dry_run && !writes {
        return Err(Error::usage("--dry-run is for commands that change files"));
    }
    Ok(())
}

/// Returns what `created` and `updated` become: today's date where it is given, else this second.
fn stamp(today: Option<&str>, env: &Env) -> String {
    let seconds = || jiff::Timestamp::from_second(env.now.as_second()).unwrap_or(env.now);
    today.map_or_else(|| seconds().to_string(), str::to_owned)
}

/// Returns a help with the flags that its command takes. Only whoever asks for help waits until every command is
/// built.
fn with_fitted_help(error: clap::Error, words: &[OsString]) -> clap::Error {
    let is_help = matches!(error.kind(), ClapKind::DisplayHelp | ClapKind::DisplayHelpOnMissingArgumentOrSubcommand);
    let fitted = || command_table::fitted(Cli::command()).try_get_matches_from(words).err();
    is_help.then(fitted).flatten().unwrap_or(error)
}

/// Returns what a call says of colour, for words that may not even parse.
pub fn wants_color(args: &[OsString]) -> Option<bool> {
    let mut words = args.iter().filter_map(|arg| arg.to_str()).take_while(|word| *word != "--");
    let mut choice = None;
    while let Some(word) = words.next() {
        let said = match word.strip_prefix("--color") {
            Some("") => words.next(),
            Some(said) => said.strip_prefix('='),
            None => None,
        };
        let said = said.and_then(|said| ColorName::from_str(said, false).ok());
        choice = said.map_or(choice, ColorName::choice);
    }
    choice
}

/// Tells whether errors are to be written as JSON, for words that may not even parse.
pub fn wants_json(args: &[OsString]) -> bool {
    let words: Vec<_> = args.iter().filter_map(|arg| arg.to_str()).take_while(|word| *word != "--").collect();
    let pair = words.windows(2).any(|pair| pair == ["--format", "json"]);
    pair || words.iter().any(|word| matches!(*word, "--json" | "--format=json"))
}

impl Global {
    /// Returns how an answer is shown on a terminal.
    fn showing(&self, today: Option<jiff::civil::Date>, may_be_paged: bool) -> OutputOptions {
        OutputOptions { color: self.color.and_then(ColorName::choice), is_paged: may_be_paged && !self.no_pager, today }
    }

    fn format(&self) -> Result<Format, Error> {
        if let Some(version) = self.records_version.filter(|version| *version != 1) {
            return Err(Error::usage(format!("there is no version {version} of the records format")).hint("use 1"));
        }
        let named = self.format.map(|format| match format {
            FormatName::Human => Format::Human,
            FormatName::Json => Format::Json,
            FormatName::Records => Format::Records,
            FormatName::Prompt => Format::Prompt,
        });
        let json = self.json.then_some(Format::Json);
        let records = (self.records || self.token).then_some(Format::Records);
        let mut formats = [named, json, records].into_iter().flatten();
        let format = formats.next().unwrap_or_default();
        if formats.any(|other| other != format) {
            return Err(
                Error::usage("two different formats in one call").hint("give one of --format, --json, --records")
            );
        }
        Ok(format)
    }

    fn budget(&self) -> Budget {
        Budget {
            max_chars: self.max_chars,
            max_tokens: self.max_tokens,
            target_tokens: None,
            tokenizer: match self.tokenizer {
                None | Some(TokenizerName::Estimate) => Tokenizer::Estimate,
                Some(TokenizerName::Cl100k) => Tokenizer::Cl100k,
                Some(TokenizerName::O200k) => Tokenizer::O200k,
            },
        }
    }

    /// Tells whether the user says how the answer is written.
    fn is_format_named(&self) -> bool {
        self.format.is_some() || self.json || self.records || self.token
    }

    fn location(&self, env: &Env) -> Location {
        let from_env = || env.vars.get("QIPU_STORE").map(PathBuf::from);
        let names_root = self.root.is_some();
        Location {
            store: self.store.clone().or_else(|| from_env().filter(|_| !names_root)),
            root: self.root.clone(),
            no_index: self.no_index,
            cache: env.cache_dir.clone(),
            waits: env.waits,
            settings: env.settings_dir.clone(),
            today: Today::default(),
        }
    }

    /// Returns the date that counts as today, where it is given.
    fn today(&self, env: &Env) -> Result<Option<String>, Error> {
        let from_env = || env.vars.get("QIPU_TODAY").map(|text| text.to_string_lossy().into_owned());
        let today = self.today.clone().or_else(from_env);
        let is_date = |text: &String| text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok();
        match today {
            Some(text) if !is_date(&text) => {
                Err(Error::usage(format!("`{text}` is not a date")).hint("write --today YYYY-MM-DD"))
            }
            today => Ok(today),
        }
    }
}
