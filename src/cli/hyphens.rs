//! Words that begin with a hyphen in the text of a command, such as `-9` in the question `what does kill -9 do`.

use std::ffi::OsString;

use clap::{Arg, Command};

use super::command_properties::{CommandProperty, properties_of};

/// Moves the text of a command after its flags and `--`, in its order, if one of its words begins with a hyphen and is
/// no flag: `-9`, `-`, and arguments with white space. Else returns the arguments as they are.
///
/// An argument that begins with `--` and could be the name of a flag stays one: clap refuses it if it is unknown, since a
/// flag of another command or another program (`--top-k 5`) would otherwise become words without notice. `-h` is a word
/// between words only.
pub(super) fn text_behind_flags(args: &[OsString], command: impl Fn() -> Command) -> Vec<OsString> {
    let has =
        |command: &OsString, property| command.to_str().is_some_and(|name| properties_of(name).contains(&property));
    let takes_text = |command: &OsString| has(command, CommandProperty::Text);
    let is_short_flag = |command: &OsString, word: &str| {
        (word == "-q" && has(command, CommandProperty::Quiet)) || (word == "-0" && has(command, CommandProperty::Lines))
    };
    let mut from_command = args.iter().skip_while(|arg| !takes_text(arg));
    // Building all commands takes longer than parsing most calls.
    if !from_command.any(may_be_text) {
        return args.to_vec();
    }
    let mut root = command();
    root.build();
    let mut long_flags = LongFlags::of(&root);
    let mut subcommand: Option<&OsString> = None;
    let mut has_hyphened = false;
    let mut rest = args.iter();
    let (mut flags, mut text): (Vec<OsString>, Vec<OsString>) =
        (rest.next().cloned().into_iter().collect(), Vec::new());
    while let Some(arg) = rest.next() {
        let word = arg.to_str().unwrap_or_default();
        let next = rest.as_slice().first();
        let is_between_words = !text.is_empty() && next.is_some_and(|next| !begins_with_hyphen(next));
        let is_text = |command: &OsString| match word {
            "-h" => is_between_words,
            _ => long_flags.is_text(word) && !is_short_flag(command, word),
        };
        if word == "--" {
            text.extend(rest.by_ref().cloned());
        } else if subcommand.is_some() && long_flags.has_limit && is_limit(word, rest.as_slice(), !text.is_empty()) {
            flags.push(arg.clone());
            flags.extend((word == "-n").then(|| rest.next().cloned()).flatten());
        } else if long_flags.takes_value(word) {
            flags.push(arg.clone());
            flags.extend(rest.next().cloned());
        } else if subcommand.is_some_and(|command| takes_text(command) && is_text(command)) {
            has_hyphened |= word.starts_with('-');
            text.push(arg.clone());
        } else {
            if subcommand.is_none() && !word.starts_with('-') {
                subcommand = Some(arg);
                long_flags = root.find_subcommand(word).map_or(long_flags, LongFlags::of);
            }
            flags.push(arg.clone());
        }
    }
    if !has_hyphened {
        return args.to_vec();
    }
    flags.push("--".into());
    flags.extend(text);
    flags
}

/// Whether a word is `-n` before a number, or with one. Between words, it is one of them: `head -n 5 prints`.
fn is_limit(word: &str, after: &[OsString], has_text: bool) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (is_flag, next) = match word.strip_prefix("-n") {
        Some("") => (after.first().and_then(|next| next.to_str()).is_some_and(is_number), after.get(1)),
        Some(number) => (is_number(number), after.first()),
        None => return false,
    };
    is_flag && !(has_text && next.is_some_and(|next| !begins_with_hyphen(next)))
}

fn begins_with_hyphen(arg: &OsString) -> bool {
    arg.as_encoded_bytes().starts_with(b"-")
}

/// Tells cheaply whether an argument with a hyphen may be text: it has only one, or white space.
fn may_be_text(arg: &OsString) -> bool {
    let bytes = arg.as_encoded_bytes();
    let is_long = bytes.starts_with(b"--");
    // Other white space than that of ASCII is not ASCII.
    begins_with_hyphen(arg) && (!is_long || bytes.iter().any(|byte| byte.is_ascii_whitespace() || !byte.is_ascii()))
}

/// Returns the name of the subcommand: the first argument that is neither a flag nor the value of one.
pub(super) fn subcommand(args: &[OsString], mut root: Command) -> Option<&OsString> {
    root.build();
    let long_flags = LongFlags::of(&root);
    let mut rest = args.iter().skip(1);
    while let Some(arg) = rest.next() {
        let word = arg.to_str().unwrap_or_default();
        if long_flags.takes_value(word) {
            rest.next();
        } else if !word.starts_with('-') {
            return Some(arg);
        }
    }
    None
}

/// The names of a command's long flags, without `--`.
struct LongFlags {
    /// Whether `-n N` limits the results.
    has_limit: bool,
    all: Vec<String>,
    /// Those that take the next argument as their value.
    valued: Vec<String>,
}

