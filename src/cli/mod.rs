//! The command line: words become a request, and nothing else happens here.

mod change;
mod context;
mod days;
mod import;
mod journal;
mod link;
mod list;
mod merge_driver;
mod pack;
mod prime;
mod search;
mod setup;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind as ClapKind;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::env::Env;
use crate::error::Error;
use crate::request::{Action, Budget, Change, Command, Doctor, Edit, Format, Index, Request, SetupAction, Showing};
use crate::store::Location;

/// What the words of a call come to.
#[derive(Debug)]
pub enum Parsed {
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
    after_help = EXAMPLES,
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

const EXAMPLES: &str = "Examples:
  What an agent should know when a session starts:
    qipu prime
  Notes on a subject, in exactly that space:
    qipu context --query \"WORDS\" --format records --max-chars 8000
  A note, whole:
    qipu context --note ID
  What hangs together with a note:
    qipu link tree ID
  Tell the agents that work here:
    qipu setup agents-md";

#[derive(Debug, Subcommand)]
enum Sub {
    /// Show what an agent should know when a session starts
    Prime(prime::PrimeArgs),
    /// Show a bundle of notes: named, tagged, searched for, or linked
    Context(context::ContextArgs),
    /// Search for notes: best match first
    Search(search::SearchArgs),
    /// Show the notes that are most like one and not linked with it
    Related(search::RelatedArgs),
    /// Show how notes are linked
    #[command(subcommand)]
    Link(link::LinkSub),
    /// Read notes
    Show(list::ShowArgs),
    /// Show today's journal, or add to it
    Journal(journal::JournalArgs),
    /// List notes
    List(list::ListArgs),
    /// List fleeting notes, the newest first: what waits to be worked on
    Inbox,
    /// List the tags in use, with how many notes have them
    Tags {
        #[command(subcommand)]
        action: Option<change::TagsSub>,
    },
    /// Tell what is in the store
    Status,
    /// Look for what is wrong or odd in the store; exit code 3 when there are errors
    Doctor {
        /// Fail for warnings too
        #[arg(long)]
        strict: bool,
        /// Put right what is safe to: quotes that YAML needs, missing ids, left-over files
        #[arg(long)]
        fix: bool,
    },
    /// Tell of the index that qipu keeps; it tends itself
    Index {
        /// Write it anew
        #[arg(long, conflicts_with = "status")]
        rebuild: bool,
        /// Tell how much of it is current (usual)
        #[arg(long)]
        status: bool,
    },
    /// Make a store
    Init(change::InitArgs),
    /// Keep a thought: a note from a text
    Capture(change::CaptureArgs),
    /// Make a note
    #[command(visible_alias = "new")]
    Create(change::CreateArgs),
    /// Open a note in your editor ($VISUAL, else $EDITOR)
    Edit {
        /// The note
        id: String,
    },
    /// Change fields of notes, and nothing else of them
    Update(change::UpdateArgs),
    /// Give a note another title; its file and the links to it follow
    Rename {
        /// The note
        id: String,
        /// Its new title
        title: String,
    },
    /// Make one note of two: the other becomes an alias of it, and links follow
    Merge {
        /// The note that stays
        into: String,
        /// The note that becomes an alias of it
        from: String,
    },
    /// Let a digest stand for notes in context, prime and link
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
    /// Remove a note that nothing links to
    Delete {
        /// The note
        id: String,
        /// Remove it although notes link to it, and tell which
        #[arg(long)]
        force: bool,
    },
    /// Write notes and attachments into one file, to load them elsewhere
    Dump(pack::DumpArgs),
    /// Take the notes and attachments of a dump into the store: all of them or none
    Load(pack::LoadArgs),
    /// Take the notes of another app into the store; its folder is only read
    #[command(subcommand)]
    Import(import::ImportSub),
    /// Teach agent tools and git about qipu
    Setup(setup::SetupArgs),
    /// Merge two versions of a note; git calls it after `qipu setup git`
    #[command(hide = true)]
    MergeDriver(merge_driver::MergeDriverArgs),
}

/// Flags that every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
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
    #[arg(long, global = true, value_name = "N")]
    records_version: Option<u32>,
    /// The most characters that are written
    #[arg(long, global = true, value_name = "N")]
    max_chars: Option<usize>,
    /// The most tokens that are written, at four characters a token
    #[arg(long, global = true, value_name = "N")]
    max_tokens: Option<usize>,
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
}

