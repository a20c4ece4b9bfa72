//! The words of `qipu context`, and of selections.

use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};
use jiff::civil::Date;

use super::change::trimmed;
use super::days::{sides, window};
use super::need::{ExpandArgs, NeedArgs};
use super::values::{count, share, value, whole};
use crate::env::Env;
use crate::error::Error;
use crate::graph::Follow;
use crate::request::{
    Abstraction, BlockChoice, BlockOptions, Budget, Command, ContextRequest, Format, QuestionOptions, Selectors,
};
use crate::store::Location;

/// The most notes that a query selects when there is no budget and no other limit.
const DEFAULT_MAX_HITS: usize = 10;

/// What notes are chosen by, for every command that takes a selection.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which notes")]
pub(super) struct SelectorArgs {
    /// A note by id or file; `-` reads them from standard input, one a line (repeatable)
    #[arg(long, value_name = "ID")]
    note: Vec<String>,
    /// Notes with this tag (repeatable, or with commas between)
    #[arg(long, value_name = "TAG", value_delimiter = ',', value_parser = trimmed)]
    tag: Vec<String>,
    /// A map of content and what it links to, in its order (repeatable)
    #[arg(long, value_name = "ID", visible_alias = "collection-root")]
    moc: Vec<String>,
    /// Open the maps inside a map too
    #[arg(long)]
    transitive: bool,
    /// Notes that answer this, best first
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    query: Option<String>,
    /// Rank by the words alone, not by links and sequences
    #[arg(long)]
    no_graph: bool,
    /// The notes around this one, by hops (repeatable)
    #[arg(long, value_name = "ID")]
    walk: Vec<String>,
    /// The most hops of --walk
    #[arg(long, value_name = "N", alias = "max-depth", allow_negative_numbers = true, default_value_t = 3, value_parser = whole)]
    max_hops: usize,
    /// Only notes of at least this value, 0 to 100
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = value)]
    min_value: Option<u8>,
    /// Only notes whose fields pass: key, !key, key=value, key!=value, key>=3, key<2025-03-01 (repeatable)
    #[arg(long, value_name = "EXPR")]
    custom_filter: Vec<String>,
    /// The most notes
    #[arg(long = "limit", value_name = "N", allow_negative_numbers = true, aliases = ["max-notes", "max-nodes"], value_parser = count)]
    max_notes: Option<NonZeroUsize>,
    /// What links to the selected notes, too
    #[arg(long)]
    backlinks: bool,
}

impl SelectorArgs {
    /// Tells whether none of the flags is given that say which notes.
    pub(super) fn is_empty(&self) -> bool {
        let lists = [&self.note, &self.tag, &self.moc, &self.walk, &self.custom_filter];
        let modifies = self.transitive || self.backlinks || self.max_notes.is_some();
        lists.iter().all(|list| list.is_empty()) && self.query.is_none() && self.min_value.is_none() && !modifies
    }

    /// Tells whether any of the flags is given that select notes; the others only narrow or widen.
    pub(super) fn selects(&self) -> bool {
        let lists = [&self.note, &self.tag, &self.moc, &self.walk, &self.custom_filter];
        lists.iter().any(|list| !list.is_empty()) || self.query.is_some() || self.min_value.is_some()
    }

    /// Tells whether a query looks for passages of the notes that are named: nothing else selects notes.
    fn asks_notes(&self) -> bool {
        let others = [&self.tag, &self.moc, &self.walk];
        !self.note.is_empty() && self.query.is_some() && others.iter().all(|list| list.is_empty())
    }

    /// Returns the most notes, and the most that a query selects.
    pub(super) fn limits(&self, has_budget: bool) -> (Option<usize>, Option<usize>) {
        let max_notes = self.max_notes.map(Into::into);
        (max_notes, if has_budget || max_notes.is_some() { None } else { Some(DEFAULT_MAX_HITS) })
    }

