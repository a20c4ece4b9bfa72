//! The table of commands: which of the flags that every command understands apply to each.
//!
//! Help, manual pages and completions list those flags; the checks of flags, paging and the reading of text that
//! begins with a hyphen look them up here.

use std::iter::successors;

use CommandProperty::{
    Answer, Budget, Collections, Day, DryRun, Lines, Pager, Past, Prompt, Quiet, Secret, Semantic, Store, Text,
};
use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, ValueEnum};

use crate::error::Error;
use crate::request::Format;

/// What is known about a command. All but [`CommandProperty::Text`] and [`CommandProperty::Prompt`] name a group of flags
/// that apply to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandProperty {
    /// Its answer consists of notes and is fitted into a budget.
    Budget,
    /// It can change files.
    DryRun,
    /// It saves or packs texts, which may contain secrets.
    Secret,
    /// It lists or changes notes, and answers with their ids alone if that is asked for.
    Quiet,
    /// Its answer can be a line for each note.
    Lines,
    /// It prints an answer in a format.
    Answer,
    /// Its answer is for reading, so a long one goes through a pager.
    Pager,
    /// Its answer can be a section of a prompt.
    Prompt,
    /// It uses a store.
    Store,
    /// It reads collections that can be named, or writes into one.
    Collections,
    /// It takes the date that counts as today.
    Day,
    /// It only reads notes, which may then be those of an earlier commit.
    Past,
    /// An embedder may take part in its answers.
    Semantic,
    /// It takes text whose words may begin with a hyphen.
    Text,
}

/// The properties about most commands that read a store, print notes, or change notes.
const READS: &[CommandProperty] = &[Answer, Pager, Store, Collections, Day, Past];
const PRINTS_NOTES: &[CommandProperty] = &[Budget, Answer, Pager, Store, Collections, Day, Past];
const EXPORTS_NOTES: &[CommandProperty] = &[Budget, Answer, Store, Collections, Day, Past];
const LISTS_NOTES: &[CommandProperty] = &[Budget, Lines, Quiet, Answer, Pager, Store, Collections, Day, Past];
const ANSWERS: &[CommandProperty] = &[Budget, Lines, Quiet, Prompt, Answer, Pager, Store, Collections, Day, Past];
const CHECKS: &[CommandProperty] = &[DryRun, Answer, Pager, Store, Collections, Day, Past];
const CHANGES: &[CommandProperty] = &[DryRun, Quiet, Answer, Store, Collections, Day];
const SAVES_TEXT: &[CommandProperty] = &[DryRun, Secret, Quiet, Answer, Store, Collections, Day];

