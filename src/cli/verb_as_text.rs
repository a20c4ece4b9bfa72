//! Refuses a verb in the place of a text: `qipu journal list` would write the word "list" into a journal.

use clap::{ArgMatches, Command};

use super::clap_errors::{OTHER_NAMES, meant, visible};
use crate::error::Error;

/// The verbs for which another command is meant than the one of that name, by the command that they follow.
const MEANT: [(&str, &str, &str); 6] = [
    ("journal", "list", "qipu list --type journal"),
    ("journal", "show", "qipu journal"),
    ("journal", "add", "qipu journal 'TEXT'"),
    ("capture", "add", "qipu capture 'TEXT'"),
    ("capture", "create", "qipu capture 'TEXT'"),
    ("capture", "new", "qipu capture 'TEXT'"),
];

/// Expects that the text of `journal` or of `capture` is not one word that is a verb of qipu. A text that is read from
/// standard input, or that has a title, is meant as a text.
///
/// # Errors
/// `Usage`, with the command that is meant.
pub(super) fn expect_text(path: &str, matches: &ArgMatches, root: fn() -> Command) -> Result<(), Error> {
    if !matches!(path, "journal" | "capture") {
        return Ok(());
    }
    let Some((_, matches)) = matches.subcommand() else { return Ok(()) };
    let given = |name: &str| matches.try_get_one::<String>(name).ok().flatten();
    let Some(word) = given("text").map(|text| text.trim()).filter(|text| is_word(text)) else { return Ok(()) };
    let Some(command) = command_meant(path, word, &root()).filter(|_| given("title").is_none()) else {
        return Ok(());
    };
    let hint =
        format!("{} A text of that word is read from standard input: `echo {word} | qipu {path} -`", meant(&command));
    Err(Error::usage(format!("`{word}` is a command, and no text to save")).hint(hint))
}

/// Tells whether a text may be the name of a command, before all of them are built.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// Returns the command that a verb in the place of a text means; `None` if it is none.
fn command_meant(path: &str, verb: &str, root: &Command) -> Option<String> {
    let own = MEANT.iter().find(|(command, word, _)| (*command, *word) == (path, verb));
    own.map(|(_, _, meant)| (*meant).to_owned()).or_else(|| path_to(verb, root)).or_else(|| {
        let (_, names) = OTHER_NAMES.iter().find(|(other, _)| *other == verb)?;
        names.iter().find_map(|name| path_to(name, root))
    })
}

/// Returns the call of the command with a name, of one that is below no other if there is one.
fn path_to(name: &str, root: &Command) -> Option<String> {
    let is_named =
        |command: &&Command| command.get_name() == name || command.get_visible_aliases().any(|other| other == name);
    let below = |group: &Command| {
        let found = visible(group).find(is_named)?;
        Some(format!("qipu {} {}", group.get_name(), found.get_name()))
    };
    let top = visible(root).find(is_named).map(|command| format!("qipu {}", command.get_name()));
    top.or_else(|| visible(root).find_map(below))
}
