//! Completions for shells: commands, flags, and the existing ids, tags, types and recipes.
//!
//! The shell calls the program with [`COMPLETE`] set. The values are attached here to the command line of `cli`, by the
//! names of values in the help, so that ordinary calls do not pay for them. After an error, there are no completions.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use clap::builder::ValueHint;
use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::Shells;
use unicode_normalization::char::is_combining_mark;

use crate::cli::{self, COMPLETE};
use crate::env::Env;
use crate::escape::one_line;
use crate::setup;
use crate::store::{Location, NoteHandle, Store};

/// Returns the completions for a shell, in its format; `None` if this is an ordinary call.
pub fn answer(args: &[OsString], env: &Env) -> Option<Vec<u8>> {
    let shells = Shells::builtins();
    let name = env.vars.get(COMPLETE)?.to_str()?;
    let shell = shells.completer(name)?;
    let words: Vec<OsString> = args.iter().skip_while(|arg| *arg != "--").skip(1).cloned().collect();
    let context = Arc::new(CompletionContext::new(name, &words, env));
    let mut command = with_values(cli::command(), "", &context);
    command.build();
    let mut answer = Vec::new();
    let is_written = shell.write_complete(&mut command, words, Some(&env.current_dir), &mut answer).is_ok();
    Some(if is_written { answer } else { Vec::new() })
}

/// The arguments before the one that is completed, and the store, which is opened on first use.
struct CompletionContext {
    location: Location,
    current_dir: PathBuf,
    store: OnceLock<Option<Store>>,
    /// The arguments before the one that is completed.
    words: Vec<OsString>,
    /// Whether the shell quotes the completions that it inserts.
    is_quoting: bool,
}

impl CompletionContext {
    fn new(shell: &str, words: &[OsString], env: &Env) -> Self {
        let given = |flag: &str| {
            let pair = words.windows(2).find(|pair| pair[0] == flag).map(|pair| PathBuf::from(&pair[1]));
            let joined = words.iter().find_map(|word| word.to_str()?.strip_prefix(flag)?.strip_prefix('='));
            pair.or_else(|| joined.map(PathBuf::from))
        };
        let of_env = env.vars.get("QIPU_STORE").map(PathBuf::from);
        let store = given("--store").or(of_env);
        let words = words.split_last().map_or(Vec::new(), |(_, before)| before.to_vec());
        let (cache, settings) = (env.cache_dir.clone(), env.settings_dir.clone());
        let (data, home) = (env.data_dir.clone(), env.home.clone());
        let location = Location { store, cache, settings, data, home, ..Location::default() };
        let is_quoting = matches!(shell, "zsh" | "fish");
        Self { location, current_dir: env.current_dir.clone(), store: OnceLock::new(), words, is_quoting }
    }

    /// Returns the store; `None` if it can't be opened.
    fn store(&self) -> Option<&Store> {
        self.store.get_or_init(|| Store::open(&self.location, &self.current_dir).ok()).as_ref()
    }

    /// Returns the subcommands of the command that is named after `man`, each with its description.
    fn commands(&self) -> Vec<(String, Option<String>)> {
        let named = self.words.iter().skip_while(|word| *word != "man").skip(1);
        let command = named.fold(cli::command(), |above, word| match above.find_subcommand(word) {
            Some(found) => found.clone(),
            None => above,
        });
        let below = command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help");
        below.map(|below| (below.get_name().to_owned(), below.get_about().map(ToString::to_string))).collect()
    }

    fn notes(&self) -> &[Arc<NoteHandle>] {
        self.store().map_or(&[], Store::notes)
    }

    /// Returns the paths that begin with `text`, without those that the shell would not read as one word.
    fn paths(&self, text: &OsStr, hint: ValueHint) -> Vec<CompletionCandidate> {
        let completer = match hint {
            ValueHint::DirPath => PathCompleter::dir(),
            ValueHint::FilePath => PathCompleter::file(),
            _ => PathCompleter::any(),
        };
        let is_path = |candidate: &CompletionCandidate| {
            let path = candidate.get_value().to_str();
            // A shell that quotes candidates can insert most paths.
            let is_quotable =
                |path: &str| self.is_quoting && !path.starts_with('-') && !path.contains(char::is_control);
            path.is_some_and(|path| is_plain(path) || is_quotable(path))
        };
        let mut paths = completer.current_dir(&self.current_dir).complete(text);
        paths.retain(is_path);
        paths
    }
}

/// Tells whether every shell reads a text, unquoted, as one word that is not an option: Bash inserts candidates unquoted,
/// and a candidate may come from an untrusted note.
///
/// Allows only what is known to be safe: letters and digits of any script with their marks, and punctuation without a
/// meaning inside a word in any shell.
fn is_plain(text: &str) -> bool {
    let is_safe = |c: char| c.is_alphanumeric() || is_combining_mark(c) || "_-./:+@".contains(c);
    let is_first_safe = !text.starts_with(['-', '@', '+', ':']) && !text.starts_with(is_combining_mark);
    !text.is_empty() && is_first_safe && text.chars().all(is_safe)
}

