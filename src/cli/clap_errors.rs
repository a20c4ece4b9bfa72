//! Converts the errors of clap to those of this program: what is wrong, and one hint.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

use super::export;
use crate::error::Error;
use crate::escape::{one_line, shell_word};

/// Names of commands in other programs, and the commands of qipu that may be meant, the likeliest first.
pub(super) const OTHER_NAMES: [(&str, &[&str]); 18] = [
    ("add", &["add", "capture"]),
    ("cat", &["show"]),
    ("check", &["doctor"]),
    ("del", &["delete", "remove"]),
    ("evaluate", &["eval"]),
    ("find", &["search"]),
    ("get", &["show"]),
    ("grep", &["search"]),
    ("install", &["setup"]),
    ("ls", &["list"]),
    ("note", &["capture"]),
    ("query", &["search"]),
    ("read", &["show"]),
    ("remember", &["capture"]),
    ("remove", &["delete"]),
    ("rm", &["delete", "remove"]),
    ("save", &["capture"]),
    ("view", &["show"]),
];

const CAPTURE: &str = "did you mean `qipu capture --title TITLE`? `qipu capture 'TEXT'` takes the title from the text";

const EDIT: &str = "did you mean `qipu update ID`? on a terminal, without flags, it opens your editor";
const RENAME: &str = "did you mean `qipu update ID --title TITLE`?";

/// Words that are no command, and the hints with the calls that do what they ask for.
const CALLS: [(&str, &str); 17] = [
    (
        "anchor",
        "did you mean `qipu update ID --code src/a.rs`? `qipu capture 'TEXT' --code src/a.rs` saves a new note with it",
    ),
    ("compact", "did you mean `qipu link add DIGEST compacts ID`? `qipu link remove DIGEST compacts ID` undoes it"),
    ("create", CAPTURE),
    ("diff", "did you mean `qipu history --since REV`?"),
    ("edit", EDIT),
    ("graph", export::WORDS),
    ("index", "did you mean `qipu status`?"),
    ("inbox", "did you mean `qipu list --type fleeting`?"),
    ("mv", RENAME),
    ("new", CAPTURE),
    ("open", EDIT),
    ("related", "did you mean `qipu search --like ID`?"),
    ("rename", RENAME),
    ("stale", "did you mean `qipu review --kind code,due`?"),
    ("tag", "did you mean `qipu status --tags`?"),
    ("tags", "did you mean `qipu status --tags`?"),
    ("where", "did you mean `qipu status`?"),
];

/// Flags of other programs, and the flags of qipu that may be meant, the likeliest first.
const OTHER_FLAGS: [(&str, &[&str]); 14] = [
    ("as", &["bulk"]),
    ("budget", &["max-chars"]),
    ("count", &["limit"]),
    ("index-name", &["bulk"]),
    ("max-length", &["max-chars"]),
    ("max-results", &["limit"]),
    ("only", &["in"]),
    ("path", &["store"]),
    ("root", &["store"]),
    ("size", &["max-chars"]),
    ("top-k", &["limit"]),
    ("source", &["store"]),
    ("to", &["in"]),
    ("tokens", &["max-tokens"]),
];

/// Flags that commands had, each with a flag or value that a command of today has in their place, and the hint.
const FORMER_FLAGS: [(&str, &str, &str); 8] = [
    ("exclude-type", "via", "name the types to follow: `--via TYPE,TYPE`"),
    ("inline-only", "via", "did you mean `--via inline`?"),
    ("max-fanout", "via", "`--limit N` and a budget bound the notes"),
    ("no-inversion", "via", "`--direction out` shows links as they are written, from the other note"),
    ("open", "title", "a title without a text opens your editor, on a terminal"),
    ("type", "rest", TYPE_OF_LINK),
    ("type", "via", "did you mean `--via TYPE`?"),
    ("typed-only", "via", "did you mean `--via typed`?"),
];

const TYPE_OF_LINK: &str = "the type stands between the notes, as in `qipu link add ID supports NEW`";

/// The least Jaro similarity, 0 to 1, of a command that is suggested.
const MIN_SIMILARITY: f64 = 0.75;
/// The letters of a flag for each edit that a misspelling of it may contain: `--at` is no misspelt `--path`.
const LETTERS_FOR_EDIT: usize = 4;
/// The largest edit distance of a flag that is suggested.
const MAX_DISTANCE: usize = 2;

