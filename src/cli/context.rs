//! The arguments of `qipu context`, and the completion of selections, which `graph` and `dump` share.

use clap::Args;

use super::assessment::{complete_options, expansion_budget, target_budget};
use super::days::{sides, window};
use super::globals::Invocation;
use crate::env::{Env, Today};
use crate::error::Error;
use crate::request::{
    AssessmentOptions, BlockOptions, Command, ContextRequest, ExpandRequest, Format, QuestionOptions, Score, Selectors,
    count, share, whole,
};

/// The most notes that a query selects without a budget and another limit.
const DEFAULT_MAX_HITS: usize = 10;

/// Completes the selection of a command: `-` among the notes reads further ones from standard input.
pub(super) fn completed(selectors: Selectors, has_budget: bool, env: &Env) -> Result<Selectors, Error> {
    let reads_stdin = selectors.notes.iter().any(|id| id == "-");
    let max_hits = (!has_budget && selectors.max_notes.is_none()).then_some(DEFAULT_MAX_HITS);
    let notes = named_notes(selectors.notes, env)?;
    Ok(Selectors { notes, reads_stdin, max_hits, ..selectors })
}

/// Tells whether the query is for passages of the named notes: nothing else selects notes.
fn is_query_within_notes(selectors: &Selectors) -> bool {
    let Selectors { notes, tags, mocs, walks, query, .. } = selectors;
    !notes.is_empty() && query.is_some() && [tags, mocs, walks].iter().all(|list| list.is_empty())
}

#[derive(Debug, Args)]
pub(super) struct ContextArgs {
    /// Ids of notes, or words to search for
    #[arg(value_name = "ID or WORDS")]
    words: Vec<String>,
    #[command(flatten)]
    selectors: Selectors,
    /// Show bodies (default in human and json)
    #[arg(long, overrides_with = "without_body")]
    with_body: bool,
    /// Show summaries instead of bodies (default in records)
    #[arg(long)]
    without_body: bool,
    /// Show whole notes instead of passages
    #[arg(long)]
    whole: bool,
    /// Begin with the warning that notes are reference material (default in records)
    #[arg(long, overrides_with = "no_banner")]
    banner: bool,
    /// Omit the warning
    #[arg(long)]
    no_banner: bool,
    /// Show custom fields
    #[arg(long)]
    custom: bool,
    /// Ignore digests: show the notes that they replace
    #[arg(long)]
    no_compaction: bool,
    #[command(flatten)]
    question: QuestionArgs,
    #[command(flatten)]
    blocks: BlockOptions,
    #[command(flatten)]
    options: AssessmentOptions,
    #[command(flatten)]
    expansion: ExpandRequest,
    /// Maximum number of tokens of the expansion (default: 500)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole, requires = "expand", help_heading = "Expanding notes")]
    max_additional_tokens: Option<usize>,
}

/// How a question is understood, and which of its hits count.
#[derive(Debug, Args)]
#[command(next_help_heading = "How questions are understood")]
pub(super) struct QuestionArgs {
    /// Treat the query as plain words: no note names, dates or intents
    #[arg(long)]
    plain: bool,
    /// Only search hits and journals from this day on: 2025-03-05, yesterday, last week
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only search hits and journals up to this day
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Compare the journals of two days or periods, or of one with today
    #[arg(long, value_name = "A,B")]
    compare: Option<String>,
    /// Show what recurs in journals
    #[arg(long)]
    patterns: bool,
    /// Maximum number of search hits, apart from what else the query selects
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    search_limit: Option<usize>,
    /// Only hits with at least this relevance, 0 to 1
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = share)]
    min_relevance: Option<Score>,
    /// Exclude a namespace: a title prefix before `/`, a `namespace` field or a folder (repeatable)
    #[arg(long, value_name = "NAMESPACE")]
    exclude_namespace: Vec<String>,
}

impl QuestionArgs {
    /// Returns the options. The day is looked up only if `needs_day`: there is a text that may name days, or a flag
    /// that does.
    pub(super) fn into_options(self, needs_day: bool, today: Today) -> Result<QuestionOptions, Error> {
        let (since, until) = window(self.since.as_deref(), self.until.as_deref(), today)?;
        let today = if needs_day { today.day() } else { jiff::civil::Date::default() };
        Ok(QuestionOptions {
            occasion: None,
            is_plain: self.plain,
            today,
            since,
            until,
            comparison: self.compare.map(|text| sides(&text, today)).transpose()?,
            wants_patterns: self.patterns,
            search_limit: self.search_limit,
            min_relevance: self.min_relevance,
            excluded_namespaces: self.exclude_namespace,
            blocks_within: None,
        })
    }
}

/// Returns which blocks are shown in place of bodies; `None` if no flag asks for blocks.
fn requested_blocks(blocks: BlockOptions, has_budget: bool) -> Option<BlockOptions> {
    let is_asked = blocks.choice.is_some() || blocks.max_per_note.is_some() || blocks.max_in_all.is_some();
    is_asked.then_some(BlockOptions { has_defaults: !has_budget, ..blocks })
}

impl ContextArgs {
    pub(super) fn into_command(self, invocation: &mut Invocation<'_>) -> Result<Command, Error> {
        let budget = target_budget(&self.options, invocation.budget)?;
        invocation.budget = expansion_budget(&self.expansion, self.max_additional_tokens, budget)?;
        if !self.expansion.ids.is_empty() {
            let banner = choice(self.banner, self.no_banner);
            return Ok(Command::Expand(ExpandRequest { banner, ..self.expansion }));
        }
        Ok(Command::Context(self.into_request(invocation)?))
    }

    fn into_request(self, invocation: &Invocation<'_>) -> Result<ContextRequest, Error> {
        let (budget, today) = (invocation.budget, invocation.location.today);
        let has_budget = budget.is_limited();
        let has_text = self.selectors.query.is_some() || !self.words.is_empty();
        let with_body = choice(self.with_body, self.without_body);
        let shows_bodies = with_body.unwrap_or(invocation.format != Format::Records);
        let shows_passages = shows_bodies && has_text && has_budget && !self.whole;
        let assessment = complete_options(self.options, has_text, shows_bodies, shows_passages, invocation)?;
        let has_no_level = assessment.as_ref().is_none_or(|options| options.abstraction.is_none());
        if self.blocks.choice.is_some() && assessment.is_some() {
            return Err(Error::usage("--blocks can't be combined with --purpose, --abstraction or --format prompt")
                .hint("omit --blocks; --abstraction extract shows the blocks that match the query"));
        }
        let needs_day = has_text || self.question.compare.is_some() || self.question.patterns;
        let within_notes = has_budget && is_query_within_notes(&self.selectors);
        let selection = Selectors {
            within_notes,
            words: self.words,
            no_compaction: self.no_compaction,
            asking: Some(self.question.into_options(needs_day, today)?),
            ..completed(self.selectors, has_budget, invocation.env)?
        };
        Ok(ContextRequest {
            selection,
            banner: choice(self.banner, self.no_banner),
            with_body,
            with_custom: self.custom,
            passages_within: budget.most_chars().filter(|_| shows_passages && has_no_level),
            has_brief_heads: false,
            blocks: requested_blocks(self.blocks, has_budget),
            assessment,
            max_candidates: budget.max_candidates(),
            max_entries: budget.max_entries(),
        })
    }
}

/// Returns the choice of two opposite flags; `None` if neither is given.
pub(super) fn choice(yes: bool, no: bool) -> Option<bool> {
    (yes || no).then_some(yes)
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
