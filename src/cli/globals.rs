//! The flags that every command understands, and what they come to.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use jiff::civil::Date;

use super::days;
use crate::env::{Env, Today, in_seconds};
use crate::error::Error;
use crate::note::Revision;
use crate::request::{
    Action, Budget, ChangeRequest, Command, Format, LineFormat, ReadCommand, ShowRequest, WriteCommand, trimmed,
};
use crate::store::{COMMITS, CollectionScope, FileTree, Location};

/// Flags that every command understands; its help lists those that are of use there.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common options")]
pub(super) struct GlobalArgs {
    /// The output format (--json and --records for short)
    #[arg(long, global = true, value_name = "FORMAT")]
    format: Option<Format>,
    /// Short for --format json
    #[arg(long, global = true)]
    json: bool,
    /// Short for --format records
    #[arg(long, global = true)]
    records: bool,
    /// Older name of --records
    #[arg(long, global = true, hide = true)]
    token: bool,
    /// The version of the records format; only 1 exists
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, hide = true)]
    records_version: Option<u32>,
    /// Print only the ids of the notes, one per line; other messages go to standard error
    #[arg(short, long, global = true)]
    quiet: bool,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    budget: Budget,
    /// A store, a folder that contains one, or a folder of Markdown to read (repeatable; default: QIPU_STORE, else .qipu/
    /// here or in a parent folder)
    #[arg(long, global = true, value_name = "PATH")]
    store: Vec<PathBuf>,
    /// Read only the store or documents with this name, as `qipu status` lists them, or write there (repeatable to read)
    #[arg(id = "in", long = "in", global = true, value_name = "NAME")]
    only: Vec<String>,
    /// Answer from the notes as of a git commit or the end of a day
    #[arg(long, global = true, value_name = "REV|DATE", allow_hyphen_values = true)]
    at: Option<String>,
    /// Ignore the index and read every note; the answers are the same
    #[arg(long, global = true)]
    no_index: bool,
    /// Answer by words alone, without the embedder of your settings
    #[arg(long, global = true)]
    no_embedder: bool,
    /// Print timings to standard error
    #[arg(long, global = true)]
    pub(super) verbose: bool,
    /// The date to use as today (default: QIPU_TODAY, else the current date)
    #[arg(long, global = true, value_name = "YYYY-MM-DD")]
    today: Option<String>,
    /// Show what would change without changing anything
    #[arg(long, global = true)]
    dry_run: bool,
    /// Allow text that contains a password, key or token
    #[arg(long, global = true)]
    pub(super) allow_secret: bool,
    /// When to use colour (default: auto)
    #[arg(long, global = true, value_name = "WHEN")]
    pub(super) color: Option<ColorWhen>,
    /// Do not page long output through $QIPU_PAGER, $PAGER or less
    #[arg(long, global = true)]
    pub(super) no_pager: bool,
}

/// The flags for lines that scripts read.
#[derive(Debug, Args)]
struct LineArgs {
    /// Print these fields of each note on a line, separated by tabs: id,title,path,collection,relevance, or any other
    #[arg(long, global = true, value_name = "FIELD", value_delimiter = ',', value_parser = trimmed)]
    fields: Vec<String>,
    /// With --fields, --format ids or paths: end each line with a NUL, for `xargs -0`
    #[arg(short = '0', long = "null", global = true)]
    null: bool,
}

impl LineArgs {
    /// Returns the lines of the answer to a command; `None` for another format.
    fn format(&self, command: &Command, format: Format) -> Result<Option<LineFormat>, Error> {
        let fields = match format {
            _ if !self.fields.is_empty() => self.fields.clone(),
            // The names that `tasks done` takes.
            Format::Ids if matches!(command, Command::Read(ReadCommand::Tasks(_))) => {
                vec!["id".to_owned(), "line".to_owned()]
            }
            Format::Ids if !command.changes_notes() => vec!["id".to_owned()],
            Format::Paths => vec!["path".to_owned()],
            _ if self.null => {
                return Err(Error::usage("-0 works only with --fields, --format ids and --format paths")
                    .hint("to use `-0` as a word, put `--` before the words"));
            }
            _ => return Ok(None),
        };
        if fields.iter().any(String::is_empty) {
            return Err(Error::usage("--fields needs names that are not empty"));
        }
        let is_raw = matches!(command, Command::Read(ReadCommand::Show(ShowRequest { is_raw: true, .. })));
        if command.changes_files() || is_raw {
            return Err(Error::usage(
                "--fields, --format ids and --format paths work only with commands that list notes",
            ));
        }
        Ok(Some(LineFormat { fields, is_name: format == Format::Ids, ends_with_nul: self.null }))
    }
}

/// When an answer has colours.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum ColorWhen {
    /// On a terminal
    Auto,
    /// Also in a pipe
    Always,
    /// Never
    Never,
}

impl ColorWhen {
    /// Returns whether there are colours; `None` leaves it to the environment.
    pub(super) fn has_color(self) -> Option<bool> {
        match self {
            Self::Auto => None,
            Self::Always => Some(true),
            Self::Never => Some(false),
        }
    }
}