/// Returns the usage error for arguments that clap refused. `root`: the whole command line.
pub(super) fn error(error: &clap::Error, root: &Command, words: &[OsString]) -> Error {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
    let usage = text_of(error, ContextKind::Usage).unwrap_or_default();
    let (path, command) = command_of(root, &usage, words);
    let hint = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            let path = if path.is_empty() { "qipu".to_owned() } else { format!("qipu {path}") };
            return Error::usage(format!("`{path}` needs a command")).hint(list_of_commands(command));
        }
        ErrorKind::InvalidSubcommand => subcommand_hint(error, &path, command, words),
        ErrorKind::UnknownArgument => argument_hint(error, root, command, words),
        ErrorKind::InvalidValue => text_of(error, ContextKind::SuggestedValue).map(|value| meant(&value)),
        _ => None,
    };
    let message = text.split_once("\n\n").map_or(text, |(message, _)| message);
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let help = format!("see `{} --help`", format!("qipu {path}").trim_end());
    // After an unknown flag, clap's usage contains the flag that it suggests.
    let usage = usage.strip_prefix("Usage: ").filter(|_| error.kind() != ErrorKind::UnknownArgument);
    let usage = usage.map(|usage| usage.split_whitespace().collect::<Vec<_>>().join(" "));
    let usage = usage.map(|usage| format!("usage: {}; {help}", usage.replace("] qipu ", "], or qipu ")));
    Error::usage(message).hint(hint.or(usage).unwrap_or(help))
}

/// Returns the question whether a name is meant.
pub(super) fn meant(name: &str) -> String {
    format!("did you mean `{name}`?")
}

/// Returns the command that was called, with its path below `qipu`: that of clap's usage line, else the one that the
/// arguments name.
fn command_of<'a>(root: &'a Command, usage: &str, words: &[OsString]) -> (String, &'a Command) {
    let of_usage = usage.split_whitespace().skip_while(|word| *word != "qipu").skip(1).map(str::to_owned);
    let of_usage: Vec<String> = of_usage.collect();
    let names = if of_usage.is_empty() { without_flags(root, words) } else { of_usage };
    let mut path: Vec<&str> = Vec::new();
    let mut command = root;
    for name in names {
        let Some(below) = command.find_subcommand(name) else { break };
        path.push(below.get_name());
        command = below;
    }
    (path.join(" "), command)
}

/// Returns the arguments of a call without the common flags and their values.
fn without_flags(root: &Command, words: &[OsString]) -> Vec<String> {
    let mut words = words.iter().skip(1).filter_map(|word| word.to_str());
    let mut names = Vec::new();
    while let Some(word) = words.next() {
        let is_flag = |arg: &&Arg| arg.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long));
        match root.get_arguments().find(is_flag) {
            Some(flag) if flag.get_action().takes_values() => drop(words.next()),
            _ if word.starts_with('-') => {}
            _ => names.push(word.to_owned()),
        }
    }
    names
}

/// Iterates the subcommands that help lists.
pub(super) fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help")
}

fn list_of_commands(command: &Command) -> String {
    if command.get_name() == "export" {
        return export::WORDS.to_owned();
    }
    format!("commands: {}", visible(command).map(Command::get_name).collect::<Vec<_>>().join(", "))
}

/// Suggests the one command that is most likely meant, else lists those of a group; `None` if there are too many to list.
fn subcommand_hint(error: &clap::Error, path: &str, command: &Command, words: &[OsString]) -> Option<String> {
    let name = text_of(error, ContextKind::InvalidSubcommand)?;
    if let Some((_, hint)) = CALLS.iter().find(|(other, _)| path.is_empty() && *other == name) {
        return Some((*hint).to_owned());
    }
    let others = OTHER_NAMES.iter().find(|(other, _)| *other == name).map_or(&[][..], |(_, meant)| meant);
    let known = others.iter().find(|other| visible(command).any(|below| below.get_name() == **other)).copied();
    let similarity = |below: &Command| strsim::jaro(below.get_name(), &name);
    let similar = || {
        let scored = visible(command).map(|below| (similarity(below), below.get_name()));
        let best = scored.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score >= MIN_SIMILARITY);
        best.map(|(_, name)| name)
    };
    let Some(found) = known.or_else(similar) else {
        return (!path.is_empty()).then(|| unknown_in_group(path, &name, command, words));
    };
    let path = if path.is_empty() { String::new() } else { format!("{path} ") };
    Some(meant(&format!("qipu {path}{found}")))
}

/// Returns the hint for a word after `link` or `export` that is no command of it.
fn unknown_in_group(path: &str, name: &str, command: &Command, words: &[OsString]) -> String {
    let after = words.iter().skip_while(|word| word.to_str() != Some(name)).nth(1).and_then(|word| word.to_str());
    match after.filter(|after| path == "link" && !after.starts_with('-')) {
        Some(to) => meant(&one_line(&format!("qipu link add {name} {to}"))),
        None => list_of_commands(command),
    }
}