/// Parses the words of a call, the program's name first.
///
/// # Errors
/// `Usage`, with what was wrong and what is expected.
pub fn parse(args: &[OsString], env: &Env) -> Result<Parsed, Error> {
    let cli = match Cli::try_parse_from(search::with_marked_words(args)) {
        Ok(cli) => cli,
        Err(error) if matches!(error.kind(), ClapKind::DisplayHelp | ClapKind::DisplayVersion) => {
            return Ok(Parsed::Help(error.to_string()));
        }
        Err(error) => return Err(usage(&error)),
    };
    let mut format = cli.global.format()?;
    let today = match &cli.command {
        // A primer in a hook must not fail for a variable that it does not use.
        Sub::Prime(_) => None,
        _ => cli.global.today(env)?,
    };
    let given_day = today.as_deref().and_then(|today| today.parse().ok());
    let day = || given_day.unwrap_or_else(|| (env.today)());
    let location = cli.global.location(env);
    let given = Budget { max_chars: cli.global.max_chars, max_tokens: cli.global.max_tokens };
    let has_budget = given != Budget::default();
    let is_dry_run = cli.global.dry_run;
    let mut budget = given;
    let change = |location, action| {
        let now = stamp(today.as_deref(), env);
        Command::Change(Change { location, action, is_dry_run, now, random: env.random, opens_editor: false })
    };
    let command = match cli.command {
        Sub::Prime(args) => {
            budget = args.default_budget(budget);
            format = args.format(format);
            Command::Prime(args.into_request(location))
        }
        Sub::Context(args) => Command::Context(args.into_request(location, budget, &day, env)?),
        Sub::Link(sub) => match sub.into_request(location.clone()) {
            link::Parsed::View(view) => Command::Link(view),
            link::Parsed::Action(action) => change(location, action),
        },
        Sub::Show(args) => Command::Show(args.into_request(location)),
        Sub::Journal(args) => match args.into_request(location.clone(), day(), env)? {
            journal::Parsed::View(view) => Command::Journal(view),
            journal::Parsed::Action(action) => change(location, action),
        },
        Sub::List(args) => Command::List(args.into_request(location, &day)?),
        Sub::Search(args) => Command::Search(args.into_request(location, has_budget, &day)?),
        Sub::Related(args) => Command::Related(args.into_request(location, has_budget)),
        Sub::Inbox => Command::List(list::inbox(location)),
        Sub::Tags { action: None } => Command::Tags(location),
        Sub::Tags { action: Some(change::TagsSub::Rename { from, to }) } => {
            change(location, Action::RenameTag { from, to })
        }
        Sub::Rename { id, title } => change(location, Action::Rename { id, title }),
        Sub::Merge { into, from } => change(location, Action::Merge { into, from }),
        Sub::Compact { digest, ids, undo } => change(location, Action::Compact { digest, ids, is_undone: undo }),
        Sub::Delete { id, force } => change(location, Action::Delete { id, is_forced: force }),
        Sub::Status => Command::Status(location),
        Sub::Doctor { strict, fix } => Command::Doctor(Doctor { location, is_strict: strict, is_fix: fix, is_dry_run }),
        Sub::Index { rebuild, status: _ } => Command::Index(Index { location, is_rebuilt: rebuild }),
        Sub::Init(args) => Command::Init(args.into_request(location, is_dry_run)),
        Sub::Capture(args) => change(location, args.into_action(env)?),
        Sub::Create(args) => {
            let opens_editor = args.opens_editor();
            match change(location, args.into_action(env)?) {
                Command::Change(made) => Command::Change(Change { opens_editor, ..made }),
                other => other,
            }
        }
        Sub::Edit { id } => Command::Edit(Edit { location, id, now: stamp(today.as_deref(), env) }),
        Sub::Update(args) => change(location, args.into_action(env)?),
        Sub::Setup(args) => Command::Setup(args.into_request(location, is_dry_run)?),
        Sub::MergeDriver(args) => Command::MergeDriver(args.into_request()),
        Sub::Dump(args) => Command::Dump(args.into_request(location, format, env)?),
        Sub::Import(sub) => Command::Import(sub.into_request(location, is_dry_run)),
        Sub::Load(args) => Command::Load(args.into_request(location, is_dry_run, env)?),
    };
    check_fits_command(&command, has_budget, is_dry_run)?;
    let is_verbose = cli.global.verbose;
    let show = Showing {
        color: cli.global.color.and_then(ColorName::choice),
        is_paged: format == Format::Human && !cli.global.no_pager && may_be_paged(&command),
        today: env.is_terminal.then(day),
    };
    Ok(Parsed::Request(Box::new(Request { command, format, budget, is_verbose, show })))
}

