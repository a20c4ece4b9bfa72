//! The arguments of `qipu list`.

use clap::Args;

use super::globals::Invocation;
use super::note_filters::FilterArgs;
use crate::error::Error;
use crate::request::{Command, ListRequest, ReadCommand, Sort};

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// A filter, such as 'tag = linux and not done', or @NAME for a filter named in config.toml
    #[arg(value_name = "FILTER")]
    filter: Vec<String>,
    #[command(flatten)]
    only: FilterArgs,
    /// The sort order
    #[arg(long, value_name = "BY", default_value = "updated")]
    sort: Sort,
}

impl ListArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Result<Command, Error> {
        let limit = self.only.limit().or(invocation.budget.max_entries());
        let mut filters = self.only.into_filters(invocation.location.today)?;
        filters.expressions.extend((!self.filter.is_empty()).then(|| self.filter.join(" ")));
        Ok(Command::Read(ReadCommand::List(ListRequest { filters, sort: self.sort, limit })))
    }
}
