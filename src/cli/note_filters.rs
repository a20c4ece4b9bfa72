//! The flags that filter notes, the same in every command that selects notes by them.

use clap::Args;

use super::days::window;
use super::values::{count, trimmed, value};
use crate::env::Today;
use crate::error::Error;
use crate::request::Filters;

/// The filters of questions, searches and lists.
#[derive(Debug, Args)]
#[command(next_help_heading = "Only these notes")]
pub(super) struct FilterArgs {
    /// Notes with this tag (repeatable, or comma-separated)
    #[arg(long, value_name = "TAG", value_delimiter = ',', value_parser = trimmed)]
    tag: Vec<String>,
    #[command(flatten)]
    others: OtherFilterArgs,
}

/// The filters without tags, for commands in which tags add notes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Only these notes")]
pub(super) struct OtherFilterArgs {
    /// Only notes of this type (repeatable, or comma-separated)
    #[arg(id = "type", long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = trimmed)]
    kinds: Vec<String>,
    /// Only notes changed (journals: dated) on this day or later: 2025-03-05, yesterday, last week
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only notes changed (journals: dated) on this day or earlier
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Only notes with at least this value, 0 to 100
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = value)]
    min_value: Option<u8>,
    /// Only notes that match a filter, such as 'tag = linux and not done', or @NAME (repeatable) [also: --custom-filter]
    #[arg(id = "where", long = "where", value_name = "FILTER")]
    expressions: Vec<String>,
    /// Only notes whose fields match: key, !key, key=value, key!=value, key>=3, key<2025-03-01 (repeatable)
    #[arg(long, value_name = "EXPR", hide = true)]
    custom_filter: Vec<String>,
    #[command(flatten)]
    limit: LimitArgs,
}

/// The limit of a list.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct LimitArgs {
    /// Maximum number of results
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    pub(super) limit: Option<usize>,
}

impl FilterArgs {
    pub(super) fn limit(&self) -> Option<usize> {
        self.others.limit()
    }

    /// Returns the filters, with the days relative to today.
    pub(super) fn into_filters(self, today: Today) -> Result<Filters, Error> {
        Ok(Filters { tags: self.tag, ..self.others.into_filters(today)? })
    }
}

impl OtherFilterArgs {
    pub(super) fn limit(&self) -> Option<usize> {
        self.limit.limit
    }

    /// Returns the filters, with the days relative to today.
    pub(super) fn into_filters(self, today: Today) -> Result<Filters, Error> {
        let (since, until) = window(self.since.as_deref(), self.until.as_deref(), today)?;
        let Self { kinds, min_value, expressions, custom_filter: field_tests, .. } = self;
        Ok(Filters { min_value, expressions, field_tests, kinds, tags: Vec::new(), since, until })
    }
}