/// Tells whether an answer is to be read, and not told of what was done.
fn may_be_paged(command: &Command) -> bool {
    match command {
        Command::Setup(setup) => matches!(setup.action, SetupAction::List | SetupAction::Print(_)),
        Command::Doctor(doctor) => !doctor.is_fix,
        Command::Change(_) | Command::Load(_) | Command::Import(_) | Command::Init(_) | Command::Edit(_) => false,
        _ => true,
    }
}

/// Refuses global flags that a command could not keep.
fn check_fits_command(command: &Command, has_budget: bool, is_dry_run: bool) -> Result<(), Error> {
    let prints_notes = match command {
        Command::Prime(_)
        | Command::Context(_)
        | Command::Link(_)
        | Command::List(_)
        | Command::Search(_)
        | Command::Journal(_)
        | Command::Related(_) => true,
        Command::Show(show) => !show.is_raw,
        _ => false,
    };
    if has_budget && !prints_notes {
        return Err(Error::usage("--max-chars and --max-tokens are for commands that print notes"));
    }
    let writes = match command {
        Command::Change(_) | Command::Load(_) | Command::Import(_) | Command::Init(_) => true,
        Command::Doctor(doctor) => doctor.is_fix,
        Command::Setup(setup) => {
            matches!(setup.action, SetupAction::Install(_) | SetupAction::Remove(_) | SetupAction::InstallFitting)
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

/// Tells whether errors are to be written as JSON, for words that may not even parse.
pub fn wants_json(args: &[OsString]) -> bool {
    let words: Vec<_> = args.iter().filter_map(|arg| arg.to_str()).take_while(|word| *word != "--").collect();
    let pair = words.windows(2).any(|pair| pair == ["--format", "json"]);
    pair || words.iter().any(|word| matches!(*word, "--json" | "--format=json"))
}

impl Global {
    fn format(&self) -> Result<Format, Error> {
        if let Some(version) = self.records_version.filter(|version| *version != 1) {
            return Err(Error::usage(format!("there is no version {version} of the records format")).hint("use 1"));
        }
        let named = self.format.map(|format| match format {
            FormatName::Human => Format::Human,
            FormatName::Json => Format::Json,
            FormatName::Records => Format::Records,
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

    fn location(&self, env: &Env) -> Location {
        let from_env = || env.vars.get("QIPU_STORE").map(PathBuf::from);
        let names_root = self.root.is_some();
        Location {
            store: self.store.clone().or_else(|| from_env().filter(|_| !names_root)),
            root: self.root.clone(),
            no_index: self.no_index,
            cache: env.cache_dir.clone(),
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

/// Turns the parser's words into an error: its first paragraph, and the rest as the hint.
fn usage(error: &clap::Error) -> Error {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
    match text.split_once("\n\n") {
        Some((message, hint)) => Error::usage(message).hint(hint.trim()),
        None => Error::usage(text),
    }
}