impl LongFlags {
    fn of(command: &Command) -> Self {
        let names = |arg: &Arg| -> Vec<String> {
            let aliases = arg.get_all_aliases().unwrap_or_default();
            arg.get_long().into_iter().chain(aliases).map(str::to_owned).collect()
        };
        // An optional value follows `=`, or does not begin with a hyphen.
        let is_valued = |arg: &&Arg| arg.get_num_args().is_some_and(|count| count.min_values() > 0);
        Self {
            has_limit: command.get_arguments().any(|arg| arg.get_short() == Some('n')),
            all: command.get_arguments().flat_map(names).collect(),
            valued: command.get_arguments().filter(is_valued).flat_map(names).collect(),
        }
    }

    fn takes_value(&self, word: &str) -> bool {
        word.strip_prefix("--").is_some_and(|name| self.valued.iter().any(|flag| flag == name))
    }

    /// Tells whether a word is text: neither a flag nor a misspelt one.
    fn is_text(&self, word: &str) -> bool {
        let Some(rest) = word.strip_prefix("--") else { return true };
        let name = rest.split('=').next().unwrap_or_default();
        !self.all.iter().any(|flag| flag == name) && name.contains(char::is_whitespace)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn ordered(line: &[&str]) -> Vec<String> {
        let args: Vec<OsString> = ["qipu"].iter().chain(line).map(OsString::from).collect();
        let ordered = text_behind_flags(&args, super::super::Cli::command);
        ordered.iter().skip(1).map(|arg| arg.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn flags_with_two_words_are_flags_and_hyphened_words_are_words() {
        let same = [
            &["search", "log", "--since=last week"][..],
            &["search", "--store=My Notes/.qipu", "log", "--tag", "-x", "--custom-filter=a b"],
            &["search", "log", "--sinse=last week", "--unknown", "-h", "--", "-x", "--a b"],
            &["--store", "search", "list", "-x"],
            &["list", "search", "-x", "--a b"],
            &["ask", "words", "--max-chars", "500"],
            &["ask", "words", "-h"],
            &["ask", "-h", "words"],
            &["ask", "words", "-h", "--plain"],
            &["ask", "words", "--top-k", "5"],
            &["context", "--note", "-", "--query", "-rf"],
            &["capture", "--tagg=x", "--title", "- a", "text"],
            &["journal", "--date=last week", "--dates"],
            &["capture", "-q", "text"],
            &["search", "text", "-0"],
            &["search", "-q", "text", "-n", "3"],
            &["search", "text", "-n3"],
            &["-q", "journal", "text"],
            &["search"],
        ];
        for line in same {
            assert_eq!(ordered(line), line);
        }
        let words = [
            (&["search", "-x", "- a", "--two words", "-"][..], &["search", "--", "-x", "- a", "--two words", "-"][..]),
            (&["--color", "never", "search", "a", "-x"], &["--color", "never", "search", "--", "a", "-x"]),
            (&["search", "a", "-x", "--tag", "-t", "b"], &["search", "--tag", "-t", "--", "a", "-x", "b"]),
            (
                &["ask", "what", "does", "kill", "-9", "do", "--max-chars", "500"],
                &["ask", "--max-chars", "500", "--", "what", "does", "kill", "-9", "do"],
            ),
            (&["ask", "df", "-h", "shows"], &["ask", "--", "df", "-h", "shows"]),
            (&["ask", "--json", "rm", "-rf"], &["ask", "--json", "--", "rm", "-rf"]),
            (&["browse", "-lssl"], &["browse", "--", "-lssl"]),
            (&["search", "--without", "-f", "push", "-f"], &["search", "--without", "-f", "--", "push", "-f"]),
            (&["capture", "- [ ] a task"], &["capture", "--", "- [ ] a task"]),
            (&["capture", "- a", "-q"], &["capture", "-q", "--", "- a"]),
            (&["ask", "-n", "3", "x", "-9"], &["ask", "-n", "3", "--", "x", "-9"]),
            (&["ask", "x", "-9", "-n", "3"], &["ask", "-n", "3", "--", "x", "-9"]),
            (&["ask", "head", "-n", "5", "prints"], &["ask", "--", "head", "-n", "5", "prints"]),
            (&["ask", "-n", "x"], &["ask", "--", "-n", "x"]),
            (&["capture", "-n", "3"], &["capture", "--", "-n", "3"]),
            (&["browse", "-q"], &["browse", "--", "-q"]),
            (&["search", "a", "-x", "-0"], &["search", "-0", "--", "a", "-x"]),
            (&["capture", "-0"], &["capture", "--", "-0"]),
            (&["journal", "-a b", "--date", "yesterday"], &["journal", "--date", "yesterday", "--", "-a b"]),
        ];
        for (line, expected) in words {
            assert_eq!(ordered(line), expected);
        }
    }
}
