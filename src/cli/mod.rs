//! The command line: parses the arguments of a call into a request.

mod about;
mod ask;
mod change;
mod clap_errors;
mod command_properties;
mod context;
mod days;
mod eval;
mod examples;
mod export;
#[cfg(test)]
mod flag_tests;
mod globals;
mod history;
mod hook;
mod hyphens;
mod journal;
mod link;
mod list;
mod note_filters;
mod overview;
mod pack;
mod prime;
mod review;
mod search;
mod selectors;
mod setup;
mod shell;
mod subcommands;
mod tasks;
mod values;
mod verb_as_text;

pub(crate) use change::OWN_FIELDS;
pub use shell::{COMPLETE, command};

use std::ffi::OsString;
use std::iter::successors;

use clap::error::ErrorKind as ClapKind;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, ValueEnum};

use crate::env::Env;
use crate::error::Error;
use crate::request::{Command, Format, Program, ReadCommand, Request, ShowRequest, WriteCommand};
use crate::store::Location;
use command_properties::{CommandProperty, check_flags, properties_of, with_applicable_flags};
use globals::{ColorWhen, GlobalArgs, Invocation};
use subcommands::Subcommands;

/// What the arguments of a call ask for.
#[derive(Debug)]
pub enum ParsedCli {
    /// A request to answer.
    Request(Box<Request>),
    /// A text to print as it is: help, the version, a manual page or a completion script.
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
    global: GlobalArgs,
    #[command(subcommand)]
    command: Subcommands,
}

/// Parses the arguments of a call, the program's name first.
///
/// # Errors
/// `Usage`, with what is wrong and what is expected; `Failure` when standard input can't be read.
pub fn parse(args: &[OsString], env: &Env) -> Result<ParsedCli, Error> {
    // Describing all commands takes twenty times as long as this answer, which installers and scripts wait for.
    if let [_, flag] = args
        && (flag == "--version" || flag == "-V")
    {
        return Ok(ParsedCli::Help(concat!("qipu ", env!("CARGO_PKG_VERSION"), "\n").to_owned()));
    }
    let words = hyphens::text_behind_flags(args, Cli::command);
    let (cli, matches) = match matched(&words) {
        Ok(matched) => matched,
        Err(_) if words.len() < 2 => return Ok(ParsedCli::Help(overview::first_steps(&Cli::command()))),
        Err(_) if words.get(1..).is_some_and(|words| words == ["help", "flags"]) => {
            return Ok(ParsedCli::Help(overview::flags(&Cli::command())));
        }
        // Help is no error where it was asked for.
        Err(error) if matches!(error.kind(), ClapKind::DisplayHelp | ClapKind::DisplayVersion) => {
            return Ok(ParsedCli::Help(error.to_string()));
        }
        Err(error) => return Err(clap_errors::error(&error, &Cli::command(), args)),
    };
    let path = path_of(&matches);
    let properties = properties_of(&path);
    if let Some(text) = cli.command.text() {
        check_flags(&matches, &path, Cli::command)?;
        return text.map(ParsedCli::Help);
    }
    verb_as_text::expect_text(&path, &matches, Cli::command)?;
    // A primer in a hook must not fail because of a variable.
    let mut invocation = cli.global.invocation(env, matches!(cli.command, Subcommands::Prime(_)))?;
    let has_budget = invocation.budget.is_limited();
    let command = cli.command.into_command(&mut invocation)?;
    check_budget_and_dry_run(&command, properties, has_budget, invocation.is_dry_run)?;
    if invocation.is_secret_allowed && !properties.contains(&CommandProperty::Secret) {
        return Err(Error::usage("--allow-secret works only with commands that save or pack texts"));
    }
    check_session(&command, &invocation)?;
    check_commit(&command, properties, invocation.location.at.is_some())?;
    let location = written_into(&command, std::mem::take(&mut invocation.location))?;
    check_format(&command, invocation.format, invocation.is_format_named)?;
    let (format, lines) = cli.global.format_of(&command, invocation.format)?;
    check_flags(&matches, &path, Cli::command)?;
    let is_read = properties.contains(&CommandProperty::Pager) && !command.changes_files();
    let today = env.is_terminal.then(|| location.today.day());
    let budget = invocation.budget;
    let GlobalArgs { verbose: is_verbose, color, no_pager, .. } = cli.global;
    let is_paged = format == Format::Human && is_read && !no_pager;
    let color = color.and_then(ColorWhen::has_color);
    Ok(ParsedCli::Request(Box::new(Request {
        command,
        location,
        format,
        lines,
        budget,
        is_verbose,
        color,
        is_paged,
        today,
    })))
}

/// Matches the arguments against the command line. Returns them parsed, and as clap found them.
fn matched(words: &[OsString]) -> Result<(Cli, ArgMatches), clap::Error> {
    let all = Cli::command();
    let matched = words.get(1).and_then(|word| all.find_subcommand(word)).and_then(|called| match_alone(called, words));
    let matches = match matched {
        Some(matches) => matches,
        None => all.try_get_matches_from(words).map_err(|error| with_applicable_help(error, words))?,
    };
    Ok((Cli::from_arg_matches(&matches)?, matches))
}

/// Matches the arguments of a command without the others, to which clap would copy each common flag: half of the time that
/// arguments take. `None` if they are wrong or ask for help, which name other commands.
fn match_alone(called: &clap::Command, words: &[OsString]) -> Option<ArgMatches> {
    let root = clap::Command::new("qipu").args_override_self(true).subcommand(called.clone());
    GlobalArgs::augment_args(root).try_get_matches_from(words).ok()
}