/// What the common flags and the environment give each command to make its request of.
pub(super) struct Invocation<'a> {
    pub(super) env: &'a Env,
    pub(super) location: Location,
    pub(super) format: Format,
    /// Whether the user named the format.
    pub(super) is_format_named: bool,
    pub(super) budget: Budget,
    /// The date that counts as today, `YYYY-MM-DD`, if one is given.
    pub(super) today: Option<String>,
    pub(super) is_dry_run: bool,
    pub(super) is_secret_allowed: bool,
    /// Whether a flag names the store.
    pub(super) names_store: bool,
}

impl Invocation<'_> {
    /// Returns the day that counts as today. Without a given date, looks up the time zone.
    pub(super) fn day(&self) -> Date {
        self.location.today.day()
    }

    /// Returns what `created` and `updated` become: today's date if it is given, else this second.
    pub(super) fn now(&self) -> String {
        self.today.clone().unwrap_or_else(|| in_seconds(self.env.now))
    }

    pub(super) fn change(&self, action: Action) -> Command {
        self.change_if(None, action)
    }

    /// Returns the change of a note, provided that it has a revision.
    pub(super) fn change_if(&self, revision: Option<Revision>, action: Action) -> Command {
        let (now, random) = (self.now(), self.env.random);
        let Self { is_dry_run, is_secret_allowed, .. } = *self;
        let request = ChangeRequest { action, revision, is_dry_run, is_secret_allowed, now, random };
        Command::Write(WriteCommand::Change(request))
    }
}

impl GlobalArgs {
    /// Returns what the flags come to. With `ignores_bad_date`, an invalid date counts as none.
    pub(super) fn invocation<'a>(&self, env: &'a Env, ignores_bad_date: bool) -> Result<Invocation<'a>, Error> {
        let format = self.format()?;
        let today = self.today(env).or_else(|error| if ignores_bad_date { Ok(None) } else { Err(error) })?;
        let given_day = today.as_deref().and_then(|today| today.parse().ok());
        Ok(Invocation {
            env,
            location: self.location(env, Today::new(given_day, env.today))?,
            format,
            is_format_named: self.format.is_some() || self.json || self.records || self.token,
            budget: self.budget,
            today,
            is_dry_run: self.dry_run,
            is_secret_allowed: self.allow_secret,
            names_store: !self.store.is_empty(),
        })
    }

    /// Returns the format of the answer to a command, and its lines.
    ///
    /// # Errors
    /// `Usage` for flags that do not belong together or to the command.
    pub(super) fn format_of(&self, command: &Command, format: Format) -> Result<(Format, LineFormat), Error> {
        if !self.lines.fields.is_empty() && (self.format.is_some() || format != Format::Human) {
            return Err(Error::usage("--fields is a format of its own").hint("omit the other format"));
        }
        let lines = self.lines.format(command, format)?;
        Ok(lines.map_or_else(|| (format, LineFormat::default()), |lines| (Format::Lines, lines)))
    }

    fn format(&self) -> Result<Format, Error> {
        if let Some(version) = self.records_version.filter(|version| *version != 1) {
            return Err(Error::usage(format!("unknown version of the records format: {version}")).hint("use 1"));
        }
        let json = self.json.then_some(Format::Json);
        let records = (self.records || self.token).then_some(Format::Records);
        let ids = self.quiet.then_some(Format::Ids);
        let mut formats = [self.format, json, records, ids].into_iter().flatten();
        let format = formats.next().unwrap_or_default();
        if formats.any(|other| other != format) {
            return Err(Error::usage("conflicting output formats")
                .hint("use only one of --format, --json, --records and --quiet"));
        }
        Ok(format)
    }

    fn location(&self, env: &Env, today: Today) -> Result<Location, Error> {
        let from_env = || env.vars.get("QIPU_STORE").map(PathBuf::from);
        // A folder with that name is a store or documents.
        let is_commits = |path: &PathBuf| path == Path::new(COMMITS) && !env.current_dir.join(path).exists();
        let mut stores = self.store.iter().filter(|path| !is_commits(path)).cloned();
        Ok(Location {
            store: stores.next().or_else(from_env),
            more_stores: stores.collect(),
            names_commits: self.store.iter().any(is_commits),
            only_commits: None,
            only: self.only.clone(),
            scope: CollectionScope::All,
            to: None,
            at: self.at.as_deref().map(|text| days::commit_name(text, today)),
            files: FileTree::default(),
            no_index: self.no_index,
            no_embedder: self.no_embedder,
            cache: env.cache_dir.clone(),
            waits: env.waits,
            settings: env.settings_dir.clone(),
            data: env.data_dir.clone(),
            home: env.home.clone(),
            today,
            is_only_call: env.is_only_call,
        })
    }

    /// Returns the date that counts as today, from the flag or else `QIPU_TODAY`; `None` if neither is given.
    fn today(&self, env: &Env) -> Result<Option<String>, Error> {
        let from_env = || env.vars.get("QIPU_TODAY").map(|text| text.to_string_lossy().into_owned());
        let today = self.today.clone().or_else(from_env);
        let is_date = |text: &String| text.len() == 10 && text.parse::<Date>().is_ok();
        match today {
            Some(text) if !is_date(&text) => {
                Err(Error::usage(format!("`{text}` is not a date")).hint("write --today YYYY-MM-DD"))
            }
            today => Ok(today),
        }
    }
}
