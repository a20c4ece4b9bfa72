//! The arguments of `qipu context`.

use clap::Args;

use super::ask::{MAX_CHARS, question};
use super::globals::Invocation;
use super::selectors::SelectorArgs;
use super::values::whole;
use crate::error::Error;
use crate::request::{
    Abstraction, AssessmentOptions, BlockChoice, BlockOptions, Budget, Command, ContextRequest, ExpandRequest, Format,
    Purpose, ReadCommand, RelatedKind, Selectors,
};

/// The most tokens of an expansion by default.
const EXPANSION_TOKENS: usize = 500;

#[derive(Debug, Args)]
pub(super) struct ContextArgs {
    #[command(flatten)]
    selectors: SelectorArgs,
    #[command(flatten)]
    parts: PartArgs,
    #[command(flatten)]
    purpose: PurposeArgs,
    /// Treat the question as plain words: no note names, dates or intents
    #[arg(long, help_heading = "The question")]
    plain: bool,
}

/// How much of each note is shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "How much of each")]
struct PartArgs {
    /// Show whole bodies
    #[arg(long, overrides_with = "without_body")]
    with_body: bool,
    /// Show summaries instead of bodies (default in records; else bodies, or passages with a query and a budget)
    #[arg(long)]
    without_body: bool,
    /// How much of each note is shown (default: passages with a query and a budget, else adaptive with --purpose, else
    /// whole notes)
    #[arg(long, value_name = "LEVEL")]
    abstraction: Option<Abstraction>,
    /// Show blocks (list items, paragraphs, tables) instead of bodies
    #[arg(long, value_name = "WHICH")]
    blocks: Option<BlockChoice>,
    /// Begin with the warning that notes are reference material (default in records)
    #[arg(long, overrides_with = "no_banner")]
    banner: bool,
    /// Omit the warning
    #[arg(long)]
    no_banner: bool,
    /// Ignore digests: show the notes that they replace
    #[arg(long)]
    no_compaction: bool,
}

/// What the notes are for, and what is shown beside them.
#[derive(Debug, Args)]
#[command(next_help_heading = "For a purpose")]
struct PurposeArgs {
    /// Rank notes by their utility for this task, and show each at its own level of detail
    #[arg(long, value_name = "TASK")]
    purpose: Option<Purpose>,
    /// Stop after this many tokens; the last note may exceed it
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    target_tokens: Option<usize>,
    /// After each note, show what it is derived from, what supports it or what contradicts it (comma-separated)
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    include: Vec<RelatedKind>,
    /// Show how scores were computed
    #[arg(long)]
    explain: bool,
    /// Show the rest of notes that an earlier answer showed in part, in 500 tokens by default
    #[arg(long, value_name = "ID", num_args = 1.., conflicts_with_all = ["query", "purpose", "abstraction"])]
    expand: Vec<String>,
    #[arg(long, hide = true)]
    include_derivations: bool,
    #[arg(long, hide = true)]
    include_contradictions: bool,
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole, requires = "expand", hide = true)]
    max_additional_tokens: Option<usize>,
}

impl PurposeArgs {
    fn included(&self) -> Vec<RelatedKind> {
        let mut included = self.include.clone();
        included.extend(self.include_derivations.then_some(RelatedKind::Derivation));
        included.extend(self.include_contradictions.then_some(RelatedKind::Contradictions));
        included
    }

    /// Returns the budget with the target.
    fn target_budget(&self, budget: Budget) -> Result<Budget, Error> {
        if let (Some(target), Some(most)) = (self.target_tokens, budget.max_tokens)
            && target > most
        {
            return Err(Error::usage(format!("--target-tokens {target} is above --max-tokens {most}"))
                .hint("selection stops at the target; the limit is never exceeded"));
        }
        Ok(Budget { target_tokens: self.target_tokens, ..budget })
    }

    /// Returns the budget of an expansion.
    fn expansion_budget(&self, budget: Budget) -> Budget {
        if budget.is_limited() && self.max_additional_tokens.is_none() {
            return budget;
        }
        let most = self.max_additional_tokens.unwrap_or(EXPANSION_TOKENS);
        Budget { max_tokens: Some(budget.max_tokens.map_or(most, |given| given.min(most))), ..budget }
    }
}