/// Returns the path of the command that was called, such as `link tree`.
fn path_of(matches: &ArgMatches) -> String {
    let commands = successors(matches.subcommand(), |(_, below)| below.subcommand());
    commands.map(|(name, _)| name).collect::<Vec<_>>().join(" ")
}

/// Returns the help with only the flags that apply to its command. All commands are built for it, so only calls for
/// help do so.
fn with_applicable_help(error: clap::Error, words: &[OsString]) -> clap::Error {
    let is_help = matches!(error.kind(), ClapKind::DisplayHelp | ClapKind::DisplayHelpOnMissingArgumentOrSubcommand);
    let command = || overview::with_groups(with_applicable_flags(Cli::command()));
    let help = || command().try_get_matches_from(words).err();
    is_help.then(help).flatten().unwrap_or(error)
}

/// Refuses a budget and `--dry-run` for a command that can't respect them.
fn check_budget_and_dry_run(
    command: &Command,
    properties: &[CommandProperty],
    has_budget: bool,
    is_dry_run: bool,
) -> Result<(), Error> {
    let is_raw = matches!(command, Command::Read(ReadCommand::Show(ShowRequest { is_raw: true, .. })));
    let is_fitted = properties.contains(&CommandProperty::Budget) && !command.changes_files() && !is_raw;
    if has_budget && !is_fitted {
        return Err(Error::usage("--max-chars and --max-tokens work only with commands that print notes"));
    }
    if is_dry_run && !command.changes_files() {
        return Err(Error::usage("--dry-run works only with commands that change files"));
    }
    Ok(())
}

/// Refuses decisions of a person in the session of an agent tool.
fn check_session(command: &Command, invocation: &Invocation<'_>) -> Result<(), Error> {
    if invocation.env.agent_session().is_none() {
        return Ok(());
    }
    let by_person = "a person does, outside of the session of an agent";
    match command {
        _ if invocation.is_secret_allowed => {
            Err(Error::usage("an agent can't decide that a secret may be saved (--allow-secret)").hint(by_person))
        }
        Command::Write(WriteCommand::Init(init)) if init.is_trusted => {
            Err(Error::usage("an agent can't decide that a store is trusted (--trust)").hint(by_person))
        }
        _ => Ok(()),
    }
}

/// Refuses `--at` for a form of a command that changes files.
fn check_commit(command: &Command, properties: &[CommandProperty], has_commit: bool) -> Result<(), Error> {
    if has_commit && properties.contains(&CommandProperty::Past) && command.changes_files() {
        return Err(Error::usage("--at works only with commands that read notes"));
    }
    Ok(())
}

/// Returns a location whose name is that of the collection to change, if a command changes notes.
fn written_into(command: &Command, location: Location) -> Result<Location, Error> {
    let is_fix = matches!(command, Command::Write(WriteCommand::Doctor(_)) | Command::Read(ReadCommand::Review(_)))
        && command.changes_files();
    if is_fix && !location.only.is_empty() {
        return Err(Error::usage("--fix changes the project's store and can't be combined with --in"));
    }
    if !command.changes_notes() {
        return Ok(location);
    }
    match location.only.as_slice() {
        [] | [_] => Ok(Location { to: location.only.first().cloned(), only: Vec::new(), ..location }),
        _ => Err(Error::usage("a command changes notes in one place: give --in NAME once")),
    }
}

/// Refuses a format that a command does not write.
fn check_format(command: &Command, format: Format, is_named: bool) -> Result<(), Error> {
    if format == Format::Prompt
        && !matches!(command, Command::Read(ReadCommand::Context(_)) | Command::Read(ReadCommand::Expand(_)))
    {
        return Err(Error::usage("--format prompt works only with context, ask and about")
            .hint("use --format human, json or records"));
    }
    let own_form = match command {
        Command::Run(Program::Browse { .. }) => "`qipu browse` is full-screen",
        Command::Run(Program::Hook(_)) => "`qipu hook` answers in the form of the tool",
        Command::Run(Program::Mcp { .. }) => "`qipu mcp` answers in the form of its protocol",
        Command::Run(Program::Lsp { .. }) => "`qipu lsp` answers in the form of its protocol",
        _ => return Ok(()),
    };
    if is_named { Err(Error::usage(format!("{own_form} and has no --format"))) } else { Ok(()) }
}

/// Tells whether arguments call a hook, also where they can't be parsed.
pub fn is_hook_call(args: &[OsString]) -> bool {
    let is_hook = |word: &OsString| word == "hook";
    // Tools call it so at each prompt: the commands need not be described for that.
    if args.get(1).is_some_and(is_hook) {
        return true;
    }
    args.iter().any(is_hook) && hyphens::subcommand(args, Cli::command()).is_some_and(is_hook)
}

/// Returns whether the arguments ask for colours, also where they can't be parsed; `None` if they leave it open.
pub fn wants_color(args: &[OsString]) -> Option<bool> {
    let mut words = args.iter().filter_map(|arg| arg.to_str()).take_while(|word| *word != "--");
    let mut choice = None;
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--color") {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        let when = value.and_then(|value| ColorWhen::from_str(value, false).ok());
        choice = when.map_or(choice, ColorWhen::has_color);
    }
    choice
}

/// Tells whether the arguments ask for errors in JSON, also where they can't be parsed.
pub fn wants_json(args: &[OsString]) -> bool {
    let words: Vec<_> = args.iter().filter_map(|arg| arg.to_str()).take_while(|word| *word != "--").collect();
    let pair = words.windows(2).any(|pair| pair == ["--format", "json"]);
    pair || words.iter().any(|word| matches!(*word, "--json" | "--format=json"))
}