/// The kinds of values that are completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Values {
    Ids,
    Tags,
    Kinds,
    LinkTypes,
    LinkTypesAndIds,
    Recipes,
    Commands,
}

impl Values {
    /// Returns the kind of a value by the path of its command and its name in the help.
    fn of(path: &str, name: &str) -> Option<Self> {
        match (path, name) {
            (_, "ID" | "ID or WORDS" | "FROM" | "TO" | "INTO" | "DIGEST") => Some(Self::Ids),
            (_, "TAG") => Some(Self::Tags),
            (_, "TYPE or ID") => Some(Self::LinkTypesAndIds),
            (path, "TYPE") if path.starts_with("link ") => Some(Self::LinkTypes),
            (_, "TYPE") => Some(Self::Kinds),
            (_, "RECIPE") => Some(Self::Recipes),
            ("man", "COMMAND") => Some(Self::Commands),
            _ => None,
        }
    }

    /// Returns the values that begin with `text`, ids with their titles.
    fn beginning_with(self, text: &str, context: &CompletionContext) -> Vec<CompletionCandidate> {
        let notes = || context.notes().iter();
        let one = |value: &str| (value.to_owned(), None);
        let all: Vec<(String, Option<String>)> = match self {
            Self::Ids => {
                let notes = notes().filter(|note| note.id.as_str().starts_with(text));
                notes.map(|note| (note.id.to_string(), Some(one_line(note.title())))).collect()
            }
            Self::Tags => notes().flat_map(|note| note.tags()).collect::<BTreeSet<_>>().into_iter().map(one).collect(),
            Self::Kinds => {
                notes().map(|note| note.list_fields().kind).collect::<BTreeSet<_>>().into_iter().map(one).collect()
            }
            Self::LinkTypes => {
                context.store().iter().flat_map(|store| store.config.link_types.names()).map(one).collect()
            }
            Self::LinkTypesAndIds => {
                let [types, ids] = [Self::LinkTypes, Self::Ids].map(|values| values.beginning_with(text, context));
                return types.into_iter().chain(ids).collect();
            }
            Self::Commands => context.commands(),
            Self::Recipes => setup::RECIPES.iter().map(|recipe| one(recipe.name)).collect(),
        };
        let fitting = all.into_iter().filter(|(value, _)| value.starts_with(text) && is_plain(value));
        fitting.map(|(value, help)| CompletionCandidate::new(value).help(help.map(Into::into))).collect()
    }
}

/// Attaches values to every argument of the commands below one. `parent`: its path, empty for the program.
fn with_values(command: Command, parent: &str, context: &Arc<CompletionContext>) -> Command {
    let is_root = command.get_version().is_some();
    let path = if is_root { String::new() } else { format!("{parent} {}", command.get_name()).trim_start().to_owned() };
    let command = command.mut_args(|arg| with_value(arg, &path, context));
    command.mut_subcommands(|below| with_values(below, &path, context))
}

/// Attaches values to an argument, by its name or hint.
fn with_value(arg: Arg, command: &str, context: &Arc<CompletionContext>) -> Arg {
    let names: Vec<&str> = arg.get_value_names().unwrap_or_default().iter().map(|name| name.as_str()).collect();
    let values = names.first().and_then(|name| Values::of(command, name));
    let hint = arg.get_value_hint();
    let context = Arc::clone(context);
    if let Some(values) = values {
        let complete = move |text: &OsStr| values.beginning_with(text.to_str().unwrap_or("\0"), &context);
        return arg.add(ArgValueCompleter::new(complete));
    }
    match hint {
        ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath => {
            arg.add(ArgValueCompleter::new(move |text: &OsStr| context.paths(text, hint)))
        }
        _ => arg,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_of_people_are_plain() {
        for word in
            ["fsync", "qp-h2v6", "c++", "a/b.c", "café", "cafe\u{301}", "設計", "हिन्दी", "v1.2", "me@home", "a:b", ".x"]
        {
            assert!(is_plain(word), "{word}");
        }
    }

    /// Tells whether Bash, Zsh, Fish, Elvish or PowerShell may give a character a meaning of its own.
    fn is_meaningful(c: char) -> bool {
        // PowerShell takes curly quotes and long dashes for straight ones.
        let is_powershell = matches!(c, '\u{2013}'..='\u{201e}');
        // Fish keeps its own marks among the private characters.
        let is_fish = matches!(c, '\u{e000}'..='\u{f8ff}');
        "$`\\\"'!&|;<>(){}[]*?~#%^=,".contains(c) || c.is_whitespace() || c.is_control() || is_powershell || is_fish
    }

    proptest! {
        #[test]
        fn nothing_that_a_shell_interprets_is_completed(text in "[a-c\\PC\\x00-\\x7f]{0,8}", meaningful in any::<char>(), at in 0_usize..9) {
            let mut chars: Vec<char> = text.chars().collect();
            chars.insert(at.min(chars.len()), meaningful);
            let text: String = chars.into_iter().collect();
            prop_assert!(!(is_plain(&text) && (text.contains(is_meaningful) || text.starts_with('-'))), "{text:?}");
        }
    }
}