/// All commands by their path below `qipu`. A group of commands has the properties of its members.
const COMMANDS: [(&str, &[CommandProperty]); 42] = [
    ("prime", &[Budget, Answer, Pager, Store, Collections, Day, Past]),
    ("hook", &[Budget, Store, Collections, Day]),
    ("ask", &[Budget, Lines, Quiet, Prompt, Answer, Pager, Store, Collections, Day, Past, Semantic, Text]),
    ("context", &[Budget, Lines, Quiet, Prompt, Answer, Pager, Store, Collections, Day, Past, Semantic]),
    ("about", ANSWERS),
    ("search", &[Budget, Lines, Quiet, Answer, Pager, Store, Collections, Day, Past, Text]),
    ("link", &[Budget, DryRun, Quiet, Answer, Pager, Store, Collections, Day, Past]),
    ("link list", PRINTS_NOTES),
    ("link tree", PRINTS_NOTES),
    ("link path", PRINTS_NOTES),
    ("link add", CHANGES),
    ("link remove", CHANGES),
    ("show", LISTS_NOTES),
    ("journal", &[Budget, DryRun, Lines, Secret, Quiet, Answer, Pager, Store, Collections, Day, Past, Text]),
    ("browse", &[Store, Collections, Day, Text]),
    ("list", LISTS_NOTES),
    ("tasks", LISTS_NOTES),
    ("tasks done", CHANGES),
    ("status", READS),
    ("review", &[Budget, DryRun, Lines, Quiet, Answer, Pager, Store, Collections, Day, Past]),
    ("history", PRINTS_NOTES),
    ("doctor", CHECKS),
    ("eval", &[Budget, Answer, Pager, Store, Collections, Day, Past, Semantic]),
    ("init", &[DryRun, Answer, Store, Day]),
    ("capture", &[DryRun, Secret, Quiet, Answer, Store, Collections, Day, Text]),
    ("update", SAVES_TEXT),
    ("merge", CHANGES),
    ("supersede", CHANGES),
    ("delete", CHANGES),
    ("dump", &[Secret, Answer, Pager, Store, Collections, Day, Past]),
    ("load", SAVES_TEXT),
    ("export", EXPORTS_NOTES),
    ("export pack", &[Secret, Answer, Pager, Store, Collections, Day, Past]),
    ("export page", EXPORTS_NOTES),
    ("export links", EXPORTS_NOTES),
    ("export passages", &[Answer, Store, Collections]),
    ("import", SAVES_TEXT),
    ("setup", &[DryRun, Answer, Pager, Store, Day]),
    ("mcp", &[Store, Collections, Day, Semantic]),
    ("lsp", &[Store, Collections, Day]),
    ("completions", &[]),
    ("man", &[DryRun, Answer]),
];

/// The flags that every command understands, by the property without which they do not apply.
const FLAGS: [(CommandProperty, &[&str]); 12] = [
    (Budget, &["max_chars", "max_tokens", "tokenizer"]),
    (DryRun, &["dry_run"]),
    (Secret, &["allow_secret"]),
    (Quiet, &["quiet"]),
    (Answer, &["format", "json", "records", "records_version", "color"]),
    (Pager, &["no_pager"]),
    (Lines, &["fields", "null"]),
    (Store, &["store", "no_index", "verbose"]),
    (Collections, &["in"]),
    (Day, &["today"]),
    (Past, &["at"]),
    (Semantic, &["no_embedder"]),
];

/// The common flags that only `qipu help flags` shows.
pub(super) const SELDOM: [&str; 9] =
    ["json", "records", "null", "today", "no_index", "no_embedder", "verbose", "color", "no_pager"];

/// Returns the properties about the command with this path; the commands of `help` have those of one that reads.
pub(super) fn properties_of(path: &str) -> &'static [CommandProperty] {
    COMMANDS.iter().find(|(command, _)| *command == path).map_or(READS, |(_, properties)| properties)
}

/// Builds the command line and hides, in the help of each command, the flags that do not apply to it.
pub(super) fn with_applicable_flags(mut command: Command) -> Command {
    // Each command gets the common flags only when it is built.
    command.build();
    command.mut_subcommands(|below| with_hidden_flags(below, ""))
}

fn with_hidden_flags(command: Command, parent: &str) -> Command {
    let path = format!("{parent} {}", command.get_name()).trim_start().to_owned();
    let properties = properties_of(&path);
    let with_applicable = |arg: Arg| match arg.get_id().as_str() {
        _ if !arg.is_global_set() => arg,
        flag if is_idle(flag, properties) || SELDOM.contains(&flag) => arg.hide(true),
        // It is of use where an answer has much else to say.
        "quiet" if properties.contains(&Lines) && !properties.contains(&Secret) => arg.hide(true),
        "format" => arg.value_parser(PossibleValuesParser::new(
            formats(properties).iter().filter_map(ValueEnum::to_possible_value),
        )),
        _ => arg,
    };
    command.mut_args(with_applicable).mut_subcommands(|below| with_hidden_flags(below, &path))
}

/// Tells whether a flag that every command understands does not apply to a command with these properties.
fn is_idle(flag: &str, properties: &[CommandProperty]) -> bool {
    FLAGS.iter().any(|(property, flags)| flags.contains(&flag) && !properties.contains(property))
}