impl ContextArgs {
    pub(super) fn into_command(self, invocation: &mut Invocation<'_>) -> Result<Command, Error> {
        if !self.purpose.expand.is_empty() {
            invocation.budget = self.purpose.expansion_budget(invocation.budget);
            let banner = choice(self.parts.banner, self.parts.no_banner);
            let include = self.purpose.included();
            return Ok(Command::Read(ReadCommand::Expand(ExpandRequest { ids: self.purpose.expand, include, banner })));
        }
        invocation.budget = self.purpose.target_budget(invocation.budget)?;
        Ok(Command::Read(ReadCommand::Context(self.into_request(invocation)?)))
    }

    fn into_request(self, invocation: &mut Invocation<'_>) -> Result<ContextRequest, Error> {
        let has_query = self.selectors.has_query();
        let wants_passages = self.parts.abstraction == Some(Abstraction::Passages);
        if wants_passages && !has_query {
            return Err(Error::usage("--abstraction passages needs a query").hint("add --query WORDS"));
        }
        if wants_passages && !invocation.budget.is_limited() {
            invocation.budget.max_chars = Some(MAX_CHARS);
        }
        let (budget, today) = (invocation.budget, invocation.location.today);
        let has_budget = budget.is_limited();
        let with_body = choice(self.parts.with_body, self.parts.without_body);
        let is_usual = with_body.is_none() && invocation.format != Format::Records && has_query && has_budget;
        let shows_passages = wants_passages || is_usual;
        let with_body = if wants_passages { Some(true) } else { with_body };
        let assessment = self.assessment(with_body, shows_passages, invocation);
        let has_no_level = assessment.as_ref().is_none_or(|options| options.abstraction == Abstraction::Passages);
        if self.parts.blocks.is_some() && assessment.is_some() {
            return Err(Error::usage("--blocks can't be combined with --purpose, --abstraction or --format prompt")
                .hint("omit --blocks; --abstraction passages shows what answers the query"));
        }
        let selection = self.selectors.into_selectors(has_budget, invocation.env, today)?;
        let asking = question(self.plain, None, &selection.filters, has_query, today);
        let selection = Selectors { no_compaction: self.parts.no_compaction, asking: Some(asking), ..selection };
        let blocks = self.parts.blocks.map(|choice| BlockOptions { choice: Some(choice), has_defaults: !has_budget });
        Ok(ContextRequest {
            selection,
            banner: choice(self.parts.banner, self.parts.no_banner),
            with_body,
            // Programs read fields; in the other formats they are noise.
            with_custom: invocation.format == Format::Json,
            room: budget.room(),
            shows_passages: shows_passages && has_no_level,
            has_pages: false,
            after: None,
            blocks,
            assessment,
        })
    }

    /// Returns how notes are assessed; `None` if no flag asks for that, and the format is not a prompt. Without bodies, notes
    /// are shown as summaries unless a level is given.
    fn assessment(
        &self,
        with_body: Option<bool>,
        shows_passages: bool,
        invocation: &Invocation<'_>,
    ) -> Option<AssessmentOptions> {
        let PurposeArgs { purpose, target_tokens, explain, .. } = self.purpose;
        let given = AssessmentOptions {
            purpose,
            abstraction: self.parts.abstraction.unwrap_or_default(),
            target_tokens,
            include: self.purpose.included(),
            explains: explain,
            ..AssessmentOptions::default()
        };
        if given == AssessmentOptions::default() && invocation.format != Format::Prompt {
            return None;
        }
        let shows_bodies = with_body.unwrap_or(invocation.format != Format::Records);
        let abstraction = match given.abstraction {
            Abstraction::Passages if !shows_bodies => Abstraction::Summary,
            Abstraction::Passages if shows_passages => Abstraction::Passages,
            Abstraction::Passages if purpose.is_some() && with_body.is_none() => Abstraction::Adaptive,
            Abstraction::Passages => Abstraction::Detailed,
            level => level,
        };
        Some(AssessmentOptions { abstraction, today: purpose.map(|_| invocation.day()), ..given })
    }
}

/// Returns the choice of two opposite flags; `None` if neither is given.
pub(super) fn choice(yes: bool, no: bool) -> Option<bool> {
    (yes || no).then_some(yes)
}
