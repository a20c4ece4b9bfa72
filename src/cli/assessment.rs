//! The completion and the checks of the arguments of `qipu context` for the purpose of an answer, and for expanding
//! notes that were shown.

use super::globals::Invocation;
use crate::error::Error;
use crate::request::{Abstraction, AssessmentOptions, Budget, ExpandRequest, Format};

/// Returns the budget with the target of the options.
pub(super) fn target_budget(options: &AssessmentOptions, budget: Budget) -> Result<Budget, Error> {
    if let (Some(target), Some(most)) = (options.target_tokens, budget.max_tokens)
        && target > most
    {
        return Err(Error::usage(format!("--target-tokens {target} is above --max-tokens {most}"))
            .hint("selection stops at the target; the limit is never exceeded"));
    }
    Ok(Budget { target_tokens: options.target_tokens, ..budget })
}

/// Completes the given options; `None` if no flag is given, and the format is not a prompt. Without bodies, notes are
/// shown as summaries unless a level is given.
pub(super) fn complete_options(
    given: AssessmentOptions,
    has_query: bool,
    shows_bodies: bool,
    shows_passages: bool,
    invocation: &Invocation<'_>,
) -> Result<Option<AssessmentOptions>, Error> {
    if given == AssessmentOptions::default() && invocation.format != Format::Prompt {
        return Ok(None);
    }
    let abstraction = match given.abstraction {
        Some(level) => Some(level),
        None if !shows_bodies => Some(Abstraction::Summary),
        None if shows_passages => None,
        None if given.purpose.is_some() => Some(Abstraction::Adaptive),
        None => Some(Abstraction::Detailed),
    };
    if abstraction == Some(Abstraction::Extract) && !has_query {
        return Err(Error::usage("--abstraction extract needs a query").hint("add --query WORDS"));
    }
    Ok(Some(AssessmentOptions { abstraction, today: given.purpose.map(|_| invocation.day()), ..given }))
}

/// The most tokens of an expansion by default.
const MAX_ADDITIONAL_TOKENS: usize = 500;

/// Returns the budget of an expansion; without notes to expand, the given one.
pub(super) fn expansion_budget(
    expansion: &ExpandRequest,
    max_additional_tokens: Option<usize>,
    budget: Budget,
) -> Result<Budget, Error> {
    if expansion.ids.is_empty() && (!expansion.include.is_empty() || max_additional_tokens.is_some()) {
        return Err(
            Error::usage("--include and --max-additional-tokens need --expand").hint("name the notes with --expand ID")
        );
    }
    if expansion.ids.is_empty() || (budget.is_limited() && max_additional_tokens.is_none()) {
        return Ok(budget);
    }
    let most = max_additional_tokens.unwrap_or(MAX_ADDITIONAL_TOKENS);
    Ok(Budget { max_tokens: Some(budget.max_tokens.map_or(most, |given| given.min(most))), ..budget })
}
