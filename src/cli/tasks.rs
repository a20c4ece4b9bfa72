//! The arguments of `qipu tasks`.

use clap::{Args, Subcommand};

use super::examples::examples;
use super::globals::Invocation;
use super::note_filters::FilterArgs;
use crate::error::Error;
use crate::request::{Action, Command, ReadCommand, TasksRequest};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct TasksArgs {
    #[command(subcommand)]
    action: Option<TasksSub>,
    #[command(flatten)]
    only: FilterArgs,
    #[command(flatten)]
    tasks: TasksRequest,
}

#[derive(Debug, Subcommand)]
enum TasksSub {
    /// Tick off tasks
    #[command(after_help = examples!("qipu tasks done ID:LINE", "qipu tasks done ID:LINE ID:LINE --dry-run"))]
    Done {
        /// The note and the line of its file, as `qipu tasks` lists them
        #[arg(required = true, value_name = "ID:LINE")]
        tasks: Vec<String>,
    },
}

impl TasksArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Result<Command, Error> {
        if let Some(TasksSub::Done { tasks }) = self.action {
            return Ok(invocation.change(Action::CompleteTasks { tasks }));
        }
        let limit = self.only.limit().or(invocation.budget.max_entries());
        let filters = self.only.into_filters(invocation.location.today)?;
        Ok(Command::Read(ReadCommand::Tasks(TasksRequest { filters, limit, ..self.tasks })))
    }
}
