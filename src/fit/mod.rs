//! Fitting: the only place where entries are left out, cut or counted against the budget.
//!
//! An answer never exceeds the budget. Whole entries are accepted in their order, and one without room is skipped. The
//! first entry is cut only if none fits. If not even the empty frame fits, the error names the smallest budget that
//! works.

mod budget;
mod document;
mod entries;
mod levels;
mod passages;
mod selector;
mod unseen;

use crate::error::{Error, ErrorKind};
use crate::render::{self, Renderer, Screen, ShownPart};
use crate::report::Report;
use crate::request::{Budget, Format};
use crate::tokens::CHARS_PER_TOKEN;
use budget::{OutputLimits, TextSize};
use document::DocumentBuilder;
use passages::pack;
pub use unseen::{ShownText, fit_unseen};

/// The most attempts with a smaller token limit before the smallest budget is named.
const MAX_STEPS_DOWN: usize = 32;

/// Writes a report in a format within a budget. The text ends with a line end.
///
/// # Errors
/// `Budget`, naming the smallest budget that works, if not even the empty frame fits.
pub fn fit(report: &Report, budget: Budget, format: Format, screen: Screen) -> Result<String, Error> {
    let renderer = render::renderer(report, format, screen, budget.tokenizer);
    let text = fitted(report, &*renderer, budget);
    let text = text.map_err(|least| too_small(smallest(least, report, &*renderer, budget), budget))?;
    report.expect_read_notes()?;
    Ok(text)
}

/// Writes a report in two formats, each within the budget: the second with the entries of the first, as far as they
/// fit. The second text is `None` if its empty frame does not fit.
///
/// # Errors
/// As [`fit`], for the first format.
pub fn fit_both(
    report: &Report,
    budget: Budget,
    format: Format,
    second: Format,
) -> Result<(String, Option<String>), Error> {
    let screen = Screen::default();
    let renderer = render::renderer(report, format, screen, budget.tokenizer);
    let Some(candidates) = &report.candidates else {
        return Ok((fit(report, budget, format, screen)?, fit(report, budget, second, screen).ok()));
    };
    let document = DocumentBuilder::new(report, &*renderer, OutputLimits::new(budget));
    let document = document.with_candidates(candidates).map_err(|least| too_small(least, budget))?;
    let second = render::renderer(report, second, screen, budget.tokenizer);
    let second = same_entries(&document, &*second);
    let text = document.finish().map_err(|least| too_small(least, budget))?;
    report.expect_read_notes()?;
    Ok((text, second))
}

/// Writes a report within a budget.
fn fitted(report: &Report, renderer: &dyn Renderer, budget: Budget) -> Result<String, TextSize> {
    let limits = OutputLimits::new(budget);
    let document = DocumentBuilder::new(report, renderer, limits);
    let text = match &report.candidates {
        Some(candidates) => document.with_candidates(candidates)?.finish(),
        None => document.clone().with_everything().or_else(|everything| {
            let is_packed = report.head.show.has_passages;
            let fitted = if is_packed { pack(document, everything) } else { document.with_what_fits(everything) };
            fitted.and_then(DocumentBuilder::finish)
        }),
    }?;
    debug_assert!(limits.has_room(&text), "the parts are the sum of the text");
    Ok(text)
}

/// Returns the size of the shortest answer. A longer text may have fewer tokens, so that smaller limits are tried too.
fn smallest(mut least: TextSize, report: &Report, renderer: &dyn Renderer, budget: Budget) -> TextSize {
    for _ in 0..MAX_STEPS_DOWN {
        let fewer = least.tokens.and_then(|tokens| tokens.checked_sub(1));
        let Some(fewer) = fewer.filter(|fewer| budget.max_tokens.is_some_and(|given| given < *fewer)) else { break };
        let Ok(text) = fitted(report, renderer, Budget { max_tokens: Some(fewer), ..budget }) else { break };
        least = OutputLimits::new(budget).size(&text);
    }
    least
}

/// Writes as many entries of a document as fit with another renderer; `None` if the empty frame does not fit.
fn same_entries<'a>(first: &DocumentBuilder<'a>, renderer: &'a dyn Renderer) -> Option<String> {
    let mut second = DocumentBuilder::new(first.report, renderer, first.limits);
    second.shown.clone_from(&first.shown);
    second.stats.clone_from(&first.stats);
    second.omissions = first.omissions;
    second.included.fragments.clone_from(&first.included.fragments);
    second.is_brief = !second.has_room(second.truncated_state(first.notes), None);
    second.is_complete = first.is_complete;
    for (index, text) in &first.texts {
        let shown = first.shown.iter().find(|shown| shown.entry == *index);
        let shown_part = if text.is_cut {
            ShownPart::Summary(0)
        } else if first.included.fragments.contains_key(index) {
            ShownPart::Passages
        } else {
            shown.map_or(ShownPart::Whole, |shown| ShownPart::At(shown.limited))
        };
        let text = renderer.render(*index, shown_part, &first.included);
        if second.has_room(second.truncated_state(first.notes), Some((*index, &text))) {
            second.accept(*index, text);
        } else {
            second.is_complete = false;
        }
    }
    second.finish().ok()
}

fn too_small(least: TextSize, budget: Budget) -> Error {
    let tokens = least.tokens.unwrap_or_else(|| least.chars.div_ceil(CHARS_PER_TOKEN));
    let chars = least.chars;
    let too_few_chars = budget.max_chars.is_some_and(|max| max < chars);
    let too_few_tokens = budget.max_tokens.is_some_and(|max| max < tokens);
    let needed = match (too_few_chars, too_few_tokens) {
        (true, true) => format!("--max-chars {chars} and --max-tokens {tokens}"),
        (false, true) => format!("--max-tokens {tokens}"),
        _ => format!("--max-chars {chars}"),
    };
    Error::new(
        ErrorKind::Budget,
        format!("the budget is too small for even an empty answer; the smallest that works is {needed}"),
    )
    .hint(format!("use {needed} or more"))
}