/// Suggests a flag that is probably meant, else `--set` if a field may be meant. For a command that takes words, also names
/// `context` if that has the flag, and tells how to search for it as a word.
fn argument_hint(error: &clap::Error, root: &Command, command: &Command, words: &[OsString]) -> Option<String> {
    let given = text_of(error, ContextKind::InvalidArg)?;
    let name = given.trim_start_matches('-');
    if command.get_name() == "context" && !given.starts_with('-') {
        return Some(meant(&one_line(&format!("qipu ask {}", shell_word(&given)))));
    }
    if command.get_name() == "import" && !given.starts_with('-') {
        return Some(meant(&one_line(&format!("qipu import {}", shell_word(&given)))));
    }
    if command.get_name() == "show" && given == "--query" {
        return Some("`qipu ask WORDS --note ID` answers from one note".to_owned());
    }
    let has = |own: &str| command.get_arguments().any(|arg| arg.get_id() == own);
    if let Some((.., hint)) = FORMER_FLAGS.iter().find(|(former, own, _)| *former == name && has(own)) {
        return Some((*hint).to_owned());
    }
    let similar = similar_flag(root, command, name).map(|flag| meant(&format!("--{flag}")));
    if command.get_positionals().any(|arg| arg.get_id() == "words") {
        let context = root.find_subcommand("context").filter(|context| flags(context).any(|flag| flag == name));
        let of_context = context.map(|_| format!("`qipu context --query \"WORDS\"` takes `--{name}`;"));
        let search = format!("to search for `{}`, put `--` before the words", one_line(&given));
        return Some(of_context.or(similar).map_or(search.clone(), |hint| format!("{hint} {search}")));
    }
    let of_below = || {
        let mut below = visible(command).filter(|_| command.get_name() != root.get_name());
        let (name, flag) = below.find_map(|below| Some((below.get_name(), similar_flag(below, below, name)?)))?;
        Some(meant(&format!("qipu {} {name} --{flag}", command.get_name())))
    };
    if let Some(hint) = similar.or_else(of_below) {
        return Some(hint);
    }
    if matches!(given.as_str(), "-o" | "--output") && command.get_positionals().any(|arg| arg.get_id() == "file") {
        return Some("the file needs no flag".to_owned());
    }
    let takes_fields = command.get_arguments().any(|arg| arg.get_long() == Some("set"));
    let field = given.strip_prefix("--").filter(|_| takes_fields);
    field.map(|field| {
        let value = value_of(field, words).unwrap_or_else(|| "VALUE".to_owned());
        format!("`--set {field}={value}` sets a field of that name")
    })
}

/// Iterates the long flags of a command, without `--`, those that every command takes aside.
fn flags(command: &Command) -> impl Iterator<Item = &str> {
    let own = command.get_arguments().filter(|arg| !arg.is_hide_set());
    own.flat_map(|arg| arg.get_long().into_iter().chain(arg.get_visible_aliases().unwrap_or_default()))
}

/// Returns the flag of a command whose name a given one resembles: it is a known other name, nearly the same, or some of its
/// words.
///
/// clap suggests by Jaro similarity alone, which is high for short names that share a few letters: `--verbose` for
/// `--purpose`, `--at` for `--path`.
fn similar_flag<'a>(root: &'a Command, command: &'a Command, given: &str) -> Option<&'a str> {
    let has_flag = |name: &&str| flags(command).any(|flag| flag == *name);
    let common = flags(root).filter(|name| *name != "help" && *name != "version");
    let all: Vec<&str> = flags(command).chain(common).collect();
    let others = OTHER_FLAGS.iter().find(|(other, _)| *other == given).map_or(&[][..], |(_, meant)| meant);
    let known = others.iter().find_map(|other| all.iter().find(|flag| *flag == other).copied());
    let distance = |flag: &str| strsim::osa_distance(flag, given);
    let is_close = |flag: &&&str| {
        let length = flag.len().min(given.len());
        distance(flag) <= (length / LETTERS_FOR_EDIT).clamp(1, MAX_DISTANCE) && length > 2
    };
    let close = || all.iter().filter(is_close).min_by_key(|flag| distance(flag)).copied();
    let is_part = |flag: &&&str| {
        let padded = format!("-{flag}-");
        given.len() > 2 && (padded.contains(&format!("-{given}-")) || flag.starts_with(given))
    };
    let part = || all.iter().filter(is_part).max_by_key(|flag| has_flag(flag)).copied();
    known.or_else(close).or_else(part)
}

/// Returns the value of a flag, if no shell needs quotes for it.
fn value_of(flag: &str, words: &[OsString]) -> Option<String> {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let joined = words.iter().find_map(|word| word.strip_prefix("--")?.strip_prefix(flag)?.strip_prefix('='));
    let next = || {
        let pair = words.windows(2).find(|pair| pair[0].strip_prefix("--") == Some(flag))?;
        Some(pair[1]).filter(|value| !value.starts_with('-'))
    };
    let value = joined.or_else(next)?;
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/');
    (!value.is_empty() && value.chars().all(is_plain)).then(|| value.to_owned())
}

/// Returns a text that clap attached to an error; of several suggestions the best, which is the last.
fn text_of(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::StyledStr(text) => Some(text.to_string()),
        ContextValue::Strings(texts) => texts.last().cloned(),
        _ => None,
    }
}
