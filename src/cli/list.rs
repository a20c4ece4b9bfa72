//! The arguments of `qipu show` and `qipu list`.

use clap::Args;

use super::ask;
use super::days::window;
use super::globals::Invocation;
use crate::env::Today;
use crate::error::Error;
use crate::request::{Command, Filters, ListRequest, ShowRequest, Sort, count, trimmed};

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    #[command(flatten)]
    show: ShowRequest,
    /// Show the passages that answer this instead of whole notes
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true, conflicts_with_all = ["with_links", "is_raw"])]
    query: Option<String>,
}

impl ShowArgs {
    pub(super) fn into_command(self, invocation: &mut Invocation<'_>) -> Command {
        match self.query {
            Some(query) => Command::Context(ask::passages(invocation, query, self.show.ids)),
            None => Command::Show(self.show),
        }
    }
}

/// The filters of lists and searches.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which notes")]
pub(super) struct FilterArgs {
    /// Only notes of this type (repeatable, or comma-separated)
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = trimmed)]
    kinds: Vec<String>,
    /// Only notes with this tag (repeatable, or comma-separated)
    #[arg(long, value_name = "TAG", value_delimiter = ',', value_parser = trimmed)]
    tag: Vec<String>,
    /// Only notes changed (journals: dated) on this day or later: 2025-03-05, yesterday, last week
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only notes changed (journals: dated) on this day or earlier
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    #[command(flatten)]
    filters: Filters,
}

impl FilterArgs {
    /// Returns the filters, with the days relative to today.
    pub(super) fn into_filters(self, today: Today) -> Result<Filters, Error> {
        let (since, until) = window(self.since.as_deref(), self.until.as_deref(), today)?;
        Ok(Filters { kinds: self.kinds, tags: self.tag, since, until, ..self.filters })
    }
}

/// The limit of a list.
#[derive(Debug, Args)]
pub(super) struct LimitArgs {
    /// Maximum number of notes
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    limit: Option<usize>,
}

impl LimitArgs {
    /// Returns the most notes that are listed; `None` for no limit.
    fn within(&self, invocation: &Invocation<'_>) -> Option<usize> {
        self.limit.or(invocation.budget.max_entries())
    }
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// A filter, such as 'tag = linux and not done', or @NAME for a query of config.toml
    #[arg(value_name = "FILTER")]
    filter: Vec<String>,
    #[command(flatten)]
    only: FilterArgs,
    /// The sort order
    #[arg(long, value_name = "BY", default_value = "updated")]
    sort: Sort,
    #[command(flatten)]
    limit: LimitArgs,
}

impl ListArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Result<Command, Error> {
        let mut filters = self.only.into_filters(invocation.location.today)?;
        filters.expressions.extend((!self.filter.is_empty()).then(|| self.filter.join(" ")));
        Ok(Command::List(ListRequest { filters, sort: self.sort, limit: self.limit.within(invocation) }))
    }
}
