//! Which of the flags that every command understands the help of each lists: those that are of use there.

use clap::Command;

/// Flags of answers that are cut to size, and the commands that print such answers.
const BUDGET: [&str; 3] = ["max_chars", "max_tokens", "tokenizer"];
const PRINTS_NOTES: [&str; 15] = [
    "ask",
    "prime",
    "context",
    "search",
    "related",
    "link",
    "link list",
    "link tree",
    "link path",
    "graph",
    "show",
    "journal",
    "list",
    "inbox",
    "eval",
];

/// The flag of changes, and the commands that make some.
const CHANGE: [&str; 1] = ["dry_run"];
const CHANGES_FILES: [&str; 21] = [
    "init",
    "capture",
    "create",
    "update",
    "rename",
    "merge",
    "compact",
    "delete",
    "link",
    "link add",
    "link remove",
    "tags",
    "tags rename",
    "journal",
    "doctor",
    "load",
    "import",
    "import logseq",
    "import obsidian",
    "setup",
    "man",
];

/// Flags that say how an answer is written, and the commands that write none.
const ANSWER: [&str; 6] = ["format", "json", "records", "records_version", "color", "no_pager"];
const ANSWERS_NOTHING: [&str; 3] = ["browse", "mcp", "completions"];

/// Flags that say where notes are and how they are read, and the commands that read none.
const STORE: [&str; 4] = ["store", "root", "no_index", "verbose"];
const READS_NOTHING: [&str; 2] = ["completions", "man"];

/// The flag that names the day, and the commands for which it is any day.
const DAY: [&str; 1] = ["today"];
const HAS_NO_DAY: [&str; 3] = ["prime", "completions", "man"];

/// Builds the command line, and hides in each command's help the flags that it refuses or has no use for.
pub(super) fn fitted(mut command: Command) -> Command {
    // Only now the flags of every command stand in each.
    command.build();
    command.mut_subcommands(|below| fitted_below(below, ""))
}

fn fitted_below(command: Command, above: &str) -> Command {
    let path = format!("{above} {}", command.get_name()).trim_start().to_owned();
    let is = |list: &[&str]| list.contains(&path.as_str());
    let idle: [(&[&str], bool); 5] = [
        (&BUDGET, !is(&PRINTS_NOTES)),
        (&CHANGE, !is(&CHANGES_FILES)),
        (&ANSWER, is(&ANSWERS_NOTHING)),
        (&STORE, is(&READS_NOTHING)),
        (&DAY, is(&HAS_NO_DAY)),
    ];
    let is_idle = |flag: &str| idle.iter().any(|(flags, is_idle)| *is_idle && flags.contains(&flag));
    let command = command.mut_args(|arg| match is_idle(arg.get_id().as_str()) {
        true => arg.hide(true),
        false => arg,
    });
    command.mut_subcommands(|below| fitted_below(below, &path))
}
