//! The flags that select notes, which add up, for `context` and the commands that write notes to a file.

use clap::Args;

use super::note_filters::OtherFilterArgs;
use super::values::{trimmed, whole};
use crate::env::{Env, Today};
use crate::error::Error;
use crate::request::Selectors;

/// The most notes that a query selects without a budget or another limit.
const DEFAULT_MAX_HITS: usize = 10;

#[derive(Debug, Args)]
#[command(next_help_heading = "Notes, added together")]
pub(super) struct SelectorArgs {
    /// A note by id, title, alias or file; `-` reads ids or files from standard input (repeatable)
    #[arg(long, value_name = "ID")]
    note: Vec<String>,
    /// Notes with this tag (repeatable, or comma-separated)
    #[arg(long, value_name = "TAG", value_delimiter = ',', value_parser = trimmed)]
    tag: Vec<String>,
    /// A map of content and the notes it links to, in its order (repeatable)
    #[arg(long, value_name = "ID")]
    moc: Vec<String>,
    /// Also expand maps inside a map
    #[arg(long)]
    transitive: bool,
    /// Notes that answer this, best first
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    query: Option<String>,
    /// Maximum number of hops
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0, value_parser = whole)]
    max_hops: usize,
    /// Also show the notes that link to the selected ones
    #[arg(long)]
    backlinks: bool,
    #[command(flatten)]
    only: OtherFilterArgs,
}

impl SelectorArgs {
    /// Whether there is a text to search for.
    pub(super) fn has_query(&self) -> bool {
        self.query.is_some()
    }

    /// Returns the selection; `-` among the notes reads further ones from standard input.
    pub(super) fn into_selectors(self, has_budget: bool, env: &Env, today: Today) -> Result<Selectors, Error> {
        let reads_stdin = self.note.iter().any(|id| id == "-");
        let max_notes = self.only.limit();
        let is_within_notes = !self.note.is_empty() && self.query.is_some() && self.max_hops == 0;
        Ok(Selectors {
            reads_stdin,
            max_hits: (!has_budget && max_notes.is_none()).then_some(DEFAULT_MAX_HITS),
            max_notes,
            // Nothing else selects notes.
            within_notes: has_budget && is_within_notes && self.tag.is_empty() && self.moc.is_empty(),
            notes: named_notes(self.note, env)?,
            tags: self.tag,
            mocs: self.moc,
            transitive: self.transitive,
            query: self.query,
            max_hops: self.max_hops,
            backlinks: self.backlinks,
            filters: self.only.into_filters(today)?,
            ..Selectors::default()
        })
    }
}

/// Returns the names of notes, with those on standard input in place of `-`.
fn named_notes(given: Vec<String>, env: &Env) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    for name in given {
        if name != "-" {
            names.push(name);
            continue;
        }
        let text = env
            .stdin
            .read_to_end()
            .map_err(|error| Error::usage(format!("can't read ids from standard input: {error}")))?;
        names.extend(text.lines().flat_map(names_in_line));
    }
    Ok(names)
}

/// Returns the ids in a line, or its one path, which may contain spaces.
fn names_in_line(line: &str) -> Vec<String> {
    let line = line.trim();
    if line.ends_with(".md") {
        return vec![line.to_owned()];
    }
    line.split_whitespace().map(str::to_owned).collect()
}
