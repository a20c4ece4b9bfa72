//! Fitting: the only place where entries are left out, cut or counted against the budget.
//!
//! An answer never exceeds the budget. Whole entries are accepted in their order, and one without room is skipped. The
//! first entry is cut only if none fits. If not even the empty frame fits, the error names the smallest budget that
//! works.

mod attempts;
mod budget;
mod document;
mod entries;
mod levels;
mod passages;
mod selector;
mod unseen;

use std::io::Write;

use crate::error::{Error, ErrorKind};
use crate::render::{self, Renderer, Screen};
use crate::report::Report;
use crate::request::{Budget, Format};
use crate::tokens::CHARS_PER_TOKEN;
use budget::{OutputLimits, TextSize};
use document::DocumentBuilder;
use passages::pack;
pub use unseen::{ShownText, fit_unseen};

/// The most attempts with a smaller token limit before the smallest budget is named.
const MAX_STEPS_DOWN: usize = 32;

/// Writes a report in a format within a budget. The text ends with a line end, except for the result of a tool.
///
/// # Errors
/// `Budget`, naming the smallest budget that works, if not even the empty frame fits.
pub fn fit(report: &Report, budget: Budget, format: Format, screen: Screen) -> Result<String, Error> {
    let renderer = render::renderer(report, format, screen, budget.tokenizer);
    let text = fitted(report, &*renderer, budget);
    let text = text.map_err(|least| too_small(smallest(least, report, &*renderer, budget), budget))?;
    report.expect_read_notes(0..report.entries.len())?;
    Ok(text)
}

/// Writes a report as [`fit`] does if it is a list without a budget, in parts, so that memory does not grow with the
/// text. Returns whether it is one; nothing is written if not.
///
/// # Errors
/// `Store` if a note could not be read; the failure of a write.
pub fn write_list(
    report: &Report,
    budget: Budget,
    format: Format,
    screen: Screen,
    out: &mut dyn Write,
) -> Result<bool, Error> {
    let renderer = render::renderer(report, format, screen, budget.tokenizer);
    let document = DocumentBuilder::new(report, &*renderer, OutputLimits::new(budget));
    let is_list = document.is_list();
    if is_list {
        document.write_list(out)?;
    }
    Ok(is_list)
}

/// Writes a report within a budget.
fn fitted(report: &Report, renderer: &dyn Renderer, budget: Budget) -> Result<String, TextSize> {
    let limits = OutputLimits::new(budget);
    let document = DocumentBuilder::new(report, renderer, limits);
    if report.head.show.has_pages && report.head.show.has_passages && !report.entries.is_empty() {
        let everything = TextSize { chars: usize::MAX, tokens: None };
        return pack(document, everything).and_then(DocumentBuilder::finish);
    }
    let text = match &report.candidates {
        Some(candidates) => document.with_candidates(candidates)?.finish(),
        None => document
            .clone()
            .with_everything()
            .or_else(|everything| packed(document, everything).and_then(DocumentBuilder::finish)),
    }?;
    debug_assert!(limits.has_room(&text), "the parts are the sum of the text");
    Ok(text)
}

/// Returns as much as fits of a document that has no room for everything.
fn packed(document: DocumentBuilder<'_>, everything: TextSize) -> Result<DocumentBuilder<'_>, TextSize> {
    if document.report.head.show.has_passages {
        pack(document, everything)
    } else {
        document.with_what_fits(everything)
    }
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