    pub(super) fn into_selectors(self, env: &Env) -> Result<Selectors, Error> {
        let reads_stdin = self.note.iter().any(|id| id == "-");
        Ok(Selectors {
            notes: named_notes(self.note, env)?,
            reads_stdin,
            tags: self.tag,
            mocs: self.moc,
            transitive: self.transitive,
            query: self.query,
            no_graph: self.no_graph,
            walks: self.walk,
            max_hops: self.max_hops,
            follow: Follow::default(),
            min_value: self.min_value,
            custom_filters: self.custom_filter,
            words: Vec::new(),
            within_notes: false,
            backlinks: self.backlinks,
            no_compaction: false,
            asking: None,
        })
    }
}

#[derive(Debug, Args)]
pub(super) struct ContextArgs {
    /// Ids where they name notes, else words to search for
    #[arg(value_name = "ID or WORDS")]
    words: Vec<String>,
    #[command(flatten)]
    selectors: SelectorArgs,
    /// Show bodies (usual in human and json)
    #[arg(long, overrides_with = "without_body")]
    with_body: bool,
    /// Show summaries in place of bodies (usual in records)
    #[arg(long)]
    without_body: bool,
    /// Pack whole notes only, where passages would be shown
    #[arg(long)]
    whole: bool,
    /// Begin with the warning that notes are reference material (usual in records)
    #[arg(long, overrides_with = "no_banner")]
    banner: bool,
    /// Leave the warning out
    #[arg(long)]
    no_banner: bool,
    /// Show custom fields
    #[arg(long)]
    custom: bool,
    /// Show notes although a digest stands for them
    #[arg(long)]
    no_compaction: bool,
    #[command(flatten)]
    question: QuestionArgs,
    #[command(flatten)]
    blocks: BlockArgs,
    #[command(flatten)]
    need: NeedArgs,
    #[command(flatten)]
    expansion: ExpandArgs,
}

/// How a query is read, and what of its answers counts.
#[derive(Debug, Args)]
#[command(next_help_heading = "How questions are understood")]
pub(super) struct QuestionArgs {
    /// Search for the words as they stand: no names of notes, days or wishes are read in them
    #[arg(long)]
    plain: bool,
    /// Only hits and journals of periods of this day or later: 2025-03-05, yesterday, last week
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only those of this day or before
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Compare the journals of two days or periods; of one alone, with today
    #[arg(long, value_name = "A,B")]
    compare: Option<String>,
    /// Tell what comes again and again in journals
    #[arg(long)]
    patterns: bool,
    /// The most hits of a search, whatever else the query selects
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    search_limit: Option<NonZeroUsize>,
    /// Only hits of at least this relevance, 0 to 1
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = share)]
    min_relevance: Option<u32>,
    /// Leave out the notes of a namespace: before `/` in titles, the field `namespace`, a folder (repeatable)
    #[arg(long, value_name = "NAMESPACE")]
    exclude_namespace: Vec<String>,
}

