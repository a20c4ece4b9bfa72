//! The words of `qipu search` and `qipu related`.

use std::ffi::OsString;

use clap::Args;
use jiff::civil::Date;

use super::list::FilterArgs;
use crate::error::Error;
use crate::request::{Related, Search};
use crate::store::Location;

/// The most notes that are found when there is no budget and nobody names a limit.
const DEFAULT_LIMIT: usize = 10;
/// Millionths of 1.
const MILLION: f64 = 1_000_000.0;

/// What stands before a word of a query that could be taken for a flag. No text that people write
/// holds it.
const MARK: char = '\u{f5a0f}';

#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// Words; also "a phrase", -without, start*, tag:TAG, type:TYPE, title:WORD
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,
    #[command(flatten)]
    only: FilterArgs,
    /// The most notes (10; with a budget, as many as fit)
    #[arg(long, value_name = "N", value_parser = count)]
    limit: Option<std::num::NonZeroUsize>,
    /// Only notes of at least this relevance, 0 to 1
    #[arg(long, value_name = "R", value_parser = relevance)]
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
    #[arg(long, value_name = "N", value_parser = count)]
    limit: Option<std::num::NonZeroUsize>,
}

/// Reads a relevance; returns it in millionths.
pub(super) fn relevance(text: &str) -> Result<u32, String> {
    let number: Option<f64> = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.map(|number| (number * MILLION).round() as u32).ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

pub(super) fn count(text: &str) -> Result<std::num::NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a whole number, 1 or more".to_owned())
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
    ) -> Result<Search, Error> {
        let words: Vec<&str> = self.words.iter().map(|word| word.strip_prefix(MARK).unwrap_or(word)).collect();
        Ok(Search {
            query: words.join(" "),
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
    pub(super) fn into_request(self, location: Location, has_budget: bool) -> Related {
        Related { location, id: self.id, limit: limit(self.limit, has_budget) }
    }
}

/// Marks the words behind `search` that begin with `-` and are no flags, so that no parser takes
/// them for such: `-without`, `-`, and texts with white space. What begins with `--` and holds no white
/// space is a flag.
pub(super) fn with_marked_words(args: &[OsString]) -> Vec<OsString> {
    let mut is_search = false;
    let mut is_value = false;
    let mut is_open = true;
    let mut marked = Vec::with_capacity(args.len());
    for arg in args {
        let text = arg.to_str().unwrap_or_default();
        is_open &= text != "--";
        let is_word = is_search && is_open && !is_value && is_hyphened_word(text);
        marked.push(if is_word { OsString::from(format!("{MARK}{text}")) } else { arg.clone() });
        is_search |= text == "search";
        is_value = VALUED.contains(&text);
    }
    marked
}

/// Flags of `search` whose value is the next word.
const VALUED: [&str; 17] = [
    "--format",
    "--records-version",
    "--max-chars",
    "--max-tokens",
    "--store",
    "--root",
    "--today",
    "--type",
    "--tag",
    "--since",
    "--until",
    "--min-value",
    "--custom-filter",
    "--limit",
    "--min-relevance",
    "--tokenizer",
    "--query",
];

fn is_hyphened_word(text: &str) -> bool {
    let is_flag = text == "-h" || (text.starts_with("--") && !text.contains(char::is_whitespace));
    text.starts_with('-') && !is_flag
}
