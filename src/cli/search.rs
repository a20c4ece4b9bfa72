//! The words of `qipu search` and `qipu related`.

use std::ffi::OsString;

use clap::{Arg, Args, Command};
use jiff::civil::Date;

use super::list::FilterArgs;
use super::values::{count, share};
use crate::error::Error;
use crate::request::{RelatedRequest, SearchRequest};
use crate::store::Location;

/// The most notes that are found when there is no budget and nobody names a limit.
const DEFAULT_LIMIT: usize = 10;

/// What stands before a word of a query that could be taken for a flag. No text that people write
/// holds it.
const MARK: char = '\u{f5a0f}';

#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// Words; also "a phrase", -without, start*, tag:TAG, type:TYPE, title:WORD
    #[arg(required = true, value_name = "WORDS", value_parser = word)]
    words: Vec<String>,
    #[command(flatten)]
    only: FilterArgs,
    /// The most notes (10; with a budget, as many as fit)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    limit: Option<std::num::NonZeroUsize>,
    /// Only notes of at least this relevance, 0 to 1
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = share)]
    min_relevance: Option<u32>,
    /// Tell what the scores are made of
    #[arg(long)]
    explain: bool,
    /// Rank by the words alone, not by links and sequences
    #[arg(long)]
    no_graph: bool,
    /// Show notes although a digest stands for them
    #[arg(long)]
    no_compaction: bool,
}

#[derive(Debug, Args)]
pub(super) struct RelatedArgs {
    /// The note
    id: String,
    /// The most notes (10; with a budget, as many as fit)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    limit: Option<std::num::NonZeroUsize>,
}

fn limit(given: Option<std::num::NonZeroUsize>, has_budget: bool) -> Option<usize> {
    given.map(Into::into).or((!has_budget).then_some(DEFAULT_LIMIT))
}

impl SearchArgs {
    pub(super) fn into_request(
        self,
        location: Location,
        has_budget: bool,
        today: &dyn Fn() -> Date,
    ) -> Result<SearchRequest, Error> {
        Ok(SearchRequest {
            query: self.words.join(" "),
            only: self.only.into_list(location, today)?,
            limit: limit(self.limit, has_budget),
            min_relevance: self.min_relevance.unwrap_or_default(),
            explains: self.explain,
            no_graph: self.no_graph,
            no_compaction: self.no_compaction,
        })
    }
}

impl RelatedArgs {
    pub(super) fn into_request(self, location: Location, has_budget: bool) -> RelatedRequest {
        RelatedRequest { location, id: self.id, limit: limit(self.limit, has_budget) }
    }
}

/// Commands whose text may begin with a hyphen.
const TAKE_TEXT: [&str; 4] = ["ask", "search", "capture", "journal"];

/// Marks the words of a command's text that begin with `-` and are no flags, so that no parser takes them for such:
/// `-without`, `-`, and texts with white space. What begins with `--` and names a flag, or could, is none.
pub(super) fn with_marked_words(args: &[OsString], command: impl Fn() -> Command) -> Vec<OsString> {
    let may_be_marked = |pair: (usize, &OsString)| {
        let follows = || args.iter().skip(pair.0 + 1).any(|arg| arg.as_encoded_bytes().starts_with(b"-"));
        TAKE_TEXT.iter().any(|name| pair.1 == name) && follows()
    };
    if !args.iter().enumerate().any(may_be_marked) {
        return args.to_vec();
    }
    let mut root = command();
    root.build();
    let mut flags = SearchFlags::of(&root);
    let mut marked = Vec::with_capacity(args.len());
    let (mut is_value, mut is_open, mut takes_text) = (true, true, None);
    for arg in args {
        let text = arg.to_str().unwrap_or_default();
        is_open &= is_value || text != "--";
        let is_word = takes_text == Some(true) && is_open && !is_value && flags.is_hyphened_word(text);
        if takes_text.is_none() && !is_value && !text.starts_with('-') {
            takes_text = Some(TAKE_TEXT.contains(&text));
            flags = root.find_subcommand(text).map_or(flags, SearchFlags::of);
        }
        marked.push(if is_word { OsString::from(format!("{MARK}{text}")) } else { arg.clone() });
        is_value = is_open && flags.takes_value(text);
    }
    marked
}

/// Reads a word that may be marked.
pub(super) fn word(text: &str) -> Result<String, std::convert::Infallible> {
    Ok(text.strip_prefix(MARK).unwrap_or(text).to_owned())
}

/// The long flags of a command; and those of them whose value is the next word.
struct SearchFlags {
    names: Vec<String>,
    valued: Vec<String>,
}

impl SearchFlags {
    fn of(command: &Command) -> Self {
        let names = |arg: &Arg| -> Vec<String> {
            let aliases = arg.get_all_aliases().unwrap_or_default();
            arg.get_long().into_iter().chain(aliases).map(str::to_owned).collect()
        };
        // A value that may be missing is given behind `=`, or does not begin with a hyphen.
        let is_valued = |arg: &&Arg| arg.get_num_args().is_some_and(|count| count.min_values() > 0);
        Self {
            names: command.get_arguments().flat_map(names).collect(),
            valued: command.get_arguments().filter(is_valued).flat_map(names).collect(),
        }
    }

    fn takes_value(&self, text: &str) -> bool {
        text.strip_prefix("--").is_some_and(|name| self.valued.iter().any(|have| have == name))
    }

    /// Tells whether a text begins with a hyphen and is no flag, nor one that is misspelt.
    fn is_hyphened_word(&self, text: &str) -> bool {
        let Some(rest) = text.strip_prefix("--") else { return text.starts_with('-') && text != "-h" };
        let name = rest.split('=').next().unwrap_or_default();
        !self.names.iter().any(|have| have == name) && name.contains(char::is_whitespace)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn marked(line: &[&str]) -> Vec<String> {
        let args: Vec<OsString> = ["qipu"].iter().chain(line).map(OsString::from).collect();
        let marked = with_marked_words(&args, super::super::Cli::command);
        marked.iter().skip(1).map(|arg| arg.to_str().unwrap().replace(MARK, "^")).collect()
    }

    #[test]
    fn flags_with_two_words_are_flags_and_hyphened_words_are_words() {
        let same = [
            &["search", "log", "--since=last week"][..],
            &["search", "--store=My Notes/.qipu", "log", "--tag", "-x", "--custom-filter=a b"],
            &["search", "log", "--sinse=last week", "--unknown", "-h", "--", "-x", "--a b"],
            &["--store", "search", "list", "-x"],
            &["context", "search", "-x", "--a b"],
            &["capture", "--tagg=x", "--title", "- a", "text"],
            &["journal", "--date=last week", "--dates"],
            &["search"],
        ];
        for line in same {
            assert_eq!(marked(line), line);
        }
        let words = [
            (&["search", "-x", "- a", "--two words", "-"][..], &["search", "^-x", "^- a", "^--two words", "^-"][..]),
            (&["--color", "never", "search", "a", "-x"], &["--color", "never", "search", "a", "^-x"]),
            (&["capture", "- [ ] a task"], &["capture", "^- [ ] a task"]),
            (&["journal", "--date", "yesterday", "-a b"], &["journal", "--date", "yesterday", "^-a b"]),
        ];
        for (line, expected) in words {
            assert_eq!(marked(line), expected);
        }
    }
}
