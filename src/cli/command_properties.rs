//! The table of commands: which of the flags that every command understands apply to each.
//!
//! Help, manual pages and completions list those flags; the checks of flags, paging and the reading of text that
//! begins with a hyphen look them up here.

use CommandProperty::{Answer, Budget, Day, DryRun, Pager, Past, Quiet, Secret, Store, Text, Write};
use clap::Command;

/// What is known about a command. All but [`CommandProperty::Text`] and [`CommandProperty::Pager`] name a group of flags that apply to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandProperty {
    /// Its answer consists of notes and is fitted into a budget.
    Budget,
    /// It can change files.
    DryRun,
    /// It saves or packs texts, which may contain secrets.
    Secret,
    /// It writes into a store that can be named.
    Write,
    /// It can change notes, and then answers with their ids alone if that is asked for.
    Quiet,
    /// It prints an answer in a format.
    Answer,
    /// Its answer is for reading, so a long one goes through a pager.
    Pager,
    /// It reads a store.
    Store,
    /// Its answer depends on the date that counts as today.
    Day,
    /// It only reads notes, which may then be those of an earlier commit.
    Past,
    /// It takes text whose words may begin with a hyphen.
    Text,
}

/// The properties about most commands that read a store, print notes, or change notes.
const READS: &[CommandProperty] = &[Answer, Pager, Store, Day, Past];
const PRINTS_NOTES: &[CommandProperty] = &[Budget, Answer, Pager, Store, Day, Past];
const CHANGES: &[CommandProperty] = &[DryRun, Write, Quiet, Answer, Store, Day];
const SAVES_TEXT: &[CommandProperty] = &[DryRun, Secret, Write, Quiet, Answer, Store, Day];

/// All commands by their path below `qipu`. A group of commands has the properties of its members.
const COMMANDS: [(&str, &[CommandProperty]); 52] = [
    ("prime", &[Budget, Answer, Pager, Store, Past]),
    ("hook", &[Budget, Store]),
    ("ask", &[Budget, Answer, Pager, Store, Day, Past, Text]),
    ("context", PRINTS_NOTES),
    ("about", PRINTS_NOTES),
    ("search", &[Budget, Answer, Pager, Store, Day, Past, Text]),
    ("related", PRINTS_NOTES),
    ("link", &[Budget, DryRun, Write, Quiet, Answer, Pager, Store, Day, Past]),
    ("link list", PRINTS_NOTES),
    ("link tree", PRINTS_NOTES),
    ("link path", PRINTS_NOTES),
    ("link add", CHANGES),
    ("link remove", CHANGES),
    ("graph", PRINTS_NOTES),
    ("show", PRINTS_NOTES),
    ("journal", &[Budget, DryRun, Secret, Write, Quiet, Answer, Pager, Store, Day, Past, Text]),
    ("browse", &[Store, Day]),
    ("list", PRINTS_NOTES),
    ("inbox", PRINTS_NOTES),
    ("tags", &[DryRun, Secret, Write, Quiet, Answer, Pager, Store, Day, Past]),
    ("tags rename", SAVES_TEXT),
    ("status", READS),
    ("where", READS),
    ("review", PRINTS_NOTES),
    ("history", PRINTS_NOTES),
    ("diff", &[Budget, Answer, Pager, Store, Day]),
    ("doctor", &[DryRun, Answer, Pager, Store, Day, Past]),
    ("stale", &[DryRun, Answer, Pager, Store, Day, Past]),
    ("eval", PRINTS_NOTES),
    ("index", &[Answer, Pager, Store, Day]),
    ("init", &[DryRun, Answer, Store, Day]),
    ("capture", &[DryRun, Secret, Write, Quiet, Answer, Store, Day, Text]),
    ("create", SAVES_TEXT),
    ("edit", &[Write, Quiet, Answer, Store, Day]),
    ("update", SAVES_TEXT),
    ("rename", SAVES_TEXT),
    ("merge", CHANGES),
    ("compact", CHANGES),
    ("supersede", CHANGES),
    ("anchor", CHANGES),
    ("delete", CHANGES),
    ("dump", &[Secret, Answer, Pager, Store, Day, Past]),
    ("load", SAVES_TEXT),
    ("export", &[Store]),
    ("import", SAVES_TEXT),
    ("import logseq", SAVES_TEXT),
    ("import obsidian", SAVES_TEXT),
    ("import okf", SAVES_TEXT),
    ("setup", &[DryRun, Answer, Pager, Store, Day]),
    ("mcp", &[Store, Day]),
    ("completions", &[]),
    ("man", &[DryRun, Answer]),
];

/// The flags that every command understands, by the property without which they do not apply.
const FLAGS: [(CommandProperty, &[&str]); 9] = [
    (Budget, &["max_chars", "max_tokens", "tokenizer"]),
    (DryRun, &["dry_run"]),
    (Secret, &["allow_secret"]),
    (Quiet, &["quiet"]),
    (Write, &["written_collection"]),
    (Answer, &["format", "json", "records", "records_version", "color", "no_pager"]),
    (Store, &["store", "root", "source", "only", "no_index", "verbose"]),
    (Day, &["today"]),
    (Past, &["at"]),
];

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
    let is_idle =
        |flag: &str| FLAGS.iter().any(|(property, flags)| flags.contains(&flag) && !properties.contains(property));
    let command = command.mut_args(|arg| if is_idle(arg.get_id().as_str()) { arg.hide(true) } else { arg });
    command.mut_subcommands(|below| with_hidden_flags(below, &path))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// Adds the paths of the visible commands below a command.
    fn add_paths(command: &Command, parent: &str, paths: &mut Vec<String>) {
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
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

    #[test]
    fn every_common_flag_belongs_to_a_property() {
        let flags: Vec<&str> = FLAGS.iter().flat_map(|(_, flags)| flags.iter().copied()).collect();
        let root = super::super::Cli::command();
        for arg in root.get_arguments().filter(|arg| arg.is_global_set() && !arg.is_hide_set()) {
            assert!(flags.contains(&arg.get_id().as_str()), "{arg:?}");
        }
    }
}