impl QuestionArgs {
    /// `asks` says whether there is a text to be read.
    pub(super) fn into_asking(self, asks: bool, today: &dyn Fn() -> Date) -> Result<QuestionOptions, Error> {
        let (since, until) = window(self.since.as_deref(), self.until.as_deref(), today)?;
        let today = if asks { today() } else { Date::default() };
        Ok(QuestionOptions {
            is_plain: self.plain,
            today,
            since,
            until,
            comparison: self.compare.map(|text| sides(&text, today)).transpose()?,
            wants_patterns: self.patterns,
            search_limit: self.search_limit.map(Into::into),
            min_relevance: self.min_relevance,
            excluded_namespaces: self.exclude_namespace,
            blocks_within: None,
        })
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Blocks in place of bodies")]
struct BlockArgs {
    /// Show blocks (list items, paragraphs, tables) in place of bodies
    #[arg(long, value_name = "WHICH")]
    blocks: Option<BlocksName>,
    /// The most blocks of a note (50; with a budget, as many as fit)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    max_blocks_per_note: Option<NonZeroUsize>,
    /// The most blocks in all (100; with a budget, as many as fit)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    max_blocks: Option<NonZeroUsize>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum BlocksName {
    /// Every block
    All,
    /// Those that hold a word of the query
    Matched,
    /// Those that hold the most of the query
    Top,
}

impl BlockArgs {
    /// Returns which blocks are shown; limits alone ask for all blocks.
    fn into_blocks(self, has_budget: bool) -> Option<BlockOptions> {
        let is_asked = self.blocks.is_some() || self.max_blocks_per_note.is_some() || self.max_blocks.is_some();
        is_asked.then(|| BlockOptions {
            choice: self.blocks.map(|name| match name {
                BlocksName::All => BlockChoice::All,
                BlocksName::Matched => BlockChoice::Matched,
                BlocksName::Top => BlockChoice::Top,
            }),
            max_per_note: self.max_blocks_per_note.map(Into::into),
            max_in_all: self.max_blocks.map(Into::into),
            has_defaults: !has_budget,
        })
    }
}

impl ContextArgs {
    /// Returns the budget, with what this command says of it.
    pub(super) fn budget(&self, budget: Budget) -> Result<Budget, Error> {
        self.expansion.budget(self.need.budget(budget)?)
    }

    pub(super) fn into_command(
        self,
        location: Location,
        format: Format,
        budget: Budget,
        today: &dyn Fn() -> Date,
        env: &Env,
    ) -> Result<Command, Error> {
        if self.expansion.is_asked() {
            let banner = choice(self.banner, self.no_banner);
            return Ok(Command::Expand(self.expansion.into_request(location, banner)));
        }
        Ok(Command::Context(self.into_request(location, format, budget, today, env)?))
    }

    fn into_request(
        self,
        location: Location,
        format: Format,
        budget: Budget,
        today: &dyn Fn() -> Date,
        env: &Env,
    ) -> Result<ContextRequest, Error> {
        let has_budget = budget.is_limited();
        let (max_notes, max_hits) = self.selectors.limits(has_budget);
        let has_text = self.selectors.query.is_some() || !self.words.is_empty();
        let need = self.need.into_need(has_text, has_budget && !self.whole, format, today)?;
        let shows_passages = need.as_ref().is_none_or(|need| need.abstraction == Abstraction::Passages);
        if self.blocks.blocks.is_some() && need.is_some() {
            return Err(Error::usage(
                "--blocks shows blocks in place of whole notes, and these notes are shown at levels",
            )
            .hint("leave --blocks out; --abstraction extract shows the blocks that answer"));
        }
        let asks = has_text || self.question.compare.is_some() || self.question.patterns;
        let within_notes = has_budget && self.selectors.asks_notes();
        let selection = Selectors {
            within_notes,
            words: self.words,
            no_compaction: self.no_compaction,
            asking: Some(self.question.into_asking(asks, today)?),
            ..self.selectors.into_selectors(env)?
        };
        Ok(ContextRequest {
            location,
            selection,
            max_notes,
            max_hits,
            banner: choice(self.banner, self.no_banner),
            with_body: choice(self.with_body, self.without_body),
            with_custom: self.custom,
            passages_within: budget.most_chars().filter(|_| has_text && !self.whole && shows_passages),
            blocks: self.blocks.into_blocks(has_budget),
            need,
            max_candidates: budget.max_candidates(),
        })
    }
}

/// Returns what two opposite flags say; `None` when neither was given.
pub(super) fn choice(yes: bool, no: bool) -> Option<bool> {
    match (yes, no) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }
}

/// Returns the notes that are named; `-` stands for those on standard input.
fn named_notes(given: Vec<String>, env: &Env) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    for name in given {
        if name != "-" {
            names.push(name);
            continue;
        }
        let text =
            (env.stdin)().map_err(|error| Error::usage(format!("can't read ids from standard input: {error}")))?;
        names.extend(text.lines().flat_map(names_in_line));
    }
    Ok(names)
}

/// Returns the ids of a line, or the one path in it, which may hold spaces.
fn names_in_line(line: &str) -> Vec<String> {
    let line = line.trim();
    if line.ends_with(".md") {
        return vec![line.to_owned()];
    }
    line.split_whitespace().map(str::to_owned).collect()
}
