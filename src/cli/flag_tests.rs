//! Tests of all flags together: how many a command has, and that each has one meaning.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use clap::{Arg, ArgMatches, Command, CommandFactory};
use regex::Regex;

use super::shell::command;
use super::{Cli, match_alone};

/// Returns the flags that the help of a command lists, `--help` included.
fn listed(command: &Command) -> Vec<&Arg> {
    command.get_arguments().filter(|arg| arg.get_long().is_some() && !arg.is_hide_set()).collect()
}

fn find<'a>(root: &'a Command, path: &str) -> &'a Command {
    path.split(' ').fold(root, |above, name| above.find_subcommand(name).unwrap())
}

#[test]
fn ask_and_context_list_no_more_flags_than_they_need() {
    let root = command();
    let flags = |path| listed(find(&root, path)).iter().map(|arg| arg.get_long().unwrap()).collect::<Vec<_>>();
    assert_eq!(flags("ask").len(), 20, "{:?}", flags("ask"));
    assert_eq!(flags("context").len(), 35, "{:?}", flags("context"));
    let common = ["format", "fields", "max-chars", "max-tokens", "tokenizer", "store", "in", "at", "help"];
    for path in ["ask", "context", "search", "list", "tasks", "review"] {
        let flags = flags(path);
        let filters = ["tag", "type", "since", "until", "min-value", "where", "limit"];
        for flag in common.iter().chain(&filters) {
            assert!(flags.contains(flag), "{path} has no --{flag}: {flags:?}");
        }
        for seldom in ["json", "records", "null", "today", "no-index", "verbose", "color", "no-pager", "token", "quiet"]
        {
            assert!(!flags.contains(&seldom), "{path} lists --{seldom}");
        }
    }
    for path in ["update", "capture", "delete"] {
        let flags = flags(path);
        assert!(flags.contains(&"dry-run") && flags.contains(&"quiet"), "{path}: {flags:?}");
    }
}

/// Flags that mean something else in some commands, and why.
const EXCEPTIONS: [&str; 4] = [
    "since", "until", // `history` takes commits too.
    "note",  // It adds notes in `context`, and filters in `ask`.
    "title", // It has a default in `capture`.
];

#[test]
fn a_flag_has_one_meaning_in_commands_that_read_and_one_in_those_that_write() {
    let root = command();
    let mut meanings: BTreeMap<(bool, &str), BTreeSet<String>> = BTreeMap::new();
    let mut open: Vec<&Command> = root.get_subcommands().collect();
    while let Some(command) = open.pop() {
        open.extend(command.get_subcommands());
        let takes_dry_run = command.get_arguments().any(|arg| arg.get_id() == "dry_run" && !arg.is_hide_set());
        // It repairs references to code on request, and lists notes otherwise.
        let is_writing = takes_dry_run && command.get_name() != "review";
        // What applies to whole programs is no command of a user.
        let is_group = command.has_subcommands() && command.get_name() != "tasks";
        if is_group || ["help", "hook", "mcp", "lsp", "setup", "eval", "prime"].contains(&command.get_name()) {
            continue;
        }
        for arg in listed(command).into_iter().filter(|arg| !arg.is_global_set()) {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let long = arg.get_long().unwrap();
            meanings.entry((is_writing, long)).or_default().insert(help);
        }
    }
    meanings.retain(|(_, flag), texts| texts.len() > 1 && !EXCEPTIONS.contains(flag));
    assert_eq!(meanings, BTreeMap::new());
}

#[test]
fn a_command_alone_is_matched_as_among_all() {
    let calls = [
        "ask what --max-chars 100 --format json",
        "search x --limit 3 --quiet",
        "list --tag a --tag b --format paths",
        "link add a supports b",
        "link tree a --max-hops 2 --via supports,refines",
        "capture --title T --dry-run",
        "update a --set k=v",
        "prime",
        "hook claude Stop",
        "status --tags --verbose",
        "search a --limit 1 --limit 2",
        "context --note a --note b --max-tokens 5 --store x",
    ];
    let valid = Regex::new(r"valid_\w+: \[[^\]]*\]").unwrap();
    for call in calls {
        let words: Vec<OsString> = ["qipu"].into_iter().chain(call.split(' ')).map(OsString::from).collect();
        let all = Cli::command();
        let alone = match_alone(all.find_subcommand(&words[1]).unwrap(), &words).expect(call);
        let among_all = all.try_get_matches_from(&words).expect(call);
        // What might be said differs, what is said must not.
        let said = |matches: &ArgMatches| valid.replace_all(&format!("{matches:?}"), "").into_owned();
        assert_eq!(said(&alone), said(&among_all), "{call}");
    }
    for call in ["search", "search --no-such-flag", "ask --help"] {
        let words: Vec<OsString> = ["qipu"].into_iter().chain(call.split(' ')).map(OsString::from).collect();
        assert!(match_alone(Cli::command().find_subcommand(&words[1]).unwrap(), &words).is_none(), "{call}");
    }
}
