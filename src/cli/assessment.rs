//! The arguments of `qipu context` for the purpose of an answer, and for expanding notes that were shown.

use clap::{Args, ValueEnum};

use crate::env::Today;
use crate::error::Error;
use crate::request::{
    Abstraction, AssessmentOptions, Budget, DetailLevel, ExpandRequest, Format, Purpose, Score, share, whole,
};

/// The purpose of an answer, and the level of detail of its notes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Ranking by purpose")]
pub(super) struct AssessmentArgs {
    /// Rank notes by their utility for this task, and show each at its own level of detail
    #[arg(long, value_name = "TASK")]
    purpose: Option<Purpose>,
    /// How much of each note is shown (default: passages with a query and a budget, else adaptive with --purpose, else
    /// whole notes)
    #[arg(long, value_name = "LEVEL")]
    abstraction: Option<AbstractionArg>,
    /// Stop after this many tokens; the last note may exceed it
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    target_tokens: Option<usize>,
    /// Only notes with at least this confidence, 0 to 1
    #[arg(long, value_name = "C", allow_negative_numbers = true, value_parser = share)]
    min_confidence: Option<Score>,
    /// Only notes whose source is trusted at least this much, 0 to 1
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = share)]
    min_trust: Option<Score>,
    /// Omit a note if no more than this share of it is new, 0 to 1 (default: 0.2)
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = share)]
    novelty_threshold: Option<Score>,
    /// After each note, show what it is derived from
    #[arg(long)]
    include_derivations: bool,
    /// After each note, show what contradicts it
    #[arg(long)]
    include_contradictions: bool,
    /// Show how confidence and utility were computed
    #[arg(long)]
    explain: bool,
}

/// The levels of detail that can be named, and the choice of one for each note.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum AbstractionArg {
    /// The body, and what it is derived from
    Detailed,
    /// The blocks that contain words of the query
    Extract,
    /// The summary
    Summary,
    /// One sentence
    Essence,
    /// As much as importance and budget allow
    Adaptive,
}

impl AssessmentArgs {
    fn is_given(&self) -> bool {
        let filters = [self.min_confidence, self.min_trust, self.novelty_threshold];
        self.purpose.is_some()
            || self.abstraction.is_some()
            || self.target_tokens.is_some()
            || filters.iter().any(Option::is_some)
            || self.include_derivations
            || self.include_contradictions
            || self.explain
    }

    /// Returns the budget with the target.
    pub(super) fn budget(&self, budget: Budget) -> Result<Budget, Error> {
        if let (Some(target), Some(most)) = (self.target_tokens, budget.max_tokens)
            && target > most
        {
            return Err(Error::usage(format!("--target-tokens {target} is above --max-tokens {most}"))
                .hint("selection stops at the target; the limit is never exceeded"));
        }
        Ok(Budget { target_tokens: self.target_tokens, ..budget })
    }

    /// Returns the options; `None` if no flag is given, and the format is not a prompt.
    pub(super) fn into_options(
        self,
        has_query: bool,
        has_budget: bool,
        format: Format,
        today: Today,
    ) -> Result<Option<AssessmentOptions>, Error> {
        let wants_prompt = format == Format::Prompt;
        if !self.is_given() && !wants_prompt {
            return Ok(None);
        }
        let abstraction = match self.abstraction {
            Some(AbstractionArg::Detailed) => Abstraction::Fixed(DetailLevel::Detailed),
            Some(AbstractionArg::Extract) => Abstraction::Fixed(DetailLevel::Extract),
            Some(AbstractionArg::Summary) => Abstraction::Fixed(DetailLevel::Summary),
            Some(AbstractionArg::Essence) => Abstraction::Fixed(DetailLevel::Essence),
            Some(AbstractionArg::Adaptive) => Abstraction::Adaptive,
            None if has_query && has_budget => Abstraction::Passages,
            None if self.purpose.is_some() => Abstraction::Adaptive,
            None => Abstraction::Fixed(DetailLevel::Detailed),
        };
        if abstraction == Abstraction::Fixed(DetailLevel::Extract) && !has_query {
            return Err(Error::usage("--abstraction extract needs a query").hint("add --query WORDS"));
        }
        Ok(Some(AssessmentOptions {
            purpose: self.purpose,
            abstraction,
            min_confidence: self.min_confidence.unwrap_or_default(),
            min_trust: self.min_trust.unwrap_or_default(),
            novelty_threshold: self.novelty_threshold,
            with_derivations: self.include_derivations,
            with_contradictions: self.include_contradictions,
            explains: self.explain,
            today: self.purpose.map(|_| today.day()),
        }))
    }
}

/// The notes to expand, and what is shown with them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Expanding notes")]
pub(super) struct ExpandArgs {
    /// Show the rest of notes that an earlier answer showed as a summary or an extract
    #[arg(long, value_name = "ID", num_args = 1.., conflicts_with_all = ["words", "query", "purpose", "abstraction"])]
    expand: Vec<String>,
    /// Also show what they are derived from, what supports them or what contradicts them (comma-separated)
    #[arg(long, value_name = "KIND", value_delimiter = ',', requires = "expand")]
    include: Vec<IncludeArg>,
    /// Maximum number of tokens of the expansion (default: 500)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole, requires = "expand")]
    max_additional_tokens: Option<usize>,
}

/// What an expansion shows beside the notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum IncludeArg {
    /// What they are derived from, up to three steps back
    Derivation,
    /// What supports them, and their sources
    Evidence,
    /// What contradicts them
    Contradictions,
}

/// The most tokens of an expansion by default.
const MAX_ADDITIONAL_TOKENS: usize = 500;

impl ExpandArgs {
    pub(super) fn is_given(&self) -> bool {
        !self.expand.is_empty()
    }

    pub(super) fn budget(&self, budget: Budget) -> Result<Budget, Error> {
        if !self.is_given() && (!self.include.is_empty() || self.max_additional_tokens.is_some()) {
            return Err(Error::usage("--include and --max-additional-tokens need --expand")
                .hint("name the notes with --expand ID"));
        }
        if !self.is_given() || (budget.is_limited() && self.max_additional_tokens.is_none()) {
            return Ok(budget);
        }
        let most = self.max_additional_tokens.unwrap_or(MAX_ADDITIONAL_TOKENS);
        Ok(Budget { max_tokens: Some(budget.max_tokens.map_or(most, |given| given.min(most))), ..budget })
    }

    pub(super) fn into_request(self, banner: Option<bool>) -> ExpandRequest {
        let has = |name| self.include.contains(&name);
        ExpandRequest {
            derivation: has(IncludeArg::Derivation),
            evidence: has(IncludeArg::Evidence),
            contradictions: has(IncludeArg::Contradictions),
            banner,
            ids: self.expand,
        }
    }
}
