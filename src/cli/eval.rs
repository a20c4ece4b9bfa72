//! The arguments of `qipu eval`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::globals::Invocation;
use super::values::{count, file_or_stdin, share};
use super::{ParsedCli, parse};
use crate::env::Env;
use crate::error::Error;
use crate::request::{Command, EvalRequest, MeasuredAnswer, Program, ReadCommand, Score};

/// The call whose answer is measured, without the value of its last flag, the budget.
const MEASURED: &[&str] = &["qipu", "ask", "QUESTION", "--format=records", "--max-chars"];
const MEASURED_HOOK: &[&str] = &["qipu", "hook", "claude", "UserPromptSubmit", "--no-seen", "--max-chars"];

/// The budgets in characters, if none is given.
const USUAL_BUDGETS: &[usize] = &[1000, 2000, 4000];
const USUAL_HOOK_BUDGETS: &[usize] = &[1500];

#[derive(Debug, Args)]
pub(super) struct EvalArgs {
    /// The question file; `-` for standard input
    file: PathBuf,
    /// The budgets to measure answers with, in characters (default: 1000,2000,4000; with --prompts, 1500)
    #[arg(long, value_name = "N,N", value_delimiter = ',', allow_negative_numbers = true, value_parser = count)]
    budget: Vec<usize>,
    /// Measure the notes that `qipu hook` adds to prompts, edits and commands, instead of answers to questions
    #[arg(long)]
    prompts: bool,
    /// Rank by words only, ignoring links and sequences
    #[arg(long, conflicts_with = "prompts")]
    no_graph: bool,
    /// Fail if the hit rate is below this for any budget, 0 to 1
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = share)]
    min_hit: Option<Score>,
}

impl EvalArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Result<Command, Error> {
        let env = invocation.env;
        let unreadable =
            |error: std::io::Error| Error::usage(format!("can't read the questions from standard input: {error}"));
        let questions = file_or_stdin(self.file, env, unreadable)?;
        let usual = || if self.prompts { USUAL_HOOK_BUDGETS } else { USUAL_BUDGETS };
        let mut budgets = if self.budget.is_empty() { usual().to_vec() } else { self.budget };
        budgets.sort_unstable();
        budgets.dedup();
        let words = if self.prompts { MEASURED_HOOK } else { MEASURED };
        let today = invocation.today.as_deref();
        let answers = budgets.into_iter().map(|chars| measured(words, chars, today, env));
        let mut answers = answers.collect::<Result<Vec<MeasuredAnswer>, Error>>()?;
        for answer in answers.iter_mut().filter(|_| self.no_graph) {
            if let Command::Read(ReadCommand::Context(context)) = &mut answer.request.command {
                context.selection.no_graph = true;
            }
        }
        Ok(Command::Run(Program::Eval(EvalRequest { questions, answers, min_hit: self.min_hit })))
    }
}

/// Parses the call that is measured, with a budget in characters.
fn measured(words: &[&str], chars: usize, today: Option<&str>, env: &Env) -> Result<MeasuredAnswer, Error> {
    let day = today.map(|today| format!("--today={today}"));
    let words = words.iter().map(OsString::from).chain([chars.to_string().into()]);
    let words: Vec<OsString> = words.chain(day.map(Into::into)).collect();
    match parse(&words, env)? {
        ParsedCli::Request(request) => Ok(MeasuredAnswer { chars, request: *request }),
        ParsedCli::Help(_) => Err(Error::failure("internal error: the measured command is not a request")),
    }
}