/// Returns the formats that can be named for a command with these properties.
fn formats(properties: &[CommandProperty]) -> Vec<Format> {
    let has = |property| properties.contains(&property);
    let formats = [
        (true, Format::Human),
        (true, Format::Json),
        (true, Format::Records),
        (has(Prompt), Format::Prompt),
        (has(Quiet), Format::Ids),
        (has(Lines), Format::Paths),
    ];
    formats.into_iter().filter(|(is_written, _)| *is_written).map(|(_, format)| format).collect()
}

/// Refuses the flags and the format that do not apply to the command that was called. `command`: makes the whole command
/// line.
///
/// # Errors
/// `Usage`, naming the first of them.
pub(super) fn check_flags(matches: &ArgMatches, path: &str, command: impl FnOnce() -> Command) -> Result<(), Error> {
    let called =
        successors(Some(matches), |above| above.subcommand().map(|(_, below)| below)).last().unwrap_or(matches);
    let is_given = |flag: &&str| {
        called.try_contains_id(flag).is_ok() && called.value_source(flag) == Some(ValueSource::CommandLine)
    };
    let properties = properties_of(path);
    let refused = |what: String| {
        Err(Error::usage(format!("`qipu {path}` takes no --{what}")).hint(format!("see `qipu {path} --help`")))
    };
    let format = called.try_get_one::<Format>("format").ok().flatten();
    let format = format.filter(|format| !formats(properties).contains(format)).and_then(Format::to_possible_value);
    if let Some(format) = format {
        return refused(format!("format {}", format.get_name()));
    }
    let flags = FLAGS.iter().flat_map(|(_, flags)| flags.iter().copied());
    let idle: Vec<&str> = flags.filter(|flag| is_idle(flag, properties)).filter(is_given).collect();
    if idle.is_empty() {
        return Ok(());
    }
    let root = command();
    // A command may have a flag of its own with the name of a common one.
    let own = path.split(' ').try_fold(&root, |above, name| above.find_subcommand(name));
    let is_common = |flag: &&&str| own.is_none_or(|own| own.get_arguments().all(|arg| arg.get_id() != **flag));
    let Some(flag) = idle.iter().find(is_common) else { return Ok(()) };
    let long = root.get_arguments().find(|arg| arg.get_id() == *flag).and_then(Arg::get_long).unwrap_or(flag);
    refused((*long).to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsString;

    use clap::CommandFactory;

    use super::*;
    use crate::env::{Env, Stdin};

    /// Adds the paths of the commands below a command, that of git aside.
    fn add_paths(command: &Command, parent: &str, paths: &mut Vec<String>) {
        for below in command.get_subcommands().filter(|below| below.get_name() != "merge-driver") {
            let path = format!("{parent} {}", below.get_name()).trim_start().to_owned();
            paths.push(path.clone());
            add_paths(below, &path, paths);
        }
    }

    #[test]
    fn the_table_lists_every_command_once() {
        let mut paths = Vec::new();
        add_paths(&super::super::Cli::command(), "", &mut paths);
        assert_eq!(COMMANDS.map(|(path, _)| path.to_owned()).to_vec(), paths);
    }

    /// The least words that call each command that needs some.
    const WORDS: [(&str, &str); 22] = [
        ("hook", "claude Stop"),
        ("ask", "x"),
        ("context", "--note x"),
        ("about", "x"),
        ("search", "x"),
        ("link list", "x"),
        ("link tree", "x"),
        ("link path", "x y"),
        ("link add", "x y"),
        ("link remove", "x y"),
        ("show", "x"),
        ("tasks done", "x:1"),
        ("history", "x"),
        ("eval", "x"),
        ("capture", "x"),
        ("update", "x --value 1"),
        ("merge", "x y"),
        ("supersede", "x y"),
        ("delete", "x"),
        ("load", "x"),
        ("import", "x"),
        ("completions", "bash"),
    ];

    /// The words with which each flag is given.
    const VALUES: [(&str, &str); 12] = [
        ("max_chars", "--max-chars 9000"),
        ("max_tokens", "--max-tokens 9000"),
        ("tokenizer", "--tokenizer cl100k"),
        ("format", "--format human"),
        ("records_version", "--records-version 1"),
        ("color", "--color never"),
        ("fields", "--fields id"),
        ("null", "--null --fields id"),
        ("store", "--store x"),
        ("in", "--in x"),
        ("today", "--today 2025-03-05"),
        ("at", "--at HEAD"),
    ];

    fn words_of(table: &[(&str, &str)], name: &str) -> Vec<String> {
        let words = table.iter().find(|(known, _)| *known == name).map(|(_, words)| *words);
        words.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    }

    /// Tells whether a command takes words; that they are a value of another form is no reason.
    fn takes(path: &str, words: &[String], env: &Env) -> bool {
        let own = words_of(&WORDS, path);
        // Some flags apply only where files are changed, or only where they are not.
        let forms = [&[][..], &["--fix"], &["text"], &["--dir", "x"], &["x"], &["claude"]];
        forms.iter().any(|form| {
            let form = form.iter().map(|word| (*word).to_owned());
            let path = path.split(' ').map(str::to_owned);
            let line = ["qipu".to_owned()].into_iter().chain(path).chain(own.clone()).chain(form);
            let line: Vec<OsString> = line.chain(words.iter().cloned()).map(OsString::from).collect();
            super::super::parse(&line, env).is_ok()
        })
    }

    #[test]
    fn help_lists_the_flags_and_formats_that_a_command_takes() {
        let root = with_applicable_flags(super::super::Cli::command());
        // A group lists what one of its commands takes.
        let commands = COMMANDS.iter().map(|(path, _)| *path).filter(|path| !["link", "export"].contains(path));
        let env = Env { stdin: Stdin::of_text("{}"), vars: BTreeMap::new(), ..Env::of_process().unwrap() };
        let mut count = 0;
        for path in commands {
            let command = path.split(' ').try_fold(&root, |above, name| above.find_subcommand(name)).unwrap();
            let arguments: Vec<&Arg> = command.get_arguments().filter(|arg| arg.is_global_set()).collect();
            let flags = FLAGS.iter().flat_map(|(_, flags)| flags.iter().copied());
            for flag in flags {
                let Some(arg) = arguments.iter().find(|arg| arg.get_id() == flag) else { continue };
                let mut words = words_of(&VALUES, flag);
                if words.is_empty() {
                    words.push(format!("--{}", arg.get_long().unwrap()));
                }
                let is_listed = !arg.is_hide_set();
                let is_taken = takes(path, &words, &env);
                assert_eq!(is_taken, !is_idle(flag, properties_of(path)), "{path} {words:?}");
                assert!(is_taken || !is_listed, "{path} {words:?}");
                count += 1;
            }
            let format = arguments.iter().find(|arg| arg.get_id() == "format" && !arg.is_hide_set());
            let listed: Vec<_> = format.iter().flat_map(|arg| arg.get_possible_values()).collect();
            for value in Format::value_variants().iter().filter_map(ValueEnum::to_possible_value) {
                let words = ["--format".to_owned(), value.get_name().to_owned()];
                let is_listed = listed.iter().any(|listed| listed.get_name() == value.get_name());
                assert_eq!(takes(path, &words, &env), is_listed, "{path} {words:?}");
                count += 1;
            }
        }
        assert!(count > 1_000, "{count}");
    }

    #[test]
    fn every_common_flag_belongs_to_a_property() {
        let flags: Vec<&str> = FLAGS.iter().flat_map(|(_, flags)| flags.iter().copied()).collect();
        let root = super::super::Cli::command();
        for arg in root.get_arguments().filter(|arg| arg.is_global_set() && arg.get_id() != "token") {
            assert!(flags.contains(&arg.get_id().as_str()), "{arg:?}");
        }
    }
}
