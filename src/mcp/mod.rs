//! `qipu mcp`: a server of the [Model Context Protocol](https://modelcontextprotocol.io) on standard input and output. It
//! makes the requests of the command line, runs the same commands and fits their reports in the same way.
//!
//! A second thread runs the protocol. The main thread has the open store with its graph and text index, answers calls one
//! after the other, and reopens the store after a change on disk.

mod arguments;
mod call_queue;
mod protocol;
mod schemas;
mod stdio;
mod tools;

use std::sync::mpsc::channel;

use rmcp::model::JsonObject;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::commands;
use crate::context::Session;
use crate::env::Env;
use crate::error::Error;
use crate::escape::escape_json_texts;
use crate::fit;
use crate::report::Report;
use crate::request::{Command, Format};
use crate::store::{ChangeWatcher, Location, Store};
use call_queue::CallQueue;
use tools::Task;

/// A call of a tool, and where its answer is sent.
struct Call {
    tool: String,
    arguments: JsonObject,
    reply: oneshot::Sender<Result<Answer, Error>>,
}

/// The answer of a tool.
struct Answer {
    /// The text for the model.
    text: String,
    /// The structured content for programs; `None` if it does not fit into the budget.
    structured: Option<Value>,
}

/// Runs the server until the client disconnects. Notes get `date` as their time of creation or change, else the current
/// second.
pub(crate) fn serve(date: Option<&str>, location: &Location, env: &Env) -> Result<(), Error> {
    let (sender, calls) = channel();
    let protocol_thread = std::thread::Builder::new().spawn(move || protocol::serve_stdio(sender))?;
    answer_calls(date, location, env, CallQueue::new(calls, location));
    protocol_thread.join().map_err(|_| Error::failure("the server stopped unexpectedly"))?
}

/// Answers calls until the client disconnects, and reopens the store whenever it has changed.
fn answer_calls(date: Option<&str>, location: &Location, env: &Env, mut calls: CallQueue) {
    let mut pending = None;
    let mut watcher = ChangeWatcher::new(location, &env.current_dir);
    while let Some(call) = pending.take().or_else(|| calls.next(env)) {
        // The watch begins before the store is read, so that no change in between is missed.
        watcher.begin();
        let opened = commands::open_to_search(location, &env.current_dir);
        let store = match opened {
            Ok(store) => store,
            Err(error) => {
                // The client may have cancelled the call; so too below.
                let _ = call.reply.send(Err(error));
                continue;
            }
        };
        pending = answer_from(&store, date, location, env, call, &mut calls, &mut watcher);
    }
}

/// Answers calls from an open store until it has changed. Returns the call that is still to be answered from the
/// reopened store; `None` if the client has disconnected.
fn answer_from(
    store: &Store,
    date: Option<&str>,
    location: &Location,
    env: &Env,
    first: Call,
    calls: &mut CallQueue,
    watcher: &mut ChangeWatcher,
) -> Option<Call> {
    let session = Session::new(store);
    let mut next = Some(first);
    let mut is_first = true;
    loop {
        let call = next.take().or_else(|| calls.next(env))?;
        if !is_first && watcher.has_changed() {
            return Some(call);
        }
        is_first = false;
        let answer = match tools::parse_task(&call.tool, &call.arguments, location.today, date) {
            Ok(task) if task.command.changes_files() => {
                if calls.run_write(task, call.reply, env) {
                    return calls.next(env);
                }
                continue;
            }
            task => task.and_then(|task| {
                let report = commands::run_at(&task.command, &session).map(|mut report| {
                    report.head.warnings.extend(store.unreadable_warning());
                    report
                });
                fit_answer(&task, report)
            }),
        };
        if store.is_index_corrupt() {
            // The index turned out to be corrupt: answer the call again without it.
            store.discard_index(location);
            return Some(call);
        }
        if let Err(error) = store.expect_read_notes() {
            let _ = call.reply.send(Err(error));
            return calls.next(env);
        }
        let _ = call.reply.send(answer);
    }
}

/// Replaces the name of the budget option in an error by the name of the argument.
fn with_argument_names(error: Error, task: &Task) -> Error {
    let name = if matches!(task.command, Command::Expand(_)) { "max_additional_tokens" } else { "max_tokens" };
    let renamed = |text: &str| text.replace("--max-tokens", name);
    Error { message: renamed(&error.message), hint: error.hint.as_deref().map(renamed), ..error }
}

fn run_change(task: &Task, location: &Location, env: &Env) -> Result<Answer, Error> {
    let no_report = || Error::failure("internal error: the command returned no report");
    let report = commands::run(&task.command, location, env);
    fit_answer(task, report.and_then(|report| report.ok_or_else(no_report)))
}

/// Fits a report into the budget of a task, as text and as structured content.
fn fit_answer(task: &Task, report: Result<Report, Error>) -> Result<Answer, Error> {
    let mut report = report?;
    if !task.command.changes_files() {
        report.head.banner = Some(true);
    }
    let fitted = fit::fit_both(&report, task.budget, task.format, Format::Facts);
    let (text, json) = fitted.map_err(|error| with_argument_names(error, task))?;
    if let Some(verdict) = report.verdict {
        return Err(verdict);
    }
    let parsed = json.map(|json| serde_json::from_str(&json)).transpose();
    let mut structured: Option<Value> =
        parsed.map_err(|error| Error::failure(format!("the answer is not valid JSON: {error}")))?;
    structured.iter_mut().for_each(escape_json_texts);
    Ok(Answer { text, structured })
}
